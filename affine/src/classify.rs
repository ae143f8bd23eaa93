//! Tells affine, indirect and opaque subscripts apart, and says why an opaque one is opaque.

use crate::visit::bound_to;
use crate::{Access, AffineExpr, BinaryOp, Expr, Kernel, LocalId, Subscript, Type, UnaryOp};
use std::cell::Cell;
use std::fmt;

/// What a subscript depends on.
#[derive(Clone, Debug, PartialEq)]
pub enum SubscriptKind<'k> {
    /// Iterators and parameters alone.
    Affine(&'k AffineExpr),
    /// One element of another array, read directly or through `let`s and conversions that keep its
    /// value, and an affine offset.
    Indirect {
        /// The element. If it was read by a `let`, it may have changed since.
        load: &'k Access,
        /// What is added to it; 0 when it is the subscript itself.
        offset: AffineExpr,
        /// Whether the sum could leave its machine type, which the types alone rule out only for
        /// small offsets. It then wraps.
        may_wrap: bool,
    },
    /// Anything else.
    Opaque(OpaqueReason),
}

/// Why a subscript is neither affine nor indirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpaqueReason {
    /// It reads a local that can be set again.
    Mutable(LocalId),
    /// It reads more than one element.
    SeveralLoads,
    /// It converts to a type that cannot hold every value.
    Narrowed {
        /// The type before.
        from: Type,
        /// The type after.
        to: Type,
    },
    /// It chooses between values.
    Selected,
    /// It applies an operation to an element that is not the addition of an offset.
    Operation(&'static str),
    /// It is computed in more steps than are followed.
    Long,
    /// It is computed from floats.
    Float,
    /// It is computed from comparisons or bits.
    Logic,
    /// It would be affine, but is computed in a machine type that it may leave.
    MayWrap,
}

impl fmt::Display for OpaqueReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mutable(_) => f.write_str("it reads a variable that can change"),
            Self::SeveralLoads => f.write_str("it reads several elements"),
            Self::Narrowed { from, to } => {
                write!(
                    f,
                    "it converts {from} to {to}, which cannot hold every value"
                )
            }
            Self::Selected => f.write_str("it chooses between values"),
            Self::Operation(symbol) => write!(f, "it applies `{symbol}`"),
            Self::Long => f.write_str("it is computed in too many steps"),
            Self::Float => f.write_str("it is computed from floats"),
            Self::Logic => f.write_str("it is computed from comparisons or bits"),
            Self::MayWrap => f.write_str("its arithmetic may wrap"),
        }
    }
}

/// What `subscript`, which stands in `kernel`, depends on.
pub fn classify<'k>(kernel: &'k Kernel, subscript: &'k Subscript) -> SubscriptKind<'k> {
    match subscript {
        Subscript::Affine(expr) => SubscriptKind::Affine(expr),
        Subscript::Computed(expr) => match Sum::of(kernel, expr, &Cell::new(STEPS)) {
            Ok(Sum {
                load: Some(load),
                offset,
                may_wrap,
                ..
            }) => SubscriptKind::Indirect {
                load,
                offset,
                may_wrap,
            },
            Ok(Sum { load: None, .. }) => SubscriptKind::Opaque(OpaqueReason::MayWrap),
            Err(reason) => SubscriptKind::Opaque(reason),
        },
    }
}

/// A `let` is looked through wherever it is used, so that what is short to write can be long to
/// read.
const STEPS: u32 = 200;

type Range = (i128, i128);

/// `load + offset`, and what is known about its value.
struct Sum<'k> {
    load: Option<&'k Access>,
    offset: AffineExpr,
    range: Range,
    may_wrap: bool,
}

impl<'k> Sum<'k> {
    fn of(kernel: &'k Kernel, expr: &'k Expr, steps: &Cell<u32>) -> Result<Self, OpaqueReason> {
        let left_over = steps.get().checked_sub(1).ok_or(OpaqueReason::Long)?;
        steps.set(left_over);
        let of = |expr| Self::of(kernel, expr, steps);
        let ty = expr.ty(kernel);
        let range = ty.integer_range().ok_or(OpaqueReason::Float)?;
        let known = |load, offset| Self {
            load,
            offset,
            range,
            may_wrap: false,
        };
        match expr {
            Expr::Constant(value) => {
                let value = value.as_integer().unwrap_or_default();
                let offset = i64::try_from(value).map_err(|_| OpaqueReason::MayWrap)?;
                let range = (value, value);
                Ok(Self {
                    range,
                    ..known(None, offset.into())
                })
            }
            Expr::Iter(iter) => Ok(known(None, (*iter).into())),
            Expr::Param(param) => Ok(known(None, (*param).into())),
            Expr::Load(access) => Ok(known(Some(access), 0.into())),
            Expr::Local(local) => {
                of(bound_to(kernel, *local).ok_or(OpaqueReason::Mutable(*local))?)
            }
            Expr::Cast(ty, operand) => of(operand)?.converted(*ty, kernel, operand),
            Expr::Unary(UnaryOp::Neg, operand) => {
                known(None, 0.into()).combined(BinaryOp::Sub, of(operand)?, range)
            }
            Expr::Binary(op, left, right, _) => {
                let (left, right) = (of(left)?, of(right)?);
                left.combined(*op, right, range)
            }
            Expr::Select(..) => Err(OpaqueReason::Selected),
            Expr::Unary(..)
            | Expr::Compare(..)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Call(..)
            | Expr::Operand(_)
            | Expr::Threads => Err(OpaqueReason::Logic),
        }
    }

    fn converted(mut self, to: Type, kernel: &Kernel, from: &Expr) -> Result<Self, OpaqueReason> {
        let from = from.ty(kernel);
        let range = to.integer_range().filter(|_| to.is_integer());
        let range = range.ok_or(OpaqueReason::Narrowed { from, to })?;
        if range.0 <= self.range.0 && self.range.1 <= range.1 {
            return Ok(self);
        }
        if self.load.is_some() {
            return Err(OpaqueReason::Narrowed { from, to });
        }
        self.range = range;
        self.may_wrap = true;
        Ok(self)
    }

    /// `self op right` in a type of range `range`.
    fn combined(self, op: BinaryOp, right: Self, range: Range) -> Result<Self, OpaqueReason> {
        if self.load.is_some() && right.load.is_some() {
            return Err(OpaqueReason::SeveralLoads);
        }
        let (offset, exact) = match op {
            BinaryOp::Add => (
                self.offset.plus(&right.offset),
                (self.range.0 + right.range.0, self.range.1 + right.range.1),
            ),
            BinaryOp::Sub if right.load.is_none() => (
                self.offset.minus(&right.offset),
                (self.range.0 - right.range.1, self.range.1 - right.range.0),
            ),
            BinaryOp::Mul if self.load.is_none() && right.load.is_none() => {
                (self.offset.times(&right.offset), (i128::MIN, i128::MAX))
            }
            _ => return Err(OpaqueReason::Operation(op.symbol())),
        };
        let fits = range.0 <= exact.0 && exact.1 <= range.1;
        Ok(Self {
            load: self.load.or(right.load),
            offset: offset.map_err(|_| OpaqueReason::MayWrap)?,
            range: if fits { exact } else { range },
            may_wrap: self.may_wrap || right.may_wrap || !fits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Node;
    use crate::text::{parse, print};
    use crate::visit::{AccessKind, accesses};

    /// The kind of the subscript of `out` in a kernel with this body.
    #[track_caller]
    fn kind_in(body: &str) -> String {
        let text = format!(
            "kernel @k(n: i64, m: i32, seg: i32[n], wide: i64[n], small: u8[n], w: f64[n], out: f64[n]) {{
               affine.for i in 0..n {{ {body} = 1.0 }} }}"
        );
        let kernel = parse(&text).expect("a kernel").pop().expect("one kernel");
        let sites = accesses(&kernel);
        let site = sites.iter().find(|it| it.kind == AccessKind::Write);
        let access = site.expect("a write").access;
        match classify(&kernel, &access.subscripts[0]) {
            SubscriptKind::Affine(_) => "affine".to_owned(),
            SubscriptKind::Indirect {
                load,
                offset,
                may_wrap,
            } => {
                let mut shown = kernel.clone();
                let place = crate::Place::Element(load.clone());
                let value = Expr::Load(crate::Access {
                    subscripts: vec![Subscript::Affine(offset)],
                    ..load.clone()
                });
                let span = crate::Span::default();
                shown.body = [Node::Assign { place, value, span }].into();
                let printed = print(&shown);
                let line = printed.lines().nth(1).unwrap_or_default().trim();
                format!("{line}{}", if may_wrap { " wrapping" } else { "" })
            }
            SubscriptKind::Opaque(reason) => reason.to_string(),
        }
    }

    #[test]
    fn an_indirect_subscript_names_its_load_and_its_offset() {
        let cases = [
            ("out[2 * i + n]", "affine"),
            ("out[seg[i]]", "seg[i] = seg[0]"),
            ("out[i64(seg[i])]", "seg[i] = seg[0]"),
            ("out[i64(seg[i]) + 3]", "seg[i] = seg[3]"),
            ("out[i64(seg[i]) - 3]", "seg[i] = seg[-3]"),
            ("out[i32(small[i]) - 128]", "small[i] = small[-128]"),
            ("out[seg[i] + 1]", "seg[i] = seg[1] wrapping"),
            ("out[i + i64(seg[i])]", "seg[i] = seg[i] wrapping"),
            (
                "let k: i32 = seg[i] let j: i64 = i64(k) out[j]",
                "seg[i] = seg[0]",
            ),
        ];
        for (body, kind) in cases {
            assert_eq!(kind_in(body), kind, "{body}");
        }
    }

    #[test]
    fn an_opaque_subscript_has_its_reason() {
        let cases = [
            (
                "var k: i32 = seg[i] out[k]",
                "it reads a variable that can change",
            ),
            ("out[seg[i] + seg[0]]", "it reads several elements"),
            (
                "out[i32(wide[i])]",
                "it converts i64 to i32, which cannot hold every value",
            ),
            ("out[seg[i] < 3 ? 1 : 2]", "it chooses between values"),
            ("out[seg[i] % 16]", "it applies `%`"),
            ("out[3 - seg[i]]", "it applies `-`"),
            ("out[i64(w[i])]", "it is computed from floats"),
            ("out[i64(i + 1)]", "its arithmetic may wrap"),
            ("out[i32(i)]", "its arithmetic may wrap"),
        ];
        let double = |it: usize| format!("let a{} : i64 = a{it} + a{it} ", it + 1);
        let doubled: String = (0..60).map(double).collect();
        let long = format!("let a0: i64 = i {doubled} out[a60]");
        assert_eq!(kind_in(&long), "it is computed in too many steps");
        for (body, reason) in cases {
            assert_eq!(kind_in(body), reason, "{body}");
        }
    }
}
