//! The text of sets and relations, in the style of isl:
//! `[N] -> { [i, j] : 0 <= i < N and exists e : i = 2 e }`.
//!
//! Parameters stand in front, the parts of a union behind each other with `;` between them.
//! Printing (`Display`) and [`parse_set`] keep the points of a set; `mod`, `floordiv` and `ceildiv`
//! by positive constants are read.

mod error;
mod parse;
mod print;
mod resolve;
mod token;
mod tree;

pub use error::{SetParseError, SetParseErrorKind};
pub use parse::parse_set;

/// Expressions and formulas are nested at most this deep.
pub const MAX_DEPTH: usize = 100;

/// A text has at most as many conjunctions.
pub const MAX_CONJUNCTIONS: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::Budget;

    #[track_caller]
    fn prints_as(text: &str, expected: &str) {
        let set = parse_set(text).expect("a set");
        assert_eq!(set.to_string(), expected);
        let again = parse_set(expected).expect("a set");
        assert_eq!(again.to_string(), expected);
        assert_eq!(again.is_equal(&set, &mut Budget::default()), Ok(true));
    }

    #[track_caller]
    fn error(text: &str) -> String {
        let error = parse_set(text).expect_err("the text is wrong");
        let part = text.get(error.span.range()).unwrap_or_default();
        format!("{part}: {error}")
    }

    #[test]
    fn sets_print_and_read_back() {
        prints_as(
            "[N] -> { [i, j] : 0 <= i < N and exists e : i = 2e }",
            "[N] -> { [i, j] : i mod 2 = 0 and i >= 0 and i < N }",
        );
        prints_as("{ [i] : false }", "{ [i] : false }");
        prints_as("{ [] }", "{ [] }");
        prints_as(
            "{ [i] -> [i + 1] : i > 3 }",
            "{ [i] -> [o0] : o0 = i + 1 and i >= 4 }",
        );
        prints_as(
            "{ [i, j] : (i < 0 or i > 9) and 3 * j = i - 1; [i, i] }",
            "{ [i, j] : 3 j + 1 = i and i < 0; [i, j] : 3 j + 1 = i and i >= 10; [i, j] : j = i }",
        );
        prints_as(
            "{ [i] : i floordiv 3 = 2 }",
            "{ [i] : exists e0 : e0 = 2 and i <= 3 e0 + 2 and 3 e0 <= i }",
        );
        prints_as(
            "[n] -> { [i] : exists (e, f : i = 2e + 3f and 0 <= e < f < n) and i != 4 }",
            "[n] -> { [i] : i <= 3 and exists e0, e1 : i = 2 e0 + 3 e1 and e0 >= 0 and e0 < e1 and e1 < n; \
             [i] : i >= 5 and exists e0, e1 : i = 2 e0 + 3 e1 and e0 >= 0 and e0 < e1 and e1 < n }",
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        assert_eq!(
            error("[size] -> { [i] : i < sise }"),
            "sise: nothing is called `sise`; did you mean `size`?"
        );
        assert_eq!(
            error("[n] -> { [i] : i * n < 3 }"),
            "i * n: a product needs a constant on one of its sides; products of variables are not linear"
        );
        assert_eq!(
            error("{ [i] : i mod 0 = 0 }"),
            "0: a divisor is a positive constant"
        );
        assert_eq!(
            error("{ [i]; [i, j] }"),
            "[i, j]: the parts of a set have as many dimensions; this one differs from the first"
        );
        assert_eq!(
            error("{ [i] : i < 99999999999999999999 }"),
            "99999999999999999999: 99999999999999999999 is not a 64-bit integer"
        );
        assert_eq!(error("{ [i] : i ? 3 }"), "?: `?` is not part of a set");
        assert_eq!(error("[n, n] -> { [i] }"), "n: the name `n` is taken");
        assert!(error("{ [i] : i < }").contains("`}` cannot stand here"));
    }

    #[test]
    fn nesting_and_size_are_limited() {
        let nested = |levels: usize| {
            format!(
                "{{ [i] : {}i{} < 3 }}",
                "-(".repeat(levels),
                ")".repeat(levels)
            )
        };
        assert!(parse_set(&nested(40)).is_ok());
        assert_eq!(
            parse_set(&nested(10_000)).map_err(|it| it.kind),
            Err(SetParseErrorKind::TooDeep)
        );
        let either = vec!["(i < 0 or i > 1)"; 40].join(" and ");
        let text = format!("{{ [i] : {either} }}");
        assert_eq!(
            parse_set(&text).map_err(|it| it.kind),
            Err(SetParseErrorKind::TooLarge)
        );
        let line = vec!["i < 3"; 5_000].join(" and ");
        assert!(parse_set(&format!("{{ [i] : {line} }}")).is_ok());
    }
}
