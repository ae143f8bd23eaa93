use super::{Resolver, Symbol};
use crate::text::error::ParseErrorKind;
use crate::text::tree::{Infix, Literal, LiteralKind, Name, Tree, TreeKind};
use crate::view::delinearized;
use crate::{Access, BinaryOp, CompareOp, Expr, Function, Span, Subscript, Type, UnaryOp, Value};

/// An expression and its type. The operands of an operation have been checked to be of one type.
type Typed = (Expr, Type);

impl<'a> Resolver<'a, '_> {
    /// The expression, of type `ty`.
    pub(super) fn typed(&mut self, tree: &Tree<'a>, ty: Type) -> Option<Expr> {
        let (expr, found) = self.expr(tree, Some(ty))?;
        if found == ty {
            return Some(expr);
        }
        let expected = ty;
        self.report(tree.span, ParseErrorKind::WrongType { expected, found });
        None
    }

    /// The expression and its type. `hint` is the type of its literals where nothing in the
    /// expression says otherwise; without it they are `i64` or `f64`.
    pub(super) fn expr(&mut self, tree: &Tree<'a>, hint: Option<Type>) -> Option<Typed> {
        match &tree.kind {
            TreeKind::Literal(literal) => self.literal(*literal, hint, tree.span),
            TreeKind::Bool(value) => Some((Expr::Constant(Value::bool(*value)), Type::Bool)),
            TreeKind::Threads => Some((Expr::Threads, Type::I64)),
            TreeKind::Name(name) => self.name(name, tree.span),
            TreeKind::Index(name, subscripts) => {
                let access = self.access(*name, subscripts, tree.span)?;
                let ty = self.kernel.arrays[access.array].element;
                Some((Expr::Load(access), ty))
            }
            TreeKind::Unary(op, operand) => self.unary(*op, operand, hint, tree.span),
            TreeKind::Infix(op, left, right) => self.infix(*op, left, right, hint, tree.span),
            TreeKind::Select(condition, then, otherwise) => {
                let condition = self.typed(condition, Type::Bool);
                let sides = self.sides(then, otherwise, hint, tree.span);
                let (then, otherwise, ty) = sides?;
                Some((Expr::select(condition?, then, otherwise), ty))
            }
            TreeKind::Cast(ty, operand) => self.cast(*ty, operand),
            TreeKind::Call(function, operands) => self.call(*function, operands, hint, tree.span),
            TreeKind::Group(inner) => self.expr(inner, hint),
            TreeKind::LinearizeIndex(..) => self.affine_only("linearize_index", tree.span),
            TreeKind::DelinearizeIndex(..) => self.affine_only("delinearize_index", tree.span),
            TreeKind::Error => None,
        }
    }

    /// The operands are of one type: each gives the others' literals theirs.
    fn call(
        &mut self,
        function: Function,
        operands: &[Tree<'a>],
        hint: Option<Type>,
        span: Span,
    ) -> Option<Typed> {
        let shown = operands.iter().find_map(|it| self.shown_type(it));
        let hint = shown
            .or(hint)
            .filter(|ty| ty.is_float())
            .or(Some(Type::F64));
        let typed: Vec<_> = operands.iter().map(|it| self.expr(it, hint)).collect();
        if operands.len() != function.operand_count() {
            let found = operands.len();
            self.report(span, ParseErrorKind::WrongOperandCount { function, found });
            return None;
        }
        let (operands, types): (Vec<_>, Vec<_>) = typed
            .into_iter()
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .unzip();
        let ty = *types.first()?;
        self.defined(function.name(), ty.is_float(), ty, span)?;
        if let Some(other) = types.into_iter().find(|it| *it != ty) {
            let (left, right) = (ty, other);
            self.report(span, ParseErrorKind::OperandsDiffer { left, right });
            return None;
        }
        Some((Expr::Call(function, operands), ty))
    }

    fn name(&mut self, name: &str, span: Span) -> Option<Typed> {
        match self.lookup(name, span)? {
            Symbol::Scalar(id) => Some((Expr::Param(id), self.kernel.scalars[id].ty)),
            Symbol::Iter(id) => Some((Expr::Iter(id), Type::I64)),
            Symbol::Local(id) => Some((Expr::Local(id), self.kernel.locals[id].ty)),
            Symbol::Array(_) | Symbol::View(_) => {
                self.wrong_kind(name, span, "a value; arrays take subscripts")
            }
            Symbol::Record => self.wrong_kind(name, span, "a value, but a record; its fields are"),
        }
    }

    fn literal(&mut self, literal: Literal<'a>, hint: Option<Type>, span: Span) -> Option<Typed> {
        let usual = default_type(literal.kind);
        let ty = hint.filter(|ty| suits(literal, *ty)).unwrap_or(usual);
        match value(literal, ty) {
            Some(value) => Some((Expr::Constant(value), ty)),
            None => {
                let sign = if literal.is_negative { "-" } else { "" };
                let literal = format!("{sign}{}", literal.digits);
                self.report(span, ParseErrorKind::LiteralOutOfRange { literal, ty });
                None
            }
        }
    }

    /// `f32(0.5)` is a constant, any other conversion converts.
    fn cast(&mut self, ty: Type, operand: &Tree<'a>) -> Option<Typed> {
        match &operand.kind {
            TreeKind::Literal(literal) if suits(*literal, ty) => {
                self.literal(*literal, Some(ty), operand.span)
            }
            _ => {
                let (operand, _) = self.expr(operand, None)?;
                Some((Expr::Cast(ty, Box::new(operand)), ty))
            }
        }
    }

    fn unary(
        &mut self,
        op: UnaryOp,
        operand: &Tree<'a>,
        hint: Option<Type>,
        span: Span,
    ) -> Option<Typed> {
        let (operand, ty) = self.expr(operand, hint)?;
        self.defined(op.symbol(), op.is_defined_on(ty), ty, span)?;
        Some((Expr::unary(op, operand), ty))
    }

    fn infix(
        &mut self,
        op: Infix,
        left: &Tree<'a>,
        right: &Tree<'a>,
        hint: Option<Type>,
        span: Span,
    ) -> Option<Typed> {
        match op {
            Infix::Binary(op) => self.binary(op, left, right, hint, span),
            Infix::Compare(op) => self.comparison(op, left, right, span),
            Infix::And | Infix::Or => {
                let left = self.typed(left, Type::Bool);
                let right = self.typed(right, Type::Bool);
                let (left, right) = (Box::new(left?), Box::new(right?));
                let expr = match op {
                    Infix::And => Expr::And(left, right),
                    _ => Expr::Or(left, right),
                };
                Some((expr, Type::Bool))
            }
            Infix::FloorDiv => self.affine_only("floordiv", span),
            Infix::CeilDiv => self.affine_only("ceildiv", span),
            Infix::Mod => self.affine_only("mod", span),
        }
    }

    fn affine_only(&mut self, word: &'static str, span: Span) -> Option<Typed> {
        self.report(span, ParseErrorKind::AffineOnly(word));
        None
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        left: &Tree<'a>,
        right: &Tree<'a>,
        hint: Option<Type>,
        span: Span,
    ) -> Option<Typed> {
        let (left, right, ty) = self.sides(left, right, hint, span)?;
        let is_defined = ty.is_integer() || (ty.is_float() && !op.is_integer_only());
        self.defined(op.symbol(), is_defined, ty, span)?;
        Some((Expr::binary(op, left, right, span), ty))
    }

    fn comparison(
        &mut self,
        op: CompareOp,
        left: &Tree<'a>,
        right: &Tree<'a>,
        span: Span,
    ) -> Option<Typed> {
        let (left, right, _) = self.sides(left, right, None, span)?;
        Some((Expr::compare(op, left, right), Type::Bool))
    }

    fn defined(&mut self, operation: &str, is_defined: bool, ty: Type, span: Span) -> Option<()> {
        if is_defined {
            return Some(());
        }
        let operation = operation.to_owned();
        self.report(span, ParseErrorKind::NotDefinedOn { operation, ty });
        None
    }

    /// Two operands of one type: each gives the other's literals their type.
    fn sides(
        &mut self,
        left: &Tree<'a>,
        right: &Tree<'a>,
        hint: Option<Type>,
        span: Span,
    ) -> Option<(Expr, Expr, Type)> {
        let shown = self.shown_type(left).or_else(|| self.shown_type(right));
        let usual = || [left, right].into_iter().find_map(literal_type);
        let hint = shown.or(hint).or_else(usual);
        let (left, right) = (self.expr(left, hint), self.expr(right, hint));
        let ((left, left_type), (right, right_type)) = (left?, right?);
        if left_type != right_type {
            let kind = ParseErrorKind::OperandsDiffer {
                left: left_type,
                right: right_type,
            };
            self.report(span, kind);
            return None;
        }
        Some((left, right, left_type))
    }

    /// The type that the expression shows without a hint, `None` when it is made of literals or is
    /// wrong.
    fn shown_type(&self, tree: &Tree<'a>) -> Option<Type> {
        match &tree.kind {
            TreeKind::Literal(_)
            | TreeKind::LinearizeIndex(..)
            | TreeKind::DelinearizeIndex(..)
            | TreeKind::Error => None,
            TreeKind::Bool(_) | TreeKind::Unary(UnaryOp::Not, _) => Some(Type::Bool),
            TreeKind::Name(name) => match self.scope.lookup(name).ok()? {
                Symbol::Scalar(id) => Some(self.kernel.scalars[id].ty),
                Symbol::Iter(_) => Some(Type::I64),
                Symbol::Local(id) => Some(self.kernel.locals[id].ty),
                Symbol::Array(_) | Symbol::View(_) | Symbol::Record => None,
            },
            TreeKind::Index(name, _) => match self.scope.lookup(name.text).ok()? {
                Symbol::Array(id) => Some(self.kernel.arrays[id].element),
                Symbol::View(id) => {
                    let array = self.views.get(id)?.array;
                    Some(self.kernel.arrays[array].element)
                }
                _ => None,
            },
            TreeKind::Unary(_, operand) | TreeKind::Group(operand) => self.shown_type(operand),
            TreeKind::Infix(Infix::Compare(_) | Infix::And | Infix::Or, ..) => Some(Type::Bool),
            TreeKind::Infix(_, left, right) | TreeKind::Select(_, left, right) => {
                self.shown_type(left).or_else(|| self.shown_type(right))
            }
            TreeKind::Threads => Some(Type::I64),
            TreeKind::Cast(ty, _) => Some(*ty),
            TreeKind::Call(_, operands) => operands.iter().find_map(|it| self.shown_type(it)),
        }
    }

    pub(super) fn access(
        &mut self,
        name: Name<'a>,
        subscripts: &[Tree<'a>],
        span: Span,
    ) -> Option<Access> {
        let symbol = self.lookup(name.text, name.span);
        let subscripts: Vec<_> = subscripts
            .iter()
            .flat_map(|it| self.subscripts(it))
            .collect();
        let viewed = self.viewed_symbol(symbol?, name)?;
        let (expected, found) = (viewed.rank(), subscripts.len());
        if expected != found {
            let array = name.text.to_owned();
            let kind = ParseErrorKind::WrongSubscriptCount {
                array,
                expected,
                found,
            };
            self.report(span, kind);
            return None;
        }
        let subscripts = subscripts.into_iter().collect::<Option<_>>()?;
        Some(Access {
            array: viewed.array,
            subscripts: self.through(&viewed, subscripts, span)?,
            span,
        })
    }

    /// One subscript, or those that `delinearize_index` gives without a number; `None` for each
    /// that was reported.
    fn subscripts(&mut self, tree: &Tree<'a>) -> Vec<Option<Subscript>> {
        let TreeKind::DelinearizeIndex(linear, basis, None) = &tree.ungrouped().kind else {
            return vec![self.subscript(tree)];
        };
        let count = basis.len();
        let (linear, basis) = (self.subscript(linear), self.basis(basis));
        let indices = match (linear, basis) {
            (Some(linear), Some(basis)) => {
                let indices = delinearized(&self.kernel, &linear, &basis, tree.span);
                if indices.is_none() {
                    self.report(tree.span, ParseErrorKind::AffineTooLarge);
                }
                indices
            }
            _ => None,
        };
        match indices {
            Some(indices) => indices.into_iter().map(Some).collect(),
            None => vec![None; count],
        }
    }

    fn subscript(&mut self, tree: &Tree<'a>) -> Option<Subscript> {
        if self.has_affine_form(tree) {
            return Some(Subscript::Affine(self.affine(tree)));
        }
        let (expr, ty) = match self.marked(tree) {
            Some((inner, ty)) => self.expr(inner, Some(ty))?,
            None => self.expr(tree, None)?,
        };
        if !ty.is_integer() {
            self.report(tree.span, ParseErrorKind::NotAnInteger(ty));
            return None;
        }
        Some(Subscript::Computed(expr))
    }

    /// What a conversion to the type that it has anyway marks as computed: `i64(i + 1)` wraps where
    /// `i + 1` does not.
    fn marked<'t>(&self, tree: &'t Tree<'a>) -> Option<(&'t Tree<'a>, Type)> {
        let TreeKind::Cast(ty, inner) = &tree.ungrouped().kind else {
            return None;
        };
        let mut core = inner.ungrouped();
        while let TreeKind::Cast(other, inner) = &core.kind
            && other == ty
        {
            core = inner.ungrouped();
        }
        let is_mark = self.has_affine_form(core) && self.shown_type(core) == Some(*ty);
        is_mark.then_some((inner, *ty))
    }
}

fn default_type(kind: LiteralKind) -> Type {
    match kind {
        LiteralKind::Integer => Type::I64,
        LiteralKind::Float => Type::F64,
    }
}

/// The default type of an expression that is made of literals: that of its first one.
fn literal_type(tree: &Tree<'_>) -> Option<Type> {
    match &tree.kind {
        TreeKind::Literal(literal) => Some(default_type(literal.kind)),
        TreeKind::Unary(_, operand) | TreeKind::Group(operand) => literal_type(operand),
        TreeKind::Infix(_, left, _) | TreeKind::Select(_, left, _) => literal_type(left),
        TreeKind::Call(..) => Some(Type::F64),
        _ => None,
    }
}

/// Whether the literal can be a constant of that type at all: an integer of any type of number, a
/// float of floats.
fn suits(literal: Literal<'_>, ty: Type) -> bool {
    match literal.kind {
        LiteralKind::Integer => ty != Type::Bool,
        LiteralKind::Float => ty.is_float(),
    }
}

fn value(literal: Literal<'_>, ty: Type) -> Option<Value> {
    let sign = |value: f64| if literal.is_negative { -value } else { value };
    match ty {
        // Read as an `f32` directly: by way of `f64` it would be rounded twice.
        Type::F32 => {
            let value: f32 = literal.digits.parse().ok()?;
            is_representable(literal, value.is_infinite())
                .then(|| Value::f32(if literal.is_negative { -value } else { value }))
        }
        Type::F64 => {
            let value: f64 = literal.digits.parse().ok()?;
            is_representable(literal, value.is_infinite()).then(|| Value::f64(sign(value)))
        }
        _ => {
            let magnitude: i128 = literal.digits.parse().ok()?;
            let value = if literal.is_negative {
                -magnitude
            } else {
                magnitude
            };
            let (least, greatest) = ty.integer_range()?;
            (least..=greatest)
                .contains(&value)
                .then(|| Value::integer(ty, value))
        }
    }
}

/// Digits that are too large for the type are no way to write infinity.
fn is_representable(literal: Literal<'_>, is_infinite: bool) -> bool {
    !is_infinite || literal.digits == "inf"
}
