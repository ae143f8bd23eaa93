//! `scf.while` loops, which become `affine.for` or `scf.for` where they count.

use super::counted::{Bounds, Counted, Induction};
use super::final_value::{closed_form, closed_value, in_type};
use super::written::Written;
use super::{LoopSource, Raising, liveness};
use crate::lower::affine_value::Affine;
use crate::lower::interval::Interval;
use crate::lower::value::{self, Known, Typed};
use crate::problem::{ControlFlowProblem, Uncounted};
use crate::{LoopVariable, Pragma};
use strew_affine::visit;
use strew_affine::{
    AffineExpr, AffineFor, BinaryOp, Bound, Expr, Iter, IterId, LocalId, Node, Place, ScfFor, Span,
    Type, Value,
};

impl<'k> Raising<'k> {
    pub(super) fn while_loop(
        &mut self,
        condition: &'k Expr,
        nodes: &'k [Node],
        span: Span,
        raised: &mut Vec<Node>,
    ) {
        let (source, body) = self.source_of(nodes);
        let at_end = self.tested_at_end(condition, body);
        let written = Written::of(body);
        let tested = at_end
            .as_ref()
            .map_or((condition, body), |it| (it.condition, it.body));
        let inductions = self.inductions(tested.1, &written);
        let mut last = Vec::new();
        let outside = self.context.mark();
        let counted = match &at_end {
            Some(it) => self.counted_at_end(it, &inductions, &written),
            None => self.counted(condition, &inductions, &written),
        };
        match counted {
            Ok(counted) => {
                self.name(&counted, source, span);
                self.variables.push(self.variable_of(&counted, &inductions));
                last = self.counted_loop(tested, counted, &inductions, raised);
            }
            Err(why) => {
                self.refuse_pragmas(source, why);
                let condition_value = self.value(condition).condition().expr;
                let condition_value = self.with_kept(condition_value, &written, span, raised);
                let body = self.block(body, Some(condition), &[]);
                raised.push(Node::ScfWhile {
                    condition: condition_value,
                    body: body.into(),
                    span,
                });
            }
        }
        self.context.return_to(outside);
        self.facts.forget(written.locals());
        for (local, known) in last {
            let ty = self.kernel.locals[local].ty;
            let expr = Expr::Local(local);
            self.facts.set(local, Some(Typed { expr, ty, known }));
        }
    }

    /// What the source says about the loop, and the body without the local that says which loop it
    /// is.
    fn source_of(&self, nodes: &'k [Node]) -> (Option<&'k LoopSource>, &'k [Node]) {
        if let [Node::Declare { local, .. }, body @ ..] = nodes
            && let Some(source) = self.sources.get(local)
        {
            return (Some(source), body);
        }
        (None, nodes)
    }

    /// An iterator that no loop has yet.
    pub(super) fn spare_iter(&mut self) -> IterId {
        if let Some(iter) = self.spare {
            return iter;
        }
        let name = String::new();
        let span = Span::default();
        let iter = self.kernel.iters.alloc(Iter {
            name,
            labels: Vec::new(),
            span,
        });
        self.spare = Some(iter);
        iter
    }

    fn variable_of(&self, counted: &Counted, inductions: &[Induction]) -> LoopVariable {
        let variable = &self.kernel.locals[counted.variable];
        let mut inductions = inductions.iter();
        let induction = inductions.find(|it| it.local == counted.variable);
        LoopVariable {
            iter: counted.iter,
            name: variable.name.clone(),
            ty: variable.ty,
            value: induction.and_then(|it| value_in_turn(counted, it)),
        }
    }

    fn name(&mut self, counted: &Counted, source: Option<&LoopSource>, span: Span) {
        self.spare = None;
        let iter = counted.iter;
        let written = &self.kernel.locals[counted.variable].name;
        self.kernel.iters[iter] = Iter {
            name: match counted.is_itself {
                true => written.clone(),
                false => format!("{written}_turn"),
            },
            labels: source.map_or(Vec::new(), |it| it.labels.clone()),
            span,
        };
        let Some(source) = source else { return };
        for pragma in &source.pragmas {
            self.pragmas.push(Pragma {
                loop_iter: iter,
                text: pragma.text.clone(),
                span: pragma.span,
            });
        }
    }

    /// Without assumptions fewer loops count, and what can be said about a pragma has been said
    /// with them.
    fn refuse_pragmas(&mut self, source: Option<&LoopSource>, why: Uncounted) {
        let Some(source) = source.filter(|_| self.assumptions.are_allowed()) else {
            return;
        };
        let why = if source.is_left { Uncounted::Left } else { why };
        for pragma in &source.pragmas {
            let problem = ControlFlowProblem::PragmaOnUncountedLoop { why };
            self.diagnostics.report(problem, pragma.span);
        }
    }

    /// What is known of the variables that the loop leaves at their last values.
    fn counted_loop(
        &mut self,
        (condition, body): (&'k Expr, &'k [Node]),
        mut counted: Counted,
        inductions: &[Induction],
        raised: &mut Vec<Node>,
    ) -> Vec<(LocalId, Known)> {
        let live: Vec<&Induction> = inductions
            .iter()
            .filter(|it| self.is_live_after(it.local, condition, body))
            .collect();
        if inductions.len() == 1 && live.is_empty() && counted.is_itself {
            self.start_with_value_before(&mut counted, raised);
        }
        if let Some((local, value)) = counted.named.take() {
            raised.push(Node::Declare { local, value });
        }
        let outside = self.context.mark();
        let (least, greatest) = (counted.least.clone(), counted.greatest.clone());
        self.context
            .enter(counted.iter, counted.range, least, greatest);
        self.enter_inductions(&counted, inductions);
        let nodes = self.block(body, Some(condition), inductions);
        self.context.return_to(outside);
        let finals = self.final_values(&live, &counted);
        raised.push(loop_over(counted, nodes));
        let mut last = Vec::new();
        for (local, value, known) in finals {
            raised.push(Node::Assign {
                place: Place::Local(local),
                value,
                span: self.kernel.locals[local].span,
            });
            last.extend(known.map(|known| (local, known)));
        }
        last
    }

    /// Where nothing but the loop reads its variable, the loop computes the first value itself.
    fn start_with_value_before(&self, counted: &mut Counted, raised: &mut Vec<Node>) {
        let ty = self.kernel.locals[counted.variable].ty;
        if let Bounds::Computed { lower, .. } = &mut counted.bounds
            && let Some(first) = take_first(counted.variable, ty, raised)
        {
            *lower = Typed::any(first, ty).convert(Type::I64).expr;
        }
    }

    /// The values of `live` behind the loop, and what is known of them.
    fn final_values(
        &self,
        live: &[&Induction],
        counted: &Counted,
    ) -> Vec<(LocalId, Expr, Option<Known>)> {
        let runs = self.runs(counted);
        let last = live.iter().map(|it| {
            let last = closed_value(it, counted.turns(runs));
            (it.local, last, self.known_after(it, counted, runs))
        });
        last.collect()
    }

    /// Whether the upper bound is never a whole step or more below the lower one: then the
    /// distance, divided by the step and rounded up, is the number of turns.
    fn runs(&self, counted: &Counted) -> bool {
        let Bounds::Affine { lower, upper } = &counted.bounds else {
            return false;
        };
        let not_negative = Interval::new(0, i128::MAX);
        lower.iter().all(|lower| {
            upper.iter().all(|upper| {
                let length = upper
                    .offset(counted.step - 1)
                    .and_then(|it| it.minus(lower));
                length.is_ok_and(|it| {
                    let needed = self.context.requirements(&it, not_negative);
                    needed.is_some_and(|it| it.is_empty())
                })
            })
        })
    }

    fn known_after(&self, it: &Induction, counted: &Counted, runs: bool) -> Option<Known> {
        let turns = counted.affine_turns().filter(|_| runs)?;
        let form = closed_form(it, &turns, 1)?;
        Some(Known {
            range: Interval::of(it.ty),
            affine: Some(Affine::congruent(form)),
            ..Known::default()
        })
    }

    /// Whether the value that the loop leaves in `local` is read. What only the loop reads is not,
    /// unless the loop runs again.
    fn is_live_after(&self, local: LocalId, condition: &Expr, body: &[Node]) -> bool {
        let mut inside = liveness::count_reads(body).remove(&local).unwrap_or(0);
        visit::for_each_local(condition, &mut |it| inside += usize::from(it == local));
        let all = self.reads.get(&local).copied().unwrap_or(0);
        let runs_again = self.following.iter().any(liveness::Following::repeats);
        (all > inside || runs_again) && liveness::is_live(local, &self.following, self.result)
    }

    /// The induction variables as functions of the iterator, until they are updated.
    fn enter_inductions(&mut self, counted: &Counted, inductions: &[Induction]) {
        for it in inductions {
            let value = if it.local == counted.variable {
                let iter = in_type(Expr::Iter(counted.iter), it.ty);
                Typed {
                    expr: if counted.is_itself {
                        iter
                    } else {
                        closed_value(it, Expr::Iter(counted.iter))
                    },
                    ty: it.ty,
                    known: counted.value.clone(),
                }
            } else {
                let distance = counted.affine_distance();
                let form = distance.and_then(|(distance, step)| closed_form(it, &distance, step));
                let mut value = Typed::any(closed_value(it, counted.turn()), it.ty);
                value.known.affine = form.map(Affine::congruent);
                value
            };
            self.facts.set(it.local, Some(value));
        }
    }

    pub(super) fn update(&mut self, it: &Induction) {
        let Some(before) = self.facts.now.get(&it.local).cloned() else {
            return;
        };
        let step = match it.constant_step() {
            Some(step) => Typed::constant(Value::integer(it.ty, step.into())),
            None => it.step.clone(),
        };
        let ranges = &self.context.ranges;
        let span = Span::default();
        // An unsigned step down is a subtraction.
        let after = match it.constant_step() {
            Some(down) if down < 0 && down > i64::MIN => {
                let by = Typed::constant(Value::integer(it.ty, (-down).into()));
                value::arithmetic(BinaryOp::Sub, before, by, span, ranges)
            }
            _ => value::arithmetic(BinaryOp::Add, before, step, span, ranges),
        };
        self.facts.set(it.local, Some(after.convert(it.ty)));
    }
}

/// The value that the variable has in a turn: where that begins with the step, the one behind it.
fn value_in_turn(counted: &Counted, variable: &Induction) -> Option<AffineExpr> {
    let (distance, step) = counted.affine_distance()?;
    let value = closed_form(variable, &distance, step)?;
    match variable.position {
        0 => value.plus(&variable.form).ok(),
        _ => Some(value),
    }
}

fn loop_over(counted: Counted, body: Vec<Node>) -> Node {
    let Counted { iter, step, .. } = counted;
    match counted.bounds {
        Bounds::Affine { lower, upper } => Node::AffineFor(AffineFor {
            iter,
            lower: Bound(lower),
            upper: Bound(upper),
            step,
            lanes: 1,
            body: body.into(),
        }),
        Bounds::Computed { lower, upper } => Node::ScfFor(ScfFor {
            iter,
            lower,
            upper,
            step,
            lanes: 1,
            body: body.into(),
        }),
    }
}

/// The value that the last node gives `variable`, taken out of it: the loop that follows computes
/// it instead.
fn take_first(variable: LocalId, ty: Type, raised: &mut Vec<Node>) -> Option<Expr> {
    match raised.last_mut()? {
        Node::Declare { local, value } if *local == variable => {
            let zero = match value {
                Expr::Constant(_) => return Some(value.clone()),
                _ => Expr::Constant(Value::zero(ty)),
            };
            Some(std::mem::replace(value, zero))
        }
        Node::Assign {
            place: Place::Local(local),
            ..
        } if *local == variable => match raised.pop()? {
            Node::Assign { value, .. } => Some(value),
            _ => None,
        },
        _ => None,
    }
}
