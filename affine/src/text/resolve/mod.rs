//! From trees to kernels: looks names up, types literals, tells affine from computed subscripts.

mod affine;
mod expr;
mod label;
mod private;
mod record;
mod reduction;
mod scope;
mod view;

use super::error::{ParseError, ParseErrorKind};
use super::tree::{
    self, Binder, Forall, Item, KernelParam, Name, Param, Statement, StatementKind, Tree, TreeKind,
};
use crate::{
    AffineExpr, AffineFor, Array, ArrayId, Bound, Combiner, Disjoint, Expr, Iter, IterId, Kernel,
    Local, Node, Parameter, Place, Scalar, ScalarId, ScfFor, Span, Type,
};
use scope::{Scope, Symbol};
use std::borrow::Cow;
use std::collections::HashMap;
use std::str::FromStr;

/// Resolves every kernel, or tells all errors in all of them.
pub(super) fn kernels(items: &[tree::Item<'_>]) -> Result<Vec<Kernel>, Vec<ParseError>> {
    let mut kernels = Vec::new();
    let mut errors = Vec::new();
    // A declaration holds up to the next of its name.
    let mut declared = HashMap::new();
    for item in items {
        match item {
            Item::Kernel(tree) => {
                let mut resolver = Resolver::new(tree.name, &declared);
                resolver.params(&tree.params);
                resolver.assumptions(&tree.assumptions);
                resolver.outermost_block(tree);
                kernels.push(resolver.kernel);
                errors.extend(resolver.errors);
            }
            Item::Reduction(tree) => {
                let nothing = HashMap::new();
                let mut resolver = Resolver::new(tree.name, &nothing);
                let combiner = resolver.declared_combiner(tree);
                errors.extend(resolver.errors);
                declared.extend(combiner.map(|it| (tree.name.text, it)));
            }
        }
    }
    errors.sort_by_key(|error: &ParseError| error.span);
    if errors.is_empty() {
        Ok(kernels)
    } else {
        Err(errors)
    }
}

/// Builds one kernel. What cannot be resolved is reported and left out, and resolving goes on
/// behind it.
struct Resolver<'a, 'd> {
    kernel: Kernel,
    /// The combiners that are declared in front of the kernel.
    declared: &'d HashMap<&'a str, Combiner>,
    scope: Scope<'a>,
    /// What the names of views stand for.
    views: Vec<view::Viewed>,
    errors: Vec<ParseError>,
}

impl<'a, 'd> Resolver<'a, 'd> {
    fn new(name: Name<'a>, declared: &'d HashMap<&'a str, Combiner>) -> Self {
        Self {
            kernel: Kernel::new(name.text, name.span),
            declared,
            scope: Scope::default(),
            views: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn report(&mut self, span: Span, kind: ParseErrorKind) {
        self.errors.push(ParseError { span, kind });
    }

    fn declare(&mut self, name: Name<'a>, symbol: Symbol) {
        self.declare_at(Cow::Borrowed(name.text), name.span, symbol);
    }

    fn declare_at(&mut self, name: Cow<'a, str>, span: Span, symbol: Symbol) {
        if let Err(first) = self.scope.declare(name.clone(), span, symbol) {
            let name = name.into_owned();
            self.report(span, ParseErrorKind::Duplicate { name, first });
        }
    }

    fn lookup(&mut self, name: &str, span: Span) -> Option<Symbol> {
        match self.scope.lookup(name) {
            Ok(symbol) => Some(symbol),
            Err(kind) => {
                self.report(span, kind);
                None
            }
        }
    }

    fn wrong_kind<T>(&mut self, name: &str, span: Span, expected: &'static str) -> Option<T> {
        let name = name.to_owned();
        self.report(span, ParseErrorKind::WrongKind { name, expected });
        None
    }

    /// Extents may name scalars that come later, so those are declared first.
    fn params(&mut self, params: &[KernelParam<'a>]) {
        let scalars: Vec<_> = params
            .iter()
            .map(|it| match it {
                KernelParam::Plain(param) => self.scalar_param(param),
                KernelParam::Record(_) => None,
            })
            .collect();
        for (param, scalar) in params.iter().zip(scalars) {
            let parameter = match (param, scalar) {
                (_, Some(scalar)) => scalar,
                (KernelParam::Plain(param), None) => Parameter::Array(self.array(param)),
                (KernelParam::Record(record), None) => Parameter::Record(self.record(record)),
            };
            self.kernel.params.push(parameter);
        }
    }

    fn scalar_param(&mut self, param: &Param<'a>) -> Option<Parameter> {
        if param.extents.is_some() {
            return None;
        }
        let id = self.kernel.scalars.alloc(Scalar {
            name: param.name.text.to_owned(),
            ty: param.ty,
            inferred: param.inferred,
            span: param.name.span,
        });
        self.declare(param.name, Symbol::Scalar(id));
        Some(Parameter::Scalar(id))
    }

    fn array(&mut self, param: &Param<'a>) -> ArrayId {
        let extents = param.extents.as_deref().unwrap_or_default();
        if extents.is_empty() {
            let kind = ParseErrorKind::NoExtents(param.name.text.to_owned());
            self.report(param.name.span, kind);
        }
        let extents = extents.iter().map(|it| self.extent(it)).collect();
        let length = param.length.and_then(|it| self.length(it));
        let id = self.kernel.arrays.alloc(Array {
            name: param.name.text.to_owned(),
            element: param.ty,
            extents,
            length,
            field: None,
            span: param.name.span,
        });
        self.declare(param.name, Symbol::Array(id));
        id
    }

    /// The size that says how many elements a caller passes.
    fn length(&mut self, name: Name<'a>) -> Option<ScalarId> {
        match self.lookup(name.text, name.span)? {
            Symbol::Scalar(scalar) => Some(scalar),
            _ => self.wrong_kind(name.text, name.span, "a size"),
        }
    }

    fn extent(&mut self, tree: &Tree<'a>) -> AffineExpr {
        let extent = self.affine(tree);
        if !extent.is_over_parameters() {
            self.report(tree.span, ParseErrorKind::NotAffine);
        }
        extent
    }

    fn assumptions(&mut self, trees: &[Tree<'a>]) {
        let assumptions: Vec<_> = trees.iter().map(|it| self.condition(it)).collect();
        self.kernel.assumptions = assumptions.into_iter().flatten().collect();
    }

    fn outermost_block(&mut self, tree: &tree::Kernel<'a>) {
        self.kernel.body = self.statements(&tree.body).into();
        if let Some(value) = &tree.returned {
            self.kernel.result_span = value.span;
        }
        self.kernel.result = match (tree.result, &tree.returned) {
            (Some(ty), Some(value)) => self.typed(value, ty),
            (Some(ty), None) => {
                self.report(tree.name.span, ParseErrorKind::NoReturn(ty));
                None
            }
            (None, Some(value)) => {
                self.report(value.span, ParseErrorKind::ResultWithoutType);
                None
            }
            (None, None) => None,
        };
    }

    fn block(&mut self, statements: &[Statement<'a>]) -> Vec<Node> {
        let outer = self.scope.enter();
        let nodes = self.statements(statements);
        self.scope.leave(outer);
        nodes
    }

    fn statements(&mut self, statements: &[Statement<'a>]) -> Vec<Node> {
        let nodes = statements.iter().filter_map(|it| self.statement(it));
        nodes.collect()
    }

    fn statement(&mut self, statement: &Statement<'a>) -> Option<Node> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::AffineFor(affine) => Some(self.affine_for(affine, span)),
            StatementKind::AffineIf {
                conditions,
                then,
                otherwise,
            } => Some(self.affine_if(conditions, then, otherwise)),
            StatementKind::Forall(forall) => Some(self.forall(forall, span)),
            StatementKind::ScfFor(scf) => self.scf_for(scf, span),
            StatementKind::ScfWhile { condition, body } => self.scf_while(condition, body, span),
            StatementKind::ScfIf {
                condition,
                then,
                otherwise,
            } => self.scf_if(condition, then, otherwise),
            StatementKind::Declare {
                binder,
                name,
                ty,
                value,
            } => self.declaration(*binder, *name, *ty, value),
            StatementKind::Alloc { array } => Some(Node::Alloc {
                array: self.array(array),
            }),
            StatementKind::View { name, of } => {
                self.view(*name, of);
                None
            }
            StatementKind::Assign { place, value } => self.assignment(place, value, span),
            StatementKind::Reduce {
                places,
                combiner,
                values,
            } => self.reduction(places, *combiner, values, span),
            StatementKind::Labelled { label, labelled } => self.labelled(*label, labelled),
            StatementKind::Error => None,
        }
    }

    fn affine_for(&mut self, affine: &tree::AffineFor<'a>, span: Span) -> Node {
        let (lower, upper) = (self.bound(&affine.lower), self.bound(&affine.upper));
        let step = self.count(affine.step, Type::I64);
        let lanes = self.count(affine.lanes, Type::U32);
        let (iter, body) = self.loop_body(affine.iter, span, &affine.body);
        Node::AffineFor(AffineFor {
            iter,
            lower,
            upper,
            step,
            lanes,
            body: body.into(),
        })
    }

    fn affine_if(
        &mut self,
        conditions: &[Tree<'a>],
        then: &[Statement<'a>],
        otherwise: &[Statement<'a>],
    ) -> Node {
        let conditions: Vec<_> = conditions.iter().map(|it| self.condition(it)).collect();
        Node::AffineIf {
            conditions: conditions.into_iter().flatten().collect(),
            then: self.block(then).into(),
            otherwise: self.block(otherwise).into(),
        }
    }

    fn scf_for(&mut self, scf: &tree::ScfFor<'a>, span: Span) -> Option<Node> {
        let lower = self.typed(&scf.lower, Type::I64);
        let upper = self.typed(&scf.upper, Type::I64);
        let step = self.count(scf.step, Type::I64);
        let lanes = self.count(scf.lanes, Type::U32);
        let (iter, body) = self.loop_body(scf.iter, span, &scf.body);
        Some(Node::ScfFor(ScfFor {
            iter,
            lower: lower?,
            upper: upper?,
            step,
            lanes,
            body: body.into(),
        }))
    }

    fn scf_while(
        &mut self,
        condition: &Tree<'a>,
        body: &[Statement<'a>],
        span: Span,
    ) -> Option<Node> {
        let condition = self.typed(condition, Type::Bool);
        let body = self.block(body);
        condition.map(|condition| Node::ScfWhile {
            condition,
            body: body.into(),
            span,
        })
    }

    fn scf_if(
        &mut self,
        condition: &Tree<'a>,
        then: &[Statement<'a>],
        otherwise: &[Statement<'a>],
    ) -> Option<Node> {
        let span = condition.span;
        let condition = self.typed(condition, Type::Bool);
        let (then, otherwise) = (self.block(then), self.block(otherwise));
        condition.map(|condition| Node::ScfIf {
            condition,
            then: then.into(),
            otherwise: otherwise.into(),
            span,
        })
    }

    fn assignment(&mut self, place: &Tree<'a>, value: &Tree<'a>, span: Span) -> Option<Node> {
        let place = self.place(place);
        let (place, value) = self.value_for(place, value)?;
        Some(Node::Assign { place, value, span })
    }

    fn reduction(
        &mut self,
        places: &[Tree<'a>],
        combiner: tree::Combiner<'a>,
        values: &[Tree<'a>],
        span: Span,
    ) -> Option<Node> {
        let places: Vec<_> = places.iter().map(|place| self.place(place)).collect();
        let types = places.iter().map(|place| place.as_ref().map(|it| it.1));
        let combiner = self.combiner(combiner, types.collect());
        // Where there are more of the one than of the other, which the verifier tells, the rest has
        // no type to take.
        let mut rest = places.into_iter();
        let (mut found, mut incoming) = (Vec::new(), Vec::new());
        for value in values {
            match rest.next() {
                Some(place) => {
                    let both = self.value_for(place, value);
                    found.push(both.as_ref().map(|(place, _)| place.clone()));
                    incoming.push(both.map(|(_, value)| value));
                }
                None => incoming.push(self.expr(value, None).map(|(value, _)| value)),
            }
        }
        found.extend(rest.map(|place| place.map(|(place, _)| place)));
        Some(Node::Reduce {
            places: found.into_iter().collect::<Option<_>>()?,
            combiner: combiner?,
            values: incoming.into_iter().collect::<Option<_>>()?,
            span,
        })
    }

    fn bound(&mut self, alternatives: &[Tree<'a>]) -> Bound {
        Bound(alternatives.iter().map(|it| self.affine(it)).collect())
    }

    /// A number that is 1 where nothing is said, of type `ty`.
    fn count<T: FromStr + From<u8>>(&mut self, given: Option<Name<'a>>, ty: Type) -> T {
        let Some(given) = given else { return 1.into() };
        given.text.parse().unwrap_or_else(|_| {
            let kind = ParseErrorKind::LiteralOutOfRange {
                literal: given.text.to_owned(),
                ty,
            };
            self.report(given.span, kind);
            1.into()
        })
    }

    fn loop_body(
        &mut self,
        iter: Name<'a>,
        span: Span,
        body: &[Statement<'a>],
    ) -> (IterId, Vec<Node>) {
        let outer = self.scope.enter();
        let id = self.kernel.iters.alloc(Iter {
            name: iter.text.to_owned(),
            labels: Vec::new(),
            span,
        });
        self.declare(iter, Symbol::Iter(id));
        let body = self.block(body);
        self.scope.leave(outer);
        (id, body)
    }

    fn forall(&mut self, forall: &Forall<'a>, span: Span) -> Node {
        if !matches!(&forall.lower.kind, TreeKind::Literal(it) if it.digits == "0") {
            self.report(forall.lower.span, ParseErrorKind::ForallFromZero);
        }
        let count = self.affine(&forall.count);
        let outer = self.scope.enter();
        let clauses = &forall.privates;
        let privates: Vec<_> = clauses.iter().map(|it| self.private(it, forall)).collect();
        for merge in &forall.merges {
            self.merged_buffers(merge, forall);
        }
        let clauses = forall.speculative.iter();
        let speculative: Vec<_> = clauses.map(|it| self.speculative(it)).collect();
        let disjoint = forall.disjoint.iter().map(|(target, met)| {
            let (target, met) = (self.target(*target), self.target(*met));
            Some(Disjoint {
                target: target?,
                met: met?,
            })
        });
        let disjoint: Vec<_> = disjoint.collect();
        let (iter, body) = self.loop_body(forall.iter, span, &forall.body);
        self.scope.leave(outer);
        Node::Forall(crate::Forall {
            iter,
            count,
            privates: privates.into_iter().chain(speculative).flatten().collect(),
            disjoint: disjoint.into_iter().flatten().collect(),
            strategy: forall.strategy.map_or("auto", |it| it.text).to_owned(),
            body: body.into(),
        })
    }

    fn target(&mut self, name: Name<'a>) -> Option<ArrayId> {
        let symbol = self.lookup(name.text, name.span)?;
        self.array_symbol(symbol, name)
    }

    fn array_symbol(&mut self, symbol: Symbol, name: Name<'a>) -> Option<ArrayId> {
        match symbol {
            Symbol::Array(array) => Some(array),
            _ => self.wrong_kind(name.text, name.span, "an array"),
        }
    }

    /// The combiner, if it exists and is defined on `types`. That they are as many as it has parts
    /// is for the verifier to say.
    fn combiner(
        &mut self,
        written: tree::Combiner<'a>,
        types: Option<Vec<Type>>,
    ) -> Option<Combiner> {
        let declared = || match written.parameter {
            Some(_) => None,
            None => self.declared.get(written.name.text).cloned(),
        };
        let Some(combiner) = built_in(written).or_else(declared) else {
            let kind = ParseErrorKind::UnknownCombiner(text_of(written));
            self.report(written.span, kind);
            return None;
        };
        let unlike = types
            .filter(|types| types.len() == combiner.parts() && combiner.bodies(types).is_none());
        if let Some(ty) = unlike.and_then(|types| types.first().copied()) {
            let operation = combiner.to_string();
            let kind = ParseErrorKind::NotDefinedOn { operation, ty };
            self.report(written.span, kind);
            return None;
        }
        Some(combiner)
    }

    /// Declares the name even when the value is wrong: one error is enough.
    fn declaration(
        &mut self,
        binder: Binder,
        name: Name<'a>,
        ty: Type,
        value: &Tree<'a>,
    ) -> Option<Node> {
        let value = self.typed(value, ty);
        let (mutable, is_element) = match binder {
            Binder::Let => (false, false),
            Binder::Var => (true, false),
            Binder::Element => (true, true),
        };
        let local = self.kernel.locals.alloc(Local {
            name: name.text.to_owned(),
            ty,
            mutable,
            is_element,
            span: name.span,
        });
        self.declare(name, Symbol::Local(local));
        value.map(|value| Node::Declare { local, value })
    }

    fn value_for(
        &mut self,
        place: Option<(Place, Type)>,
        value: &Tree<'a>,
    ) -> Option<(Place, Expr)> {
        match place {
            Some((place, ty)) => self.typed(value, ty).map(|value| (place, value)),
            None => {
                self.expr(value, None);
                None
            }
        }
    }

    fn place(&mut self, tree: &Tree<'a>) -> Option<(Place, Type)> {
        match &tree.kind {
            TreeKind::Index(name, subscripts) => {
                let access = self.access(*name, subscripts, tree.span)?;
                let ty = self.kernel.arrays[access.array].element;
                Some((Place::Element(access), ty))
            }
            TreeKind::Name(name) => match self.lookup(name, tree.span)? {
                Symbol::Local(local) => Some((Place::Local(local), self.kernel.locals[local].ty)),
                _ => self.wrong_kind(name, tree.span, "a `var`"),
            },
            _ => None,
        }
    }
}

fn built_in(written: tree::Combiner<'_>) -> Option<Combiner> {
    match written.parameter {
        Some(parameter) => {
            let magnitude: i128 = parameter.digits.parse().ok()?;
            let signed = if parameter.is_negative {
                -magnitude
            } else {
                magnitude
            };
            Combiner::with_parameter(written.name.text, signed)
        }
        None => Combiner::from_name(written.name.text),
    }
}

fn text_of(written: tree::Combiner<'_>) -> String {
    let name = written.name.text;
    match written.parameter {
        Some(parameter) => {
            let sign = if parameter.is_negative { "-" } else { "" };
            format!("{name}({sign}{})", parameter.digits)
        }
        None => name.to_owned(),
    }
}
