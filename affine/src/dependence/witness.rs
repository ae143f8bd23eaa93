//! Witnesses: parameters and two iterations in which accesses meet, each checked against the kernel
//! itself.

use super::frame::Frame;
use super::site::{Around, Level, Site, Target};
use crate::visit::{Loop, accesses};
use crate::{AffineExpr, AffineFor, IterId, ScalarId, Subscript, Variable};
use std::collections::HashMap;
use std::fmt;

/// What every array holds before the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contents {
    /// Anything: nothing that is read decides where the two meet.
    Any,
    /// Zeros.
    Zeros,
    /// Each element its own position, counted row by row from 0.
    Positions,
}

/// Two iterations that meet in a cell when a kernel runs with these parameters and contents of
/// arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The scalar parameters that are integers, by name, in the order of their declaration. Floats
    /// are 1.
    pub parameters: Vec<(String, i64)>,
    /// What the arrays hold at first.
    pub contents: Contents,
    /// The iteration that comes first: the iterators of the loops around the access, outermost
    /// first.
    pub source: Vec<(String, i64)>,
    /// The iteration that comes second, or the same one.
    pub sink: Vec<(String, i64)>,
    /// The array, or the scalar, that they meet in.
    pub array: String,
    /// The subscripts; none for a scalar.
    pub cell: Vec<i64>,
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            parameters,
            source,
            sink,
            array,
            cell,
            ..
        } = self;
        f.write_str("for example ")?;
        if !parameters.is_empty() {
            write!(f, "with {} ", assignments(parameters))?;
        }
        match self.contents {
            Contents::Any => {}
            Contents::Zeros => f.write_str("and arrays of zeros ")?,
            Contents::Positions => f.write_str("and arrays that hold 0, 1, 2, … ")?,
        }
        let subscripts: String = cell.iter().map(|index| format!("[{index}]")).collect();
        if source == sink {
            write!(
                f,
                "iteration ({}) reaches {array}{subscripts}",
                assignments(source)
            )
        } else if sink.is_empty() {
            write!(
                f,
                "iteration ({}) and what follows its loop meet in {array}{subscripts}",
                assignments(source)
            )
        } else {
            let (source, sink) = (assignments(source), assignments(sink));
            write!(
                f,
                "iterations ({source}) and ({sink}) meet in {array}{subscripts}"
            )
        }
    }
}

fn assignments(values: &[(String, i64)]) -> String {
    let each: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    each.join(", ")
}

impl Witness {
    /// The witness, if both accesses happen there and touch one cell: what is found in relations
    /// that leave something open need not. The array may be longer than these parameters say, where
    /// its length is one of its own.
    pub(super) fn checked(
        frame: &Frame<'_>,
        ends: [&Site<'_>; 2],
        parameters: HashMap<ScalarId, i64>,
        values: [Vec<i64>; 2],
    ) -> Option<Self> {
        let longer = with_room(frame, ends, &parameters, &values);
        Self::at(frame, ends, parameters, values.clone())
            .or_else(|| Self::at(frame, ends, longer?, values))
    }

    fn at(
        frame: &Frame<'_>,
        ends: [&Site<'_>; 2],
        parameters: HashMap<ScalarId, i64>,
        values: [Vec<i64>; 2],
    ) -> Option<Self> {
        let [first, second] = values;
        let runs = [first, second].into_iter().zip(ends).map(|(values, site)| {
            let run = Run {
                frame,
                parameters: &parameters,
                values: named(site, &values)?,
            };
            let cell = run.cell(site)?;
            Some((run.values, cell))
        });
        let runs: Vec<_> = runs.collect::<Option<_>>()?;
        let [(source, cell), (sink, other)] = runs.try_into().ok()?;
        let call = Run {
            frame,
            parameters: &parameters,
            values: Vec::new(),
        };
        if cell != other || !call.is_accepted() {
            return None;
        }
        let kernel = frame.kernel;
        let mut parameters: Vec<_> = parameters.into_iter().collect();
        parameters.sort_by_key(|(id, _)| id.into_raw());
        let parameters = parameters.into_iter();
        let in_names = |values: Vec<(IterId, i64)>| {
            let values = values.into_iter();
            let in_names = values.map(|(iter, value)| (kernel.iters[iter].name.clone(), value));
            in_names.collect()
        };
        Some(Self {
            parameters: parameters
                .map(|(id, value)| (kernel.scalars[id].name.clone(), value))
                .collect(),
            contents: Contents::Any,
            source: in_names(source),
            sink: in_names(sink),
            array: ends[0].target.name(kernel).to_owned(),
            cell,
        })
    }

    /// The witness seen from the other end.
    pub(super) fn flipped(self) -> Self {
        Self {
            source: self.sink,
            sink: self.source,
            ..self
        }
    }
}

/// These parameters with the length of a flat array raised so that it has all elements that are
/// accessed in both iterations.
fn with_room(
    frame: &Frame<'_>,
    ends: [&Site<'_>; 2],
    parameters: &HashMap<ScalarId, i64>,
    values: &[Vec<i64>; 2],
) -> Option<HashMap<ScalarId, i64>> {
    let Target::Array(array) = ends[0].target else {
        return None;
    };
    let [extent] = frame.kernel.arrays[array].extents.as_slice() else {
        return None;
    };
    let Some(Variable::Param(length)) = extent.as_variable() else {
        return None;
    };
    let sites = accesses(frame.kernel);
    let sites = sites.iter().filter(|it| it.access.array == array);
    let mut needed = *parameters.get(&length)?;
    for (site, values) in ends.into_iter().zip(values) {
        let run = Run {
            frame,
            parameters,
            values: named(site, values)?,
        };
        for subscript in sites.clone().flat_map(|it| &it.access.subscripts) {
            if let Subscript::Affine(expr) = subscript {
                needed = needed.max(run.value(expr)?.checked_add(1)?);
            }
        }
    }
    let mut longer = parameters.clone();
    longer.insert(length, needed);
    Some(longer)
}

/// The iterators with their values; turns of an `scf.while` have no name.
fn named(site: &Site<'_>, values: &[i64]) -> Option<Vec<(IterId, i64)>> {
    let named = site
        .levels()
        .zip(values)
        .map(|(level, value)| Some((level.iter()?, *value)));
    named.collect()
}

/// One iteration of a run.
struct Run<'a, 'k> {
    frame: &'a Frame<'k>,
    parameters: &'a HashMap<ScalarId, i64>,
    values: Vec<(IterId, i64)>,
}

impl Run<'_, '_> {
    fn value(&self, expr: &AffineExpr) -> Option<i64> {
        let found = expr.evaluate(&|variable| match variable {
            Variable::Param(id) => self.parameters.get(&id).copied().unwrap_or(0),
            Variable::Iter(iter) => {
                let found = self.values.iter().find(|(known, _)| *known == iter);
                found.map_or(0, |(_, value)| *value)
            }
        });
        found.ok()
    }

    /// The cell that the access touches here, if it happens.
    fn cell(&self, site: &Site<'_>) -> Option<Vec<i64>> {
        if !site.around.iter().all(|it| self.is_inside(it)) {
            return None;
        }
        let subscripts = match (site.target, site.access) {
            (Target::Local(_), _) => &[],
            (Target::Array(_), access) => access?.subscripts.as_slice(),
        };
        let cell = subscripts.iter().map(|it| match it {
            Subscript::Affine(expr) => self.value(expr),
            Subscript::Computed(_) => None,
        });
        let cell: Vec<i64> = cell.collect::<Option<_>>()?;
        let in_range = match site.target {
            Target::Local(_) => true,
            Target::Array(array) => {
                let extents = self.frame.kernel.arrays[array].extents.iter();
                cell.iter().zip(extents).all(|(index, extent)| {
                    *index >= 0 && self.value(extent).is_some_and(|it| *index < it)
                })
            }
        };
        in_range.then_some(cell)
    }

    fn is_inside(&self, around: &Around<'_>) -> bool {
        match around {
            Around::Level(Level::Loop(Loop::Affine(affine))) => {
                self.is_iteration(affine).unwrap_or(false)
            }
            Around::Level(Level::Loop(Loop::Forall(forall))) => {
                let iter = self.value(&forall.iter.into());
                let count = self.value(&forall.count);
                iter.zip(count)
                    .is_some_and(|(iter, count)| (0..count).contains(&iter))
            }
            Around::Level(Level::Loop(Loop::Scf(_)) | Level::While(_)) | Around::Data(..) => false,
            Around::Affine { conditions, holds } => {
                let all = conditions.iter().try_fold(true, |all, condition| {
                    let (left, right) =
                        (self.value(&condition.left)?, self.value(&condition.right)?);
                    Some(all && condition.relation.holds(left, right))
                });
                all == Some(*holds)
            }
        }
    }

    fn is_iteration(&self, affine: &AffineFor) -> Option<bool> {
        let iter = self.value(&affine.iter.into())?;
        let all = |bound: &crate::Bound| -> Option<Vec<i64>> {
            bound.0.iter().map(|it| self.value(it)).collect()
        };
        let lower = all(&affine.lower)?.into_iter().max()?;
        let upper = all(&affine.upper)?.into_iter().min()?;
        let steps = iter.checked_sub(lower)?.checked_rem(affine.step)?;
        Some(lower <= iter && iter < upper && steps == 0)
    }

    /// Whether a call with these parameters begins.
    fn is_accepted(&self) -> bool {
        let kernel = self.frame.kernel;
        let fits = self.parameters.iter().all(|(id, value)| {
            let range = kernel.scalars[*id].ty.integer_range();
            range.is_some_and(|(least, most)| (least..=most).contains(&i128::from(*value)))
        });
        let mut extents = kernel
            .array_params()
            .flat_map(|it| &kernel.arrays[it].extents);
        let value_of = |id: ScalarId| self.parameters.get(&id).copied();
        fits && extents.all(|it| self.value(it).is_some_and(|it| it >= 0))
            && kernel.broken_assumption(&value_of).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_witness_reads_as_a_sentence() {
        let named = |name: &str, value| vec![(name.to_owned(), value)];
        let witness = Witness {
            parameters: named("n", 2),
            contents: Contents::Zeros,
            source: named("i", 0),
            sink: named("i", 1),
            array: "out".to_owned(),
            cell: vec![0, 3],
        };
        let text = "for example with n = 2 and arrays of zeros iterations (i = 0) and (i = 1) meet in out[0][3]";
        assert_eq!(witness.to_string(), text);
    }
}
