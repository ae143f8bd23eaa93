//! Factorizations, solves and shortest paths: matrices whose rows need those before them.

use crate::arguments::{Arguments, row, row_mut};

pub fn cholesky(given: &Arguments) {
    let (n, a) = (given.size(0), given.output::<f64>(1));
    for k in 0..n {
        a[k * n + k] = a[k * n + k].sqrt();
        for i in k + 1..n {
            a[i * n + k] /= a[k * n + k];
        }
        for i in k + 1..n {
            for j in k + 1..=i {
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            }
        }
    }
}

pub fn floyd_warshall(given: &Arguments) {
    let (n, d) = (given.size(0), given.output::<f64>(1));
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                let around = d[i * n + k] + d[k * n + j];
                let known = d[i * n + j];
                d[i * n + j] = if around < known { around } else { known };
            }
        }
    }
}

pub fn gram_schmidt(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (a, r) = (given.output::<f64>(2), given.output::<f64>(3));
    for k in 0..m {
        let mut norm = 0.0;
        for i in 0..n {
            norm += a[i * m + k] * a[i * m + k];
        }
        r[k * m + k] = norm.sqrt();
        for i in 0..n {
            a[i * m + k] /= r[k * m + k];
        }
        for j in k + 1..m {
            let mut sum = 0.0;
            for i in 0..n {
                sum += a[i * m + k] * a[i * m + j];
            }
            r[k * m + j] = sum;
            for i in 0..n {
                a[i * m + j] -= a[i * m + k] * sum;
            }
        }
    }
}

pub fn lu(given: &Arguments) {
    let (n, a) = (given.size(0), given.output::<f64>(1));
    for k in 0..n {
        let (above, below) = a.split_at_mut((k + 1) * n);
        let above = row(above, n, k);
        for i in 0..n - k - 1 {
            let a = row_mut(below, n, i);
            a[k] /= above[k];
            let factor = a[k];
            for (a, above) in a[k + 1..].iter_mut().zip(&above[k + 1..]) {
                *a -= factor * above;
            }
        }
    }
}

pub fn trmm(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (l, b) = (given.input::<f64>(2), given.output::<f64>(3));
    for i in (0..n).rev() {
        let (above, b) = b.split_at_mut(i * m);
        for k in 0..i {
            let factor = l[i * n + k];
            for (b, above) in b[..m].iter_mut().zip(row(above, m, k)) {
                *b += factor * above;
            }
        }
    }
}

pub fn trsm(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (l, b) = (given.input::<f64>(2), given.output::<f64>(3));
    for i in 0..n {
        let (above, b) = b.split_at_mut(i * m);
        let b = &mut b[..m];
        for k in 0..i {
            let factor = l[i * n + k];
            for (b, above) in b.iter_mut().zip(row(above, m, k)) {
                *b -= factor * above;
            }
        }
        for b in b {
            *b /= l[i * n + i];
        }
    }
}

pub fn trsv(given: &Arguments) {
    let n = given.size(0);
    let (l, b, x) = (
        given.input::<f64>(1),
        given.input::<f64>(2),
        given.output::<f64>(3),
    );
    for i in 0..n {
        let l = row(l, n, i);
        let mut s = b[i];
        for (l, x) in l[..i].iter().zip(&x[..i]) {
            s -= l * x;
        }
        x[i] = s / l[i];
    }
}
