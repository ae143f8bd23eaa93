//! From source text to callable code: the kernels of `tests/kernels` one by one, a file of 2,000
//! lines of them, and nests that grow, of which each is to take twice the time of the one before at
//! most where it has twice the statements.
//!
//! `cargo bench --bench compile` prints medians beside what is asked for. `-- --test` compiles
//! everything once, `-- k06` what has this in its name.

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

/// The name of the file with so many lines.
const LONG_FILE: &str = "all of them, again and again";

fn main() {
    let smoke = std::env::args().any(|argument| argument == "--test");
    let named: Vec<_> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let is_wanted = |name: &str| named.is_empty() || named.iter().any(|it| name.contains(it));
    let mut table =
        String::from("| source | lines | kernels | median | asked for |\n|---|--:|--:|--:|--:|\n");
    for (name, source) in KERNELS.into_iter().filter(|(name, _)| is_wanted(name)) {
        let rounds = if smoke { 1 } else { 200 };
        row(&mut table, name, source, rounds, KERNEL);
    }
    let rounds = if smoke { 1 } else { 15 };
    if is_wanted(LONG_FILE) {
        row(&mut table, LONG_FILE, &long_file(), rounds, FILE);
    }
    print(&table);
    print(&growth(rounds, &is_wanted));
}

/// How the time grows with a kernel.
fn growth(rounds: usize, is_wanted: &dyn Fn(&str) -> bool) -> String {
    let most = if rounds == 1 { 2 } else { 64 };
    let mut table =
        String::from("| nests | statements | median | for a statement |\n|---|--:|--:|--:|\n");
    for (name, source) in [
        ("statements of one loop", statements as fn(usize) -> String),
        ("conditions in one loop", conditions),
        ("loops behind each other", loops),
        ("sweeps in each time step", sweeps),
        ("loops in each other", depth),
    ]
    .into_iter()
    .filter(|(name, _)| is_wanted(name))
    {
        let most = if name == "loops in each other" {
            most.min(16)
        } else {
            most
        };
        for count in [2, 4, 8, 16, 32, 64].into_iter().filter(|it| *it <= most) {
            let source = source(count);
            let (_, median) = timed(&source, rounds);
            let each = median / u32::try_from(count).unwrap_or(1);
            let _ = writeln!(table, "| {name} | {count} | {median:.2?} | {each:.2?} |");
        }
    }
    table
}

/// A loop nest with so many statements, each of which can run in lanes.
fn statements(count: usize) -> String {
    let mut body = String::new();
    for number in 0..count {
        let _ = writeln!(
            body,
            "b[i][j + {number}] += {number}.5 * a[i][j + {number}];"
        );
    }
    nest(&format!(
        "for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < n; j++) {{ {body} }}"
    ))
}

/// So many products one behind the other, each with tiles, registers and lanes.
fn loops(count: usize) -> String {
    let product = "for (int64_t i = 0; i < n; i++) for (int64_t k = 0; k < n; k++) for (int64_t j = 0; j < n; j++) b[i][j] += a[i][k] * a[k][j];\n";
    nest(&product.repeat(count))
}

/// So many updates of one element, each behind a condition of its own.
fn conditions(count: usize) -> String {
    let mut body = String::new();
    for number in 0..count {
        let _ = writeln!(body, "if (a[i][0] > {number}) b[i][0] += {number}.5;");
    }
    nest(&format!("for (int64_t i = 0; i < n; i++) {{ {body} }}"))
}

/// So many stencils one behind the other, all of them over and over again.
fn sweeps(count: usize) -> String {
    let sweep = "for (int64_t i = 1; i < n; i++) for (int64_t j = 1; j < n; j++) b[i][j] = 0.5 * (a[i][j] + a[i - 1][j - 1]);
";
    nest(&format!(
        "for (int64_t t = 0; t < n; t++) {{ {} }}",
        sweep.repeat(count)
    ))
}

/// A sum in so many loops.
fn depth(count: usize) -> String {
    let around: String = (0..count)
        .map(|number| format!("for (int64_t l{number} = 0; l{number} < n; l{number}++) "))
        .collect();
    nest(&format!("{around} b[l0][l1] += a[l{}][l0];", count - 1))
}

fn nest(body: &str) -> String {
    format!(
        "#include <stdint.h>\nvoid k(int64_t n, const double a[n + 64][n + 64], double b[n + 64][n + 64]) {{ {body} }}"
    )
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
    let (kernels, median) = timed(source, rounds);
    let lines = source.lines().count();
    let _ = writeln!(
        table,
        "| {name} | {lines} | {kernels} | {median:.2?} | {asked:?} |"
    );
}

/// How many kernels `source` has, and the median of the times that they take.
fn timed(source: &str, rounds: usize) -> (usize, Duration) {
    let mut kernels = 0;
    let mut times: Vec<_> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            kernels = compile(source);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    (kernels, times[times.len() / 2])
}

/// Makes machine code for every kernel of `source`, and counts them.
fn compile(source: &str) -> usize {
    let program = strew::Compiler::new().compile("bench.c", source);
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let kernels = program.kernels().expect("machine code");
    black_box(&kernels).len()
}
