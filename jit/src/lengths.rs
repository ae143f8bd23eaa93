//! How long arrays are that a call passes, and have to be.

use crate::CallError;
use crate::compiled::Inner;
use crate::facts::extents;
use strew_affine::{ArrayId, Overflow, ScalarId};

impl Inner {
    /// That `found` elements, or records, are as many as `array` has.
    pub(crate) fn check_length(
        &self,
        array: ArrayId,
        found: usize,
        value_of: &impl Fn(ScalarId) -> i64,
    ) -> Result<(), CallError> {
        let (mut extents, elements) = self.element_count(array, value_of)?;
        let declared = &self.forms.kernel.arrays[array];
        let per_record = usize::try_from(declared.elements_per_record()).ok();
        let present = per_record.and_then(|it| it.checked_mul(found));
        let both = present.zip(usize::try_from(elements).ok());
        if both.is_some_and(|(present, elements)| declared.takes(present, elements)) {
            return Ok(());
        }
        extents.truncate(declared.split_extents().0.len());
        Err(CallError::Length {
            array: self.known_name(array),
            extents,
            found,
        })
    }

    /// What the caller knows the array by: a field by its record.
    fn known_name(&self, array: ArrayId) -> String {
        let array = &self.forms.kernel.arrays[array];
        let record = array
            .field
            .map(|it| &self.forms.kernel.records[it.record].name);
        record.unwrap_or(&array.name).clone()
    }

    /// The extents of `array` and the number of its elements.
    pub(crate) fn element_count(
        &self,
        array: ArrayId,
        value_of: &impl Fn(ScalarId) -> i64,
    ) -> Result<(Vec<i64>, i64), CallError> {
        let too_large = |_: Overflow| CallError::Size {
            what: format!("array `{}`", self.forms.kernel.arrays[array].name),
        };
        let extents = extents(&self.forms.kernel, array, value_of).map_err(too_large)?;
        let elements = extents
            .iter()
            .try_fold(1_i64, |product, extent| product.checked_mul(*extent))
            .ok_or(Overflow)
            .map_err(too_large)?;
        Ok((extents, elements))
    }
}
