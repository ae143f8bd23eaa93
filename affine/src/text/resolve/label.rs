use super::Resolver;
use crate::text::error::ParseErrorKind;
use crate::text::tree::{Name, Statement};
use crate::visit::Loop;
use crate::{Label, Node, Span};

impl<'a> Resolver<'a, '_> {
    pub(super) fn labelled(&mut self, label: Name<'a>, labelled: &Statement<'a>) -> Option<Node> {
        let node = self.statement(labelled);
        match node.as_ref().and_then(Loop::of) {
            Some(it) => {
                let labels = &mut self.kernel.iters[it.iter()].labels;
                labels.insert(0, label.text.to_owned());
            }
            None => self.label(label, node.as_ref(), labelled.span),
        }
        node
    }

    fn label(&mut self, label: Name<'a>, node: Option<&Node>, span: Span) {
        match node {
            None => {}
            Some(Node::Alloc { .. } | Node::ScfWhile { .. }) => {
                self.report(label.span, ParseErrorKind::LabelOfNothing);
            }
            Some(_) => self.kernel.labels.push(Label {
                name: label.text.to_owned(),
                span,
            }),
        }
    }
}
