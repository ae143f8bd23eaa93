//! Index arithmetic of kernels, simplified as that of maps is.

use super::{Constraint, Declaration, Dimensions, IndexExpr, IndexingMap, Interval};
use crate::visit::Loop;
use crate::{
    Access, AffineExpr, Bound, Factor, IterId, Kernel, Overflow, Subscript, Term, Variable,
};

/// More bounds of loops than this are not held against an expression.
const CONSTRAINTS: usize = 8;

impl AffineExpr {
    /// The expression in fewer divisions and remainders, if there are any such: equal wherever all
    /// of the loops `loops` are in an iteration and every divisor is positive, as it is wherever
    /// the expression has a value.
    ///
    /// No number is divided but what was, or a quotient of that: who knows that no numerator leaves
    /// 64 bits knows it of the result.
    ///
    /// ```
    /// # use strew_affine::{text, visit};
    /// let source = "kernel @k(n: i64, m: i64, x: f64[n * m]) {
    ///   affine.for c in 0..n * m { x[(c floordiv m) * m + c mod m] = 1.0 }
    /// }";
    /// let kernel = text::parse(source).expect("a kernel").remove(0);
    /// let site = visit::accesses(&kernel).remove(0);
    /// if let strew_affine::Subscript::Affine(at) = &site.access.subscripts[0] {
    ///     assert_eq!(text::affine(&kernel, &at.folded(&site.loops)), "c");
    /// }
    /// ```
    pub fn folded(&self, loops: &[Loop<'_>]) -> Self {
        let recombined = recombined(self);
        let before = numerators(&recombined);
        let is_plain = match before.as_slice() {
            [] => true,
            // One variable that nothing bounds.
            [one] => loops.is_empty() && one.as_variable().is_some(),
            _ => false,
        };
        if is_plain {
            return recombined;
        }
        let folded = from_their_start(&recombined, loops).unwrap_or_default();
        let folded = folded.filter(|it| {
            let left = numerators(it);
            left.len() < before.len() && left.iter().all(|it| before.contains(it))
        });
        folded.unwrap_or(recombined)
    }
}

impl Access {
    /// The number of the element, row by row, if that takes fewer divisions than the subscripts,
    /// all of them affine, do: that of `x[c floordiv 3, c mod 3]` is `c` where rows have three
    /// elements. Sums and products in it may leave 64 bits, which changes nothing where the array
    /// has room in memory; numerators are those of the subscripts.
    ///
    /// The access stands in `loops`.
    pub fn in_fewer_divisions(&self, kernel: &Kernel, loops: &[Loop<'_>]) -> Option<AffineExpr> {
        let extents = &kernel.arrays[self.array].extents;
        let mut number = AffineExpr::default();
        for (subscript, extent) in self.subscripts.iter().zip(extents) {
            let Subscript::Affine(index) = subscript else {
                return None;
            };
            number = number.times(extent).ok()?.plus(index).ok()?;
        }
        let folded = number.folded(loops);
        (folded != number).then_some(folded)
    }

    /// How many elements lie between that of a turn of the loop over `iter` and that of the next
    /// one, where subscripts divide the iterator and the number of the element, row by row, does
    /// not: that of `x[i floordiv 3, i mod 3]` goes on by one where rows have three elements.
    pub fn step_through_rows(&self, kernel: &Kernel, iter: IterId) -> Option<i64> {
        let is_divided = |it: &Subscript| match it {
            Subscript::Affine(expr) => {
                expr.mentions(Variable::Iter(iter)) && expr.split_off(iter).is_none()
            }
            Subscript::Computed(_) => false,
        };
        let (_, own) = kernel.arrays[self.array].split_extents();
        if !own.is_empty() || !self.subscripts.iter().any(is_divided) {
            return None;
        }
        let number = self.in_fewer_divisions(kernel, &[])?;
        number.split_off(iter).map(|(step, _)| step)
    }
}

/// Quotients and remainders of one division put together: most expressions need no more than that,
/// and it takes a fiftieth of the time.
fn recombined(expr: &AffineExpr) -> AffineExpr {
    let mut found = expr.clone();
    while let Some(next) = with_less_divisions(&found) {
        found = next;
    }
    found
}

/// The expression with one remainder and its quotient put together, if that takes fewer divisions.
fn with_less_divisions(expr: &AffineExpr) -> Option<AffineExpr> {
    let count = numerators(expr).len();
    let mut each = expr.terms().iter().flat_map(|term| {
        let positions = 0..term.factors.len();
        positions.map(move |position| together(expr, term, position))
    });
    each.find_map(|it| it.ok().flatten().filter(|it| numerators(it).len() < count))
}

/// The expression where a remainder, the factor of `term` at `position`, and its quotient have been
/// put together.
fn together(
    expr: &AffineExpr,
    term: &Term,
    position: usize,
) -> Result<Option<AffineExpr>, Overflow> {
    let factor = &term.factors[position];
    let Some(division) = Division::of(factor)? else {
        return Ok(None);
    };
    let mut others = AffineExpr::from(term.coefficient);
    for (_, other) in term
        .factors
        .iter()
        .enumerate()
        .filter(|(it, _)| *it != position)
    {
        others = others.times(&AffineExpr::from_factor(other.clone()))?;
    }
    let both = division
        .times
        .times(&AffineExpr::from_factor(division.quotient))?;
    let both = both.plus(&AffineExpr::from_factor(factor.clone()))?;
    let both = others.times(&both)?;
    let rest = expr.minus(&both)?;
    let has_both = rest.terms().len() + both.terms().len() == expr.terms().len();
    match has_both {
        true => Ok(Some(rest.plus(&others.times(&division.whole)?)?)),
        false => Ok(None),
    }
}

/// What a remainder belongs to: together with so many times the quotient it is the whole.
struct Division {
    times: AffineExpr,
    quotient: Factor,
    whole: AffineExpr,
}

impl Division {
    /// `(x floordiv d) * d + x mod d = x`, and, that divided by `b`,
    /// `(x floordiv (a * b)) * a + (x mod (a * b)) floordiv b = x floordiv b`.
    fn of(remainder: &Factor) -> Result<Option<Self>, Overflow> {
        let (numerator, by, divisor) = match remainder {
            Factor::Mod(numerator, by) => (&**numerator, &**by, 1),
            Factor::FloorDiv(remainder, divisor) => {
                match (remainder.as_remainder(), divisor.as_constant()) {
                    (Some((numerator, by)), Some(divisor)) => (numerator, by, divisor),
                    _ => return Ok(None),
                }
            }
            Factor::Variable(_) => return Ok(None),
        };
        let Some(times) = by.divided_exactly(divisor) else {
            return Ok(None);
        };
        Ok(Some(Self {
            times,
            quotient: Factor::FloorDiv(numerator.clone().into(), by.clone().into()),
            whole: numerator.floordiv(&divisor.into())?,
        }))
    }
}

/// What is divided in `expr`.
fn numerators(expr: &AffineExpr) -> Vec<AffineExpr> {
    let mut numerators = Vec::new();
    divided(expr, &mut numerators, &mut Vec::new());
    numerators
}

/// What is divided in `expr`, and by what.
fn divided(expr: &AffineExpr, numerators: &mut Vec<AffineExpr>, divisors: &mut Vec<AffineExpr>) {
    for factor in expr.terms().iter().flat_map(|it| &it.factors) {
        if let Factor::FloorDiv(numerator, divisor) | Factor::Mod(numerator, divisor) = factor {
            divided(numerator, numerators, divisors);
            numerators.push((**numerator).clone());
            divisors.push((**divisor).clone());
        }
    }
}

/// Iterators that begin at others, as those of the points of tiles do, are counted from there: what
/// `p floordiv 32` is for `p` between `t * 32` and the next multiple is seen of
/// `(t * 32 + p) floordiv 32`.
fn from_their_start(expr: &AffineExpr, loops: &[Loop<'_>]) -> Result<Option<AffineExpr>, Overflow> {
    let (mut counted, mut limited) = (expr.clone(), Vec::new());
    let mut starts: Vec<(Variable, AffineExpr)> = Vec::new();
    for around in loops.iter().rev() {
        let iter = Variable::Iter(around.iter());
        if !counted.mentions(iter) {
            continue;
        }
        limited.extend(limits(*around));
        if let Some(start) = moving_start(*around) {
            let value = AffineExpr::from(iter).plus(start)?;
            let from_start = |it: &AffineExpr| {
                it.substitute(&|variable| (variable == iter).then(|| value.clone()))
            };
            counted = from_start(&counted)?;
            limited = limited.iter().map(from_start).collect::<Result<_, _>>()?;
            starts.push((iter, AffineExpr::from(iter).minus(start)?));
        }
    }
    limited.truncate(CONSTRAINTS);
    let Some(folded) = folded(&counted, &limited) else {
        return Ok(None);
    };
    let back = folded.substitute(&|variable| {
        let start = starts.iter().find(|(it, _)| *it == variable);
        start.map(|(_, back)| back.clone())
    });
    back.map(Some)
}

/// Where a loop begins, if that is not the same in all turns of those around it.
fn moving_start<'k>(around: Loop<'k>) -> Option<&'k AffineExpr> {
    match around {
        Loop::Affine(affine) => affine
            .lower
            .as_single()
            .filter(|it| !it.is_over_parameters()),
        Loop::Forall(_) | Loop::Scf(_) => None,
    }
}

/// The expression simplified where none of `limits` is negative.
fn folded(expr: &AffineExpr, limits: &[AffineExpr]) -> Option<AffineExpr> {
    let mut divisors = Vec::new();
    divided(expr, &mut Vec::new(), &mut divisors);
    let dimensions = Dimensions::of(limits.iter().chain([expr]));
    let mut bounds = vec![Interval::ALL; dimensions.count()];
    let mut constraints = Vec::new();
    let positive = Interval::new(1, i64::MAX);
    let not_negative = Interval::new(0, i64::MAX);
    let divisors = divisors.iter().map(|it| (it, positive));
    let within = limits.iter().map(|it| (it, not_negative));
    for (expr, interval) in divisors.chain(within) {
        match dimensions.index(expr).ok()? {
            IndexExpr::Constant(_) => {}
            IndexExpr::Variable(variable) => {
                let bounds = bounds.get_mut(variable.position)?;
                *bounds = bounds.intersect(interval);
            }
            expr => constraints.push(Constraint {
                expr,
                bounds: interval,
            }),
        }
    }
    let declarations = bounds.into_iter().map(Declaration::new).collect();
    let results = vec![dimensions.index(expr).ok()?];
    let map = IndexingMap::new(declarations, Vec::new(), Vec::new(), results, constraints);
    let simplified = map.ok()?.simplified();
    // A domain without points says nothing worth having.
    let is_inhabited = !simplified.is_known_empty();
    is_inhabited
        .then(|| dimensions.affine(simplified.results().first()?))
        .flatten()
}

/// What is not negative in every iteration of a loop: the iterator less its lower bounds, and what
/// is left to its upper ones.
fn limits(around: Loop<'_>) -> Vec<AffineExpr> {
    let iter = AffineExpr::from(around.iter());
    let above = |Bound(lower): &Bound| -> Vec<_> {
        lower.iter().filter_map(|it| iter.minus(it).ok()).collect()
    };
    let below = |upper: &[AffineExpr]| -> Vec<_> {
        let left = upper.iter().map(|it| it.minus(&iter)?.offset(-1));
        left.filter_map(Result::ok).collect()
    };
    match around {
        Loop::Affine(affine) => [above(&affine.lower), below(&affine.upper.0)].concat(),
        Loop::Forall(forall) => [
            vec![iter.clone()],
            below(std::slice::from_ref(&forall.count)),
        ]
        .concat(),
        Loop::Scf(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::visit::accesses;
    use crate::{Subscript, text};

    #[track_caller]
    fn folds(loops: &str, subscript: &str, expected: &str) {
        let braces = "}".repeat(loops.matches('{').count());
        let source = format!(
            "kernel @k(n: i64, m: i64, k: i64, x: f64[n]) {{ {loops} x[{subscript}] = 1.0 {braces} }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let site = accesses(&kernel).remove(0);
        let Subscript::Affine(subscript) = &site.access.subscripts[0] else {
            panic!("an affine subscript");
        };
        assert_eq!(
            text::affine(&kernel, &subscript.folded(&site.loops)),
            expected
        );
    }

    #[test]
    fn what_was_made_of_rows_of_rows_comes_together() {
        let flat = "affine.for c in 0..n {";
        folds(
            flat,
            "(c floordiv (m * 3)) * m * 3 + ((c mod (m * 3)) floordiv 3) * 3 + c mod 3",
            "c",
        );
        folds(
            flat,
            "(c floordiv (m * 3)) * m + (c mod (m * 3)) floordiv 3",
            "c floordiv 3",
        );
        folds(
            flat,
            "(c floordiv (m * 3)) * m + (c mod (m * 3)) floordiv 2",
            "m * (c floordiv (m * 3)) + (c mod (m * 3)) floordiv 2",
        );
    }

    #[test]
    fn quotients_and_remainders_come_together() {
        let flat = "affine.for c in 0..n {";
        folds(flat, "(c floordiv 8) * 8 + c mod 8", "c");
        folds(flat, "(c floordiv m) * m + c mod m", "c");
        folds(
            flat,
            "(c floordiv (m + 1)) * (m + 1) + c mod (m + 1) + 3",
            "c + 3",
        );
        folds(
            flat,
            "((c floordiv k) floordiv m) * m * k + ((c floordiv k) mod m) * k + c mod k",
            "c",
        );
        folds(
            flat,
            "(c floordiv m) * m * k + (c mod m) * k + c floordiv 2",
            "c * k + c floordiv 2",
        );
        folds(
            flat,
            "(c floordiv m) * (m + 1) + c mod m",
            "c + c floordiv m",
        );
    }

    #[test]
    fn bounds_of_loops_are_known() {
        let tiles = "affine.for t in 0..n { affine.for p in 0..32 {";
        folds(tiles, "(t * 32 + p) floordiv 32", "t");
        folds(tiles, "(t * 32 + p) mod 32", "p");
        let moving = "affine.for t in 0..n { affine.for p in t * 32..min(m, t * 32 + 32) {";
        folds(moving, "p floordiv 32", "t");
        folds("scf.forall c in 0..8 {", "c mod 8 + c floordiv 9", "c");
        let symbolic = "affine.for i in 0..n { affine.for j in 0..m {";
        folds(symbolic, "(i * m + j) floordiv m", "i");
        folds(symbolic, "(i * m + j) mod m", "j");
    }

    /// How far the next turn of the loop over `c` is in `array`, of which these are extents and
    /// subscripts.
    #[track_caller]
    fn steps(extents: &str, subscripts: &str) -> Option<i64> {
        let source = format!(
            "kernel @k(n: i64, m: i64, k: i64, x: f64[{extents}]) {{ affine.for c in 0..n {{ x[{subscripts}] = 1.0 }} }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let site = accesses(&kernel).remove(0);
        let innermost = site.loops.last().expect("a loop");
        site.access.step_through_rows(&kernel, innermost.iter())
    }

    #[test]
    fn rows_go_on_in_the_next_ones() {
        assert_eq!(steps("n, 3", "c floordiv 3, c mod 3"), Some(1));
        assert_eq!(steps("n, m", "c floordiv m, c mod m"), Some(1));
        assert_eq!(steps("n, m", "k - (-c) floordiv m, (-c) mod m"), None);
        assert_eq!(steps("n, 3", "(5 - c) floordiv 3, (5 - c) mod 3"), Some(-1));
        let cells = "c floordiv 12, (c mod 12) floordiv 4, c mod 4";
        assert_eq!(steps("n, 3, 4", cells), Some(1));
        assert_eq!(steps("k, n, 3", "k - 1, c floordiv 3, c mod 3"), Some(1));
        // Rows of other lengths, and what divides nothing.
        assert_eq!(steps("n, 4", "c floordiv 3, c mod 3"), None);
        assert_eq!(steps("n, 3", "c, 2"), None);
    }

    #[test]
    fn what_does_not_fold_stays() {
        let flat = "affine.for c in 0..n {";
        folds(
            flat,
            "(c floordiv 8) * 9 + c mod 7",
            "(c floordiv 8) * 9 + c mod 7",
        );
        folds("affine.for c in 0..33 {", "c floordiv 32", "c floordiv 32");
        folds("scf.for c in n..m {", "c mod 8", "c mod 8");
        // Not by a new numerator, which might leave 64 bits.
        folds(
            "affine.for c in 0..n { affine.for d in 0..n {",
            "(d + c floordiv 8) floordiv 8",
            "(d + c floordiv 8) floordiv 8",
        );
        folds("affine.for c in 5..5 {", "c floordiv 2", "c floordiv 2");
    }
}
