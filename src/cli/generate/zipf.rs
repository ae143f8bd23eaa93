//! Whole numbers by Zipf's law: the one of rank `k` comes `k^-exponent` times as often as the one
//! of rank 1.

use super::{Draw, Random};
use crate::cli::array::Number;

/// Whole numbers below `most`. Ranks are permuted, so that numbers that come often are not next to
/// each other.
pub(super) fn zipf(mut random: Random, exponent: f64, most: i128) -> Result<Draw, String> {
    if !exponent.is_finite() || exponent < 0.0 {
        return Err(format!(
            "zipf takes an exponent from 0 on, found {exponent}"
        ));
    }
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    let permutation = Permutation::new(most, &mut random);
    let ranks = Ranks::new(exponent, most);
    Ok(Box::new(move |_| {
        let rank = ranks.draw(&mut random);
        Number::Integer(permutation.of(rank - 1).into())
    }))
}

/// The ranks `1..=most`, by rejection: a rank is taken from a continuous distribution that is
/// nowhere below that of the ranks, whose integral has an inverse, and stays as often as the one is
/// of the other. `most` may be too large for a table.
struct Ranks {
    exponent: f64,
    /// `1 - exponent`.
    power: f64,
    most: u64,
    /// The integral of 1 up to 1 and of `x^-exponent` behind, up to `most`.
    integral: f64,
}

impl Ranks {
    fn new(exponent: f64, most: u64) -> Self {
        let power = 1.0 - exponent;
        let logarithm = (most as f64).ln();
        // Near an exponent of 1 the difference of powers would have no digits left.
        let behind = match power {
            0.0 => logarithm,
            power => (power * logarithm).exp_m1() / power,
        };
        Self {
            exponent,
            power,
            most,
            integral: 1.0 + behind,
        }
    }

    fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let place = self.place(random.unit() * self.integral);
            let rank = place as u64 + 1;
            let stays = match rank {
                1 => true,
                rank => random.unit() < (place / rank as f64).powf(self.exponent),
            };
            if stays && rank <= self.most {
                return rank;
            }
        }
    }

    /// Up to where the integral is `area`.
    fn place(&self, area: f64) -> f64 {
        let behind = area - 1.0;
        match self.power {
            _ if behind <= 0.0 => area,
            0.0 => behind.exp(),
            power => ((power * behind).ln_1p() / power).exp(),
        }
    }
}

/// A permutation of `0..length` that takes no memory: a Feistel network permutes the least power of
/// four that is not below `length`, and what it takes out of the range goes through it again.
struct Permutation {
    length: u64,
    /// How many bits a half has.
    half: u32,
    keys: [u64; Self::ROUNDS],
}

impl Permutation {
    const ROUNDS: usize = 4;

    fn new(length: u64, random: &mut Random) -> Self {
        let bits = u64::BITS - length.saturating_sub(1).leading_zeros();
        Self {
            length,
            half: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| random.next()),
        }
    }

    /// Where the permutation takes `number`, which is below `length`.
    fn of(&self, number: u64) -> u64 {
        let mut found = self.network(number);
        // The cycle through `number` comes back to it at last, so that this ends.
        while found >= self.length {
            found = self.network(found);
        }
        found
    }

    fn network(&self, number: u64) -> u64 {
        let mask = (1 << self.half) - 1;
        let (mut left, mut right) = (number >> self.half, number & mask);
        for key in self.keys {
            let mixed = Random(right ^ key).next() & mask;
            (left, right) = (right, left ^ mixed);
        }
        left << self.half | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each number below `most` comes in `draws` draws.
    fn counts(exponent: f64, most: u64, seed: u64, draws: u64) -> Vec<u64> {
        let mut draw = zipf(Random(seed), exponent, most.into()).expect("a distribution");
        let mut counts = vec![0; most as usize];
        for index in 0..draws {
            match draw(index) {
                Number::Integer(number) => counts[number as usize] += 1,
                Number::Float(number) => panic!("{number}"),
            }
        }
        counts
    }

    #[test]
    fn each_rank_comes_as_often_as_the_law_says() {
        const DRAWS: u64 = 100_000;
        for exponent in [0.0, 0.5, 1.0 - 1e-12, 1.0, 1.1, 2.0] {
            for most in [1, 2, 3, 10, 17] {
                let mut counts = counts(exponent, most, 1, DRAWS);
                counts.sort_unstable_by(|left, right| right.cmp(left));
                let weight = |rank: u64| (rank as f64).powf(-exponent);
                let all: f64 = (1..=most).map(weight).sum();
                for (rank, count) in (1..).zip(counts) {
                    let expected = DRAWS as f64 * weight(rank) / all;
                    let distance = (count as f64 - expected).abs();
                    // Sorting moves counts that are alike by a few deviations at most.
                    let bound = 6.0 * expected.sqrt() + 1.0;
                    assert!(distance <= bound, "{exponent}, {most}: {rank} came {count}");
                }
            }
        }
    }

    #[test]
    fn ranks_are_permuted_as_the_seed_says() {
        for length in [1, 2, 3, 4, 5, 10, 64, 65, 1000] {
            let of = |seed| -> Vec<u64> {
                let permutation = Permutation::new(length, &mut Random(seed));
                (0..length).map(|it| permutation.of(it)).collect()
            };
            let mut found = of(1);
            assert_eq!(found, of(1), "{length}");
            if length >= 10 {
                assert_ne!(found, of(2), "{length}");
            }
            found.sort_unstable();
            assert!(found.into_iter().eq(0..length), "{length}");
        }
    }

    #[test]
    fn there_may_be_more_ranks_than_memory() {
        for most in [1 << 62, u64::MAX - 1, u64::MAX] {
            let mut draw = zipf(Random(1), 0.5, most.into()).expect("a distribution");
            let numbers: Vec<_> = (0..1000).map(&mut draw).collect();
            let is_below =
                |it: &Number| matches!(it, Number::Integer(it) if (0..most.into()).contains(it));
            assert!(numbers.iter().all(is_below), "{most}");
        }
    }

    #[test]
    fn numbers_that_are_no_exponents_are_refused() {
        for exponent in [-0.5, f64::NAN, f64::INFINITY] {
            assert!(zipf(Random(1), exponent, 10).is_err(), "{exponent}");
        }
    }
}
