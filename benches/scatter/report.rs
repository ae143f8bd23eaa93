//! What follows from the rounds of a cell.

use crate::limit::Traffic;
use crate::measure::{Measured, Measurement};
use crate::peers::Bandwidth;
use crate::statistics::Spread;
use crate::variant::Variant;
use strew::Record;

impl Measurement {
    pub(crate) fn find(&self, variant: Variant) -> Option<&Measured> {
        self.variants.iter().find(|it| it.variant == variant)
    }

    /// Nanoseconds an update.
    pub(crate) fn each(&self, variant: Variant) -> Option<Spread> {
        let updates = self.updates.max(1) as f64;
        let times = &self.find(variant)?.times;
        Spread::of(times.iter().flatten().map(|time| time / updates))
    }

    /// How many times as long as `by` does `of` take, over the rounds that both were in.
    pub(crate) fn ratio(&self, of: Variant, by: Variant) -> Option<Spread> {
        let (of, by) = (self.find(of)?, self.find(by)?);
        let pairs = of.times.iter().zip(&by.times);
        let both = pairs.filter_map(|(of, by)| of.zip(*by));
        Spread::of(both.map(|(of, by)| of / by))
    }

    /// What strew as it comes gains over the serial loop in C, or over its own where there is no C.
    pub(crate) fn speedup(&self, variant: Variant) -> Option<Spread> {
        let base = match self.find(Variant::CC) {
            Some(_) => Variant::CC,
            None => Variant::SERIAL,
        };
        self.ratio(base, variant)
    }

    /// The quickest parallel peer.
    pub(crate) fn best_peer(&self) -> Option<Variant> {
        let peers = [Variant::REDUCTION, Variant::ATOMIC, Variant::ByHand];
        self.quickest(peers.into_iter())
    }

    fn quickest(&self, variants: impl Iterator<Item = Variant>) -> Option<Variant> {
        let each = |it: &Variant| self.each(*it).map(|spread| spread.median);
        let found = variants.filter_map(|it| each(&it).map(|time| (it, time)));
        let best = found.min_by(|(_, a), (_, b)| a.total_cmp(b));
        best.map(|(variant, _)| variant)
    }

    /// The quickest strategy when named, in the default mode and on all threads.
    pub(crate) fn best_strategy(&self) -> Option<Variant> {
        self.quickest(Variant::strategies())
    }

    /// How many times as long as the best strategy does the one take that was found; 1 or little
    /// less where it is the same.
    pub(crate) fn regret(&self) -> Option<f64> {
        let ratio = self.ratio(Variant::STABLE, self.best_strategy()?)?;
        Some(ratio.median)
    }

    /// What strew did as it comes.
    pub(crate) fn record(&self) -> Option<Record> {
        self.find(Variant::STABLE)?.record
    }

    /// The share of the bandwidth limit that strew reaches as it comes, for outputs beyond the
    /// caches.
    pub(crate) fn share_of_limit(&self, bandwidth: Bandwidth) -> Option<f64> {
        let least = Traffic::of(self, &self.record()?).time(bandwidth);
        let each = self.each(Variant::STABLE)?.median;
        let is_beyond = self.cell.bytes >= 64 << 20;
        is_beyond.then_some(least / (each * self.updates as f64))
    }
}
