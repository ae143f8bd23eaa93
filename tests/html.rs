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
        "--allow-file-access-from-files",
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

const HISTOGRAM: &str = "examples/kernels/histogram.c";
const RUN: [&str; 7] = [
    "--run",
    "--in",
    "key=uniform(0, m)",
    "--set",
    "n=200000",
    "--set",
    "m=100",
];
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
    let page = explained(folder.path(), HISTOGRAM, &RUN);
    let page = std::fs::read_to_string(page).expect("a page");
    for part in [
        "<h3>Expected costs</h3>",
        "<th scope=\"row\">dense</th>",
        "<h3>Phases</h3>",
        "main ",
        "<div class=\"lane\" role=\"img\" aria-label=\"thread 1: in loops for ",
        "<span class=\"main\" style=\"left: ",
        "<span class=\"merge\" style=\"left: ",
        "<li><span class=\"prepare\"></span>prepare: private buffers are filled</li>",
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
fn a_schedule_of_the_flags_is_shown_step_by_step() {
    let folder = tempfile::tempdir().expect("a folder");
    let schedule = folder.path().join("smooth.schedule");
    std::fs::write(&schedule, "skew(j by i, 1)\ninterchange(i, j_s)\n").expect("a file");
    let schedule = schedule.to_str().expect("a path");
    for flags in [
        ["--schedule", schedule].as_slice(),
        &["--step", "skew(j by i, 1)", "--step", "interchange(i, j_s)"],
    ] {
        let page = std::fs::read_to_string(explained(folder.path(), SMOOTH, flags));
        let page = page.expect("a page");
        for step in ["skew(j by i, 1)", "interchange(i, j_s)"] {
            assert!(page.contains(step), "{page}");
        }
        assert!(!page.contains("tile(i = 64, j = 256)"), "{page}");
    }
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

/// What `script` says of the document `name` in `folder`, shown in a frame of so many pixels;
/// `None` where there is no browser.
fn said_of(name: &str, (width, height): (u32, u32), script: &str, folder: &Path) -> Option<String> {
    let frame = format!(
        "<iframe src=\"{name}\" style=\"width: {width}px; height: {height}px; border: 0\"></iframe>
<pre id=\"said\"></pre>
<script>onload = () => {{
  const page = document.querySelector(\"iframe\").contentDocument;
  document.querySelector(\"#said\").textContent = JSON.stringify(({script})(page));
}};</script>"
    );
    let path = folder.join("frame.html");
    std::fs::write(&path, frame).expect("a file");
    let dom = rendered(&format!("file://{}", path.display()), folder)?;
    let (_, said) = dom.split_once("<pre id=\"said\">").expect("what it says");
    Some(said.split("</pre>").next().unwrap_or_default().to_owned())
}

#[test]
fn the_page_of_a_run_fits_a_phone() {
    let folder = tempfile::tempdir().expect("a folder");
    explained(folder.path(), HISTOGRAM, &RUN);
    let script =
        "page => [page.querySelectorAll('table').length, page.documentElement.scrollWidth <= 390]";
    let Some(said) = said_of("page.html", (390, 800), script, folder.path()) else {
        return;
    };
    assert_eq!(said, "[2,true]");
}

#[test]
fn texts_of_many_loops_are_shown_where_they_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut kernel = "void many(int n, const int key[n], double out[n]) {\n".to_owned();
    for loop_number in 0..24 {
        kernel += &format!(
            "  for (int i{loop_number} = 0; i{loop_number} < n; i{loop_number}++)\n    out[key[i{loop_number}]] += {loop_number};\n"
        );
    }
    let file = folder.path().join("many.c");
    std::fs::write(&file, kernel + "}\n").expect("a file");
    let file = file.to_str().expect("a path");
    let page = std::fs::read_to_string(explained(folder.path(), file, &[])).expect("a page");
    let steps = page.matches("<details").count();
    assert!(steps > 40, "{steps}");
    assert!(page.contains(" lines as before</span>"), "{page}");
    assert!(page.contains("<summary>The kernel after all steps</summary>"));
    // Each text is longer than this.
    let schedule = page.split("<h3>Schedule</h3>").nth(1).expect("a schedule");
    assert!(
        schedule.len() < steps * 3000,
        "{} in {steps} steps",
        schedule.len()
    );
}

#[test]
fn the_picture_of_a_bench_has_room_for_its_words_and_lines_that_differ_in_gray() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_strew"));
    command
        .args([
            "bench",
            HISTOGRAM,
            "--rounds",
            "1",
            "--threads",
            "2",
            "--plot",
        ])
        .arg(folder.path().join("times.svg"))
        .args(["--set", "n=1000"])
        .args(&RUN[1..3])
        .args(&RUN[5..])
        .env("STREW_CALIBRATION", "")
        .current_dir(root());
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    let script = "page => {
      const { width, height } = page.documentElement.getBoundingClientRect();
      const words = [...page.querySelectorAll('text')].map(it => it.getBoundingClientRect());
      const out = words.filter(it => it.left < 0 || it.top < 0 || it.right > width || it.bottom > height);
      return [words.length > 12, out.length, page.querySelectorAll('polygon').length > 2];
    }";
    let Some(said) = said_of("times.svg", (1000, 900), script, folder.path()) else {
        return;
    };
    assert_eq!(said, "[true,0,true]");
}
