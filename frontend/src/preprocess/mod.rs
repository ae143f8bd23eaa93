//! From source text to the tokens that the parser sees: directives carried out, macros replaced,
//! numbers read.

mod condition;
mod definition;
mod directive;
mod header;
mod macros;
mod substitute;

use crate::diagnostic::Diagnostics;
use crate::literal;
use crate::problem::{DirectiveFault, NumberFault, PreprocessingProblem, Problem};
use crate::splice::Spliced;
use crate::token::{self, Token};
use directive::Conditional;
use macros::{Expander, Lexeme, Source, Stopped};
use std::iter::Peekable;
use std::ops::Range;
use strew_affine::{Span, Value};

/// A token with where it stands; what a macro expands to stands where the macro is used.
pub(crate) type Spanned<'a> = (Token<'a>, Span);

/// Some editors begin a file with it; compilers read over it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The tokens of `source`, without directives except `#pragma strew`; none where an error swallowed
/// the end of the file.
pub(crate) fn preprocess<'a>(
    source: &'a Spliced<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Spanned<'a>> {
    let tokens: Tokens<'a> = Box::new(token::lexemes(source.text()));
    let mut file = File {
        source,
        tokens: tokens.peekable(),
        misplaced: Vec::new(),
    };
    let mut preprocessor = Preprocessor {
        source,
        expander: Expander::new(macros::expansion_limit(source.text().len()), source),
        conditionals: Vec::new(),
        has_lost_the_end: false,
        output: Vec::new(),
        diagnostics,
    };
    while let Some((token, range)) = file.tokens.next() {
        preprocessor.token(token, range, &mut file);
        if preprocessor.diagnostics.is_full() || preprocessor.has_lost_the_end {
            return Vec::new();
        }
    }
    preprocessor.finish()
}

type Tokens<'a> = Box<dyn Iterator<Item = (Token<'a>, Range<usize>)> + 'a>;

/// The tokens of the file, out of which the arguments of macros are taken.
struct File<'a, 's> {
    source: &'a Spliced<'s>,
    tokens: Peekable<Tokens<'a>>,
    /// Directives between the arguments of a macro.
    misplaced: Vec<Span>,
}

impl<'a> Source<'a> for File<'a, '_> {
    fn next(&mut self) -> Option<Lexeme<'a>> {
        loop {
            let (token, range) = self.tokens.next()?;
            let span = self.source.span(range.clone());
            if matches!(token, Token::Directive(_)) {
                self.misplaced.push(span);
            } else {
                let text = self.source.text().get(range).unwrap_or_default();
                return Some(Lexeme::new(token, text, span));
            }
        }
    }

    fn is_parenthesis_next(&mut self) -> bool {
        let next = self.tokens.peek();
        next.is_some_and(|(token, _)| *token == Token::LeftParenthesis)
    }
}

struct Preprocessor<'a, 's, 'd> {
    source: &'a Spliced<'s>,
    expander: Expander<'a>,
    conditionals: Vec<Conditional>,
    /// Whether an error was reported behind which nothing can be read.
    has_lost_the_end: bool,
    output: Vec<Spanned<'a>>,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Preprocessor<'a, '_, '_> {
    fn token(&mut self, token: Token<'a>, range: Range<usize>, file: &mut File<'a, '_>) {
        let text = self.source.text().get(range.clone()).unwrap_or_default();
        if let Token::Directive(text) = token {
            return self.directive(text, range);
        }
        let is_mark = range.start == 0 && text.starts_with(BYTE_ORDER_MARK);
        if is_mark || !self.is_active() {
            return;
        }
        let lexeme = Lexeme::new(token, text, self.source.span(range));
        if !self.expander.macros.is_defined(text) {
            return self.emit(lexeme);
        }
        let mut replaced = Vec::new();
        let result = self.expander.expand(lexeme, file, &mut replaced);
        for span in file.misplaced.drain(..) {
            self.fault("", DirectiveFault::InsideCall, span);
        }
        match result {
            Ok(()) => replaced.into_iter().for_each(|it| self.emit(it)),
            Err((problem, span)) => self.refuse(problem, span),
        }
    }

    /// A macro that cannot be replaced stands as something whose error was reported.
    fn refuse(&mut self, problem: Problem, span: Span) {
        self.has_lost_the_end |= self.expander.is_exhausted()
            || matches!(
                problem,
                Problem::Preprocessing(PreprocessingProblem::MacroCallOpen { .. })
            );
        self.report(problem, span);
        self.output.push((Token::Refused, span));
    }

    fn finish(mut self) -> Vec<Spanned<'a>> {
        for conditional in std::mem::take(&mut self.conditionals) {
            self.fault("if", DirectiveFault::Unclosed, conditional.span);
        }
        self.output
    }

    fn emit(&mut self, lexeme: Lexeme<'a>) {
        let Lexeme {
            token, text, span, ..
        } = lexeme;
        let token = match token {
            Token::Number(text) => self.literal(text, literal::number(text), span),
            Token::Character(text) => self.literal(text, literal::character(text), span),
            Token::UnterminatedComment => {
                self.invalid(PreprocessingProblem::UnterminatedComment, span)
            }
            Token::Invalid | Token::Directive(_) => {
                let character = text.chars().next().unwrap_or_default();
                self.invalid(PreprocessingProblem::UnexpectedCharacter(character), span)
            }
            other => other,
        };
        self.output.push((token, span));
    }

    fn literal(&mut self, text: &str, value: Result<Value, NumberFault>, span: Span) -> Token<'a> {
        match value {
            Ok(value) => Token::Literal(value),
            Err(why) => {
                let text = text.to_owned();
                self.invalid(PreprocessingProblem::BadNumber { text, why }, span)
            }
        }
    }

    fn invalid(&mut self, problem: impl Into<Problem>, span: Span) -> Token<'a> {
        self.report(problem, span);
        Token::Invalid
    }

    fn report(&mut self, problem: impl Into<Problem>, span: Span) {
        self.diagnostics.report(problem, span);
    }

    fn fault(&mut self, name: &str, why: DirectiveFault, span: Span) {
        let name = name.to_owned();
        self.report(PreprocessingProblem::Directive { name, why }, span);
    }

    /// The tokens of a line with their macros replaced; `None` after an error.
    fn replaced(&mut self, line: Vec<Lexeme<'a>>) -> Option<Vec<Lexeme<'a>>> {
        let result: Result<_, Stopped> = self.expander.expand_line(line);
        result
            .map_err(|(problem, span)| self.report(problem, span))
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use macros::{EXPANSION_DEPTH, expansion_limit};
    use strew_affine::Type;

    fn run(source: &str) -> (Vec<Token<'static>>, Vec<Problem>) {
        let mut diagnostics = Diagnostics::default();
        let source: &'static str = Box::leak(source.into());
        let source: &'static Spliced<'_> = Box::leak(Box::new(Spliced::new(source)));
        let tokens = preprocess(source, &mut diagnostics);
        let tokens = tokens.into_iter().map(|(token, _)| token).collect();
        let problems = diagnostics.into_sorted().into_iter();
        (tokens, problems.map(|it| it.problem).collect())
    }

    fn int(value: i128) -> Token<'static> {
        Token::Literal(Value::integer(Type::I32, value))
    }

    #[test]
    fn macros_are_replaced_also_inside_of_macros() {
        let (tokens, problems) = run("#define A B\n#define B (1 + 2) // two\nA");
        assert_eq!(problems, []);
        let expected = [
            Token::LeftParenthesis,
            int(1),
            Token::Plus,
            int(2),
            Token::RightParenthesis,
        ];
        assert_eq!(tokens, expected);
    }

    #[test]
    fn a_macro_is_not_replaced_inside_of_itself() {
        let (tokens, problems) = run("#define A B\n#define B A\nA B");
        assert_eq!(problems, []);
        assert_eq!(tokens, [Token::Identifier("A"), Token::Identifier("B")]);
    }

    #[test]
    fn undefined_macros_are_names_again() {
        let (tokens, _) = run("#define A 1\n#undef A\nA");
        assert_eq!(tokens, [Token::Identifier("A")]);
    }

    #[test]
    fn expansion_has_a_limit() {
        let mut source = String::from("#define X0 1 1 1 1 1 1 1 1\n");
        for level in 1..20 {
            let below = format!("X{}", level - 1);
            source += &format!("#define X{level} {}\n", vec![below; 8].join(" "));
        }
        source += "X19";
        let (_, problems) = run(&source);
        let limit = expansion_limit(source.len());
        assert_eq!(
            problems,
            [PreprocessingProblem::ExpansionTooLong { limit }.into()]
        );
    }

    #[test]
    fn long_chains_of_macros_are_refused() {
        let chain: String = (0..200)
            .map(|it| format!("#define X{it} X{}\n", it + 1))
            .collect();
        let (_, problems) = run(&(chain + "X0"));
        let limit = EXPANSION_DEPTH;
        assert_eq!(
            problems,
            [PreprocessingProblem::ExpansionTooDeep { limit }.into()]
        );
    }

    #[test]
    fn includes_and_strange_pragmas_vanish_and_ours_stay() {
        let source = "#include <stdint.h>\n#pragma omp parallel\n#pragma strewn x\n  #pragma strew tile(i = 4) // why";
        let (tokens, problems) = run(source);
        assert_eq!(problems, []);
        assert_eq!(tokens, [Token::Pragma("tile(i = 4)")]);
    }

    #[test]
    fn a_byte_order_mark_at_the_very_beginning_is_nothing() {
        let (tokens, problems) = run("\u{feff}#define A 1\nA");
        assert_eq!((tokens, problems), (vec![int(1)], vec![]));
        let (_, problems) = run("1 \u{feff}");
        assert_eq!(
            problems,
            [PreprocessingProblem::UnexpectedCharacter(BYTE_ORDER_MARK).into()]
        );
    }

    #[test]
    fn the_span_of_a_pragma_is_that_of_its_text() {
        let source = "#pragma strew  tile(i = 4)";
        let mut diagnostics = Diagnostics::default();
        let spliced = Spliced::new(source);
        let tokens = preprocess(&spliced, &mut diagnostics);
        let spans: Vec<&str> = tokens
            .iter()
            .map(|(_, span)| &source[span.range()])
            .collect();
        assert_eq!(spans, ["tile(i = 4)"]);
    }

    fn fault(name: &str, why: DirectiveFault) -> PreprocessingProblem {
        let name = name.to_owned();
        PreprocessingProblem::Directive { name, why }
    }

    #[test]
    fn other_directives_are_named() {
        let cases = [
            ("#assert x\n", fault("assert", DirectiveFault::Unsupported)),
            ("#if 1 +\n#endif", fault("if", DirectiveFault::BadCondition)),
            (
                "#if 1 / 0\n#endif",
                fault("if", DirectiveFault::DivisionByZero),
            ),
            ("#if 1\n", fault("if", DirectiveFault::Unclosed)),
            ("#else\n", fault("else", DirectiveFault::WithoutIf)),
            (
                "#if 0\n#else\n#else\n#endif",
                fault("else", DirectiveFault::AfterElse),
            ),
            (
                "#define F(x) x\nF(\n#undef F\n1)",
                fault("", DirectiveFault::InsideCall),
            ),
            ("#define 1\n", fault("define", DirectiveFault::MissingName)),
            (
                "int # define A\n",
                fault("define", DirectiveFault::NotFirstOnLine),
            ),
        ];
        for (source, problem) in cases {
            assert_eq!(run(source).1, [problem.into()], "{source}");
        }
    }

    #[test]
    fn what_is_wrong_with_macros_is_named() {
        let cases = [
            (
                "#define F(..., x) x\n",
                fault("define", DirectiveFault::BadParameters),
            ),
            (
                "#define F(x) #y\n",
                fault("define", DirectiveFault::HashOperator),
            ),
            (
                "#define F(x) x ##\n",
                fault("define", DirectiveFault::HashOperator),
            ),
            (
                "#define F ## 1\n",
                fault("define", DirectiveFault::HashOperator),
            ),
            (
                "#define F(x, y) x ## y\nF(+, 1)",
                PreprocessingProblem::BadPaste {
                    left: "+".to_owned(),
                    right: "1".to_owned(),
                },
            ),
            (
                "#define F(x, y, ...) x y\nF(1)",
                PreprocessingProblem::MacroArguments {
                    name: "F".to_owned(),
                    expected: 3,
                    found: 1,
                },
            ),
            (
                "#define F(x y) x\n",
                fault("define", DirectiveFault::BadParameters),
            ),
        ];
        for (source, problem) in cases {
            assert_eq!(run(source).1, [problem.into()], "{source}");
        }
    }

    /// The words and numbers that come out.
    fn words(source: &str) -> String {
        let (tokens, problems) = run(source);
        assert_eq!(problems, [], "{source}");
        let words = tokens.iter().map(|token| match token {
            Token::Identifier(name) => (*name).to_owned(),
            Token::Literal(value) => value.as_integer().unwrap_or_default().to_string(),
            Token::LeftParenthesis => "(".to_owned(),
            Token::RightParenthesis => ")".to_owned(),
            Token::Comma => ",".to_owned(),
            other => format!("{other:?}"),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn arguments_are_put_in_and_scanned_again() {
        let cases = [
            ("#define F(x, y) y x\nF(a b, (c, d))", "( c , d ) a b"),
            ("#define F(x) x x\n#define G F(1)\nG F(F(2))", "1 1 2 2 2 2"),
            ("#define F() a\nF() F ( ) F", "a a F"),
            ("#define F(x) [x]\nF", "F"),
            ("#define F(x) x\n#define G F\nG\n(3)", "3"),
            ("#define F(x) x F\nF(1)(2)", "1 F ( 2 )"),
            ("#define F(x) x + F(x)\nF(a)", "a Plus F ( a )"),
            (
                "#define A(x) B(x)\n#define B(x) A(x)\nA(B(1))",
                "A ( B ( 1 ) )",
            ),
            (
                "#define N 4\n#define SQ(x) ((x) * (x))\nSQ(N)",
                "( ( 4 ) Star ( 4 ) )",
            ),
            ("#define F(x) b x\nF()", "b"),
            ("#define F (x)\nF", "( x )"),
            ("#define A 1 \\\n + 2\nA", "1 Plus 2"),
            ("#define A(x, y) x ## y\nA(ab, 1) A(1, 2)", "ab1 12"),
            ("#define A(x) x ## _t y_ ## x\n#define b c\nA(b)", "b_t y_b"),
            (
                "#define A(x, y, z) x##y##z\nA(,b,c) A(a,,c) A(a,b,) A(,,c) A(,,)",
                "bc ac ab c",
            ),
            ("#define A(x, y) x y ## 1\n#define b c\nA(b, b)", "c b1"),
            (
                "#define CAT(x, y) x ## y\n#define X(x, y) CAT(x, y)\n#define N 4\nX(f, N) CAT(f, N)",
                "f4 fN",
            ),
            ("#define fab 7\n#define A(x) f ## x\nA(ab)", "7"),
            ("#define A f ## g\nA", "fg"),
            (
                "#define A(x, ...) x (__VA_ARGS__)\nA(1, 2, (3, 4)) A(1)",
                "1 ( 2 , ( 3 , 4 ) ) 1 ( )",
            ),
            (
                "#define A(...) b(__VA_ARGS__)\nA() A(1) A(1, 2)",
                "b ( ) b ( 1 ) b ( 1 , 2 )",
            ),
            (
                "#define A(x, ...) b(x, ## __VA_ARGS__)\nA(1) A(1, 2, 3)",
                "b ( 1 ) b ( 1 , 2 , 3 )",
            ),
            ("#define A(x, rest...) rest x\nA(1, 2, 3)", "2 , 3 1"),
            ("#line 7\n# 12 \"a.c\"\n__LINE__\n\\\n__LINE__", "3 5"),
            (
                "#define A(x) #x\nA(b + \"c\")",
                "Text(\"\\\"b + \\\"c\\\"\\\"\")",
            ),
            ("#define A 1 /* one\n */ + 2\nA", "1 Plus 2"),
        ];
        for (source, expected) in cases {
            assert_eq!(words(source), expected, "{source}");
        }
    }

    #[test]
    fn conditions_select_lines() {
        let cases = [
            ("#if 1\na\n#else\nb\n#endif", "a"),
            (
                "#if 0\na\n#elif 2 > 1\nb\n#elif 1\nc\n#else\nd\n#endif",
                "b",
            ),
            ("#ifdef A\na\n#endif\n#ifndef A\nb\n#endif", "b"),
            (
                "#define A 3\n#if defined(A) && A * 2 == 6 && !defined B\na\n#endif",
                "a",
            ),
            (
                "#if 0\n#if 1\na\n#else\nb\n#endif\n#error no\ndon't\n#else\nc\n#endif",
                "c",
            ),
            ("#if 0 && 1 / 0\na\n#endif", ""),
            ("#if -1 > 0u\na\n#endif", "a"),
            (
                "#if UINT_MAX > 0 && __STDC_VERSION__ >= 199901L\na\n#endif",
                "a",
            ),
            (
                "#define F(x) (x) % 3\n#if F(5) == 2 ? UNKNOWN + 1 : 0\na\n#endif",
                "a",
            ),
            ("#if 1 << 4 == 16 && ~0 == -1 && 'a' == 97\na\n#endif", "a"),
        ];
        for (source, expected) in cases {
            assert_eq!(words(source), expected, "{source}");
        }
    }

    #[test]
    fn a_macro_of_a_header_can_be_undefined() {
        assert_eq!(words("CHAR_BIT"), "8");
        assert_eq!(words("#undef CHAR_BIT\nCHAR_BIT"), "CHAR_BIT");
        assert_eq!(words("#undef CHAR_BIT\n#define CHAR_BIT 9\nCHAR_BIT"), "9");
    }

    #[test]
    fn what_a_macro_expands_to_stands_where_the_macro_is_used() {
        let source = "#define F(x) x + 1\n  F(a)";
        let spliced = Spliced::new(source);
        let tokens = preprocess(&spliced, &mut Diagnostics::default());
        assert_eq!(tokens.len(), 3);
        for (_, span) in tokens {
            assert_eq!(&source[span.range()], "F(a)");
        }
    }

    #[test]
    fn calls_of_macros_are_checked() {
        let arguments = PreprocessingProblem::MacroArguments {
            name: "F".to_owned(),
            expected: 2,
            found: 1,
        };
        assert_eq!(run("#define F(x, y) x\nF(1)").1, [arguments.into()]);
        let open = PreprocessingProblem::MacroCallOpen {
            name: "F".to_owned(),
        };
        assert_eq!(run("#define F(x) x\nF(1").1, [open.into()]);
        let text = "no way".to_owned();
        assert_eq!(
            run("#error no way").1,
            [PreprocessingProblem::ErrorDirective { text }.into()]
        );
        let name = "own.h".to_owned();
        assert_eq!(
            run("#include \"own.h\"").1,
            [PreprocessingProblem::UnreadHeader {
                name,
                nearest: None
            }
            .into()]
        );
    }

    #[test]
    fn hostile_macros_end_soon() {
        let nested = format!(
            "#define F(x) x\n{}1{}",
            "F(".repeat(10_000),
            ")".repeat(10_000)
        );
        assert_eq!(run(&nested).1.len(), 1);
        let doubling = format!("#define F(x) x x\n{}1{}", "F(".repeat(100), ")".repeat(100));
        assert_eq!(run(&doubling).1.len(), 1);
    }
}
