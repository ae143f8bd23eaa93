//! What holds in every call of a kernel that begins.

use super::analyzed::Analyzed;
use super::frame::Fact;
use super::relation::{Checked, End, Relation};
use super::site::{Site, Target};
use crate::sets::{Budget, Conjunction, Row, Solved};
use crate::{AffineExpr, Factor, Subscript, Variable};

/// How much work one question may take, in rows.
const ROWS: u64 = 10_000;

impl<'k> Analyzed<'k> {
    /// Whether `expr`, over parameters alone, is at least 0 in every call. `false` where nobody
    /// could tell.
    pub fn is_never_negative(&self, expr: &AffineExpr) -> bool {
        let mut calls = Conjunction::universe(self.frame.parameters.len());
        for fact in &self.frame.facts {
            match fact {
                Fact::Zero(row) => calls.add_equality(row.clone()),
                Fact::NotNegative(row) => calls.add_inequality(row.clone()),
            }
        }
        let Ok(Some(row)) = self.row_of_parameters(&mut calls, expr) else {
            return false;
        };
        let Ok(below) = row.scaled(-1).and_then(|it| it.offset(-1)) else {
            return false;
        };
        calls.add_inequality(below);
        calls.is_empty(&mut Budget::new(ROWS)) == Ok(true)
    }

    fn row_of_parameters(
        &self,
        calls: &mut Conjunction,
        expr: &AffineExpr,
    ) -> Checked<Option<Row>> {
        let mut row = Row::from(i128::from(expr.constant()));
        for term in expr.terms() {
            let value = match term.factors.as_slice() {
                [Factor::Variable(Variable::Param(id))] => {
                    self.frame.parameters.get(id).map(|it| Row::column(*it))
                }
                [Factor::FloorDiv(inner, divisor)] => match divisor.as_constant() {
                    Some(divisor @ 1..) => match self.row_of_parameters(calls, inner)? {
                        Some(inner) => {
                            Some(Row::column(calls.add_quotient(&inner, divisor.into())?))
                        }
                        None => None,
                    },
                    _ => None,
                },
                _ => None,
            };
            let Some(value) = value else {
                return Ok(None);
            };
            row = row.combined(1, &value, term.coefficient.into())?;
        }
        Ok(Some(row))
    }

    /// Whether `expr`, over parameters and the iterators around `site`, is at least 0 whenever
    /// `site` happens. `false` where nobody could tell.
    pub fn is_never_negative_at(&self, site: &Site<'k>, expr: &AffineExpr) -> bool {
        self.may_be_negative_at(site, expr).is_ok_and(|may| !may)
    }

    fn may_be_negative_at(&self, site: &Site<'k>, expr: &AffineExpr) -> Checked<bool> {
        let mut relation = Relation::alone(&self.frame, site)?;
        let row = relation.row(End::Source, expr)?;
        is_possible(&relation, &[row.scaled(-1)?.offset(-1)?])
    }

    /// Whether an access to an element is one inside of the array whenever it happens. `false`
    /// where nobody could tell.
    pub fn stays_in_range(&self, site: &Site<'k>) -> bool {
        self.may_leave(site).is_ok_and(|may| !may)
    }

    fn may_leave(&self, site: &Site<'k>) -> Checked<bool> {
        let (Target::Array(array), Some(access)) = (site.target, site.access) else {
            return Ok(matches!(site.target, Target::Array(_)));
        };
        let mut relation = Relation::alone(&self.frame, site)?;
        let extents = &self.kernel().arrays[array].extents;
        let mut outside = Vec::new();
        for (subscript, extent) in access.subscripts.iter().zip(extents) {
            let Subscript::Affine(subscript) = subscript else {
                return Ok(true);
            };
            let index = relation.row(End::Source, subscript)?;
            let extent = relation.row(End::Source, extent)?;
            outside.push(index.scaled(-1)?.offset(-1)?);
            outside.push(index.minus(&extent)?);
        }
        is_possible(&relation, &outside)
    }
}

/// Whether one of `rows` is not negative at a point of `relation`.
fn is_possible(relation: &Relation<'_, '_>, rows: &[Row]) -> Checked<bool> {
    let mut budget = Budget::new(ROWS);
    for case in &relation.cases {
        let Some(solved) = Solved::of(case, &mut budget)? else {
            continue;
        };
        for row in rows {
            if solved.with_inequality(row)?.sample(&mut budget)?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
