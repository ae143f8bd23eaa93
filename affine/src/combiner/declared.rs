use super::apply::with_operands;
use super::{Combine, Host, HostAddress, Order, only};
use crate::{BinaryOp, Expr, Kernel, Operand, Scalar, Span, Type, Value};

/// A combiner that a source declares: an expression of what is held and what comes, or a function
/// of the host, and its identity.
///
/// Nothing is proved of it. Whoever makes one answers for the laws that [`Combine`] asks for, as
/// far as [`broken_law`](super::broken_law) can tell. Regrouping counts as a change of bits,
/// whatever the samples say, and operands may be exchanged only where the form of the expression
/// shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    name: String,
    ty: Type,
    meaning: Meaning,
    /// None where updates cannot be grouped.
    identity: Option<Value>,
}

/// What a declared combiner computes.
#[derive(Clone, Debug, PartialEq)]
enum Meaning {
    Expression {
        body: Expr,
        is_commutative: bool,
    },
    /// A function of the host, or of one that is still to come.
    Host(Option<Host>),
}

impl Declared {
    /// The combiner called `name` on elements of `ty`: `body` is over [`Expr::Operand`]s of part 0
    /// and constants, as [`verify`](mod@crate::verify) checks where it is used.
    pub fn new(name: impl Into<String>, ty: Type, mut body: Expr, identity: Option<Value>) -> Self {
        forget_spans(&mut body);
        let is_commutative = is_symmetric(&body);
        Self {
            name: name.into(),
            ty,
            meaning: Meaning::Expression {
                body,
                is_commutative,
            },
            identity,
        }
    }

    /// The combiner called `name` on elements of `ty`, which `host` computes, or one that is still
    /// to come.
    pub fn by_host(
        name: impl Into<String>,
        ty: Type,
        host: Option<Host>,
        identity: Option<Value>,
    ) -> Self {
        Self {
            name: name.into(),
            ty,
            meaning: Meaning::Host(host),
            identity,
        }
    }

    /// The same, for updates that must not be grouped.
    #[must_use]
    pub fn without_identity(self) -> Self {
        Self {
            identity: None,
            ..self
        }
    }

    /// The type of the elements that it combines.
    pub fn element(&self) -> Type {
        self.ty
    }

    /// What is held becomes this, where it is an expression.
    pub fn expression(&self) -> Option<&Expr> {
        match &self.meaning {
            Meaning::Expression { body, .. } => Some(body),
            Meaning::Host(_) => None,
        }
    }

    /// Whether a function of a host computes it.
    pub fn is_of_host(&self) -> bool {
        matches!(self.meaning, Meaning::Host(_))
    }

    /// The function of the host that computes it, if there is one already.
    pub fn host(&self) -> Option<&Host> {
        match &self.meaning {
            Meaning::Expression { .. } => None,
            Meaning::Host(host) => host.as_ref(),
        }
    }

    /// What changes nothing.
    pub fn neutral(&self) -> Option<Value> {
        self.identity
    }

    /// A kernel with what is held and what comes as its two parameters, and the combined value as
    /// its result: the body as an expression of a kernel.
    pub(crate) fn as_kernel(&self) -> Kernel {
        let mut kernel = Kernel::new(self.name.clone(), Span::default());
        let mut scalar = |name: &str| {
            kernel.scalars.alloc(Scalar {
                name: name.to_owned(),
                ty: self.ty,
                inferred: false,
                span: Span::default(),
            })
        };
        let (held, incoming) = (scalar(HELD), scalar(INCOMING));
        let (held, incoming) = (Expr::Param(held), Expr::Param(incoming));
        let body = self.expression().cloned();
        kernel.result = body.map(|it| with_operands(it, &held, &incoming));
        kernel
    }
}

/// What the kernel text calls what is held, and what comes.
pub(crate) const HELD: &str = "a";
pub(crate) const INCOMING: &str = "b";

impl Combine for Declared {
    fn name(&self) -> &str {
        &self.name
    }

    fn declaration(&self) -> Option<&Declared> {
        Some(self)
    }

    fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
        (only(types)? == self.ty).then(|| Some(vec![self.identity?]))?
    }

    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        let body = || match &self.meaning {
            Meaning::Expression { body, .. } => body.clone(),
            Meaning::Host(host) => {
                let address = host.as_ref().map_or(HostAddress::NOWHERE, Host::address);
                Expr::Operand(Operand::Host(address))
            }
        };
        (only(types)? == self.ty).then(|| vec![body()])
    }

    fn order(&self, types: &[Type]) -> Order {
        let by_form = match self.meaning {
            Meaning::Expression { is_commutative, .. } => is_commutative,
            Meaning::Host(_) => false,
        };
        Order::any_if(by_form && self.identity(types).is_some())
    }

    /// Samples prove nothing.
    fn is_exact(&self, _: &[Type]) -> bool {
        false
    }
}

/// Replaces each part of `expr` for which `by` gives something, outermost first.
pub(crate) fn replace_leaves(expr: &mut Expr, by: &mut impl FnMut(&Expr) -> Option<Expr>) {
    if let Some(other) = by(expr) {
        *expr = other;
        return;
    }
    for operand in expr.operands_mut() {
        replace_leaves(operand, by);
    }
}

fn forget_spans(expr: &mut Expr) {
    if let Expr::Binary(_, _, _, span) = expr {
        *span = Span::default();
    }
    expr.operands_mut().into_iter().for_each(forget_spans);
}

/// More comparisons than this are not tried: each exchange of two operands doubles them.
const MOST_COMPARISONS: usize = 10_000;

/// Whether `body` with held and incoming exchanged computes the same, bit for bit, as its form
/// shows.
fn is_symmetric(body: &Expr) -> bool {
    mirrors(body, body, &mut { MOST_COMPARISONS })
}

/// Whether `left` computes of exchanged operands what `right` computes.
fn mirrors(left: &Expr, right: &Expr, comparisons: &mut usize) -> bool {
    let Some(rest) = comparisons.checked_sub(1) else {
        return false;
    };
    *comparisons = rest;
    let is_alike = match (left, right) {
        (Expr::Operand(Operand::Held(a)), Expr::Operand(Operand::Incoming(b)))
        | (Expr::Operand(Operand::Incoming(a)), Expr::Operand(Operand::Held(b))) => return a == b,
        (Expr::Constant(a), Expr::Constant(b)) => return a == b,
        (Expr::Unary(a, _), Expr::Unary(b, _)) => a == b,
        (Expr::Cast(a, _), Expr::Cast(b, _)) => a == b,
        (Expr::Call(a, _), Expr::Call(b, _)) => a == b,
        (Expr::Select(..), Expr::Select(..)) => true,
        (Expr::Binary(a, first, second, _), Expr::Binary(b, third, fourth, _)) => {
            let is_exchangeable = is_commutative(*a);
            return a == b
                && (all_mirror(&[first, second], &[third, fourth], comparisons)
                    || is_exchangeable
                        && all_mirror(&[first, second], &[fourth, third], comparisons));
        }
        (Expr::Compare(a, first, second), Expr::Compare(b, third, fourth)) => {
            return a == b && all_mirror(&[first, second], &[third, fourth], comparisons)
                || a.mirrored() == *b
                    && all_mirror(&[first, second], &[fourth, third], comparisons);
        }
        // Of truth values without effects, it does not matter which is looked at first.
        (Expr::And(first, second), Expr::And(third, fourth))
        | (Expr::Or(first, second), Expr::Or(third, fourth)) => {
            return all_mirror(&[first, second], &[third, fourth], comparisons)
                || all_mirror(&[first, second], &[fourth, third], comparisons);
        }
        _ => false,
    };
    is_alike && all_mirror(&left.operands(), &right.operands(), comparisons)
}

fn all_mirror(left: &[&Expr], right: &[&Expr], comparisons: &mut usize) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(left, right)| mirrors(left, right, comparisons))
}

fn is_commutative(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Add | BinaryOp::Mul | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;
    use crate::verify::verify;

    fn declared(ty: &str, body: &str) -> crate::Combiner {
        let source = format!(
            "reduction @own(a, b: {ty}) = {body} identity(0)
             kernel @k(x: {ty}[1]) {{ x[0] reduce(own) 1 }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        match kernel.body.as_slice() {
            [crate::Node::Reduce { combiner, .. }] => combiner.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn operands_may_be_exchanged_where_the_form_shows_it() {
        for (body, expected) in [
            ("a + b", true),
            ("b * a", true),
            ("a + b + a * b", true),
            ("b + a + b * a", true),
            ("a - b", false),
            ("a > b ? a : b", false),
            ("(a > b ? 1 : 2) + (b > a ? 1 : 2)", true),
            ("hypot(a, b)", false),
            ("sqrt(a * a + b * b)", true),
            ("a + b * 2", false),
            ("a == b || b == a ? a + b : b + a", true),
        ] {
            let combiner = declared("f64", body);
            assert_eq!(combiner.is_commutative(&[Type::F64]), expected, "{body}");
            assert!(!combiner.is_commutative(&[Type::F32]));
            assert!(!combiner.is_exact(&[Type::F64]));
        }
        assert!(declared("i32", "a ^ b").is_commutative(&[Type::I32]));
    }

    #[test]
    fn combiners_of_one_name_are_equal_only_when_they_are_declared_alike() {
        assert_eq!(declared("f64", "a + b"), declared("f64", "a  +  (b)"));
        assert_ne!(declared("f64", "a + b"), declared("f64", "b + a"));
        assert_ne!(declared("f64", "a + b"), declared("f32", "a + b"));
    }

    #[test]
    fn a_body_that_divides_integers_by_what_may_be_zero_is_refused_where_it_is_used() {
        let source = "reduction @q(a, b: i32) = a / b identity(1)
             kernel @k(x: i32[1]) { x[0] reduce(q) 1 }";
        let kernel = text::parse(source).expect("a kernel").remove(0);
        let violations = verify(kernel).expect_err("a violation");
        let messages: Vec<_> = violations.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            ["a combiner divides integers by constants other than 0 alone"]
        );
        let source = source.replace("a / b", "(a / 16 + b / -16) % 5");
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        assert!(verify(kernel).is_ok());
    }
}
