use super::{Resolver, Symbol};
use crate::text::error::ParseErrorKind;
use crate::text::tree::{Infix, Literal, LiteralKind, Tree, TreeKind};
use crate::{AffineExpr, BinaryOp, CompareOp, Condition, Overflow, Relation, Span, UnaryOp};

impl<'a> Resolver<'a, '_> {
    /// Whether the expression has the form of an affine one, whatever its numbers.
    pub(super) fn has_affine_form(&self, tree: &Tree<'a>) -> bool {
        match &tree.kind {
            TreeKind::Literal(literal) => literal.kind == LiteralKind::Integer,
            TreeKind::Name(name) => match self.scope.lookup(name) {
                Ok(Symbol::Iter(_)) => true,
                Ok(Symbol::Scalar(scalar)) => self.kernel.scalars[scalar].ty.is_integer(),
                Ok(Symbol::Array(_) | Symbol::Record | Symbol::View(_) | Symbol::Local(_))
                | Err(_) => false,
            },
            TreeKind::Unary(UnaryOp::Neg, operand) | TreeKind::Group(operand) => {
                self.has_affine_form(operand)
            }
            TreeKind::Infix(op, left, right) => {
                is_affine_operator(*op) && self.has_affine_form(left) && self.has_affine_form(right)
            }
            TreeKind::LinearizeIndex(indices, basis) => {
                let mut all = indices.iter().chain(basis);
                all.all(|it| self.has_affine_form(it))
            }
            TreeKind::DelinearizeIndex(linear, basis, _) => {
                self.has_affine_form(linear) && basis.iter().all(|it| self.has_affine_form(it))
            }
            TreeKind::Bool(_)
            | TreeKind::Threads
            | TreeKind::Index(..)
            | TreeKind::Unary(..)
            | TreeKind::Select(..)
            | TreeKind::Cast(..)
            | TreeKind::Call(..)
            | TreeKind::Error => false,
        }
    }

    /// The affine expression; 0 where it is none, which is then reported.
    pub(super) fn affine(&mut self, tree: &Tree<'a>) -> AffineExpr {
        self.try_affine(tree).unwrap_or_default()
    }

    fn try_affine(&mut self, tree: &Tree<'a>) -> Option<AffineExpr> {
        match &tree.kind {
            TreeKind::Literal(literal) if literal.kind == LiteralKind::Integer => {
                let value = integer(*literal);
                self.in_range(value.ok_or(Overflow), tree.span)
            }
            TreeKind::Name(name) => self.affine_name(name, tree.span),
            TreeKind::Group(inner) => self.try_affine(inner),
            TreeKind::Unary(UnaryOp::Neg, operand) => {
                let operand = self.try_affine(operand)?;
                self.in_range(operand.scaled(-1), tree.span)
            }
            TreeKind::Infix(op, left, right) if is_affine_operator(*op) => {
                let (left, right) = (self.try_affine(left), self.try_affine(right));
                self.affine_operation(*op, &left?, &right?, tree.span)
            }
            TreeKind::LinearizeIndex(indices, basis) => self.linearized(indices, basis, tree.span),
            TreeKind::DelinearizeIndex(linear, basis, result) => {
                self.delinearized(linear, basis, *result, tree.span)
            }
            TreeKind::Error => None,
            _ => {
                self.report(tree.span, ParseErrorKind::NotAffine);
                None
            }
        }
    }

    fn linearized(
        &mut self,
        indices: &[Tree<'a>],
        basis: &[Tree<'a>],
        span: Span,
    ) -> Option<AffineExpr> {
        if indices.len() != basis.len() {
            let (indices, sizes) = (indices.len(), basis.len());
            self.report(span, ParseErrorKind::BasisCount { indices, sizes });
            return None;
        }
        let mut all = |trees: &[Tree<'a>]| -> Option<Vec<AffineExpr>> {
            let all: Vec<_> = trees.iter().map(|it| self.try_affine(it)).collect();
            all.into_iter().collect()
        };
        let (indices, basis) = (all(indices), all(basis));
        let linear = AffineExpr::linearize_index(&indices?, &basis?);
        self.in_range(linear.ok_or(Overflow), span)
    }

    fn delinearized(
        &mut self,
        linear: &Tree<'a>,
        basis: &[Tree<'a>],
        result: Option<&'a str>,
        span: Span,
    ) -> Option<AffineExpr> {
        let linear = self.try_affine(linear);
        let basis = self.basis(basis);
        let Some(result) = result else {
            self.report(span, ParseErrorKind::SeveralIndices);
            return None;
        };
        let (linear, basis) = (linear?, basis?);
        let result = result.parse().ok().filter(|it| *it < basis.len());
        let Some(result) = result else {
            self.report(span, ParseErrorKind::NoSuchIndex(basis.len()));
            return None;
        };
        let indices = linear.delinearize_index(&basis);
        let index = indices.and_then(|it| it.into_iter().nth(result));
        self.in_range(index.ok_or(Overflow), span)
    }

    /// The sizes, of which all but the outermost are divided by.
    pub(super) fn basis(&mut self, basis: &[Tree<'a>]) -> Option<Vec<AffineExpr>> {
        let sizes: Vec<_> = basis.iter().map(|it| self.try_affine(it)).collect();
        let sizes: Vec<AffineExpr> = sizes.into_iter().collect::<Option<_>>()?;
        for (size, tree) in sizes.iter().zip(basis).skip(1) {
            if !is_divisor(size) {
                self.report(tree.span, ParseErrorKind::Divisor);
                return None;
            }
        }
        Some(sizes)
    }

    pub(super) fn in_range(
        &mut self,
        result: Result<AffineExpr, Overflow>,
        span: Span,
    ) -> Option<AffineExpr> {
        if result.is_err() {
            self.report(span, ParseErrorKind::AffineTooLarge);
        }
        result.ok()
    }

    fn affine_name(&mut self, name: &str, span: Span) -> Option<AffineExpr> {
        match self.lookup(name, span)? {
            Symbol::Iter(iter) => Some(iter.into()),
            Symbol::Scalar(scalar) if self.kernel.scalars[scalar].ty.is_integer() => {
                Some(scalar.into())
            }
            Symbol::Scalar(_)
            | Symbol::Array(_)
            | Symbol::Record
            | Symbol::View(_)
            | Symbol::Local(_) => {
                self.wrong_kind(name, span, "an iterator or an integer parameter")
            }
        }
    }

    fn affine_operation(
        &mut self,
        op: Infix,
        left: &AffineExpr,
        right: &AffineExpr,
        span: Span,
    ) -> Option<AffineExpr> {
        if matches!(op, Infix::FloorDiv | Infix::CeilDiv | Infix::Mod) && !is_divisor(right) {
            self.report(span, ParseErrorKind::Divisor);
            return None;
        }
        let result = match op {
            Infix::Binary(BinaryOp::Add) => left.plus(right),
            Infix::Binary(BinaryOp::Sub) => left.minus(right),
            Infix::FloorDiv => left.floordiv(right),
            Infix::CeilDiv => left.ceildiv(right),
            Infix::Mod => left.modulo(right),
            _ => left.times_written(right),
        };
        self.in_range(result, span)
    }

    pub(super) fn condition(&mut self, tree: &Tree<'a>) -> Option<Condition> {
        let TreeKind::Infix(Infix::Compare(op), left, right) = &tree.ungrouped().kind else {
            self.report(tree.span, ParseErrorKind::NotACondition);
            return None;
        };
        let (relation, is_swapped) = match op {
            CompareOp::Le => (Relation::LessOrEqual, false),
            CompareOp::Lt => (Relation::Less, false),
            CompareOp::Eq => (Relation::Equal, false),
            CompareOp::Ge => (Relation::LessOrEqual, true),
            CompareOp::Gt => (Relation::Less, true),
            CompareOp::Ne => {
                self.report(tree.span, ParseErrorKind::NotACondition);
                return None;
            }
        };
        let (mut left, mut right) = (self.affine(left), self.affine(right));
        if is_swapped {
            std::mem::swap(&mut left, &mut right);
        }
        Some(Condition {
            left,
            relation,
            right,
        })
    }
}

fn is_affine_operator(op: Infix) -> bool {
    match op {
        Infix::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
        | Infix::FloorDiv
        | Infix::CeilDiv
        | Infix::Mod => true,
        Infix::Binary(_) | Infix::Compare(_) | Infix::And | Infix::Or => false,
    }
}

fn integer(literal: Literal<'_>) -> Option<AffineExpr> {
    let magnitude: i128 = literal.digits.parse().ok()?;
    let value = if literal.is_negative {
        -magnitude
    } else {
        magnitude
    };
    i64::try_from(value).ok().map(AffineExpr::from)
}

/// A positive number, or parameters alone: whether those are positive is seen when the kernel runs.
fn is_divisor(expr: &AffineExpr) -> bool {
    expr.is_over_parameters() && expr.as_constant().is_none_or(|value| value > 0)
}

#[cfg(test)]
mod tests {
    use crate::text::{parse, print};

    fn source(body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, l: i64, a: f64[n, m], b: f64[n, m, l], f: f64[n * m], key: i32[n]) {{
  affine.for c in 0..n {{
    {body}
  }}
}}
"
        )
    }

    /// `body` is printed as `expected`, which is printed as it is.
    #[track_caller]
    fn prints(body: &str, expected: &str) {
        for body in [body, expected] {
            let kernel = parse(&source(body)).unwrap_or_else(|errors| panic!("{errors:?}"));
            assert_eq!(print(&kernel[0]), source(expected), "{body}");
        }
    }

    #[track_caller]
    fn refuses(body: &str, message: &str) {
        let errors = parse(&source(body)).expect_err(body);
        let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert!(
            messages.iter().any(|it| it.contains(message)),
            "{messages:?}"
        );
    }

    #[test]
    fn operations_are_written_out_and_subscripts_shown_together() {
        for (body, expected) in [
            (
                "a[c floordiv m, c mod m] = 1.0",
                "a[delinearize_index c into (n, m)] = 1.0",
            ),
            (
                "b[delinearize_index (c + 1) into (n, m, l)] = 1.0",
                "b[delinearize_index (c + 1) into (n, m, l)] = 1.0",
            ),
            (
                "b[c, c floordiv l, c mod l] = 1.0",
                "b[c, delinearize_index c into (m, l)] = 1.0",
            ),
            (
                "b[delinearize_index c into (n, m), 3] = 1.0",
                "b[delinearize_index c into (n, m), 3] = 1.0",
            ),
            (
                "a[delinearize_index c into (4, 8)#1, 0] = 1.0",
                "a[c mod 8, 0] = 1.0",
            ),
            (
                "a[delinearize_index c into (n, 8, l)#1, 0] = 1.0",
                "a[(c floordiv l) mod 8, 0] = 1.0",
            ),
            (
                "f[linearize_index [c, 3, c] by (n, m, 4)] = 1.0",
                "f[c + c * m * 4 + 12] = 1.0",
            ),
            // Computed subscripts in 64 bits.
            (
                "a[delinearize_index key[c] into (n, m)] = 1.0",
                "a[delinearize_index (key[c]) into (n, m)] = 1.0",
            ),
        ] {
            prints(body, expected);
        }
    }

    #[test]
    fn inverses_fold_when_they_are_read() {
        let linearized = |indices: &str, basis: &str| {
            format!("f[linearize_index [{indices}] by ({basis})] = 1.0")
        };
        let index = |number: u32| format!("delinearize_index c into (n, m, l)#{number}");
        let (first, second, third) = (index(0), index(1), index(2));
        for (indices, basis, expected) in [
            (format!("{first}, {second}, {third}"), "n, m, l", "c"),
            (format!("{first}, {second}"), "n, m", "c floordiv l"),
            ("c".to_owned(), "n", "c"),
            ("c, 0".to_owned(), "n, 1", "c"),
            ("2, 3".to_owned(), "4, 5", "13"),
            (String::new(), "", "0"),
        ] {
            prints(
                &linearized(&indices, basis),
                &format!("f[{expected}] = 1.0"),
            );
        }
    }

    #[test]
    fn what_is_wrong_with_a_basis_is_said() {
        refuses(
            "f[linearize_index [c, 1] by (n)] = 1.0",
            "as many sizes as indices, here 2 and 1",
        );
        refuses(
            "f[delinearize_index c into (n, m)#2] = 1.0",
            "from 0 to below 2",
        );
        refuses(
            "f[delinearize_index c into (n, m)#99999999999999999999] = 1.0",
            "from 0 to below 2",
        );
        refuses(
            "f[1 + delinearize_index c into (n, m)] = 1.0",
            "can only stand as subscripts",
        );
        refuses("f[delinearize_index c into (n, 0)#1] = 1.0", "divisor");
        refuses("a[delinearize_index c into (n, c)] = 1.0", "divisor");
        refuses(
            "a[delinearize_index c into (n, m, l)] = 1.0",
            "2 dimensions, but is given 3 subscripts",
        );
        refuses(
            "a[delinearize_index c into ()] = 1.0",
            "2 dimensions, but is given 0 subscripts",
        );
        refuses(
            "f[c] = f64(delinearize_index c into (n, m)#1)",
            "affine expressions",
        );
        let sizes = vec!["2"; 2000].join(", ");
        refuses(
            &format!("f[delinearize_index c into ({sizes})#0] = 1.0"),
            "nested",
        );
    }

    #[test]
    fn words_in_front_of_sizes_are_names_elsewhere() {
        prints(
            "let by: i64 = c
    let into: i64 = by
    f[into] = 1.0",
            "let by: i64 = c
    let into: i64 = by
    f[into] = 1.0",
        );
    }
}
