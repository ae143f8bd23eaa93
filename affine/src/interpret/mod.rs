//! The reference: what a kernel means, run statement by statement.
//!
//! Every later stage is held against it: a transform may not change what it computes, generated
//! code computes the same bits and stops at the same fault.

mod expression;
mod forall;
mod memory;
mod skip;
mod stop;
mod watch;

pub use skip::{Skipping, interpret_skipping};
pub use stop::{Argument, BadArguments, Fault, FaultKind, ForallOrder, Oob, Stop};
pub use watch::{Touch, Touched, Watch, interpret_watched};

use crate::verify::Verified;
use crate::{
    AffineExpr, AffineFor, ArrayId, Bound, Combiner, Condition, Disjoint, Expr, IterId, Kernel,
    LocalId, Math, Node, Overflow, Place, ScalarId, ScfFor, Span, Value, Variable, Whiles,
    variable_of_while,
};
use la_arena::ArenaMap;
use memory::Memory;
use skip::Skips;
use watch::Writing;

/// Runs `kernel` on `arguments` and gives its result, if it has one. Each statement, each turn of a
/// loop and each element of a private buffer or local array costs one unit of `fuel`. Math
/// functions have the values that `math` gives them.
///
/// # Errors
/// Bad arguments, an assumption that does not hold, a fault (the first in serial order, whatever
/// `order` is), an affine expression that leaves 64 bits, a function that `math` does not compute,
/// or no fuel left. The arguments are then unchanged.
pub fn interpret(
    kernel: &Verified,
    arguments: &mut [Argument],
    fuel: u64,
    order: ForallOrder,
    math: &dyn Math,
) -> Result<Option<Value>, Stop> {
    let mut machine = Machine::new(kernel, arguments, fuel, order, math)?;
    machine.run(arguments)
}

struct Machine<'k> {
    kernel: &'k Kernel,
    scalars: ArenaMap<ScalarId, Value>,
    memory: Memory,
    iters: ArenaMap<IterId, i64>,
    locals: ArenaMap<LocalId, Value>,
    /// The iterators of the loops that are running, outermost first, with their values.
    running: Vec<(IterId, i64)>,
    /// The variables of the `while` loops among them, up to the innermost forall: its iterations do
    /// not know what is set around it.
    whiles: Whiles,
    fuel: u64,
    order: ForallOrder,
    math: &'k dyn Math,
    watch: Option<&'k mut dyn Watch>,
    skips: Skips,
    /// The arrays of the foralls that are running of which no element is written twice.
    disjoint: Vec<Disjoint>,
}

impl<'k> Machine<'k> {
    /// Runs the kernel and, if it comes to its end, writes what the parameters hold then to
    /// `arguments`.
    fn run(&mut self, arguments: &mut [Argument]) -> Result<Option<Value>, Stop> {
        let kernel = self.kernel;
        self.block(&kernel.body)?;
        let result = self.result()?;
        for (param, argument) in kernel.passed_params().zip(arguments) {
            self.give_back(&param, argument);
        }
        Ok(result)
    }

    fn burn(&mut self, units: u64) -> Result<(), Stop> {
        self.fuel = self.fuel.checked_sub(units).ok_or(Stop::OutOfFuel)?;
        Ok(())
    }

    fn block(&mut self, nodes: &'k [Node]) -> Result<(), Stop> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'k Node) -> Result<(), Stop> {
        self.burn(1)?;
        let done = self.statement(node);
        self.skipped(node, done)
    }

    fn statement(&mut self, node: &'k Node) -> Result<(), Stop> {
        match node {
            Node::AffineFor(affine) => self.affine_for(affine),
            Node::ScfFor(scf) => self.scf_for(scf),
            Node::Forall(forall) => self.forall(forall),
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => {
                let holds = self.conditions(conditions)?;
                self.block(if holds { then } else { otherwise })
            }
            Node::ScfIf {
                condition,
                then,
                otherwise,
                ..
            } => {
                let holds = self.holds(condition)?;
                self.block(if holds { then } else { otherwise })
            }
            Node::ScfWhile {
                condition, body, ..
            } => self.scf_while(condition, body),
            Node::Declare { local, value } => {
                let value = self.expr(value)?;
                self.set(Cell::Local(*local), value);
                Ok(())
            }
            Node::Alloc { array } => {
                let zero = Value::zero(self.kernel.arrays[*array].element);
                self.fill(*array, zero)
            }
            Node::Assign { place, value, span } => {
                let value = self.expr(value)?;
                let (combiner, span) = (None, *span);
                let cell = self.cell(place, Writing { combiner, span })?;
                self.set(cell, value);
                Ok(())
            }
            Node::Reduce {
                places,
                combiner,
                values,
                span,
            } => self.reduce(places, combiner, values, *span),
        }
    }

    fn affine_for(&mut self, affine: &'k AffineFor) -> Result<(), Stop> {
        let lower = self.bound(&affine.lower)?.into_iter().max().unwrap_or(0);
        let upper = self.bound(&affine.upper)?.into_iter().min().unwrap_or(0);
        self.counted(affine.iter, lower..upper, affine.step, &affine.body)
    }

    fn scf_while(&mut self, condition: &'k Expr, body: &'k [Node]) -> Result<(), Stop> {
        let around = self.whiles.len();
        let variable = variable_of_while(self.kernel, condition, body);
        (self.whiles).extend(variable.map(|it| (self.running.len(), it)));
        let result = self.turns(condition, body);
        self.whiles.truncate(around);
        result
    }

    fn turns(&mut self, condition: &'k Expr, body: &'k [Node]) -> Result<(), Stop> {
        while self.holds(condition)? {
            self.burn(1)?;
            self.block(body)?;
        }
        Ok(())
    }

    fn bound(&self, bound: &Bound) -> Result<Vec<i64>, Overflow> {
        bound.0.iter().map(|expr| self.affine(expr)).collect()
    }

    fn scf_for(&mut self, scf: &'k ScfFor) -> Result<(), Stop> {
        let lower = self.index(&scf.lower)?;
        let upper = self.index(&scf.upper)?;
        self.counted(scf.iter, lower..upper, scf.step, &scf.body)
    }

    /// Bounds are `i64`, so their mathematical value fits.
    fn index(&mut self, expr: &'k Expr) -> Result<i64, Stop> {
        let value = self.expr(expr)?.as_integer();
        let value = value.and_then(|value| i64::try_from(value).ok());
        Ok(value.unwrap_or(0))
    }

    fn counted(
        &mut self,
        iter: IterId,
        range: std::ops::Range<i64>,
        step: i64,
        body: &'k [Node],
    ) -> Result<(), Stop> {
        self.enter(iter);
        let mut at = Some(range.start);
        // A value beyond `i64` is beyond every upper bound.
        while let Some(value) = at.filter(|value| *value < range.end) {
            self.iteration(iter, value, body)?;
            at = value.checked_add(step);
        }
        Ok(())
    }

    fn iteration(&mut self, iter: IterId, value: i64, body: &'k [Node]) -> Result<(), Stop> {
        self.burn(1)?;
        self.iters.insert(iter, value);
        let depth = self.running.len();
        self.running.push((iter, value));
        let result = self.block(body);
        self.running.truncate(depth);
        result
    }

    fn conditions(&self, conditions: &[Condition]) -> Result<bool, Overflow> {
        for condition in conditions {
            if !condition.holds(&|variable| self.variable(variable))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn affine(&self, expr: &AffineExpr) -> Result<i64, Overflow> {
        let mut fits = true;
        expr.for_each_variable(&mut |variable| fits &= self.variable(variable).is_some());
        if !fits {
            return Err(Overflow);
        }
        expr.evaluate(&|variable| self.variable(variable).unwrap_or(0))
    }

    /// The variable's mathematical value, if it fits: that of a `u64` need not.
    fn variable(&self, variable: Variable) -> Option<i64> {
        match variable {
            Variable::Iter(iter) => self.iters.get(iter).copied(),
            Variable::Param(param) => {
                let value = self.scalars.get(param)?.as_integer()?;
                i64::try_from(value).ok()
            }
        }
    }

    fn cell(&mut self, place: &'k Place, writing: Writing<'_>) -> Result<Cell, Stop> {
        match place {
            Place::Local(local) => {
                if writing.combiner.is_some() {
                    self.skips.has_value(*local)?;
                }
                self.write(Touched::Local(*local), &[], writing);
                Ok(Cell::Local(*local))
            }
            Place::Element(access) => {
                let (cell, position) = self.position(access)?;
                self.meet(access, position)?;
                self.write(Touched::Array(access.array), &cell, writing);
                Ok(Cell::Element(access.array, position))
            }
        }
    }

    fn get(&self, cell: Cell) -> Option<Value> {
        match cell {
            Cell::Local(local) => self.locals.get(local).copied(),
            Cell::Element(array, position) => self.memory.cells(array).get(position).copied(),
        }
    }

    fn set(&mut self, cell: Cell, value: Value) {
        match cell {
            Cell::Local(local) => {
                self.skips.set(local);
                self.locals.insert(local, value);
            }
            Cell::Element(array, position) => {
                if let Some(held) = self.memory.cell_mut(array, position) {
                    *held = value;
                }
            }
        }
    }

    fn reduce(
        &mut self,
        places: &'k [Place],
        combiner: &Combiner,
        values: &'k [Expr],
        span: Span,
    ) -> Result<(), Stop> {
        let writing = Writing {
            combiner: Some(combiner),
            span,
        };
        let incoming: Vec<_> = values
            .iter()
            .map(|value| self.expr(value))
            .collect::<Result<_, _>>()?;
        let cells: Vec<_> = places
            .iter()
            .map(|place| self.cell(place, writing))
            .collect::<Result<_, _>>()?;
        let held: Vec<_> = cells.iter().filter_map(|cell| self.get(*cell)).collect();
        let after = combiner
            .combine(&held, &incoming, self.math)
            .map_err(|error| self.not_combined(error, span))?;
        for (cell, value) in cells.into_iter().zip(after) {
            self.set(cell, value);
        }
        Ok(())
    }
}

/// A place that was found.
#[derive(Clone, Copy)]
enum Cell {
    Local(LocalId),
    Element(ArrayId, usize),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::verify;
    use crate::{Function, NotComputed, StdMath, Type, text};

    const FUEL: u64 = 100_000;

    fn kernel(source: &str) -> Verified {
        let kernels = text::parse(source).expect("a kernel");
        verify(kernels.into_iter().next().expect("one kernel")).expect("a verified kernel")
    }

    fn integers(ty: Type, values: &[i64]) -> Argument {
        let cells = values.iter().map(|it| Value::integer(ty, (*it).into()));
        Argument::Array(cells.collect())
    }

    fn doubles(values: &[f64]) -> Argument {
        Argument::Array(values.iter().map(|it| Value::f64(*it)).collect())
    }

    fn n(value: i64) -> Argument {
        Argument::Scalar(Value::i64(value))
    }

    /// Runs forward and backward, which must agree, and gives the arguments back.
    #[track_caller]
    fn run(source: &str, arguments: &[Argument]) -> Result<Vec<Argument>, Stop> {
        let kernel = kernel(source);
        let once = |order| {
            let mut arguments = arguments.to_vec();
            let result = interpret(&kernel, &mut arguments, FUEL, order, &StdMath);
            (result, arguments)
        };
        let forward = once(ForallOrder::Forward);
        assert_eq!(forward, once(ForallOrder::Backward));
        if forward.0.is_err() {
            assert_eq!(forward.1, arguments, "a stop changes nothing");
        }
        forward.0.map(|_| forward.1)
    }

    const SEGMENT_SUM: &str = "kernel @segment_sum(n: i64, m: i64, seg: i32[n], x: f64[n], out: f64[m]) {
        scf.forall i_c in 0..3 private(out_p: f64[m] = identity(add)) merge(out reduce(add) out_p) strategy(auto) {
          affine.for i in (i_c * n) floordiv 3..(i_c * n + n) floordiv 3 {
            out_p[seg[i]] reduce(add) x[i]
          } } }";

    #[test]
    fn a_chunked_sum_is_the_sum() {
        let x = [0.5, 1.5, -2.0, 4.0, 8.0, 16.0, 32.0];
        let seg = [0, 1, 0, 2, 2, 1, 0];
        let mut expected = [100.0, 200.0, 300.0];
        for (segment, value) in seg.iter().zip(x) {
            expected[*segment as usize] += value;
        }
        let arguments = [
            n(7),
            n(3),
            integers(Type::I32, &seg),
            doubles(&x),
            doubles(&[100.0, 200.0, 300.0]),
        ];
        let result = run(SEGMENT_SUM, &arguments);
        assert_eq!(result.map(|it| it[4].clone()), Ok(doubles(&expected)));
    }

    #[test]
    fn the_first_fault_in_serial_order_is_told() {
        let arguments = [
            n(4),
            n(2),
            integers(Type::I32, &[0, 1, -7, 9]),
            doubles(&[1.0; 4]),
            doubles(&[0.0; 2]),
        ];
        let Err(Stop::Fault(fault)) = run(SEGMENT_SUM, &arguments) else {
            panic!("an index is out of range");
        };
        assert_eq!(
            fault.to_string(),
            "index -7 is out of range for `out_p`, whose extent there is 2"
        );
        assert_eq!(&SEGMENT_SUM[fault.span.range()], "out_p[seg[i]]");
        let iteration = [("i_c".to_owned(), 2), ("i".to_owned(), 2)];
        assert_eq!(fault.iteration, iteration);
    }

    #[test]
    fn a_sparse_product_with_computed_bounds() {
        let source = "kernel @spmv(n: i64, nnz: i64, row: i64[n + 1], col: u8[nnz], a: f64[nnz], x: f64[n], y: f64[n]) {
            affine.for v in 0..n {
              var s: f64 = 0.0
              scf.for k in row[v]..row[v + 1] { s reduce(add) a[k] * x[col[k]] }
              y[v] = s
            } }";
        let arguments = [
            n(3),
            n(4),
            integers(Type::I64, &[0, 2, 2, 4]),
            integers(Type::U8, &[0, 2, 1, 2]),
            doubles(&[1.0, 2.0, 3.0, 4.0]),
            doubles(&[10.0, 100.0, 1000.0]),
            doubles(&[7.0; 3]),
        ];
        let result = run(source, &arguments).map(|it| it[6].clone());
        assert_eq!(result, Ok(doubles(&[2010.0, 0.0, 4300.0])));
    }

    #[test]
    fn conditions_steps_and_alternatives_of_bounds() {
        let source = "kernel @k(n: i64, h: i64[n]) {
            affine.for i in max(1, n - 8)..min(n, 9) step 3 {
              affine.if (i < 5, 3 <= i) { h[i] = i * 10 } else { h[i] = -1 }
            }
            var left: i64 = 3
            scf.while left > 0 { h[0] = h[0] + left left = left - 1 }
        }";
        let result = run(source, &[n(10), integers(Type::I64, &[0; 10])]);
        let expected = integers(Type::I64, &[6, 0, -1, 0, 0, -1, 0, 0, -1, 0]);
        assert_eq!(result.map(|it| it[1].clone()), Ok(expected));
    }

    #[test]
    fn a_local_array_is_zero_whenever_it_is_allocated() {
        let source = "kernel @k(n: i64, h: i64[n, 3]) {
            alloc total: i64[1]
            affine.for i in 0..n {
              alloc t: i64[3]
              t[i mod 3] reduce(add) i + 1
              total[0] reduce(add) t[i mod 3]
              affine.for j in 0..3 { h[i, j] = t[j] * total[0] }
            } }";
        let result = run(source, &[n(4), integers(Type::I64, &[9; 12])]);
        let expected = integers(Type::I64, &[1, 0, 0, 0, 6, 0, 0, 0, 18, 40, 0, 0]);
        assert_eq!(result.map(|it| it[1].clone()), Ok(expected));
    }

    #[test]
    fn a_local_array_has_extents_bounds_and_a_price() {
        let source =
            "kernel @k(n: i64, m: i64) { scf.if n > m { alloc t: f32[n, m] t[0, m] = 1.0 } }";
        let result = run(source, &[n(3), n(-1)]);
        let expected = BadArguments::Extent {
            array: "t".to_owned(),
            extent: -1,
        };
        assert_eq!(result, Err(Stop::Arguments(expected)));
        assert_eq!(run(source, &[n(1 << 40), n(1 << 40)]), Err(Stop::Overflow));
        assert_eq!(run(source, &[n(1 << 40), n(1)]), Err(Stop::OutOfFuel));
        let Err(Stop::Fault(fault)) = run(source, &[n(3), n(2)]) else {
            panic!("a column that is not there");
        };
        assert_eq!(
            fault.to_string(),
            "index 2 is out of range for `t`, whose extent there is 2"
        );
    }

    #[test]
    fn the_fields_of_a_record_are_arrays() {
        let source = "kernel @k(n: i64, p: record(16) { x: f64 @ 0, k: i32 @ 8, on: bool @ 12 }[n], out: f64[2]) {
            affine.for i in 0..n {
              scf.if p.on[i] { out[p.k[i]] reduce(add) p.x[i] }
              p.x[i] = 0.0
              p.on[i] = p.k[i] == 0
            } }";
        let truths = |values: &[bool]| values.iter().map(|it| Value::bool(*it)).collect();
        let Argument::Array(x) = doubles(&[1.5, 2.0, 4.0]) else {
            panic!("an array");
        };
        let Argument::Array(k) = integers(Type::I32, &[1, 0, 1]) else {
            panic!("an array");
        };
        let p = Argument::Record(vec![x, k.clone(), truths(&[true, false, true])]);
        let result = run(source, &[n(3), p.clone(), doubles(&[0.5, 0.5])]);
        let zeros = vec![Value::f64(0.0); 3];
        let after = Argument::Record(vec![zeros, k, truths(&[false, true, false])]);
        assert_eq!(result, Ok(vec![n(3), after, doubles(&[0.5, 6.0])]));
        let bad = |argument: Argument| run(source, &[n(2), argument, doubles(&[0.5, 0.5])]);
        let message = |result: Result<_, Stop>| result.map_err(|it| it.to_string());
        assert_eq!(
            message(bad(p)),
            Err("array `p.x` has 2 elements, the argument 3".to_owned())
        );
        assert_eq!(
            message(bad(doubles(&[1.0, 2.0]))),
            Err("the argument for `p` is not an array of records of 3 fields".to_owned())
        );
    }

    #[test]
    fn only_what_is_needed_is_evaluated() {
        let source = "kernel @k(n: i64, h: i64[n]) {
            affine.for i in 0..n { h[i] = i == 0 || 6 / i > 2 && h[i - 1] >= 0 ? 1 : h[i % n] }
        }";
        let result = run(source, &[n(4), integers(Type::I64, &[5; 4])]);
        let expected = integers(Type::I64, &[1, 1, 1, 5]);
        assert_eq!(result.map(|it| it[1].clone()), Ok(expected));
    }

    #[test]
    fn a_result_is_computed_behind_the_body() {
        let source = "kernel @dot(n: i64, x: f64[n], y: f64[n]) -> f64 {
            var sum: f64 = 0.0
            affine.for i in 0..n { sum reduce(add) x[i] * y[i] x[i] = 0.0 }
            return x[n - 1] + sum }";
        let result = |n: i64, cells: &[f64]| {
            let mut arguments = [
                Argument::Scalar(Value::i64(n)),
                doubles(cells),
                doubles(cells),
            ];
            interpret(
                &kernel(source),
                &mut arguments,
                FUEL,
                ForallOrder::Forward,
                &StdMath,
            )
        };
        assert_eq!(result(3, &[1.0, 2.0, 3.0]), Ok(Some(Value::f64(14.0))));
        let Err(Stop::Fault(fault)) = result(0, &[]) else {
            panic!("an index is out of range");
        };
        assert_eq!(&source[fault.span.range()], "x[n - 1]");
        assert_eq!(fault.iteration, []);
    }

    #[test]
    fn an_inferred_size_follows_from_the_length_of_an_array() {
        let source =
            "kernel @k(infer rows: i64, a: f64[rows, 3], infer length: i64, x: f64[length]) {
            affine.for i in 0..rows { a[i, 0] = f64(rows) x[length - 1] = 2.0 } }";
        let result = run(source, &[doubles(&[1.0; 6]), doubles(&[0.0; 2])]);
        let expected = [
            doubles(&[2.0, 1.0, 1.0, 2.0, 1.0, 1.0]),
            doubles(&[0.0, 2.0]),
        ];
        assert_eq!(result, Ok(expected.to_vec()));
        let uneven = run(source, &[doubles(&[1.0; 7]), doubles(&[0.0; 2])]);
        assert_eq!(
            uneven.map_err(|it| it.to_string()),
            Err("array `a` has 6 elements, the argument 7".to_owned())
        );
    }

    #[test]
    fn an_inferred_size_follows_from_the_length_of_an_array_of_records() {
        let source =
            "kernel @k(infer length: i64, p: record(16) { x: f64 @ 0, id: i32 @ 8 }[length]) {
            affine.for i in 0..length { p.x[i] = f64(length) } }";
        let fields = |x: f64| {
            let ids = vec![Value::integer(Type::I32, 0); 2];
            Argument::Record(vec![vec![Value::f64(x); 2], ids])
        };
        assert_eq!(run(source, &[fields(0.0)]), Ok(vec![fields(2.0)]));
    }

    #[test]
    fn a_kernel_whose_assumptions_do_not_hold_does_not_run() {
        let source = "kernel @k(n: i64, m: u64, x: f64[n]) assume (n * n <= 100, m < 3) {
            affine.for i in 0..n { x[i] = 1.0 } }";
        let with = |n: i64, m: i128| {
            let cells = doubles(&vec![0.0; n as usize]);
            let m = Argument::Scalar(Value::integer(Type::U64, m));
            run(source, &[Argument::Scalar(Value::i64(n)), m, cells]).map_err(|it| it.to_string())
        };
        assert!(with(10, 2).is_ok());
        let broken = |condition: &str| {
            let text = "which does not hold for these arguments";
            Err(format!("the kernel assumes `{condition}`, {text}"))
        };
        assert_eq!(with(11, 2), broken("n * n <= 100"));
        assert_eq!(with(10, 3), broken("m < 3"));
        assert_eq!(with(10, i128::from(u64::MAX)), broken("m < 3"));
        let huge = [
            n(1 << 62),
            Argument::Scalar(Value::integer(Type::U64, 0)),
            doubles(&[]),
        ];
        let Err(Stop::Fault(fault)) = run(source, &huge) else {
            panic!("the square does not fit 64 bits");
        };
        assert!(matches!(fault.kind, FaultKind::Assumption { .. }));
    }

    #[test]
    fn stops_that_are_no_index() {
        let divide = "kernel @k(n: i64, h: i64[n]) { h[0] = 7 h[n - 1] = 1 / (n - n) }";
        let Err(Stop::Fault(fault)) = run(divide, &[n(1), integers(Type::I64, &[3])]) else {
            panic!("a division by zero");
        };
        assert_eq!(fault.kind, FaultKind::DivisionByZero);
        assert_eq!(&divide[fault.span.range()], "1 / (n - n)");
        let forever = "kernel @k() { scf.while true { } }";
        assert_eq!(run(forever, &[]), Err(Stop::OutOfFuel));
        let empty_turns = "kernel @k(n: i64) { affine.for i in 0..n { } }";
        assert_eq!(run(empty_turns, &[n(i64::MAX)]), Err(Stop::OutOfFuel));
        let iterations = "kernel @k(n: i64) { scf.forall i in 0..n { } }";
        assert_eq!(run(iterations, &[n(i64::MAX)]), Err(Stop::OutOfFuel));
        let overflow = "kernel @k(n: i64) { affine.for i in n * 2..n * 3 { } }";
        assert_eq!(run(overflow, &[n(i64::MAX)]), Err(Stop::Overflow));
        let divisor = "kernel @k(n: i64) { affine.for i in 0..8 floordiv n { } }";
        assert_eq!(run(divisor, &[n(0)]), Err(Stop::Overflow));
        let large = "kernel @k(n: u64) { affine.for i in n..n + 1 { } }";
        let most = Argument::Scalar(Value::integer(Type::U64, -1));
        assert_eq!(run(large, &[most]), Err(Stop::Overflow));
    }

    #[test]
    fn a_function_without_a_value_stops_the_kernel_where_it_is_reached() {
        let source = "kernel @k(n: i64, x: f64[2]) { x[0] = sqrt(x[0]) affine.if (n > 0) { x[1] = erf(x[1]) } }";
        let cells = doubles(&[4.0, 0.5]);
        let result = run(source, &[n(0), cells.clone()]);
        assert_eq!(result.map(|it| it[1].clone()), Ok(doubles(&[2.0, 0.5])));
        let stop = Stop::NotComputed(NotComputed(Function::Erf));
        assert_eq!(run(source, &[n(1), cells]), Err(stop));
    }

    #[test]
    fn arguments_that_do_not_fit_are_told() {
        let source = "kernel @k(n: i64, h: i64[n, 2]) { }";
        let bad = |arguments: &[Argument]| run(source, arguments).map_err(|it| it.to_string());
        let wrong = |message: &str| Err(message.to_owned());
        let cells = |count| integers(Type::I64, &vec![0; count]);
        assert!(bad(&[n(3), cells(6)]).is_ok());
        assert_eq!(
            bad(&[n(3)]),
            wrong("the kernel takes 2 arguments, there are 1")
        );
        assert_eq!(
            bad(&[n(3), n(3)]),
            wrong("the argument for `h` is not of type i64")
        );
        assert_eq!(
            bad(&[doubles(&[]), cells(0)]),
            wrong("the argument for `n` is not of type i64")
        );
        assert_eq!(
            bad(&[n(3), doubles(&[0.0; 6])]),
            wrong("the argument for `h` is not of type i64")
        );
        assert_eq!(
            bad(&[n(3), cells(5)]),
            wrong("array `h` has 6 elements, the argument 5")
        );
        assert_eq!(
            bad(&[n(-3), cells(6)]),
            wrong("array `h` would have an extent of -3")
        );
    }

    #[test]
    fn the_deepest_kernels_run() {
        let depth = crate::verify::MAX_NESTING - 1;
        let open = "scf.if n == n { ".repeat(depth);
        let value = format!("{}n", "n + ".repeat(depth));
        let source = format!(
            "kernel @k(n: i64, h: i64[n]) {{ {open} h[0] = {value} {} }}",
            "}".repeat(depth)
        );
        let result = run(&source, &[n(1), integers(Type::I64, &[0])]);
        let expected = integers(Type::I64, &[depth as i64 + 1]);
        assert_eq!(result.map(|it| it[1].clone()), Ok(expected));
    }
}
