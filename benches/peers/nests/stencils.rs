//! Points that are computed from those around them.

use crate::arguments::{Arguments, row, row_mut};

fn convolution<const SIZE: usize>(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (w, image) = (given.input::<f64>(2), given.input::<f64>(3));
    let out = given.output::<f64>(4);
    let columns = m + SIZE - 1;
    for i in 0..n {
        for (j, out) in row_mut(out, m, i).iter_mut().enumerate() {
            let mut s = 0.0;
            for p in 0..SIZE {
                let image = &row(image, columns, i + p)[j..][..SIZE];
                for (w, image) in row(w, SIZE, p).iter().zip(image) {
                    s += w * image;
                }
            }
            *out = s;
        }
    }
}

pub fn convolution_3(given: &Arguments) {
    convolution::<3>(given);
}

pub fn convolution_7(given: &Arguments) {
    convolution::<7>(given);
}

pub fn fdtd_2d(given: &Arguments) {
    let (steps, n, m) = (given.size(0), given.size(1), given.size(2));
    let source = given.input::<f64>(3);
    let [ex, ey, hz] = [4, 5, 6].map(|at| given.output::<f64>(at));
    for source in &source[..steps] {
        ey[..m].fill(*source);
        for i in 1..n {
            let (above, hz) = (row(hz, m, i - 1), row(hz, m, i));
            for ((ey, hz), above) in row_mut(ey, m, i).iter_mut().zip(hz).zip(above) {
                *ey -= 0.5 * (hz - above);
            }
        }
        for i in 0..n {
            let (ex, hz) = (row_mut(ex, m, i), row(hz, m, i));
            for j in 1..m {
                ex[j] -= 0.5 * (hz[j] - hz[j - 1]);
            }
        }
        for i in 0..n - 1 {
            let (ex, ey, below) = (row(ex, m, i), row(ey, m, i), row(ey, m, i + 1));
            let hz = row_mut(hz, m, i);
            for j in 0..m - 1 {
                hz[j] -= 0.7 * (ex[j + 1] - ex[j] + below[j] - ey[j]);
            }
        }
    }
}

fn heat(n: usize, from: &[f64], to: &mut [f64]) {
    for i in 1..n - 1 {
        for j in 1..n - 1 {
            let at = |i: usize, j: usize| row(from, n, i * n + j);
            let [here, below, above] = [at(i, j), at(i + 1, j), at(i - 1, j)];
            let [right, left] = [at(i, j + 1), at(i, j - 1)];
            let to = row_mut(to, n, i * n + j);
            for k in 1..n - 1 {
                let twice = 2.0 * here[k];
                to[k] = here[k]
                    + 0.125 * (below[k] - twice + above[k])
                    + 0.125 * (right[k] - twice + left[k])
                    + 0.125 * (here[k + 1] - twice + here[k - 1]);
            }
        }
    }
}

pub fn heat_3d(given: &Arguments) {
    let (steps, n) = (given.size(0), given.size(1));
    let (a, b) = (given.output::<f64>(2), given.output::<f64>(3));
    for _ in 0..steps {
        heat(n, a, b);
        heat(n, b, a);
    }
}

fn thirds(from: &[f64], to: &mut [f64]) {
    for (to, around) in to[1..].iter_mut().zip(from.windows(3)) {
        *to = (around[0] + around[1] + around[2]) / 3.0;
    }
}

pub fn jacobi_1d(given: &Arguments) {
    let steps = given.size(0);
    let (a, b) = (given.output::<f64>(2), given.output::<f64>(3));
    for _ in 0..steps {
        thirds(a, b);
        thirds(b, a);
    }
}

fn fifths(n: usize, from: &[f64], to: &mut [f64]) {
    for i in 1..n - 1 {
        let [above, here, below] = [i - 1, i, i + 1].map(|i| row(from, n, i));
        let to = row_mut(to, n, i);
        for j in 1..n - 1 {
            to[j] = 0.2 * (here[j] + here[j - 1] + here[j + 1] + above[j] + below[j]);
        }
    }
}

pub fn jacobi_2d(given: &Arguments) {
    let (steps, n) = (given.size(0), given.size(1));
    let (a, b) = (given.output::<f64>(2), given.output::<f64>(3));
    for _ in 0..steps {
        fifths(n, a, b);
        fifths(n, b, a);
    }
}

pub fn seidel_2d(given: &Arguments) {
    let (steps, n, a) = (given.size(0), given.size(1), given.output::<f64>(2));
    for _ in 0..steps {
        for i in 1..n - 1 {
            let (above, rest) = a.split_at_mut(i * n);
            let (here, below) = rest.split_at_mut(n);
            let (above, below) = (&above[(i - 1) * n..][..n], &below[..n]);
            for j in 1..n - 1 {
                let sum = above[j - 1] + above[j] + above[j + 1] + here[j - 1] + here[j];
                here[j] = (sum + here[j + 1] + below[j - 1] + below[j] + below[j + 1]) / 9.0;
            }
        }
    }
}
