//! Sparse matrices and graphs, row by row.

use super::source;
use crate::data::Problem;
use crate::grid::Cell;
use crate::random::Random;

/// Where the row of each vertex begins, and the rows.
struct Rows {
    begins: Vec<i64>,
    sinks: Vec<i32>,
}

impl Rows {
    /// Edges by their sources, in the order in which they came.
    fn of(vertices: usize, edges: &[(i32, i32)]) -> Self {
        let mut begins = vec![0_i64; vertices + 1];
        for (source, _) in edges {
            begins[*source as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            begins[vertex + 1] += begins[vertex];
        }
        let mut next = begins.clone();
        let mut sinks = vec![0; edges.len()];
        for (source, sink) in edges {
            let at = &mut next[*source as usize];
            sinks[*at as usize] = *sink;
            *at += 1;
        }
        Self { begins, sinks }
    }

    fn of_vertex(&self, vertex: usize) -> &[i32] {
        &self.sinks[self.begins[vertex] as usize..self.begins[vertex + 1] as usize]
    }

    fn vertices(&self) -> usize {
        self.begins.len() - 1
    }
}

impl Random {
    /// Edges among `n` vertices, a power of two where they are of the kind `rmat`.
    fn edges(&mut self, kind: &str, n: usize, count: usize) -> Option<Vec<(i32, i32)>> {
        Some(match kind {
            "rmat" => self.rmat(n.ilog2(), count),
            "uniform" => {
                let any = n as i32;
                (0..count)
                    .map(|_| (self.below(any), self.below(any)))
                    .collect()
            }
            "banded" => {
                let last = n as i64 - 1;
                let mut edge = |at: usize| {
                    let source = (at as u64 * n as u64 / count as u64) as i64;
                    let sink = source + i64::from(self.below(64)) - 32;
                    (source as i32, sink.clamp(0, last) as i32)
                };
                (0..count).map(&mut edge).collect()
            }
            _ => return None,
        })
    }

    /// A graph with each edge both ways and once, no loops, rows in order.
    fn both_ways(&mut self, n: usize, count: usize) -> Vec<(i32, i32)> {
        let edges = self.rmat(n.ilog2(), count);
        let both = edges.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]);
        let mut both: Vec<_> = both.filter(|(a, b)| a != b).collect();
        both.sort_unstable();
        both.dedup();
        both
    }
}

pub(super) fn product(
    cell: &Cell,
    random: &mut Random,
    updates: usize,
    bytes: usize,
) -> Option<Problem> {
    let n = bytes / 8;
    let rows = Rows::of(n, &random.edges(cell.input, n, updates)?);
    let problem = Problem::new("k05_spmv_t", source!("k05_spmv_t"))
        .int32("nr", n)
        .int32("nc", n)
        .int64("nnz", updates)
        .input("row", rows.begins)
        .input("col", rows.sinks)
        .input("val", random.fractions(updates))
        .input("x", random.fractions(n))
        .output("y", vec![0.0_f64; n]);
    Some(problem)
}

pub(super) fn pagerank(
    cell: &Cell,
    random: &mut Random,
    updates: usize,
    bytes: usize,
) -> Option<Problem> {
    const ITERATIONS: usize = 10;
    let n = bytes / 4;
    // Some edges a vertex, as far as the time for ten rounds allows.
    let edges = updates.max(2 * n).min(updates * 4);
    let rows = Rows::of(n, &random.edges(cell.input, n, edges)?);
    let problem = Problem::new("k06_pagerank_push", source!("k06_pagerank_push"))
        .int32("n", n)
        .int64("e", edges)
        .int32("iters", ITERATIONS)
        .single("damp", 0.85)
        .input("row", rows.begins)
        .input("dst", rows.sinks)
        .output("rank", vec![1.0 / n as f32; n])
        .output("next", vec![0.0_f32; n]);
    Some(problem)
}

/// Every edge once, to the vertex with fewer neighbours.
pub(super) fn triangles(random: &mut Random, updates: usize, bytes: usize) -> Option<Problem> {
    let n = bytes / 8;
    let both = random.both_ways(n, (16 * n).min(updates / 8));
    let all = Rows::of(n, &both);
    let rank = |vertex: i32| (all.of_vertex(vertex as usize).len(), vertex);
    let downwards = both.iter().copied().filter(|(a, b)| rank(*b) < rank(*a));
    let rows = Rows::of(n, &downwards.collect::<Vec<_>>());
    let problem = Problem::new("k07_triangles", source!("k07_triangles"))
        .int32("n", n)
        .int64("e", rows.sinks.len())
        .input("row", rows.begins)
        .input("adj", rows.sinks)
        .output("tri", vec![0_i64; n]);
    Some(problem)
}

/// The distance of each vertex from the one with most neighbours; -1 where there is no way. Then
/// the levels.
fn levels(rows: &Rows) -> (Vec<i32>, Vec<Vec<i32>>) {
    let first = (0..rows.vertices()).max_by_key(|it| rows.of_vertex(*it).len());
    let mut depths = vec![-1; rows.vertices()];
    let mut level: Vec<i32> = first.into_iter().map(|it| it as i32).collect();
    level.iter().for_each(|it| depths[*it as usize] = 0);
    let mut levels = Vec::new();
    while !level.is_empty() {
        let depth = levels.len() as i32 + 1;
        let mut next = Vec::new();
        for vertex in &level {
            for sink in rows.of_vertex(*vertex as usize) {
                if depths[*sink as usize] < 0 {
                    depths[*sink as usize] = depth;
                    next.push(*sink);
                }
            }
        }
        next.sort_unstable();
        levels.push(std::mem::replace(&mut level, next));
    }
    (depths, levels)
}

/// The arguments that both directions begin with, for the level whose edges are most, or the one
/// after it.
fn betweenness(
    function: &'static str,
    random: &mut Random,
    (updates, bytes): (usize, usize),
    after: usize,
) -> Option<Problem> {
    let n = bytes / 8;
    let rows = Rows::of(n, &random.both_ways(n, updates / 2));
    let (depth, levels) = levels(&rows);
    let edges = |level: &[i32]| -> usize {
        let sizes = level.iter().map(|it| rows.of_vertex(*it as usize).len());
        sizes.sum()
    };
    // Of the last level no edge leads on.
    let inner = 0..levels.len().saturating_sub(1);
    let level = inner.max_by_key(|it| edges(&levels[it + after]))?;
    let front = levels[level + after].clone();
    let problem = Problem::new(function, source!("k08_betweenness"))
        .int32("n", n)
        .int64("e", rows.sinks.len())
        .int32("nf", front.len())
        .int32("lvl", level)
        .input("row", rows.begins)
        .input("adj", rows.sinks)
        .input("front", front)
        .input("depth", depth);
    Some(problem)
}

pub(super) fn betweenness_forward(
    random: &mut Random,
    updates: usize,
    bytes: usize,
) -> Option<Problem> {
    let problem = betweenness("k08_bc_level_fwd", random, (updates, bytes), 0)?;
    Some(problem.output("sigma", vec![1.0_f64; bytes / 8]))
}

pub(super) fn betweenness_backward(
    random: &mut Random,
    updates: usize,
    bytes: usize,
) -> Option<Problem> {
    let problem = betweenness("k08_bc_level_bwd", random, (updates, bytes), 1)?;
    let sigma = random.fractions(bytes / 8).into_iter().map(|it| it + 1.0);
    let problem = problem.input("sigma", sigma.collect::<Vec<_>>());
    Some(problem.output("delta", vec![0.0_f64; bytes / 8]))
}
