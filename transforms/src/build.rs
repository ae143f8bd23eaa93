//! What steps make the nodes and values of that the source does not have, and that stand nowhere in
//! it.

use strew_affine::{
    Access, AffineExpr, AffineFor, ArrayId, BinaryOp, Block, Expr, IterId, Kernel, Local, LocalId,
    Node, Place, Span, Subscript, Type,
};

pub(crate) fn element(array: ArrayId, subscripts: &[Subscript]) -> Access {
    Access {
        array,
        subscripts: subscripts.to_vec(),
        span: Span::default(),
    }
}

/// A scalar of 64 bits.
pub(crate) fn scalar(kernel: &mut Kernel, name: &str, mutable: bool) -> LocalId {
    let name = kernel.fresh_name(name);
    kernel.locals.alloc(Local {
        name,
        ty: Type::I64,
        mutable,
        is_element: false,
        span: Span::default(),
    })
}

pub(crate) fn declare(local: LocalId, value: Expr) -> Node {
    Node::Declare { local, value }
}

pub(crate) fn assign(place: Place, value: Expr) -> Node {
    Node::Assign {
        place,
        value,
        span: Span::default(),
    }
}

pub(crate) fn sum(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Add, left, right, Span::default())
}

/// Whether both hold, the second one asked only if the first does.
pub(crate) fn both(one: Expr, other: Expr) -> Expr {
    Expr::And(Box::new(one), Box::new(other))
}

/// Whether one of both holds.
pub(crate) fn either(one: Expr, other: Expr) -> Expr {
    Expr::Or(Box::new(one), Box::new(other))
}

/// `then` where it holds.
pub(crate) fn when(condition: Expr, then: Vec<Node>) -> Node {
    decide(condition, then, Block::default())
}

/// `then` where it holds, and else the other.
pub(crate) fn decide(condition: Expr, then: Vec<Node>, otherwise: impl Into<Block>) -> Node {
    Node::ScfIf {
        condition,
        then: then.into(),
        otherwise: otherwise.into(),
        span: Span::default(),
    }
}

/// `body` for each number below `extent`.
pub(crate) fn loop_over(iter: IterId, extent: AffineExpr, body: Vec<Node>) -> Node {
    Node::AffineFor(AffineFor {
        iter,
        lower: AffineExpr::from(0).into(),
        upper: extent.into(),
        step: 1,
        lanes: 1,
        body: body.into(),
    })
}
