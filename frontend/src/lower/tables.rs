//! Loops over tables of constants, `for (int q = 0; q < 9; q++) … (x + cx[q]) …`, as the
//! directions of a lattice and the neighbours of a cell are written.
//!
//! What a table holds is a constant where its subscript is one. So the turns of such a loop come
//! one behind the other: subscripts that tables have a part in are affine then.

use super::value::Typed;
use super::{Binding, Lowering};
use crate::ast::{
    BinaryOp, Declaration, DeclarationId, Expr, ExprKind, For, Name, Start, Statement, Step,
    UnaryOp,
};
use crate::constant;
use crate::types::{self, Named, Position};
use std::collections::{HashMap, HashSet};
use strew_affine::visit::{for_each_load, for_each_load_of, walk};
use strew_affine::{
    Access, ArrayId, BinaryOp as Arithmetic, Expr as Computation, Node, Place, Span, Subscript,
    Type, Value, evaluate,
};

/// So many turns come one behind the other, of loops inside of each other altogether: those of 27
/// directions do.
const MOST_TURNS: usize = 32;

/// So many expressions do altogether.
const MOST_PARTS: usize = 4096;

/// What a constant array holds where it was given something; it is zero elsewhere.
#[derive(Default)]
pub(super) struct Table(HashMap<Vec<i64>, Value>);

impl Table {
    /// The same with `value` at `subscripts`; `None` if that is no constant.
    pub(super) fn with(mut self, subscripts: &[i64], value: &Computation) -> Option<Self> {
        let Computation::Constant(value) = value else {
            return None;
        };
        self.0.insert(subscripts.to_vec(), *value);
        Some(self)
    }
}

/// The turns of a loop: its variable, and what that is in each.
pub(super) struct Turns {
    variable: DeclarationId,
    values: Vec<Value>,
}

impl Lowering<'_> {
    /// What the element is, if that is the same in all runs.
    pub(super) fn table_value(&self, access: &Access) -> Option<Value> {
        let Table(given) = self.tables.get(&access.array)?;
        let array = &self.kernel.arrays[access.array];
        let subscripts = access.subscripts.iter().zip(&array.extents);
        let subscripts = subscripts.map(|(subscript, extent)| {
            let index = match subscript {
                Subscript::Affine(index) => index.as_constant()?,
                Subscript::Computed(Computation::Constant(value)) => {
                    i64::try_from(value.as_integer()?).ok()?
                }
                Subscript::Computed(_) => return None,
            };
            (0..extent.as_constant()?).contains(&index).then_some(index)
        });
        let subscripts = subscripts.collect::<Option<Vec<_>>>()?;
        let zero = Value::zero(array.element);
        Some(given.get(&subscripts).copied().unwrap_or(zero))
    }

    /// Removes the tables that nothing reads any more.
    pub(super) fn remove_unread_tables(&mut self) {
        let mut read = HashSet::new();
        let mut is_read = |it: &Access| {
            read.insert(it.array);
        };
        walk(&self.kernel.body, &mut |node, _| {
            for_each_load_of(node, &mut is_read)
        });
        if let Some(result) = &self.kernel.result {
            for_each_load(result, &mut is_read);
        }
        let tables = self.tables.keys().copied();
        let unread: HashSet<_> = tables.filter(|it| !read.contains(it)).collect();
        if !unread.is_empty() {
            remove(&mut self.kernel.body, &unread);
        }
    }

    /// The turns of the loop `it`, which is `statement`, if they are few, nobody asks for it or for
    /// what is in it by name, and a table of integers is read in it where its variable says.
    pub(super) fn turns_over_tables(&self, statement: &Statement, it: &For) -> Option<Turns> {
        if it.body.flow.leaves() || has_names(statement) {
            return None;
        }
        let Start::Declaration(declaration) = &it.start else {
            return None;
        };
        let (name, first) = variable(declaration)?;
        let variable = name.declaration?;
        let (mut reads_tables, mut parts) = (false, 0_usize);
        let mut stays = true;
        it.body.for_each_expr(&mut |expr| {
            parts += 1;
            stays &= !may_set(expr, variable) && !self.is_call(expr);
            reads_tables |= self.is_of_table(expr) && mentions(expr, variable);
        });
        if !reads_tables || !stays {
            return None;
        }
        let values = values(it, variable, first)?;
        let copies = values.len().checked_mul(self.copies)?;
        let are_few = copies <= MOST_TURNS && parts.checked_mul(copies)? <= MOST_PARTS;
        are_few.then_some(Turns { variable, values })
    }

    /// Whether `expr` calls a function of the file, whose statements come in its place.
    fn is_call(&self, expr: &Expr) -> bool {
        let ExprKind::Call(name, _) = &expr.kind else {
            return false;
        };
        self.functions.get(&name.text).is_some()
    }

    /// Whether `expr` is an element of a table of integers.
    fn is_of_table(&self, expr: &Expr) -> bool {
        let mut base = expr;
        while let ExprKind::Index(inner, _) = &base.kind {
            base = inner;
        }
        let array = match base.as_name().map(|it| self.binding(it)) {
            Some(Binding::Array { array, .. }) if !std::ptr::eq(base, expr) => *array,
            _ => return false,
        };
        self.tables.contains_key(&array) && self.kernel.arrays[array].element.is_integer()
    }

    /// Each turn of the loop, with its variable a constant.
    pub(super) fn turns_apart(
        &mut self,
        Turns { variable, values }: &Turns,
        it: &For,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        let around = self.copies;
        self.copies = around.saturating_mul(values.len());
        for value in values {
            self.bind_declaration(*variable, Binding::Value(Typed::constant(*value)));
            let turn = self.turn(std::slice::from_ref(&it.body), span, None);
            body.extend(turn);
        }
        self.copies = around;
    }
}

/// Removes `tables`, and what is put into them.
fn remove(body: &mut Vec<Node>, tables: &HashSet<ArrayId>) {
    body.retain(|node| match node {
        Node::Alloc { array } => !tables.contains(array),
        Node::Assign {
            place: Place::Element(access),
            ..
        } => !tables.contains(&access.array),
        _ => true,
    });
    let blocks = body.iter_mut().flat_map(Node::blocks_mut);
    blocks.for_each(|it| remove(it, tables));
}

/// Whether statements in it are named, or told how to run.
fn has_names(statement: &Statement) -> bool {
    let is_named = !statement.pragmas.is_empty() || !statement.labels.is_empty();
    is_named || statement.kind.children().into_iter().any(has_names)
}

/// The one integer that is declared, and what it begins with.
fn variable(declaration: &Declaration) -> Option<(&Name, Value)> {
    let [declarator] = declaration.declarators.as_slice() else {
        return None;
    };
    let is_plain = declarator.pointers.is_empty() && declarator.lengths.is_empty();
    // A constant is no variable of a loop, which is told where its step is lowered.
    let ty = match types::named(&declaration.ty, Position::Variable) {
        Ok(Named {
            ty: Some(ty),
            is_const: false,
            ..
        }) if is_plain && ty.is_integer() => ty,
        _ => return None,
    };
    let first = constant::evaluate(declarator.initial.as_ref()?)?;
    Some((&declarator.name, evaluate::convert(ty, first)))
}

/// What the variable is in each turn, if these are few.
fn values(it: &For, variable: DeclarationId, first: Value) -> Option<Vec<Value>> {
    let (condition, step) = (it.condition.as_ref()?, it.step.as_ref()?);
    let by = step_of(step, variable)?;
    let mut values = vec![first];
    while constant::evaluate(&with(condition, variable, *values.last()?))?.as_integer()? != 0 {
        let next = values.last()?.as_integer()?.checked_add(by)?;
        let next = integer(first.ty(), next)?;
        values.push(next);
        if values.len() > MOST_TURNS + 1 {
            return None;
        }
    }
    values.pop();
    (!values.is_empty()).then_some(values)
}

/// `value`, if it has the type.
fn integer(ty: Type, value: i128) -> Option<Value> {
    let integer = Value::integer(ty, value);
    (integer.as_integer() == Some(value)).then_some(integer)
}

/// How much `step` adds to the variable.
fn step_of(step: &Expr, variable: DeclarationId) -> Option<i128> {
    let (place, by) = match &step.kind {
        ExprKind::Step(Step { up, .. }, place) => (place, if *up { 1 } else { -1 }),
        ExprKind::Assign(Some(op), place, by) => {
            let by = constant::evaluate(by)?.as_integer()?;
            match op {
                Arithmetic::Add => (place, by),
                Arithmetic::Sub => (place, by.checked_neg()?),
                _ => return None,
            }
        }
        _ => return None,
    };
    names(place, variable).then_some(by)
}

/// `condition` with the variable's value in its place, where it compares that.
fn with(condition: &Expr, variable: DeclarationId, value: Value) -> Expr {
    let mut condition = condition.clone();
    if let ExprKind::Binary(BinaryOp::Compare(_), left, right) = &mut condition.kind {
        for side in [left, right] {
            if names(side, variable) {
                side.kind = ExprKind::Constant(value);
            }
        }
    }
    condition
}

fn mentions(expr: &Expr, variable: DeclarationId) -> bool {
    let mut found = false;
    expr.for_each_name(&mut |it| found |= it.declaration == Some(variable));
    found
}

/// Whether `expr` sets the variable, or makes its address known.
fn may_set(expr: &Expr, variable: DeclarationId) -> bool {
    match &expr.kind {
        ExprKind::Assign(_, place, _)
        | ExprKind::Step(_, place)
        | ExprKind::Unary(UnaryOp::AddressOf, place) => names(place, variable),
        _ => false,
    }
}

fn names(expr: &Expr, variable: DeclarationId) -> bool {
    let name = expr.as_name();
    name.is_some_and(|it| it.declaration == Some(variable))
}
