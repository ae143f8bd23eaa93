use super::names::written;
use crate::visit::{Loop, walk};
use crate::{AffineExpr, Factor, IterId, Kernel, Parameter, ScalarId, Term, Variable};
use std::collections::HashMap;

/// Where each variable is declared in the text: what the order of terms and factors follows.
///
/// The order must not depend on the arenas: a kernel that was parsed back has other ids, and its text must be the same.
pub(super) struct Order {
    iters: HashMap<IterId, usize>,
    params: HashMap<ScalarId, usize>,
}

/// Sorts factors: iterators, parameters, then divisions by the first variable in them and by their text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Iter(usize),
    Param(usize),
    Division(Option<Box<Key>>, String),
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
            Parameter::Array(_) => None,
        });
        let params = scalars.zip(0..).collect();
        Self { iters, params }
    }

    fn key(&self, kernel: &Kernel, factor: &Factor) -> Key {
        match factor {
            Factor::Variable(variable) => self.variable_key(*variable),
            Factor::FloorDiv(left, _) | Factor::Mod(left, _) => {
                let mut keys = Vec::new();
                left.for_each_variable(&mut |variable| keys.push(self.variable_key(variable)));
                let first = keys.into_iter().min().map(Box::new);
                Key::Division(first, self.factor(kernel, factor).0)
            }
        }
    }

    fn variable_key(&self, variable: Variable) -> Key {
        let last = usize::MAX;
        match variable {
            Variable::Iter(iter) => Key::Iter(self.iters.get(&iter).copied().unwrap_or(last)),
            Variable::Param(param) => Key::Param(self.params.get(&param).copied().unwrap_or(last)),
        }
    }

    /// The text of `expr`.
    pub(super) fn expr(&self, kernel: &Kernel, expr: &AffineExpr) -> String {
        self.sum(kernel, expr).0
    }

    fn sum(&self, kernel: &Kernel, expr: &AffineExpr) -> (String, Level) {
        let mut terms: Vec<_> = expr
            .terms()
            .iter()
            .map(|term| {
                let mut factors: Vec<_> = term.factors.iter().collect();
                factors.sort_by_cached_key(|factor| self.key(kernel, factor));
                let keys: Vec<_> = factors.iter().map(|it| self.key(kernel, it)).collect();
                (keys, self.product(kernel, term, &factors))
            })
            .collect();
        terms.sort_by(|left, right| left.0.cmp(&right.0));
        let mut pieces: Vec<_> = terms.into_iter().map(|(_, piece)| piece).collect();
        if expr.constant() != 0 || pieces.is_empty() {
            pieces.push(constant(expr.constant()));
        }
        join(&pieces)
    }

    /// Whether the product is subtracted, its text without the sign, and the level of that.
    fn product(&self, kernel: &Kernel, term: &Term, factors: &[&Factor]) -> (bool, String, Level) {
        if let [Factor::FloorDiv(left, right)] = factors
            && let Some(rounded_up) = self.ceildiv(kernel, term.coefficient, left, right)
        {
            return rounded_up;
        }
        // The magnitude of the least `i64` cannot be written without its sign.
        let negative = term.coefficient < 0 && term.coefficient != i64::MIN;
        let scale = match term.coefficient {
            1 | -1 => None,
            i64::MIN => Some(i64::MIN.to_string()),
            other => Some(other.unsigned_abs().to_string()),
        };
        let mut texts: Vec<_> = factors.iter().map(|it| self.factor(kernel, it)).collect();
        texts.extend(scale.map(|text| (text, Level::Atom)));
        let (text, level) = multiply(texts);
        (negative, text, level)
    }

    /// `c * (-a floordiv b)` with a negative `c` and an `a` that starts with a minus reads better as `-c * (a ceildiv b)`.
    fn ceildiv(
        &self,
        kernel: &Kernel,
        coefficient: i64,
        left: &AffineExpr,
        right: &AffineExpr,
    ) -> Option<(bool, String, Level)> {
        let scale = coefficient.checked_neg().filter(|scale| *scale > 0)?;
        let numerator = left.scaled(-1).ok()?;
        if !self.expr(kernel, left).starts_with('-') {
            return None;
        }
        let division = self.division(kernel, "ceildiv", &numerator, right);
        let mut texts = vec![division];
        if scale != 1 {
            texts.push((scale.to_string(), Level::Atom));
        }
        let (text, level) = multiply(texts);
        Some((false, text, level))
    }

    fn factor(&self, kernel: &Kernel, factor: &Factor) -> (String, Level) {
        match factor {
            Factor::Variable(Variable::Iter(iter)) => {
                (written(&kernel.iters[*iter].name), Level::Atom)
            }
            Factor::Variable(Variable::Param(param)) => {
                (written(&kernel.scalars[*param].name), Level::Atom)
            }
            Factor::FloorDiv(left, right) => self.division(kernel, "floordiv", left, right),
            Factor::Mod(left, right) => self.division(kernel, "mod", left, right),
        }
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

fn constant(value: i64) -> (bool, String, Level) {
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

fn join(pieces: &[(bool, String, Level)]) -> (String, Level) {
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
