//! A kernel for calls in which some of its sizes have known values.

use crate::{AffineExpr, Factor, Kernel, Node, Overflow, ScalarId, Variable};
use std::collections::BTreeMap;

/// The kernel that does what `kernel` does in calls in which some integer parameters have these
/// values. It has the same parameters, and those are passed.
///
/// Only extents of arrays and bounds of loops become numbers, as far as they are over parameters
/// alone and divide by numbers at most. Subscripts and divisors stay as they are, so what follows
/// from their form, such as which elements lie beside each other, is the same in both kernels.
///
/// # Errors
/// A number that leaves 64 bits.
///
/// ```
/// use std::collections::BTreeMap;
/// use strew_affine::{known_sizes::with_sizes, text};
///
/// let source = "kernel @k(d: i32, x: f64[d, d]) { affine.for i in 0..d { x[i, 0] = f64(d) } }";
/// let kernel = text::parse(source).unwrap().remove(0);
/// let d = kernel.scalars.iter().next().unwrap().0;
/// let known = with_sizes(&kernel, &BTreeMap::from([(d, 3)])).unwrap();
/// let text = known.to_string();
/// assert!(text.contains("x: f64[3, 3]") && text.contains("in 0..3") && text.contains("f64(d)"), "{text}");
/// ```
pub fn with_sizes(kernel: &Kernel, sizes: &BTreeMap<ScalarId, i64>) -> Result<Kernel, Overflow> {
    let mut kernel = kernel.clone();
    for scalar in sizes.keys() {
        kernel.scalars[*scalar].inferred = false;
    }
    for (_, array) in kernel.arrays.iter_mut() {
        put_in(sizes, &mut array.extents)?;
    }
    put_in_bounds(sizes, &mut kernel.body)?;
    Ok(kernel)
}

fn put_in<'e>(
    sizes: &BTreeMap<ScalarId, i64>,
    exprs: impl IntoIterator<Item = &'e mut AffineExpr>,
) -> Result<(), Overflow> {
    let size = |variable| match variable {
        Variable::Param(scalar) => sizes.get(&scalar).map(|it| (*it).into()),
        Variable::Iter(_) => None,
    };
    let may = |it: &&mut AffineExpr| it.is_over_parameters() && divides_by_numbers(it);
    for expr in exprs.into_iter().filter(may) {
        *expr = expr.substitute(&size)?;
    }
    Ok(())
}

fn divides_by_numbers(expr: &AffineExpr) -> bool {
    let mut factors = expr.terms().iter().flat_map(|term| &term.factors);
    factors.all(|factor| match factor {
        Factor::Variable(_) => true,
        Factor::FloorDiv(left, right) | Factor::Mod(left, right) => {
            right.as_constant().is_some() && divides_by_numbers(left)
        }
    })
}

fn put_in_bounds(sizes: &BTreeMap<ScalarId, i64>, nodes: &mut [Node]) -> Result<(), Overflow> {
    for node in nodes {
        if let Node::AffineFor(it) = node {
            put_in(sizes, it.lower.0.iter_mut().chain(&mut it.upper.0))?;
        }
        for block in node.blocks_mut() {
            put_in_bounds(sizes, block)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::{Argument, ForallOrder, interpret};
    use crate::verify::verify;
    use crate::{StdMath, Type, Value};

    /// Bounds, conditions, subscripts, extents, values, local arrays, branches and the result speak
    /// of `d`.
    const SOURCE: &str = "
      kernel @k(n: i64, d: i32, key: i32[n], x: f64[n, d], y: f64[8 * d]) -> f64 assume (d < n) {
        var s: f64 = 0.0
        affine.for i in 0..n {
          alloc t: f64[d + 1]
          affine.for j in 0..d { t[j + 1] = x[i, j] * f64(d) }
          affine.if (i < d) { y[i * d floordiv 4] = f64(i) } else { y[key[i] % d] reduce(add) t[d] }
          scf.for k in i64(0)..i64(d) { s reduce(add) t[k] }
          affine.for l in i..i + d { s reduce(add) f64(l) }
        }
        return s + f64(d)
      }";

    #[test]
    fn a_kernel_with_known_sizes_does_the_same() {
        let kernel = crate::text::parse(SOURCE).expect("a kernel").remove(0);
        let kernel = verify(kernel).expect("a kernel that keeps the rules");
        let (scalar, _) = (kernel.scalars.iter().find(|it| it.1.name == "d")).expect("d");
        for d in 1..6_i64 {
            let known = with_sizes(&kernel, &BTreeMap::from([(scalar, d)])).expect("small numbers");
            let text = known.to_string();
            assert!(text.contains(&format!("f64[n, {d}]")), "{text}");
            assert!(text.contains(&format!("in 0..{d} ")), "{text}");
            let known = verify(known).expect("a kernel that keeps the rules");
            let run = |kernel| {
                let n = 8_i64;
                let integer = |it: i64| Value::integer(Type::I32, it.into());
                let floats = |count: i64| (0..count).map(|it| Value::f64(it as f64 * 0.7));
                let mut arguments = [
                    Argument::Scalar(Value::i64(n)),
                    Argument::Scalar(integer(d)),
                    Argument::Array((0..n).map(integer).collect()),
                    Argument::Array(floats(n * d).collect()),
                    Argument::Array(floats(8 * d).collect()),
                ];
                let order = ForallOrder::Forward;
                let returned = interpret(kernel, &mut arguments, u64::MAX, order, &StdMath);
                (returned.expect("a run"), arguments)
            };
            assert_eq!(run(&kernel), run(&known), "{d}");
        }
    }

    #[test]
    fn divisors_stay() {
        let text =
            "kernel @k(d: i64, x: f64[9]) { affine.for i in d..(d + 7) floordiv d { x[0] = 1.0 } }";
        let kernel = crate::text::parse(text).expect("a kernel").remove(0);
        let (d, _) = kernel.scalars.iter().next().expect("d");
        let known = with_sizes(&kernel, &BTreeMap::from([(d, 2)])).expect("small numbers");
        assert!(
            known.to_string().contains("in 2..(d + 7) floordiv d"),
            "{known}"
        );
    }

    #[test]
    fn numbers_beyond_64_bits_are_refused() {
        let text = "kernel @k(d: i64, x: f64[d * d]) { }";
        let kernel = crate::text::parse(text).expect("a kernel").remove(0);
        let (d, _) = kernel.scalars.iter().next().expect("d");
        assert!(with_sizes(&kernel, &BTreeMap::from([(d, 1 << 32)])).is_err());
    }
}
