//! Integers that lanes divide by a number.

use crate::common::{Cells, Given, check, kernel, scalar};
use strew_affine::{Type, Value};
use strew_jit::{Options, compile};
use strew_runtime::Mode;

const LANES: usize = 8;

fn over(ty: Type, divisor: i64) -> String {
    format!(
        "kernel @k(n: i64, x: {ty}[n], q: {ty}[n], r: {ty}[n]) {{
           affine.for i in 0..n lanes {LANES} {{ q[i] = x[i] / {divisor} r[i] = x[i] % {divisor} }}
         }}"
    )
}

/// Where quotients of `ty` by `divisor` change, what is around the ends of the type, and more in
/// between.
fn numerators(ty: Type, divisor: i64) -> Vec<Value> {
    let (least, most) = match ty.is_signed() {
        true => (i64::from(i32::MIN), i64::from(i32::MAX)),
        false => (0, i64::from(u32::MAX)),
    };
    let steps = [
        -3,
        -2,
        -1,
        0,
        1,
        2,
        3,
        1000,
        most / divisor,
        least / divisor,
    ];
    let near = steps
        .into_iter()
        .flat_map(|it| (-1..=1).map(move |by| it * divisor + by));
    let ends = (0..4).flat_map(|by| [least + by, most - by]);
    let between = (1..80).map(|it| least + (most - least) / 80 * it + it * it);
    let all = near.chain(ends).chain(between);
    let in_range = all.filter(|it| (least..=most).contains(it));
    in_range.map(|it| Value::integer(ty, it.into())).collect()
}

#[test]
fn quotients_and_remainders_are_those_of_a_division() {
    let positive = [
        2,
        3,
        4,
        5,
        7,
        10,
        255,
        256,
        641,
        65_537,
        1 << 30,
        i64::from(i32::MAX),
    ];
    let negative = positive.map(|it| -it);
    let large = [1 << 31, (1 << 31) + 1, i64::from(u32::MAX)];
    let least = [i64::from(i32::MIN)];
    let signed = positive.into_iter().chain(negative).chain(least);
    let unsigned = positive.into_iter().chain(large);
    let all = signed
        .map(|it| (Type::I32, it))
        .chain(unsigned.map(|it| (Type::U32, it)));
    for (ty, divisor) in all {
        let x = numerators(ty, divisor);
        let n = x.len();
        let zeros = vec![Value::integer(ty, 0); n];
        let arrays = [&x, &zeros, &zeros].map(|it| Given::Array(Cells::of(ty, it)));
        let given: Vec<_> = [scalar(n as i64)].into_iter().chain(arrays).collect();
        let source = over(ty, divisor);
        let outcome = check(&source, &given);
        assert!(outcome.is_ok(), "{outcome:?}\n{source}");
    }
}

#[test]
fn they_are_made_by_multiplications() {
    for ty in [Type::I32, Type::U32] {
        let code = compile(&kernel(&over(ty, 10)), &Options::default()).expect("code");
        let text = code.clif(Mode::Stable).expect("its text");
        assert!(text.contains("imul") && text.contains("i64x2"), "{text}");
    }
}
