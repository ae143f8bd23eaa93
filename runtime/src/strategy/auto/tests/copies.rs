//! Where copies are better than what keeps the order of the loop.

use super::*;

#[test]
fn hot_elements_get_copies_on_one_thread_too() {
    let alone = Shape {
        threads: 1,
        is_exact: true,
        has_bodies: true,
        ..shape()
    };
    let hot = Sample {
        repeated: 0.8,
        unforeseen: 0.2,
        is_skewed: true,
        ..UNORDERED
    };
    let foreseen = Sample {
        unforeseen: 0.01,
        ..hot
    };
    let large = Shape {
        bytes: 1 << 20,
        ..alone
    };
    let rounds = Shape {
        mode: Mode::Exact,
        is_exact: false,
        ..alone
    };
    let decided = |shape: &Shape, sample, is_nested| {
        decide(shape, around(shape, Some(sample), is_nested), || u64::MAX)
    };
    let nested = Shape {
        threads: 2,
        ..alone
    };
    assert_eq!(decided(&alone, hot, false).why, Why::Hot);
    assert_eq!(decided(&nested, hot, true).why, Why::Hot);
    assert_eq!(decided(&alone, hot, false).strategy.name(), "dense");
    for (shape, sample) in [(alone, UNORDERED), (alone, foreseen), (large, hot)] {
        assert_eq!(decided(&shape, sample, false).why, Why::OneThread);
    }
    assert_eq!(decided(&rounds, hot, false).why, Why::Rounds);
}

#[test]
fn ten_updates_of_each_element_are_worth_copies_that_stay_in_the_caches() {
    let through = Sample {
        span: 64,
        scattered: 0.1,
        rises: false,
        advances: true,
        ..UNORDERED
    };
    let decided = |bytes: u64, per_element: u64| {
        let elements = bytes / 8;
        let shape = Shape {
            bytes,
            has_bodies: true,
            can_emit: true,
            is_pure: true,
            ..Shape::of_updates(1 << 10, per_element * elements, elements)
        };
        let around = Circumstances {
            scans: true,
            ..around(&shape, Some(through), false)
        };
        decide(&shape, around, || u64::MAX).strategy.name()
    };
    for (mebibytes, per_element, strategy) in [
        (4, 4, "colored"),
        (4, 12, "dense"),
        (16, 12, "dense"),
        (17, 12, "colored"),
        (64, 24, "colored"),
    ] {
        assert_eq!(
            decided(mebibytes << 20, per_element),
            strategy,
            "{mebibytes} MiB, {per_element}"
        );
    }
}

#[test]
fn copies_beyond_the_caches_are_not_made_of_what_goes_anywhere() {
    let cells = Shape {
        trips: 64 << 20,
        elements: 4 << 20,
        bytes: 32 << 20,
        can_emit: true,
        is_pure: true,
        threads: 2,
        ..shape()
    };
    let near = Shape {
        elements: 2 << 20,
        bytes: 16 << 20,
        ..cells
    };
    let of = |shape: &Shape, scattered: f64, is_skewed: bool| {
        let sample = Sample {
            scattered,
            is_skewed,
            ..UNORDERED
        };
        let around = around(shape, Some(sample), false);
        decide(shape, around, || u64::MAX).strategy.name()
    };
    assert_eq!(of(&cells, 0.6, false), "binned");
    assert_eq!(of(&cells, 0.3, false), "dense");
    assert_eq!(of(&cells, 0.6, true), "dense");
    assert_eq!(of(&near, 0.6, false), "dense");
}

/// In mode `exact` too, but not by one thread, which would look first and then sort.
#[test]
fn updates_of_what_is_read_are_sorted_where_copies_are_large() {
    let level = Shape {
        trips: 16 << 20,
        elements: 8 << 20,
        bytes: 64 << 20,
        can_emit: true,
        is_pure: true,
        is_speculative: true,
        ..shape()
    };
    let of = |shape: &Shape| {
        let around = around(shape, Some(UNORDERED), false);
        decide(shape, around, || u64::MAX).strategy.name()
    };
    for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
        let two = Shape {
            mode,
            threads: 2,
            ..level
        };
        let one = Shape { threads: 1, ..two };
        assert_eq!([of(&two), of(&one)], ["binned", "serial"], "{mode:?}");
    }
    let near = Shape {
        trips: 64 << 20,
        elements: 1 << 20,
        bytes: 8 << 20,
        threads: 2,
        ..level
    };
    assert_eq!(of(&near), "dense");
}
