//! The judge of a kernel in an object: what a call's sizes are fit for, found out by generated
//! code, since nobody has the kernel when the object runs.
//!
//! Every affine expression has a range that is computed along with it, from those of the iterators
//! in it. Where all ranges stay in their arrays and no number on the way leaves 64 bits, no
//! subscript can be out of range. Ranges are those of interval arithmetic, so a difference of
//! iterators may look larger than it is: the code that checks all subscripts then runs.

mod ranges;

use super::affine::Wanted;
use super::function::{FunctionLowering, offset};
use super::{Lowered, Program, Request, signature};
use crate::CompileError;
use crate::facts::{for_each_affine, has_known_domain, sizes};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_module::Module;
use ranges::Range;
use std::collections::BTreeMap;
use std::mem::offset_of;
use strew_affine::visit::{Loop, accesses, allocated_arrays};
use strew_affine::{
    AffineExpr, Condition, IterId, Parameter, Relation, ScalarId, Subscript, Type, Variable,
};
use strew_runtime::abi::{Call, Slot};
use strew_runtime::object::Verdict;

/// Lowers the judge of a kernel: an [`EntryFn`](strew_runtime::abi::EntryFn) that returns a
/// [`Verdict`].
pub(crate) fn lower_judge(
    request: &Request<'_>,
    module: &mut dyn Module,
) -> Result<Lowered, CompileError> {
    let mut program = Program::new(request, module)?;
    let signature = signature(program.module, 1);
    let id = program.module.declare_anonymous_function(&signature)?;
    program.define(id, signature, |program, builder| {
        let mut judge = Judge::new(FunctionLowering::start(program, builder));
        judge.assumptions();
        judge.extents();
        judge.subscripts();
        judge.finish();
        Ok(())
    })?;
    program.finish(id)
}

/// A range, and whether it is wrong since a number on the way left 64 bits or a divisor was not
/// positive.
#[derive(Clone, Copy)]
struct Judged {
    range: Range,
    wrong: Value,
}

struct Judge<'p, 'k, 'f> {
    function: FunctionLowering<'p, 'k, 'f>,
    iters: BTreeMap<IterId, Judged>,
    known: BTreeMap<AffineExpr, Judged>,
    /// Whether what has been looked at since this was last taken is wrong.
    wrong: Value,
    broken: Value,
    unfit: Value,
    unproved: Value,
}

/// Sums of a few values below this cannot leave 64 bits.
const LIMIT: i64 = 1 << 62;

impl<'p, 'k, 'f> Judge<'p, 'k, 'f> {
    fn new(mut function: FunctionLowering<'p, 'k, 'f>) -> Self {
        let no = function.builder.ins().iconst(types::I8, 0);
        Self {
            function,
            iters: BTreeMap::new(),
            known: BTreeMap::new(),
            wrong: no,
            broken: no,
            unfit: no,
            unproved: no,
        }
    }

    /// Notes that `flag` makes what is looked at wrong.
    fn blame(&mut self, flag: Value) {
        self.wrong = self.function.builder.ins().bor(self.wrong, flag);
    }

    /// Whether what was looked at since the last time is wrong.
    fn take_wrong(&mut self) -> Value {
        let no = self.function.builder.ins().iconst(types::I8, 0);
        std::mem::replace(&mut self.wrong, no)
    }

    fn compare(&mut self, code: IntCC, left: Value, right: Value) -> Value {
        self.function.builder.ins().icmp(code, left, right)
    }

    fn compare_number(&mut self, code: IntCC, left: Value, right: i64) -> Value {
        self.function.builder.ins().icmp_imm_s(code, left, right)
    }

    fn number(&mut self, number: i64) -> Value {
        self.function.builder.ins().iconst(types::I64, number)
    }

    fn or(&mut self, left: Value, right: Value) -> Value {
        self.function.builder.ins().bor(left, right)
    }
}

impl Judge<'_, '_, '_> {
    /// One that cannot be computed does not hold.
    fn assumptions(&mut self) {
        let kernel = self.function.program.kernel;
        for condition in &kernel.assumptions {
            self.in_64_bits(&condition.left);
            self.in_64_bits(&condition.right);
            let fails = self.fails(condition);
            let wrong = self.take_wrong();
            let broken = self.or(fails, wrong);
            self.broken = self.or(self.broken, broken);
        }
    }

    fn fails(&mut self, condition: &Condition) -> Value {
        let [left, right] = [&condition.left, &condition.right].map(|it| self.range(it).low);
        let code = match condition.relation {
            Relation::LessOrEqual => IntCC::SignedGreaterThan,
            Relation::Less => IntCC::SignedGreaterThanOrEqual,
            Relation::Equal => IntCC::NotEqual,
        };
        self.compare(code, left, right)
    }

    /// Blames unsigned parameters above the largest `i64`.
    fn in_64_bits(&mut self, expr: &AffineExpr) {
        let mut scalars = Vec::new();
        expr.for_each_variable(&mut |variable| {
            if let Variable::Param(scalar) = variable {
                scalars.push(scalar);
            }
        });
        scalars.into_iter().for_each(|it| self.fits(it));
    }

    fn fits(&mut self, scalar: ScalarId) {
        if self.function.program.kernel.scalars[scalar].ty == Type::U64 {
            let value = self.function.scalar(scalar);
            let is_beyond = self.compare_number(IntCC::SignedLessThan, value, 0);
            self.blame(is_beyond);
        }
    }

    /// Looks at the sizes of all arrays, and writes those of parameters to their slots.
    fn extents(&mut self) {
        let kernel = self.function.program.kernel;
        sizes(kernel).into_iter().for_each(|it| self.fits(it));
        let flags = MemFlagsData::trusted();
        let slots = offset(offset_of!(Call, slots));
        let call = self.function.call;
        let builder = &mut self.function.builder;
        let slots = builder.ins().load(types::I64, flags, call, slots);
        for (position, param) in kernel.params.iter().enumerate() {
            let array = match param {
                Parameter::Scalar(_) => continue,
                Parameter::Array(array) => Some(*array),
                Parameter::Record(record) => kernel.records[*record].fields.first().copied(),
            };
            let Some(array) = array else { continue };
            // All fields have the extents of the records in front of their own.
            let (records, own) = kernel.arrays[array].split_extents();
            let mut elements = self.product(records);
            self.product(own);
            if let Some(length) = kernel.arrays[array].length {
                let passed = self.function.scalar(length);
                let are_missing = self.compare(IntCC::SignedLessThan, passed, elements);
                self.blame(are_missing);
                elements = passed;
            }
            let at = position * size_of::<Slot>() + offset_of!(Slot, elements);
            self.function.store_at(slots, at, elements);
        }
        for array in allocated_arrays(&kernel.body) {
            self.product(&kernel.arrays[array].extents);
        }
        self.unfit = self.take_wrong();
    }

    /// The product of `extents`, none of which may be below zero.
    fn product(&mut self, extents: &[AffineExpr]) -> Value {
        let mut product = self.number(1);
        for extent in extents {
            let value = self.range(extent).low;
            let is_below = self.compare_number(IntCC::SignedLessThan, value, 0);
            self.blame(is_below);
            product = self.checked_product(product, value);
        }
        product
    }

    /// Looks at what is computed, and whether subscripts are in range, as far as that follows from
    /// the sizes.
    fn subscripts(&mut self) {
        let kernel = self.function.program.kernel;
        for_each_affine(kernel, &mut |expr, loops| {
            if has_known_domain(expr, loops) {
                self.enter(loops);
                let range = self.range(expr);
                self.within_limit(range);
            }
        });
        for site in accesses(kernel) {
            let extents = &kernel.arrays[site.access.array].extents;
            for (subscript, extent) in site.access.subscripts.iter().zip(extents) {
                if let Subscript::Affine(expr) = subscript
                    && has_known_domain(expr, &site.loops)
                {
                    self.enter(&site.loops);
                    let range = self.range(expr);
                    let extent = self.range(extent).low;
                    let below = self.compare_number(IntCC::SignedLessThan, range.low, 0);
                    self.blame(below);
                    let code = IntCC::SignedGreaterThanOrEqual;
                    let beyond = self.compare(code, range.high, extent);
                    self.blame(beyond);
                }
            }
        }
        let facts = self.function.program.facts;
        for (array, dimension) in facts.stays().clamped().dimensions() {
            let extent = self.range(&kernel.arrays[*array].extents[*dimension]).low;
            let is_empty = self.compare_number(IntCC::SignedLessThan, extent, 1);
            self.blame(is_empty);
        }
        self.unproved = self.take_wrong();
    }

    fn within_limit(&mut self, range: Range) {
        let beyond = self.compare_number(IntCC::SignedGreaterThan, range.high, LIMIT);
        self.blame(beyond);
        let below = self.compare_number(IntCC::SignedLessThan, range.low, -LIMIT);
        self.blame(below);
    }

    /// Finds the ranges of the iterators of `loops`, outermost first, as far as they are known.
    fn enter(&mut self, loops: &[Loop<'_>]) {
        for (depth, around) in loops.iter().enumerate() {
            let outer = &loops[..depth];
            let is_known = |it: &AffineExpr| has_known_domain(it, outer);
            if self.iters.contains_key(&around.iter()) {
                continue;
            }
            let before = self.take_wrong();
            let range = match around {
                Loop::Affine(affine) => {
                    let mut bounds = affine.bounds();
                    if !bounds.all(is_known) {
                        self.wrong = before;
                        continue;
                    }
                    self.between(&affine.lower.0, &affine.upper.0, affine.step)
                }
                Loop::Forall(forall) if is_known(&forall.count) => {
                    self.between(&[0.into()], std::slice::from_ref(&forall.count), 1)
                }
                Loop::Forall(_) | Loop::Scf(_) => {
                    self.wrong = before;
                    continue;
                }
            };
            let wrong = std::mem::replace(&mut self.wrong, before);
            self.iters.insert(around.iter(), Judged { range, wrong });
        }
    }

    /// The iterator of a loop from the greatest of `lower` to below the least of `upper`.
    fn between(&mut self, lower: &[AffineExpr], upper: &[AffineExpr], step: i64) -> Range {
        let mut first: Option<Range> = None;
        for bound in lower {
            let bound = self.range(bound);
            first = Some(match first {
                None => bound,
                Some(first) => self.greatest(first, bound),
            });
        }
        let mut beyond: Option<Value> = None;
        for bound in upper {
            let bound = self.range(bound).high;
            beyond = Some(match beyond {
                None => bound,
                Some(beyond) => self.function.builder.ins().smin(beyond, bound),
            });
        }
        let zero = self.number(0);
        let first = first.unwrap_or(Range::point(zero));
        let one = self.number(1);
        let (last, overflows) =
            (self.function.builder.ins()).ssub_overflow(beyond.unwrap_or(zero), one);
        self.blame(overflows);
        let high = match first.is_point() && step > 1 {
            true => self.last_of(first.low, last, step),
            false => last,
        };
        Range {
            low: first.low,
            high,
        }
    }

    /// The greatest of `first`, `first + step`, … up to `last`.
    fn last_of(&mut self, first: Value, last: Value, step: i64) -> Value {
        let (distance, overflows) = self.function.builder.ins().ssub_overflow(last, first);
        self.blame(overflows);
        let rest = self
            .function
            .divided_by_constant(distance, step, Wanted::Remainder);
        let is_empty = self.compare_number(IntCC::SignedLessThan, distance, 0);
        let builder = &mut self.function.builder;
        let stepped = builder.ins().isub(last, rest);
        builder.ins().select(is_empty, last, stepped)
    }

    fn finish(mut self) {
        let builder = &mut self.function.builder;
        let mut verdict = builder.ins().iconst(types::I32, Verdict::Proved as i64);
        for (flag, worse) in [
            (self.unproved, Verdict::Unproved),
            (self.unfit, Verdict::Sizes),
            (self.broken, Verdict::Assumption),
        ] {
            let worse = builder.ins().iconst(types::I32, worse as i64);
            verdict = builder.ins().select(flag, worse, verdict);
        }
        self.function.builder.ins().return_(&[verdict]);
        self.function.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Checks, Facts};
    use crate::form::{Form, Rounding};
    use crate::isa::Target;
    use crate::loaded::{load, module};
    use crate::{Faults, Oob};
    use strew_affine::{text, verify::verify};
    use strew_runtime::abi::{EntryFn, Work};

    /// The verdict on the sizes `n` and `m`, and the lengths of the arrays `x` and `y`, for a
    /// kernel with `body`.
    fn verdict(head: &str, body: &str, sizes: [i64; 2]) -> (u32, [u64; 2]) {
        let source = format!("kernel @k(n: i64, m: u64, {head} {{ {body} }}");
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let kernel = verify(kernel).expect("a verified kernel");
        let request = Request {
            kernel: &kernel,
            facts: &Facts::of(&kernel),
            form: Form {
                checks: Checks::All,
                rounding: Rounding::Lanes,
            },
            faults: Faults::Bare,
            oob: Oob::Error,
        };
        let mut made = module(Target::Native).expect("a module");
        let lowered = lower_judge(&request, &mut made).expect("a judge");
        let loaded = load(made, lowered.functions, lowered.entry, Target::Native);
        let loaded = loaded.expect("machine code");
        let mut slots = [Slot::default(); 4];
        slots[0].bits_or_address = sizes[0].cast_unsigned();
        slots[1].bits_or_address = sizes[1].cast_unsigned();
        let work = Work::default();
        let mut call = Call::alone(slots.as_mut_ptr(), &raw const work);
        // SAFETY: the address is that of a function with the signature of an `EntryFn`, which
        // touches the call and the slots alone.
        let found = unsafe {
            let judge = std::mem::transmute::<*const u8, EntryFn>(loaded.address);
            judge(&raw mut call)
        };
        (found, [slots[2].elements, slots[3].elements])
    }

    const VECTORS: &str = "x: f64[n], y: f64[m])";
    const SQUARE: &str = "x: f64[n, n], y: f64[m])";

    #[track_caller]
    fn is(head: &str, body: &str, sizes: [i64; 2], expected: Verdict) {
        let (found, _) = verdict(head, body, sizes);
        assert_eq!(found, expected as u32, "{body} with {sizes:?}");
    }

    #[test]
    fn loops_over_their_arrays_are_proved() {
        for body in [
            "affine.for i in 0..n { x[i] = 1.0 }",
            "affine.for i in 1..n - 1 { x[i] = x[i - 1] + x[i + 1] }",
            "affine.for i in 0..n step 4 { x[i] = 1.0 }",
            "scf.forall c in 0..8 strategy(auto) { affine.for i in (c * n) floordiv 8..(c * n + n) floordiv 8 { x[i] = 1.0 } }",
            "affine.for t in 0..n step 32 { affine.for i in t..min(t + 32, n) { x[i] = 1.0 } }",
            "affine.for i in 0..n { x[i] = x[i floordiv 2] }",
        ] {
            for size in [0, 1, 7, 100] {
                is(VECTORS, body, [size, 3], Verdict::Proved);
            }
        }
        let rest = "affine.for i in 0..n { x[i mod n] = 1.0 }";
        is(VECTORS, rest, [7, 3], Verdict::Proved);
        // Nobody divides by zero, even where nothing runs.
        is(VECTORS, rest, [0, 3], Verdict::Unproved);
        let triangle = "affine.for i in 0..n { affine.for j in i + 1..n { x[i, j] = x[j, i] } }";
        is(SQUARE, triangle, [9, 3], Verdict::Proved);
        let (_, lengths) = verdict(SQUARE, triangle, [9, 3]);
        assert_eq!(lengths, [81, 3]);
    }

    #[test]
    fn what_may_leave_its_array_is_not() {
        let other = "affine.for i in 0..n { y[i] = 1.0 }";
        is(VECTORS, other, [5, 5], Verdict::Proved);
        is(VECTORS, other, [6, 5], Verdict::Unproved);
        let before = "affine.for i in 0..n { x[i - 1] = 1.0 }";
        is(VECTORS, before, [5, 5], Verdict::Unproved);
        // Nothing in it runs beyond, but a range of differences does not tell.
        let apart = "affine.for i in 0..n { affine.for j in i..n { x[j - i] = 1.0 } }";
        is(VECTORS, apart, [5, 5], Verdict::Unproved);
        let large =
            "affine.for i in 0..n { x[i * i * i * i * i floordiv 4611686018427387904] = 1.0 }";
        is(VECTORS, large, [1 << 20, 5], Verdict::Unproved);
    }

    #[test]
    fn what_is_clamped_needs_an_element() {
        let clamped = "affine.for i in 0..n { let k: i64 = i64(x[i]) y[k < 0 ? 0 : k < i64(m) ? k : i64(m) - 1] = 1.0 }";
        is(VECTORS, clamped, [5, 1], Verdict::Proved);
        is(VECTORS, clamped, [5, 0], Verdict::Unproved);
        is(VECTORS, clamped, [0, 0], Verdict::Unproved);
    }

    #[test]
    fn sizes_that_make_no_arrays_are_told() {
        let none = "affine.for i in 0..1 { }";
        is(VECTORS, none, [-1, 5], Verdict::Sizes);
        is(VECTORS, none, [5, -1], Verdict::Sizes);
        is(SQUARE, none, [1 << 32, 5], Verdict::Sizes);
        is(SQUARE, none, [1 << 31, 5], Verdict::Proved);
    }

    #[test]
    fn assumptions_come_before_everything_else() {
        let head = "x: f64[n], y: f64[m]) assume (n * n < 100, m <= n)";
        let none = "affine.for i in 0..n { y[i] = 1.0 }";
        is(head, none, [9, 9], Verdict::Proved);
        is(head, none, [9, 8], Verdict::Unproved);
        is(head, none, [10, 8], Verdict::Assumption);
        is(head, none, [8, 9], Verdict::Assumption);
        is(head, none, [8, -1], Verdict::Assumption);
        is(head, none, [i64::MAX, 5], Verdict::Assumption);
        is(head, none, [-1, -1], Verdict::Assumption);
    }
}
