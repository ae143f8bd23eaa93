use super::{EntityKind, MAX_NESTING, Verifier, ViolationKind};
use crate::{
    Access, AffineExpr, Array, ArrayId, BinaryOp, Expr, Factor, Function, Iter, IterId, Local,
    LocalId, Operand, Scalar, ScalarId, Subscript, Type, UnaryOp, Variable,
};
use la_arena::{Arena, Idx};

/// What an expression is part of.
#[derive(Clone, Copy)]
enum Within<'t> {
    Kernel,
    /// The body of a combiner, whose operands have these types.
    Combiner(&'t [Type]),
}

/// The entry of an id, if the id is one of the arena's.
fn entry<T>(arena: &Arena<T>, id: Idx<T>) -> Option<&T> {
    let position = usize::try_from(id.into_raw().into_u32()).ok()?;
    arena.values().nth(position)
}

/// How deep the text of an affine expression is nested: every operator and every division is a
/// level of its own.
fn levels(expr: &AffineExpr) -> usize {
    let factors = expr.terms().iter().flat_map(|term| &term.factors);
    let deepest = factors.map(|factor| match factor {
        Factor::Variable(_) => 0,
        Factor::FloorDiv(left, right) | Factor::Mod(left, right) => {
            2 + levels(left).max(levels(right))
        }
    });
    let longest = expr.terms().iter().map(|it| it.factors.len()).max();
    expr.terms().len() + longest.unwrap_or(0) + deepest.max().unwrap_or(0)
}

impl<'k> Verifier<'k> {
    pub(super) fn known_scalar(&mut self, id: ScalarId) -> Option<&'k Scalar> {
        let found = entry(&self.kernel.scalars, id);
        self.known(found, EntityKind::Scalar)
    }

    pub(super) fn known_array(&mut self, id: ArrayId) -> Option<&'k Array> {
        let found = entry(&self.kernel.arrays, id);
        self.known(found, EntityKind::Array)
    }

    pub(super) fn known_iter(&mut self, id: IterId) -> Option<&'k Iter> {
        let found = entry(&self.kernel.iters, id);
        self.known(found, EntityKind::Iter)
    }

    pub(super) fn known_local(&mut self, id: LocalId) -> Option<&'k Local> {
        let found = entry(&self.kernel.locals, id);
        self.known(found, EntityKind::Local)
    }

    fn known<T>(&mut self, found: Option<T>, kind: EntityKind) -> Option<T> {
        if found.is_none() {
            self.report(ViolationKind::ForeignId(kind));
        }
        found
    }

    fn visible(&mut self, is_visible: bool, kind: EntityKind, name: &str) {
        if !is_visible {
            self.report(ViolationKind::NotInScope(kind, name.to_owned()));
        }
    }

    fn visible_scalar(&mut self, id: ScalarId) -> Option<&'k Scalar> {
        let scalar = self.known_scalar(id)?;
        let is_visible = self.scope.scalars.contains(&id);
        self.visible(is_visible, EntityKind::Scalar, &scalar.name);
        Some(scalar)
    }

    pub(super) fn visible_array(&mut self, id: ArrayId) -> Option<&'k Array> {
        let array = self.known_array(id)?;
        let is_visible = self.scope.arrays.contains(&id);
        self.visible(is_visible, EntityKind::Array, &array.name);
        Some(array)
    }

    fn visible_iter(&mut self, id: IterId) {
        if let Some(iter) = self.known_iter(id) {
            let is_visible = self.scope.iters.contains(&id);
            self.visible(is_visible, EntityKind::Iter, &iter.name);
        }
    }

    pub(super) fn visible_local(&mut self, id: LocalId) -> Option<&'k Local> {
        let local = self.known_local(id)?;
        let is_visible = self.scope.locals.contains(&id);
        self.visible(is_visible, EntityKind::Local, &local.name);
        Some(local)
    }

    pub(super) fn affine(&mut self, expr: &AffineExpr) {
        if levels(expr) > 2 * MAX_NESTING {
            return self.report(ViolationKind::TooDeep);
        }
        expr.for_each_variable(&mut |variable| self.variable(variable));
        self.divisors(expr);
    }

    fn variable(&mut self, variable: Variable) {
        match variable {
            Variable::Iter(iter) => self.visible_iter(iter),
            Variable::Param(param) => {
                if let Some(ty) = self.visible_scalar(param).map(|it| it.ty) {
                    self.integer(ty);
                }
            }
        }
    }

    fn divisors(&mut self, expr: &AffineExpr) {
        for factor in expr.terms().iter().flat_map(|term| &term.factors) {
            if let Factor::FloorDiv(left, right) | Factor::Mod(left, right) = factor {
                self.divisors(left);
                self.without_iterators(right);
            }
        }
    }

    pub(super) fn over_parameters(&mut self, expr: &AffineExpr) {
        self.affine(expr);
        self.without_iterators(expr);
    }

    fn without_iterators(&mut self, expr: &AffineExpr) {
        if !expr.is_over_parameters() {
            self.report(ViolationKind::NotOverParameters);
        }
    }

    fn integer(&mut self, ty: Type) {
        if !ty.is_integer() {
            self.report(ViolationKind::NotAnInteger(ty));
        }
    }

    pub(super) fn same(&mut self, expected: Option<Type>, found: Option<Type>) {
        if let (Some(expected), Some(found)) = (expected, found)
            && expected != found
        {
            self.report(ViolationKind::WrongType { expected, found });
        }
    }

    /// Checks that `expr` is a `ty`.
    pub(super) fn typed(&mut self, expr: &'k Expr, ty: Type) {
        let found = self.value(expr);
        self.same(Some(ty), found);
    }

    /// Checks `expr`; its type, where that is known in spite of violations.
    pub(super) fn value(&mut self, expr: &'k Expr) -> Option<Type> {
        self.expr(expr, Within::Kernel, 1)
    }

    pub(super) fn combiner_body(&mut self, body: &Expr, operands: &[Type], ty: Type) {
        let found = self.expr(body, Within::Combiner(operands), 1);
        self.same(Some(ty), found);
    }

    fn expr(&mut self, expr: &Expr, within: Within<'_>, depth: usize) -> Option<Type> {
        if depth > MAX_NESTING {
            self.report(ViolationKind::TooDeep);
            return None;
        }
        let inside = |verifier: &mut Self, operand| verifier.expr(operand, within, depth + 1);
        match expr {
            Expr::Constant(value) => Some(value.ty()),
            Expr::Iter(_)
            | Expr::Param(_)
            | Expr::Local(_)
            | Expr::Operand(_)
            | Expr::Threads
            | Expr::Load(_) => self.leaf(expr, within, depth),
            Expr::Unary(op, operand) => {
                let ty = inside(self, operand)?;
                self.unary(*op, ty);
                Some(ty)
            }
            Expr::Binary(op, left, right, span) => {
                let is_sure =
                    right.as_divisor().is_some() || !matches!(within, Within::Combiner(_));
                let (left, right) = (inside(self, left), inside(self, right));
                if *span != crate::Span::default() {
                    self.here = *span;
                }
                let ty = self.operands(left, right)?;
                self.binary(*op, ty, is_sure);
                Some(ty)
            }
            Expr::Compare(_, left, right) => {
                let (left, right) = (inside(self, left), inside(self, right));
                self.operands(left, right);
                Some(Type::Bool)
            }
            Expr::And(left, right) | Expr::Or(left, right) => {
                for side in [left, right] {
                    let found = inside(self, side);
                    self.same(Some(Type::Bool), found);
                }
                Some(Type::Bool)
            }
            Expr::Select(condition, then, otherwise) => {
                let condition = inside(self, condition);
                self.same(Some(Type::Bool), condition);
                let (then, otherwise) = (inside(self, then), inside(self, otherwise));
                self.operands(then, otherwise)
            }
            Expr::Cast(ty, operand) => {
                inside(self, operand);
                Some(*ty)
            }
            Expr::Call(function, operands) => {
                let types: Vec<_> = operands.iter().map(|it| inside(self, it)).collect();
                self.call(*function, &types)
            }
        }
    }

    fn call(&mut self, function: Function, types: &[Option<Type>]) -> Option<Type> {
        if types.len() != function.operand_count() {
            self.report(ViolationKind::WrongOperandCount {
                function,
                found: types.len(),
            });
        }
        let (first, others) = types.split_first()?;
        let ty = others
            .iter()
            .try_fold((*first)?, |ty, other| self.operands(Some(ty), *other))?;
        self.defined(function.name(), ty.is_float(), ty);
        Some(ty)
    }

    fn leaf(&mut self, leaf: &Expr, within: Within<'_>, depth: usize) -> Option<Type> {
        match (leaf, within) {
            (
                Expr::Operand(Operand::Held(part) | Operand::Incoming(part)),
                Within::Combiner(types),
            ) if types.get(*part).is_some() => {
                return types.get(*part).copied();
            }
            (Expr::Operand(Operand::Host(_)), Within::Combiner([ty])) => return Some(*ty),
            (Expr::Operand(_), Within::Kernel) | (_, Within::Combiner(_)) => {
                self.report(ViolationKind::MisplacedOperand);
                return None;
            }
            (_, Within::Kernel) => {}
        }
        match leaf {
            Expr::Iter(iter) => {
                self.visible_iter(*iter);
                Some(Type::I64)
            }
            Expr::Threads => Some(Type::I64),
            Expr::Param(param) => self.visible_scalar(*param).map(|it| it.ty),
            Expr::Local(local) => self.visible_local(*local).map(|it| it.ty),
            Expr::Load(access) => self.access(access, depth),
            _ => None,
        }
    }

    fn unary(&mut self, op: UnaryOp, ty: Type) {
        self.defined(op.symbol(), op.is_defined_on(ty), ty);
    }

    /// A division may stand where it is, or is one by what is not 0, if it `is_sure`.
    fn binary(&mut self, op: BinaryOp, ty: Type, is_sure: bool) {
        let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem) && ty.is_integer();
        if divides && !is_sure {
            self.report(ViolationKind::DivisionInCombiner);
        }
        let is_defined = ty.is_integer() || (ty.is_float() && !op.is_integer_only());
        self.defined(op.symbol(), is_defined, ty);
    }

    fn defined(&mut self, operation: &str, is_defined: bool, ty: Type) {
        if !is_defined {
            self.report(ViolationKind::NotDefinedOn {
                operation: operation.to_owned(),
                types: vec![ty],
            });
        }
    }

    /// The type that both operands have.
    fn operands(&mut self, left: Option<Type>, right: Option<Type>) -> Option<Type> {
        let (left, right) = (left?, right?);
        if left != right {
            self.report(ViolationKind::OperandsDiffer(left, right));
            return None;
        }
        Some(left)
    }

    pub(super) fn access(&mut self, access: &Access, depth: usize) -> Option<Type> {
        let around = std::mem::replace(&mut self.here, access.span);
        if access.span == crate::Span::default() {
            self.here = around;
        }
        let array = self.visible_array(access.array);
        if let Some(array) = array {
            self.rank(array, access);
        }
        for subscript in &access.subscripts {
            match subscript {
                Subscript::Affine(expr) => self.affine(expr),
                Subscript::Computed(expr) => {
                    if let Some(ty) = self.expr(expr, Within::Kernel, depth + 1) {
                        self.integer(ty);
                    }
                }
            }
        }
        self.here = around;
        array.map(|it| it.element)
    }

    fn rank(&mut self, array: &Array, access: &Access) {
        if self.scope.is_frozen(access.array) {
            self.report(ViolationKind::TargetTouched(array.name.clone()));
        }
        if array.extents.len() != access.subscripts.len() {
            self.report(ViolationKind::WrongSubscriptCount {
                array: array.name.clone(),
                expected: array.extents.len(),
                found: access.subscripts.len(),
            });
        }
    }
}
