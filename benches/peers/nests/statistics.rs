//! Columns of samples, sequences and sums.

use crate::arguments::{Arguments, row};

pub fn common_subsequence(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (a, b, l) = (
        given.input::<i32>(2),
        given.input::<i32>(3),
        given.output::<i32>(4),
    );
    let columns = m + 1;
    for i in 0..=n {
        l[i * columns] = 0;
    }
    l[..columns].fill(0);
    for i in 1..=n {
        let (above, here) = l.split_at_mut(i * columns);
        let (above, here) = (&above[(i - 1) * columns..][..columns], &mut here[..columns]);
        for j in 1..=m {
            here[j] = if a[i - 1] == b[j - 1] {
                above[j - 1] + 1
            } else if above[j] > here[j - 1] {
                above[j]
            } else {
                here[j - 1]
            };
        }
    }
}

pub fn correlation(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (x, c) = (given.output::<f64>(2), given.output::<f64>(3));
    for j in 0..m {
        let (mut mean, mut squares) = (0.0, 0.0);
        for i in 0..n {
            mean += x[i * m + j];
        }
        mean /= n as f64;
        for i in 0..n {
            squares += (x[i * m + j] - mean) * (x[i * m + j] - mean);
        }
        let deviation = (squares / n as f64).sqrt();
        for i in 0..n {
            x[i * m + j] = (x[i * m + j] - mean) / deviation;
        }
    }
    for j in 0..m {
        for k in j..m {
            let mut s = 0.0;
            for i in 0..n {
                s += x[i * m + j] * x[i * m + k];
            }
            c[j * m + k] = s / n as f64;
            c[k * m + j] = s / n as f64;
        }
    }
}

pub fn covariance(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (x, mean, c) = (
        given.input::<f64>(2),
        given.output::<f64>(3),
        given.output::<f64>(4),
    );
    for j in 0..m {
        mean[j] = 0.0;
        for i in 0..n {
            mean[j] += x[i * m + j];
        }
        mean[j] /= n as f64;
    }
    for j in 0..m {
        for k in j..m {
            let mut s = 0.0;
            for i in 0..n {
                s += (x[i * m + j] - mean[j]) * (x[i * m + k] - mean[k]);
            }
            c[j * m + k] = s / (n as f64 - 1.0);
            c[k * m + j] = c[j * m + k];
        }
    }
}

pub fn prefix_sums(given: &Arguments) {
    let (n, m) = (given.size(0), given.size(1));
    let (a, s) = (given.input::<f64>(2), given.output::<f64>(3));
    let columns = m + 1;
    for i in 0..n {
        let (above, below) = s.split_at_mut((i + 1) * columns);
        let (above, below) = (row(above, columns, i), &mut below[..columns]);
        for (j, a) in row(a, m, i).iter().enumerate() {
            below[j + 1] = a + above[j + 1] + below[j] - above[j];
        }
    }
}
