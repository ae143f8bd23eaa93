//! Index arithmetic that meets its inverse after a rewrite.

use crate::tree::{change_expr, change_subscripts};
use strew_affine::visit::Loop;
use strew_affine::{
    Access, AffineExpr, AffineFor, Block, Bound, Expr, Forall, Node, Place, ScfFor, Subscript,
};

/// `node`, which stands in no loop that its affine expressions speak of, with each of them in fewer
/// divisions and remainders where there is such a form: see [`AffineExpr::folded`].
pub(crate) fn folded(mut node: Node) -> Node {
    fold(&mut node, &mut Vec::new());
    node
}

/// The same for a loop in the loops `around`, outermost first.
pub(crate) fn folded_inside(target: Loop<'_>, around: &[Loop<'_>]) -> Node {
    let around = around.iter().map(|it| head(*it));
    let mut node = target.to_node();
    fold(&mut node, &mut around.collect());
    node
}

/// `around` holds the loops around `node`, without their bodies.
fn fold(node: &mut Node, around: &mut Vec<Node>) {
    let loops: Vec<_> = around.iter().filter_map(Loop::of).collect();
    let affine = |expr: &mut AffineExpr| *expr = expr.folded(&loops);
    match node {
        Node::AffineFor(it) => {
            let Bound(upper) = &mut it.upper;
            it.lower.0.iter_mut().chain(upper).for_each(affine);
        }
        Node::AffineIf { conditions, .. } => {
            let sides = conditions
                .iter_mut()
                .flat_map(|it| [&mut it.left, &mut it.right]);
            sides.for_each(affine);
        }
        Node::Forall(it) => affine(&mut it.count),
        _ => {}
    }
    let mut loads = |expr: &mut Expr| {
        if let Expr::Load(access) = expr {
            fold_subscripts(access, &loops);
        }
    };
    for expr in node.expressions_mut() {
        change_expr(expr, &mut loads);
    }
    for place in node.places_mut() {
        if let Place::Element(access) = place {
            change_subscripts(access, &mut loads);
            fold_subscripts(access, &loops);
        }
    }
    let depth = around.len();
    around.extend(Loop::of(node).map(head));
    for inner in node.blocks_mut().into_iter().flatten() {
        fold(inner, around);
    }
    around.truncate(depth);
}

fn fold_subscripts(access: &mut Access, loops: &[Loop<'_>]) {
    for subscript in &mut access.subscripts {
        if let Subscript::Affine(expr) = subscript {
            *expr = expr.folded(loops);
        }
    }
}

/// The loop with nothing in it.
fn head(of: Loop<'_>) -> Node {
    match of {
        Loop::Affine(it) => Node::AffineFor(AffineFor {
            lower: it.lower.clone(),
            upper: it.upper.clone(),
            body: Block::default(),
            ..*it
        }),
        Loop::Forall(it) => Node::Forall(Forall {
            count: it.count.clone(),
            privates: Vec::new(),
            disjoint: Vec::new(),
            strategy: String::new(),
            body: Block::default(),
            iter: it.iter,
        }),
        Loop::Scf(it) => Node::ScfFor(ScfFor {
            lower: it.lower.clone(),
            upper: it.upper.clone(),
            body: Block::default(),
            ..*it
        }),
    }
}
