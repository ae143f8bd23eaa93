use super::{Combine, Order, binary, held, incoming, is_number, number, only};
use crate::{BinaryOp, Expr, Type, Value};

/// Addition.
#[derive(Debug)]
pub struct Add;

impl Combine for Add {
    fn name(&self) -> &str {
        "add"
    }

    /// `-0.0` for floats: `+0.0` would turn an untouched `-0.0` into `+0.0`.
    fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
        Some(vec![number(only(types)?, 0, -0.0)?])
    }

    fn has_two_sided_identity(&self, types: &[Type]) -> bool {
        self.identity(types).is_some()
    }

    fn order(&self, types: &[Type]) -> Order {
        Order::any_if(self.identity(types).is_some())
    }

    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        is_number(only(types)?).then(|| vec![binary(BinaryOp::Add, held(0), incoming(0))])
    }

    fn is_exact(&self, types: &[Type]) -> bool {
        types.iter().all(|ty| ty.is_integer())
    }
}

/// Multiplication.
#[derive(Debug)]
pub struct Mul;

impl Combine for Mul {
    fn name(&self) -> &str {
        "mul"
    }

    fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
        Some(vec![number(only(types)?, 1, 1.0)?])
    }

    fn has_two_sided_identity(&self, types: &[Type]) -> bool {
        self.identity(types).is_some()
    }

    fn order(&self, types: &[Type]) -> Order {
        Order::any_if(self.identity(types).is_some())
    }

    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        is_number(only(types)?).then(|| vec![binary(BinaryOp::Mul, held(0), incoming(0))])
    }

    fn is_exact(&self, types: &[Type]) -> bool {
        types.iter().all(|ty| ty.is_integer())
    }
}
