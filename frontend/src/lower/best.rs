//! The place of the greatest: `if (a[j] > a[best]) best = j` keeps what stands there beside the place, and is a reduction of both then.
//!
//! Nothing writes to the array while the loop runs, so what stands at the place is what was compared last when the place was set. That goes
//! for whatever is computed of the iterator, such as `fabs(a[j])`.

use super::unused::set_by;
use crate::raise::computed;
use crate::recognize::without_conversions;
use std::collections::BTreeMap;
use strew_affine::value_range::{Range, ValueRanges};
use strew_affine::visit::{
    Loop, arrays_written_in, for_each_load, for_each_local, for_each_local_read, walk,
};
use strew_affine::{
    AffineExpr, Combiner, CompareOp, Expr, Factor, IterId, Kernel, Local, LocalId, Node, Place,
    Span, Subscript, Type, Value, Variable,
};

/// Keeps what is compared beside the places that loops of `kernel` look for.
pub(super) fn keep_the_best(kernel: &mut Kernel) {
    let ranges = ValueRanges::of(kernel);
    let mut body = std::mem::take(&mut kernel.body);
    let mut places = Places {
        kernel,
        ranges,
        iterators: BTreeMap::new(),
    };
    places.block(&mut body);
    kernel.body = body;
}

struct Places<'k> {
    kernel: &'k mut Kernel,
    ranges: ValueRanges,
    /// Between which numbers the iterators of the loops around lie, where that is known.
    iterators: BTreeMap<IterId, Range>,
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

    /// The bounds of `around`, if there is one of each, and it counts by one; what lies between them is known from here on.
    fn bounds(&mut self, around: Loop<'_>) -> Option<Bounds> {
        let iter = around.iter();
        let (lower, upper, range) = match around {
            Loop::Affine(it) => {
                let ([lower], [upper]) = (it.lower.0.as_slice(), it.upper.0.as_slice()) else {
                    return None;
                };
                let range = self.between(lower).zip(self.between(upper));
                (computed(lower), computed(upper), range)
            }
            Loop::Scf(it) => {
                let range = |expr| self.ranges.of_expr(self.kernel, expr);
                let range = range(&it.lower).zip(range(&it.upper));
                (it.lower.clone(), it.upper.clone(), range)
            }
            Loop::Forall(_) => return None,
        };
        let (first, end) = range?;
        self.iterators.insert(iter, (first.0, end.1 - 1));
        Some(Bounds { iter, lower, upper })
    }

    /// Between which numbers `affine` lies.
    fn between(&self, affine: &AffineExpr) -> Option<Range> {
        let mut sum = (i128::from(affine.constant()), i128::from(affine.constant()));
        for term in affine.terms() {
            let coefficient = i128::from(term.coefficient);
            let mut factors = term.factors.iter().map(|it| self.of_factor(it));
            let product = factors.try_fold((coefficient, coefficient), |product, factor| {
                times(product, factor?)
            })?;
            sum = (sum.0 + product.0, sum.1 + product.1);
        }
        Some(sum)
    }

    fn of_factor(&self, factor: &Factor) -> Option<Range> {
        match factor {
            Factor::Variable(Variable::Iter(iter)) => self.iterators.get(iter).copied(),
            Factor::Variable(Variable::Param(scalar)) => {
                self.kernel.scalars[*scalar].ty.integer_range()
            }
            Factor::FloorDiv(..) | Factor::Mod(..) => None,
        }
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
            let Some(combiner) = found.combiner() else {
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
        let range = self.iterators.get(&iter);
        is_number && range.is_some_and(|it| held.holds(*it))
    }
}

fn times(one: Range, other: Range) -> Option<Range> {
    let ends = [
        one.0.checked_mul(other.0)?,
        one.0.checked_mul(other.1)?,
        one.1.checked_mul(other.0)?,
        one.1.checked_mul(other.1)?,
    ];
    Some((ends.into_iter().min()?, ends.into_iter().max()?))
}

/// `if (here op there) place = payload`, where `there` is `here` at the place instead of the iterator.
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

    fn combiner(&self) -> Option<Combiner> {
        Combiner::from_name(match self.op {
            CompareOp::Gt => "argmax",
            CompareOp::Lt => "argmin",
            CompareOp::Ge => "argmax_last",
            CompareOp::Le => "argmin_last",
            CompareOp::Eq | CompareOp::Ne => return None,
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

    /// Whether nothing else in `body` uses the place, or sets what is compared.
    fn is_alone_in(&self, body: &[Node], position: usize) -> bool {
        let uses = |node: &Node| {
            let mut uses = 0;
            let mut count = |local: LocalId| uses += usize::from(local == self.place);
            walk(std::slice::from_ref(node), &mut |it, _| {
                for_each_local_read(it, &mut count);
                set_by(it).into_iter().for_each(&mut count);
            });
            uses
        };
        let mut own = 1;
        for_each_local(&self.there, &mut |it| own += usize::from(it == self.place));
        let mut uses = body.iter().map(uses).enumerate();
        uses.all(|(number, uses)| uses == if number == position { own } else { 0 })
            && self.stays_in(body)
    }

    /// Whether nothing in `body` changes what is compared, but for the iterator.
    fn stays_in(&self, body: &[Node]) -> bool {
        let written = arrays_written_in(body);
        let mut stays = true;
        for_each_load(&self.here, &mut |it| stays &= !written.contains(&it.array));
        let mut set = Vec::new();
        walk(body, &mut |node, _| set.extend(set_by(node)));
        for_each_local(&self.here, &mut |it| stays &= !set.contains(&it));
        stays
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
    !mentions(there, iter) && !here.is_same(there) && here.is_same(&moved)
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

/// Whether `expr` depends on `iter`.
fn mentions(expr: &Expr, iter: IterId) -> bool {
    let in_subscript = |it: &Subscript| match it {
        Subscript::Affine(affine) => affine.mentions(Variable::Iter(iter)),
        Subscript::Computed(inside) => mentions(inside, iter),
    };
    let here = match expr {
        Expr::Iter(it) => *it == iter,
        Expr::Load(access) => access.subscripts.iter().any(in_subscript),
        _ => false,
    };
    here || expr.operands().into_iter().any(|it| mentions(it, iter))
}
