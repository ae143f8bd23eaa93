//! The place of the greatest: `if (a[j] > a[best]) best = j` keeps what stands there beside the
//! place, and is a reduction of both then.
//!
//! Nothing writes to the array while the loop runs, so what stands at the place is what was
//! compared last when the place was set. That goes for whatever is computed of the iterator, such
//! as `fabs(a[j])`.

use crate::locals::for_each_own_use;
use crate::raise::computed;
use crate::recognize::{replacing_when, without_conversions};
use strew_affine::changed::Changed;
use strew_affine::value_range::ValueRanges;
use strew_affine::visit::{Loop, declared_in, for_each_local, walk};
use strew_affine::{
    AffineExpr, Combiner, CompareOp, Expr, IterId, Kernel, Local, LocalId, Node, Place, Span,
    Subscript, Type, Value, Variable,
};

/// Keeps what is compared beside the places that loops of `kernel` look for.
pub(super) fn keep_the_best(kernel: &mut Kernel) {
    let ranges = ValueRanges::of(kernel);
    let mut body = std::mem::take(&mut kernel.body);
    let mut places = Places { kernel, ranges };
    places.block(&mut body);
    kernel.body = body;
}

struct Places<'k> {
    kernel: &'k mut Kernel,
    /// With those of the iterators of the loops around, where these are known.
    ranges: ValueRanges,
}

/// The bounds of a loop, as values.
struct Bounds {
    iter: IterId,
    lower: Expr,
    upper: Expr,
}

impl Places<'_> {
    fn block(&mut self, nodes: &mut Vec<Node>) {
        let mut done = Vec::with_capacity(nodes.len());
        for mut node in std::mem::take(nodes) {
            if let Some(bounds) = Loop::of(&node).and_then(|it| self.bounds(it)) {
                let mut blocks = node.blocks_mut().into_iter();
                if let Some(body) = blocks.next() {
                    done.extend(self.kept_in(&bounds, body));
                }
            }
            for inside in node.blocks_mut() {
                self.block(inside);
            }
            done.push(node);
        }
        *nodes = done;
    }

    /// The bounds of `around`, if there is one of each; what lies between them is known from here
    /// on.
    fn bounds(&mut self, around: Loop<'_>) -> Option<Bounds> {
        let iter = around.iter();
        let (lower, upper) = match around {
            Loop::Affine(it) => match (it.lower.0.as_slice(), it.upper.0.as_slice()) {
                ([lower], [upper]) => (computed(lower), computed(upper)),
                _ => return None,
            },
            Loop::Scf(it) => (it.lower.clone(), it.upper.clone()),
            Loop::Forall(_) => return None,
        };
        let [first, end] = [&lower, &upper].map(|it| self.ranges.of_expr(self.kernel, it));
        self.ranges.assume_iter(iter, (first?.0, end?.1 - 1));
        Some(Bounds { iter, lower, upper })
    }

    /// What is to be declared in front of a loop so that its `body` reduces into it.
    fn kept_in(&mut self, bounds: &Bounds, body: &mut [Node]) -> Vec<Node> {
        let mut declared = Vec::new();
        for position in 0..body.len() {
            let node = body.get(position);
            let found = node.and_then(|it| Search::of(self.kernel, it, bounds.iter));
            let may =
                |it: &Search| it.is_alone_in(body, position) && self.may_keep(it, bounds.iter);
            let Some(found) = found.filter(may) else {
                continue;
            };
            let Some(combiner) = replacing_when(found.op) else {
                continue;
            };
            let ty = found.here.ty(self.kernel);
            let best = self.kernel.locals.alloc(Local {
                name: "best".to_owned(),
                ty,
                mutable: true,
                is_element: false,
                span: found.span,
            });
            declared.push(Node::Declare {
                local: best,
                value: found.in_front_of(bounds, ty),
            });
            if let Some(node) = body.get_mut(position) {
                *node = found.reduced(best, combiner);
            }
        }
        declared
    }

    /// Whether what is searched is a number, and the place holds every iterator as it is.
    fn may_keep(&self, search: &Search, iter: IterId) -> bool {
        let held = self.kernel.locals[search.place].ty;
        let is_number = search.here.ty(self.kernel) != Type::Bool;
        let range = self.ranges.of_expr(self.kernel, &Expr::Iter(iter));
        is_number && range.is_some_and(|it| held.holds(it))
    }
}

/// `if (here op there) place = payload`, where `there` is `here` at the place instead of the
/// iterator.
struct Search {
    op: CompareOp,
    here: Expr,
    there: Expr,
    place: LocalId,
    payload: Expr,
    span: Span,
}

impl Search {
    fn of(kernel: &Kernel, node: &Node, iter: IterId) -> Option<Self> {
        let Node::ScfIf {
            condition: Expr::Compare(op, left, right),
            then,
            otherwise,
            span,
        } = node
        else {
            return None;
        };
        let [
            Node::Assign {
                place: Place::Local(place),
                value: payload,
                ..
            },
        ] = then.as_slice()
        else {
            return None;
        };
        let is_iterator = match payload {
            Expr::Cast(_, inner) => **inner == Expr::Iter(iter),
            other => *other == Expr::Iter(iter),
        };
        if !otherwise.is_empty() || !is_iterator {
            return None;
        }
        let is_at = |here: &Expr, there: &Expr| is_at(kernel, [here, there], (iter, *place));
        let (op, here, there) = match (is_at(left, right), is_at(right, left)) {
            (true, _) => (*op, left, right),
            (_, true) => (op.mirrored(), right, left),
            _ => return None,
        };
        Some(Self {
            op,
            here: (**here).clone(),
            there: (**there).clone(),
            place: *place,
            payload: payload.clone(),
            span: *span,
        })
    }

    /// The update of both the place and `best`, what is there.
    fn reduced(self, best: LocalId, combiner: Combiner) -> Node {
        Node::Reduce {
            places: vec![Place::Local(best), Place::Local(self.place)],
            combiner,
            span: self.span,
            values: vec![self.here, self.payload],
        }
    }

    /// Whether nothing else in `body` uses the place, or changes what is compared.
    fn is_alone_in(&self, body: &[Node], position: usize) -> bool {
        let uses = |node: &Node| {
            let mut uses = 0;
            walk(std::slice::from_ref(node), &mut |it, _| {
                for_each_own_use(it, &mut |local| uses += usize::from(local == self.place));
            });
            uses
        };
        let mut own = 1;
        for_each_local(&self.there, &mut |it| own += usize::from(it == self.place));
        let mut uses = body.iter().map(uses).enumerate();
        uses.all(|(number, uses)| uses == if number == position { own } else { 0 })
            && declared_in(body, self.place).is_none()
            && Changed::by(body).expr_stays(&self.here)
    }

    /// What stands at the place in front of the loop, if the loop has a turn.
    fn in_front_of(&self, bounds: &Bounds, ty: Type) -> Expr {
        let load = self.there.clone();
        if let (Expr::Constant(lower), Expr::Constant(upper)) = (&bounds.lower, &bounds.upper)
            && lower.as_integer() < upper.as_integer()
        {
            return load;
        }
        let has_turns = Expr::compare(CompareOp::Lt, bounds.lower.clone(), bounds.upper.clone());
        Expr::select(has_turns, load, Expr::Constant(Value::zero(ty)))
    }
}

/// Whether `there` is at `place` what `here` is at `iter`.
fn is_at(kernel: &Kernel, [here, there]: [&Expr; 2], (iter, place): (IterId, LocalId)) -> bool {
    let mut moved = there.clone();
    move_to(kernel, &mut moved, (iter, place));
    Changed::in_loop(iter, &[]).expr_stays(there) && !here.is_same(there) && here.is_same(&moved)
}

/// Lets `expr` read the elements at `iter` that it reads at `place`.
fn move_to(kernel: &Kernel, expr: &mut Expr, at: (IterId, LocalId)) {
    let (iter, place) = at;
    let Expr::Load(access) = expr else {
        let operands = expr.operands_mut().into_iter();
        return operands.for_each(|it| move_to(kernel, it, at));
    };
    for subscript in &mut access.subscripts {
        let Subscript::Computed(inside) = subscript else {
            continue;
        };
        match *without_conversions(kernel, inside) == Expr::Local(place) {
            true => *subscript = Subscript::Affine(AffineExpr::from(Variable::Iter(iter))),
            false => move_to(kernel, inside, at),
        }
    }
}
