//! Keys of updates on their way from a body that only evaluates them to somebody who takes them.

use crate::abi::{Call, STAGED, Status, Stream};
use crate::chunks::Chunks;
use crate::failure::Failure;
use crate::session::Session;
use smallvec::SmallVec;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Who takes updates.
pub(crate) trait Sink {
    /// Takes the numbers of the elements of some, in their order.
    ///
    /// # Errors
    /// Why no more are wanted; the body then ends.
    fn take(&mut self, keys: &[u32]) -> Result<(), Failure>;

    /// So many of the first updates that it takes are none: one that wants few gets them sooner.
    fn skipped(&self) -> u64 {
        0
    }
}

/// A stream with the memory behind it, and who takes what is in it.
#[repr(C)]
struct Staging<'s> {
    /// The first field, so that its address is that of the whole.
    stream: Stream,
    sink: &'s mut dyn Sink,
    keys: Vec<u32>,
    parts: usize,
}

impl<'s> Staging<'s> {
    /// An empty stream for buffers that are merged together, `parts` of them.
    fn new(parts: usize, sink: &'s mut dyn Sink) -> Self {
        let mut keys = vec![0_u32; STAGED as usize];
        let stream = Stream {
            keys: keys.as_mut_ptr(),
            staged: sink.skipped().min(STAGED - 1),
        };
        Self {
            stream,
            sink,
            keys,
            parts,
        }
    }

    /// What a body in the shape [`BodyShape::Emit`](crate::abi::BodyShape::Emit) is handed for its
    /// buffers. It is [`Self`] that this is the address of.
    fn address(&mut self) -> *mut u8 {
        std::ptr::from_mut(self).cast()
    }

    /// Hands over what is in the stream.
    ///
    /// # Errors
    /// Those of the sink.
    fn flush(&mut self) -> Result<(), Failure> {
        let staged = usize::try_from(self.stream.staged).unwrap_or(usize::MAX);
        self.stream.staged = 0;
        let keys = self.keys.get(..staged).unwrap_or(&self.keys);
        // SAFETY: the keys are as long; generated code has written them through the address that
        // was taken from the same vector.
        let keys = unsafe { std::slice::from_raw_parts(self.stream.keys, keys.len()) };
        self.sink.take(keys)
    }
}

/// Runs `iterations` as chunk `number` of `chunks`, with a sink for the updates of the buffers that
/// are merged together, one after the other; with each comes how many buffers those are. Failures
/// of the body are left with the chunks.
///
/// # Errors
/// Those of the sinks in taking the last updates.
///
/// # Safety
/// The body of `chunks` is one that makes updates of such buffers.
pub(crate) unsafe fn run<'s>(
    chunks: &Chunks<'_>,
    number: usize,
    iterations: Range<i64>,
    sinks: impl Iterator<Item = (usize, &'s mut dyn Sink)>,
) -> Result<(), Failure> {
    let stagings = sinks.map(|(parts, sink)| Staging::new(parts, sink));
    let mut stagings: Vec<_> = stagings.collect();
    let each = stagings.iter_mut();
    let addresses = addresses(each.map(|it| (it.address(), it.parts)));
    // SAFETY: the caller vouches for the body; the streams stay where they are until it has ended.
    unsafe { chunks.run(number, iterations, &addresses) };
    stagings.iter_mut().try_for_each(Staging::flush)
}

/// What a body that makes updates is handed in the place of its private buffers: for those that are
/// merged together the address of what takes their updates, with which comes how many they are.
pub(crate) fn addresses(takers: impl Iterator<Item = (*mut u8, usize)>) -> SmallVec<[*mut u8; 8]> {
    let mut addresses = SmallVec::new();
    for (address, parts) in takers {
        addresses.push(address);
        // The others are merged together with the first, and share what it has.
        let others = parts.saturating_sub(1);
        addresses.resize(addresses.len() + others, std::ptr::null_mut());
    }
    addresses
}

/// What generated code calls when a stream is full: see [`TakeFn`](crate::abi::TakeFn).
///
/// # Safety
/// * `call` is the state that a strategy handed to the generated function that calls this.
/// * `stream` is what a strategy handed to that function, and holds as many updates as it says.
#[unsafe(export_name = "strew_take_updates")]
pub unsafe extern "C" fn take_updates(call: *mut Call, stream: *mut Stream) -> u32 {
    // SAFETY: the caller vouches for it.
    let staging = unsafe { &mut *stream.cast::<Staging<'_>>() };
    // SAFETY: the caller vouches for the call.
    unsafe { status_of(call, "taking updates", || staging.flush()) }
}

/// The [`Status`] for generated code that has what it made taken by `take`, whose failures the
/// session of `call` keeps; `doing` names what it does.
///
/// # Safety
/// `call` is the state that a strategy handed to the generated function.
pub(crate) unsafe fn status_of(
    call: *mut Call,
    doing: &str,
    take: impl FnOnce() -> Result<(), Failure>,
) -> u32 {
    // A panic must not cross generated code, which could not unwind.
    let failure = match catch_unwind(AssertUnwindSafe(take)) {
        Ok(Ok(())) => return Status::Done as u32,
        Ok(Err(failure)) => failure,
        Err(_) => Failure::Panicked(format!("while {doing}")),
    };
    // SAFETY: the caller vouches for the call; the session outlives all generated code of it.
    let (call, session) = unsafe {
        let call = &mut *call;
        let session = &*call.session.cast::<Session<'_>>();
        (call, session)
    };
    session.report(call, failure) as u32
}
