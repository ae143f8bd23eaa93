//! The rewriting of `tile_indirection_using_forall`: it cannot fail.

use super::disjoint::Disjoint;
use super::plan::Plan;
use crate::tree::{named_iter, redirect_writes, replace_loop};
use strew_affine::{
    Access, AffineExpr, AffineFor, Array, ArrayId, Bound, Combine, Combiner, Expr, Forall, Kernel,
    Last, Node, Place, Private, Subscript, Type, Value,
};

pub(crate) fn rewrite(plan: Plan) -> Kernel {
    let Plan {
        mut kernel,
        target: mut tile,
        chunk,
        chunks,
        part,
        privates,
        disjoint,
        strategy,
    } = plan;
    let iter = tile.iter;
    let mut replacement = Vec::new();
    for private in &privates {
        let fills = private.arrays.iter().zip(private.fill);
        replacement.extend(fills.map(|(array, value)| fill_loop(&mut kernel, *array, value)));
    }
    let (read, copied): (Vec<_>, Vec<_>) = privates.into_iter().partition(|it| it.is_read);
    let read = read.into_iter();
    let read = read.map(|it| Private::speculative(it.arrays, it.combiner));
    let copied = copied.into_iter().map(|private| {
        let mut buffers = Vec::new();
        for array in &private.arrays {
            let buffer = private_buffer(&mut kernel, *array);
            redirect_writes(&mut tile.body, *array, buffer);
            update_instead(&mut tile.body, buffer, &private.combiner);
            buffers.push(buffer);
        }
        Private {
            buffers,
            targets: private.arrays,
            combiner: private.combiner,
        }
    });
    let privates = copied.chain(read).collect();
    (tile.lower, tile.upper) = (part.lower, part.upper);
    let mut marked = Vec::new();
    for Disjoint { array, .. } in disjoint.iter().filter(|it| it.is_checked) {
        let met = marks(&mut kernel, *array);
        replacement.push(Node::Alloc { array: met });
        marked.push(strew_affine::Disjoint {
            target: *array,
            met,
        });
    }
    replacement.push(Node::Forall(Forall {
        iter: chunk,
        count: chunks.into(),
        privates,
        disjoint: marked,
        strategy,
        body: [Node::AffineFor(tile)].into(),
    }));
    replace_loop(&mut kernel.body, iter, replacement);
    kernel
}

/// Makes updates by `combiner` of the assignments to elements of `buffer`: where the last one
/// counts, they are the same.
fn update_instead(nodes: &mut [Node], buffer: ArrayId, combiner: &Combiner) {
    for node in nodes {
        if let Node::Assign {
            place: Place::Element(access),
            value,
            span,
        } = node
            && access.array == buffer
            && combiner.name() == Last.name()
        {
            *node = Node::Reduce {
                places: vec![Place::Element(access.clone())],
                combiner: combiner.clone(),
                values: vec![value.clone()],
                span: *span,
            };
        }
        for block in node.blocks_mut() {
            update_instead(block, buffer, combiner);
        }
    }
}

/// An array that tells which elements of `array` were written.
fn marks(kernel: &mut Kernel, array: ArrayId) -> ArrayId {
    let shared = &kernel.arrays[array];
    let marks = Array {
        name: kernel.fresh_name(&format!("{}_met", shared.name.replace('.', "_"))),
        element: Type::U8,
        length: None,
        field: None,
        ..shared.clone()
    };
    kernel.arrays.alloc(marks)
}

fn private_buffer(kernel: &mut Kernel, array: ArrayId) -> ArrayId {
    let shared = &kernel.arrays[array];
    let buffer = Array {
        name: kernel.fresh_name(&format!("{}_p", shared.name.replace('.', "_"))),
        // A buffer is dense, wherever its target lies.
        length: None,
        field: None,
        ..shared.clone()
    };
    kernel.arrays.alloc(buffer)
}

/// `affine.for out_f in 0..extent { out[out_f] = value }`
fn fill_loop(kernel: &mut Kernel, array: ArrayId, value: Value) -> Node {
    let Array {
        name,
        extents,
        span,
        ..
    } = kernel.arrays[array].clone();
    let name = format!("{}_f", name.replace('.', "_"));
    let iter = named_iter(kernel, &name, span);
    let access = Access {
        array,
        subscripts: vec![Subscript::Affine(iter.into())],
        span,
    };
    let fill = Node::Assign {
        place: Place::Element(access),
        value: Expr::Constant(value),
        span,
    };
    Node::AffineFor(AffineFor {
        iter,
        lower: AffineExpr::from(0).into(),
        upper: Bound(extents),
        step: 1,
        lanes: 1,
        body: [fill].into(),
    })
}
