use crate::bind::Bind;
use crate::program::Kernel;
use crate::typed::{ResultType, Signature, Typed};
use crate::{Error, Report};
use std::marker::PhantomData;
use strew_jit::{ArrayElement, ArrayRef};
use strew_runtime::abi::Slot;

/// A kernel with a plan for calls that update the same elements again: where the updates go is
/// found out by the first call and kept.
///
/// The plan borrows the keys, so that nobody changes them as long as it is in use. It serves the
/// loops of the kernel whose keys lie in these arrays, with the scalars that decide on them as they
/// were when it was made; with other scalars it is made again. Whether it is used is decided in
/// each call as everything else is: the bits of a result are the same with a plan and without.
///
/// ```
/// # const SOURCE: &str = "
/// # void segment_sum(int64_t n, int32_t m, const int32_t seg[n], const float x[n], double out[m]) {
/// #   for (int64_t i = 0; i < n; i++)
/// #     out[seg[i]] += x[i];
/// # }";
/// # let program = strew::Compiler::new().compile("segment_sum.c", SOURCE)?;
/// # let kernel = program.kernel("segment_sum")?;
/// let seg = [0, 2, 0];
/// let plan = kernel.plan(&seg);
/// let mut out = [0.0; 3];
/// for x in [[1.0_f32, 2.0, 4.0], [8.0, 1.0, 1.0]] {
///     plan.bind().array("seg", &seg).array("x", &x).array_mut("out", &mut out).run()?;
/// }
/// assert_eq!(out, [14.0, 0.0, 3.0]);
/// # Ok::<(), strew::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Planned<'k> {
    kernel: Kernel,
    arrays: Vec<Slot>,
    plan: strew_runtime::Plan,
    keys: PhantomData<&'k ()>,
}

impl<'k> Planned<'k> {
    pub(crate) fn new<T: ArrayElement>(kernel: Kernel, keys: &'k [T]) -> Self {
        let planned = Self {
            kernel,
            arrays: Vec::new(),
            plan: strew_runtime::Plan::default(),
            keys: PhantomData,
        };
        planned.and(keys)
    }

    /// One more array that decides where updates go, such as the row pointers of a sparse matrix.
    pub fn and<T: ArrayElement>(mut self, keys: &'k [T]) -> Self {
        self.arrays.push(ArrayRef::new(keys).slot());
        self.plan = strew_runtime::Plan::new(self.arrays.clone());
        self
    }

    /// A call whose arguments are given by name.
    pub fn bind<'a>(&self) -> Bind<'a>
    where
        'k: 'a,
    {
        self.kernel().bind()
    }

    /// A handle that takes its arguments as a tuple of type `S`; the types are checked here, once.
    ///
    /// # Errors
    /// As for [`Kernel::typed`].
    pub fn typed<S: Signature>(&self) -> Result<PlannedCall<'k, S>, Error> {
        self.typed_returning()
    }

    /// The same for a kernel that returns a value of type `R`.
    ///
    /// # Errors
    /// As for [`Kernel::typed_returning`].
    pub fn typed_returning<S: Signature, R: ResultType>(
        &self,
    ) -> Result<PlannedCall<'k, S, R>, Error> {
        Ok(PlannedCall {
            typed: Typed::new(self.kernel())?,
            keys: PhantomData,
        })
    }

    /// How many bytes the plan holds.
    pub fn bytes(&self) -> u64 {
        self.plan.bytes()
    }

    /// It is not handed out: it must not outlive the keys.
    fn kernel(&self) -> Kernel {
        let mut kernel = self.kernel.clone();
        kernel.settings_mut().runtime.plan = Some(self.plan.clone());
        kernel
    }
}

/// A [`Planned`] kernel whose arguments are a tuple of type `S`.
#[derive(Clone, Debug)]
pub struct PlannedCall<'k, S: Signature, R: ResultType = ()> {
    typed: Typed<S, R>,
    keys: PhantomData<&'k ()>,
}

impl<S: Signature, R: ResultType> PlannedCall<'_, S, R> {
    /// Runs the kernel.
    ///
    /// # Errors
    /// As for [`Typed::call`].
    pub fn call(&self, arguments: S::Arguments<'_>) -> Result<R, Error> {
        self.typed.call(arguments)
    }

    /// Runs the kernel and tells how.
    ///
    /// # Errors
    /// As for [`Typed::call`].
    pub fn call_with_report(&self, arguments: S::Arguments<'_>) -> Result<Report, Error> {
        self.typed.call_with_report(arguments)
    }
}
