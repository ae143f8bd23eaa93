//! Kernels that were compiled into an object file, called from C: what the object hands over, and
//! the functions that it and its caller link to.
//!
//! `cargo rustc -p strew-runtime --release --crate-type staticlib` makes a library of this crate
//! for the linker.

mod tables;

pub use tables::{
    Body, CodeTable, Kernel, KeyTable, Merge, Site, SiteKind, TABLES_VERSION, Verdict, Version,
};

use crate::abi::{Call, FaultRecord, MAX_DEPTH, Slot, Work};
use crate::settings::{Choice, Mode, Settings};
use crate::snapshot::Region;
use crate::team::Runtime;
use crate::{Failure, STRATEGIES, session};
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a function of an object returns. The header of each object lists them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Code {
    /// It ran to its end.
    #[default]
    Done = 0,
    /// An index was out of range.
    OutOfRange = 1,
    /// An integer was divided by zero.
    DivisionByZero = 2,
    /// An element of an array that is said to be disjoint was written twice.
    Met = 3,
    /// Sizes below zero, or beyond what can be calculated with.
    Sizes = 4,
    /// The sizes do not keep what the kernel assumes.
    Assumption = 5,
    /// It would hold more memory than it may, or than there is.
    Memory = 6,
    /// A loop cannot be run by the strategy that the schedule names, or with so many threads.
    Refused = 7,
    /// An array that has elements is a null pointer.
    Null = 8,
    /// A defect of strew, or tables of another version of it.
    Internal = 9,
}

/// What the last call on a thread met.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CFault {
    /// The [`Code`] that the call returned.
    pub code: u32,
    /// Where in the source it is, from 1; 0 when that is not known.
    pub line: u32,
    /// The column, in characters, from 1; 0 when that is not known.
    pub column: u32,
    /// How many entries of `iteration` are meant.
    pub depth: u32,
    /// The array, or null.
    pub array: *const c_char,
    /// The index that was out of range, or the element that was written twice.
    pub index: i64,
    /// What the index had to be below.
    pub extent: i64,
    /// The iterators of the loops around, outermost first.
    pub iteration: [i64; MAX_DEPTH],
}

impl CFault {
    const fn of(code: Code) -> Self {
        Self {
            code: code as u32,
            line: 0,
            column: 0,
            depth: 0,
            array: ptr::null(),
            index: 0,
            extent: 0,
            iteration: [0; MAX_DEPTH],
        }
    }
}

thread_local! {
    static LAST: Cell<CFault> = const { Cell::new(CFault::of(Code::Done)) };
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Keeps what is to be said of the last call on this thread.
fn say(message: &impl ToString) {
    // There is no zero in what is worded here; of a combiner's own words there may be.
    let message = CString::new(message.to_string()).unwrap_or_default();
    MESSAGE.set(message);
}

/// 0 is as many as the machine has.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets how many threads later calls use, 0 for as many as the machine has; returns a [`Code`].
#[unsafe(export_name = "strew_threads")]
pub extern "C" fn set_threads(threads: u32) -> u32 {
    let wanted = usize::try_from(threads).unwrap_or(usize::MAX);
    if wanted > crate::MAX_THREADS {
        return Code::Refused as u32;
    }
    THREADS.store(wanted, Ordering::Relaxed);
    Code::Done as u32
}

/// Writes what the last call on this thread met to `fault`.
///
/// # Safety
/// `fault` may be written.
#[unsafe(export_name = "strew_last_fault")]
pub unsafe extern "C" fn last_fault(fault: *mut CFault) {
    // SAFETY: the caller vouches for the place.
    unsafe { fault.write(LAST.get()) };
}

/// Why the last call on this thread was refused, had too little memory, or met a defect, in words
/// and with what to do; empty after all others. It stays where it is until the next call on this
/// thread.
#[unsafe(export_name = "strew_last_message")]
pub extern "C" fn last_message() -> *const c_char {
    MESSAGE.with_borrow(|it| it.as_ptr())
}

/// Runs the kernel with the tables `kernel`, returns a [`Code`], and leaves the bits of its result
/// in `returned`. All arrays are as they were if that is not [`Code::Done`].
///
/// # Safety
/// * `kernel` and all tables that it leads to are what the compiler made, and stay where they are.
/// * `slots` has a slot for each parameter. The arrays behind them have as many elements as the
///   kernel declares with these sizes; nobody else touches them meanwhile, and none that is written
///   overlaps another.
/// * `returned` may be written.
#[unsafe(export_name = "strew_call_kernel")]
pub unsafe extern "C" fn call_kernel(
    kernel: *const Kernel,
    slots: *mut Slot,
    returned: *mut u64,
) -> u32 {
    // SAFETY: the caller vouches for the tables.
    let kernel = unsafe { &*kernel };
    MESSAGE.take();
    // SAFETY: the caller vouches for the rest.
    let run = || unsafe { run(kernel, slots) };
    let outcome = catch_unwind(AssertUnwindSafe(run));
    let outcome = outcome.unwrap_or(Err(CFault::of(Code::Internal)));
    let fault = match outcome {
        Ok(bits) => {
            // SAFETY: the caller vouches for the place.
            unsafe { returned.write(bits) };
            CFault::of(Code::Done)
        }
        Err(fault) => fault,
    };
    LAST.set(fault);
    fault.code
}

/// # Safety
/// That of [`call_kernel`].
unsafe fn run(kernel: &Kernel, slots: *mut Slot) -> Result<u64, CFault> {
    if kernel.version != TABLES_VERSION {
        say(&"the object and the library are of different versions of strew");
        return Err(CFault::of(Code::Internal));
    }
    let threads = NonZeroUsize::new(THREADS.load(Ordering::Relaxed));
    let runtime = Runtime::shared(threads).map_err(|error| {
        say(&error);
        CFault::of(Code::Refused)
    })?;
    let mode = match kernel.mode {
        0 => Mode::Fast,
        1 => Mode::Stable,
        _ => Mode::Exact,
    };
    let settings = Settings {
        mode,
        ..Settings::default()
    };
    // SAFETY: the caller vouches for the tables and the slots.
    match unsafe { kernel.scheduled.run(runtime, &settings, slots) } {
        Ok(returned) => return Ok(returned),
        // The arrays are as they were: the careful version tells what it was.
        Err(Missed::Assumption | Missed::Bare) => {}
        Err(Missed::Fault(fault)) => return Err(fault),
    }
    let mut settings = settings;
    if kernel.careful_in_order != 0 {
        settings.strategy = Choice::Named(STRATEGIES[0]);
    }
    // SAFETY: as above.
    let outcome = unsafe { kernel.careful.run(runtime, &settings, slots) };
    outcome.map_err(|missed| match missed {
        Missed::Assumption => CFault::of(Code::Assumption),
        Missed::Bare => CFault::of(Code::Internal),
        Missed::Fault(fault) => fault,
    })
}

/// Why a version of a kernel did not run to its end.
enum Missed {
    /// The sizes do not keep what it assumes.
    Assumption,
    /// It met a fault, and cannot tell which.
    Bare,
    Fault(CFault),
}

impl Version {
    /// # Safety
    /// That of [`call_kernel`].
    unsafe fn run(
        &self,
        runtime: &Runtime,
        settings: &Settings,
        slots: *mut Slot,
    ) -> Result<u64, Missed> {
        // SAFETY: the caller vouches for the tables and the slots.
        let verdict = unsafe { self.verdict(slots) };
        let code = match verdict {
            Verdict::Proved => &self.proved,
            Verdict::Unproved => &self.checked,
            Verdict::Sizes => return Err(Missed::Fault(CFault::of(Code::Sizes))),
            Verdict::Assumption => return Err(Missed::Assumption),
        };
        // SAFETY: the caller vouches for the tables and the slots, whose lengths the judge has
        // written.
        unsafe { code.run(runtime, settings, slots) }
    }

    /// # Safety
    /// That of [`call_kernel`].
    unsafe fn verdict(&self, slots: *mut Slot) -> Verdict {
        let work = Work::default();
        let mut call = Call::alone(slots, &raw const work);
        // SAFETY: the judge touches the call and the slots alone.
        Verdict::from_bits(unsafe { (self.judge)(&raw mut call) })
    }
}

impl CodeTable {
    /// # Safety
    /// That of [`call_kernel`], and the slots have the lengths of the arrays.
    unsafe fn run(
        &self,
        runtime: &Runtime,
        settings: &Settings,
        slots: *const Slot,
    ) -> Result<u64, Missed> {
        // SAFETY: the caller vouches for the tables and the slots.
        let slots = unsafe { tables::list(slots, self.slots) };
        let mut arrays = slots.iter().filter(|it| it.elements != 0);
        if arrays.any(|it| it.bits_or_address == 0) {
            return Err(Missed::Fault(CFault::of(Code::Null)));
        }
        // SAFETY: as above.
        let copied = unsafe { self.copied() };
        let regions = copied.filter_map(|(position, element_bytes)| {
            let slot = slots.get(usize::try_from(position).ok()?)?;
            Some(Region {
                address: ptr::with_exposed_provenance_mut(slot.bits_or_address as usize),
                bytes: usize::try_from(slot.elements.saturating_mul(element_bytes)).ok()?,
            })
        });
        let protect: Vec<_> = regions.collect();
        let code = session::Code {
            entry: self.entry,
            has_foralls: self.has_foralls != 0,
            // The outputs are copied instead.
            locals: &[],
            on_demand: self,
        };
        // SAFETY: the compiler made the functions; the caller vouches for the arrays.
        match unsafe { session::run(runtime, settings, &code, slots, &protect) } {
            Ok(returned) => Ok(returned),
            Err(failure) => Err(self.missed(&failure)),
        }
    }

    fn missed(&self, failure: &Failure) -> Missed {
        let code = match failure {
            Failure::Fault(record) => return self.fault(record),
            Failure::OverBudget { .. } | Failure::OutOfMemory { .. } => Code::Memory,
            Failure::Refused(_) => Code::Refused,
            Failure::Combiner { .. } | Failure::Stopped | Failure::Met | Failure::Panicked(_) => {
                Code::Internal
            }
        };
        say(failure);
        Missed::Fault(CFault::of(code))
    }

    fn fault(&self, record: &FaultRecord) -> Missed {
        // SAFETY: the compiler made the tables.
        let sites = unsafe { tables::list(self.sites, self.site_count) };
        let Some(site) = sites.get(record.site as usize) else {
            return Missed::Bare;
        };
        let code = match SiteKind::from_bits(site.kind) {
            SiteKind::OutOfRange => Code::OutOfRange,
            SiteKind::DivisionByZero => Code::DivisionByZero,
            SiteKind::Met => Code::Met,
            SiteKind::Overflow => Code::Sizes,
        };
        Missed::Fault(CFault {
            line: site.line,
            column: site.column,
            depth: record.depth,
            array: site.array,
            index: record.index,
            extent: record.extent,
            iteration: record.iteration,
            ..CFault::of(code)
        })
    }
}
