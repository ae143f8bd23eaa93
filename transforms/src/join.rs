//! One loop of two that do not run over the same iterations: conditions say which iterations do
//! what.

use crate::copy::Copying;
use crate::in_range::quotient;
use strew_affine::dependence::{Analyzed, Site};
use strew_affine::{
    AffineExpr, AffineFor, Block, Bound, Condition, IterId, Kernel, Node, Overflow,
};

/// The loop that `first` and then `second` are, if the second goes on where the first ends.
/// Iterations keep their order.
pub(crate) fn continued(
    kernel: &Kernel,
    first: &AffineFor,
    second: &AffineFor,
) -> Result<Option<Node>, Overflow> {
    let analyzed = Analyzed::around(kernel, &[first.iter, second.iter]);
    let mut borders = first
        .upper
        .0
        .iter()
        .filter(|it| second.lower.0.contains(it));
    let border = borders.find(|it| is_border(&analyzed, first, second, it) == Ok(true));
    let Some(border) = border else {
        return Ok(None);
    };
    let body = Joining {
        kernel,
        before: vec![Condition::below(first.iter, border.clone())],
        behind: vec![Condition::at_most(border.clone(), first.iter)],
        copying: Copying::shift(second.iter, first.iter, 0),
    }
    .bodies(&first.body, &second.body)?;
    Ok(Some(Node::AffineFor(AffineFor {
        upper: second.upper.clone(),
        body: body.into(),
        ..first.clone()
    })))
}

/// Whether `first` has the iterations below `border` of a loop from its lower bound to the upper
/// one of `second`, and that the others, as far as they do something.
fn is_border(
    analyzed: &Analyzed<'_>,
    first: &AffineFor,
    second: &AffineFor,
    border: &AffineExpr,
) -> Result<bool, Overflow> {
    let others = |bound: &Bound, of: &Bound| {
        let mut rest = bound.0.iter().filter(|it| *it != border);
        rest.all(|it| of.0.contains(it))
    };
    if !others(&first.upper, &second.upper) || !others(&second.lower, &first.lower) {
        return Ok(false);
    }
    if first.step != 1 {
        let lower = first.lower.as_single();
        let distance = lower.map(|lower| border.minus(lower)).transpose()?;
        if distance.is_none_or(|it| quotient(&it, first.step).is_none()) {
            return Ok(false);
        }
    }
    Ok(
        stays_below(analyzed, first, &second.upper)?
            && stays_above(analyzed, second, &first.lower)?,
    )
}

/// The loop that `first` and `second` are together, if the iterations of one are among those of the
/// other. Each iteration does what `first` does in it, and then what `second` does.
pub(crate) fn nested(
    kernel: &Kernel,
    first: &AffineFor,
    second: &AffineFor,
) -> Result<Option<Node>, Overflow> {
    let analyzed = Analyzed::around(kernel, &[first.iter, second.iter]);
    let is_in = |inner: &AffineFor, outer: &AffineFor| {
        Ok(stays_below(&analyzed, inner, &outer.upper)?
            && stays_above(&analyzed, inner, &outer.lower)?)
    };
    let own = first.body.to_vec();
    let copying = Copying::shift(second.iter, first.iter, 0);
    let other = copying.block(&second.body)?;
    let (around, body) = if is_in(second, first)? {
        let conditions = conditions(first.iter, second, first);
        (first, [own, behind(conditions, other)])
    } else if is_in(first, second)? {
        let conditions = conditions(first.iter, first, second);
        (second, [behind(conditions, own), other])
    } else {
        return Ok(None);
    };
    Ok(Some(Node::AffineFor(AffineFor {
        iter: first.iter,
        body: body.concat().into(),
        ..around.clone()
    })))
}

/// That `iter` lies in the bounds of `inner`, but for those that `outer` has, too.
fn conditions(iter: IterId, inner: &AffineFor, outer: &AffineFor) -> Vec<Condition> {
    let lower = inner
        .lower
        .0
        .iter()
        .filter(|it| !outer.lower.0.contains(it));
    let upper = inner
        .upper
        .0
        .iter()
        .filter(|it| !outer.upper.0.contains(it));
    let lower = lower.map(|it| Condition::at_most(it.clone(), iter));
    let upper = upper.map(|it| Condition::below(iter, it.clone()));
    lower.chain(upper).collect()
}

/// Whether the iterations in which `target` does something are below all of `upper`.
fn stays_below(
    analyzed: &Analyzed<'_>,
    target: &AffineFor,
    upper: &Bound,
) -> Result<bool, Overflow> {
    let new = upper.0.iter().filter(|it| !target.upper.0.contains(it));
    let room = |it: &AffineExpr| it.minus(&target.iter.into())?.offset(-1);
    let room: Vec<_> = new.map(room).collect::<Result<_, _>>()?;
    Ok(are_never_negative(analyzed, target, &room))
}

/// Whether they are at least all of `lower`.
fn stays_above(
    analyzed: &Analyzed<'_>,
    target: &AffineFor,
    lower: &Bound,
) -> Result<bool, Overflow> {
    let new = lower.0.iter().filter(|it| !target.lower.0.contains(it));
    let room = |it: &AffineExpr| AffineExpr::from(target.iter).minus(it);
    let room: Vec<_> = new.map(room).collect::<Result<_, _>>()?;
    Ok(are_never_negative(analyzed, target, &room))
}

/// Whether all of `room` are at least 0 wherever something happens in `target`.
fn are_never_negative(analyzed: &Analyzed<'_>, target: &AffineFor, room: &[AffineExpr]) -> bool {
    let is_inside = |site: &&Site<'_>| {
        let mut levels = site.levels();
        levels.any(|it| it.iter() == Some(target.iter))
    };
    // Most accesses stand beside others, and one answer holds for all of these.
    let mut places: Vec<&Site<'_>> = analyzed.sites().iter().filter(is_inside).collect();
    places.dedup_by(|site, before| site.is_beside(before));
    room.iter().all(|it| {
        places
            .iter()
            .all(|site| analyzed.is_never_negative_at(site, it))
    })
}

/// `body`, if all `conditions` hold.
pub(crate) fn behind(conditions: Vec<Condition>, mut body: Vec<Node>) -> Vec<Node> {
    if body.is_empty() || conditions.is_empty() {
        return body;
    }
    if let [
        Node::AffineIf {
            conditions: inner,
            otherwise,
            ..
        },
    ] = body.as_mut_slice()
        && otherwise.is_empty()
    {
        let rest = std::mem::replace(inner, conditions);
        inner.extend(rest);
        return body;
    }
    vec![Node::AffineIf {
        conditions,
        then: body.into(),
        otherwise: Block::default(),
    }]
}

/// Two bodies of which an iteration does the first before a border and the second behind it.
struct Joining<'k> {
    kernel: &'k Kernel,
    before: Vec<Condition>,
    behind: Vec<Condition>,
    /// What the second body becomes beside the first.
    copying: Copying,
}

impl Joining<'_> {
    /// What both do alike once, and the rest behind conditions.
    fn bodies(&mut self, first: &[Node], second: &[Node]) -> Result<Vec<Node>, Overflow> {
        let (mut first, mut second) = (first, second);
        let mut joined = Vec::new();
        while let ([one, first_rest @ ..], [other, second_rest @ ..]) = (first, second)
            && self.is_same(one, other)?
        {
            joined.push(one.clone());
            (first, second) = (first_rest, second_rest);
        }
        let mut last = Vec::new();
        while let ([first_rest @ .., one], [second_rest @ .., other]) = (first, second)
            && self.is_same(one, other)?
        {
            last.push(one.clone());
            (first, second) = (first_rest, second_rest);
        }
        joined.extend(self.different(first, second)?);
        joined.extend(last.into_iter().rev());
        Ok(joined)
    }

    /// Whether `other` does what `one` does. What it declares is then what `one` does.
    fn is_same(&mut self, one: &Node, other: &Node) -> Result<bool, Overflow> {
        let mut copying = self.copying.clone();
        let is_same = copying.liken(other, one) && {
            let copied = copying.block(std::slice::from_ref(other))?;
            self.text_of(std::slice::from_ref(one)) == self.text_of(&copied)
        };
        if is_same {
            self.copying = copying;
        }
        Ok(is_same)
    }

    /// What two nodes have the same of does not depend on where they stand in the source.
    fn text_of(&self, nodes: &[Node]) -> String {
        let mut alone = self.kernel.clone();
        alone.body = nodes.to_vec().into();
        alone.result = None;
        alone.to_string()
    }

    fn different(&mut self, first: &[Node], second: &[Node]) -> Result<Vec<Node>, Overflow> {
        if let ([Node::AffineFor(one)], [Node::AffineFor(other)]) = (first, second)
            && let Some(joined) = self.loops(one, other)?
        {
            return Ok(vec![joined]);
        }
        let (before, behind_it) = (self.before.clone(), self.behind.clone());
        let second = self.copying.block(second)?;
        if first.is_empty() {
            return Ok(behind(behind_it, second));
        }
        if second.is_empty() {
            return Ok(behind(before, first.to_vec()));
        }
        Ok(vec![Node::AffineIf {
            conditions: before,
            then: first.to_vec().into(),
            otherwise: second.into(),
        }])
    }

    /// Both loops as one, if they have the same bounds.
    fn loops(&mut self, one: &AffineFor, other: &AffineFor) -> Result<Option<Node>, Overflow> {
        let empty = |it: &AffineFor| {
            Node::AffineFor(AffineFor {
                body: Block::default(),
                ..it.clone()
            })
        };
        if !self.is_same(&empty(one), &empty(other))? {
            return Ok(None);
        }
        Ok(Some(Node::AffineFor(AffineFor {
            body: self.bodies(&one.body, &other.body)?.into(),
            ..one.clone()
        })))
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed};
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

    const REDUCED: &str = "kernel @reduced(n: i64, x: f64[n, n], a: f64[n, n], b: f64[n, n]) {
  affine.for i in 0..n {
    affine.for j in 0..n {
      a[i, j] = x[i, j] + 1.0
      affine.if (10 <= i, i < n - 10, 10 <= j, j < n - 10) { b[i, j] = x[i, j] * 42.0 }
    }
  }
}";

    /// The same, the conditions on `j` before those on `i`.
    fn reordered() -> String {
        REDUCED.replace(
            "(10 <= i, i < n - 10, 10 <= j, j < n - 10)",
            "(10 <= j, j < n - 10, 10 <= i, i < n - 10)",
        )
    }

    /// The form with a reduced domain of the seed's second example, and loops that were cut instead
    /// of it.
    #[test]
    fn reduced_domains_become_loops_and_come_back() {
        let cut = "separate(i) separate(i_r)";
        let split = apply(&kernel(REDUCED), cut).to_string();
        assert_eq!(split.matches("affine.for i").count(), 3, "{split}");
        // Some have conditions on `j` left.
        assert!(!split.contains("10 <= i"), "{split}");
        let back = "fuse(i_r, i_r_r) fuse(i, i_r)";
        accepts(REDUCED, &format!("{cut} {back}"), REDUCED);
        accepts(&split, back, REDUCED);
        let inner = "separate(j) separate(j_r) fuse(j_r, j_r_r) fuse(j, j_r)";
        accepts(REDUCED, inner, &reordered());
    }

    #[test]
    fn reduced_domains_become_nests_and_come_back() {
        let apart = "distribute(j) distribute(i)
                     separate(i_2) separate(i_2_r) separate(j_2_1) separate(j_2_1_r)";
        let before = kernel(REDUCED);
        let after = apply(&before, apart);
        let text = after.to_string();
        assert!(!text.contains("affine.if"), "{text}");
        assert_same_meaning(&before, &after);
        let name = text
            .rsplit("affine.for ")
            .nth(1)
            .and_then(|it| it.split(' ').next());
        let inner = text
            .rsplit("affine.for ")
            .next()
            .and_then(|it| it.split(' ').next());
        let (name, inner) = (name.expect("a loop"), inner.expect("a loop"));
        let back = format!("{apart} fuse(i, {name}) fuse(j, {inner})");
        accepts(REDUCED, &back, &reordered());
    }

    #[test]
    fn loops_that_were_cut_come_back() {
        for bounds in ["0..n", "max(0, m - 3)..min(n, m)", "2..n step 3"] {
            let source = format!(
                "kernel @k(n: i64, m: i64, x: f64[2 * n + m], y: f64[2 * n + m]) {{
  affine.for i in {bounds} {{
    let a: f64 = x[i]
    affine.for j in 0..i {{ y[j] reduce(add) a * x[j] }}
  }}
}}"
            );
            let mut scripts = vec![
                "split(i, at = m / 2) fuse(i, i_r)",
                "split(i, at = n / 2) fuse(i, i_r)",
            ];
            if !bounds.contains("max") {
                scripts.extend([
                    "peel(i, first = 1) fuse(i_f, i)",
                    "peel(i, last = 2) fuse(i, i_l)",
                ]);
            }
            for script in scripts {
                let after = apply(&kernel(&source), script).to_string();
                let names = ["i_f", "j_1", "a_1"].map(|it| (it, &it[..1]));
                let after = names
                    .iter()
                    .fold(after, |text, (from, to)| text.replace(from, to));
                assert_eq!(after, kernel(&source).to_string(), "{script}");
                assert_same_meaning(&kernel(&source), &apply(&kernel(&source), script));
            }
        }
    }

    #[test]
    fn tiles_that_were_separated_come_back() {
        let source = "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i_t in 0..n step 32 { affine.for i_p in i_t..i_t + 32 { y[i_p] = x[i_p] } }
}";
        let before = kernel(&source.replace("i_t + 32", "min(n, i_t + 32)"));
        let after = apply(&before, "separate(i_t) fuse(i_t, i_t_r)");
        assert_eq!(
            after.to_string().matches("affine.for i_t").count(),
            1,
            "{after}"
        );
        assert_same_meaning(&before, &after);
    }

    #[test]
    fn one_loop_among_the_iterations_of_the_other() {
        let loops = |first: &str, second: &str| {
            format!(
                "kernel @k(n: i64, m: i64, x: f64[n], y: f64[n], z: f64[n]) {{
  affine.for i in {first} {{ y[i] = x[i] }}
  affine.for j in {second} {{ z[j] = y[j] }}
}}"
            )
        };
        for (first, second) in [
            ("0..n", "9..n - 9"),
            ("1..n", "0..n"),
            ("0..n", "max(0, m)..min(m + 2, n)"),
            ("3..7", "2..20"),
        ] {
            let before = kernel(&loops(first, second));
            let after = apply(&before, "fuse(i, j)");
            assert!(after.to_string().contains("affine.if"), "{after}");
            assert_eq!(after.to_string().matches("affine.for").count(), 1);
            crate::test_support::assert_same_results(&before, &after);
        }
        refuses(
            &loops("0..n", "1..m"),
            "fuse(i, j)",
            Misaddressed,
            "DifferentBounds",
        );
        let late = loops("0..n", "9..n - 9").replace("= y[j]", "= y[j + 1]");
        refuses(&late, "fuse(i, j)", Illegal, "Reverses");
    }
}
