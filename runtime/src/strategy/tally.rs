//! Keys that were looked at in several places, put in order once: how often each comes, and which
//! of them lead to new cache lines.

use crate::prefetch::CACHE_LINE;

/// The cache line of the element with this key, of elements of so many bytes.
fn line(key: u32, element_bytes: u64) -> u64 {
    u64::from(key).saturating_mul(element_bytes) / CACHE_LINE as u64
}

/// What a key leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lead {
    /// A line that one before it at its place leads to.
    Known,
    /// The first one of its place that leads to its line, to which other places lead, too.
    Shared,
    /// The same where no other place does.
    Alone,
}

/// A cache line where a place first leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u64,
    /// Whether no other place leads to it.
    pub(super) is_alone: bool,
}

/// A key with where it was seen. In the order of these, those with one key and those with one line
/// follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen(u64);

impl Seen {
    fn new(key: u32, place: usize, position: usize) -> Self {
        Self(u64::from(key) << 32 | (place as u64) << 16 | position as u64)
    }

    fn key(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn place(self) -> usize {
        (self.0 >> 16 & 0xffff) as usize
    }

    fn position(self) -> usize {
        (self.0 & 0xffff) as usize
    }
}

/// The keys of several places.
#[derive(Debug)]
pub(super) struct Tally<'k> {
    places: &'k [Vec<u32>],
    in_order: Vec<Seen>,
}

impl<'k> Tally<'k> {
    /// Of no more than 65,536 keys of each of as many places.
    pub(super) fn of(places: &'k [Vec<u32>]) -> Self {
        let seen = |(place, keys): (usize, &'k Vec<u32>)| {
            let keys = keys.iter().enumerate().take(1 << 16);
            keys.map(move |(position, key)| Seen::new(*key, place, position))
        };
        let mut in_order: Vec<_> = places
            .iter()
            .enumerate()
            .take(1 << 16)
            .flat_map(seen)
            .collect();
        in_order.sort_unstable();
        Self { places, in_order }
    }

    /// How often each key comes, from the least one on.
    pub(super) fn counts(&self) -> impl Iterator<Item = usize> {
        let keys = self.in_order.chunk_by(|a, b| a.key() == b.key());
        keys.map(<[Seen]>::len)
    }

    /// From the least to the largest key.
    pub(super) fn extent(&self) -> u64 {
        let ends = self.in_order.first().zip(self.in_order.last());
        ends.map_or(0, |(least, most)| u64::from(most.key() - least.key()) + 1)
    }

    /// The lines of elements of so many bytes that the keys of each place lead to, each once, as
    /// they are needed first.
    pub(super) fn lines(&self, element_bytes: u64) -> Vec<Vec<Line>> {
        let leads = self.leads(element_bytes);
        let lines = self.places.iter().zip(leads).map(|(keys, leads)| {
            let keys = keys.iter().zip(leads);
            let firsts = keys.filter(|(_, lead)| *lead != Lead::Known);
            let line = firsts.map(|(key, lead)| Line {
                number: line(*key, element_bytes),
                is_alone: lead == Lead::Alone,
            });
            line.collect()
        });
        lines.collect()
    }

    fn leads(&self, element_bytes: u64) -> Vec<Vec<Lead>> {
        let known = |keys: &Vec<u32>| vec![Lead::Known; keys.len()];
        let mut leads: Vec<Vec<Lead>> = self.places.iter().map(known).collect();
        let same_line =
            |a: &Seen, b: &Seen| line(a.key(), element_bytes) == line(b.key(), element_bytes);
        let mut firsts = Vec::new();
        for group in self.in_order.chunk_by(same_line) {
            firsts.clear();
            first_of_places(group, &mut firsts);
            let lead = match firsts.len() {
                1 => Lead::Alone,
                _ => Lead::Shared,
            };
            for seen in &firsts {
                let leads = leads.get_mut(seen.place());
                if let Some(at) = leads.and_then(|it| it.get_mut(seen.position())) {
                    *at = lead;
                }
            }
        }
        leads
    }
}

/// Of each place the one of `group` that was seen there first.
fn first_of_places(group: &[Seen], firsts: &mut Vec<Seen>) {
    for seen in group {
        match firsts.iter_mut().find(|it| it.place() == seen.place()) {
            Some(first) if seen.position() < first.position() => *first = *seen,
            Some(_) => {}
            None => firsts.push(*seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_counted_wherever_they_are() {
        let places = [vec![7, 3, 7], vec![], vec![3, 900, 7]];
        let tally = Tally::of(&places);
        assert_eq!(tally.counts().collect::<Vec<_>>(), [2, 3, 1]);
        assert_eq!(tally.extent(), 898);
        assert_eq!(
            (Tally::of(&[]).extent(), Tally::of(&[]).counts().count()),
            (0, 0)
        );
    }

    #[test]
    fn lines_come_as_they_are_needed_first() {
        // Eight elements a line.
        let places = [vec![17, 3, 16, 7, 80, 0], vec![5, 90, 4, 91]];
        let of = |number, is_alone| Line { number, is_alone };
        assert_eq!(
            Tally::of(&places).lines(8),
            [
                vec![of(2, true), of(0, false), of(10, true)],
                vec![of(0, false), of(11, true)],
            ]
        );
        let far = [vec![u32::MAX, 1]];
        assert_eq!(Tally::of(&far).lines(1 << 40)[0].len(), 2);
    }
}
