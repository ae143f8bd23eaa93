use super::{Combiner, Declared, Panicked, replace_leaves};
use crate::{Expr, Math, NotComputed, Operand, Type, Value, evaluate};

/// Why values could not be combined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CombineError {
    /// The combiner calls a function that has no value here.
    #[error(transparent)]
    NotComputed(#[from] NotComputed),
    /// A function of the host panicked.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// The combiner is a function of a host, and no host gives it.
    #[error("no host gives the combiner `{0}`")]
    NoHost(String),
}

impl Combiner {
    /// What `held` becomes when `incoming` is combined into it, part by part. Nothing when the
    /// combiner is not defined on their types. Math functions have the values that `math` gives
    /// them.
    ///
    /// # Errors
    /// The combiner calls a function that `math` does not compute, or is one of a host that panics
    /// or that nobody gives. Built-in ones call none.
    pub fn combine(
        &self,
        held: &[Value],
        incoming: &[Value],
        math: &dyn Math,
    ) -> Result<Vec<Value>, CombineError> {
        if let Some(declared) = self.declaration().filter(|it| it.is_of_host()) {
            return by_host(declared, held, incoming);
        }
        let types: Vec<_> = held.iter().map(|it| it.ty()).collect();
        let bodies = self.bodies(&types).unwrap_or_default();
        bodies
            .iter()
            .map(|body| Ok(value_of(body, held, incoming, math)?))
            .collect()
    }
}

impl Combiner {
    /// What `held`, of type `ty`, becomes when `incoming` is combined into it, as an expression of
    /// both. `None` when the combiner is not defined on that, or combines several parts.
    pub fn combination(&self, ty: Type, held: &Expr, incoming: &Expr) -> Option<Expr> {
        match <[Expr; 1]>::try_from(self.bodies(&[ty])?) {
            Ok([body]) => Some(with_operands(body, held, incoming)),
            Err(_) => None,
        }
    }
}

/// `body`, of one part, with these in place of its operands.
pub(super) fn with_operands(mut body: Expr, held: &Expr, incoming: &Expr) -> Expr {
    replace_leaves(&mut body, &mut |leaf| match leaf {
        Expr::Operand(Operand::Held(_)) => Some(held.clone()),
        Expr::Operand(Operand::Incoming(_)) => Some(incoming.clone()),
        _ => None,
    });
    body
}

fn by_host(
    declared: &Declared,
    held: &[Value],
    incoming: &[Value],
) -> Result<Vec<Value>, CombineError> {
    let host = declared.host();
    let host =
        host.ok_or_else(|| CombineError::NoHost(super::Combine::name(declared).to_owned()))?;
    let parts = held.iter().zip(incoming);
    let combined = parts.map(|(held, incoming)| Ok(host.combine(*held, *incoming)?));
    combined.collect()
}

/// The value of a combiner's body. Verified bodies are made of operands and constants and divide
/// integers by constants other than 0 alone, so nothing in them can fail but what `math` does not
/// compute.
fn value_of(
    body: &Expr,
    held: &[Value],
    incoming: &[Value],
    math: &dyn Math,
) -> Result<Value, NotComputed> {
    let on = |expr: &Expr| value_of(expr, held, incoming, math);
    let holds = |expr: &Expr| Ok(on(expr)?.bits() != 0);
    let part = |values: &[Value], part: usize| values.get(part).copied().unwrap_or(Value::i64(0));
    Ok(match body {
        Expr::Operand(Operand::Held(number)) => part(held, *number),
        Expr::Operand(Operand::Incoming(number)) => part(incoming, *number),
        // Those go through `by_host`.
        Expr::Operand(Operand::Host(_)) => part(held, 0),
        Expr::Constant(value) => *value,
        Expr::Unary(op, operand) => evaluate::unary(*op, on(operand)?),
        Expr::Binary(op, left, right, _) => {
            let left = on(left)?;
            evaluate::binary(*op, left, on(right)?).unwrap_or(left)
        }
        Expr::Compare(op, left, right) => {
            Value::bool(evaluate::compare(*op, on(left)?, on(right)?))
        }
        Expr::And(left, right) => Value::bool(holds(left)? && holds(right)?),
        Expr::Or(left, right) => Value::bool(holds(left)? || holds(right)?),
        Expr::Select(condition, then, otherwise) => {
            on(if holds(condition)? { then } else { otherwise })?
        }
        Expr::Cast(ty, operand) => evaluate::convert(*ty, on(operand)?),
        Expr::Call(function, operands) => {
            let operands: Result<Vec<_>, _> = operands.iter().map(on).collect();
            evaluate::call(math, *function, &operands?)?
        }
        Expr::Iter(_) | Expr::Param(_) | Expr::Local(_) | Expr::Threads | Expr::Load(_) => {
            Value::i64(0)
        }
    })
}
