//! `switch`.
//!
//! Its body is cut at the labels into *groups*; groups that control can fall through are one
//! *section*. Exactly one section runs: they become a chain of `if`s on a value that does not
//! change, so that affine labels stay affine conditions. Inside a section a group runs if the label
//! was its own or one of an earlier group.

use super::Lowering;
use super::jump::{Flag, Target};
use super::value::{self, Typed};
use crate::ast::{Case, Expr, Statement, StatementKind};
use crate::diagnostic::Label;
use crate::flow::Flow;
use crate::problem::{ControlFlowProblem, Problem, Unsupported};
use std::collections::HashMap;
use strew_affine::{CompareOp, Expr as Computation, Node, Span, Type, Value};

/// A longer chain would nest too deeply: there the sections stand one after the other.
const LONGEST_CHAIN: usize = 12;

/// What stands between one label and the next.
struct Group<'s> {
    statements: &'s [Statement],
    labels: Vec<Value>,
    is_default: bool,
}

impl Group<'_> {
    fn flow(&self) -> Flow {
        Flow::of_list(self.statements)
    }
}

/// A section that is lowered.
struct Section {
    labels: Vec<Value>,
    is_default: bool,
    body: Vec<Node>,
}

impl Lowering<'_> {
    pub(super) fn switch(
        &mut self,
        value: &Expr,
        statement: &Statement,
        span: Span,
        body: &mut Vec<Node>,
    ) {
        let choice = self.choice(value, body);
        let one = std::slice::from_ref(statement);
        let statements = match &statement.kind {
            StatementKind::Block(statements) => statements.as_slice(),
            _ => one,
        };
        let ty = choice.as_ref().map_or(Type::I32, |it| it.ty);
        let groups = self.groups(statements, ty, body);
        let before = body.len();
        self.active.targets.push(Target::Switch {
            left: Flag::default(),
        });
        let sections = self.sections(&groups, choice.as_ref(), span);
        let target = self.active.targets.pop();
        if let Some(choice) = choice {
            self.choose((&choice, span), sections, body);
        }
        if let Some(Target::Switch { left }) = target {
            body.splice(before..before, left.declared());
        }
    }

    /// What selects the label, kept for every comparison with one.
    fn choice(&mut self, value: &Expr, body: &mut Vec<Node>) -> Option<Typed> {
        let choice = self.expression(value, body)?;
        if choice.ty.is_float() {
            let ty = choice.ty;
            self.diagnostics
                .report(ControlFlowProblem::SwitchNotInteger { ty }, value.span);
            return None;
        }
        Some(self.kept(value::plus(choice), value.span, body))
    }

    /// Cuts the body at its labels. Declarations in front of the first label stay visible.
    fn groups<'s>(
        &mut self,
        statements: &'s [Statement],
        ty: Type,
        body: &mut Vec<Node>,
    ) -> Vec<Group<'s>> {
        let is_labelled = |it: &Statement| !it.cases.is_empty();
        let first = statements.iter().position(is_labelled);
        let (head, mut rest) = statements.split_at(first.unwrap_or(statements.len()));
        for statement in head {
            match &statement.kind {
                StatementKind::Declaration(declaration) => self.declaration(declaration, body),
                _ => self
                    .diagnostics
                    .report(ControlFlowProblem::Unreachable, statement.span),
            }
        }
        let mut seen = HashMap::new();
        let mut groups = Vec::new();
        while let Some((first, others)) = rest.split_first() {
            let length = others.iter().position(is_labelled);
            let (statements, following) = rest.split_at(length.map_or(rest.len(), |it| it + 1));
            rest = following;
            let (labels, is_default) = self.labels(&first.cases, ty, &mut seen);
            groups.push(Group {
                statements,
                labels,
                is_default,
            });
        }
        self.check_declarations(&groups);
        groups
    }

    /// What is declared in one group is visible in the next, where nothing gave it a value.
    fn check_declarations(&mut self, groups: &[Group<'_>]) {
        let is_declaration = |it: &Statement| matches!(it.kind, StatementKind::Declaration(_));
        if !groups
            .iter()
            .any(|it| it.statements.iter().any(is_declaration))
        {
            return;
        }
        let mut declared = HashMap::new();
        for (position, group) in groups.iter().enumerate() {
            let Group { statements, .. } = group;
            for statement in *statements {
                statement.for_each_name(&mut |name| {
                    let home = name.declaration.and_then(|it| declared.get_mut(&it));
                    if let Some(home) = home.filter(|it| **it < position) {
                        // Once is enough.
                        *home = position;
                        let name_text = name.text.clone();
                        let what = Unsupported::DeclarationInSwitch { name: name_text };
                        self.diagnostics
                            .report(Problem::Unsupported(what), name.span);
                    }
                });
                if let StatementKind::Declaration(declaration) = &statement.kind {
                    let names = declaration.declarators.iter();
                    let ids = names.filter_map(|it| it.name.declaration);
                    declared.extend(ids.map(|it| (it, position)));
                }
            }
        }
    }

    fn labels(
        &mut self,
        cases: &[Case],
        ty: Type,
        seen: &mut HashMap<Option<Value>, Span>,
    ) -> (Vec<Value>, bool) {
        let mut labels = Vec::new();
        let mut is_default = false;
        for case in cases {
            let label = match &case.value {
                None => None,
                Some(expr) => {
                    let value = self.plain_expression(expr);
                    let integer = value.as_ref().and_then(Typed::as_constant);
                    let Some(integer) = integer else {
                        let problem = ControlFlowProblem::CaseNotConstant;
                        self.diagnostics.report(problem, expr.span);
                        continue;
                    };
                    Some(Value::integer(ty, integer))
                }
            };
            if let Some(first) = seen.insert(label, case.span) {
                let label = Label {
                    span: first,
                    message: "first here".to_owned(),
                };
                self.diagnostics.report_with(
                    ControlFlowProblem::DuplicateCase,
                    case.span,
                    vec![label],
                );
                continue;
            }
            is_default |= label.is_none();
            labels.extend(label);
        }
        (labels, is_default)
    }

    fn sections(
        &mut self,
        groups: &[Group<'_>],
        choice: Option<&Typed>,
        span: Span,
    ) -> Vec<Section> {
        let mut sections = Vec::new();
        let mut rest = groups;
        while !rest.is_empty() {
            let last = rest.iter().position(|it| !it.flow().completes);
            let (section, following) = rest.split_at(last.map_or(rest.len(), |it| it + 1));
            rest = following;
            let depth = sections.len().min(LONGEST_CHAIN);
            self.nesting += depth;
            let body = self.nested(span, |it, body| it.section(section, choice, body));
            self.nesting -= depth;
            sections.push(Section {
                labels: section.iter().flat_map(|it| it.labels.clone()).collect(),
                is_default: section.iter().any(|it| it.is_default),
                body,
            });
        }
        sections
    }

    /// Groups that control falls through, one of whose labels was chosen.
    fn section(&mut self, groups: &[Group<'_>], choice: Option<&Typed>, body: &mut Vec<Node>) {
        let [earlier @ .., last] = groups else { return };
        let Some(choice) = choice.filter(|_| !earlier.is_empty()) else {
            for group in groups {
                self.statements(group.statements, body);
            }
            return;
        };
        let span = last.statements.first().map(|it| it.span);
        let span = span.unwrap_or_default();
        let never = Typed::constant(Value::bool(false));
        let entered = self.variable_of("entered", never, span, body);
        let mut flow = Flow::ON;
        let mut before = None;
        for (position, group) in earlier.iter().enumerate() {
            let here = if group.is_default {
                let later = groups.iter().skip(position + 1);
                value::not(is_any(choice, later.flat_map(|it| &it.labels)))
            } else {
                is_any(choice, &group.labels)
            };
            let was = Typed::any(Computation::Local(entered), Type::Bool);
            let here = value::or(was.clone(), here);
            body.push(self.set(entered, here.expr, span));
            let awaited = self.await_flags(group.flow());
            before.get_or_insert(awaited);
            let runs = if flow.jumps() {
                value::and(was, self.goes_on(flow))
            } else {
                was
            };
            self.guarded(runs, group, body);
            flow = flow.or(group.flow());
        }
        if let Some(before) = before {
            self.restore_flags(before);
        }
        if flow.jumps() {
            self.guarded(self.goes_on(flow), last, body);
        } else {
            self.statements(last.statements, body);
        }
    }

    fn guarded(&mut self, condition: Typed, group: &Group<'_>, body: &mut Vec<Node>) {
        let span = group.statements.first().map(|it| it.span);
        let span = span.unwrap_or_default();
        let block = self.nested(span, |it, block| {
            it.statements(group.statements, block);
        });
        body.push(self.when((condition, span), block, Vec::new()));
    }

    /// Runs the section that `choice` selects.
    fn choose(
        &mut self,
        (choice, span): (&Typed, Span),
        sections: Vec<Section>,
        body: &mut Vec<Node>,
    ) {
        let count = sections.len();
        let (default, others): (Vec<_>, Vec<_>) =
            sections.into_iter().partition(|it| it.is_default);
        let default: Vec<Node> = default.into_iter().flat_map(|it| it.body).collect();
        if count <= LONGEST_CHAIN {
            let chain = others.into_iter().rev().fold(default, |otherwise, it| {
                let condition = is_any(choice, &it.labels);
                vec![self.when((condition, span), it.body, otherwise)]
            });
            body.extend(chain);
            return;
        }
        if !default.is_empty() {
            let labels = others.iter().flat_map(|it| &it.labels);
            let condition = value::not(is_any(choice, labels));
            body.push(self.when((condition, span), default, Vec::new()));
        }
        for section in others {
            let condition = is_any(choice, &section.labels);
            body.push(self.when((condition, span), section.body, Vec::new()));
        }
    }
}

/// Whether `choice` is one of `labels`: a balanced tree, which many labels do not make deep.
fn is_any<'v>(choice: &Typed, labels: impl IntoIterator<Item = &'v Value>) -> Typed {
    let mut terms: Vec<Typed> = labels
        .into_iter()
        .map(|label| value::compare(CompareOp::Eq, choice.clone(), Typed::constant(*label)))
        .collect();
    while terms.len() > 1 {
        let mut halved = Vec::with_capacity(terms.len().div_ceil(2));
        let mut pairs = terms.into_iter();
        while let Some(left) = pairs.next() {
            halved.push(match pairs.next() {
                Some(right) => value::or(left, right),
                None => left,
            });
        }
        terms = halved;
    }
    let one = terms.pop();
    one.unwrap_or_else(|| Typed::constant(Value::bool(false)))
}
