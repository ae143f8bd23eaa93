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
    pointers: ArenaMap<IterId, Element>,
    /// What scalars are under a name.
    named: ArenaMap<LocalId, Element>,
    /// The parameters that can be looked at before a run.
    plain: BTreeSet<ArrayId>,
}

/// An element of an array of integers, of another type perhaps.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Element {
    array: ArrayId,
    /// The values that are the same in that type.
    kept: RangeInclusive<i64>,
}

const ALL: RangeInclusive<i64> = i64::MIN..=i64::MAX;

/// What lies in both.
fn in_both(one: &RangeInclusive<i64>, other: &RangeInclusive<i64>) -> RangeInclusive<i64> {
    *one.start().max(other.start())..=*one.end().min(other.end())
}

/// The largest number of an integer type, as far as an `i64` can be it.
fn largest(ty: Type) -> Option<i64> {
    let (_, largest) = ty.integer_range()?;
    Some(i64::try_from(largest).unwrap_or(i64::MAX))
}

impl Rows {
    /// Those of `kernel` whose pointers nobody writes.
    pub(crate) fn of(kernel: &Kernel, is_read_only: impl Fn(ArrayId) -> bool) -> Self {
        let is_plain = |it: &ArrayId| {
            let declared = &kernel.arrays[*it];
            let is_list = declared.extents.len() == 1 && declared.field.is_none();
            is_list && declared.element.is_integer() && is_read_only(*it)
        };
        let mut rows = Self {
            pointers: ArenaMap::default(),
            named: ArenaMap::default(),
            plain: kernel.array_params().filter(is_plain).collect(),
        };
        walk(&kernel.body, &mut |node, _| match node {
            Node::ScfFor(it) => {
                if let Some(pointer) = rows.pointer_of(kernel, it) {
                    rows.pointers.insert(it.iter, pointer);
                }
            }
            Node::Declare { local, value, .. } if !kernel.locals[*local].mutable => {
                if let Some(element) = rows.element(kernel, value) {
                    rows.named.insert(*local, element);
                }
            }
            _ => {}
        });
        rows
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
        let (Element { array, kept }, kind) = match subscript {
            Subscript::Affine(expr) => match expr.as_variable()? {
                Variable::Iter(iter) => (self.pointers.get(iter)?.clone(), Kind::Pointer),
                Variable::Param(_) => return None,
            },
            Subscript::Computed(expr) => {
                let sum = expr.without_widening(kernel);
                let (key, constant) = sum.split_constant();
                let mut key = self.element(kernel, key)?;
                // One that is neither negative nor beyond its type has not wrapped.
                let most = largest(sum.ty(kernel))?.saturating_sub(constant);
                key.kept = in_both(&key.kept, &(i64::MIN..=most));
                (key, Kind::Keys(constant..=constant))
            }
        };
        Some(Bounded {
            array,
            kept,
            kind,
            extent: extent.clone(),
        })
    }

    /// The element that `expr` is, by its name or in another type too, of an array that can be
    /// looked at.
    fn element(&self, kernel: &Kernel, expr: &Expr) -> Option<Element> {
        match expr {
            Expr::Load(access) => self.plain.contains(&access.array).then_some(Element {
                array: access.array,
                kept: ALL,
            }),
            Expr::Local(local) => self.named.get(*local).cloned(),
            Expr::Cast(to, inner) if to.is_integer() => {
                let mut element = self.element(kernel, inner)?;
                if !to.holds_all_of(inner.ty(kernel)) {
                    element.kept = in_both(&element.kept, &(0..=largest(*to)?));
                }
                Some(element)
            }
            _ => None,
        }
    }

    /// The array of which the loop's bounds are elements.
    fn pointer_of(&self, kernel: &Kernel, rows: &ScfFor) -> Option<Element> {
        let [first, behind] = [&rows.lower, &rows.upper].map(|it| self.element(kernel, it));
        let (first, behind) = first.zip(behind)?;
        (first.array == behind.array).then(|| Element {
            kept: in_both(&first.kept, &behind.kept),
            ..first
        })
    }
}

/// What elements of an array are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Where rows begin and end: the last one may end behind the last element.
    Pointer,
    /// What constants between these are added to.
    Keys(RangeInclusive<i64>),
}

/// An array, and the extent that bounds its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounded {
    array: ArrayId,
    /// The elements that no conversion and no sum makes something else of.
    kept: RangeInclusive<i64>,
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
            (Kind::Pointer, Kind::Pointer) => {}
            (Kind::Keys(constants), Kind::Keys(others)) => {
                let least = *constants.start().min(others.start());
                *constants = least..=*constants.end().max(others.end());
            }
            _ => return false,
        }
        self.kept = in_both(&self.kept, &other.kept);
        true
    }

    /// Where its elements have to lie if the extent is this.
    fn in_range(&self, extent: i64) -> Option<RangeInclusive<i64>> {
        let in_extent = match &self.kind {
            Kind::Pointer => 0..=extent,
            Kind::Keys(constants) => {
                let most = extent.checked_sub(1)?.checked_sub(*constants.end())?;
                constants.start().checked_neg()?..=most
            }
        };
        Some(in_both(&in_extent, &self.kept))
    }
}

/// A parameter that has to be looked at before a run, and where its elements must lie.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    position: usize,
    /// What tells [`strew_runtime::scan_keys`] of its type.
    ty: u64,
    /// The bytes of an element that counts as a key; 0 for those of pointers, which are few.
    bytes_of_key: u64,
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
            let bytes_of_key = match it.kind {
                Kind::Pointer => 0,
                Kind::Keys(_) => ty.bytes().into(),
            };
            Some(Self {
                position: position_of(it.array)?,
                ty: u64::from(ty.bytes()) | sign,
                bytes_of_key,
                in_range: it.in_range(extent)?,
            })
        });
        looks.collect()
    }

    /// How much is looked at that pointers are not.
    pub(crate) fn bytes_of_keys(&self, slots: &[Slot]) -> u64 {
        let slot = slots.get(self.position);
        slot.map_or(0, |it| it.elements.saturating_mul(self.bytes_of_key))
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
