//! Generated code against the interpreter: the same arrays, or the same fault, whatever the target
//! and the number of threads.

mod across;
mod combiners;
mod common;
mod contracted;
mod divided;
mod extrema;
mod folded;
mod guards;
mod keys_in_lanes;
mod known;
mod lanes;
mod large;
mod little;
mod local_arrays;
mod masked;
mod outer_lanes;
mod picked;
mod quotients;
mod random;
mod reciprocals;
mod records;
mod siblings;
mod soundness;
mod sums_in_lanes;
mod tuples;
mod turn_by_turn;

use common::{Cells, Given, array, check, kernel, scalar};
use std::num::NonZeroUsize;
use strew_affine::verify::verify;
use strew_affine::{Combiner, Type, Value, text};
use strew_jit::{Argument, ArrayMut, ArrayRef, CallError, Options, compile};
use strew_runtime::{Runtime, Settings};

/// Numbers around every edge that a type has.
fn samples(ty: Type) -> Vec<Value> {
    if ty.is_float() {
        let values = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            2.5,
            1e-40,
            127.5,
            -128.9,
            255.9,
            3e9,
            -3e9,
            1e19,
            -1e19,
            1e300,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        return values.iter().map(|it| Value::float(ty, *it)).collect();
    }
    let (least, greatest) = ty.integer_range().unwrap_or((0, 0));
    let near = [0, 1, 2, 3, 7, 8, 31, 33, 63, 100];
    let all = near
        .iter()
        .flat_map(|it| [*it, -it, least + it, greatest - it]);
    all.map(|it| Value::integer(ty, it)).collect()
}

/// Every sample with every other.
fn pairs(ty: Type) -> (Vec<Value>, Vec<Value>) {
    let samples = samples(ty);
    let pair = |left: &Value| {
        samples
            .iter()
            .map(|right| (*left, *right))
            .collect::<Vec<_>>()
    };
    samples.iter().flat_map(pair).unzip()
}

fn without_zero_divisors((left, right): (Vec<Value>, Vec<Value>)) -> (Vec<Value>, Vec<Value>) {
    let pairs = left.into_iter().zip(right);
    pairs
        .filter(|(_, right)| right.as_integer() != Some(0))
        .unzip()
}

fn elementwise(ty: Type, result: Type, expr: &str) -> String {
    format!(
        "kernel @k(n: i64, a: {ty}[n], b: {ty}[n], out: {result}[n]) {{
           affine.for i in 0..n {{ out[i] = {expr} }}
         }}"
    )
}

#[track_caller]
fn check_elementwise(ty: Type, result: Type, expr: &str, (a, b): (Vec<Value>, Vec<Value>)) {
    let n = a.len();
    let zeros = vec![Value::zero(result); n];
    let given = [
        scalar(n as i64),
        Given::Array(Cells::of(ty, &a)),
        Given::Array(Cells::of(ty, &b)),
        Given::Array(Cells::of(result, &zeros)),
    ];
    let outcome = check(&elementwise(ty, result, expr), &given);
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[test]
fn arithmetic_on_every_type() {
    for ty in Type::NUMBERS {
        for op in ["+", "-", "*", "/"] {
            let pairs = without_zero_divisors(pairs(ty));
            check_elementwise(ty, ty, &format!("a[i] {op} b[i]"), pairs);
        }
        check_elementwise(ty, ty, "-a[i]", pairs(ty));
        if ty.is_integer() {
            for op in ["&", "|", "^", "<<", ">>"] {
                check_elementwise(ty, ty, &format!("a[i] {op} b[i]"), pairs(ty));
            }
            check_elementwise(ty, ty, "a[i] % b[i]", without_zero_divisors(pairs(ty)));
            check_elementwise(ty, ty, "~a[i]", pairs(ty));
            for divisor in ["1", "2", "3", "7", "100"] {
                let expr = format!("a[i] / {divisor} + a[i] % {divisor}");
                check_elementwise(ty, ty, &expr, pairs(ty));
            }
        }
    }
}

#[test]
fn comparisons_and_logic_on_every_type() {
    for ty in Type::NUMBERS {
        for op in ["==", "!=", "<", "<=", ">", ">="] {
            check_elementwise(ty, Type::I32, &format!("i32(a[i] {op} b[i])"), pairs(ty));
        }
        let both = "i32(a[i] < b[i] && b[i] != a[i] || !(a[i] == b[i]))";
        check_elementwise(ty, Type::I32, both, pairs(ty));
        for op in ["<", "<=", ">", ">="] {
            check_elementwise(ty, ty, &format!("a[i] {op} b[i] ? a[i] : b[i]"), pairs(ty));
            check_elementwise(ty, ty, &format!("a[i] {op} b[i] ? b[i] : a[i]"), pairs(ty));
        }
        for op in ["==", "!=", "<", ">="] {
            let neither = format!("a[i] {op} b[i] ? a[i] * b[i] : -a[i]");
            check_elementwise(ty, ty, &neither, pairs(ty));
        }
        check_elementwise(ty, ty, "a[i] != a[i] ? b[i] : a[i]", pairs(ty));
        check_elementwise(ty, ty, "a[i] == a[i] ? b[i] : a[i]", pairs(ty));
    }
}

/// One by one, since where the results go is computed, and as a combiner does it.
#[test]
fn choices_between_floats_one_by_one() {
    for ty in [Type::F32, Type::F64] {
        let (a, b) = pairs(ty);
        let n = a.len();
        let back: Vec<_> = (0..n).rev().map(|it| it as i32).collect();
        let given = [
            scalar(n as i64),
            array(&back),
            Given::Array(Cells::of(ty, &a)),
            Given::Array(Cells::of(ty, &b)),
            Given::Array(Cells::of(ty, &a)),
        ];
        let one_by_one = |update: &str| {
            let source = format!(
                "kernel @k(n: i64, p: i32[n], a: {ty}[n], b: {ty}[n], out: {ty}[n]) {{
                   affine.for i in 0..n {{ out[p[i]] {update} }}
                 }}"
            );
            assert!(check(&source, &given).is_ok(), "{source}");
        };
        let statement_by_statement = |condition: &str, [then, otherwise]: [&str; 2]| {
            for (before, otherwise) in [
                ("1.0", format!("else {{ t = {otherwise} }}")),
                (otherwise, String::new()),
            ] {
                let source = format!(
                    "kernel @k(n: i64, p: i32[n], a: {ty}[n], b: {ty}[n], out: {ty}[n]) {{
                       affine.for i in 0..n {{
                         var t: {ty} = {before}
                         scf.if {condition} {{ t = {then} }} {otherwise}
                         out[p[i]] = t
                       }}
                     }}"
                );
                assert!(check(&source, &given).is_ok(), "{source}");
            }
        };
        for op in ["<", "<=", ">", ">=", "==", "!="] {
            for values in [["a[i]", "b[i]"], ["2.0", "-a[i]"], ["t * 0.5", "b[i]"]] {
                statement_by_statement(&format!("a[i] {op} b[i]"), values);
                statement_by_statement(&format!("!(a[i] {op} 1.0)"), values);
                statement_by_statement(&format!("p[i] {op} i32(2)"), values);
                statement_by_statement(&format!("p[i] > i32(1) && a[i] {op} b[i]"), values);
            }
            for sides in ["a[i] : b[i]", "b[i] : a[i]", "2.0 : -a[i]"] {
                one_by_one(&format!("= (a[i] {op} b[i] ? {sides})"));
                one_by_one(&format!("= (!(a[i] {op} b[i]) ? {sides})"));
                one_by_one(&format!("= (a[i] {op} 1.0 ? {sides})"));
            }
            one_by_one(&format!("= (a[i] {op} a[i] ? b[i] : -1.0)"));
        }
        for combiner in [
            "max",
            "max_last",
            "min",
            "min_last",
            "fmin",
            "fmax",
            "fmin_first",
            "max_kept",
            "min_kept_first",
        ] {
            one_by_one(&format!("reduce({combiner}) b[i]"));
        }
    }
}

/// Of a count of places no more than its lowest bits matter, but only where the count is not
/// changed in these.
#[test]
fn counts_of_places_in_many_forms() {
    let integers = Type::NUMBERS.into_iter().filter(|ty| ty.is_integer());
    for ty in integers {
        for op in ["<<", ">>"] {
            let counts = ["% 64", "% 16", "% 12", "& 63", "& 31", "& 28", "/ 2"];
            let mut exprs: Vec<_> = counts.map(|it| format!("a[i] {op} (b[i] {it})")).into();
            exprs.push(format!("a[i] {op} (63 & b[i])"));
            for by in Type::NUMBERS.into_iter().filter(|it| it.bytes() > 1) {
                exprs.push(format!("a[i] {op} {ty}({by}(b[i]) / {by}(3))"));
                if by.is_integer() {
                    exprs.push(format!("a[i] {op} {ty}({by}(b[i]) % {by}(64))"));
                }
            }
            for expr in &exprs {
                check_elementwise(ty, ty, expr, pairs(ty));
            }
        }
    }
}

#[test]
fn conversions_between_all_types() {
    for from in Type::ELEMENTS {
        for to in Type::ELEMENTS {
            let values = samples(from);
            let expr = format!("{to}(a[i])");
            check_elementwise(from, to, &expr, (values.clone(), values));
        }
        let values = samples(from);
        check_elementwise(from, Type::I8, "i8(bool(a[i]))", (values.clone(), values));
    }
}

#[test]
fn every_combiner_on_every_type_serial_and_in_chunks() {
    for combiner in Combiner::built_in() {
        for ty in Type::ELEMENTS {
            if combiner.identity(&[ty]).is_none() {
                continue;
            }
            let body = format!("[key[i]] reduce({combiner}) x[i]");
            let serial = format!(
                "kernel @k(n: i64, m: i32, key: i16[n], x: {ty}[n], out: {ty}[m]) {{
                   affine.for i in 0..n {{ out{body} }}
                 }}"
            );
            let chunks = format!(
                "kernel @k(n: i64, m: i32, key: i16[n], x: {ty}[n], out: {ty}[m]) {{
                   scf.forall c in 0..3 private(p: {ty}[m] = identity({combiner})) merge(out reduce({combiner}) p) strategy(dense) {{
                     affine.for i in (c * n) floordiv 3..(c * n + n) floordiv 3 {{ p{body} }}
                   }}
                 }}"
            );
            let values: Vec<_> = samples(ty).into_iter().filter(|it| exact(*it)).collect();
            let n = values.len();
            let keys: Vec<_> = (0..n).map(|position| (position % 5) as i16).collect();
            let held: Vec<_> = values.iter().copied().cycle().take(37).collect();
            let given = [
                scalar(n as i64),
                scalar(37_i32),
                array(&keys),
                Given::Array(Cells::of(ty, &values)),
                Given::Array(Cells::of(ty, &held)),
            ];
            for source in [serial, chunks] {
                assert!(check(&source, &given).is_ok(), "{source}");
            }
        }
    }
}

/// Sums of these are exact in any grouping.
fn exact(value: Value) -> bool {
    value
        .as_float()
        .is_none_or(|value| value.abs() < 4.0 && value.abs() > 1e-30 || value == 0.0)
}

#[test]
fn loops_of_every_kind() {
    let given = [scalar(10_i64), array(&[0_i64; 100])];
    for body in [
        "affine.for i in 0..n { affine.for j in i..n step 3 { a[10 * i + j] reduce(add) i64(i * j) } }",
        "affine.for i in max(0, n - 20)..min(n, 7) { a[i] = i }",
        "affine.for i in n..0 { a[i] = 1 }",
        "affine.if (n <= 10, 3 < n) { a[0] = 1 } else { a[1] = 1 }",
        "affine.for i in 0..n { affine.if (i mod 3 == 1) { a[i floordiv 2] = i } else { a[i ceildiv 3 + 20] = i } }",
        "scf.for k in a[0]..i64(n) step 4 { a[k] = k + 1 }",
        "var s: i64 = 0 scf.while s < n { a[s] = s s = s + 3 } a[99] = s",
        "scf.if n < 5 { a[0] = 1 } else { a[0] = 2 }",
        "let twice: i64 = n * 2 affine.for i in 0..n { let t: i64 = i + twice a[t] reduce(max) t }",
    ] {
        // In expressions a size is a value; where the text is affine it is not.
        let source = format!("kernel @k(n: i64, a: i64[10 * n]) {{ {body} }}")
            .replace("i64(i * j)", "i * j");
        let outcome = check(&source, &given);
        assert!(outcome.is_ok(), "{source}: {outcome:?}");
    }
}

#[test]
fn foralls_take_values_from_outside() {
    let source = "kernel @k(n: i64, a: f64[n, n], out: f64[n]) {
      affine.for r in 0..n {
        let scale: f64 = f64(r) + 0.5
        scf.forall c in 0..4 private(p: f64[n] = identity(add)) merge(out reduce(add) p) strategy(dense) {
          affine.for i in (c * n) floordiv 4..(c * n + n) floordiv 4 {
            p[i] reduce(add) a[r, i] * scale
          }
        }
      }
    }";
    let cells: Vec<_> = (0..81).map(f64::from).collect();
    assert!(check(source, &[scalar(9_i64), array(&cells), array(&[1.0; 9])]).is_ok());
}

#[test]
fn a_forall_inside_a_forall() {
    let source = "kernel @k(n: i64, out: i32[n]) {
      scf.forall c in 0..n private(p: i32[n] = identity(add)) merge(out reduce(add) p) strategy(dense) {
        scf.forall d in 0..c + 1 private(q: i32[n] = identity(max)) merge(p reduce(max) q) strategy(auto) {
          q[d] reduce(max) i32(c * 10 + d)
        }
        p[c] reduce(add) 1
      }
    }";
    let outer_target_in_inner = kernel_errors(source);
    assert!(
        outer_target_in_inner.is_empty(),
        "{outer_target_in_inner:?}"
    );
    assert!(check(source, &[scalar(6_i64), array(&[0_i32; 6])]).is_ok());
}

fn kernel_errors(source: &str) -> Vec<String> {
    let kernels = text::parse(source).unwrap_or_else(|errors| panic!("{errors:?}"));
    let errors = kernels
        .into_iter()
        .filter_map(|kernel| verify(kernel).err());
    errors.flatten().map(|it| it.to_string()).collect()
}

#[track_caller]
fn check_fault(source: &str, given: &[Given], words: &str, iteration: &[(&str, i64)]) {
    let outcome = check(source, given);
    let iteration = iteration.iter().map(|(name, at)| ((*name).to_owned(), *at));
    assert_eq!(outcome, Err((words.to_owned(), iteration.collect())));
}

const SCATTER_I64: &str = "kernel @k(n: i64, m: i64, key: i64[n], out: i32[m]) {
  affine.for i in 0..n { out[key[i]] reduce(add) 1 }
}";

#[test]
fn an_index_out_of_range_is_a_fault() {
    let given = |keys: &[i64]| {
        [
            scalar(keys.len() as i64),
            scalar(3_i64),
            array(keys),
            array(&[0_i32; 3]),
        ]
    };
    let range =
        |index: i64| format!("index {index} is out of range for `out`, whose extent there is 3");
    check_fault(SCATTER_I64, &given(&[0, 1, 3, 9]), &range(3), &[("i", 2)]);
    check_fault(SCATTER_I64, &given(&[-1]), &range(-1), &[("i", 0)]);
    check_fault(
        SCATTER_I64,
        &given(&[2, 1 << 32]),
        &range(1 << 32),
        &[("i", 1)],
    );
    check_fault(
        SCATTER_I64,
        &given(&[i64::MIN]),
        &range(i64::MIN),
        &[("i", 0)],
    );
}

#[test]
fn an_unsigned_index_is_reported_as_it_is() {
    let source = SCATTER_I64.replace("key: i64", "key: u64");
    let given = [
        scalar(1_i64),
        scalar(3_i64),
        array(&[u64::MAX]),
        array(&[0_i32; 3]),
    ];
    let words = format!(
        "index {} is out of range for `out`, whose extent there is 3",
        u64::MAX
    );
    check_fault(&source, &given, &words, &[("i", 0)]);
}

#[test]
fn an_affine_subscript_out_of_range_is_a_fault_where_it_happens() {
    let source = "kernel @k(n: i64, a: i32[n]) { affine.for i in 0..n { a[i + 2] = 7 } }";
    let words = "index 5 is out of range for `a`, whose extent there is 5";
    check_fault(
        source,
        &[scalar(5_i64), array(&[0_i32; 5])],
        words,
        &[("i", 3)],
    );
}

#[test]
fn an_access_that_is_never_reached_is_no_fault() {
    let source = "kernel @k(n: i64, a: i32[n]) {
      affine.for i in 0..n { affine.if (i < n - 1) { a[i + 1] = a[i] + 1 } }
    }";
    assert!(check(source, &[scalar(5_i64), array(&[3_i32; 5])]).is_ok());
}

#[test]
fn only_the_chosen_side_of_a_selection_is_evaluated() {
    let source = "kernel @k(n: i64, key: i32[n], a: i32[n], out: i32[n]) {
      affine.for i in 0..n {
        out[i] = key[i] >= 0 && a[key[i]] > 1 ? a[key[i]] / (a[key[i]] - 1) : -1
      }
    }";
    let given = [
        scalar(4_i64),
        array(&[-7_i32, 3, 0, 1]),
        array(&[1_i32, 2, 3, 4]),
        array(&[0_i32; 4]),
    ];
    assert!(check(source, &given).is_ok());
}

#[test]
fn a_load_behind_a_check_stays_behind_it() {
    let source = "kernel @k(n: i64, key: i64[n], x: f64[n], out: f64[n]) {
      affine.for i in 0..n { affine.for j in 0..n { out[j] reduce(add) x[key[i]] } }
    }";
    let given = [
        scalar(2_i64),
        array(&[0, 1_i64 << 40]),
        array(&[1.0; 2]),
        array(&[0.0; 2]),
    ];
    let words = "index 1099511627776 is out of range for `x`, whose extent there is 2";
    check_fault(source, &given, words, &[("i", 1), ("j", 0)]);
}

#[test]
fn loops_over_nothing_read_nothing() {
    let source = "kernel @k(n: i64, m: i32, key: i32[n], x: f64[n], out: f64[m]) {
      affine.for i in 0..n { out[key[i]] reduce(add) x[0] }
    }";
    let empty = [
        scalar(0_i64),
        scalar(0_i32),
        array::<i32>(&[]),
        array::<f64>(&[]),
        array::<f64>(&[]),
    ];
    assert!(check(source, &empty).is_ok());
}

#[test]
fn integer_division_by_zero_is_a_fault_and_its_overflow_is_not() {
    let source = "kernel @k(n: i64, a: i32[n], b: i32[n], out: i32[n]) {
      affine.for i in 0..n { out[i] = a[i] / b[i] + a[i] % b[i] }
    }";
    let given = |b: [i32; 2]| {
        [
            scalar(2_i64),
            array(&[i32::MIN, 5]),
            array(&b),
            array(&[0_i32; 2]),
        ]
    };
    assert!(check(source, &given([-1, 2])).is_ok());
    check_fault(
        source,
        &given([1, 0]),
        "integer division by zero",
        &[("i", 1)],
    );
}

#[test]
fn a_fault_in_a_late_chunk_leaves_everything_as_it_was() {
    let source = "kernel @k(n: i64, m: i64, key: i64[n], out: i32[m], seen: i32[n]) {
      affine.for s in 0..n { seen[s] = 1 }
      scf.forall c in 0..8 private(p: i32[m] = identity(add)) merge(out reduce(add) p) strategy(dense) {
        affine.for i in (c * n) floordiv 8..(c * n + n) floordiv 8 { p[key[i]] reduce(add) 1 }
      }
    }";
    let mut keys = vec![1_i64; 1000];
    keys[990] = 3;
    let given = [
        scalar(1000_i64),
        scalar(3_i64),
        array(&keys),
        array(&[7_i32; 3]),
        array(&[0_i32; 1000]),
    ];
    let words = "index 3 is out of range for `p`, whose extent there is 3";
    check_fault(source, &given, words, &[("c", 7), ("i", 990)]);
    let code = compile(&kernel(source), &Options::default());
    let code = code.unwrap_or_else(|error| panic!("{error}"));
    let runtime = Runtime::new(NonZeroUsize::new(2)).unwrap_or_else(|error| panic!("{error}"));
    let (mut out, mut seen) = ([7_i32; 3], [0_i32; 1000]);
    let mut arguments = [
        Argument::Scalar(Value::i64(1000)),
        Argument::Scalar(Value::i64(3)),
        Argument::Read(ArrayRef::new(&keys)),
        Argument::Write(ArrayMut::new(&mut out)),
        Argument::Write(ArrayMut::new(&mut seen)),
    ];
    let outcome = code.call_with_record(&runtime, &Settings::default(), &mut arguments);
    assert!(matches!(outcome, Err(CallError::Fault(_))), "{outcome:?}");
    assert_eq!((out, seen), ([7; 3], [0; 1000]));
}

#[test]
fn inferred_sizes_are_not_passed() {
    let source = "kernel @k(infer rows: i64, a: f64[rows, 3], m: i32, infer length: i64, x: f64[length, m]) -> i64 {
        affine.for i in 0..rows { a[i, 0] = f64(rows) x[length - 1, 0] = 2.0 }
        return length }";
    let a = array(&[1.0; 6]);
    let outcome = check(source, &[a.clone(), scalar(2_i32), array(&[0.0; 4])]);
    let arrays = outcome.expect("it runs");
    assert_eq!(arrays[2], [Value::i64(2)]);
    // Nothing can be divided by an extent of 0, so the size is 0 and the subscript below it.
    let empty: [f64; 0] = [];
    let outcome = check(source, &[a, scalar(0_i32), array(&empty)]);
    assert!(outcome.is_err());
}

/// An array may be longer than its extents where its length is inferred.
#[test]
fn arrays_may_have_more_elements_than_their_extents() {
    let source = "kernel @k(n: i32, infer length: i64, x: f64[n, 2] infer length) -> i64 {
        affine.for i in 0..n { x[i, 1] = f64(i) }
        return length }";
    let x = [7.0; 5];
    for (n, expected) in [(0, [7.0; 5]), (2, [7.0, 0.0, 7.0, 1.0, 7.0])] {
        let outcome = check(source, &[scalar(n), array(&x)]).expect("it runs");
        assert_eq!(outcome[0], expected.map(Value::f64));
        assert_eq!(outcome[1], [Value::i64(5)]);
    }
}

#[test]
fn a_kernel_whose_assumptions_do_not_hold_does_not_run() {
    let source = "kernel @k(n: i64, m: u64, x: f64[n]) assume (n * n <= 100, m < 3) {
        affine.for i in 0..n { x[i] = 1.0 } }";
    let with = |n: i64, m: u64| {
        check(
            source,
            &[scalar(n), scalar(m), array(&vec![0.0; n as usize])],
        )
    };
    assert!(with(10, 2).is_ok());
    for (n, m) in [(11, 2), (10, 3), (10, u64::MAX)] {
        let (message, iteration) = with(n, m).expect_err("an assumption is broken");
        assert!(message.starts_with("the kernel assumes"), "{message}");
        assert_eq!(iteration, []);
    }
    let huge = [scalar(1_i64 << 62), scalar(0_u64), array::<f64>(&[])];
    assert!(check(source, &huge).is_err());
}
