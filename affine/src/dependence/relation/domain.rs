//! In which iterations an access happens: the loops and conditions around it.

use super::{Checked, End, MOST_CASES, Relation};
use crate::dependence::site::{Around, Level};
use crate::sets::{Conjunction, Row};
use crate::visit::Loop;
use crate::{AffineFor, Bound, Condition, IterId, Relation as Compares};

impl Relation<'_, '_> {
    /// The loops and conditions around one end.
    pub(super) fn domain(&mut self, end: End) -> Checked<()> {
        let site = match end {
            End::Source => self.source,
            End::Sink => self.sink,
        };
        for around in &site.around {
            match around {
                Around::Level(Level::Loop(Loop::Affine(affine))) => {
                    self.affine_loop(end, affine)?
                }
                Around::Level(Level::Loop(Loop::Forall(forall))) => {
                    let iter = self.row(end, &forall.iter.into())?;
                    let below = self.row(end, &forall.count)?.minus(&iter)?.offset(-1)?;
                    self.each(|it| {
                        it.add_inequality(iter.clone());
                        it.add_inequality(below.clone());
                    });
                }
                Around::Level(Level::Loop(Loop::Scf(scf))) => {
                    self.is_exact = false;
                    self.read_bounds(end, scf.iter)?;
                }
                Around::Level(Level::While(_)) | Around::Data(..) => self.is_exact = false,
                Around::Affine { conditions, holds } => {
                    self.conditions(end, conditions, *holds)?;
                }
            }
        }
        Ok(())
    }

    fn affine_loop(&mut self, end: End, affine: &AffineFor) -> Checked<()> {
        let iter = self.row(end, &affine.iter.into())?;
        for upper in &affine.upper.0 {
            let below = self.row(end, upper)?.minus(&iter)?.offset(-1)?;
            self.each(|it| it.add_inequality(below.clone()));
        }
        let mut above = Vec::new();
        for lower in &affine.lower.0 {
            let distance = iter.minus(&self.row(end, lower)?)?;
            self.each(|it| it.add_inequality(distance.clone()));
            above.push(distance);
        }
        if affine.step > 1 {
            self.steps(&affine.lower, &above, affine.step.into())?;
        }
        Ok(())
    }

    /// The iterator lies whole steps `above` the greatest of its lower bounds.
    fn steps(&mut self, lower: &Bound, above: &[Row], step: i128) -> Checked<()> {
        if lower.0.len() * self.cases.len() > MOST_CASES {
            self.is_exact = false;
            return Ok(());
        }
        let mut cases = Vec::new();
        for greatest in above {
            for case in &self.cases {
                let mut case = case.clone();
                case.add_multiple(greatest, step)?;
                for other in above {
                    case.add_inequality(other.minus(greatest)?);
                }
                cases.push(case);
            }
        }
        self.cases = cases;
        Ok(())
    }

    /// `rowptr[i] <= p < rowptr[i + 1]`
    fn read_bounds(&mut self, end: End, iter: IterId) -> Checked<()> {
        let Some([(lower, _), (upper, _)]) = self.frame.rows.get(&iter) else {
            return Ok(());
        };
        let (lower, upper) = (self.element(end, lower), self.element(end, upper));
        let iter = self.row(end, &iter.into())?;
        let (above, below) = (iter.minus(&lower)?, upper.minus(&iter)?.offset(-1)?);
        self.each(|it| {
            it.add_inequality(above.clone());
            it.add_inequality(below.clone());
        });
        Ok(())
    }

    fn conditions(&mut self, end: End, conditions: &[Condition], holds: bool) -> Checked<()> {
        let mut differences = Vec::new();
        for condition in conditions {
            let left = self.row(end, &condition.left)?;
            let difference = self.row(end, &condition.right)?.minus(&left)?;
            differences.push((difference, condition.relation));
        }
        if holds {
            for (difference, relation) in differences {
                for case in &mut self.cases {
                    keep(case, &difference, relation)?;
                }
            }
            return Ok(());
        }
        if 2 * differences.len() * self.cases.len() > MOST_CASES {
            self.is_exact = false;
            return Ok(());
        }
        let mut cases = Vec::new();
        for case in std::mem::take(&mut self.cases) {
            let mut so_far = case;
            for (difference, relation) in &differences {
                for row in broken(difference, *relation)? {
                    let mut case = so_far.clone();
                    case.add_inequality(row);
                    cases.push(case);
                }
                keep(&mut so_far, difference, *relation)?;
            }
        }
        self.cases = cases;
        Ok(())
    }
}

fn keep(case: &mut Conjunction, difference: &Row, relation: Compares) -> Checked<()> {
    match relation {
        Compares::LessOrEqual => case.add_inequality(difference.clone()),
        Compares::Less => case.add_inequality(difference.offset(-1)?),
        Compares::Equal => case.add_equality(difference.clone()),
    }
    Ok(())
}

/// Rows of which one is not negative where the condition does not hold.
fn broken(difference: &Row, relation: Compares) -> Checked<Vec<Row>> {
    let below = difference.scaled(-1)?;
    Ok(match relation {
        Compares::LessOrEqual => vec![below.offset(-1)?],
        Compares::Less => vec![below],
        Compares::Equal => vec![below.offset(-1)?, difference.offset(-1)?],
    })
}
