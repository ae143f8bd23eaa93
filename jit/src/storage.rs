//! Where the local arrays of a kernel are while it runs.

use crate::facts::at_sizes;
use crate::promoted::promoted;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use strew_affine::{AffineExpr, ArrayId, Kernel, Node, ScalarId};
use strew_runtime::Local;

/// Where a local array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Nowhere: its elements are variables.
    Variables,
    /// In the frame of its function.
    Stack,
    /// In memory that the runtime gives, and knows by this number.
    Loan(usize),
}

/// How many of a local array there are at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// One.
    One,
    /// One for each thread that runs iterations of a forall, of which there are so many. It is
    /// around nothing else, so that either all of it runs within its function or all of it on
    /// threads.
    ByThreads(AffineExpr),
    /// Perhaps none, since conditions decide; or more than there are threads, since foralls are
    /// around each other, or run now within their function and now on threads.
    Perhaps,
}

/// Where all of them are.
#[derive(Debug, Default)]
pub(crate) struct LocalStorage {
    /// Those whose elements are variables.
    promoted: BTreeSet<ArrayId>,
    /// Those in memory that the runtime gives, by their number there.
    on_loan: Vec<(ArrayId, Wanted)>,
}

/// How many bytes of local arrays the frame of one function holds at most: a forall inside of
/// another runs on the same stack.
const STACK_BYTES: u64 = 16 << 10;

impl LocalStorage {
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let mut storage = Self {
            promoted: promoted(kernel),
            on_loan: Vec::new(),
        };
        let outside = (&Wanted::One, false);
        storage.place(kernel, &kernel.body, outside, &mut STACK_BYTES.clone());
        storage
    }

    /// Places what `body` allocates, in loops or not, with `room` bytes left in the frame of the
    /// function around.
    fn place(
        &mut self,
        kernel: &Kernel,
        body: &[Node],
        (wanted, in_loops): (&Wanted, bool),
        room: &mut u64,
    ) {
        for node in body {
            match node {
                Node::Alloc { array } if self.promoted.contains(array) => {}
                Node::Alloc { array } => match fixed_bytes(kernel, *array) {
                    Some(bytes) if bytes <= *room => *room -= bytes,
                    _ => self.on_loan.push((*array, wanted.clone())),
                },
                Node::Forall(forall) => {
                    let inside = match wanted {
                        Wanted::One if !in_loops => Wanted::ByThreads(forall.count.clone()),
                        _ => Wanted::Perhaps,
                    };
                    let inside = (&inside, false);
                    self.place(kernel, &forall.body, inside, &mut STACK_BYTES.clone());
                }
                _ => {
                    let inside = match node {
                        Node::AffineFor(_) => wanted,
                        _ => &Wanted::Perhaps,
                    };
                    for block in node.blocks() {
                        self.place(kernel, block, (inside, true), room);
                    }
                }
            }
        }
    }

    /// Whether the runtime gives some that are elsewhere in the `others`.
    pub(crate) fn has_other_loans_than(&self, others: &Self) -> bool {
        let mut own = self.on_loan.iter();
        own.any(|(it, _)| others.on_loan.iter().all(|(other, _)| it != other))
    }

    /// Whether there are some that the runtime gives and of which so many are wanted.
    pub(crate) fn wants(&self, wanted: impl Fn(&Wanted) -> bool) -> bool {
        self.on_loan.iter().any(|(_, it)| wanted(it))
    }

    /// How many of those that the runtime gives are wanted at a time at most, threads enough.
    pub(crate) fn wanted(&self, value_of: &impl Fn(ScalarId) -> i64) -> Vec<(ArrayId, u64)> {
        let most = |wanted: &Wanted| match wanted {
            Wanted::One => 1,
            Wanted::ByThreads(count) => {
                let count = at_sizes(count, value_of).unwrap_or(i64::MAX);
                u64::try_from(count).unwrap_or(0)
            }
            Wanted::Perhaps => 0,
        };
        let wanted = self.on_loan.iter().map(|(it, wanted)| (*it, most(wanted)));
        wanted.collect()
    }

    /// Those that the runtime gives, by the numbers that it has there.
    pub(crate) fn on_loan(&self, local: impl Fn(ArrayId) -> Local) -> SmallVec<[Local; 4]> {
        self.on_loan
            .iter()
            .map(|(array, _)| local(*array))
            .collect()
    }

    /// Where `array` is.
    pub(crate) fn of_array(&self, array: ArrayId) -> Storage {
        let number = self.on_loan.iter().position(|(it, _)| *it == array);
        match number {
            Some(number) => Storage::Loan(number),
            None if self.promoted.contains(&array) => Storage::Variables,
            None => Storage::Stack,
        }
    }
}

/// The bytes of an array of constant size, rounded up to whole vectors.
pub(crate) fn fixed_bytes(kernel: &Kernel, array: ArrayId) -> Option<u64> {
    let declared = &kernel.arrays[array];
    let bytes = u64::from(declared.element.bytes()).checked_mul(declared.known_elements()?)?;
    bytes.checked_next_multiple_of(16)
}
