use super::{Combine, incoming, only};
use crate::{Expr, Type, Value};

/// What comes last, as a plain assignment leaves it.
///
/// There is no identity: whatever comes is left. So updates by it are not collected apart, but made
/// in their order, which several threads can do that share the elements among them.
#[derive(Debug)]
pub struct Last;

impl Combine for Last {
    fn name(&self) -> &str {
        "last"
    }

    fn identity(&self, _: &[Type]) -> Option<Vec<Value>> {
        None
    }

    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        only(types).map(|_| vec![incoming(0)])
    }

    fn is_exact(&self, _: &[Type]) -> bool {
        true
    }
}
