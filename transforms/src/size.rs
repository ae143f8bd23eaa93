//! Sizes in a schedule: integers that may depend on the parameters of a kernel.

use crate::Reason;
use crate::script::Written;
use std::fmt;
use strew_affine::visit::Loop;
use strew_affine::{AffineExpr, Factor, Kernel, Overflow, Term, Variable};

/// An integer in a schedule, which may speak of scalar parameters of the kernel that it is used on:
/// `n / 2`.
///
/// Division rounds towards minus infinity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// A number.
    Integer(u64),
    /// A scalar parameter of the kernel.
    Name(String),
    /// `-a`
    Negative(Box<Self>),
    /// `a + b`
    Sum(Box<[Self; 2]>),
    /// `a - b`
    Difference(Box<[Self; 2]>),
    /// `a * b`
    Product(Box<[Self; 2]>),
    /// `a / b`
    Quotient(Box<[Self; 2]>),
}

impl From<i64> for Size {
    fn from(value: i64) -> Self {
        let absolute = Self::Integer(value.unsigned_abs());
        match value {
            0.. => absolute,
            _ => Self::Negative(Box::new(absolute)),
        }
    }
}

impl From<&str> for Size {
    /// The parameter called so.
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl Size {
    /// What says `expr` of `kernel`, if that has no remainders; a step can only speak of the
    /// iterators of loops around it.
    pub(crate) fn of(kernel: &Kernel, expr: &AffineExpr) -> Option<Self> {
        let terms = expr.terms().iter().map(|it| Self::of_term(kernel, it));
        let mut sum: Option<Self> = None;
        for term in terms {
            let term = term?;
            sum = Some(match sum {
                Some(before) => Self::Sum(Box::new([before, term])),
                None => term,
            });
        }
        let number = expr.constant();
        Some(match (sum, number) {
            (None, _) => number.into(),
            (Some(sum), 0) => sum,
            (Some(sum), 1..) => Self::Sum(Box::new([sum, number.into()])),
            (Some(sum), _) => {
                Self::Difference(Box::new([sum, Self::Integer(number.unsigned_abs())]))
            }
        })
    }

    fn of_term(kernel: &Kernel, term: &Term) -> Option<Self> {
        let mut product: Option<Self> = None;
        for factor in &term.factors {
            let factor = match factor {
                Factor::Variable(Variable::Param(parameter)) => {
                    kernel.scalars[*parameter].name.as_str().into()
                }
                Factor::Variable(Variable::Iter(iter)) => kernel.iters[*iter].name.as_str().into(),
                Factor::FloorDiv(left, right) => Self::Quotient(Box::new([
                    Self::of(kernel, left)?,
                    Self::of(kernel, right)?,
                ])),
                Factor::Mod(..) => return None,
            };
            product = Some(match product {
                Some(before) => Self::Product(Box::new([before, factor])),
                None => factor,
            });
        }
        match term.coefficient {
            1 => product,
            number => Some(Self::Product(Box::new([product?, number.into()]))),
        }
    }

    /// The number that it is, where it speaks of no parameter.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => i64::try_from(*value).ok(),
            Self::Negative(size) => match **size {
                Self::Integer(value) => 0_i64.checked_sub_unsigned(value),
                _ => None,
            },
            _ => None,
        }
    }

    /// What it is in `kernel`.
    pub(crate) fn resolve(&self, kernel: &Kernel) -> Result<AffineExpr, Reason> {
        self.resolve_inside(kernel, &[])
    }

    /// What it is inside of the loops `around`, of which it may speak too.
    pub(crate) fn resolve_inside(
        &self,
        kernel: &Kernel,
        around: &[Loop<'_>],
    ) -> Result<AffineExpr, Reason> {
        let both = |[left, right]: &[Self; 2]| -> Result<(AffineExpr, AffineExpr), Reason> {
            Ok((
                left.resolve_inside(kernel, around)?,
                right.resolve_inside(kernel, around)?,
            ))
        };
        Ok(match self {
            Self::Integer(value) => i64::try_from(*value).map_err(|_| Overflow)?.into(),
            Self::Name(name) => named(kernel, around, name)?,
            Self::Negative(size) => size.resolve_inside(kernel, around)?.scaled(-1)?,
            Self::Sum(sides) => {
                let (left, right) = both(sides)?;
                left.plus(&right)?
            }
            Self::Difference(sides) => {
                let (left, right) = both(sides)?;
                left.minus(&right)?
            }
            Self::Product(sides) => {
                let (left, right) = both(sides)?;
                left.times(&right)?
            }
            Self::Quotient(sides) => {
                let (left, right) = both(sides)?;
                if right.as_constant() == Some(0) {
                    let size = self.to_string();
                    return Err(Reason::DividesByZero { size });
                }
                left.floordiv(&right)?
            }
        })
    }

    /// How tightly the outermost operation binds.
    fn precedence(&self) -> u8 {
        match self {
            Self::Sum(_) | Self::Difference(_) => 0,
            Self::Product(_) | Self::Quotient(_) => 1,
            Self::Negative(_) => 2,
            Self::Integer(_) | Self::Name(_) => 3,
        }
    }

    /// Prints it where something binds as tightly as `least`.
    fn print(&self, least: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.precedence() < least {
            write!(f, "({self})")
        } else {
            write!(f, "{self}")
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sides, operator) = match self {
            Self::Integer(value) => return write!(f, "{value}"),
            Self::Name(name) => return Written(name).fmt(f),
            Self::Negative(size) => {
                f.write_str("-")?;
                return size.print(self.precedence(), f);
            }
            Self::Sum(sides) => (sides, "+"),
            Self::Difference(sides) => (sides, "-"),
            Self::Product(sides) => (sides, "*"),
            Self::Quotient(sides) => (sides, "/"),
        };
        let [left, right] = &**sides;
        left.print(self.precedence(), f)?;
        write!(f, " {operator} ")?;
        // Operators of one precedence go together from the left.
        right.print(self.precedence() + 1, f)
    }
}

fn named(kernel: &Kernel, around: &[Loop<'_>], name: &str) -> Result<AffineExpr, Reason> {
    let mut around = around.iter().map(|it| it.iter());
    let iter = around.find(|it| kernel.iters[*it].name == name);
    iter.map_or_else(|| parameter(kernel, name), |it| Ok(it.into()))
}

fn parameter(kernel: &Kernel, name: &str) -> Result<AffineExpr, Reason> {
    let integers = kernel.scalars.iter().filter(|(_, it)| it.ty.is_integer());
    let mut found = integers.clone().filter(|(_, it)| it.name == name);
    found
        .next()
        .map(|(id, _)| id.into())
        .ok_or_else(|| Reason::NoSuchParameter {
            name: name.to_owned(),
            parameters: integers.map(|(_, it)| it.name.clone()).collect(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::kernel;

    fn integer(value: u64) -> Size {
        Size::Integer(value)
    }

    #[test]
    fn sizes_print_with_the_parentheses_that_they_need() {
        let half = Size::Quotient(Box::new(["n".into(), integer(2)]));
        assert_eq!(half.to_string(), "n / 2");
        let sum = Size::Sum(Box::new([half.clone(), integer(1)]));
        let twice = Size::Product(Box::new([integer(2), sum.clone()]));
        assert_eq!(twice.to_string(), "2 * (n / 2 + 1)");
        let less = Size::Difference(Box::new(["n".into(), sum]));
        assert_eq!(less.to_string(), "n - (n / 2 + 1)");
        assert_eq!(Size::from(-3).to_string(), "-3");
        let negative = Size::Negative(Box::new(half));
        assert_eq!(negative.to_string(), "-(n / 2)");
    }

    #[test]
    fn names_are_those_of_integer_parameters() {
        let kernel = kernel("kernel @k(n: i64, x: f64) { }");
        let half = Size::Quotient(Box::new(["n".into(), integer(2)]));
        let n = Size::from("n").resolve(&kernel).expect("a parameter");
        assert_eq!(
            half.resolve(&kernel),
            Ok(n.floordiv(&2.into()).expect("a half"))
        );
        let reason = Size::from("x").resolve(&kernel).expect_err("a float");
        assert_eq!(
            reason.to_string(),
            "no integer parameter is called `x`; the integer parameters are `n`"
        );
        let reason = integer(u64::MAX).resolve(&kernel).expect_err("too large");
        assert_eq!(reason, Reason::Overflow);
    }
}
