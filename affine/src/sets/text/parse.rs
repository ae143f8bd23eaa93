use super::error::{SetParseError, SetParseErrorKind};
use super::token::Token;
use super::tree::{Formula, FormulaKind, Tree, TreeKind};
use super::{MAX_DEPTH, resolve};
use crate::Span;
use crate::rejected::Rejected;
use crate::sets::Set;
use lalrpop_util::{ParseError, lalrpop_mod};
use logos::Logos;

lalrpop_mod!(
    #[allow(clippy::all, unused, missing_docs, unreachable_pub, private_interfaces)]
    grammar,
    "/sets/text/grammar.rs"
);

/// Reads a set or a relation.
///
/// # Errors
/// The first thing that is wrong with the text.
pub fn parse_set(source: &str) -> Result<Set, SetParseError> {
    let tokens = tokens(source)?;
    let parsed = grammar::SetParser::new().parse(tokens.into_iter().map(Ok));
    let tree = parsed.map_err(|rejected| rejection(source, rejected))?;
    resolve::set(&tree)
}

type Spanned<'a> = (usize, Token<'a>, usize);

fn tokens(source: &str) -> Result<Vec<Spanned<'_>>, SetParseError> {
    if u32::try_from(source.len()).is_err() {
        let span = Span::default();
        let kind = SetParseErrorKind::TooLong;
        return Err(SetParseError { span, kind });
    }
    let tokens = Token::lexer(source).spanned().map(|(token, range)| {
        let span = Span::new(range.start, range.end);
        let token = token.map_err(|()| {
            let text = source.get(range.clone()).unwrap_or_default().to_owned();
            let kind = SetParseErrorKind::Unknown(text);
            SetParseError { span, kind }
        });
        Ok((range.start, token?, range.end))
    });
    tokens.collect()
}

fn rejection(source: &str, error: ParseError<usize, Token<'_>, SetParseError>) -> SetParseError {
    match Rejected::of(source, error) {
        Ok(rejected) => SetParseError {
            span: rejected.span,
            kind: SetParseErrorKind::Unexpected {
                found: rejected.found,
                expected: rejected.expected,
            },
        },
        Err(error) => error,
    }
}

type Limited<'a, T> = Result<T, ParseError<usize, Token<'a>, SetParseError>>;

fn too_deep<'a, T>(span: Span) -> Limited<'a, T> {
    let kind = SetParseErrorKind::TooDeep;
    let error = SetParseError { span, kind };
    Err(ParseError::User { error })
}

/// An expression, if it is not nested too deep.
pub(super) fn limited<'a>(kind: TreeKind<'a>, start: usize, end: usize) -> Limited<'a, Tree<'a>> {
    let tree = kind.at(start, end);
    if tree.depth > MAX_DEPTH {
        return too_deep(tree.span);
    }
    Ok(tree)
}

/// A formula likewise.
pub(super) fn formula<'a>(kind: FormulaKind<'a>) -> Limited<'a, Formula<'a>> {
    let formula = kind.of();
    if formula.depth > MAX_DEPTH {
        return too_deep(Span::default());
    }
    Ok(formula)
}

/// What stands in one line with `and` or `or`, which the grammar collects from its end.
pub(super) fn line<'a>(
    mut parts: Vec<Formula<'a>>,
    together: fn(Vec<Formula<'a>>) -> FormulaKind<'a>,
) -> Limited<'a, Formula<'a>> {
    parts.reverse();
    match parts.len() {
        1 => Ok(parts.swap_remove(0)),
        _ => formula(together(parts)),
    }
}
