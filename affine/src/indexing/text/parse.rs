use super::error::{MapParseError, MapParseErrorKind};
use super::resolve::Scope;
use super::token::Token;
use super::tree::{Infix, Tree, TreeKind};
use crate::Span;
use crate::indexing::{IndexExpr, IndexingError, IndexingMap, MAX_DEPTH, Variable};
use crate::rejected::Rejected;
use lalrpop_util::{ParseError, lalrpop_mod};
use logos::Logos;

lalrpop_mod!(
    #[allow(clippy::all, unused, missing_docs, unreachable_pub, private_interfaces)]
    grammar,
    "/indexing/text/grammar.rs"
);

/// Each level of an expression can print as a product under a sign.
const TREE_LEVELS: usize = 3 * MAX_DEPTH;

/// Reads a map.
///
/// # Errors
/// The first thing that is wrong with the text.
pub fn parse_map(source: &str) -> Result<IndexingMap, MapParseError> {
    let tokens = tokens(source)?;
    let parsed = grammar::MapParser::new().parse(tokens.into_iter().map(Ok));
    let tree = parsed.map_err(|rejected| rejection(source, rejected))?;
    super::resolve::map(tree, Span::new(0, source.len()))
}

/// Reads an expression over the given variables.
///
/// # Errors
/// The first thing that is wrong with the text.
pub fn parse_expression(
    source: &str,
    variables: &[(&str, Variable)],
) -> Result<IndexExpr, MapParseError> {
    let tokens = tokens(source)?;
    let parsed = grammar::ExprParser::new().parse(tokens.into_iter().map(Ok));
    let tree = parsed.map_err(|rejected| rejection(source, rejected))?;
    Scope::over(variables).expression(&tree)
}

type Spanned<'a> = (usize, Token<'a>, usize);

fn tokens(source: &str) -> Result<Vec<Spanned<'_>>, MapParseError> {
    if u32::try_from(source.len()).is_err() {
        let span = Span::default();
        let kind = MapParseErrorKind::TooLong;
        return Err(MapParseError { span, kind });
    }
    let tokens = Token::lexer(source).spanned().map(|(token, range)| {
        let span = Span::new(range.start, range.end);
        let token = token.map_err(|()| {
            let text = source.get(range.clone()).unwrap_or_default().to_owned();
            let kind = MapParseErrorKind::Unknown(text);
            MapParseError { span, kind }
        });
        Ok((range.start, token?, range.end))
    });
    tokens.collect()
}

fn rejection(source: &str, error: ParseError<usize, Token<'_>, MapParseError>) -> MapParseError {
    match Rejected::of(source, error) {
        Ok(rejected) => MapParseError {
            span: rejected.span,
            kind: MapParseErrorKind::Unexpected {
                found: rejected.found,
                expected: rejected.expected,
            },
        },
        Err(error) => error,
    }
}

type Limited<'a> = Result<Tree<'a>, ParseError<usize, Token<'a>, MapParseError>>;

/// An expression, if it is not nested too deep.
pub(super) fn limited<'a>(kind: TreeKind<'a>, start: usize, end: usize) -> Limited<'a> {
    let tree = kind.at(start, end);
    if tree.depth <= TREE_LEVELS {
        return Ok(tree);
    }
    let kind = IndexingError::TooDeep.into();
    let span = tree.span;
    let error = MapParseError { span, kind };
    Err(ParseError::User { error })
}

pub(super) fn product<'a>(
    op: Infix,
    left: Tree<'a>,
    right: Tree<'a>,
    start: usize,
    end: usize,
) -> Limited<'a> {
    let kind = TreeKind::Infix(op, Box::new([left, right]));
    limited(kind, start, end)
}
