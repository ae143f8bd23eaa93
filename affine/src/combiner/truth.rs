use super::{Combine, held, incoming, only};
use crate::{Expr, Type, Value};

/// C's `&&` or `||` on integers: what is held becomes 0 or 1.
///
/// There is no identity: an element that no update touches may be neither 0 nor 1, and one that an
/// update touches is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logical {
    /// Whether both are not 0.
    And,
    /// Whether one of them is not 0.
    Or,
}

impl Combine for Logical {
    fn name(&self) -> &str {
        match self {
            Self::And => "land",
            Self::Or => "lor",
        }
    }

    fn identity(&self, _: &[Type]) -> Option<Vec<Value>> {
        None
    }

    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        let ty = only(types).filter(|ty| ty.is_integer())?;
        let truth = |of: Expr| Box::new(Expr::Cast(Type::Bool, Box::new(of)));
        let (held, incoming) = (truth(held(0)), truth(incoming(0)));
        let both = match self {
            Self::And => Expr::And(held, incoming),
            Self::Or => Expr::Or(held, incoming),
        };
        Some(vec![Expr::Cast(ty, Box::new(both))])
    }

    fn is_exact(&self, _: &[Type]) -> bool {
        true
    }
}
