//! The step `tile_indirection_using_forall`.

mod cover;
mod disjoint;
mod plan;
mod rewrite;
mod speculate;
#[cfg(test)]
mod together;

pub(crate) use cover::spans;
pub(crate) use plan::{Plan as Tiled, plan as tiled};
pub(crate) use rewrite::rewrite;

use crate::script::Written;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::Kernel;
use strew_affine::verify::Verified;

/// Tiles a loop, runs the tiles at once, each with private copies of the arrays it updates, and
/// merges the copies.
///
/// ```text
/// affine.for i in 0..n {                      scf.forall i_c in 0..8
///   out[seg[i]] reduce(add) f64(x[i])             private(out_p: f64[m] = identity(add)) merge(out reduce(add) out_p) strategy(auto) {
/// }                                      →      affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {
///                                                 out_p[seg[i]] reduce(add) f64(x[i])
///                                               }
///                                             }
/// ```
///
/// A chunk owns a copy of the whole array, since an indirect subscript can name any cell. Legal
/// when each array that the loop writes
/// * becomes private: the loop touches it by reductions with one combiner alone, or assigns every
///   cell of it exactly once (then a loop before the forall fills it with the identity, so that
///   merging gives what was assigned), or
/// * is speculative: the loop does nothing but update what becomes private, and reads the array
///   besides, at places that may be others than those of its updates for all that the kernel says;
///   whether they are is found out when it runs:
///
/// ```text
/// affine.for i in 0..n {                      scf.forall i_c in 0..8 speculative(out reduce(add)) strategy(auto) {
///   let v: f64 = out[from[i]]                   affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {
///   out[seg[i]] reduce(add) v             →       let v: f64 = out[from[i]]
/// }                                               out[seg[i]] reduce(add) v
///                                               }
///                                             }
/// ```
///
/// * is kept apart: some subscript is an affine function of the loop's iterator that takes
///   different values in different iterations, or
/// * is said to be disjoint, by `reduction(array) = disjoint(trusted)`: whoever says so answers for
///   no two iterations touching one element of it.
///
/// Regrouping the updates can change the rounding of float sums. That is not this step's business:
/// the mode that a kernel is run in says what order of combination is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TileIndirection {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
    /// The arrays to make private. When empty: those that the loop updates by reductions and that
    /// are not kept apart.
    pub reductions: Vec<Reduction>,
    /// How many tiles, from 1 to [`TileIndirection::MOST_CHUNKS`]. Part of the meaning for float
    /// sums, so it never follows from the number of threads.
    pub chunks: u64,
    /// `auto`, or how the runtime is to combine; another strategy gives the same cells in another
    /// way.
    pub strategy: String,
}

/// What a clause says, in place of a combiner, of an array of which no two iterations touch one
/// element: the loop works on the array itself, and it is a fault where two of them meet.
pub(crate) const CHECKED: &str = "disjoint";
/// The same, where the caller answers for it.
pub(crate) const TRUSTED: &str = "disjoint(trusted)";

/// `reduction(array) = combiner`, or `reduction(array) = disjoint(trusted)`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// The array.
    pub array: String,
    /// The combiner.
    pub combiner: String,
}

impl TileIndirection {
    /// The word that the step begins with.
    pub const NAME: &'static str = "tile_indirection_using_forall";
    /// The number of chunks when nothing is said about it.
    pub const CHUNKS: u64 = 8;
    /// The greatest number of chunks.
    pub const MOST_CHUNKS: u64 = 65_536;

    /// A request with every choice left open.
    pub fn new(target: impl Into<LoopPath>) -> Self {
        Self {
            target: target.into(),
            reductions: Vec::new(),
            chunks: Self::CHUNKS,
            strategy: "auto".to_owned(),
        }
    }

    /// This request with `array` made private and merged by `combiner`.
    #[must_use]
    pub fn reduction(mut self, array: impl Into<String>, combiner: impl Into<String>) -> Self {
        self.reductions.push(Reduction {
            array: array.into(),
            combiner: combiner.into(),
        });
        self
    }

    /// This request with `chunks` tiles.
    #[must_use]
    pub fn chunks(mut self, chunks: u64) -> Self {
        self.chunks = chunks;
        self
    }

    /// This request with the strategy called `name`.
    #[must_use]
    pub fn strategy(mut self, name: impl Into<String>) -> Self {
        self.strategy = name.into();
        self
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let mut request = Self::new(call.path()?);
        for (array, combiner) in call.clauses("reduction")? {
            request = request.reduction(array, combiner.combiner()?);
        }
        if let Some(chunks) = call.named("chunks")? {
            request.chunks = chunks.number()?;
        }
        if let Some(strategy) = call.named("strategy")? {
            request.strategy = strategy.word()?;
        }
        call.finish(&["reduction", "chunks", "strategy"])?;
        Ok(request)
    }
}

impl fmt::Display for TileIndirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}", Self::NAME, self.target)?;
        for Reduction { array, combiner } in &self.reductions {
            write!(f, ", reduction({}) = {combiner}", Written(array))?;
        }
        write!(
            f,
            ", chunks = {}, strategy = {})",
            self.chunks,
            Written(&self.strategy)
        )
    }
}

impl Transform for TileIndirection {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(rewrite::rewrite(plan::plan(kernel, self)?))
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed, Unproven};
    use crate::test_support::{
        accepts, apply, assert_same_meaning, kernel, refused, refuses, suggestion,
    };
    use crate::{Contents, Reason};

    const TILE: &str = "tile_indirection_using_forall(i)";
    const TILE_OUT: &str = "tile_indirection_using_forall(i, reduction(out) = add)";

    const SEGMENT_SUM: &str = "
kernel @segment_sum(n: i64, m: i32, seg: i32[n], x: f32[n], out: f64[m]) {
  affine.for i in 0..n {
    out[seg[i]] reduce(add) f64(x[i])
  }
}";

    fn in_loop(body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], y: f64[n], out: f64[m]) {{
               affine.for i in 0..n {{ {body} }}
             }}"
        )
    }

    #[test]
    fn scheme() {
        let after = "
kernel @segment_sum(n: i64, m: i32, seg: i32[n], x: f32[n], out: f64[m]) {
  scf.forall i_c in 0..8 private(out_p: f64[m] = identity(add)) merge(out reduce(add) out_p) strategy(auto) {
    affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {
      out_p[seg[i]] reduce(add) f64(x[i])
    }
  }
}";
        accepts(SEGMENT_SUM, TILE, after);
        accepts(SEGMENT_SUM, TILE_OUT, after);
    }

    /// The worked example of the proposal that the step has its name from: a direct insert into a
    /// private row for each of two chunks, the rows filled with the identity and reduced into the
    /// original, which is filled with it too.
    #[test]
    fn seed_worked_example() {
        accepts(
            "
kernel @worked_example(x: f32[4], out: f32[4]) {
  affine.for i in 0..4 {
    out[i] = x[i] + x[i]
  }
}",
            "tile_indirection_using_forall(i, reduction(out) = add, chunks = 2)",
            "
kernel @worked_example(x: f32[4], out: f32[4]) {
  affine.for out_f in 0..4 {
    out[out_f] = -0.0
  }
  scf.forall i_c in 0..2 private(out_p: f32[4] = identity(add)) merge(out reduce(add) out_p) strategy(auto) {
    affine.for i in 2 * i_c..2 * i_c + 2 {
      out_p[i] = x[i] + x[i]
    }
  }
}",
        );
    }

    #[test]
    fn strategies_and_combiners_that_there_are_not_are_told() {
        let source = in_loop("out[seg[i]] reduce(add) x[i]");
        let told = |arguments: &str, name| {
            let step = format!("tile_indirection_using_forall(i, {arguments})");
            let reason = refuses(&source, &step, Misaddressed, name);
            (reason.to_string(), suggestion(&source, &step))
        };
        let (text, next) = told("strategy = dens", "NoSuchStrategy");
        let known = "the strategies are `auto`, `serial`, `dense`, ";
        assert!(
            text.starts_with(&format!("there is no strategy `dens`; {known}")),
            "{text}"
        );
        assert_eq!(next.as_deref(), Some("`dense`"));
        let (text, next) = told("reduction(out) = foo", "NoSuchCombiner");
        assert!(
            text.starts_with("there is no combiner `foo` in the kernel; the combiners are `add`, "),
            "{text}"
        );
        assert!(text.ends_with("`disjoint(trusted)`"), "{text}");
        assert_eq!(next, None);
        let (_, next) = told("reduction(out) = disjoint(trust)", "NoSuchCombiner");
        assert_eq!(next.as_deref(), Some("`disjoint(trusted)`"));
        told("reduction(out) = add(3)", "NoSuchCombiner");
        told("reduction(out) = max", "WrongCombiner");
    }

    #[test]
    fn what_is_combined_into_scalars_is_for_the_other_step() {
        let source = "kernel @k(n: i64, x: f64[n], out: f64[1]) {
           var s: f64 = 0.0
           affine.for i in 0..n { s reduce(add) x[i] }
           out[0] = s
         }";
        for step in [TILE, "tile_indirection_using_forall(i, reduction(s) = add)"] {
            let reason = refuses(source, step, Misaddressed, "OtherReduction");
            assert_eq!(
                reason.to_string(),
                "`i` combines into a scalar, `s`, which is for `tile_reduction_using_forall`"
            );
            assert_eq!(
                suggestion(source, step).as_deref(),
                Some("tile_reduction_using_forall(i, chunks = 8)")
            );
        }
    }

    #[test]
    fn a_backward_insert_fills_too() {
        let before = kernel(&in_loop("y[n - 1 - i] = x[i]"));
        for combiner in ["add", "mul"] {
            let script = format!("tile_indirection_using_forall(i, reduction(y) = {combiner})");
            assert_same_meaning(&before, &apply(&before, &script));
        }
    }

    #[test]
    fn an_array_that_an_iteration_allocates_is_its_own() {
        let body = "alloc t: f64[3] t[seg[i] % 3] = x[i] out[seg[i]] reduce(add) t[0] + t[1]";
        let before = kernel(&in_loop(body));
        let after = apply(&before, TILE);
        assert_same_meaning(&before, &after);
        let text = after.to_string();
        assert!(text.contains("out_p[seg[i]] reduce(add)"), "{text}");
        assert!(!text.contains(" t_p"), "{text}");
        let clause = "tile_indirection_using_forall(i, reduction(t) = add)";
        let reason = refuses(&in_loop(body), clause, Misaddressed, "PrivateAnyway");
        assert_eq!(
            reason.to_string(),
            "every iteration of `i` allocates its own `t`: there is nothing to make private"
        );
    }

    #[test]
    fn an_array_that_is_allocated_outside_of_the_loop_is_shared_by_its_iterations() {
        let outside = |body: &str| {
            format!(
                "kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], out: f64[m]) {{
                   alloc t: f64[m]
                   affine.for i in 0..n {{ {body} }}
                   affine.for j in 0..m {{ out[j] = t[j] }}
                 }}"
            )
        };
        let summed = outside("t[seg[i]] reduce(add) x[i]");
        let after = apply(&kernel(&summed), TILE);
        assert!(after.to_string().contains("merge(t reduce(add) t_p)"));
        assert_same_meaning(&kernel(&summed), &after);
        let shared = outside("t[0] = x[i] out[seg[i]] reduce(add) t[0]");
        let reason = refuses(&shared, TILE, Illegal, "Carried");
        assert!(reason.to_string().contains("`t`"), "{reason}");
        assert!(reason.witness().is_some());
    }

    #[test]
    fn bounds_and_steps_of_every_shape_keep_their_iterations() {
        let bounds = [
            "3..n",
            "0 - 2..m - 2",
            "n..m",
            "0..n step 3",
            "2..n step 5",
            "5..2",
            "0..0",
            "1..8 step 3",
            "max(1, m - 4)..n",
            "0..min(n, m) step 2",
            "max(0, m - 9)..min(n, m)",
        ];
        for bounds in bounds {
            for chunks in [1, 2, 3, 8, 17] {
                let before = kernel(&format!(
                    "kernel @k(n: i64, m: i64, seg: i32[n], out: i64[m]) {{
                       affine.for i in {bounds} {{ out[seg[i]] reduce(add) i }}
                     }}"
                ));
                let script = format!("tile_indirection_using_forall(i, chunks = {chunks})");
                assert_same_meaning(&before, &apply(&before, &script));
            }
        }
    }

    #[test]
    fn every_combiner_merges_to_the_same() {
        for (combiner, element) in [
            ("add", "u8"),
            ("mul", "i16"),
            ("min", "i32"),
            ("max", "u64"),
            ("and", "i64"),
            ("or", "u32"),
            ("xor", "i8"),
            ("min", "f32"),
            ("max", "f64"),
        ] {
            let before = kernel(&format!(
                "kernel @k(n: i64, m: i64, seg: i32[n], x: {element}[n], out: {element}[m]) {{
                   affine.for i in 0..n {{ out[seg[i]] reduce({combiner}) x[i] }}
                 }}"
            ));
            assert_same_meaning(&before, &apply(&before, TILE));
        }
    }

    #[test]
    fn an_array_that_is_kept_apart_is_not_copied() {
        let after = apply(
            &kernel(&in_loop("out[seg[i]] reduce(add) x[i]\ny[i] = y[i] * 2.0")),
            TILE,
        );
        assert!(
            after
                .to_string()
                .contains("private(out_p: f64[m] = identity(add)) merge")
        );
        let after = apply(&kernel(&in_loop("y[i] reduce(add) x[i]")), TILE);
        assert!(
            after
                .to_string()
                .contains("scf.forall i_c in 0..8 strategy(auto)")
        );
    }

    #[test]
    fn several_arrays_become_private_each_by_its_combiner() {
        let before = kernel(&in_loop(
            "out[seg[i]] reduce(add) x[i]\ny[seg[i]] reduce(max) x[i]",
        ));
        let script = "tile_indirection_using_forall(i, reduction(out) = add, reduction(y) = max, chunks = 3)";
        let after = apply(&before, script);
        assert_eq!(
            after,
            apply(&before, "tile_indirection_using_forall(i, chunks = 3)")
        );
        assert_same_meaning(&before, &after);
    }

    #[test]
    fn a_loop_inside_others_is_tiled_where_it_stands() {
        let before = kernel(
            "kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], out: f64[m]) {
               affine.for t in 0..3 {
                 affine.for i in t..n {
                   let k: i32 = seg[i]
                   scf.if 1.0 < x[i] { out[k] reduce(add) x[i] } else { out[k] reduce(add) 1.0 }
                 }
               }
             }",
        );
        assert_same_meaning(
            &before,
            &apply(&before, "tile_indirection_using_forall(t/i, chunks = 4)"),
        );
    }

    #[test]
    fn names_that_are_taken_are_avoided() {
        let source = SEGMENT_SUM.replace("n: i64", "n: i64, i_c: i64, out_p: f32");
        let after = apply(&kernel(&source), TILE).to_string();
        assert!(
            after.contains("scf.forall i_c_2") && after.contains("private(out_p_2:"),
            "{after}"
        );
    }

    #[test]
    fn reading_what_becomes_private_is_illegal() {
        let source = in_loop("out[seg[i]] reduce(add) x[i]\ny[i] = out[0]");
        let reason = refuses(&source, TILE, Illegal, "ReadsPartialSum");
        let witness = reason.witness().expect("a witness");
        assert_eq!(witness.contents, Contents::Zeros);
        assert_eq!(witness.source, [("i".to_owned(), 0)]);
        assert_eq!(witness.sink, [("i".to_owned(), 1)]);
        assert_eq!(
            (witness.array.as_str(), witness.cell.as_slice()),
            ("out", &[0][..])
        );
    }

    #[test]
    fn reading_in_the_same_iteration_alone_is_illegal_too() {
        let source =
            in_loop("out[i] reduce(add) x[i]\ny[i] = out[i]").replace("out: f64[m]", "out: f64[n]");
        let reason = refuses(&source, TILE_OUT, Illegal, "ReadsPartialSum");
        let witness = reason.witness().expect("a witness");
        assert_eq!(witness.source, witness.sink);
    }

    #[test]
    fn a_read_in_a_subscript_or_a_condition_counts() {
        let reads = "out[seg[i]] reduce(add) x[i]\nscf.if out[0] < 1.0 { y[i] = 0.0 }";
        refuses(&in_loop(reads), TILE, Illegal, "ReadsPartialSum");
        let reads =
            "out[seg[i]] reduce(add) x[i]\nscf.if out[seg[i]] < 1.0 { out[0] reduce(add) x[i] }";
        refuses(&in_loop(reads), TILE, Illegal, "ReadsPartialSum");
    }

    #[test]
    fn what_only_the_data_say_is_looked_for_when_the_loop_runs() {
        let body = "let v: f64 = out[n - i - 1] * x[i]\nout[seg[i]] reduce(add) v\ny[seg[i]] reduce(max) v";
        let source = in_loop(body).replace("out: f64[m]", "out: f64[n]");
        let after = "
kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], y: f64[n], out: f64[n]) {
  scf.forall i_c in 0..8 private(y_p: f64[n] = identity(max)) merge(y reduce(max) y_p) speculative(out reduce(add)) strategy(auto) {
    affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {
      let v: f64 = out[n - i - 1] * x[i]
      out[seg[i]] reduce(add) v
      y_p[seg[i]] reduce(max) v
    }
  }
}";
        accepts(&source, TILE, after);
        assert_same_meaning(&kernel(&source), &apply(&kernel(&source), TILE));
        for source in [
            "kernel @k(n: i64, h: i32[n]) { affine.for i in 0..n { h[h[i]] reduce(add) 1 } }",
            "kernel @k(n: i64, a: i32[n], b: i32[n], h: f64[n], g: i64[n]) {
               affine.for i in 0..n { scf.if g[b[i]] < i { (h[a[i]], g[a[i]]) reduce(argmax) (h[b[i]], i) } } }",
        ] {
            let before = kernel(source);
            let after = apply(&before, TILE);
            assert!(after.to_string().contains("speculative("), "{}", *after);
            assert_same_meaning(&before, &after);
        }
    }

    #[test]
    fn what_could_not_begin_anew_is_refused_as_before() {
        for body in [
            "y[i] = out[0]\nout[seg[i]] reduce(add) x[i]",
            "scf.for k in 0..i64(out[0]) { out[seg[i]] reduce(add) x[i] }",
            "var s: f64 = out[0]\nscf.while s > 0.0 { s = s - 1.0 }\nout[seg[i]] reduce(add) s",
            "out[seg[i]] reduce(add) x[i] * out[seg[i]]",
            "out[i] reduce(add) out[i + 1]",
            "y[i] = x[i]\nout[seg[i]] reduce(add) y[i] + out[0]",
        ] {
            let reason = refused(&in_loop(body), TILE_OUT);
            assert_eq!(reason.name(), "ReadsPartialSum", "{body}");
        }
    }

    #[test]
    fn assignments_that_meet_are_illegal() {
        let reason = refuses(
            &in_loop("out[seg[i]] = x[i]"),
            TILE_OUT,
            Illegal,
            "OverwritesPrivate",
        );
        let witness = reason.witness().expect("a witness");
        assert_eq!(witness.cell, [0]);
        let mixed = "out[seg[i]] reduce(add) x[i]\nout[0] = 1.0";
        refuses(&in_loop(mixed), TILE, Illegal, "OverwritesPrivate");
    }

    #[test]
    fn assignments_that_leave_cells_out_are_illegal() {
        let script = "tile_indirection_using_forall(i, reduction(y) = add)";
        for bounds in ["1..n", "0..n - 1", "0..n step 2"] {
            let source = in_loop("y[i] = x[i]").replace("0..n", bounds);
            refuses(&source, script, Illegal, "KeepsOldContents");
        }
        refuses(
            &in_loop("scf.if x[i] < 0.0 { y[i] = x[i] }"),
            script,
            Unproven,
            "KeepsOldContents",
        );
    }

    #[test]
    fn no_assigned_value_is_lost_in_a_merge() {
        let script = "tile_indirection_using_forall(i, reduction(y) = max)";
        let reason = refuses(&in_loop("y[i] = x[i]"), script, Unproven, "LosesAssigned");
        let words = "`y` is assigned, and merging by `max` does not give back every value that can be assigned, such as a NaN or one beyond a limit";
        assert_eq!(reason.to_string(), words);
        let bytes = "kernel @k(n: i64, y: i8[n]) { affine.for i in 0..n { y[i] = i8(i) - 100 } }";
        let limited = |limit: i32| {
            format!("tile_indirection_using_forall(i, reduction(y) = add_sat({limit}))")
        };
        refuses(bytes, &limited(3), Unproven, "LosesAssigned");
        for script in [limited(127), script.to_owned()] {
            let before = kernel(bytes);
            assert_same_meaning(&before, &apply(&before, &script));
        }
    }

    #[test]
    fn iterations_that_meet_elsewhere_are_illegal() {
        let cases = [
            ("y[0] = x[i]", "(output dependence)"),
            (
                "affine.if (i < n - 1) { y[i] = y[i + 1] }",
                "(anti dependence)",
            ),
            (
                "affine.if (1 <= i) { y[i] = y[i - 1] }",
                "(flow dependence)",
            ),
        ];
        for (statement, kind) in cases {
            let source = in_loop(&format!("out[seg[i]] reduce(add) x[i]\n{statement}"));
            let reason = refuses(&source, TILE, Illegal, "Carried");
            assert!(reason.to_string().contains(kind), "{reason}");
        }
    }

    #[test]
    fn accesses_that_stride_past_each_other_are_apart() {
        let source = in_loop("out[seg[i]] reduce(add) x[i]\ny[2 * i] = y[2 * i + 1]");
        let source = source.replace("y: f64[n]", "y: f64[2 * n]");
        let before = kernel(&source);
        assert_same_meaning(&before, &apply(&before, TILE));
    }

    #[test]
    fn an_update_that_no_clause_names_suggests_the_clause() {
        let source = in_loop("out[seg[i]] reduce(add) x[i]\ny[seg[i]] reduce(max) x[i]");
        refuses(&source, TILE_OUT, Illegal, "Carried");
        assert_eq!(
            suggestion(&source, TILE_OUT).as_deref(),
            Some(
                "tile_indirection_using_forall(i, reduction(out) = add, reduction(y) = max, chunks = 8, strategy = auto)"
            )
        );
    }

    #[test]
    fn two_combiners_on_one_array_are_illegal() {
        let source = in_loop("out[seg[i]] reduce(add) x[i]\nout[seg[i]] reduce(max) x[i]");
        refuses(&source, TILE, Illegal, "MixesCombiners");
    }

    #[test]
    fn a_scalar_from_outside_is_illegal() {
        let source = "
kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], out: f64[m]) {
  var s: f64 = 0.0
  affine.for i in 0..n {
    s reduce(add) x[i]
    out[seg[i]] reduce(add) s
  }
}";
        let reason = refuses(source, TILE, Illegal, "CarriedScalar");
        assert_eq!(reason.witness().map(|witness| witness.cell.len()), Some(0));
    }

    #[test]
    fn requests_that_do_not_fit_are_misaddressed() {
        let tile = |rest: &str| format!("tile_indirection_using_forall({rest})");
        let cases = [
            ("j", "NoSuchLoop"),
            ("j/i", "NoSuchLoop"),
            ("i, chunks = 0", "BadNumber"),
            ("i, chunks = 65537", "BadNumber"),
            ("i, reduction(oot) = add", "NoSuchArray"),
            ("i, reduction(x) = add", "NotWritten"),
            ("i, reduction(out) = mul", "WrongCombiner"),
            (
                "i, reduction(out) = add, reduction(out) = add",
                "NamedTwice",
            ),
        ];
        for (rest, name) in cases {
            refuses(SEGMENT_SUM, &tile(rest), Misaddressed, name);
        }
        refuses(
            &in_loop("y[i] = x[i]"),
            TILE,
            Misaddressed,
            "NothingReduced",
        );
        let unknown = "tile_indirection_using_forall(i, reduction(y) = sum)";
        refuses(
            &in_loop("y[i] = x[i]"),
            unknown,
            Misaddressed,
            "NoSuchCombiner",
        );
        let undefined = "tile_indirection_using_forall(i, reduction(y) = xor)";
        refuses(
            &in_loop("y[i] = x[i]"),
            undefined,
            Misaddressed,
            "UndefinedCombiner",
        );
    }

    #[test]
    fn loops_that_run_at_once_are_not_nested() {
        refuses(
            SEGMENT_SUM,
            &format!("{TILE}; {TILE}"),
            Misaddressed,
            "NestedForall",
        );
        let onto = format!("{TILE}; tile_indirection_using_forall(i_c)");
        refuses(SEGMENT_SUM, &onto, Misaddressed, "IsForall");
        let nested = "
kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], out: f64[m]) {
  affine.for t in 0..n {
    affine.for i in 0..n {
      out[seg[i]] reduce(add) x[i]
    }
  }
}";
        let both = format!("{TILE}; tile_indirection_using_forall(t)");
        refuses(nested, &both, Misaddressed, "NestedForall");
    }

    #[test]
    fn a_loop_with_computed_bounds_is_misaddressed() {
        let source = "
kernel @k(n: i64, row: i64[n], out: f64[n]) {
  scf.for i in row[0]..row[1] {
    out[i] reduce(add) 1.0
  }
}";
        refuses(source, TILE, Misaddressed, "NotAffine");
    }

    #[test]
    fn what_cannot_be_counted_is_unproven() {
        let source = SEGMENT_SUM.replace("0..n", "max(0, m)..n step 2");
        refuses(&source, TILE, Unproven, "SeveralBounds");
    }

    #[test]
    fn a_witness_rests_on_no_last_bit_and_on_no_call_that_ends_at_once() {
        let with = |statement: &str| in_loop(&format!("out[seg[i]] reduce(add) x[i] {statement}"));
        refuses(&with("y[0] = exp(x[i])"), TILE, Illegal, "Carried");
        refuses(&with("y[0] = erf(x[i])"), TILE, Illegal, "Carried");
        let steered = with("scf.if exp(x[i]) < 2.0 { y[0] = x[i] }");
        refuses(&steered, TILE, Unproven, "Carried");
        let settled = with("scf.if sqrt(x[i]) < 2.0 { y[0] = x[i] }");
        refuses(&settled, TILE, Illegal, "Carried");
        let large = with("y[0] = x[i]").replacen(") {", ") assume (1000000 <= n) {", 1);
        refuses(&large, TILE, Unproven, "Carried");
        let short = with("y[0] = x[i]").replacen(") {", ") assume (n <= 1) {", 1);
        assert_same_meaning(&kernel(&short), &apply(&kernel(&short), TILE));
    }

    #[test]
    fn an_unknown_loop_lists_the_loops_and_the_nearest() {
        let source = SEGMENT_SUM
            .replace("for i ", "for item ")
            .replace("[i]", "[item]");
        let reason = refuses(&source, "unroll(itm, 2)", Misaddressed, "NoSuchLoop");
        assert_eq!(
            reason.to_string(),
            "there is no loop `itm`; the loops are `item`"
        );
        assert_eq!(reason.nearest().as_deref(), Some("`item`"));
        assert!(matches!(reason, Reason::NoSuchLoop { .. }));
    }
}
