//! Loops that may have too few iterations to be shared, as those over the images of a batch or the
//! colours of an image: the loop inside is shared with them.

use super::attempt::Attempt;
use super::{Choice, Scheduler, path_to, trips};
use crate::{Coalesce, LoopPath, Step, coalesce};
use strew_affine::visit::{Loop, for_each_load_of, walk};
use strew_affine::{Access, AffineExpr, AffineFor, IterId, Kernel, Node, Subscript, Variable};

/// With so many iterations a few threads have their share each.
const MANY: u64 = 32;

/// To find out which row an iteration is takes as long as some elements: a loop inside that is
/// known to be as short as this is left alone.
const FEW_ROWS: u64 = 4;

/// The same of a row that is known to have no more elements than this.
const FEW_ELEMENTS: u64 = 16;

impl Scheduler<'_> {
    /// Makes one loop of each that runs at once, and may have few iterations, and the one that is
    /// all it does.
    pub(super) fn collapse(&mut self) {
        for request in collapsible(&self.found.kernel) {
            self.consider(Step::Coalesce(request));
        }
    }

    /// Tiles `target` by the step that `tiled` makes, and what it and the loop inside make together
    /// where it may have few iterations; says which loops are tiled.
    pub(super) fn tile_alone_or_collapsed(
        &mut self,
        target: &AffineFor,
        tiled: impl Fn(LoopPath) -> Step,
    ) -> Vec<LoopPath> {
        self.tile_collapsed(target, &tiled).unwrap_or_else(|| {
            let path = path_to(&self.found.kernel, target.iter);
            let is_taken = self.consider(tiled(path.clone()));
            is_taken.then_some(path).into_iter().collect()
        })
    }

    /// Tiles `target`, and what it and the loop inside make together where it may have few
    /// iterations, by the step that `tiled` makes; says which loops that are. Nothing is done where
    /// `target` has enough, or what its iterations update is their own.
    fn tile_collapsed(
        &mut self,
        target: &AffineFor,
        tiled: impl Fn(LoopPath) -> Step,
    ) -> Option<Vec<LoopPath>> {
        let kernel = &self.found.kernel;
        let request = request_for(kernel, (target.iter, trips(target)), &target.body)?;
        let path = path_to(kernel, target.iter);
        let alone = tiled(path.clone()).apply(kernel).ok()?;
        if !shares_updates(&alone, target.iter) {
            return None;
        }
        let why = Choice::Inside {
            step: request.clone().into(),
            saving: None,
        };
        let mut paths = Vec::new();
        self.attempt_for([why], |attempt: &mut Attempt| {
            let stays = request.below.is_some();
            attempt.step(request)?;
            paths.push(attempt.path(*attempt.made().first()?));
            paths.extend(stays.then_some(path));
            paths
                .iter()
                .try_for_each(|it| attempt.step(tiled(it.clone())))
        })
        .then_some(paths)
    }
}

/// The loops that can be made one with the loop inside, where rows of elements are what is left.
fn collapsible(kernel: &Kernel) -> Vec<Coalesce> {
    let mut found = Vec::new();
    walk(&kernel.body, &mut |node, _| {
        if let Node::Forall(outer) = node {
            let count = outer.count.as_constant().map(|it| it.max(0).unsigned_abs());
            found.extend(request_for(kernel, (outer.iter, count), &outer.body));
        }
    });
    found
}

/// Whether iterations of the loop over `target` update what others do, so that they have private
/// copies.
fn shares_updates(kernel: &Kernel, target: IterId) -> bool {
    let mut shares = false;
    walk(&kernel.body, &mut |node, loops| {
        let is_target = Loop::of(node).is_some_and(|it| it.iter() == target);
        shares |= is_target
            && loops
                .iter()
                .any(|it| matches!(it, Loop::Forall(forall) if !forall.privates.is_empty()));
    });
    shares
}

/// How to make one loop of that over `outer`, which has `count` iterations if that is known, and
/// the one that is all it does, if it may have few and that is legal.
fn request_for(
    kernel: &Kernel,
    (outer, count): (IterId, Option<u64>),
    body: &[Node],
) -> Option<Coalesce> {
    let inner = rows_of(kernel, outer, body)?;
    let [outer, inner] = [outer, inner.iter].map(|it| path_to(kernel, it));
    let both = Coalesce::new(outer, inner);
    let request = match count {
        None => both.below(MANY),
        Some(count) if count < MANY => both,
        Some(_) => return None,
    };
    coalesce::plan(kernel, &request).is_ok().then_some(request)
}

/// The loop that is all that `body`, of the loop over `outer`, does, if each of its iterations may
/// have much to do.
fn rows_of<'k>(kernel: &Kernel, outer: IterId, body: &'k [Node]) -> Option<&'k AffineFor> {
    let [Node::AffineFor(inner)] = body else {
        return None;
    };
    let may_be_many = trips(inner).is_none_or(|it| it > FEW_ROWS);
    let are_rows = inner.step == 1 && has_long(&inner.body) && goes_across(kernel, outer, inner);
    (may_be_many && are_rows).then_some(inner)
}

/// Whether some loop in `body` may have more than a few iterations.
fn has_long(body: &[Node]) -> bool {
    let mut has_long = false;
    walk(body, &mut |node, _| {
        has_long |= match node {
            Node::AffineFor(it) => trips(it).is_none_or(|trips| trips > FEW_ELEMENTS),
            _ => Loop::of(node).is_some(),
        };
    });
    has_long
}

/// Whether no iteration of `inner` is a point in a row of elements, as those over the pixels of an
/// image are, each with a window of others around it, and none reads rows beside its own: what it
/// takes to find out where these are would then be much beside what is done there. Elements that
/// follow each other through both loops are found without that.
fn goes_across(kernel: &Kernel, outer: IterId, inner: &AffineFor) -> bool {
    let [of_outer, of_inner] = [outer, inner.iter].map(Variable::Iter);
    let is_plain = |subscript: &Subscript| match subscript {
        Subscript::Affine(it) if it.mentions(of_outer) || it.mentions(of_inner) => {
            it.as_variable().is_some()
        }
        Subscript::Affine(_) | Subscript::Computed(_) => true,
    };
    let mut across = true;
    let mut look = |access: &Access| {
        let is_point = matches!(access.subscripts.last(),
            Some(Subscript::Affine(it)) if it.mentions(of_inner));
        let is_one = access.subscripts.len() == 1;
        across &= access.subscripts.iter().all(is_plain)
            && (!is_point || is_one || is_numbered(kernel, access, (outer, inner)));
    };
    walk(&inner.body, &mut |node, _| {
        for_each_load_of(node, &mut look);
        node.written_elements().for_each(&mut look);
    });
    across
}

/// Whether the last two subscripts of `access` are the iterators of both loops, and the last
/// dimension has as many elements as `inner` iterations.
fn is_numbered(kernel: &Kernel, access: &Access, (outer, inner): (IterId, &AffineFor)) -> bool {
    let is_whole = |extent: &AffineExpr| {
        inner.lower.as_single().and_then(AffineExpr::as_constant) == Some(0)
            && inner.upper.as_single() == Some(extent)
    };
    let subscripts = access.subscripts.as_slice();
    let [.., Subscript::Affine(row), Subscript::Affine(point)] = subscripts else {
        return false;
    };
    let pairs = [(row, outer), (point, inner.iter)].into_iter();
    let mut pairs = pairs.map(|(it, iter)| it.as_variable() == Some(Variable::Iter(iter)));
    let last = kernel.arrays[access.array].extents.last();
    pairs.all(|it| it) && last.is_some_and(is_whole)
}

#[cfg(test)]
mod tests {
    use super::super::tests::schedules;

    fn kernel(body: &str) -> String {
        format!(
            "kernel @k(n: i64, h: i64, w: i64, m: i64, key: i32[n, h], x: f32[n, h, w], y: f32[n, h, w], z: f32[h, w], out: f32[m, w]) {{ {body} }}"
        )
    }

    #[test]
    fn images_of_a_batch_and_their_rows_are_shared_together() {
        let images = |n: &str| {
            kernel(&format!(
                "affine.for b in 0..{n} {{ affine.for i in 0..h {{ affine.for j in 0..w {{ y[b, i, j] = x[b, i, j] * 2.0 }} }} }}"
            ))
        };
        let steps = ["parallelize(b)", "vectorize(j, 8)"];
        schedules(
            &images("n"),
            &[steps[0], steps[1], "coalesce(b, i, below = 32)"],
        );
        schedules(&images("40"), &steps);
    }

    #[test]
    fn rows_that_data_choose_are_updated_by_both_loops() {
        let rows = kernel(
            "affine.for b in 0..n { affine.for i in 0..h { affine.for j in 0..w { out[key[b, i], j] reduce(add) x[b, i, j] } } }",
        );
        let tiled =
            |it: &str| format!("tile_indirection_using_forall({it}, chunks = 8, strategy = auto)");
        schedules(
            &rows,
            &[
                "coalesce(b, i, below = 32)",
                &tiled("b_i"),
                &tiled("b"),
                "vectorize(j_1, 8)",
                "vectorize(j, 8)",
            ],
        );
    }

    #[test]
    fn pixels_with_windows_around_them_stay_in_their_rows() {
        let windows = kernel(
            "affine.for i in 8..h - 8 { affine.for j in 8..w - 8 { affine.for p in -n..n { out[i32(z[i, j]), 0] reduce(add) z[i, j + p] } } }",
        );
        let tiled = "tile_indirection_using_forall(i, chunks = 8, strategy = auto)";
        schedules(&windows, &[tiled, "vectorize(p, 16)"]);
    }

    #[test]
    fn rows_that_read_those_beside_them_stay_as_they_are() {
        let sweep = kernel(
            "affine.for b in 0..n { affine.for i in 1..h - 1 { affine.for j in 0..w { y[b, i, j] = x[b, i - 1, j] + x[b, i + 1, j] } } }",
        );
        schedules(&sweep, &["parallelize(b)", "vectorize(j, 8)"]);
    }

    #[test]
    fn loops_of_few_iterations_are_not_shared_but_what_is_inside() {
        let colours = "kernel @k(n: i64, p: u8[3, n], h: i32[3, 256]) {
          affine.for c in 0..3 { affine.for i in 0..n { h[c, i32(p[c, i])] reduce(add) 1 } }
        }";
        let tiled = "tile_indirection_using_forall(i, chunks = 8, strategy = auto)";
        schedules(colours, &[tiled, "unroll(i, 4)"]);
    }
}
