//! Meshes, lattices and particles.

use super::source;
use crate::data::Problem;
use crate::generators::{Mesh, Order};
use crate::grid::Cell;
use crate::random::Random;

fn order(input: &str) -> Option<Order> {
    Some(match input {
        "natural" => Order::Natural,
        "renumbered" => Order::ShuffledNodes,
        "shuffled" => Order::ShuffledElements,
        _ => return None,
    })
}

impl Random {
    /// A square mesh of about so many nodes.
    fn square(&mut self, nodes: usize, input: &str) -> Option<Mesh> {
        let side = nodes.isqrt().saturating_sub(1).max(1) as i32;
        Some(self.mesh(side, side, order(input)?))
    }
}

/// The columns of the matrix that a mesh makes, node by node, in order: a node has at most seven
/// with itself.
struct Columns(Vec<Vec<i32>>);

impl Columns {
    fn of(mesh: &Mesh) -> Self {
        let mut columns: Vec<Vec<i32>> = vec![Vec::with_capacity(8); mesh.positions.len()];
        for nodes in &mesh.triangles {
            for (i, j) in pairs(nodes) {
                let row = &mut columns[i as usize];
                if !row.contains(&j) {
                    row.push(j);
                }
            }
        }
        columns.iter_mut().for_each(|row| row.sort_unstable());
        Self(columns)
    }

    fn count(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// The number of the entry of each pair of nodes of each triangle.
    fn slots(&self, mesh: &Mesh) -> Vec<i32> {
        let mut next = 0;
        let begin = |row: &Vec<i32>| {
            let begin = next;
            next += row.len() as i32;
            begin
        };
        let begins: Vec<i32> = self.0.iter().map(begin).collect();
        let slot = |(i, j): (i32, i32)| {
            let row = &self.0[i as usize];
            let at = row.iter().position(|it| *it == j).unwrap_or_default();
            begins[i as usize] + at as i32
        };
        let pairs = mesh.triangles.iter().flat_map(pairs);
        pairs.map(slot).collect()
    }
}

fn pairs(nodes: &[i32; 3]) -> impl Iterator<Item = (i32, i32)> {
    let nodes = *nodes;
    nodes
        .into_iter()
        .flat_map(move |i| nodes.into_iter().map(move |j| (i, j)))
}

pub(super) fn assemble(cell: &Cell, random: &mut Random, bytes: usize) -> Option<Problem> {
    /// Seven entries of the matrix and one of the right side.
    const BYTES_OF_A_NODE: usize = 64;
    let mesh = random.square(bytes / BYTES_OF_A_NODE, cell.input)?;
    let columns = Columns::of(&mesh);
    let (entries, nodes) = (columns.count(), mesh.positions.len());
    let problem = Problem::new("k09_fem_assemble", source!("k09_fem_assemble"))
        .int32("ne", mesh.triangles.len())
        .int32("nn", nodes)
        .int64("nnz", entries)
        .input("tri", mesh.triangles.as_flattened().to_vec())
        .input("xy", mesh.positions.as_flattened().to_vec())
        .input("slot", columns.slots(&mesh))
        .output("val", vec![0.0_f64; entries])
        .output("rhs", vec![0.0_f64; nodes]);
    Some(problem)
}

pub(super) fn deposit(
    cell: &Cell,
    random: &mut Random,
    updates: usize,
    bytes: usize,
) -> Option<Problem> {
    let count = updates / 4;
    let ny = (bytes / 8).isqrt();
    let nx = bytes / 8 / ny;
    let share = match cell.input {
        "uniform" => 0.0,
        "drifted" => 0.5,
        "sorted" => 1.0,
        _ => return None,
    };
    let (x, y) = random.particles(count, nx as i64, ny as i64, share);
    let problem = Problem::new("k10_deposit", source!("k10_deposit"))
        .int64("np", count)
        .int32("ny", ny)
        .int32("nx", nx)
        .input("px", x)
        .input("py", y)
        .input("q", random.fractions(count))
        .output("rho", vec![0.0_f64; nx * ny]);
    Some(problem)
}

/// Half of the pairs of nearest neighbours in a face-centred cubic lattice of `side` cells each
/// way, atom by atom, whose sides meet.
fn lattice(side: usize) -> Vec<(i32, i32)> {
    const NEIGHBOURS: [[usize; 3]; 6] = {
        // Half cells; the last way round is a step back.
        let back = usize::MAX;
        [
            [0, 1, 1],
            [0, 1, back],
            [1, 0, 1],
            [1, 0, back],
            [1, 1, 0],
            [1, back, 0],
        ]
    };
    let halves = 2 * side;
    let number = |[x, y, z]: [usize; 3]| {
        let cell = ((x / 2) * side + y / 2) * side + z / 2;
        (4 * cell + 2 * (x % 2) + y % 2) as i32
    };
    let step = |at: usize, by: usize| (at + halves).wrapping_add(by) % halves;
    let mut pairs = Vec::new();
    for x in 0..halves {
        for y in 0..halves {
            for z in ((x + y) % 2..halves).step_by(2) {
                for [dx, dy, dz] in NEIGHBOURS {
                    let other = [step(x, dx), step(y, dy), step(z, dz)];
                    pairs.push((number([x, y, z]), number(other)));
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Edges, and how many nodes there are.
fn edges(
    cell: &Cell,
    random: &mut Random,
    updates: usize,
    nodes: usize,
) -> Option<(Vec<(i32, i32)>, usize)> {
    Some(match cell.input {
        "rmat" => (random.rmat(nodes.ilog2(), updates / 2), nodes),
        "lattice" => {
            let side = (1..).take_while(|it| 4 * it * it * it <= nodes).last()?;
            (lattice(side), 4 * side * side * side)
        }
        mesh => {
            let mesh = random.square(nodes, mesh)?;
            let edges = mesh.triangles.iter().map(|&[a, b, _]| (a, b));
            (edges.collect(), mesh.positions.len())
        }
    })
}

pub(super) fn flux(
    cell: &Cell,
    random: &mut Random,
    updates: usize,
    bytes: usize,
) -> Option<Problem> {
    let (edges, nodes) = edges(cell, random, updates, bytes / 8)?;
    let count = edges.len();
    let (from, to): (Vec<i32>, Vec<i32>) = edges.into_iter().unzip();
    let problem = Problem::new("k12_edge_flux", source!("k12_edge_flux"))
        .int64("ne", count)
        .int32("nv", nodes)
        .input("ei", from)
        .input("ej", to)
        .input("u", random.fractions(nodes))
        .input("g", random.fractions(count))
        .output("res", vec![0.0_f64; nodes]);
    Some(problem)
}
