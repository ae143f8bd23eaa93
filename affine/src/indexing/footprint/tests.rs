use super::*;
use crate::indexing::test_maps::map;
use proptest::prelude::*;
use std::collections::BTreeSet;

const PLAIN: Memory = Memory {
    extents: Vec::new(),
    element_bytes: 4,
    line_bytes: 64,
};

#[track_caller]
fn elements(text: &str, expected: &str) {
    let found = map(text).footprint(&PLAIN).expect("a footprint");
    assert_eq!(found.elements.to_string(), expected, "{text}");
}

#[test]
fn separable_accesses_are_exact() {
    let tile = "domain: i in [0, 31], j in [0, 63], k in [0, 7]";
    for (results, expected) in [
        ("i, j", "2048"),
        ("i, k", "256"),
        ("i * 2 + 1, j * 3", "2048"),
        ("i * 64 + j", "2048"),
        ("5", "1"),
        ("i floordiv 8, j mod 16", "64"),
        ("i floordiv 3", "11"),
        ("j * 4 + i floordiv 8", "256"),
    ] {
        elements(&format!("(i, j, k) -> ({results}), {tile}"), expected);
    }
}

#[test]
fn windows_are_exact() {
    let tile = "domain: i in [0, 999], j in [0, 999], k in [0, 4], l in [0, 2]";
    for (results, expected) in [
        ("i + k", "1004"),
        ("i - k", "1004"),
        ("i + k, j + l", "1006008"),
        ("i * 2 + k", "2003"),
        ("i * 7 + k", "5000"),
        ("i * 10 + j * 3", "12970"),
        ("i + k, i - k", "5000"),
        ("i + j, j + k", "1007996"),
        ("i, i + k", "5000"),
    ] {
        elements(&format!("(i, j, k, l) -> ({results}), {tile}"), expected);
    }
}

#[test]
fn what_is_known_at_run_time_shifts_and_strides() {
    let tile = "domain: i in [0, 31], j in [0, 63], n in [1, 1000], b in [0, 1000]";
    for (results, expected) in [
        ("i + b, j", "2048"),
        ("i * n + j", "at most 2048"),
        ("i * n + j + b", "at most 2048"),
        ("(i + b) floordiv 8", "at most 5"),
        ("(i * 8 + b) floordiv 8", "32"),
        ("(i + b) mod 8", "8"),
        ("j floordiv n", "at most 64"),
    ] {
        elements(&format!("(i, j){{n, b}} -> ({results}), {tile}"), expected);
    }
    let named = map("(i, j){n} -> (i * n + j), domain: i in [0, 3], j in [0, 3], n in [1, 9]");
    let footprint = named.footprint(&PLAIN).expect("a footprint");
    assert_eq!(footprint.elements.bound, Some(UpperBound::RuntimeStride));
}

#[test]
fn constraints_count_where_there_are_few_points() {
    elements(
        "(i, j) -> (i, j), domain: i in [0, 9], j in [0, 9], i - j in [0, 9]",
        "55",
    );
    elements(
        "(i, j) -> (i - j), domain: i in [0, 9], j in [0, 9], i - j in [0, 9]",
        "10",
    );
    elements(
        "(i, j) -> (i, j), domain: i in [0, 999], j in [0, 999], i - j in [0, 999]",
        "at most 1000000",
    );
    elements("(i) -> (i), domain: i in [3, 2]", "0");
    elements("(i) -> (i), domain: i in [0, 9], i mod 4 in [7, 9]", "0");
}

#[test]
fn inverses_show_that_nothing_meets() {
    elements(
        "(i) -> (i floordiv 8, i mod 8), domain: i in [0, 999999]",
        "1000000",
    );
    elements(
        "(i) -> (i floordiv 8, i mod 4), domain: i in [0, 999999]",
        "at most 500000",
    );
}

#[track_caller]
fn lines(text: &str, extents: &[Option<i64>], expected: &str) {
    let memory = Memory {
        extents: extents.to_vec(),
        ..PLAIN
    };
    let found = map(text).footprint(&memory).expect("a footprint");
    assert_eq!(found.lines.to_string(), expected, "{text}");
}

#[test]
fn lines_follow_the_rows() {
    let tile = "domain: i in [0, 31], j in [0, 63], n in [1, 1000]";
    let tiled = |results: &str| format!("(i, j){{n}} -> ({results}), {tile}");
    // 64 floats, from anywhere in a line on, in each of 32 rows.
    lines(&tiled("i, j"), &[None, None], "at most 160");
    lines(&tiled("i * n + j"), &[None], "at most 160");
    // Columns: each element is in a row of its own.
    lines(&tiled("j, i"), &[None, None], "at most 192");
    // Rows of 64 follow each other without gaps.
    lines(&tiled("i, j"), &[None, Some(64)], "at most 129");
    lines(&tiled("i, 0"), &[None, Some(64)], "32");
    lines(&tiled("i, 0"), &[None, Some(2)], "at most 5");
    lines(&tiled("n, j"), &[None, None], "at most 5");
    lines(&tiled("0"), &[None], "1");
    let memory = Memory {
        extents: vec![None],
        element_bytes: 200,
        line_bytes: 64,
    };
    let large = map("(i) -> (i), domain: i in [0, 9]").footprint(&memory);
    assert_eq!(large.map(|it| it.lines.value), Ok(40));
}

#[test]
fn reuse_is_points_by_elements() -> Checked<()> {
    let matrix = map("(i, j, k) -> (i, k), domain: i in [0, 31], j in [0, 63], k in [0, 7]");
    assert!((matrix.footprint(&PLAIN)?.reuse() - 64.0).abs() < 1e-9);
    let nothing = map("(i) -> (i), domain: i in [1, 0]");
    assert!(nothing.footprint(&PLAIN)?.reuse().abs() < 1e-9);
    Ok(())
}

#[test]
fn what_leaves_its_range_is_an_error() {
    let all = "[-9223372036854775808, 9223372036854775807]";
    let wide = format!("(i, j, k) -> (i, j, k), domain: i in {all}, j in {all}, k in {all}");
    assert_eq!(map(&wide).footprint(&PLAIN), Err(IndexingError::Overflow));
    let one = format!("(i) -> (i), domain: i in {all}");
    let count = map(&one).distinct_results();
    assert_eq!(count, Ok(Count::exactly(1 << 64)));
}

/// `c * d` terms, some of them divided.
fn result() -> impl Strategy<Value = String> {
    let term = (-7_i64..=7, 0_usize..3, 0_u8..5, 1_i64..7);
    proptest::collection::vec(term, 1..4).prop_map(|terms| {
        let terms = terms.iter().map(|(by, at, shape, divisor)| match shape {
            0 => format!("(d{at} floordiv {divisor}) * {by}"),
            1 => format!("(d{at} mod {divisor}) * {by}"),
            _ => format!("d{at} * {by}"),
        });
        terms.collect::<Vec<_>>().join(" + ")
    })
}

proptest! {
    #[test]
    fn counts_are_those_of_enumeration(
        results in proptest::collection::vec(result(), 1..4),
        sizes in proptest::collection::vec((-5_i64..5, 0_i64..12), 3),
        constraint in proptest::option::of((result(), -20_i64..20, 0_i64..20)),
    ) {
        let bounds = sizes.iter().enumerate();
        let bounds = bounds.map(|(at, (low, more))| format!("d{at} in [{low}, {}]", low + more));
        let mut text = format!("(d0, d1, d2) -> ({}), domain: {}", results.join(", "), bounds.collect::<Vec<_>>().join(", "));
        if let Some((expr, low, more)) = constraint {
            text += &format!(", {expr} in [{low}, {}]", low + more);
        }
        let map = map(&text);
        let points: Vec<_> = map.points(1 << 20).expect("few points").collect();
        let met: BTreeSet<_> = points.iter().map(|it| map.evaluate(it)).map(|it| it.expect("in range")).collect();
        let memory = Memory { extents: vec![Some(40); results.len()], element_bytes: 8, line_bytes: 64 };
        let found = map.footprint(&memory).expect("a footprint");
        prop_assert_eq!(found.points, Count::exactly(points.len() as u128));
        match found.elements.bound {
            None => prop_assert_eq!(found.elements.value, met.len() as u128, "{}", text),
            Some(_) => prop_assert!(found.elements.value >= met.len() as u128, "{}", text),
        }
        for begin in 0..8 {
            let place = |it: &Vec<i64>| it.iter().fold(0, |all, it| all * 40 + it);
            let lines: BTreeSet<_> = met.iter().flatten().map(|it| (place(it) + begin).div_euclid(8)).collect();
            match found.lines.bound {
                None => prop_assert_eq!(found.lines.value, lines.len() as u128, "{}", text),
                Some(_) => prop_assert!(found.lines.value >= lines.len() as u128, "{}: {} < {}", text, found.lines, lines.len()),
            }
        }
    }
}
