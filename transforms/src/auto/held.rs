//! Small arrays whose elements could stay in registers while a loop runs, if subscripts in it were
//! constants: private buffers, and arrays of the kernel's own.

use super::MOST_UNROLLED;
use super::profit::{may_be_long, most_trips};
use std::collections::BTreeSet;
use strew_affine::lanes::{Lanes, VECTOR_BYTES};
use strew_affine::visit::{
    AccessSite, Loop, accesses, allocated_arrays, arrays_written_in, has_forall, walk,
};
use strew_affine::{
    AffineExpr, AffineFor, ArrayId, Bound, IterId, Kernel, Node, Subscript, Variable,
};

/// More elements than these of all arrays of a loop do not fit the registers.
const MOST_ELEMENTS: u64 = 12;

/// Rows that run in lanes take fewer instructions there, though in memory, unless there are no more
/// elements than these: 4 sums of 100,000 products take 80 µs in registers and 115 in lanes, 16
/// sums 360 and 205.
const MOST_APART: u64 = 4;

/// The iterators of the short loops that are all that keeps subscripts of small arrays from being
/// constants in a long loop around.
pub(super) fn iterators(kernel: &Kernel) -> BTreeSet<IterId> {
    let own = allocated_arrays(&kernel.body);
    let sites = accesses(kernel);
    let mut found = BTreeSet::new();
    walk(&kernel.body, &mut |node, around| {
        let arrays: BTreeSet<ArrayId> = match node {
            Node::Forall(it) => it.own_buffers().collect(),
            Node::AffineFor(it) if around.is_empty() && is_alone(it) => {
                let written = arrays_written_in(&it.body).into_iter();
                written.filter(|it| own.contains(it)).collect()
            }
            _ => BTreeSet::new(),
        };
        if let Some(region) = Loop::of(node) {
            found.extend(indexing(kernel, &sites, (region.iter(), arrays)));
        }
    });
    found
}

/// Whether `target` may take long and runs in order, altogether.
fn is_alone(target: &AffineFor) -> bool {
    !has_forall(&target.body) && may_be_long(target, &[])
}

/// Those in subscripts of `arrays` in the loop over `region`, if the arrays are few elements.
fn indexing(
    kernel: &Kernel,
    sites: &[AccessSite<'_>],
    (region, arrays): (IterId, BTreeSet<ArrayId>),
) -> BTreeSet<IterId> {
    let mut found = BTreeSet::new();
    let mut elements = 0;
    for array in arrays {
        let known = kernel.arrays[array].known_elements();
        let Some(few) = known.filter(|it| *it <= MOST_ELEMENTS) else {
            continue;
        };
        let indexed = Indexed {
            kernel,
            region,
            lanes: VECTOR_BYTES / kernel.arrays[array].element.bytes(),
            is_apart: few <= MOST_APART,
        };
        let of_it = sites.iter().filter(|it| it.access.array == array);
        if let Some(iterators) = indexed.iterators(of_it) {
            elements += few;
            found.extend(iterators);
        }
    }
    match elements <= MOST_ELEMENTS {
        true => found,
        false => BTreeSet::new(),
    }
}

/// A small array that is indexed in a loop.
struct Indexed<'k> {
    kernel: &'k Kernel,
    region: IterId,
    /// How many of its elements are a vector.
    lanes: u32,
    /// Loops go away though they could run in lanes.
    is_apart: bool,
}

impl Indexed<'_> {
    /// The iterators in subscripts at those of `sites` in the loop, if all of them count short
    /// loops.
    fn iterators<'s>(
        &self,
        sites: impl Iterator<Item = &'s AccessSite<'s>>,
    ) -> Option<BTreeSet<IterId>> {
        let mut found = BTreeSet::new();
        for site in sites {
            let mut around = site.loops.iter();
            if !around.any(|it| it.iter() == self.region) {
                continue;
            }
            for subscript in &site.access.subscripts {
                match subscript {
                    Subscript::Affine(it) => self.add(it, around.as_slice(), &mut found)?,
                    Subscript::Computed(_) => return None,
                }
            }
        }
        Some(found)
    }

    /// Adds the iterators in `expr`, and those that say how long their loops are, if all of these
    /// are short and among `loops`.
    fn add(
        &self,
        expr: &AffineExpr,
        loops: &[Loop<'_>],
        found: &mut BTreeSet<IterId>,
    ) -> Option<()> {
        let mut mentioned = Vec::new();
        expr.for_each_variable(&mut |it| mentioned.push(it));
        for variable in mentioned {
            let position = loops
                .iter()
                .position(|it| variable == Variable::Iter(it.iter()))?;
            let (around, inside) = loops.split_at(position);
            let Some(Loop::Affine(of)) = inside.first() else {
                return None;
            };
            self.goes_away(of, around).then_some(())?;
            for Bound(alternatives) in [&of.lower, &of.upper] {
                let mut alternatives = alternatives.iter();
                alternatives.try_for_each(|it| self.add(it, around, found))?;
            }
            found.insert(of.iter);
        }
        Some(())
    }

    fn goes_away(&self, target: &AffineFor, around: &[Loop<'_>]) -> bool {
        let turns = most_trips(target, around).filter(|it| *it <= MOST_UNROLLED as u64);
        let runs_in_lanes = |turns: u64| {
            let is_whole = turns.is_multiple_of(u64::from(self.lanes));
            let lanes = Lanes::of(self.kernel, Loop::Affine(target), self.lanes);
            is_whole && lanes.is_ok_and(|it| !it.has_loops())
        };
        turns.is_some_and(|it| self.is_apart || !runs_in_lanes(it))
    }
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    const SUMS: &str = "tile_indirection_using_forall(i, chunks = 8, strategy = auto)";

    /// Updates of rows of `s`, which has such extents.
    fn sums(extents: &str, body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, key: i32[n], x: f32[n, 8], h: i32[m], s: f32[{extents}]) {{
               affine.for i in 0..n {{ h[key[i]] reduce(add) 1 {body} }}
             }}"
        )
    }

    #[test]
    fn loops_over_small_sums_go_away() {
        let square = "affine.for a in 0..3 { affine.for b in 0..3 { s[a, b] reduce(add) x[i, a] * x[i, b] } }";
        schedules(
            &sums("3, 3", square),
            &[SUMS, "unroll(b, 3)", "unroll(a, 3)"],
        );
        let triangle = "affine.for a in 0..3 {
          affine.for b in 0..a + 1 { s[a, b] reduce(add) x[i, a] * x[i, b] }
        }";
        // In the first copy the inner loop has one turn.
        let steps = ["unroll(a, 3)", "unroll(b_1, 2)", "unroll(b_2, 3)"];
        schedules(&sums("3, 3", triangle), &[&[SUMS], &steps[..]].concat());
    }

    #[test]
    fn rows_that_fill_vectors_run_in_lanes() {
        let row = |length: u32| {
            let body = format!("affine.for a in 0..{length} {{ s[a] reduce(add) x[i, a] }}");
            sums(&length.to_string(), &body)
        };
        schedules(&row(4), &[SUMS, "unroll(a, 4)"]);
        schedules(&row(6), &[SUMS, "unroll(a, 6)"]);
        schedules(&row(8), &[SUMS, "vectorize(a, 8)"]);
    }

    #[test]
    fn arrays_of_the_kernel_stay_in_registers_in_loops_in_order() {
        let filter = |extent: u32, other: &str| {
            format!(
                "kernel @k(n: i64, x: f64[n], y: f64[n]) {{
                   alloc z: f64[{extent}]
                   affine.for i in 0..n {{
                     var v: f64 = x[i]
                     affine.for k in 0..4 {{ z[k] = 0.5 * z[k] + v v = z[k] }}
                     y[i] = v {other}
                   }}
                 }}"
            )
        };
        schedules(&filter(4, ""), &["unroll(k, 4)"]);
        schedules(&filter(4, "z[i mod 4] = 0.0"), &[]);
        schedules(&filter(17, ""), &[]);
    }
}
