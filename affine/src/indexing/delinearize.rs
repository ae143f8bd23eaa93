//! Linear and multi-dimensional indices: `linearize_index` and `delinearize_index`.
//!
//! A *basis* lists the sizes of dimensions, outermost first. The index `(i, j, k)` in sizes
//! `(l, n, m)` has the linear index `(i * n + j) * m + k`: the size of the outermost dimension is
//! never used, and may be unknown. Sizes are constants or symbols.
//!
//! Both operations are written out as sums, quotients and remainders, and the simplifier of maps
//! folds what meets: a delinearization that is linearized again by the same basis, or by its
//! innermost sizes, and a linearization whose indices the domain keeps in bounds.

use super::{IndexExpr, IndexingError};

type Checked<T> = Result<T, IndexingError>;

/// The linear index of `indices` in dimensions of the sizes `basis`, outermost first.
///
/// # Errors
/// There are more or fewer sizes than indices, or a constant leaves 64 bits.
pub fn linearize_index(indices: &[IndexExpr], basis: &[IndexExpr]) -> Checked<IndexExpr> {
    if indices.len() != basis.len() {
        return Err(IndexingError::WrongCount {
            expected: basis.len(),
            found: indices.len(),
        });
    }
    let mut linear = IndexExpr::from(0);
    for (index, size) in indices.iter().zip(basis) {
        linear = linear.times(size)?.plus(index)?;
    }
    Ok(linear)
}

/// The indices of the linear index `linear` in dimensions of the sizes `basis`, outermost first.
/// The outermost one takes what is left, also beyond its size.
///
/// # Errors
/// A size other than the outermost is zero, or a constant leaves 64 bits.
pub fn delinearize_index(linear: &IndexExpr, basis: &[IndexExpr]) -> Checked<Vec<IndexExpr>> {
    let Some((_, inner)) = basis.split_first() else {
        return Ok(Vec::new());
    };
    let mut rest = linear.clone();
    let mut indices = Vec::with_capacity(basis.len());
    for size in inner.iter().rev() {
        indices.push(rest.modulo(size)?);
        rest = rest.floordiv(size)?;
    }
    indices.push(rest);
    indices.reverse();
    Ok(indices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indexing::{Declaration, IndexingMap, Interval, parse_map};

    fn constants(sizes: &[i64]) -> Vec<IndexExpr> {
        sizes.iter().copied().map(IndexExpr::from).collect()
    }

    fn symbols(count: usize) -> Vec<IndexExpr> {
        (0..count).map(IndexExpr::runtime).collect()
    }

    /// The results over one dimension up to `size`, and symbols from 1 to 50.
    #[track_caller]
    fn simplified(results: Vec<IndexExpr>, size: i64) -> String {
        let declared = |low, high| Declaration::new(Interval::new(low, high));
        let symbols = vec![declared(1, 50); 4];
        let dimension = vec![declared(0, size - 1)];
        let map = IndexingMap::new(dimension, Vec::new(), symbols, results, Vec::new());
        let simplified = map.expect("a map").simplified();
        let results: Vec<_> = simplified
            .results()
            .iter()
            .map(ToString::to_string)
            .collect();
        results.join(", ")
    }

    #[test]
    fn linearization_undoes_delinearization() -> Checked<()> {
        let linear = IndexExpr::dimension(0);
        for basis in [
            constants(&[3, 4, 5]),
            symbols(3),
            constants(&[7, 1, 2]),
            symbols(4),
        ] {
            let indices = delinearize_index(&linear, &basis)?;
            let again = linearize_index(&indices, &basis)?;
            assert_eq!(simplified(vec![again], 1000), "d0", "{basis:?}");
        }
        Ok(())
    }

    #[test]
    fn equal_tails_of_bases_cancel() -> Checked<()> {
        let linear = IndexExpr::dimension(0);
        let indices = delinearize_index(&linear, &symbols(3))?;
        // The two innermost sizes are the same: what is linearized is the remainder by neither of
        // them.
        let inner = linearize_index(&indices[1..], &symbols(3)[1..])?;
        let outer = indices[0].times(&IndexExpr::product(symbols(3).split_off(1))?)?;
        assert_eq!(simplified(vec![inner.plus(&outer)?], 1000), "d0");
        let constant = delinearize_index(&linear, &constants(&[3, 4, 5]))?;
        let inner = linearize_index(&constant[1..], &constants(&[4, 5]))?;
        assert_eq!(simplified(vec![inner], 1000), "d0 mod 20");
        let head = linearize_index(&constant[..2], &constants(&[3, 4]))?;
        assert_eq!(simplified(vec![head], 1000), "d0 floordiv 5");
        Ok(())
    }

    #[test]
    fn unit_sizes_and_constants_fold() -> Checked<()> {
        let linear = IndexExpr::dimension(0);
        let indices = delinearize_index(&linear, &constants(&[5, 1, 8, 1]))?;
        assert_eq!(simplified(indices, 40), "d0 floordiv 8, 0, d0 mod 8, 0");
        let indices = delinearize_index(&57.into(), &constants(&[9, 4, 5]))?;
        assert_eq!(indices, constants(&[2, 3, 2]));
        assert_eq!(
            linearize_index(&indices, &constants(&[9, 4, 5]))?,
            57.into()
        );
        assert!(delinearize_index(&linear, &[]).is_ok_and(|it| it.is_empty()));
        assert_eq!(
            delinearize_index(&linear, &constants(&[5, 0])),
            Err(IndexingError::DivisionByZero)
        );
        Ok(())
    }

    #[test]
    fn delinearization_undoes_linearization_of_what_is_in_bounds() {
        for (text, expected) in [
            (
                "(i, j, k) -> ((i * 4 + j) * 5 + k), domain: i in [0, 2], j in [0, 3], k in [0, 4]",
                "i, j, k",
            ),
            // `k` may be 5: the outer indices are not `i` and `j`.
            (
                "(i, j, k) -> ((i * 4 + j) * 5 + k), domain: i in [0, 2], j in [0, 3], k in [0, 5]",
                "i + (j * 5 + k) floordiv 20, (j + k floordiv 5) mod 4, k mod 5",
            ),
        ] {
            let map = parse_map(text).expect("a map");
            let indices = delinearize_index(&map.results()[0], &constants(&[3, 4, 5]));
            let delinearized = map
                .clone()
                .with_results(indices.expect("indices"))
                .expect("a map");
            let simplified = delinearized.simplified();
            let shown = simplified.to_string();
            for point in map.points(1000).expect("few points") {
                assert_eq!(simplified.evaluate(&point), delinearized.evaluate(&point));
            }
            let head = format!("(i, j, k) -> ({expected}), ");
            assert!(shown.starts_with(&head), "{shown}");
        }
    }

    #[test]
    fn symbolic_bounds_are_proved_from_constraints() {
        let map = "(i, j, k){n, m} -> ((i * n + j) * m + k), domain: i in [0, 9], j in [0, 99], k in [0, 99], n in [1, 100], m in [1, 100]";
        let in_bounds = format!("{map}, n - j in [1, 100], m - k in [1, 100]");
        let basis =
            [&1.into(), &IndexExpr::runtime(0), &IndexExpr::runtime(1)].map(IndexExpr::clone);
        let indices = |text: &str| {
            let map = parse_map(text).expect("a map");
            let indices = delinearize_index(&map.results()[0], &basis).expect("indices");
            map.with_results(indices)
                .expect("a map")
                .simplified()
                .results()
                .to_vec()
        };
        let dimensions: Vec<_> = (0..3).map(IndexExpr::dimension).collect();
        assert_eq!(indices(&in_bounds), dimensions);
        assert_ne!(indices(map), dimensions);
    }

    /// The slice of a collapsed tensor of the proposal for `delinearize_index`:
    /// `tensor<10x10x100xf32>` collapsed to `tensor<100x100xf32>`, ten rows from `iv`.
    #[test]
    fn slice_of_a_collapsed_tensor() {
        let tile = parse_map(
            "(iv, row, column) -> (iv * 10 + row, column), domain: iv in [0, 9], row in [0, 9], column in [0, 99]",
        );
        let collapsed = {
            let row = delinearize_index(&IndexExpr::dimension(0), &constants(&[10, 10]))
                .expect("indices");
            let results = [row, vec![IndexExpr::dimension(1)]].concat();
            IndexingMap::from_sizes(results, &[100, 100], &[]).expect("a map")
        };
        let slice = tile
            .expect("a map")
            .then(&collapsed)
            .expect("a map")
            .simplified();
        assert_eq!(
            slice.to_string(),
            "(iv, row, column) -> (iv, row, column), domain: iv in [0, 9], row in [0, 9], column in [0, 99]"
        );
        // Tiles that do not begin with a row of the source: the rows are taken one by one, as the
        // proposal's loop does.
        let odd = parse_map(
            "(iv, row, column) -> (iv * 4 + row, column), domain: iv in [0, 24], row in [0, 3], column in [0, 99]",
        );
        let slice = odd
            .expect("a map")
            .then(&collapsed)
            .expect("a map")
            .simplified();
        assert_eq!(
            slice.to_string(),
            "(iv, row, column) -> ((iv * 4 + row) floordiv 10, (iv * 4 + row) mod 10, column), domain: iv in [0, 24], row in [0, 3], column in [0, 99]"
        );
    }
}

/// As they stand in the text of maps.
#[cfg(test)]
mod text_tests {
    use crate::indexing::test_maps::map;

    #[track_caller]
    fn folds(expr: &str, expected: &str) {
        let domain = "domain: d0 in [0, 999], d1 in [0, 3], d2 in [0, 4], n in [1, 9], m in [1, 9]";
        let text = |expr: &str| format!("(d0, d1, d2){{n, m}} -> ({expr}), {domain}");
        assert_eq!(
            map(&text(expr)).simplified(),
            map(&text(expected)),
            "{expr}"
        );
    }

    /// The proposal's loop: row `linear_idx` of the tile at `iv` is taken out of
    /// `tensor<10x10x100xf32>`.
    #[test]
    fn rfc_slice_of_a_collapsed_tensor() {
        let slice = map(
            "(iv, linear_idx, column) -> (delinearize_index (iv * 10 + linear_idx) into (10, 10)#0, delinearize_index (iv * 10 + linear_idx) into (10, 10)#1, column), domain: iv in [0, 9], linear_idx in [0, 9], column in [0, 99]",
        );
        assert_eq!(
            slice.simplified().to_string(),
            "(iv, linear_idx, column) -> (iv, linear_idx, column), domain: iv in [0, 9], linear_idx in [0, 9], column in [0, 99]"
        );
    }

    /// The discussion's chain: an induction variable is delinearized, and linearized again by the
    /// same basis.
    #[test]
    fn rfc_linearization_of_a_delinearization_is_no_op() {
        folds(
            "linearize_index [delinearize_index d0 into (8, 4, 32)#0, delinearize_index d0 into (8, 4, 32)#1, delinearize_index d0 into (8, 4, 32)#2] by (8, 4, 32)",
            "d0",
        );
        folds(
            "linearize_index [delinearize_index d0 into (8, n, m)#0, delinearize_index d0 into (8, n, m)#1, delinearize_index d0 into (8, n, m)#2] by (8, n, m)",
            "d0",
        );
    }

    #[test]
    fn delinearization_of_a_linearization_is_no_op() {
        for (result, expected) in [(0, "n"), (1, "d1"), (2, "d2")] {
            folds(
                &format!(
                    "delinearize_index (linearize_index [n, d1, d2] by (10, 4, 5)) into (10, 4, 5)#{result}"
                ),
                expected,
            );
        }
    }

    #[test]
    fn tails_and_heads_of_bases_fold() {
        folds(
            "linearize_index [delinearize_index d0 into (9, 4, 5)#1, delinearize_index d0 into (9, 4, 5)#2] by (4, 5)",
            "d0 mod 20",
        );
        folds(
            "linearize_index [delinearize_index d0 into (9, 4, 5)#0, delinearize_index d0 into (9, 4, 5)#1] by (9, 4)",
            "d0 floordiv 5",
        );
        folds(
            "delinearize_index (linearize_index [n, d1, d2] by (10, 4, 5)) into (10, 20)#1",
            "d1 * 5 + d2",
        );
    }

    #[test]
    fn constants_and_unit_sizes_fold() {
        folds("delinearize_index 57 into (9, 4, 5)#1", "3");
        folds("linearize_index [2, 3, 2] by (9, 4, 5)", "57");
        folds("delinearize_index d0 into (5, 1, 8, 1)#1", "0");
        folds("delinearize_index d0 into (5, 1, 8, 1)#0", "d0 floordiv 8");
        folds(
            "linearize_index [d0, 0, d1, 0] by (5, 1, 4, 1)",
            "d0 * 4 + d1",
        );
    }
}
