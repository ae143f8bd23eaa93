//! What a block uses of what is around it.

use std::collections::BTreeSet;
use strew_affine::visit::{Loop, walk};
use strew_affine::{
    Access, AffineExpr, ArrayId, Expr, IterId, LocalId, Node, Place, Subscript, Variable,
};

/// What a block uses and does not bind itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct FreeNames {
    pub(crate) iters: BTreeSet<IterId>,
    pub(crate) locals: BTreeSet<LocalId>,
    pub(crate) arrays: BTreeSet<ArrayId>,
}

impl FreeNames {
    /// The free names of `body`, the body of a loop that binds `bound`.
    pub(crate) fn of(body: &[Node], bound: IterId) -> Self {
        let mut used = Self::default();
        let mut own = Self::default();
        own.iters.insert(bound);
        walk(body, &mut |node, _| {
            used.node(node);
            own.iters.extend(Loop::of(node).map(Loop::iter));
            if let Node::Declare { local, .. } = node {
                own.locals.insert(*local);
            }
            if let Node::Alloc { array } = node {
                own.arrays.insert(*array);
            }
            if let Node::Forall(forall) = node {
                own.arrays.extend(forall.own_buffers());
            }
        });
        Self {
            iters: &used.iters - &own.iters,
            locals: &used.locals - &own.locals,
            arrays: &used.arrays - &own.arrays,
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::AffineFor(affine) => {
                let bounds = affine.bounds();
                bounds.for_each(|bound| self.affine(bound));
            }
            Node::AffineIf { conditions, .. } => {
                for condition in conditions {
                    self.affine(&condition.left);
                    self.affine(&condition.right);
                }
            }
            Node::Forall(forall) => {
                self.affine(&forall.count);
                self.arrays
                    .extend(forall.buffers().map(|(_, target)| target));
                self.arrays.extend(forall.disjoint.iter().map(|it| it.met));
            }
            _ => {}
        }
        for expr in node.expressions() {
            self.expr(expr);
        }
        for place in node.places() {
            match place {
                Place::Element(access) => self.access(access),
                Place::Local(local) => {
                    self.locals.insert(*local);
                }
            }
        }
    }

    fn affine(&mut self, expr: &AffineExpr) {
        expr.for_each_variable(&mut |variable| {
            if let Variable::Iter(iter) = variable {
                self.iters.insert(iter);
            }
        });
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Iter(iter) => {
                self.iters.insert(*iter);
            }
            Expr::Local(local) => {
                self.locals.insert(*local);
            }
            Expr::Load(access) => self.access(access),
            _ => expr.operands().into_iter().for_each(|it| self.expr(it)),
        }
    }

    fn access(&mut self, access: &Access) {
        self.arrays.insert(access.array);
        for subscript in &access.subscripts {
            match subscript {
                Subscript::Affine(expr) => self.affine(expr),
                Subscript::Computed(expr) => self.expr(expr),
            }
        }
    }
}
