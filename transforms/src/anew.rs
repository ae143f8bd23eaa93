//! What a loop leaves in scalars, computed in another place as well.

use crate::in_range::{conditions_in_range, narrowed};
use crate::scalars::declared_in;
use strew_affine::slice::slice;
use strew_affine::visit::{
    Loop, allocated_arrays, arrays_written_in, for_each_load, for_each_load_of,
    for_each_local_read, has_forall, scalars_set_in, walk,
};
use strew_affine::{
    AffineExpr, AffineFor, CompareOp, Condition, Expr, IterId, Kernel, LocalId, Node, Place,
    Relation,
};

/// The statements of a loop's iterations that set some scalars, and what these follow from: nothing
/// that iterations change but those scalars.
pub(crate) struct Anew {
    pub(crate) nodes: Vec<Node>,
}

impl Anew {
    /// `None` where they follow from something else that iterations change, or do more than that.
    pub(crate) fn of(target: &AffineFor, locals: &[LocalId]) -> Option<Self> {
        let sets = |it: &Place| it.local().is_some_and(|it| locals.contains(&it));
        let nodes = slice(&target.body, &|node| {
            node.places().iter().any(sets).then(|| node.clone())
        });
        let own: Vec<LocalId> = declared_in(&nodes);
        let set = scalars_set_in(&target.body);
        let written = arrays_written_in(&target.body);
        let made = allocated_arrays(&target.body);
        let mut is_alone = true;
        walk(&nodes, &mut |node, _| {
            for_each_local_read(node, &mut |it| {
                is_alone &= locals.contains(&it) || own.contains(&it) || !set.contains(&it);
            });
            for_each_load_of(node, &mut |it| {
                is_alone &= !written.contains(&it.array) && !made.contains(&it.array);
            });
        });
        let does_nothing_else = arrays_written_in(&nodes).is_empty()
            && allocated_arrays(&nodes).is_empty()
            && !has_forall(&nodes);
        (is_alone && does_nothing_else).then_some(Self { nodes })
    }

    /// What keeps all that they read in range in each iteration of `target`, wherever that runs at
    /// all. `None` means that nobody could tell.
    pub(crate) fn conditions(
        &self,
        kernel: &Kernel,
        target: &AffineFor,
        around: &[Loop<'_>],
    ) -> Option<Vec<Condition>> {
        let mut reads = Reads {
            kernel,
            around,
            conditions: Vec::new(),
        };
        reads.block(&self.nodes, (target, &[]))?;
        Some(reads.conditions)
    }
}

/// What keeps reads in range.
struct Reads<'k> {
    kernel: &'k Kernel,
    around: &'k [Loop<'k>],
    conditions: Vec<Condition>,
}

/// The loop with those of its iterations that come to a statement, and the loops inside of it
/// around the statement.
type Here<'h> = (&'h AffineFor, &'h [Loop<'h>]);

impl Reads<'_> {
    /// `None` where nobody can tell, or where no sizes would.
    fn block(&mut self, nodes: &[Node], (target, inside): Here<'_>) -> Option<()> {
        for node in nodes {
            match node {
                Node::AffineIf {
                    conditions,
                    then,
                    otherwise,
                } => {
                    self.block(then, (&narrowed(target, conditions), inside))?;
                    self.block(otherwise, (target, inside))?;
                }
                Node::ScfIf {
                    condition,
                    then,
                    otherwise,
                    ..
                } => {
                    let mut here = target.clone();
                    for part in condition.conjuncts() {
                        self.expr(part, (&here, inside))?;
                        here = raised(&here, part);
                    }
                    self.block(then, (&here, inside))?;
                    self.block(otherwise, (target, inside))?;
                }
                _ => {
                    let exprs = node.expressions();
                    exprs
                        .into_iter()
                        .try_for_each(|it| self.expr(it, (target, inside)))?;
                    let inside = [inside, Loop::of(node).as_slice()].concat();
                    let mut blocks = node.blocks();
                    blocks.try_for_each(|it| self.block(it, (target, &inside)))?;
                }
            }
        }
        Some(())
    }

    fn expr(&mut self, expr: &Expr, (target, inside): Here<'_>) -> Option<()> {
        let loops = [self.around, &[Loop::Affine(target)], inside].concat();
        let mut found = Some(Vec::new());
        for_each_load(expr, &mut |access| {
            let both = found
                .take()
                .zip(conditions_in_range(self.kernel, &loops, access));
            found = both.map(|(found, it)| [found, it].concat());
        });
        let found = found?;
        if found.iter().any(never_holds) {
            return None;
        }
        self.conditions.extend(found);
        Some(())
    }
}

fn never_holds(condition: &Condition) -> bool {
    let ends = condition
        .left
        .as_constant()
        .zip(condition.right.as_constant());
    ends.is_some_and(|(left, right)| match condition.relation {
        Relation::LessOrEqual => left > right,
        Relation::Less => left >= right,
        Relation::Equal => left != right,
    })
}

/// `target` from where on `condition` may hold, which it may not below: `i > 0`, and the same of
/// `i` in fewer bits, which is not greater than itself where it is not negative.
fn raised(target: &AffineFor, condition: &Expr) -> AffineFor {
    let lower = target.lower.as_single().and_then(AffineExpr::as_constant);
    let least = least_where(target.iter, condition);
    match lower.zip(least) {
        Some((lower, least)) if lower >= 0 && least > lower => AffineFor {
            lower: AffineExpr::from(least).into(),
            ..target.clone()
        },
        _ => target.clone(),
    }
}

fn least_where(iter: IterId, condition: &Expr) -> Option<i64> {
    let Expr::Compare(op, left, right) = condition else {
        return None;
    };
    let (op, constant) = match (is_iter(left, iter), is_iter(right, iter)) {
        (true, _) => (*op, right.as_integer()?),
        (_, true) => (op.mirrored(), left.as_integer()?),
        _ => return None,
    };
    match op {
        CompareOp::Gt => constant.checked_add(1),
        CompareOp::Ge | CompareOp::Eq => Some(constant),
        CompareOp::Ne if constant == 0 => Some(1),
        _ => None,
    }
}

fn is_iter(expr: &Expr, iter: IterId) -> bool {
    match expr {
        Expr::Iter(it) => *it == iter,
        Expr::Cast(ty, operand) => ty.is_integer() && is_iter(operand, iter),
        _ => false,
    }
}
