//! `for` loops.
//!
//! A loop is *counted* when its iterator, its bound and its step are what they seem: nothing in the loop changes them, and
//! the iterator reaches the bound without wrapping around in its C type. Then it has an iterator in the kernel: in an
//! `affine.for` if both bounds are affine, else in an `scf.for`. Every other loop becomes an `scf.while` over a variable of the
//! iterator's C type, which wraps as C's does.

use super::interval::Interval;
use super::value::Typed;
use super::{Binding, Lowering};
use crate::Pragma;
use crate::ast::{
    BinaryOp as Operator, Declaration, Expr, ExprKind, For, LoopId, Name, Start, Statement,
};
use crate::problem::{Problem, Uncounted};
use crate::types::{self, Position};
use strew_affine::{
    AffineExpr, AffineFor, BinaryOp, CompareOp, Expr as Computation, Iter, IterId, LocalId, Node,
    ScfFor, Span, Type, Variable,
};

/// A counted loop.
struct Counted<'s> {
    name: &'s Name,
    ty: Type,
    first: Typed,
    end: End,
    step: i64,
    /// The values in the body.
    range: Interval,
}

/// What the iterator stays below.
struct End {
    /// An `i64`.
    expr: Computation,
    affine: Option<AffineExpr>,
    range: Interval,
}

impl Lowering<'_> {
    pub(super) fn for_loop(&mut self, statement: &Statement, it: &For, body: &mut Vec<Node>) {
        match self.counted(it) {
            Ok(counted) => self.counted_loop(statement, it, counted, body),
            Err(why) => {
                for pragma in &statement.pragmas {
                    let problem = Problem::PragmaOnUncountedLoop { why };
                    self.diagnostics.report(problem, pragma.span);
                }
                self.general_loop(it, statement.span, body);
            }
        }
    }

    fn general_loop(&mut self, it: &For, span: Span, body: &mut Vec<Node>) {
        match &it.start {
            Start::Nothing => {}
            Start::Declaration(declaration) => self.declaration(declaration, body),
            Start::Expression(expr) => self.effect(expr, body),
        }
        self.while_loop(
            it.condition.as_ref(),
            &it.body,
            it.step.as_ref(),
            span,
            body,
        );
    }

    fn counted<'s>(&mut self, it: &'s For) -> Result<Counted<'s>, Uncounted> {
        if it.body.flow.leaves() {
            return Err(Uncounted::Left);
        }
        let (name, ty, first) = self.start(&it.start).ok_or(Uncounted::Header)?;
        let condition = it.condition.as_ref().ok_or(Uncounted::Header)?;
        let (op, bound) = comparison(condition, name).ok_or(Uncounted::Header)?;
        let step = it.step.as_ref().and_then(|step| self.step(step, name));
        let step = step.ok_or(Uncounted::Header)?;
        let id = it.id.ok_or(Uncounted::Header)?;
        self.check_assignments(id, name, bound)?;
        let first = self
            .plain_expression(first)
            .ok_or(Uncounted::Header)?
            .convert(ty);
        let bound = self.plain_expression(bound).ok_or(Uncounted::Header)?;
        if !ty.is_integer() || bound.ty.is_float() {
            return Err(Uncounted::Header);
        }
        let compared = types::common(ty, bound.ty);
        let bound = bound.convert(compared);
        let end = end(op, step, &first, bound).ok_or(Uncounted::MayWrap)?;
        let range = values(&first, &end, step, &[ty, compared]).ok_or(Uncounted::MayWrap)?;
        Ok(Counted {
            name,
            ty,
            first,
            end,
            step,
            range,
        })
    }

    /// The iterator, its type and its first value.
    fn start<'s>(&self, start: &'s Start) -> Option<(&'s Name, Type, &'s Expr)> {
        match start {
            Start::Declaration(Declaration {
                ty, declarators, ..
            }) => {
                let named = types::named(ty, Position::Variable).ok()?;
                let [declarator] = declarators.as_slice() else {
                    return None;
                };
                let is_plain = !named.is_const
                    && declarator.pointers.is_empty()
                    && declarator.lengths.is_empty();
                let initial = declarator.initial.as_ref().filter(|_| is_plain)?;
                Some((&declarator.name, named.ty?, initial))
            }
            Start::Expression(expr) => match &expr.kind {
                ExprKind::Assign(None, place, value) => {
                    let name = place.as_name()?;
                    match self.binding(name) {
                        Binding::Variable {
                            local,
                            is_const: false,
                        } => Some((name, self.kernel.locals[*local].ty, value)),
                        _ => None,
                    }
                }
                _ => None,
            },
            Start::Nothing => None,
        }
    }

    /// The positive constant that each turn adds.
    fn step(&mut self, step: &Expr, name: &Name) -> Option<i64> {
        let amount = match &step.kind {
            ExprKind::Step(step, place) if step.up && is_name(place, name) => return Some(1),
            ExprKind::Assign(Some(BinaryOp::Add), place, amount) if is_name(place, name) => amount,
            ExprKind::Assign(None, place, value) if is_name(place, name) => match &value.kind {
                ExprKind::Binary(Operator::Arithmetic(BinaryOp::Add), left, right) => {
                    if is_name(left, name) {
                        right
                    } else if is_name(right, name) {
                        left
                    } else {
                        return None;
                    }
                }
                _ => return None,
            },
            _ => return None,
        };
        let amount = self.plain_expression(amount)?;
        let amount = i64::try_from(amount.as_constant()?).ok()?;
        (amount > 0).then_some(amount)
    }

    /// Whether nothing but the step changes the iterator, and nothing the bound.
    fn check_assignments(&self, id: LoopId, name: &Name, bound: &Expr) -> Result<(), Uncounted> {
        let writes = |name: &Name| match name.declaration {
            Some(declaration) => self.active.symbols.writes_in(declaration, id),
            None => 0,
        };
        if writes(name) != 1 {
            return Err(Uncounted::IteratorAssigned);
        }
        let mut changes = false;
        bound.for_each_name(&mut |it| changes |= writes(it) != 0);
        if changes {
            return Err(Uncounted::BoundChanges);
        }
        Ok(())
    }

    fn counted_loop(
        &mut self,
        statement: &Statement,
        it: &For,
        counted: Counted<'_>,
        body: &mut Vec<Node>,
    ) {
        let outside = self.binding(counted.name).clone();
        let kept = self.kept_variable(it, counted.name);
        let mut counted = counted;
        if let Some(local) = kept {
            let first = Computation::Local(local);
            let first = std::mem::replace(&mut counted.first.expr, first);
            body.push(self.set(local, first, statement.span));
        }
        let iter = self.kernel.iters.alloc(Iter {
            name: counted.name.text.clone(),
            span: statement.span,
        });
        self.ranges.set(Variable::Iter(iter), counted.range);
        self.attach(statement, iter, &counted.name.text);
        let ty = counted.ty;
        self.bind(counted.name, Binding::Iterator { iter, ty });
        let block = self.turn(&it.body, None);
        self.bind(counted.name, outside);
        let last = kept.map(|local| (local, counted.final_value(local)));
        body.push(counted.node(iter, block));
        if let Some((local, value)) = last {
            body.push(self.set(local, value, statement.span));
        }
    }

    fn attach(&mut self, statement: &Statement, iter: IterId, name: &str) {
        let labels = statement.labels.iter().map(|label| label.text.clone());
        let loop_names: Vec<_> = labels.chain([name.to_owned()]).collect();
        for pragma in &statement.pragmas {
            self.pragmas.push(Pragma {
                loop_iter: iter,
                loop_names: loop_names.clone(),
                text: pragma.text.clone(),
                span: pragma.span,
            });
        }
        let labels = statement.labels.iter();
        self.labels
            .extend(labels.map(|label| (iter, label.text.clone())));
    }

    /// The variable outside of the loop that has to hold what the iterator was at last.
    fn kept_variable(&self, it: &For, name: &Name) -> Option<LocalId> {
        let is_read = name
            .declaration
            .is_some_and(|id| self.active.symbols.symbol(id).read_outside_its_loops);
        match (&it.start, self.binding(name)) {
            (Start::Expression(_), Binding::Variable { local, .. }) if is_read => Some(*local),
            _ => None,
        }
    }
}

impl Counted<'_> {
    fn node(self, iter: IterId, body: Vec<Node>) -> Node {
        let step = self.step;
        match (self.first.known.affine.clone(), self.end.affine) {
            (Some(lower), Some(upper)) => Node::AffineFor(AffineFor {
                iter,
                lower: lower.into(),
                upper: upper.into(),
                step,
                body,
            }),
            _ => Node::ScfFor(ScfFor {
                iter,
                lower: self.first.convert(Type::I64).expr,
                upper: self.end.expr,
                step,
                body,
            }),
        }
    }

    /// What the variable is after the loop, when it was set to the first value before the loop.
    fn final_value(&self, local: LocalId) -> Computation {
        let first = Typed {
            expr: Computation::Local(local),
            ty: self.ty,
            known: self.first.known.clone(),
        };
        let first = first.convert(Type::I64).expr;
        let end = self.end.expr.clone();
        let runs = Computation::compare(CompareOp::Lt, first.clone(), end.clone());
        let last = if self.step == 1 {
            end
        } else {
            self.rounded_up(&first, end)
        };
        let last = Typed::any(Computation::select(runs, last, first), Type::I64);
        last.convert(self.ty).expr
    }

    /// `first + ((end - first + (step - 1)) / step) * step`
    fn rounded_up(&self, first: &Computation, end: Computation) -> Computation {
        let operate = |op, left, right| Computation::binary(op, left, right, Span::default());
        let step = Computation::i64(self.step);
        let length = operate(BinaryOp::Sub, end, first.clone());
        let length = operate(BinaryOp::Add, length, Computation::i64(self.step - 1));
        let turns = operate(BinaryOp::Div, length, step.clone());
        operate(
            BinaryOp::Add,
            first.clone(),
            operate(BinaryOp::Mul, turns, step),
        )
    }
}

/// The relation of the iterator to its bound.
fn comparison<'s>(condition: &'s Expr, name: &Name) -> Option<(CompareOp, &'s Expr)> {
    let ExprKind::Binary(Operator::Compare(op), left, right) = &condition.kind else {
        return None;
    };
    let (op, bound) = if is_name(left, name) {
        (*op, right)
    } else if is_name(right, name) {
        let mirrored = match op {
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
            CompareOp::Ne => CompareOp::Ne,
            _ => return None,
        };
        (mirrored, left)
    } else {
        return None;
    };
    matches!(op, CompareOp::Lt | CompareOp::Le | CompareOp::Ne).then_some((op, bound))
}

/// The end that a bound means; `None` when it may not be an `i64`, or when `!=` may miss the bound.
fn end(op: CompareOp, step: i64, first: &Typed, bound: Typed) -> Option<End> {
    let low = bound.known.range?.low;
    if op == CompareOp::Ne && (step != 1 || first.known.range?.high > low) {
        return None;
    }
    if !bound.known.range?.is_within(Interval::i64()) {
        return None;
    }
    let bound = bound.convert(Type::I64);
    if op != CompareOp::Le {
        let range = bound.known.range?;
        let affine = bound.known.affine;
        let expr = bound.expr;
        return Some(End {
            expr,
            affine,
            range,
        });
    }
    let affine = bound.known.affine.and_then(|it| it.offset(1).ok());
    let range = bound.known.range?.plus(Interval::point(1));
    let one = Computation::i64(1);
    Some(End {
        expr: Computation::binary(BinaryOp::Add, bound.expr, one, Span::default()),
        affine,
        range,
    })
}

/// The values of the iterator in the body; `None` unless every value up to the one that ends the loop fits the types it
/// goes through.
fn values(first: &Typed, end: &End, step: i64, types: &[Type]) -> Option<Interval> {
    let first = first.known.range?;
    let last = (end.range.high - 1).max(first.low);
    let beyond = last + i128::from(step);
    let all = Interval::new(first.low, first.high.max(beyond));
    let fits = types.iter().all(|ty| all.fits(*ty))
        && all.fits(Type::I64)
        && end.range.fits(Type::I64)
        // The number of turns is computed from this difference.
        && (step == 1 || end.range.minus(first).plus(Interval::point(step.into())).fits(Type::I64));
    fits.then(|| Interval::new(first.low, last))
}

fn is_name(expr: &Expr, name: &Name) -> bool {
    expr.as_name()
        .is_some_and(|it| it.declaration.is_some() && it.declaration == name.declaration)
}
