//! The scheduler that is asked when nobody wrote a schedule. It says what pays; whether it is legal
//! the steps say themselves.

mod across;
mod arranged;
mod attempt;
mod borders;
mod choice;
mod collapse;
mod flags;
mod flatten;
mod handed_on;
mod held;
mod keys;
mod lanes;
mod locality;
mod machine;
mod nests;
mod order;
mod outer_lanes;
mod packed;
mod panels;
mod parts;
mod pivot;
mod profit;
mod records;
mod registers;
mod saving;
mod scratch;
mod shapes;
mod speculation;
mod sums;
mod tables;
mod through_rows;
mod traffic;
mod trailing;
mod unrolled;
mod values;
mod wavefront;
mod wrapping;

use crate::rising::writes_rows;
use crate::tile_reduction::reduces_scalars;
use crate::tiling::trip_count;
use crate::{
    Event, LoopPath, Observer, Parallelize, Reason, Schedule, Step, TileIndirection, TileReduction,
};
pub use choice::Choice;
use flatten::Flattening;
pub use machine::Machine;
use nests::Nests;
use profit::may_be_long;
pub use saving::Saving;
use strew_affine::verify::Verified;
use strew_affine::visit::{self, Loop, has_computed_loops};
use strew_affine::{Access, AffineExpr, AffineFor, Expr, IterId, Kernel, Node, Subscript};
pub use traffic::Traffic;

/// What was decided about one loop, for explanations.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The step that was considered.
    pub step: Step,
    /// Why it was left out; `None` when it is in the schedule.
    pub refused: Option<Reason>,
}

/// Copies of a body with local arrays would each have arrays of their own to fill: that does not
/// pay.
fn has_local_arrays(body: &[Node]) -> bool {
    !visit::allocated_arrays(body).is_empty()
}

/// So many iterations fill the lanes of several vectors.
const LONG: u64 = 32;

/// A body of more statements than this has enough to do in one iteration.
const MOST_UNROLLED: usize = 8;

/// Into so many chunks go loops whose turns take who knows how long, so that threads that are done
/// take over from those that are not. Groups of them share private buffers.
const UNEVEN_CHUNKS: u64 = 8 * TileIndirection::CHUNKS;

/// A kernel with the schedule that was found for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Automatic {
    /// The kernel after the schedule.
    pub kernel: Verified,
    /// The steps that led to it.
    pub schedule: Schedule,
    /// How it came about, in order.
    pub decisions: Vec<Decision>,
}

/// Finds a schedule for `kernel` and applies it; `observer` sees every step that is tried, each
/// numbered as it would be in the schedule.
///
/// Flat arrays get the dimensions that their subscripts show. Loops over rows and their elements
/// become one first where rows may be short, and short loops
/// that keep others from running in lanes go away; what is at the borders of a loop where
/// conditions change comes apart, and loops over the elements of records go away, with the local
/// arrays that they index. Nests of which a part is worth tiling, or goes across memory in its
/// innermost loop, come apart. Each outermost `affine.for` that updates through an indirection and
/// can be tiled is tiled; of other nests the outermost loop runs at once that can, if need be in
/// another place, its iterations in tiles where they would fetch the same memory again and again,
/// or else the tiles on a diagonal do; short loops over small arrays go away, so that these stay in
/// registers; then loops around innermost ones are made together where they share elements or lines
/// of the cache, what all iterations of an innermost one update stays in a scalar, sums into
/// scalars go on beside those of other iterations, innermost loops over elements that follow each
/// other run in lanes, without the iterations in which a subscript wraps around, others of few
/// statements that update through an indirection are unrolled, and other loops of few turns inside
/// of a tiled one go away; loops that run at once and may have few iterations become one with the
/// loop inside.
///
/// The schedule may assume more of the parameters than `kernel` does.
pub fn auto(kernel: &Verified, machine: &Machine, observer: &mut dyn Observer) -> Automatic {
    Scheduler::of(kernel, true, observer).scheduled(machine)
}

/// The same with a schedule that assumes no more than `kernel` does.
pub fn auto_for_all(
    kernel: &Verified,
    machine: &Machine,
    observer: &mut dyn Observer,
) -> Automatic {
    Scheduler::of(kernel, false, observer).scheduled(machine)
}

struct Scheduler<'o> {
    /// With the schedule so far.
    found: Automatic,
    /// Whether steps may assume something of the parameters.
    may_assume: bool,
    observer: &'o mut dyn Observer,
}

impl<'o> Scheduler<'o> {
    fn of(kernel: &Verified, may_assume: bool, observer: &'o mut dyn Observer) -> Self {
        let found = Automatic {
            kernel: kernel.clone(),
            schedule: Schedule::new(),
            decisions: Vec::new(),
        };
        Self {
            found,
            may_assume,
            observer,
        }
    }

    fn scheduled(mut self, machine: &Machine) -> Automatic {
        self.give_dimensions();
        self.go_through_rows();
        let mut flattening = Flattening::default();
        while let Some(request) = flattening.before_lanes(&self.found.kernel) {
            self.consider(Step::Unroll(request));
        }
        self.read_tables();
        self.separate_borders();
        self.give_dimensions();
        // Where windows are gone, too.
        self.go_through_rows();
        self.flatten_records();
        self.compute_keys_first();
        self.part();
        self.walk_along();
        self.keep_flags();
        self.hand_on();
        let parted = self.found.kernel.clone();
        self.tile(&Nests::of(&parted), &parted.body, &Around::default());
        while let Some(request) = flattening.before_registers(&self.found.kernel) {
            self.consider(Step::Unroll(request));
        }
        self.use_outer_lanes();
        self.use_registers();
        self.sum_together();
        self.unwrap_ends();
        self.precompute();
        self.use_lanes();
        for (target, request) in unrolled::unrollable(&self.found.kernel, machine) {
            flattening.settle(target);
            self.consider(Step::Unroll(request));
        }
        while let Some(request) = flattening.next(&self.found.kernel) {
            self.consider(Step::Unroll(request));
        }
        self.collapse();
        self.found
    }
}

impl Scheduler<'_> {
    /// Tiles the outermost loops in `nodes` that can be: inside of a tiled loop there is nothing
    /// more to tile.
    fn tile<'k>(&mut self, nests: &Nests<'k>, nodes: &'k [Node], around: &Around<'k>) {
        for node in nodes {
            let is_tiled = match node {
                Node::AffineFor(it) => {
                    self.tile_inside_few(it, &around.and(node))
                        || self.tile_loop(it, &around.counted)
                        || self.nest(nests, it, (around.levels, &around.counted))
                }
                _ => matches!(node, Node::Forall(_)),
            };
            if !is_tiled {
                let around = around.and(node);
                for block in node.blocks() {
                    self.tile(nests, block, &around);
                }
            }
        }
    }

    /// Whether the only loop in `target`, which has too few iterations to be shared, could be
    /// tiled, and is now.
    fn tile_inside_few(&mut self, target: &AffineFor, inside: &Around<'_>) -> bool {
        let [Node::AffineFor(inner)] = target.body.as_slice() else {
            return false;
        };
        let has_few = |it| trips(it).is_some_and(|trips| trips < TileIndirection::CHUNKS);
        let is_meant = has_few(target) && !has_few(inner) && !visit::has_loops(&inner.body);
        is_meant
            && goes_through_indirection(&inner.body, is_update_or_store)
            && self.tile_loop(inner, &inside.counted)
    }

    /// Whether a loop could be tiled, and is now. To tile one that is only a sum, or never has much
    /// to do, pays where it does not start over and over again.
    fn tile_loop(&mut self, target: &AffineFor, around: &[Loop<'_>]) -> bool {
        let is_outermost = around.is_empty();
        if !is_outermost && !may_be_long(target, around) {
            return false;
        }
        let chunks = chunks_of(&target.body);
        let scatters = goes_through_indirection(&target.body, is_update_or_store)
            || writes_rows(&target.body, is_update) && !self.runs_at_once(target);
        let sums = (is_outermost || scatters) && reduces_scalars(target);
        let scattered = match scatters {
            true => self.tile_scattered(target, |path| {
                TileIndirection::new(path).chunks(chunks).into()
            }),
            false => Vec::new(),
        };
        let summed = match scattered.is_empty() && sums {
            true => self.tile_alone_or_collapsed(target, |path| {
                TileReduction::new(path).chunks(chunks).into()
            }),
            false => Vec::new(),
        };
        for path in &scattered {
            self.tell(Choice::Scattered {
                path: path.to_string(),
                chunks,
                is_uneven: chunks == UNEVEN_CHUNKS,
            });
        }
        for path in &summed {
            let path = path.to_string();
            self.tell(Choice::Sums { path });
        }
        !scattered.is_empty() || !summed.is_empty()
    }

    /// Whether its iterations are apart, or rows whose pointers a call looks at.
    fn runs_at_once(&self, target: &AffineFor) -> bool {
        let kernel = &self.found.kernel;
        let step = Step::from(Parallelize::new(path_to(kernel, target.iter)));
        step.apply(kernel).is_ok()
    }

    fn tell(&mut self, choice: Choice) {
        self.observer.observe(Event::Chosen { choice: &choice });
    }

    /// Takes `step` into the schedule if it is accepted, and says whether it was.
    fn consider(&mut self, step: Step) -> bool {
        self.consider_for(step, None)
    }

    /// The same for what it is expected to save.
    fn consider_for(&mut self, step: Step, saving: Option<Saving>) -> bool {
        let Automatic {
            kernel,
            schedule,
            decisions,
        } = &mut self.found;
        let refused = match step.apply_observed(schedule.steps().len(), kernel, self.observer) {
            Ok(after) => {
                *kernel = after;
                schedule.extend([step.clone()]);
                None
            }
            Err(reason) => {
                let choice = Choice::Declined {
                    step: step.clone(),
                    reason: reason.clone(),
                };
                self.observer.observe(Event::Chosen { choice: &choice });
                Some(reason)
            }
        };
        let is_taken = refused.is_none();
        let is_inside = !matches!(
            step,
            Step::TileIndirectionUsingForall(_) | Step::TileReductionUsingForall(_)
        );
        if is_taken && is_inside {
            let step = step.clone();
            let choice = Choice::Inside { step, saving };
            self.observer.observe(Event::Chosen { choice: &choice });
        }
        decisions.push(Decision { step, refused });
        is_taken
    }
}

/// Into how many chunks a loop with this body goes.
fn chunks_of(body: &[Node]) -> u64 {
    match has_computed_loops(body) {
        true => UNEVEN_CHUNKS,
        false => TileIndirection::CHUNKS,
    }
}

/// What is around a node.
#[derive(Clone, Debug, Default)]
struct Around<'k> {
    /// How many loops.
    levels: usize,
    /// Those that count their iterations.
    counted: Vec<Loop<'k>>,
}

impl<'k> Around<'k> {
    /// What is around the blocks of `node`, around which this is.
    fn and(&self, node: &'k Node) -> Self {
        let mut inside = self.clone();
        inside.levels += usize::from(matches!(node, Node::ScfWhile { .. }));
        if let Some(it) = Loop::of(node) {
            inside.levels += 1;
            inside.counted.push(it);
        }
        inside
    }
}

fn computed(access: &Access) -> impl Iterator<Item = &Expr> {
    access.subscripts.iter().filter_map(|it| match it {
        Subscript::Computed(expr) => Some(expr),
        Subscript::Affine(_) => None,
    })
}

/// The number of turns, where it is known.
fn trips(target: &AffineFor) -> Option<u64> {
    let trips = turns(target)?.as_constant()?;
    u64::try_from(trips.max(0)).ok()
}

/// The number of turns, if it is not negative, where no bound is one of several.
fn turns(target: &AffineFor) -> Option<AffineExpr> {
    let (lower, upper) = (target.lower.as_single()?, target.upper.as_single()?);
    trip_count(lower, upper, target.step).ok()
}

fn is_update(node: &Node) -> bool {
    matches!(node, Node::Reduce { .. })
}

/// An update, or an assignment, of which the last counts.
fn is_update_or_store(node: &Node) -> bool {
    is_update(node) || matches!(node, Node::Assign { .. })
}

/// Whether a statement of this kind writes an element that it finds by computing.
fn goes_through_indirection(body: &[Node], is_meant: fn(&Node) -> bool) -> bool {
    let is_computed = |subscript: &Subscript| matches!(subscript, Subscript::Computed(_));
    let mut found = false;
    visit::walk(body, &mut |node, _| {
        if is_meant(node) {
            found |= node
                .written_elements()
                .any(|access| access.subscripts.iter().any(is_computed));
        }
    });
    found
}

fn path_to(kernel: &Kernel, target: IterId) -> LoopPath {
    LoopPath::new([kernel.iters[target].name.clone()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{self, assert_same_meaning, kernel};

    #[test]
    fn windows_that_data_place_are_tiled_and_rows_run_at_once() {
        let kernel = |out: &str, end: &str| {
            format!(
                "kernel @k(n: i64, m: i64, at: i64[n + 1], to: i64[n + 1], out: f64[m], rows: f64[n, m]) {{
                   affine.for i in 0..n {{ scf.for k in at[i]..{end} {{ {out} reduce(add) 1.0 }} }}
                 }}"
            )
        };
        let tiled = "tile_indirection_using_forall(i, chunks = 64, strategy = auto)";
        schedules(&kernel("out[k]", "to[i]"), &[tiled, "vectorize(k, 4)"]);
        for own in [kernel("rows[i, k]", "to[i]"), kernel("out[k]", "at[i + 1]")] {
            let at_once = auto(&test_support::kernel(&own), &Machine::default(), &mut ());
            let first = at_once.schedule.steps()[0].to_string();
            assert_eq!(first, "parallelize(i)");
        }
    }

    #[test]
    fn loops_over_rows_go_into_many_chunks() {
        let source = "kernel @k(n: i64, e: i64, m: i64, row: i64[n + 1], to: i32[e], out: i64[m]) {
          affine.for v in 0..n {
            scf.for k in row[v]..row[v + 1] {
              out[to[k]] reduce(add) 1
            }
          }
        }";
        let tile = "tile_indirection_using_forall(v, chunks = 64, strategy = auto)";
        schedules(source, &[tile]);
    }

    #[track_caller]
    pub(in crate::auto) fn schedules(source: &str, expected: &[&str]) -> Vec<Decision> {
        let kernel = kernel(source);
        let found = auto(&kernel, &Machine::default(), &mut ());
        let steps = found.schedule.steps().iter();
        let steps: Vec<String> = steps.map(ToString::to_string).collect();
        assert_eq!(steps, expected);
        let applied = found.schedule.apply(&kernel, &mut ());
        assert_eq!(applied, Ok(found.kernel.clone()));
        assert_same_meaning(&kernel, &found.kernel);
        found.decisions
    }

    #[test]
    fn an_indirect_update_is_tiled_and_unrolled() {
        schedules(
            "kernel @k(n: i64, m: i64, seg: i32[n], out: i64[m]) {
               affine.for i in 0..n { out[seg[i]] reduce(add) 1 }
             }",
            &[
                "tile_indirection_using_forall(i, chunks = 8, strategy = auto)",
                "unroll(i, 4)",
            ],
        );
    }

    #[test]
    fn the_outermost_loop_that_can_be_is_tiled() {
        let decisions = schedules(
            "kernel @k(n: i64, m: i64, seg: i32[n], s: i64[n], out: i64[m]) {
               affine.for t in 0..3 {
                 s[0] = s[0] + t
                 affine.for i in 0..n { affine.for k in 0..2 { out[seg[i]] reduce(add) s[0] } }
               }
             }",
            &[
                "tile_indirection_using_forall(i, chunks = 8, strategy = auto)",
                "unroll(k, 2)",
            ],
        );
        let refused = decisions
            .first()
            .and_then(|decision| decision.refused.as_ref());
        assert_eq!(refused.map(Reason::name), Some("Carried"));
    }

    #[test]
    fn a_turn_of_an_unrolled_loop_has_as_many_updates_as_fit() {
        let updates = |count: usize| {
            let update = "out[seg[i]] reduce(add) 1\n";
            format!(
                "kernel @k(n: i64, m: i64, seg: i32[n], out: i64[m]) {{
                   affine.for i in 0..n {{ {} }}
                 }}",
                update.repeat(count)
            )
        };
        let tile = "tile_indirection_using_forall(i, chunks = 8, strategy = auto)";
        schedules(&updates(2), &[tile, "unroll(i, 2)"]);
        schedules(&updates(3), &[tile, "unroll(i, 2)"]);
        schedules(&updates(4), &[tile]);
    }

    #[test]
    fn what_is_read_by_keys_counts_as_updates_do() {
        for body in [
            "out[r[i]] reduce(add) x[c[i]]",
            "let a: i32 = r[i] let b: i32 = c[i] out[a] reduce(add) x[b]",
            "out[r[i]] reduce(add) x[c[i]] * x[r[i]]",
        ] {
            let source = format!(
                "kernel @k(n: i64, m: i64, r: i32[n], c: i32[n], x: f64[m], out: f64[m]) {{
                   affine.for i in 0..n {{ {body} }}
                 }}"
            );
            let tile = "tile_indirection_using_forall(i, chunks = 8, strategy = auto)";
            schedules(&source, &[tile, "unroll(i, 2)"]);
        }
    }

    #[test]
    fn what_cannot_run_at_once_is_unrolled_at_least() {
        schedules(
            "kernel @k(n: i64, m: i64, seg: i32[n], out: i64[m]) {
               affine.for i in 0..n { out[seg[i]] reduce(add) out[0] }
             }",
            &["unroll(i, 4)"],
        );
    }

    #[test]
    fn where_nothing_pays_nothing_is_done() {
        schedules("kernel @k(n: i64) { }", &[]);
        schedules(
            "kernel @k(n: i64, x: f64[n]) { affine.for i in 0..100 { x[i] = exp(x[i]) } }",
            &[],
        );
        schedules(
            "kernel @k(n: i64, x: f64[n]) { affine.for i in 1..n { x[i] = x[i - 1] * 0.5 } }",
            &["scalar_replace(x)"],
        );
    }
}
