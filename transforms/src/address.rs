//! Naming loops and arrays in a schedule, and finding them in a kernel.

use crate::reason::Reason;
use crate::script::Written;
use crate::tree::{self, Nested};
use std::fmt;
use strew_affine::dependence::Target as Variable;
use strew_affine::visit::{self, Loop};
use strew_affine::{
    AffineExpr, AffineFor, ArrayId, Bound, Combiner, Iter, Kernel, Node, STRATEGIES,
};

/// How a schedule names a loop: by its iterator, by a label that stands in front of it
/// (`L1: for …`), or by a path of such names from the outside in (`i/j`).
///
/// A path holds when its last name is the loop's and the others name loops around it, in that
/// order; loops between them may be left out. A label goes before an iterator of the same name.
/// Iterators of one name are told apart by numbers, which a path may leave out where nothing has
/// the very names: `k/j` names the `j_2` in `k`, and `k/j_t` the `j_2_t`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoopPath(Vec<String>);

impl LoopPath {
    /// The path through `names`, outermost first.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// The names, outermost first.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl From<&str> for LoopPath {
    /// Takes `i/j` apart.
    fn from(path: &str) -> Self {
        Self::new(path.split('/').map(str::trim))
    }
}

impl fmt::Display for LoopPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(|it| Written(it).to_string()).collect();
        f.write_str(&names.join("/"))
    }
}

/// An `affine.for` and the loops around it, outermost first.
#[derive(Clone, Debug)]
pub(crate) struct Target<'k> {
    pub(crate) it: &'k AffineFor,
    pub(crate) around: Vec<Loop<'k>>,
}

/// The loop that `path` names.
pub(crate) fn find_loop<'k>(kernel: &'k Kernel, path: &LoopPath) -> Result<Nested<'k>, Reason> {
    let has_label = |nested: &&Nested<'_>| {
        let labels = &kernel.iters[nested.it.iter()].labels;
        path.0.last().is_some_and(|it| labels.contains(it))
    };
    let at_path = |is_called: IsCalled| {
        let mut found = loops_called(kernel, path.0.last()?, is_called);
        found.retain(|nested| is_inside(kernel, &nested.around, path, is_called));
        let labelled = found.iter().find(has_label);
        labelled.or_else(|| found.first()).cloned()
    };
    let found = at_path(is_called).or_else(|| match path.0.len() {
        ..=1 => None,
        _ => at_path(is_called_but_for_numbers),
    });
    found.ok_or_else(|| no_such_loop(kernel, path))
}

/// That `path` names no loop.
pub(crate) fn no_such_loop(kernel: &Kernel, path: &LoopPath) -> Reason {
    let iters = tree::loops(kernel).into_iter();
    let iters = iters.map(|nested| &kernel.iters[nested.it.iter()]);
    Reason::NoSuchLoop {
        path: path.clone(),
        loops: iters.clone().map(|it| it.name.clone()).collect(),
        labels: iters.flat_map(|it| it.labels.clone()).collect(),
    }
}

/// The `affine.for` that `path` names.
pub(crate) fn find_affine_for<'k>(
    kernel: &'k Kernel,
    path: &LoopPath,
) -> Result<Target<'k>, Reason> {
    let Nested { it, around } = find_loop(kernel, path)?;
    match it {
        Loop::Affine(it) => Ok(Target { it, around }),
        Loop::Forall(_) => Err(Reason::IsForall { path: path.clone() }),
        Loop::Scf(it) => Err(Reason::NotAffine {
            path: path.clone(),
            span: kernel.iters[it.iter].span,
        }),
    }
}

/// The `affine.for` or `scf.for` that `path` names.
pub(crate) fn find_counted<'k>(kernel: &'k Kernel, path: &LoopPath) -> Result<Nested<'k>, Reason> {
    let found = find_loop(kernel, path)?;
    match found.it {
        Loop::Affine(_) | Loop::Scf(_) => Ok(found),
        Loop::Forall(_) => Err(Reason::IsForall { path: path.clone() }),
    }
}

/// That the loop called `path`, which has so many lanes, runs its iterations one by one.
pub(crate) fn check_no_lanes(lanes: u32, path: &LoopPath) -> Result<(), Reason> {
    match lanes {
        1 => Ok(()),
        _ => Err(Reason::HasLanes { path: path.clone() }),
    }
}

/// The bounds of `target`, called `path`, which must have no alternatives.
pub(crate) fn single_bounds<'k>(
    target: &'k AffineFor,
    path: &LoopPath,
) -> Result<(&'k AffineExpr, &'k AffineExpr), Reason> {
    Ok((single(&target.lower, path)?, single(&target.upper, path)?))
}

/// `bound`, of the loop called `path`, which must have no alternatives.
pub(crate) fn single<'k>(bound: &'k Bound, path: &LoopPath) -> Result<&'k AffineExpr, Reason> {
    let several = || Reason::SeveralBounds { path: path.clone() };
    bound.as_single().ok_or_else(several)
}

/// The `affine.for` that `inner` names, which must be all that the loop called `path`, of this
/// `body`, does.
pub(crate) fn only_loop_in<'k>(
    kernel: &'k Kernel,
    body: &'k [Node],
    path: &LoopPath,
    inner: &LoopPath,
) -> Result<&'k AffineFor, Reason> {
    let target = find_affine_for(kernel, inner)?.it;
    match body {
        [Node::AffineFor(only)] if only.iter == target.iter => Ok(only),
        _ => Err(Reason::NotPerfectlyNested {
            outer: path.clone(),
            inner: inner.clone(),
        }),
    }
}

/// Whether a loop is meant by a name.
type IsCalled = fn(&Iter, &str) -> bool;

/// The loops that `name` means, in the order of the text.
fn loops_called<'k>(kernel: &'k Kernel, name: &str, is_called: IsCalled) -> Vec<Nested<'k>> {
    let iters = kernel.iters.iter();
    let called = iters.filter(|(_, iter)| is_called(iter, name));
    let called: Vec<_> = called.map(|(iter, _)| iter).collect();
    tree::loops_over(kernel, &called)
}

/// Whether the names of `path` but for the last one mean some of the loops `around`, in that order.
fn is_inside(kernel: &Kernel, around: &[Loop<'_>], path: &LoopPath, is_called: IsCalled) -> bool {
    let (mut around, names) = (around.iter(), path.0.len().saturating_sub(1));
    let mut outer = path.0.iter().take(names);
    outer.all(|name| around.any(|it| is_called(&kernel.iters[it.iter()], name)))
}

fn is_called(iter: &Iter, name: &str) -> bool {
    iter.name == name || iter.labels.iter().any(|label| label == name)
}

fn is_called_but_for_numbers(iter: &Iter, name: &str) -> bool {
    let known = iter.name.split('_');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let words = known.filter(|it| !is_number(it));
    words.eq(name.split('_')) || is_called(iter, name)
}

/// The array called `name`.
pub(crate) fn find_array(kernel: &Kernel, name: &str) -> Result<ArrayId, Reason> {
    let found = kernel.arrays.iter().find(|(_, array)| array.name == name);
    found.map(|(id, _)| id).ok_or_else(|| Reason::NoSuchArray {
        name: name.to_owned(),
        arrays: kernel
            .arrays
            .values()
            .map(|array| array.name.clone())
            .collect(),
    })
}

/// That a strategy is called `name`.
pub(crate) fn check_strategy(name: &str) -> Result<(), Reason> {
    match STRATEGIES.contains(&name) {
        true => Ok(()),
        false => Err(Reason::NoSuchStrategy {
            name: name.to_owned(),
        }),
    }
}

/// That a combiner is called `name`: one that is built in, or one that `kernel` combines by; or
/// that it is one of `others`.
pub(crate) fn check_combiner(kernel: &Kernel, name: &str, others: &[&str]) -> Result<(), Reason> {
    let is_known = Combiner::from_name(name).is_some() || others.contains(&name);
    let mut combiners = Combiner::known_names();
    visit::walk(&kernel.body, &mut |node, _| {
        if let Node::Reduce { combiner, .. } = node
            && Combiner::from_name(&combiner.to_string()).is_none()
            && combiners.iter().all(|it| it != combiner.name())
        {
            combiners.push(combiner.name().to_owned());
        }
    });
    if is_known || combiners.iter().any(|it| it == name) {
        return Ok(());
    }
    combiners.extend(others.iter().map(|it| (*it).to_owned()));
    Err(Reason::NoSuchCombiner {
        name: name.to_owned(),
        combiners,
    })
}

/// The scalar, or the array, called `name`.
pub(crate) fn find_variable(kernel: &Kernel, name: &str) -> Result<Variable, Reason> {
    let locals = || {
        kernel
            .locals
            .iter()
            .map(|(id, it)| (Variable::Local(id), &it.name))
    };
    let arrays = kernel
        .arrays
        .iter()
        .map(|(id, it)| (Variable::Array(id), &it.name));
    let mut found = locals().chain(arrays.clone());
    let found = found.find(|(_, it)| *it == name);
    found.map(|(id, _)| id).ok_or_else(|| {
        let names = locals().chain(arrays).map(|(_, it)| it.clone());
        Reason::NoSuchVariable {
            name: name.to_owned(),
            variables: names.collect(),
        }
    })
}

/// How a schedule names a statement in the body of a loop: by a label in front of it
/// (`L1: y[i] = …;`), or by its position, from 1: `S1` is the first. A label goes before a
/// position.
///
/// A label in front of something inside of a statement names that statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StatementName(String);

impl From<&str> for StatementName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl From<u64> for StatementName {
    /// The name of the statement at this position, from 1.
    fn from(position: u64) -> Self {
        Self(format!("S{position}"))
    }
}

impl fmt::Display for StatementName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Written(&self.0).fmt(f)
    }
}

impl StatementName {
    fn position(&self) -> Option<usize> {
        let position: usize = self.0.strip_prefix('S')?.parse().ok()?;
        position.checked_sub(1)
    }
}

/// The place of the statement that `name` names in the body of `target`, called `path`.
pub(crate) fn find_statement(
    kernel: &Kernel,
    target: &AffineFor,
    name: &StatementName,
    path: &LoopPath,
) -> Result<usize, Reason> {
    let has_label = |node: &Node| kernel.labels_of(node).any(|it| it == name.0);
    let is_labelled = |node: &&Node, counts: fn(&Node) -> bool| {
        let mut found = false;
        visit::walk(std::slice::from_ref(*node), &mut |inner, _| {
            found |= counts(inner) && has_label(inner);
        });
        found
    };
    // Of several statements that one of the source became, the one that writes.
    let writes = |node: &Node| !matches!(node, Node::Declare { .. });
    let mut body = target.body.iter();
    let labelled = body.clone().position(|it| is_labelled(&it, writes));
    let labelled = labelled.or_else(|| body.position(|it| is_labelled(&it, |_| true)));
    let place = labelled.or_else(|| name.position());
    let place = place.filter(|it| *it < target.body.len());
    place.ok_or_else(|| Reason::NoSuchStatement {
        path: path.clone(),
        statement: name.clone(),
        count: target.body.len(),
        labels: labels_in(kernel, &target.body),
    })
}

/// The labels of the statements in `nodes`.
fn labels_in(kernel: &Kernel, nodes: &[Node]) -> Vec<String> {
    let mut found = Vec::new();
    visit::walk(nodes, &mut |node, _| {
        found.extend(kernel.labels_of(node).map(str::to_owned));
    });
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;
    use crate::Verdict::Misaddressed;
    use crate::test_support::{accepts, kernel, refuses};

    #[test]
    fn labels_name_loops_and_go_before_iterators() {
        let source = "kernel @k(n: i64, y: f64[n, n]) {
  outer: affine.for i in 0..n {
    i: affine.for j in 0..n { y[i, j] = 1.0 }
  }
}";
        let before = kernel(source);
        let name = |path: &str| {
            let found = find_loop(&before, &LoopPath::from(path)).expect("a loop");
            before.iters[found.it.iter()].name.clone()
        };
        assert_eq!(
            ["outer", "i", "outer/j", "j"].map(name),
            ["i", "j", "j", "j"]
        );
        accepts(
            source,
            "interchange(outer, i)",
            "kernel @k(n: i64, y: f64[n, n]) {
  i: affine.for j in 0..n {
    outer: affine.for i in 0..n { y[i, j] = 1.0 }
  }
}",
        );
    }

    #[test]
    fn paths_tell_loops_of_one_name_apart() {
        let before = kernel(
            "kernel @k(n: i64, y: f64[n, n], z: f64[n, n]) {
  affine.for i in 0..n { affine.for j in 0..n { y[i, j] = 1.0 } }
  second: affine.for i_2 in 0..n { affine.for j_2_t in 0..n { z[i_2, j_2_t] = 1.0 } }
  affine.for k in 0..n { affine.for j_3 in 0..n { affine.for j_4 in 0..n { z[k, j_3] = 1.0 } } }
}",
        );
        let name = |path: &str| {
            let found = find_loop(&before, &LoopPath::from(path)).ok()?;
            Some(before.iters[found.it.iter()].name.as_str())
        };
        assert_eq!(
            [
                "i/j",
                "i_2/j_t",
                "second/j_t",
                "k/j",
                "k/j/j",
                "i/k",
                "i_3",
                "j_/j"
            ]
            .map(name),
            [
                Some("j"),
                Some("j_2_t"),
                Some("j_2_t"),
                Some("j_3"),
                Some("j_4"),
                None,
                None,
                None
            ]
        );
    }

    #[test]
    fn labels_and_positions_name_statements() {
        let source = "kernel @k(n: i64, x: f64[n], y: f64[n], z: f64[n]) {
  affine.for i in 0..n {
    let a: f64 = x[i]
    S1: y[i] = a
    affine.if (0 < i) { last: z[i - 1] = x[i] }
  }
}";
        let before = kernel(source);
        let i = LoopPath::from("i");
        let target = find_affine_for(&before, &i).expect("a loop").it;
        let place = |name: &str| find_statement(&before, target, &name.into(), &i).ok();
        assert_eq!(
            ["S1", "S2", "S3", "last", "S4", "S0", "first"].map(place),
            [Some(1), Some(1), Some(2), Some(2), None, None, None]
        );
        accepts(
            source,
            "shift(last, i, -1)",
            "kernel @k(n: i64, x: f64[n], y: f64[n], z: f64[n]) {
  affine.for i_f in 0..min(n, 1) {
    affine.if (0 < i_f) { last: z[i_f - 1] = x[i_f] }
  }
  affine.for i in 1..n {
    let a: f64 = x[i - 1]
    S1: y[i - 1] = a
    affine.if (0 < i) { last: z[i - 1] = x[i] }
  }
  affine.for i_l in max(0, n - 1)..n {
    let a_1: f64 = x[i_l]
    S1: y[i_l] = a_1
  }
}",
        );
    }

    #[test]
    fn labels_that_are_not_there_are_told_with_those_that_are() {
        let source = "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  rows: affine.for i in 0..n {
    copy: y[i] = x[i]
    y[i] = y[i] * 2.0
  }
}";
        let refused = |script: &str, name| {
            let reason = refuses(source, script, Misaddressed, name);
            (reason.to_string(), reason.nearest())
        };
        assert_eq!(
            refused("reverse(row)", "NoSuchLoop"),
            (
                "there is no loop `row`; the loops are `i`; the only label is `rows`".to_owned(),
                Some("`rows`".to_owned())
            )
        );
        assert_eq!(
            refused("shift(cpy, i, 1)", "NoSuchStatement"),
            (
                "the body of `i` has no statement `cpy`: it has 2, the first of which is `S1`; the only label is `copy`"
                    .to_owned(),
                Some("`copy`".to_owned())
            )
        );
    }

    #[test]
    fn names_that_are_no_words_stand_between_backquotes() {
        let source = "kernel @k(`n p`: i64, x: f64[`n p`], y: f64[`n p`]) {
  `L x`: affine.for `i/j` in 0..`n p` {
    `a b`: x[`i/j`] = 1.0
    y[`i/j`] = 2.0
  }
}";
        let before = kernel(source);
        for (script, written) in [
            ("unroll(`L x`, 2)", "`i/j` in 0..`n p` - 1 step 2"),
            ("unroll(`i/j`, 2)", "`i/j` in 0..`n p` - 1 step 2"),
            (
                "split(`L x`, at = `n p` / 2)",
                "min(`n p`, `n p` floordiv 2)",
            ),
            ("shift(`a b`, `L x`, 1)", "x[`i/j` - 1] = 1.0"),
        ] {
            let steps: Schedule = script.parse().expect("a schedule");
            assert_eq!(steps.to_string().trim_end(), script);
            let after = steps.apply(&before, &mut ()).expect("a kernel").to_string();
            assert!(after.contains(written), "{after}");
        }
    }

    #[test]
    fn a_path_prints_as_it_is_written() {
        assert_eq!(LoopPath::from("i / j").to_string(), "i/j");
        assert_eq!(LoopPath::from("i/j"), LoopPath::new(["i", "j"]));
    }
}
