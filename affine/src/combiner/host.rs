use crate::{Type, Value};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A combiner that is a function of the program that runs kernels. Clones share the function.
#[derive(Clone)]
pub struct Host(Arc<HostFunction>);

type Function = dyn Fn(Value, Value) -> Value + Send + Sync;

/// What a [`HostAddress`] is the address of.
pub struct HostFunction {
    name: String,
    ty: Type,
    function: Box<Function>,
}

/// Where the function of a [`Host`] is, for generated code, as long as the host lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostAddress(usize);

/// A function of the host that panicked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the combiner `{combiner}` panicked: {message}")]
pub struct Panicked {
    /// The combiner.
    pub combiner: String,
    /// What the panic said.
    pub message: String,
}

impl Host {
    /// The combiner called `name`, on elements of `ty`: `function` is given what is held and what
    /// comes.
    pub fn new(
        name: impl Into<String>,
        ty: Type,
        function: impl Fn(Value, Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(HostFunction {
            name: name.into(),
            ty,
            function: Box::new(function),
        }))
    }

    /// Where the function is.
    pub fn address(&self) -> HostAddress {
        HostAddress(Arc::as_ptr(&self.0) as usize)
    }
}

impl std::ops::Deref for Host {
    type Target = HostFunction;

    fn deref(&self) -> &HostFunction {
        &self.0
    }
}

/// By the function, not by what it computes.
impl PartialEq for Host {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Host").field(&self.0.name).finish()
    }
}

impl HostAddress {
    /// The address that is no function's.
    pub const NOWHERE: Self = Self(0);

    /// The address, as a number.
    pub fn bits(self) -> usize {
        self.0
    }
}

impl HostFunction {
    /// The type of the elements that it combines.
    pub fn element(&self) -> Type {
        self.ty
    }

    /// What `held` becomes when `incoming` comes to it, both of the element type.
    ///
    /// # Errors
    /// A panic in the function.
    pub fn combine(&self, held: Value, incoming: Value) -> Result<Value, Panicked> {
        // What the function shares with others it answers for itself: a lock that a panic poisons
        // stays poisoned.
        let combined = catch_unwind(AssertUnwindSafe(|| (self.function)(held, incoming)));
        combined
            .map(|it| Value::from_bits(self.ty, it.bits()))
            .map_err(|panic| Panicked {
                combiner: self.name.clone(),
                message: message(&*panic),
            })
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_value() {
        let host = Host::new("own", Type::I64, |held, incoming| {
            assert!(incoming != Value::i64(7), "seven");
            held
        });
        assert_eq!(
            host.combine(Value::i64(1), Value::i64(2)),
            Ok(Value::i64(1))
        );
        let panicked = host.combine(Value::i64(1), Value::i64(7));
        assert_eq!(
            panicked.map_err(|it| it.to_string()),
            Err("the combiner `own` panicked: seven".to_owned())
        );
        assert_eq!(host, host.clone());
        assert_ne!(host.address(), HostAddress::NOWHERE);
    }
}
