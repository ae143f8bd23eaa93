//! What a body must know to find out whether it fails, and where.

use std::collections::{BTreeMap, BTreeSet};
use strew_affine::visit::walk;
use strew_affine::{Access, ArrayId, BinaryOp, Expr, Kernel, LocalId, Node, Place, Subscript};

/// The scalars and arrays that decide what a body checks and which of its statements run: those in
/// conditions, bounds, computed subscripts and divisions, and what follows into them. Values of all
/// others need not be computed to find the failures of the body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deciding {
    locals: BTreeSet<LocalId>,
    arrays: BTreeSet<ArrayId>,
}

impl Deciding {
    /// Those of `body`.
    pub(crate) fn of(kernel: &Kernel, body: &[Node]) -> Self {
        let mut search = Search {
            kernel,
            locals: BTreeMap::new(),
            arrays: BTreeMap::new(),
            found: Self::default(),
        };
        walk(body, &mut |node, _| search.note(node));
        walk(body, &mut |node, _| search.roots(node));
        search.found
    }

    /// Whether it matters what `place` holds.
    pub(crate) fn needs(&self, place: &Place) -> bool {
        match place {
            Place::Local(local) => self.needs_local(*local),
            Place::Element(access) => self.arrays.contains(&access.array),
        }
    }

    /// Whether it matters what `local` holds.
    pub(crate) fn needs_local(&self, local: LocalId) -> bool {
        self.locals.contains(&local)
    }
}

/// Whether finding out if `expr` fails takes its value or that of a part: it evaluates parts only
/// sometimes, or divides.
pub(crate) fn is_evaluated(expr: &Expr, kernel: &Kernel) -> bool {
    match expr {
        Expr::And(..) | Expr::Or(..) | Expr::Select(..) => true,
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => expr.ty(kernel).is_integer(),
        _ => false,
    }
}

struct Search<'k> {
    kernel: &'k Kernel,
    /// The statements that put something into a scalar.
    locals: BTreeMap<LocalId, Vec<&'k Node>>,
    /// Those that put something into an array.
    arrays: BTreeMap<ArrayId, Vec<&'k Node>>,
    found: Deciding,
}

impl<'k> Search<'k> {
    fn note(&mut self, node: &'k Node) {
        if let Node::Declare { local, .. } = node {
            self.locals.entry(*local).or_default().push(node);
        }
        for place in node.places() {
            match place {
                Place::Local(local) => self.locals.entry(*local).or_default().push(node),
                Place::Element(access) => self.arrays.entry(access.array).or_default().push(node),
            }
        }
    }

    fn roots(&mut self, node: &'k Node) {
        let decides = matches!(
            node,
            Node::ScfFor(_) | Node::ScfWhile { .. } | Node::ScfIf { .. }
        );
        for expr in node.expressions() {
            match decides {
                true => self.needed(expr),
                false => self.checked(expr),
            }
        }
        node.written_elements().for_each(|it| self.subscripts(it));
    }

    /// What finding out whether `expr` fails takes.
    fn checked(&mut self, expr: &'k Expr) {
        if is_evaluated(expr, self.kernel) {
            return self.needed(expr);
        }
        if let Expr::Load(access) = expr {
            self.subscripts(access);
        }
        expr.operands().into_iter().for_each(|it| self.checked(it));
    }

    fn subscripts(&mut self, access: &'k Access) {
        for subscript in &access.subscripts {
            if let Subscript::Computed(expr) = subscript {
                self.needed(expr);
            }
        }
    }

    /// What the value of `expr` takes.
    fn needed(&mut self, expr: &'k Expr) {
        match expr {
            Expr::Local(local) => self.needed_local(*local),
            Expr::Load(access) => {
                self.subscripts(access);
                self.needed_array(access.array);
            }
            _ => expr.operands().into_iter().for_each(|it| self.needed(it)),
        }
    }

    fn needed_local(&mut self, local: LocalId) {
        if self.found.locals.insert(local) {
            let nodes = self.locals.remove(&local).unwrap_or_default();
            nodes.into_iter().for_each(|it| self.needed_statement(it));
        }
    }

    fn needed_array(&mut self, array: ArrayId) {
        if self.found.arrays.insert(array) {
            let nodes = self.arrays.remove(&array).unwrap_or_default();
            nodes.into_iter().for_each(|it| self.needed_statement(it));
        }
    }

    /// Of a tuple, each part follows from all values, and from what all places hold.
    fn needed_statement(&mut self, node: &'k Node) {
        node.expressions()
            .into_iter()
            .for_each(|it| self.needed(it));
        for place in node.places() {
            match place {
                Place::Local(local) => self.needed_local(*local),
                Place::Element(access) => self.needed_array(access.array),
            }
        }
    }
}
