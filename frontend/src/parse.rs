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
    StatementKind, StructSpecifier, TypeName, UnaryOp,
};
use crate::diagnostic::Diagnostics;
use crate::extensions;
use crate::flow::Flow;
use crate::preprocess::{self, Spanned};
use crate::problem::{Problem, SyntaxProblem, Unsupported};
use crate::splice::Spliced;
use crate::token::Token;
use crate::typedef_names;
use items::Items;
use lalrpop_util::{ErrorRecovery, ParseError};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::convert::Infallible;
use strew_affine::{BinaryOp as Arithmetic, CompareOp, Span};

mod errors;
mod items;

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
    let tokens = preprocess::preprocess(&spliced, diagnostics);
    let mut file = File::default();
    if diagnostics.is_full() || !is_bounded(&tokens, diagnostics) {
        return file;
    }
    let (mut tokens, lost) = extensions::take_out(&tokens, diagnostics);
    file.lost = lost;
    typedef_names::mark(&mut tokens);
    for item in Items(&tokens) {
        if diagnostics.is_full() {
            break;
        }
        let (item, lost) = parse_item(source, item, diagnostics);
        if let Item::Function(function) = item {
            file.functions.push(Function { lost, ..function });
            continue;
        }
        file.lost.extend(lost);
        match item {
            Item::Declaration(declaration) => file.declarations.push(declaration),
            Item::Prototype(prototype) => file.prototypes.push(prototype),
            Item::Function(_) | Item::Nothing => {}
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

/// What the grammar's actions need: they make nodes, watch their depth, and keep the errors that were recovered from.
#[derive(Debug, Default)]
pub(crate) struct Session<'a> {
    recovered: RefCell<Vec<Error<'a>>>,
    /// What could be read and is not in the language.
    refused: RefCell<Vec<(Unsupported, Span)>>,
    /// The names that are declared in a way that is not in the language.
    lost: RefCell<HashSet<String>>,
    /// The limit, and where it was passed first.
    too_deep: Cell<Option<(usize, Span)>>,
}

impl<'a> Session<'a> {
    fn recover(&self, error: ErrorRecovery<usize, Token<'a>, Infallible>) {
        self.recovered.borrow_mut().push(error.error);
    }

    fn refuse(&self, what: Unsupported, start: usize, end: usize) {
        let refused = (what, Span::new(start, end));
        self.refused.borrow_mut().push(refused);
    }

    fn lose(&self, name: &Name) {
        self.lost.borrow_mut().insert(name.text.clone());
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

    fn call(&self, function: Expr, arguments: Vec<Expr>, start: usize, end: usize) -> Expr {
        let mut function = function;
        // `(*f)(x)` is `f(x)`, in C too.
        while let ExprKind::Unary(UnaryOp::Dereference | UnaryOp::AddressOf, operand) =
            function.kind
        {
            function = *operand;
        }
        let kind = match function.kind {
            ExprKind::Name(name) => ExprKind::Call(name, arguments),
            _ => {
                self.refuse(Unsupported::ComputedCall, start, end);
                ExprKind::Invalid
            }
        };
        self.expression(kind, start, end)
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
        if signature.returns.words.contains(&Specifier::Typedef) {
            let (name, start) = (signature.name, signature.start);
            let declarator = self.function_pointer(name, start, end);
            return Item::Declaration(self.declaration(
                signature.returns,
                vec![declarator],
                start,
                end,
            ));
        }
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
            lost: HashSet::new(),
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

    /// Stands as a pointer to a number.
    fn function_pointer(&self, name: Name, start: usize, end: usize) -> Declarator {
        self.lose(&name);
        let text = Some(name.text.clone());
        self.refuse(Unsupported::FunctionPointer { name: text }, start, end);
        let pointer = Pointer { is_const: false };
        self.declarator(vec![pointer], name, Vec::new(), start, end)
    }

    /// Stands as a member of its own.
    fn bit_field(
        &self,
        declarator: Option<Declarator>,
        start: usize,
        end: usize,
    ) -> Option<Declarator> {
        let name = declarator.as_ref().map(|it| it.name.text.clone());
        self.refuse(Unsupported::BitField { name }, start, end);
        declarator
    }

    fn nested_function(&self, signature: Signature, end: usize) -> Statement {
        let name = signature.name.text.clone();
        self.lose(&signature.name);
        self.refuse(Unsupported::NestedFunction { name }, signature.start, end);
        self.statement(StatementKind::Empty, signature.start, end)
    }

    fn length(&self, length: Option<Expr>, start: usize, end: usize) -> Length {
        Length {
            length,
            span: Span::new(start, end),
        }
    }

    fn initialized(&self, declarator: Declarator, initial: Expr) -> Declarator {
        let mut initial = initial;
        if self.lost.borrow().contains(&declarator.name.text) {
            initial.kind = ExprKind::Invalid;
        }
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
