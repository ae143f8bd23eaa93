//! Loops that run in the lanes of vectors.

use crate::common::{
    Cells, Given, array, check, check_with, executed, interpreted, kernel, same, scalar,
};
use strew_affine::interpret::ForallOrder;
use strew_affine::verify::verify;
use strew_affine::{Combiner, Type, Value, text};
use strew_jit::{Compiled, Faults, Options, compile};
use strew_runtime::{Body, Mode, Settings};

/// All but `bool`, of which there are no vectors in memory.
pub(crate) const TYPES: [Type; 10] = [
    Type::I8,
    Type::I16,
    Type::I32,
    Type::I64,
    Type::U8,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::F32,
    Type::F64,
];

/// A power of two that is enough for every type.
const LANES: u32 = 16;

fn cells(ty: Type, count: usize, seed: u64) -> Given {
    Given::Array(Cells::of(ty, &values(ty, count, seed)))
}

/// Values of `ty` that have something special about them, and others.
fn values(ty: Type, count: usize, seed: u64) -> Vec<Value> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 16
    };
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-310,
        3e9,
        -3e9,
        1e300,
    ];
    let mut value = || {
        let random = next();
        match (ty.is_float(), random % 3) {
            (true, 0) => Value::float(ty, special[(random / 3) as usize % special.len()]),
            (true, _) => Value::float(ty, (random % 2000) as f64 / 16.0 - 60.0),
            (false, 0) => {
                let (low, high) = ty.integer_range().expect("an integer");
                Value::integer(ty, [low, high, 0, 1][(random / 3) as usize % 4])
            }
            (false, _) => Value::from_bits(ty, next() ^ (next() << 32)),
        }
    };
    (0..count).map(|_| value()).collect()
}

/// Runs `body` for `j` in `0..n` in lanes, over arrays `a` and `b` of `from` and `out` of `to`;
/// whether there are lanes for it.
#[track_caller]
fn runs(from: Type, to: Type, body: &str) -> bool {
    let source = format!(
        "kernel @k(n: i64, s: {from}, a: {from}[n + 3], b: {from}[n + 3], out: {to}[n + 3]) {{
           affine.for j in 0..n lanes {LANES} {{ {body} }}
         }}"
    );
    let parsed = text::parse(&source).unwrap_or_else(|errors| panic!("{source}\n{errors:?}"));
    if verify(parsed.into_iter().next().expect("a kernel")).is_err() {
        return false;
    }
    for n in [0, 1, 15, 16, 17, 50] {
        let count = n as usize + 3;
        let given = [
            scalar(n as i64),
            Given::Scalar(values(from, 1, 99 + n as u64)[0]),
            cells(from, count, 7 + n as u64),
            cells(from, count, 1234 + n as u64),
            cells(to, count, 99),
        ];
        let outcome = check(&source, &given);
        assert!(outcome.is_ok(), "{source}\n{outcome:?}");
    }
    true
}

#[test]
fn operations_on_all_types() {
    let mut missing = Vec::new();
    for ty in TYPES {
        for op in ["+", "-", "*", "/", "&", "|", "^"] {
            if ty.is_float() && "&|^".contains(op) {
                continue;
            }
            if !runs(ty, ty, &format!("out[j] = a[j] {op} b[j + 2]")) {
                missing.push(format!("{op} {ty}"));
            }
        }
        assert!(runs(ty, ty, "out[j + 1] = s - a[j]"), "{ty}");
        assert!(runs(ty, ty, "out[j] = -a[j]"), "{ty}");
        assert!(runs(ty, ty, "let t: i64 = n out[j] = a[j]"), "{ty}");
    }
    // Division of integers can fail, and there is no product of bytes.
    let expected = [
        "* i8", "/ i8", "/ i16", "/ i32", "/ i64", "* u8", "/ u8", "/ u16", "/ u32", "/ u64",
    ];
    assert_eq!(missing, expected);
}

#[test]
fn shifts_by_what_is_the_same_in_all_lanes() {
    for ty in TYPES.into_iter().filter(|ty| ty.is_integer()) {
        for op in ["<<", ">>"] {
            let body = format!("out[j] = a[j] {op} s");
            assert_eq!(runs(ty, ty, &body), ty.bytes() > 1, "{ty} {op}");
            assert!(!runs(ty, ty, &format!("out[j] = a[j] {op} b[j]")));
        }
        assert!(runs(ty, ty, "out[j] = ~a[j]"));
    }
}

#[test]
fn comparisons_choose() {
    for ty in TYPES {
        for op in ["==", "!=", "<", "<=", ">", ">="] {
            let body = format!("out[j] = a[j] {op} b[j] ? a[j] : s");
            assert!(runs(ty, ty, &body), "{ty} {op}");
        }
        // Masks of one width choose between values of another.
        for to in TYPES {
            let body = format!("out[j] = a[j] < b[j] ? out[j] : {to}(j > 2 ? 1 : 0)");
            let known = to.is_float() || runs(ty, to, &body);
            assert!(known, "{ty} {to}");
        }
    }
}

#[test]
fn truth_in_lanes() {
    for (from, to) in [
        (Type::F32, Type::F64),
        (Type::I16, Type::I32),
        (Type::F64, Type::U8),
    ] {
        let both = "out[j] = a[j] < b[j] && out[j] > out[j + 0] || !(a[j] == s) ? out[j] : out[j] + out[j]";
        assert!(runs(from, to, both), "{from} {to}");
    }
    assert!(runs(
        Type::F32,
        Type::I64,
        "let less: bool = a[j] < b[j] out[j] = i64(less)"
    ));
    assert!(runs(
        Type::I64,
        Type::U8,
        "out[j] = u8(bool(a[j]) && n > 3)"
    ));
    assert!(runs(
        Type::I64,
        Type::I64,
        "out[j] = n > 20 && a[j] > b[j] ? 1 : out[j]"
    ));
}

#[test]
fn conversions_between_all_types() {
    let mut missing = Vec::new();
    for from in TYPES {
        for to in TYPES {
            if !runs(from, to, &format!("out[j] = {to}(a[j])")) {
                missing.push((from, to));
            }
        }
    }
    // 64-bit integers to floats and back, 32 unsigned bits to `f64`, and floats to 32 unsigned
    // bits.
    let is_wide = |ty: Type| matches!(ty, Type::I64 | Type::U64);
    for (from, to) in &missing {
        let to_float = to.is_float() && (is_wide(*from) || *from == Type::U32);
        let to_integer = from.is_float() && to.is_integer();
        assert!(to_float || to_integer, "{from} {to}");
    }
    assert_eq!(missing.len(), 11);
}

#[test]
fn functions_that_are_instructions() {
    for ty in [Type::F32, Type::F64] {
        for name in [
            "sqrt",
            "fabs",
            "floor",
            "ceil",
            "trunc",
            "rint",
            "nearbyint",
        ] {
            assert!(
                runs(ty, ty, &format!("out[j] = {name}(a[j] * b[j])")),
                "{name}"
            );
        }
        assert!(!runs(ty, ty, "out[j] = exp(a[j])"));
    }
}

/// Infinities, NaN and zeros of both signs are among the numbers.
#[test]
fn library_extrema_pick_in_lanes() {
    for ty in [Type::F32, Type::F64] {
        for body in [
            "out[j] = fmax(a[j], b[j])",
            "out[j] = fmin(fmax(a[j], 0.0), s)",
            "out[j] = fmin(s, fmin(b[j], a[j + 1]))",
        ] {
            assert!(runs(ty, ty, body), "{ty} {body}");
        }
    }
}

/// Declared combiners call them, too. Of NaNs those with a signal are among the numbers.
#[test]
fn library_extrema_pick_in_declared_combiners() {
    let source = "reduction @above(a, b: f32) = fmax(a, b) + fmin(b, 1.0) identity(f32(-inf))
      kernel @k(n: i64, x: f32[n], out: f32[n]) { affine.for j in 0..n { out[j] reduce(above) x[j] } }";
    let bits = [
        0,
        0x8000_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0001,
        0x7fc0_0000,
    ];
    let value = |it: &u64| Value::from_bits(Type::F32, *it);
    let pairs = bits.iter().flat_map(|x| bits.iter().map(move |y| (x, y)));
    let (x, out): (Vec<_>, Vec<_>) = pairs.map(|(x, y)| (value(x), value(y))).unzip();
    let given = [
        scalar(x.len() as i64),
        Given::Array(Cells::of(Type::F32, &x)),
        Given::Array(Cells::of(Type::F32, &out)),
    ];
    assert!(check(source, &given).is_ok());
}

#[test]
fn sides_of_conditions_declare_what_they_need() {
    for ty in [Type::F32, Type::I32, Type::U8] {
        for body in [
            "scf.if a[j] > out[j] { let t: {ty} = out[j] out[j] = a[j] a[j] = t }",
            "var x: {ty} = a[j] var y: {ty} = b[j]
             scf.if x > y { let t: {ty} = x x = y y = t } else { let r: {ty} = y - x x = r + y }
             out[j] = x - y",
        ] {
            let body = body.replace("{ty}", ty.name());
            assert!(runs(ty, ty, &body), "{body}");
        }
    }
}

#[test]
fn iterators_in_lanes() {
    for ty in TYPES {
        let body = format!("out[j] = out[j] + {ty}(j)");
        let wide = ty.is_float();
        assert_eq!(runs(ty, ty, &body), !wide, "{ty}");
        let body = format!("out[j] = out[j] + {ty}(i32(j))");
        assert!(runs(ty, ty, &body), "{ty}");
    }
}

#[test]
fn combiners_of_elements_and_of_scalars() {
    for ty in TYPES {
        for combiner in Combiner::built_in() {
            let name = combiner.to_string();
            let is_one = combiner.parts() == 1 && combiner.bodies(&[ty]).is_some();
            if !is_one || name == "last" {
                continue;
            }
            let known = runs(ty, ty, &format!("out[j] reduce({name}) a[j]"));
            let is_needed = matches!(name.as_str(), "add" | "min" | "max_last" | "xor");
            assert!(known || !is_needed, "{ty} {name}");
            scalar_runs(ty, &format!("r reduce({name}) a[j]"));
        }
        scalar_runs(ty, "(r, k) reduce(argmin) (a[j] + b[j], i64(j))");
    }
}

/// Rows so far apart that none but the first is memory: a load that went out of the loop, to where
/// the condition was not asked yet, would end the process.
#[test]
fn what_a_condition_proves_is_not_loaded_before_it() {
    let far = 1_i64 << 40;
    for (turns, lanes) in [("0..n", 8), ("0..8", 8), ("0..n", 4), ("0..n", 1)] {
        for element in ["j", "3"] {
            let lanes = match lanes {
                1 => String::new(),
                _ => format!("lanes {lanes}"),
            };
            let source = format!(
                "kernel @k(n: i64, m: i64, a: f64[m], out: f64[n, n]) {{
                   affine.for i in 0..n {{
                     affine.if ({far} * i + 8 < m) {{
                       affine.if ({far} * i + n < m) {{
                         affine.for j in {turns} {lanes} {{ out[i, j] reduce(add) a[{far} * i + {element}] }}
                       }}
                     }}
                   }}
                 }}"
            );
            let (n, m) = (20, 30);
            let given = [
                scalar(n as i64),
                scalar(m as i64),
                cells(Type::F64, m, 3),
                cells(Type::F64, n * n, 4),
            ];
            let outcome = check(&source, &given);
            assert!(outcome.is_ok(), "{source}\n{outcome:?}");
        }
    }
}

/// The second of two sums begins when the first has gone on for a while, so that there is more to
/// keep than at the first look.
#[test]
fn long_sums_beside_each_other() {
    let updates = |sum: &str| -> String {
        let updates = (0..7).map(|at| format!("{sum} reduce(add) a[j + {}] - s\n", at % 4));
        updates.collect()
    };
    let (first, second) = (updates("r"), updates("t"));
    for ty in TYPES {
        let body = format!(
            "var r: {ty} = a[j] {first} var t: {ty} = b[j] {second} {first} out[j] = r - t"
        );
        assert!(runs(ty, ty, &body), "{ty}");
    }
}

/// The same for a loop that updates the scalars `r` and `k`.
#[track_caller]
fn scalar_runs(ty: Type, body: &str) {
    let source = format!(
        "kernel @k(n: i64, a: {ty}[n], b: {ty}[n], out: {ty}[n], at: i64[n]) {{
           affine.for i in 0..n {{
             var r: {ty} = out[i]
             var k: i64 = at[i]
             affine.for j in i..n lanes {LANES} {{ {body} }}
             out[i] = r
             at[i] = k
           }}
         }}"
    );
    for n in [1, 16, 37] {
        let given = [
            scalar(n as i64),
            cells(ty, n, 5),
            cells(ty, n, 6),
            cells(ty, n, 7),
            array(&vec![-1_i64; n]),
        ];
        let settings = Settings {
            mode: Mode::Exact,
            ..Settings::default()
        };
        let outcome = check_with(&source, &given, &settings);
        assert!(outcome.is_ok(), "{source}\n{outcome:?}");
    }
}

#[test]
fn sums_that_round_are_grouped_by_lanes_unless_they_must_be_exact() {
    for (ty, combiner) in [("f64", "add"), ("f32", "add"), ("f64", "mul")] {
        let source = format!(
            "kernel @k(n: i64, a: {ty}[n], b: {ty}[n], out: {ty}[n]) {{
               affine.for i in 0..n {{
                 var r: {ty} = out[i]
                 affine.for j in i..n lanes 16 {{ r reduce({combiner}) 1.0 + (a[j] - b[j]) * 0.0078125 }}
                 out[i] = r
               }}
             }}"
        );
        for n in [1_usize, 15, 16, 31, 100] {
            let near = |seed: usize| -> Vec<Value> {
                let ty = Type::from_name(ty).expect("a type");
                (0..n)
                    .map(|it| Value::float(ty, ((it * seed) % 101) as f64 / 101.0))
                    .collect()
            };
            let ty = Type::from_name(ty).expect("a type");
            let given = [
                scalar(n as i64),
                Given::Array(Cells::of(ty, &near(37))),
                Given::Array(Cells::of(ty, &near(53))),
                Given::Array(Cells::of(ty, &near(11))),
            ];
            let kernel = kernel(&source);
            let code = compile(&kernel, &Options::default()).expect("code");
            let run = |mode| {
                let settings = Settings {
                    mode,
                    ..Settings::default()
                };
                executed(&code, &given, 1, &settings).expect("a run")
            };
            let exact = interpreted(&kernel, &given, ForallOrder::Forward).expect("a run");
            assert_eq!(run(Mode::Exact), exact, "{source}");
            let stable = run(Mode::Stable);
            assert_eq!(stable, run(Mode::Stable));
            let rounding = if ty == Type::F32 { 1e-7 } else { 1e-16 };
            for (found, expected) in stable.iter().flatten().zip(exact.iter().flatten()) {
                let [found, expected] = [found, expected].map(|it| it.as_float().unwrap_or(0.0));
                let bound = 4.0 * n as f64 * rounding * expected.abs();
                assert!((found - expected).abs() <= bound, "{found} {expected}");
            }
            // Otherwise the test would say nothing of grouping.
            assert!(n < 100 || combiner == "mul" || stable != exact, "{source}");
        }
    }
}

/// Rows of `x` go to the rows of `out` that `key` names.
fn rows(keys: &[i32], d: i64, body: &str) -> (String, Vec<Given>) {
    let source = format!(
        "kernel @k(n: i64, m: i64, d: i64, key: i32[n], w: f32[m], x: f32[n, d], out: f64[m, d]) {{
           scf.forall c in 0..4 private(p: f64[m, d] = identity(add)) merge(out reduce(add) p) strategy(auto) {{
             affine.for i in (c * n) floordiv 4..(c * n + n) floordiv 4 {{
               affine.for j in 0..d lanes 8 {{ {body} }}
             }}
           }}
         }}"
    );
    let n = keys.len();
    let x: Vec<f32> = (0..n * d as usize).map(|it| (it % 97) as f32).collect();
    let given = vec![
        scalar(n as i64),
        scalar(5_i64),
        scalar(d),
        array(keys),
        array(&[1.0_f32, 2.0, 4.0, 8.0, 16.0]),
        array(&x),
        array(&vec![0.5_f64; 5 * d as usize]),
    ];
    (source, given)
}

#[test]
fn rows_of_any_length() {
    let keys: Vec<i32> = (0..23).map(|it| it * 7 % 5).collect();
    for d in [0, 1, 7, 8, 9, 24, 31] {
        for body in [
            "p[key[i], j] reduce(add) f64(x[i, j])",
            "p[key[i], j] reduce(add) f64(x[i, j] * w[key[i]])",
            "let k: i32 = key[i] let v: f32 = x[i, j] * w[k] p[k, j] reduce(add) f64(v + v)",
        ] {
            let (source, given) = rows(&keys, d, body);
            let outcome = check(&source, &given);
            assert!(outcome.is_ok(), "{source}\n{outcome:?}");
        }
    }
}

#[test]
fn rows_by_every_strategy_and_body() {
    let keys: Vec<i32> = (0..40).map(|it| it / 9).collect();
    for strategy in ["serial", "dense", "blocked", "binned", "columns"] {
        for body in [Body::Direct, Body::RunLength, Body::Tables] {
            for d in [5, 8, 40] {
                let update = "p[key[i], j] reduce(add) f64(x[i, j])";
                let (source, given) = rows(&keys, d, update);
                let source = source.replace("strategy(auto)", &format!("strategy({strategy})"));
                every_body(&source, &given, body);
            }
        }
    }
}

/// The code of `source`, compiled as calls are.
#[track_caller]
pub(crate) fn compiled(source: &str) -> Compiled {
    let options = Options {
        faults: Faults::Bare,
        ..Options::default()
    };
    compile(&kernel(source), &options).expect("code")
}

/// Runs `source` with bodies of this shape, compiled as calls are.
#[track_caller]
pub(crate) fn every_body(source: &str, given: &[Given], body: Body) {
    let settings = Settings {
        body,
        ..Settings::default()
    };
    let code = compiled(source);
    let expected = interpreted(&kernel(source), given, ForallOrder::Forward);
    let found = executed(&code, given, 2, &settings);
    assert!(same(&expected, &found), "{source}\n{found:?}");
}

#[test]
fn the_first_fault_in_the_order_of_the_loop_is_told() {
    for (key, body) in [
        (5, "p[key[i], j] reduce(add) f64(x[i, j])"),
        (-1, "p[key[i], j] reduce(add) f64(x[i, j] * w[key[i]])"),
        (
            7,
            "p[key[0], j] reduce(add) 1.0 p[key[i], j] reduce(add) f64(w[key[i]])",
        ),
    ] {
        let mut keys = vec![0; 9];
        keys[3] = key;
        for d in [0, 3, 8, 20] {
            let (source, given) = rows(&keys, d, body);
            let outcome = check(&source, &given);
            assert_eq!(outcome.is_ok(), d == 0, "{source}\n{outcome:?}");
        }
    }
}

#[test]
fn bounds_beyond_the_array_are_faults_as_without_lanes() {
    let source = "kernel @k(n: i64, from: i64, out: i64[n]) {
      affine.for j in from..from + 20 lanes 4 { out[j] = j }
    }";
    for (n, from) in [(20, 0), (19, 0), (40, -1), (40, 25), (0, 0)] {
        let out = vec![7_i64; n as usize];
        let outcome = check(
            source,
            &[scalar(n as i64), scalar(from as i64), array(&out)],
        );
        assert_eq!(outcome.is_ok(), from >= 0 && from + 20 <= n, "{n} {from}");
    }
}

#[test]
fn scalars_of_an_iteration_are_in_lanes() {
    for ty in TYPES {
        for body in [
            "var t: T = a[j] t reduce(add) b[j] t = t - s t reduce(add) a[j + 1] out[j] = t",
            "var t: T = s out[j] = t t reduce(max) a[j] out[j] reduce(add) t",
            "var t: T = a[j] let u: T = t t = b[j] out[j] = u - t",
        ] {
            let body = body.replace('T', &ty.to_string());
            assert!(runs(ty, ty, &body), "{body}");
        }
    }
    let mixed = "var t: f64 = 0.0 t reduce(add) f64(a[j]) t reduce(mul) 2.0 out[j] = t";
    assert!(runs(Type::F32, Type::F64, mixed));
    // One from lane to lane, one in each.
    let both = "var t: f32 = a[j] t reduce(add) b[j] z reduce(add) t out[j] = t";
    let source = format!(
        "kernel @k(n: i64, a: f32[n], b: f32[n], out: f32[n], last: f32[1]) {{
           var z: f32 = 0.0
           affine.for j in 0..n lanes 8 {{ {both} }}
           last[0] = z
         }}"
    );
    for n in [3, 8, 29] {
        let given = [
            scalar(n as i64),
            array(&vec![0.25_f32; n]),
            array(&vec![1.5_f32; n]),
            array(&vec![0.0_f32; n]),
            array(&[0.0_f32]),
        ];
        assert!(check(&source, &given).is_ok(), "{source}");
    }
}

/// Elements stay in vectors from statement to statement, but for those that may be others by
/// another name.
#[test]
fn what_is_written_is_what_is_read_behind_it() {
    for body in [
        "y[k, j] reduce(add) x[j] y[k, j] reduce(mul) 0.5 y[k, j] reduce(add) x[j + 1]",
        "y[k, j] = x[j] y[m, j] reduce(add) 1.0 y[k, j] reduce(add) 2.0",
        "y[k, j] = x[j] z[j] = y[m, j] y[m, j] = 3.0 z[j] reduce(add) y[k, j]",
        "y[k, j] = x[j] y[k + 1, j] = y[k, j] y[k, j] reduce(add) y[k + 1, j]",
        "y[k, j] = x[j] y[k + 1, j] reduce(add) 1.0 y[m, j] = y[k, j] y[k + 1, j] reduce(add) y[m, j]",
        "z[j] = x[j] z[j] reduce(add) 1.0 y[k, j] = z[j] z[j] = y[m, j]",
    ] {
        let source = format!(
            "kernel @held(n: i64, k: i64, m: i64, x: f64[n + 1], y: f64[3, n], z: f64[n]) {{
               affine.for j in 0..n lanes 4 {{ {body} }}
             }}"
        );
        for (k, m) in [(0, 0), (0, 1), (1, 2), (1, 1)] {
            let n = 11_i64;
            let given = [
                scalar(n),
                scalar::<i64>(k),
                scalar::<i64>(m),
                cells(Type::F64, n as usize + 1, 3),
                cells(Type::F64, 3 * n as usize, 4),
                cells(Type::F64, n as usize, 5),
            ];
            assert!(check(&source, &given).is_ok(), "{source}");
        }
    }
}

/// What is read at one distance comes into vectors element by element, whatever it is and wherever
/// it begins.
#[test]
fn elements_that_lie_apart_are_read() {
    for ty in [Type::F64, Type::F32, Type::I32, Type::I64, Type::U8] {
        for body in [
            "z[j] = x[2 * j + 1]",
            "z[j] = m[j, k] + x[n - j]",
            "z[j] reduce(add) m[j, j] * m[k, j]",
            "m[k, j] = m[j, k] z[j] = m[j, 0]",
        ] {
            let lanes = (16 / ty.bytes()).max(4);
            let source = format!(
                "kernel @apart(n: i64, k: i64, x: {ty}[2 * n + 1], m: {ty}[n, n], z: {ty}[n]) {{
                   affine.for j in 1..n lanes {lanes} {{ {body} }}
                 }}"
            );
            // Vectors have no products of bytes.
            if ty == Type::U8 && body.contains('*') && !body.contains("2 * j") {
                continue;
            }
            for n in [1_i64, 2, 5, 23, 40] {
                let given = [
                    scalar(n),
                    scalar::<i64>(0),
                    cells(ty, 2 * n as usize + 1, 3),
                    cells(ty, (n * n) as usize, 4),
                    cells(ty, n as usize, 5),
                ];
                assert!(check(&source, &given).is_ok(), "{source}");
            }
        }
    }
}

/// On processors that have little, too.
#[test]
fn rows_that_are_filled_and_arrays_from_their_end() {
    for ty in [Type::F64, Type::F32, Type::I16, Type::U8] {
        for body in [
            "r[j, 2] = x[3 * j] r[j, 0] = x[3 * j + 1] r[j, 1] = x[3 * j + 2]",
            "q[2 * j + 1] = q[2 * j] q[2 * j] = x[n - j]",
            "q[n - j] = x[3 * j] + r[j, 1]",
            "r[j, 1] reduce(add) r[j, 0]",
        ] {
            let source = format!(
                "kernel @filled(n: i64, x: {ty}[3 * n + 2], r: {ty}[n, 3], q: {ty}[2 * n + 1]) {{
                   affine.for j in 0..n lanes 16 {{ {body} }}
                 }}"
            );
            for n in [1_usize, 16, 40] {
                let given = [
                    scalar(n as i64),
                    cells(ty, 3 * n + 2, 3),
                    cells(ty, 3 * n, 4),
                    cells(ty, 2 * n + 1, 5),
                ];
                assert!(check(&source, &given).is_ok(), "{source}");
            }
        }
    }
}

/// Whole vectors of the array have them, wherever in their records these begin and end.
#[test]
fn records_that_are_read_side_by_side() {
    for ty in [Type::F64, Type::F32, Type::I64, Type::I16, Type::U8] {
        let lanes = 16 / ty.bytes() as usize;
        for (width, first) in [
            (lanes, 0),
            (lanes + 1, 1),
            (2 * lanes + 3, 2),
            (2 * lanes, 0),
        ] {
            // What the first of a record is set to waits while the others are read.
            let statements = (first..width).rev().map(|it| {
                let next = (it + 1 - first) % (width - first) + first;
                format!("let v{it}: {ty} = r[j, {it}] z[{it}, j] = v{it} r[j, {next}] = v{it}")
            });
            let statements: Vec<_> = statements.collect();
            let source = format!(
                "kernel @records(n: i64, r: {ty}[n, {width}], z: {ty}[{width}, n]) {{
                   affine.for j in 0..n lanes {lanes} {{ {} }}
                 }}",
                statements.join(" ")
            );
            for n in [1_usize, lanes, 2 * lanes + 1] {
                let given = [
                    scalar(n as i64),
                    cells(ty, width * n, 3),
                    cells(ty, width * n, 4),
                ];
                assert!(check(&source, &given).is_ok(), "{source}");
            }
        }
    }
}

/// On processors that have little, too.
#[test]
fn arithmetic_of_few_bits() {
    for body in [
        "z[j] = u8(u16(x[j]) * u16(y[j]) + 77 >> u16(8))",
        "z[j] = x[j] < y[j] ? y[j] - x[j] : u8(0)",
        "z[j] = i16(x[j]) * 3 >= i16(y[j]) ? u8(i16(x[j]) - i16(y[j]) >> i16(1)) : u8(7)",
        "z[j] = u8(u32(u16(x[j]) * u16(y[j])) * 58255 >> u32(19))",
        "z[j] = u8(i32(f32(i32(x[j]) - i32(y[j])) / 7.0))",
        "var s: u16 = u16(x[j]) + u16(y[j]) s reduce(min) 255 s reduce(max) 9 z[j] = u8(s)",
        "let key: u16 = u16(x[j]) + u16(y[j]) h[i32(key & 63)] reduce(add) 1",
    ] {
        let source = format!(
            "kernel @few(n: i64, x: u8[n], y: u8[n], z: u8[n], h: i32[64]) {{
               affine.for j in 0..n lanes 16 {{ {body} }}
             }}"
        );
        for n in [1_usize, 16, 55] {
            let given = [
                scalar(n as i64),
                cells(Type::U8, n, 3),
                cells(Type::U8, n, 4),
                cells(Type::U8, n, 5),
                cells(Type::I32, 64, 6),
            ];
            assert!(check(&source, &given).is_ok(), "{source}");
        }
    }
}

#[test]
fn lanes_that_there_are_not_are_refused() {
    let refused = |source: &str, what: &str| {
        let kernel = text::parse(source).expect("a kernel").remove(0);
        let violations = verify(kernel).expect_err("a violation");
        let said = violations[0].to_string();
        assert!(said.contains(what), "{said}");
    };
    let body = |lanes: &str, body: &str| {
        format!(
            "kernel @k(n: i64, key: i64[n], a: f32[n], out: f32[n], m: f32[n, n], f: bool[n]) {{
               var s: f32 = 0.0
               affine.for j in 0..n {lanes} {{ {body} }}
             }}"
        )
    };
    for (lanes, text, what) in [
        ("lanes 3", "out[j] = a[j]", "3 is not a power of two"),
        ("lanes 128", "out[j] = a[j]", "128 is not a power of two"),
        ("lanes 2", "out[j] = a[j]", "a vector of `f32` has 4 lanes"),
        ("step 2 lanes 4", "out[j] = a[j]", "does not count by one"),
        (
            "lanes 4",
            "affine.for i in 0..j { out[j] = a[j] }",
            "the loop `i` in it",
        ),
        ("lanes 4", "s = a[j]", "`s` is assigned"),
        ("lanes 4", "var t: bool = a[j] < 1.0", "`t` is assigned"),
        (
            "lanes 4",
            "s reduce(add) a[j] s reduce(add) out[j]",
            "or updated again",
        ),
        (
            "lanes 4",
            "s reduce(add) a[j] out[j] = s",
            "`s` is updated in it, and",
        ),
        ("lanes 4", "out[key[j]] = a[j]", "where in `out`"),
        ("lanes 4", "out[j] = a[j floordiv 2]", "elements of `a`"),
        ("lanes 4", "m[j, 0] = a[j]", "elements of `m`"),
        ("lanes 4", "out[0] = a[j]", "elements of `out`"),
        (
            "lanes 4",
            "out[0] reduce(add) a[j] out[1] reduce(add) a[j]",
            "`out` is updated in it, and",
        ),
        (
            "lanes 4",
            "out[0] reduce(add) a[j] s reduce(add) out[j]",
            "`out` is updated in it, and",
        ),
        (
            "lanes 4",
            "out[j] = out[j] + a[j] scf.if a[j] > 1.0 { s reduce(min) a[j] }",
            "an update by `min` stands under a condition",
        ),
        ("lanes 4", "out[j] = sin(a[j])", "`sin`"),
        ("lanes 16", "f[j] = a[j] < 1.0", "arrays of `bool`"),
        (
            "lanes 4",
            "out[j] = a[j] < 0.0 ? a[j] : a[key[0]]",
            "can fail",
        ),
        // What is made turn by turn has to leave alone what is made at once, and the other way
        // round.
        (
            "lanes 4",
            "let v: f32 = out[j] out[key[j]] = v",
            "where in `out`",
        ),
        (
            "lanes 4",
            "out[j] = 1.0 out[key[j]] = 2.0",
            "where in `out`",
        ),
        (
            "lanes 4",
            "s reduce(add) a[j] out[key[j]] = s",
            "where in `out`",
        ),
        ("lanes 4", "let v: f32 = a[j] + s s = v", "`s` is assigned"),
        (
            "lanes 4",
            "let v: f32 = a[j] affine.for i in 0..n { out[key[i]] = v }",
            "all turns write to one place in `out`",
        ),
        (
            "lanes 4",
            "scf.if a[j] > 1.0 { out[key[j]] = a[j] }",
            "a branch that does more",
        ),
    ] {
        refused(&body(lanes, text), what);
    }
}

#[test]
fn narrow_scalars_count_what_is_the_same_in_all_lanes() {
    let source = "kernel @k(n: i64, a: f32[n], out: f32[n], at: i8[n]) {
      affine.for i in 0..n {
        var k: i8 = at[i]
        affine.for j in 0..n lanes 4 {
          out[j] = a[j] + 1.0
          k reduce(add) 3
        }
        at[i] = k
      }
    }";
    for n in [1_usize, 4, 7, 16] {
        let given = [
            scalar(n as i64),
            cells(Type::F32, n, 5),
            cells(Type::F32, n, 6),
            array(&vec![1_i8; n]),
        ];
        let outcome = check(source, &given);
        assert!(outcome.is_ok(), "{outcome:?}");
    }
}

#[test]
fn vectors_are_made_of_lanes() {
    let clif = |source: &str| {
        let code = compile(&kernel(source), &Options::default()).expect("code");
        code.clif(strew_runtime::Mode::Stable).expect("its text")
    };
    let source = |lanes: &str| {
        format!(
            "kernel @k(n: i64, a: f32[n], out: f64[n]) {{
               affine.for j in 0..n {lanes} {{ out[j] = f64(a[j] * 2.0) }}
             }}"
        )
    };
    let (with, without) = (clif(&source("lanes 8")), clif(&source("")));
    assert!(with.contains("load.f32x4") && with.contains("fvpromote_low"));
    assert!(!without.contains("f32x4"));
    // Rows are found once, not in each turn.
    let (rows, _) = rows(&[0], 1, "p[key[i], j] reduce(add) f64(x[i, j])");
    let body = clif(&rows);
    assert_eq!(body.matches("load.f32x4").count(), 2, "{body}");
}
