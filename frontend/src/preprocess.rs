//! From source text to the tokens that the parser sees: directives carried out, object-like macros replaced, numbers read.

use crate::diagnostic::Diagnostics;
use crate::literal;
use crate::problem::{DirectiveFault, Problem, Unsupported};
use crate::token::{Token, TypeWord};
use logos::Logos;
use std::collections::HashMap;
use strew_affine::Span;

/// A token with where it stands; what a macro expands to stands where the macro is used.
pub(crate) type Spanned<'a> = (Token<'a>, Span);

/// How many tokens all macro uses of a file may expand to together.
const EXPANSION_LIMIT: usize = 200_000;
/// How many macros may be replaced inside each other.
const EXPANSION_DEPTH: usize = 64;

/// Some editors begin a file with it; compilers read over it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The tokens of `source`, without directives except `#pragma strew`.
pub(crate) fn preprocess<'a>(source: &'a str, diagnostics: &mut Diagnostics) -> Vec<Spanned<'a>> {
    let mut preprocessor = Preprocessor {
        source,
        macros: HashMap::new(),
        output: Vec::new(),
        expanded: 0,
        diagnostics,
    };
    for (token, range) in Token::lexer(source).spanned() {
        let span = Span::new(range.start, range.end);
        match token {
            Ok(Token::Directive(text)) => preprocessor.directive(text, span),
            Ok(token) => preprocessor.token(token, &source[range], span),
            Err(()) if range.start == 0 && source.starts_with(BYTE_ORDER_MARK) => {}
            Err(()) => preprocessor.unexpected(&source[range], span),
        }
        if preprocessor.diagnostics.is_full() || preprocessor.expanded > EXPANSION_LIMIT {
            break;
        }
    }
    preprocessor.output
}

/// A token of a macro's replacement, with its text, by which it may be a macro itself.
type Replacement<'a> = Vec<(Token<'a>, &'a str)>;

struct Preprocessor<'a, 'd> {
    source: &'a str,
    macros: HashMap<&'a str, Replacement<'a>>,
    output: Vec<Spanned<'a>>,
    expanded: usize,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Preprocessor<'a, '_> {
    fn token(&mut self, token: Token<'a>, text: &'a str, span: Span) {
        if self.macros.contains_key(text) {
            self.expand(text, span);
        } else {
            self.emit(token, span);
        }
    }

    /// Replaces macros inside of replacements too, but never a macro inside of its own.
    fn expand(&mut self, name: &'a str, span: Span) {
        let mut open = vec![(name, 0)];
        while let Some((name, position)) = open.last_mut() {
            let replacement = self.macros.get(name).map(Vec::as_slice);
            let Some((token, text)) = replacement.and_then(|it| it.get(*position)).copied() else {
                open.pop();
                continue;
            };
            *position += 1;
            self.expanded += 1;
            if self.expanded > EXPANSION_LIMIT {
                let limit = EXPANSION_LIMIT;
                return self.report(Problem::ExpansionTooLong { limit }, span);
            }
            let is_open = open.iter().any(|(open, _)| *open == text);
            if is_open || !self.macros.contains_key(text) {
                self.emit(token, span);
            } else if open.len() < EXPANSION_DEPTH {
                open.push((text, 0));
            } else {
                let limit = EXPANSION_DEPTH;
                return self.report(Problem::ExpansionTooDeep { limit }, span);
            }
        }
    }

    fn emit(&mut self, token: Token<'a>, span: Span) {
        let token = match token {
            Token::Number(text) => self.literal(text, literal::number(text), span),
            Token::Character(text) => self.literal(text, literal::character(text), span),
            Token::UnterminatedComment => self.invalid(Problem::UnterminatedComment, span),
            Token::Text(_) => self.invalid(Problem::Unsupported(Unsupported::Text), span),
            Token::Type(TypeWord::Bool) => {
                self.report(Problem::Unsupported(Unsupported::BoolType), span);
                // What is declared with it exists nevertheless: its uses are not errors too.
                Token::Type(TypeWord::Int)
            }
            Token::Reserved(word) => {
                let word = Unsupported::Word(word.to_owned());
                self.invalid(Problem::Unsupported(word), span)
            }
            other => other,
        };
        self.output.push((token, span));
    }

    fn literal(
        &mut self,
        text: &str,
        value: Result<strew_affine::Value, crate::problem::NumberFault>,
        span: Span,
    ) -> Token<'a> {
        match value {
            Ok(value) => Token::Literal(value),
            Err(why) => {
                let text = text.to_owned();
                self.invalid(Problem::BadNumber { text, why }, span)
            }
        }
    }

    fn invalid(&mut self, problem: Problem, span: Span) -> Token<'a> {
        self.report(problem, span);
        Token::Invalid
    }

    fn unexpected(&mut self, text: &str, span: Span) {
        let character = text.chars().next().unwrap_or_default();
        let token = self.invalid(Problem::UnexpectedCharacter(character), span);
        self.output.push((token, span));
    }

    fn report(&mut self, problem: Problem, span: Span) {
        self.diagnostics.report(problem, span);
    }

    fn directive(&mut self, text: &'a str, span: Span) {
        let body = text[1..].trim_start_matches([' ', '\t']);
        let end = body.find(|it: char| !it.is_alphanumeric() && it != '_');
        let (name, rest) = body.split_at(end.unwrap_or(body.len()));
        let fault = match name {
            _ if !self.is_first_on_line(span) => Err(DirectiveFault::NotFirstOnLine),
            "" | "include" => Ok(()),
            "define" => self.define(rest),
            "undef" => self.undefine(rest),
            "pragma" => {
                self.pragma(rest, span);
                Ok(())
            }
            _ => Err(DirectiveFault::Unsupported),
        };
        if let Err(why) = fault {
            let name = name.to_owned();
            self.report(Problem::Directive { name, why }, span);
        }
    }

    fn is_first_on_line(&self, span: Span) -> bool {
        let before = &self.source[..span.range().start];
        let before = before.strip_prefix(BYTE_ORDER_MARK).unwrap_or(before);
        let before = before.trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n') || before.ends_with("*/")
    }

    fn define(&mut self, rest: &'a str) -> Result<(), DirectiveFault> {
        let (name, body) = macro_name(rest)?;
        if body.starts_with('(') {
            return Err(DirectiveFault::FunctionLikeMacro);
        }
        let replacement = Token::lexer(body)
            .spanned()
            .map(|(token, range)| (token.unwrap_or(Token::Invalid), &body[range]))
            .collect();
        self.macros.insert(name, replacement);
        Ok(())
    }

    fn undefine(&mut self, rest: &'a str) -> Result<(), DirectiveFault> {
        let (name, _) = macro_name(rest)?;
        self.macros.remove(name);
        Ok(())
    }

    /// Keeps `#pragma strew TEXT` as a token whose span is that of the text; others mean nothing here.
    fn pragma(&mut self, rest: &'a str, span: Span) {
        let Some(text) = rest.trim_start().strip_prefix("strew") else {
            return;
        };
        if text.starts_with(|it: char| it.is_alphanumeric() || it == '_') {
            return;
        }
        let start = span.range().end - text.trim_start().len();
        let text = without_comments(text.trim_start());
        let span = Span::new(start, start + text.len());
        self.output.push((Token::Pragma(text), span));
    }
}

fn macro_name(rest: &str) -> Result<(&str, &str), DirectiveFault> {
    let rest = rest.trim_start();
    let end = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    let (name, body) = rest.split_at(end.unwrap_or(rest.len()));
    if name.is_empty() || name.starts_with(|it: char| it.is_ascii_digit()) {
        return Err(DirectiveFault::MissingName);
    }
    Ok((name, body))
}

/// C removes comments before it looks at directives.
fn without_comments(text: &str) -> &str {
    let end = [text.find("//"), text.find("/*")];
    let end = end.into_iter().flatten().min().unwrap_or(text.len());
    text[..end].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew_affine::{Type, Value};

    fn run(source: &str) -> (Vec<Token<'_>>, Vec<Problem>) {
        let mut diagnostics = Diagnostics::default();
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
        let (_, problems) = run(&(source + "X19"));
        let limit = EXPANSION_LIMIT;
        assert_eq!(problems, [Problem::ExpansionTooLong { limit }]);
    }

    #[test]
    fn long_chains_of_macros_are_refused() {
        let chain: String = (0..100)
            .map(|it| format!("#define X{it} X{}\n", it + 1))
            .collect();
        let (_, problems) = run(&(chain + "X0"));
        let limit = EXPANSION_DEPTH;
        assert_eq!(problems, [Problem::ExpansionTooDeep { limit }]);
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
        assert_eq!(problems, [Problem::UnexpectedCharacter(BYTE_ORDER_MARK)]);
    }

    #[test]
    fn the_span_of_a_pragma_is_that_of_its_text() {
        let source = "#pragma strew  tile(i = 4)";
        let mut diagnostics = Diagnostics::default();
        let tokens = preprocess(source, &mut diagnostics);
        let spans: Vec<&str> = tokens
            .iter()
            .map(|(_, span)| &source[span.range()])
            .collect();
        assert_eq!(spans, ["tile(i = 4)"]);
    }

    #[test]
    fn other_directives_are_named() {
        let fault = |name: &str, why| Problem::Directive {
            name: name.to_owned(),
            why,
        };
        let cases = [
            ("#if 1\n", fault("if", DirectiveFault::Unsupported)),
            (
                "#define F(x) x\n",
                fault("define", DirectiveFault::FunctionLikeMacro),
            ),
            ("#define 1\n", fault("define", DirectiveFault::MissingName)),
            (
                "int # define A\n",
                fault("define", DirectiveFault::NotFirstOnLine),
            ),
        ];
        for (source, problem) in cases {
            assert_eq!(run(source).1, [problem], "{source}");
        }
    }
}
