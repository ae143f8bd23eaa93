//! Integers that are divided by what stays the same in a loop.

use crate::common::{Cells, Given, check, kernel, scalar};
use crate::lanes::TYPES;
use strew_affine::{Type, Value};
use strew_jit::{Options, compile};
use strew_runtime::Mode;

/// So many divisors are few enough for the interpreter to end.
const AT_ONCE: usize = 64;

/// What is near the ends of `ty`, near 0, and near the powers of two in between.
fn edges(ty: Type) -> Vec<i128> {
    let (least, most) = ty.integer_range().unwrap_or((0, 0));
    let powers = (0..64).step_by(3).chain([7, 8, 15, 16, 31, 32, 63]);
    let around = powers.flat_map(|it| [-1, 0, 1].map(|by| (1_i128 << it) + by));
    let near = (0..12).chain([100, 641, 65_537, 10_000_019, 6_700_417_000]);
    let sizes: Vec<i128> = around.chain(near).collect();
    let both = sizes.iter().flat_map(|it| [*it, -it]);
    let ends = (0..3).flat_map(|by| [least + by, most - by]);
    let mut all: Vec<_> = both
        .chain(ends)
        .filter(|it| (least..=most).contains(it))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn cells(ty: Type, numbers: &[i128]) -> Given {
    let values: Vec<_> = numbers.iter().map(|it| Value::integer(ty, *it)).collect();
    Given::Array(Cells::of(ty, &values))
}

/// Numbers `x`, and a divisor in the one element of `d`, where the code does not know it.
fn given(ty: Type, x: &[i128], divisor: i128) -> Vec<Given> {
    let zeros = vec![0; x.len()];
    let arrays = [&[divisor], x, &zeros, &zeros].map(|it| cells(ty, it));
    let sizes = [scalar(x.len() as i64)];
    sizes.into_iter().chain(arrays).collect()
}

fn over(ty: Type, body: &str) -> String {
    format!("kernel @k(n: i64, d: {ty}[1], x: {ty}[n], q: {ty}[n], r: {ty}[n]) {{ {body} }}")
}

#[test]
fn quotients_and_remainders_are_those_of_a_division() {
    for ty in TYPES.into_iter().filter(|it| it.is_integer()) {
        let x = edges(ty);
        let divisors: Vec<_> = x.iter().copied().filter(|it| *it != 0).collect();
        for body in [
            "q[k, i] = x[i] / s r[k, i] = x[i] % s",
            "r[k, i] = x[i] % s",
            "affine.for j in 0..2 { q[k, i] reduce(add) x[i] / s }",
        ] {
            let source = format!(
                "kernel @k(n: i64, m: i64, x: {ty}[n], d: {ty}[m], q: {ty}[m, n], r: {ty}[m, n]) {{
                   affine.for k in 0..m {{ let s: {ty} = d[k] affine.for i in 0..n {{ {body} }} }}
                 }}"
            );
            for divisors in divisors.chunks(AT_ONCE) {
                let zeros = vec![0; x.len() * divisors.len()];
                let sizes = [x.len(), divisors.len()].map(|it| scalar(it as i64));
                let arrays = [&x, divisors, &zeros, &zeros].map(|it| cells(ty, it));
                let given: Vec<_> = sizes.into_iter().chain(arrays).collect();
                let outcome = check(&source, &given);
                assert!(outcome.is_ok(), "{outcome:?}\n{source}");
            }
        }
    }
}

#[test]
fn a_divisor_of_zero_is_a_fault_where_it_divides() {
    for ty in [Type::I32, Type::U32, Type::I64, Type::U64] {
        let loops = over(
            ty,
            &format!(
                "let d_0: {ty} = d[0] affine.for i in 0..n {{ scf.if x[i] < 5 {{ q[i] = x[i] / d_0 }} }}"
            ),
        );
        for (x, faults) in [(vec![], false), (vec![7, 8, 9], false), (vec![7, 2], true)] {
            let outcome = check(&loops, &given(ty, &x, 0));
            assert_eq!(outcome.is_err(), faults, "{outcome:?}\n{loops}");
        }
    }
}

/// The scalar is another one in each turn of the loop around, and in turns of the `while` loop
/// behind a condition.
#[test]
fn a_divisor_that_changes_has_a_reciprocal_of_its_own() {
    for ty in [Type::I32, Type::U32, Type::I64, Type::U64] {
        let rows = format!(
            "kernel @k(n: i64, d: {ty}[1], x: {ty}[n], q: {ty}[n], r: {ty}[n]) {{
               var s: {ty} = d[0]
               affine.for i in 0..n {{
                 affine.for j in 0..n {{ q[j] reduce(add) x[j] / s }}
                 s = s + 1
                 var t: {ty} = x[i]
                 scf.while t > 2 {{ r[i] reduce(add) t % s  scf.if t > 90 {{ s = s + 1 }} t = t / 3 }}
                 r[i] reduce(add) x[i] % s
               }}
             }}"
        );
        for divisor in [1, 2, 5, 1 << 20] {
            let x: Vec<i128> = (0..23).map(|it| it * it * 7).collect();
            let outcome = check(&rows, &given(ty, &x, divisor));
            assert!(outcome.is_ok(), "{outcome:?}\n{rows}");
        }
    }
}

#[test]
fn turns_do_not_divide() {
    for ty in [Type::I32, Type::U32] {
        let source = format!(
            "kernel @k(n: i64, d: {ty}, x: {ty}[n], q: {ty}[n]) {{
               affine.for i in 0..n {{ q[i] = x[i] % d }}
             }}"
        );
        let code = compile(&kernel(&source), &Options::default()).expect("code");
        let text = code.clif(Mode::Stable).expect("its text");
        let turn = text.split("\nblock").find(|it| it.contains("umulhi"));
        assert!(turn.is_some_and(|it| !it.contains("div")), "{text}");
    }
}
