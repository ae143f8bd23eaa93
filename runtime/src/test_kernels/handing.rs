//! Bodies that hand their updates to somebody, written as generated code does it: into a stream or
//! into lines.

use super::{Ended, Scatter, each_update, in_range};
use crate::abi::{Call, LINE, Lines, STAGED, Stream};

macro_rules! handing_over {
    ($body:ident, $way:expr) => {
        pub(super) unsafe extern "C" fn $body(
            call: *mut Call,
            frame: *const u64,
            takers: *const *mut u8,
            first: i64,
            last: i64,
        ) -> u32 {
            // SAFETY: handed on as it came; where the takers stand is as `run_protected` made the
            // tables.
            unsafe {
                each_update(call, frame, (first, last), |call, case, i| {
                    hand_over_one(call, case, takers, i, $way)
                })
            }
        }
    };
}

handing_over!(emit, Staged);
handing_over!(sort, Lined { has_keys: true });
handing_over!(sort_values, Lined { has_keys: false });

/// How an update is handed to who takes it, which is at some address.
trait HandOver {
    /// # Safety
    /// The strategy handed this address to the body.
    unsafe fn hand_over<T>(
        self,
        call: *mut Call,
        to: *mut u8,
        update: (usize, T),
    ) -> Result<(), Ended>;
}

/// Hands over updates of counts and sums, as generated code does.
unsafe fn hand_over_one(
    call: &mut Call,
    case: &Scatter,
    mut next: *const *mut u8,
    i: usize,
    way: impl HandOver + Copy,
) -> Result<(), Ended> {
    let key = case.keys[i];
    if let Some(counts) = &case.counts {
        let at = in_range(key, counts.len())?;
        // SAFETY: what takes the counts comes first.
        unsafe {
            way.hand_over(call, *next, (at, 1_i32))?;
            next = next.add(1);
        }
    }
    if let Some(sums) = &case.sums {
        let at = in_range(key, sums.len())?;
        // SAFETY: what takes the sums comes next.
        unsafe { way.hand_over(call, *next, (at, case.weights[i]))? };
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Staged;

impl HandOver for Staged {
    unsafe fn hand_over<T>(
        self,
        call: *mut Call,
        to: *mut u8,
        (at, _): (usize, T),
    ) -> Result<(), Ended> {
        // SAFETY: the caller vouches for the stream, which has room: it is emptied when it is full.
        unsafe {
            let stream = to.cast::<Stream>();
            let staged = (*stream).staged as usize;
            *(*stream).keys.add(staged) = at as u32;
            (*stream).staged += 1;
            if (*stream).staged == STAGED {
                ended(crate::take_updates(call, stream))?;
            }
        }
        Ok(())
    }
}

/// Into lines, with keys or without.
#[derive(Clone, Copy)]
struct Lined {
    has_keys: bool,
}

impl HandOver for Lined {
    unsafe fn hand_over<T>(
        self,
        call: *mut Call,
        to: *mut u8,
        (at, value): (usize, T),
    ) -> Result<(), Ended> {
        // SAFETY: the caller vouches for the lines, which have room: each is emptied when it is
        // full.
        unsafe {
            let lines = to.cast::<Lines>();
            let range = if self.has_keys {
                at >> (*lines).shift
            } else {
                let range = (*lines).ranges;
                (*lines).ranges = range.add(1);
                usize::from(*range)
            };
            let place = *(*lines).places.add(range);
            if self.has_keys {
                *(*lines).keys.add(place as usize) = at as u16;
            }
            *(*(*lines).values).cast::<T>().add(place as usize) = value;
            *(*lines).places.add(range) = place + 1;
            if (place + 1).is_multiple_of(LINE) {
                ended(crate::empty_line(call, lines, range as u64))?;
            }
        }
        Ok(())
    }
}

fn ended(status: u32) -> Result<(), Ended> {
    match status {
        0 => Ok(()),
        status => Err(Ended::With(status)),
    }
}
