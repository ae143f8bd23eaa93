//! What a kernel takes: parameters, the shapes of arrays, and what the shapes tell about the
//! parameters.

use super::affine_value::Affine;
use super::interval::Interval;
use super::{Binding, Lowering, value};
use crate::ast::{
    BinaryOp as Operator, Declarator, Expr, ExprKind, Function, Name, Parameter, UnaryOp,
};
use crate::problem::{
    DeclarationProblem, Problem, Unsupported, UnsupportedDeclaration, UnsupportedFunction,
};
use crate::types::{self, Position};
use strew_affine::{
    AffineExpr, Array, ArrayId, BinaryOp, Expr as Computation, Kernel, Node,
    Parameter as KernelParameter, Scalar, ScalarId, Span, Type, Variable,
};

/// In bytes: what 57-bit addresses leave to a process.
const LARGEST_ADDRESS_SPACE: i128 = 1 << 56;

impl Lowering<'_> {
    /// Declares the parameters; those that the function assigns are copied to variables first.
    pub(super) fn signature(&mut self, function: &Function, body: &mut Vec<Node>) {
        self.active.exit.returned = self.returned_by(function);
        if let types::Returned::Structure(_) = self.active.exit.returned {
            let name = function.name.text.clone();
            let problem = Problem::Unsupported(Unsupported::Function(
                UnsupportedFunction::StructureReturned { name },
            ));
            self.diagnostics.report(problem, function.returns.span);
        }
        for parameter in &function.parameters {
            self.parameter_declaration(parameter, function.parameters.len());
        }
        self.learn_from_shapes();
        for parameter in &function.parameters {
            self.copy_if_assigned(parameter, body);
        }
    }

    fn parameter_declaration(&mut self, parameter: &Parameter, count: usize) {
        let named = match types::named(&parameter.ty, Position::Parameter) {
            Ok(named) => named,
            Err(problem) => return self.diagnostics.report(problem, parameter.ty.span),
        };
        let Some(declarator) = &parameter.declarator else {
            if named.ty.is_some() || count > 1 {
                self.diagnostics
                    .report(DeclarationProblem::UnnamedParameter, parameter.span);
            }
            return;
        };
        let (structure, ty) = (named.structure, named.ty);
        let is_array = !declarator.lengths.is_empty() || !declarator.pointers.is_empty();
        match (structure, ty) {
            (Some(structure), _) => {
                self.structure_parameter(declarator, &structure, named.is_const);
            }
            (None, Some(ty)) if is_array => self.array_parameter(declarator, ty, named.is_const),
            (None, Some(ty)) => self.scalar_parameter(declarator, ty),
            (None, None) => self
                .diagnostics
                .report(DeclarationProblem::VoidValue, parameter.span),
        }
    }

    fn scalar_parameter(&mut self, declarator: &Declarator, ty: Type) {
        let name = &declarator.name;
        let scalar = self.declare_scalar(name.text.clone(), ty, name.span);
        self.bind(name, Binding::Parameter(scalar));
    }

    /// A new parameter that is a number.
    pub(super) fn declare_scalar(&mut self, name: String, ty: Type, span: Span) -> ScalarId {
        let scalar = self.kernel.scalars.alloc(Scalar {
            name,
            ty,
            inferred: false,
            span,
        });
        self.kernel.params.push(KernelParameter::Scalar(scalar));
        if let Some(range) = Interval::of(ty) {
            self.ranges.set(Variable::Param(scalar), range);
        }
        scalar
    }

    fn array_parameter(&mut self, declarator: &Declarator, element: Type, is_const: bool) {
        let name = &declarator.name;
        let Some(extents) = self.parameter_extents(declarator) else {
            return;
        };
        let array = self.declare_array(name, element, extents, is_const);
        self.kernel.params.push(KernelParameter::Array(array));
    }

    /// An array that `name` means from here on.
    pub(super) fn declare_array(
        &mut self,
        name: &Name,
        element: Type,
        extents: Vec<AffineExpr>,
        is_const: bool,
    ) -> ArrayId {
        let array = self.kernel.arrays.alloc(Array {
            name: name.text.clone(),
            element,
            extents,
            length: None,
            field: None,
            span: name.span,
        });
        self.bind(name, Binding::Array { array, is_const });
        array
    }

    /// The lengths of an array parameter; the first may be left to the call, as that of a pointer
    /// is. Nothing after an error.
    pub(super) fn parameter_extents(&mut self, declarator: &Declarator) -> Option<Vec<AffineExpr>> {
        let name = &declarator.name;
        match (
            declarator.pointers.as_slice(),
            declarator.lengths.as_slice(),
        ) {
            ([_], []) => return Some(vec![self.inferred_length(name)]),
            ([], _) => {}
            _ => {
                let name = name.text.clone();
                let problem = Problem::Unsupported(Unsupported::Declaration(
                    UnsupportedDeclaration::Pointer { name },
                ));
                self.diagnostics.report(problem, declarator.span);
                return None;
            }
        }
        let mut extents = Vec::with_capacity(declarator.lengths.len());
        for (index, length) in declarator.lengths.iter().enumerate() {
            let extent = if index == 0 && length.length.is_none() {
                Ok(Some(self.inferred_length(name)))
            } else {
                self.length(&name.text, length.length.as_ref())
            };
            match extent {
                Ok(extent) => extents.extend(extent),
                Err(problem) => self.diagnostics.report(problem, length.span),
            }
        }
        (extents.len() == declarator.lengths.len()).then_some(extents)
    }

    /// A length that nobody passes: the call finds it from the array.
    fn inferred_length(&mut self, name: &Name) -> AffineExpr {
        let scalar = self.kernel.scalars.alloc(Scalar {
            name: format!("{}_length", name.text),
            ty: Type::I64,
            inferred: true,
            span: name.span,
        });
        self.kernel.params.push(KernelParameter::Scalar(scalar));
        self.ranges
            .set(Variable::Param(scalar), Interval::new(0, i64::MAX.into()));
        scalar.into()
    }

    /// `None` when an error about it has been reported already.
    pub(super) fn length(
        &self,
        array: &str,
        length: Option<&Expr>,
    ) -> Result<Option<AffineExpr>, DeclarationProblem> {
        let array = array.to_owned();
        let length = length.ok_or(DeclarationProblem::MissingLength {
            array: array.clone(),
        })?;
        let mut is_resolved = true;
        length.for_each_name(&mut |name| is_resolved &= name.declaration.is_some());
        match self.extent(length) {
            None if is_resolved => Err(DeclarationProblem::LengthNotAffine { array }),
            extent => Ok(extent),
        }
    }

    /// A length as a mathematical integer: an array whose size wrapped around could not be handed
    /// over.
    pub(super) fn extent(&self, expr: &Expr) -> Option<AffineExpr> {
        match &expr.kind {
            ExprKind::Constant(value) => {
                let value = i64::try_from(value.as_integer()?).ok()?;
                Some(value.into())
            }
            ExprKind::Name(_) | ExprKind::Member(..) => match self.part(expr)? {
                Binding::Parameter(scalar) if self.kernel.scalars[scalar].ty.is_integer() => {
                    Some(scalar.into())
                }
                Binding::Let { known, .. } => {
                    let affine = known.affine.as_ref().and_then(Affine::proved);
                    affine.filter(|it| is_over_parameters(it)).cloned()
                }
                Binding::Value(value) => handed_over(&self.kernel, &value.expr),
                _ => None,
            },
            ExprKind::Cast(ty, operand) => {
                let to = types::named(ty, Position::Cast).ok()?.ty?;
                self.extent(operand).filter(|_| to.is_integer())
            }
            ExprKind::Unary(UnaryOp::Plus, operand) => self.extent(operand),
            ExprKind::Unary(UnaryOp::Minus, operand) => self.extent(operand)?.scaled(-1).ok(),
            ExprKind::Binary(Operator::Arithmetic(op), left, right) => {
                let (left, right) = (self.extent(left)?, self.extent(right)?);
                match op {
                    BinaryOp::Add => left.plus(&right).ok(),
                    BinaryOp::Sub => left.minus(&right).ok(),
                    BinaryOp::Mul => value::product(&left, &right).ok(),
                    // C rounds what is below zero up, but then there is no such array.
                    BinaryOp::Div => left.floordiv(&positive(&right)?).ok(),
                    BinaryOp::Shr => left.floordiv(&power_of_two(&right)?).ok(),
                    BinaryOp::Shl => value::product(&left, &power_of_two(&right)?).ok(),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// No array has a negative length, and none has more bytes than an address space: where a
    /// length is a parameter plus a constant, that bounds the parameter. A call that says otherwise
    /// is refused before the kernel runs.
    fn learn_from_shapes(&mut self) {
        for array in self.kernel.arrays.values() {
            // Where another length may be 0, an empty array says nothing about this one.
            let is_row = array
                .extents
                .iter()
                .skip(1)
                .all(|it| it.as_constant() > Some(0));
            let longest = if is_row {
                LARGEST_ADDRESS_SPACE / i128::from(array.element.bytes())
            } else {
                i128::from(i64::MAX)
            };
            for extent in &array.extents {
                if let Some((param, offset)) = shifted_parameter(extent) {
                    let offset = i128::from(offset);
                    let range = Interval::new(-offset, longest - offset);
                    let before = self.ranges.get(Variable::Param(param));
                    self.ranges
                        .set(Variable::Param(param), before.narrowed(range));
                }
            }
        }
    }

    fn copy_if_assigned(&mut self, parameter: &Parameter, body: &mut Vec<Node>) {
        let Some(declarator) = &parameter.declarator else {
            return;
        };
        let name = &declarator.name;
        self.parameter_cursor(name, body);
        if !self.is_assigned(name) {
            return;
        }
        let is_const = types::named(&parameter.ty, Position::Parameter).is_ok_and(|it| it.is_const);
        self.copy_structure(name, is_const, body);
        let Binding::Parameter(scalar) = *self.binding(name) else {
            return;
        };
        let ty = self.kernel.scalars[scalar].ty;
        let value = super::Typed::any(Computation::Param(scalar), ty);
        let (local, node) = self.declare(name, true, value);
        body.push(node);
        self.bind(name, Binding::Variable { local, is_const });
    }
}

/// A divisor that is never zero.
fn positive(divisor: &AffineExpr) -> Option<AffineExpr> {
    let constant = divisor.as_constant()?;
    (constant > 0).then(|| constant.into())
}

fn power_of_two(exponent: &AffineExpr) -> Option<AffineExpr> {
    let exponent = u32::try_from(exponent.as_constant()?).ok()?;
    (exponent < Type::I32.bits() - 1).then(|| (1_i64 << exponent).into())
}

fn is_over_parameters(expr: &AffineExpr) -> bool {
    let mut found = true;
    expr.for_each_variable(&mut |variable| found &= matches!(variable, Variable::Param(_)));
    found
}

/// A value as a length, where it is a parameter of the kernel or a constant, converted or not.
fn handed_over(kernel: &Kernel, value: &Computation) -> Option<AffineExpr> {
    match value {
        Computation::Constant(value) => Some(i64::try_from(value.as_integer()?).ok()?.into()),
        Computation::Param(scalar) if kernel.scalars[*scalar].ty.is_integer() => {
            Some((*scalar).into())
        }
        Computation::Cast(ty, operand) if ty.is_integer() => handed_over(kernel, operand),
        _ => None,
    }
}

/// `parameter + constant`
fn shifted_parameter(extent: &AffineExpr) -> Option<(ScalarId, i64)> {
    let offset = extent.constant();
    let rest = extent.minus(&offset.into()).ok()?;
    match rest.as_variable()? {
        Variable::Param(param) => Some((param, offset)),
        Variable::Iter(_) => None,
    }
}
