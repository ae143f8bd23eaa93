//! The console blocks of the README and of the pages on the command line, data, strategies,
//! indexing maps, explanations and transformations, and of the tutorial, run as they stand there.

use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../examples/readme.rs"]
mod example;

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

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The blocks of `page` that `language` stands in front of.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(page)).expect("a page");
    let blocks = text.split("```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|it| it.split_once('\n'));
    let blocks = blocks.filter(|(first, _)| *first == language);
    blocks.map(|(_, block)| block.to_owned()).collect()
}

#[test]
fn the_rust_block_of_the_readme_runs() {
    let words = |text: &str| text.split_whitespace().collect::<String>();
    let program = words(include_str!("../examples/readme.rs"));
    let blocks = blocks("README.md", "rust");
    assert_eq!(blocks.len(), 1);
    assert!(
        program.contains(&words(&blocks[0])),
        "examples/readme.rs has another block"
    );
    example::main().expect("it runs");
}

#[test]
fn the_kernel_of_the_readme_is_that_of_the_examples() {
    let kernel = include_str!("../examples/kernels/segment_sum.c");
    let blocks = blocks("README.md", "c");
    assert!(kernel.contains(&blocks[0]), "{}", blocks[0]);
}

#[test]
fn the_maps_at_the_beginning_of_their_page_are_those_of_the_loop_there() {
    let page = "docs/indexing.md";
    let body = &blocks(page, "c")[0];
    let kernel = format!(
        "void k(const int32_t seg[1000], const float x[2000], float out[64]) {{\n{body}}}\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.c"), kernel).expect("a file");
    let explained = Command::new(env!("CARGO_BIN_EXE_strew"))
        .args(["explain", "k.c"])
        .current_dir(folder.path())
        .output();
    let explained = explained.expect("the program starts").stdout;
    let explained = String::from_utf8_lossy(&explained);
    let maps = blocks(page, "text");
    assert!(explained.contains(maps[0].trim()), "{explained}");
    for map in &maps {
        let parsed = strew::ir::indexing::parse_map(map).expect("a map");
        assert_eq!(parsed.to_string(), map.trim());
    }
}

/// The commands that are not strew's own build it, run its tests or measure it, and one of strew's
/// own has cargo make a library: they are those of `.ci/run`.
fn is_of_a_user(block: &str) -> bool {
    !block.contains("cargo ") && !block.contains("--library")
}

#[cfg(unix)]
#[test]
fn the_shell_blocks_run_as_they_stand_there() {
    let mut run = 0;
    for page in ["README.md", "docs/command_line.md", "docs/tutorial.md"] {
        for block in blocks(page, "sh").iter().filter(|it| is_of_a_user(it)) {
            let folder = tempfile::tempdir().expect("a folder");
            let link = folder.path().join("examples");
            std::os::unix::fs::symlink(root().join("examples"), link).expect("a link");
            let program = PathBuf::from(env!("CARGO_BIN_EXE_strew"));
            let mut path = program.parent().expect("a folder").as_os_str().to_owned();
            path.push(":");
            path.push(std::env::var_os("PATH").unwrap_or_default());
            let output = Command::new("bash")
                .args(["-euc", block])
                .current_dir(folder.path())
                .env("PATH", path)
                .env("HOME", folder.path())
                .env("STREW_CALIBRATION", "")
                .output()
                .expect("bash starts");
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{page}: {block}{stderr}");
            run += 1;
        }
    }
    assert!(run >= 5, "{run}");
}
