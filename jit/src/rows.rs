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
use std::ops::RangeInclusive;
use strew_affine::visit::{Loop, walk};
use strew_affine::{
    AffineExpr, ArrayId, Expr, IterId, Kernel, LocalId, Node, ScalarId, ScfFor, Subscript, Type,
    Variable,
};
use strew_runtime::SIGNED_KEYS;
use strew_runtime::abi::{Scanned, Slot};

/// The loops over rows of a kernel, and the arrays that say where rows begin and end.
#[derive(Debug)]
pub(crate) struct Rows {
    pointers: ArenaMap<IterId, ArrayId>,
    /// The scalars that are keys under a name.
    keys: ArenaMap<LocalId, ArrayId>,
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
        let (mut pointers, mut keys) = (ArenaMap::default(), ArenaMap::default());
        walk(&kernel.body, &mut |node, _| match node {
            Node::ScfFor(it) => {
                if let Some(pointer) = pointer_of(it).filter(|it| plain.contains(it)) {
                    pointers.insert(it.iter, pointer);
                }
            }
            Node::Declare { local, value, .. } if !kernel.locals[*local].mutable => {
                if let Expr::Load(key) = value.without_widening(kernel) {
                    keys.insert(*local, key.array);
                }
            }
            _ => {}
        });
        Self {
            pointers,
            keys,
            plain,
        }
    }

    /// Whether `around` is a loop over such rows.
    pub(crate) fn has(&self, around: &Loop<'_>) -> bool {
        self.pointers.contains_idx(around.iter())
    }

    /// What decides whether `subscript` is below `extent`: the pointer to the rows that it goes
    /// along, or the keys that it is one of, or one of and a constant.
    pub(crate) fn bounded(
        &self,
        kernel: &Kernel,
        subscript: &Subscript,
        extent: &AffineExpr,
    ) -> Option<Bounded> {
        let (array, kind) = match subscript {
            Subscript::Affine(expr) => match expr.as_variable()? {
                Variable::Iter(iter) => (*self.pointers.get(iter)?, Kind::Pointer),
                Variable::Param(_) => return None,
            },
            Subscript::Computed(expr) => {
                let sum = expr.without_widening(kernel);
                let (key, constant) = sum.split_constant();
                let kind = Kind::Keys {
                    constants: constant..=constant,
                    most: most_of_sums(sum.ty(kernel), constant)?,
                };
                (self.key(kernel, key)?, kind)
            }
        };
        let extent = extent.clone();
        self.plain.contains(&array).then_some(Bounded {
            array,
            kind,
            extent,
        })
    }

    /// The array that `expr` is an element of.
    fn key(&self, kernel: &Kernel, expr: &Expr) -> Option<ArrayId> {
        match expr.without_widening(kernel) {
            Expr::Load(key) => Some(key.array),
            Expr::Local(local) => self.keys.get(*local).copied(),
            _ => None,
        }
    }
}

/// The largest sum of type `ty` with `constant` that has not wrapped, if those that have are beyond
/// it or negative.
fn most_of_sums(ty: Type, constant: i64) -> Option<i64> {
    match ty {
        Type::I32 => Some(i32::MAX.into()),
        Type::I64 => Some(i64::MAX),
        // What is converted to them is in range of them.
        _ => (constant == 0).then_some(i64::MAX),
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
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Where rows begin and end: the last one may end behind the last element.
    Pointer,
    /// What constants are added to.
    Keys {
        constants: RangeInclusive<i64>,
        /// The largest sum that has not wrapped.
        most: i64,
    },
}

/// An array, and the extent that bounds its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounded {
    array: ArrayId,
    kind: Kind,
    extent: AffineExpr,
}

impl Bounded {
    /// Whether this says what `other` does, too; from now on, if one look can tell both.
    pub(crate) fn joins(&mut self, other: &Self) -> bool {
        if self.array != other.array || self.extent != other.extent {
            return false;
        }
        match (&mut self.kind, &other.kind) {
            (Kind::Pointer, Kind::Pointer) => true,
            (
                Kind::Keys { constants, most },
                Kind::Keys {
                    constants: others,
                    most: of_others,
                },
            ) => {
                let least = *constants.start().min(others.start());
                *constants = least..=*constants.end().max(others.end());
                *most = (*most).min(*of_others);
                true
            }
            _ => false,
        }
    }

    /// Where its elements have to lie if the extent is this.
    fn in_range(&self, extent: i64) -> Option<RangeInclusive<i64>> {
        match &self.kind {
            Kind::Pointer => Some(0..=extent),
            Kind::Keys { constants, most } => {
                let least = constants.start().checked_neg()?;
                let most = extent.checked_sub(1)?.min(*most);
                Some(least..=most.checked_sub(*constants.end())?)
            }
        }
    }
}

/// A parameter that has to be looked at before a run, and where its elements must lie.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    position: usize,
    /// What tells [`strew_runtime::scan_keys`] of its type.
    ty: u64,
    /// Those of an element, if they count as keys.
    bytes: u64,
    in_range: RangeInclusive<i64>,
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
            let bytes = match it.kind {
                Kind::Pointer => 0,
                Kind::Keys { .. } => ty.bytes().into(),
            };
            Some(Self {
                position: position_of(it.array)?,
                ty: u64::from(ty.bytes()) | sign,
                bytes,
                in_range: it.in_range(extent)?,
            })
        });
        looks.collect()
    }

    /// How much is looked at that pointers are not.
    pub(crate) fn bytes_of_keys(&self, slots: &[Slot]) -> u64 {
        let slot = slots.get(self.position);
        slot.map_or(0, |it| it.elements.saturating_mul(self.bytes))
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
        let are_in_range = |found: Scanned| {
            self.in_range.contains(&found.least) && self.in_range.contains(&found.most)
        };
        found.least > found.most || are_in_range(found)
    }
}
