//! What two threads are for each other at a moment. On a virtual machine they may be those of one
//! core, or of two that are near or far, and that changes while a bench runs: what two threads can
//! gain changes with it.

use crate::statistics::Spread;
use std::hint::{black_box, spin_loop};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{scope, yield_now};
use std::time::Instant;

/// Two threads of one core gain less.
const CORES_APART: f64 = 1.5;

/// What threads compute in a look.
const TURNS: u64 = 1_000_000;
const TURNS_SMOKE: u64 = 400;

/// A look at two threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// How much more both compute in a second than one does: 2 where they have a core each.
    gain: f64,
    /// Nanoseconds that a cache line takes from one to the other and back.
    round_trip: f64,
}

impl Pair {
    /// Takes some milliseconds, or next to no time to see that all of it works.
    pub(crate) fn look(is_smoke: bool) -> Self {
        let turns = if is_smoke { TURNS_SMOKE } else { TURNS };
        let alone = together(1, turns);
        let both = together(2, turns);
        Self {
            gain: 2.0 * alone / both,
            round_trip: round_trip(turns / 400),
        }
    }
}

/// What so many looks saw, in a line.
pub(crate) fn seen(pairs: &[Pair]) -> String {
    let spread = |of: fn(&Pair) -> f64| Spread::of(pairs.iter().map(of));
    let few = pairs.iter().filter(|it| it.gain < CORES_APART).count();
    match (spread(|it| it.gain), spread(|it| it.round_trip)) {
        (Some(gain), Some(trip)) => format!(
            "two threads computed {:.2} times as much as one where nothing is shared ({:.2} and {:.2} at the quarters, below {CORES_APART} before {few} of {} \
             cells); a cache line went to the other and back in {:.0} ns ({:.0} and {:.0})",
            gain.median,
            gain.low,
            gain.high,
            pairs.len(),
            trip.median,
            trip.low,
            trip.high
        ),
        _ => String::new(),
    }
}

/// Nanoseconds for `threads` threads that begin together and compute the same each.
fn together(threads: usize, turns: u64) -> f64 {
    let barrier = Barrier::new(threads);
    let one = || {
        barrier.wait();
        let start = Instant::now();
        black_box(compute(black_box(turns)));
        start.elapsed().as_nanos() as f64
    };
    scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
        let own = one();
        // One that panicked took no time.
        let others = others.into_iter().map(|it| it.join().unwrap_or(0.0));
        others.fold(own, f64::max)
    })
}

/// Chains of operations that do not wait for each other, so that they fill a core.
fn compute(turns: u64) -> u64 {
    let mut chains: [u64; 12] = std::array::from_fn(|it| it as u64);
    for turn in 0..turns {
        for chain in &mut chains {
            *chain = (chain.rotate_left(5) ^ turn).wrapping_add(0x9E37_79B9);
        }
    }
    chains.into_iter().fold(0, |sum, it| sum ^ it)
}

/// Nanoseconds for one of so many answers by another thread.
fn round_trip(count: u64) -> f64 {
    let count = count.max(1);
    let ball = AtomicU64::new(0);
    let wait = |value: u64| {
        for turn in 0_u32.. {
            if ball.load(Ordering::Acquire) == value {
                return;
            }
            spin_loop();
            // The other one may have to share this processor.
            if turn % 1024 == 1023 {
                yield_now();
            }
        }
    };
    scope(|scope| {
        scope.spawn(|| {
            for turn in 0..=count {
                wait(2 * turn + 1);
                ball.store(2 * turn + 2, Ordering::Release);
            }
        });
        let serve = |turn: u64| {
            ball.store(2 * turn + 1, Ordering::Release);
            wait(2 * turn + 2);
        };
        // The first one waits for the thread to start.
        serve(0);
        let start = Instant::now();
        (1..=count).for_each(serve);
        start.elapsed().as_nanos() as f64 / count as f64
    })
}
