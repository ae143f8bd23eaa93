//! Loops over rows, of which iterations are apart if row pointers never fall: the kernel looks
//! whether they do.

use crate::Reason;
use crate::tree::new_iter;
use strew_affine::dependence::Analyzed;
use strew_affine::visit::{Loop, walk};
use strew_affine::{
    Access, AffineExpr, AffineFor, ArrayId, Bitwise, Combiner, CompareOp, Expr, Kernel, Local,
    LocalId, Node, Place, Span, Subscript, Type, Value, Variable,
};

/// Whether a statement of this kind in `body` writes elements of rows of which data say where they
/// begin and end, or of windows, `for k in at[i] - r..at[i] + r { out[k] += … }`.
pub(crate) fn writes_rows(body: &[Node], is_meant: fn(&Node) -> bool) -> bool {
    let mut found = false;
    walk(body, &mut |node, loops| {
        let rows = loops.iter().filter(|it| matches!(it, Loop::Scf(_)));
        let rows: Vec<_> = rows.map(|it| Variable::Iter(it.iter())).collect();
        let is_of_row = |it: &Subscript| match it {
            Subscript::Affine(expr) => rows.iter().any(|row| expr.mentions(*row)),
            Subscript::Computed(_) => false,
        };
        let mut written = node.written_elements();
        found |= is_meant(node) && written.any(|it| it.subscripts.iter().any(is_of_row));
    });
    found
}

/// The row pointers that must not fall for the iterations of `target` to be apart, if that is all
/// they must.
pub(crate) fn pointers_of(kernel: &Kernel, target: &AffineFor) -> Option<Vec<ArrayId>> {
    if !writes_rows(&target.body, |_| true) {
        return None;
    }
    Analyzed::new(kernel).apart_where_rising(target.iter)
}

/// Whether any of several row pointers falls, asked in front of a loop.
pub(crate) struct Question {
    falls: LocalId,
    asked: Vec<Node>,
    span: Span,
}

impl Question {
    /// A loop over each of `pointers`, in front of `target`.
    pub(crate) fn ask(
        kernel: &mut Kernel,
        target: &AffineFor,
        pointers: &[ArrayId],
    ) -> Result<Self, Reason> {
        let span = kernel.iters[target.iter].span;
        let falls = Local {
            name: kernel.fresh_name("falls"),
            ty: Type::I32,
            mutable: true,
            is_element: false,
            span,
        };
        let falls = kernel.locals.alloc(falls);
        let mut asked = vec![Node::Declare {
            local: falls,
            value: number(0),
        }];
        for array in pointers {
            let pairs = pairs_of(kernel, (target, *array), falls)?;
            asked.push(Node::AffineFor(pairs));
        }
        Ok(Self { falls, asked, span })
    }

    /// What asks, and then does the one where none of them falls, and else the other.
    pub(crate) fn decide(mut self, rising: Vec<Node>, otherwise: Vec<Node>) -> Vec<Node> {
        let none = number(0);
        let condition = Expr::Compare(
            CompareOp::Eq,
            Box::new(Expr::Local(self.falls)),
            Box::new(none),
        );
        self.asked.push(Node::ScfIf {
            condition,
            then: rising.into(),
            otherwise: otherwise.into(),
            span: self.span,
        });
        self.asked
    }
}

/// A loop over the neighbours in `array`, which makes `falls` 1 where the second is less than the
/// first.
fn pairs_of(
    kernel: &mut Kernel,
    (target, array): (&AffineFor, ArrayId),
    falls: LocalId,
) -> Result<AffineFor, Reason> {
    let span = kernel.iters[target.iter].span;
    let iter = new_iter(kernel, target.iter, "q");
    let extent = kernel.arrays[array]
        .extents
        .first()
        .cloned()
        .unwrap_or_default();
    let element = |by: i64| {
        let place = AffineExpr::from(iter).offset(by)?;
        Ok::<_, Reason>(Expr::Load(Access {
            array,
            subscripts: vec![Subscript::Affine(place)],
            span,
        }))
    };
    let is_less = Expr::compare(CompareOp::Lt, element(1)?, element(0)?);
    let [one, none] = [1, 0].map(number);
    let update = Node::Reduce {
        places: vec![Place::Local(falls)],
        combiner: Combiner::new(Bitwise::Or),
        values: vec![Expr::select(is_less, one, none)],
        span,
    };
    Ok(AffineFor {
        iter,
        lower: AffineExpr::from(0).into(),
        upper: extent.offset(-1)?.into(),
        step: 1,
        lanes: 1,
        body: [update].into(),
    })
}

fn number(it: i128) -> Expr {
    Expr::Constant(Value::integer(Type::I32, it))
}
