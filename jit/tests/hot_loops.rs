//! What an iteration of a hot loop costs, counted in instructions: a regression shows without a
//! clock.
//!
//! Counted is the code for a processor that has what all of its architecture have, so that it is
//! the same everywhere. Each number was held against what the loop needs at least, which stands
//! beside it.

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

/// The block of `source`'s code that does most with vectors, or with floats where there are none,
/// without the jump to where it goes on.
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
    let work = |block: &Vec<&str>| {
        let names = block.iter().filter_map(|line| line.split(' ').next());
        let is_one = |name: &&str| {
            let arithmetic = ["add", "mul", "sub", "vfmadd", "max", "min", "cmp"];
            arithmetic.iter().any(|it| name.starts_with(it))
        };
        let arithmetic = names.filter(is_one);
        let of = |kinds: [&str; 2]| {
            let is_meant = |it: &&str| kinds.iter().any(|kind| it.ends_with(kind));
            arithmetic.clone().filter(is_meant).count()
        };
        (of(["pd", "ps"]), of(["sd", "ss"]))
    };
    let hot = blocks.max_by_key(work).expect("a block");
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

/// A turn loads the key and the value, adds what is held, stores the sum, and goes on: a byte is
/// the number of one of 256 elements, so nothing is compared but the iterator with its end. Behind
/// a comparison the block would end.
#[test]
fn keys_that_cannot_be_out_of_range_are_not_compared() {
    for key in [
        "key[i]",
        "i32(key[i]) & 255",
        "u32(key[i]) * u32(3) % u32(256)",
    ] {
        let source = format!(
            "kernel @k(n: i64, key: u8[n], w: f64[n], s: f64[256]) {{
               affine.for i in 0..n {{ s[{key}] reduce(add) w[i] }}
             }}"
        );
        let (turn, block) = hot_loop(&source, (Target::Baseline, Mode::Stable));
        assert!(turn.loads == 3 && turn.stores == 1, "{turn:?}\n{block}");
    }
}

/// The same of keys that are clamped to a dimension of any extent. The key may be read from memory
/// twice.
#[test]
fn keys_that_are_clamped_are_not_compared_again() {
    for key in [
        "key[i] < 0 ? 0 : key[i] < m ? key[i] : m - 1",
        "key[i] > m - 1 ? m - 1 : key[i] > 0 ? key[i] : 0",
        "u32(key[i]) < u32(m) ? key[i] : 0",
    ] {
        let source = format!(
            "kernel @k(n: i64, m: i32, key: i32[n], w: f64[n], s: f64[m]) {{
               affine.for i in 0..n {{ s[{key}] reduce(add) w[i] }}
             }}"
        );
        let (turn, block) = hot_loop(&source, (Target::Baseline, Mode::Stable));
        assert!(
            (3..=4).contains(&turn.loads) && turn.stores == 1,
            "{turn:?}\n{block}"
        );
    }
}

/// Four vectors of a row stay where they are: a turn loads a factor and four vectors, multiplies
/// and adds these, and goes on. Nothing is stored.
#[test]
fn rows_of_few_columns_are_not_in_memory() {
    let source = "kernel @k(n: i64, m: i64, a: f32[n, m], b: f32[m, 16], c: f32[n, 16]) {
      affine.for i in 0..n { affine.for l in 0..m { affine.for j in 0..16 lanes 4 {
        c[i, j] reduce(add) a[i, l] * b[l, j]
      } } }
    }";
    check(source, Turn::new(21, 5, 0));
}

/// A turn loads the key and two floats, of which it takes one, and stores that, or a sum with it. A
/// jump over a copy would be one that nobody can foretell.
#[test]
fn a_choice_between_floats_is_no_jump() {
    for update in [
        "reduce(max) w[i]",
        "reduce(min) w[i]",
        "reduce(max_last) w[i]",
        "reduce(add) (w[i] < v[i] ? w[i] : v[i])",
        "reduce(add) (w[i] >= 0.5 ? v[i] : 2.0 * w[i])",
        "reduce(add) (!(w[i] == v[i]) ? v[i] : 2.0 * w[i])",
    ] {
        let source = format!(
            "kernel @k(n: i64, key: u8[n], w: f64[n], v: f64[n], s: f64[256]) {{
               affine.for i in 0..n {{ s[key[i]] {update} }}
             }}"
        );
        let (turn, block) = hot_loop(&source, (Target::Baseline, Mode::Stable));
        assert!(turn.loads >= 3 && turn.stores == 1, "{turn:?}\n{block}");
        let picks = [
            "maxsd", "minsd", "maxpd", "minpd", "andpd", "pand", "blendv",
        ];
        assert!(picks.iter().any(|it| block.contains(it)), "{block}");
        assert!(!block.contains("$next"), "{block}");
    }
}

/// The same where statements choose.
#[test]
fn a_scalar_that_is_one_of_two_floats_takes_no_jump() {
    for choice in [
        "var t: f64 = 0.0 scf.if w[i] > 0.5 { t = v[i] } else { t = 2.0 * w[i] }",
        "var t: f64 = v[i] scf.if w[i] > 0.5 { t = 2.0 * w[i] }",
        "var t: f64 = v[i] scf.if u[i] == i32(3) { t = 2.0 * w[i] }",
        "let t: f64 = u[i] < i32(3) && w[i] < 0.5 ? v[i] : w[i]",
    ] {
        let source = format!(
            "kernel @k(n: i64, key: u8[n], u: i32[n], w: f64[n], v: f64[n], s: f64[256]) {{
               affine.for i in 0..n {{ {choice} s[key[i]] reduce(add) t }}
             }}"
        );
        let (turn, block) = hot_loop(&source, (Target::Baseline, Mode::Stable));
        assert!(turn.loads >= 3 && turn.stores == 1, "{turn:?}\n{block}");
        let picks = ["andpd", "pand", "blendv", "cmov"];
        assert!(picks.iter().any(|it| block.contains(it)), "{block}");
    }
}

/// What the condition does not keep goes nowhere.
#[test]
fn what_is_kept_takes_no_jump() {
    let source = "kernel @keep(n: i64, t: f64, x: f64[n], out: f64[n]) -> i64 {
        var m: i64 = 0
        affine.for i in 0..n { scf.if x[i] > t { out[m] = x[i] + t m reduce(add) 1 } }
        return m
    }";
    let (turn, block) = hot_loop(source, (Target::Baseline, Mode::Stable));
    assert!(turn.stores == 1 && turn.spills == 0, "{turn:?}\n{block}");
    assert!(block.contains("cmov"), "{block}");
}

/// A turn loads the key, the value, the bit and both elements, subtracts and adds, shifts a one,
/// and stores: there is no remainder of what is taken modulo 64, and the constant waits in a
/// register.
#[test]
fn counts_of_places_are_taken_as_they_are() {
    check(
        "kernel @k(n: i64, key: u8[n], bit: i32[n], w: f64[n], s: f64[256], o: u64[256]) {
           affine.for i in 0..n {
             s[key[i]] reduce(add) 0.7 - w[i]
             o[key[i]] reduce(or) u64(1) << u64(bit[i] % i32(64))
           }
         }",
        Turn::new(15, 5, 2),
    );
}

/// Four times a turn loads the key, the value and what is held, adds twice, and stores once: the
/// total waits in a register.
#[test]
fn a_total_beside_other_sums_is_no_memory() {
    check(
        "kernel @k(n: i64, key: u8[n], w: f64[n], t: f64[1], s: f64[256]) {
           scf.forall c in 0..8 private(t_p: f64[1] = identity(add), s_p: f64[256] = identity(add))
             merge(t reduce(add) t_p, s reduce(add) s_p) {
             affine.for i in (c * n) floordiv 8..(c * n + n) floordiv 8 - 3 step 4 {
               t_p[0] reduce(add) w[i]
               s_p[key[i]] reduce(add) w[i]
               t_p[0] reduce(add) w[i + 1]
               s_p[key[i + 1]] reduce(add) w[i + 1]
               t_p[0] reduce(add) w[i + 2]
               s_p[key[i + 2]] reduce(add) w[i + 2]
               t_p[0] reduce(add) w[i + 3]
               s_p[key[i + 3]] reduce(add) w[i + 3]
             }
           }
         }",
        Turn::new(23, 12, 4),
    );
}

/// Two vectors a turn: of each two loads, a copy of the factor, a product, a sum, a store; then the
/// iterator, a comparison and a jump.
#[test]
fn a_multiple_is_added() {
    check(
        "kernel @k(n: i64, s: f64, x: f64[n], y: f64[n]) {
           affine.for j in 0..n lanes 4 { y[j] reduce(add) s * x[j] }
         }",
        Turn::new(15, 4, 2),
    );
}

/// Four vectors a turn: of each a load, and the greater one; then the iterator, a comparison and a
/// jump.
#[test]
fn the_greatest_is_gathered_in_lanes() {
    check(
        "kernel @k(n: i64, x: f32[n], out: f32[1]) {
           affine.for j in 0..n lanes 16 { out[0] reduce(max) x[j] }
         }",
        Turn::new(11, 4, 0),
    );
}

/// Behind the loop, which most is done in: the greatest of four vectors and of the lanes, which
/// lanes have it, and the least number of these, as short rows take no longer than that.
#[test]
fn the_turn_of_the_greatest_is_found_in_lanes() {
    check(
        "kernel @k(n: i64, x: f32[n], out: f32[1], at: i64[1]) {
           affine.for j in 0..n lanes 16 { (out[0], at[0]) reduce(argmax) (x[j], j) }
         }",
        Turn::new(73, 5, 0),
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

/// Two vectors a turn: of each five loads, one of them for both, four sums, a product and a store;
/// the row before the others begins anew in each turn.
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

/// A filter of five rows, or fewer, by as many weights each.
fn filter(weights: usize, lanes: usize) -> String {
    let sums: String = (0..weights * weights)
        .map(|at| {
            let (p, q) = (at / weights, at % weights);
            format!("s reduce(add) w[{p}, {q}] * image[{p}, j + {q}]\n")
        })
        .collect();
    format!(
        "kernel @k(m: i64, w: f64[5, 5], image: f64[5, m + 4], out: f64[m]) {{
           affine.for j in 0..m lanes {lanes} {{ var s: f64 = 0.0 {sums} out[j] = s }}
         }}"
    )
}

/// A vector a turn: nine loads, copies of factors, products and sums, a store.
#[test]
fn a_filter_of_scalars_in_lanes() {
    check(&filter(3, 2), Turn::new(40, 9, 1));
}

/// Four vectors a turn, of each 25 products and sums, and a store. No more than a weight and two
/// elements are loaded for the four of each weight, the weights from the stack: sums that were made
/// one after the other would load all of it anew for each.
#[test]
fn a_filter_of_more_weights_than_there_are_registers() {
    let most = Turn {
        spills: 80,
        ..Turn::new(388, 55, 4)
    };
    check(&filter(5, 8), most);
}

/// Two rows of prefix sums: what each turn makes is in a register in the next one. A load of the
/// row above and two of summands, six sums and differences, two stores; then copies, the addresses
/// of rows, the iterator, a comparison and a jump.
#[test]
fn chains_of_sums_wait_in_registers() {
    check(
        "kernel @k(m: i64, a: f64[2, m], s: f64[3, m + 1]) {
           var above: f64 = s[0, 0]
           var one: f64 = s[1, 0]
           var two: f64 = s[2, 0]
           affine.for j in 0..m {
             let top: f64 = s[0, j + 1]
             let made: f64 = a[0, j] + top + one - above
             s[1, j + 1] = made
             let next: f64 = a[1, j] + made + two - one
             s[2, j + 1] = next
             above = top
             one = made
             two = next
           }
         }",
        Turn::new(21, 3, 2),
    );
}

/// Two vectors a turn: of each a load of the row, two of single elements, which lie apart, a
/// product, a difference and a store; then copies, addresses, the iterator, a comparison and a
/// jump.
#[test]
fn elements_that_lie_apart_come_into_vectors() {
    check(
        "kernel @k(n: i64, f: f64, a: f64[n, n], b: f64[n]) {
           affine.for j in 0..n lanes 4 { b[j] = b[j] - f * a[j, 3] }
         }",
        Turn::new(24, 6, 2),
    );
}

/// Eight rows of B, each of four vectors, and no loop for those: C stays in registers. Of each row
/// a factor in both lanes, four loads, copies of the factor, products and sums.
#[test]
fn short_rows_take_no_loop() {
    let sums: String = (0..8)
        .map(|l| format!("c[p, j] reduce(add) a[p, {l}] * b[p, {l}, j]\n"))
        .collect();
    let source = format!(
        "kernel @k(n: i64, a: f64[n, 8], b: f64[n, 8, 8], c: f64[n, 8]) {{
           affine.for p in 0..n {{ affine.for j in 0..8 lanes 8 {{ {sums} }} }}
         }}"
    );
    check(&source, Turn::new(170, 44, 4));
}

/// Four vectors a turn behind a condition: of each four loads, three products, two sums, and no sum
/// that goes through memory.
#[test]
fn sums_of_two_products_behind_a_condition() {
    check(
        "kernel @k(n: i64, f: f64, a: f64[2, n], b: f64[2, n], c: f64[1]) {
           affine.if (0 < n) {
             var s: f64 = c[0]
             affine.for l in 0..n lanes 8 { s reduce(add) f * (a[0, l] * b[1, l] + b[0, l] * a[1, l]) }
             c[0] = s
           }
         }",
        Turn::new(39, 16, 0),
    );
}

/// What differs from lane to lane stays in registers while a loop inside runs: a turn loads a
/// coefficient, puts it into all lanes, and multiplies and adds for two vectors. Two more
/// instructions copy the coefficient, which the sums are made in.
#[test]
fn lanes_keep_their_scalars_while_a_loop_inside_runs() {
    let source = "kernel @k(n: i64, m: i64, x: f64[n], c: f64[m], y: f64[n]) {
                    affine.for i in 0..n lanes 4 {
                      var s: f64 = 0.0
                      affine.for t in 0..m { s = s * x[i] + c[t] }
                      y[i] = s
                    }
                  }";
    check(source, Turn::new(12, 1, 0));
}

/// What lanes compute at once and statements behind them want is computed once, though each of
/// these is behind a condition of its own.
#[test]
fn what_conditions_in_turn_want_of_vectors_is_computed_in_front_of_them() {
    let source = "
kernel @k(n: i64, key: i32[n], a: f32[n], b: f32[n], s: f32[n]) {
  affine.for i in 0..n lanes 4 {
    let p: f32 = a[i] * b[i]
    scf.if a[i] < 0.5 { s[key[i]] reduce(add) p }
    scf.if b[i] < 0.5 { s[key[i]] reduce(max) p }
  }
}";
    let kernel = text::parse(source).expect("a kernel").remove(0);
    let kernel = verify(kernel).expect("a kernel that keeps the rules");
    let compiled = compile(&kernel, &Options::default()).expect("code");
    let assembly = compiled.assembly(Mode::Exact).expect("assembly");
    let products = assembly.lines().filter(|it| it.contains("mulps"));
    assert_eq!(products.count(), 1, "{assembly}");
}
