//! Which strategy a forall gets when nobody names one.
//!
//! Where the grouping is not free, the answer must not depend on threads, time or memory: it decides the bits of the result.

use super::dense::{Dense, FIXED_BYTES, groups};
use super::direct::Direct;
use super::serial::Serial;
use super::{Decision, Shape};
use crate::record::Why;
use crate::settings::Mode;

/// To wake threads and to wait for them costs some 40 µs; so many simple updates take about as long.
const LEAST_TRIPS: u64 = 1 << 16;

/// To fill and to merge an element costs about as much as this many updates.
const LEAST_TRIPS_PER_ELEMENT: u64 = 4;

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
    let Shape {
        count,
        trips,
        elements,
        bytes,
        ..
    } = *shape;
    if shape.mode == Mode::Exact && !shape.is_exact {
        Some(Why::Rounds)
    } else if count < 2 {
        Some(Why::OneIteration)
    } else if trips < LEAST_TRIPS {
        Some(Why::FewTrips {
            trips,
            least: LEAST_TRIPS,
        })
    } else if trips < elements.saturating_mul(LEAST_TRIPS_PER_ELEMENT) {
        Some(Why::FewTripsPerElement {
            trips,
            elements,
            least: LEAST_TRIPS_PER_ELEMENT,
        })
    } else if bytes > FIXED_BYTES / 2 {
        Some(Why::TooLarge {
            bytes,
            most: FIXED_BYTES / 2,
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

    #[test]
    fn groups_shrink_with_size_and_count() {
        let of = |bytes: u64, count: u64| {
            groups(&Shape {
                bytes,
                count,
                ..shape()
            })
        };
        assert_eq!(of(4 << 20, 8), 8);
        assert_eq!(of((4 << 20) + 1, 8), 4);
        assert_eq!(of((8 << 20) + 1, 8), 2);
        assert_eq!(of(1 << 40, 8), 2);
        assert_eq!(of(64, 3), 3);
        assert_eq!(of(64, 0), 0);
        assert_eq!(of(64, 1000), 8);
    }
}
