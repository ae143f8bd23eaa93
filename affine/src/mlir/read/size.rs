//! How large what a text says may become: a value can be named twice in the next one, so a short
//! text can say an endless expression.

use super::Known;
use crate::verify::MAX_NESTING;
use crate::{AffineExpr, Expr, Factor, Subscript};

/// So many levels, which a verified kernel does not have.
const MOST_LEVELS: usize = 2 * MAX_NESTING;

/// So many operators and operands of one value.
const MOST_PARTS: usize = 1 << 14;

impl Known {
    /// Whether it is no larger than what recurses through it can bear.
    pub(super) fn is_moderate(&self) -> bool {
        let mut rest = MOST_PARTS;
        match self {
            Self::Expr(expr) | Self::Wide(expr) | Self::Saturated(_, expr) => {
                expr_fits(expr, MOST_LEVELS, &mut rest)
            }
            Self::Divided(_, left, right) => {
                expr_fits(left, MOST_LEVELS, &mut rest) && expr_fits(right, MOST_LEVELS, &mut rest)
            }
            Self::Index(expr, _) => affine_fits(expr, MOST_LEVELS, &mut rest),
            Self::Extreme(all) => {
                let mut all = all.iter();
                all.all(|it| affine_fits(it, MOST_LEVELS, &mut rest))
            }
            // They hold what was an index before.
            Self::Condition(_) | Self::Conditions(_) => true,
            Self::Array(_) | Self::Slot { .. } | Self::Rows(_) | Self::InRange | Self::Stale => {
                true
            }
        }
    }
}

fn take(levels: usize, parts: usize, rest: &mut usize) -> bool {
    let left = rest.checked_sub(parts);
    *rest = left.unwrap_or(0);
    levels > 0 && left.is_some()
}

fn expr_fits(expr: &Expr, levels: usize, rest: &mut usize) -> bool {
    if !take(levels, 1, rest) {
        return false;
    }
    let inside = match expr {
        Expr::Load(access) => access.subscripts.iter().all(|it| match it {
            Subscript::Affine(expr) => affine_fits(expr, levels - 1, rest),
            Subscript::Computed(expr) => expr_fits(expr, levels - 1, rest),
        }),
        _ => true,
    };
    let mut operands = expr.operands().into_iter();
    inside && operands.all(|it| expr_fits(it, levels - 1, rest))
}

fn affine_fits(expr: &AffineExpr, levels: usize, rest: &mut usize) -> bool {
    let parts = expr.terms().iter().map(|it| 1 + it.factors.len()).sum();
    let mut factors = expr.terms().iter().flat_map(|it| &it.factors);
    take(levels, parts, rest)
        && factors.all(|factor| match factor {
            Factor::Variable(_) => true,
            Factor::FloorDiv(left, right) | Factor::Mod(left, right) => {
                affine_fits(left, levels - 1, rest) && affine_fits(right, levels - 1, rest)
            }
        })
}
