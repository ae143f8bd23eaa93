//! The memory that a call may hold.

use super::Session;
use crate::failure::{Failure, Held};
use crate::loan::{Loan, Reserved};
use crate::memory;

/// So little is not worth a look at what is free, which all calls of the process share.
const ALWAYS_ALLOWED: u64 = 1 << 20;

impl<'r> Session<'r> {
    /// How many bytes the call may hold at a time.
    pub(crate) fn budget(&self) -> u64 {
        // What the arena keeps is free for this call, though the system does not count it so.
        let a_quarter = || (memory::free_bytes() + self.runtime().kept_bytes()) / 4;
        *self.shared.budget.get_or_init(a_quarter)
    }

    /// A buffer of `bytes` bytes within the budget, for `held`.
    ///
    /// # Errors
    /// [`Failure::OverBudget`], [`Failure::OutOfMemory`].
    pub(crate) fn take(&self, bytes: u64, held: Held) -> Result<Loan<'r>, Failure> {
        let size = usize::try_from(bytes).map_err(|_| Failure::OutOfMemory { bytes })?;
        let reserved = self.reserve(bytes, held)?;
        let buffer = self.runtime().arena().take(size)?;
        Ok(Loan::new(buffer, reserved))
    }

    /// `bytes` bytes of the budget, for `held`, which whoever asks takes from elsewhere.
    ///
    /// # Errors
    /// [`Failure::OverBudget`].
    pub(crate) fn reserve(&self, bytes: u64, held: Held) -> Result<Reserved<'r>, Failure> {
        let account = &self.shared.account;
        if let Some(budget) = self.settings().memory {
            let reserved = Reserved::new(account, held, bytes, budget)?;
            // What earlier calls have left is memory, too.
            self.runtime().arena().make_room(account.loaned(), budget);
            return Ok(reserved);
        }
        Reserved::new(account, held, bytes, ALWAYS_ALLOWED)
            .or_else(|_| Reserved::new(account, held, bytes, self.budget()))
    }

    /// A private buffer of `bytes` bytes of which only what is [touched](Loan::touch) counts
    /// against the budget.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`].
    pub(crate) fn take_untouched(&self, bytes: u64) -> Result<Loan<'r>, Failure> {
        let size = usize::try_from(bytes).map_err(|_| Failure::OutOfMemory { bytes })?;
        let reserved = Reserved::new(&self.shared.account, Held::Privates, 0, u64::MAX)?;
        let arena = self.runtime().arena();
        if let Some(budget) = self.settings().memory {
            // Nobody knows yet how much of it there will be, so what earlier calls have left may be
            // too much.
            arena.make_room(budget, budget);
        }
        let buffer = arena.take_sparse(size)?;
        Ok(Loan::new(buffer, reserved))
    }

    /// How many bytes are held now.
    pub(crate) fn loaned(&self) -> u64 {
        self.shared.account.loaned()
    }

    /// Counts `bytes` bytes against the budget for the rest of the call.
    ///
    /// # Errors
    /// [`Failure::OverBudget`].
    pub(crate) fn keep(&self, bytes: u64) -> Result<(), Failure> {
        self.reserve(bytes, Held::Privates)?.keep();
        Ok(())
    }
}
