//! From source text to callable code: the kernels of `tests/kernels` one by one, and a file of 2,000 lines of them.
//!
//! `cargo bench --bench compile` prints medians beside what is asked for. `-- --test` compiles everything once.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A file's name, and its text.
macro_rules! kernels {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../tests/kernels/", $name, ".c")))),*]
    };
}

const KERNELS: [(&str, &str); 12] = kernels! {
    "k01_hist_bin"
    "k02_scatter_add"
    "k03_segment_sum"
    "k04_segment_argmax"
    "k05_spmv_t"
    "k06_pagerank_push"
    "k07_triangles"
    "k08_betweenness"
    "k09_fem_assemble"
    "k10_deposit"
    "k11_kmeans"
    "k12_edge_flux"
};

/// What is asked for: a kernel in this time …
const KERNEL: Duration = Duration::from_millis(2);
/// … and a file of this many lines in that.
const LINES: usize = 2000;
const FILE: Duration = Duration::from_millis(200);

fn main() {
    let smoke = std::env::args().any(|argument| argument == "--test");
    let mut table =
        String::from("| source | lines | kernels | median | asked for |\n|---|--:|--:|--:|--:|\n");
    for (name, source) in KERNELS {
        let rounds = if smoke { 1 } else { 200 };
        row(&mut table, name, source, rounds, KERNEL);
    }
    let file = long_file();
    row(
        &mut table,
        "all of them, again and again",
        &file,
        if smoke { 1 } else { 15 },
        FILE,
    );
    print(&table);
}

#[expect(clippy::print_stdout, reason = "the report of a bench")]
fn print(table: &str) {
    println!("{table}");
}

/// The kernels under new names until there are enough lines.
fn long_file() -> String {
    let mut file = String::new();
    for copy in 0.. {
        for (_, source) in KERNELS {
            let renamed = source.replace("void k", &format!("void copy{copy}_k"));
            file.push_str(&renamed);
            if file.lines().count() >= LINES {
                return file;
            }
        }
    }
    file
}

fn row(table: &mut String, name: &str, source: &str, rounds: usize, asked: Duration) {
    let mut kernels = 0;
    let mut times: Vec<_> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            kernels = compile(source);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let (lines, median) = (source.lines().count(), times[times.len() / 2]);
    let _ = writeln!(
        table,
        "| {name} | {lines} | {kernels} | {median:.2?} | {asked:?} |"
    );
}

/// Makes machine code for every kernel of `source`, and counts them.
fn compile(source: &str) -> usize {
    let program = strew::Compiler::new().compile("bench.c", source);
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let kernels: Vec<_> = program
        .kernel_names()
        .map(|name| program.kernel(name).expect("machine code"))
        .collect();
    black_box(&kernels).len()
}
