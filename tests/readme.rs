//! The console blocks of the README, run as they stand there.

#[test]
fn the_console_blocks_of_the_readme_hold() {
    trycmd::TestCases::new().case("README.md");
}
