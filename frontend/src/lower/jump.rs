//! `break`, `continue` and `return`, in a kernel that has no jumps.
//!
//! What follows a statement that may jump moves to where the jump does not happen: of
//! `if (c) continue; rest`, the rest becomes the other branch. Nothing follows the jump then, so
//! that it needs no code at all. Only where both branches of an `if` go on in some way, or a loop
//! may be left, a variable says whether the jump happened, and the rest runs under a condition on
//! it.
//!
//! Names are resolved before, so that a statement means the same in whatever block it ends up.

use super::Lowering;
use super::value::{self, Typed};
use crate::ast::{Expr, Statement, StatementKind};
use crate::flow::Flow;
use crate::problem::{ControlFlowProblem, SyntaxProblem};
use crate::types::Returned;
use strew_affine::verify::MAX_NESTING;
use strew_affine::{Expr as Computation, LocalId, Node, Span, Type, Value};

/// A variable that says whether a jump happened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flag {
    /// Made when something first asks for it.
    pub(super) local: Option<LocalId>,
    /// Whether something that follows will ask.
    is_awaited: bool,
}

impl Flag {
    /// What a jump has to set.
    fn awaited(self) -> Option<LocalId> {
        self.local.filter(|_| self.is_awaited)
    }

    /// The declaration, if anything ever asked.
    pub(super) fn declared(self) -> Option<Node> {
        let value = Computation::Constant(Value::bool(false));
        self.local.map(|local| Node::Declare { local, value })
    }
}

/// Where a `break` or `continue` can go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// A loop.
    Loop {
        /// Says whether there is another turn; every loop that can be left has it.
        again: Option<LocalId>,
        /// Says whether the rest of the turn is left out.
        skip: Flag,
    },
    /// A `switch`.
    Switch {
        /// Says whether the rest of it is left out.
        left: Flag,
    },
}

/// What a `return` does.
#[derive(Clone, Debug)]
pub(super) struct Exit {
    /// What the function returns.
    pub(super) returned: Returned,
    /// Hold what is returned: one variable, or one for each number of a structure.
    pub(super) results: Vec<LocalId>,
    /// Says whether the rest of the function is left out.
    pub(super) done: Flag,
}

/// Statements that follow each other, and what follows them.
struct Rest<'r> {
    statements: &'r [Statement],
    after: Option<&'r Rest<'r>>,
}

impl Rest<'_> {
    fn first(&self) -> Option<&Statement> {
        let here = self.statements.iter().find(|it| it.is_code());
        here.or_else(|| self.after?.first())
    }
}

impl Statement {
    /// Whether it matters that it is never reached.
    fn is_code(&self) -> bool {
        !matches!(
            self.kind,
            StatementKind::Empty | StatementKind::Break | StatementKind::Invalid
        )
    }
}

impl Lowering<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement], body: &mut Vec<Node>) {
        let after = None;
        self.sequence(&Rest { statements, after }, body);
    }

    fn sequence(&mut self, rest: &Rest<'_>, body: &mut Vec<Node>) {
        for (position, statement) in rest.statements.iter().enumerate() {
            if !statement.flow.jumps() {
                self.statement(statement, body);
                continue;
            }
            let following = rest.statements.get(position + 1..);
            let following = Rest {
                statements: following.unwrap_or_default(),
                after: rest.after,
            };
            return self.jumping(statement, &following, body);
        }
        if let Some(after) = rest.after {
            self.sequence(after, body);
        }
    }

    /// A statement that may jump, and what follows it.
    fn jumping(&mut self, statement: &Statement, following: &Rest<'_>, body: &mut Vec<Node>) {
        let flow = statement.flow;
        match &statement.kind {
            StatementKind::Block(statements) => {
                self.check_prefixes(statement);
                let after = Some(following);
                self.sequence(&Rest { statements, after }, body);
            }
            StatementKind::If {
                condition,
                then,
                otherwise,
            } if following.first().is_some()
                && flow.completes
                && !(then.flow.completes
                    && otherwise.as_ref().is_none_or(|it| it.flow.completes)) =>
            {
                self.check_prefixes(statement);
                self.absorbing(condition, then, otherwise.as_deref(), following, body);
            }
            _ if following.first().is_none() => self.statement(statement, body),
            _ if !flow.completes => {
                self.statement(statement, body);
                self.unreachable(following);
            }
            _ => {
                let before = self.await_flags(flow);
                self.statement(statement, body);
                self.restore_flags(before);
                let goes_on = self.goes_on(flow);
                let rest = self.nested(statement.span, |it, rest| it.sequence(following, rest));
                let node = self.when((goes_on, statement.span), rest, Vec::new());
                body.push(node);
            }
        }
    }

    /// An `if` one of whose branches never completes: what follows belongs to the other.
    fn absorbing(
        &mut self,
        tree: &Expr,
        then: &Statement,
        otherwise: Option<&Statement>,
        following: &Rest<'_>,
        body: &mut Vec<Node>,
    ) {
        let condition = self.condition(tree, body);
        let mut branch = |statement: Option<&Statement>| {
            let completes = statement.is_none_or(|it| it.flow.completes);
            let rest = Rest {
                statements: statement.map(std::slice::from_ref).unwrap_or_default(),
                after: completes.then_some(following),
            };
            let span = statement.or(following.first()).map(|it| it.span);
            self.nested(span.unwrap_or_default(), |it, block| {
                it.sequence(&rest, block)
            })
        };
        let (then, otherwise) = (branch(Some(then)), branch(otherwise));
        if let Some(condition) = condition {
            let node = self.when((condition, tree.span), then, otherwise);
            body.push(node);
        }
    }

    /// Looks for mistakes in what is never reached.
    fn unreachable(&mut self, following: &Rest<'_>) {
        if let Some(first) = following.first() {
            self.diagnostics
                .report(ControlFlowProblem::Unreachable, first.span);
        }
        self.nested(Span::default(), |it, nothing| {
            it.sequence(following, nothing);
        });
    }

    /// What `walk` appends to a block inside of the present one.
    pub(super) fn nested(
        &mut self,
        span: Span,
        walk: impl FnOnce(&mut Self, &mut Vec<Node>),
    ) -> Vec<Node> {
        let mut block = Vec::new();
        if self.nesting >= MAX_NESTING {
            let limit = MAX_NESTING;
            let problem = SyntaxProblem::NestingTooDeep { limit };
            self.diagnostics.report(problem, span);
            return block;
        }
        self.nesting += 1;
        walk(self, &mut block);
        self.nesting -= 1;
        block
    }

    /// The statement as a block of its own.
    pub(super) fn block(&mut self, statement: &Statement) -> Vec<Node> {
        self.nested(statement.span, |it, block| {
            it.statements(std::slice::from_ref(statement), block);
        })
    }

    /// The body of a loop. `again` says whether there is another turn; a loop that can be left has
    /// it.
    pub(super) fn turn(
        &mut self,
        statements: &[Statement],
        span: Span,
        again: Option<LocalId>,
    ) -> Vec<Node> {
        let skip = Flag::default();
        self.active.targets.push(Target::Loop { again, skip });
        let mut turn = self.nested(span, |it, block| it.statements(statements, block));
        if let Some(Target::Loop { skip, .. }) = self.active.targets.pop() {
            turn.splice(0..0, skip.declared());
        }
        turn
    }

    /// Sees to it that the jumps of `flow` leave traces; gives back what was to leave some before.
    pub(super) fn await_flags(&mut self, flow: Flow) -> (Vec<Target>, Flag) {
        let before = (self.active.targets.clone(), self.active.exit.done);
        let is_looping = self.innermost_loop().is_some();
        if flow.continues
            && let Some(Target::Loop { again, skip }) = self.innermost_loop()
        {
            let skip = self.awaited("skip", skip);
            self.set_innermost_loop(Target::Loop { again, skip });
        }
        if flow.breaks
            && let Some(Target::Switch { left }) = self.active.targets.last().copied()
        {
            let left = self.awaited("left", left);
            self.active.targets.pop();
            self.active.targets.push(Target::Switch { left });
        }
        if flow.returns && !is_looping {
            self.active.exit.done = self.awaited("done", self.active.exit.done);
        }
        before
    }

    /// What follows has been reached: jumps from there on leave only the traces that were to be
    /// left before.
    pub(super) fn restore_flags(&mut self, (targets, done): (Vec<Target>, Flag)) {
        for (now, before) in self.active.targets.iter_mut().zip(targets) {
            match (now, before) {
                (Target::Loop { skip: now, .. }, Target::Loop { skip: before, .. })
                | (Target::Switch { left: now }, Target::Switch { left: before }) => {
                    now.is_awaited = before.is_awaited;
                }
                _ => {}
            }
        }
        self.active.exit.done.is_awaited = done.is_awaited;
    }

    fn awaited(&mut self, name: &str, flag: Flag) -> Flag {
        let no = Typed::constant(Value::bool(false));
        let local = flag.local;
        let local = local.unwrap_or_else(|| self.unnamed(name, true, no, Span::default()).0);
        Flag {
            local: Some(local),
            is_awaited: true,
        }
    }

    fn innermost_loop(&self) -> Option<Target> {
        let mut targets = self.active.targets.iter().rev();
        targets
            .find(|it| matches!(it, Target::Loop { .. }))
            .copied()
    }

    fn set_innermost_loop(&mut self, target: Target) {
        let mut targets = self.active.targets.iter_mut().rev();
        if let Some(slot) = targets.find(|it| matches!(it, Target::Loop { .. })) {
            *slot = target;
        }
    }

    /// Whether none of the jumps of `flow` happened.
    pub(super) fn goes_on(&self, flow: Flow) -> Typed {
        let mut flags: Vec<(LocalId, bool)> = Vec::new();
        let mut add = |flag: Option<LocalId>, expected| {
            if let Some(flag) = flag
                && !flags.contains(&(flag, expected))
            {
                flags.push((flag, expected));
            }
        };
        if flow.breaks {
            match self.active.targets.last() {
                Some(Target::Loop { again, .. }) => add(*again, true),
                Some(Target::Switch { left }) => add(left.local, false),
                None => {}
            }
        }
        match self.innermost_loop() {
            Some(Target::Loop { again, skip }) => {
                add(again.filter(|_| flow.returns), true);
                add(skip.local.filter(|_| flow.continues), false);
            }
            _ => add(self.active.exit.done.local.filter(|_| flow.returns), false),
        }
        let conditions = flags.into_iter().map(|(flag, expected)| {
            let flag = Typed::any(Computation::Local(flag), Type::Bool);
            if expected { flag } else { value::not(flag) }
        });
        let all = conditions.reduce(value::and);
        all.unwrap_or_else(|| Typed::constant(Value::bool(true)))
    }

    /// `break`, or `continue`.
    pub(super) fn jump(&mut self, is_break: bool, span: Span, body: &mut Vec<Node>) {
        let target = if is_break {
            self.active.targets.last().copied()
        } else {
            self.innermost_loop()
        };
        let (flag, value) = match target {
            None => {
                let word = if is_break { "break" } else { "continue" };
                return self
                    .diagnostics
                    .report(ControlFlowProblem::JumpNowhere(word), span);
            }
            Some(Target::Loop { again, .. }) if is_break => (again, false),
            Some(Target::Loop { skip, .. }) => (skip.awaited(), true),
            Some(Target::Switch { left }) => (left.awaited(), true),
        };
        self.raise(flag, value, span, body);
    }

    fn raise(&self, flag: Option<LocalId>, value: bool, span: Span, body: &mut Vec<Node>) {
        let value = Computation::Constant(Value::bool(value));
        body.extend(flag.map(|flag| self.set(flag, value, span)));
    }

    /// `return value;`
    pub(super) fn return_from(&mut self, value: Option<&Expr>, span: Span, body: &mut Vec<Node>) {
        let values = self.returned(value, span, body).unwrap_or_default();
        let exit = self.active.exit.clone();
        let mut values: Vec<_> = values.into_iter().map(|it| (it, span)).collect();
        if values.len() > 1 {
            // A structure may be made of what the function returned before, in another order.
            for (value, span) in &mut values {
                *value = self.kept(value.clone(), *span, body);
            }
        }
        for (result, (value, _)) in exit.results.iter().zip(values) {
            body.push(self.set(*result, value.expr, span));
        }
        for target in self.active.targets.clone() {
            if let Target::Loop { again, .. } = target {
                self.raise(again, false, span, body);
            }
        }
        self.raise(exit.done.awaited(), true, span, body);
    }

    /// What is returned, in the type that the function returns: the numbers of a structure, one
    /// value of anything else.
    pub(super) fn returned(
        &mut self,
        value: Option<&Expr>,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        match (value, self.active.exit.returned.clone()) {
            (None, Returned::Nothing | Returned::Invalid) => None,
            (None, Returned::Value(_) | Returned::Structure(_)) => {
                self.diagnostics
                    .report(ControlFlowProblem::ReturnWithoutValue, span);
                None
            }
            (Some(value), Returned::Nothing) => {
                let problem = ControlFlowProblem::ReturnFromVoid;
                self.diagnostics.report(problem, value.span);
                self.expression(value, body).map(|it| vec![it])
            }
            (Some(value), Returned::Invalid) => self.expression(value, body).map(|it| vec![it]),
            (Some(value), Returned::Value(ty)) => {
                Some(vec![self.expression(value, body)?.convert(ty)])
            }
            (Some(value), Returned::Structure(it)) => self.numbers_of(value, &it, body),
        }
    }
}
