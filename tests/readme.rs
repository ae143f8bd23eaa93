//! The console blocks of the README and of the pages on the command line, data, strategies, indexing maps, explanations and transformations, and of the tutorial, run as they stand there.

#[test]
fn the_console_blocks_of_the_readme_hold() {
    trycmd::TestCases::new()
        .env("STREW_CALIBRATION", "")
        .case("README.md")
        .case("docs/command_line.md")
        .case("docs/data.md")
        .case("docs/scatter.md")
        .case("docs/indexing.md")
        .case("docs/explain.md")
        .case("docs/transforms.md")
        .case("docs/tutorial.md");
}
