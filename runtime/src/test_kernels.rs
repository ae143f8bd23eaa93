//! Kernels for tests, written by hand as generated code would be: counts and weighted sums by key.

mod handing;

use crate::abi::{
    AUTO, ApplyFn, BodyShape, Bounds, Call, ChunkFn, EntryFn, FaultRecord, ForallCall, KeySlots,
    MergeFn, NO_BODY, OnDemand, PAGE, Pages, PrivateCall, Slot, Status,
};
use crate::{Code, Failure, Record, Region, Runtime, Settings, StopToken};
use handing::{emit, sort, sort_values};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// The site that a key out of range faults at.
pub(crate) const KEY_SITE: u32 = 7;

pub(crate) fn runtime(threads: usize) -> Runtime {
    Runtime::new(NonZeroUsize::new(threads)).unwrap()
}

/// `counts[key] += 1` and `sums[key] += weight` in one loop over all keys; either is left out when
/// it is `None`.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    pub(crate) keys: Vec<i32>,
    pub(crate) weights: Vec<f64>,
    pub(crate) counts: Option<Vec<i32>>,
    pub(crate) sums: Option<Vec<f64>>,
    /// Iterations of the forall.
    pub(crate) chunks: i64,
    pub(crate) strategy: u32,
    /// There is a body that only makes updates.
    pub(crate) emits: bool,
    pub(crate) guarded: u32,
    /// The kernel has its foralls so often.
    pub(crate) repeat: usize,
    /// At this iteration the token is asked to stop.
    pub(crate) stop_at: Option<(usize, StopToken)>,
}

impl Scatter {
    /// `updates` pseudo-random keys below `elements` and weights that do not add up exactly.
    pub(crate) fn new(updates: usize, elements: usize) -> Self {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 11
        };
        let below = elements.max(1) as u64;
        Self {
            keys: (0..updates).map(|_| (next() % below) as i32).collect(),
            weights: (0..updates).map(|_| next() as f64 / 3e11).collect(),
            counts: None,
            sums: None,
            chunks: 8,
            strategy: AUTO,
            emits: true,
            guarded: 0,
            repeat: 1,
            stop_at: None,
        }
    }

    pub(crate) fn with_counts(mut self, elements: usize) -> Self {
        self.counts = Some((0..elements as i32).collect());
        self
    }

    pub(crate) fn with_sums(mut self, elements: usize) -> Self {
        self.sums = Some((0..elements).map(|it| it as f64 / 7.0).collect());
        self
    }

    /// The oracle: a plain loop.
    pub(crate) fn expected(&self) -> (Option<Vec<i32>>, Option<Vec<f64>>) {
        let (mut counts, mut sums) = (self.counts.clone(), self.sums.clone());
        for (key, weight) in self.keys.iter().zip(&self.weights) {
            counts.iter_mut().for_each(|it| it[*key as usize] += 1);
            sums.iter_mut().for_each(|it| it[*key as usize] += weight);
        }
        (counts, sums)
    }

    pub(crate) fn sum_bits(&self) -> Vec<u64> {
        let sums = self.sums.iter().flatten();
        sums.map(|sum| sum.to_bits()).collect()
    }

    pub(crate) fn run(
        &mut self,
        runtime: &Runtime,
        settings: &Settings,
    ) -> Result<Record, Failure> {
        self.run_protected(runtime, settings, false)
    }

    /// Runs it, with the counts protected by the call when `protect` says so.
    pub(crate) fn run_protected(
        &mut self,
        runtime: &Runtime,
        settings: &Settings,
        protect: bool,
    ) -> Result<Record, Failure> {
        let Self { counts, sums, .. } = self;
        let regions: Vec<_> = counts
            .iter_mut()
            .filter(|_| protect)
            .map(|counts| Region {
                address: counts.as_mut_ptr().cast(),
                bytes: size_of_val(&**counts),
            })
            .collect();
        let counts = counts.as_mut().map(|counts| private(counts, 0, 0, 1));
        let sums = sums
            .as_mut()
            .map(|sums| private(sums, (-0.0_f64).to_bits(), 1, 0));
        let privates: Vec<_> = counts.into_iter().chain(sums).collect();
        let frame = std::ptr::from_ref(self).expose_provenance() as u64;
        let forall = ForallCall {
            body: scatter,
            frame: &raw const frame,
            privates: privates.as_ptr(),
            private_count: privates.len() as u64,
            count: self.chunks,
            trips: self.keys.len() as i64,
            body_number: if self.emits { 0 } else { NO_BODY },
            strategy: self.strategy,
            guarded: self.guarded,
            pure: 1,
            ..nothing()
        };
        let foralls = vec![forall; self.repeat];
        // SAFETY: the entry reads the foralls behind the slot; their targets are borrowed mutably
        // here, and the body reads keys and weights, which nobody writes.
        let completed = unsafe {
            crate::run_with_record(
                runtime,
                settings,
                &code(all_foralls),
                &slots(&foralls),
                &regions,
            )
        };
        completed.map(|it| it.record)
    }
}

/// The merge functions of the kernels here, by number.
#[derive(Debug)]
struct Additions;

impl OnDemand for Additions {
    fn merge(&self, number: u32) -> Result<MergeFn, String> {
        match number {
            0 => Ok(merge_counts),
            1 => Ok(merge_sums),
            _ => Err(format!("no merge function {number}")),
        }
    }

    fn apply(&self, number: u32) -> Result<ApplyFn, String> {
        match number {
            0 => Ok(apply_counts),
            1 => Ok(apply_sums),
            _ => Err(format!("no apply function {number}")),
        }
    }

    fn body(&self, number: u32, shape: BodyShape) -> Result<ChunkFn, String> {
        match (number, shape) {
            (0, BodyShape::Emit) => Ok(emit),
            (0, BodyShape::Sorted) => Ok(sort),
            (0, BodyShape::Values) => Ok(sort_values),
            (0, BodyShape::Check) => Ok(check),
            (0, BodyShape::Bounds) => Ok(bounds),
            (0, BodyShape::Scan) => Ok(scan_nothing),
            (0, BodyShape::Within | BodyShape::WithinRunLength) => Ok(within),
            (0, BodyShape::Atomic) => Ok(atomic),
            (
                0,
                BodyShape::Paged
                | BodyShape::PagedRunLength
                | BodyShape::PagedPartials
                | BodyShape::PagedTables,
            ) => Ok(paged),
            (
                0,
                BodyShape::Direct | BodyShape::RunLength | BodyShape::Partials | BodyShape::Tables,
            ) => Ok(scatter),
            _ => Err(format!("no body {number} {shape:?}")),
        }
    }

    fn keys(&self, number: u32) -> Option<KeySlots> {
        (number == 0).then(KeySlots::default)
    }
}

pub(crate) fn code(entry: EntryFn) -> Code<'static> {
    Code {
        entry,
        has_foralls: false,
        locals: &[],
        on_demand: &Additions,
    }
}

pub(crate) fn slots(foralls: &[ForallCall]) -> [Slot; 1] {
    [Slot {
        bits_or_address: foralls.as_ptr().expose_provenance() as u64,
        elements: foralls.len() as u64,
    }]
}

fn private<T>(target: &mut Vec<T>, identity: u64, merge: u32, exact: u32) -> PrivateCall {
    let (address, elements) = (target.as_mut_ptr().cast(), target.len() as u64);
    PrivateCall {
        identity,
        merge,
        exact,
        ..PrivateCall::of_sums(address, elements, size_of::<T>() as u32)
    }
}

impl PrivateCall {
    /// A buffer of integers of `bytes` bytes that are summed up, and follow each other at `target`.
    pub(crate) fn of_sums(target: *mut u8, elements: u64, bytes: u32) -> Self {
        Self {
            target,
            elements,
            target_stride: bytes.into(),
            target_run: 1,
            identity: 0,
            value: 0,
            element_bytes: bytes,
            exact: 1,
            commutes: 1,
            ordered: 0,
            parts: 1,
            merge: 0,
            record: 0,
            constant: 0,
            alike: 0,
            speculative: 0,
        }
    }
}

/// A forall without iterations.
pub(crate) fn nothing() -> ForallCall {
    ForallCall {
        body: scatter,
        frame: std::ptr::null(),
        privates: std::ptr::null(),
        private_count: 0,
        gathers: std::ptr::null(),
        gather_count: 0,
        count: 0,
        trips: 0,
        others: 0,
        called: 0,
        columns: crate::abi::NO_COLUMNS,
        row_columns: crate::abi::NO_COLUMNS,
        column_step: 1,
        lanes: 1,
        body_number: NO_BODY,
        strategy: AUTO,
        guarded: 1,
        steady: 1,
        uncounted: 0,
        held: 0,
        holds: 0,
        pure: 0,
        sure: 0,
        separate: 0,
    }
}

/// A kernel that runs the foralls in its first slot, one after the other.
pub(crate) unsafe extern "C" fn all_foralls(call: *mut Call) -> u32 {
    // SAFETY: `slots` makes the one slot of this kernel.
    let foralls = unsafe {
        let slot = *(*call).slots;
        let address = std::ptr::with_exposed_provenance(slot.bits_or_address as usize);
        std::slice::from_raw_parts::<ForallCall>(address, slot.elements as usize)
    };
    for forall in foralls {
        // SAFETY: handed on as it came.
        let status = unsafe { crate::run_forall(call, forall) };
        if status != Status::Done as u32 {
            return status;
        }
    }
    Status::Done as u32
}

unsafe extern "C" fn scatter(
    call: *mut Call,
    frame: *const u64,
    privates: *const *mut u8,
    first: i64,
    last: i64,
) -> u32 {
    // SAFETY: handed on as it came; the tables are as `run_protected` made them.
    unsafe {
        each_update(call, frame, (first, last), |_, case, i| {
            scatter_one(case, privates, i)
        })
    }
}

unsafe extern "C" fn check(
    call: *mut Call,
    frame: *const u64,
    _privates: *const *mut u8,
    first: i64,
    last: i64,
) -> u32 {
    // SAFETY: handed on as it came.
    unsafe {
        each_update(call, frame, (first, last), |_, case, i| {
            let counts = case.counts.as_ref().map(Vec::len);
            let sums = case.sums.as_ref().map(Vec::len);
            let mut extents = counts.into_iter().chain(sums);
            extents.try_for_each(|extent| in_range(case.keys[i], extent).map(drop))
        })
    }
}

unsafe extern "C" fn bounds(
    call: *mut Call,
    frame: *const u64,
    privates: *const *mut u8,
    first: i64,
    last: i64,
) -> u32 {
    // SAFETY: in the place of the address of each buffer stands that of its bounds.
    unsafe {
        each_update(call, frame, (first, last), |_, case, i| {
            let counts = case.counts.as_ref().map(Vec::len);
            let sums = case.sums.as_ref().map(Vec::len);
            for (position, extent) in counts.into_iter().chain(sums).enumerate() {
                let number = in_range(case.keys[i], extent)? as u64;
                let bounds = &mut *(*privates.add(position)).cast::<Bounds>();
                bounds.falls |= number as i64 - bounds.last as i64;
                bounds.least = bounds.least.min(number);
                bounds.most = bounds.most.max(number);
                bounds.last = number;
            }
            Ok(())
        })
    }
}

/// It can never tell.
unsafe extern "C" fn scan_nothing(
    _call: *mut Call,
    _frame: *const u64,
    privates: *const *mut u8,
    _first: i64,
    _last: i64,
) -> u32 {
    // SAFETY: in the place of the address of the first buffer stands that of its bounds.
    unsafe { (*privates).cast::<Bounds>().write(Bounds::ALL) };
    Status::Done as u32
}

/// Every update goes to the same element of both.
unsafe extern "C" fn within(
    call: *mut Call,
    frame: *const u64,
    privates: *const *mut u8,
    first: i64,
    last: i64,
) -> u32 {
    // SAFETY: as for `scatter`; behind the addresses and the distances stand the elements.
    unsafe {
        each_update(call, frame, (first, last), |_, case, i| {
            let outputs = usize::from(case.counts.is_some()) + usize::from(case.sums.is_some());
            let number = |position: usize| (*privates.add(position)).addr() as u64;
            let elements = number(2 * outputs)..number(3 * outputs);
            if elements.contains(&(case.keys[i] as u64)) {
                scatter_one(case, privates, i)
            } else {
                Ok(())
            }
        })
    }
}

unsafe extern "C" fn paged(
    call: *mut Call,
    frame: *const u64,
    privates: *const *mut u8,
    first: i64,
    last: i64,
) -> u32 {
    // SAFETY: as for `scatter`; behind the addresses and the distances stand the pages.
    unsafe {
        each_update(call, frame, (first, last), |call, case, i| {
            let extents = [
                case.counts.as_ref().map(Vec::len),
                case.sums.as_ref().map(Vec::len),
            ];
            let extents = extents.into_iter().zip([4, 8]);
            let extents = extents.filter_map(|(extent, bytes)| Some((extent?, bytes)));
            let extents: Vec<(usize, u64)> = extents.collect();
            for (position, (extent, bytes)) in extents.iter().enumerate() {
                let at = in_range(case.keys[i], *extent)? as u64 * bytes;
                let pages = (*privates.add(2 * extents.len() + position)).cast::<Pages>();
                if *(*pages).filled.add((at / PAGE) as usize) == 0 {
                    let status = crate::reach_elements(call, pages, at, *bytes);
                    if status != 0 {
                        return Err(Ended::With(status));
                    }
                }
            }
            scatter_one(case, privates, i)
        })
    }
}

unsafe extern "C" fn atomic(
    call: *mut Call,
    frame: *const u64,
    targets: *const *mut u8,
    first: i64,
    last: i64,
) -> u32 {
    // SAFETY: as for `scatter`; the elements are aligned, and all that is done to them at the same
    // time is atomic.
    unsafe {
        each_update(call, frame, (first, last), |_, case, i| {
            if let Some(counts) = &case.counts {
                let at = in_range(case.keys[i], counts.len())?;
                let count = AtomicI32::from_ptr((*targets).cast::<i32>().add(at));
                count.fetch_add(1, Ordering::Relaxed);
            } else if let Some(sums) = &case.sums {
                let at = in_range(case.keys[i], sums.len())?;
                let sum = AtomicU64::from_ptr((*targets).cast::<u64>().add(at));
                let add = |bits| Some((f64::from_bits(bits) + case.weights[i]).to_bits());
                let _ = sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
            }
            Ok(())
        })
    }
}

/// Calls `update` for every number that iterations `first..last` are for.
unsafe fn each_update(
    call: *mut Call,
    frame: *const u64,
    (first, last): (i64, i64),
    mut update: impl FnMut(&mut Call, &Scatter, usize) -> Result<(), Ended>,
) -> u32 {
    // SAFETY: `run_protected` puts the address of the case into the frame; nobody writes its fields
    // but the targets.
    let (call, case) = unsafe {
        let case = std::ptr::with_exposed_provenance::<Scatter>(*frame as usize);
        (&mut *call, &*case)
    };
    let updates = case.keys.len() as i64;
    for i in first * updates / case.chunks..last * updates / case.chunks {
        let i = i as usize;
        if let Some((_, token)) = case.stop_at.as_ref().filter(|(at, _)| *at == i) {
            token.stop();
        }
        match update(call, case, i) {
            Ok(()) => call.updates += 1,
            Err(Ended::With(status)) => return status,
            Err(Ended::OutOfRange(extent)) => {
                call.fault = FaultRecord {
                    site: KEY_SITE,
                    depth: 1,
                    index: case.keys[i].into(),
                    extent,
                    ..FaultRecord::default()
                };
                call.fault.iteration[0] = i as i64;
                return Status::Fault as u32;
            }
        }
    }
    Status::Done as u32
}

/// How an update ended its loop.
enum Ended {
    OutOfRange(i64),
    With(u32),
}

unsafe fn scatter_one(case: &Scatter, mut next: *const *mut u8, i: usize) -> Result<(), Ended> {
    let key = case.keys[i];
    if let Some(counts) = &case.counts {
        let at = in_range(key, counts.len())?;
        // SAFETY: the buffer has as many elements as the counts.
        unsafe {
            *(*next).cast::<i32>().add(at) += 1;
            next = next.add(1);
        }
    }
    if let Some(sums) = &case.sums {
        let at = in_range(key, sums.len())?;
        // SAFETY: the buffer has as many elements as the sums.
        unsafe { *(*next).cast::<f64>().add(at) += case.weights[i] };
    }
    Ok(())
}

fn in_range(key: i32, extent: usize) -> Result<usize, Ended> {
    let at = usize::try_from(key).ok().filter(|at| *at < extent);
    at.ok_or(Ended::OutOfRange(extent as i64))
}

macro_rules! addition {
    ($merge:ident, $ty:ty) => {
        pub(crate) unsafe extern "C" fn $merge(
            held: *const *mut u8,
            incoming: *const *mut u8,
            elements: u64,
        ) {
            // SAFETY: the caller vouches for so many elements at the one address of each table.
            unsafe {
                let (held, incoming) = ((*held).cast::<$ty>(), (*incoming).cast::<$ty>());
                (0..elements as usize).for_each(|i| *held.add(i) += *incoming.add(i));
            }
        }
    };
}

addition!(merge_counts, i32);
addition!(merge_sums, f64);

macro_rules! application {
    ($apply:ident, $ty:ty) => {
        unsafe extern "C" fn $apply(
            held: *const *mut u8,
            keys: *const u16,
            incoming: *const *mut u8,
            elements: u64,
        ) {
            // SAFETY: the caller vouches for so many keys and values, and for the elements that the
            // keys name.
            unsafe {
                let (held, incoming) = ((*held).cast::<$ty>(), (*incoming).cast::<$ty>());
                (0..elements as usize)
                    .for_each(|i| *held.add(*keys.add(i) as usize) += *incoming.add(i));
            }
        }
    };
}

application!(apply_counts, i32);
application!(apply_sums, f64);
