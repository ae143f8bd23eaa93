//! What the tests of the steps share: kernels from text, and the question whether two kernels mean
//! the same.

use crate::witness;
use crate::{Reason, Schedule, Verdict};
use strew_affine::dependence::Witness;
use strew_affine::interpret::{Argument, FaultKind, ForallOrder, Stop, interpret};
use strew_affine::verify::{Verified, verify};
use strew_affine::{AffineExpr, ArrayId, Kernel, Parameter, StdMath, Type, Value, Variable, text};

const FUEL: u64 = 1 << 20;

/// The only kernel of `source`.
#[track_caller]
pub(crate) fn kernel(source: &str) -> Verified {
    match text::parse(source) {
        Ok(kernels) => verified(kernels.into_iter().next().expect("a kernel")),
        Err(errors) => panic!("{errors:?}"),
    }
}

/// `script` turns `before` into `after`, and both mean the same.
#[track_caller]
pub(crate) fn accepts(before: &str, script: &str, after: &str) {
    let before = kernel(before);
    let result = apply(&before, script);
    assert_eq!(result.to_string().trim(), kernel(after).to_string().trim());
    assert_same_meaning(&before, &result);
}

/// The kernel after `script`, which must be accepted.
#[track_caller]
pub(crate) fn apply(kernel: &Verified, script: &str) -> Verified {
    let schedule: Schedule = script.parse().expect("a schedule");
    match schedule.apply(kernel, &mut ()) {
        Ok(after) => after,
        Err(refused) => panic!("{refused}"),
    }
}

/// `script` is refused for the reason called `name`; a witness is replayed.
#[track_caller]
pub(crate) fn refuses(source: &str, script: &str, verdict: Verdict, name: &str) -> Reason {
    let reason = refused(source, script);
    assert_eq!(reason.name(), name, "{reason}");
    assert_eq!(reason.verdict(), verdict, "{reason}");
    reason
}

/// Why `script` is refused; a witness is replayed.
#[track_caller]
pub(crate) fn refused(source: &str, script: &str) -> Reason {
    let kernel = kernel(source);
    let schedule: Schedule = script.parse().expect("a schedule");
    let refused = schedule.apply(&kernel, &mut ()).expect_err("a refusal");
    assert!(refused.is_replayed(), "{}", refused.reason);
    refused.reason
}

/// What is suggested where `script` is refused: if it is a schedule, it is accepted.
#[track_caller]
pub(crate) fn suggestion(source: &str, script: &str) -> Option<String> {
    let kernel = kernel(source);
    let schedule: Schedule = script.parse().expect("a schedule");
    let refused = schedule.apply(&kernel, &mut ()).expect_err("a refusal");
    let suggestion = refused.try_next()?;
    if let Ok(steps) = suggestion.parse::<Schedule>() {
        assert!(
            steps.apply(&refused.last_good, &mut ()).is_ok(),
            "{suggestion}"
        );
    }
    Some(suggestion)
}

/// Both ends of the witness touch its cell, the source no later than the sink, when the kernel runs
/// on the witness's inputs.
#[track_caller]
pub(crate) fn replay(kernel: &Kernel, witness: &Witness) {
    assert!(witness::holds(kernel, witness), "{witness}");
}

/// Both kernels give the same results, or both fail, on many inputs: where iterations changed their
/// order another one may fail first.
#[track_caller]
pub(crate) fn assert_same_results(before: &Verified, after: &Verified) {
    let kept = (0..24).filter(|seed| have_same_results(before, after, *seed));
    assert_eq!(
        kept.count(),
        24,
        "some inputs break what is assumed:\n{after}"
    );
}

/// Both kernels give the same results, or both fail, on those of many inputs that keep what the
/// second one assumes.
#[track_caller]
pub(crate) fn assert_same_where_assumed(before: &Verified, after: &Verified) {
    let kept = (0..64).filter(|seed| have_same_results(before, after, *seed));
    assert!(
        kept.count() > 8,
        "few inputs keep what is assumed:\n{after}"
    );
}

/// The same for one input; `false` if that breaks what the second kernel assumes and the first does
/// not.
#[track_caller]
fn have_same_results(before: &Verified, after: &Verified, seed: i64) -> bool {
    let arguments = arguments(before, seed);
    let (mut expected, mut found) = (arguments.clone(), arguments);
    let order = ForallOrder::Backward;
    let expected_end = interpret(before, &mut expected, FUEL, order, &StdMath);
    let found_end = interpret(after, &mut found, FUEL, order, &StdMath);
    match (expected_end, found_end) {
        (Err(Stop::Fault(_)), Err(Stop::Fault(_))) => {}
        (_, Err(Stop::Fault(fault))) if is_assumption(&fault.kind) => return false,
        (expected_end, found_end) => {
            assert_eq!(found_end, expected_end, "seed {seed}:\n{after}");
            assert_eq!(found, expected, "seed {seed}:\n{after}");
        }
    }
    true
}

fn is_assumption(kind: &FaultKind) -> bool {
    matches!(kind, FaultKind::Assumption { .. })
}

/// Both kernels give the same results, or stop at the same fault, on many inputs.
#[track_caller]
pub(crate) fn assert_same_meaning(before: &Verified, after: &Verified) {
    for seed in 0..24 {
        let arguments = arguments(before, seed);
        for order in [ForallOrder::Forward, ForallOrder::Backward] {
            let (mut expected, mut found) = (arguments.clone(), arguments.clone());
            let expected_end =
                interpret(before, &mut expected, FUEL, order, &StdMath).map_err(place_of);
            let found_end = interpret(after, &mut found, FUEL, order, &StdMath).map_err(place_of);
            // Run backwards, a forall may meet another fault than the first.
            if order == ForallOrder::Forward || expected_end.is_ok() {
                assert_eq!(found_end, expected_end, "seed {seed}:\n{after}");
            }
            assert_eq!(found, expected, "seed {seed}:\n{after}");
        }
    }
}

#[track_caller]
pub(crate) fn verified(kernel: Kernel) -> Verified {
    verify(kernel).expect("a verified kernel")
}

/// A stop without the names of iterators and private buffers, which are the schedule's business.
fn place_of(stop: Stop) -> Stop {
    match stop {
        Stop::Fault(mut fault) => {
            fault.iteration.clear();
            if let FaultKind::OutOfRange { array, .. } = &mut fault.kind {
                array.clear();
            }
            Stop::Fault(fault)
        }
        other => other,
    }
}

/// Sizes from -2 on, indices that are out of range now and then, floats whose sums are exact.
pub(crate) fn arguments(kernel: &Kernel, seed: i64) -> Vec<Argument> {
    let mut random = Random(seed as u64);
    let size = |position: usize| match (seed % 4, position) {
        (0, _) | (_, 0) => seed / 3 - 2 * i64::from(seed == 0),
        _ => seed / 4 + 3,
    };
    let mut sizes = std::collections::HashMap::new();
    let mut position = 0;
    for param in &kernel.params {
        if let Parameter::Scalar(scalar) = param {
            let least_extent = kernel.array_params().any(|array| {
                kernel.arrays[array]
                    .extents
                    .contains(&AffineExpr::from(*scalar))
            });
            let size = if least_extent {
                size(position).max(0)
            } else {
                size(position)
            };
            sizes.insert(*scalar, size);
            position += 1;
        }
    }
    let value_of = |variable| match variable {
        Variable::Param(param) => sizes.get(&param).copied().unwrap_or_default(),
        Variable::Iter(_) => 0,
    };
    let mut cells = |array: ArrayId| -> Vec<Value> {
        let array = &kernel.arrays[array];
        let extents = array
            .extents
            .iter()
            .map(|extent| extent.evaluate(&value_of).unwrap_or(0));
        let bound = sizes.values().copied().min().unwrap_or(4).max(1);
        let slack = i64::from(seed % 5 == 4);
        (0..extents.product::<i64>().max(0))
            .map(|_| number(array.element, random.below(bound + slack)))
            .collect()
    };
    let mut argument = |param: &Parameter| match param {
        Parameter::Scalar(scalar) => {
            let ty = kernel.scalars[*scalar].ty;
            Argument::Scalar(number(ty, value_of(Variable::Param(*scalar))))
        }
        Parameter::Array(array) => Argument::Array(cells(*array)),
        Parameter::Record(record) => {
            let fields = kernel.records[*record].fields.iter();
            Argument::Record(fields.map(|field| cells(*field)).collect())
        }
    };
    kernel.passed_params().map(|it| argument(&it)).collect()
}

fn number(ty: Type, value: i64) -> Value {
    if ty.is_float() {
        Value::float(ty, value as f64)
    } else {
        Value::integer(ty, i128::from(value))
    }
}

/// Knuth's linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as i64).rem_euclid(bound.max(1))
    }
}
