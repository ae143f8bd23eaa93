//! What generated code and the runtime hand each other: plain tables and function pointers, no
//! types of the kernel.
//!
//! Generated code reads and writes the fields by their offsets, so every struct is `repr(C)` and
//! made of 4- and 8-byte fields.

mod body_shape;

pub use body_shape::BodyShape;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// How deep a fault can tell its iteration; loops nested deeper are left out, the innermost ones
/// first.
pub const MAX_DEPTH: usize = 8;

/// What a generated function returns.
///
/// Values outside this list are never returned by generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    /// It ran to its end.
    Done = 0,
    /// It stopped at a fault, which is in [`Call::fault`].
    Fault = 1,
    /// It saw that [`Call::stop`] is not zero.
    Stopped = 2,
    /// A forall could not start or finish; the session knows why.
    Refused = 3,
    /// A body in the shape [`BodyShape::Unmarked`] or [`BodyShape::SortedUnmarked`] came to an
    /// update of an element with a mark.
    Met = 4,
}

impl Status {
    /// The status that `bits` stands for, if it is one.
    pub fn from_bits(bits: u32) -> Option<Self> {
        let all = [
            Self::Done,
            Self::Fault,
            Self::Stopped,
            Self::Refused,
            Self::Met,
        ];
        all.into_iter().find(|status| *status as u32 == bits)
    }
}

/// One argument: a scalar's bits, zero-extended, or the address of an array's first element.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Slot {
    /// Bits or address.
    pub bits_or_address: u64,
    /// The number of elements of an array; 0 for a scalar.
    pub elements: u64,
}

/// How far the calls that count here have come, in iterations.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Work {
    /// Those that are behind them.
    pub done: AtomicU64,
    /// Those of the loops that have begun.
    pub total: AtomicU64,
}

/// Where and at what a generated function stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct FaultRecord {
    /// The number of the site in the compiled kernel's table of sites.
    pub site: u32,
    /// How many entries of `iteration` are meant.
    pub depth: u32,
    /// The index that was out of range; as an unsigned 64-bit number when the site says so; 0 for
    /// other faults.
    pub index: i64,
    /// The extent it had to be below.
    pub extent: i64,
    /// The iterators of the enclosing loops, outermost first.
    pub iteration: [i64; MAX_DEPTH],
}

/// The state of one running generated function. Every task has its own; `slots` and `stop` are
/// shared.
#[derive(Debug)]
#[repr(C)]
pub struct Call {
    /// The arguments, one for each parameter.
    pub slots: *const Slot,
    /// Not zero when the call is to end early; polled in loops.
    pub stop: *const AtomicU32,
    /// The [`Session`](crate::Session) that the call belongs to; generated code only hands it on.
    pub session: *const c_void,
    /// The memory of this function's local arrays; generated code only hands it on.
    pub local_memory: *mut c_void,
    /// Where long loops add what they have done, and those outside of foralls what there is to do;
    /// never null.
    pub work: *const Work,
    /// For bodies in the shapes [`BodyShape::Marks`] and [`BodyShape::Unmarked`]: for the buffers
    /// that are merged together the address of their marks, a bit for each element, row by row, the
    /// lowest of a byte first; null where the body does not read the target.
    pub marks: *const *mut u8,
    /// Foralls that combine fewer updates than this may make them in order, on their targets,
    /// without being handed to the runtime; 0 where somebody wants to say how they are combined,
    /// and where the call may be stopped and nobody has copies of the targets.
    pub most_in_order: i64,
    /// Foralls without private buffers that run fewer statements than this are run in order right
    /// there, without being handed to the runtime.
    pub most_alone: i64,
    /// How many threads the call may use, as it is to [think](crate::Settings::as_on_one_thread).
    pub threads: i64,
    /// How much this function has added to what is done.
    pub worked: u64,
    /// How many updates of array elements were done.
    pub updates: u64,
    /// How many statements did nothing because of an index out of range.
    pub skipped: u64,
    /// The bits of the kernel's result, zero-extended; set before [`Status::Done`] is returned by a
    /// kernel that has one.
    pub returned: u64,
    /// Set before [`Status::Fault`] is returned.
    pub fault: FaultRecord,
}

impl Call {
    /// A call with `slots` that is part of no session and ends early for nobody: what a judge is
    /// called with.
    #[inline]
    pub fn alone(slots: *const Slot, work: *const Work) -> Self {
        Self {
            slots,
            stop: std::ptr::null(),
            session: std::ptr::null(),
            local_memory: std::ptr::null_mut(),
            work,
            marks: std::ptr::null(),
            most_in_order: 0,
            most_alone: 0,
            threads: 1,
            worked: 0,
            updates: 0,
            skipped: 0,
            returned: 0,
            fault: FaultRecord::default(),
        }
    }
}

/// A whole kernel: returns a [`Status`].
pub type EntryFn = unsafe extern "C" fn(call: *mut Call) -> u32;

/// Iterations `first..last` of a forall, in order: returns a [`Status`].
///
/// `frame` holds the values that the body takes from outside of the loop; `privates` the addresses
/// of this task's private buffers, in the order of [`ForallCall::privates`], and behind them, in
/// that order again, the distances in bytes from one element of a buffer to the next. They may be
/// the targets themselves when only one task runs.
pub type ChunkFn = unsafe extern "C" fn(
    call: *mut Call,
    frame: *const u64,
    privates: *const *mut u8,
    first: i64,
    last: i64,
) -> u32;

/// `held[i] = held[i] ∘ incoming[i]` for `elements` elements. Both are tables of addresses, one for
/// each buffer that is merged together with the others; no two of all these buffers overlap.
pub type MergeFn =
    unsafe extern "C" fn(held: *const *mut u8, incoming: *const *mut u8, elements: u64);

/// `held[keys[i]] = held[keys[i]] ∘ incoming[i]` for `elements` numbers `i`, in rising order. Both
/// are tables of addresses as those of a [`MergeFn`]; each key is the number of an element that is
/// held.
pub type ApplyFn = unsafe extern "C" fn(
    held: *const *mut u8,
    keys: *const u16,
    incoming: *const *mut u8,
    elements: u64,
);

/// The parameters that alone decide where the updates of a forall go, by the numbers of their
/// slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySlots {
    /// Arrays, which the kernel does not write.
    pub arrays: Vec<u32>,
    /// Scalars.
    pub scalars: Vec<u32>,
}

/// The functions of a kernel that are made when first asked for, since most runs need none of them.
pub trait OnDemand: std::fmt::Debug + Sync {
    /// The function with a number that generated code put into [`PrivateCall::merge`].
    ///
    /// # Errors
    /// Why it could not be made.
    fn merge(&self, number: u32) -> Result<MergeFn, String>;

    /// The function that applies updates with the same combiner as the merge function `number`.
    ///
    /// # Errors
    /// Why it could not be made.
    fn apply(&self, number: u32) -> Result<ApplyFn, String>;

    /// The body of the forall with a number that generated code put into
    /// [`ForallCall::body_number`], in another shape than the one it handed over.
    ///
    /// # Errors
    /// Why it could not be made.
    fn body(&self, number: u32, shape: BodyShape) -> Result<ChunkFn, String>;

    /// What decides where the updates of the forall with this number go; `None` when something does
    /// that changes while the kernel runs.
    fn keys(&self, number: u32) -> Option<KeySlots>;
}

/// The keys of updates that a body in the shape [`BodyShape::Emit`] has evaluated and nobody has
/// taken yet.
#[derive(Debug)]
#[repr(C)]
pub struct Stream {
    /// The numbers of the elements, row by row, of [`STAGED`] updates.
    pub keys: *mut u32,
    /// How many updates there are.
    pub staged: u64,
}

/// Where the updates of a private buffer go that a body in the shape [`BodyShape::Bounds`] has
/// looked at, by the numbers of elements, row by row.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Bounds {
    /// The least; larger than any if there was none.
    pub least: u64,
    /// The largest; 0 if there was none.
    pub most: u64,
    /// The last.
    pub last: u64,
    /// Negative if one of them was below the one before.
    pub falls: i64,
}

impl Bounds {
    /// Updates may go to all elements, and beyond.
    pub const ALL: Self = Self {
        least: 0,
        most: u64::MAX,
        last: 0,
        falls: 0,
    };

    /// Whether these are [`Self::ALL`].
    pub fn is_all(&self) -> bool {
        self.most == Self::ALL.most
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            least: u64::MAX,
            most: 0,
            last: 0,
            falls: 0,
        }
    }
}

/// What [`scan_keys`](crate::scan_keys) finds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Scanned {
    /// The least number.
    pub least: i64,
    /// The largest.
    pub most: i64,
}

/// The bytes of a page, which is the part of a private buffer that is filled at a time.
pub const PAGE: u64 = 4096;

/// What pages of a private buffer hold values already, with the same elements of those that are
/// merged together with it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pages {
    /// One byte for each page of the buffer: 1 when it is filled, else 0. It stays where it is.
    pub filled: *const u8,
}

/// The entry point that a body in the shape [`BodyShape::Paged`] calls before it touches any of the
/// elements that lie in `bytes` bytes, at least one, from `at` bytes behind the address of a buffer
/// on, some in a page that is not filled: returns a [`Status`], and with [`Status::Done`] they all
/// hold something.
pub type ReachFn =
    unsafe extern "C" fn(call: *mut Call, pages: *mut Pages, at: u64, bytes: u64) -> u32;

/// Blocks of rows are multiplied by this: the golden ratio of 2³², so that blocks that follow each
/// other go to different owners (Knuth, The Art of Computer Programming, 6.4, multiplicative
/// hashing).
pub const ROW_FACTOR: u32 = 0x9E37_79B9;

/// Which of `owners` a row belongs to, with blocks of `2^shift` rows. Bodies in the shape
/// [`BodyShape::Rows`] compute the same.
///
/// ```
/// use strew_runtime::abi::owner_of_row;
/// assert_eq!(owner_of_row(5, 1, 0), 0);
/// assert_eq!(owner_of_row(64, 3, 4), owner_of_row(79, 3, 4));
/// assert!((0..100).all(|row| owner_of_row(row, 7, 2) < 7));
/// ```
pub fn owner_of_row(row: u64, owners: u32, shift: u32) -> u32 {
    let mixed = ((row >> shift) as u32).wrapping_mul(ROW_FACTOR);
    ((u64::from(mixed) * u64::from(owners)) >> u32::BITS) as u32
}

/// How many buffers a body in the shape [`BodyShape::Tables`] has for each.
pub const TABLES: usize = 4;

/// How many partial values of an element a body in the shape [`BodyShape::Partials`] has at most.
pub const PARTIALS: usize = 4;

/// How many updates a [`Stream`] holds; a body that has made so many calls [`TakeFn`].
pub const STAGED: u64 = 1024;

/// The entry point that a body in the shape [`BodyShape::Emit`] calls when a stream is full:
/// returns a [`Status`], and leaves the stream empty if that is [`Status::Done`].
pub type TakeFn = unsafe extern "C" fn(call: *mut Call, stream: *mut Stream) -> u32;

/// Lines in which updates are gathered, one for each range of elements, until one is full.
#[derive(Debug)]
#[repr(C)]
pub struct Lines {
    /// For each range the place of its next update. Places count through all lines: those of range
    /// `r` are the [`LINE`] places from `r * LINE` on.
    pub places: *mut u32,
    /// For bodies in the shape [`BodyShape::Sorted`]: for each place the lowest [`KEY_BITS`] of the
    /// number of the element.
    pub keys: *mut u16,
    /// For each buffer that is merged together, the address of as many values of its type as there
    /// are places. Bodies in the shape [`BodyShape::Sorted`] leave out buffers whose updates all
    /// bring the [same value](PrivateCall::constant).
    pub values: *const *mut u8,
    /// For bodies in the shape [`BodyShape::Values`]: the range of the next update, with those of
    /// all that follow behind it. A body leaves it where it ended, or has
    /// [`put_values`](crate::put_values) move it.
    pub ranges: *const u16,
    /// For bodies in the shape [`BodyShape::Sorted`]: the number of an element, shifted right so
    /// far, is its range.
    pub shift: u64,
}

/// How many places a line has, a power of two: with keys of [`KEY_BITS`], those of a line fill a
/// cache line.
pub const LINE: u32 = 32;

/// How many bits a key of sorted updates has. No range of elements is larger.
pub const KEY_BITS: u32 = u16::BITS;

/// The entry point that a body calls when the line of `range` is full: returns a [`Status`], and
/// with [`Status::Done`] the line is empty.
pub type FullFn = unsafe extern "C" fn(call: *mut Call, lines: *mut Lines, range: u64) -> u32;

/// A private buffer of a forall.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PrivateCall {
    /// What the buffers are merged into.
    pub target: *mut u8,
    /// Its number of elements.
    pub elements: u64,
    /// The distance in bytes from one run of elements of the target to the next. Runs of buffers
    /// follow each other.
    pub target_stride: u64,
    /// How many elements follow each other in each run; at least 1.
    pub target_run: u64,
    /// The bits of the identity that buffers start with, zero-extended.
    pub identity: u64,
    /// If [`Self::constant`] is 1, the bits of the value that every update brings, zero-extended.
    pub value: u64,
    /// The size of an element: 1, 2, 4 or 8.
    pub element_bytes: u32,
    /// 1 when regrouping never changes a bit, else 0.
    pub exact: u32,
    /// 1 when updates may be made in any order, but for regrouping them, else 0.
    pub commutes: u32,
    /// 1 when updates have to be made in the order of the loop, since there is no identity that a
    /// buffer could start with, else 0.
    pub ordered: u32,
    /// How many buffers, this one and those behind it, are merged together, element by element;
    /// they have the same number of elements. 0 for one that is merged with one before it.
    pub parts: u32,
    /// The number in [`OnDemand`] of the functions that combine them.
    pub merge: u32,
    /// Not 0 for fields of records: the same number for all whose targets lie in the same records.
    /// Bodies take the distance between runs of one of them for that of all, but for those in the
    /// shapes that begin with `Paged`.
    pub record: u32,
    /// 1 when all updates of the buffer bring the same value, else 0.
    pub constant: u32,
    /// 1 when updates overwrite, and all bring the same value, which need not be known: they may be
    /// made in any order then, though there is no identity. Else 0.
    pub alike: u32,
    /// 1 when the body may read the target, else 0. Then the buffer may be the target itself for a
    /// body in the shape [`BodyShape::Direct`] that runs all iterations in order, else there are
    /// bodies in the shapes [`BodyShape::Marks`], [`BodyShape::Unmarked`], [`BodyShape::Apart`],
    /// [`BodyShape::Emit`], [`BodyShape::Sorted`] and [`BodyShape::SortedUnmarked`] alone.
    pub speculative: u32,
}

impl PrivateCall {
    /// The distance in bytes from one run of elements of a buffer to the next.
    pub(crate) fn run_bytes(&self) -> u64 {
        self.target_run
            .saturating_mul(u64::from(self.element_bytes))
    }
}

/// Elements, or rows of them, that a forall reads where an array of keys says, none of which it
/// writes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct GatherCall {
    /// The first of the keys, which follow each other.
    pub keys: *const u8,
    /// How many keys there are.
    pub keys_count: u64,
    /// How many bytes lie between what a key chooses and what the next larger one does.
    pub row_bytes: u64,
    /// The bytes of all that can be chosen.
    pub bytes: u64,
    /// An estimate of how often all iterations together read what a key chooses.
    pub times: i64,
    /// The size of a key: 1, 2, 4 or 8.
    pub key_bytes: u32,
    /// 1 when an entry before this one is of the same array, by other keys, else 0.
    pub again: u32,
}

/// A forall that generated code asks the runtime to run.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ForallCall {
    /// Its body.
    pub body: ChunkFn,
    /// Values from outside of the loop, for the body.
    pub frame: *const u64,
    /// Its private buffers.
    pub privates: *const PrivateCall,
    /// How many of them.
    pub private_count: u64,
    /// What it reads where keys say, as far as these are known.
    pub gathers: *const GatherCall,
    /// How many of them.
    pub gather_count: u64,
    /// The number of iterations; may be 0 or less.
    pub count: i64,
    /// An estimate of how many updates all of them make together.
    pub trips: i64,
    /// An estimate of how many statements all of them run in loops that make no updates.
    pub others: i64,
    /// As how many more statements than they are what the updates call counts, all of them
    /// together.
    pub called: i64,
    /// How many columns the targets have, if the body has the shape [`BodyShape::Columns`], else
    /// [`NO_COLUMNS`].
    pub columns: u64,
    /// How many columns they have, if the body has the shape [`BodyShape::Rows`], else
    /// [`NO_COLUMNS`].
    pub row_columns: u64,
    /// Columns are divided at multiples of this power of two alone, if at all.
    pub column_step: u64,
    /// How many updates are made at once, in the lanes of vectors; at least 1.
    pub lanes: u64,
    /// The number of the body in [`OnDemand`], or [`NO_BODY`] when there is none but the one above.
    pub body_number: u64,
    /// The number of the strategy in [`STRATEGIES`](crate::STRATEGIES), or [`AUTO`].
    pub strategy: u32,
    /// 1 when a fault in this forall is made good by whoever called the kernel, else 0: then the
    /// runtime keeps what it needs to put the targets back.
    pub guarded: u32,
    /// 1 when every turn of an innermost loop of the body is sure to make an update, 2 when most of
    /// them do by what their conditions look like, else 0.
    pub steady: u32,
    /// 1 when the body writes nothing but its private buffers, so that it can be run for its
    /// updates and they be thrown away, else 0.
    pub pure: u32,
    /// 1 when no iteration can fail, whatever the arrays hold, else 0.
    pub sure: u32,
    /// 1 when a body in the shape [`BodyShape::Direct`] makes most updates in registers, which
    /// other shapes do not, else 0.
    pub held: u32,
    /// 1 when such a body stores elements that it may not have updated, so that there is one in the
    /// shape [`BodyShape::Shared`], else 0.
    pub holds: u32,
    /// 1 when loops inside turn nobody knows how often before they run, so that there may be far
    /// more updates than `trips`, else 0.
    pub uncounted: u32,
    /// 1 when every iteration needs private buffers of its own, since the body does more with them
    /// than combine values into them; 0 when several iterations may share theirs, or work on the
    /// targets themselves.
    pub separate: u32,
}

impl ForallCall {
    /// An estimate of its work, in iterations.
    pub(crate) fn work(&self) -> u64 {
        u64::try_from(self.trips.max(self.count)).unwrap_or(0)
    }
}

/// The number of a body that [`OnDemand`] has in no other shape.
pub const NO_BODY: u64 = u64::MAX;

/// The number of columns where they cannot be told apart.
pub const NO_COLUMNS: u64 = u64::MAX;

/// The strategy number that leaves the choice to the runtime.
pub const AUTO: u32 = u32::MAX;

/// The entry point that generated code calls for a local array that has no place in its frame:
/// returns the address of `elements` elements of `element_bytes` bytes, all zero, or null when
/// there is no memory. The same `number` gives the same memory again.
pub type LocalArrayFn = unsafe extern "C" fn(
    call: *mut Call,
    number: u64,
    elements: u64,
    element_bytes: u64,
) -> *mut u8;

/// The entry point that generated code calls for a forall: returns a [`Status`].
pub type ForallFn = unsafe extern "C" fn(call: *mut Call, forall: *const ForallCall) -> u32;
