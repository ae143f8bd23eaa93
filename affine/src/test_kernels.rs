//! The two kernels of the design, built by hand: tests of the text must not depend on the parser
//! alone.

use crate::{
    Access, Add, AffineExpr, AffineFor, Array, ArrayId, Bound, Combiner, Expr, Forall, Iter,
    IterId, Kernel, Node, Overflow, Parameter, Place, Private, Scalar, ScalarId, Span, Subscript,
    Type,
};

pub(crate) fn scalar(kernel: &mut Kernel, name: &str, ty: Type) -> ScalarId {
    let id = kernel.scalars.alloc(Scalar {
        inferred: false,
        name: name.to_owned(),
        ty,
        span: Span::default(),
    });
    kernel.params.push(Parameter::Scalar(id));
    id
}

pub(crate) fn array(
    kernel: &mut Kernel,
    name: &str,
    element: Type,
    extents: Vec<AffineExpr>,
) -> ArrayId {
    kernel.arrays.alloc(Array {
        name: name.to_owned(),
        element,
        extents,
        length: None,
        field: None,
        span: Span::default(),
    })
}

pub(crate) fn array_param(
    kernel: &mut Kernel,
    name: &str,
    element: Type,
    extents: Vec<AffineExpr>,
) -> ArrayId {
    let id = array(kernel, name, element, extents);
    kernel.params.push(Parameter::Array(id));
    id
}

pub(crate) fn iter(kernel: &mut Kernel, name: &str) -> IterId {
    kernel.iters.alloc(Iter {
        name: name.to_owned(),
        labels: Vec::new(),
        span: Span::default(),
    })
}

pub(crate) fn at(array: ArrayId, subscripts: Vec<Subscript>) -> Access {
    Access {
        array,
        subscripts,
        span: Span::default(),
    }
}

pub(crate) fn for_loop(
    iter: IterId,
    lower: AffineExpr,
    upper: AffineExpr,
    body: Vec<Node>,
) -> Node {
    Node::AffineFor(AffineFor {
        iter,
        lower: lower.into(),
        upper: Bound::from(upper),
        step: 1,
        lanes: 1,
        body: body.into(),
    })
}

struct Parts {
    kernel: Kernel,
    n: ScalarId,
    m: ScalarId,
    seg: ArrayId,
    x: ArrayId,
    out: ArrayId,
}

fn parts() -> Parts {
    let mut kernel = Kernel::new("segment_sum", Span::default());
    let n = scalar(&mut kernel, "n", Type::I64);
    let m = scalar(&mut kernel, "m", Type::I32);
    let seg = array_param(&mut kernel, "seg", Type::I32, vec![n.into()]);
    let x = array_param(&mut kernel, "x", Type::F32, vec![n.into()]);
    let out = array_param(&mut kernel, "out", Type::F64, vec![m.into()]);
    Parts {
        kernel,
        n,
        m,
        seg,
        x,
        out,
    }
}

fn update(seg: ArrayId, x: ArrayId, target: ArrayId, i: IterId) -> Node {
    let read = |array| Expr::Load(at(array, vec![Subscript::Affine(i.into())]));
    Node::Reduce {
        places: vec![Place::Element(at(
            target,
            vec![Subscript::Computed(read(seg))],
        ))],
        combiner: Combiner::new(Add),
        values: vec![Expr::Cast(Type::F64, Box::new(read(x)))],
        span: Span::default(),
    }
}

pub(crate) fn segment_sum() -> Kernel {
    let Parts {
        mut kernel,
        n,
        seg,
        x,
        out,
        ..
    } = parts();
    let i = iter(&mut kernel, "i");
    kernel.body = [for_loop(
        i,
        0.into(),
        n.into(),
        vec![update(seg, x, out, i)],
    )]
    .into();
    kernel
}

pub(crate) fn chunked_segment_sum() -> Kernel {
    let Parts {
        mut kernel,
        n,
        m,
        seg,
        x,
        out,
    } = parts();
    // Allocated inner loop first, as a transform that wraps a loop does.
    let i = iter(&mut kernel, "i");
    let chunk = iter(&mut kernel, "i_c");
    let buffer = array(&mut kernel, "out_p", Type::F64, vec![m.into()]);
    let body = vec![update(seg, x, buffer, i)];
    let bounds = chunk_bounds(chunk, n, 8).unwrap_or_default();
    kernel.body = [Node::Forall(Forall {
        iter: chunk,
        count: 8.into(),
        privates: vec![Private {
            buffers: vec![buffer],
            targets: vec![out],
            combiner: Combiner::new(Add),
        }],
        disjoint: Vec::new(),
        strategy: "auto".to_owned(),
        body: [for_loop(i, bounds.0, bounds.1, body)].into(),
    })]
    .into();
    kernel
}

fn chunk_bounds(
    chunk: IterId,
    n: ScalarId,
    chunks: i64,
) -> Result<(AffineExpr, AffineExpr), Overflow> {
    let edge = |chunk: AffineExpr| chunk.times(&n.into())?.floordiv(&chunks.into());
    let chunk = AffineExpr::from(chunk);
    Ok((edge(chunk.clone())?, edge(chunk.offset(1)?)?))
}
