//! Differences of conjunctions, row by row.

use super::number::Checked;
use super::{Budget, Conjunction, Row};

/// What of `from` is not in `other`, in which an existential only stands in one equality: first
/// what breaks the first row, then what keeps it and breaks the second, and so on, so that no two
/// parts meet.
pub(super) fn difference(
    from: &Conjunction,
    other: &Conjunction,
    budget: &mut Budget,
) -> Checked<Vec<Conjunction>> {
    let mut parts = Vec::new();
    let mut kept = from.clone();
    for row in other.equalities() {
        for part in not_zero(&kept, row, other.width())? {
            push_inhabited(part, &mut parts, budget)?;
        }
        add_zero(&mut kept, row, other.width())?;
    }
    for row in other.inequalities() {
        let mut part = kept.clone();
        part.add_inequality(row.complement()?);
        push_inhabited(part, &mut parts, budget)?;
        kept.add_inequality(row.clone());
    }
    Ok(parts)
}

/// Whether `part` is seen to lie within one of `others`, in which existentials only stand in one
/// equality each.
pub(super) fn is_part_of_one(
    part: &Conjunction,
    others: &[Conjunction],
    budget: &mut Budget,
) -> bool {
    let mut others = others.iter();
    others.any(|other| difference(part, other, budget).is_ok_and(|it| it.is_empty()))
}

/// A point of `part` that is in none of `others`.
pub(super) fn point_outside(
    part: &Conjunction,
    others: &[Conjunction],
    budget: &mut Budget,
) -> Checked<Option<Vec<i128>>> {
    let Some(mut sample) = part.sample(budget)? else {
        return Ok(None);
    };
    sample.truncate(part.width());
    let mut around = None;
    for (position, other) in others.iter().enumerate() {
        if other.contains(&sample, budget)? {
            around = Some((position, other));
            break;
        }
    }
    let Some((position, other)) = around else {
        return Ok(Some(sample));
    };
    let rest = [
        others.get(..position).unwrap_or_default(),
        others.get(position + 1..).unwrap_or_default(),
    ];
    let rest = rest.concat();
    let mut unknown = None;
    for piece in difference(part, other, budget)? {
        match point_outside(&piece, &rest, budget) {
            Ok(None) => {}
            Ok(found) => return Ok(found),
            Err(why) => unknown = Some(why),
        }
    }
    unknown.map_or(Ok(None), Err)
}

fn push_inhabited(
    part: Conjunction,
    parts: &mut Vec<Conjunction>,
    budget: &mut Budget,
) -> Checked<()> {
    if let Some(part) = part.tidied()?
        && !part.is_empty(budget)?
    {
        parts.push(part);
    }
    Ok(())
}

/// The existential of `row` and its coefficient, where the row says that the rest is a multiple of
/// that.
fn multiple(row: &Row, width: usize) -> Option<(usize, i128)> {
    row.terms()
        .next_back()
        .filter(|(column, _)| *column >= width)
}

fn without(row: &Row, column: usize) -> Row {
    let mut rest = row.clone();
    rest.set(column, 0);
    rest
}

/// The points of `kept` at which `row == 0` has no solution.
fn not_zero(kept: &Conjunction, row: &Row, width: usize) -> Checked<Vec<Conjunction>> {
    let Some((column, divisor)) = multiple(row, width) else {
        let (mut above, mut below) = (kept.clone(), kept.clone());
        above.add_inequality(row.offset(-1)?);
        below.add_inequality(row.complement()?);
        return Ok(vec![below, above]);
    };
    let divisor = divisor.abs();
    let mut between = kept.clone();
    let times = between.add_existential();
    let rest = without(row, column);
    let remainder = rest.combined(1, &Row::column(times), -divisor)?;
    between.add_inequality(remainder.offset(-1)?);
    between.add_inequality(remainder.complement()?.offset(divisor)?);
    Ok(vec![between])
}

fn add_zero(kept: &mut Conjunction, row: &Row, width: usize) -> Checked<()> {
    match multiple(row, width) {
        Some((column, divisor)) => kept.add_multiple(&without(row, column), divisor.abs()),
        None => {
            kept.add_equality(row.clone());
            Ok(())
        }
    }
}

/// Drops the inequalities that follow from the other rows.
pub(super) fn drop_implied(conjunction: &mut Conjunction, budget: &mut Budget) -> Checked<()> {
    let mut position = 0;
    while position < conjunction.inequalities().len() {
        let row = conjunction.system.inequalities.remove(position);
        let mut broken = conjunction.clone();
        broken.add_inequality(row.complement()?);
        if !broken.is_empty(budget)? {
            conjunction.system.inequalities.insert(position, row);
            position += 1;
        }
    }
    Ok(())
}
