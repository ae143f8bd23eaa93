//! What is expected where no one has looked at the keys.

use super::*;

/// 10,000 updates of 32 Mi floats take 0.3 ms in order and 0.8 sorted, a million 10 and 6.
#[test]
fn few_updates_of_large_outputs_are_not_sorted() {
    let machine = with_far_last_cache();
    let of = |trips: u64| {
        let shape = Shape {
            trips,
            elements: 1 << 25,
            bytes: 128 << 20,
            is_exact: true,
            ..shape()
        };
        let around = Circumstances::new(&shape, None, false, &machine);
        decide(&shape, around, || u64::MAX).strategy.name()
    };
    assert_ne!(of(10_000), "binned");
    assert_eq!(of(10_000_000), "binned");
}

/// 30,000 rows of 300 floats take 17 ms in order, 9 by owners of rows, and 34 sorted.
#[test]
fn long_rows_that_no_one_has_looked_at_are_not_sorted() {
    let shape = Shape {
        trips: 9_000_000,
        elements: 30 << 20,
        bytes: 120 << 20,
        lanes: 8,
        row_columns: Some(300),
        ..shape()
    };
    let machine = with_far_last_cache();
    let costs = Circumstances::new(&shape, None, false, &machine).costs;
    assert!(costs.serial < costs.binned && costs.rows < costs.binned);
}
