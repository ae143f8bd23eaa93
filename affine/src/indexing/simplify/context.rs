use super::linear::{Atom, Division, Linear, Term};
use crate::indexing::expression::floor_div;
use crate::indexing::{IndexingMap, Interval, Variable, VariableKind};

/// The values between `low` and `high`, clamped to 128 bits: a sum or product that leaves them is
/// as good as unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::indexing) struct Span {
    pub(in crate::indexing) low: i128,
    pub(in crate::indexing) high: i128,
}

impl Span {
    pub(in crate::indexing) const ALL: Self = Self {
        low: i128::MIN,
        high: i128::MAX,
    };

    pub(in crate::indexing) fn point(value: i128) -> Self {
        Self {
            low: value,
            high: value,
        }
    }

    pub(in crate::indexing) fn as_point(self) -> Option<i128> {
        (self.low == self.high).then_some(self.low)
    }

    pub(in crate::indexing) fn offset(self, by: i128) -> Self {
        self.plus(Self::point(by))
    }

    fn plus(self, other: Self) -> Self {
        Self {
            low: self.low.saturating_add(other.low),
            high: self.high.saturating_add(other.high),
        }
    }

    pub(in crate::indexing) fn scaled(self, factor: i128) -> Self {
        let scale = |end: i128| match (i64::try_from(end), i64::try_from(factor)) {
            (Ok(_), Ok(_)) => end * factor,
            _ => end.saturating_mul(factor),
        };
        let (first, second) = (scale(self.low), scale(self.high));
        if factor < 0 {
            Self {
                low: second,
                high: first,
            }
        } else {
            Self {
                low: first,
                high: second,
            }
        }
    }

    fn times(self, other: Self) -> Self {
        let [low, high] = [self.scaled(other.low), self.scaled(other.high)];
        Self::around([low.low, low.high, high.low, high.high])
    }

    fn around<const N: usize>(values: [i128; N]) -> Self {
        let first = Self {
            low: i128::MAX,
            high: i128::MIN,
        };
        values.into_iter().fold(first, |span, value| Self {
            low: span.low.min(value),
            high: span.high.max(value),
        })
    }

    pub(in crate::indexing) fn contains(self, value: i128) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether no value is in both.
    pub(in crate::indexing) fn is_apart(self, other: Self) -> bool {
        self.low > other.high || self.high < other.low
    }

    pub(in crate::indexing) fn intersect(self, other: Self) -> Self {
        Self {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
        }
    }

    fn join(self, other: Self) -> Self {
        Self::around([self.low, self.high, other.low, other.high])
    }

    /// The one quotient that all values have by `divisor`, which is positive.
    pub(in crate::indexing) fn quotient(self, divisor: i64) -> Option<i128> {
        let divisor = divisor.into();
        let low = floor_div(self.low, divisor);
        // A clamped end says nothing.
        let is_known = self.low != i128::MIN && self.high != i128::MAX;
        (is_known && low == floor_div(self.high, divisor)).then_some(low)
    }
}

impl From<Interval> for Span {
    fn from(interval: Interval) -> Self {
        Self {
            low: interval.low.into(),
            high: interval.high.into(),
        }
    }
}

/// What is known to be in an interval at every point of the domain. It has no constant, its first
/// coefficient is positive and its coefficients have no common divisor.
#[derive(Clone, Debug)]
pub(in crate::indexing) struct Fact {
    pub(in crate::indexing) linear: Linear,
    pub(in crate::indexing) bounds: Interval,
}

/// `linear` leaves `residue` by `modulus` at every point of the domain; `linear` is as in a
/// [`Fact`].
#[derive(Clone, Debug, PartialEq)]
pub(in crate::indexing) struct Congruence {
    pub(in crate::indexing) linear: Linear,
    pub(in crate::indexing) modulus: i64,
    pub(in crate::indexing) residue: i64,
}

/// What is known of the domain.
#[derive(Clone, Debug, Default)]
pub(in crate::indexing) struct Context {
    bounds: [Vec<Interval>; 3],
    pub(in crate::indexing) facts: Vec<Fact>,
    pub(in crate::indexing) congruences: Vec<Congruence>,
}

fn kind_index(kind: VariableKind) -> usize {
    match kind {
        VariableKind::Dimension => 0,
        VariableKind::Range => 1,
        VariableKind::Runtime => 2,
    }
}

impl Context {
    /// The bounds of the variables of `map`.
    pub(in crate::indexing) fn of_bounds(map: &IndexingMap) -> Self {
        let bounds = VariableKind::ALL
            .map(|kind| map.declarations(kind).iter().map(|it| it.bounds).collect());
        Self {
            bounds,
            facts: Vec::new(),
            congruences: Vec::new(),
        }
    }

    pub(in crate::indexing) fn bounds(&self, variable: Variable) -> Interval {
        let declared = &self.bounds[kind_index(variable.kind)];
        declared
            .get(variable.position)
            .copied()
            .unwrap_or(Interval::ALL)
    }

    /// All variables.
    pub(in crate::indexing) fn variables(&self) -> impl Iterator<Item = Variable> + use<> {
        let counts = VariableKind::ALL.map(|it| (it, self.bounds[kind_index(it)].len()));
        counts
            .into_iter()
            .flat_map(|(kind, count)| (0..count).map(move |at| Variable::new(kind, at)))
    }

    pub(in crate::indexing) fn set_bounds(&mut self, variable: Variable, bounds: Interval) {
        let declared = &mut self.bounds[kind_index(variable.kind)];
        if let Some(declared) = declared.get_mut(variable.position) {
            *declared = bounds;
        }
    }

    /// Whether the variables have the same bounds in both.
    pub(in crate::indexing) fn is_same_box(&self, other: &Self) -> bool {
        self.bounds == other.bounds
    }

    /// The values that `linear` can have: all of them, and perhaps others.
    pub(in crate::indexing) fn range(&self, linear: &Linear) -> Span {
        let mut span = Span::point(linear.constant.into());
        for term in &linear.terms {
            span = span.plus(self.atom_range(&term.atom).scaled(term.coefficient.into()));
        }
        match self.known(linear) {
            Some(known) => span.intersect(known),
            None => span,
        }
    }

    /// The values that `linear` can have where it is a multiple of what a fact speaks of, and a
    /// rest.
    pub(in crate::indexing) fn range_by_facts(&self, linear: &Linear) -> Span {
        let mut span = self.range(linear);
        for fact in &self.facts {
            for term in &fact.linear.terms {
                let own = linear.terms.iter().find(|it| it.atom == term.atom);
                let Some((factor, 0)) = own.and_then(|own| {
                    let factor = own.coefficient.checked_div(term.coefficient)?;
                    Some((factor, own.coefficient.checked_rem(term.coefficient)?))
                }) else {
                    continue;
                };
                let rest = linear.plus_scaled(&fact.linear, factor.saturating_neg());
                if let Ok(rest) = rest {
                    let multiple = Span::from(fact.bounds).scaled(factor.into());
                    span = span.intersect(multiple.plus(self.range(&rest)));
                }
            }
        }
        span
    }

    /// The range of `linear` with each coefficient replaced, to zero for a term that is left out.
    pub(in crate::indexing) fn range_with(
        &self,
        linear: &Linear,
        replaced: impl Fn(i64) -> i64,
    ) -> Span {
        if !self.facts.is_empty() {
            let terms = linear.terms.iter().map(|it| Term {
                atom: it.atom.clone(),
                coefficient: replaced(it.coefficient),
            });
            return self.range(&Linear {
                terms: terms.filter(|it| it.coefficient != 0).collect(),
                constant: linear.constant,
            });
        }
        let mut span = Span::point(linear.constant.into());
        for term in &linear.terms {
            let coefficient = replaced(term.coefficient);
            if coefficient != 0 {
                span = span.plus(self.atom_range(&term.atom).scaled(coefficient.into()));
            }
        }
        span
    }

    /// What a fact says of `linear`.
    fn known(&self, linear: &Linear) -> Option<Span> {
        let first = linear.terms.first()?;
        if self.facts.is_empty() {
            return None;
        }
        let factor = if first.coefficient < 0 {
            linear.content().checked_neg()?
        } else {
            linear.content()
        };
        let is_multiple = |fact: &Linear| {
            fact.terms.len() == linear.terms.len()
                && fact.terms.iter().zip(&linear.terms).all(|(fact, term)| {
                    fact.coefficient.checked_mul(factor) == Some(term.coefficient)
                        && fact.atom == term.atom
                })
        };
        let fact = self.facts.iter().find(|it| is_multiple(&it.linear))?;
        let scaled = Span::from(fact.bounds).scaled(factor.into());
        Some(scaled.plus(Span::point(linear.constant.into())))
    }

    pub(in crate::indexing) fn atom_range(&self, atom: &Atom) -> Span {
        let span = match atom {
            Atom::Variable(variable) => return self.bounds(*variable).into(),
            Atom::Product(factors) => {
                let spans = factors.iter().map(|it| self.atom_range(it));
                spans.fold(Span::point(1), Span::times)
            }
            Atom::FloorDiv(division) => self.quotient_range(division),
            Atom::Mod(division) => self.remainder_range(division),
            Atom::Min(operands) => self.extreme_range(operands, i128::min),
            Atom::Max(operands) => self.extreme_range(operands, i128::max),
            Atom::Sum(sum) => self.range(sum),
        };
        if self.facts.is_empty() {
            return span;
        }
        let of_this = |fact: &&Fact| fact.linear.as_atom() == Some(atom);
        match self.facts.iter().find(of_this) {
            Some(fact) => span.intersect(fact.bounds.into()),
            None => span,
        }
    }

    fn extreme_range(&self, operands: &[Linear], pick: fn(i128, i128) -> i128) -> Span {
        let spans = operands.iter().map(|it| self.range(it));
        let picked = spans.reduce(|left, right| Span {
            low: pick(left.low, right.low),
            high: pick(left.high, right.high),
        });
        picked.unwrap_or(Span::ALL)
    }

    /// The negative and the positive values of a divisor; zero has no quotient.
    fn divisors(&self, divisor: &Linear) -> [Option<Span>; 2] {
        let span = self.range(divisor);
        let negative = Span {
            low: span.low,
            high: span.high.min(-1),
        };
        let positive = Span {
            low: span.low.max(1),
            high: span.high,
        };
        [negative, positive].map(|it| (it.low <= it.high).then_some(it))
    }

    fn quotient_range(&self, division: &Division) -> Span {
        let numerator = self.range(&division.numerator);
        let divide = |left: i128, right: i128| {
            if right == -1 {
                left.saturating_neg()
            } else {
                floor_div(left, right)
            }
        };
        let parts = self.divisors(&division.divisor).into_iter().flatten();
        // Monotone in each operand as long as the divisor keeps its sign.
        let spans = parts.map(|divisor| {
            Span::around([
                divide(numerator.low, divisor.low),
                divide(numerator.low, divisor.high),
                divide(numerator.high, divisor.low),
                divide(numerator.high, divisor.high),
            ])
        });
        spans.reduce(Span::join).unwrap_or(Span::ALL)
    }

    fn remainder_range(&self, division: &Division) -> Span {
        let numerator = self.range(&division.numerator);
        if let Some(divisor) = division.divisor.as_constant()
            && divisor > 0
            && let Some(quotient) = numerator.quotient(divisor)
        {
            let multiple = quotient.saturating_mul(divisor.into());
            return numerator.plus(Span::point(multiple.saturating_neg()));
        }
        let parts = self.divisors(&division.divisor);
        let spans = parts.into_iter().flatten().map(|divisor| {
            if divisor.low > 0 {
                let most = divisor.high.saturating_sub(1);
                // What is smaller than the divisor is its own remainder.
                let most = if numerator.low >= 0 {
                    most.min(numerator.high)
                } else {
                    most
                };
                Span { low: 0, high: most }
            } else {
                let least = divisor.low.saturating_add(1);
                let least = if numerator.high <= 0 {
                    least.max(numerator.low)
                } else {
                    least
                };
                Span {
                    low: least,
                    high: 0,
                }
            }
        });
        spans.reduce(Span::join).unwrap_or(Span::ALL)
    }
}
