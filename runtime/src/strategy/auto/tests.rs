mod copies;
mod unseen;

use super::*;
use crate::machine::{Caches, Calibration, LINES};

/// What is seen of keys in no order.
const UNORDERED: Sample = Sample {
    updates: 2048,
    others_repeat: true,
    repeated: 0.0,
    unforeseen: 0.0,
    scattered: 1.0,
    leaps: 1.0,
    span: 1 << 20,
    reach: u64::MAX,
    elements: 2048,
    is_skewed: false,
    rises: false,
    advances: false,
};

fn shape() -> Shape {
    Shape::of_updates(8, 1 << 20, 256)
}

fn around(shape: &Shape, sample: Option<Sample>, is_nested: bool) -> Circumstances {
    Circumstances::new(shape, sample, is_nested, &Machine::default())
}

fn name(shape: &Shape) -> &'static str {
    let around = around(shape, None, false);
    decide(shape, around, || u64::MAX).strategy.name()
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
    for shape in [small, sparse, single] {
        assert_eq!(name(&shape), "serial", "{shape:?}");
    }
    assert_eq!(name(&large), "binned");
    let whole = Shape {
        can_emit: false,
        ..large
    };
    assert_eq!(name(&whole), "serial");
}

#[test]
fn a_few_elements_are_blocked_wherever_they_are() {
    let of = |elements: u64, few: u64, mode: Mode| {
        let sample = Sample {
            updates: 2048,
            others_repeat: true,
            repeated: 0.5,
            unforeseen: 0.0,
            scattered: 0.01,
            leaps: 0.0,
            span: elements,
            reach: u64::MAX,
            elements: few,
            is_skewed: true,
            rises: false,
            advances: false,
        };
        let shape = Shape {
            trips: 1 << 24,
            elements,
            bytes: elements * 8,
            mode,
            ..shape()
        };
        let around = around(&shape, Some(sample), false);
        decide(&shape, around, || u64::MAX).strategy.name()
    };
    for mode in [Mode::Stable, Mode::Fast] {
        assert_eq!(of(1 << 23, 2, mode), "blocked");
        assert_eq!(of(1 << 19, 2, mode), "blocked");
        assert_eq!(of(1 << 15, 2, mode), "dense");
        assert_ne!(of(1 << 23, 3, mode), "blocked");
        assert_ne!(of(1 << 25, 2, mode), "blocked");
        assert_ne!(of(1 << 10, 2, mode), "blocked");
    }
    assert_eq!(of(1 << 23, 2, Mode::Exact), "serial");
}

#[test]
fn keys_in_order_are_blocked_but_for_small_and_huge_outputs() {
    let sample = |span: u64| Sample {
        updates: 2048,
        others_repeat: true,
        repeated: 0.9,
        unforeseen: 0.0,
        scattered: 0.1,
        leaps: 0.0,
        span,
        reach: u64::MAX,
        elements: 2048,
        is_skewed: false,
        rises: false,
        advances: false,
    };
    let of = |elements: u64, span: u64, mode: Mode| {
        let shape = Shape {
            trips: elements * 15,
            elements,
            bytes: elements * 8,
            mode,
            ..shape()
        };
        let around = around(&shape, Some(sample(span)), false);
        decide(&shape, around, || u64::MAX).strategy.name()
    };
    assert_eq!(of(1 << 20, 1 << 17, Mode::Stable), "blocked");
    // Where the grouping is free, merging whole copies takes less than looking at each update
    // whether it leaves a window.
    assert_eq!(of(1 << 20, 1 << 17, Mode::Fast), "dense");
    assert_eq!(of(1 << 20, (1 << 17) + 1, Mode::Stable), "dense");
    assert_eq!(of(1 << 20, 1 << 17, Mode::Exact), "serial");
    assert_ne!(of(1 << 10, 1, Mode::Stable), "blocked");
    assert_ne!(of(1 << 26, 1, Mode::Stable), "blocked");
    // Three updates of each are worth copies, wherever they go.
    let few = Sample {
        repeated: 0.5,
        unforeseen: 0.0,
        rises: true,
        advances: true,
        ..sample(1)
    };
    let seldom = Shape {
        trips: 3 << 20,
        elements: 1 << 20,
        bytes: 8 << 20,
        ..shape()
    };
    let once = around(&seldom, Some(few), false);
    let decision = decide(&seldom, once, || u64::MAX);
    assert_eq!(decision.strategy.name(), "dense");
    let clustered = Sample {
        rises: false,
        advances: false,
        ..few
    };
    let clustered = around(&seldom, Some(clustered), false);
    let decision = decide(&seldom, clustered, || u64::MAX);
    assert_eq!(decision.strategy.name(), "dense");
    let often = Shape {
        trips: 64 << 20,
        elements: 1 << 20,
        bytes: 8 << 20,
        ..shape()
    };
    let around = around(&often, Some(sample(1)), false);
    let decision = decide(&often, around, || u64::MAX);
    assert_eq!(decision.strategy.name(), "dense");
}

#[test]
fn a_few_elements_with_most_of_the_updates_get_copies_of_larger_outputs() {
    let large = Shape {
        trips: 16 << 20,
        elements: 8 << 20,
        bytes: 64 << 20,
        ..shape()
    };
    let of = |scattered: f64, is_skewed: bool| {
        let sample = Sample {
            updates: 2048,
            others_repeat: true,
            repeated: 0.0,
            unforeseen: 0.0,
            scattered,
            leaps: scattered,
            span: 8 << 20,
            reach: u64::MAX,
            elements: 2048,
            is_skewed,
            rises: false,
            advances: false,
        };
        let around = around(&large, Some(sample), false);
        decide(&large, around, || u64::MAX).strategy.name()
    };
    assert_eq!(
        [of(0.7, true), of(0.7, false), of(1.0, false)],
        ["dense", "binned", "binned"]
    );
}

#[test]
fn keys_that_advance_are_divided_in_the_order_of_the_loop() {
    let mesh = Shape {
        trips: 4 << 20,
        elements: 1 << 20,
        bytes: 8 << 20,
        mode: Mode::Exact,
        ..shape()
    };
    let sample = Sample {
        scattered: 0.05,
        leaps: 0.0,
        span: 300,
        reach: u64::MAX,
        advances: true,
        ..UNORDERED
    };
    let of = |shape: &Shape, sample: Sample, is_nested: bool| {
        let mut around = around(shape, Some(sample), is_nested);
        around.scans = may_scan(shape, around);
        decide(shape, around, || u64::MAX)
    };
    for threads in [2, 16] {
        let shape = Shape { threads, ..mesh };
        let decision = of(&shape, sample, false);
        let expected = ("apart", Why::Borders { span: 300 });
        assert_eq!((decision.strategy.name(), decision.why), expected);
        assert_eq!(of(&shape, sample, true).strategy.name(), "serial");
        // The order is settled by the keys, for any number of threads.
        let mode = Mode::Stable;
        let stable = Shape { mode, ..shape };
        assert_eq!(of(&stable, sample, false).strategy.name(), "colored");
    }
    let others = [
        Shape { threads: 1, ..mesh },
        Shape { count: 1, ..mesh },
        Shape {
            is_pure: false,
            ..mesh
        },
        Shape {
            elements: 1 << 16,
            bytes: 512 << 10,
            ..mesh
        },
    ];
    for shape in others {
        let name = of(&shape, sample, false).strategy.name();
        assert_ne!(name, "apart", "{shape:?}");
    }
    let anywhere = Sample {
        advances: false,
        ..sample
    };
    assert_ne!(of(&mesh, anywhere, false).strategy.name(), "apart");
    // Where a key is that of several updates, these go where it says in one scan alone.
    let lanes = Shape { lanes: 4, ..mesh };
    for scans in [true, false] {
        let mut around = around(&lanes, Some(sample), false);
        around.scans = scans;
        let name = decide(&lanes, around, || u64::MAX).strategy.name();
        assert_eq!(name == "apart", scans, "{name}");
    }
}

#[test]
fn keys_that_rise_are_divided_in_their_order() {
    let far = Shape {
        trips: 16 << 20,
        elements: 8 << 20,
        bytes: 64 << 20,
        ..shape()
    };
    let risen = Sample {
        updates: 2048,
        others_repeat: true,
        repeated: 0.5,
        unforeseen: 0.0,
        scattered: 0.1,
        leaps: 0.0,
        span: 128,
        reach: u64::MAX,
        elements: 2048,
        is_skewed: false,
        rises: true,
        advances: true,
    };
    let why = |shape: &Shape, sample: Sample, is_nested: bool| {
        let around = around(shape, Some(sample), is_nested);
        let decision = decide(shape, around, || u64::MAX);
        (decision.strategy.name(), decision.why)
    };
    for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
        for is_exact in [false, true] {
            for threads in [2, 64] {
                let shape = Shape {
                    mode,
                    is_exact,
                    threads,
                    ..far
                };
                assert_eq!(why(&shape, risen, false), ("apart", Why::Rises));
                assert_ne!(why(&shape, risen, true).1, Why::Rises);
            }
        }
    }
    let others = [
        Shape { threads: 1, ..far },
        Shape {
            is_pure: false,
            ..far
        },
        Shape { lanes: 4, ..far },
        Shape {
            trips: 1 << 20,
            ..far
        },
        Shape {
            trips: 1 << 30,
            ..far
        },
        Shape {
            elements: 1 << 21,
            bytes: 16 << 20,
            ..far
        },
    ];
    for shape in others {
        assert_ne!(why(&shape, risen, false).1, Why::Rises, "{shape:?}");
    }
    let falls = Sample {
        rises: false,
        advances: false,
        ..risen
    };
    assert_ne!(why(&far, falls, false).1, Why::Rises);
}

#[test]
fn the_stable_order_does_not_see_the_machine() {
    for threads in [1, 2, 64] {
        for is_nested in [false, true] {
            let shape = Shape { threads, ..shape() };
            let around = around(&shape, None, is_nested);
            let decision = decide(&shape, around, || 0);
            assert_eq!(decision.strategy.name(), "dense");
            assert_eq!(groups(&shape), 8);
        }
    }
}

/// Costs at which one strategy is cheap or dear beside the others, and caches from none to huge
/// ones.
fn machines() -> Vec<Machine> {
    let usual = Calibration::default();
    let costs = [
        usual,
        Calibration { sort: 0.0, ..usual },
        Calibration { sort: 1e9, ..usual },
        Calibration {
            merge: 1e9,
            ..usual
        },
        Calibration {
            update: 0.0,
            lines: [0.0; LINES],
            wait: 0.0,
            ..usual
        },
        Calibration {
            share: 1e15,
            ..usual
        },
    ];
    let caches = [0, 1 << 20, 1 << 40].map(|size| Caches {
        first: size,
        second: size,
        last: size,
    });
    let all = costs.map(|costs| caches.map(|caches| Machine { caches, costs }));
    all.concat()
}

#[test]
fn the_order_does_not_see_what_work_costs() {
    let sample = |span: u64| Sample {
        updates: 2048,
        others_repeat: true,
        repeated: 0.1,
        unforeseen: 0.0,
        scattered: 0.9,
        leaps: 0.9,
        span,
        reach: u64::MAX,
        elements: 2048,
        is_skewed: false,
        rises: false,
        advances: false,
    };
    let samples = [None, Some(sample(1)), Some(sample(1 << 30))];
    for (mode, sample) in [Mode::Stable, Mode::Exact]
        .into_iter()
        .flat_map(|mode| samples.map(|sample| (mode, sample)))
    {
        for elements in (4..28).map(|it| 1 << it) {
            let shape = Shape {
                trips: 16 << 20,
                elements,
                bytes: 8 * elements,
                mode,
                ..shape()
            };
            let orders = machines().into_iter().map(|machine| {
                let around = Circumstances::new(&shape, sample, false, &machine);
                match decide(&shape, around, || u64::MAX).strategy.name() {
                    "binned" | "apart" => "serial",
                    other => other,
                }
            });
            let orders: std::collections::BTreeSet<_> = orders.collect();
            assert_eq!(orders.len(), 1, "{shape:?} {sample:?} {orders:?}");
        }
    }
}

#[test]
fn what_is_cheap_is_taken_where_the_order_is_the_same() {
    let shape = Shape {
        elements: 1 << 23,
        bytes: 1 << 26,
        trips: 16 << 20,
        mode: Mode::Exact,
        ..shape()
    };
    let of = |sort: f64| {
        let mut machine = Machine::default();
        machine.costs.sort = sort;
        let around = Circumstances::new(&shape, None, false, &machine);
        decide(&shape, around, || u64::MAX).strategy.name()
    };
    assert_eq!((of(0.1), of(1e6)), ("binned", "serial"));
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
    let nested = around(&exact, None, true);
    let inside = decide(&exact, nested, || u64::MAX);
    assert_eq!(inside.strategy.name(), "serial");
    let over = decide(&exact, around(&exact, None, false), || 1);
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
fn updates_in_the_order_of_the_loop_are_told_from_those_that_round() {
    let rounds = Shape {
        mode: Mode::Exact,
        ..shape()
    };
    let ordered = Shape {
        is_ordered: true,
        ..rounds
    };
    let why = |shape: &Shape| decide(shape, around(shape, None, false), || u64::MAX).why;
    assert_eq!(why(&rounds), Why::Rounds);
    assert_eq!(why(&ordered), Why::Ordered);
}

/// A last cache that many processors share.
fn with_far_last_cache() -> Machine {
    Machine {
        caches: Caches {
            first: 48 << 10,
            second: 2 << 20,
            last: 480 << 20,
        },
        ..Machine::default()
    }
}

#[test]
fn long_rows_beyond_the_second_cache_have_owners() {
    let machine = with_far_last_cache();
    // As of rows of floats with keys in no order.
    let of = |columns: u64, elements: u64, threads: usize| {
        let sample = Sample {
            scattered: 4.0 / columns.min(64) as f64,
            leaps: 4.0 / columns.min(64) as f64,
            ..UNORDERED
        };
        let shape = Shape {
            trips: 1 << 23,
            elements,
            bytes: elements * 4,
            lanes: 8,
            row_columns: Some(columns),
            mode: Mode::Exact,
            threads,
            ..shape()
        };
        let around = Circumstances::new(&shape, Some(sample), false, &machine);
        decide(&shape, around, || u64::MAX).strategy.name()
    };
    for megabytes in [64, 256] {
        assert_eq!(of(64, megabytes << 18, 2), "rows", "{megabytes} MB");
    }
    // Rows in the last cache are there in time, and what is read of memory both threads read: 3.3
    // ms for 2.6 in 4 MiB.
    assert_eq!(of(64, 1 << 20, 2), "serial", "in the last cache");
    assert_eq!(of(64, 1 << 16, 2), "serial", "in the second cache");
    assert_eq!(of(8, 1 << 20, 2), "serial", "two rows in a line");
    assert_eq!(of(64, 1 << 22, 1), "serial", "one thread");
}

/// Two threads take 4.1 ms by copies for 6.0 by one of them with rows of 8 floats in 4 MiB, 1.6 for
/// 2.6 with rows of 64.
#[test]
fn rows_in_lanes_are_copied_where_there_are_some_updates_of_each() {
    let machine = with_far_last_cache();
    let of = |mode: Mode, threads: usize, trips: u64| {
        let shape = Shape {
            trips,
            elements: 1 << 20,
            bytes: 4 << 20,
            lanes: 8,
            row_columns: Some(8),
            mode,
            threads,
            ..shape()
        };
        let around = Circumstances::new(&shape, Some(UNORDERED), false, &machine);
        decide(&shape, around, || u64::MAX).strategy.name()
    };
    assert_eq!(of(Mode::Fast, 2, 1 << 23), "dense");
    assert_eq!(of(Mode::Fast, 1, 1 << 23), "serial");
    for threads in [1, 2, 16] {
        assert_eq!(of(Mode::Stable, threads, 1 << 23), "dense");
        assert_ne!(of(Mode::Stable, threads, 1 << 22), "dense");
    }
}
