//! What is true of each element that a loop updates, where conditions around its updates say so.
//!
//! `if (depth[w] == level + 1) paths[w] += x;` updates no element but those whose depth is that,
//! whatever `w` is. So an element of another depth may be read, and nobody has to remember that it
//! was.

use crate::changed::Changed;
use crate::visit::for_each_load;
use crate::{Access, AffineExpr, ArrayId, Expr, Node, Subscript};

/// A condition that holds wherever an update is made, in terms of the update's place.
struct Guard {
    condition: Expr,
    update: Access,
}

/// What holds of each element of an array that a body updates: one of these guards.
pub(super) struct Guards(Vec<Guard>);

impl Guards {
    /// `None` where some update is made under no condition that speaks of its element.
    pub(super) fn of(body: &[Node], changed: &Changed, array: ArrayId) -> Option<Self> {
        let mut guards = Vec::new();
        let all_are_guarded = guards_in(body, changed, array, &mut Vec::new(), &mut guards);
        all_are_guarded.then_some(Self(guards))
    }

    /// What holds of the element that `access` reads if it is one of those that are updated: one of
    /// these conditions, which nothing but its place decides. Each is asked for itself: where one
    /// reads an index out of range, no update under it is made, but one under another may be.
    pub(super) fn of_element(&self, access: &Access) -> Vec<Expr> {
        let mut distinct: Vec<Expr> = Vec::new();
        for guard in &self.0 {
            let mut condition = guard.condition.clone();
            put(&mut condition, &guard.update, access);
            if !distinct.iter().any(|it| it.is_same(&condition)) {
                distinct.push(condition);
            }
        }
        distinct
    }
}

/// Collects the guards of the updates of `array` in `nodes`, which run where `conditions` hold;
/// whether each has one.
fn guards_in<'k>(
    nodes: &'k [Node],
    changed: &Changed,
    array: ArrayId,
    conditions: &mut Vec<&'k Expr>,
    found: &mut Vec<Guard>,
) -> bool {
    nodes.iter().all(|node| {
        let mut written = node.written_elements().filter(|it| it.array == array);
        let are_guarded = written.all(|update| {
            let guard = guard(conditions, changed, update);
            let is_guarded = guard.is_some();
            found.extend(guard);
            is_guarded
        });
        let around = conditions.len();
        let inside = node.blocks().enumerate().all(|(number, block)| {
            if let (Node::ScfIf { condition, .. }, 0) = (node, number) {
                conditions.extend(condition.conjuncts());
            }
            let are_guarded = guards_in(block, changed, array, conditions, found);
            conditions.truncate(around);
            are_guarded
        });
        are_guarded && inside
    })
}

/// What of the `conditions` speaks of the element that `update` goes to.
fn guard(conditions: &[&Expr], changed: &Changed, update: &Access) -> Option<Guard> {
    if !changed.keeps_place(update) {
        return None;
    }
    let telling = conditions.iter().copied();
    let telling = telling.filter(|condition| speaks_of(condition, changed, update));
    let both = |left, right| Expr::And(Box::new(left), Box::new(right));
    let condition = telling.cloned().reduce(both)?;
    let update = update.clone();
    Some(Guard { condition, update })
}

/// Whether `condition` is about the element at the place of `update`, and about nothing else that
/// changes.
fn speaks_of(condition: &Expr, changed: &Changed, update: &Access) -> bool {
    let mut speaks = false;
    for_each_load(condition, &mut |it| speaks |= it.is_at_same_place(update));
    let mut of_one = condition.clone();
    put(&mut of_one, update, &any_place(update));
    speaks && changed.expr_stays(&of_one)
}

/// An access that is steady, in the place of `access`.
fn any_place(access: &Access) -> Access {
    let mut steady = access.clone();
    steady
        .subscripts
        .fill(Subscript::Affine(AffineExpr::from(0)));
    steady
}

/// Has `expr` speak of the place of `new` where it speaks of that of `old`.
fn put(expr: &mut Expr, old: &Access, new: &Access) {
    if let Expr::Load(load) = expr {
        if load.is_at_same_place(old) {
            load.subscripts.clone_from(&new.subscripts);
            return;
        }
        for subscript in &mut load.subscripts {
            if let Subscript::Computed(inner) = subscript {
                put(inner, old, new);
            }
        }
    }
    for operand in expr.operands_mut() {
        put(operand, old, new);
    }
}
