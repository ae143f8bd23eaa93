//! Private buffers that are filled as far as they are used.

use super::fill::fill;
use super::merge::elements_per_block;
use crate::abi::{Call, PrivateCall, Status, Window};
use crate::failure::Failure;
use crate::loan::Loan;
use crate::session::Session;
use smallvec::SmallVec;
use std::ops::Range;

/// A window grows by whole multiples of so many blocks.
const BLOCKS: u64 = 8;

/// The window of buffers that are merged together, and what it takes to move its ends.
#[repr(C)]
pub(super) struct Reach<'b, 's> {
    /// The first field, so that its address is that of the whole.
    window: Window,
    privates: &'b [PrivateCall],
    buffers: SmallVec<[*mut u8; 2]>,
    loan: &'b Loan<'s>,
    budget: u64,
    held: Range<u64>,
}

impl<'b, 's> Reach<'b, 's> {
    /// Nothing is filled yet.
    pub(super) fn new(
        privates: &'b [PrivateCall],
        buffers: &[*mut u8],
        loan: &'b Loan<'s>,
        budget: u64,
    ) -> Self {
        Self {
            window: Window::default(),
            privates,
            buffers: SmallVec::from_slice(buffers),
            loan,
            budget,
            held: 0..0,
        }
    }

    /// What a body in the shape [`BodyShape::Windowed`](crate::abi::BodyShape::Windowed) is handed. It is [`Self`] that this is the
    /// address of.
    pub(super) fn address(&mut self) -> *mut u8 {
        std::ptr::from_mut(self).cast()
    }

    /// The elements that are filled, in whole blocks.
    pub(super) fn held(&self) -> Range<u64> {
        self.held.clone()
    }

    /// Fills as far as element `number`.
    ///
    /// # Safety
    /// There is such an element, and nobody else touches the buffers.
    unsafe fn extend(&mut self, number: u64) -> Result<(), Failure> {
        let step = elements_per_block(self.privates) * BLOCKS;
        let start = number / step * step;
        let around = start..start + step;
        let Range { start, end } = self.held.clone();
        let (before, behind) = if self.held.is_empty() {
            (around.clone(), around.end..around.end)
        } else {
            (around.start.min(start)..start, end..around.end.max(end))
        };
        // SAFETY: handed on as it came.
        unsafe {
            self.fill(before.clone())?;
            self.fill(behind.clone())?;
        }
        let end = if self.held.is_empty() {
            around.end
        } else {
            behind.end
        };
        self.held = before.start..end;
        let width = self.width();
        self.window = Window {
            start: self.held.start * width,
            bytes: (self.held.end - self.held.start) * width,
        };
        Ok(())
    }

    fn width(&self) -> u64 {
        self.privates
            .first()
            .map_or(1, |it| u64::from(it.element_bytes))
    }

    /// Writes identities to those of `elements` that there are.
    ///
    /// # Safety
    /// Nobody else touches the buffers.
    unsafe fn fill(&self, elements: Range<u64>) -> Result<(), Failure> {
        for (private, buffer) in self.privates.iter().zip(&self.buffers) {
            let end = elements.end.min(private.elements);
            let count = end.saturating_sub(elements.start);
            let width = u64::from(private.element_bytes);
            self.loan.touch(count * width, self.budget)?;
            let place = buffer.wrapping_add((elements.start * width) as usize);
            // SAFETY: the buffer has room for all elements of its target; the caller vouches for the rest.
            unsafe { fill(place, count, private) };
        }
        Ok(())
    }
}

/// What generated code calls before it touches an element outside of its window: see [`ReachFn`](crate::abi::ReachFn).
///
/// # Safety
/// * `call` is the state that a strategy handed to the generated function that calls this.
/// * `window` is what a strategy handed to that function, and the element `at` bytes behind the address of its first buffer is one of it.
#[unsafe(export_name = "strew_reach_element")]
pub unsafe extern "C" fn reach_element(call: *mut Call, window: *mut Window, at: u64) -> u32 {
    // SAFETY: the caller vouches for both; the session outlives all generated code of its call.
    let (call, session, reach) = unsafe {
        let call = &mut *call;
        let session = &*call.session.cast::<Session<'_>>();
        (call, session, &mut *window.cast::<Reach<'_, '_>>())
    };
    // SAFETY: the caller vouches for the element; the buffers belong to the task that calls.
    let status = match unsafe { reach.extend(at / reach.width()) } {
        Ok(()) => Status::Done,
        Err(failure) => session.report(call, failure),
    };
    status as u32
}
