//! The step `tile_indirection_using_forall`.

mod cover;
mod plan;
mod rewrite;
mod separate;

use crate::script::{Fault, Placed};
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::Kernel;

/// Tiles a loop, runs the tiles at once, each with private copies of the arrays it updates, and merges the copies.
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
/// A chunk owns a copy of the whole array, since an indirect subscript can name any cell. Legal when each array that the loop
/// writes
/// * becomes private: the loop touches it by reductions with one combiner alone, or assigns every cell of it exactly once
///   (then a loop before the forall fills it with the identity, so that merging gives what was assigned), or
/// * is kept apart: some subscript is an affine function of the loop's iterator that takes different values in different
///   iterations.
///
/// Regrouping the updates can change the rounding of float sums. That is not this step's business: the mode that a kernel is
/// run in says what order of combination is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TileIndirection {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
    /// The arrays to make private. When empty: those that the loop updates by reductions and that are not kept apart.
    pub reductions: Vec<Reduction>,
    /// How many tiles, from 1 to [`TileIndirection::MOST_CHUNKS`]. Part of the meaning for float sums, so it never follows from
    /// the number of threads.
    pub chunks: u64,
    /// `auto`, or how the runtime is to combine; another strategy gives the same cells in another way.
    pub strategy: String,
}

/// `reduction(array) = combiner`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// The array.
    pub array: String,
    /// The combiner.
    pub combiner: String,
}

/// An optional part of the request, as it stands in a script.
#[derive(Clone, Debug)]
pub(crate) enum Clause {
    Reduction(String, String),
    Chunks(u64),
    Strategy(String),
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

    pub(crate) fn from_clauses(
        target: LoopPath,
        clauses: Vec<Placed<Clause>>,
    ) -> Result<Self, Placed<Fault>> {
        let mut request = Self::new(target);
        let (mut chunks, mut strategy) = (None, None);
        for (start, clause, end) in clauses {
            let again = |name| Err((start, Fault::Repeated(name), end));
            match clause {
                Clause::Reduction(array, combiner) => request = request.reduction(array, combiner),
                Clause::Chunks(_) if chunks.is_some() => return again("chunks"),
                Clause::Chunks(given) => chunks = Some(given),
                Clause::Strategy(_) if strategy.is_some() => return again("strategy"),
                Clause::Strategy(given) => strategy = Some(given),
            }
        }
        request.chunks = chunks.unwrap_or(request.chunks);
        request.strategy = strategy.unwrap_or(request.strategy);
        Ok(request)
    }
}

impl fmt::Display for TileIndirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}", Self::NAME, self.target)?;
        for Reduction { array, combiner } in &self.reductions {
            write!(f, ", reduction({array}) = {combiner}")?;
        }
        write!(
            f,
            ", chunks = {}, strategy = {})",
            self.chunks, self.strategy
        )
    }
}

/// The kernel with the step done. `kernel` must be a verified one.
///
/// # Errors
/// Why the step is declined.
pub fn tile_indirection_using_forall(
    kernel: &Kernel,
    request: &TileIndirection,
) -> Result<Kernel, Reason> {
    Ok(rewrite::rewrite(plan::plan(kernel, request)?))
}
