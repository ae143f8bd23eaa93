use super::number::Checked;

/// Why a question about a set has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Unknown {
    /// A coefficient left the range of 128-bit integers.
    #[error("a coefficient leaves the range of 128-bit integers")]
    Overflow,
    /// The answer would have taken more work than was allowed.
    #[error("the search took more steps than allowed")]
    Budget,
}

/// How much work questions may take together, in rows that are made.
///
/// Integer programming takes exponential time at worst; what loops and subscripts ask takes some
/// hundreds of rows.
#[derive(Clone, Debug)]
pub struct Budget {
    rows: u64,
}

impl Default for Budget {
    /// Enough for any question that a person would write down; about 20 ms at most.
    fn default() -> Self {
        Self::new(100_000)
    }
}

impl Budget {
    /// As many rows.
    pub const fn new(rows: u64) -> Self {
        Self { rows }
    }

    /// What is left of it.
    pub const fn left(&self) -> u64 {
        self.rows
    }

    pub(super) fn spend(&mut self, rows: usize) -> Checked<()> {
        match self.rows.checked_sub(rows as u64) {
            Some(left) => {
                self.rows = left;
                Ok(())
            }
            None => {
                self.rows = 0;
                Err(Unknown::Budget)
            }
        }
    }
}
