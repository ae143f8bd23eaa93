//! Meshes and particles.

use super::{Case, check, kernel, length};
use crate::data::Data;
use crate::generators::{Mesh, Order};
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};

const ORDERS: [Order; 3] = [
    Order::Natural,
    Order::ShuffledNodes,
    Order::ShuffledElements,
];

/// Meshes of all orders: of nothing, of two triangles, of a strip and of a square.
fn meshes(random: &mut Random) -> Vec<(String, Mesh)> {
    let mut meshes = Vec::new();
    for (nx, ny) in [(0, 0), (1, 1), (30, 1), (13, 11)] {
        for order in ORDERS {
            meshes.push((
                format!("{nx} x {ny}, {order:?}"),
                random.mesh(nx, ny, order),
            ));
        }
    }
    meshes
}

/// The slot of every pair of nodes with a triangle in common, in the order of a sparse matrix.
fn slots(triangles: &[[i32; 3]]) -> BTreeMap<(i32, i32), i32> {
    let pairs: BTreeSet<_> = triangles
        .iter()
        .flat_map(|nodes| nodes.map(|i| nodes.map(|j| (i, j))))
        .flatten()
        .collect();
    pairs.into_iter().zip(0..).collect()
}

#[test]
fn k09_fem_assemble() {
    let mut random = Random(9);
    let meshes = meshes(&mut random);
    let case = |(what, mesh): (String, Mesh)| -> Case {
        let slots = slots(&mesh.triangles);
        let of_triangle = |nodes: &[i32; 3]| nodes.map(|i| nodes.map(|j| slots[&(i, j)]));
        let slot: Vec<_> = mesh.triangles.iter().map(of_triangle).collect();
        let data = Data::default()
            .scalar("ne", length::<_, i32>(&mesh.triangles))
            .scalar("nn", length::<_, i32>(&mesh.positions))
            .scalar("nnz", slots.len() as i64)
            .array("tri", mesh.triangles.as_flattened())
            .array("xy", mesh.positions.as_flattened())
            .array("slot", slot.as_flattened().as_flattened())
            .array("val", &random.floats(slots.len(), -1.0, 1.0))
            .array("rhs", &random.floats(mesh.positions.len(), -1.0, 1.0));
        (what, data)
    };
    let cases: Vec<_> = meshes.into_iter().map(case).collect();
    check(kernel!("k09_fem_assemble"), "k09_fem_assemble", &cases);
}

#[test]
fn k10_deposit() {
    let mut random = Random(10);
    let mut cases = Vec::new();
    for (count, nx, ny) in [(0, 0, 0), (0, 4, 3), (1, 2, 2), (5, 9, 3), (700, 16, 12)] {
        for sorted in [0.0, 0.5, 1.0] {
            let (x, y) = random.particles(count, nx, ny, sorted);
            let data = Data::default()
                .scalar("np", count as i64)
                .scalar("ny", ny as i32)
                .scalar("nx", nx as i32)
                .array("px", &x)
                .array("py", &y)
                .array("q", &random.floats(count, -1.0, 1.0))
                .array("rho", &random.floats((nx * ny) as usize, -1.0, 1.0));
            cases.push((format!("{count} on {nx} x {ny}, {sorted} sorted"), data));
        }
    }
    check(kernel!("k10_deposit"), "k10_deposit", &cases);
}

#[test]
fn k12_edge_flux() {
    let mut random = Random(12);
    let mut cases = Vec::new();
    for (what, mesh) in meshes(&mut random) {
        let edges = mesh.triangles.iter();
        let edges = edges.flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
        let edges: Vec<_> = edges.collect();
        cases.push((what, fluxes(&mut random, &edges, mesh.positions.len())));
    }
    let edges = random.rmat(6, 500);
    cases.push(("a graph".to_owned(), fluxes(&mut random, &edges, 64)));
    check(kernel!("k12_edge_flux"), "k12_edge_flux", &cases);
}

fn fluxes(random: &mut Random, edges: &[(i32, i32)], vertices: usize) -> Data {
    let (from, to): (Vec<_>, Vec<_>) = edges.iter().copied().unzip();
    Data::default()
        .scalar("ne", edges.len() as i64)
        .scalar("nv", vertices as i32)
        .array("ei", &from)
        .array("ej", &to)
        .array("u", &random.floats(vertices, -1.0, 1.0))
        .array("g", &random.floats(edges.len(), -1.0, 1.0))
        .array("res", &random.floats(vertices, -1.0, 1.0))
}
