//! Which strategy a forall gets when nobody names one.
//!
//! Where the grouping is not free, the answer must not depend on threads, time or memory: it decides the bits of the result.

use super::dense::{Dense, groups};
use super::direct::Direct;
use super::serial::Serial;
use super::{Decision, Shape};
use crate::record::Why;
use crate::settings::Mode;

/// To wake threads and to wait for them takes about as long as half as many simple updates, on any number of threads.
const LEAST_TRIPS: u64 = 1 << 16;

/// To fill and to merge an element of two groups takes about as long as one simple update; on two threads half of the updates must
/// be worth more than that.
const TRIPS_PER_ELEMENT: u64 = 2;

/// A private copy larger than this is not made unasked, whatever it might save.
const MOST_BYTES: u64 = 64 << 20;

/// Decides by the sizes; `budget` is asked only where memory may decide.
pub(super) fn decide(shape: &Shape, is_nested: bool, budget: impl FnOnce() -> u64) -> Decision {
    if !shape.has_privates {
        return Decision {
            strategy: &Direct,
            why: Why::NoPrivates,
        };
    }
    let against = against_by_sizes(shape).or_else(|| against_when_free(shape, is_nested, budget));
    match against {
        Some(why) => Decision {
            strategy: &Serial,
            why,
        },
        None => Decision {
            strategy: &Dense,
            why: Why::Pays {
                trips: shape.trips,
                elements: shape.elements,
            },
        },
    }
}

/// What speaks against private buffers whatever the machine.
fn against_by_sizes(shape: &Shape) -> Option<Why> {
    let least = shape
        .elements
        .saturating_mul(TRIPS_PER_ELEMENT)
        .saturating_add(LEAST_TRIPS);
    if shape.mode == Mode::Exact && !shape.is_exact {
        Some(Why::Rounds)
    } else if shape.count < 2 {
        Some(Why::OneIteration)
    } else if shape.trips < least {
        Some(Why::FewTrips {
            trips: shape.trips,
            elements: shape.elements,
            least,
        })
    } else if shape.bytes > MOST_BYTES {
        Some(Why::TooLarge {
            bytes: shape.bytes,
            most: MOST_BYTES,
        })
    } else {
        None
    }
}

/// What speaks against them where the bits do not depend on it.
fn against_when_free(shape: &Shape, is_nested: bool, budget: impl FnOnce() -> u64) -> Option<Why> {
    if !shape.is_free() {
        return None;
    }
    if shape.threads == 1 {
        return Some(Why::OneThread);
    }
    if is_nested {
        return Some(Why::Nested);
    }
    let needed = shape.bytes.saturating_mul(groups(shape) as u64);
    let budget = budget();
    (needed > budget).then_some(Why::OverBudget { needed, budget })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape {
            count: 8,
            trips: 1 << 20,
            elements: 256,
            bytes: 2048,
            has_privates: true,
            is_separate: false,
            can_emit: true,
            is_exact: false,
            mode: Mode::Stable,
            threads: 2,
        }
    }

    fn name(shape: &Shape) -> &'static str {
        decide(shape, false, || u64::MAX).strategy.name()
    }

    #[test]
    fn many_updates_of_few_elements_are_dense() {
        assert_eq!(name(&shape()), "dense");
    }

    #[test]
    fn small_sparse_and_large_are_serial() {
        let small = Shape {
            trips: 1000,
            ..shape()
        };
        let sparse = Shape {
            elements: 1 << 20,
            bytes: 1 << 20,
            ..shape()
        };
        let large = Shape {
            elements: 1 << 24,
            bytes: 1 << 27,
            trips: 1 << 40,
            ..shape()
        };
        let single = Shape {
            count: 1,
            ..shape()
        };
        for shape in [small, sparse, large, single] {
            assert_eq!(name(&shape), "serial", "{shape:?}");
        }
    }

    #[test]
    fn the_stable_order_does_not_see_the_machine() {
        for threads in [1, 2, 64] {
            for is_nested in [false, true] {
                let shape = Shape { threads, ..shape() };
                let decision = decide(&shape, is_nested, || 0);
                assert_eq!(decision.strategy.name(), "dense");
                assert_eq!(groups(&shape), 8);
            }
        }
    }

    #[test]
    fn a_free_order_does() {
        let exact = Shape {
            is_exact: true,
            ..shape()
        };
        assert_eq!(
            name(&Shape {
                threads: 1,
                ..exact
            }),
            "serial"
        );
        assert_eq!(name(&exact), "dense");
        assert_eq!(decide(&exact, true, || u64::MAX).strategy.name(), "serial");
        let over = decide(&exact, false, || 1);
        assert_eq!(over.strategy.name(), "serial");
        assert!(over.why.to_string().contains("memory budget of 1 bytes"));
    }

    #[test]
    fn exact_mode_regroups_only_what_keeps_its_bits() {
        let exact = Shape {
            mode: Mode::Exact,
            ..shape()
        };
        assert_eq!(name(&exact), "serial");
        let integers = Shape {
            is_exact: true,
            ..exact
        };
        assert_eq!(name(&integers), "dense");
    }
}
