use super::names::written;
use crate::visit::{Loop, walk};
use crate::{
    AffineExpr, Condition, Factor, IterId, Kernel, Parameter, Relation, ScalarId, Term, Variable,
};
use std::collections::HashMap;

/// Where each variable is declared in the text: what the order of terms and factors follows.
///
/// The order must not depend on the arenas: a kernel that was parsed back has other ids, and its
/// text must be the same.
pub(super) struct Order {
    iters: HashMap<IterId, usize>,
    params: HashMap<ScalarId, usize>,
}

/// Sorts factors: iterators, parameters, then divisions by the first variable in them and by their
/// text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Variable(Rank),
    Division(Option<Rank>, String),
}

/// Sorts variables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Iter(usize),
    Param(usize),
}

/// How tightly a piece of text holds together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Negated,
    Division,
    Product,
    Atom,
}

/// Whether a term is subtracted, its text without the sign, and the level of that.
type Piece = (bool, String, Level);

impl Order {
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut iters = HashMap::new();
        walk(&kernel.body, &mut |node, _| {
            let next = iters.len();
            if let Some(found) = Loop::of(node) {
                iters.entry(found.iter()).or_insert(next);
            }
        });
        let scalars = kernel.params.iter().filter_map(|param| match param {
            Parameter::Scalar(scalar) => Some(*scalar),
            Parameter::Array(_) | Parameter::Record(_) => None,
        });
        let params = scalars.zip(0..).collect();
        Self { iters, params }
    }

    fn rank(&self, variable: Variable) -> Rank {
        let last = usize::MAX;
        match variable {
            Variable::Iter(iter) => Rank::Iter(self.iters.get(&iter).copied().unwrap_or(last)),
            Variable::Param(param) => Rank::Param(self.params.get(&param).copied().unwrap_or(last)),
        }
    }

    fn first_rank(&self, expr: &AffineExpr) -> Option<Rank> {
        let mut first = None;
        expr.for_each_variable(&mut |variable| {
            let rank = self.rank(variable);
            first = Some(first.map_or(rank, |first: Rank| first.min(rank)));
        });
        first
    }

    /// The text of `expr`.
    pub(super) fn condition(&self, kernel: &Kernel, condition: &Condition) -> String {
        let relation = match condition.relation {
            Relation::LessOrEqual => "<=",
            Relation::Less => "<",
            Relation::Equal => "==",
        };
        let (left, right) = (
            self.expr(kernel, &condition.left),
            self.expr(kernel, &condition.right),
        );
        format!("{left} {relation} {right}")
    }

    pub(super) fn expr(&self, kernel: &Kernel, expr: &AffineExpr) -> String {
        self.sum(kernel, expr).0
    }

    /// Prints every part once: what is nested would else cost a power of its depth.
    fn sum(&self, kernel: &Kernel, expr: &AffineExpr) -> (String, Level) {
        let terms = expr.terms().iter();
        let mut terms: Vec<_> = terms.map(|it| self.product(kernel, it)).collect();
        terms.sort_by(|left, right| left.0.cmp(&right.0));
        let mut pieces: Vec<_> = terms.into_iter().map(|(_, piece)| piece).collect();
        if expr.constant() != 0 || pieces.is_empty() {
            pieces.push(constant(expr.constant()));
        }
        join(&pieces)
    }

    fn product(&self, kernel: &Kernel, term: &Term) -> (Vec<Key>, Piece) {
        let (coefficient, rounds_up) = match (term.factors.as_slice(), term.coefficient) {
            // `c * (-a floordiv b)` with a negative `c` reads better as `-c * (a ceildiv b)`.
            ([Factor::FloorDiv(left, _)], i64::MIN..0) if self.starts_negative(left) => {
                (term.coefficient.wrapping_neg(), true)
            }
            (_, coefficient) => (coefficient, false),
        };
        let factors = term.factors.iter();
        let mut factors: Vec<_> = factors
            .map(|it| self.factor(kernel, it, rounds_up))
            .collect();
        factors.sort_by(|left, right| left.0.cmp(&right.0));
        let (keys, mut texts): (Vec<_>, Vec<_>) = factors.into_iter().unzip();
        // The magnitude of the least `i64` cannot be written without its sign.
        let is_negative = coefficient < 0 && coefficient != i64::MIN;
        let scale = match coefficient {
            1 | -1 => None,
            i64::MIN => Some(i64::MIN.to_string()),
            other => Some(other.unsigned_abs().to_string()),
        };
        texts.extend(scale.map(|text| (text, Level::Atom)));
        let (text, level) = multiply(texts);
        (keys, (is_negative, text, level))
    }

    /// Whether the terms with the first of the variables are mostly subtracted, and all can be
    /// negated.
    fn starts_negative(&self, expr: &AffineExpr) -> bool {
        let rank_of = |term: &Term| {
            let mut first = None;
            for factor in &term.factors {
                let rank = match factor {
                    Factor::Variable(variable) => Some(self.rank(*variable)),
                    Factor::FloorDiv(left, _) | Factor::Mod(left, _) => self.first_rank(left),
                };
                first = [first, rank].into_iter().flatten().min();
            }
            first
        };
        let first = expr.terms().iter().filter_map(&rank_of).min();
        let leading = expr.terms().iter().filter(|term| rank_of(term) == first);
        let sign: i64 = leading.map(|term| term.coefficient.signum()).sum();
        let least = expr.terms().iter().any(|it| it.coefficient == i64::MIN);
        sign < 0 && !least && expr.constant() != i64::MIN
    }

    fn factor(&self, kernel: &Kernel, factor: &Factor, rounds_up: bool) -> (Key, (String, Level)) {
        let (word, left, right) = match factor {
            Factor::Variable(variable) => {
                let name = match variable {
                    Variable::Iter(iter) => &kernel.iters[*iter].name,
                    Variable::Param(param) => &kernel.scalars[*param].name,
                };
                let key = Key::Variable(self.rank(*variable));
                return (key, (written(name), Level::Atom));
            }
            Factor::FloorDiv(left, right) => ("floordiv", left, right),
            Factor::Mod(left, right) => ("mod", left, right),
        };
        let negated = if rounds_up {
            left.scaled(-1).ok()
        } else {
            None
        };
        let printed = match &negated {
            Some(negated) => self.division(kernel, "ceildiv", negated, right),
            None => self.division(kernel, word, left, right),
        };
        let key = Key::Division(self.first_rank(left), printed.0.clone());
        (key, printed)
    }

    fn division(
        &self,
        kernel: &Kernel,
        word: &str,
        left: &AffineExpr,
        right: &AffineExpr,
    ) -> (String, Level) {
        let side = |expr| {
            let (text, level) = self.sum(kernel, expr);
            if level == Level::Atom {
                text
            } else {
                format!("({text})")
            }
        };
        let text = format!("{} {word} {}", side(left), side(right));
        (text, Level::Division)
    }
}

fn constant(value: i64) -> Piece {
    let negative = value < 0 && value != i64::MIN;
    let text = if negative {
        value.unsigned_abs().to_string()
    } else {
        value.to_string()
    };
    (negative, text, Level::Atom)
}

fn multiply(texts: Vec<(String, Level)>) -> (String, Level) {
    if let [(text, level)] = texts.as_slice() {
        return (text.clone(), *level);
    }
    let wrapped: Vec<_> = texts
        .into_iter()
        .map(|(text, level)| {
            if level == Level::Atom {
                text
            } else {
                format!("({text})")
            }
        })
        .collect();
    (wrapped.join(" * "), Level::Product)
}

fn join(pieces: &[Piece]) -> (String, Level) {
    let mut sum = String::new();
    for (index, (negative, text, level)) in pieces.iter().enumerate() {
        match (index, negative) {
            // `-a * b` is `(-a) * b`, which is the same; `-a floordiv b` is not what is meant.
            (0, true) if *level == Level::Division => {
                sum.push_str(&format!("-({text})"));
            }
            (0, true) => sum.push_str(&format!("-{text}")),
            (0, false) => sum.push_str(text),
            (_, true) => sum.push_str(&format!(" - {text}")),
            (_, false) => sum.push_str(&format!(" + {text}")),
        }
    }
    let level = match pieces {
        [(false, text, level)] if !text.starts_with('-') => *level,
        [_] => Level::Negated,
        _ => Level::Sum,
    };
    (sum, level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kernels::{iter, scalar};
    use crate::{Overflow, Span, Type};

    #[test]
    fn terms_follow_the_order_of_declaration_and_the_constant_is_last() -> Result<(), Overflow> {
        let mut kernel = Kernel::new("k", Span::default());
        let n: AffineExpr = scalar(&mut kernel, "n", Type::I64).into();
        let i: AffineExpr = iter(&mut kernel, "i").into();
        let eight = AffineExpr::from(8);
        let cases = [
            (n.minus(&i)?.offset(-1)?, "-i + n - 1"),
            (i.times(&n)?.scaled(-2)?.plus(&i)?, "i - i * n * 2"),
            (i.times(&n)?.floordiv(&eight)?, "(i * n) floordiv 8"),
            (n.ceildiv(&eight)?, "n ceildiv 8"),
            (n.floordiv(&eight)?.scaled(-1)?, "-(n floordiv 8)"),
            (n.minus(&i)?.ceildiv(&eight)?, "-((i - n) floordiv 8)"),
            (
                i.minus(&n)?.ceildiv(&eight)?.scaled(2)?,
                "((i - n) ceildiv 8) * 2",
            ),
            (
                i.times(&n)?.floordiv(&eight)?.scaled(-1)?,
                "-((i * n) floordiv 8)",
            ),
            (
                n.floordiv(&eight)?.times(&i)?.scaled(-1)?,
                "-i * (n floordiv 8)",
            ),
            (i.minus(&n.modulo(&eight)?.scaled(3)?)?, "i - (n mod 8) * 3"),
            (i.scaled(i64::MIN)?, "i * -9223372036854775808"),
            (i.offset(i64::MIN)?, "i + -9223372036854775808"),
            (AffineExpr::from(-3), "-3"),
            (AffineExpr::default(), "0"),
        ];
        let order = Order::of(&kernel);
        for (expr, text) in cases {
            assert_eq!(order.expr(&kernel, &expr), text);
        }
        Ok(())
    }
}
