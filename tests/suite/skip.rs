//! Indices out of range that are skipped: what strew makes of a plain loop is what `cc` makes of
//! one that asks before each statement.

use crate::c;
use crate::data::{Data, is_close, is_same};
use crate::engines::{agree, compiled_counting, interpreted_skipping, is_refusal};
use crate::random::Random;
use crate::strategies::strategies;
use strew::{Body, Compiler, Kernel, Mode, Oob, Plan, Schedule, Source};

/// A kernel, and the same with all its checks written out.
struct Pair {
    parameters: &'static str,
    /// The result.
    result: &'static str,
    plain: &'static str,
    asking: &'static str,
}

const PAIRS: [Pair; 16] = [
    Pair {
        parameters: "const int32_t key[n], const double x[n], double out[m]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) out[key[i]] += x[i];",
        asking: "for (int64_t i = 0; i < n; i++) if (key[i] >= 0 && key[i] < m) out[key[i]] += x[i];",
    },
    Pair {
        parameters: "const uint64_t wide[n], uint8_t bytes[m]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) bytes[wide[i]]++;",
        asking: "for (int64_t i = 0; i < n; i++) if (wide[i] < (uint64_t)m) bytes[wide[i]]++;",
    },
    Pair {
        parameters: "const int32_t key[n], const double x[n], double y[n]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) y[i] = x[key[i]] + 1;",
        asking: "for (int64_t i = 0; i < n; i++) if (key[i] >= 0 && key[i] < n) y[i] = x[key[i]] + 1;",
    },
    Pair {
        parameters: "const int32_t key[n], const int32_t map[m], const double x[n], double out[m], int32_t y[n]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) { int32_t k = map[key[i]]; out[k] += x[i]; y[i] = k; }",
        asking: "for (int64_t i = 0; i < n; i++) if (key[i] >= 0 && key[i] < m) { int32_t k = map[key[i]]; if (k >= 0 && k < m) out[k] += x[i]; y[i] = k; }",
    },
    Pair {
        parameters: "const int32_t key[n], const int32_t map[m], const double x[n], double out[m]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) out[map[key[i]]] += x[i];",
        asking: "for (int64_t i = 0; i < n; i++) if (key[i] >= 0 && key[i] < m) { int32_t k = map[key[i]]; if (k >= 0 && k < m) out[k] += x[i]; }",
    },
    Pair {
        parameters: "const int32_t key[n], const int32_t other[n], const float x[n], float square[m][7]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) square[key[i]][other[i]] += x[i];",
        asking: "for (int64_t i = 0; i < n; i++) if (key[i] >= 0 && key[i] < m && other[i] >= 0 && other[i] < 7) square[key[i]][other[i]] += x[i];",
    },
    Pair {
        parameters: "const int32_t key[n], const int32_t map[m], const double x[n], double out[m]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) for (int32_t k = map[key[i]]; k < map[key[i] + 1]; k++) out[k] += x[i];",
        asking: "for (int64_t i = 0; i < n; i++) { int64_t s = key[i]; if (s >= 0 && s + 1 < m) for (int32_t k = map[s]; k < map[s + 1]; k++) if (k >= 0 && k < m) out[k] += x[i]; }",
    },
    // How much there is to do is found out at the last row, which is another one than the bound of
    // the loop says …
    Pair {
        parameters: "const int32_t key[n], const int32_t map[m], double out[m]",
        result: "void",
        plain: "for (int64_t i = 0; i + 1 < m; i += 2) for (int32_t k = map[i]; k < map[i + 1]; k++) out[key[k]] += i;",
        asking: "for (int64_t i = 0; i + 1 < m; i += 2) for (int32_t k = map[i]; k < map[i + 1]; k++) if (k >= 0 && k < n && key[k] >= 0 && key[k] < m) out[key[k]] += i;",
    },
    // … and need not be there.
    Pair {
        parameters: "const int32_t key[n], const int32_t map[m], double out[m]",
        result: "void",
        plain: "for (int64_t i = 0; i < m; i++) for (int32_t k = map[i]; k < map[i + 1]; k++) out[key[k]] += i;",
        asking: "for (int64_t i = 0; i < m; i++) if (i + 1 < m) for (int32_t k = map[i]; k < map[i + 1]; k++) if (k >= 0 && k < n && key[k] >= 0 && key[k] < m) out[key[k]] += i;",
    },
    Pair {
        parameters: "const int32_t key[n], const int32_t other[n], const double x[n], int64_t count[m]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) if (x[key[i]] > 0) count[other[i]] += 2; else count[0] += 1;",
        asking: "for (int64_t i = 0; i < n; i++) if (key[i] >= 0 && key[i] < n) { if (x[key[i]] > 0) { if (other[i] >= 0 && other[i] < m) count[other[i]] += 2; } else if (m > 0) count[0] += 1; }",
    },
    Pair {
        parameters: "const int32_t key[n], const double x[n], double out[m], int64_t at[m]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) if (x[i] > out[key[i]]) { out[key[i]] = x[i]; at[key[i]] = i; }",
        asking: "for (int64_t i = 0; i < n; i++) if (key[i] >= 0 && key[i] < m) if (x[i] > out[key[i]]) { out[key[i]] = x[i]; at[key[i]] = i; }",
    },
    Pair {
        parameters: "const int32_t key[n], const double x[n], double out[m]",
        result: "double",
        plain: "double s = 0; for (int64_t i = 0; i < n; i++) s += x[key[i]]; out[key[0]] = s; return s;",
        asking: "double s = 0; for (int64_t i = 0; i < n; i++) if (key[i] >= 0 && key[i] < n) s += x[key[i]]; if (n > 0 && key[0] >= 0 && key[0] < m) out[key[0]] = s; return s;",
    },
    Pair {
        parameters: "const double x[n], double out[m]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) out[2 * i - 9] += x[i];",
        asking: "for (int64_t i = 0; i < n; i++) if (2 * i - 9 >= 0 && 2 * i - 9 < m) out[2 * i - 9] += x[i];",
    },
    Pair {
        parameters: "const int32_t key[n], const double x[n], double out[m]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) out[key[i]] = x[i];",
        asking: "for (int64_t i = 0; i < n; i++) if (key[i] >= 0 && key[i] < m) out[key[i]] = x[i];",
    },
    Pair {
        parameters: "const int32_t key[n], const float row[n][3], float rows[m][3]",
        result: "void",
        plain: "for (int64_t i = 0; i < n; i++) for (int j = 0; j < 3; j++) rows[key[i]][j] += row[i][j];",
        asking: "for (int64_t i = 0; i < n; i++) for (int j = 0; j < 3; j++) if (key[i] >= 0 && key[i] < m) rows[key[i]][j] += row[i][j];",
    },
    Pair {
        parameters: "const int32_t key[n], const int32_t map[m], const double x[n], double out[m]",
        result: "double",
        plain: "double last = 1; int64_t at = 0; while (map[at] < 4) { last = 0.5 * last + x[key[at]]; at++; out[at] = last; } return x[key[at]];",
        asking: "double last = 1; int64_t at = 0; while (at < m && map[at] < 4) { if (at < n && key[at] >= 0 && key[at] < n) last = 0.5 * last + x[key[at]]; at++; if (at < m) out[at] = last; } return at < n && key[at] >= 0 && key[at] < n ? x[key[at]] : 0;",
    },
];

/// Keys of which so many of a thousand are out of range, some of them far.
fn keys(random: &mut Random, count: usize, below: usize, wild: u64) -> Vec<i32> {
    let far = [-1, below as i32, i32::MIN, i32::MAX, below as i32 + 1, -2];
    let mut key = || {
        if random.next() % 1000 < wild || below == 0 {
            far[random.next() as usize % far.len()]
        } else {
            (random.next() % below as u64) as i32
        }
    };
    (0..count).map(|_| key()).collect()
}

fn data(parameters: &str, (n, m): (usize, usize), wild: u64) -> Data {
    let mut random = Random(n as u64 + wild);
    let mut doubles = |count: usize| -> Vec<f64> {
        (0..count)
            .map(|_| (random.next() >> 40) as f64 / 1e6 - 8.0)
            .collect()
    };
    let (x, out) = (doubles(n), doubles(m));
    let key = keys(&mut random, n, m, wild);
    // Loops are from one of them to the next.
    let map = keys(&mut random, m, m, wild).into_iter();
    let map: Vec<i32> = map.map(|it| it.clamp(-3, m as i32 + 3)).collect();
    let singles = |count: usize| -> Vec<f32> { (0..count).map(|it| it as f32 / 3.0).collect() };
    let all = Data::default()
        .array("wide", &key.iter().map(|it| *it as u64).collect::<Vec<_>>())
        .array("other", &keys(&mut random, n, 7.min(m), wild))
        .array("map", &map)
        .array("key", &key)
        .array("x", &x)
        .array("y", &vec![0.5_f64; n])
        .array("out", &out)
        .array("bytes", &vec![250_u8; m])
        .array("count", &vec![3_i64; m])
        .array("at", &vec![-1_i64; m])
        .array("row", &singles(3 * n))
        .array("rows", &singles(3 * m))
        .array("square", &singles(7 * m));
    let mut needed = all.clone();
    let words: Vec<_> = parameters.split([' ', '[']).collect();
    needed.arrays.retain(|name, _| words.contains(&&**name));
    if parameters.contains("float x") {
        needed = needed.array("x", &singles(n));
    }
    if parameters.contains("int32_t y") {
        needed = needed.array("y", &vec![9_i32; n]);
    }
    needed.scalar("n", n as i64).scalar("m", m as i64)
}

fn source(pair: &Pair, body: &str) -> String {
    format!(
        "{} k(int64_t n, int64_t m, {}) {{ {body} }}\n",
        pair.result, pair.parameters
    )
}

#[test]
fn plain_loops_do_what_loops_that_ask_first_do() {
    for pair in &PAIRS {
        let parsed = Source::new("k.c", source(pair, pair.plain)).parse();
        let parsed = parsed.unwrap_or_else(|error| panic!("{error}"));
        let parsed = parsed.kernel(None).expect("one kernel");
        let sizes = [
            ((0, 0), 0),
            ((0, 3), 0),
            ((5, 0), 9),
            ((1, 1), 500),
            ((900, 90), 0),
            ((900, 90), 30),
            ((900, 90), 1000),
        ];
        let data: Vec<_> = sizes
            .into_iter()
            .map(|(sizes, wild)| data(pair.parameters, sizes, wild))
            .collect();
        let calls: Vec<_> = data.iter().map(|it| (0, it)).collect();
        let asking = source(pair, pair.asking);
        let expected =
            c::Program::compile(&asking, [parsed.kernel()]).map(|program| program.run(&calls));
        if expected.is_none() {
            skip();
        }
        let with_plan = |plan: &Plan| {
            let scheduled = parsed.schedule(plan, &mut ()).expect("a schedule");
            Kernel::from(scheduled.compile_for(Oob::Skip).expect("machine code"))
        };
        let serial = with_plan(&Plan::Explicit(Schedule::new()));
        let scheduled = with_plan(&Plan::Source);
        for (position, data) in data.iter().enumerate() {
            let reference = interpreted_skipping(parsed.kernel(), data);
            if let Some(expected) = &expected {
                agree(pair.plain, &reference.0, &expected[position], is_same);
            }
            let (found, skipped) = compiled_counting(&serial, data);
            agree(pair.plain, &found, &reference.0, is_same);
            assert_eq!(skipped, reference.1, "{}", pair.plain);
            everyhow(pair.plain, &scheduled, data, &reference);
        }
    }
}

#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn skip() {
    eprintln!("skipped: there is no cc to compare with");
}

/// By every strategy and body, in every mode, at several numbers of threads.
#[track_caller]
fn everyhow(what: &str, kernel: &Kernel, data: &Data, reference: &(crate::data::Outcome, u64)) {
    for strategy in strategies() {
        for (mode, body) in [
            (Mode::Stable, Body::Direct),
            (Mode::Exact, Body::RunLength),
            (Mode::Fast, Body::Tables),
            (Mode::Stable, Body::RunLength),
            (Mode::Stable, Body::Partials),
            (Mode::Fast, Body::Direct),
        ] {
            let what = format!("{what} {strategy} {mode:?} {body}");
            let strategy = strategy.parse().expect("a strategy");
            let kernel = kernel.clone().strategy(strategy).mode(mode).body(body);
            let mut first = None;
            for threads in [1, 3] {
                let (found, skipped) = compiled_counting(&kernel.clone().threads(threads), data);
                if found.as_ref().is_err_and(|it| is_refusal(it)) {
                    break;
                }
                let is_equal = if mode == Mode::Exact {
                    is_same
                } else {
                    is_close
                };
                agree(&what, &found, &reference.0, is_equal);
                assert_eq!(skipped, reference.1, "{what}");
                if let (Some(first), false) = (&first, mode == Mode::Fast) {
                    agree(&what, &found, first, is_same);
                }
                first.get_or_insert(found);
            }
        }
    }
}

#[test]
fn long_loops_skip_almost_everything() {
    const SUM: &str = "void k(int64_t n, int64_t m, const int32_t key[n], const int64_t x[n], int64_t out[m]) \
         { for (int64_t i = 0; i < n; i++) out[key[i]] += x[i]; }";
    let program = Compiler::new().oob(Oob::Skip).compile("k.c", SUM);
    let kernel = program.expect("a program").kernel("k").expect("a kernel");
    let (n, m) = (1_100_000, 40_000);
    let x: Vec<i64> = (0..n as i64).map(|it| it * it % 1009 - 500).collect();
    for wild in [0, 500, 999, 1000] {
        let key = keys(&mut Random(wild), n, m, wild);
        let mut expected = vec![1; m];
        let mut skipped = 0;
        for (key, x) in key.iter().zip(&x) {
            let place = usize::try_from(*key).ok();
            match place.and_then(|it| expected.get_mut(it)) {
                Some(held) => *held += x,
                None => skipped += 1,
            }
        }
        for strategy in [
            "auto", "serial", "dense", "blocked", "apart", "colored", "binned", "atomic",
        ] {
            for body in [Body::Auto, Body::RunLength, Body::Partials] {
                let named = strategy.parse().expect("a strategy");
                let kernel = kernel.clone().strategy(named).body(body).threads(3);
                let mut out = vec![1; m];
                let call = kernel.bind().array("key", &key).array("x", &x);
                let report = call.array_mut("out", &mut out).run_with_report();
                let record = report.expect("a call").record;
                assert_eq!(out, expected, "{strategy} {wild}");
                let counts = (record.skipped, record.updates);
                assert_eq!(counts, (skipped, n as u64 - skipped), "{strategy} {wild}");
            }
        }
    }
}

/// The kernel of `text` as it is written, with the elements of `y` in scalars, and as it is
/// scheduled by itself.
fn with_and_without_scalars(text: &str, oob: Oob) -> [(Plan, Kernel); 3] {
    let parsed = Source::new("k.c", text).parse().expect("a source");
    let parsed = parsed.kernel(None).expect("one kernel");
    let replaced = "scalar_replace(y)".parse().expect("a schedule");
    let plans = [
        Plan::Explicit(Schedule::new()),
        Plan::Explicit(replaced),
        Plan::Auto,
    ];
    plans.map(|plan| {
        let scheduled = parsed.schedule(&plan, &mut ()).expect("a schedule");
        let kernel = Kernel::from(scheduled.compile_for(oob).expect("machine code"));
        (plan, kernel)
    })
}

/// What a step adds to keep an element in a scalar counts for nothing.
#[test]
fn elements_in_scalars_count_as_elements() {
    const PRODUCT: &str = "void k(int64_t n, int64_t m, const double x[m], const double a[n][m], double y[n]) \
         { for (int64_t i = 0; i < n + 3; i++) for (int64_t j = 0; j < m; j++) y[i] += a[i][j] * x[j]; }";
    let (n, m) = (40_usize, 7_usize);
    let x: Vec<f64> = (0..m).map(|it| it as f64).collect();
    let a = vec![0.5; n * m];
    for (plan, kernel) in with_and_without_scalars(PRODUCT, Oob::Skip) {
        let mut y = vec![1.0; n];
        let call = kernel.bind().array("x", &x).array("a", &a);
        let report = call.array_mut("y", &mut y).run_with_report();
        let record = report.expect("a call").record;
        assert_eq!(y, vec![11.5; n], "{plan:?}");
        let counts = (record.updates, record.skipped);
        assert_eq!(counts, ((n * m) as u64, 3 * m as u64), "{plan:?}");
        let why = match plan {
            Plan::Auto => "no parallel loop had enough to do to share it among threads",
            _ => "there is no parallel loop",
        };
        assert_eq!(record.why.to_string(), why);
    }
}

/// Nor is an update left out of the count where a scalar holds the element, whatever is done to
/// choose what it becomes.
#[test]
fn elements_in_scalars_count_where_they_are_chosen() {
    let (n, m) = (40_usize, 7_usize);
    let a: Vec<f64> = (0..n * m).map(|it| (it * it % 11) as f64).collect();
    let chosen = a.iter().filter(|it| **it > 4.0).count() as u64;
    for (ty, otherwise, expected) in [
        ("double", "", chosen),
        ("double", "else y[i] = 1", (n * m) as u64),
        ("int64_t", "", chosen),
        ("int64_t", "else y[i] = 1", (n * m) as u64),
    ] {
        let text = format!(
            "void k(int64_t n, int64_t m, const double a[n][m], {ty} y[n]) \
             {{ for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) if (a[i][j] > 4.0) y[i] = j; {otherwise}; }}"
        );
        for (plan, kernel) in with_and_without_scalars(&text, Oob::Error) {
            let (mut floats, mut integers) = (vec![0.0; n], vec![0_i64; n]);
            let call = kernel.bind().array("a", &a);
            let call = match ty {
                "double" => call.array_mut("y", &mut floats),
                _ => call.array_mut("y", &mut integers),
            };
            let record = call.run_with_report().expect("a call").record;
            assert_eq!(record.updates, expected, "{text} {plan:?}");
        }
    }
}

/// A sum in parallel declares no scalar that there is not.
#[test]
fn a_sum_into_a_scalar_that_was_not_declared_goes_nowhere() {
    const SUM: &str = "void k(int64_t n, int64_t m, int64_t q, const int64_t y[m], const int64_t x[n], int64_t out[m]) \
         { int64_t s = y[q]; for (int64_t i = 0; i < n; i++) s += x[i]; out[0] = s; }";
    let parsed = Source::new("k.c", SUM).parse().expect("a source");
    let parsed = parsed.kernel(None).expect("one kernel");
    let scheduled = parsed.schedule(&Plan::Auto, &mut ()).expect("a schedule");
    assert!(scheduled.kernel().to_string().contains("scf.forall"));
    let kernel = Kernel::from(scheduled.compile_for(Oob::Skip).expect("machine code"));
    for (q, n) in [(1_i64, 9), (3, 9), (-1, 100_000), (2, 100_000), (7, 0)] {
        let data = Data::default()
            .scalar("n", n)
            .scalar("m", 3_i64)
            .scalar("q", q)
            .array("y", &[5_i64, 7, 9])
            .array("x", &(0..n).collect::<Vec<i64>>())
            .array("out", &[-1_i64; 3]);
        let (expected, _) = interpreted_skipping(parsed.kernel(), &data);
        for threads in [1, 3] {
            let (found, _) = compiled_counting(&kernel.clone().threads(threads), &data);
            agree(SUM, &found, &expected, is_same);
        }
        let (found, _) = interpreted_skipping(kernel.compiled().kernel(), &data);
        agree(SUM, &found, &expected, is_same);
    }
}
