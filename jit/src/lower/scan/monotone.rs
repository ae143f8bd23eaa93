//! Subscripts that rise, or fall, with an element of an array: the least and the largest of them
//! follow from those of the elements.
//!
//! `(int)((x[i] - low) * scale) + 1` is made of steps each of which is monotone where nothing else
//! in it changes: sums, differences and products with a fixed number, since rounding is monotone
//! too, and conversions. So is what they make together, and all of its values lie between those of
//! the least and of the largest element. Not so where integers wrap, or where floats leave the
//! finite numbers, of which some differences and products are no numbers: then nothing is known.

use super::interval::Interval;
use super::{Scanner, Unknown};
use crate::lower::convert::{clif_type, convert, extend};
use crate::lower::operation;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use strew_affine::{BinaryOp, Expr, Type};

/// What rises or falls with an element. Integers are computed as `i64`, whatever their type.
pub(super) enum Monotone<'k> {
    /// An element of a part, of a type.
    Read(usize, Type),
    Cast {
        to: Type,
        from: Type,
        operand: Box<Monotone<'k>>,
    },
    /// A sum, difference, product or quotient with what is the same in all iterations.
    Binary {
        op: BinaryOp,
        ty: Type,
        operand: Box<Monotone<'k>>,
        fixed: &'k Expr,
        /// Whether `fixed` is the left operand.
        is_left: bool,
    },
}

impl<'k> Scanner<'_, '_, 'k, '_> {
    /// What `index` rises or falls with.
    pub(super) fn monotone(&mut self, index: &'k Expr) -> Result<Monotone<'k>, Unknown> {
        if let Ok(part) = self.part(index) {
            return Ok(Monotone::Read(part, self.type_of(index)));
        }
        match index {
            Expr::Local(local) => self.monotone(self.held.get(*local).copied().ok_or(Unknown)?),
            Expr::Cast(to, operand) => Ok(Monotone::Cast {
                to: *to,
                from: self.type_of(operand),
                operand: Box::new(self.monotone(operand)?),
            }),
            Expr::Binary(op, left, right, _) => self.with_fixed(*op, left, right),
            _ => Err(Unknown),
        }
    }

    fn with_fixed(
        &mut self,
        op: BinaryOp,
        left: &'k Expr,
        right: &'k Expr,
    ) -> Result<Monotone<'k>, Unknown> {
        let ty = self.type_of(left);
        let is_left = is_fixed(left);
        let (operand, fixed) = if is_left {
            (right, left)
        } else {
            (left, right)
        };
        let is_monotone = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => true,
            BinaryOp::Div => ty.is_float() && !is_left,
            _ => false,
        };
        if !is_monotone || !is_fixed(fixed) {
            return Err(Unknown);
        }
        Ok(Monotone::Binary {
            op,
            ty,
            operand: Box::new(self.monotone(operand)?),
            fixed,
            is_left,
        })
    }

    fn type_of(&self, expr: &Expr) -> Type {
        expr.ty(self.function.program.kernel)
    }

    /// The values of an index, if it is reached; `found` are the least and the largest elements of
    /// all parts.
    pub(super) fn values(
        &mut self,
        index: &Monotone<'k>,
        found: &[Interval],
        is_reached: Value,
    ) -> Interval {
        if let Monotone::Read(part, _) = index {
            return self.found(*part, found);
        }
        let [one, other] = self.ends(index, found, is_reached);
        let ins = &mut self.function.builder;
        Interval {
            least: ins.ins().smin(one, other),
            most: ins.ins().smax(one, other),
        }
    }

    fn found(&mut self, part: usize, found: &[Interval]) -> Interval {
        let none = self.constant(0);
        found.get(part).copied().unwrap_or(Interval {
            least: none,
            most: none,
        })
    }

    /// What comes of the least element and what of the largest one.
    fn ends(&mut self, index: &Monotone<'k>, found: &[Interval], is_reached: Value) -> [Value; 2] {
        match index {
            Monotone::Read(part, ty) => {
                let Interval { least, most } = self.found(*part, found);
                let ends = [least, most].map(|end| self.element(end, *ty));
                self.require_values(ends, *ty, is_reached);
                ends
            }
            Monotone::Cast { to, from, operand } => {
                let ends = self.ends(operand, found, is_reached);
                let ends = ends.map(|end| self.cast(end, *from, *to));
                self.require_values(ends, *to, is_reached);
                ends
            }
            Monotone::Binary {
                op,
                ty,
                operand,
                fixed,
                is_left,
            } => {
                let ends = self.ends(operand, found, is_reached);
                let fixed = self.fixed(fixed, *ty);
                let ends = ends.map(|end| {
                    let (left, right) = if *is_left { (fixed, end) } else { (end, fixed) };
                    self.binary(*op, *ty, left, right, is_reached)
                });
                self.require_values(ends, *ty, is_reached);
                self.require_values([fixed], *ty, is_reached);
                ends
            }
        }
    }

    /// An element of type `ty`, of which a scan has found `end`.
    fn element(&mut self, end: Value, ty: Type) -> Value {
        if !ty.is_float() {
            return end;
        }
        let builder = &mut self.function.builder;
        let wide = (builder.ins()).bitcast(types::F64, MemFlagsData::new(), end);
        convert(builder, wide, Type::F64, ty)
    }

    fn cast(&mut self, end: Value, from: Type, to: Type) -> Value {
        let builder = &mut self.function.builder;
        match (from.is_float(), to.is_float()) {
            (true, true) => convert(builder, end, from, to),
            (true, false) => {
                let value = convert(builder, end, from, to);
                extend(builder, value, to)
            }
            (false, true) => convert(builder, end, Type::I64, to),
            (false, false) => end,
        }
    }

    fn fixed(&mut self, fixed: &Expr, ty: Type) -> Value {
        let value = self.function.expr(fixed);
        if ty.is_float() {
            value
        } else {
            extend(&mut self.function.builder, value, ty)
        }
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        ty: Type,
        left: Value,
        right: Value,
        is_reached: Value,
    ) -> Value {
        let builder = &mut self.function.builder;
        if ty.is_float() {
            return operation::binary(builder, op, left, right, ty);
        }
        let ins = builder.ins();
        let (value, wraps) = match op {
            BinaryOp::Sub => ins.ssub_overflow(left, right),
            BinaryOp::Mul => ins.smul_overflow(left, right),
            _ => ins.sadd_overflow(left, right),
        };
        let holds = (self.function.builder.ins()).icmp_imm_u(IntCC::Equal, wraps, 0);
        self.require_if(is_reached, holds);
        value
    }

    /// Requires `values` to be ones that `ty` has, and finite.
    fn require_values<const N: usize>(&mut self, values: [Value; N], ty: Type, is_reached: Value) {
        for value in values {
            let holds = match ty.integer_range() {
                None => self.is_finite(value, ty),
                Some((least, most)) => self.is_between(value, (least, most)),
            };
            self.require_if(is_reached, holds);
        }
    }

    fn is_finite(&mut self, value: Value, ty: Type) -> Value {
        let builder = &mut self.function.builder;
        let size = builder.ins().fabs(value);
        let most = match clif_type(ty) {
            types::F32 => builder.ins().f32const(f32::MAX),
            _ => builder.ins().f64const(f64::MAX),
        };
        builder.ins().fcmp(FloatCC::LessThanOrEqual, size, most)
    }

    /// Whether `value` is in a range, as far as an `i64` can be beyond it: what a scan finds of
    /// larger numbers is the largest `i64`, so that this one is taken for beyond too.
    fn is_between(&mut self, value: Value, (least, most): (i128, i128)) -> Value {
        let least = i64::try_from(least).unwrap_or(i64::MIN);
        let most = i64::try_from(most).unwrap_or(i64::MAX - 1);
        let ins = &mut self.function.builder;
        let from = (ins.ins()).icmp_imm_s(IntCC::SignedGreaterThanOrEqual, value, least);
        let to = (ins.ins()).icmp_imm_s(IntCC::SignedLessThanOrEqual, value, most);
        ins.ins().band(from, to)
    }
}

/// Whether `expr` is the same in all iterations, and cannot fail.
fn is_fixed(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(_) | Expr::Param(_) => true,
        Expr::Cast(_, operand) | Expr::Unary(_, operand) => is_fixed(operand),
        Expr::Binary(op, left, right, _) => {
            let may_fail = matches!(op, BinaryOp::Div | BinaryOp::Rem);
            !may_fail && is_fixed(left) && is_fixed(right)
        }
        _ => false,
    }
}
