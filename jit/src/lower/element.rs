//! Elements of local arrays that are variables instead of memory.

use super::convert::{clif_type, extend};
use super::function::FunctionLowering;
use super::operation;
use crate::promoted::{element_number, few_elements};
use cranelift_codegen::ir::Value;
use cranelift_frontend::Variable;
use strew_affine::{Access, ArrayId};

impl FunctionLowering<'_, '_, '_> {
    /// Makes the elements of `array` known, all of them zero.
    pub(super) fn promote(&mut self, array: ArrayId) {
        let kernel = self.program.kernel;
        let ty = kernel.arrays[array].element;
        let elements = few_elements(kernel, array).unwrap_or(0);
        let zero = operation::zero(&mut self.builder, ty);
        let variables = (0..elements).map(|_| {
            let variable = self.builder.declare_var(clif_type(ty));
            self.builder.def_var(variable, zero);
            variable
        });
        let variables = variables.collect();
        self.promoted.insert(array, variables);
    }

    /// The variable that the element of `access` is, if it is one.
    pub(super) fn promoted_element(&self, access: &Access) -> Option<Variable> {
        let variables = self.promoted.get(access.array)?;
        let number = element_number(self.program.kernel, access)?;
        variables.get(number).copied()
    }

    /// The value of an integer element, extended to 64 bits.
    pub(super) fn extended_element(&mut self, access: &Access, element: Variable) -> Value {
        let ty = self.program.kernel.arrays[access.array].element;
        let value = self.builder.use_var(element);
        extend(&mut self.builder, value, ty)
    }
}
