//! A look at some of the updates of a forall before it runs.

use super::Job;
use super::tally::{Line, Tally};
use crate::abi::{BodyShape, ChunkFn, PrivateCall, STAGED};
use crate::chunks::{Chunks, part};
use crate::failure::Failure;
use crate::stream::{self, Sink};
use smallvec::SmallVec;
use std::cmp::Reverse;

/// From so many iterations the look costs next to nothing, the making of the body that it needs
/// included.
const WORTH_A_LOOK: u64 = 1 << 20;

/// The look is at the first updates of so many iterations of the forall, which lie at equal
/// distances.
const PLACES: u64 = 8;

/// So many of them at each place.
const KEYS: u64 = 256;

/// The share of repeated elements from which a register for them pays.
const REPEATED: f64 = 0.75;

/// The share of unforeseen ends up to which it does: each of them takes as long as some ten updates
/// that do not wait. Of sorted floats that go to 4, 8, 16 and 32 elements a key in the mean, a
/// register makes 8 Mi in 18, 12, 10 and 8 ms, and memory in 5, 5, 12 and 16.
const UNFORESEEN: f64 = 1.0 / 16.0;

/// That up to which several registers pay, which take longer to begin with another element.
const UNFORESEEN_LONG: f64 = 1.0 / 32.0;

/// That from which several registers for them pay: before, what it takes to begin with another
/// element weighs as much as what an update saves.
const LONG: f64 = 0.9;

/// Updates are near each other when all of a place go to one part out of so many.
const LOCAL: u64 = 8;

/// An element is hot when it gets one of so many updates.
const HOT: usize = 20;

/// Of updates that go to more elements by turns, few wait for each other: to four, one thread makes
/// them as fast as to any number.
const FEW: u64 = 2;

/// A line this near behind one that is used is fetched in advance, mostly.
const NEXT: u64 = 4;

/// Lines follow each other in up to so many places by turns.
const STREAMS: usize = 4;

/// Processors notice that lines follow each other, and fetch the next ones, where there are as
/// many: rows of a few lines end before.
const FORESEEN_FROM: usize = 16;

/// Of the lines that they fetch in advance, one out of so many is waited for all the same.
const FORESEEN: usize = 8;

/// What was seen of the keys of the largest private buffer: beside a histogram, a total says
/// nothing of where updates go. It depends on the keys, on the sizes of the buffers and on the
/// number of iterations of the forall, never on the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// How many updates were looked at.
    pub updates: u64,
    /// Whether those of the other buffers go to the element of the one before, too, mostly: a body
    /// keeps elements of all buffers in registers, or of none.
    pub others_repeat: bool,
    /// The share of them that go to the element of the one before.
    pub repeated: f64,
    /// The share of them that go to another element than the one before where it is not foreseen:
    /// not after as many as the time before.
    pub unforeseen: f64,
    /// How many cache lines have to be waited for, for each update: all that the elements lie in,
    /// those that follow others in part.
    pub scattered: f64,
    /// The share of them that leave the cache lines around those before for others, to which no
    /// updates at other places go.
    pub leaps: f64,
    /// At each place the updates go to so many elements that follow each other, or fewer.
    pub span: u64,
    /// All of them go to so many elements that follow each other, or fewer; to all where keys only
    /// rise at a place, or only fall, since nobody knows how far they go.
    pub reach: u64,
    /// To how many elements all of them go.
    pub elements: u64,
    /// Whether some elements get far more of them than others.
    pub is_skewed: bool,
    /// Whether they go through the elements from one end to the other, at each place further than
    /// at the one before.
    pub rises: bool,
    /// Whether the middles of the places rise, or fall, whatever the order at each of them.
    pub advances: bool,
}

impl Sample {
    /// Looks, where it pays and there is a body to look with. Behind conditions there may be few
    /// updates: then the look ends with the first iteration that does not have enough.
    ///
    /// # Safety
    /// That of [`run_forall`](crate::run_forall), for the job's forall.
    pub(super) unsafe fn take(job: &Job<'_>) -> Option<Self> {
        let updates_often = job.forall.steady != 0;
        let pays = job.shape.trips >= WORTH_A_LOOK && updates_often && job.shape.is_pure;
        if !pays || !job.shape.can_emit || job.session.is_nested() {
            return None;
        }
        let body = job.session.body(job.forall, BodyShape::Emit).ok()?;
        let (largest, private) = largest(job)?;
        let places = job.shape.count.min(PLACES);
        let mut keys: Vec<Vec<Vec<u32>>> = job.together().map(|_| Vec::new()).collect();
        for place in 0..places {
            let iterations = part(job.shape.count, places as usize, place as usize);
            // SAFETY: the caller vouches for the forall.
            let found = unsafe { keys_from(job, body, largest, iterations.start) };
            let seen = found.get(largest).map_or(0, Vec::len);
            // To look on would take as long as to run.
            if job.forall.steady != 1 && (seen as u64) < KEYS {
                return None;
            }
            keys.iter_mut()
                .zip(found)
                .for_each(|(all, it)| all.push(it));
        }
        let sample = Self::of(keys.get(largest)?, u64::from(private.element_bytes))?;
        let others = keys.iter().enumerate();
        let mut others = others.filter(|(number, _)| *number != largest);
        Some(Self {
            reach: sample.reach.min(private.elements),
            others_repeat: others.all(|(_, keys)| repeat(keys)),
            ..sample
        })
    }

    /// Whether to keep the element that was updated last in a register: it is worth more than jumps
    /// that are hard to foretell. Where other elements come next, some of those before wait for
    /// memory at once; where some come again and again, they wait for each other.
    pub fn keeps_a_register(&self) -> bool {
        let repeats = self.repeated > REPEATED && (self.is_skewed || self.unforeseen <= UNFORESEEN);
        repeats && self.others_repeat
    }

    /// Whether to keep several partial values of it.
    pub(super) fn keeps_partials(&self) -> bool {
        self.repeated > LONG && self.is_foreseen() && self.others_repeat
    }

    /// Whether a jump on whether the element is the one before can be foretold, mostly.
    pub(super) fn is_foreseen(&self) -> bool {
        self.unforeseen <= UNFORESEEN_LONG
    }

    /// Whether they go to so few elements, wherever these are, that most of them wait for one
    /// before.
    pub fn are_few(&self) -> bool {
        self.elements <= FEW && FEW < self.updates
    }

    /// Whether updates that are made one after the other go to a small part of `elements` elements.
    pub fn is_local(&self, elements: u64) -> bool {
        self.span.saturating_mul(LOCAL) <= elements
    }

    /// Of the keys at each place.
    fn of(places: &[Vec<u32>], element_bytes: u64) -> Option<Self> {
        let updates = places.iter().map(Vec::len).sum::<usize>();
        let share = |count: usize| count as f64 / updates as f64;
        let tally = Tally::of(places);
        let lines = tally.lines(element_bytes);
        let span = places.iter().map(|it| extent(it)).max().unwrap_or(0);
        (updates > 0).then(|| Self {
            updates: updates as u64,
            others_repeat: true,
            repeated: share(places.iter().map(|keys| repeats(keys)).sum()),
            unforeseen: share(places.iter().map(|keys| unforeseen(keys)).sum()),
            scattered: share(lines.iter().map(|it| waited(it)).sum()),
            leaps: share(lines.iter().map(|it| leaps(it)).sum()),
            span,
            reach: reach(places, &tally),
            elements: tally.counts().count() as u64,
            is_skewed: is_skewed(&tally, updates),
            rises: rise(places),
            advances: advance(places, span),
        })
    }
}

/// The keys of the first updates from iteration `first` on, for each group of buffers that are
/// merged together; number `largest` decides when it is enough.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall; `body` is its body in the shape
/// [`BodyShape::Emit`].
unsafe fn keys_from(job: &Job<'_>, body: ChunkFn, largest: usize, first: i64) -> Vec<Vec<u32>> {
    let parts: SmallVec<[usize; 4]> = job.together().map(<[PrivateCall]>::len).collect();
    let mut seen: Vec<_> = parts.iter().map(|_| Seen::default()).collect();
    if let Some(largest) = seen.get_mut(largest) {
        // By the second batch, groups that get as many keys have had one.
        largest.enough = Some(parts.len().min(2));
    }
    let sinks = seen.iter_mut().map(|it| it as &mut dyn Sink);
    // What goes wrong here goes wrong again when the loop runs, and is told then.
    let chunks = Chunks::new(job.session, job.call, job.forall, true);
    let chunks = chunks.with_body(body).unseen();
    let iterations = first..first.saturating_add(1);
    // SAFETY: the caller vouches for the body.
    let _ = unsafe { stream::run(&chunks, 0, iterations, parts.into_iter().zip(sinks)) };
    seen.into_iter().map(|it| it.keys).collect()
}

/// The buffers with most elements that are merged together, the first of these: their number, and
/// one of them.
fn largest<'j>(job: &Job<'j>) -> Option<(usize, &'j PrivateCall)> {
    let all = job.together().enumerate();
    let all = all.filter_map(|(number, together)| Some((number, together.first()?)));
    all.max_by_key(|(number, private)| (private.elements, Reverse(*number)))
}

/// Whether a register for the element before pays for updates with the keys at these places; those
/// of which there are none do not matter.
fn repeat(places: &[Vec<u32>]) -> bool {
    let updates = places.iter().map(Vec::len).sum::<usize>() as f64;
    let all = |count: fn(&[u32]) -> usize| places.iter().map(|it| count(it)).sum::<usize>() as f64;
    updates == 0.0 || all(repeats) > REPEATED * updates && all(unforeseen) <= UNFORESEEN * updates
}

fn repeats(keys: &[u32]) -> usize {
    let pairs = keys.windows(2);
    pairs
        .filter(|pair| matches!(pair, [a, b] if a == b))
        .count()
}

/// How often another key comes after a number of equal ones that is not the number of those before.
/// How many there are of the first and of the last ones is not known.
fn unforeseen(keys: &[u32]) -> usize {
    let runs: Vec<_> = keys.chunk_by(|a, b| a == b).map(<[u32]>::len).collect();
    let whole = runs.get(1..runs.len().saturating_sub(1)).unwrap_or(&[]);
    let pairs = whole.windows(2);
    pairs
        .filter(|pair| matches!(pair, [a, b] if a != b))
        .count()
}

/// Cache lines near each other that are needed soon after each other, in a few places by turns.
struct Run {
    lines: usize,
    first: Line,
    /// How many lines were needed before its first one, and before its last one.
    begins: usize,
    ends: usize,
}

/// The runs of `lines`, in the order of their first lines. `is_near` says of a line and of one
/// before whether they are of one run.
fn runs(lines: &[Line], is_near: impl Fn(u64, u64) -> bool) -> Vec<Run> {
    let mut runs = Vec::<Run>::with_capacity(lines.len());
    let mut latest: [Option<(u64, usize)>; STREAMS] = [None; STREAMS];
    for (needed, line) in lines.iter().copied().enumerate() {
        let mut latest_ones = latest.iter().flatten();
        let before = latest_ones.find(|(it, _)| is_near(line.number, *it));
        let number = before.map_or(runs.len(), |(_, run)| *run);
        match runs.get_mut(number) {
            Some(run) => {
                run.lines += 1;
                run.ends = needed;
            }
            None => runs.push(Run {
                lines: 1,
                first: line,
                begins: needed,
                ends: needed,
            }),
        }
        latest.copy_within(..STREAMS - 1, 1);
        latest[0] = Some((line.number, number));
    }
    runs
}

/// How many of `lines` have to be waited for: processors fetch the next in advance where many
/// follow each other as they are needed.
fn waited(lines: &[Line]) -> usize {
    let runs = runs(lines, |line, before| {
        (1..=NEXT).contains(&line.wrapping_sub(before))
    });
    runs.iter().map(|run| awaited_lines(run.lines)).sum()
}

/// For how many of `lines` that follow each other a processor waits.
pub(super) fn awaited_lines(lines: usize) -> usize {
    match lines {
        0..FORESEEN_FROM => lines,
        _ => 1 + (lines - 1) / FORESEEN,
    }
}

/// How often the keys of a place leave the lines around those before for good, for others that no
/// key of another place leads to: what several places lead to stays in the caches.
fn leaps(lines: &[Line]) -> usize {
    let runs = runs(lines, |line, before| line.abs_diff(before) <= NEXT);
    let first_end = runs.iter().map(|it| it.ends).min();
    let is_leap = |run: &&Run| {
        let is_behind = first_end.is_some_and(|end| end < run.begins);
        is_behind && run.first.is_alone
    };
    runs.iter().filter(is_leap).count()
}

/// From the least of the keys to the largest.
fn extent(keys: &[u32]) -> u64 {
    ends(keys).map_or(0, |(least, most)| u64::from(most - least) + 1)
}

/// The least and the largest of `keys`.
fn ends(keys: &[u32]) -> Option<(u32, u32)> {
    let least = keys.iter().copied().min();
    least.zip(keys.iter().copied().max())
}

/// From the least of all keys to the largest; all there may be where those of a place go on in one
/// direction.
fn reach(places: &[Vec<u32>], tally: &Tally<'_>) -> u64 {
    let goes_on = |keys: &Vec<u32>| is_one_way(keys) && keys.first() != keys.last();
    match places.iter().any(goes_on) {
        true => 1 << u32::BITS,
        false => tally.extent(),
    }
}

/// Whether no key is below the one before, and all of a place are above those of the places before.
fn rise(places: &[Vec<u32>]) -> bool {
    let pairs = places.windows(2);
    let mut ends = pairs.filter_map(|pair| match pair {
        [one, next] => one.last().zip(next.first()),
        _ => None,
    });
    ends.all(|(last, first)| last < first) && places.iter().all(|keys| keys.is_sorted())
}

/// Whether none of `numbers` is below the one before, or none above.
fn is_one_way<T: PartialOrd>(numbers: &[T]) -> bool {
    numbers.is_sorted() || numbers.is_sorted_by(|a, b| a >= b)
}

/// Whether the middles of the places lie in their order, or in the opposite one, and further apart
/// than the keys at any of them, which lie in `span` elements: those of keys that go through all
/// elements again and again may rise by little.
fn advance(places: &[Vec<u32>], span: u64) -> bool {
    let ends = places.iter().filter_map(|it| ends(it));
    let middles: Vec<_> = ends.map(|(a, b)| u64::from(a).midpoint(b.into())).collect();
    let (first, last) = (middles.first(), middles.last());
    let distance = first.zip(last).map_or(0, |(a, b)| a.abs_diff(*b));
    is_one_way(&middles) && distance > span
}

/// Whether some of so many keys come far more often than others.
fn is_skewed(tally: &Tally<'_>, keys: usize) -> bool {
    tally.counts().any(|count| count * HOT > keys)
}

/// Where some elements come far more often than others, most lines that are new to some hundred
/// keys are not new to the caches: of a Zipf distribution with exponents of 1.1, 1.2 and 1.5, 0.60,
/// 0.32 and 0.11 of the keys lead to lines that none of the 256 before do, and 0.3, 0.1 and 0.002
/// to others than the 16 Ki that get most, which is about the square.
pub(super) fn new_to_caches(share: f64) -> f64 {
    share * share
}

/// How many cache lines have to be waited for, for each of the keys at some places, of elements of
/// so many bytes.
pub(super) fn waited_for(places: &[Vec<u32>], element_bytes: u64) -> f64 {
    let keys = places.iter().map(Vec::len).sum::<usize>();
    let tally = Tally::of(places);
    let lines = tally.lines(element_bytes);
    let lines = lines.iter().map(|it| waited(it));
    let share = lines.sum::<usize>() as f64 / keys.max(1) as f64;
    match is_skewed(&tally, keys) {
        true => new_to_caches(share),
        false => share,
    }
}

/// The first keys that come, behind those of the iterations that are left out.
#[derive(Default)]
struct Seen {
    keys: Vec<u32>,
    /// When so many batches have come, it is enough for all.
    enough: Option<usize>,
    batches: usize,
}

impl Sink for Seen {
    fn take(&mut self, keys: &[u32]) -> Result<(), Failure> {
        if self.keys.is_empty() {
            let skipped = usize::try_from(self.skipped()).unwrap_or(0);
            self.keys.extend(keys.iter().skip(skipped));
        }
        self.batches += 1;
        match self.enough {
            Some(enough) if self.batches >= enough => Err(Failure::Stopped),
            _ => Ok(()),
        }
    }

    fn skipped(&self) -> u64 {
        STAGED - KEYS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: impl Fn(u32) -> u32) -> Sample {
        let places = (0..8).map(|place| (0..256).map(|it| key(place * 10_000 + it)).collect());
        Sample::of(&places.collect::<Vec<_>>(), 8).unwrap()
    }

    #[test]
    fn registers_pay_where_the_keys_of_all_buffers_repeat() {
        let sorted = of(|it| it / 16);
        assert!(sorted.keeps_a_register());
        let beside = Sample {
            others_repeat: false,
            ..sorted
        };
        assert!(!beside.keeps_a_register() && !beside.keeps_partials());
        let places = |key: fn(u32) -> u32| [(0..256).map(key).collect::<Vec<_>>()];
        assert!(repeat(&places(|it| it / 16)) && repeat(&places(|_| 7)) && repeat(&[Vec::new()]));
        assert!(!repeat(&places(|it| it % 5)) && !repeat(&places(|it| it / 2)));
    }

    #[test]
    fn keys_far_apart_are_scattered() {
        let sample = of(|it| it.wrapping_mul(0x9E37_79B9) % 1_000_003);
        assert!(sample.scattered > 0.99 && sample.repeated < 0.01);
        assert!(!sample.is_skewed && !sample.are_few());
    }

    #[test]
    fn keys_in_order_are_near_each_other() {
        let sample = of(|it| it / 16);
        assert!(sample.scattered < 0.02, "{sample:?}");
        assert!((sample.repeated - 15.0 / 16.0).abs() < 0.01, "{sample:?}");
        assert!(sample.is_local(8 * 16) && !sample.is_local(8 * 15));
    }

    #[test]
    fn other_keys_are_foreseen_after_as_many_as_before() {
        assert_eq!(of(|it| it / 8).unforeseen, 0.0);
        assert_eq!(of(|it| it).unforeseen, 0.0);
        // Three and five of each by turns.
        let uneven = of(|it| it / 8 * 2 + u32::from(it % 8 > 2));
        assert!((uneven.unforeseen - 0.25).abs() < 0.03, "{uneven:?}");
        assert!(uneven.repeated == 0.75 && !uneven.keeps_a_register());
        let long = of(|it| it / 80 * 2 + u32::from(it % 80 > 30));
        assert!(long.keeps_a_register() && long.keeps_partials(), "{long:?}");
    }

    #[test]
    fn lines_of_short_rows_are_not_foreseen() {
        let rows = |width: u32| {
            of(|it| (it / width).wrapping_mul(0x9E37_79B9) % 1009 * width + it % width)
        };
        assert_eq!(rows(64).scattered, 0.125);
        assert!(rows(2500).scattered < 0.03);
    }

    #[test]
    fn keys_that_stay_for_a_while_leap() {
        let runs = |length: u32| of(|it| (it / length).wrapping_mul(0x9E37_79B9) >> 4);
        assert!((runs(16).leaps - 15.0 / 256.0).abs() < 0.01);
        assert!(runs(1).leaps > 0.9 && runs(16).scattered < 0.07);
        let none: [fn(u32) -> u32; 6] = [
            |it| it / 16,
            |it| it,
            |it| 90_000 - it,
            |it| it % 2 * 1_000_000 + it / 2,
            |it| it % 2 * 99,
            |it| it % 77 * 99,
        ];
        for key in none {
            assert_eq!(of(key).leaps, 0.0);
        }
    }

    #[test]
    fn two_keys_are_skewed() {
        let sample = of(|it| (it.wrapping_mul(0x9E37_79B9) >> 31) * 77);
        assert!(sample.is_skewed && sample.repeated < 0.7);
        assert!(sample.elements == 2 && sample.are_few());
    }

    #[test]
    fn keys_that_are_near_and_go_on_advance() {
        assert!(of(|it| it / 10_000 * 10_000 + it.wrapping_mul(0x9E37_79B9) % 999).advances);
        assert!(of(|it| 90_000 - it / 10_000 * 10_000).advances);
        assert!(!of(|it| it % 10_000).advances);
        assert!(!of(|it| it.wrapping_mul(0x9E37_79B9) >> 10).advances);
    }

    #[test]
    fn keys_that_go_through_all_elements_again_do_not_advance() {
        let places = (0..8).map(|place| (0..256).map(|it| it * 64 + place * 4).collect());
        let sample = Sample::of(&places.collect::<Vec<_>>(), 8).unwrap();
        assert!(!sample.advances && sample.reach == 1 << 32);
    }

    #[test]
    fn keys_that_stay_somewhere_reach_no_further() {
        let sample = of(|it| 70_000 + it.wrapping_mul(0x9E37_79B9) % 5000);
        assert!((4000..=5000).contains(&sample.reach), "{sample:?}");
        assert_eq!(of(|_| 5).reach, 1);
    }

    #[test]
    fn without_updates_nothing_is_seen() {
        assert_eq!(Sample::of(&[Vec::new(), Vec::new()], 8), None);
    }
}
