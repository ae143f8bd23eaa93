//! Rows and keys that all lie in the arrays that they are rows and keys of: where that is all that
//! can fail, nothing can, and no outputs need to be copied.
//!
//! A row goes from one element of a row pointer to another one. If all of that lies between zero
//! and the extent of an array, so does every row, which a look at the pointer tells: it has one
//! element for each row, and not for each element of them. Keys are as many as what is read by
//! them, so to look at these pays where they are shorter than what would be copied.

use crate::facts::at_sizes;
use la_arena::ArenaMap;
use std::collections::BTreeSet;
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
    /// The parameters that can be looked at before a run.
    plain: BTreeSet<ArrayId>,
}

impl Rows {
    /// Those of `kernel` whose pointers nobody writes.
    pub(crate) fn of(kernel: &Kernel, is_read_only: impl Fn(ArrayId) -> bool) -> Self {
        let is_plain = |it: &ArrayId| {
            let declared = &kernel.arrays[*it];
            declared.extents.len() == 1 && declared.field.is_none() && is_read_only(*it)
        };
        let plain: BTreeSet<_> = kernel.array_params().filter(is_plain).collect();
        let mut pointers = ArenaMap::default();
        walk(&kernel.body, &mut |node, _| {
            if let Node::ScfFor(it) = node
                && let Some(pointer) = pointer_of(it).filter(|it| plain.contains(it))
            {
                pointers.insert(it.iter, pointer);
            }
        });
        Self { pointers, plain }
    }

    /// Whether `around` is a loop over such rows.
    pub(crate) fn has(&self, around: &Loop<'_>) -> bool {
        self.pointers.contains_idx(around.iter())
    }

    /// What decides whether `subscript` is below `extent`: the pointer to the rows that it goes
    /// along, or the keys that it is one of.
    pub(crate) fn bounded(&self, subscript: &Subscript, extent: &AffineExpr) -> Option<Bounded> {
        let (array, kind) = match subscript {
            Subscript::Affine(expr) => match expr.as_variable()? {
                Variable::Iter(iter) => (*self.pointers.get(iter)?, Kind::Pointer),
                Variable::Param(_) => return None,
            },
            Subscript::Computed(Expr::Load(key)) => (key.array, Kind::Keys),
            Subscript::Computed(_) => return None,
        };
        let extent = extent.clone();
        let is_plain = self.plain.contains(&array);
        is_plain.then_some(Bounded {
            array,
            kind,
            extent,
        })
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

/// What elements of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Where rows begin and end: the last one may end behind the last element.
    Pointer,
    Keys,
}

/// An array, and the extent that bounds its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounded {
    array: ArrayId,
    kind: Kind,
    extent: AffineExpr,
}

/// A parameter that has to be looked at before a run, and what its elements must not be above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    position: usize,
    /// What tells [`strew_runtime::scan_keys`] of its type.
    ty: u64,
    bytes: u64,
    kind: Kind,
    most: i64,
}

impl Look {
    /// A look at each array that is `bounded`, with these sizes.
    pub(crate) fn all(
        kernel: &Kernel,
        bounded: &[Bounded],
        position_of: impl Fn(ArrayId) -> Option<usize>,
        value_of: &impl Fn(ScalarId) -> i64,
    ) -> Option<Vec<Self>> {
        let looks = bounded.iter().map(|it| {
            let ty = kernel.arrays[it.array].element;
            let sign = if ty.is_signed() { SIGNED_KEYS } else { 0 };
            let extent = at_sizes(&it.extent, value_of).ok()?;
            Some(Self {
                position: position_of(it.array)?,
                ty: u64::from(ty.bytes()) | sign,
                bytes: u64::from(ty.bytes()),
                kind: it.kind,
                most: match it.kind {
                    Kind::Pointer => extent,
                    Kind::Keys => extent.checked_sub(1)?,
                },
            })
        });
        looks.collect()
    }

    /// How much is looked at that pointers are not.
    pub(crate) fn bytes_of_keys(&self, slots: &[Slot]) -> u64 {
        match (self.kind, slots.get(self.position)) {
            (Kind::Keys, Some(slot)) => slot.elements.saturating_mul(self.bytes),
            _ => 0,
        }
    }

    /// Whether all elements are in range.
    pub(crate) fn is_in_range(&self, slots: &[Slot]) -> bool {
        let Some(slot) = slots.get(self.position) else {
            return false;
        };
        let mut found = Scanned::default();
        let address = slot.bits_or_address as *const u8;
        // SAFETY: the slot is that of an array of this type, which has as many elements and is not
        // written while the call has it.
        unsafe { strew_runtime::scan_keys(address, slot.elements, self.ty, &raw mut found) };
        found.least > found.most || found.least >= 0 && found.most <= self.most
    }
}
