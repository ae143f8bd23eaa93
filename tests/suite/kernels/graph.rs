//! Sparse rows.

use super::{Case, check, kernel, length};
use crate::data::Data;
use crate::random::Random;
use std::collections::BTreeSet;

/// The neighbours of each vertex.
type Neighbours = Vec<Vec<i32>>;

/// Graphs without vertices, without edges, with one, banded, and as they grow in the wild.
fn graphs(random: &mut Random) -> Vec<(&'static str, Neighbours)> {
    let banded = |v: i32| (v - 2..=v + 2).filter(|it| (0..40).contains(it)).collect();
    vec![
        ("nothing", Vec::new()),
        ("no edges", vec![Vec::new(); 5]),
        ("one loop", vec![vec![0]]),
        ("banded", (0..40).map(banded).collect()),
        ("rmat", directed(6, &random.rmat(6, 600))),
    ]
}

fn directed(scale: u32, edges: &[(i32, i32)]) -> Neighbours {
    let mut neighbours = vec![Vec::new(); 1 << scale];
    for (source, sink) in edges {
        neighbours[*source as usize].push(*sink);
    }
    neighbours
}

/// Each edge both ways and once, no loops.
fn symmetric(graph: &Neighbours) -> Neighbours {
    let mut sets = vec![BTreeSet::new(); graph.len()];
    for (vertex, neighbours) in graph.iter().enumerate() {
        for neighbour in neighbours.iter().filter(|it| **it != vertex as i32) {
            sets[vertex].insert(*neighbour);
            sets[*neighbour as usize].insert(vertex as i32);
        }
    }
    sets.into_iter()
        .map(|it| it.into_iter().collect())
        .collect()
}

/// The edges to vertices of smaller degree, in the order of the vertices.
fn oriented(graph: &Neighbours) -> Neighbours {
    let rank = |vertex: usize| (graph[vertex].len(), vertex);
    let smaller = |vertex: usize| {
        let neighbours = graph[vertex].iter().copied();
        neighbours
            .filter(|it| rank(*it as usize) < rank(vertex))
            .collect()
    };
    (0..graph.len()).map(smaller).collect()
}

/// Where the row of each vertex begins, and the rows.
fn rows(graph: &Neighbours) -> (Vec<i64>, Vec<i32>) {
    let mut begins = vec![0];
    for neighbours in graph {
        begins.push(begins[begins.len() - 1] + neighbours.len() as i64);
    }
    (begins, graph.concat())
}

/// The distance of each vertex from the first one; -1 where there is no way.
fn depths(graph: &Neighbours) -> Vec<i32> {
    let mut depths = vec![-1; graph.len()];
    let mut level: Vec<_> = (0..graph.len().min(1)).collect();
    let mut depth = 0;
    while !level.is_empty() {
        level.iter().for_each(|it| depths[*it] = depth);
        depth += 1;
        let next = level.iter().flat_map(|it| &graph[*it]);
        let next: BTreeSet<_> = next.map(|it| *it as usize).collect();
        level = next.into_iter().filter(|it| depths[*it] < 0).collect();
    }
    depths
}

#[test]
fn k05_spmv_t() {
    let mut random = Random(5);
    let case = |(what, graph): (&str, Neighbours)| -> Case {
        let (row, col) = rows(&graph);
        let data = Data::default()
            .scalar("nr", length::<_, i32>(&graph))
            .scalar("nc", length::<_, i32>(&graph))
            .scalar("nnz", length::<_, i64>(&col))
            .array("row", &row)
            .array("col", &col)
            .array("val", &random.floats(col.len(), -1.0, 1.0))
            .array("x", &random.floats(graph.len(), -1.0, 1.0))
            .array("y", &random.floats(graph.len(), -1.0, 1.0));
        (what.to_owned(), data)
    };
    let cases: Vec<_> = graphs(&mut Random(50)).into_iter().map(case).collect();
    check(kernel!("k05_spmv_t"), "k05_spmv_t", &cases);
}

#[test]
fn k06_pagerank_push() {
    let mut random = Random(6);
    let mut cases = Vec::new();
    for (what, graph) in graphs(&mut Random(60)) {
        for iterations in [0, 1, 3] {
            let (row, dst) = rows(&graph);
            let data = Data::default()
                .scalar("n", length::<_, i32>(&graph))
                .scalar("e", length::<_, i64>(&dst))
                .scalar("iters", iterations)
                .scalar("damp", 0.85_f32)
                .array("row", &row)
                .array("dst", &dst)
                .array("rank", &random.singles(graph.len(), 0.0, 1.0))
                .array("next", &random.singles(graph.len(), 0.0, 1.0));
            cases.push((format!("{what}, {iterations} iterations"), data));
        }
    }
    check(kernel!("k06_pagerank_push"), "k06_pagerank_push", &cases);
}

#[test]
fn k07_triangles() {
    let case = |(what, graph): (&str, Neighbours)| -> Case {
        let graph = oriented(&symmetric(&graph));
        let (row, adj) = rows(&graph);
        let data = Data::default()
            .scalar("n", length::<_, i32>(&graph))
            .scalar("e", length::<_, i64>(&adj))
            .array("row", &row)
            .array("adj", &adj)
            .array("tri", &vec![3_i64; graph.len()]);
        (what.to_owned(), data)
    };
    let cases: Vec<_> = graphs(&mut Random(70)).into_iter().map(case).collect();
    check(kernel!("k07_triangles"), "k07_triangles", &cases);
}

/// One case for each level of each graph; `fronts` tells how much deeper than the level the
/// vertices of the front are.
fn levels(fronts: i32, values: &str, other: Option<&str>) -> Vec<Case> {
    let mut random = Random(8);
    let mut cases = Vec::new();
    for (what, graph) in graphs(&mut Random(80)) {
        let graph = symmetric(&graph);
        let depth = depths(&graph);
        let (row, adj) = rows(&graph);
        for level in 0..=depth.iter().copied().max().unwrap_or(0) {
            let front: Vec<i32> = (0..length::<_, i32>(&graph))
                .filter(|it| depth[*it as usize] == level + fronts)
                .collect();
            let mut data = Data::default()
                .scalar("n", length::<_, i32>(&graph))
                .scalar("e", length::<_, i64>(&adj))
                .scalar("nf", length::<_, i32>(&front))
                .scalar("lvl", level)
                .array("row", &row)
                .array("adj", &adj)
                .array("front", &front)
                .array("depth", &depth)
                .array(values, &random.floats(graph.len(), 0.0, 2.0));
            if let Some(other) = other {
                data = data.array(other, &random.floats(graph.len(), 1.0, 5.0));
            }
            cases.push((format!("{what}, level {level}"), data));
        }
    }
    cases
}

#[test]
fn k08_betweenness_forward() {
    let cases = levels(0, "sigma", None);
    check(kernel!("k08_betweenness"), "k08_bc_level_fwd", &cases);
}

#[test]
fn k08_betweenness_backward() {
    let cases = levels(1, "delta", Some("sigma"));
    check(kernel!("k08_betweenness"), "k08_bc_level_bwd", &cases);
}
