//! Innermost loops in which elements follow each other but where a subscript wraps around, as in a
//! grid whose last element is next to its first: the iterations in which one does come apart, and
//! the others run in lanes.

use super::attempt::Attempt;
use super::{Choice, Scheduler, lanes, order};
use crate::fold::folded_inside;
use crate::{Size, Split, Vectorize, tree};
use strew_affine::visit::{Loop, has_loops};
use strew_affine::{Access, AffineExpr, AffineFor, Factor, IterId, Kernel, Subscript};

/// More iterations than this do not come apart: each is code of its own, which runs one by one.
const MOST_APART: u64 = 8;

/// A loop whose first and last iterations wrap around.
struct Wrapping {
    iter: IterId,
    /// So many at the beginning of a row.
    first: u64,
    /// So many at its end.
    last: u64,
    /// How long the row is.
    row: AffineExpr,
}

impl Scheduler<'_> {
    /// Lets loops run in lanes but for the iterations in which a subscript wraps around.
    pub(super) fn unwrap_ends(&mut self) {
        let kernel = &self.found.kernel;
        let affine = tree::affine_loops(kernel);
        let wrapping: Vec<_> = affine.filter_map(|it| Wrapping::of(kernel, it)).collect();
        for wrapping in wrapping {
            let choice = Choice::Wraps {
                path: self.found.kernel.iters[wrapping.iter].name.clone(),
                first: wrapping.first,
                last: wrapping.last,
            };
            self.attempt_for([choice], |attempt| wrapping.apart(attempt));
        }
    }
}

impl Wrapping {
    fn of(kernel: &Kernel, target: &AffineFor) -> Option<Self> {
        if has_loops(&target.body) || target.lanes != 1 || target.step != 1 {
            return None;
        }
        let accesses = order::accesses(&target.body).into_iter();
        // Those that go on to the next row run in lanes as they are.
        let wraps = |it: &&Access| it.step_through_rows(kernel, target.iter).is_none();
        let wrapped = accesses
            .filter(wraps)
            .flat_map(|it| offsets(&it.subscripts, target.iter));
        let wrapped: Vec<_> = wrapped.collect();
        let (row, _) = *wrapped.first()?;
        let all = wrapped.iter().map(|(_, offset)| *offset);
        let (least, greatest) = (all.clone().min()?, all.max()?);
        let [before, behind] = outside(target, row);
        let apart = |wrapping: i64, outside: i64| match wrapping > outside {
            true => wrapping.max(0).unsigned_abs(),
            false => 0,
        };
        let (first, last) = (apart(least.checked_neg()?, before), apart(greatest, behind));
        let is_one_row = wrapped.iter().all(|(it, _)| *it == row);
        (is_one_row && first.max(last) <= MOST_APART).then_some(Self {
            iter: target.iter,
            first,
            last,
            row: row.clone(),
        })
    }

    /// What wraps around in loops of its own, and the rest in lanes, if it has a form there.
    fn apart(&self, attempt: &mut Attempt) -> Option<()> {
        let mut iter = self.iter;
        if self.first > 0 {
            let begin = Size::Integer(self.first);
            attempt.step(Split::new(attempt.path(iter), begin))?;
            iter = *attempt.made().first()?;
        }
        if self.last > 0 {
            let end = self.row.offset(0_i64.checked_sub_unsigned(self.last)?);
            let end = Size::of(attempt.kernel(), &end.ok()?)?;
            attempt.step(Split::new(attempt.path(iter), end))?;
        }
        let count = lanes_without_quotients(attempt.kernel(), iter)?;
        attempt.step(Vectorize::new(attempt.path(iter), count.into()))
    }
}

/// How many iterations at the beginning and at the end of a `row` the loop leaves out for sure.
fn outside(target: &AffineFor, row: &AffineExpr) -> [i64; 2] {
    let lowers = target.lower.0.iter();
    let before = lowers.filter_map(AffineExpr::as_constant).max();
    let uppers = target.upper.0.iter();
    let behind = uppers
        .filter_map(|it| row.minus(it).ok()?.as_constant())
        .max();
    [before, behind].map(|it| it.unwrap_or(0))
}

/// In how many lanes the loop over `iter` pays, with the quotients and remainders in it gone that
/// its bounds make needless.
fn lanes_without_quotients(kernel: &Kernel, iter: IterId) -> Option<u32> {
    let mut loops = tree::loops(kernel).into_iter();
    let nested = loops.find(|it| it.it.iter() == iter)?;
    let folded = folded_inside(nested.it, &nested.around);
    lanes::count(kernel, Loop::of(&folded)?)
}

/// The rows that subscripts wrap around in, and how far they are from `iter` but for that.
fn offsets(subscripts: &[Subscript], iter: IterId) -> impl Iterator<Item = (&AffineExpr, i64)> {
    let affine = subscripts.iter().filter_map(|it| match it {
        Subscript::Affine(expr) => Some(expr),
        Subscript::Computed(_) => None,
    });
    let factors = affine.flat_map(|it| it.terms()).flat_map(|it| &it.factors);
    factors.filter_map(move |factor| match factor {
        Factor::Mod(of, row) => Some((&**row, offset(of, row, iter)?)),
        Factor::Variable(_) | Factor::FloorDiv(..) => None,
    })
}

/// How far `expr` is from `iter`, if that is a number, or a number and a `row`, on which a
/// remainder does not depend.
fn offset(expr: &AffineExpr, row: &AffineExpr, iter: IterId) -> Option<i64> {
    let ahead = expr.minus(&iter.into()).ok()?;
    let Some(number) = ahead.as_constant() else {
        return ahead.minus(row).ok()?.as_constant();
    };
    match row.as_constant() {
        // The end of a row of known length is near its beginning, too.
        Some(row) if row > 0 && number.rem_euclid(row) > row / 2 => {
            number.rem_euclid(row).checked_sub(row)
        }
        _ => Some(number),
    }
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    fn ring(subscripts: [&str; 2]) -> String {
        let [left, right] = subscripts;
        format!(
            "kernel @k(n: i64, a: f64[n, n], b: f64[n, n]) {{
               affine.for i in 0..n {{ affine.for j in 0..n {{ b[i, j] = a[i, {left}] + a[i, {right}] }} }}
             }}"
        )
    }

    #[test]
    fn what_wraps_around_comes_apart() {
        schedules(
            &ring(["(j + n - 1) mod n", "(j + 2) mod n"]),
            &[
                "parallelize(i)",
                "split(j, at = 1)",
                "split(j_r, at = n - 2)",
                "vectorize(j_r, 4)",
            ],
        );
        schedules(
            &ring(["j", "(j + n + 1) mod n"]),
            &["parallelize(i)", "split(j, at = n - 1)", "vectorize(j, 4)"],
        );
    }

    #[test]
    fn rows_of_known_length_wrap_around_as_others_do() {
        let source =
            ring(["(j + 1023) mod 1024", "(j + 1) mod 1024"]).replace("j in 0..n", "j in 0..1024");
        let cut = ["split(j, at = 1)", "split(j_r, at = 1023)"];
        schedules(
            &source,
            &["parallelize(i)", cut[0], cut[1], "vectorize(j_r, 4)"],
        );
    }

    /// `int r = (j + 1) % n;` stays when subscripts speak of `j` instead, since `n` may be 0.
    #[test]
    fn remainders_that_only_ask_for_zero_keep_nothing_from_lanes() {
        let with = |remainder: &str| {
            let body = format!("{{ let r: i64 = {remainder} b[i, j]");
            ring(["j", "(j + 1) mod n"]).replace("{ b[i, j]", &body)
        };
        let cut = ["parallelize(i)", "split(j, at = n - 1)", "vectorize(j, 4)"];
        schedules(&with("(j + 1) % n"), &cut);
        schedules(&with("n % (j + 1)"), &cut[..1]);
    }

    #[test]
    fn what_is_no_end_of_a_row_is_not_cut_off() {
        let inner = ring(["(j + n - 1) mod n", "(j + 1) mod n"]);
        let inner = inner.replace("affine.for j in 0..n", "affine.for j in 1..n - 1");
        schedules(&inner, &["parallelize(i)", "vectorize(j, 4)"]);
    }

    #[test]
    fn other_remainders_stay_as_they_are() {
        for subscripts in [
            ["j", "(2 * j + 1) mod n"],
            ["j", "(j + 100) mod n"],
            ["j", "(j + i) mod n"],
        ] {
            schedules(&ring(subscripts), &["parallelize(i)"]);
        }
    }
}
