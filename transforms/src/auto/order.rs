//! In which order the loops of a perfect nest read memory best.

use super::{MOST_UNROLLED, trips};
use strew_affine::dependence::{Component, Direction};
use strew_affine::visit;
use strew_affine::{Access, AffineFor, IterId, Kernel, Node, Subscript, Variable};

/// Direction vectors over the loops of a band, of dependences that nothing around it carries.
pub(super) struct Vectors(Vec<Vec<Component>>);

impl Vectors {
    pub(super) fn new(vectors: impl IntoIterator<Item = Vec<Component>>) -> Self {
        Self(vectors.into_iter().collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[Component]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// Whether none goes back in any loop: then the loops can be tiled, and the points of a tile
    /// keep their order.
    pub(super) fn are_forward(&self) -> bool {
        self.are_forward_in(usize::MAX)
    }

    /// The same for the first `count` loops alone.
    pub(super) fn are_forward_in(&self, count: usize) -> bool {
        let mut components = self.0.iter().flat_map(|it| it.iter().take(count));
        components.all(|it| matches!(it.direction, Direction::Less | Direction::Equal))
    }

    /// Whether all ends of dependences stay in their order when the loops are nested in `order`.
    /// Updates keep theirs too, so that no sum is rounded in another way.
    fn allow(&self, order: &[usize]) -> bool {
        self.0.iter().all(|vector| {
            let nested = order.iter().filter_map(|it| vector.get(*it));
            for component in nested {
                match component.direction {
                    Direction::Less => return true,
                    Direction::Equal => {}
                    Direction::Greater | Direction::Any => return false,
                }
            }
            true
        })
    }
}

/// The order in which to nest the loops of `band`: those inside that walk along memory, as far as
/// that is allowed.
///
/// The cost of a loop is that of it as the innermost one: how many cache lines an iteration of it
/// touches, each access by itself.
pub(super) fn of<'v>(
    kernel: &Kernel,
    band: &[&AffineFor],
    vectors: impl Fn() -> &'v Vectors,
) -> Vec<usize> {
    let written: Vec<usize> = (0..band.len()).collect();
    let Some(innermost) = band.last() else {
        return written;
    };
    if innermost.body.is_empty() {
        return written;
    }
    let costs = costs(kernel, band);
    let best = best(&costs);
    let ways = long_inside(band, &costs, &best).into_iter().chain([best]);
    let allowed = ways
        .take_while(|it| *it != written)
        .find(|it| vectors().allow(it));
    allowed.unwrap_or(written)
}

/// The order `best` with the longest of two loops that cost the same innermost, and not one of a
/// few iterations, where others are around both: rows run in lanes then, and a window around each
/// point goes away.
fn long_inside(band: &[&AffineFor], costs: &[f64], best: &[usize]) -> Option<Vec<usize>> {
    let is_few = |it: &usize| {
        let trips = band.get(*it).and_then(|it| trips(it));
        trips.is_some_and(|it| it <= MOST_UNROLLED as u64)
    };
    let (innermost, outer) = best.split_last().filter(|(it, _)| is_few(it))?;
    let least = costs.get(*innermost);
    let mut tied = outer.iter().rev();
    let long = *tied.find(|it| costs.get(**it) == least && !is_few(it))?;
    let others: Vec<usize> = best.iter().copied().filter(|it| *it != long).collect();
    let has_others = others.iter().any(|it| !is_few(it));
    has_others.then(|| [others, vec![long]].concat())
}

/// The order by `costs`, if dependences allow it.
pub(super) fn best(costs: &[f64]) -> Vec<usize> {
    let cost = |position: &usize| costs.get(*position).copied().unwrap_or(0.0);
    let mut best: Vec<usize> = (0..costs.len()).collect();
    best.sort_by(|one, other| cost(other).total_cmp(&cost(one)));
    best
}

/// How many cache lines an iteration of each loop of `band` touches when it is the innermost one.
pub(super) fn costs(kernel: &Kernel, band: &[&AffineFor]) -> Vec<f64> {
    let accesses = band.last().map_or(Vec::new(), |it| accesses(&it.body));
    band.iter().map(|it| cost(kernel, &accesses, it)).collect()
}

/// All that statements in `body` read and write.
pub(super) fn accesses(body: &[Node]) -> Vec<&Access> {
    let mut found: Vec<&Access> = Vec::new();
    visit::walk(body, &mut |node, _| {
        for expr in node.expressions() {
            visit::for_each_load(expr, &mut |access| found.push(access));
        }
        found.extend(node.written_elements());
    });
    found
}

/// How many cache lines `accesses` touch in an iteration of `target`, when the loops inside of it
/// are done with.
fn cost(kernel: &Kernel, accesses: &[&Access], target: &AffineFor) -> f64 {
    let costs = accesses.iter().map(|access| {
        let bytes = f64::from(kernel.arrays[access.array].element.bytes());
        match reach(kernel, access, target.iter) {
            Reach::Same => 0.0,
            Reach::Next(distance) => (bytes * distance / LINE).min(1.0),
            Reach::Far => 1.0,
        }
    });
    costs.sum()
}

/// Bytes of a cache line.
const LINE: f64 = 64.0;

/// How far the element of one iteration is from that of the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// It is the same one.
    Same,
    /// So many elements.
    Next(f64),
    /// In another row.
    Far,
}

/// Whether `access` may be of another element in another iteration of the loop over `iter`.
pub(super) fn moves(access: &Access, iter: IterId) -> bool {
    access.subscripts.iter().any(|it| mentions(it, iter))
}

/// Whether an affine subscript of `access` goes with `iter`; where data say goes by itself.
pub(super) fn goes_with(access: &Access, iter: IterId) -> bool {
    let mut subscripts = access.subscripts.iter();
    subscripts.any(|it| matches!(it, Subscript::Affine(_)) && mentions(it, iter))
}

/// Whether `subscript` may have another value in another iteration of the loop over `iter`.
pub(super) fn mentions(subscript: &Subscript, iter: IterId) -> bool {
    match subscript {
        Subscript::Affine(expr) => expr.mentions(Variable::Iter(iter)),
        Subscript::Computed(_) => true,
    }
}

/// That of `access` when the loop over `iter` goes on.
pub(super) fn reach(kernel: &Kernel, access: &Access, iter: IterId) -> Reach {
    if let Some(step) = access.step_through_rows(kernel, iter) {
        return Reach::Next(step.unsigned_abs() as f64);
    }
    let Some((last, others)) = access.subscripts.split_last() else {
        return Reach::Same;
    };
    if others.iter().any(|it| mentions(it, iter)) {
        return Reach::Far;
    }
    match last {
        Subscript::Affine(expr) => match expr.split_off(iter) {
            Some((0, _)) => Reach::Same,
            Some((distance, _)) => Reach::Next(distance.unsigned_abs() as f64),
            None => Reach::Far,
        },
        Subscript::Computed(_) => Reach::Far,
    }
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    #[test]
    fn windows_go_away_and_rows_run_in_lanes() {
        schedules(
            "kernel @k(n: i64, c: i64, w: i64, x: f32[c, w + 2, w + 2], k: f32[n, c, 3, 3], y: f32[n, w, w]) {
               affine.for p in 0..n { affine.for q in 0..c { affine.for i in 0..w { affine.for j in 0..w {
                 affine.for a in 0..3 { affine.for b in 0..3 {
                   y[p, i, j] reduce(add) k[p, q, a, b] * x[q, i + a, j + b]
                 } }
               } } } }
             }",
            &[
                "permute(p, q, i, a, b, j)",
                "parallelize(p)",
                "unroll_and_jam(b, 3)",
                "unroll_and_jam(a, 3)",
                "vectorize(j, 4)",
            ],
        );
    }
}
