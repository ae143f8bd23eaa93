//! `for` loops, which run as C says: whether they count is found out later, when everything is a
//! kernel.

use super::Lowering;
use super::while_loop::Header;
use crate::ast::{For, Start, Statement};
use crate::raise::LoopSource;
use strew_affine::{Expr as Computation, Local, Node, Type, Value};

impl Lowering<'_> {
    pub(super) fn for_loop(&mut self, statement: &Statement, it: &For, body: &mut Vec<Node>) {
        if let Some(turns) = self.turns_over_tables(statement, it) {
            return self.turns_apart(&turns, it, statement.span, body);
        }
        match &it.start {
            Start::Nothing => {}
            Start::Declaration(declaration) => self.declaration(declaration, body),
            Start::Expression(expr) => self.effect(expr, body),
        }
        let before = body.len();
        let (condition, step) = (it.condition.as_ref(), it.step.as_ref());
        self.while_loop(condition, &it.body, step, statement.span, body);
        let is_left = Header::of(condition, &it.body).flow.leaves();
        self.mark_loop(statement, is_left, before, body);
    }

    /// Lets the loop that `statement` became, behind the first `before` nodes, begin with a local
    /// that says which it is.
    fn mark_loop(
        &mut self,
        statement: &Statement,
        is_left: bool,
        before: usize,
        body: &mut [Node],
    ) {
        let nodes = body.get_mut(before..).unwrap_or_default();
        let turn = nodes.iter_mut().rev().find_map(|node| match node {
            Node::ScfWhile { body, .. } => Some(body),
            _ => None,
        });
        let Some(turn) = turn else { return };
        let local = self.kernel.locals.alloc(Local {
            name: "loop".to_owned(),
            ty: Type::I64,
            mutable: false,
            is_element: false,
            span: statement.span,
        });
        let value = Computation::Constant(Value::zero(Type::I64));
        turn.insert(0, Node::Declare { local, value });
        let source = LoopSource {
            is_left,
            pragmas: statement.pragmas.clone(),
            labels: statement.labels.iter().map(|it| it.text.clone()).collect(),
        };
        self.loop_sources.insert(local, source);
    }
}
