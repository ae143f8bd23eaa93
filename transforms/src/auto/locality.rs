//! Tiles of loops that would else fetch the same memory over and over.

use super::order::{self, Reach};
use super::{Choice, trips};
use crate::Size;
use crate::in_range::is_non_negative;
use std::collections::BTreeSet;
use strew_affine::footprint::{Trip, footprint};
use strew_affine::{Access, AffineFor, ArrayId, Kernel, Variable};

/// What the inner loops of a tile read again for each iteration of the outermost one stays in the
/// second cache.
const BYTES_AGAIN: u128 = 512 << 10;

/// So long are the rows of such tiles: long enough to be fetched in advance.
const BYTES_OF_A_ROW: i64 = 8 << 10;

/// So many iterations of the outermost loop use what was fetched, and still leave some of them for
/// all threads.
const ROWS: i64 = 32;

/// What a tile touches that walks along memory in one array and across it in another one.
const BYTES_ACROSS: u128 = 128 << 10;

/// Into so many groups go the tiles of the outermost loop at most, and into no fewer than half as
/// many where a group has several. All rows of a group use a tile of the inner loops while it is in
/// the cache.
const GROUPS: i64 = 32;

const LINE_BYTES: u64 = 64;

/// The tile sizes that pay for the loops of `band`, a perfect nest, outermost first: where all of
/// what the loops inside of the first one read is read again in each of its iterations, or where
/// lines are left before all of their elements are used. What sizes there will be is not known, so
/// small arrays are tiled too; that costs little.
pub(super) fn sizes(kernel: &Kernel, band: &[&AffineFor]) -> Option<Tiling> {
    let accesses = order::accesses(&band.last()?.body);
    let tiling = match *band {
        [outer, middle, inner] => again(kernel, &accesses, [outer, middle, inner]),
        [outer, inner] => across(kernel, &accesses, [outer, inner]),
        _ => None,
    }?;
    let is_long = |(it, size): (&&AffineFor, &i64)| {
        trips(it).is_none_or(|trips| trips >= size.unsigned_abs())
    };
    let is_whole = band.iter().zip(&tiling.sizes).all(is_long);
    (is_whole && is_rectangular(band)).then_some(tiling)
}

/// Tiles that pay.
pub(super) struct Tiling {
    /// So many iterations of each loop.
    pub(super) sizes: Vec<i64>,
    /// So many tiles of the outermost loop use what was fetched together.
    pub(super) group: Option<Size>,
    /// What the sizes come from.
    arrays: BTreeSet<ArrayId>,
    is_again: bool,
    bytes: u128,
    most: u128,
}

impl Tiling {
    /// What there is to say of it, where the loops have these names and a `group` so many tiles.
    pub(super) fn choice(&self, kernel: &Kernel, names: &[String], group: Option<&Size>) -> Choice {
        let arrays = self.arrays.iter();
        Choice::Tiles {
            sizes: names
                .iter()
                .cloned()
                .zip(self.sizes.iter().copied())
                .collect(),
            arrays: arrays.map(|it| kernel.arrays[*it].name.clone()).collect(),
            is_again: self.is_again,
            bytes: self.bytes,
            most: self.most,
            group: group.cloned(),
        }
    }
}

/// How many tiles of [`ROWS`] iterations of `outermost` make a group, where its end is known not to
/// be negative; `None` where there are too few for groups.
fn tiles_in_group(kernel: &Kernel, outermost: &AffineFor) -> Option<Size> {
    let (lower, upper) = (outermost.lower.as_single()?, outermost.upper.as_single()?);
    let is_from_zero = lower.as_constant() == Some(0) && outermost.step == 1;
    if !is_from_zero || !is_non_negative(kernel, upper) {
        return None;
    }
    let rows = GROUPS * ROWS;
    if let Some(end) = upper.as_constant() {
        return (end > rows).then(|| Size::from((end - 1) / rows + 1));
    }
    // One more than a quotient is at least 1, for no rows, too.
    let tiles = Size::Quotient(Box::new([Size::of(kernel, upper)?, rows.into()]));
    Some(Size::Sum(Box::new([tiles, 1.into()])))
}

fn again(
    kernel: &Kernel,
    accesses: &[&Access],
    [outer, middle, inner]: [&AffineFor; 3],
) -> Option<Tiling> {
    let is_read_again = |it: &&&Access| {
        let moves = |by: &AffineFor| order::moves(it, by.iter);
        !moves(outer) && moves(middle) && moves(inner)
    };
    let again: Vec<&Access> = accesses.iter().filter(is_read_again).copied().collect();
    let element = kernel.arrays[again.first()?.array].element;
    let row = BYTES_OF_A_ROW / i64::from(element.bytes()).max(1);
    let fits = |rows: i64| {
        let tile = [Trip::new(middle.iter, rows), Trip::new(inner.iter, row)];
        let touched = footprint(kernel, &again, &tile, LINE_BYTES).ok()?;
        let bytes = touched.bytes.value;
        (bytes <= BYTES_AGAIN).then_some((rows, bytes))
    };
    let (rows, bytes) = [256, 128, 64, 32, 16].into_iter().find_map(fits)?;
    Some(Tiling {
        sizes: vec![ROWS, rows, row],
        group: tiles_in_group(kernel, outer),
        arrays: again.iter().map(|it| it.array).collect(),
        is_again: true,
        bytes,
        most: BYTES_AGAIN,
    })
}

fn across(
    kernel: &Kernel,
    accesses: &[&Access],
    [outer, inner]: [&AffineFor; 2],
) -> Option<Tiling> {
    let is_across = |it: &&Access| {
        let reach = |by: &AffineFor| order::reach(kernel, it, by.iter);
        reach(inner) == Reach::Far && matches!(reach(outer), Reach::Next(_))
    };
    let arrays: BTreeSet<_> = accesses
        .iter()
        .filter(|it| is_across(it))
        .map(|it| it.array)
        .collect();
    if arrays.is_empty() {
        return None;
    }
    let fits = |size: i64| {
        let tile = [outer, inner].map(|it| Trip::new(it.iter, size));
        let touched = footprint(kernel, accesses, &tile, LINE_BYTES).ok()?;
        let bytes = touched.lines.value * u128::from(LINE_BYTES);
        (bytes <= BYTES_ACROSS).then_some((size, bytes))
    };
    let (size, bytes) = [128, 64, 32, 16].into_iter().find_map(fits)?;
    Some(Tiling {
        sizes: vec![size, size],
        group: None,
        arrays,
        is_again: false,
        bytes,
        most: BYTES_ACROSS,
    })
}

fn is_rectangular(band: &[&AffineFor]) -> bool {
    let mut bounds = band.iter().flat_map(|it| it.bounds());
    bounds.all(|bound| {
        let mut loops = band.iter();
        !loops.any(|it| bound.mentions(Variable::Iter(it.iter)))
    })
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    #[test]
    fn products_and_transpositions_are_tiled() {
        schedules(
            "kernel @k(n: i64, m: i64, p: i64, a: i64[n, p], b: i64[p, m], c: i64[n, m]) {
               affine.for i in 0..n { affine.for j in 0..m { affine.for k in 0..p {
                 c[i, j] reduce(add) a[i, k] * b[k, j]
               } } }
             }",
            &[
                "permute(i, k, j)",
                "tile(i = 32, k = 64, j = 1024)",
                "strip_mine(i_t = n / 1024 + 1)",
                "permute(k_t, j_t, i_t_p)",
                "parallelize(i_t_t)",
                "unroll_and_jam(i_p, 2)",
                "unroll_and_jam(k_p, 4)",
                "vectorize(j_p, 2)",
                "vectorize(j_p_1_2, 4)",
                "vectorize(j_p_1, 4)",
            ],
        );
        schedules(
            "kernel @k(n: i64, m: i64, a: f64[n, m], b: f64[m, n]) {
               affine.for i in 0..n { affine.for j in 0..m { b[j, i] = a[i, j] } }
             }",
            &[
                "tile(i = 64, j = 64)",
                "parallelize(i_t)",
                // They fill a line of `b` one behind the other.
                "unroll_and_jam(i_p, 4)",
            ],
        );
    }

    #[test]
    fn what_is_read_once_is_not() {
        schedules(
            "kernel @k(n: i64, m: i64, a: f64[n, m], x: f64[m]) {
               affine.for i in 0..n { affine.for j in 0..m { a[i, j] = a[i, j] * x[j] } }
             }",
            &["parallelize(i)", "vectorize(j, 4)"],
        );
    }
}
