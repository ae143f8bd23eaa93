//! Flat arrays get the dimensions that their subscripts show: what comes behind asks for rows.

use super::Scheduler;
use super::attempt::Attempt;
use crate::Delinearize;
use strew_affine::flat::{Shape, keyed_sizes, rows_of, shape_in_rows, shape_of};
use strew_affine::visit::{AccessKind, accesses};
use strew_affine::{AffineExpr, ArrayId, Kernel};

impl Scheduler<'_> {
    /// Delinearizes all arrays that can be. Where there are some, others get the length that their
    /// subscripts show, and so do those of which iterations use what others leave, which scalars
    /// hold then. Arrays whose rows data pick come before those, since their rows say nothing of
    /// the lengths of others.
    pub(super) fn give_dimensions(&mut self) {
        let arrays: Vec<_> = self.found.kernel.array_params().collect();
        let mut have_rows = false;
        for array in &arrays {
            have_rows |= self.attempt(|attempt| {
                let shape = shape_of(attempt.kernel(), *array).ok()??;
                let begins = shape.origin == AffineExpr::default();
                begins.then(|| delinearize(attempt, *array, &shape))?
            });
        }
        // What is beyond these rows need not be beyond the array.
        let may_assume = self.may_assume;
        for array in arrays.iter().filter(|_| may_assume) {
            self.attempt(|attempt| in_rows_by_keys(attempt, *array));
        }
        for array in &arrays {
            if !have_rows && !hands_on(&self.found.kernel, *array) {
                continue;
            }
            self.attempt(|attempt| {
                let shape = shape_in_rows(attempt.kernel(), *array, &[]).ok()??;
                delinearize(attempt, *array, &shape)
            });
        }
    }
}

/// Whether elements of `array` that are written are read at other places, too.
fn hands_on(kernel: &Kernel, array: ArrayId) -> bool {
    let mut sites = accesses(kernel);
    sites.retain(|it| it.access.array == array);
    let (read, written): (Vec<_>, Vec<_>) =
        (sites.iter()).partition(|it| it.kind == AccessKind::Read);
    let mut pairs = (written.iter()).flat_map(|it| read.iter().map(move |other| (it, other)));
    pairs.any(|(one, other)| !one.access.is_same(other.access))
}

/// Gives `array` its `shape`, with the least rows that do.
fn delinearize(attempt: &mut Attempt, array: ArrayId, shape: &Shape) -> Option<()> {
    let kernel = attempt.kernel();
    kernel.arrays[array].length.is_none().then_some(())?;
    let rows = rows_of(kernel, array, shape).ok()?;
    let request = |rows: AffineExpr| {
        let sizes = [&[rows], shape.inner.as_slice()].concat();
        Delinearize::of(kernel, array, &sizes)
    };
    let requests: Vec<_> = rows.into_iter().map(request).collect::<Option<_>>()?;
    attempt.first_of(requests)
}

/// Gives `array` all the rows that it has, where data pick some of them.
fn in_rows_by_keys(attempt: &mut Attempt, array: ArrayId) -> Option<()> {
    let kernel = attempt.kernel();
    let sizes = keyed_sizes(kernel, array)?;
    let request = Delinearize::of(kernel, array, &sizes)?;
    attempt.first_of([request])
}

#[cfg(test)]
mod tests {
    use crate::auto::{Machine, auto};
    use crate::test_support::{assert_same_where_assumed, kernel};

    /// Of a kernel of flat arrays `x`, `y` and `w`.
    fn flat(body: &str) -> String {
        format!(
            "kernel @k(n: i32, m: i32, infer xs: i64, x: f64[xs], infer ys: i64, y: f64[ys], infer ws: i64, w: f64[ws], seg: i32[n]) {{ {body} }}"
        )
    }

    fn told(body: &str) -> String {
        let before = kernel(&flat(body));
        let found = auto(&before, &Machine::default(), &mut ());
        assert_same_where_assumed(&before, &found.kernel);
        let steps = found.schedule.steps().iter().map(ToString::to_string);
        let steps: Vec<_> = steps.filter(|it| it.starts_with("delinearize")).collect();
        steps.join(" ")
    }

    #[test]
    fn rows_are_given_to_all_that_show_them() {
        let body = "affine.for i in 1..n { affine.for j in 0..m { y[i * m + j] = y[i * m - m + j] + x[i * m + j] * w[j] } }";
        let three = "delinearize(x, [n, m]) delinearize(y, [n, m]) delinearize(w, [m])";
        assert_eq!(told(body), three);
        let flat = auto(&kernel(&flat(body)), &Machine::default(), &mut ());
        assert!(flat.schedule.to_string().contains("unroll_and_jam(i, 4)"));
    }

    /// What conditions keep in range needs no more rows, and what is at a border is one of them.
    #[test]
    fn as_many_rows_as_are_read() {
        let guarded = "affine.for i in 0..n { affine.for j in 0..m {
            y[i * m + j] = x[i * m + j] * 0.5
            affine.if (i < n - 1) { y[i * m + j] reduce(add) x[i * m + m + j] } } }";
        let both = "delinearize(x, [n, m]) delinearize(y, [n, m])";
        assert_eq!(told(guarded), both);
        let border = "affine.for j in 0..m { y[j] = 1.0 } affine.for i in 1..n { affine.for k in 0..m { y[i * m + k] = y[i * m - m + k] + x[i * m + k] } }";
        assert_eq!(told(border), both);
        let below =
            "affine.for i in 0..n { affine.for j in 0..m { y[i * m + j] = x[i * m + m + j] } }";
        assert_eq!(
            told(below),
            "delinearize(x, [n + 1, m]) delinearize(y, [n, m])"
        );
    }

    /// Where a row is, data say: there are all that the array has.
    #[test]
    fn rows_that_data_pick() {
        let sums = "affine.for i in 0..n { affine.for j in 0..m { y[seg[i] * m + i32(j)] reduce(add) x[i * m + j] } }";
        let both = "delinearize(x, [n, m]) delinearize(y, [ys / m, m])";
        assert_eq!(told(sums), both);
        let gathered = "affine.for i in 0..n { affine.for j in 0..8 { y[i * 8 + j] = x[i64(seg[i]) * 8 + j] } }";
        assert_eq!(told(gathered), "delinearize(x, [xs / 8, 8])");
        let spread = "affine.for i in 0..n { affine.for j in 0..m { y[i32(i) * m + seg[j]] reduce(add) 1.0 } }";
        assert_eq!(told(spread), "delinearize(y, [ys / m, m])");
        let flat = auto(&kernel(&flat(spread)), &Machine::default(), &mut ());
        let text = flat.kernel.to_string();
        assert!(
            text.contains("scf.forall") && !text.contains("private"),
            "{text}"
        );
    }

    #[test]
    fn what_iterations_hand_on_has_a_length() {
        let sums = "y[0] = 0.0 affine.for i in 0..n { y[i + 1] = y[i] + x[i] }
            affine.for j in 0..n - m + 1 { w[j] = y[j + m] - y[j] }";
        assert_eq!(told(sums), "delinearize(y, [n + 1])");
    }

    #[test]
    fn others_stay_flat() {
        for body in [
            // How long they are says nothing about rows.
            "affine.for i in 0..n { y[seg[i]] reduce(add) x[i] * w[i] }",
            // Two sizes, of which either may be the greater one.
            "affine.for i in 0..n { y[i] = 1.0 } affine.for j in 0..m { y[j] = 2.0 }",
            // Nothing goes along a row.
            "affine.for i in 0..n { y[seg[i] * m] reduce(add) x[i] * w[i] }",
        ] {
            assert_eq!(told(body), "", "{body}");
        }
    }
}
