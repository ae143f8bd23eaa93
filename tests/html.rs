//! The page of `strew explain --html`, in a real browser.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn explained(folder: &Path, kernel: &str, more: &[&str]) -> PathBuf {
    let path = folder.join("page.html");
    let mut command = Command::new(env!("CARGO_BIN_EXE_strew"));
    command
        .args(["explain", kernel, "--html"])
        .arg(&path)
        .args(more);
    let output = command
        .current_dir(root())
        .env("STREW_CALIBRATION", "")
        .output();
    let output = output.expect("the program starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.stdout.is_empty());
    path
}

/// What a browser makes of the page at `address`; `None` where there is no browser.
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn rendered(address: &str, folder: &Path) -> Option<String> {
    let mut command = Command::new("chromium");
    command.args([
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--dump-dom",
    ]);
    command.arg(format!(
        "--user-data-dir={}",
        folder.join("profile").display()
    ));
    let output = command.arg(address).stdin(Stdio::null()).output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no chromium");
        return None;
    };
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

const SMOOTH: &str = "examples/kernels/smooth.c";

#[test]
fn the_page_has_source_verdicts_dependences_and_steps() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = std::fs::read_to_string(explained(folder.path(), SMOOTH, &[])).expect("a page");
    for part in [
        "<title>examples/kernels/smooth.c, explained</title>",
        "<span class=\"verdict no\"",
        "id=\"smooth-dependences-4\" data-from=\"7\" data-to=\"7\"",
        "<summary>6. <code>parallelize(i_t_c)</code></summary>",
        "<span class=\"removed\">-   affine.for i in 1..n - 1 {</span>",
        "<ul class=\"plain\">\n<li>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org/").count()
    );
}

#[test]
fn a_run_is_shown_with_costs_and_phases() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = [
        "--run",
        "--in",
        "key=uniform(0, m)",
        "--set",
        "n=200000",
        "--set",
        "m=100",
    ];
    let page = explained(folder.path(), "examples/kernels/histogram.c", &data);
    let page = std::fs::read_to_string(page).expect("a page");
    for part in [
        "<h3>Expected costs</h3>",
        "<th scope=\"row\">dense</th>",
        "<h3>Phases</h3>",
        "main ",
        "<div class=\"lane\" role=\"img\" aria-label=\"thread 1: in loops for ",
        "<span class=\"main\" style=\"left: ",
        "<span class=\"merge\" style=\"left: ",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_browser_draws_the_arrow_of_a_dependence() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = explained(folder.path(), SMOOTH, &[]);
    let address = format!("file://{}#smooth-dependences-2", page.display());
    let Some(dom) = rendered(&address, folder.path()) else {
        return;
    };
    assert!(dom.contains("<path marker-end=\"url(#head)\""), "{dom}");
    let lit: Vec<_> = dom
        .lines()
        .filter(|line| line.contains("class=\"lit\""))
        .collect();
    assert_eq!(lit.len(), 1, "{dom}");
    assert!(lit[0].contains("data-line=\"7\""), "{lit:?}");
}

#[test]
fn flags_that_do_not_go_together_and_places_that_are_none_are_told() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strew"));
        command
            .arg("explain")
            .arg(SMOOTH)
            .args(arguments)
            .current_dir(root());
        command.output().expect("the program starts")
    };
    assert_eq!(run(&["--html", "p.html", "--json"]).status.code(), Some(2));
    let output = run(&["--html", "/no/such/folder/p.html"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains("/no/such/folder/p.html: cannot be written"),
        "{stderr}"
    );
}
