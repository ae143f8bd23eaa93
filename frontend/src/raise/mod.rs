//! From machine integers to affine loops, subscripts and conditions.
//!
//! The lowering of C computes everything as C does, in variables and `scf.while` loops. Here it is
//! found out which loops count, what their bounds are, which variables are functions of the
//! iterators, and which subscripts and conditions are affine. It happens on the kernel and not on
//! the source, so that a `for`, a `while`, a pointer that moves and an inlined function are all the
//! same, and so that it can be checked: kernels before and after compute the same.
//!
//! Each fact rests on one of these:
//! * congruence: [`Affine`](crate::lower::affine_value::Affine) says what wrapping leaves of an
//!   affine form;
//! * elimination: [`context`] says when an affine expression stays within a type;
//! * induction on the turns of a loop: [`counted`];
//! * a variable keeps its value until it is written: here, where a value is forgotten wherever
//!   paths join that wrote it.
//!
//! What does not hold for all parameters but for all that anybody means is *assumed*: it becomes a
//! condition of the kernel, checked when it is called, and whoever calls it has the kernel made
//! without assumptions as the way out.

mod assume;
mod at_end;
mod branch;
mod context;
mod counted;
mod evaluate;
mod final_value;
mod kept;
mod liveness;
mod loops;
mod terms;
mod written;

pub(crate) use final_value::computed;

use crate::ast::PragmaText;
use crate::diagnostic::Diagnostics;
use crate::lower::interval::Ranges;
use crate::lower::value::{self, Typed};
use crate::recognize;
use crate::{LoopVariable, Lowered, Pragma};
use assume::Assumptions;
use context::Context;
use counted::Induction;
use liveness::Following;
use std::collections::HashMap;
use strew_affine::visit;
use strew_affine::{BinaryOp, Expr, IterId, Kernel, LocalId, Node, Place, Span, Type};

/// What the source says about a loop.
#[derive(Clone, Debug)]
pub(crate) struct LoopSource {
    /// Whether a `break` or `return` leaves it.
    pub(crate) is_left: bool,
    pub(crate) pragmas: Vec<PragmaText>,
    pub(crate) labels: Vec<String>,
}

/// The loops of the source, by the local that the body of each declares first and nothing reads: it
/// moves with the body.
pub(crate) type LoopSources = HashMap<LocalId, LoopSource>;

/// Raises `kernel`, made by the lowering. With `assumes` it may come with assumptions.
pub(crate) fn raise(
    mut kernel: Kernel,
    parameters: Ranges,
    sources: &LoopSources,
    assumes: bool,
    diagnostics: &mut Diagnostics,
) -> Lowered {
    let before = std::mem::take(&mut kernel.body);
    let result = kernel.result.take();
    let mut reads = liveness::count_reads(&before);
    if let Some(result) = &result {
        visit::for_each_local(result, &mut |it| *reads.entry(it).or_default() += 1);
    }
    let mut raising = Raising {
        kernel,
        context: Context::new(parameters),
        facts: Facts::default(),
        assumptions: Assumptions::new(assumes),
        reads,
        following: Vec::new(),
        result: result.as_ref(),
        sources,
        spare: None,
        pragmas: Vec::new(),
        variables: Vec::new(),
        diagnostics,
    };
    let after = raising.block(&before, None, &[]);
    raising.kernel.body = after.into();
    raising.kernel.result = result.as_ref().map(|it| raising.value(it).expr);
    raising.drop_spare();
    raising.kernel.assumptions = raising.assumptions.conditions();
    Lowered {
        kernel: raising.kernel,
        pragmas: raising.pragmas,
        variables: raising.variables,
    }
}

struct Raising<'k> {
    kernel: Kernel,
    context: Context,
    facts: Facts,
    assumptions: Assumptions,
    /// How often each local is read.
    reads: HashMap<LocalId, usize>,
    /// What runs after the current node, the innermost block last.
    following: Vec<Following<'k>>,
    /// What is evaluated after everything.
    result: Option<&'k Expr>,
    sources: &'k LoopSources,
    /// An iterator that was made for a loop which does not count.
    spare: Option<IterId>,
    pragmas: Vec<Pragma>,
    variables: Vec<LoopVariable>,
    diagnostics: &'k mut Diagnostics,
}

/// What is known of the values of locals, with the changes so far.
#[derive(Debug, Default)]
struct Facts {
    now: HashMap<LocalId, Typed>,
    changes: Vec<(LocalId, Option<Typed>)>,
}

impl Facts {
    fn set(&mut self, local: LocalId, value: Option<Typed>) {
        let before = match value {
            Some(value) => self.now.insert(local, value),
            None => self.now.remove(&local),
        };
        self.changes.push((local, before));
    }

    fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Undoes the changes since `mark`; the locals that were changed.
    fn undo(&mut self, mark: usize) -> Vec<LocalId> {
        let mut changed = Vec::new();
        while self.changes.len() > mark
            && let Some((local, before)) = self.changes.pop()
        {
            match before {
                Some(value) => self.now.insert(local, value),
                None => self.now.remove(&local),
            };
            changed.push(local);
        }
        changed
    }

    fn forget(&mut self, locals: impl IntoIterator<Item = LocalId>) {
        for local in locals {
            self.set(local, None);
        }
    }
}

impl<'k> Raising<'k> {
    fn drop_spare(&mut self) {
        if self.spare.is_some() {
            let iters = std::mem::take(&mut self.kernel.iters);
            let used = iters.len().saturating_sub(1);
            self.kernel.iters = iters.values().take(used).cloned().collect();
        }
    }

    /// The nodes of a block; `repeats` is the condition of the loop whose body it is, `inductions`
    /// the variables whose updates are not wanted.
    fn block(
        &mut self,
        nodes: &'k [Node],
        repeats: Option<&'k Expr>,
        inductions: &[Induction],
    ) -> Vec<Node> {
        let mut raised = Vec::with_capacity(nodes.len());
        self.following.push(Following::new(nodes, repeats));
        for (position, node) in nodes.iter().enumerate() {
            if let Some(following) = self.following.last_mut() {
                following.rest = nodes.get(position + 1..).unwrap_or_default();
            }
            match inductions.iter().find(|it| it.position == position) {
                Some(induction) => self.update(induction),
                None => self.node(node, &mut raised),
            }
        }
        self.following.pop();
        raised
    }

    fn node(&mut self, node: &'k Node, raised: &mut Vec<Node>) {
        match node {
            Node::Declare { local, value } => {
                let value = self.value(value);
                self.learn(*local, &value);
                let (local, value) = (*local, value.expr);
                raised.push(Node::Declare { local, value });
            }
            Node::Assign { place, value, span } => {
                let value = self.value(value);
                let written = self.place(place);
                if let Place::Local(local) = place {
                    self.learn(*local, &value);
                }
                let reduced = recognize::scattered(&self.kernel, &written, &value.expr, *span);
                raised.push(reduced.unwrap_or(Node::Assign {
                    place: written,
                    value: value.expr,
                    span: *span,
                }));
            }
            Node::Reduce {
                places,
                combiner,
                values,
                span,
            } => {
                let values: Vec<Typed> = values.iter().map(|it| self.value(it)).collect();
                let written = places.iter().map(|it| self.place(it)).collect();
                for (place, value) in places.iter().zip(&values) {
                    if let Place::Local(local) = place {
                        let is_sum = combiner.name() == "add";
                        let sum = is_sum.then(|| self.sum(*local, value, *span)).flatten();
                        self.facts.set(*local, sum);
                    }
                }
                raised.push(Node::Reduce {
                    places: written,
                    combiner: combiner.clone(),
                    values: values.into_iter().map(|it| it.expr).collect(),
                    span: *span,
                });
            }
            Node::ScfIf {
                condition,
                then,
                otherwise,
                span,
            } => self.branch((condition, *span), then, otherwise, raised),
            Node::ScfWhile {
                condition,
                body,
                span,
            } => self.while_loop(condition, body, *span, raised),
            // The lowering makes none of these; what they write is forgotten.
            Node::AffineIf { .. }
            | Node::AffineFor(_)
            | Node::Forall(_)
            | Node::ScfFor(_)
            | Node::Alloc { .. } => {
                let written = written::Written::of(std::slice::from_ref(node));
                self.facts.forget(written.locals());
                raised.push(node.clone());
            }
        }
    }

    /// `local` has the value `value` from here on.
    fn learn(&mut self, local: LocalId, value: &Typed) {
        let ty = self.kernel.locals[local].ty;
        let is_known = !ty.is_float() && value.ty == ty;
        let mut fact = is_known.then(|| value.clone());
        if let Some(fact) = &mut fact
            && !self.is_substituted(local, &fact.expr)
        {
            fact.expr = Expr::Local(local);
        }
        self.facts.set(local, fact);
    }

    /// A variable that is read through its value needs no storage; a `let` keeps its name unless it
    /// is a constant.
    fn is_substituted(&self, local: LocalId, value: &Expr) -> bool {
        match value {
            // What tells whether a jump happened is set again somewhere else.
            _ if self.kernel.locals[local].ty == Type::Bool => false,
            Expr::Constant(_) => true,
            other => self.kernel.locals[local].mutable && self.is_lasting(other),
        }
    }

    /// What `local` is when `value` is added to it.
    fn sum(&self, local: LocalId, value: &Typed, span: Span) -> Option<Typed> {
        let ty = self.kernel.locals[local].ty;
        let held = self.facts.now.get(&local).filter(|_| ty.is_integer())?;
        let ranges = &self.context.ranges;
        let sum = value::arithmetic(BinaryOp::Add, held.clone(), value.clone(), span, ranges);
        let mut sum = sum.convert(ty);
        if !self.is_substituted(local, &sum.expr) {
            sum.expr = Expr::Local(local);
        }
        Some(sum)
    }
}
