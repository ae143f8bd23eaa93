//! Flat arrays, as what their subscripts show them to be.

use crate::assume::{assume, at_most};
use crate::delinearize::give_dimensions;
use crate::tree::{Replacing, for_each_access_mut};
use strew_affine::flat::{shape_of, sizes_in};
use strew_affine::visit::Loop;
use strew_affine::{AffineExpr, ArrayId, IterId, Kernel, Overflow, Subscript};

/// A kernel in which an array has the dimensions that its flat subscripts show, as many rows as are
/// accessed in some loop. What that takes it assumes.
pub(crate) struct InRows {
    pub(crate) kernel: Kernel,
    array: ArrayId,
    /// The sizes of all dimensions but the outermost.
    inner: Vec<AffineExpr>,
}

impl InRows {
    /// That for `array` in the loop over `iter`; `None` where no shape is shown that begins with
    /// the array.
    pub(crate) fn of(
        kernel: &Kernel,
        array: ArrayId,
        iter: IterId,
    ) -> Result<Option<Self>, Overflow> {
        // Those of records have the dimensions of these.
        let is_own = kernel.arrays[array].field.is_none();
        let [length] = kernel.arrays[array].extents.as_slice() else {
            return Ok(None);
        };
        let shape = match is_own {
            true => shape_of(kernel, array)?,
            false => None,
        };
        let Some(shape) = shape else {
            return Ok(None);
        };
        let is_in = |loops: &[Loop<'_>]| loops.iter().any(|it| it.iter() == iter);
        let Some(sizes) = sizes_in(kernel, array, &shape, is_in)? else {
            return Ok(None);
        };
        let mut product = AffineExpr::from(1);
        for size in &sizes {
            product = product.times(size)?;
        }
        let mut shaped = kernel.clone();
        let sized = sizes.iter().map(|it| at_most(0.into(), it.clone()));
        let fits = at_most(product, length.clone());
        assume(
            &mut shaped,
            shape.conditions.into_iter().chain(sized).chain([fits]),
        )?;
        give_dimensions(&mut shaped, array, sizes, shape.subscripts);
        Ok(Some(Self {
            kernel: shaped,
            array,
            inner: shape.inner,
        }))
    }

    /// What `planned` makes of it, for `flat`, the kernel of which this is made.
    pub(super) fn flattened(
        &self,
        flat: &Kernel,
        planned: Replacing,
    ) -> Result<Replacing, Overflow> {
        let Replacing {
            mut kernel,
            target,
            mut replacement,
        } = planned;
        let mut result = Ok(());
        for_each_access_mut(&mut replacement, &mut |access| {
            if access.array == self.array {
                match self.flat_subscript(&access.subscripts) {
                    Ok(subscript) => access.subscripts = subscript.into_iter().collect(),
                    Err(overflow) => result = Err(overflow),
                }
            }
        });
        kernel.body.clone_from(&flat.body);
        kernel.result.clone_from(&flat.result);
        (kernel.arrays[self.array].extents).clone_from(&flat.arrays[self.array].extents);
        result.map(|()| Replacing {
            kernel,
            target,
            replacement,
        })
    }

    fn flat_subscript(&self, subscripts: &[Subscript]) -> Result<Option<Subscript>, Overflow> {
        let one = AffineExpr::from(1);
        let sizes = [&one].into_iter().chain(&self.inner);
        let mut flat = AffineExpr::default();
        for (subscript, size) in subscripts.iter().zip(sizes) {
            let Subscript::Affine(subscript) = subscript else {
                return Ok(None);
            };
            flat = flat.times(size)?.plus(subscript)?;
        }
        Ok(Some(Subscript::Affine(flat)))
    }
}
