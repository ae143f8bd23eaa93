//! The command line, as the files below `tests/commands` show it.

#[test]
fn commands_answer_as_the_files_say() {
    trycmd::TestCases::new()
        .case("tests/commands/*.md")
        .case("tests/commands/*.toml");
}
