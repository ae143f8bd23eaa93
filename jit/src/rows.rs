//! Rows that all lie in the arrays that they are rows of: where that is all that can fail, nothing can, and no outputs need to be copied.
//!
//! A row goes from one element of a row pointer to another one. If all of that lies between zero and the extent of an array, so does every
//! row, which a look at the pointer tells: it has one element for each row, and not for each element of them.

use crate::facts::at_sizes;
use la_arena::ArenaMap;
use strew_affine::visit::{Loop, walk};
use strew_affine::{
    AffineExpr, ArrayId, Expr, IterId, Kernel, Node, ScalarId, ScfFor, Subscript, Variable,
};
use strew_runtime::SIGNED_KEYS;
use strew_runtime::abi::{Scanned, Slot};

/// The loops over rows of a kernel, and the arrays that say where rows begin and end.
#[derive(Debug)]
pub(crate) struct Rows {
    pointers: ArenaMap<IterId, ArrayId>,
}

impl Rows {
    /// Those of `kernel` whose pointers nobody writes.
    pub(crate) fn of(kernel: &Kernel, is_read_only: impl Fn(ArrayId) -> bool) -> Self {
        let mut pointers = ArenaMap::default();
        walk(&kernel.body, &mut |node, _| {
            if let Node::ScfFor(it) = node
                && let Some(pointer) = pointer_of(it).filter(|it| is_read_only(*it))
            {
                let declared = &kernel.arrays[pointer];
                let is_plain = declared.extents.len() == 1 && declared.field.is_none();
                if is_plain && kernel.array_params().any(|it| it == pointer) {
                    pointers.insert(it.iter, pointer);
                }
            }
        });
        Self { pointers }
    }

    /// Whether `around` is a loop over such rows.
    pub(crate) fn has(&self, around: &Loop<'_>) -> bool {
        self.pointers.contains_idx(around.iter())
    }

    /// The pointer to the rows that `subscript` goes along.
    pub(crate) fn pointer(&self, subscript: &Subscript) -> Option<ArrayId> {
        match subscript {
            Subscript::Affine(expr) => match expr.as_variable()? {
                Variable::Iter(iter) => self.pointers.get(iter).copied(),
                Variable::Param(_) => None,
            },
            Subscript::Computed(_) => None,
        }
    }
}

/// The array of which the loop's bounds are elements.
fn pointer_of(rows: &ScfFor) -> Option<ArrayId> {
    let element = |bound: &Expr| match bound {
        Expr::Load(access) => Some(access.array),
        Expr::Cast(_, operand) => match &**operand {
            Expr::Load(access) => Some(access.array),
            _ => None,
        },
        _ => None,
    };
    let pointer = element(&rows.lower)?;
    (element(&rows.upper)? == pointer).then_some(pointer)
}

/// A row pointer, and an extent that its elements must not be above.
pub(crate) type Bounded = (ArrayId, AffineExpr);

/// A parameter that is a row pointer, and the least of the extents of what it points into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointer {
    position: usize,
    /// What tells [`strew_runtime::scan_keys`] of its type.
    kind: u64,
    most: i64,
}

impl Pointer {
    /// The pointers that are `bounded`, with these sizes.
    pub(crate) fn all(
        kernel: &Kernel,
        bounded: &[Bounded],
        position_of: impl Fn(ArrayId) -> Option<usize>,
        value_of: &impl Fn(ScalarId) -> i64,
    ) -> Option<Vec<Self>> {
        let pointers = bounded.iter().map(|(pointer, extent)| {
            let ty = kernel.arrays[*pointer].element;
            let sign = if ty.is_signed() { SIGNED_KEYS } else { 0 };
            Some(Self {
                position: position_of(*pointer)?,
                kind: u64::from(ty.bytes()) | sign,
                most: at_sizes(extent, value_of).ok()?,
            })
        });
        pointers.collect()
    }

    /// Whether all its elements are in range.
    pub(crate) fn is_in_range(&self, slots: &[Slot]) -> bool {
        let Some(slot) = slots.get(self.position) else {
            return false;
        };
        let mut found = Scanned::default();
        let address = slot.bits_or_address as *const u8;
        // SAFETY: the slot is that of an array of this type, which has as many elements and is not written while the call has it.
        unsafe { strew_runtime::scan_keys(address, slot.elements, self.kind, &raw mut found) };
        found.least > found.most || found.least >= 0 && found.most <= self.most
    }
}
