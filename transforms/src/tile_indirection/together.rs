//! Arrays that are combined together become private together.

use crate::Verdict::{Illegal, Misaddressed, Unproven};
use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

const TILE: &str = "tile_indirection_using_forall(i)";

fn in_loop(body: &str) -> String {
    format!(
        "kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], best: f64[m], arg: i64[m], other: i64[m + 1]) {{
           affine.for i in 0..n {{ {body} }}
         }}"
    )
}

const ARGMAX: &str = "(best[seg[i]], arg[seg[i]]) reduce(argmax) (x[i], i)";

#[test]
fn a_pair_is_filled_and_merged_as_a_pair() {
    let before = in_loop(ARGMAX);
    let after = "
kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], best: f64[m], arg: i64[m], other: i64[m + 1]) {
  scf.forall i_c in 0..8 private((best_p: f64[m], arg_p: i64[m]) = identity(argmax)) merge((best, arg) reduce(argmax) (best_p, arg_p)) strategy(auto) {
    affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {
      (best_p[seg[i]], arg_p[seg[i]]) reduce(argmax) (x[i], i)
    }
  }
}";
    accepts(&before, TILE, after);
    for clause in [
        "reduction(best) = argmax",
        "reduction(arg) = argmax",
        "reduction(best) = argmax, reduction(arg) = argmax",
    ] {
        let step = format!("tile_indirection_using_forall(i, {clause})");
        accepts(&before, &step, after);
    }
}

#[test]
fn pairs_and_counters_merge_to_the_same() {
    for combiner in ["argmax", "argmin"] {
        for (key, payload) in [("f64", "i64"), ("f32", "u8"), ("i32", "f32"), ("u8", "i32")] {
            for chunks in [1, 2, 3, 8] {
                let before = kernel(&format!(
                    "kernel @k(n: i64, m: i64, seg: i32[n], x: {key}[n], best: {key}[m], arg: {payload}[m]) {{
                       affine.for i in 0..n {{ (best[seg[i]], arg[seg[i]]) reduce({combiner}) (x[i], {payload}(i)) }}
                     }}"
                ));
                let script = format!("tile_indirection_using_forall(i, chunks = {chunks})");
                assert_same_meaning(&before, &apply(&before, &script));
            }
        }
    }
    for combiner in ["max_last", "fmin", "fmax_first"] {
        let before = kernel(&in_loop(&format!("best[seg[i]] reduce({combiner}) x[i]")));
        assert_same_meaning(&before, &apply(&before, TILE));
    }
    for limit in ["3", "100", "-5"] {
        let before = kernel(&format!(
            "kernel @k(n: i64, m: i64, seg: i32[n], hits: i8[m]) {{
               affine.for i in 0..n {{ hits[seg[i]] reduce(add_sat({limit})) -127 }}
             }}"
        ));
        let step = format!(
            "tile_indirection_using_forall(i, reduction(hits) = add_sat({limit}), chunks = 3)"
        );
        assert_same_meaning(&before, &apply(&before, &step));
    }
}

#[test]
fn what_is_not_together_cell_by_cell_is_not_made_private() {
    for body in [
        "(best[seg[i]], arg[0]) reduce(argmax) (x[i], i)",
        "(best[seg[i]], other[seg[i]]) reduce(argmax) (x[i], i)",
        "(best[seg[i]], arg[seg[i]]) reduce(argmax) (x[i], i) (best[seg[i]], other[seg[i]]) reduce(argmax) (x[i], i)",
        "(best[seg[i]], arg[seg[i]]) reduce(argmax) (x[i], i) (arg[seg[i]], best[seg[i]]) reduce(argmax) (i, x[i])",
        "alloc own: i64[m] (best[seg[i]], own[seg[i]]) reduce(argmax) (x[i], i)",
        "var where: i64 = 0 (best[seg[i]], where) reduce(argmax) (x[i], i)",
    ] {
        refuses(&in_loop(body), TILE, Unproven, "NotTogether");
    }
}

#[test]
fn without_an_identity_updates_are_made_in_their_order() {
    for combiner in ["argmax_last", "argmin_last"] {
        let before = kernel(&in_loop(&ARGMAX.replace("argmax", combiner)));
        let after = apply(&before, TILE);
        assert!(after.to_string().contains(&format!("identity({combiner})")));
        assert_same_meaning(&before, &after);
    }
    for (ty, combiner) in [
        ("i32", "land"),
        ("u8", "lor"),
        ("f64", "last"),
        ("bool", "last"),
    ] {
        let before = kernel(&format!(
            "kernel @k(n: i64, m: i64, seg: i32[n], x: {ty}[n], out: {ty}[m]) {{
               affine.for i in 0..n {{ out[seg[i]] reduce({combiner}) x[i] }}
             }}"
        ));
        assert_same_meaning(&before, &apply(&before, TILE));
    }
}

#[test]
fn where_the_last_assignment_counts_it_is_an_update() {
    let before = in_loop("scf.if x[i] > 0.0 { best[seg[i]] = x[i] }\nx[i] = 1.0");
    let after = "
kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], best: f64[m], arg: i64[m], other: i64[m + 1]) {
  scf.forall i_c in 0..8 private(best_p: f64[m] = identity(last)) merge(best reduce(last) best_p) strategy(auto) {
    affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {
      scf.if x[i] > 0.0 {
        best_p[seg[i]] reduce(last) x[i]
      }
      x[i] = 1.0
    }
  }
}";
    accepts(&before, TILE, after);
    let clause = "tile_indirection_using_forall(i, reduction(best) = last)";
    accepts(&before, clause, after);
    assert_same_meaning(&kernel(&before), &apply(&kernel(&before), TILE));
    let reads = in_loop("best[seg[i]] = x[i]\nx[i] = best[0]");
    refuses(&reads, clause, Illegal, "ReadsPartialSum");
    let sums = in_loop("best[seg[i]] = x[i]\nbest[0] reduce(add) 1.0");
    refuses(&sums, clause, Illegal, "OverwritesPrivate");
    // A fixed place is no scatter.
    refuses(
        &in_loop("best[0] = x[i]"),
        TILE,
        Misaddressed,
        "NothingReduced",
    );
    let filled = in_loop("best[seg[i]] = x[i]\nother[i] = 1");
    let clauses = "tile_indirection_using_forall(i, reduction(best) = last, reduction(arg) = add)";
    refuses(&filled, clauses, Misaddressed, "NotWritten");
}

#[test]
fn what_is_done_to_one_of_them_counts_for_all() {
    let reads = format!("{ARGMAX} x[i] = f64(arg[0])");
    refuses(&in_loop(&reads), TILE, Illegal, "ReadsPartialSum");
    let writes = format!("{ARGMAX} arg[seg[i]] = i");
    refuses(&in_loop(&writes), TILE, Illegal, "OverwritesPrivate");
    let mixes = format!("{ARGMAX} arg[seg[i]] reduce(add) i");
    refuses(&in_loop(&mixes), TILE, Illegal, "MixesCombiners");
}

#[test]
fn what_is_disjoint_is_written_in_place() {
    let before = in_loop("best[seg[i]] = x[i]\nother[seg[i]] reduce(add) 1");
    let after = |alloc: &str, disjoint: &str| {
        format!(
            "
kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], best: f64[m], arg: i64[m], other: i64[m + 1]) {{
{alloc}  scf.forall i_c in 0..8 private(other_p: i64[m + 1] = identity(add)) merge(other reduce(add) other_p){disjoint} strategy(auto) {{
    affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {{
      best[seg[i]] = x[i]
      other_p[seg[i]] reduce(add) 1
    }}
  }}
}}"
        )
    };
    let checked = after("  alloc best_met: u8[m]\n", " disjoint(best: best_met)");
    let step = |word: &str| format!("tile_indirection_using_forall(i, reduction(best) = {word})");
    // Whose elements meet on other data, of which nobody says that they do not.
    let tiled = |word: &str| apply(&kernel(&before), &step(word)).to_string();
    assert_eq!(tiled("disjoint").trim(), checked.trim());
    assert_eq!(tiled("disjoint(trusted)").trim(), after("", "").trim());
    let reads = in_loop("best[seg[i]] = best[0] + x[i]");
    refuses(&reads, &step("disjoint"), Illegal, "ReadsPartialSum");
    refuses(
        &in_loop("x[i] = 1.0"),
        &step("disjoint"),
        Misaddressed,
        "NotWritten",
    );
}
