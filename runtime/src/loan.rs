//! Memory within a budget.

use crate::arena::Buffer;
use crate::failure::{Failure, Held};
use std::sync::atomic::{AtomicU64, Ordering};

/// How much of its budget a call has taken.
#[derive(Debug, Default)]
pub(crate) struct Account {
    loaned: AtomicU64,
    most_loaned: AtomicU64,
}

impl Account {
    /// How many bytes are taken now.
    pub(crate) fn loaned(&self) -> u64 {
        self.loaned.load(Ordering::Relaxed)
    }

    /// The largest number of bytes that were taken at a time.
    pub(crate) fn most_loaned(&self) -> u64 {
        self.most_loaned.load(Ordering::Relaxed)
    }
}

/// Memory that counts against the budget of a call until it is dropped.
#[derive(Debug)]
pub(crate) struct Loan<'r> {
    buffer: Buffer<'r>,
    reserved: Reserved<'r>,
}

impl<'r> Loan<'r> {
    pub(crate) fn new(buffer: Buffer<'r>, reserved: Reserved<'r>) -> Self {
        Self { buffer, reserved }
    }
}

impl Loan<'_> {
    /// The first byte, aligned to [`ALIGNMENT`](crate::arena::ALIGNMENT).
    pub(crate) fn address(&self) -> *mut u8 {
        self.buffer.address()
    }

    /// Counts `bytes` more bytes of it against the budget, before they are touched.
    ///
    /// # Errors
    /// [`Failure::OverBudget`].
    pub(crate) fn touch(&self, bytes: u64, budget: u64) -> Result<(), Failure> {
        self.reserved.grow(bytes, budget)
    }
}

/// A share of the budget.
#[derive(Debug)]
pub(crate) struct Reserved<'r> {
    account: &'r Account,
    held: Held,
    bytes: AtomicU64,
}

impl<'r> Reserved<'r> {
    /// `bytes` bytes of a budget of `budget`, for `held`.
    ///
    /// # Errors
    /// [`Failure::OverBudget`].
    pub(crate) fn new(
        account: &'r Account,
        held: Held,
        bytes: u64,
        budget: u64,
    ) -> Result<Self, Failure> {
        let reserved = Self {
            account,
            held,
            bytes: AtomicU64::new(0),
        };
        reserved.grow(bytes, budget)?;
        Ok(reserved)
    }

    fn grow(&self, bytes: u64, budget: u64) -> Result<(), Failure> {
        let mut needed = 0;
        let reserve = |loaned: u64| {
            needed = loaned.saturating_add(bytes);
            (needed <= budget).then_some(needed)
        };
        let order = Ordering::Relaxed;
        match self.account.loaned.fetch_update(order, order, reserve) {
            Ok(_) => {
                self.account.most_loaned.fetch_max(needed, order);
                self.bytes.fetch_add(bytes, order);
                Ok(())
            }
            Err(_) => Err(Failure::OverBudget {
                held: self.held,
                needed,
                budget,
            }),
        }
    }
}

impl Reserved<'_> {
    /// Counts for as long as the account does.
    pub(crate) fn keep(self) {
        self.bytes.store(0, Ordering::Relaxed);
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let bytes = self.bytes.load(Ordering::Relaxed);
        self.account.loaned.fetch_sub(bytes, Ordering::Relaxed);
    }
}
