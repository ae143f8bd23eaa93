//! What runs in a cell: the kernels of `tests/kernels` on keys, graphs, meshes and particles.

mod graph;
mod keys;
mod mesh;

use crate::data::Problem;
use crate::generators::{constant, sorted};
use crate::grid::Cell;
use crate::random::Random;

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// How large problems are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Full,
    /// As large, with fewer updates.
    Quick,
    /// Everything small: to see that it runs.
    Smoke,
}

impl Scale {
    /// About how many updates a cell gets.
    fn updates(self, cell: &Cell) -> usize {
        match self {
            Self::Full if cell.bytes >= 64 << 20 => 16 << 20,
            Self::Full => 8 << 20,
            Self::Quick => 2 << 20,
            Self::Smoke => 1 << 13,
        }
    }

    /// The bytes of all outputs.
    fn bytes(self, cell: &Cell) -> usize {
        match self {
            Self::Full | Self::Quick => cell.bytes,
            Self::Smoke => (cell.bytes >> 9).clamp(2 << 10, 128 << 10),
        }
    }
}

/// The text of a kernel.
macro_rules! source {
    ($name:literal) => {
        include_str!(concat!("../../../tests/kernels/", $name, ".c"))
    };
}
use source;

/// The problem of `cell`.
///
/// # Errors
/// A cell that speaks of a kernel or an input that there is not.
pub(crate) fn problem(cell: &Cell, scale: Scale) -> Result<Problem, String> {
    let (updates, bytes) = (scale.updates(cell), scale.bytes(cell));
    let mut random = Random(SEED);
    let problem = match cell.kernel {
        "k01" => keys::histogram(cell, &mut random, updates, bytes),
        "k02" => keys::scatter_add(cell, &mut random, updates, bytes),
        "k03" => keys::segment_sum(cell, &mut random, updates, bytes),
        "k04" => keys::segment_argmax(cell, &mut random, updates, bytes),
        "k05" => graph::product(cell, &mut random, updates, bytes),
        "k06" => graph::pagerank(cell, &mut random, updates, bytes),
        "k07" => graph::triangles(&mut random, updates, bytes),
        "k08f" => graph::betweenness_forward(&mut random, updates, bytes),
        "k08b" => graph::betweenness_backward(&mut random, updates, bytes),
        "k09" => mesh::assemble(cell, &mut random, bytes),
        "k10" => mesh::deposit(cell, &mut random, updates, bytes),
        "k11" => keys::kmeans(cell, &mut random, updates, bytes),
        "k12" => mesh::flux(cell, &mut random, updates, bytes),
        _ => None,
    };
    problem.ok_or_else(|| format!("{}: no such kernel, element or input", cell.name))
}

impl Random {
    /// `n` keys below `m` of a kind.
    fn keys(&mut self, kind: &str, n: usize, m: usize) -> Option<Vec<i32>> {
        let m = m as i32;
        Some(match kind {
            "uniform" => self.uniform(n, m),
            "zipf" => self.zipf(n, m, 1.1),
            "sorted" => sorted(n, m),
            "constant" => constant(n, m),
            "two" => self.two(n, m),
            "clustered" => self.clustered(n, m, 64, 64),
            _ => return None,
        })
    }

    /// Numbers in `0.0..1.0`.
    fn fractions(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.fraction()).collect()
    }

    fn singles(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.fraction() as f32).collect()
    }
}
