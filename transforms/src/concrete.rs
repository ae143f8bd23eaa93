//! A kernel run at small sizes, with what it touches inside one loop written down.

use crate::steering::is_steered_by_unsettled_values;
use strew_affine::interpret::{self, Argument, Touched, Watch, interpret_watched};
use strew_affine::verify::{Verified, verify};
use strew_affine::visit::{AccessKind, walk};
use strew_affine::{
    Access, Combiner, Expr, Function, IterId, Kernel, Math, Node, Span, StdMath, Subscript,
};

/// One access to what is watched.
#[derive(Clone, Debug)]
pub(crate) struct Touch {
    pub(crate) kind: AccessKind,
    pub(crate) combiner: Option<Combiner>,
    pub(crate) span: Span,
    /// No subscripts for a scalar.
    pub(crate) cell: Vec<i64>,
    /// The loops around, outermost first, with their iterators' values.
    pub(crate) iteration: Vec<(IterId, i64)>,
    /// How often the loop that is looked at was entered before.
    pub(crate) entry: usize,
}

/// How many expressions all runs for one question may evaluate, about: an answer comes within
/// milliseconds.
const FUEL: u64 = 100_000;

/// Runs of a kernel, as many as they may cost together.
pub(crate) struct Runs {
    kernel: Verified,
    math: SettledMath,
    fuel: u64,
}

impl Runs {
    /// No runs yet. `kernel` is a verified one; of another there are none.
    pub(crate) fn of(kernel: &Kernel) -> Option<Self> {
        let any_value = 1.0;
        Some(Self {
            kernel: verify(kernel.clone()).ok()?,
            math: SettledMath {
                others: (!is_steered_by_unsettled_values(kernel)).then_some(any_value),
            },
            fuel: FUEL / largest_statement(kernel),
        })
    }

    /// The accesses to `watched` inside the loop over `target`, or anywhere, in the order of the
    /// run; nothing when it does not come to its end.
    pub(crate) fn touches(
        &mut self,
        mut arguments: Vec<Argument>,
        target: Option<IterId>,
        watched: Touched,
    ) -> Option<Vec<Touch>> {
        let mut log = Log {
            target,
            watched,
            entries: 0,
            touches: Vec::new(),
        };
        let Self { kernel, math, fuel } = self;
        let end = interpret_watched(kernel, &mut arguments, fuel, math, &mut log);
        end.ok().map(|_| log.touches)
    }
}

/// The number of expressions in the statement, or condition, that has most of them; at least one.
/// The interpreter counts statements.
fn largest_statement(kernel: &Kernel) -> u64 {
    let mut largest = 1;
    walk(&kernel.body, &mut |node, _| {
        largest = largest.max(size_of_node(node));
    });
    largest
}

fn size_of_node(node: &Node) -> u64 {
    let values: u64 = node.expressions().into_iter().map(size).sum();
    let places: u64 = node.written_elements().map(size_of_subscripts).sum();
    values + places
}

fn size(expr: &Expr) -> u64 {
    let inside: u64 = match expr {
        Expr::Load(access) => size_of_subscripts(access),
        _ => expr.operands().into_iter().map(size).sum(),
    };
    1 + inside
}

fn size_of_subscripts(access: &Access) -> u64 {
    let subscripts = access.subscripts.iter().map(|subscript| match subscript {
        Subscript::Affine(_) => 1,
        Subscript::Computed(expr) => size(expr),
    });
    subscripts.sum()
}

struct Log {
    target: Option<IterId>,
    watched: Touched,
    entries: usize,
    touches: Vec<Touch>,
}

impl Watch for Log {
    fn enter(&mut self, iter: IterId) {
        self.entries += usize::from(Some(iter) == self.target);
    }

    fn touch(&mut self, touch: interpret::Touch<'_>) {
        let mut around = touch.iteration.iter();
        let is_inside = |target| around.any(|(iter, _)| *iter == target);
        if touch.to == self.watched && self.target.is_none_or(is_inside) {
            self.touches.push(Touch {
                kind: touch.kind,
                combiner: touch.combiner.cloned(),
                span: touch.span,
                cell: touch.cell.to_vec(),
                iteration: touch.iteration.to_vec(),
                entry: self.entries,
            });
        }
    }
}

/// The functions whose values are the same everywhere. A run that shows something must not rest on
/// the last bits of the others.
struct SettledMath {
    /// What the others give: anything, where no access depends on it, and else nothing, so that the
    /// run ends there.
    others: Option<f32>,
}

impl Math for SettledMath {
    fn double(&self, function: Function, operands: &[f64]) -> Option<f64> {
        if function.is_settled() {
            StdMath.double(function, operands)
        } else {
            self.others.map(f64::from)
        }
    }

    fn single(&self, function: Function, operands: &[f32]) -> Option<f32> {
        if function.is_settled() {
            StdMath.single(function, operands)
        } else {
            self.others
        }
    }
}
