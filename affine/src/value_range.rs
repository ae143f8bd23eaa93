//! Between which numbers an integer lies, by its form alone: `x[i] & 255` is none above 255,
//! whatever the array holds.
//!
//! Interval arithmetic over the operands, what the conditions of a choice say, and the range of the
//! type where that would wrap.

pub(crate) mod numbers;
pub(crate) mod span;

use crate::visit::walk;
use crate::{BinaryOp, Expr, IterId, Kernel, LocalId, Node};
use numbers::{Extent, Known, Numbers};
use span::Span;

/// The least and the greatest value, both included.
pub type Range = (i128, i128);

/// The least range that has all of both.
pub fn hull(one: Range, other: Range) -> Range {
    (one.0.min(other.0), one.1.max(other.1))
}

/// The ranges of the scalars of a kernel that are set once.
#[derive(Clone, Debug, Default)]
pub struct ValueRanges {
    known: Known,
}

impl ValueRanges {
    /// Those of `kernel`, as far as they are narrower than those of the types.
    pub fn of(kernel: &Kernel) -> Self {
        let mut ranges = Self::default();
        // A scalar is declared before it is used.
        walk(&kernel.body, &mut |node, _| {
            if let Node::Declare { local, value } = node
                && !kernel.locals[*local].mutable
            {
                ranges.declare(kernel, *local, value);
            }
        });
        ranges
    }

    fn declare(&mut self, kernel: &Kernel, local: LocalId, value: &Expr) {
        let extent = Extent::default();
        let span = Numbers::new(kernel, &extent, &self.known).span(value);
        let whole = value.ty(kernel).integer_range();
        if whole.is_some_and(|it| it != span.number) {
            self.known.locals.insert(local, span);
        }
    }

    /// Lets `local` lie in `range`, both ends included, from here on: what is found out relies on
    /// it.
    pub fn assume(&mut self, local: LocalId, range: Range) {
        self.known.locals.insert(local, Span::of(range));
    }

    /// Lets `iter` lie in `range`, both ends included, from here on.
    pub fn assume_iter(&mut self, iter: IterId, range: Range) {
        self.known.iters.insert(iter, Span::of(range));
    }

    /// Whether what `expr` computes, or converts an integer to, is a number of its type whatever
    /// its operands are: nothing wraps.
    pub fn is_exact(&self, kernel: &Kernel, expr: &Expr) -> bool {
        let extent = Extent::default();
        Numbers::new(kernel, &extent, &self.known).is_exact(expr)
    }

    /// The least and the greatest value that `expr` can have; `None` for floats.
    ///
    /// ```
    /// use strew_affine::value_range::ValueRanges;
    /// use strew_affine::{Node, text};
    ///
    /// let source = "kernel @k(x: i32[1], out: i32[256]) { let key: i32 = x[0] & 255 out[key] reduce(add) 1 }";
    /// let kernel = text::parse(source).unwrap().remove(0);
    /// let Node::Declare { value, .. } = &kernel.body[0] else { unreachable!() };
    /// assert_eq!(ValueRanges::of(&kernel).of_expr(&kernel, value), Some((0, 255)));
    /// ```
    pub fn of_expr(&self, kernel: &Kernel, expr: &Expr) -> Option<Range> {
        expr.ty(kernel).integer_range()?;
        let extent = Extent::default();
        let span = Numbers::new(kernel, &extent, &self.known).span(expr);
        Some(span.number)
    }
}

/// The range of a result that does not wrap; `None` where nothing is to be said of it.
fn binary(op: BinaryOp, left: Range, right: Range, bits: u32) -> Option<Range> {
    match op {
        BinaryOp::Add => Some((left.0 + right.0, left.1 + right.1)),
        BinaryOp::Sub => Some((left.0 - right.1, left.1 - right.0)),
        BinaryOp::Mul => product(left, right),
        BinaryOp::Div => quotient(left, positive(right)?),
        BinaryOp::Rem => Some(remainder(left, positive(right)?)),
        // A number that is not negative has no bits but its own.
        BinaryOp::BitAnd => {
            let mut most = [left, right].into_iter().filter(|it| it.0 >= 0);
            let first = most.next()?.1;
            Some((0, most.map(|it| it.1).fold(first, i128::min)))
        }
        BinaryOp::BitOr | BinaryOp::BitXor => {
            let most = (left.0 >= 0 && right.0 >= 0).then(|| left.1.max(right.1))?;
            Some((0, all_ones(most)))
        }
        BinaryOp::Shl => {
            let (least, most) = counts(right, bits)?;
            product(left, (1 << least, 1 << most))
        }
        BinaryOp::Shr => {
            let (least, most) = counts(right, bits)?;
            Some((
                (left.0 >> least).min(left.0 >> most),
                (left.1 >> least).max(left.1 >> most),
            ))
        }
    }
}

/// Divisors without a sign: a division by zero is a fault, and has no result.
fn positive(range: Range) -> Option<Range> {
    (range.0 >= 0 && range.1 > 0).then_some((range.0.max(1), range.1))
}

/// Counts of a shift that are below the width of what is shifted: others are taken modulo that.
fn counts(range: Range, bits: u32) -> Option<Range> {
    (range.0 >= 0 && range.1 < i128::from(bits)).then_some(range)
}

fn product(left: Range, right: Range) -> Option<Range> {
    let ends = [
        left.0.checked_mul(right.0)?,
        left.0.checked_mul(right.1)?,
        left.1.checked_mul(right.0)?,
        left.1.checked_mul(right.1)?,
    ];
    Some((ends.into_iter().min()?, ends.into_iter().max()?))
}

fn quotient(left: Range, right: Range) -> Option<Range> {
    let ends = [
        left.0 / right.0,
        left.0 / right.1,
        left.1 / right.0,
        left.1 / right.1,
    ];
    Some((ends.into_iter().min()?, ends.into_iter().max()?))
}

/// A remainder has the sign of the dividend, and is no further from zero than that.
fn remainder(left: Range, right: Range) -> Range {
    let most = right.1 - 1;
    (left.0.clamp(-most, 0), left.1.clamp(0, most))
}

/// The least number of ones alone that is no smaller.
fn all_ones(number: i128) -> i128 {
    match number.leading_zeros() {
        128 => 0,
        zeros => i128::MAX >> (zeros - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Type, Value};

    const NARROW: [Type; 2] = [Type::I8, Type::U8];

    /// A kernel with one scalar `s` between these, by an expression whose range that is.
    fn range_of(source: &str) -> Option<Range> {
        let text = format!("kernel @k(x: i32[1], y: u8[1], z: f64[1]) {{ {source} }}");
        let kernel = crate::text::parse(&text).unwrap().remove(0);
        let ranges = ValueRanges::of(&kernel);
        let last = kernel.body.iter().rev().find_map(|node| match node {
            Node::Declare { value, .. } => Some(value),
            _ => None,
        });
        ranges.of_expr(&kernel, last?)
    }

    /// Every operation on all pairs of numbers from some ranges of both types of eight bits, as the
    /// evaluator computes it.
    #[test]
    fn results_lie_in_the_range_of_their_operation() {
        let ends = [-128, -7, -1, 0, 1, 3, 9, 127, 128, 255];
        for ty in NARROW {
            let fits = |it: &i128| {
                let (least, most) = ty.integer_range().unwrap();
                (least..=most).contains(it)
            };
            let ends: Vec<i128> = ends.into_iter().filter(fits).collect();
            let pairs = |ends: &[i128]| -> Vec<Range> {
                let pairs = ends
                    .iter()
                    .flat_map(|low| ends.iter().map(move |it| (*low, *it)));
                pairs.filter(|it| it.0 <= it.1).collect()
            };
            for (op, left, right) in BinaryOp::ALL.iter().flat_map(|op| {
                let rights = pairs(&ends);
                let lefts = pairs(&ends).into_iter();
                lefts
                    .flat_map(move |left| rights.clone().into_iter().map(move |it| (*op, left, it)))
            }) {
                let whole = ty.integer_range().unwrap();
                let range = binary(op, left, right, ty.bits());
                let range = range.filter(|it| whole.0 <= it.0 && it.1 <= whole.1);
                let range = range.unwrap_or(whole);
                for (a, b) in [left.0, left.1]
                    .into_iter()
                    .chain(left.0.max(-3)..=left.1.min(3))
                    .flat_map(|a| (right.0..=right.1).map(move |b| (a, b)))
                {
                    let operands = [a, b].map(|it| Value::integer(ty, it));
                    let Ok(result) = crate::evaluate::binary(op, operands[0], operands[1]) else {
                        continue;
                    };
                    let result = result.as_integer().unwrap();
                    assert!(
                        range.0 <= result && result <= range.1,
                        "{ty} {a} {op:?} {b} = {result}, not in {range:?} of {left:?} and {right:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn forms_tell_ranges() {
        for (source, expected) in [
            ("let k: i32 = x[0] & 255", (0, 255)),
            ("let k: i32 = i32(y[0])", (0, 255)),
            ("let k: i32 = i32(y[0]) * 2 + 1", (1, 511)),
            ("let k: i32 = x[0] % 10", (-9, 9)),
            ("let k: u32 = u32(x[0]) >> u32(24)", (0, 255)),
            ("let a: u8 = y[0] & u8(7) let k: i64 = i64(a) - 7", (-7, 0)),
            ("let k: i32 = x[0] < 3 ? 1 : i32(y[0])", (0, 255)),
            ("let k: i32 = i32(x[0] < 3)", (0, 1)),
            (
                "let a: i32 = i32(y[0]) - 300 let k: i32 = a * a",
                (2025, 90_000),
            ),
            (
                "let a: i32 = i32(y[0]) - 100 let k: i32 = a * a",
                (0, 24_025),
            ),
            // What may wrap is anything.
            ("let k: u8 = y[0] + u8(1)", (0, 255)),
            (
                "let k: i32 = x[0] + 1",
                (i128::from(i32::MIN), i128::from(i32::MAX)),
            ),
            (
                "var a: i32 = 3 let k: i32 = a",
                (i128::from(i32::MIN), i128::from(i32::MAX)),
            ),
        ] {
            assert_eq!(range_of(source), Some(expected), "{source}");
        }
        assert_eq!(range_of("let k: f64 = z[0]"), None);
    }
}
