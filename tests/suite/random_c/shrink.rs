//! Smaller functions that may show the same failure.

use super::expression::{Binary, Expression, Place};
use super::function::Function;
use super::statement::{Block, LoopForm, LoopHeader, Statement};
use strew::ir::Type;

/// A function without some part of `function`, for every part.
pub(crate) fn smaller(function: &Function) -> Vec<Function> {
    let with_body = |body| Function {
        body,
        ..function.clone()
    };
    let mut found: Vec<_> = blocks(&function.body).into_iter().map(with_body).collect();
    for (position, helper) in function.helpers.iter().enumerate() {
        let mut fewer = function.clone();
        fewer.helpers.remove(position);
        found.push(fewer);
        for body in blocks(&helper.body) {
            let mut changed = function.clone();
            changed.helpers[position].body = body;
            found.push(changed);
        }
    }
    for array in function.passed() {
        let mut shorter = function.clone();
        shorter.arrays.retain(|it| it.name != array.name);
        found.push(shorter);
    }
    for position in 0..function.tables.len() {
        let mut shorter = function.clone();
        shorter.tables.remove(position);
        found.push(shorter);
    }
    if !function.structures.is_empty() {
        let structures = Vec::new();
        found.push(Function {
            structures,
            ..function.clone()
        });
    }
    for position in 0..function.scalars.len() {
        let mut shorter = function.clone();
        shorter.scalars.remove(position);
        found.push(shorter);
    }
    found
}

fn blocks(block: &Block) -> Vec<Block> {
    let mut found = Vec::new();
    for (position, statement) in block.iter().enumerate() {
        let with = |statements: Vec<Statement>| {
            let mut changed = block.clone();
            changed.splice(position..=position, statements);
            changed
        };
        // The end of a function that has a value must not be reached.
        if !matches!(statement, Statement::Return(_)) {
            found.push(with(Vec::new()));
        }
        found.extend(parts(statement).into_iter().map(with));
        let changed = statements(statement).into_iter();
        found.extend(changed.map(|it| with(vec![it])));
    }
    found
}

/// The blocks inside of a statement, to stand in its place.
fn parts(statement: &Statement) -> Vec<Block> {
    match statement {
        Statement::If(_, yes, no) => std::iter::once(yes).chain(no).cloned().collect(),
        Statement::Block(body) | Statement::Repeat { body, .. } => vec![body.clone()],
        Statement::Switch(_, cases) => cases.iter().map(|it| it.1.clone()).collect(),
        _ => Vec::new(),
    }
}

fn statements(statement: &Statement) -> Vec<Statement> {
    use Statement as S;
    let mut found = Vec::new();
    match statement {
        S::Declare(ty, name, value) => {
            let with = |value| S::Declare(ty.clone(), name.clone(), value);
            found.extend(expressions(value).into_iter().map(with));
        }
        S::Assign(place, operator, value) => {
            let with = |value| S::Assign(place.clone(), operator, value);
            found.extend(expressions(value).into_iter().map(with));
            let with = |place| S::Assign(place, operator, value.clone());
            found.extend(places(place).into_iter().map(with));
        }
        S::Chain(first, second, value) => {
            found.push(S::Assign(first.clone(), "", value.clone()));
            found.push(S::Assign(second.clone(), "", value.clone()));
        }
        S::Effect(expression) => {
            found.extend(expressions(expression).into_iter().map(S::Effect));
        }
        S::Step(place, sign, is_before) => {
            let with = |place| S::Step(place, sign, *is_before);
            found.extend(places(place).into_iter().map(with));
        }
        S::If(condition, yes, no) => {
            let with = |condition| S::If(condition, yes.clone(), no.clone());
            found.extend(expressions(condition).into_iter().map(with));
            let with = |yes| S::If(condition.clone(), yes, no.clone());
            found.extend(blocks(yes).into_iter().map(with));
            if let Some(block) = no {
                found.push(S::If(condition.clone(), yes.clone(), None));
                let with = |no| S::If(condition.clone(), yes.clone(), Some(no));
                found.extend(blocks(block).into_iter().map(with));
            }
        }
        S::Record(ty, name, values) => {
            let with = |values| S::Record(ty.clone(), name.clone(), values);
            found.extend(lists(values).into_iter().map(with));
        }
        S::For(header, body) => {
            let with = |body| S::For(header.clone(), body);
            found.extend(blocks(body).into_iter().map(with));
            let headers = headers(header).into_iter();
            found.extend(headers.map(|it| S::For(it, body.clone())));
        }
        S::Repeat {
            counter,
            turns,
            condition,
            asks_first,
            body,
        } => {
            let with = |turns, condition, body| S::Repeat {
                counter: counter.clone(),
                turns,
                condition,
                asks_first: *asks_first,
                body,
            };
            let bodies = blocks(body).into_iter();
            found.extend(bodies.map(|it| with(turns.clone(), condition.clone(), it)));
            let conditions = expressions(condition).into_iter();
            found.extend(conditions.map(|it| with(turns.clone(), it, body.clone())));
            let turns = expressions(turns).into_iter();
            found.extend(turns.map(|it| with(it, condition.clone(), body.clone())));
        }
        S::Switch(value, cases) => {
            let values = expressions(value).into_iter();
            found.extend(values.map(|it| S::Switch(it, cases.clone())));
            for position in 0..cases.len() {
                let mut fewer = cases.clone();
                fewer.remove(position);
                found.push(S::Switch(value.clone(), fewer));
                for body in blocks(&cases[position].1) {
                    let mut changed = cases.clone();
                    changed[position].1 = body;
                    found.push(S::Switch(value.clone(), changed));
                }
            }
        }
        S::Array(array, values) => {
            let with = |values| S::Array(array.clone(), values);
            found.extend(lists(values).into_iter().map(with));
        }
        S::Return(Some(value)) => {
            let values = expressions(value).into_iter();
            found.extend(values.map(|it| S::Return(Some(it))));
        }
        S::Leave(_) | S::Return(None) => {}
        S::Block(body) => found.extend(blocks(body).into_iter().map(S::Block)),
    }
    found
}

/// A plain loop where it is none, and one that begins elsewhere.
fn headers(header: &LoopHeader) -> Vec<LoopHeader> {
    let mut found = Vec::new();
    if header.form != LoopForm::For {
        found.push(LoopHeader {
            form: LoopForm::For,
            ..header.clone()
        });
    }
    let from = expressions(&header.from).into_iter();
    found.extend(from.map(|from| LoopHeader {
        from,
        ..header.clone()
    }));
    found
}

/// One of the expressions smaller.
fn lists(values: &[Expression]) -> Vec<Vec<Expression>> {
    let mut found = Vec::new();
    for (position, value) in values.iter().enumerate() {
        for smaller in expressions(value) {
            let mut changed = values.to_vec();
            changed[position] = smaller;
            found.push(changed);
        }
    }
    found
}

fn places(place: &Place) -> Vec<Place> {
    let mut found = Vec::new();
    for (position, subscript) in place.subscripts.iter().enumerate() {
        for smaller in expressions(subscript) {
            let mut changed = place.clone();
            changed.subscripts[position] = smaller;
            found.push(changed);
        }
    }
    found
}

/// Smaller expressions of the same type. What is left of a guard still guards.
fn expressions(expression: &Expression) -> Vec<Expression> {
    use Expression as E;
    let ty = expression.ty();
    let mut found = Vec::new();
    let one = E::Literal("1".to_owned(), Type::I32);
    if !matches!(expression, E::Literal(..) | E::Variable(..) | E::Cast(..)) {
        let name = crate::c::c_type(ty);
        found.push(if ty == Type::I32 {
            one
        } else {
            E::Cast(name, ty, Box::new(one))
        });
    }
    let children: Vec<&E> = match expression {
        E::Unary(_, a)
        | E::Cast(_, _, a)
        | E::Within(a, _)
        | E::Assigned(_, _, _, a)
        | E::Member(a, ..) => vec![a],
        E::Binary(_, a, b) | E::Comma(a, b) => vec![a, b],
        E::Quotient {
            dividend, divisor, ..
        } => vec![dividend, divisor],
        E::Conditional(a, b, c) => vec![a, b, c],
        E::Literal(..) | E::Variable(..) | E::Truncated(..) | E::Stepped(..) => Vec::new(),
        E::Call(_, _, arguments) | E::Structure(_, arguments) => arguments.iter().collect(),
        E::Element(place) => {
            found.extend(places(place).into_iter().map(E::Element));
            Vec::new()
        }
    };
    let is_guard = matches!(expression, E::Binary(Binary::And, ..) | E::Within(..));
    if !is_guard {
        let same = children.iter().filter(|it| it.ty() == ty);
        found.extend(same.map(|it| (*it).clone()));
    }
    for (position, child) in children.into_iter().enumerate() {
        for smaller in expressions(child) {
            let mut changed = expression.clone();
            match (&mut changed, position) {
                (
                    E::Unary(_, a)
                    | E::Cast(_, _, a)
                    | E::Within(a, _)
                    | E::Assigned(_, _, _, a)
                    | E::Member(a, ..),
                    _,
                )
                | (E::Binary(_, a, _) | E::Comma(a, _) | E::Quotient { dividend: a, .. }, 0)
                | (E::Binary(_, _, a) | E::Comma(_, a) | E::Quotient { divisor: a, .. }, _)
                | (E::Conditional(a, _, _), 0)
                | (E::Conditional(_, a, _), 1)
                | (E::Conditional(_, _, a), _) => **a = smaller,
                (E::Call(_, _, arguments) | E::Structure(_, arguments), _) => {
                    arguments[position] = smaller;
                }
                (
                    E::Literal(..)
                    | E::Variable(..)
                    | E::Truncated(..)
                    | E::Stepped(..)
                    | E::Element(_),
                    _,
                ) => {}
            }
            found.push(changed);
        }
    }
    found
}
