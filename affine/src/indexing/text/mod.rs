//! The text of indexing maps:
//! `(d0, d1)[s0]{rt0} -> (d0 + 5, s0 floordiv 4, rt0), domain: d0 in [0, 9], …`.
//!
//! Printing (`Display`) and [`parse_map`] are inverse to each other. `docs/indexing.md` teaches the
//! notation.

mod error;
mod parse;
mod print;
mod resolve;
mod token;
mod tree;

pub use error::{MapParseError, MapParseErrorKind};
pub use parse::{parse_expression, parse_map};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indexing::test_maps::map;
    use crate::indexing::{IndexingError, IndexingMap, MAX_DEPTH};

    #[track_caller]
    fn prints_as(text: &str, expected: &str) {
        let read = map(text);
        assert_eq!(read.to_string(), expected);
        assert_eq!(map(expected), read);
    }

    #[track_caller]
    fn prints_back(text: &str) {
        prints_as(text, text);
    }

    /// The error of a text, as `line:column: message`.
    #[track_caller]
    fn error(text: &str) -> String {
        let error = parse_map(text).expect_err("the text is wrong");
        let (line, column) = error.line_and_column(text);
        format!("{line}:{column}: {error}")
    }

    #[test]
    fn the_form_of_the_notation() {
        prints_back(
            "(d0, d1)[s0]{rt0} -> (d0 + 5, s0 floordiv 4, rt0), domain: d0 in [0, 9], d1 in [0, 19], s0 in [0, 3], rt0 in [0, 7], (d0 + s0) mod 2 in [0, 0]",
        );
        prints_back("() -> ()");
        prints_back("() -> (3, -4)");
        prints_back("known empty");
        prints_as("KNOWN\n EMPTY", "known empty");
        prints_back("()[s0] -> (s0), domain: s0 in [0, 9]");
        prints_back("(i, j){key} -> (key, j), domain: i in [0, 9], j in [-5, -1], key in [0, 3]");
        prints_as(
            "(d0 ,) -> (d0 / 2,) , domain :\n d0 in [0, 9]\n d0 in [1, 20]\n,",
            "(d0) -> (d0 floordiv 2), domain: d0 in [1, 9]",
        );
    }

    fn expressions_print_back(expressions: &[&str]) {
        for it in expressions {
            let head = "(d0, d1)[s0]";
            let domain = "domain: d0 in [0, 9], d1 in [0, 9], s0 in [1, 4]";
            prints_back(&format!("{head} -> ({it}), {domain}"));
        }
    }

    #[test]
    fn operators_bind_as_they_are_printed() {
        expressions_print_back(&[
            "d0 - 5",
            "-d0 + 16",
            "-(d0 floordiv 11) + 9",
            "(-d0) floordiv 11",
            "d0 * -11 - d1 * 3 + 109",
            "d0 - (d0 + d1) * 4",
            "d0 floordiv -3",
            "(d0 + 1) ceildiv s0 + d1 mod 8",
            "(d0 mod 8) * 4 + d1 * s0 * 2",
            "((d0 floordiv 2) mod 4) floordiv (d1 + 1)",
            "min(d0, d1 + 2, 7) + max(d0 * 2, s0)",
            "d0 * (d1 - 1)",
            "d0 * -9223372036854775808 - 9223372036854775808",
        ]);
    }

    #[test]
    fn what_is_written_in_another_way_reads_the_same() {
        let read = |expr: &str| {
            let text = format!("(d0, d1) -> ({expr}), domain: d0 in [0, 9], d1 in [0, 9]");
            map(&text).results()[0].to_string()
        };
        assert_eq!(read("16d0 + 4 * d1 + 3 + 4"), "d0 * 16 + d1 * 4 + 7");
        assert_eq!(
            read("d0 floorDiv 4 + d1 / -2"),
            "d0 floordiv 4 + d1 floordiv -2"
        );
        assert_eq!(read("d0 ceilDiv 4"), "d0 ceildiv 4");
        assert_eq!(read("-d0 floordiv 4"), "-(d0 floordiv 4)");
        assert_eq!(read("-(d0 + d1)"), "-d0 - d1");
        assert_eq!(read("d0 - -d1"), "d0 + d1");
        assert_eq!(read("2 * (3 * d0)"), "d0 * 6");
        assert_eq!(read("d0 * 0 + min(4)"), "4");
        assert_eq!(read("d0 mod 5 * 5"), "(d0 mod 5) * 5");
    }

    #[test]
    fn bases_are_written_out() {
        let read = |expr: &str| {
            let domain = "domain: d0 in [0, 9], d1 in [0, 9], n in [1, 9], by in [1, 9]";
            map(&format!("(d0, d1){{n, by}} -> ({expr}), {domain}")).results()[0].to_string()
        };
        assert_eq!(
            read("linearize_index [d0, d1, 2] by (7, n, 5)"),
            "(d0 * rt0 + d1) * 5 + 2"
        );
        assert_eq!(read("linearize_index [] by ()"), "0");
        assert_eq!(read("delinearize_index d0 into (4, 8)#1"), "d0 mod 8");
        assert_eq!(
            read("delinearize_index (d0 + by) into (4, n, 8) #1 * 2"),
            "(((d0 + rt1) floordiv 8) mod rt0) * 2"
        );
        assert_eq!(read("delinearize_index 57 into (9, 4, 5)#0"), "2");
        prints_back("(by, into) -> (by + into), domain: by in [0, 9], into in [0, 3]");
        let wrong = |expr: &str| error(&format!("(d0) -> ({expr}), domain: d0 in [0, 9]"));
        assert!(wrong("min()").starts_with("1:14: `)` cannot stand here"));
        assert_eq!(
            wrong("delinearize_index d0 into (4, 8)#2"),
            "1:10: the basis has 2 sizes; the indices are numbered from 0, outermost first"
        );
        assert_eq!(
            wrong("linearize_index [d0] by (4, 8)"),
            "1:10: 1 values are given for 2"
        );
        assert_eq!(
            wrong("delinearize_index d0 into (4, 0)#1"),
            "1:10: division by zero"
        );
        let sizes = vec!["2"; 100_000].join(", ");
        assert!(wrong(&format!("delinearize_index d0 into ({sizes})#0")).contains("nested"));
    }

    #[test]
    fn names_stay_apart() {
        prints_back("(d1, d0) -> (d1), domain: d1 in [0, 9], d0 in [0, 3]");
        let clash = IndexingMap::identity(&[2, 3]).with_name(0, "d1");
        assert_eq!(
            clash.to_string(),
            "(d1, d1_) -> (d1, d1_), domain: d1 in [0, 1], d1_ in [0, 2]"
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        assert_eq!(
            error("(lane) -> (lane + lene),\ndomain: lane in [0, 9]"),
            "1:19: nothing is called `lene`; did you mean `lane`?"
        );
        assert_eq!(
            error("(d0) -> (d0),\ndomain: d0 in [0 9]"),
            "2:18: `9` cannot stand here; expected `,`"
        );
        assert_eq!(
            error("(d0) -> (d0), domain: d0 in"),
            "1:28: the text ends too early; expected `[`"
        );
        assert_eq!(error("(d0) -> (d0 @ 2)"), "1:13: `@` is not part of a map");
        assert_eq!(
            error("(d0, d0) -> (d0)"),
            "1:6: the name `d0` is taken; all variables of a map have different names"
        );
        assert_eq!(
            error("(d0) -> (d0)"),
            "1:2: `d0` has no bounds; the domain says them, as in `domain: d0 in [0, 9]`"
        );
        assert_eq!(
            error("() -> (9223372036854775808)"),
            "1:8: 9223372036854775808 is not a 64-bit integer"
        );
        assert_eq!(
            error("() -> (9223372036854775807 + 1)"),
            "1:8: a number leaves the range of 64-bit integers"
        );
        assert_eq!(
            error("(d0) -> (5 + d0 mod 0), domain: d0 in [0, 9]"),
            "1:14: division by zero"
        );
    }

    #[test]
    fn nesting_is_limited_and_length_is_not() {
        let nested = |levels: usize| {
            let expr = format!("{}d0{}", "(".repeat(levels), " + 1) mod 7".repeat(levels));
            format!("(d0) -> ({expr}), domain: d0 in [0, 9]")
        };
        assert!(parse_map(&nested(MAX_DEPTH / 2 - 1)).is_ok());
        for levels in [MAX_DEPTH, 100_000] {
            let kind = parse_map(&nested(levels)).map_err(|error| error.kind);
            assert_eq!(kind, Err(IndexingError::TooDeep.into()));
        }
        let brackets =
            |levels: usize| format!("() -> ({}3{})", "(".repeat(levels), ")".repeat(levels));
        assert_eq!(map(&brackets(100_000)).to_string(), "() -> (3)");
        let signs = format!("() -> ({}3)", "- ".repeat(100_000));
        assert!(parse_map(&signs).is_err());
        let long = vec!["d0 * 3 + d1"; 5_000].join(" - ");
        let text = format!("(d0, d1) -> ({long}), domain: d0 in [0, 9], d1 in [0, 9]");
        prints_back(&text);
    }
}
