use crate::argument::ArgumentError;
use crate::program::Kernel;
use crate::{Error, Report};
use std::fmt;
use std::marker::PhantomData;
use strew_affine::{Type, Value};
use strew_jit::{Argument, ArgumentKind, ArrayElement, ArrayMut, ArrayRef, Element};

/// A Rust type that stands for one parameter of a kernel in [`Kernel::typed`].
///
/// Implemented for `&[T]` (arrays that the kernel does not write), `&mut [T]` (arrays that it
/// writes) and `T` (scalars), with `T` one of `i8` … `i64`, `u8` … `u64`, `f32`, `f64`, `bool`, in
/// slices also a struct that [`record!`](crate::record) declares.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand for a kernel's parameter",
    note = "use `&[T]`, `&mut [T]` or a scalar `T`, with `T` one of i8 … i64, u8 … u64, f32, f64, bool"
)]
pub trait ArgumentType: sealed::Sealed {
    /// What a call hands over, with a lifetime of its own for each call.
    type Argument<'a>;

    /// The parameter that it fits.
    fn kind() -> ArgumentKind;

    /// The argument in the form that generated code takes.
    #[doc(hidden)]
    fn into_argument<'a>(argument: Self::Argument<'a>) -> Argument<'a>;
}

impl<T: ArrayElement> ArgumentType for &[T] {
    type Argument<'a> = &'a [T];

    fn kind() -> ArgumentKind {
        ArgumentKind::Read(T::layout().element_type())
    }

    fn into_argument<'a>(argument: Self::Argument<'a>) -> Argument<'a> {
        Argument::Read(ArrayRef::new(argument))
    }
}

impl<T: ArrayElement> ArgumentType for &mut [T] {
    type Argument<'a> = &'a mut [T];

    fn kind() -> ArgumentKind {
        ArgumentKind::Write(T::layout().element_type())
    }

    fn into_argument<'a>(argument: Self::Argument<'a>) -> Argument<'a> {
        Argument::Write(ArrayMut::new(argument))
    }
}

macro_rules! scalars {
    ($($scalar:ty)*) => {$(
        impl sealed::Sealed for $scalar {}

        impl ArgumentType for $scalar {
            type Argument<'a> = Self;

            fn kind() -> ArgumentKind {
                ArgumentKind::Scalar(<Self as Element>::TYPE)
            }

            fn into_argument<'a>(argument: Self::Argument<'a>) -> Argument<'a> {
                Argument::Scalar(argument.to_value())
            }
        }

        impl ResultType for $scalar {
            const TYPE: Option<Type> = Some(<Self as Element>::TYPE);

            fn of(returned: Option<Value>) -> Self {
                // Another type was refused when the handle was made.
                Self::from_value(returned.unwrap_or(Value::zero(<Self as Element>::TYPE)))
            }
        }
    )*};
}

scalars!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool);

/// A tuple of [`ArgumentType`]s, up to twelve: a kernel's signature in Rust.
pub trait Signature: sealed::Sealed {
    /// The tuple that a call takes.
    type Arguments<'a>;

    /// The parameters that the tuple fits, in order.
    fn types() -> Vec<ArgumentKind>;

    /// Hands the arguments to `call` in the form that generated code takes.
    #[doc(hidden)]
    fn with_arguments<R>(
        arguments: Self::Arguments<'_>,
        call: impl FnOnce(&mut [Argument<'_>]) -> R,
    ) -> R;
}

macro_rules! signature {
    ($($name:ident $value:ident)*) => {
        impl<$($name: ArgumentType),*> sealed::Sealed for ($($name,)*) {}

        impl<$($name: ArgumentType),*> Signature for ($($name,)*) {
            type Arguments<'a> = ($($name::Argument<'a>,)*);

            fn types() -> Vec<ArgumentKind> {
                vec![$($name::kind()),*]
            }

            fn with_arguments<R>(
                ($($value,)*): Self::Arguments<'_>,
                call: impl FnOnce(&mut [Argument<'_>]) -> R,
            ) -> R {
                call(&mut [$($name::into_argument($value)),*])
            }
        }
    };
}

signature!();
signature!(A a);
signature!(A a B b);
signature!(A a B b C c);
signature!(A a B b C c D d);
signature!(A a B b C c D d E e);
signature!(A a B b C c D d E e F f);
signature!(A a B b C c D d E e F f G g);
signature!(A a B b C c D d E e F f G g H h);
signature!(A a B b C c D d E e F f G g H h I i);
signature!(A a B b C c D d E e F f G g H h I i J j);
signature!(A a B b C c D d E e F f G g H h I i J j K k);
signature!(A a B b C c D d E e F f G g H h I i J j K k L l);

mod sealed {
    /// Keeps the set of types that can cross into generated code closed.
    pub trait Sealed {}

    impl<T: strew_jit::ArrayElement> Sealed for &[T] {}
    impl<T: strew_jit::ArrayElement> Sealed for &mut [T] {}
}

/// A Rust type that stands for what a kernel returns: `()` for nothing (or whatever it is), a
/// scalar type for a value of that type.
pub trait ResultType: sealed::Sealed + Sized {
    /// The type of the value; `None` when none is asked for.
    const TYPE: Option<Type>;

    /// The value of a call, which has the type asked for.
    #[doc(hidden)]
    fn of(returned: Option<Value>) -> Self;
}

impl ResultType for () {
    const TYPE: Option<Type> = None;

    fn of(_: Option<Value>) {}
}

/// A kernel whose parameters were checked against the Rust types `S`, and what it returns against
/// `R`.
///
/// Cheap to clone, can be called from many threads at once, and keeps the machine code alive.
pub struct Typed<S, R = ()> {
    kernel: Kernel,
    signature: PhantomData<fn(S) -> R>,
}

impl<S, R> Clone for Typed<S, R> {
    fn clone(&self) -> Self {
        Self {
            kernel: self.kernel.clone(),
            signature: PhantomData,
        }
    }
}

impl<S, R> fmt::Debug for Typed<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Typed").field(&self.kernel).finish()
    }
}

impl<S: Signature, R: ResultType> Typed<S, R> {
    /// `kernel` with the signature `S`, if that is what it takes.
    pub(crate) fn new(kernel: Kernel) -> Result<Self, Error> {
        let mut errors = mismatches(kernel.passed(), &S::types());
        let found = kernel.result_type();
        if R::TYPE.is_some() && R::TYPE != found {
            let expected = R::TYPE;
            errors.push(ArgumentError::Result { expected, found });
        }
        if errors.is_empty() {
            Ok(Self {
                kernel,
                signature: PhantomData,
            })
        } else {
            Err(kernel.argument_error(errors))
        }
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Runs the kernel and gives what it returns.
    ///
    /// # Errors
    /// Arrays whose lengths are not those of their parameters, a fault while running, a call that
    /// was stopped or refused. All arrays are then as they were before.
    pub fn call(&self, arguments: S::Arguments<'_>) -> Result<R, Error> {
        let returned = S::with_arguments(arguments, |arguments| self.kernel.run(arguments))?;
        Ok(R::of(returned))
    }

    /// Runs the kernel and tells how.
    ///
    /// # Errors
    /// As for [`call`](Self::call).
    pub fn call_with_report(&self, arguments: S::Arguments<'_>) -> Result<Report, Error> {
        S::with_arguments(arguments, |arguments| {
            self.kernel.run_with_report(arguments)
        })
    }
}

fn mismatches(expected: &[(String, ArgumentKind)], found: &[ArgumentKind]) -> Vec<ArgumentError> {
    if expected.len() != found.len() {
        return vec![ArgumentError::Count {
            expected: expected.to_vec(),
            found: found.len(),
        }];
    }
    let pairs = expected.iter().zip(found);
    pairs
        .filter(|((_, expected), found)| expected != *found)
        .map(|((parameter, expected), found)| ArgumentError::Type {
            parameter: parameter.clone(),
            expected: expected.clone(),
            found: found.clone(),
        })
        .collect()
}
