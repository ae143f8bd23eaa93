//! A loop whose bounds move with the one around it, of which several iterations are made together.

use crate::copy::Copying;
use crate::cut::{greatest, least};
use crate::tree::new_iter;
use std::ops::Range;
use strew_affine::{AffineExpr, AffineFor, Bound, Kernel, Node, Overflow};

/// What all iterations of a turn run goes into one loop, and what only some of them run stays
/// before and behind it, iteration by iteration.
///
/// ```text
/// affine.for i in 0..n {              affine.for i in 0..n - 1 step 2 {
///   affine.for k in i..i + m {          affine.for i_head in i..i + 1 { affine.for k_1 in i_head..min(i_head + m, i + 1) { S(i_head, k_1) } }
///     S(i, k)                     →     affine.for k in i + 1..i + m { S(i, k) S(i + 1, k) }
///   }                                   affine.for i_tail in i + 1..i + 2 { affine.for k_2 in max(i + 1, i + m)..i_tail + m { S(i_tail, k_2) } }
/// }                                   } …
/// ```
///
/// In each bound one alternative moves at most. So one iteration has the greatest beginning, and
/// one the least end, whatever the other alternatives are: where one of these decides, nothing is
/// left to run alone on that side.
pub(super) struct Moving<'k> {
    target: &'k AffineFor,
    /// The loop as a block.
    block: &'k [Node],
    it: &'k AffineFor,
    lower: Option<Mover>,
    upper: Option<Mover>,
}

/// An alternative that moves.
#[derive(Clone, Copy)]
struct Mover {
    position: usize,
    /// How far with each iteration of the loop around.
    by: i64,
}

impl<'k> Moving<'k> {
    /// The loop that `block`, somewhere in `target`, is; `None` where it is something else, or
    /// bounds move in other ways.
    pub(super) fn of(target: &'k AffineFor, block: &'k [Node]) -> Option<Self> {
        let [Node::AffineFor(it)] = block else {
            return None;
        };
        (it.step == 1 && it.lanes == 1).then_some(())?;
        Some(Self {
            target,
            block,
            it,
            lower: mover(&it.lower, target)?,
            upper: mover(&it.upper, target)?,
        })
    }

    /// The loop.
    pub(super) fn it(&self) -> &'k AffineFor {
        self.it
    }

    /// `body`, what `copies` iterations of a turn do together, wherever all of them run, and what
    /// else they do around it. `first` makes the first of them.
    pub(super) fn around(
        &self,
        kernel: &mut Kernel,
        body: Vec<Node>,
        (copies, first): (i64, &Copying),
    ) -> Result<Vec<Node>, Overflow> {
        let mut shared = AffineFor {
            body: body.into(),
            ..self.it.clone()
        };
        shift(&mut shared.lower, self.lower, |all| all.max(0), copies)?;
        shift(&mut shared.upper, self.upper, |all| all.min(0), copies)?;
        first.bound(&mut shared.lower)?;
        first.bound(&mut shared.upper)?;
        let mut nodes = Vec::new();
        if let Some(Mover { position, by }) = self.lower {
            let late = if by > 0 { 0..copies - 1 } else { 1..copies };
            nodes.push(self.alone(kernel, (late, first), "head", |head| {
                head.upper = least(&head.upper, &shared.lower.0[position])?;
                Ok(())
            })?);
        }
        let tail = self.upper.map(|Mover { position, by }| {
            let late = if by > 0 { 1..copies } else { 0..copies - 1 };
            self.alone(kernel, (late, first), "tail", |tail| {
                tail.lower = greatest(&shared.lower, &shared.upper.0[position])?;
                Ok(())
            })
        });
        nodes.push(Node::AffineFor(shared));
        nodes.extend(tail.transpose()?);
        Ok(nodes)
    }

    /// The loop in `copies` of a turn, one after the other, cut off as `cut` says.
    fn alone(
        &self,
        kernel: &mut Kernel,
        (copies, first): (Range<i64>, &Copying),
        suffix: &str,
        cut: impl FnOnce(&mut AffineFor) -> Result<(), Overflow>,
    ) -> Result<Node, Overflow> {
        let AffineFor { iter, step, .. } = *self.target;
        let at = |copy: i64| {
            let moved = step.checked_mul(copy).ok_or(Overflow)?;
            let mut bound = Bound::from(AffineExpr::from(iter).offset(moved)?);
            first.bound(&mut bound)?;
            Ok(bound)
        };
        let around = new_iter(kernel, iter, suffix);
        let copying = Copying::shift(iter, around, 0);
        let copying = copying.anew(kernel, self.block, 1);
        let mut it = self.it.clone();
        copying.affine_for(&mut it)?;
        cut(&mut it)?;
        Ok(Node::AffineFor(AffineFor {
            iter: around,
            lower: at(copies.start)?,
            upper: at(copies.end)?,
            step,
            lanes: 1,
            body: vec![Node::AffineFor(it)].into(),
        }))
    }
}

fn mover(bound: &Bound, target: &AffineFor) -> Option<Option<Mover>> {
    let mut found = None;
    for (position, alternative) in bound.0.iter().enumerate() {
        let (by, _) = alternative.split_off(target.iter)?;
        let by = by.checked_mul(target.step)?;
        if by != 0 && found.replace(Mover { position, by }).is_some() {
            return None;
        }
    }
    Some(found)
}

/// Moves an alternative of `bound` as far as `of_all` says that it does in all `copies`.
fn shift(
    Bound(alternatives): &mut Bound,
    mover: Option<Mover>,
    of_all: impl Fn(i64) -> i64,
    copies: i64,
) -> Result<(), Overflow> {
    if let Some(Mover { position, by }) = mover {
        let all = by.checked_mul(copies - 1).ok_or(Overflow)?;
        alternatives[position] = alternatives[position].offset(of_all(all))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed};
    use crate::test_support::{accepts, apply, assert_same_results, kernel, refuses};

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, m: i64, x: f64[n + m], y: f64[n, n + m]) {
  affine.for i in 0..n { affine.for k in i..i + m { y[i, k] = x[k] } }
}",
            "unroll_and_jam(i, 2)",
            "kernel @k(n: i64, m: i64, x: f64[n + m], y: f64[n, n + m]) {
  affine.for i in 0..n - 1 step 2 {
    affine.for i_head in i..i + 1 {
      affine.for k_1 in i_head..min(i_head + m, i + 1) { y[i_head, k_1] = x[k_1] }
    }
    affine.for k in i + 1..i + m { y[i, k] = x[k] y[i + 1, k] = x[k] }
    affine.for i_tail in i + 1..i + 2 {
      affine.for k_1_2 in max(i + 1, i + m)..i_tail + m { y[i_tail, k_1_2] = x[k_1_2] }
    }
  }
  affine.for i_r in max(0, (n floordiv 2) * 2)..n {
    affine.for k_1_3 in i_r..i_r + m { y[i_r, k_1_3] = x[k_1_3] }
  }
}",
        );
    }

    /// Each element tells which iterations have come to it, and in which order.
    #[test]
    fn any_bounds() {
        let inner = [
            "i..n",
            "0..i + 1",
            "i..i + 3",
            "n - i..n + 2",
            "0 - 2 * i..m - 2 * i",
            "2 * i..m - i",
            "m - i..2 * i",
            "max(2, i, 4)..min(m, 7)",
            "1..min(3 * i + 1, m, n)",
            "max(i + 1, 2)..min(i + 4, m)",
            "max(3, 6 - i)..min(m, 9 - i)",
            "i floordiv 4 * 0 + 1..i + 2",
        ];
        for outer in ["0..n", "1..n step 2", "0..6", "2..5", "n - 5..n", "0..m"] {
            for inner in inner {
                let source = format!(
                    "kernel @k(n: i64, m: i64, y: i64[n + m + 20, 4 * n + 4 * m + 60]) {{
                       affine.for i in {outer} {{ affine.for k in {inner} {{
                         y[i + 6, k + 2 * n + 2 * m + 24] = y[i + 6, k + 2 * n + 2 * m + 23] * 3 + y[i + 5, k + 2 * n + 2 * m + 24] + k
                       }} }}
                     }}"
                );
                let before = kernel(&source);
                for factor in [2, 3, 4] {
                    let script = format!("unroll_and_jam(i, {factor})");
                    assert_same_results(&before, &apply(&before, &script));
                }
            }
        }
    }

    #[test]
    fn loops_around_the_moving_one() {
        let before = kernel(
            "kernel @k(n: i64, m: i64, y: i64[n, m, n + m]) {
               affine.for i in 0..n { affine.for l in 0..m { affine.for k in i..m + i {
                 let before: i64 = y[i, l, k]
                 y[i, l, k] = before * 3 + i
                 affine.for j in 0..2 { y[i, l, j] reduce(add) 1 }
               } } }
             }",
        );
        let after = apply(&before, "unroll_and_jam(i, 3)");
        assert!(after.to_string().contains("i_tail in"), "{after}");
        assert_same_results(&before, &after);
    }

    #[test]
    fn refusals() {
        let source = |bounds: &str, body: &str| {
            format!(
                "kernel @k(n: i64, a: f64[2 * n, 2 * n]) {{
                   affine.for i in 1..n {{ affine.for k in {bounds} {{ {body} }} }}
                 }}"
            )
        };
        let above = "a[i, k] = a[i - 1, k + 1]";
        for bounds in ["i..n", "1..i", "i..2 * n - 1 - i"] {
            let source = source(bounds, above);
            refuses(&source, "unroll_and_jam(i, 2)", Illegal, "Reverses");
        }
        for bounds in ["i..n step 2", "max(i, 2 * i - 3)..n", "i floordiv 2..n"] {
            let source = source(bounds, "a[i, k] = 1.0");
            refuses(
                &source,
                "unroll_and_jam(i, 2)",
                Misaddressed,
                "NothingToJam",
            );
        }
        let around =
            source("i..n", "a[i, k] = 1.0").replace("affine.for k", "a[i, 0] = 2.0 affine.for k");
        refuses(
            &around,
            "unroll_and_jam(i, 2)",
            Misaddressed,
            "NothingToJam",
        );
    }
}
