//! The examples of the indexing analysis of XLA that speak of maps and of their simplifier, each
//! under its name. Where its pages print an answer that is wrong, the test says so and enumerates.

use strew_affine::indexing::{IndexingMap, parse_map};

#[track_caller]
fn map(text: &str) -> IndexingMap {
    match parse_map(text) {
        Ok(map) => map,
        Err(error) => panic!("{error}: {text}"),
    }
}

#[track_caller]
fn simplifies_to(text: &str, expected: &str) {
    let map = map(text);
    let simplified = map.simplified();
    assert_eq!(simplified.to_string(), expected);
    for point in map.points(1_000_000).expect("a small domain") {
        assert_eq!(
            simplified.evaluate(&point),
            map.evaluate(&point),
            "{point:?}"
        );
    }
}

/// A map as the page prints it, line breaks included, reads, and is as simple as can be.
#[track_caller]
fn stands(text: &str) {
    let words: Vec<_> = text.split_whitespace().collect();
    let line = words.join(" ").replace(") , ", "), ");
    assert_eq!(
        map(text).simplified().to_string(),
        line.trim_end_matches(',')
    );
}

/// Both maps stand, and each is the inverse of the other.
#[track_caller]
fn lead_there_and_back(there: &str, back: &str) {
    stands(there);
    stands(back);
    let inverse = |text: &str| map(text).inverse().expect("an inverse");
    assert_eq!(inverse(there), map(back).simplified());
    assert_eq!(inverse(back), map(there).simplified());
}

mod notation {
    use super::*;

    #[test]
    fn broadcast_of_the_introduction() {
        stands("(i, j, k) -> (j), domain: i in [0, 9], j in [0, 19], k in [0, 29]");
        // The page says `i in [0, 10]`, but `tensor<10x20x30xf32>` has indices up to 9 and bounds
        // are inclusive.
        let printed = map("(i, j, k) -> (j), domain: i in [0, 10], j in [0, 20], k in [0, 30]");
        let indices =
            (0..10_i64).flat_map(|i| (0..20).flat_map(move |j| (0..30).map(move |k| [i, j, k])));
        assert_eq!(indices.count(), 6_000);
        assert_eq!(
            printed.points(10_000).expect("few points").count(),
            11 * 21 * 31
        );
    }

    #[test]
    fn reduction_with_range_variables() {
        stands(
            "(d0, d1)[r0, r1] -> (r0, d0, d1, r1), domain: d0 in [0, 3], d1 in [0, 7], r0 in [0, 1], r1 in [0, 15]",
        );
    }

    #[test]
    fn affine_map() {
        stands(
            "(d0)[s0, s1] -> (s0 + 5, d0 * 2, s1 * 3 + 50), domain: d0 in [0, 9], s0 in [0, 9], s1 in [0, 9]",
        );
    }

    #[test]
    fn bounds_of_a_runtime_offset() {
        // The page says that an offset is at most `tensor_size - slice_size - 1`; its own example
        // has 258 - 32 = 226.
        let last = (0..258).filter(|offset| offset + 31 < 258).max();
        assert_eq!(last, Some(226));
    }
}

mod operations {
    use super::*;

    #[test]
    fn elementwise() {
        let text = "(d0, d1) -> (d0, d1),\ndomain:\nd0 in [0, 9],\nd1 in [0, 19]";
        lead_there_and_back(text, text);
        assert_eq!(map(text), IndexingMap::identity(&[10, 20]));
    }

    #[test]
    fn broadcast() {
        stands("(d0, d1, d2) -> (d1),\ndomain:\nd0 in [0, 9],\nd1 in [0, 19],\nd2 in [0, 29]");
        stands(
            "(d0)[s0, s1] -> (s0, d0, s1),\ndomain:\nd0 in [0, 19],\ns0 in [0, 9],\ns1 in [0, 29]",
        );
    }

    #[test]
    fn dynamic_slice() {
        stands(
            "(d0, d1, d2){rt0, rt1, rt2} -> (d0 + rt0, d1 + rt1, d2 + rt2),\ndomain:\nd0 in [0, 0],\nd1 in [0, 1],\nd2 in [0, 31],\nrt0 in [0, 1],\nrt1 in [0, 0],\nrt2 in [0, 226]",
        );
        stands("(d0, d1, d2)  -> (),\ndomain:\nd0 in [0, 0],\nd1 in [0, 1],\nd2 in [0, 31]");
    }

    #[test]
    fn dynamic_update_slice() {
        stands("(d0, d1) -> (d0, d1),\ndomain:\nd0 in [0, 19],\nd1 in [0, 29]");
        stands(
            "(d0, d1){rt0, rt1}  -> (d0 - rt0, d1 - rt1),\ndomain:\nd0 in [0, 19],\nd1 in [0, 29],\nrt0 in [0, 15],\nrt1 in [0, 20]",
        );
    }

    #[test]
    fn gather() {
        stands(
            "(d0, d1, d2, d3){rt0, rt1} -> (d1 + rt0, d2 + rt1, d3),\ndomain:\nd0 in [0, 1805],\nd1 in [0, 6],\nd2 in [0, 7],\nd3 in [0, 3],\nrt0 in [0, 26],\nrt1 in [0, 68]",
        );
        stands(
            "(d0, d1, d2, d3)[s0] -> (d0, s0),\ndomain:\nd0 in [0, 1805],\nd1 in [0, 6],\nd2 in [0, 7],\nd3 in [0, 3],\ns0 in [0, 1]",
        );
    }

    #[test]
    fn transpose() {
        lead_there_and_back(
            "(d0, d1, d2, d3) -> (d0, d3, d1, d2),\ndomain:\nd0 in [0, 2],\nd1 in [0, 5],\nd2 in [0, 127],\nd3 in [0, 12287],",
            "(d0, d1, d2, d3) -> (d0, d2, d3, d1),\ndomain:\nd0 in [0, 2],\nd1 in [0, 12287],\nd2 in [0, 5],\nd3 in [0, 127]",
        );
    }

    #[test]
    fn reverse() {
        let text = "(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3),\ndomain:\nd0 in [0, 0],\nd1 in [0, 16],\nd2 in [0, 8],\nd3 in [0, 8]";
        stands(text);
        let twice = map(text).then(&map(text)).expect("a map").simplified();
        assert_eq!(twice, IndexingMap::identity(&[1, 17, 9, 9]));
    }

    #[test]
    fn reduce() {
        stands("(d0)[s0] -> (s0, d0),\ndomain:\nd0 in [0, 9],\ns0 in [0, 255]");
        stands("(d0) -> (),\ndomain:\nd0 in [0, 9]");
        stands("(d0, d1) -> (d1),\ndomain:\nd0 in [0, 255],\nd1 in [0, 9]");
        stands("()[s0] -> (s0),\ndomain:\ns0 in [0, 9]");
        let reduced = map("(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]");
        let back = map("(d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]");
        assert_eq!(reduced.inverse(), Ok(back));
    }

    #[test]
    fn slice() {
        lead_there_and_back(
            "(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2),\ndomain:\nd0 in [0, 4],\nd1 in [0, 2],\nd2 in [0, 24]",
            "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2),\ndomain:\nd0 in [5, 9],\nd1 in [3, 17],\nd2 in [0, 48],\n(d1 - 3) mod 7 in [0, 0],\nd2 mod 2 in [0, 0]",
        );
    }

    #[test]
    fn slice_with_the_bounds_of_the_operand() {
        // The bounds of the first page, `[3, 19] x [0, 49]`, are tightened to the elements that are
        // read.
        simplifies_to(
            "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: d0 in [5, 9], d1 in [3, 19], d2 in [0, 49], (d1 - 3) mod 7 in [0, 0], d2 mod 2 in [0, 0]",
            "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: d0 in [5, 9], d1 in [3, 17], d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], d2 mod 2 in [0, 0]",
        );
    }

    #[test]
    fn collapse_and_expand_shape() {
        lead_there_and_back(
            "(d0) -> (d0 floordiv 8, d0 mod 8),\ndomain:\nd0 in [0, 31]",
            "(d0, d1) -> (d0 * 8 + d1),\ndomain:\nd0 in [0, 3],\nd1 in [0, 7]",
        );
    }

    #[test]
    fn generic_reshape_linearization_and_delinearization() {
        let there = "(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4),\ndomain:\nd0 in [0, 1],\nd1 in [0, 3],\nd2 in [0, 3]";
        let back = "(d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4),\ndomain:\nd0 in [0, 3],\nd1 in [0, 7]";
        lead_there_and_back(there, back);
        let collapse = map(
            "(d0, d1, d2) -> (d0 * 16 + d1 * 4 + d2), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]",
        );
        let expand = map("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]");
        assert_eq!(
            collapse.then(&expand).map(|it| it.simplified()),
            Ok(map(there))
        );
    }

    #[test]
    fn generic_reshape_of_the_first_page() {
        // `(2d0 + (4d1 + d2) / 8, (4d1 + d2) mod 8)` says the same in more words.
        simplifies_to(
            "(d0, d1, d2) -> (2d0 + (4d1 + d2) / 8, (4d1 + d2) mod 8), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]",
            "(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]",
        );
        simplifies_to(
            "(d0, d1) -> ((8d0 + d1) / 16, ((8d0 + d1) mod 16) / 4, d1 mod 4), domain: d0 in [0, 3], d1 in [0, 7]",
            "(d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4), domain: d0 in [0, 3], d1 in [0, 7]",
        );
    }

    #[test]
    fn generic_reshape_expanded_and_collapsed_subshapes() {
        let back = "(d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4),\ndomain:\nd0 in [0, 3],\nd1 in [0, 7],\nd2 in [0, 11]";
        lead_there_and_back(
            "(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2),\ndomain:\nd0 in [0, 31],\nd1 in [0, 2],\nd2 in [0, 3]",
            back,
        );
        // As the page prints it, without one comma.
        let printed = "(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2),\ndomain:\nd0 in [0, 31],\nd1 in [0, 2]\nd2 in [0, 3]";
        assert_eq!(map(printed).inverse(), Ok(map(back)));
    }

    #[test]
    fn concatenate() {
        for (there, back) in [
            (
                "(d0, d1, d2) -> (d0, d1, d2),\ndomain:\nd0 in [0, 1],\nd1 in [0, 4],\nd2 in [0, 6]",
                "(d0, d1, d2) -> (d0, d1, d2),\ndomain:\nd0 in [0, 1],\nd1 in [0, 4],\nd2 in [0, 6]",
            ),
            (
                "(d0, d1, d2) -> (d0, d1 - 5, d2),\ndomain:\nd0 in [0, 1],\nd1 in [5, 15],\nd2 in [0, 6]",
                "(d0, d1, d2) -> (d0, d1 + 5, d2),\ndomain:\nd0 in [0, 1],\nd1 in [0, 10],\nd2 in [0, 6]",
            ),
            (
                "(d0, d1, d2) -> (d0, d1 - 16, d2),\ndomain:\nd0 in [0, 1],\nd1 in [16, 32],\nd2 in [0, 6]",
                "(d0, d1, d2) -> (d0, d1 + 16, d2),\ndomain:\nd0 in [0, 1],\nd1 in [0, 16],\nd2 in [0, 6]",
            ),
        ] {
            lead_there_and_back(there, back);
        }
    }

    #[test]
    fn dot() {
        stands(
            "(d0, d1, d2)[s0] -> (d0, d1, s0),\ndomain:\nd0 in [0, 3],\nd1 in [0, 127],\nd2 in [0, 63],\ns0 in [0, 255]",
        );
        stands(
            "(d0, d1, d2)[s0] -> (d0, s0, d2),\ndomain:\nd0 in [0, 3],\nd1 in [0, 127],\nd2 in [0, 63],\ns0 in [0, 255]",
        );
        stands(
            "(d0, d1, d2)[s0] -> (d0, d1, s0),\ndomain:\nd0 in [0, 3],\nd1 in [0, 127],\nd2 in [0, 255],\ns0 in [0, 63]",
        );
        stands(
            "(d0, d1, d2)[s0] -> (d0, s0, d1),\ndomain:\nd0 in [0, 3],\nd1 in [0, 255],\nd2 in [0, 63],\ns0 in [0, 127]",
        );
    }

    #[test]
    fn pad() {
        lead_there_and_back(
            "(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4),\ndomain:\nd0 in [1, 7],\nd1 in [4, 7],\n(d0 - 1) mod 2 in [0, 0]",
            "(d0, d1) -> (d0 * 2 + 1, d1 + 4), domain: d0 in [0, 3], d1 in [0, 3]",
        );
        stands("(d0, d1) -> (),\ndomain:\nd0 in [0, 11],\nd1 in [0, 15]");
    }

    #[test]
    fn reduce_window() {
        stands(
            "(d0, d1)[s0] -> (d0, d1 + s0),\ndomain:\nd0 in [0, 1023],\nd1 in [0, 2],\ns0 in [0, 511]",
        );
        stands("(d0, d1) -> (),\ndomain:\nd0 in [0, 1023],\nd1 in [0, 2]");
    }

    #[test]
    fn several_maps_of_one_input() {
        let transpose = map("(d0, d1) -> (d1, d0), domain: d0 in [0, 999], d1 in [0, 999]");
        assert!(!transpose.is_equal_up_to_names(&IndexingMap::identity(&[1000, 1000])));
    }

    #[test]
    fn maps_of_one_input_that_are_equal() {
        // Each transpose of the page takes an index of its output to one of its operand.
        let lhs = map(
            "(d0, d1, d2) -> (d0, d2, d1), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]",
        )
        .then(&map(
            "(d0, d1, d2) -> (d1, d0, d2), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 49]",
        ));
        let rhs = map(
            "(d0, d1, d2) -> (d1, d0, d2), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]",
        )
        .then(&map(
            "(d0, d1, d2) -> (d2, d1, d0), domain: d0 in [0, 49], d1 in [0, 9], d2 in [0, 19]",
        ));
        let (lhs, rhs) = (
            lhs.expect("a map").simplified(),
            rhs.expect("a map").simplified(),
        );
        assert_eq!(lhs, rhs);
        stands("(d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]");
        assert_eq!(
            lhs.to_string(),
            "(d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]"
        );
    }

    #[test]
    fn softmax() {
        stands(
            "(d0, d1, d2)[s0] -> (d0, d1, s0),\ndomain:\nd0 in [0, 1],\nd1 in [0, 64],\nd2 in [0, 124],\ns0 in [0, 124]",
        );
        stands(
            "(d0, d1, d2) -> (d0, d1, d2),\ndomain:\nd0 in [0, 1],\nd1 in [0, 64],\nd2 in [0, 124]",
        );
    }
}

mod simplifier {
    use super::*;

    #[test]
    fn example_1_quotient_and_remainder_of_what_is_smaller() {
        simplifies_to(
            "(d0, d1) -> (d0 + d1 floordiv 16, d1 mod 16), domain: d0 in [0, 6], d1 in [0, 14]",
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 6], d1 in [0, 14]",
        );
    }

    #[test]
    fn example_2_digits() {
        simplifies_to(
            "(d0, d1, d2) -> ((100d0 + 10d1 + d2) floorDiv 100, ((100d0 + 10d1 + d2) mod 100) floordiv 10, d2 mod 10), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
            "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        );
    }

    #[test]
    fn example_3_divisible_parts() {
        simplifies_to(
            "(d0, d1, d2) -> ((16d0 + 4d1 + d2) floordiv 8, (16d0 + 4d1 + d2) mod 8), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
            "(d0, d1, d2) -> (d0 * 2 + (d1 * 4 + d2) floordiv 8, (d1 * 4 + d2) mod 8), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        );
    }

    #[test]
    fn example_4_negative_coefficients() {
        simplifies_to(
            "(d0, d1) -> (-(-11d0 - d1 + 109) floordiv 11 + 9), domain: d0 in [0, 9], d1 in [0, 10]",
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 10]",
        );
        // A sign that spoke of the brackets alone would give another map: the page's answer settles
        // how it is read.
        let of_brackets = map(
            "(d0, d1) -> ((-(-11d0 - d1 + 109)) floordiv 11 + 9), domain: d0 in [0, 9], d1 in [0, 10]",
        );
        let misses = of_brackets.points(1_000).expect("few points");
        assert_eq!(
            misses
                .filter(|it| of_brackets.evaluate(it) != Ok(Some(vec![it[0]])))
                .count(),
            100
        );
    }

    #[test]
    fn chained_reshapes_cancel() {
        let there = map(
            "(d0, d1, d2) -> ((d0 * 100 + d1 * 10 + d2) floordiv 20, (d0 * 100 + d1 * 10 + d2) mod 20), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]",
        );
        let back = map(
            "(d0, d1) -> ((d0 * 20 + d1) floordiv 100, ((d0 * 20 + d1) floordiv 10) mod 10, (d0 * 20 + d1) mod 10), domain: d0 in [0, 49], d1 in [0, 19]",
        );
        let both = there.then(&back).expect("a map").simplified();
        assert_eq!(both, IndexingMap::identity(&[10, 10, 10]));
    }

    #[test]
    fn constraint_rule_1_constants_move_to_the_bounds() {
        simplifies_to(
            "(d0, d1) -> (d0), domain: d0 in [0, 30], d1 in [0, 30], (d0 + d1) floordiv 4 - 2 in [0, 1], (d0 - d1) * 3 + 1 in [-10, 10]",
            "(d0, d1) -> (d0), domain: d0 in [0, 15], d1 in [0, 15], d0 - d1 in [-3, 3], d0 + d1 in [8, 15]",
        );
        simplifies_to(
            "(d0) -> (d0), domain: d0 in [-100, 100], d0 floordiv -3 in [-11, -5]",
            "(d0) -> (d0), domain: d0 in [13, 33]",
        );
    }

    #[test]
    fn constraints_of_one_variable_become_its_exact_bounds() {
        for (constraint, bounds) in [
            ("(d0 * 3) floordiv 2 in [5, 35]", "[4, 23]"),
            ("(d0 * -7 + 3) floordiv 2 in [-35, -5]", "[2, 10]"),
            ("(d0 * -7 + 3) ceildiv 5 + d0 in [-35, -5]", "[14, 91]"),
            ("d0 floordiv 3 + d0 floordiv 4 + d0 in [7, 20]", "[5, 13]"),
            ("max(d0, 2) in [3, 5]", "[3, 5]"),
            ("min(d0 * 2, d0 + 40) in [9, 50]", "[5, 25]"),
            ("max(d0 floordiv 2, d0 - 9) in [-20, 11]", "[0, 20]"),
        ] {
            simplifies_to(
                &format!("(d0) -> (d0), domain: d0 in [0, 1000], {constraint}"),
                &format!("(d0) -> (d0), domain: d0 in {bounds}"),
            );
        }
        simplifies_to(
            "(d0, d1) -> (d0), domain: d0 in [0, 1000], d1 in [0, 9], (d0 * 3 + d1) floordiv 2 in [5, 35]",
            "(d0, d1) -> (d0), domain: d0 in [1, 23], d1 in [0, 9], d0 * 3 + d1 in [10, 71]",
        );
        simplifies_to(
            "(d0, d1) -> (d0), domain: d0 in [0, 1000], d1 in [0, 9], d0 floordiv 4 + d1 * d1 in [90, 99]",
            "(d0, d1) -> (d0), domain: d0 in [36, 399], d1 in [0, 9], d0 + d1 * d1 * 4 in [360, 399]",
        );
    }

    #[test]
    fn bounds_go_through_quotients_remainders_and_extrema() {
        simplifies_to(
            "(d0) -> (d0), domain: d0 in [-1, 0], (d0 floordiv 5) mod 12 in [5, 5]",
            "known empty",
        );
        simplifies_to(
            "(d0) -> (d0), domain: d0 in [0, 100000], (d0 floordiv 500) mod 12 in [5, 5]",
            "(d0) -> (d0), domain: d0 in [2500, 98999], (d0 floordiv 500) mod 12 in [5, 5]",
        );
        simplifies_to(
            "(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 9], max(d0, d1) in [30, 40]",
            "(d0, d1) -> (d0), domain: d0 in [30, 40], d1 in [0, 9]",
        );
        simplifies_to(
            "(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 9], min(d0, d1) * 2 in [17, 40]",
            "(d0, d1) -> (d0), domain: d0 in [9, 99], d1 in [9, 9]",
        );
    }

    #[test]
    fn variables_with_one_value_give_way_to_it_in_constraints() {
        simplifies_to(
            "(d0, d1) -> (d0 + d1), domain: d0 in [0, 100], d1 in [3, 3], d0 * d1 + d1 * d1 in [5, 35], (d0 + d1) mod 7 in [0, 0]",
            "(d0, d1) -> (d0 + d1), domain: d0 in [4, 4], d1 in [3, 3]",
        );
        simplifies_to(
            "(d0, d1) -> (d0 * d1), domain: d0 in [0, 100], d1 in [8, 8], d0 mod d1 in [2, 3]",
            "(d0, d1) -> (d0 * d1), domain: d0 in [2, 99], d1 in [8, 8], d0 mod 8 in [2, 3]",
        );
    }

    #[test]
    fn results_are_simplified_by_constraints() {
        simplifies_to(
            "(x, y) -> (x - y, x * 3 - y * 3 + 1, (x - y + 7) floordiv 2), domain: x in [0, 9], y in [0, 9], x - y in [0, 0]",
            "(x, y) -> (0, 1, 3), domain: x in [0, 9], y in [0, 9], x - y in [0, 0]",
        );
        simplifies_to(
            "(x, y) -> ((x + y) floordiv 4, (x + y) mod 4), domain: x in [0, 96], y in [0, 3], x mod 4 in [0, 0]",
            "(x, y) -> (x floordiv 4, y), domain: x in [0, 96], y in [0, 3], x mod 4 in [0, 0]",
        );
        simplifies_to(
            "(x, y) -> ((x + 3) floordiv 4, (x floordiv 4) * 4), domain: x in [0, 96], y in [0, 3], x mod 8 in [5, 5]",
            "(x, y) -> (x ceildiv 4, x - 1), domain: x in [5, 93], y in [0, 3], x mod 8 in [5, 5]",
        );
        simplifies_to(
            "(x, y, z) -> (z), domain: x in [0, 9], y in [0, 9], z in [0, 9], x + y in [5, 5], x + y + z in [7, 8]",
            "(x, y, z) -> (z), domain: x in [0, 5], y in [0, 5], z in [2, 3], x + y in [5, 5]",
        );
    }

    #[test]
    fn factors_that_are_taken_out_leave_one_sign() {
        let text =
            "(d0, d1) -> ((d0 floordiv -2) * d1 + d1 * 2 + 20), domain: d0 in [0, 7], d1 in [0, 9]";
        let expected =
            "(d0, d1) -> (-(d1 * ((d0 - 3) floordiv 2)) + 20), domain: d0 in [0, 7], d1 in [0, 9]";
        simplifies_to(text, expected);
        simplifies_to(expected, expected);
    }

    #[test]
    fn no_map_becomes_larger() {
        simplifies_to(
            "(d0) -> ((12 - d0) floordiv 6), domain: d0 in [0, 90]",
            "(d0) -> ((-d0 + 12) floordiv 6), domain: d0 in [0, 90]",
        );
        for sum in ["-d0 + d1", "d1 - d0"] {
            simplifies_to(
                &format!("(d0, d1) -> (({sum}) floordiv 2), domain: d0 in [0, 9], d1 in [0, 9]"),
                "(d0, d1) -> ((d1 - d0) floordiv 2), domain: d0 in [0, 9], d1 in [0, 9]",
            );
        }
    }

    #[test]
    fn constraint_rule_2_what_always_holds_is_dropped() {
        simplifies_to(
            "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 5], s0 in [1, 3], d0 + s0 in [0, 20]",
            "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 5], s0 in [1, 3]",
        );
        simplifies_to(
            "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 5], s0 in [1, 3], d0 + s0 in [9, 20]",
            "known empty",
        );
    }

    #[test]
    fn constraint_rule_3_constraints_are_simplified_as_results_are() {
        simplifies_to(
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], (16d0 + 4d1) floordiv 8 + d0 mod 10 in [0, 9]",
            "(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 9], d0 * 6 + d1 in [0, 19]",
        );
    }

    #[test]
    fn a_variable_that_occurs_twice_among_others_has_the_bounds_of_both_together() {
        for (constraint, bounds) in [
            ("d0 * 3 - d1 + max(10, d0) in [20, 60]", "[4, 15]"),
            ("d0 + d1 + min(50, d0) in [80, 120]", "[39, 70]"),
        ] {
            simplifies_to(
                &format!("(d0, d1) -> (d0, d1), domain: d0 in [0, 99], d1 in [0, 3], {constraint}"),
                &format!(
                    "(d0, d1) -> (d0, d1), domain: d0 in {bounds}, d1 in [0, 3], {constraint}"
                ),
            );
        }
        simplifies_to(
            "(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 1], d0 mod 6 + (d0 floordiv 6) * 10 + d1 in [7, 9]",
            "known empty",
        );
    }

    #[test]
    fn residues_of_different_moduli_meet() {
        simplifies_to(
            "(d0) -> (d0), domain: d0 in [0, 100], d0 mod 6 in [1, 1], d0 mod 4 in [3, 3], d0 mod 3 in [1, 1]",
            "(d0) -> (d0), domain: d0 in [7, 91], d0 mod 12 in [7, 7]",
        );
        simplifies_to(
            "(d0) -> (d0), domain: d0 in [0, 100], d0 mod 6 in [1, 1], d0 mod 4 in [2, 2]",
            "known empty",
        );
        simplifies_to(
            "(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [-21, -2], s0 mod 6 in [5, 5]",
            "(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [-19, -7], s0 mod 6 in [5, 5]",
        );
    }

    #[test]
    fn quotients_and_remainders_by_multiples_meet() {
        for (from, to) in [
            ("d0 mod 64 - ((d0 floordiv 2) mod 32) * 2", "d0 mod 2"),
            (
                "d0 floordiv 2 - (d0 floordiv 64) * 32",
                "(d0 floordiv 2) mod 32",
            ),
            ("((d0 floordiv 4) mod 3) * 4 + d0 mod 4", "d0 mod 12"),
            (
                "(d0 floordiv 12) * 12 + ((d0 floordiv 4) mod 3) * 4 + d0 mod 4",
                "d0",
            ),
            ("d0 - (d0 floordiv 7) * 7", "d0 mod 7"),
            ("(d0 ceildiv 4) * 4 - d0", "(-d0) mod 4"),
            (
                "(d0 floordiv 5) * 3 + (d0 floordiv 10) * -6",
                "((d0 floordiv 5) mod 2) * 3",
            ),
        ] {
            let head = "domain: d0 in [-500, 500]";
            simplifies_to(
                &format!("(d0) -> ({from}), {head}"),
                &format!("(d0) -> ({to}), {head}"),
            );
        }
    }
}
