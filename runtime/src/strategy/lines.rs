//! Lines in which updates are gathered, one for each range of elements.

use crate::abi;
use crate::failure::{Failure, Held};
use crate::loan::Reserved;
use crate::session::Session;
use smallvec::SmallVec;

/// How many updates a line holds.
pub(super) const LINE: usize = abi::LINE as usize;

/// The bytes of a key.
pub(super) const KEY_BYTES: usize = size_of::<u16>();

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct CacheLine(#[expect(dead_code, reason = "it is reached by address")] [u8; 64]);

/// What the lines of all ranges hold for each update in one array.
#[derive(Debug)]
pub(super) struct Column {
    memory: Vec<CacheLine>,
    /// The bytes of one value.
    pub(super) width: usize,
}

impl Column {
    fn new(lines: usize, width: usize) -> Self {
        let bytes = lines.saturating_mul(LINE).saturating_mul(width);
        Self {
            memory: vec![CacheLine([0; 64]); bytes.div_ceil(size_of::<CacheLine>())],
            width,
        }
    }

    fn address(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().cast()
    }

    /// The line of `range`.
    #[inline]
    pub(super) fn line(&self, range: usize) -> *const u8 {
        let first = self.memory.as_ptr().cast::<u8>();
        first.wrapping_add(range * LINE * self.width)
    }
}

/// A line for each range, with a column of keys or without, and one of values for each buffer that
/// is merged together.
pub(super) struct Lines<'s> {
    places: Vec<u32>,
    /// That of keys, if there is one, and behind it those of values.
    pub(super) columns: SmallVec<[Column; 2]>,
    keys: *mut u8,
    values: SmallVec<[*mut u8; 2]>,
    _reserved: Reserved<'s>,
}

impl<'s> Lines<'s> {
    /// Empty lines, `count` of them, for values of so many bytes for each buffer; `has_keys` says
    /// whether updates have keys.
    ///
    /// # Errors
    /// [`Failure::OverBudget`].
    pub(super) fn new(
        session: &Session<'s>,
        count: usize,
        widths: &[usize],
        has_keys: bool,
    ) -> Result<Self, Failure> {
        let keys = has_keys.then_some(KEY_BYTES).into_iter();
        let widths = keys.chain(widths.iter().copied());
        let update: usize = widths.clone().sum();
        let bytes = count.saturating_mul(LINE * update + size_of::<u32>()) as u64;
        let reserved = session.reserve(bytes, Held::Privates)?;
        let mut columns: SmallVec<[_; 2]> = widths.map(|it| Column::new(count, it)).collect();
        let mut addresses = columns.iter_mut().map(Column::address);
        let keys = has_keys.then(|| addresses.next()).flatten();
        Ok(Self {
            places: (0..count).map(|range| (range * LINE) as u32).collect(),
            keys: keys.unwrap_or(std::ptr::null_mut()),
            values: addresses.collect(),
            columns,
            _reserved: reserved,
        })
    }

    /// What a body puts updates into.
    pub(super) fn table(&mut self) -> abi::Lines {
        abi::Lines {
            places: self.places.as_mut_ptr(),
            keys: self.keys.cast(),
            values: self.values.as_ptr(),
            ranges: std::ptr::null(),
            shift: 0,
        }
    }

    /// The line of `range`, which is empty, is full after so few updates.
    pub(super) fn expect(&mut self, range: usize, updates: usize) {
        self.places[range] = (range * LINE + LINE - updates) as u32;
    }

    /// How many updates there are in the line of `range`, if it is not full.
    pub(super) fn gathered(&self, range: usize) -> usize {
        self.places[range] as usize % LINE
    }

    #[inline]
    pub(super) fn empty(&mut self, range: usize) {
        self.places[range] = (range * LINE) as u32;
    }
}
