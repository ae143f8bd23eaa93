//! Tiles of loops that would else fetch the same memory over and over.

use super::order::{self, Reach};
use super::trips;
use strew_affine::footprint::{Trip, footprint};
use strew_affine::{Access, AffineFor, Kernel, Variable};

/// What the inner loops of a tile read again for each iteration of the outermost one stays in the second cache.
const BYTES_AGAIN: u128 = 512 << 10;

/// So long are the rows of such tiles: long enough to be fetched in advance.
const BYTES_OF_A_ROW: i64 = 8 << 10;

/// So many iterations of the outermost loop use what was fetched, and still leave some of them for all threads.
const ROWS: i64 = 32;

/// What a tile touches that walks along memory in one array and across it in another one.
const BYTES_ACROSS: u128 = 128 << 10;

const LINE_BYTES: u64 = 64;

/// The tile sizes that pay for the loops of `band`, a perfect nest, outermost first: where all of what the loops inside of the first one
/// read is read again in each of its iterations, or where lines are left before all of their elements are used. What sizes there will be
/// is not known, so small arrays are tiled too; that costs little.
pub(super) fn sizes(kernel: &Kernel, band: &[&AffineFor]) -> Option<Vec<i64>> {
    let accesses = order::accesses(&band.last()?.body);
    let sizes = match *band {
        [outer, middle, inner] => again(kernel, &accesses, [outer, middle, inner]),
        [outer, inner] => across(kernel, &accesses, [outer, inner]),
        _ => None,
    }?;
    let is_long =
        |(it, size): (&&AffineFor, &i64)| trips(it).is_none_or(|trips| trips > size.unsigned_abs());
    let is_whole = band.iter().zip(&sizes).all(is_long);
    (is_whole && is_rectangular(band)).then_some(sizes)
}

fn again(
    kernel: &Kernel,
    accesses: &[&Access],
    [outer, middle, inner]: [&AffineFor; 3],
) -> Option<Vec<i64>> {
    let is_read_again = |it: &&&Access| {
        order::reach(it, outer.iter) == Reach::Same
            && [middle, inner]
                .map(|by| order::reach(it, by.iter))
                .into_iter()
                .all(|it| it != Reach::Same)
    };
    let again: Vec<&Access> = accesses.iter().filter(is_read_again).copied().collect();
    let element = kernel.arrays[again.first()?.array].element;
    let row = BYTES_OF_A_ROW / i64::from(element.bytes()).max(1);
    let fits = |rows: &i64| {
        let tile = [Trip::new(middle.iter, *rows), Trip::new(inner.iter, row)];
        let touched = footprint(kernel, &again, &tile, LINE_BYTES);
        touched.is_ok_and(|it| it.bytes.value <= BYTES_AGAIN)
    };
    let rows = [256, 128, 64, 32, 16].into_iter().find(fits)?;
    Some(vec![ROWS, rows, row])
}

fn across(
    kernel: &Kernel,
    accesses: &[&Access],
    [outer, inner]: [&AffineFor; 2],
) -> Option<Vec<i64>> {
    let is_across = |it: &&Access| {
        order::reach(it, inner.iter) == Reach::Far
            && matches!(order::reach(it, outer.iter), Reach::Next(_))
    };
    if !accesses.iter().any(is_across) {
        return None;
    }
    let fits = |size: &i64| {
        let tile = [outer, inner].map(|it| Trip::new(it.iter, *size));
        let touched = footprint(kernel, accesses, &tile, LINE_BYTES);
        touched.is_ok_and(|it| it.lines.value * u128::from(LINE_BYTES) <= BYTES_ACROSS)
    };
    let size = [128, 64, 32, 16].into_iter().find(fits)?;
    Some(vec![size, size])
}

fn is_rectangular(band: &[&AffineFor]) -> bool {
    let mut bounds = band
        .iter()
        .flat_map(|it| it.lower.0.iter().chain(&it.upper.0));
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
                "parallelize(i_t)",
                "separate(k_t)",
                "unroll_and_jam(k_p, 4)",
                "vectorize(j_p, 2)",
                "vectorize(j_p_1, 4)",
            ],
        );
        schedules(
            "kernel @k(n: i64, m: i64, a: f64[n, m], b: f64[m, n]) {
               affine.for i in 0..n { affine.for j in 0..m { b[j, i] = a[i, j] } }
             }",
            &["tile(i = 64, j = 64)", "parallelize(i_t)"],
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
