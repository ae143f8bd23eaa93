//! Keys, graphs, meshes and particles as the kernels of `tests/kernels` meet them, in tests and in
//! `benches/scatter`. `tests/kernels/generators.c` is the same in C; `generator_streams.rs`
//! compares the two.

use crate::random::Random;

/// Spreads what is close, so that hot keys are not neighbours.
fn scrambled(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B1)
}

impl Random {
    /// A number in `0.0..1.0`.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number in `0..limit`.
    pub(crate) fn below(&mut self, limit: i32) -> i32 {
        (((self.next() >> 32) * limit as u64) >> 32) as i32
    }

    pub(crate) fn uniform(&mut self, n: usize, m: i32) -> Vec<i32> {
        (0..n).map(|_| self.below(m)).collect()
    }

    /// Key `k` with a frequency like `1 / k.powf(exponent)`, by inverting the distribution as if it
    /// were continuous.
    pub(crate) fn zipf(&mut self, n: usize, m: i32, exponent: f64) -> Vec<i32> {
        let power = 1.0 - exponent;
        let range = f64::from(m).powf(power) - 1.0;
        let mut key = || {
            let key = (self.fraction() * range + 1.0).powf(1.0 / power) as u64 - 1;
            (((scrambled(key) & 0xffff_ffff) * m as u64) >> 32) as i32
        };
        (0..n).map(|_| key()).collect()
    }

    pub(crate) fn two(&mut self, n: usize, m: i32) -> Vec<i32> {
        (0..n).map(|_| (self.next() & 1) as i32 % m).collect()
    }

    /// Bursts of `run` keys, each within a window of `window` keys.
    pub(crate) fn clustered(&mut self, n: usize, m: i32, run: usize, window: i32) -> Vec<i32> {
        let mut first = 0;
        let mut key = |position: usize| {
            if position.is_multiple_of(run) {
                first = self.below(m);
            }
            (first + self.below(window)) % m
        };
        (0..n).map(&mut key).collect()
    }

    /// The edges of a graph of `1 << scale` vertices with the parameters of Graph500.
    pub(crate) fn rmat(&mut self, scale: u32, edges: usize) -> Vec<(i32, i32)> {
        let mask = (1_u64 << scale) - 1;
        let mut edge = || {
            let (mut source, mut sink) = (0, 0);
            for _ in 0..scale {
                let at = self.fraction();
                let is_right = (0.57..0.76).contains(&at) || at >= 0.95;
                source = source << 1 | u64::from(at >= 0.76);
                sink = sink << 1 | u64::from(is_right);
            }
            (
                (scrambled(source) & mask) as i32,
                (scrambled(sink) & mask) as i32,
            )
        };
        (0..edges).map(|_| edge()).collect()
    }

    /// Exchanges elements at random.
    fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            elements.swap(last, self.below(last as i32 + 1) as usize);
        }
    }

    /// A structured mesh of `nx` times `ny` squares, cut into two triangles each.
    pub(crate) fn mesh(&mut self, nx: i32, ny: i32, order: Order) -> Mesh {
        let nodes = (nx + 1) * (ny + 1);
        let mut number: Vec<i32> = (0..nodes).collect();
        if order != Order::Natural {
            self.shuffle(&mut number);
        }
        let at = |i: i32, j: i32| number[(j * (nx + 1) + i) as usize];
        let mut positions = vec![[0.0; 2]; number.len()];
        for (i, j) in grid(nx + 1, ny + 1) {
            let mut near = |whole: i32| f64::from(whole) + 0.2 * (self.fraction() - 0.5);
            positions[at(i, j) as usize] = [near(i), near(j)];
        }
        let mut triangles = Vec::new();
        for (i, j) in grid(nx, ny) {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1));
            triangles.extend([[a, b, d], [a, d, c]]);
        }
        if order == Order::ShuffledElements {
            self.shuffle(&mut triangles);
        }
        Mesh {
            triangles,
            positions,
        }
    }

    /// Particles in `0.0..nx - 1` times `0.0..ny - 1`: the share `sorted` of them in the order of
    /// their cells, the others anywhere.
    pub(crate) fn particles(
        &mut self,
        count: usize,
        nx: i64,
        ny: i64,
        sorted: f64,
    ) -> (Vec<f64>, Vec<f64>) {
        let cells = (nx - 1) * (ny - 1);
        let mut particle = |position: usize| {
            let cell = if self.fraction() < sorted {
                position as i64 * cells / count as i64
            } else {
                // In the order of C's operators: the products are of floats.
                (self.fraction() * (nx - 1) as f64 * (ny - 1) as f64) as i64
            };
            let x = (cell % (nx - 1)) as f64 + self.fraction();
            (x, (cell / (nx - 1)) as f64 + self.fraction())
        };
        (0..count).map(&mut particle).unzip()
    }
}

pub(crate) fn sorted(n: usize, m: i32) -> Vec<i32> {
    let key = |position: usize| (position as u64 * m as u64 / n as u64) as i32;
    (0..n).map(key).collect()
}

pub(crate) fn constant(n: usize, m: i32) -> Vec<i32> {
    vec![m / 2; n]
}

/// The order of the nodes and triangles of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Natural,
    ShuffledNodes,
    /// The nodes too.
    ShuffledElements,
}

pub(crate) struct Mesh {
    /// The nodes of each triangle.
    pub(crate) triangles: Vec<[i32; 3]>,
    /// Of the nodes.
    pub(crate) positions: Vec<[f64; 2]>,
}

/// The cells of a grid, row by row.
fn grid(nx: i32, ny: i32) -> impl Iterator<Item = (i32, i32)> {
    (0..ny).flat_map(move |j| (0..nx).map(move |i| (i, j)))
}
