//! Affine expressions, maps and sets.

use super::token::{Token, Tokens};
use super::{Checked, ReadError};
use crate::{AffineExpr, Condition, Overflow, Relation, Span};

/// What names in an affine expression stand for.
pub(super) type Names<'a> = &'a dyn Fn(&str) -> Option<AffineExpr>;

pub(super) fn in_range(span: Span, made: Result<AffineExpr, Overflow>) -> Checked<AffineExpr> {
    made.map_err(|Overflow| ReadError::new(span, "this leaves the range of 64-bit integers"))
}

/// Tools of MLIR bring all terms to one side. Where the `left` side is nothing, those that are
/// subtracted on the right come to it.
fn apart(span: Span, left: AffineExpr, right: AffineExpr) -> Checked<(AffineExpr, AffineExpr)> {
    if left.as_constant() != Some(0) {
        return Ok((left, right));
    }
    let mut subtracted = AffineExpr::from(right.constant().min(0).saturating_neg());
    for term in right.terms().iter().filter(|it| it.coefficient < 0) {
        let mut product = AffineExpr::from(term.coefficient.saturating_neg());
        for factor in &term.factors {
            let factor = AffineExpr::from_factor(factor.clone());
            product = in_range(span, product.times(&factor))?;
        }
        subtracted = in_range(span, subtracted.plus(&product))?;
    }
    let right = in_range(span, right.plus(&subtracted))?;
    Ok((subtracted, right))
}

impl<'t> Tokens<'t> {
    /// A sum of products.
    pub(super) fn affine(&mut self, names: Names<'_>) -> Checked<AffineExpr> {
        let mut sum = self.product(names)?;
        loop {
            let span = self.here();
            sum = if self.take("+") {
                let term = self.product(names)?;
                in_range(span, sum.plus(&term))?
            } else if self.take("-") {
                let term = self.product(names)?;
                in_range(span, sum.minus(&term))?
            } else {
                return Ok(sum);
            };
        }
    }

    fn product(&mut self, names: Names<'_>) -> Checked<AffineExpr> {
        let mut product = self.atom(names)?;
        loop {
            let span = self.here();
            product = if self.take("*") {
                let factor = self.atom(names)?;
                in_range(span, product.times(&factor))?
            } else if self.take("floordiv") {
                let divisor = self.atom(names)?;
                in_range(span, product.floordiv(&divisor))?
            } else if self.take("mod") {
                let divisor = self.atom(names)?;
                in_range(span, product.modulo(&divisor))?
            } else {
                return Ok(product);
            };
        }
    }

    fn atom(&mut self, names: Names<'_>) -> Checked<AffineExpr> {
        if self.take("(") {
            let inner = self.affine(names)?;
            self.expect(")")?;
            return Ok(inner);
        }
        let span = self.here();
        if self.take("-") {
            let negated = self.atom(names)?;
            return in_range(span, negated.times(&AffineExpr::from(-1)));
        }
        // As it stands in subscripts, but for the mark before its name.
        if self.take("symbol") {
            self.expect("(")?;
            let symbol = self.atom(names)?;
            self.expect(")")?;
            return Ok(symbol);
        }
        match self.peek() {
            Some(Token::Number(_)) => Ok(self.integer()?.into()),
            Some(Token::Value(name) | Token::Word(name)) => {
                self.next();
                let unknown = || ReadError::new(span, format!("`{name}` is no index here"));
                names(name).ok_or_else(unknown)
            }
            _ => Err(self.wanted("an affine expression")),
        }
    }

    /// `(d0, d1)[s0]`: the names, of which those in square brackets, which strew does not print,
    /// may be missing.
    fn dimensions(&mut self) -> Checked<Vec<&'t str>> {
        self.in_groups(|tokens| Ok(tokens.word()?.0))
    }

    /// `(%0, %1)[%2]`, as [`dimensions`](Self::dimensions) has their names.
    fn operands(&mut self, names: Names<'_>) -> Checked<Vec<AffineExpr>> {
        self.in_groups(|tokens| {
            let (name, span) = tokens.value()?;
            let unknown = || ReadError::new(span, format!("`%{name}` is no index here"));
            names(name).ok_or_else(unknown)
        })
    }

    /// What stands between round brackets, and between the square ones behind them if there are
    /// any.
    fn in_groups<T>(&mut self, mut item: impl FnMut(&mut Self) -> Checked<T>) -> Checked<Vec<T>> {
        let mut all = Vec::new();
        self.expect("(")?;
        while !self.take(")") {
            all.push(item(self)?);
            self.take(",");
        }
        if self.take("[") {
            while !self.take("]") {
                all.push(item(self)?);
                self.take(",");
            }
        }
        Ok(all)
    }

    /// Reads `body` between `<(d0) separator (` and `)>(%0)`, where the names are those of the
    /// operands behind it.
    fn applied<T>(
        &mut self,
        word: &str,
        separator: &str,
        names: Names<'_>,
        body: impl Fn(&mut Self, Names<'_>) -> Checked<T>,
    ) -> Checked<Vec<T>> {
        let behind = self.follow_alias()?;
        self.expect(word)?;
        self.expect("<")?;
        let dimensions = self.dimensions()?;
        self.expect(separator)?;
        let start = self.mark();
        self.skip_group()?;
        self.expect(">")?;
        if let Some(behind) = behind {
            self.go_to(behind);
        }
        let operands = self.operands(names)?;
        let count = dimensions.len();
        if operands.len() != count {
            return Err(self.wanted(&format!("{count} operands before this")));
        }
        let end = self.mark();
        self.go_to(start);
        self.expect("(")?;
        let known = |name: &str| {
            let position = dimensions.iter().position(|it| *it == name)?;
            operands.get(position).cloned()
        };
        let mut all = Vec::new();
        while !self.take(")") {
            all.push(body(self, &known)?);
            self.take(",");
        }
        self.go_to(end);
        Ok(all)
    }

    /// The results of `affine_map<(d0) -> (d0 + 1)>(%0)`.
    pub(super) fn map(&mut self, names: Names<'_>) -> Checked<Vec<AffineExpr>> {
        self.applied("affine_map", "->", names, |tokens, names| {
            tokens.affine(names)
        })
    }

    /// The constraints of `affine_set<(d0) : (d0 <= 5)>(%0)`.
    pub(super) fn set(&mut self, names: Names<'_>) -> Checked<Vec<Condition>> {
        self.applied("affine_set", ":", names, |tokens, names| {
            let left = tokens.affine(names)?;
            let span = tokens.here();
            let condition = |left, relation, right| Condition {
                left,
                relation,
                right,
            };
            if tokens.take("<=") {
                Ok(condition(
                    left,
                    Relation::LessOrEqual,
                    tokens.affine(names)?,
                ))
            } else if tokens.take("==") {
                let (right, left) = apart(span, tokens.affine(names)?, left)?;
                Ok(condition(left, Relation::Equal, right))
            } else {
                // `right - 1 >= left` stands for `left < right`.
                tokens.expect(">=")?;
                let less = tokens.affine(names)?;
                let right = in_range(span, left.offset(1))?;
                let (less, right) = apart(span, less, right)?;
                Ok(condition(less, Relation::Less, right))
            }
        })
    }

    fn skip_group(&mut self) -> Checked<()> {
        self.expect("(")?;
        let mut depth = 1;
        while depth > 0 {
            match self.next() {
                Some(Token::Mark("(")) => depth += 1,
                Some(Token::Mark(")")) => depth -= 1,
                Some(_) => {}
                None => return Err(self.wanted("`)`")),
            }
        }
        Ok(())
    }
}
