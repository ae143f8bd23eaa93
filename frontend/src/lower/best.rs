//! The place of the greatest: `if (a[j] > a[best]) best = j` keeps what stands there beside the place, and is a reduction of both then.
//!
//! Nothing writes to the array while the loop runs, so what stands at the place is what was compared last when the place was set.

use crate::raise::computed;
use crate::recognize::without_conversions;
use std::collections::BTreeMap;
use strew_affine::value_range::ValueRanges;
use strew_affine::visit::{arrays_written_in, for_each_local_read, walk};
use strew_affine::{
    Access, AffineExpr, AffineFor, Combiner, CompareOp, Expr, IterId, Kernel, Local, LocalId, Node,
    Place, Subscript, Type, Value, Variable,
};

/// Keeps what is compared beside the places that loops of `kernel` look for.
pub(super) fn keep_the_best(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    block(kernel, &mut body);
    kernel.body = body;
}

fn block(kernel: &mut Kernel, nodes: &mut Vec<Node>) {
    let mut done = Vec::with_capacity(nodes.len());
    for mut node in std::mem::take(nodes) {
        if let Node::AffineFor(target) = &mut node {
            let kept = kept_in(kernel, target);
            done.extend(kept);
        }
        for inside in node.blocks_mut() {
            block(kernel, inside);
        }
        done.push(node);
    }
    *nodes = done;
}

/// What is to be declared in front of `target` so that its body reduces into it.
fn kept_in(kernel: &mut Kernel, target: &mut AffineFor) -> Vec<Node> {
    let mut declared = Vec::new();
    for position in 0..target.body.len() {
        let found = target
            .body
            .get(position)
            .and_then(|it| Search::of(kernel, it, target.iter));
        let Some(found) = found.filter(|it| it.is_alone_in(kernel, target, position)) else {
            continue;
        };
        let (Some(combiner), Some(value)) = (found.combiner(), found.in_front_of(kernel, target))
        else {
            continue;
        };
        let best = kernel.locals.alloc(Local {
            name: "best".to_owned(),
            ty: kernel.arrays[found.here.array].element,
            mutable: true,
            is_element: false,
            span: found.here.span,
        });
        let reduce = Node::Reduce {
            places: vec![Place::Local(best), Place::Local(found.place)],
            combiner,
            values: vec![Expr::Load(found.here.clone()), found.payload.clone()],
            span: found.here.span,
        };
        declared.push(Node::Declare { local: best, value });
        if let Some(node) = target.body.get_mut(position) {
            *node = reduce;
        }
    }
    declared
}

/// `if (here op there) place = payload`, where `there` is `here` at the place instead of the iterator.
struct Search {
    op: CompareOp,
    here: Access,
    there: Access,
    place: LocalId,
    payload: Expr,
}

impl Search {
    fn of(kernel: &Kernel, node: &Node, iter: IterId) -> Option<Self> {
        let Node::ScfIf {
            condition: Expr::Compare(op, left, right),
            then,
            otherwise,
            ..
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
        let (left, right) = (loaded(kernel, left)?, loaded(kernel, right)?);
        let (op, here, there) = match (
            is_at(kernel, [left, right], (iter, *place)),
            is_at(kernel, [right, left], (iter, *place)),
        ) {
            (true, _) => (*op, left, right),
            (_, true) => (op.mirrored(), right, left),
            _ => return None,
        };
        Some(Self {
            op,
            here: here.clone(),
            there: there.clone(),
            place: *place,
            payload: payload.clone(),
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

    /// Whether nothing else in `target` uses the place or writes to the array, and the place holds every iterator as it is.
    fn is_alone_in(&self, kernel: &Kernel, target: &AffineFor, position: usize) -> bool {
        let mut uses = BTreeMap::<usize, usize>::new();
        for (number, node) in target.body.iter().enumerate() {
            let mut count = |local: LocalId| {
                *uses.entry(number).or_default() += usize::from(local == self.place);
            };
            walk(std::slice::from_ref(node), &mut |it, _| {
                for_each_local_read(it, &mut count);
                it.places()
                    .iter()
                    .filter_map(Place::local)
                    .for_each(&mut count);
                if let Node::Declare { local, .. } = it {
                    count(*local);
                }
            });
        }
        let is_alone = uses
            .iter()
            .all(|(number, uses)| *number == position || *uses == 0);
        let is_read_once = uses.get(&position) == Some(&2);
        let written = arrays_written_in(&target.body);
        let is_number = kernel.arrays[self.here.array].element != Type::Bool;
        is_alone
            && is_read_once
            && is_number
            && !written.contains(&self.here.array)
            && self.holds_iterators(kernel, target)
    }

    fn holds_iterators(&self, kernel: &Kernel, target: &AffineFor) -> bool {
        let ranges = ValueRanges::of(kernel);
        let held = kernel.locals[self.place].ty.integer_range();
        let within = |bound: &AffineExpr| ranges.of_expr(kernel, &computed(bound));
        let Some(((least, most), (lower, upper))) = held.zip(single(target)) else {
            return false;
        };
        let ends = within(lower).zip(within(upper));
        ends.is_some_and(|(lower, upper)| least <= lower.0 && upper.1 - 1 <= most)
    }

    /// What stands at the place in front of the loop, if the loop has a turn.
    fn in_front_of(&self, kernel: &Kernel, target: &AffineFor) -> Option<Expr> {
        let load = Expr::Load(self.there.clone());
        let (lower, upper) = single(target)?;
        if let (Some(lower), Some(upper)) = (lower.as_constant(), upper.as_constant()) {
            return (lower < upper).then_some(load);
        }
        let has_turns = Expr::compare(CompareOp::Lt, computed(lower), computed(upper));
        let nothing = Expr::Constant(Value::zero(kernel.arrays[self.there.array].element));
        Some(Expr::select(has_turns, load, nothing))
    }
}

/// The bounds, if there is one of each.
fn single(target: &AffineFor) -> Option<(&AffineExpr, &AffineExpr)> {
    match (target.lower.0.as_slice(), target.upper.0.as_slice()) {
        ([lower], [upper]) => Some((lower, upper)),
        _ => None,
    }
}

/// What is loaded, if conversions of it keep its value.
fn loaded<'e>(kernel: &Kernel, expr: &'e Expr) -> Option<&'e Access> {
    match without_conversions(kernel, expr) {
        Expr::Load(access) => Some(access),
        _ => None,
    }
}

/// Whether `there` is the element at `place` where `here` is that at `iter`.
fn is_at(kernel: &Kernel, [here, there]: [&Access; 2], (iter, place): (IterId, LocalId)) -> bool {
    let variable = Variable::Iter(iter);
    let iterator = AffineExpr::from(variable);
    let is_place = |expr: &Expr| *without_conversions(kernel, expr) == Expr::Local(place);
    let mut found = false;
    let mut pairs = here.subscripts.iter().zip(&there.subscripts);
    let are_alike = pairs.all(|pair| match pair {
        (Subscript::Affine(here), Subscript::Computed(there)) => {
            found = true;
            *here == iterator && is_place(there)
        }
        (Subscript::Affine(here), Subscript::Affine(there)) => {
            here == there && !here.mentions(variable)
        }
        _ => false,
    });
    here.array == there.array && are_alike && found
}
