//! What an iteration of a hot loop costs, counted in instructions: a regression shows without a clock.
//!
//! Counted is the code for a processor that has what all of its architecture have, so that it is the same everywhere. Each number was held
//! against what the loop needs at least, which stands beside it.

#![cfg(target_arch = "x86_64")]

use strew_affine::{text, verify::verify};
use strew_jit::{Oob, Options, Target, compile, processor};
use strew_runtime::Mode;

/// What stands in one turn of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    instructions: usize,
    /// From memory, be it in an instruction that does more.
    loads: usize,
    stores: usize,
    /// Loads and stores of the stack.
    spills: usize,
}

impl Turn {
    const fn new(instructions: usize, loads: usize, stores: usize) -> Self {
        Self {
            instructions,
            loads,
            stores,
            spills: 0,
        }
    }

    fn of(block: &[&str]) -> Self {
        let mut turn = Self::new(block.len(), 0, 0);
        for line in block.iter().filter(|line| !line.starts_with("lea")) {
            let is_store = line.ends_with(')');
            let is_spill = line.contains("(%rsp") || line.contains("<offset");
            match (line.contains('('), is_spill, is_store) {
                (false, ..) => {}
                (true, true, _) => turn.spills += 1,
                (true, false, true) => turn.stores += 1,
                (true, false, false) => turn.loads += 1,
            }
        }
        turn
    }
}

/// The block of `source`'s code that does most with vectors, without the jump to where it goes on.
fn hot_loop(source: &str, (target, mode): (Target, Mode)) -> (Turn, String) {
    let kernel = text::parse(source).expect("a kernel").remove(0);
    let kernel = verify(kernel).expect("a kernel that keeps the rules");
    let options = Options {
        target,
        oob: Oob::Error,
        ..Options::default()
    };
    let compiled = compile(&kernel, &options).expect("code");
    let assembly = compiled.assembly(mode).expect("assembly");
    let blocks = assembly.split("block").map(|block| {
        let lines = block.lines().skip(1).map(str::trim);
        lines.filter(|it| !it.is_empty()).collect::<Vec<_>>()
    });
    let vectors = |block: &Vec<&str>| {
        let arithmetic = ["addpd", "mulpd", "subpd", "addps", "mulps", "vfmadd"];
        let is_vector = |line: &&&str| {
            let name = line.split(' ').next().unwrap_or_default();
            arithmetic.iter().any(|it| name.starts_with(it)) && !name.ends_with("sd")
        };
        block.iter().filter(is_vector).count()
    };
    let hot = blocks.max_by_key(vectors).expect("a block");
    (Turn::of(&hot), hot.join("\n"))
}

#[track_caller]
fn check(source: &str, most: Turn) {
    check_code(source, (Target::Baseline, Mode::Stable), most);
}

#[track_caller]
fn check_code(source: &str, code: (Target, Mode), most: Turn) {
    let (found, block) = hot_loop(source, code);
    let is_within = found.instructions <= most.instructions
        && found.loads <= most.loads
        && found.stores <= most.stores
        && found.spills <= most.spills;
    assert!(is_within, "{found:?}, at most {most:?} is wanted\n{block}");
}

/// Two vectors a turn: of each two loads, a copy of the factor, a product, a sum, a store; then the iterator, a comparison and a jump.
#[test]
fn a_multiple_is_added() {
    check(
        "kernel @k(n: i64, s: f64, x: f64[n], y: f64[n]) {
           affine.for j in 0..n lanes 4 { y[j] reduce(add) s * x[j] }
         }",
        Turn::new(15, 4, 2),
    );
}

/// Four vectors a turn: of each two loads, a product, a sum.
#[test]
fn a_product_of_vectors_is_summed() {
    check(
        "kernel @k(n: i64, x: f64[n], y: f64[n], z: f64[1]) {
           var s: f64 = 0.0
           affine.for j in 0..n lanes 8 { s reduce(add) x[j] * y[j] }
           z[0] = s
         }",
        Turn::new(19, 8, 0),
    );
}

/// Two rows of C, four of A.
fn matrix_product() -> String {
    let statements: String = (0..4)
        .flat_map(|l| (0..2).map(move |i| (i, l)))
        .map(|(i, l)| format!("c[{i}, j] reduce(add) a[{i}, {l}] * b[{l}, j]\n"))
        .collect();
    format!(
        "kernel @k(m: i64, a: f64[2, 4], b: f64[4, m], c: f64[2, m]) {{
           affine.for j in 0..m lanes 2 {{ {statements} }}
         }}"
    )
}

/// One vector of two rows of C and four of B, eight products and sums, and two stores.
#[test]
fn a_matrix_product_in_registers() {
    check(&matrix_product(), Turn::new(31, 6, 2));
}

/// The same, each product in one step with its sum, and a copy of each factor that is used again.
#[test]
#[expect(clippy::print_stderr, reason = "what is skipped is said")]
fn a_matrix_product_that_rounds_once() {
    let found = processor().expect("a processor");
    if found.features.iter().all(|it| it != "fma") {
        eprintln!("skipped: this processor does not multiply and add in one step");
        return;
    }
    let fast = (Target::Native, Mode::Fast);
    check_code(&matrix_product(), fast, Turn::new(23, 6, 2));
}

/// Two vectors a turn: of each five loads, one of them for both, four sums, a product and a store; the row before the others begins anew in each turn.
#[test]
fn a_stencil() {
    check(
        "kernel @k(n: i64, a: f64[3, n], b: f64[n]) {
           affine.for j in 1..n - 1 lanes 4 {
             b[j] = 0.2 * (a[1, j] + a[1, j - 1] + a[1, j + 1] + a[0, j] + a[2, j])
           }
         }",
        Turn::new(25, 9, 2),
    );
}

/// A vector a turn: nine loads, copies of factors, products and sums, a store.
#[test]
fn a_filter_of_scalars_in_lanes() {
    let sums: String = (0..9)
        .map(|at| {
            let (p, q) = (at / 3, at % 3);
            format!("s reduce(add) w[{p}, {q}] * image[{p}, j + {q}]\n")
        })
        .collect();
    check(
        &format!(
            "kernel @k(m: i64, w: f64[3, 3], image: f64[3, m + 2], out: f64[m]) {{
               affine.for j in 0..m lanes 2 {{ var s: f64 = 0.0 {sums} out[j] = s }}
             }}"
        ),
        Turn::new(40, 9, 1),
    );
}
