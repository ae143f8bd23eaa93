//! Loops that write where a remainder by a parameter says: elements of a ring. Iterations run at
//! once where no two of them can meet, and in order where they can.

use strew::{Compiler, Kernel, Mode};

/// Each element goes to one of its neighbours, in three planes.
const STREAM: &str = "
void k(int h, int w, const double f[3][h][w], double g[3][h][w]) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int east = (x + 1) % w, south = (y + h - 1) % h;
      g[0][y][x] = f[0][y][x];
      g[1][y][east] = f[1][y][x];
      g[2][south][east] = f[2][y][x];
    }
}";

/// Two iterations write one element, of which the later one counts.
const MEETING: [(&str, [usize; 2]); 2] = [
    ("g[(2 * y) % h] = f[y]; g[(y + 1) % h] = -f[y];", [2, 1]),
    ("g[(y + 1) % h] = f[y]; g[(y + h - 1) % h] = -f[y];", [1, 1]),
];

fn kernel(source: &str, mode: Mode) -> Kernel {
    let compiler = Compiler::new().mode(mode).threads(3);
    let program = compiler.compile("k.c", source).expect("a program");
    program.kernel("k").expect("a kernel")
}

#[test]
fn neighbours_on_a_ring_are_written_at_once() {
    for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
        let kernel = kernel(STREAM, mode);
        let text = kernel.compiled().kernel().to_string();
        assert!(text.contains("scf.forall y"), "{text}");
        // What nobody reads is not divided.
        assert!(!text.contains('%'), "{text}");
        for (h, w) in [
            (0, 0),
            (0, 3),
            (3, 0),
            (1, 1),
            (1, 5),
            (2, 2),
            (7, 1),
            (40, 33),
        ] {
            let f: Vec<f64> = (0..3 * h * w).map(|it| it as f64 + 1.0).collect();
            let mut expected = vec![0.0; 3 * h * w];
            for y in 0..h {
                for x in 0..w {
                    let at = |plane: usize, y: usize, x: usize| (plane * h + y) * w + x;
                    expected[at(0, y, x)] = f[at(0, y, x)];
                    expected[at(1, y, (x + 1) % w)] = f[at(1, y, x)];
                    expected[at(2, (y + h - 1) % h, (x + 1) % w)] = f[at(2, y, x)];
                }
            }
            let mut g = vec![0.0; 3 * h * w];
            let call = kernel.bind().scalar("h", h as i32).scalar("w", w as i32);
            let call = call.array("f", &f).array_mut("g", &mut g);
            call.run().expect("a step");
            assert_eq!(g, expected, "{h} by {w}");
        }
    }
}

#[test]
fn places_that_two_iterations_write_are_written_in_order() {
    for (body, [factor, step]) in MEETING {
        let source = format!(
            "void k(int h, const double f[h], double g[h]) {{
               for (int y = 0; y < h; y++) {{ {body} }}
             }}"
        );
        let kernel = kernel(&source, Mode::Stable);
        for h in [1, 2, 3, 10, 10_000] {
            let f: Vec<f64> = (0..h).map(|it| it as f64 + 1.0).collect();
            let (mut expected, mut g) = (vec![0.0; h], vec![0.0; h]);
            for (y, value) in f.iter().enumerate() {
                let (one, other) = match factor {
                    2 => (2 * y % h, (y + step) % h),
                    _ => ((y + 1) % h, (y + h - step) % h),
                };
                expected[one] = *value;
                expected[other] = -value;
            }
            let call = kernel.bind().scalar("h", h as i32);
            let call = call.array("f", &f).array_mut("g", &mut g);
            call.run().expect("a step");
            assert_eq!(g, expected, "{body} {h}");
        }
    }
}
