//! From tokens to the syntax tree.
//!
//! The file is cut into its top-level items by counting brackets, and each is parsed by itself: a
//! mistake in one function cannot spoil the next. Inside a function the grammar recovers at
//! parameters, statements and blocks.
//!
//! Everything that later stages do by recursion is bounded here: brackets are counted before the
//! parser runs, and the depth of the tree while it grows, since long chains of operators nest
//! without any bracket.

use crate::ast::{
    Assertion, Declaration, File, Function, Name, Parameter, Prototype, Reduction, TypeName,
};
use crate::brackets;
use crate::diagnostic::Diagnostics;
use crate::extensions;
use crate::needed::{Reading, needed};
use crate::preprocess::{self, Spanned};
use crate::problem::{ControlFlowProblem, Problem, ReductionProblem, SyntaxProblem};
use crate::splice::Spliced;
use crate::token::Token;
use crate::typedef_names;
use crate::unknown_types;
use lalrpop_util::ParseError;
use std::collections::HashSet;
use std::convert::Infallible;
use strew_affine::Span;

mod errors;
mod items;
mod outside;
mod session;

pub(crate) use items::Items;
pub(crate) use session::Session;

lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, unused, missing_docs, unreachable_pub)]
    grammar
);

/// How many brackets may be open, and how many expressions may contain each other.
const DEPTH_LIMIT: usize = 200;
/// How many statements may contain each other.
const STATEMENT_DEPTH_LIMIT: usize = 100;
/// How many tokens may follow each other without a semicolon or brace: bounds the parser's stack
/// and what recovery tries.
const STATEMENT_LIMIT: usize = 10_000;

/// What stands at the top of a file.
#[derive(Debug)]
pub(crate) enum Item {
    Function(Function),
    Declaration(Declaration),
    Prototype(Prototype),
    Assertion(Assertion),
    Reduction(Box<Reduction>),
    Nothing,
}

/// A function up to its body; a parameter with an error in it is `None`.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) returns: TypeName,
    pub(crate) name: Name,
    pub(crate) parameters: Option<Vec<Option<Parameter>>>,
    pub(crate) start: usize,
}

/// The syntax tree of what `reading` needs of `source`.
pub(crate) fn parse(source: &str, reading: Reading<'_>, diagnostics: &mut Diagnostics) -> File {
    let spliced = Spliced::new(source);
    let tokens = preprocess::preprocess(&spliced, diagnostics);
    let mut file = File::default();
    if diagnostics.is_full() || !is_bounded(&tokens, diagnostics) {
        return file;
    }
    let tokens = brackets::mend(source, tokens, diagnostics);
    let tokens = needed(tokens, reading);
    let tokens = without_misplaced(tokens, diagnostics);
    let (mut tokens, lost) = extensions::take_out(&tokens, diagnostics);
    file.lost = lost;
    typedef_names::mark(&mut tokens);
    unknown_types::replace(&mut tokens, diagnostics);
    let mut is_outside = false;
    for item in Items(&tokens) {
        if diagnostics.is_full() {
            break;
        }
        let was_outside = is_outside;
        is_outside = outside::is_statement(item, was_outside);
        if is_outside {
            if let Some((_, span)) = item.first().filter(|_| !was_outside) {
                diagnostics.report(SyntaxProblem::OutsideOfFunction, *span);
            }
            continue;
        }
        let (item, lost) = parse_item(source, item, diagnostics);
        if let Item::Function(function) = item {
            // There is something wrong with its parameters: no call of it can be judged.
            let name = &function.name.text;
            file.lost.extend(lost.get(name).cloned());
            file.functions.push(Function { lost, ..function });
            continue;
        }
        file.lost.extend(lost);
        match item {
            Item::Declaration(declaration) => file.declarations.push(declaration),
            Item::Prototype(prototype) => file.prototypes.push(prototype),
            Item::Assertion(assertion) => file.assertions.push(assertion),
            Item::Reduction(reduction) => file.reductions.push(*reduction),
            Item::Function(_) | Item::Nothing => {}
        }
    }
    if file.functions.is_empty() && !diagnostics.has_errors() {
        diagnostics.report(SyntaxProblem::NoFunction, Span::default());
    }
    file
}

/// The tokens without declarations of reductions inside of braces: the grammar would miss a
/// semicolon there.
fn without_misplaced<'a>(
    tokens: Vec<Spanned<'a>>,
    diagnostics: &mut Diagnostics,
) -> Vec<Spanned<'a>> {
    let (mut depth, mut is_inside) = (0_usize, false);
    let mut kept = Vec::with_capacity(tokens.len());
    for (token, span) in tokens {
        match token {
            Token::LeftBrace => depth += 1,
            Token::RightBrace => depth = depth.saturating_sub(1),
            Token::DeclareReduction if depth > 0 => {
                diagnostics.report(ReductionProblem::Misplaced, span);
                is_inside = true;
            }
            _ => {}
        }
        if !is_inside {
            kept.push((token, span));
        }
        is_inside &= token != Token::Semicolon;
    }
    kept
}

/// Whether nothing nests too deeply and no statement is too long.
fn is_bounded(tokens: &[Spanned<'_>], diagnostics: &mut Diagnostics) -> bool {
    let (mut depth, mut length) = (0_usize, 0_usize);
    for (token, span) in tokens {
        depth = match token {
            _ if token.opens() => depth + 1,
            _ if token.closes() => depth.saturating_sub(1),
            _ => depth,
        };
        length = match token {
            Token::Semicolon | Token::LeftBrace | Token::RightBrace => 0,
            _ => length + 1,
        };
        let problem = if depth > DEPTH_LIMIT {
            SyntaxProblem::NestingTooDeep { limit: DEPTH_LIMIT }
        } else if length > STATEMENT_LIMIT {
            let limit = STATEMENT_LIMIT;
            SyntaxProblem::StatementTooLong { limit }
        } else {
            continue;
        };
        diagnostics.report(problem, *span);
        return false;
    }
    true
}

/// An item, and the names that are lost in what could not be read or was refused.
fn parse_item<'a>(
    source: &str,
    tokens: &[Spanned<'a>],
    diagnostics: &mut Diagnostics,
) -> (Item, HashSet<String>) {
    let session = Session::default();
    let triples = tokens
        .iter()
        // Whoever makes this many mistakes is not helped by more messages.
        .take_while(|_| session.recovered.borrow().len() < Diagnostics::LIMIT)
        .map(|(token, span)| Ok((span.range().start, *token, span.range().end)));
    let result = grammar::ItemParser::new().parse(&session, triples);
    let mut lost = session.lost.take();
    let mut errors: Vec<_> = session.recovered.take();
    let item = result.map_err(|error| errors.push(error));
    let item = item.unwrap_or(Item::Nothing);
    if !errors.is_empty() && matches!(item, Item::Nothing) {
        lost.extend(errors::names_outside_of_braces(tokens));
    }
    errors::report(source, tokens, errors, &mut lost, diagnostics);
    for (what, span) in session.refused.take() {
        diagnostics.report(Problem::Unsupported(what), span);
    }
    for span in session.assigned.take() {
        diagnostics.report(ControlFlowProblem::AssignedCondition, span);
    }
    if let Some((limit, span)) = session.too_deep.get() {
        diagnostics.report(SyntaxProblem::NestingTooDeep { limit }, span);
    }
    (item, lost)
}

pub(crate) type Error<'a> = ParseError<usize, Token<'a>, Infallible>;

impl Token<'_> {
    pub(crate) fn opens(&self) -> bool {
        matches!(
            self,
            Token::LeftParenthesis | Token::LeftBracket | Token::LeftBrace
        )
    }

    pub(crate) fn closes(&self) -> bool {
        matches!(
            self,
            Token::RightParenthesis | Token::RightBracket | Token::RightBrace
        )
    }
}
