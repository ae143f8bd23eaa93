//! The reference: what a kernel means, run statement by statement.

use crate::evaluate::{self, DivisionByZero};
use crate::verify::Verified;
use crate::{
    Access, AffineExpr, AffineFor, Array, ArrayId, Bound, Combiner, Condition, Expr, Forall,
    IterId, Kernel, LocalId, Node, Operand, Overflow, Parameter, Place, Private, Relation,
    ScalarId, ScfFor, Span, Subscript, Type, Value, Variable,
};
use la_arena::ArenaMap;
use std::fmt;

/// One argument, in the order of the kernel's parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// For a scalar parameter.
    Scalar(Value),
    /// For an array, row by row.
    Array(Vec<Value>),
}

/// The order in which the iterations of a forall run. The result is the same in both; tests run both to see that it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForallOrder {
    /// From the first iteration to the last.
    #[default]
    Forward,
    /// From the last to the first.
    Backward,
}

/// Why a kernel did not run to its end. All arrays are then as they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The kernel did something that has no result.
    Fault(Fault),
    /// More statements ran than were allowed.
    OutOfFuel,
    /// An affine expression left 64 bits.
    Overflow,
    /// The arguments are not what the kernel takes.
    Arguments(BadArguments),
}

/// A fault: what happened, where, and in which iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The access or the division in the source.
    pub span: Span,
    /// Names and values of the iterators around it, outermost first.
    pub iteration: Vec<(String, i64)>,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A subscript below zero, or not below its extent.
    OutOfRange {
        /// The array's name.
        array: String,
        /// The subscript.
        index: i128,
        /// The extent of that dimension.
        extent: i64,
    },
    /// An integer division or remainder by zero.
    DivisionByZero,
}

/// What is wrong with the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadArguments {
    /// Too few or too many.
    Count {
        /// How many parameters there are.
        expected: usize,
        /// How many arguments there were.
        found: usize,
    },
    /// A scalar for an array or the other way round, or another type.
    Type {
        /// The parameter's name.
        parameter: String,
        /// The type of the scalar or of the elements.
        expected: Type,
    },
    /// An array of another length than its extents say.
    Length {
        /// The array's name.
        array: String,
        /// The number of elements that its extents make.
        expected: i64,
        /// How many there were.
        found: usize,
    },
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => fault.fmt(f),
            Self::OutOfFuel => f.write_str("the kernel ran longer than was allowed"),
            Self::Overflow => Overflow.fmt(f),
            Self::Arguments(bad) => bad.fmt(f),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FaultKind::OutOfRange {
                array,
                index,
                extent,
            } => write!(
                f,
                "index {index} is out of range of `{array}`, whose extent there is {extent}"
            ),
            FaultKind::DivisionByZero => DivisionByZero.fmt(f),
        }
    }
}

impl fmt::Display for BadArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { expected, found } => {
                write!(
                    f,
                    "the kernel takes {expected} arguments, there are {found}"
                )
            }
            Self::Type {
                parameter,
                expected,
            } => write!(
                f,
                "the argument for `{parameter}` is not of type {expected}"
            ),
            Self::Length {
                array,
                expected,
                found,
            } => write!(
                f,
                "array `{array}` has {expected} elements, the argument {found}"
            ),
        }
    }
}

impl std::error::Error for Stop {}

impl From<Overflow> for Stop {
    fn from(_: Overflow) -> Self {
        Self::Overflow
    }
}

/// Runs `kernel` on `arguments`, at most `fuel` statements and turns of loops.
///
/// # Errors
/// Bad arguments, a fault, or no fuel left. The arguments are then unchanged.
pub fn interpret(
    kernel: &Verified,
    arguments: &mut [Argument],
    fuel: u64,
    order: ForallOrder,
) -> Result<(), Stop> {
    let mut machine = Machine::new(kernel, arguments, fuel, order)?;
    machine.block(&kernel.body)?;
    for (param, argument) in kernel.params.iter().zip(arguments) {
        if let (Parameter::Array(array), Argument::Array(cells)) = (param, argument)
            && let Some(storage) = machine.arrays.remove(*array)
        {
            *cells = storage.cells;
        }
    }
    Ok(())
}

struct Storage {
    extents: Vec<i64>,
    cells: Vec<Value>,
}

struct Machine<'k> {
    kernel: &'k Kernel,
    scalars: ArenaMap<ScalarId, Value>,
    arrays: ArenaMap<ArrayId, Storage>,
    iters: ArenaMap<IterId, i64>,
    locals: ArenaMap<LocalId, Value>,
    /// The iterators of the loops that are running, outermost first.
    running: Vec<IterId>,
    fuel: u64,
    order: ForallOrder,
}

impl<'k> Machine<'k> {
    fn new(
        kernel: &'k Kernel,
        arguments: &[Argument],
        fuel: u64,
        order: ForallOrder,
    ) -> Result<Self, Stop> {
        if kernel.params.len() != arguments.len() {
            return Err(Stop::Arguments(BadArguments::Count {
                expected: kernel.params.len(),
                found: arguments.len(),
            }));
        }
        let mut machine = Self {
            kernel,
            scalars: ArenaMap::default(),
            arrays: ArenaMap::default(),
            iters: ArenaMap::default(),
            locals: ArenaMap::default(),
            running: Vec::new(),
            fuel,
            order,
        };
        for (param, argument) in kernel.params.iter().zip(arguments) {
            if let Parameter::Scalar(scalar) = *param {
                machine.bind_scalar(scalar, argument)?;
            }
        }
        for (param, argument) in kernel.params.iter().zip(arguments) {
            if let Parameter::Array(array) = *param {
                machine.bind_array(array, argument)?;
            }
        }
        Ok(machine)
    }

    fn bind_scalar(&mut self, scalar: ScalarId, argument: &Argument) -> Result<(), Stop> {
        let declared = &self.kernel.scalars[scalar];
        match argument {
            Argument::Scalar(value) if value.ty() == declared.ty => {
                self.scalars.insert(scalar, *value);
                Ok(())
            }
            _ => Err(wrong_type(&declared.name, declared.ty)),
        }
    }

    fn bind_array(&mut self, array: ArrayId, argument: &Argument) -> Result<(), Stop> {
        let declared = &self.kernel.arrays[array];
        let Argument::Array(cells) = argument else {
            return Err(wrong_type(&declared.name, declared.element));
        };
        if cells.iter().any(|cell| cell.ty() != declared.element) {
            return Err(wrong_type(&declared.name, declared.element));
        }
        let extents = self.extents(declared)?;
        let expected = elements(&extents)?;
        if i64::try_from(cells.len()) != Ok(expected) {
            return Err(Stop::Arguments(BadArguments::Length {
                array: declared.name.clone(),
                expected,
                found: cells.len(),
            }));
        }
        let cells = cells.clone();
        self.arrays.insert(array, Storage { extents, cells });
        Ok(())
    }

    fn extents(&self, array: &Array) -> Result<Vec<i64>, Overflow> {
        let extents = array.extents.iter().map(|extent| self.affine(extent));
        extents.collect()
    }

    fn burn(&mut self) -> Result<(), Stop> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Stop::OutOfFuel)?;
        Ok(())
    }

    fn block(&mut self, nodes: &[Node]) -> Result<(), Stop> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Result<(), Stop> {
        self.burn()?;
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
            } => {
                let holds = self.holds(condition)?;
                self.block(if holds { then } else { otherwise })
            }
            Node::ScfWhile { condition, body } => {
                while self.holds(condition)? {
                    self.burn()?;
                    self.block(body)?;
                }
                Ok(())
            }
            Node::Declare { local, value } => {
                let value = self.expr(value)?;
                self.locals.insert(*local, value);
                Ok(())
            }
            Node::Assign { place, value, .. } => {
                let value = self.expr(value)?;
                self.store(place, value)
            }
            Node::Reduce {
                place,
                combiner,
                value,
                ..
            } => {
                let incoming = self.expr(value)?;
                self.reduce(place, combiner, incoming)
            }
        }
    }

    fn affine_for(&mut self, affine: &AffineFor) -> Result<(), Stop> {
        let lower = self.bound(&affine.lower)?.into_iter().max().unwrap_or(0);
        let upper = self.bound(&affine.upper)?.into_iter().min().unwrap_or(0);
        self.counted(affine.iter, (lower, upper), affine.step, &affine.body)
    }

    fn bound(&self, bound: &Bound) -> Result<Vec<i64>, Overflow> {
        bound.0.iter().map(|expr| self.affine(expr)).collect()
    }

    fn scf_for(&mut self, scf: &ScfFor) -> Result<(), Stop> {
        let lower = self.index(&scf.lower)?;
        let upper = self.index(&scf.upper)?;
        self.counted(scf.iter, (lower, upper), scf.step, &scf.body)
    }

    /// Bounds are `i64`, so their mathematical value fits.
    fn index(&mut self, expr: &Expr) -> Result<i64, Stop> {
        let value = self.expr(expr)?.as_integer();
        let value = value.and_then(|value| i64::try_from(value).ok());
        Ok(value.unwrap_or(0))
    }

    fn counted(
        &mut self,
        iter: IterId,
        range: (i64, i64),
        step: i64,
        body: &[Node],
    ) -> Result<(), Stop> {
        let mut at = Some(range.0);
        self.running.push(iter);
        while let Some(value) = at.filter(|value| *value < range.1) {
            self.burn()?;
            self.iters.insert(iter, value);
            self.block(body)?;
            at = value.checked_add(step);
        }
        self.running.pop();
        Ok(())
    }

    fn forall(&mut self, forall: &Forall) -> Result<(), Stop> {
        let count = self.affine(&forall.count)?;
        let mut iterations: Vec<i64> = (0..count).collect();
        if self.order == ForallOrder::Backward {
            iterations.reverse();
        }
        let mut finished = Vec::new();
        for iteration in iterations {
            for private in &forall.privates {
                self.fill(private)?;
            }
            self.counted(forall.iter, (iteration, iteration + 1), 1, &forall.body)?;
            finished.push((iteration, self.take_buffers(&forall.privates)));
        }
        finished.sort_by_key(|(iteration, _)| *iteration);
        for (_, buffers) in finished {
            for (private, buffer) in forall.privates.iter().zip(buffers) {
                self.merge(private, buffer);
            }
        }
        Ok(())
    }

    fn fill(&mut self, private: &Private) -> Result<(), Stop> {
        let declared = &self.kernel.arrays[private.buffer];
        let extents = self.extents(declared)?;
        let elements = elements(&extents)?;
        let ty = declared.element;
        let identity = private.combiner.identity(ty).unwrap_or(Value::zero(ty));
        let cells = vec![identity; usize::try_from(elements).unwrap_or(0)];
        self.arrays
            .insert(private.buffer, Storage { extents, cells });
        Ok(())
    }

    fn take_buffers(&mut self, privates: &[Private]) -> Vec<Vec<Value>> {
        let mut take = |private: &Private| {
            let storage = self.arrays.remove(private.buffer);
            storage.map_or(Vec::new(), |storage| storage.cells)
        };
        privates.iter().map(&mut take).collect()
    }

    fn merge(&mut self, private: &Private, buffer: Vec<Value>) {
        let body = private
            .combiner
            .body(self.kernel.arrays[private.target].element);
        if let Some(target) = self.arrays.get_mut(private.target) {
            for (held, incoming) in target.cells.iter_mut().zip(buffer) {
                *held = combine(&body, *held, incoming);
            }
        }
    }

    fn conditions(&self, conditions: &[Condition]) -> Result<bool, Overflow> {
        for condition in conditions {
            let left = self.affine(&condition.left)?;
            let right = self.affine(&condition.right)?;
            let holds = match condition.relation {
                Relation::LessOrEqual => left <= right,
                Relation::Less => left < right,
                Relation::Equal => left == right,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn affine(&self, expr: &AffineExpr) -> Result<i64, Overflow> {
        expr.evaluate(&|variable| match variable {
            Variable::Iter(iter) => self.iters.get(iter).copied().unwrap_or(0),
            Variable::Param(param) => self.size(param),
        })
    }

    /// A parameter above the largest `i64` counts as that: nothing can be that large.
    fn size(&self, param: ScalarId) -> i64 {
        let value = self.scalars.get(param).and_then(|value| value.as_integer());
        value.map_or(0, |value| i64::try_from(value).unwrap_or(i64::MAX))
    }

    fn store(&mut self, place: &Place, value: Value) -> Result<(), Stop> {
        match place {
            Place::Local(local) => {
                self.locals.insert(*local, value);
            }
            Place::Element(access) => {
                let position = self.position(access)?;
                if let Some(cell) = self.cell_mut(access.array, position) {
                    *cell = value;
                }
            }
        }
        Ok(())
    }

    fn reduce(&mut self, place: &Place, combiner: &Combiner, incoming: Value) -> Result<(), Stop> {
        let body = combiner.body(incoming.ty());
        match place {
            Place::Local(local) => {
                if let Some(held) = self.locals.get_mut(*local) {
                    *held = combine(&body, *held, incoming);
                }
            }
            Place::Element(access) => {
                let position = self.position(access)?;
                if let Some(held) = self.cell_mut(access.array, position) {
                    *held = combine(&body, *held, incoming);
                }
            }
        }
        Ok(())
    }

    fn cell_mut(&mut self, array: ArrayId, position: usize) -> Option<&mut Value> {
        self.arrays.get_mut(array)?.cells.get_mut(position)
    }

    /// Where an access lands in its array's cells: all subscripts are evaluated, then each is checked, outermost first.
    fn position(&mut self, access: &Access) -> Result<usize, Stop> {
        let mut indices = Vec::with_capacity(access.subscripts.len());
        for subscript in &access.subscripts {
            indices.push(self.subscript(subscript)?);
        }
        let storage = self.arrays.get(access.array);
        let extents = storage.map_or(&[][..], |storage| &storage.extents);
        let mut position = 0_i128;
        for (index, extent) in indices.into_iter().zip(extents) {
            if !(0..i128::from(*extent)).contains(&index) {
                let array = self.kernel.arrays[access.array].name.clone();
                let kind = FaultKind::OutOfRange {
                    array,
                    index,
                    extent: *extent,
                };
                return Err(self.fault(kind, access.span));
            }
            position = position * i128::from(*extent) + index;
        }
        usize::try_from(position).map_err(|_| Stop::Overflow)
    }

    fn subscript(&mut self, subscript: &Subscript) -> Result<i128, Stop> {
        match subscript {
            Subscript::Affine(expr) => Ok(i128::from(self.affine(expr)?)),
            Subscript::Computed(expr) => Ok(self.expr(expr)?.as_integer().unwrap_or(-1)),
        }
    }

    fn fault(&self, kind: FaultKind, span: Span) -> Stop {
        let named = |iter: &IterId| {
            let value = self.iters.get(*iter).copied().unwrap_or(0);
            (self.kernel.iters[*iter].name.clone(), value)
        };
        Stop::Fault(Fault {
            kind,
            span,
            iteration: self.running.iter().map(named).collect(),
        })
    }

    fn holds(&mut self, condition: &Expr) -> Result<bool, Stop> {
        Ok(self.expr(condition)?.bits() != 0)
    }

    fn expr(&mut self, expr: &Expr) -> Result<Value, Stop> {
        match expr {
            Expr::Constant(value) => Ok(*value),
            Expr::Iter(iter) => Ok(Value::i64(self.iters.get(*iter).copied().unwrap_or(0))),
            Expr::Param(param) => Ok(self.known(self.scalars.get(*param))),
            Expr::Local(local) => Ok(self.known(self.locals.get(*local))),
            // Only combiner bodies have operands, and those go through `combine`.
            Expr::Operand(_) => Ok(Value::i64(0)),
            Expr::Load(access) => {
                let position = self.position(access)?;
                let storage = self.arrays.get(access.array);
                Ok(self.known(storage.and_then(|storage| storage.cells.get(position))))
            }
            Expr::Unary(op, operand) => Ok(evaluate::unary(*op, self.expr(operand)?)),
            Expr::Binary(op, left, right, span) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                let by_zero = |DivisionByZero| self.fault(FaultKind::DivisionByZero, *span);
                evaluate::binary(*op, left, right).map_err(by_zero)
            }
            Expr::Compare(op, left, right) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                Ok(Value::bool(evaluate::compare(*op, left, right)))
            }
            Expr::And(left, right) => Ok(Value::bool(self.holds(left)? && self.holds(right)?)),
            Expr::Or(left, right) => Ok(Value::bool(self.holds(left)? || self.holds(right)?)),
            Expr::Select(condition, then, otherwise) => {
                let holds = self.holds(condition)?;
                self.expr(if holds { then } else { otherwise })
            }
            Expr::Cast(ty, operand) => Ok(evaluate::convert(*ty, self.expr(operand)?)),
        }
    }

    /// A verified kernel names nothing that has no value.
    fn known(&self, value: Option<&Value>) -> Value {
        value.copied().unwrap_or(Value::i64(0))
    }
}

fn wrong_type(parameter: &str, expected: Type) -> Stop {
    Stop::Arguments(BadArguments::Type {
        parameter: parameter.to_owned(),
        expected,
    })
}

/// The number of elements of an array; an extent below zero is no array.
fn elements(extents: &[i64]) -> Result<i64, Overflow> {
    extents.iter().try_fold(1_i64, |product, extent| {
        if *extent < 0 {
            return Err(Overflow);
        }
        product.checked_mul(*extent).ok_or(Overflow)
    })
}

/// The value of a combiner's body. Bodies have no division, so nothing in them can fail.
fn combine(body: &Expr, held: Value, incoming: Value) -> Value {
    let on = |expr: &Expr| combine(expr, held, incoming);
    match body {
        Expr::Operand(Operand::Incoming) => incoming,
        Expr::Constant(value) => *value,
        Expr::Unary(op, operand) => evaluate::unary(*op, on(operand)),
        Expr::Binary(op, left, right, _) => {
            evaluate::binary(*op, on(left), on(right)).unwrap_or(held)
        }
        Expr::Compare(op, left, right) => Value::bool(evaluate::compare(*op, on(left), on(right))),
        Expr::Select(condition, then, otherwise) => on(if on(condition).bits() != 0 {
            then
        } else {
            otherwise
        }),
        _ => held,
    }
}
