//! The step `separate`.

use crate::address;
use crate::cut::{Half, cut};
use crate::one_loop::about_one_loop;
use crate::settle::{self, margin};
use crate::split::next_value;
use crate::tree::Replacing;
use crate::{LoopPath, Reason};
use strew_affine::visit::{self, Loop};
use strew_affine::{
    AffineExpr, AffineFor, Block, Bound, Condition, IterId, Kernel, Node, Overflow, Variable,
};

/// Cuts a loop in two where a condition, or the least of a bound's alternatives, changes in the
/// loop: full tiles apart from partial ones, and iterations in which a condition holds apart from
/// those in which it does not.
///
/// ```text
/// affine.for i in 0..n {                              affine.for i in 0..min(n, m) { y[i] = x[i] }
///   affine.if (i < m) { y[i] = x[i] } else {      →   affine.for i_r in max(0, m)..n { y[i_r] = 1.0 }
///     y[i] = 1.0
///   }
/// }
/// ```
///
/// Always legal: iterations keep their order. What happens nowhere is left out, and so are
/// conditions that always hold and alternatives of bounds that never decide. [`Fuse`](crate::Fuse)
/// is the way back. Where several conditions change, each use of the step separates one of them,
/// the outermost and first in the text before the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Separate {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
}

about_one_loop!(
    Separate,
    "separate",
    /// A request to separate the iterations of `target`.
);

pub(crate) fn plan(kernel: &Kernel, request: &Separate) -> Result<Replacing, Reason> {
    let path = &request.target;
    let target = address::find_affine_for(kernel, path)?.it;
    let changing = Changing::first_in(target)?;
    let changing = changing.ok_or_else(|| Reason::NothingToSeparate { path: path.clone() })?;
    let border = next_value(target, path, &changing.border)?;
    let mut settled = [target.clone(), target.clone()];
    for (half, is_above) in settled.iter_mut().zip([false, true]) {
        changing.settle(&mut half.body, is_above);
    }
    let mut prepared = kernel.clone();
    let [below, above] = settled;
    let [below, _] = cut(
        &mut prepared.clone(),
        &below,
        path,
        &border,
        (Half::Above, "r"),
    )?;
    let [_, above] = cut(&mut prepared, &above, path, &border, (Half::Above, "r"))?;
    let mut replacement = vec![Node::AffineFor(below), Node::AffineFor(above)];
    drop_idle(&mut replacement);
    let halves: Vec<_> = replacement
        .iter()
        .filter_map(Loop::of)
        .map(Loop::iter)
        .collect();
    let separated = Replacing {
        kernel: prepared.clone(),
        target: target.iter,
        replacement,
    };
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: settle::settled(&separated.rewrite(), &halves),
    })
}

/// Leaves out loops and conditions that do nothing.
fn drop_idle(nodes: &mut Vec<Node>) {
    nodes.retain_mut(|node| {
        node.blocks_mut().into_iter().for_each(|it| drop_idle(it));
        let does_nothing = !node.is_statement() && node.blocks().all(|it| it.is_empty());
        let is_affine = matches!(node, Node::AffineFor(_) | Node::AffineIf { .. });
        !(is_affine && does_nothing)
    });
}

/// An expression whose sign changes once in the loop: it is negative on one side of the border, and
/// not on the other.
struct Changing {
    difference: AffineExpr,
    /// The first value of the iterator above the border.
    border: AffineExpr,
    /// Whether it is not negative above the border; else below.
    rises: bool,
}

impl Changing {
    /// The outermost and first. Alternatives of a bound are equal on a border between them, which
    /// is then one where the loop begins or ends, if it may be: that leaves nothing on one side.
    fn first_in(target: &AffineFor) -> Result<Option<Self>, Overflow> {
        let mut inner = Vec::new();
        visit::walk(&target.body, &mut |node, _| {
            inner.extend(Loop::of(node).map(Loop::iter));
        });
        for Difference { it, is_tie } in differences(&target.body)? {
            let mut is_outer = true;
            it.for_each_variable(&mut |variable| {
                is_outer &= !matches!(variable, Variable::Iter(iter) if inner.contains(&iter));
            });
            let opposite = it.scaled(-1)?;
            if is_outer && let Some(found) = Self::of(it, target.iter)? {
                let other = is_tie
                    .then(|| Self::of(opposite, target.iter))
                    .transpose()?;
                let is_end = |it: &Self| {
                    let mut ends = target.bounds();
                    ends.any(|end| *end == it.border)
                };
                return Ok(other.flatten().filter(is_end).or(Some(found)));
            }
        }
        Ok(None)
    }

    /// With `c * i + r` not negative exactly from `ceil(-r / c)` on, or to `floor(r / -c)`.
    fn of(difference: AffineExpr, iter: IterId) -> Result<Option<Self>, Overflow> {
        let Some((coefficient, rest)) = difference.split_off(iter) else {
            return Ok(None);
        };
        let border = match coefficient {
            0 => return Ok(None),
            1.. => rest.scaled(-1)?.ceildiv(&coefficient.into())?,
            _ => {
                let positive = coefficient.checked_neg().ok_or(Overflow)?;
                rest.floordiv(&positive.into())?.offset(1)?
            }
        };
        Ok(Some(Self {
            difference,
            border,
            rises: coefficient > 0,
        }))
    }

    /// Whether `difference` is not negative on this side, where that is known.
    fn sign(&self, difference: &AffineExpr, is_above: bool) -> Option<bool> {
        let known = self.rises == is_above;
        if *difference == self.difference {
            return Some(known);
        }
        // `-d >= 0` where `d < 0`; and the integers `-d - 1 >= 0` exactly where `d < 0`.
        let opposite = self.difference.scaled(-1).ok()?;
        if opposite.offset(-1).ok()? == *difference {
            return Some(!known);
        }
        (!known && opposite == *difference).then_some(true)
    }

    /// Drops from `body` what is known on this side of the border.
    fn settle(&self, body: &mut Block, is_above: bool) {
        let mut settled = Vec::new();
        for mut node in std::mem::take(body) {
            for block in node.blocks_mut() {
                self.settle(block, is_above);
            }
            match node {
                Node::AffineFor(mut it) => {
                    self.settle_bound(&mut it.lower, is_above, Side::Lower);
                    self.settle_bound(&mut it.upper, is_above, Side::Upper);
                    settled.push(Node::AffineFor(it));
                }
                Node::AffineIf {
                    conditions,
                    then,
                    otherwise,
                } => settled.extend(self.settled_if(conditions, then, otherwise, is_above)),
                other => settled.push(other),
            }
        }
        *body = settled.into();
    }

    fn settle_bound(&self, bound: &mut Bound, is_above: bool, side: Side) {
        let alternatives = std::mem::take(&mut bound.0);
        for (position, one) in alternatives.iter().enumerate() {
            let is_idle = alternatives.iter().enumerate().any(|(other, tighter)| {
                let ahead = match side {
                    Side::Lower => tighter.minus(one),
                    Side::Upper => one.minus(tighter),
                };
                let is_ahead = ahead.is_ok_and(|it| self.sign(&it, is_above) == Some(true));
                other != position && is_ahead
            });
            if !is_idle {
                bound.0.push(one.clone());
            }
        }
    }

    /// Without conditions that hold; what happens otherwise, where one does not.
    fn settled_if(
        &self,
        conditions: Vec<Condition>,
        then: Block,
        otherwise: Block,
        is_above: bool,
    ) -> Block {
        let mut left = Vec::new();
        for condition in conditions {
            let sign = margin(&condition).ok().flatten();
            match sign.and_then(|it| self.sign(&it, is_above)) {
                Some(true) => {}
                Some(false) => return otherwise,
                None => left.push(condition),
            }
        }
        if left.is_empty() {
            return then;
        }
        [Node::AffineIf {
            conditions: left,
            then,
            otherwise,
        }]
        .into()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Lower,
    Upper,
}

/// By how much two alternatives of a bound differ, or a condition holds.
struct Difference {
    it: AffineExpr,
    /// Where it is zero, one side is as good as the other.
    is_tie: bool,
}

impl Difference {
    fn all(found: Vec<AffineExpr>, is_tie: bool) -> Vec<Self> {
        let found = found.into_iter();
        found.map(|it| Self { it, is_tie }).collect()
    }
}

/// By how much alternatives of bounds differ, and by how much conditions hold, the outermost first.
fn differences(body: &[Node]) -> Result<Vec<Difference>, Overflow> {
    let mut found = Vec::new();
    let mut failed = None;
    visit::walk(body, &mut |node, _| {
        let here = match node {
            Node::AffineFor(it) => between(&it.lower).and_then(|mut lower| {
                lower.extend(between(&it.upper)?);
                Ok(Difference::all(lower, true))
            }),
            Node::AffineIf { conditions, .. } => {
                let margins: Result<Vec<_>, _> = conditions.iter().map(margin).collect();
                margins.map(|it| Difference::all(it.into_iter().flatten().collect(), false))
            }
            _ => Ok(Vec::new()),
        };
        match here {
            Ok(here) => found.extend(here),
            Err(overflow) => failed = Some(overflow),
        }
    });
    match failed {
        Some(overflow) => Err(overflow),
        None => Ok(found),
    }
}

fn between(bound: &Bound) -> Result<Vec<AffineExpr>, Overflow> {
    let mut pairs = Vec::new();
    for (position, one) in bound.0.iter().enumerate() {
        for other in bound.0.iter().skip(position + 1) {
            pairs.push(one.minus(other)?);
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use crate::Verdict::Misaddressed;
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

    /// Both alternatives are the same where `i` is `64`, so no iteration stands apart.
    #[test]
    fn alternatives_that_are_equal_where_a_loop_begins_leave_one_loop() {
        accepts(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 64..n { affine.for k in 0..min(i, 64) { y[i] = y[i] * x[k] } }
}",
            "separate(i)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i_r in 64..n { affine.for k_1 in 0..64 { y[i_r] = y[i_r] * x[k_1] } }
}",
        );
    }

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n { y[i] = x[i] }
}",
            "strip_mine(i = 32) separate(i_t)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i_t in 0..((n - 31) ceildiv 32) * 32 step 32 {
    affine.for i_p in i_t..i_t + 32 { y[i_p] = x[i_p] }
  }
  affine.for i_t_r in ((n - 31) ceildiv 32) * 32..n step 32 {
    affine.for i_p_1 in i_t_r..n { y[i_p_1] = x[i_p_1] }
  }
}",
        );
    }

    #[test]
    fn conditions_become_loops() {
        accepts(
            "kernel @k(n: i64, m: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n {
    affine.if (i < m) { y[i] = x[i] } else { y[i] = 1.0 }
  }
}",
            "separate(i)",
            "kernel @k(n: i64, m: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..min(n, m) { y[i] = x[i] }
  affine.for i_r in max(0, m)..n { y[i_r] = 1.0 }
}",
        );
    }

    #[test]
    fn bounds_and_conditions_of_any_kind() {
        for bounds in ["0..n", "2..n step 3", "m - 4..n"] {
            for body in [
                "affine.for j in max(0, i - 2)..min(n, 2 * i + 1) { y[j] reduce(add) x[j] }",
                "affine.for j in max(0, 3 - i)..min(3, n - i, m) { y[j] reduce(add) x[j] + f64(i) }",
                "affine.if (2 * i <= m + 1, 1 < i) { y[i] = x[i] } else { y[0] reduce(add) x[i] }",
                "affine.if (i < m) { affine.if (m <= i) { y[0] = 1.0 } else { y[i] = x[i] } }",
            ] {
                let before = kernel(&format!(
                    "kernel @k(n: i64, m: i64, x: f64[2 * n + 9], y: f64[2 * n + 9]) {{
                       affine.for i in {bounds} {{ {body} }}
                     }}"
                ));
                assert_same_meaning(&before, &apply(&before, "separate(i)"));
            }
        }
    }

    #[test]
    fn what_does_nothing_is_left_out() {
        accepts(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n {
    affine.for j in 0..3 { affine.if (10 <= i, i < n - j) { y[i] = x[i] } }
  }
}",
            "separate(i)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i_r in 10..n {
    affine.for j_1 in 0..3 { affine.if (i_r < n - j_1) { y[i_r] = x[i_r] } }
  }
}",
        );
    }

    #[test]
    fn tiles_in_two_dimensions() {
        let before = kernel(
            "kernel @k(n: i64, m: i64, x: f64[n, m], y: f64[m, n]) {
  affine.for i in 0..n { affine.for j in 0..m { y[j, i] = x[i, j] } }
}",
        );
        let after = apply(&before, "tile(i = 2, j = 3) separate(i_t) separate(j_t)");
        assert!(after.to_string().contains("in j_t..j_t + 3 {"), "{after}");
        assert_same_meaning(&before, &after);
    }

    /// Whatever stands around the loop.
    #[test]
    fn inside_of_computed_branches_and_loops() {
        for (around, behind) in [
            ("scf.if 0.0 < x[i] {", "}"),
            ("scf.for q in i64(key[i])..i64(key[i]) + 2 {", "}"),
            ("var q: i64 = 0 scf.while q < 2 { q = q + 1", "}"),
        ] {
            let before = kernel(&format!(
                "kernel @k(n: i64, m: i64, x: f64[n], key: i32[n], y: f64[m]) {{
                   affine.for i in 0..n {{ {around} affine.for j in 1..m {{
                     y[j] = 1.0 affine.if (j < 3) {{ y[j] reduce(add) 2.0 }}
                     scf.if 0.5 < x[i] {{ affine.if (j < 2) {{ y[j] reduce(add) 4.0 }} }}
                   }} {behind} }}
                 }}"
            ));
            let after = apply(&before, "separate(j)");
            assert!(after.to_string().contains("affine.for j_r"), "{after}");
            assert_same_meaning(&before, &after);
        }
    }

    #[test]
    fn refusals() {
        let source = "kernel @k(n: i64, y: f64[n]) {
  affine.for i in 0..n { affine.for j in 0..min(n, 3) { y[j] = 1.0 } }
}";
        refuses(source, "separate(i)", Misaddressed, "NothingToSeparate");
        refuses(source, "separate(k)", Misaddressed, "NoSuchLoop");
    }
}
