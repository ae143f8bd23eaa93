use super::error::{ParseError, ParseErrorKind};
use super::resolve;
use super::token::Token;
use super::tree::{Infix, Name, Tree, TreeKind};
use crate::rejected::Rejected;
use crate::verify::MAX_NESTING;
use crate::{Function, Kernel, Span, UnaryOp};
use lalrpop_util::{ErrorRecovery, lalrpop_mod};
use logos::Logos;
use std::cell::Cell;

lalrpop_mod!(
    #[allow(clippy::all, unused, missing_docs, unreachable_pub, private_interfaces)]
    grammar,
    "/text/grammar.rs"
);

/// A level of an expression can print as an operation inside parentheses inside a conversion.
const TREE_LEVELS: usize = 3 * MAX_NESTING;

/// Nobody reads more, and every recovery costs.
const ERRORS_REPORTED: usize = 20;

/// Some editors begin a file with it; compilers read over it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads the kernels of a text. What is returned has its names resolved and its types right; that
/// it keeps the other invariants is for [`verify`](crate::verify::verify) to say.
///
/// # Errors
/// What is wrong with the text, in its order: errors of the grammar if there are any, else errors
/// of names and types.
pub fn parse(source: &str) -> Result<Vec<Kernel>, Vec<ParseError>> {
    let (tokens, mut errors) = tokens(source)?;
    let count = Cell::new(errors.len());
    let mut recorder = Recorder {
        source,
        errors: Vec::new(),
        count: &count,
    };
    // Beyond the limit the tokens end, and so does the parser.
    let input = tokens
        .into_iter()
        .take_while(|_| count.get() < ERRORS_REPORTED)
        .map(Ok);
    let parsed = grammar::FileParser::new().parse(&mut recorder, input);
    let trees = parsed.unwrap_or_else(|rejected| {
        recorder.reject(rejected);
        Vec::new()
    });
    errors.extend(recorder.errors);
    if errors.is_empty() {
        resolve::kernels(&trees)
    } else {
        Err(one_a_line(source, errors))
    }
}

/// The first error of each line: what follows it there is mostly its echo.
fn one_a_line(source: &str, mut errors: Vec<ParseError>) -> Vec<ParseError> {
    errors.sort_by_key(|error| error.span);
    let mut checked = 0;
    let mut kept: Vec<ParseError> = Vec::new();
    for error in errors {
        let start = error.span.range().start;
        let between = source.get(checked..start).unwrap_or_default();
        if kept.is_empty() || between.contains('\n') {
            checked = start;
            kept.push(error);
        }
    }
    kept
}

type Spanned<'a> = (usize, Token<'a>, usize);

/// The tokens, and the errors among them.
fn tokens(source: &str) -> Result<(Vec<Spanned<'_>>, Vec<ParseError>), Vec<ParseError>> {
    if u32::try_from(source.len()).is_err() {
        let span = Span::default();
        let kind = ParseErrorKind::TooLong;
        return Err(vec![ParseError { span, kind }]);
    }
    let mut errors = Vec::new();
    let mut tokens = Vec::new();
    let mut nesting = Nesting::default();
    let mut lexer = Token::lexer(source);
    if source.starts_with(BYTE_ORDER_MARK) {
        lexer.bump(BYTE_ORDER_MARK.len_utf8());
    }
    for (token, range) in lexer.spanned() {
        let span = Span::new(range.start, range.end);
        let token = token.unwrap_or_else(|()| {
            if errors.len() < ERRORS_REPORTED {
                let text = source.get(range.clone()).unwrap_or_default().to_owned();
                let kind = ParseErrorKind::Unknown(text);
                errors.push(ParseError { span, kind });
            }
            Token::Unknown
        });
        let token = match token {
            // Between backquotes it is a name.
            Token::Name(name) if name.len() == range.len() => {
                let function = Function::from_name(name).map(Token::Function);
                let operation = UnaryOp::from_name(name).map(Token::Counting);
                function.or(operation).unwrap_or(token)
            }
            other => other,
        };
        if nesting.is_too_deep_after(token) {
            let kind = ParseErrorKind::TooDeep;
            return Err(vec![ParseError { span, kind }]);
        }
        tokens.push((range.start, token, range.end));
    }
    Ok((tokens, errors))
}

/// Counts open brackets before anything recurses into them.
#[derive(Default)]
struct Nesting {
    blocks: usize,
    brackets: usize,
}

impl Nesting {
    fn is_too_deep_after(&mut self, token: Token<'_>) -> bool {
        match token {
            Token::OpenBrace => self.blocks += 1,
            Token::CloseBrace => self.blocks = self.blocks.saturating_sub(1),
            Token::OpenParen | Token::OpenBracket => self.brackets += 1,
            Token::CloseParen | Token::CloseBracket => {
                self.brackets = self.brackets.saturating_sub(1);
            }
            _ => {}
        }
        self.blocks > MAX_NESTING || self.brackets > TREE_LEVELS
    }
}

/// Takes down what the grammar's actions find wrong.
#[derive(Debug)]
pub(super) struct Recorder<'c> {
    source: &'c str,
    errors: Vec<ParseError>,
    count: &'c Cell<usize>,
}

impl Recorder<'_> {
    fn record(&mut self, span: Span, kind: ParseErrorKind) {
        self.count.set(self.count.get() + 1);
        self.errors.push(ParseError { span, kind });
    }

    /// Records an error that the parser recovers from.
    pub(super) fn recover(&mut self, recovery: ErrorRecovery<usize, Token<'_>, ()>) {
        self.reject(recovery.error);
    }

    fn reject(&mut self, error: lalrpop_util::ParseError<usize, Token<'_>, ()>) {
        let is_reported = matches!(
            error,
            lalrpop_util::ParseError::UnrecognizedToken {
                token: (_, Token::Unknown, _),
                ..
            }
        );
        // What the lexer does not know it reported itself.
        let Ok(rejected) = Rejected::of(self.source, error) else {
            return;
        };
        if is_reported {
            return;
        }
        let expected = rejected.expected.into_iter();
        let kind = ParseErrorKind::Unexpected {
            found: rejected.found,
            expected: expected.filter(|it| it != "unknown text").collect(),
        };
        self.record(rejected.span, kind);
    }

    /// An expression, if it is not nested too deep.
    pub(super) fn tree<'a>(&mut self, kind: TreeKind<'a>, start: usize, end: usize) -> Tree<'a> {
        let tree = kind.at(start, end);
        if tree.depth <= TREE_LEVELS {
            return tree;
        }
        self.record(tree.span, ParseErrorKind::TooDeep);
        TreeKind::Error.at(start, end)
    }

    /// The alternatives of a bound, `max(…)` below and `min(…)` above. The words are free as names.
    pub(super) fn alternatives<'a>(
        &mut self,
        expected: &str,
        word: Name<'_>,
        alternatives: Vec<Tree<'a>>,
    ) -> Vec<Tree<'a>> {
        self.expect(expected, word);
        alternatives
    }

    /// A word that is free as a name.
    pub(super) fn expect(&mut self, expected: &str, word: Name<'_>) {
        if word.text != expected {
            let kind = ParseErrorKind::Unexpected {
                found: Some(word.text.to_owned()),
                expected: vec![expected.to_owned()],
            };
            self.record(word.span, kind);
        }
    }

    pub(super) fn infix<'a>(
        &mut self,
        op: Infix,
        left: Tree<'a>,
        right: Tree<'a>,
        start: usize,
        end: usize,
    ) -> Tree<'a> {
        let kind = TreeKind::Infix(op, Box::new(left), Box::new(right));
        self.tree(kind, start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Type;
    use crate::test_kernels::{chunked_segment_sum, segment_sum};
    use crate::verify::{ViolationKind, verify};

    #[track_caller]
    fn kernel(source: &str) -> Kernel {
        match parse(source).as_deref() {
            Ok([kernel]) => kernel.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// Errors as `text under the span: message`.
    #[track_caller]
    fn errors(source: &str) -> Vec<String> {
        let errors = parse(source).expect_err("the text is wrong");
        let shown = errors.iter().map(|error| {
            let text = source.get(error.span.range()).unwrap_or("?");
            format!("{text}: {error}")
        });
        shown.collect()
    }

    /// A kernel with a body, whose printed body is the same but for white space.
    #[track_caller]
    fn prints_back(body: &str) {
        prints_as(body, body);
    }

    #[track_caller]
    fn prints_as(body: &str, expected: &str) {
        let head = "kernel @k(n: i64, m: i32, s: u8, w: f32, row: i64[n + 1], col: i32[m], x: f64[n, m], y: f32[m], h: u8[256])";
        let first = kernel(&format!("{head} {{ {body} }}"));
        let printed = first.to_string();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&printed), words(&format!("{head} {{ {expected} }}")));
        let second = kernel(&printed);
        assert_eq!(second.to_string(), printed);
        assert!(verify(second).is_ok(), "{printed}");
    }

    #[test]
    fn what_is_printed_reads_back() {
        for kernel in [segment_sum(), chunked_segment_sum()] {
            let printed = kernel.to_string();
            let read = self::kernel(&printed);
            assert_eq!(read.to_string(), printed);
            assert!(verify(read).is_ok());
        }
    }

    #[test]
    fn every_statement_prints_as_it_is_written() {
        prints_back("outer: affine.for i in 0..n { h[i] = 1 }");
        prints_back("a: b: scf.for i in 0..i64(m) { c: scf.forall j in 0..n strategy(auto) { } }");
        prints_back("affine.for i in max(0, n - 5)..min(n, m) step 4 { h[i] = 1 }");
        prints_back("affine.if (10 <= n, n < m, n == 3) { h[0] = 1 } else { h[1] = 2 }");
        prints_as(
            "affine.if (n > m) { h[0] = 1 }",
            "affine.if (m < n) { h[0] = 1 }",
        );
        prints_as("affine.if (n >= m) { }", "affine.if (m <= n) { }");
        prints_as(
            "scf.forall c in 0..8 { }",
            "scf.forall c in 0..8 strategy(auto) { }",
        );
        prints_back(
            "scf.forall c in 0..8 private(p: f32[m] = identity(add), q: u8[256] = identity(max)) \
             merge(y reduce(add) p, h reduce(max) q) strategy(dense) { p[0] reduce(add) 1.5 q[c] reduce(max) 3 }",
        );
        prints_back(
            "affine.for v in 0..n { var sum: f64 = 0.0 scf.for k in row[v]..row[v + 1] step 2 { sum reduce(add) x[v, col[k]] } x[v, 0] = sum }",
        );
        prints_back("var k: i64 = n scf.while k > 0 && !(k == 7) { k = k / 2 }");
        prints_back("scf.if w < 0.5 { y[0] = w } else { y[0] = -w }");
    }

    #[test]
    fn expressions_keep_their_shape() {
        prints_back("let a: i64 = n - (n - 3) - 4 * (n + 1)");
        prints_back("let a: i64 = n << 2 & 7 | n ^ ~n");
        prints_back("let a: bool = n < 3 || m == 4 && 5 <= n");
        prints_back("let a: f64 = n < 3 ? m == 4 ? 0.5 : 1.5 : f64(w)");
        prints_back("let a: f64 = (n < 3 ? 0.5 : 1.5) * 2.0");
        prints_back("let a: f32 = -(5.0) + -5.0 - -w");
        prints_back("let a: u8 = s * 255 + u8(h[s] + 1)");
        prints_back("let a: f64 = f64(inf) + f64(-inf) * f64(nan) + -0.0");
        prints_back("let a: f32 = 3.4028235e38 + 1e-45");
        prints_back("let a: bool = f32(0.5) < 1.5");
        prints_back("let a: i64 = -9223372036854775808");
        prints_back("let a: f64 = sqrt(x[0, 0]) * pow(x[0, 1], 2.0) + fma(1.0, f64(w), -0.5)");
        prints_back("let a: bool = atan2(1.0, f64(n)) < 0.5 && exp(1.5) < sin(f64(n))");
        prints_back("let a: bool = hypot(0.5, 1.5) < cbrt(w) || fabs(w) < 2.5");
        prints_as("let a: f64 = log(2,)", "let a: f64 = log(2.0)");
        prints_as("let a: f64 = 2", "let a: f64 = 2.0");
        prints_as("let a: i64 = ((n))", "let a: i64 = n");
    }

    #[test]
    fn subscripts_are_affine_where_they_can_be_and_computed_where_they_are_marked() {
        prints_as(
            "affine.for i in 0..n { h[3 + i * 2 - n * i] = 1 }",
            "affine.for i in 0..n { h[i * 2 - i * n + 3] = 1 }",
        );
        prints_back("affine.for i in 0..n { h[i floordiv 8 - i mod m + n ceildiv 4] = 1 }");
        prints_back(
            "affine.for i in 0..n { h[i64(i + 1)] = 1 h[i64(3)] = 2 h[i32(m - 1)] = 3 h[u8(s)] = 4 }",
        );
        prints_back(
            "affine.for i in 0..n { h[i64(i64(i))] = 1 h[i32(i)] = 2 h[i64(m)] = 3 h[i64(i64(m))] = 4 }",
        );
        prints_back("h[col[3] + 1] = 1");
    }

    #[test]
    fn a_result_sees_what_the_outermost_block_declares() {
        let text = "kernel @k(n: i64, x: f32[n]) -> f32 {\n  var sum: f32 = 0.0\n  affine.for i in 0..n {\n    sum reduce(add) x[i]\n  }\n  return sum / 2.0\n}\n";
        let read = kernel(text);
        assert_eq!(read.result_type(), Some(Type::F32));
        assert_eq!(read.to_string(), text);
        assert!(verify(read).is_ok());
        let literal = "kernel @k() -> u8 {\n  return 7\n}\n";
        assert_eq!(kernel(literal).to_string(), literal);
    }

    #[test]
    fn assumptions_and_inferred_sizes_read_back() {
        let text = "kernel @k(infer h_length: i64, h: i32[h_length], n: i32) -> i32 assume (n * n <= 2147483647, 0 < n, n == h_length) {\n  return n\n}\n";
        let read = kernel(text);
        assert_eq!(read.to_string(), text);
        assert_eq!(read.passed_params().count(), 2);
        assert!(verify(read).is_ok());
        let longer = "kernel @k(infer h_length: i64, h: i32[n, 2] infer h_length, n: i32) assume (n * 2 <= h_length) {\n}\n";
        assert_eq!(kernel(longer).to_string(), longer);
        assert!(verify(kernel(longer)).is_ok());
        let unknown = longer.replace("infer h_length, n", "infer g, n");
        assert_eq!(errors(&unknown), ["g: nothing is called `g`"]);
        let swapped = kernel("kernel @k(n: i64) assume (n > 3) { }").to_string();
        assert_eq!(swapped, "kernel @k(n: i64) assume (3 < n) {\n}\n");
        assert_eq!(
            errors("kernel @k(n: i64) assume (n != 3) { }"),
            [
                "n != 3: a condition of `affine.if` or `assume` compares two affine expressions with <= < == >= or >; `scf.if` takes others"
            ]
        );
        let inside = errors("kernel @k(n: i64) { let infer a: i64 = 3 }");
        assert!(
            inside[0].starts_with("infer: `infer` cannot stand here"),
            "{inside:?}"
        );
    }

    #[test]
    fn results_and_their_types_come_together() {
        assert_eq!(
            errors("kernel @k(n: i64) { return n }"),
            ["n: a kernel that returns a value says its type before its block, as in `-> f64 {`"]
        );
        assert_eq!(
            errors("kernel @k(n: i64) -> f32 { }"),
            ["k: the kernel returns a value of type f32, so its last statement is a `return`"]
        );
        assert_eq!(
            errors("kernel @k(n: i64) -> i32 { return n }"),
            ["n: this has type i64, but i32 is needed; `i32(…)` converts"]
        );
        assert_eq!(
            errors("kernel @k(n: i64) -> i64 { affine.for i in 0..n { } return i }"),
            ["i: `i` is not visible here"]
        );
        let inside = errors("kernel @k(n: i64) -> i64 { affine.for i in 0..n { return n } }");
        assert!(
            inside[0].starts_with("return: `return` cannot stand here"),
            "{inside:?}"
        );
    }

    #[test]
    fn names_that_the_grammar_keeps_stand_between_backquotes() {
        let text = "kernel @`in`(`step`: i64, max: i64, `f32`: f32[`step`], `exp`: f32) {\n  affine.for `private` in 0..`step` {\n    `f32`[`private`] = exp(`exp`)\n  }\n}\n";
        assert_eq!(kernel(text).to_string(), text);
    }

    #[test]
    fn a_file_holds_several_kernels_and_comments() {
        let text = "// first\nkernel @a() { } // behind\nkernel @b(n: i32) {}//";
        let names: Vec<_> = parse(text)
            .into_iter()
            .flatten()
            .map(|it| it.name)
            .collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(parse(""), Ok(vec![]));
    }

    #[test]
    fn declared_combiners_stand_in_front_of_the_kernels_that_use_them() {
        let text = "\
reduction @lae(a, b: f64) = a == f64(-inf) ? b : fmax(a, b) + log1p(exp(-fabs(a - b))) identity(f64(-inf))
reduction @`step`(a, b: u8) = a | b << 1 identity(0)
kernel @k(n: i64, x: f64[n], out: f64[n], h: u8[n]) {
  affine.for i in 0..n {
    out[i] reduce(lae) x[i]
    h[i] reduce(`step`) 3
  }
}
";
        let first = kernel(text);
        assert_eq!(first.to_string(), text);
        assert!(verify(first).is_ok());
        let other_names = text.replace("(a, b: u8) = a | b", "(there, here: u8) = there | here");
        assert_eq!(kernel(&other_names).to_string(), text);
        let use_of = |name: &str| format!("kernel @k(x: i32[1]) {{ x[0] reduce({name}) 1 }}\n");
        let declaration = |body: &str| format!("reduction @own(a, b: i32) = {body} identity(0)\n");
        let both = format!(
            "{}{}{}{}",
            declaration("a + b"),
            use_of("own"),
            declaration("a ^ b"),
            use_of("own").replace("@k", "@l")
        );
        let kernels = parse(&both).expect("two kernels");
        let printed: String = kernels.iter().map(ToString::to_string).collect();
        assert_eq!(parse(&printed).expect("two kernels").len(), 2);
        assert!(printed.contains("= a + b identity(0)") && printed.contains("= a ^ b identity(0)"));
        assert!(
            errors(&use_of("own"))[0].starts_with("own: no combiner is called `own`; there are")
        );
    }

    #[test]
    fn what_is_wrong_with_a_declared_combiner_is_told() {
        for (declaration, message) in [
            (
                "reduction @add(a, b: i32) = a + b identity(0)",
                "add: `add` is built in; a combiner that is declared needs another name",
            ),
            (
                "reduction @own(a, b: i32) = a + b identity(a)",
                "a: an identity is a literal",
            ),
            (
                "reduction @own(a, b: i32) = a < b identity(0)",
                "a < b: this has type bool, but i32 is needed; `i32(…)` converts",
            ),
            (
                "reduction @own(a, b: f64) = a + n identity(0.0)",
                "n: nothing is called `n`",
            ),
            (
                "reduction @own(a, a: f64) = a identity(0.0)",
                "a: the name `a` is taken; all names of a kernel are different",
            ),
        ] {
            assert_eq!(errors(declaration), [message]);
        }
    }

    #[test]
    fn one_name_is_one_combiner() {
        let text = |body: &str| {
            format!(
                "reduction @own(a, b: i32) = {body} identity(0) kernel @k(x: i32[2]) {{ x[0] reduce(own) 1 }}"
            )
        };
        let mut first = kernel(&text("a + b"));
        first.body.extend(kernel(&text("a ^ b")).body);
        let violations = verify(first).expect_err("two combiners");
        assert_eq!(
            violations[0].kind,
            ViolationKind::CombinersDiffer("own".to_owned())
        );
    }

    #[test]
    fn errors_of_the_grammar_are_reported_together() {
        let text = "kernel @k(n: i64) {\n  let a i64 = 3\n  let b: i64 = 4\n  n = = 3\n  let c: i64 = $\n}\nkernel k() { }\n";
        let found = errors(text);
        assert_eq!(found[0], "i64: `i64` cannot stand here; expected `:`");
        assert!(
            found[1].starts_with("=: `=` cannot stand here; expected "),
            "{found:?}"
        );
        assert_eq!(found[2], "$: `$` is not part of the kernel text");
        assert_eq!(found[3], "k: `k` cannot stand here; expected `@`");
        assert_eq!(found.len(), 4, "{found:?}");
        let swapped = errors("kernel @k(n: i64) { affine.for i in min(0, n)..n { } }");
        assert_eq!(swapped, ["min: `min` cannot stand here; expected `max`"]);
        let swapped = errors("kernel @k(n: i64) { affine.for i in min(0, n)..n { } }");
        assert_eq!(swapped, ["min: `min` cannot stand here; expected `max`"]);
        let unfinished = errors("kernel @k(n: i64) { ");
        assert_eq!(unfinished.len(), 1);
        assert!(unfinished[0].contains("ends too early"), "{unfinished:?}");
    }

    #[test]
    fn errors_of_names_and_types_are_reported_together() {
        let head = "kernel @k(n: i64, m: i32, x: f64[n], seg: i32[n]) {\n";
        let cases = [
            ("x[0] = y", "y: nothing is called `y`"),
            (
                "x[0] = f64(sge[0])",
                "sge: nothing is called `sge`; did you mean `seg`?",
            ),
            ("x[0] = x", "x: `x` is not a value; arrays take subscripts"),
            ("n = 3", "n: `n` is not a `var`"),
            ("let k: i64 = n[0]", "n: `n` is not an array"),
            (
                "x[0, 1] = 0.5",
                "x[0, 1]: `x` has 1 dimension, but is given 2 subscripts",
            ),
            (
                "x[0] = n",
                "n: this has type i64, but f64 is needed; `f64(…)` converts",
            ),
            (
                "let k: i64 = n + m",
                "n + m: the operands have different types, i64 and i32; convert one of them",
            ),
            ("x[0] = x[0] % 2.0", "x[0] % 2.0: `%` is not defined on f64"),
            (
                "x[0] = pow(x[0])",
                "pow(x[0]): `pow` takes 2 operands, but is given 1",
            ),
            ("x[0] = sqrt(n)", "sqrt(n): `sqrt` is not defined on i64"),
            (
                "x[0] = fmax(x[0], f32(n))",
                "fmax(x[0], f32(n)): the operands have different types, f64 and f32; convert one of them",
            ),
            (
                "x[0.5] = 1.0",
                "0.5: a subscript is an integer, but this has type f64",
            ),
            ("let k: u8 = 256", "256: 256 is not a value of type u8"),
            ("let k: u8 = -1", "-1: -1 is not a value of type u8"),
            ("let k: f32 = 1e60", "1e60: 1e60 is not a value of type f32"),
            (
                "let k: i64 = n mod 8",
                "n mod 8: `mod` can only stand in affine expressions; this one is not affine",
            ),
            (
                "affine.for i in 0..seg[0] { }",
                "seg[0]: an affine expression is made of iterators, integer parameters and integers with + - * floordiv ceildiv mod",
            ),
            (
                "affine.for i in 0..n floordiv 0 { }",
                "n floordiv 0: an affine divisor is a positive integer or made of parameters alone",
            ),
            (
                "affine.for i in 0..n * 9223372036854775808 { }",
                "9223372036854775808: this affine expression has too many terms, or a coefficient beyond 64 bits",
            ),
            (
                "here: alloc a: f64[3]",
                "here: a label stands in front of a loop with an iterator, or of a statement",
            ),
            (
                "affine.if (n != 3) { }",
                "n != 3: a condition of `affine.if` or `assume` compares two affine expressions with <= < == >= or >; `scf.if` takes others",
            ),
            (
                "affine.for n in 0..3 { }",
                "n: the name `n` is taken; all names of a kernel are different",
            ),
            (
                "affine.for i in 0..3 { } x[i] = 0.5",
                "i: `i` is not visible here",
            ),
            (
                "x[0] reduce(plus) 0.5",
                "plus: no combiner is called `plus`; there are add, mul, min, max, min_last, max_last, fmin_first, fmax_first, fmin, fmax, min_kept_first, max_kept_first, min_kept, max_kept, and, or, xor, argmin, argmax, argmin_last, argmax_last, land, lor, last, add_sat(LIMIT), and what a `reduction` in front of the kernel declares",
            ),
            ("x[0] reduce(xor) 0.5", "xor: `xor` is not defined on f64"),
            (
                "scf.forall c in 1..3 { }",
                "1: an `scf.forall` counts from 0",
            ),
            (
                "scf.forall c in 0..3 private(p: f64[n] = identity(add)) merge(x reduce(max) p) { }",
                "p: `p` needs one merge, with the combiner whose identity fills it",
            ),
            (
                "scf.if n { }",
                "n: this has type i64, but bool is needed; `bool(…)` converts",
            ),
        ];
        let all: String = cases
            .iter()
            .map(|(body, _)| format!("{{}}{body}\n").replace("{}", ""))
            .collect();
        for (body, message) in cases {
            assert_eq!(errors(&format!("{head}{body}\n}}"))[0], message);
        }
        assert!(errors(&format!("{head}{all}\n}}")).len() >= cases.len());
    }

    #[test]
    fn no_input_overflows_the_stack_or_takes_long() {
        let many = |text: &str| text.repeat(1_000_000 / text.len());
        let wrap = |body: String| format!("kernel @k(n: i64) {{ let a: i64 = {body} }}");
        let texts = [
            many("("),
            wrap(many("(")),
            wrap(many("-")),
            wrap(many("~")),
            wrap(many("n + ")),
            wrap(format!("{}n", many("n + "))),
            wrap(many("n ? n : ")),
            wrap(many("i64(")),
            wrap(many("a[")),
            many("kernel @k() {"),
            many("{ ( "),
            many("a a = ( "),
            format!("kernel @k() {{ {} }}", many("a a = ")),
            many("$ "),
            many("kernel "),
            wrap(many("affine.for i in ")),
        ];
        for text in texts {
            let found = parse(&text).expect_err("the text is wrong");
            assert!(found.len() <= 2 * ERRORS_REPORTED, "{}", found.len());
        }
    }

    #[test]
    fn nested_divisions_cost_their_length_alone() {
        for (open, close) in [
            ("(", " + n) floordiv 2"),
            ("-(", " - n) ceildiv 3"),
            ("(", " - m) mod m"),
        ] {
            let levels = 70;
            let bound = format!("{}n{}", open.repeat(levels), close.repeat(levels));
            let text = format!("kernel @k(n: i64, m: i64) {{ affine.for i in 0..{bound} {{ }} }}");
            let printed = kernel(&text).to_string();
            assert_eq!(kernel(&printed).to_string(), printed);
        }
    }

    #[test]
    fn what_is_nested_as_deep_as_is_allowed_is_read() {
        let brackets = format!("{}n{}", "(".repeat(290), ")".repeat(290));
        let sum = "n + ".repeat(290);
        let loops: String = (0..MAX_NESTING - 1)
            .map(|it| format!("scf.if n == {it} {{ "))
            .collect();
        let text = format!(
            "kernel @k(n: i64) {{ let a: i64 = {brackets} let b: i64 = {sum} n {loops} {} }}",
            "}".repeat(MAX_NESTING - 1)
        );
        let read = kernel(&text);
        assert_eq!(kernel(&read.to_string()).to_string(), read.to_string());
        let violations = verify(read).expect_err("the sum is deeper than a kernel may be");
        assert!(
            violations
                .iter()
                .all(|it| it.kind == ViolationKind::TooDeep)
        );
    }
}
