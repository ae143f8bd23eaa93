//! A kernel for calls in which some of its parameters have known values.

use crate::{
    Access, AffineExpr, Expr, IterId, Kernel, Node, Place, ScalarId, Subscript, Value, Variable,
};
use std::collections::{BTreeMap, BTreeSet};

/// The kernel that does what `kernel` does in calls in which some integer parameters have these values. It has the same parameters, and
/// those are passed. `None` where a number in an affine expression leaves 64 bits, or where an iterator goes away with what it is
/// multiplied by or divided into: what is beyond 64 bits in some turn would no longer be found.
///
/// ```
/// use std::collections::BTreeMap;
/// use strew_affine::{known_values::with_values, text};
///
/// let source = "kernel @k(d: i32, x: f64[d, d]) { affine.for i in 0..d { x[i, 0] = f64(d) } }";
/// let kernel = text::parse(source).unwrap().remove(0);
/// let d = kernel.scalars.iter().next().unwrap().0;
/// let known = with_values(&kernel, &BTreeMap::from([(d, 3)])).unwrap();
/// let text = known.to_string();
/// assert!(text.contains("x: f64[3, 3]") && text.contains("in 0..3"), "{text}");
/// ```
pub fn with_values(kernel: &Kernel, values: &BTreeMap<ScalarId, i64>) -> Option<Kernel> {
    let mut kernel = kernel.clone();
    let types: BTreeMap<_, _> = (kernel.scalars.iter())
        .map(|(scalar, it)| (scalar, it.ty))
        .collect();
    let known = Known {
        affine: &|variable| match variable {
            Variable::Param(scalar) => values.get(&scalar).map(|it| (*it).into()),
            Variable::Iter(_) => None,
        },
        scalar: &|scalar| {
            let value = i128::from(*values.get(&scalar)?);
            Some(Value::integer(*types.get(&scalar)?, value))
        },
    };
    for scalar in values.keys() {
        kernel.scalars[*scalar].inferred = false;
    }
    for (_, array) in kernel.arrays.iter_mut() {
        known.all(&mut array.extents)?;
    }
    for condition in &mut kernel.assumptions {
        known.all([&mut condition.left, &mut condition.right])?;
    }
    known.nodes(&mut kernel.body)?;
    kernel.result.iter_mut().try_for_each(|it| known.expr(it))?;
    Some(kernel)
}

struct Known<'v> {
    affine: &'v dyn Fn(Variable) -> Option<AffineExpr>,
    scalar: &'v dyn Fn(ScalarId) -> Option<Value>,
}

impl Known<'_> {
    fn all<'e>(&self, exprs: impl IntoIterator<Item = &'e mut AffineExpr>) -> Option<()> {
        for expr in exprs {
            let known = expr.substitute(&self.affine).ok()?;
            if iters(&known) != iters(expr) {
                return None;
            }
            *expr = known;
        }
        Some(())
    }

    fn nodes(&self, nodes: &mut [Node]) -> Option<()> {
        for node in nodes {
            self.own(node)?;
            for block in node.blocks_mut() {
                self.nodes(block)?;
            }
        }
        Some(())
    }

    fn own(&self, node: &mut Node) -> Option<()> {
        match node {
            Node::AffineFor(it) => {
                self.all(it.lower.0.iter_mut().chain(&mut it.upper.0))?;
            }
            Node::AffineIf { conditions, .. } => {
                for condition in conditions {
                    self.all([&mut condition.left, &mut condition.right])?;
                }
            }
            Node::Forall(it) => self.all([&mut it.count])?,
            _ => {}
        }
        for expr in node.expressions_mut() {
            self.expr(expr)?;
        }
        for place in node.places_mut() {
            if let Place::Element(access) = place {
                self.access(access)?;
            }
        }
        Some(())
    }

    fn expr(&self, expr: &mut Expr) -> Option<()> {
        match expr {
            Expr::Param(scalar) => {
                if let Some(value) = (self.scalar)(*scalar) {
                    *expr = Expr::Constant(value);
                }
            }
            Expr::Load(access) => self.access(access)?,
            _ => {
                for operand in expr.operands_mut() {
                    self.expr(operand)?;
                }
            }
        }
        Some(())
    }

    fn access(&self, access: &mut Access) -> Option<()> {
        for subscript in &mut access.subscripts {
            match subscript {
                Subscript::Affine(expr) => self.all([expr])?,
                Subscript::Computed(expr) => self.expr(expr)?,
            }
        }
        Some(())
    }
}

fn iters(expr: &AffineExpr) -> BTreeSet<IterId> {
    let mut iters = BTreeSet::new();
    expr.for_each_variable(&mut |variable| {
        if let Variable::Iter(iter) = variable {
            iters.insert(iter);
        }
    });
    iters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StdMath;
    use crate::interpret::{Argument, ForallOrder, interpret};
    use crate::verify::verify;

    /// Bounds, steps, conditions, subscripts, extents, values, local arrays, branches and the result speak of `d`.
    const SOURCE: &str = "
      kernel @k(n: i64, d: i32, key: i32[n], x: f64[n, d], y: f64[8 * d]) -> f64 assume (d < n) {
        var s: f64 = 0.0
        affine.for i in 0..n {
          alloc t: f64[d + 1]
          affine.for j in 0..d { t[j + 1] = x[i, j] * f64(d) }
          affine.if (i < d) { y[i * d floordiv 4] = f64(i) } else { y[key[i] % d] reduce(add) t[d] }
          scf.for k in i64(0)..i64(d) { s reduce(add) t[k] }
        }
        return s + f64(d)
      }";

    #[test]
    fn a_kernel_with_known_values_does_the_same() {
        let kernel = crate::text::parse(SOURCE).expect("a kernel").remove(0);
        let kernel = verify(kernel).expect("a kernel that keeps the rules");
        let (scalar, _) = (kernel.scalars.iter().find(|it| it.1.name == "d")).expect("d");
        for d in 1..6_i64 {
            let known =
                with_values(&kernel, &BTreeMap::from([(scalar, d)])).expect("small numbers");
            let text = known.to_string();
            assert!(!text.replace("d: i32", "").contains("(d"), "{text}");
            let known = verify(known).expect("a kernel that keeps the rules");
            let run = |kernel| {
                let n = 8_i64;
                let floats =
                    |count: i64| (0..count).map(|it| Value::f64(it as f64 * 0.7)).collect();
                let mut arguments = [
                    Argument::Scalar(Value::i64(n)),
                    Argument::Scalar(Value::integer(crate::Type::I32, d.into())),
                    Argument::Array(
                        (0..n)
                            .map(|it| Value::integer(crate::Type::I32, it.into()))
                            .collect(),
                    ),
                    Argument::Array(floats(n * d)),
                    Argument::Array(floats(8 * d)),
                ];
                let order = ForallOrder::Forward;
                let returned = interpret(kernel, &mut arguments, u64::MAX, order, &StdMath);
                let returned = returned.expect("a run");
                (returned, arguments)
            };
            assert_eq!(run(&kernel), run(&known), "{d}");
        }
    }

    #[test]
    fn what_would_no_longer_fail_is_left_alone() {
        for subscript in ["i mod d", "i * (d - 1)"] {
            let text = format!(
                "kernel @k(d: i64, x: f64[9]) {{ affine.for i in 0..9 {{ x[{subscript}] = 1.0 }} }}"
            );
            let kernel = crate::text::parse(&text).expect("a kernel").remove(0);
            let (d, _) = kernel.scalars.iter().next().expect("d");
            let of = |value| with_values(&kernel, &BTreeMap::from([(d, value)])).is_some();
            assert!(of(3) && !of(1), "{subscript}");
        }
    }
}
