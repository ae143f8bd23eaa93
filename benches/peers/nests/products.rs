//! Products of matrices and of what is like them.

use crate::arguments::{Arguments, row, row_mut};

pub fn doitgen(given: &Arguments) {
    let (n, m, k) = (given.size(0), given.size(1), given.size(2));
    let (c, a, sum) = (
        given.input::<f64>(3),
        given.output::<f64>(4),
        given.output::<f64>(5),
    );
    for rq in 0..n * m {
        let a = row_mut(a, k, rq);
        for p in 0..k {
            sum[p] = 0.0;
            for s in 0..k {
                sum[p] += a[s] * c[s * k + p];
            }
        }
        a.copy_from_slice(sum);
    }
}

pub fn mttkrp(given: &Arguments) {
    let [n, m, k, r] = [0, 1, 2, 3].map(|at| given.size(at));
    let (t, b, c) = (
        given.input::<f64>(4),
        given.input::<f64>(5),
        given.input::<f64>(6),
    );
    let out = given.output::<f64>(7);
    for i in 0..n {
        let out = row_mut(out, r, i);
        for j in 0..m {
            for l in 0..k {
                let t = t[(i * m + j) * k + l];
                for ((out, b), c) in out.iter_mut().zip(row(b, r, j)).zip(row(c, r, l)) {
                    *out += t * b * c;
                }
            }
        }
    }
}

pub fn product_batched(given: &Arguments) {
    let n = given.size(0);
    let (a, b, c) = (
        given.input::<f64>(1),
        given.input::<f64>(2),
        given.output::<f64>(3),
    );
    for p in 0..n {
        let (a, b, c) = (row(a, 64, p), row(b, 64, p), row_mut(c, 64, p));
        for i in 0..8 {
            for j in 0..8 {
                for l in 0..8 {
                    c[i * 8 + j] += a[i * 8 + l] * b[l * 8 + j];
                }
            }
        }
    }
}

pub fn product_ijk(given: &Arguments) {
    let (n, m, k) = (given.size(0), given.size(1), given.size(2));
    let (a, b, c) = (
        given.input::<f64>(3),
        given.input::<f64>(4),
        given.output::<f64>(5),
    );
    for i in 0..n {
        for j in 0..m {
            for (l, a) in row(a, k, i).iter().enumerate() {
                c[i * m + j] += a * b[l * m + j];
            }
        }
    }
}

pub fn product_ikj(given: &Arguments) {
    let (n, m, k) = (given.size(0), given.size(1), given.size(2));
    let (a, b, c) = (
        given.input::<f64>(3),
        given.input::<f64>(4),
        given.output::<f64>(5),
    );
    for i in 0..n {
        let c = row_mut(c, m, i);
        for (l, a) in row(a, k, i).iter().enumerate() {
            for (c, b) in c.iter_mut().zip(row(b, m, l)) {
                *c += a * b;
            }
        }
    }
}

pub fn product_jki(given: &Arguments) {
    let (n, m, k) = (given.size(0), given.size(1), given.size(2));
    let (a, b, c) = (
        given.input::<f64>(3),
        given.input::<f64>(4),
        given.output::<f64>(5),
    );
    for j in 0..m {
        for l in 0..k {
            for i in 0..n {
                c[i * m + j] += a[i * k + l] * b[l * m + j];
            }
        }
    }
}

pub fn product_transposed(given: &Arguments) {
    let (n, m, k) = (given.size(0), given.size(1), given.size(2));
    let (a, b, c) = (
        given.input::<f64>(3),
        given.input::<f64>(4),
        given.output::<f64>(5),
    );
    for i in 0..n {
        for j in 0..m {
            for l in 0..k {
                c[i * m + j] += a[l * n + i] * b[l * m + j];
            }
        }
    }
}

pub fn syr2k(given: &Arguments) {
    let (n, k, alpha) = (given.size(0), given.size(1), given.real(2));
    let (a, b, c) = (
        given.input::<f64>(3),
        given.input::<f64>(4),
        given.output::<f64>(5),
    );
    for i in 0..n {
        let (a_i, b_i) = (row(a, k, i), row(b, k, i));
        for j in 0..=i {
            let (a_j, b_j) = (row(a, k, j), row(b, k, j));
            for l in 0..k {
                c[i * n + j] += alpha * (a_i[l] * b_j[l] + b_i[l] * a_j[l]);
            }
        }
    }
}

pub fn syrk(given: &Arguments) {
    let (n, k, alpha, beta) = (given.size(0), given.size(1), given.real(2), given.real(3));
    let (a, c) = (given.input::<f64>(4), given.output::<f64>(5));
    for i in 0..n {
        for j in 0..=i {
            let c = &mut c[i * n + j];
            *c *= beta;
            for (a_i, a_j) in row(a, k, i).iter().zip(row(a, k, j)) {
                *c += alpha * a_i * a_j;
            }
        }
    }
}
