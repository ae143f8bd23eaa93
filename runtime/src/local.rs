//! Memory for local arrays that are too large for a frame, or of a size that is not known before
//! the call.
//!
//! Where their sizes are known when the call begins, there is one for each thread before anything
//! has been written: a kernel that cannot fail but for want of memory needs no copies of its
//! outputs then.

use crate::abi::Call;
use crate::failure::{Failure, Held};
use crate::loan::Loan;
use crate::memory;
use crate::session::Session;
use smallvec::SmallVec;
use std::ptr;
use std::sync::{Mutex, OnceLock};

/// A local array of a kernel whose size is known when a call begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Local {
    /// How many bytes it has.
    pub bytes: u64,
    /// How many of it there are at a time, threads enough.
    pub most: u64,
}

/// What waits to be used as local arrays in a call: addresses, by the numbers of the arrays.
/// Whoever runs the call keeps the memory.
#[derive(Debug, Default)]
pub(crate) struct Stock(OnceLock<Vec<Mutex<Vec<usize>>>>);

impl Stock {
    /// Takes as many of each of `locals` as `threads` threads want at a time. They stay there for
    /// as long as the loans are kept.
    ///
    /// # Errors
    /// [`Failure::OverBudget`], [`Failure::OutOfMemory`].
    pub(crate) fn fill<'r>(
        &self,
        session: &Session<'r>,
        locals: &[Local],
        threads: usize,
    ) -> Result<Vec<Loan<'r>>, Failure> {
        let mut loans = Vec::new();
        if locals.is_empty() {
            return Ok(loans);
        }
        let mut addresses = Vec::new();
        for local in locals {
            let count = local.most.min(threads as u64);
            let taken = (0..count).map(|_| session.take(local.bytes, Held::Locals));
            let taken: Vec<_> = taken.collect::<Result<_, _>>()?;
            let each = taken.iter().map(|it| it.address().expose_provenance());
            addresses.push(Mutex::new(each.collect()));
            loans.extend(taken);
        }
        // Filled once, when the call begins.
        let _ = self.0.set(addresses);
        Ok(loans)
    }

    fn of(&self, number: usize) -> Option<&Mutex<Vec<usize>>> {
        self.0.get()?.get(number)
    }

    fn lend(&self, number: usize) -> Option<usize> {
        memory::lock(self.of(number)?).pop()
    }

    fn take_back(&self, number: usize, address: usize) {
        if let Some(addresses) = self.of(number) {
            memory::lock(addresses).push(address);
        }
    }
}

/// The memory of one local array.
#[derive(Debug)]
enum Memory<'r> {
    Lent(&'r Stock, usize),
    Taken(Loan<'r>),
}

/// The local arrays of one running function, by their numbers. They go back when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct LocalMemory<'r> {
    arrays: SmallVec<[Option<Memory<'r>>; 4]>,
}

impl Drop for LocalMemory<'_> {
    fn drop(&mut self) {
        for (number, array) in self.arrays.iter().enumerate() {
            if let Some(Memory::Lent(stock, address)) = array {
                stock.take_back(number, *address);
            }
        }
    }
}

impl<'r> LocalMemory<'r> {
    /// The address of array `number`, which has `bytes` bytes whenever it is asked for.
    fn address(
        &mut self,
        session: &Session<'r>,
        number: usize,
        bytes: u64,
    ) -> Result<*mut u8, Failure> {
        if self.arrays.len() <= number {
            self.arrays.resize_with(number.saturating_add(1), || None);
        }
        match self.arrays.get_mut(number) {
            Some(Some(array)) => Ok(array.address()),
            Some(empty) => {
                let stock = session.stock();
                let array = match stock.lend(number) {
                    Some(address) => Memory::Lent(stock, address),
                    None => Memory::Taken(session.take(bytes, Held::Locals)?),
                };
                Ok(empty.insert(array).address())
            }
            None => Err(Failure::OutOfMemory { bytes }),
        }
    }
}

impl Memory<'_> {
    fn address(&self) -> *mut u8 {
        match self {
            Self::Lent(_, address) => ptr::with_exposed_provenance_mut(*address),
            Self::Taken(loan) => loan.address(),
        }
    }
}

/// What generated code calls for a local array: see [`LocalArrayFn`](crate::abi::LocalArrayFn).
///
/// # Safety
/// * `call` is the state that [`run`](crate::run) or a strategy handed to the generated function
///   that calls this.
/// * Every use of a number by the functions of one kernel is with the same sizes, and the numbers
///   are small.
#[unsafe(export_name = "strew_local_array")]
pub unsafe extern "C" fn local_array(
    call: *mut Call,
    number: u64,
    elements: u64,
    element_bytes: u64,
) -> *mut u8 {
    // SAFETY: the caller vouches for the call, which `Session::call` made with a session and a
    // memory that outlive it; no other function has that memory.
    let (call, session, memory) = unsafe {
        let call = &mut *call;
        let session = &*call.session.cast::<Session<'_>>();
        let memory = &mut *call.local_memory.cast::<LocalMemory<'_>>();
        (call, session, memory)
    };
    let bytes = elements.saturating_mul(element_bytes);
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    match memory.address(session, number, bytes) {
        Ok(address) => {
            // SAFETY: there are so many bytes, since they could be borrowed, and nobody else has
            // them before this function ends.
            unsafe { address.write_bytes(0, bytes as usize) };
            address
        }
        Err(failure) => {
            // The status follows from the null pointer.
            let _ = session.report(call, failure);
            std::ptr::null_mut()
        }
    }
}
