//! The console blocks of the README and of the page on strategies, run as they stand there.

#[test]
fn the_console_blocks_of_the_readme_hold() {
    trycmd::TestCases::new()
        .env("STREW_CALIBRATION", "")
        .case("README.md")
        .case("docs/scatter.md");
}
