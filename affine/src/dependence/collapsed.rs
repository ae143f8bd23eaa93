//! Subscripts in dimensions that were collapsed, as the one subscript that they were made of.

use crate::AffineExpr;

/// The subscripts of accesses of one array with `x floordiv m, x mod m` as `x`, where all accesses
/// have such a pair, by one divisor, in the same two dimensions: pairs are equal exactly where what
/// they are made of is. `None` where there is no such pair, or only numbers divide, of which
/// everything is known anyway.
pub(super) fn uncollapsed(accesses: &[Vec<AffineExpr>]) -> Option<Vec<Vec<AffineExpr>>> {
    let mut accesses = accesses.to_vec();
    let mut is_changed = false;
    while let Some(dimension) = collapsed_dimension(&accesses) {
        for subscripts in &mut accesses {
            let (dividend, _) = pair(subscripts, dimension)?;
            let dividend = dividend.clone();
            subscripts.splice(dimension..dimension + 2, [dividend]);
        }
        is_changed = true;
    }
    is_changed.then_some(accesses)
}

/// The first dimension in which all accesses have a quotient, and in the next one the remainder.
fn collapsed_dimension(accesses: &[Vec<AffineExpr>]) -> Option<usize> {
    let first = accesses.first()?;
    (0..first.len()).find(|dimension| {
        let divisor = pair(first, *dimension).map(|(_, divisor)| divisor);
        let divisor = divisor.filter(|it| it.as_constant().is_none());
        let by_same = |it: &Vec<AffineExpr>| pair(it, *dimension).map(|(_, it)| it) == divisor;
        divisor.is_some() && accesses.iter().all(by_same)
    })
}

/// What is divided in these two dimensions, and by what.
fn pair(subscripts: &[AffineExpr], dimension: usize) -> Option<(&AffineExpr, &AffineExpr)> {
    let quotient = subscripts.get(dimension)?.as_quotient()?;
    let remainder = subscripts.get(dimension + 1)?.as_remainder()?;
    (quotient == remainder).then_some(quotient)
}
