//! How the grammar's actions make the tree.

use super::{DEPTH_LIMIT, Error, Item, STATEMENT_DEPTH_LIMIT, Signature};
use crate::ast::{
    Assertion, BinaryOp, Case, Declaration, Declarator, EnumSpecifier, Enumerator, Expr, ExprKind,
    For, Function, Length, Name, Parameter, Pointer, PragmaText, Prototype, Reduction, Specifier,
    Start, Statement, StatementKind, StructSpecifier, TypeName, UnaryOp,
};
use crate::flow::Flow;
use crate::problem::{Unsupported, UnsupportedDeclaration, UnsupportedFunction};
use crate::token::Token;
use lalrpop_util::ErrorRecovery;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::convert::Infallible;
use strew_affine::{BinaryOp as Arithmetic, CompareOp, Span};

/// What the grammar's actions need: they make nodes, watch their depth, and keep the errors that
/// were recovered from.
#[derive(Debug, Default)]
pub(crate) struct Session<'a> {
    pub(super) recovered: RefCell<Vec<Error<'a>>>,
    /// What could be read and is not in the language.
    pub(super) refused: RefCell<Vec<(Unsupported, Span)>>,
    /// Conditions that assign.
    pub(super) assigned: RefCell<Vec<Span>>,
    /// Whether the last expression stood in parentheses of its own.
    is_parenthesized: Cell<bool>,
    /// The names that are declared in a way that is not in the language.
    pub(super) lost: RefCell<HashSet<String>>,
    /// The limit, and where it was passed first.
    pub(super) too_deep: Cell<Option<(usize, Span)>>,
}

impl<'a> Session<'a> {
    pub(in crate::parse) fn recover(&self, error: ErrorRecovery<usize, Token<'a>, Infallible>) {
        self.recovered.borrow_mut().push(error.error);
    }

    pub(in crate::parse) fn refuse(&self, what: Unsupported, start: usize, end: usize) {
        let refused = (what, Span::new(start, end));
        self.refused.borrow_mut().push(refused);
    }

    pub(in crate::parse) fn lose(&self, name: &Name) {
        self.lost.borrow_mut().insert(name.text.clone());
    }

    pub(in crate::parse) fn refuse_depth(&self, limit: usize, span: Span) {
        let first = self.too_deep.get();
        self.too_deep.set(first.or(Some((limit, span))));
    }

    pub(in crate::parse) fn parenthesized(&self, expr: Expr) -> Expr {
        self.is_parenthesized.set(true);
        expr
    }

    pub(in crate::parse) fn condition(&self, expr: Expr) -> Expr {
        let is_plain = matches!(expr.kind, ExprKind::Assign(None, ..));
        if is_plain && !self.is_parenthesized.get() {
            self.assigned.borrow_mut().push(expr.span);
        }
        expr
    }

    pub(in crate::parse) fn expression(&self, kind: ExprKind, start: usize, end: usize) -> Expr {
        self.is_parenthesized.set(false);
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

    pub(in crate::parse) fn binary(
        &self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        start: usize,
        end: usize,
    ) -> Expr {
        let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
        self.expression(kind, start, end)
    }

    pub(in crate::parse) fn arithmetic(
        &self,
        op: Arithmetic,
        left: Expr,
        right: Expr,
        start: usize,
        end: usize,
    ) -> Expr {
        self.binary(BinaryOp::Arithmetic(op), left, right, start, end)
    }

    pub(in crate::parse) fn compare(
        &self,
        op: CompareOp,
        left: Expr,
        right: Expr,
        start: usize,
        end: usize,
    ) -> Expr {
        self.binary(BinaryOp::Compare(op), left, right, start, end)
    }

    pub(in crate::parse) fn call(
        &self,
        function: Expr,
        arguments: Vec<Expr>,
        start: usize,
        end: usize,
    ) -> Expr {
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
                self.refuse(
                    Unsupported::Function(UnsupportedFunction::ComputedCall),
                    start,
                    end,
                );
                ExprKind::Invalid
            }
        };
        self.expression(kind, start, end)
    }

    pub(in crate::parse) fn name(&self, text: &str, start: usize, end: usize) -> Name {
        Name {
            text: text.to_owned(),
            span: Span::new(start, end),
            declaration: None,
        }
    }

    pub(in crate::parse) fn type_name(
        &self,
        words: Vec<Specifier>,
        start: usize,
        end: usize,
    ) -> TypeName {
        TypeName {
            words,
            pointers: Vec::new(),
            lengths: Vec::new(),
            span: Span::new(start, end),
        }
    }

    pub(in crate::parse) fn abstract_type(
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

    pub(in crate::parse) fn structure(
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

    pub(in crate::parse) fn enumeration(
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

    pub(in crate::parse) fn prototype(&self, signature: Signature, end: usize) -> Item {
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

    pub(in crate::parse) fn function(
        &self,
        signature: Signature,
        body: Vec<Statement>,
        end: usize,
    ) -> Item {
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

    pub(in crate::parse) fn reduction(
        &self,
        name: Name,
        ty: TypeName,
        value: Expr,
        identity: Expr,
        start: usize,
        end: usize,
    ) -> Item {
        let span = Span::new(start, end);
        let parameters = ["a", "b"].map(|it| {
            let at = name.span.range();
            let name = self.name(it, at.start, at.end);
            let declarator = self.declarator(Vec::new(), name, Vec::new(), at.start, at.end);
            self.parameter(ty.clone(), Some(declarator), at.start, at.end)
        });
        let function = |parameters: Vec<Parameter>, value: Expr| {
            let at = value.span.range();
            let body = self.statement(StatementKind::Return(Some(value)), at.start, at.end);
            Function {
                returns: ty.clone(),
                name: name.clone(),
                parameters,
                body: vec![body],
                lost: HashSet::new(),
                span,
            }
        };
        Item::Reduction(Box::new(Reduction {
            combiner: function(parameters.to_vec(), value),
            identity: function(Vec::new(), identity),
            span,
        }))
    }

    pub(in crate::parse) fn parameter(
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

    pub(in crate::parse) fn declarator(
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
    pub(in crate::parse) fn row_pointer(
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
    pub(in crate::parse) fn function_pointer(
        &self,
        name: Name,
        start: usize,
        end: usize,
    ) -> Declarator {
        self.lose(&name);
        let text = Some(name.text.clone());
        self.refuse(
            Unsupported::Function(UnsupportedFunction::FunctionPointer { name: text }),
            start,
            end,
        );
        let pointer = Pointer { is_const: false };
        self.declarator(vec![pointer], name, Vec::new(), start, end)
    }

    /// Stands as a member of its own.
    pub(in crate::parse) fn bit_field(
        &self,
        declarator: Option<Declarator>,
        start: usize,
        end: usize,
    ) -> Option<Declarator> {
        let name = declarator.as_ref().map(|it| it.name.text.clone());
        self.refuse(
            Unsupported::Declaration(UnsupportedDeclaration::BitField { name }),
            start,
            end,
        );
        declarator
    }

    pub(in crate::parse) fn nested_function(&self, signature: Signature, end: usize) -> Statement {
        let name = signature.name.text.clone();
        self.lose(&signature.name);
        self.refuse(
            Unsupported::Function(UnsupportedFunction::NestedFunction { name }),
            signature.start,
            end,
        );
        self.statement(StatementKind::Empty, signature.start, end)
    }

    /// A pointer to rows, which only a parameter can be, stands as a pointer.
    pub(in crate::parse) fn without_rows(&self, declarator: Declarator) -> Declarator {
        let name = &declarator.name;
        let first = declarator.lengths.first();
        let is_behind = |it: &Length| it.span.range().start >= name.span.range().start;
        if first.is_none_or(is_behind) {
            return declarator;
        }
        let (name, range) = (name.text.clone(), declarator.span.range());
        self.lose(&declarator.name);
        self.refuse(
            Unsupported::Declaration(UnsupportedDeclaration::RowPointer { name }),
            range.start,
            range.end,
        );
        let initial = declarator.initial.map(|it| Expr {
            kind: ExprKind::Invalid,
            ..it
        });
        Declarator {
            pointers: vec![Pointer { is_const: false }],
            lengths: Vec::new(),
            initial,
            ..declarator
        }
    }

    pub(in crate::parse) fn length(
        &self,
        length: Option<Expr>,
        start: usize,
        end: usize,
    ) -> Length {
        Length {
            length,
            span: Span::new(start, end),
        }
    }

    pub(in crate::parse) fn assertion(
        &self,
        condition: Expr,
        text: Vec<&str>,
        start: usize,
        end: usize,
    ) -> Assertion {
        let text = text.iter().map(|it| it.trim_matches('"'));
        Assertion {
            condition,
            text: text.collect(),
            span: Span::new(start, end),
        }
    }

    pub(in crate::parse) fn initialized(
        &self,
        declarator: Declarator,
        initial: Expr,
    ) -> Declarator {
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

    pub(in crate::parse) fn declaration(
        &self,
        ty: TypeName,
        declarators: Vec<Declarator>,
        start: usize,
        end: usize,
    ) -> Declaration {
        let declarators = declarators.into_iter();
        let declarators = declarators.map(|it| self.without_rows(it)).collect();
        Declaration {
            ty,
            declarators,
            span: Span::new(start, end),
        }
    }

    pub(in crate::parse) fn statement(
        &self,
        kind: StatementKind,
        start: usize,
        end: usize,
    ) -> Statement {
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

    pub(in crate::parse) fn branch(
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

    pub(in crate::parse) fn for_loop(
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

    pub(in crate::parse) fn while_loop(
        &self,
        condition: Expr,
        body: Statement,
        start: usize,
        end: usize,
    ) -> Statement {
        let body = Box::new(body);
        self.statement(StatementKind::While { condition, body }, start, end)
    }

    pub(in crate::parse) fn do_loop(
        &self,
        body: Statement,
        condition: Expr,
        start: usize,
        end: usize,
    ) -> Statement {
        let body = Box::new(body);
        self.statement(StatementKind::DoWhile { body, condition }, start, end)
    }

    pub(in crate::parse) fn with_pragma(
        &self,
        text: &str,
        inner: Statement,
        start: usize,
        end: usize,
    ) -> Statement {
        let pragma = PragmaText {
            text: text.to_owned(),
            span: Span::new(start, end),
        };
        // The innermost prefix is seen first.
        let mut inner = inner;
        inner.pragmas.insert(0, pragma);
        inner
    }

    pub(in crate::parse) fn switch(
        &self,
        value: Expr,
        body: Statement,
        start: usize,
        end: usize,
    ) -> Statement {
        let body = Box::new(body);
        self.statement(StatementKind::Switch { value, body }, start, end)
    }

    pub(in crate::parse) fn with_case(
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

    pub(in crate::parse) fn with_label(&self, label: Name, inner: Statement) -> Statement {
        let mut inner = inner;
        inner.labels.insert(0, label);
        inner
    }
}
