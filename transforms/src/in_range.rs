//! Accesses that are shown to stay inside their array, for every size.

use crate::affine_parts::split;
use strew_affine::visit::Loop;
use strew_affine::{
    Access, AffineExpr, AffineFor, Array, Factor, IterId, Kernel, Overflow, Subscript, Variable,
};

/// Whether every subscript of `access` lies in its extent at every iteration of `target`, whose surrounding loops are `around`.
/// `false` means that nobody could tell.
pub(crate) fn is_in_range(
    kernel: &Kernel,
    target: &AffineFor,
    around: &[Loop<'_>],
    access: &Access,
) -> bool {
    let Ok(Some((least, beyond))) = iterator_range(target, around) else {
        return false;
    };
    let extents = &kernel.arrays[access.array].extents;
    let mut dimensions = access.subscripts.iter().zip(extents);
    dimensions.all(|(subscript, extent)| match subscript {
        Subscript::Affine(expr) => {
            let in_range = subscript_in_range(kernel, expr, extent, target.iter, &least, &beyond);
            in_range.unwrap_or(false)
        }
        Subscript::Computed(_) => false,
    })
}

fn subscript_in_range(
    kernel: &Kernel,
    subscript: &AffineExpr,
    extent: &AffineExpr,
    iter: IterId,
    least: &AffineExpr,
    beyond: &AffineExpr,
) -> Result<bool, Overflow> {
    let Some((coefficient, rest)) = split(subscript, iter) else {
        return Ok(false);
    };
    let greatest = beyond.offset(-1)?;
    let (low, high) = if coefficient < 0 {
        (&greatest, least)
    } else {
        (least, &greatest)
    };
    let low = low.scaled(coefficient)?.plus(&rest)?;
    let high = high.scaled(coefficient)?.plus(&rest)?;
    Ok(is_non_negative(kernel, &low) && is_non_negative(kernel, &extent.minus(&high)?.offset(-1)?))
}

/// Bounds over parameters alone that hold for the iterator of `target` at every iteration: the first is reached from above,
/// the second never.
fn iterator_range(
    target: &AffineFor,
    around: &[Loop<'_>],
) -> Result<Option<(AffineExpr, AffineExpr)>, Overflow> {
    let (Some(lower), Some(upper)) = (target.lower.as_single(), target.upper.as_single()) else {
        return Ok(None);
    };
    if is_over_parameters(lower) && is_over_parameters(upper) {
        return Ok(Some((lower.clone(), upper.clone())));
    }
    for it in around {
        if let Loop::Forall(forall) = it
            && let Some(count) = forall.count.as_constant()
            && let Some(range) = consecutive_parts(lower, upper, forall.iter, count)?
        {
            return Ok(Some(range));
        }
    }
    Ok(None)
}

/// The range of all parts together, when part `c` of `0..count` ends where part `c + 1` begins.
///
/// With `lower = a + k * ((c * t + b) floordiv d)`, the beginnings move in one direction as `c` grows. Forwards, the parts lie
/// between the beginnings at 0 and at `count`; backwards, each part ends at or before its beginning, so there are no iterations.
fn consecutive_parts(
    lower: &AffineExpr,
    upper: &AffineExpr,
    part: IterId,
    count: i64,
) -> Result<Option<(AffineExpr, AffineExpr)>, Overflow> {
    let begin_at = |position: &AffineExpr| {
        lower.substitute(&|variable| (variable == Variable::Iter(part)).then(|| position.clone()))
    };
    let next = AffineExpr::from(part).offset(1)?;
    if begin_at(&next)? != *upper || !is_monotone(lower, part) {
        return Ok(None);
    }
    let (least, beyond) = (
        begin_at(&0.into())?,
        exact_divisions(&begin_at(&count.into())?)?,
    );
    let closed = is_over_parameters(&least) && is_over_parameters(&beyond);
    Ok(closed.then_some((least, beyond)))
}

/// Whether `part` occurs in a single place: as one term, alone or times parameters, or inside one division by a constant in
/// that form. Such an expression never turns round as `part` grows.
fn is_monotone(expr: &AffineExpr, part: IterId) -> bool {
    let mentions = |factor: &Factor| match factor {
        Factor::Variable(variable) => *variable == Variable::Iter(part),
        Factor::FloorDiv(left, right) | Factor::Mod(left, right) => {
            left.mentions(Variable::Iter(part)) || right.mentions(Variable::Iter(part))
        }
    };
    let is_linear = |expr: &AffineExpr| {
        expr.terms().iter().all(|term| {
            let found: Vec<_> = term
                .factors
                .iter()
                .filter(|factor| mentions(factor))
                .collect();
            found.is_empty() || matches!(found.as_slice(), [Factor::Variable(_)])
        })
    };
    let with_part: Vec<_> = expr
        .terms()
        .iter()
        .filter(|term| term.factors.iter().any(mentions))
        .collect();
    match with_part.as_slice() {
        [term] => match term.factors.as_slice() {
            [Factor::FloorDiv(left, right)] => right.as_constant().is_some() && is_linear(left),
            _ => is_linear(expr),
        },
        _ => is_linear(expr),
    }
}

/// The expression with every `(d * x) floordiv d` replaced by `x`.
fn exact_divisions(expr: &AffineExpr) -> Result<AffineExpr, Overflow> {
    let mut sum = AffineExpr::from(expr.constant());
    for term in expr.terms() {
        let mut product = AffineExpr::from(term.coefficient);
        for factor in &term.factors {
            product = product.times(&exact_division(factor)?)?;
        }
        sum = sum.plus(&product)?;
    }
    Ok(sum)
}

fn exact_division(factor: &Factor) -> Result<AffineExpr, Overflow> {
    match factor {
        Factor::Variable(variable) => Ok((*variable).into()),
        Factor::FloorDiv(left, right) => {
            match right.as_constant().and_then(|by| quotient(left, by)) {
                Some(quotient) => Ok(quotient),
                None => left.floordiv(right),
            }
        }
        Factor::Mod(left, right) => left.modulo(right),
    }
}

fn quotient(expr: &AffineExpr, by: i64) -> Option<AffineExpr> {
    let divide = |value: i64| (value.checked_rem(by)? == 0).then(|| value / by);
    let mut sum = AffineExpr::from(divide(expr.constant())?);
    for term in expr.terms() {
        let mut product = AffineExpr::from(divide(term.coefficient)?);
        for factor in &term.factors {
            product = product.times(&exact_division(factor).ok()?).ok()?;
        }
        sum = sum.plus(&product).ok()?;
    }
    Some(sum)
}

fn is_over_parameters(expr: &AffineExpr) -> bool {
    let mut over_parameters = true;
    expr.for_each_variable(&mut |variable| {
        over_parameters &= matches!(variable, Variable::Param(_))
    });
    over_parameters
}

/// Whether the value is at least 0 for all sizes: a sum of non-negative multiples of extents, which no call has negative.
fn is_non_negative(kernel: &Kernel, expr: &AffineExpr) -> bool {
    let is_extent = |factor: &Factor| {
        let alone = match factor {
            Factor::Variable(variable) => AffineExpr::from(*variable),
            Factor::FloorDiv(..) | Factor::Mod(..) => return false,
        };
        let mut arrays = kernel.array_params().map(|array| &kernel.arrays[array]);
        arrays.any(|Array { extents, .. }| extents.contains(&alone))
    };
    let mut terms = expr.terms().iter();
    expr.constant() >= 0
        && terms.all(|term| term.coefficient > 0 && term.factors.iter().all(is_extent))
}
