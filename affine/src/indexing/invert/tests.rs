//! Inverses against enumeration.

use crate::indexing::test_maps::map;
use crate::indexing::{IndexingError, IndexingMap};

/// The inverse takes every result back to the dimensions, and nothing else.
#[track_caller]
fn is_inverse(map: &IndexingMap, inverse: &IndexingMap) {
    let mut taken = std::collections::BTreeMap::new();
    for point in map.points(100_000).expect("few points") {
        let (variables, runtimes) = point.split_at(map.dimensions().len() + map.ranges().len());
        let results = map
            .evaluate(&point)
            .expect("a value")
            .expect("in the domain");
        let there = [results.as_slice(), runtimes].concat();
        taken.insert(there, variables[..map.dimensions().len()].to_vec());
    }
    for (there, back) in &taken {
        assert_eq!(
            inverse.evaluate(there),
            Ok(Some(back.clone())),
            "{inverse} at {there:?}"
        );
    }
    let count = inverse.points(1_000_000).expect("few points").count();
    assert_eq!(count, taken.len(), "{inverse}");
}

#[track_caller]
fn inverts_to(text: &str, expected: &str) {
    let map = map(text);
    let inverse = map.inverse().expect("an inverse");
    assert_eq!(inverse.to_string(), expected);
    is_inverse(&map, &inverse);
}

#[test]
fn digits_are_read_off_and_put_together() {
    inverts_to(
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
        "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
    );
    inverts_to(
        "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
    );
    inverts_to(
        "(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]",
        "(d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4), domain: d0 in [0, 3], d1 in [0, 7]",
    );
    inverts_to(
        "(d0) -> (d0 floordiv 12, (d0 floordiv 4) mod 3, d0 mod 4), domain: d0 in [0, 59]",
        "(d0, d1, d2) -> (d0 * 12 + d1 * 4 + d2), domain: d0 in [0, 4], d1 in [0, 2], d2 in [0, 3]",
    );
}

#[test]
fn offsets_strides_and_orders() {
    inverts_to(
        "(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: d0 in [0, 4], d1 in [0, 2], d2 in [0, 24]",
        "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: d0 in [5, 9], d1 in [3, 17], d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], d2 mod 2 in [0, 0]",
    );
    inverts_to(
        "(d0, d1) -> (-d1 + 16, d0), domain: d0 in [0, 2], d1 in [0, 16]",
        "(d0, d1) -> (d1, -d0 + 16), domain: d0 in [0, 16], d1 in [0, 2]",
    );
    inverts_to(
        "(d0, d1){rt0} -> (d0 + rt0, d1 + d0 * 3), domain: d0 in [0, 2], d1 in [0, 16], rt0 in [0, 5]",
        "(d0, d1){rt0} -> (d0 - rt0, d1 - (d0 - rt0) * 3), domain: d0 in [0, 7], d1 in [0, 22], rt0 in [0, 5], d0 - rt0 in [0, 2], (d0 - rt0) * 3 - d1 in [-16, 0]",
    );
    inverts_to(
        "(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]",
        "(d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]",
    );
}

#[test]
fn skewed_maps_are_solved_as_linear_equations() {
    inverts_to(
        "(d0, d1) -> (d0 + d1, d0 + d1 * 2), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d0, d1) -> (d0 * 2 - d1, d1 - d0), domain: d0 in [0, 18], d1 in [0, 27], d0 - d1 in [-9, 0], d0 * 2 - d1 in [0, 9]",
    );
    inverts_to(
        "(d0, d1) -> (d0 + d1, d0 - d1), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d0, d1) -> ((d0 + d1) floordiv 2, (d0 - d1) floordiv 2), domain: d0 in [0, 18], d1 in [-9, 9], (d0 + d1) mod 2 in [0, 0], d0 - d1 in [0, 18], d0 + d1 in [0, 18]",
    );
    for text in [
        "(d0, d1, d2) -> (d0 + d1 + d2, d1 - d2 * 3, d0 * 2 - d2 + 1), domain: d0 in [0, 4], d1 in [-2, 3], d2 in [0, 5]",
        "(d0, d1) -> (d1 - d0, d0 * 3 + d1, d0 floordiv 2), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d0, d1){rt0} -> (d0 * 2 + d1 + rt0, d0 + d1 * 3 - rt0), domain: d0 in [0, 5], d1 in [0, 5], rt0 in [0, 3]",
    ] {
        let map = map(text);
        is_inverse(&map, &map.inverse().expect("an inverse"));
    }
}

#[test]
fn residues_determine_an_index() {
    inverts_to(
        "(d0) -> (d0 mod 3, d0 mod 5), domain: d0 in [0, 14]",
        "(d0, d1) -> ((d0 * -5 + d1 * 6) mod 15), domain: d0 in [0, 2], d1 in [0, 4]",
    );
    for text in [
        "(d0) -> (d0 mod 3, (1 - d0) mod 5), domain: d0 in [-7, 7]",
        "(d0, d1) -> (d0 mod 4, d1 + 2, (d0 + 1) mod 9), domain: d0 in [5, 40], d1 in [0, 2]",
        "(d0) -> (d0 mod 2, d0 mod 3, d0 mod 7), domain: d0 in [100, 141]",
        // Moduli with common divisors, all of the modulus among them.
        "(d0) -> (d0 mod 4, d0 mod 6), domain: d0 in [0, 11]",
        "(d0) -> ((3 - d0) mod 12, d0 mod 18, d0 mod 6), domain: d0 in [-20, 15]",
        "(d0, d1) -> (d0 mod 10, d1, (d0 + 7) mod 15, d0 mod 4), domain: d0 in [3, 62], d1 in [0, 1]",
        // Multiples.
        "(d0) -> ((d0 * 3) mod 7), domain: d0 in [2, 8]",
        "(d0) -> ((d0 * 4 + 2) mod 6, (d0 * 3) mod 4), domain: d0 in [0, 11]",
        // A quotient says where to look.
        "(d0) -> (d0 floordiv 4, d0 mod 6), domain: d0 in [-9, 30]",
        "(d0) -> ((d0 + 1) floordiv 10, d0 mod 4, d0 mod 3), domain: d0 in [0, 99]",
    ] {
        let map = map(text);
        is_inverse(&map, &map.inverse().expect("an inverse"));
    }
}

#[test]
fn what_takes_two_points_to_one_has_no_inverse() {
    for text in [
        "(d0, d1) -> (d0 + d1), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]",
        "(d0) -> (d0 mod 4), domain: d0 in [0, 9]",
        "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 8]",
        "(d0, d1) -> (d0 + d1, d0 * 2 + d1 * 2), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d0) -> (d0 mod 3, d0 mod 5), domain: d0 in [0, 15]",
        "(d0) -> (d0 mod 4, d0 mod 6), domain: d0 in [0, 12]",
        "(d0) -> ((d0 * 2) mod 6), domain: d0 in [0, 3]",
        "(d0) -> (d0 floordiv 4, d0 mod 3), domain: d0 in [0, 30]",
    ] {
        clashes(text);
    }
    let one = map("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [3, 3]");
    is_inverse(&one, &one.inverse().expect("an inverse"));
    let empty = IndexingMap::known_empty();
    assert_eq!(empty.inverse(), Ok(empty));
}

/// There is no inverse, and two points with the same results show why.
#[track_caller]
fn clashes(text: &str) {
    let map = map(text);
    let Err(IndexingError::NotInvertible(Some(clash))) = map.inverse() else {
        panic!("{text}: {:?}", map.inverse());
    };
    let [one, other] = &clash.points;
    assert_ne!(one, other, "{text}");
    for point in [one, other] {
        assert_eq!(
            map.evaluate(point),
            Ok(Some(clash.results.clone())),
            "{text}"
        );
    }
}

#[track_caller]
fn has_inverse(text: &str) {
    let map = map(text);
    match map.inverse() {
        Ok(inverse) => is_inverse(&map, &inverse),
        Err(error) => panic!("{text}: {error} {error:?}"),
    }
}

#[test]
fn results_are_solved_one_after_the_other() {
    inverts_to(
        "(i, j) -> (i, (i + j) mod 8), domain: i in [0, 31], j in [0, 7]",
        "(d0, d1) -> (d0, (d1 - d0) mod 8), domain: d0 in [0, 31], d1 in [0, 7]",
    );
    inverts_to(
        "(i, j) -> (i, j + i floordiv 2), domain: i in [0, 9], j in [0, 9]",
        "(d0, d1) -> (d0, d1 - d0 floordiv 2), domain: d0 in [0, 9], d1 in [0, 13], d0 - d1 * 2 in [-18, 1]",
    );
    for text in [
        "(i, j, k) -> (k - j floordiv 3, j + (i mod 4) * 2, i), domain: i in [0, 9], j in [0, 9], k in [-3, 5]",
        "(i, j) -> (i floordiv 4, i mod 4, (j * 3 + i * 5) mod 16), domain: i in [0, 9], j in [-3, 12]",
        "(i, j) -> ((i + j) floordiv 4, (i + j) mod 4, i), domain: i in [0, 9], j in [0, 9]",
        "(i, j) -> (i, (i + j) floordiv 4, j mod 6), domain: i in [0, 9], j in [0, 23]",
        "(i, j) -> (i - max(j, 3), min(j, 9) - 2), domain: i in [0, 9], j in [2, 8]",
        "(i, j){k} -> (i + k mod 3, j - (i * k) mod 5), domain: i in [0, 5], j in [0, 5], k in [0, 4]",
        "(i, j) -> (j, (i * 2 + j floordiv 2) * 4 + j mod 3), domain: i in [0, 9], j in [0, 9]",
    ] {
        has_inverse(text);
    }
}

#[test]
fn variables_beside_their_own_quotients() {
    inverts_to(
        "(i) -> (i floordiv 4 + (i mod 4) * 8), domain: i in [0, 31]",
        "(d0) -> ((d0 + (d0 mod 8) * 31) floordiv 8), domain: d0 in [0, 31]",
    );
    inverts_to(
        "(i) -> (i + i floordiv 3), domain: i in [0, 31]",
        "(d0) -> (d0 - d0 floordiv 4), domain: d0 in [0, 41], d0 mod 4 in [0, 2]",
    );
    for text in [
        "(i) -> (i + i floordiv 3), domain: i in [-7, 31]",
        "(i) -> (i + (i + 1) floordiv 3), domain: i in [2, 31]",
        "(i) -> (i * 2 - i floordiv 3 + 7), domain: i in [-2, 31]",
        "(i) -> (-i - i floordiv 4), domain: i in [0, 9]",
        "(i) -> (i + i floordiv 3 + i floordiv 5), domain: i in [-20, 61]",
        "(i) -> (i + (i * 2) floordiv 3), domain: i in [0, 40]",
        "(i) -> (i floordiv 8 + ((i floordiv 4) mod 2) * 20 + (i mod 4) * 40), domain: i in [0, 99]",
        "(i) -> ((i mod 2) * 4 + ((i floordiv 2) mod 2) * 2 + i floordiv 4), domain: i in [0, 7]",
        "(i, j) -> (i floordiv 4 + (i mod 4) * 8 + j * 32), domain: i in [0, 31], j in [0, 5]",
        "(i, j) -> (j, i * 3 + j * 7 - i floordiv 2), domain: i in [0, 31], j in [0, 5]",
        "(i) -> (i * 3 - (i mod 2) * 4), domain: i in [0, 20]",
        "(i) -> (i + i mod 3), domain: i in [0, 50]",
        "(i) -> ((i * 8) floordiv 3), domain: i in [0, 50]",
        "(i, j) -> (i mod 3, i + j * 2), domain: i in [0, 5], j in [0, 9]",
    ] {
        has_inverse(text);
    }
}

#[test]
fn indices_that_are_turned_round_and_cut() {
    inverts_to(
        "(i, j) -> ((i * 24 + j - 32) mod 192), domain: i in [0, 7], j in [0, 23]",
        "(d0) -> (((d0 + 32) floordiv 24) mod 8, (d0 + 8) mod 24), domain: d0 in [0, 191]",
    );
    inverts_to(
        "(i) -> (((i + 7) floordiv 32) mod 2, (i + 7) mod 32), domain: i in [0, 63]",
        "(d0, d1) -> ((d0 * 32 + d1 - 7) mod 64), domain: d0 in [0, 1], d1 in [0, 31]",
    );
    for text in [
        "(i, j) -> ((i * 17 + j * 15) mod 36), domain: i in [0, 2], j in [0, 11]",
        "(i, j) -> ((i * -24 + j * 5) mod 60), domain: i in [0, 4], j in [0, 11]",
        "(i) -> (((i * 3) ceildiv 4) mod 2, i mod 4), domain: i in [0, 7]",
        "(i) -> ((i - 1) floordiv 3, (1 - i) mod 3), domain: i in [-4, 19]",
        "(i, j) -> ((i * -8 + j + 40) floordiv 6, (i * -2 + j - 2) mod 6), domain: i in [0, 5], j in [0, 7]",
        "(i) -> ((i + i floordiv 2 + 1) mod 4, i mod 2), domain: i in [0, 7]",
        "(i) -> (i floordiv 3, (i + (i + 3) floordiv 12) mod 3), domain: i in [-3, 20]",
        "(i) -> (((i * 5) floordiv 2) mod 8, i mod 2, (i - 5) floordiv 16), domain: i in [5, 36]",
    ] {
        has_inverse(text);
    }
}

#[test]
fn padded_sums_are_one_unknown() {
    for text in [
        "(i, j) -> (i * 12 + j + (i * 12 + j) floordiv 32), domain: i in [0, 9], j in [0, 11]",
        "(i, j) -> (i + j * 10 + (i + j * 2) floordiv 3), domain: i in [0, 7], j in [-3, 8]",
        "(i, j) -> (j + (i + (i * 3 + j + 33) floordiv 8) * 3), domain: i in [-3, 4], j in [0, 2]",
        "(i) -> ((i - 6) mod 64 + (((i - 6) floordiv 4) mod 16) * 2), domain: i in [5, 68]",
        "(i) -> (((-i) mod 5) floordiv 4 + (-i) mod 5), domain: i in [0, 4]",
    ] {
        has_inverse(text);
    }
}

#[test]
fn quotients_and_equations_of_the_domain_determine_indices() {
    for text in [
        "(i)[s] -> ((i * 16 + s) floordiv 3, s), domain: i in [0, 11], s in [0, 11]",
        "(i)[s] -> ((s - i * 16) floordiv 16, s), domain: i in [0, 11], s in [0, 11]",
        "(i, j) -> (i), domain: i in [0, 9], j in [0, 9], i + j in [9, 9]",
        "(i) -> (i floordiv 4), domain: i in [0, 99], i mod 4 in [1, 1]",
        "(i, j) -> (i * 2 + j), domain: i in [0, 9], j in [0, 9], i - j * 3 in [1, 1]",
    ] {
        has_inverse(text);
    }
    clashes("(i)[s] -> ((i * 2 + s) floordiv 3, s), domain: i in [0, 11], s in [0, 11]");
}

#[test]
fn sizes_that_are_variables() {
    inverts_to(
        "(i, n) -> (i * n, n), domain: i in [0, 31], n in [1, 9]",
        "(d0, d1) -> (d0 floordiv d1, d1), domain: d0 in [0, 279], d1 in [1, 9], d0 floordiv d1 in [0, 31], d0 - d1 * (d0 floordiv d1) in [0, 0]",
    );
    for text in [
        "(i, n) -> (i * n + n * 2 + 1, n), domain: i in [0, 9], n in [-9, -1]",
        "(i, j, n) -> (i * n + j, n), domain: i in [0, 5], j in [0, 7], n in [1, 8], n - j in [1, 8]",
        "(i, n) -> (i floordiv n, i mod n, n), domain: i in [0, 31], n in [1, 9]",
        "(i, j){n} -> (i * n + j), domain: i in [0, 5], j in [0, 3], n in [4, 8]",
        "(i, j, n, m) -> (i * n * m + j, n, m), domain: i in [0, 3], j in [0, 3], n in [2, 4], m in [2, 4]",
    ] {
        has_inverse(text);
    }
    clashes("(i, n) -> (i * n, n), domain: i in [0, 31], n in [0, 9]");
}

#[test]
fn a_clash_is_found_in_a_large_domain() {
    for text in [
        "(i, j) -> (i + j), domain: i in [0, 999999], j in [0, 999999]",
        "(i, j)[s] -> (i, s), domain: i in [0, 99999], j in [0, 99999], s in [0, 99999]",
        "(i) -> (i mod 1000), domain: i in [0, 99999999]",
    ] {
        clashes(text);
    }
    // A range that nothing depends on tells nothing apart.
    has_inverse("(i)[s] -> (i), domain: i in [0, 9], s in [0, 9]");
}
