//! Loops that go through their outputs from about one end to about the other: threads update
//! outputs of their own, in the order of the loop. Results are those of plain loops to the last
//! bit.

use strew::{Compiler, Error, Kernel, Mode, Oob};

const SOURCE: &str = "
void elements(int64_t n, int32_t m, const int32_t corner[n][3], const double x[n], double mass[m], float load[m]) {
  for (int64_t e = 0; e < n; e++)
    for (int32_t i = 0; i < 3; i++) {
      mass[corner[e][i]] += x[e] / 3.0;
      if (i != 1)
        load[corner[e][(i + 1) % 3]] += (float)x[e];
    }
}
void skipping(int64_t n, int32_t m, int64_t l, const int32_t key[n], const int32_t from[n], const double x[l], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[key[i]] += x[from[i]];
}
void deposit(int64_t n, int32_t m, const double at[n], double rho[m]) {
  for (int64_t p = 0; p < n; p++) {
    int32_t i = (int32_t)at[p];
    double f = at[p] - i;
    rho[i] += 1 - f;
    rho[i + 1] += f;
  }
}
void rows(int64_t n, int32_t m, int32_t d, const int32_t key[n], const float x[n][d], float out[m][d]) {
  for (int64_t i = 0; i < n; i++)
    for (int32_t j = 0; j < d; j++)
      out[key[i]][j] += x[i][j];
}";

const NODES: usize = 30_000;

fn kernel(name: &str) -> Kernel {
    let compiler = Compiler::new().strategy("apart".parse().expect("a strategy"));
    let program = compiler.compile("k.c", SOURCE).expect("a program");
    program.kernel(name).expect("a kernel").mode(Mode::Exact)
}

/// Corners that lie near `element`, in no order.
fn corners(element: usize, count: usize) -> [i32; 3] {
    let near = element * (NODES - 200) / count;
    let mixed = |salt: usize| (element + salt).wrapping_mul(0x9E37_79B9) >> 7;
    [1, 2, 3].map(|salt| (near + mixed(salt) % 200) as i32)
}

fn mesh(count: usize, backwards: bool) -> Vec<i32> {
    let elements = (0..count).map(|it| if backwards { count - 1 - it } else { it });
    elements.flat_map(|it| corners(it, count)).collect()
}

#[test]
fn two_outputs_and_conditions() {
    let kernel = kernel("elements");
    for backwards in [false, true] {
        for count in [0, 1, 7, 64, 5000, 60_001] {
            let corner = mesh(count, backwards);
            let x: Vec<f64> = (0..count).map(|it| 1.0 / (it as f64 + 3.0)).collect();
            let (mut mass, mut load) = (vec![0.25; NODES], vec![0.5_f32; NODES]);
            for (corner, x) in corner.as_chunks::<3>().0.iter().zip(&x) {
                for i in 0..3 {
                    mass[corner[i] as usize] += x / 3.0;
                    if i != 1 {
                        load[corner[(i + 1) % 3] as usize] += *x as f32;
                    }
                }
            }
            for threads in [1, 2, 3, 8] {
                let (mut of_mass, mut of_load) = (vec![0.25; NODES], vec![0.5_f32; NODES]);
                let kernel = kernel.clone().threads(threads);
                let call = kernel.bind().array("corner", &corner).array("x", &x);
                let call = call.array_mut("mass", &mut of_mass);
                let report = call.array_mut("load", &mut of_load).run_with_report();
                let report = report.expect("a run");
                assert!(of_mass == mass && of_load == load, "{count} on {threads}");
                assert_eq!(report.record.updates, 5 * count as u64);
                let is_divided = report.record.chunks > 1;
                assert!(count < 5000 || is_divided == (threads > 1), "{count}");
            }
        }
    }
}

#[test]
fn keys_that_are_computed() {
    let kernel = kernel("deposit");
    let count = 50_000;
    let near = |it: usize| (it * (NODES - 300) / count + it * 7919 % 290) as f64 + 0.125;
    let at: Vec<f64> = (0..count).map(near).collect();
    let mut expected = vec![0.5; NODES];
    for at in &at {
        let f = at.fract();
        expected[*at as usize] += 1.0 - f;
        expected[*at as usize + 1] += f;
    }
    for threads in [1, 2, 5] {
        let mut found = vec![0.5; NODES];
        let kernel = kernel.clone().threads(threads);
        let call = kernel.bind().array("at", &at);
        call.array_mut("rho", &mut found).run().expect("a run");
        assert!(found == expected, "{threads}");
    }
}

/// A key tells where a whole row goes, and keys alone are looked at.
#[test]
fn rows_are_shared_by_their_keys() {
    let kernel = kernel("rows");
    let orders: [fn(usize, usize) -> usize; 4] = [
        |i, n| i * 300 / n,
        |i, n| (i * 300 / n + i % 3).min(299),
        |i, n| (n - 1 - i) * 300 / n,
        |_, _| 17,
    ];
    for (order, d) in orders.iter().flat_map(|it| [1, 3, 8, 33].map(|d| (it, d))) {
        let n = 5000;
        let key: Vec<i32> = (0..n).map(|i| order(i, n) as i32).collect();
        let x: Vec<f32> = (0..n * d).map(|it| 1.0 / (it as f32 + 3.0)).collect();
        let mut expected = vec![0.125_f32; 300 * d];
        for (key, x) in key.iter().zip(x.chunks(d)) {
            let row = &mut expected[*key as usize * d..][..d];
            row.iter_mut().zip(x).for_each(|(to, x)| *to += x);
        }
        for threads in [1, 2, 5] {
            let mut out = vec![0.125_f32; 300 * d];
            let kernel = kernel.clone().threads(threads);
            let call = kernel.bind().array("key", &key);
            let call = call.shape("x", &[n as u64, d as u64]).array("x", &x);
            let call = call.shape("out", &[300, d as u64]);
            call.array_mut("out", &mut out).run().expect("a run");
            assert!(out == expected, "{threads} {d}");
        }
    }
}

#[test]
fn what_is_skipped_is_counted_once() {
    let compiler = Compiler::new().strategy("apart".parse().expect("a strategy"));
    let compiler = compiler.oob(Oob::Skip);
    let program = compiler.compile("k.c", SOURCE).expect("a program");
    let kernel = program.kernel("skipping").expect("a kernel");
    let count = 40_000;
    let key: Vec<i32> = (0..count).map(|it| corners(it, count)[0]).collect();
    let x = vec![1.5; 1000];
    for below in [1000, 1001] {
        let from: Vec<i32> = (0..count).map(|it| (it * 7919 % below) as i32).collect();
        let mut expected = vec![0.5; NODES];
        let mut skipped = 0;
        for (key, from) in key.iter().zip(&from) {
            match x.get(*from as usize) {
                Some(x) => expected[*key as usize] += x,
                None => skipped += 1,
            }
        }
        assert_eq!(skipped > 0, below > 1000);
        for threads in [1, 2, 5] {
            let mut found = vec![0.5; NODES];
            let kernel = kernel.clone().threads(threads);
            let call = kernel.bind().array("key", &key).array("from", &from);
            let call = call.array("x", &x).array_mut("out", &mut found);
            let record = call.run_with_report().expect("a run").record;
            assert!(found == expected, "{threads}");
            let counted = (record.updates, record.skipped);
            assert_eq!(counted, (count as u64 - skipped, skipped), "{threads}");
        }
    }
}

#[test]
fn a_fault_late_in_the_loop_changes_nothing() {
    let kernel = kernel("elements").threads(2);
    let mut corner = mesh(60_000, false);
    corner[3 * 59_990] = NODES as i32;
    let x = vec![1.0; 60_000];
    let (mut mass, mut load) = (vec![0.25; NODES], vec![0.5_f32; NODES]);
    let call = kernel.bind().array("corner", &corner).array("x", &x);
    let call = call.array_mut("mass", &mut mass);
    let failure = call.array_mut("load", &mut load).run();
    assert!(matches!(failure, Err(Error::Fault(_))), "{failure:?}");
    assert!(mass.iter().all(|it| *it == 0.25) && load.iter().all(|it| *it == 0.5));
}
