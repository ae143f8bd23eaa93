//! What steps share that are about one loop and need to know nothing else.

/// All of such a step but its data and its `plan`: its name, how a request is made, written and
/// read, and how it is applied.
macro_rules! about_one_loop {
    ($request:ident, $name:literal, $(#[$doc:meta])*) => {
        impl $request {
            /// The word that the step begins with.
            pub const NAME: &'static str = $name;

            $(#[$doc])*
            pub fn new(target: impl Into<$crate::LoopPath>) -> Self {
                Self {
                    target: target.into(),
                }
            }

            pub(crate) fn read(
                mut call: $crate::script::call::Call,
            ) -> Result<Self, $crate::script::call::FaultAt> {
                let request = Self::new(call.path()?);
                call.finish(&[])?;
                Ok(request)
            }
        }

        impl std::fmt::Display for $request {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", Self::NAME, self.target)
            }
        }

        impl $crate::step::Transform for $request {
            fn apply(
                &self,
                kernel: &strew_affine::verify::Verified,
            ) -> Result<strew_affine::Kernel, $crate::Reason> {
                Ok(plan(kernel, self)?.rewrite())
            }

            fn loops_mut(&mut self) -> Vec<&mut $crate::LoopPath> {
                vec![&mut self.target]
            }
        }
    };
}

pub(crate) use about_one_loop;
