//! Random kernels under random schedules: what is accepted means the same, and every witness can be
//! replayed.

use crate::test_support::{
    assert_same_meaning, assert_same_results, assert_same_where_assumed, kernel, replay,
};
use crate::{CountAhead, Parallelize, Schedule, Step, Verdict};
use proptest::prelude::*;
use strew_affine::dependence::{Analyzed, Parallelism};
use strew_affine::flat::conditions_of;
use strew_affine::visit::written_arrays;

const STATEMENTS: [&str; 24] = [
    "out[seg[i]] reduce(add) x[i]",
    "out[seg[i]] reduce(max) x[i]",
    "out[i32(seg[seg[i]])] reduce(add) 1.0",
    "out[i] reduce(add) x[i]",
    "out[i] = x[i]",
    "out[n - 1 - i] = x[i]",
    "out[2 * i] = 1.0",
    "y[i] = y[i] + x[i]",
    "y[i] = out[seg[i]]",
    "y[j] reduce(add) x[i]",
    "count[seg[i] + 1] reduce(add) 1",
    "count[i] = count[i] * 2 + i",
    "let k: i32 = seg[i] y[k] reduce(add) x[j]",
    "var s: f64 = x[i] s reduce(add) x[j] out[j] reduce(add) s",
    "scf.if 2.0 < x[i] { out[seg[i]] reduce(add) 1.0 } else { y[seg[i]] reduce(min) x[i] }",
    "affine.if (i + j < n) { out[i + j] reduce(add) x[i + j] }",
    "total reduce(add) x[i]",
    "seg[i] = seg[i]",
    "z[i, j] = z[j, i] + x[i]",
    "z[i + 1, j] = z[i, j + 1] * 0.5",
    "z[i, i] reduce(add) x[j]",
    "z[2 * i, j] = z[i + j, 1]",
    "affine.for q in 0..3 { z[q, j] reduce(add) z[i, q] }",
    "t[j mod 3] = x[i] y[i] = t[j mod 3]",
];

/// With the scalar and the array that live outside of the loops.
const WITH_OTHERS: [&str; 9] = [
    "total = x[i] out[i] = total * total",
    "t[0] = x[i] t[1] = x[j] out[i] = t[0] + t[1]",
    "affine.for q in 0..4 { t[q] = x[i] } affine.for p in 0..3 { out[i] reduce(add) t[p + 1] }",
    "affine.for q in 0..3 { t[q] = x[i] } affine.for p in 0..3 { out[i] reduce(add) t[p + 1] }",
    "scf.if 1.0 < x[i] { t[0] = x[i] } out[i] = t[0]",
    "out[i] = t[0] t[0] = x[i]",
    "flat[i * m + j] = x[i]",
    "flat[i * m + j] = flat[i * m + j - 1]",
    "flat[i] = x[i]",
];

const BOUNDS: [&str; 10] = [
    "0..n",
    "1..n",
    "0..n - 1",
    "0..n step 2",
    "max(0, n - 1)..min(n, 3)",
    "0..3",
    "2..7 step 3",
    "max(0, n - 4)..n",
    "0..min(n, m)",
    "n..m",
];

const INNER: [&str; 5] = ["0..2", "0..n", "0..i", "i..n", "0..i step 2"];

const STEPS: [&str; 32] = [
    "sink(j)",
    "tile_indirection_using_forall(i)",
    "tile_indirection_using_forall(i, chunks = 3)",
    "tile_indirection_using_forall(i, reduction(out) = add, chunks = 2)",
    "tile_indirection_using_forall(i, reduction(out) = add, reduction(y) = add)",
    "tile_indirection_using_forall(j, chunks = 2)",
    "unroll(i, 2)",
    "unroll(i, 3)",
    "unroll(j, 2)",
    "unroll(j, 4)",
    "strip_mine(i = 2)",
    "strip_mine(j = 3)",
    "peel(i, first = 1)",
    "peel(j, last = 2)",
    "split(i, at = n / 2)",
    "split(j, at = m - 1)",
    "skew(j by i, 1)",
    "skew(j by i, -2)",
    "coalesce(i, j)",
    "parallelize(i)",
    "parallelize(j)",
    "tile_reduction_using_forall(i, chunks = 3)",
    "tile_reduction_using_forall(j, chunks = 2)",
    "separate(i)",
    "separate(j)",
    "privatize(total, i)",
    "pack(x, i)",
    "expand(k11, j)",
    "expand(t, i)",
    "expand(t, j)",
    "privatize(t, i)",
    "pack(z, j)",
];

/// After these another iteration may be the first that fails.
const REORDERINGS: [&str; 20] = [
    "interchange(i, j)",
    "permute(j, i)",
    "reverse(i)",
    "reverse(j)",
    "tile(i = 2, j = 3)",
    "tile(j = 2)",
    "distribute(i)",
    "distribute(j)",
    "fuse(i, i_2)",
    "shift(S1, i, 1)",
    "shift(S2, i, -1)",
    "shift(S2, j, 2)",
    "hoist(S1, i)",
    "hoist(S2, j)",
    "scalar_replace(out)",
    "scalar_replace(y)",
    "unroll_and_jam(i, 2)",
    "unroll_and_jam(i, 3)",
    "scalar_replace(z)",
    "hoist(S1, j)",
];

/// Two loops, statements in both; a local that is declared twice gets another name the second time.
fn source() -> impl Strategy<Value = String> {
    let some = || prop::collection::vec(prop::sample::select(&STATEMENTS), 0..3);
    let bounds = (prop::sample::select(&BOUNDS), prop::sample::select(&INNER));
    (bounds, some(), some()).prop_map(|((outer, inner), before, inside)| {
        let join = |statements: &[&str], copy: usize| -> String {
            let renamed = statements.iter().enumerate().map(|(number, statement)| {
                let (local, scalar) = (format!("k{copy}{number}"), format!("s{copy}{number}"));
                let statement = statement.replace("let k:", &format!("let {local}:"));
                let statement = statement.replace("y[k]", &format!("y[{local}]"));
                let statement = statement.replace("var s:", &format!("var {scalar}:"));
                let statement = statement.replace(" s reduce", &format!(" {scalar} reduce"));
                let statement = statement.replace("(add) s", &format!("(add) {scalar}"));
                let statement = statement.replace("for q", &format!("for q{copy}{number}"));
                let statement = statement.replace("[q,", &format!("[q{copy}{number},"));
                let statement = statement.replace(", q]", &format!(", q{copy}{number}]"));
                if copy == 0 { statement.replace('j', "i") } else { statement }
            });
            renamed.collect::<Vec<_>>().join("\n")
        };
        format!(
            "kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], y: f64[n], out: f64[n], count: i64[n], z: f64[2 * n + 1, n + 1]) {{
               var total: f64 = 0.0
               alloc t: f64[3]
               affine.for i in {outer} {{
                 {}
                 affine.for j in {inner} {{ {} }}
               }}
               out[0] = total
             }}",
            join(&before, 0),
            join(&inside, 1),
        )
    })
}

/// Two loops with statements that use the others, too, and nothing behind the loops but `behind`.
fn source_with_others() -> impl Strategy<Value = String> {
    let statements: Vec<&str> = STATEMENTS.into_iter().chain(WITH_OTHERS).collect();
    let some = prop::collection::vec(prop::sample::select(statements), 1..4);
    let bounds = (prop::sample::select(&BOUNDS), prop::sample::select(&INNER));
    let behind = prop::sample::select(&["", "out[0] = total", "out[0] = t[1]"]);
    (bounds, some, behind).prop_map(|((outer, inner), statements, behind)| {
        let names = ["let k#:", "y[k#]", "var s#:", " s# reduce", "(add) s#", "for q# ", "t[q#]", "[q#, ", ", q#]", "for p# ", "t[p# "];
        let statements = statements.iter().enumerate().map(|(number, statement)| {
            names.iter().fold((*statement).to_owned(), |statement, name| {
                statement.replace(&name.replace('#', ""), &name.replace('#', &number.to_string()))
            })
        });
        format!(
            "kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], y: f64[n], out: f64[n], count: i64[n], z: f64[2 * n + 1, n + 1], flat: f64[n * m]) {{
               var total: f64 = 0.0
               alloc t: f64[4]
               affine.for i in {outer} {{ affine.for j in {inner} {{ {} }} }}
               {behind}
             }}",
            statements.collect::<Vec<_>>().join("\n"),
        )
    })
}

fn step() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        prop::sample::select(&STEPS),
        prop::sample::select(&REORDERINGS)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// What the dependences say of a loop and what `parallelize` does with it are the same.
    #[test]
    fn explained_as_parallel_is_parallel(source in source_with_others()) {
        let kernel = kernel(&source);
        let analyzed = Analyzed::new(&kernel);
        let dependences = analyzed.dependences();
        for verdict in analyzed.verdicts(&dependences) {
            let Some(iter) = verdict.level.iter() else { continue };
            let step = Step::Parallelize(Parallelize::new(kernel.iters[iter].name.as_str()));
            match (verdict.parallelism, step.apply(&kernel)) {
                (Parallelism::Yes | Parallelism::Marks(_), Err(reason)) => prop_assert_eq!(reason.verdict(), Verdict::Unproven, "{}", reason),
                (Parallelism::Yes | Parallelism::Marks(_), Ok(after)) => assert_same_meaning(&kernel, &after),
                // Where sizes decide, there are both versions.
                (Parallelism::No(_), Ok(after)) => {
                    let asked = conditions_of(&kernel, written_arrays(&kernel));
                    prop_assert!(!asked.is_empty(), "accepted:\n{}", after);
                    assert_same_meaning(&kernel, &after);
                }
                (Parallelism::MarksIf(_), Ok(after)) => assert_same_meaning(&kernel, &after),
                (Parallelism::Tickets(_), Err(_)) => {
                    let step = CountAhead { least: 0, ..CountAhead::new(kernel.iters[iter].name.as_str()) };
                    match Step::CountAhead(step).apply(&kernel) {
                        Ok(after) => assert_same_results(&kernel, &after),
                        Err(reason) => prop_assert!(false, "refused: {}", reason),
                    }
                }
                (_, Ok(after)) => prop_assert!(false, "accepted:\n{}", after),
                (_, Err(reason)) => prop_assert!(matches!(reason.verdict(), Verdict::Illegal | Verdict::Unproven)),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]
    #[test]
    fn accepted_means_the_same(source in source(), steps in prop::collection::vec(step(), 1..4)) {
        let mut current = kernel(&source);
        for step in steps {
            let schedule: Schedule = step.parse().expect("a step");
            match schedule.apply(&current, &mut ()) {
                Ok(after) => {
                    if after.assumptions != current.assumptions {
                        assert_same_where_assumed(&current, &after);
                    } else if REORDERINGS.contains(&step) {
                        assert_same_results(&current, &after);
                    } else {
                        assert_same_meaning(&current, &after);
                    }
                    current = after;
                }
                Err(refused) => {
                    let is_illegal = refused.reason.verdict() == Verdict::Illegal;
                    prop_assert_eq!(is_illegal, refused.reason.witness().is_some());
                    refused.reason.witness().into_iter().for_each(|witness| replay(&current, witness));
                }
            }
        }
    }
}
