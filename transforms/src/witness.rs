//! Witnesses: two iterations that meet, found by running the kernel at small sizes.

use crate::concrete::{Runs, Touch};
use std::collections::{HashMap, HashSet};
use strew_affine::dependence::{Contents, Witness};
use strew_affine::interpret::{Argument, Touched};
use strew_affine::visit::AccessKind;
use strew_affine::{ArrayId, IterId, Kernel, LocalId, Parameter, Span, Type, Value, Variable};

/// What an analysis of `kernel` found, with contents of arrays with which a run of it does that: it
/// may fail before.
pub(crate) fn confirmed(kernel: &Kernel, found: &Witness) -> Option<Witness> {
    let each = [Contents::Zeros, Contents::Positions].into_iter();
    let mut witnesses = each.map(|contents| Witness {
        contents,
        ..found.clone()
    });
    witnesses.find(|witness| holds(kernel, witness))
}

/// Two accesses of one cell in one run of the loop, the source no later than the sink.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'t> {
    pub(crate) source: &'t Touch,
    pub(crate) sink: &'t Touch,
    target: IterId,
}

impl Ends<'_> {
    pub(crate) fn either(&self, holds: impl Fn(&Touch) -> bool) -> bool {
        holds(self.source) || holds(self.sink)
    }

    pub(crate) fn both(&self, holds: impl Fn(&Touch) -> bool) -> bool {
        holds(self.source) && holds(self.sink)
    }

    pub(crate) fn are_same(&self) -> bool {
        std::ptr::eq(self.source, self.sink)
    }

    pub(crate) fn are_in_different_iterations(&self) -> bool {
        value_at(self.source, self.target) != value_at(self.sink, self.target)
    }
}

fn value_at(touch: &Touch, target: IterId) -> Option<i64> {
    let bound = touch.iteration.iter().find(|(iter, _)| *iter == target);
    bound.map(|(_, value)| *value)
}

/// How an end of a witness touches its cell, and where that stands in the source.
pub(crate) type End = (AccessKind, Span);

/// A witness in `array` within the loop over `target` whose ends are as `wanted`.
pub(crate) fn find(
    kernel: &Kernel,
    target: IterId,
    array: ArrayId,
    wanted: impl Fn(Ends<'_>) -> bool,
) -> Option<Witness> {
    find_ends(kernel, target, array, wanted).map(|(_, _, witness)| witness)
}

/// The same, with its ends.
pub(crate) fn find_ends(
    kernel: &Kernel,
    target: IterId,
    array: ArrayId,
    wanted: impl Fn(Ends<'_>) -> bool,
) -> Option<(End, End, Witness)> {
    search(kernel, target, Touched::Array(array), &wanted)
}

/// A witness that two iterations of the loop over `target` meet in `local`.
pub(crate) fn find_scalar(kernel: &Kernel, target: IterId, local: LocalId) -> Option<Witness> {
    let wanted = |ends: Ends<'_>| {
        ends.are_in_different_iterations() && ends.either(|end| end.kind != AccessKind::Read)
    };
    let found = search(kernel, target, Touched::Local(local), &wanted);
    found.map(|(_, _, witness)| witness)
}

/// A run in which the loop over `target` writes cells of `array`, but not all: the witness is the
/// first write.
pub(crate) fn find_uncovered(kernel: &Kernel, target: IterId, array: ArrayId) -> Option<Witness> {
    let mut runs = Runs::of(kernel)?;
    trials(kernel).find_map(|trial| trial.uncovered(target, array, &mut runs))
}

/// A write to `watched` in the loop over `target`, and a read of what it left: in another iteration
/// of that, or behind the loop; with where the write stands. `lives_on` says that `watched` is not
/// made anew by a loop around.
pub(crate) fn find_left(
    kernel: &Kernel,
    target: IterId,
    watched: Touched,
    (reader, lives_on): (Reader, bool),
) -> Option<(Span, Witness)> {
    let mut runs = Runs::of(kernel)?;
    trials(kernel).find_map(|trial| {
        let touches = runs.touches(trial.arguments()?, None, watched)?;
        let mut written: HashMap<&[i64], &Touch> = HashMap::new();
        for sink in &touches {
            let last = written.get(sink.cell.as_slice()).copied();
            if let Some(source) = last.filter(|_| sink.kind != AccessKind::Write)
                && reader.reads(target, source, sink, lives_on)
            {
                let ends = Ends {
                    source,
                    sink,
                    target,
                };
                return Some((source.span, trial.witness(ends, watched).2));
            }
            if sink.kind != AccessKind::Read {
                written.insert(&sink.cell, sink);
            }
        }
        None
    })
}

/// Who reads what an iteration left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Another iteration of the loop.
    Iteration,
    /// What comes behind the loop.
    Rest,
}

impl Reader {
    fn reads(self, target: IterId, source: &Touch, sink: &Touch, lives_on: bool) -> bool {
        let Some(depth) = depth_of(source, target) else {
            return false;
        };
        let is_same_run = source.iteration.get(..depth) == sink.iteration.get(..depth);
        (is_same_run || lives_on)
            && match (self, depth_of(sink, target)) {
                (Self::Iteration, Some(_)) => {
                    source.iteration.get(..=depth) != sink.iteration.get(..=depth)
                }
                (Self::Rest, None) => true,
                _ => false,
            }
    }
}

fn depth_of(touch: &Touch, target: IterId) -> Option<usize> {
    touch.iteration.iter().position(|(iter, _)| *iter == target)
}

/// Small sizes first: the smaller the example, the easier it is to follow.
const SIZES: [i64; 7] = [2, 3, 4, 8, 16, 1, 32];
/// What the `k`-th parameter is larger by than the one before it.
const GROWTHS: [i64; 2] = [0, 1];
/// How many touches of a cell later ones are compared with.
const MOST_EARLIER: usize = 64;
const MOST_ELEMENTS: i64 = 1 << 16;

fn search(
    kernel: &Kernel,
    target: IterId,
    watched: Touched,
    wanted: &dyn Fn(Ends<'_>) -> bool,
) -> Option<(End, End, Witness)> {
    let mut runs = Runs::of(kernel)?;
    trials(kernel).find_map(|trial| trial.search(target, watched, wanted, &mut runs))
}

fn trials(kernel: &Kernel) -> impl Iterator<Item = Trial<'_>> {
    GROWTHS.into_iter().flat_map(move |growth| {
        SIZES.into_iter().flat_map(move |size| {
            let each = [Contents::Zeros, Contents::Positions].into_iter();
            each.map(move |contents| Trial {
                kernel,
                sizes: sizes(kernel, size, growth),
                contents,
            })
        })
    })
}

/// One choice of parameters and contents.
struct Trial<'k> {
    kernel: &'k Kernel,
    /// Of the scalar parameters, in their order.
    sizes: Vec<i64>,
    contents: Contents,
}

fn sizes(kernel: &Kernel, size: i64, growth: i64) -> Vec<i64> {
    let scalars = kernel.params.iter();
    let scalars = scalars.filter(|it| matches!(it, Parameter::Scalar(_)));
    let each = scalars
        .zip(0..)
        .map(|(_, position)| size + growth * position);
    each.collect()
}

impl Trial<'_> {
    fn search(
        &self,
        target: IterId,
        watched: Touched,
        wanted: &dyn Fn(Ends<'_>) -> bool,
        runs: &mut Runs,
    ) -> Option<(End, End, Witness)> {
        let touches = runs.touches(self.arguments()?, Some(target), watched)?;
        let mut cells: HashMap<(usize, &[i64]), Vec<&Touch>> = HashMap::new();
        let mut apart = None;
        let mut together = None;
        for sink in &touches {
            let earlier = cells.entry((sink.entry, sink.cell.as_slice())).or_default();
            let ends = |source| Ends {
                source,
                sink,
                target,
            };
            let all = || earlier.iter().copied().chain([sink]).map(ends);
            let met = all().find(|ends| wanted(*ends) && ends.are_in_different_iterations());
            apart = met.map(|ends| self.witness(ends, watched));
            if apart.is_some() {
                break;
            }
            if together.is_none() {
                let met = all().find(|ends| wanted(*ends));
                together = met.map(|ends| self.witness(ends, watched));
            }
            if earlier.len() < MOST_EARLIER {
                earlier.push(sink);
            }
        }
        apart.or(together)
    }

    fn uncovered(&self, target: IterId, array: ArrayId, runs: &mut Runs) -> Option<Witness> {
        let elements = usize::try_from(self.elements(array)?).ok()?;
        let watched = Touched::Array(array);
        let touches = runs.touches(self.arguments()?, Some(target), watched)?;
        let first = touches.first()?;
        let in_one_entry = touches.iter().filter(|touch| touch.entry == first.entry);
        let cells: HashSet<&[i64]> = in_one_entry.map(|touch| touch.cell.as_slice()).collect();
        let ends = Ends {
            source: first,
            sink: first,
            target,
        };
        (cells.len() < elements).then(|| self.witness(ends, watched).2)
    }

    fn scalars(&self) -> impl Iterator<Item = (strew_affine::ScalarId, Value)> + '_ {
        let ids = self.kernel.params.iter().filter_map(|param| match param {
            Parameter::Scalar(scalar) => Some(*scalar),
            Parameter::Array(_) | Parameter::Record(_) => None,
        });
        ids.zip(&self.sizes).map(|(scalar, size)| {
            let ty = self.kernel.scalars[scalar].ty;
            let value = if ty.is_float() {
                Value::float(ty, 1.0)
            } else {
                Value::integer(ty, i128::from(*size))
            };
            (scalar, value)
        })
    }

    fn parameters(&self) -> Vec<(String, i64)> {
        let integers = self.scalars().filter_map(|(scalar, value)| {
            let value = i64::try_from(value.as_integer()?).ok()?;
            Some((self.kernel.scalars[scalar].name.clone(), value))
        });
        integers.collect()
    }

    /// The arguments of a call, in order. Sizes that are inferred follow from the lengths of the
    /// arrays.
    fn arguments(&self) -> Option<Vec<Argument>> {
        let cells = |array: &ArrayId| {
            let element = self.kernel.arrays[*array].element;
            Some(self.filled(element, self.elements(*array)?))
        };
        let values: HashMap<_, _> = self.scalars().collect();
        let argument = |param: Parameter| match param {
            Parameter::Scalar(scalar) => values.get(&scalar).copied().map(Argument::Scalar),
            Parameter::Array(array) => cells(&array).map(Argument::Array),
            Parameter::Record(record) => {
                let fields = self.kernel.records[record].fields.iter();
                fields
                    .map(cells)
                    .collect::<Option<_>>()
                    .map(Argument::Record)
            }
        };
        self.kernel.passed_params().map(argument).collect()
    }

    /// The number of elements of an array, if there are not too many.
    fn elements(&self, array: ArrayId) -> Option<i64> {
        let values: HashMap<_, _> = self.scalars().collect();
        let value_of = |variable| match variable {
            Variable::Param(param) => values
                .get(&param)
                .and_then(|value| i64::try_from(value.as_integer()?).ok())
                .unwrap_or_default(),
            Variable::Iter(_) => 0,
        };
        let mut extents = self.kernel.arrays[array].extents.iter();
        extents.try_fold(1_i64, |product, extent| {
            let extent = extent.evaluate(&value_of).ok();
            let product = product.checked_mul(extent.filter(|it| *it >= 0)?);
            product.filter(|elements| *elements <= MOST_ELEMENTS)
        })
    }

    fn filled(&self, ty: Type, elements: i64) -> Vec<Value> {
        let value = |position: i64| match self.contents {
            Contents::Any | Contents::Zeros => Value::zero(ty),
            Contents::Positions if ty.is_float() => Value::float(ty, position as f64),
            Contents::Positions => Value::integer(ty, i128::from(position)),
        };
        (0..elements).map(value).collect()
    }

    fn witness(&self, ends: Ends<'_>, watched: Touched) -> (End, End, Witness) {
        let iteration = |touch: &Touch| {
            let named = touch.iteration.iter();
            named
                .map(|(iter, value)| (self.kernel.iters[*iter].name.clone(), *value))
                .collect()
        };
        let array = match watched {
            Touched::Array(array) => self.kernel.arrays[array].name.clone(),
            Touched::Local(local) => self.kernel.locals[local].name.clone(),
        };
        let witness = Witness {
            parameters: self.parameters(),
            contents: self.contents,
            source: iteration(ends.source),
            sink: iteration(ends.sink),
            array,
            cell: ends.sink.cell.clone(),
        };
        (
            (ends.source.kind, ends.source.span),
            (ends.sink.kind, ends.sink.span),
            witness,
        )
    }
}

/// Whether both ends touch the cell, the source no later than the sink, when the kernel runs on
/// what the witness says.
pub(crate) fn holds(kernel: &Kernel, witness: &Witness) -> bool {
    let Some(touches) = replayed(kernel, witness) else {
        return false;
    };
    let is_at = |touch: &Touch, iteration: &[(String, i64)]| {
        let here = touch.iteration.iter();
        let here = here.map(|(iter, value)| (kernel.iters[*iter].name.as_str(), *value));
        let given = iteration.iter();
        let given = given.map(|(name, value)| (name.as_str(), *value));
        here.eq(given) && touch.cell == witness.cell
    };
    let source = touches.iter().position(|it| is_at(it, &witness.source));
    let sink = touches.iter().rposition(|it| is_at(it, &witness.sink));
    source.is_some() && source <= sink
}

/// The accesses of the run that `witness` is about to what it is about; `None` if it fails.
fn replayed(kernel: &Kernel, witness: &Witness) -> Option<Vec<Touch>> {
    let scalars = kernel.params.iter().filter_map(|param| match param {
        Parameter::Scalar(scalar) => Some(&kernel.scalars[*scalar].name),
        Parameter::Array(_) | Parameter::Record(_) => None,
    });
    let size_of = |name: &String| {
        let mut given = witness.parameters.iter();
        given
            .find(|(it, _)| it == name)
            .map_or(1, |(_, value)| *value)
    };
    let trial = Trial {
        kernel,
        sizes: scalars.map(size_of).collect(),
        contents: witness.contents,
    };
    let array = kernel
        .arrays
        .iter()
        .find(|(_, array)| array.name == witness.array);
    let local = kernel
        .locals
        .iter()
        .find(|(_, local)| local.name == witness.array);
    let watched = array
        .map(|(array, _)| Touched::Array(array))
        .or(local.map(|(local, _)| Touched::Local(local)))?;
    Runs::of(kernel)?.touches(trial.arguments()?, None, watched)
}
