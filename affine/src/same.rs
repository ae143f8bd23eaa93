use crate::{Access, Expr, Place, Subscript};

impl Expr {
    /// Whether both compute the same from the same values, wherever they stand in the source:
    /// equality but for spans.
    pub fn is_same(&self, other: &Self) -> bool {
        let head = match (self, other) {
            (Self::Load(left), Self::Load(right)) => return left.is_same(right),
            (Self::Unary(left, _), Self::Unary(right, _)) => left == right,
            (Self::Binary(left, ..), Self::Binary(right, ..)) => left == right,
            (Self::Compare(left, ..), Self::Compare(right, ..)) => left == right,
            (Self::Call(left, _), Self::Call(right, _)) => left == right,
            (Self::Cast(left, _), Self::Cast(right, _)) => left == right,
            (Self::And(..), Self::And(..))
            | (Self::Or(..), Self::Or(..))
            | (Self::Select(..), Self::Select(..)) => true,
            // What has no operands has no span either.
            _ => return self == other,
        };
        let (ours, theirs) = (self.operands(), other.operands());
        head && ours.len() == theirs.len()
            && ours
                .into_iter()
                .zip(theirs)
                .all(|(left, right)| left.is_same(right))
    }
}

impl Subscript {
    /// As [`Expr::is_same`].
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Affine(left), Self::Affine(right)) => left == right,
            (Self::Computed(left), Self::Computed(right)) => left.is_same(right),
            _ => false,
        }
    }
}

impl Place {
    /// Whether both are one scalar, or elements of one array at the same place.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Element(one), Self::Element(other)) => one.is_same(other),
            (Self::Local(one), Self::Local(other)) => one == other,
            _ => false,
        }
    }
}

impl Access {
    /// Whether both are of one array and at the same place.
    pub fn is_same(&self, other: &Self) -> bool {
        self.array == other.array && self.is_at_same_place(other)
    }

    /// Whether both have the same subscripts, be it of different arrays.
    pub fn is_at_same_place(&self, other: &Self) -> bool {
        self.subscripts.len() == other.subscripts.len()
            && self
                .subscripts
                .iter()
                .zip(&other.subscripts)
                .all(|(left, right)| left.is_same(right))
    }

    /// Whether all its subscripts are affine.
    pub fn is_affine(&self) -> bool {
        let mut subscripts = self.subscripts.iter();
        subscripts.all(|it| matches!(it, Subscript::Affine(_)))
    }
}

#[cfg(test)]
mod tests {
    use crate::text;

    #[test]
    fn spans_do_not_count_and_everything_else_does() {
        let exprs = [
            "x[seg[i + i64(1)]]",
            "x[seg[i]]",
            "x[0]",
            "y[0]",
            "sqrt(x[0])",
            "sin(x[0])",
            "-x[0]",
            "x[0] + y[0]",
            "x[0] - y[0]",
            "x[0] < y[0] ? 1.0 : 2.0",
            "x[0] > y[0] ? 1.0 : 2.0",
            "x[0] < y[0] && n < 2 ? 1.0 : 2.0",
            "x[0] < y[0] || n < 2 ? 1.0 : 2.0",
            "f64(n)",
            "f64(f32(n))",
        ];
        let twice = |expr: &str| format!("y[0] = {expr}\n   y[0] = {expr}\n");
        let body: String = exprs.iter().map(|expr| twice(expr)).collect();
        let source = format!(
            "kernel @k(n: i64, seg: i64[n], x: f64[n], y: f64[n]) {{ affine.for i in 0..n {{ {body} }} }}"
        );
        let kernels = text::parse(&source).expect("a kernel");
        let mut values = Vec::new();
        crate::visit::walk(&kernels[0].body, &mut |node, _| {
            values.extend(node.expressions());
        });
        assert_eq!(values.len(), 2 * exprs.len());
        for (left, one) in values.iter().enumerate() {
            for (right, other) in values.iter().enumerate() {
                assert_eq!(
                    one.is_same(other),
                    left / 2 == right / 2,
                    "{one:?} {other:?}"
                );
            }
        }
    }
}
