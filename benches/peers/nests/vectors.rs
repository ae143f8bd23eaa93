//! Matrices and vectors.

use crate::arguments::{Arguments, row, row_mut};

pub fn atax(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (a, x) = (given.input::<f64>(2), given.input::<f64>(3));
    let (t, y) = (given.output::<f64>(4), given.output::<f64>(5));
    y.fill(0.0);
    for i in 0..n {
        let a = row(a, m, i);
        let mut s = 0.0;
        for (a, x) in a.iter().zip(x) {
            s += a * x;
        }
        t[i] = s;
        for (y, a) in y.iter_mut().zip(a) {
            *y += a * s;
        }
    }
}

pub fn bicg(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (a, p, r) = (
        given.input::<f64>(2),
        given.input::<f64>(3),
        given.input::<f64>(4),
    );
    let (q, s) = (given.output::<f64>(5), given.output::<f64>(6));
    s.fill(0.0);
    for i in 0..n {
        let mut sum = 0.0;
        for ((s, a), p) in s.iter_mut().zip(row(a, m, i)).zip(p) {
            *s += r[i] * a;
            sum += a * p;
        }
        q[i] = sum;
    }
}

pub fn bodies(given: &Arguments) {
    let (n, near) = (given.size(0), given.real(1));
    let mass = &given.input::<f64>(2)[..n];
    let [x, y, z] = [3, 4, 5].map(|at| &given.input::<f64>(at)[..n]);
    let [ax, ay, az] = [6, 7, 8].map(|at| &mut given.output::<f64>(at)[..n]);
    for i in 0..n {
        let (mut fx, mut fy, mut fz) = (0.0, 0.0, 0.0);
        for j in 0..n {
            let (dx, dy, dz) = (x[j] - x[i], y[j] - y[i], z[j] - z[i]);
            let r2 = dx * dx + dy * dy + dz * dz + near;
            let w = mass[j] / (r2 * r2.sqrt());
            fx += w * dx;
            fy += w * dy;
            fz += w * dz;
        }
        (ax[i], ay[i], az[i]) = (fx, fy, fz);
    }
}

pub fn gemv(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (a, x, y) = (
        given.input::<f64>(2),
        given.input::<f64>(3),
        given.output::<f64>(4),
    );
    for i in 0..n {
        for (a, x) in row(a, m, i).iter().zip(x) {
            y[i] += a * x;
        }
    }
}

pub fn gemv_transposed(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (a, x, y) = (
        given.input::<f64>(2),
        given.input::<f64>(3),
        given.output::<f64>(4),
    );
    for i in 0..n {
        for (y, a) in y.iter_mut().zip(row(a, m, i)) {
            *y += a * x[i];
        }
    }
}

pub fn gesummv(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (alpha, beta) = (given.real(2), given.real(3));
    let (a, b, x) = (
        given.input::<f64>(4),
        given.input::<f64>(5),
        given.input::<f64>(6),
    );
    let y = given.output::<f64>(7);
    for i in 0..n {
        let (mut s, mut t) = (0.0, 0.0);
        for ((a, b), x) in row(a, m, i).iter().zip(row(b, m, i)).zip(x) {
            s += a * x;
            t += b * x;
        }
        y[i] = alpha * s + beta * t;
    }
}

pub fn softmax(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (x, y) = (given.input::<f64>(2), given.output::<f64>(3));
    for i in 0..n {
        let (x, y) = (row(x, m, i), row_mut(y, m, i));
        let mut most = x[0];
        for x in &x[1..] {
            most = if *x > most { *x } else { most };
        }
        let mut s = 0.0;
        for (y, x) in y.iter_mut().zip(x) {
            *y = (x - most).exp();
            s += *y;
        }
        for y in y {
            *y /= s;
        }
    }
}

pub fn transpose(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (a, b) = (given.input::<f64>(2), given.output::<f64>(3));
    for i in 0..n {
        for (j, a) in row(a, m, i).iter().enumerate() {
            b[j * n + i] = *a;
        }
    }
}
