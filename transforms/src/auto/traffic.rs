//! What an innermost loop moves between memory and registers, as far as elements of its other
//! iterations and of those made together with it tell: what registers are expected to save.

use super::order::{accesses, moves};
use crate::tree::replaced_in;
use strew_affine::visit::for_each_load;
use strew_affine::{Access, AffineExpr, AffineFor, IterId, Node, Overflow, Place, Subscript};

/// Elements loaded and stored for an iteration of a body. What stays the same in all iterations of
/// the innermost loop is in a register.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// Elements that are read or updated.
    pub loads: f64,
    /// Elements that are written.
    pub stores: f64,
}

impl Traffic {
    /// That of `innermost` when so many iterations of loops around it are made together. An element
    /// that several of them use is loaded once, and one that several of them write is stored once.
    ///
    /// # Errors
    /// A subscript leaves 64 bits.
    pub(super) fn of(innermost: &AffineFor, together: &[(IterId, u64)]) -> Result<Self, Overflow> {
        let (mut read, mut written) = (Vec::new(), Vec::new());
        for node in &innermost.body {
            for expr in node.expressions() {
                for_each_load(expr, &mut |it| read.push(it));
            }
            for place in node.places() {
                if let Place::Element(access) = place {
                    written.push(access);
                    if matches!(node, Node::Reduce { .. }) {
                        read.push(access);
                    }
                }
            }
        }
        let copies: u64 = together.iter().map(|(_, factor)| factor).product();
        let each = |used: Vec<&Access>| -> Result<f64, Overflow> {
            let moving = used.into_iter().filter(|it| moves(it, innermost.iter));
            let mut elements: Vec<Access> = Vec::new();
            for access in moving {
                for copy in copies_of(access, together)? {
                    if !elements.iter().any(|it| it.is_same(&copy)) {
                        elements.push(copy);
                    }
                }
            }
            Ok(elements.len() as f64 / copies as f64)
        };
        Ok(Self {
            loads: each(read)?,
            stores: each(written)?,
        })
    }
}

/// How many rows `innermost` goes along when so many iterations of loops around it are made
/// together: elements of one row lie at fixed distances from each other, so that one address serves
/// all of them.
///
/// # Errors
/// A subscript leaves 64 bits.
pub(super) fn rows(innermost: &AffineFor, together: &[(IterId, u64)]) -> Result<usize, Overflow> {
    let mut rows: Vec<Access> = Vec::new();
    let used = accesses(&innermost.body);
    for access in used.into_iter().filter(|it| moves(it, innermost.iter)) {
        for copy in copies_of(access, together)? {
            if !rows.iter().any(|it| is_one_row(it, &copy)) {
                rows.push(copy);
            }
        }
    }
    Ok(rows.len())
}

fn is_one_row(one: &Access, other: &Access) -> bool {
    let (Some((last, outer)), Some((other_last, other_outer))) =
        (one.subscripts.split_last(), other.subscripts.split_last())
    else {
        return one.is_same(other);
    };
    let is_fixed = match (last, other_last) {
        (Subscript::Affine(one), Subscript::Affine(other)) => {
            let distance = one.minus(other).ok();
            distance.is_some_and(|it| it.as_constant().is_some())
        }
        _ => false,
    };
    let mut pairs = outer.iter().zip(other_outer);
    one.array == other.array && is_fixed && pairs.all(|(one, other)| one.is_same(other))
}

/// `access` in each of the iterations that are made together.
fn copies_of(access: &Access, together: &[(IterId, u64)]) -> Result<Vec<Access>, Overflow> {
    let mut copies = vec![access.clone()];
    for (iter, factor) in together {
        let mut all = Vec::new();
        for offset in 0..factor.cast_signed() {
            for copy in &copies {
                let further = AffineExpr::from(*iter).offset(offset)?;
                all.push(replaced_in(copy, *iter, &further)?);
            }
        }
        copies = all;
    }
    Ok(copies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::kernel;
    use crate::tree::affine_loops;

    #[test]
    fn rows_that_are_shared_are_loaded_once() -> Result<(), Overflow> {
        let product = kernel(
            "kernel @k(n: i64, a: f64[n, n], b: f64[n, n], c: f64[n, n]) {
               affine.for i in 0..n { affine.for k in 0..n { affine.for j in 0..n {
                 c[i, j] reduce(add) a[i, k] * b[k, j]
               } } }
             }",
        );
        let loops: Vec<_> = affine_loops(&product).collect();
        let [i, k, j] = loops[..] else {
            panic!("three loops");
        };
        let traffic = |together: &[(IterId, u64)]| Traffic::of(j, together);
        let (loads, stores) = (2.0, 1.0);
        assert_eq!(traffic(&[])?, Traffic { loads, stores });
        // Four rows of B, one of C.
        let (loads, stores) = (5.0 / 4.0, 1.0 / 4.0);
        assert_eq!(traffic(&[(k.iter, 4)])?, Traffic { loads, stores });
        // Four rows of B and two of C, for two rows of A.
        let (loads, stores) = (6.0 / 8.0, 2.0 / 8.0);
        assert_eq!(
            traffic(&[(i.iter, 2), (k.iter, 4)])?,
            Traffic { loads, stores }
        );
        Ok(())
    }
}
