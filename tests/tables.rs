//! Loops over tables of constants, as the directions of a lattice are written.

use strew::{Compiler, Error, Kernel, Mode};

const LATTICE: &str = include_str!("../examples/kernels/lattice.c");
const DIRECTIONS: [(usize, usize); 9] = [
    // Modulo the size, one back is all but one on.
    (0, 0),
    (1, 0),
    (0, 1),
    (usize::MAX, 0),
    (0, usize::MAX),
    (1, 1),
    (usize::MAX, 1),
    (usize::MAX, usize::MAX),
    (1, usize::MAX),
];

fn kernel(source: &str, name: &str, mode: Mode) -> Kernel {
    let compiler = Compiler::new().mode(mode).threads(3);
    let program = compiler.compile("k.c", source).expect("a program");
    program.kernel(name).expect("a kernel")
}

/// Where `step` leads from `at` on a ring.
fn moved(at: usize, step: usize, size: usize) -> usize {
    (at + size).wrapping_add(step) % size
}

#[test]
fn a_lattice_moves_in_all_directions() {
    for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
        let kernel = kernel(LATTICE, "lattice", mode);
        for (h, w) in [(0, 0), (0, 4), (1, 1), (1, 6), (5, 1), (2, 3), (33, 70)] {
            let f: Vec<f64> = (0..9 * h * w).map(|it| it as f64 + 1.0).collect();
            let mut expected = vec![0.0; 9 * h * w];
            for (q, (dx, dy)) in DIRECTIONS.into_iter().enumerate() {
                for at in 0..h * w {
                    let (y, x) = (moved(at / w, dy, h), moved(at % w, dx, w));
                    expected[(q * h + y) * w + x] = f[q * h * w + at];
                }
            }
            let mut g = vec![0.0; 9 * h * w];
            let call = kernel.bind().scalar("h", h as i32).scalar("w", w as i32);
            let call = call.array("f", &f).array_mut("g", &mut g);
            call.run().expect("a call");
            assert_eq!(g, expected, "{mode:?}, {h} by {w}");
        }
    }
}

/// Votes for the neighbours of points, but for those that are outside.
#[test]
fn neighbours_outside_are_left_out() {
    const VOTES: &str = "
static const int dx[5] = {0, 1, 0, -1}, dy[5] = {[1] = 0, 1, 0, -1};
void votes(int n, int h, int w, const int px[n], const int py[n], int seen[h][w]) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 5; k++) {
      int x = px[i] + dx[k], y = py[i] + dy[k];
      if (x < 0 || x >= w || y < 0 || y >= h) continue;
      seen[y][x] += k + 1;
    }
}";
    let (h, w) = (40_usize, 30_usize);
    let spread = |i: usize, factor: usize, size: usize| (i * factor % (size + 2)) as i32 - 1;
    let px: Vec<i32> = (0..5000).map(|i| spread(i, 7919, w)).collect();
    let py: Vec<i32> = (0..5000).map(|i| spread(i, 104_729, h)).collect();
    let mut expected = vec![0; h * w];
    for (x, y) in px.iter().zip(&py) {
        let steps = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1)];
        for (k, (dx, dy)) in steps.into_iter().enumerate() {
            let (x, y) = (x + dx, y + dy);
            if (0..w as i32).contains(&x) && (0..h as i32).contains(&y) {
                expected[y as usize * w + x as usize] += k as i32 + 1;
            }
        }
    }
    for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
        let kernel = kernel(VOTES, "votes", mode);
        let mut seen = vec![0; h * w];
        let call = kernel.bind().scalar("h", h as i32).scalar("w", w as i32);
        let call = call.array("px", &px).array("py", &py);
        call.array_mut("seen", &mut seen).run().expect("a call");
        assert_eq!(seen, expected, "{mode:?}");
    }
}

#[test]
fn beyond_the_end_of_a_table_is_a_fault() {
    const BEYOND: &str = "
static const int d[3] = {0, 1, 1};
void beyond(int n, const double x[n], double y[n]) {
  for (int q = 0; q < 4; q++) y[q] = x[d[q]];
}";
    let kernel = kernel(BEYOND, "beyond", Mode::Stable);
    let mut y = [0.5; 8];
    let call = kernel.bind().array("x", &[1.0; 8]);
    match call.array_mut("y", &mut y).run() {
        Err(Error::Fault(fault)) => assert!(fault.to_string().contains("`d`"), "{fault}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(y, [0.5; 8]);
}
