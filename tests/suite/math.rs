//! The functions of `<math.h>`: interpreter and machine code compute the bits that `cc` and the
//! platform's library do.

use crate::c;
use crate::data::{Data, is_same};
use crate::engines::{agree, everywhere};
use crate::random::Random;
use std::collections::BTreeMap;
use strew::Source;
use strew::ir::{Function, Type, Value};

/// Numbers around the edges of a float type and of the functions' domains.
fn edges(ty: Type) -> Vec<Value> {
    let numbers = [
        0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 10.0, 31.5, 88.7, 170.6, 709.8, 1e6, 1e15,
        3e38,
    ];
    let float = |it: f64| Value::float(ty, it);
    let around_one: &[u64] = match ty {
        Type::F32 => &[
            0x3f7f_ffff,
            0x3f80_0001,
            1,
            0x007f_ffff,
            0x0080_0000,
            0x7f7f_ffff,
            0x7f80_0000,
            0x7fc0_0000,
        ],
        _ => &[
            0x3fef_ffff_ffff_ffff,
            0x3ff0_0000_0000_0001,
            1,
            0x000f_ffff_ffff_ffff,
            0x0010_0000_0000_0000,
            0x7fef_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0x7ff8_0000_0000_0000,
        ],
    };
    let sign = 1 << (ty.bits() - 1);
    let bits = numbers.map(|it| float(it).bits());
    let all = bits.iter().chain(around_one);
    all.flat_map(|bits| [*bits, bits | sign])
        .map(|bits| Value::from_bits(ty, bits))
        .collect()
}

/// Operands: every pair of edges, numbers of any size, and numbers near one.
fn operands(ty: Type) -> [Vec<Value>; 3] {
    let edges = edges(ty);
    let mut random = Random(7);
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    for x in &edges {
        for y in &edges {
            let z = edges[random.next() as usize % edges.len()];
            for (operands, value) in all.iter_mut().zip([*x, *y, z]) {
                operands.push(value);
            }
        }
    }
    for _ in 0..400 {
        for operands in &mut all {
            operands.push(Value::from_bits(ty, random.next()));
        }
    }
    for _ in 0..400 {
        for operands in &mut all {
            operands.push(random.value(ty, -4, 4));
        }
    }
    all
}

/// The calls of every function, and what C writes behind their names.
fn calls(suffix: &str, open: &str, between: &str) -> Vec<String> {
    let call = |(position, function): (usize, &Function)| {
        let operands: Vec<_> = ["x[i]", "y[i]", "z[i]"][..function.operand_count()].to_vec();
        let operands = operands.join(", ");
        format!("out[i{between}{position}{open} = {function}{suffix}({operands})")
    };
    Function::ALL.iter().enumerate().map(call).collect()
}

#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn check(ty: Type, c_type: &str, suffix: &str) {
    let count = Function::ALL.len();
    let kernel = format!(
        "kernel @functions(n: i64, x: {ty}[n], y: {ty}[n], z: {ty}[n], out: {ty}[n, {count}]) {{ affine.for i in 0..n {{ {} }} }}",
        calls("", "]", ", ").join(" ")
    );
    let source = format!(
        "#include <math.h>\nvoid functions(int64_t n, const {c_type} x[n], const {c_type} y[n], const {c_type} z[n], {c_type} out[n][{count}]) {{\n\
         for (int64_t i = 0; i < n; i++) {{\n{};\n}}\n}}\n",
        calls(suffix, "]", "][").join(";\n")
    );
    let parsed = Source::new("functions.nest", kernel).parse();
    let parsed = parsed.unwrap_or_else(|error| panic!("{error}"));
    let parsed = parsed.kernel(None).expect("one kernel");
    let [x, y, z] = operands(ty);
    let n = x.len();
    let out = vec![Value::zero(ty); n * count];
    let arrays = [("x", x), ("y", y), ("z", z), ("out", out)];
    let data = Data {
        scalars: BTreeMap::from([("n".to_owned(), Value::i64(n as i64))]),
        arrays: arrays
            .map(|(name, values)| (name.to_owned(), values))
            .into(),
    };
    let found = everywhere(parsed, &data);
    match c::run(&source, parsed.kernel(), &data) {
        Some(expected) => {
            let expected = expected.map(|it| numbers_for_signals(it, &data));
            agree("cc", &found, &expected, is_same);
        }
        None => eprintln!("skipped: there is no cc"),
    }
}

/// `expected`, where `fmin` and `fmax` of a number and a NaN with a signal are the number: those of
/// some libraries are NaN.
fn numbers_for_signals(
    mut expected: BTreeMap<String, Vec<Value>>,
    data: &Data,
) -> BTreeMap<String, Vec<Value>> {
    let picks = |function: &Function| matches!(function, Function::Fmin | Function::Fmax);
    let positions = (0..).zip(Function::ALL).filter(|(_, it)| picks(it));
    let positions: Vec<usize> = positions.map(|(position, _)| position).collect();
    let pairs = data.arrays["x"].iter().zip(&data.arrays["y"]);
    let out = expected.get_mut("out").expect("what is written");
    for (row, (x, y)) in out.chunks_exact_mut(Function::ALL.len()).zip(pairs) {
        let number = [x, y].into_iter().find(|it| !is_nan(**it));
        if let Some(number) = number.filter(|_| has_signal(*x) || has_signal(*y)) {
            positions.iter().for_each(|it| row[*it] = *number);
        }
    }
    expected
}

fn is_nan(value: Value) -> bool {
    value.as_float().is_some_and(f64::is_nan)
}

/// Whether `value` is a NaN whose first bit behind the exponent is not set.
fn has_signal(value: Value) -> bool {
    let quiet = match value.ty() {
        Type::F32 => 1 << 22,
        _ => 1 << 51,
    };
    is_nan(value) && value.bits() & quiet == 0
}

#[test]
fn functions_on_double_are_those_of_the_platform() {
    check(Type::F64, "double", "");
}

#[test]
fn functions_on_float_are_those_of_the_platform() {
    check(Type::F32, "float", "f");
}
