use super::token::Token;
use crate::indexing::{IndexExpr, IndexingMap, Sum, Variable};
use std::collections::HashSet;
use std::fmt::{self, Display, Formatter, Write as _};

/// How tightly the operators bind that an expression is printed with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Sum,
    Product,
    Primary,
}

impl IndexingMap {
    /// The names of [`IndexingMap::variables`] in the text of the map: their own, else those of
    /// their kind and position, changed where another variable has them.
    pub fn variable_names(&self) -> Vec<String> {
        let own = |variable| self.declaration(variable).and_then(|it| it.name.as_deref());
        let mut taken: HashSet<&str> = HashSet::new();
        let kept: Vec<Option<&str>> = self
            .variables()
            .map(|it| own(it).filter(|name| !Token::is_reserved(name) && taken.insert(name)))
            .collect();
        let named = self.variables().zip(kept).map(|(variable, name)| {
            let default = || {
                let mut name = variable.default_name();
                while taken.contains(name.as_str()) {
                    name.push('_');
                }
                name
            };
            name.map_or_else(default, str::to_owned)
        });
        named.collect()
    }
}

impl Display for IndexingMap {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.known_empty {
            return f.write_str("known empty");
        }
        let names = self.variable_names();
        let name = |variable: Variable| names.get(self.slot(variable)).map_or("?", |it| it);
        let (dimensions, rest) = names
            .split_at_checked(self.dimensions.len())
            .unwrap_or_default();
        let (ranges, runtimes) = rest.split_at_checked(self.ranges.len()).unwrap_or_default();
        write!(f, "({})", dimensions.join(", "))?;
        if !ranges.is_empty() {
            write!(f, "[{}]", ranges.join(", "))?;
        }
        if !runtimes.is_empty() {
            write!(f, "{{{}}}", runtimes.join(", "))?;
        }
        let results = self.results.iter().map(|it| text(it, &name));
        write!(f, " -> ({})", results.collect::<Vec<_>>().join(", "))?;
        let bounds = names.iter().zip(self.box_bounds());
        let bounds = bounds.map(|(name, bounds)| format!("{name} in {bounds}"));
        let constraints = self.constraints.iter();
        let constraints =
            constraints.map(|it| format!("{} in {}", text(&it.expr, &name), it.bounds));
        let domain: Vec<_> = bounds.chain(constraints).collect();
        if domain.is_empty() {
            return Ok(());
        }
        write!(f, ", domain: {}", domain.join(", "))
    }
}

/// With the names that variables have when they are given none.
impl Display for IndexExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = |variable: Variable| variable.default_name();
        f.write_str(&text(self, &name))
    }
}

impl IndexExpr {
    /// The text of the expression, with these names for its variables.
    pub fn text<N: Display>(&self, name: &impl Fn(Variable) -> N) -> String {
        text(self, name)
    }
}

fn text<N: Display>(expr: &IndexExpr, name: &impl Fn(Variable) -> N) -> String {
    let mut printer = Printer {
        text: String::new(),
        name,
    };
    printer.expr(expr, Binding::Sum);
    printer.text
}

struct Printer<'n, F> {
    text: String,
    name: &'n F,
}

impl<N: Display, F: Fn(Variable) -> N> Printer<'_, F> {
    fn push(&mut self, piece: impl Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{piece}");
    }

    /// Prints `expr`, in parentheses when its operators bind less tightly than `least`.
    fn expr(&mut self, expr: &IndexExpr, least: Binding) {
        let parenthesized = binding(expr) < least;
        if parenthesized {
            self.push("(");
        }
        match expr {
            IndexExpr::Constant(value) => self.push(value),
            IndexExpr::Variable(variable) => self.push((self.name)(*variable)),
            IndexExpr::Product(factors) => self.separated(factors, " * ", Binding::Primary),
            IndexExpr::FloorDiv(pair) => self.separated(&pair[..], " floordiv ", Binding::Primary),
            IndexExpr::CeilDiv(pair) => self.separated(&pair[..], " ceildiv ", Binding::Primary),
            IndexExpr::Mod(pair) => self.separated(&pair[..], " mod ", Binding::Primary),
            IndexExpr::Min(operands) => self.call("min", operands),
            IndexExpr::Max(operands) => self.call("max", operands),
            IndexExpr::Sum(sum) => self.sum(sum),
        }
        if parenthesized {
            self.push(")");
        }
    }

    fn call(&mut self, function: &str, operands: &[IndexExpr]) {
        self.push(function);
        self.push("(");
        self.separated(operands, ", ", Binding::Sum);
        self.push(")");
    }

    fn separated(&mut self, operands: &[IndexExpr], separator: &str, least: Binding) {
        for (position, operand) in operands.iter().enumerate() {
            if position > 0 {
                self.push(separator);
            }
            // A divisor may have a sign without parentheses.
            let is_negative_divisor = position > 0 && operand.as_constant().is_some();
            self.expr(
                operand,
                if is_negative_divisor {
                    Binding::Sum
                } else {
                    least
                },
            );
        }
    }

    fn sum(&mut self, sum: &Sum) {
        for (position, term) in sum.terms().iter().enumerate() {
            // The least integer has no positive counterpart.
            let is_subtracted = term.coefficient < 0
                && term.coefficient != i64::MIN
                && (position > 0 || term.coefficient == -1);
            let coefficient = if is_subtracted {
                -term.coefficient
            } else {
                term.coefficient
            };
            self.push(match (position, is_subtracted) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            });
            let is_alone = coefficient == 1;
            // What stands behind a sign is in parentheses when it is more than a variable: no
            // reader has to know what the sign speaks of.
            let least = match (position, is_subtracted, is_alone) {
                (0, true, _) => Binding::Primary,
                (_, _, false) if !matches!(term.expr, IndexExpr::Product(_)) => Binding::Primary,
                _ => Binding::Product,
            };
            self.expr(&term.expr, least);
            if !is_alone {
                self.push(" * ");
                self.push(coefficient);
            }
        }
        match sum.constant() {
            0 => {}
            constant if constant < 0 => {
                self.push(" - ");
                self.push(constant.unsigned_abs());
            }
            constant => {
                self.push(" + ");
                self.push(constant);
            }
        }
    }
}

fn binding(expr: &IndexExpr) -> Binding {
    match expr {
        IndexExpr::Constant(value) if *value < 0 => Binding::Sum,
        IndexExpr::Constant(_) | IndexExpr::Variable(_) | IndexExpr::Min(_) | IndexExpr::Max(_) => {
            Binding::Primary
        }
        IndexExpr::Product(_)
        | IndexExpr::FloorDiv(_)
        | IndexExpr::CeilDiv(_)
        | IndexExpr::Mod(_) => Binding::Product,
        IndexExpr::Sum(_) => Binding::Sum,
    }
}
