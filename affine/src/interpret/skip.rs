use super::{Argument, FaultKind, ForallOrder, Machine, Oob, Stop};
use crate::verify::Verified;
use crate::{Elements, LocalId, Math, Node, Value};
use la_arena::ArenaMap;

/// What a run under [`Oob::Skip`] comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skipping {
    /// The result of the kernel, if it has one.
    pub result: Option<Value>,
    /// How many statements did nothing because of an index out of range: assignments, reductions,
    /// conditions and loops, each time it was their turn. Declarations, and what puts back a scalar
    /// that stands for an element, are not counted.
    pub skipped: u64,
}

/// As [`interpret`](super::interpret), but under [`Oob::Skip`].
///
/// # Errors
/// Those of [`interpret`](super::interpret), apart from an index out of range.
pub fn interpret_skipping(
    kernel: &Verified,
    arguments: &mut [Argument],
    fuel: u64,
    order: ForallOrder,
    math: &dyn Math,
) -> Result<Skipping, Stop> {
    let mut machine = Machine::new(kernel, arguments, fuel, order, math)?;
    machine.skips.policy = Oob::Skip;
    machine.skips.elements = Elements::of(kernel);
    let result = machine.run(arguments)?;
    Ok(Skipping {
        result,
        skipped: machine.skips.skipped,
    })
}

/// What was skipped, and what has no value because of that.
#[derive(Debug, Default)]
pub(super) struct Skips {
    policy: Oob,
    skipped: u64,
    elements: Elements,
    /// The declared scalars without a value, each with the fault that it has instead.
    without_value: ArenaMap<LocalId, Stop>,
}

impl Skips {
    /// # Errors
    /// The fault that `local` has instead of a value.
    pub(super) fn has_value(&self, local: LocalId) -> Result<(), Stop> {
        match self.without_value.get(local) {
            None => Ok(()),
            Some(fault) => Err(fault.clone()),
        }
    }

    /// What `threads()` is: more than one, so that what it keeps for several is done, but where
    /// indices are skipped.
    pub(super) fn threads(&self) -> i64 {
        match self.policy {
            Oob::Error => 2,
            Oob::Skip => 1,
        }
    }

    /// `local` has a value from now on.
    pub(super) fn set(&mut self, local: LocalId) {
        self.without_value.remove(local);
    }

    fn applies(&self, stop: &Stop) -> bool {
        let is_out_of_range = matches!(stop, Stop::Fault(fault) if matches!(fault.kind, FaultKind::OutOfRange { .. }));
        self.policy == Oob::Skip && is_out_of_range
    }
}

impl<'k> Machine<'k> {
    /// What `node` came to, `done` taken for nothing if it is an index out of range that is to be
    /// skipped. Those inside of the blocks of `node` were taken so already, so it is one in the
    /// node itself.
    pub(super) fn skipped(&mut self, node: &'k Node, done: Result<(), Stop>) -> Result<(), Stop> {
        match done {
            Err(stop) if self.skips.applies(&stop) => {
                if let Node::Declare { local, .. } = node {
                    self.skips.without_value.insert(*local, stop);
                } else if !self.skips.elements.is_put_back(node) {
                    self.skips.skipped += 1;
                }
                Ok(())
            }
            done => done,
        }
    }

    /// The result of the kernel, if it has one.
    pub(super) fn result(&mut self) -> Result<Option<Value>, Stop> {
        let Some(result) = &self.kernel.result else {
            return Ok(None);
        };
        match self.expr(result) {
            Err(stop) if self.skips.applies(&stop) => Ok(Some(Value::zero(result.ty(self.kernel)))),
            value => value.map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::verify;
    use crate::{StdMath, Type, text};

    fn integers(ty: Type, values: &[i64]) -> Argument {
        let cells = values.iter().map(|it| Value::integer(ty, (*it).into()));
        Argument::Array(cells.collect())
    }

    /// Runs `body` on keys, numbers and a result of their length, and gives the result and how much
    /// was skipped.
    #[track_caller]
    fn run(body: &str, key: &[i64], x: &[i64], m: usize) -> (Vec<i64>, u64) {
        let source =
            format!("kernel @k(n: i64, m: i64, key: i32[n], x: i64[n], out: i64[m]) {{ {body} }}");
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let kernel = verify(kernel).expect("a verified kernel");
        let scalar = |value: usize| Argument::Scalar(Value::i64(value as i64));
        let arguments = [
            scalar(key.len()),
            scalar(m),
            integers(Type::I32, key),
            integers(Type::I64, x),
            integers(Type::I64, &vec![0; m]),
        ];
        let once = |order| {
            let mut arguments = arguments.to_vec();
            let done = interpret_skipping(&kernel, &mut arguments, 10_000, order, &StdMath);
            let Argument::Array(out) = &arguments[4] else {
                panic!("an array");
            };
            let out = out.iter().filter_map(|it| it.as_integer());
            let out: Vec<i64> = out.filter_map(|it| i64::try_from(it).ok()).collect();
            (out, done.expect("an end").skipped)
        };
        let forward = once(ForallOrder::Forward);
        assert_eq!(forward, once(ForallOrder::Backward));
        forward
    }

    const KEYS: [i64; 6] = [0, -1, 2, 3, 1, 2];
    const X: [i64; 6] = [1, 2, 4, 8, 16, 32];

    #[test]
    fn an_update_out_of_range_does_nothing() {
        let sum = "affine.for i in 0..n { out[key[i]] reduce(add) x[i] }";
        assert_eq!(run(sum, &KEYS, &X, 3), (vec![1, 16, 36], 2));
        let in_parallel =
            "scf.forall c in 0..3 private(p: i64[m] = identity(add)) merge(out reduce(add) p) {
            affine.for i in c * 2..c * 2 + 2 { p[key[i]] reduce(add) x[i] } }";
        assert_eq!(run(in_parallel, &KEYS, &X, 3), (vec![1, 16, 36], 2));
    }

    #[test]
    fn a_read_out_of_range_skips_its_statement() {
        let gather = "affine.for i in 0..n { out[i] = x[key[i]] + 1 }";
        assert_eq!(run(gather, &[1, 9, 0], &[5, 6, 7], 3), (vec![7, 0, 6], 1));
    }

    #[test]
    fn a_condition_out_of_range_runs_no_branch_and_a_bound_no_turn() {
        let branch =
            "affine.for i in 0..n { scf.if x[key[i]] > 5 { out[i] = 1 } else { out[i] = 2 } }";
        assert_eq!(run(branch, &[1, 9, 0], &[5, 6, 7], 3), (vec![1, 0, 2], 1));
        let bound = "affine.for i in 0..n { scf.for k in 0..x[key[i]] { out[i] reduce(add) 1 } }";
        assert_eq!(run(bound, &[1, 9, 0], &[5, 6, 7], 3), (vec![6, 0, 5], 1));
        let until = "var k: i64 = 0 scf.while x[k] > 0 { k = k + 1 out[0] = k }";
        assert_eq!(run(until, &[0, 0], &[5, 6], 1), (vec![2], 1));
    }

    #[test]
    fn what_reads_a_scalar_without_a_value_does_nothing() {
        let keys = "affine.for i in 0..n { let k: i64 = x[key[i]] let l: i64 = k + 1 out[l - 1] reduce(add) 1 out[0] reduce(add) 8 }";
        assert_eq!(run(keys, &[1, 9, 0], &[0, 2, 0], 3), (vec![25, 0, 1], 1));
        let assigned = "affine.for i in 0..n { var k: i64 = x[key[i]] k reduce(add) 1 affine.if (2 <= i) { k = 2 } out[k] = i + 5 }";
        // The reduction and the assignment at 1; the reduction alone at 2, whose scalar gets a
        // value after all.
        assert_eq!(run(assigned, &[2, 9, 9], &[0, 2, 0], 3), (vec![0, 5, 7], 3));
    }

    #[test]
    fn an_assignment_that_is_skipped_leaves_what_was_there() {
        let last = "var s: i64 = 3 affine.for i in 0..n { s = x[key[i]] } out[0] = s";
        assert_eq!(run(last, &[1, 9], &[5, 6], 1), (vec![6], 1));
    }

    #[test]
    fn a_result_out_of_range_is_zero_and_other_faults_remain() {
        let result = |source: &str| {
            let kernel = text::parse(source).expect("a kernel").remove(0);
            let kernel = verify(kernel).expect("a verified kernel");
            let mut arguments = [
                Argument::Scalar(Value::i64(2)),
                integers(Type::I64, &[7, 0]),
            ];
            let order = ForallOrder::Forward;
            interpret_skipping(&kernel, &mut arguments, 100, order, &StdMath)
        };
        let done = result("kernel @k(n: i64, x: i64[n]) -> i64 { x[n] = 1 return x[n] }");
        let expected = Skipping {
            result: Some(Value::i64(0)),
            skipped: 1,
        };
        assert_eq!(done, Ok(expected));
        let done = result("kernel @k(n: i64, x: i64[n]) { x[0] = x[0] / x[1] }");
        assert!(matches!(done, Err(Stop::Fault(fault)) if fault.kind == FaultKind::DivisionByZero));
    }
}
