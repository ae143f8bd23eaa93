//! What an object has of a kernel: tables that the compiler writes and nobody changes.

use crate::abi::{ApplyFn, BodyShape, ChunkFn, EntryFn, KeySlots, MergeFn, OnDemand};
use std::ffi::c_char;
use std::slice;

/// What [`Kernel::version`] is: objects and runtimes of different versions of these tables do not
/// go together.
pub const TABLES_VERSION: u64 = 10;

/// A kernel.
#[derive(Debug)]
#[repr(C)]
pub struct Kernel {
    /// [`TABLES_VERSION`].
    pub version: u64,
    /// 0 for fast, 1 for stable, 2 for exact.
    pub mode: u64,
    /// The kernel under its schedule; its code tells no faults.
    pub scheduled: Version,
    /// What runs where the other does not: code that tells its faults, of a kernel that assumes
    /// nothing if there is one.
    pub careful: Version,
    /// 1 when the loops of the careful version have to run one iteration after the other, else 0.
    pub careful_in_order: u64,
}

/// A version of a kernel.
#[derive(Debug)]
#[repr(C)]
pub struct Version {
    /// Writes the number of elements of each array to its slot, and returns a [`Verdict`].
    pub judge: EntryFn,
    /// Code for sizes with which all affine subscripts are in range.
    pub proved: CodeTable,
    /// Code that checks all of them.
    pub checked: CodeTable,
}

/// What the sizes of a call are fit for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Verdict {
    /// All affine subscripts are in range.
    Proved = 0,
    /// Some of them may not be.
    Unproved = 1,
    /// They are below zero, or beyond what can be calculated with.
    Sizes = 2,
    /// They do not keep what the kernel assumes.
    Assumption = 3,
}

impl Verdict {
    pub(super) fn from_bits(bits: u32) -> Self {
        let all = [Self::Proved, Self::Unproved, Self::Assumption];
        let known = all.into_iter().find(|it| *it as u32 == bits);
        known.unwrap_or(Self::Sizes)
    }
}

/// The machine code of a kernel.
#[derive(Debug)]
#[repr(C)]
pub struct CodeTable {
    /// The whole of it.
    pub entry: EntryFn,
    /// How many parameters it has.
    pub slots: u64,
    /// 1 when there are foralls in it, else 0.
    pub has_foralls: u64,
    /// The arrays to copy before a run, each as the number of its slot and the bytes of an element.
    pub copied: *const u64,
    /// How many of them.
    pub copied_count: u64,
    /// What private buffers are merged with, by number.
    pub merges: *const Merge,
    /// How many of them.
    pub merge_count: u64,
    /// The bodies of foralls in other shapes.
    pub bodies: *const Body,
    /// How many of them.
    pub body_count: u64,
    /// What decides where the updates of foralls go.
    pub keys: *const KeyTable,
    /// How many of them.
    pub key_count: u64,
    /// Where it can stop, by number.
    pub sites: *const Site,
    /// How many of them.
    pub site_count: u64,
}

// SAFETY: the tables are never written, and what they point to is code and other such tables.
unsafe impl Sync for CodeTable {}

/// What private buffers are merged with, and updates applied.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Merge {
    /// Merges.
    pub merge: MergeFn,
    /// Applies updates.
    pub apply: ApplyFn,
}

/// The body of a forall in some shape.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Body {
    /// The number of the forall.
    pub number: u32,
    /// The [`BodyShape`].
    pub shape: u32,
    /// Its code.
    pub code: ChunkFn,
}

/// What decides where the updates of a forall go.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct KeyTable {
    /// The number of the forall.
    pub number: u64,
    /// The numbers of slots: those of arrays, and behind them those of scalars.
    pub slots: *const u64,
    /// How many of arrays.
    pub arrays: u64,
    /// How many of scalars.
    pub scalars: u64,
}

/// A place where a kernel can stop.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Site {
    /// A [`SiteKind`].
    pub kind: u32,
    /// From 1, 0 when it is not known.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The name of the array, or null.
    pub array: *const c_char,
}

/// What can go wrong at a [`Site`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SiteKind {
    /// A subscript.
    OutOfRange = 0,
    /// A division of integers.
    DivisionByZero = 1,
    /// A second write of one element.
    Met = 2,
    /// Arithmetic on sizes.
    Overflow = 3,
}

impl SiteKind {
    pub(super) fn from_bits(bits: u32) -> Self {
        let all = [Self::OutOfRange, Self::DivisionByZero, Self::Met];
        let known = all.into_iter().find(|it| *it as u32 == bits);
        known.unwrap_or(Self::Overflow)
    }
}

/// So many entries from `first` on.
///
/// # Safety
/// They are there, and nobody changes them.
pub(super) unsafe fn list<'t, T>(first: *const T, count: u64) -> &'t [T] {
    if count == 0 || first.is_null() {
        return &[];
    }
    // SAFETY: the caller vouches for them.
    unsafe { slice::from_raw_parts(first, count as usize) }
}

impl CodeTable {
    /// The arrays to copy before a run, each as the number of its slot and the bytes of an element.
    ///
    /// # Safety
    /// The compiler made the tables.
    pub(super) unsafe fn copied(&self) -> impl Iterator<Item = (u64, u64)> {
        // SAFETY: the caller vouches for the tables.
        let numbers = unsafe { list(self.copied, self.copied_count.saturating_mul(2)) };
        let pairs = numbers.chunks_exact(2);
        pairs.filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)))
    }

    fn merging(&self, number: u32) -> Result<&Merge, String> {
        // SAFETY: the compiler made the tables.
        let merges = unsafe { list(self.merges, self.merge_count) };
        let merge = merges.get(number as usize);
        merge.ok_or_else(|| format!("the kernel has no merge function {number}"))
    }
}

impl OnDemand for CodeTable {
    fn merge(&self, number: u32) -> Result<MergeFn, String> {
        Ok(self.merging(number)?.merge)
    }

    fn apply(&self, number: u32) -> Result<ApplyFn, String> {
        Ok(self.merging(number)?.apply)
    }

    fn body(&self, number: u32, shape: BodyShape) -> Result<ChunkFn, String> {
        // SAFETY: the compiler made the tables.
        let mut bodies = unsafe { list(self.bodies, self.body_count) }.iter();
        let body = bodies.find(|it| it.number == number && it.shape == shape as u32);
        body.map(|it| it.code)
            .ok_or_else(|| format!("the forall {number} has no body in the shape {shape:?}"))
    }

    fn keys(&self, number: u32) -> Option<KeySlots> {
        // SAFETY: the compiler made the tables.
        let mut tables = unsafe { list(self.keys, self.key_count) }.iter();
        let table = tables.find(|it| it.number == u64::from(number))?;
        // SAFETY: as above.
        let slots = unsafe { list(table.slots, table.arrays + table.scalars) };
        let (arrays, scalars) = slots.split_at_checked(table.arrays as usize)?;
        let numbers = |list: &[u64]| list.iter().map(|it| *it as u32).collect();
        Some(KeySlots {
            arrays: numbers(arrays),
            scalars: numbers(scalars),
        })
    }
}
