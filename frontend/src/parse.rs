//! From tokens to the syntax tree.
//!
//! The file is cut into its top-level items by counting brackets, and each is parsed by itself: a mistake in one function cannot
//! spoil the next. Inside a function the grammar recovers at parameters, statements and blocks.
//!
//! Everything that later stages do by recursion is bounded here: brackets are counted before the parser runs, and the depth of
//! the tree while it grows, since long chains of operators nest without any bracket.

use crate::ast::{
    BinaryOp, Case, Declaration, Declarator, EnumSpecifier, Enumerator, Expr, ExprKind, File, For,
    Function, Length, Name, Parameter, Pointer, PragmaText, Prototype, Specifier, Start, Statement,
    StatementKind, StructSpecifier, TypeName,
};
use crate::diagnostic::Diagnostics;
use crate::expected;
use crate::flow::Flow;
use crate::preprocess::{self, Spanned};
use crate::problem::SyntaxProblem;
use crate::splice::Spliced;
use crate::token::Token;
use crate::typedef_names;
use lalrpop_util::{ErrorRecovery, ParseError};
use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use strew_affine::{BinaryOp as Arithmetic, CompareOp, Span};

lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, unused, missing_docs, unreachable_pub)]
    grammar
);

/// How many brackets may be open, and how many expressions may contain each other.
const DEPTH_LIMIT: usize = 200;
/// How many statements may contain each other.
const STATEMENT_DEPTH_LIMIT: usize = 100;
/// How many tokens may follow each other without a semicolon or brace: bounds the parser's stack and what recovery tries.
const STATEMENT_LIMIT: usize = 10_000;

/// What stands at the top of a file.
#[derive(Debug)]
pub(crate) enum Item {
    Function(Function),
    Declaration(Declaration),
    Prototype(Prototype),
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

/// The syntax tree of `source`.
pub(crate) fn parse(source: &str, diagnostics: &mut Diagnostics) -> File {
    let spliced = Spliced::new(source);
    let mut tokens = preprocess::preprocess(&spliced, diagnostics);
    let mut file = File::default();
    if diagnostics.is_full() || !is_bounded(&tokens, diagnostics) {
        return file;
    }
    typedef_names::mark(&mut tokens);
    for item in Items(&tokens) {
        if diagnostics.is_full() {
            break;
        }
        match parse_item(source, item, diagnostics) {
            Some(Item::Function(function)) => file.functions.push(function),
            Some(Item::Declaration(declaration)) => file.declarations.push(declaration),
            Some(Item::Prototype(prototype)) => file.prototypes.push(prototype),
            Some(Item::Nothing) | None => {}
        }
    }
    if file.functions.is_empty() && !diagnostics.has_errors() {
        diagnostics.report(SyntaxProblem::NoFunction, Span::default());
    }
    file
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

/// Cuts behind every `}` and `;` outside of braces; other brackets do not count, so that one left open spoils one item only.
struct Items<'t, 'a>(&'t [Spanned<'a>]);

impl<'t, 'a> Iterator for Items<'t, 'a> {
    type Item = &'t [Spanned<'a>];

    fn next(&mut self) -> Option<Self::Item> {
        let mut depth = 0_usize;
        let mut goes_on = false;
        let end = (0..self.0.len()).find(|index| {
            let token = self.0[*index].0;
            match token {
                Token::LeftBrace => {
                    if depth == 0 {
                        goes_on = is_within_declaration(&self.0[..*index]);
                    }
                    depth += 1;
                }
                Token::RightBrace => depth = depth.saturating_sub(1),
                _ => {}
            }
            let ends = matches!(token, Token::Semicolon) || token == Token::RightBrace && !goes_on;
            depth == 0 && ends
        });
        let (item, rest) = self.0.split_at(end.map_or(self.0.len(), |end| end + 1));
        self.0 = rest;
        (!item.is_empty()).then_some(item)
    }
}

/// Whether the braces that follow hold members, constants or initial values, so that the item goes on behind them.
fn is_within_declaration(before: &[Spanned<'_>]) -> bool {
    let is_tag = |token: &Token<'_>| matches!(token, Token::Struct | Token::Enum);
    match before {
        [.., (Token::Assign, _)] => true,
        [
            ..,
            (word, _),
            (Token::Identifier(_) | Token::TypeName(_), _),
        ] => is_tag(word),
        [.., (word, _)] => is_tag(word),
        [] => false,
    }
}

fn parse_item<'a>(
    source: &str,
    tokens: &[Spanned<'a>],
    diagnostics: &mut Diagnostics,
) -> Option<Item> {
    let session = Session::default();
    let triples = tokens
        .iter()
        // Whoever makes this many mistakes is not helped by more messages.
        .take_while(|_| session.recovered.borrow().len() < Diagnostics::LIMIT)
        .map(|(token, span)| Ok((span.range().start, *token, span.range().end)));
    let result = grammar::ItemParser::new().parse(&session, triples);
    let end = tokens.last().map_or(0, |(_, span)| span.range().end);
    let mut errors: Vec<_> = session.recovered.take();
    let item = result.map_err(|error| errors.push(error)).ok();
    report_errors(source, errors, end, diagnostics);
    if let Some((limit, span)) = session.too_deep.get() {
        diagnostics.report(SyntaxProblem::NestingTooDeep { limit }, span);
    }
    item
}

type Error<'a> = ParseError<usize, Token<'a>, Infallible>;

/// One for each line: what follows on the line of an error is more often its consequence than a mistake of its own.
fn report_errors(source: &str, errors: Vec<Error<'_>>, end: usize, diagnostics: &mut Diagnostics) {
    let mut covered = 0;
    for error in errors {
        let (found, span, expected) = match &error {
            ParseError::UnrecognizedToken {
                token: (start, token, end),
                expected,
            } => (Some(*token), Span::new(*start, *end), expected.as_slice()),
            ParseError::UnrecognizedEof { expected, .. } => (
                None,
                Span::new(end.saturating_sub(1), end),
                expected.as_slice(),
            ),
            ParseError::ExtraToken {
                token: (start, token, end),
            } => (Some(*token), Span::new(*start, *end), [].as_slice()),
            ParseError::InvalidToken { location } => {
                (None, Span::new(*location, *location), [].as_slice())
            }
            ParseError::User { error } => match *error {},
        };
        let start = span.range().start;
        if start < covered {
            continue;
        }
        let line = source.get(start..).and_then(|rest| rest.find('\n'));
        covered = line.map_or(source.len(), |length| start + length);
        // What is wrong with an invalid token has been said.
        if found != Some(Token::Invalid) {
            let problem = SyntaxProblem::Expected {
                expected: expected::in_words(expected),
                found: expected::describe(found, source, span),
            };
            diagnostics.report(problem, span);
        }
    }
}

impl Token<'_> {
    fn opens(&self) -> bool {
        matches!(
            self,
            Token::LeftParenthesis | Token::LeftBracket | Token::LeftBrace
        )
    }

    fn closes(&self) -> bool {
        matches!(
            self,
            Token::RightParenthesis | Token::RightBracket | Token::RightBrace
        )
    }
}

/// What the grammar's actions need: they make nodes, watch their depth, and keep the errors that were recovered from.
#[derive(Debug, Default)]
pub(crate) struct Session<'a> {
    recovered: RefCell<Vec<Error<'a>>>,
    /// The limit, and where it was passed first.
    too_deep: Cell<Option<(usize, Span)>>,
}

impl<'a> Session<'a> {
    fn recover(&self, error: ErrorRecovery<usize, Token<'a>, Infallible>) {
        self.recovered.borrow_mut().push(error.error);
    }

    fn refuse_depth(&self, limit: usize, span: Span) {
        let first = self.too_deep.get();
        self.too_deep.set(first.or(Some((limit, span))));
    }

    fn expression(&self, kind: ExprKind, start: usize, end: usize) -> Expr {
        let span = Span::new(start, end);
        let depth = kind.operands().iter().map(|it| it.depth).max();
        let depth = depth.unwrap_or_default() + 1;
        if depth <= DEPTH_LIMIT {
            return Expr { kind, span, depth };
        }
        self.refuse_depth(DEPTH_LIMIT, span);
        Expr {
            kind: ExprKind::Invalid,
            span,
            depth: 1,
        }
    }

    fn binary(&self, op: BinaryOp, left: Expr, right: Expr, start: usize, end: usize) -> Expr {
        let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
        self.expression(kind, start, end)
    }

    fn arithmetic(
        &self,
        op: Arithmetic,
        left: Expr,
        right: Expr,
        start: usize,
        end: usize,
    ) -> Expr {
        self.binary(BinaryOp::Arithmetic(op), left, right, start, end)
    }

    fn compare(&self, op: CompareOp, left: Expr, right: Expr, start: usize, end: usize) -> Expr {
        self.binary(BinaryOp::Compare(op), left, right, start, end)
    }

    fn name(&self, text: &str, start: usize, end: usize) -> Name {
        Name {
            text: text.to_owned(),
            span: Span::new(start, end),
            declaration: None,
        }
    }

    fn type_name(&self, words: Vec<Specifier>, start: usize, end: usize) -> TypeName {
        TypeName {
            words,
            pointers: Vec::new(),
            lengths: Vec::new(),
            span: Span::new(start, end),
        }
    }

    fn abstract_type(
        &self,
        ty: TypeName,
        pointers: Vec<Pointer>,
        lengths: Vec<Length>,
        start: usize,
        end: usize,
    ) -> TypeName {
        TypeName {
            words: ty.words,
            pointers,
            lengths,
            span: Span::new(start, end),
        }
    }

    fn structure(
        &self,
        tag: Option<Name>,
        members: Option<Vec<Declaration>>,
        start: usize,
        end: usize,
    ) -> Specifier {
        Specifier::Struct(Box::new(StructSpecifier {
            tag,
            members,
            definition: None,
            span: Span::new(start, end),
        }))
    }

    fn enumeration(
        &self,
        tag: Option<Name>,
        enumerators: Option<Vec<Enumerator>>,
        start: usize,
        end: usize,
    ) -> Specifier {
        Specifier::Enum(Box::new(EnumSpecifier {
            tag,
            enumerators,
            ty: None,
            span: Span::new(start, end),
        }))
    }

    fn prototype(&self, signature: Signature, end: usize) -> Item {
        let parameters = signature.parameters.unwrap_or_default();
        Item::Prototype(Prototype {
            returns: signature.returns,
            name: signature.name,
            parameters: parameters.into_iter().flatten().collect(),
            span: Span::new(signature.start, end),
        })
    }

    fn function(&self, signature: Signature, body: Vec<Statement>, end: usize) -> Item {
        let parameters = signature.parameters.unwrap_or_default();
        Item::Function(Function {
            returns: signature.returns,
            name: signature.name,
            parameters: parameters.into_iter().flatten().collect(),
            body,
            span: Span::new(signature.start, end),
        })
    }

    fn parameter(
        &self,
        ty: TypeName,
        declarator: Option<Declarator>,
        start: usize,
        end: usize,
    ) -> Parameter {
        Parameter {
            ty,
            declarator,
            span: Span::new(start, end),
        }
    }

    fn declarator(
        &self,
        pointers: Vec<Pointer>,
        name: Name,
        lengths: Vec<Length>,
        start: usize,
        end: usize,
    ) -> Declarator {
        Declarator {
            pointers,
            name,
            lengths,
            initial: None,
            span: Span::new(start, end),
        }
    }

    /// `(*name)[lengths]`: as a parameter the same as `name[][lengths]`.
    #[expect(clippy::too_many_arguments, reason = "the parts of one production")]
    fn row_pointer(
        &self,
        pointers: Vec<Pointer>,
        star: usize,
        star_end: usize,
        name: Name,
        lengths: Vec<Length>,
        start: usize,
        end: usize,
    ) -> Declarator {
        let mut lengths = lengths;
        lengths.insert(0, self.length(None, star, star_end));
        self.declarator(pointers, name, lengths, start, end)
    }

    fn length(&self, length: Option<Expr>, start: usize, end: usize) -> Length {
        Length {
            length,
            span: Span::new(start, end),
        }
    }

    fn initialized(&self, declarator: Declarator, initial: Expr) -> Declarator {
        Declarator {
            span: declarator.span.to(initial.span),
            initial: Some(initial),
            ..declarator
        }
    }

    fn declaration(
        &self,
        ty: TypeName,
        declarators: Vec<Declarator>,
        start: usize,
        end: usize,
    ) -> Declaration {
        Declaration {
            ty,
            declarators,
            span: Span::new(start, end),
        }
    }

    fn statement(&self, kind: StatementKind, start: usize, end: usize) -> Statement {
        let span = Span::new(start, end);
        let depth = kind.children().iter().map(|it| it.depth).max();
        let mut statement = Statement {
            pragmas: Vec::new(),
            labels: Vec::new(),
            cases: Vec::new(),
            depth: depth.unwrap_or_default() + 1,
            flow: Flow::of(&kind),
            kind,
            span,
        };
        if statement.depth > STATEMENT_DEPTH_LIMIT {
            self.refuse_depth(STATEMENT_DEPTH_LIMIT, span);
            statement.kind = StatementKind::Invalid;
            statement.depth = 1;
            statement.flow = Flow::ON;
        }
        statement
    }

    fn branch(
        &self,
        condition: Expr,
        then: Statement,
        otherwise: Option<Statement>,
        start: usize,
        end: usize,
    ) -> Statement {
        let kind = StatementKind::If {
            condition,
            then: Box::new(then),
            otherwise: otherwise.map(Box::new),
        };
        self.statement(kind, start, end)
    }

    fn for_loop(
        &self,
        start: Start,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Statement,
        first: usize,
        end: usize,
    ) -> Statement {
        let kind = StatementKind::For(Box::new(For {
            start,
            condition,
            step,
            body,
        }));
        self.statement(kind, first, end)
    }

    fn while_loop(&self, condition: Expr, body: Statement, start: usize, end: usize) -> Statement {
        let body = Box::new(body);
        self.statement(StatementKind::While { condition, body }, start, end)
    }

    fn do_loop(&self, body: Statement, condition: Expr, start: usize, end: usize) -> Statement {
        let body = Box::new(body);
        self.statement(StatementKind::DoWhile { body, condition }, start, end)
    }

    fn with_pragma(&self, text: &str, inner: Statement, start: usize, end: usize) -> Statement {
        let pragma = PragmaText {
            text: text.to_owned(),
            span: Span::new(start, end),
        };
        // The innermost prefix is seen first.
        let mut inner = inner;
        inner.pragmas.insert(0, pragma);
        inner
    }

    fn switch(&self, value: Expr, body: Statement, start: usize, end: usize) -> Statement {
        let body = Box::new(body);
        self.statement(StatementKind::Switch { value, body }, start, end)
    }

    fn with_case(
        &self,
        value: Option<Expr>,
        inner: Statement,
        start: usize,
        end: usize,
    ) -> Statement {
        let span = Span::new(start, end);
        // The innermost prefix is seen first.
        let mut inner = inner;
        inner.cases.insert(0, Case { value, span });
        inner
    }

    fn with_label(&self, label: Name, inner: Statement) -> Statement {
        let mut inner = inner;
        inner.labels.insert(0, label);
        inner
    }
}
