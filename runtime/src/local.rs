//! Memory for local arrays that are too large for a frame, or of a size that is not known before the call.

use crate::abi::Call;
use crate::failure::{Failure, Held};
use crate::loan::Loan;
use crate::session::Session;
use smallvec::SmallVec;

/// The local arrays of one running function, by their numbers. They go back when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct LocalMemory<'r> {
    loans: SmallVec<[Option<Loan<'r>>; 4]>,
}

impl<'r> LocalMemory<'r> {
    /// The address of array `number`, which has `bytes` bytes whenever it is asked for.
    fn address(
        &mut self,
        session: &Session<'r>,
        number: usize,
        bytes: u64,
    ) -> Result<*mut u8, Failure> {
        if self.loans.len() <= number {
            self.loans.resize_with(number.saturating_add(1), || None);
        }
        match self.loans.get_mut(number) {
            Some(Some(loan)) => Ok(loan.address()),
            Some(empty) => {
                let loan = session.take(bytes, Held::Locals)?;
                Ok(empty.insert(loan).address())
            }
            None => Err(Failure::OutOfMemory { bytes }),
        }
    }
}

/// What generated code calls for a local array: see [`LocalArrayFn`](crate::abi::LocalArrayFn).
///
/// # Safety
/// * `call` is the state that [`run`](crate::run) or a strategy handed to the generated function that calls this.
/// * Every use of a number by the functions of one kernel is with the same sizes, and the numbers are small.
#[unsafe(export_name = "strew_local_array")]
pub unsafe extern "C" fn local_array(
    call: *mut Call,
    number: u64,
    elements: u64,
    element_bytes: u64,
) -> *mut u8 {
    // SAFETY: the caller vouches for the call, which `Session::call` made with a session and a memory that outlive it; no other
    // function has that memory.
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
            // SAFETY: the loan has so many bytes, since they could be borrowed, and belongs to this function alone.
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
