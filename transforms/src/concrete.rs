//! A kernel run at small sizes, with what it touches inside one loop written down.

use std::collections::HashMap;
use strew_affine::evaluate;
use strew_affine::visit::AccessKind;
use strew_affine::{
    Access, AffineExpr, AffineFor, ArrayId, Combiner, Condition, Expr, Forall, IterId, Kernel,
    LocalId, Node, NotComputed, Place, Private, Relation, ScalarId, ScfFor, Span, StdMath,
    Subscript, Value, Variable,
};

/// What is watched while a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    Array(ArrayId),
    Local(LocalId),
}

/// One access to what is watched.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) kind: AccessKind,
    pub(crate) combiner: Option<Combiner>,
    pub(crate) span: Span,
    /// No subscripts for a scalar.
    pub(crate) cell: Vec<i64>,
    /// The loops around, outermost first, with their iterators' values.
    pub(crate) iteration: Vec<(IterId, i64)>,
    /// How often the loop that is looked at was entered before.
    pub(crate) entry: usize,
}

/// What the parameters and arrays hold at first.
#[derive(Default)]
pub(crate) struct Inputs {
    pub(crate) scalars: HashMap<ScalarId, Value>,
    pub(crate) arrays: HashMap<ArrayId, Vec<Value>>,
}

/// The run came to no end that counts: a fault, an overflow, a function whose value is not known here, or too long.
pub(crate) struct Stopped;

impl From<NotComputed> for Stopped {
    fn from(_: NotComputed) -> Self {
        Self
    }
}

/// The accesses to `watched` inside the loop over `target`, in the order of the run. What the run costs is taken from `fuel`.
pub(crate) fn touches(
    kernel: &Kernel,
    inputs: Inputs,
    target: IterId,
    watched: Watched,
    fuel: &mut u32,
) -> Result<Vec<Touch>, Stopped> {
    let mut run = Run {
        watch: Some((target, watched)),
        ..Run::new(kernel, inputs, *fuel)
    };
    let end = run.block(&kernel.body);
    *fuel = run.fuel;
    end.map(|()| run.touches)
}

/// A place that was found.
#[derive(Clone, Copy)]
enum Cell {
    Local(LocalId),
    Element(ArrayId, usize),
}

struct Run<'k> {
    kernel: &'k Kernel,
    scalars: HashMap<ScalarId, Value>,
    arrays: HashMap<ArrayId, Vec<Value>>,
    locals: HashMap<LocalId, Value>,
    iteration: Vec<(IterId, i64)>,
    fuel: u32,
    watch: Option<(IterId, Watched)>,
    entries: usize,
    touches: Vec<Touch>,
}

impl<'k> Run<'k> {
    fn new(kernel: &'k Kernel, inputs: Inputs, fuel: u32) -> Self {
        Self {
            kernel,
            scalars: inputs.scalars,
            arrays: inputs.arrays,
            locals: HashMap::new(),
            iteration: Vec::new(),
            fuel,
            watch: None,
            entries: 0,
            touches: Vec::new(),
        }
    }

    fn burn(&mut self) -> Result<(), Stopped> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Stopped)?;
        Ok(())
    }

    fn block(&mut self, nodes: &[Node]) -> Result<(), Stopped> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Result<(), Stopped> {
        self.burn()?;
        match node {
            Node::AffineFor(it) => self.affine_for(it),
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => {
                let holds = self.all_hold(conditions)?;
                self.block(if holds { then } else { otherwise })
            }
            Node::Forall(it) => self.forall(it),
            Node::ScfFor(it) => self.scf_for(it),
            Node::ScfWhile { condition, body } => {
                while self.holds(condition)? {
                    self.burn()?;
                    self.block(body)?;
                }
                Ok(())
            }
            Node::ScfIf {
                condition,
                then,
                otherwise,
            } => {
                let holds = self.holds(condition)?;
                self.block(if holds { then } else { otherwise })
            }
            Node::Declare { local, value } => {
                let value = self.expr(value)?;
                self.locals.insert(*local, value);
                Ok(())
            }
            Node::Alloc { array } => self.alloc(*array),
            Node::Assign { place, value, span } => {
                let value = self.expr(value)?;
                let cell = self.find(place, None, *span)?;
                self.set(cell, value)
            }
            Node::Reduce {
                places,
                combiner,
                values,
                span,
            } => self.reduce(places, combiner, values, *span),
        }
    }

    fn alloc(&mut self, array: ArrayId) -> Result<(), Stopped> {
        let declared = &self.kernel.arrays[array];
        let mut elements: u32 = 1;
        for extent in self.affine_all(&declared.extents)? {
            let extent = u32::try_from(extent).map_err(|_| Stopped)?;
            elements = elements.checked_mul(extent).ok_or(Stopped)?;
        }
        self.fuel = self.fuel.checked_sub(elements).ok_or(Stopped)?;
        let zero = Value::zero(declared.element);
        self.arrays.insert(array, vec![zero; elements as usize]);
        Ok(())
    }

    fn affine_for(&mut self, it: &AffineFor) -> Result<(), Stopped> {
        let lower = self
            .affine_all(&it.lower.0)?
            .into_iter()
            .max()
            .ok_or(Stopped)?;
        let upper = self
            .affine_all(&it.upper.0)?
            .into_iter()
            .min()
            .ok_or(Stopped)?;
        self.counted(it.iter, lower, upper, it.step, &it.body)
    }

    fn scf_for(&mut self, it: &ScfFor) -> Result<(), Stopped> {
        let lower = self.index(&it.lower)?;
        let upper = self.index(&it.upper)?;
        self.counted(it.iter, lower, upper, it.step, &it.body)
    }

    fn counted(
        &mut self,
        iter: IterId,
        lower: i64,
        upper: i64,
        step: i64,
        body: &[Node],
    ) -> Result<(), Stopped> {
        if self.watch.is_some_and(|(target, _)| target == iter) {
            self.entries += 1;
        }
        let mut value = lower;
        while value < upper {
            self.burn()?;
            self.iteration.push((iter, value));
            self.block(body)?;
            self.iteration.pop();
            value = value.checked_add(step).ok_or(Stopped)?;
        }
        Ok(())
    }

    /// Merges after each iteration: nothing in the body sees the targets.
    fn forall(&mut self, it: &Forall) -> Result<(), Stopped> {
        for value in 0..self.affine(&it.count)? {
            for private in &it.privates {
                self.fill(private)?;
            }
            self.counted(it.iter, value, value + 1, 1, &it.body)?;
            for private in &it.privates {
                self.merge(private)?;
            }
        }
        Ok(())
    }

    fn fill(&mut self, private: &Private) -> Result<(), Stopped> {
        let identity = private.combiner.identity(&private.types(self.kernel));
        let buffers = private.buffers.iter().zip(&private.targets);
        for ((buffer, target), value) in buffers.zip(identity.ok_or(Stopped)?) {
            let elements = self.arrays.get(target).ok_or(Stopped)?.len();
            self.arrays.insert(*buffer, vec![value; elements]);
        }
        Ok(())
    }

    fn merge(&mut self, private: &Private) -> Result<(), Stopped> {
        let elements = |array: &ArrayId| self.arrays.get(array).map_or(0, Vec::len);
        for position in 0..private.targets.first().map_or(0, elements) {
            let cells = |arrays: &[ArrayId]| -> Result<Vec<Value>, Stopped> {
                let cells = arrays.iter().map(|array| self.element(*array, position));
                cells.collect()
            };
            let (held, incoming) = (cells(&private.targets)?, cells(&private.buffers)?);
            let merged = private.combiner.combine(&held, &incoming, &StdMath)?;
            for (target, value) in private.targets.iter().zip(merged) {
                self.set(Cell::Element(*target, position), value)?;
            }
        }
        for buffer in &private.buffers {
            self.arrays.remove(buffer);
        }
        Ok(())
    }

    fn reduce(
        &mut self,
        places: &[Place],
        combiner: &Combiner,
        values: &[Expr],
        span: Span,
    ) -> Result<(), Stopped> {
        let mut incoming = Vec::new();
        for value in values {
            incoming.push(self.expr(value)?);
        }
        let mut found = Vec::new();
        for place in places {
            found.push(self.find(place, Some(combiner), span)?);
        }
        let mut held = Vec::new();
        for cell in &found {
            held.push(self.get(*cell)?);
        }
        let after = combiner.combine(&held, &incoming, &StdMath)?;
        for (cell, value) in found.into_iter().zip(after) {
            self.set(cell, value)?;
        }
        Ok(())
    }

    /// Where `place` is; that it is going to be written counts as a touch.
    fn find(
        &mut self,
        place: &Place,
        combiner: Option<&Combiner>,
        span: Span,
    ) -> Result<Cell, Stopped> {
        let kind = combiner.map_or(AccessKind::Write, |_| AccessKind::Reduce);
        match place {
            Place::Local(local) => {
                self.touch(Watched::Local(*local), kind, combiner, span, &[]);
                Ok(Cell::Local(*local))
            }
            Place::Element(access) => {
                let (cell, position) = self.cell(access)?;
                self.touch(Watched::Array(access.array), kind, combiner, span, &cell);
                Ok(Cell::Element(access.array, position))
            }
        }
    }

    fn get(&self, cell: Cell) -> Result<Value, Stopped> {
        match cell {
            Cell::Local(local) => self.locals.get(&local).copied().ok_or(Stopped),
            Cell::Element(array, position) => self.element(array, position),
        }
    }

    fn set(&mut self, cell: Cell, value: Value) -> Result<(), Stopped> {
        match cell {
            Cell::Local(local) => {
                self.locals.insert(local, value);
            }
            Cell::Element(array, position) => {
                let array = self.arrays.get_mut(&array).ok_or(Stopped)?;
                *array.get_mut(position).ok_or(Stopped)? = value;
            }
        }
        Ok(())
    }

    fn touch(
        &mut self,
        watched: Watched,
        kind: AccessKind,
        combiner: Option<&Combiner>,
        span: Span,
        cell: &[i64],
    ) {
        let inside = |target: IterId| self.iteration.iter().any(|(iter, _)| *iter == target);
        if self
            .watch
            .is_some_and(|(target, what)| what == watched && inside(target))
        {
            self.touches.push(Touch {
                kind,
                combiner: combiner.cloned(),
                span,
                cell: cell.to_vec(),
                iteration: self.iteration.clone(),
                entry: self.entries,
            });
        }
    }

    /// The subscripts of `access` and the position in the array, row by row.
    fn cell(&mut self, access: &Access) -> Result<(Vec<i64>, usize), Stopped> {
        let subscripts = access.subscripts.iter().map(|subscript| match subscript {
            Subscript::Affine(expr) => self.affine(expr),
            Subscript::Computed(expr) => self.index(expr),
        });
        let cell = subscripts.collect::<Result<Vec<i64>, _>>()?;
        let extents = self.affine_all(&self.kernel.arrays[access.array].extents)?;
        let mut position = 0;
        for (index, extent) in cell.iter().zip(extents) {
            if !(0..extent).contains(index) {
                return Err(Stopped);
            }
            position = position * extent + index;
        }
        Ok((cell, usize::try_from(position).map_err(|_| Stopped)?))
    }

    fn element(&self, array: ArrayId, position: usize) -> Result<Value, Stopped> {
        let array = self.arrays.get(&array).ok_or(Stopped)?;
        array.get(position).copied().ok_or(Stopped)
    }

    fn affine(&self, expr: &AffineExpr) -> Result<i64, Stopped> {
        expr.evaluate(&|variable| self.variable(variable))
            .map_err(|_| Stopped)
    }

    fn affine_all(&self, exprs: &[AffineExpr]) -> Result<Vec<i64>, Stopped> {
        exprs.iter().map(|expr| self.affine(expr)).collect()
    }

    fn variable(&self, variable: Variable) -> i64 {
        let value = match variable {
            Variable::Param(param) => self
                .scalars
                .get(&param)
                .and_then(|value| value.as_integer()),
            Variable::Iter(iter) => self.iter(iter).map(i128::from),
        };
        value
            .and_then(|value| i64::try_from(value).ok())
            .unwrap_or_default()
    }

    fn iter(&self, iter: IterId) -> Option<i64> {
        let bound = self.iteration.iter().find(|(it, _)| *it == iter);
        bound.map(|(_, value)| *value)
    }

    fn all_hold(&self, conditions: &[Condition]) -> Result<bool, Stopped> {
        for condition in conditions {
            let (left, right) = (
                self.affine(&condition.left)?,
                self.affine(&condition.right)?,
            );
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

    fn holds(&mut self, condition: &Expr) -> Result<bool, Stopped> {
        Ok(self.expr(condition)?.bits() != 0)
    }

    fn index(&mut self, expr: &Expr) -> Result<i64, Stopped> {
        let value = self.expr(expr)?.as_integer().ok_or(Stopped)?;
        i64::try_from(value).map_err(|_| Stopped)
    }

    fn expr(&mut self, expr: &Expr) -> Result<Value, Stopped> {
        self.burn()?;
        let value = match expr {
            Expr::Constant(value) => Some(*value),
            Expr::Iter(iter) => self.iter(*iter).map(Value::i64),
            Expr::Param(param) => self.scalars.get(param).copied(),
            Expr::Local(local) => {
                self.touch(
                    Watched::Local(*local),
                    AccessKind::Read,
                    None,
                    Span::default(),
                    &[],
                );
                self.locals.get(local).copied()
            }
            // Only combiners' bodies have operands, and those go through `Combiner::combine`.
            Expr::Operand(_) => None,
            Expr::Load(access) => {
                let (cell, position) = self.cell(access)?;
                self.touch(
                    Watched::Array(access.array),
                    AccessKind::Read,
                    None,
                    access.span,
                    &cell,
                );
                Some(self.element(access.array, position)?)
            }
            Expr::Unary(op, operand) => Some(evaluate::unary(*op, self.expr(operand)?)),
            Expr::Binary(op, left, right, _) => {
                let left = self.expr(left)?;
                evaluate::binary(*op, left, self.expr(right)?).ok()
            }
            Expr::Compare(op, left, right) => {
                let left = self.expr(left)?;
                Some(Value::bool(evaluate::compare(*op, left, self.expr(right)?)))
            }
            Expr::And(left, right) => Some(Value::bool(self.holds(left)? && self.holds(right)?)),
            Expr::Or(left, right) => Some(Value::bool(self.holds(left)? || self.holds(right)?)),
            Expr::Select(condition, then, otherwise) => {
                let chosen = if self.holds(condition)? {
                    then
                } else {
                    otherwise
                };
                Some(self.expr(chosen)?)
            }
            Expr::Cast(ty, operand) => Some(evaluate::convert(*ty, self.expr(operand)?)),
            Expr::Call(function, operands) => {
                let mut values = Vec::with_capacity(operands.len());
                for operand in operands {
                    values.push(self.expr(operand)?);
                }
                Some(evaluate::call(&StdMath, *function, &values)?)
            }
        };
        value.ok_or(Stopped)
    }
}
