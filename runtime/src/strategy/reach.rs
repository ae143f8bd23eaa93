//! Private buffers that are filled page by page, as they are used.

use super::bytes;
use super::fill::fill;
use crate::abi::{Call, PAGE, Pages, PrivateCall, Status};
use crate::failure::Failure;
use crate::loan::Loan;
use crate::session::Session;
use smallvec::SmallVec;
use std::cell::Cell;

/// The pages of buffers that are merged together, and what it takes to fill more of them.
#[repr(C)]
pub(super) struct Reach<'b, 's> {
    /// The first field, so that its address is that of the whole.
    pages: Pages,
    filled: Vec<Cell<u8>>,
    privates: &'b [PrivateCall],
    /// Those of a table behind those of the table before.
    buffers: SmallVec<[*mut u8; 8]>,
    loan: &'b Loan<'s>,
    budget: u64,
}

impl<'b, 's> Reach<'b, 's> {
    /// Nothing is filled yet of `buffers`, one for each of `privates` in one table or several.
    ///
    /// # Errors
    /// [`Failure::OverBudget`], [`Failure::OutOfMemory`].
    pub(super) fn new(
        privates: &'b [PrivateCall],
        buffers: SmallVec<[*mut u8; 8]>,
        loan: &'b Loan<'s>,
        budget: u64,
    ) -> Result<Self, Failure> {
        let count = privates.first().map_or(0, bytes).div_ceil(PAGE);
        loan.touch(count, budget)?;
        let mut filled = Vec::new();
        let size = usize::try_from(count).unwrap_or(usize::MAX);
        let reserved = filled.try_reserve_exact(size);
        reserved.map_err(|_| Failure::OutOfMemory { bytes: count })?;
        filled.resize(size, Cell::new(0));
        Ok(Self {
            pages: Pages {
                filled: filled.as_ptr().cast(),
            },
            filled,
            privates,
            buffers,
            loan,
            budget,
        })
    }

    /// What a body in the shape [`BodyShape::Paged`](crate::abi::BodyShape::Paged) is handed. It is
    /// [`Self`] that this is the address of.
    pub(super) fn address(&mut self) -> *mut u8 {
        std::ptr::from_mut(self).cast()
    }

    /// For each page of the first of the buffers whether it is filled.
    pub(super) fn into_filled(self) -> Vec<u8> {
        self.filled.into_iter().map(Cell::into_inner).collect()
    }

    /// Fills the pages of `bytes` bytes from `at` on.
    ///
    /// # Safety
    /// Elements lie there, and nobody else touches the buffers.
    unsafe fn fill_pages(&self, at: u64, bytes: u64) -> Result<(), Failure> {
        for page in at / PAGE..(at + bytes).div_ceil(PAGE) {
            let is_filled = usize::try_from(page)
                .ok()
                .and_then(|it| self.filled.get(it));
            if let Some(is_filled) = is_filled.filter(|it| it.get() == 0) {
                // SAFETY: handed on as it came.
                unsafe { self.fill_page(page)? };
                is_filled.set(1);
            }
        }
        Ok(())
    }

    /// Writes identities to the elements of a page of the first of the buffers, in all of them.
    ///
    /// # Safety
    /// Nobody else touches the buffers.
    unsafe fn fill_page(&self, page: u64) -> Result<(), Failure> {
        let width = |private: &PrivateCall| u64::from(private.element_bytes).max(1);
        let per_page = PAGE / self.privates.first().map_or(1, width);
        let start = page * per_page;
        let tables = self.privates.iter().cycle();
        for (private, buffer) in tables.zip(&self.buffers) {
            let count = per_page.min(private.elements.saturating_sub(start));
            let width = width(private);
            self.loan.touch(count * width, self.budget)?;
            let place = buffer.wrapping_add((start * width) as usize);
            // SAFETY: the buffer has room for all elements of its target; the caller vouches for
            // the rest.
            unsafe { fill(place, count, private) };
        }
        Ok(())
    }
}

/// What generated code calls before it touches elements in pages that are not filled: see
/// [`ReachFn`](crate::abi::ReachFn).
///
/// # Safety
/// * `call` is the state that a strategy handed to the generated function that calls this.
/// * `pages` is what a strategy handed to that function, and what lies in `bytes` bytes from `at`
///   bytes behind the address of its first buffer are elements of it.
#[unsafe(export_name = "strew_reach_elements")]
pub unsafe extern "C" fn reach_elements(
    call: *mut Call,
    pages: *mut Pages,
    at: u64,
    bytes: u64,
) -> u32 {
    // SAFETY: the caller vouches for both; the session outlives all generated code of its call.
    let (call, session, reach) = unsafe {
        let call = &mut *call;
        let session = &*call.session.cast::<Session<'_>>();
        (call, session, &*pages.cast::<Reach<'_, '_>>())
    };
    // SAFETY: the caller vouches for the elements; the buffers belong to the task that calls.
    let status = match unsafe { reach.fill_pages(at, bytes) } {
        Ok(()) => Status::Done,
        Err(failure) => session.report(call, failure),
    };
    status as u32
}
