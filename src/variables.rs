//! What the source calls the iterators of a kernel.

use strew_affine::{IterId, Kernel, Parameter, ScalarId, Value, Variable};
use strew_frontend::LoopVariable;
use strew_jit::Argument;

/// The variables that the loops of a kernel count by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables(Vec<LoopVariable>);

impl Variables {
    pub(crate) fn of(variables: Vec<LoopVariable>) -> Self {
        Self(variables)
    }

    /// The name of the variable whose loop has this iterator.
    pub(crate) fn name(&self, iter: IterId) -> Option<&str> {
        let mut variables = self.0.iter();
        let found = variables.find(|it| it.iter == iter);
        found.map(|it| it.name.as_str())
    }

    /// The `iteration` of a call of `kernel`, as the source says it: iterators stay where variables
    /// are no affine functions of them.
    pub(crate) fn told(
        &self,
        kernel: &Kernel,
        iteration: &[(String, i64)],
        arguments: &[Argument<'_>],
    ) -> Vec<(String, i64)> {
        let iterator = |iter: IterId| {
            let name = &kernel.iters[iter].name;
            iteration.iter().find(|(it, _)| it == name).map(|it| it.1)
        };
        let value_of = |it| match it {
            Variable::Iter(iter) => iterator(iter),
            Variable::Param(scalar) => argument(kernel, scalar, arguments),
        };
        let told = |name: &str| {
            let mut variables = self.0.iter();
            let variable = variables.find(|it| kernel.iters[it.iter].name == name)?;
            Some((variable.name.clone(), value(variable, &value_of)?))
        };
        let iteration = iteration.iter();
        iteration
            .map(|it| told(&it.0).unwrap_or_else(|| it.clone()))
            .collect()
    }
}

/// `None` where it depends on something that `value_of` does not know.
fn value(variable: &LoopVariable, value_of: &impl Fn(Variable) -> Option<i64>) -> Option<i64> {
    let value = variable.value.as_ref()?;
    let mut is_known = true;
    value.for_each_variable(&mut |it| is_known &= value_of(it).is_some());
    let value = value.evaluate(&|it| value_of(it).unwrap_or(0)).ok()?;
    let wrapped = Value::integer(variable.ty, value.into()).as_integer();
    i64::try_from(wrapped?).ok().filter(|_| is_known)
}

fn argument(kernel: &Kernel, scalar: ScalarId, arguments: &[Argument<'_>]) -> Option<i64> {
    let mut passed = kernel.passed_params().zip(arguments);
    let (_, argument) = passed.find(|(it, _)| *it == Parameter::Scalar(scalar))?;
    match argument {
        Argument::Scalar(value) => i64::try_from(value.as_integer()?).ok(),
        Argument::Read(_) | Argument::Write(_) => None,
    }
}
