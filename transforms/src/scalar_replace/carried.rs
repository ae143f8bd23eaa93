//! Elements that an iteration of an innermost loop reads and one of the few before it has written:
//! they wait in scalars instead of memory.
//!
//! By the distance in iterations, after Callahan, Carr and Kennedy: the statement that writes is
//! the generator, and what it made `k` iterations ago is in the `k`th scalar of a chain that moves
//! on at the end of each iteration.

use super::{is_counted, stay_in_range};
use crate::tree::{change_expr, change_subscripts, if_runs, replace_loop, replaced_in, scalar_for};
use std::collections::BTreeSet;
use strew_affine::visit;
use strew_affine::{
    Access, AffineExpr, AffineFor, ArrayId, Condition, Expr, Kernel, Local, LocalId, Node,
    Overflow, Place, Relation, Subscript, Value, Variable,
};

/// So many iterations a value waits at most: each of them takes a register.
const MOST_DISTANCE: i64 = 4;

/// A statement of an innermost loop whose elements later iterations read.
pub(super) struct Chain<'k> {
    target: &'k AffineFor,
    /// The position of the statement in the loop.
    writer: usize,
    element: &'k Access,
    /// The largest number of iterations between the write and a read.
    distance: i64,
}

/// The arrays that iterations of `target` read where one of the few before has written.
pub(crate) fn carried_arrays(target: &AffineFor) -> BTreeSet<ArrayId> {
    let written = target.body.iter().flat_map(Node::written_elements);
    let arrays: BTreeSet<_> = written.map(|it| it.array).collect();
    let is_carried = |array: &ArrayId| !chains_in(target, *array).is_empty();
    arrays.into_iter().filter(is_carried).collect()
}

/// Those of `array` in all loops, where all of its elements are known to be there: under the policy
/// that skips what is not, memory would not get what the scalars have.
pub(super) fn chains(kernel: &Kernel, array: ArrayId) -> Vec<Chain<'_>> {
    let mut found = Vec::new();
    visit::walk(&kernel.body, &mut |node, around| {
        if let Node::AffineFor(target) = node
            && !is_counted(around, array)
        {
            found.extend(chains_in(target, array));
        }
    });
    if !found.is_empty() && !stay_in_range(kernel, |it| it.array == array) {
        found.clear();
    }
    found
}

fn chains_in(target: &AffineFor, array: ArrayId) -> Vec<Chain<'_>> {
    let is_plain = |node: &Node| {
        matches!(
            node,
            Node::Assign { .. } | Node::Reduce { .. } | Node::Declare { .. }
        )
    };
    if target.lanes != 1 || !target.body.iter().all(is_plain) {
        return Vec::new();
    }
    let writes: Vec<_> = target
        .body
        .iter()
        .enumerate()
        .flat_map(|(position, node)| node.written_elements().map(move |it| (position, it)))
        .filter(|(_, it)| it.array == array)
        .collect();
    let reads = reads(&target.body, array);
    let mut found = Vec::new();
    for (position, element) in &writes {
        let is_assigned = matches!(target.body.get(*position), Some(Node::Assign { .. }));
        let mut others = writes.iter().filter(|(other, _)| other != position);
        let is_alone = others.all(|(_, other)| never_meet(target, element, other));
        let distances = reads
            .iter()
            .filter_map(|it| iterations_between(target, it, element));
        let distance = distances.filter(|it| *it <= MOST_DISTANCE).max();
        if let Some(distance) = distance.filter(|it| *it > 0 && is_assigned && is_alone) {
            found.push(Chain {
                target,
                writer: *position,
                element,
                distance,
            });
        }
    }
    found
}

fn reads(body: &[Node], array: ArrayId) -> Vec<&Access> {
    let mut found = Vec::new();
    for node in body {
        visit::for_each_load_of(node, &mut |it| found.push(it));
    }
    found.retain(|it| it.array == array);
    found
}

/// How many iterations before that of `read` the loop has come to the same element at `write`;
/// below zero where it comes later.
fn iterations_between(target: &AffineFor, read: &Access, write: &Access) -> Option<i64> {
    let mut found = None;
    for (read, write) in read.subscripts.iter().zip(&write.subscripts) {
        let (Subscript::Affine(read), Subscript::Affine(write)) = (read, write) else {
            return None;
        };
        let (by, write) = write.split_off(target.iter)?;
        let (read_by, read) = read.split_off(target.iter)?;
        let further = write.minus(&read).ok()?.as_constant()?;
        if by != read_by {
            return None;
        }
        let each = by.checked_mul(target.step)?;
        let distance = match each {
            0 if further == 0 => continue,
            0 => return None,
            _ if further % each == 0 => further / each,
            _ => return None,
        };
        if found.replace(distance).is_some_and(|it| it != distance) {
            return None;
        }
    }
    found
}

/// Whether two accesses of one array are of different elements in all iterations of `target`: in
/// one dimension they are a fixed distance apart, wherever both are.
fn never_meet(target: &AffineFor, one: &Access, other: &Access) -> bool {
    let mut dimensions = one.subscripts.iter().zip(&other.subscripts);
    dimensions.any(|pair| match pair {
        (Subscript::Affine(one), Subscript::Affine(other)) => {
            let stays = |it: &AffineExpr| !it.mentions(Variable::Iter(target.iter));
            let distance = one.minus(other).ok().and_then(|it| it.as_constant());
            stays(one) && stays(other) && distance.is_some_and(|it| it != 0)
        }
        _ => false,
    })
}

/// Lets reads in the loops of `chains` use scalars.
pub(super) fn rewrite(kernel: &mut Kernel, chains: &[Chain<'_>]) -> Result<(), Overflow> {
    for of_loop in chains.chunk_by(|one, other| one.target.iter == other.target.iter) {
        let Some(target) = of_loop.first().map(|it| it.target) else {
            continue;
        };
        let chains: Vec<_> = of_loop.iter().map(|it| Scalars::of(kernel, it)).collect();
        let mut around = target.clone();
        around.body = body(target, &chains).into();
        let mut nodes = Vec::new();
        for chain in &chains {
            nodes.extend(chain.begin(kernel)?);
        }
        nodes.push(Node::AffineFor(around));
        let replacement = if_runs(kernel, target, nodes)?;
        replace_loop(&mut kernel.body, target.iter, replacement);
    }
    Ok(())
}

/// The scalars of a chain.
struct Scalars<'k> {
    chain: &'k Chain<'k>,
    /// What this iteration writes.
    made: LocalId,
    /// What those before it have written, the last one first.
    waiting: Vec<LocalId>,
}

impl<'k> Scalars<'k> {
    fn of(kernel: &mut Kernel, chain: &'k Chain<'k>) -> Self {
        let mut local = |suffix: &str, mutable| {
            let local = Local {
                mutable,
                ..scalar_for(kernel, chain.element, suffix)
            };
            kernel.locals.alloc(local)
        };
        Self {
            chain,
            waiting: (0..chain.distance).map(|_| local("s", true)).collect(),
            made: local("v", false),
        }
    }

    /// What there is before the first iteration.
    fn begin(&self, kernel: &Kernel) -> Result<Vec<Node>, Overflow> {
        let mut nodes = Vec::new();
        for (before, local) in (1..).zip(&self.waiting) {
            let beginnings = &self.chain.target.lower;
            if let Some(first) = beginnings.as_single() {
                nodes.push(Node::Declare {
                    local: *local,
                    value: self.before(first, before)?,
                });
                continue;
            }
            let ty = kernel.locals[*local].ty;
            nodes.push(Node::Declare {
                local: *local,
                value: Expr::Constant(Value::zero(ty)),
            });
            for (position, this) in beginnings.0.iter().enumerate() {
                nodes.push(self.at_greatest((position, this), before, *local)?);
            }
        }
        Ok(nodes)
    }

    /// Sets `local` to what is `before` iterations before `this`, the beginning at `position`, if
    /// that is the first of the greatest ones. What is loaded is in range since it is, so the
    /// condition says all of that.
    fn at_greatest(
        &self,
        (position, this): (usize, &AffineExpr),
        before: i64,
        local: LocalId,
    ) -> Result<Node, Overflow> {
        let others = self.chain.target.lower.0.iter().enumerate();
        let others = others.filter(|(other, _)| *other != position);
        let conditions = others.map(|(other, beginning)| Condition {
            left: beginning.clone(),
            relation: match other < position {
                true => Relation::Less,
                false => Relation::LessOrEqual,
            },
            right: this.clone(),
        });
        let then = vec![Node::Assign {
            place: Place::Local(local),
            value: self.before(this, before)?,
            span: self.chain.element.span,
        }];
        Ok(Node::AffineIf {
            conditions: conditions.collect(),
            then: then.into(),
            otherwise: [].into(),
        })
    }

    /// What is where the loop would write so many iterations before `first`.
    fn before(&self, first: &AffineExpr, before: i64) -> Result<Expr, Overflow> {
        let target = self.chain.target;
        let back = target.step.checked_mul(before).ok_or(Overflow)?;
        let iteration = first.minus(&back.into())?;
        let element = replaced_in(self.chain.element, target.iter, &iteration)?;
        Ok(Expr::Load(element))
    }

    /// The scalar that has what the statement at `position` reads at `access`.
    fn holding(&self, access: &Access, position: usize) -> Option<LocalId> {
        let Chain {
            target, element, ..
        } = *self.chain;
        if access.array != element.array {
            return None;
        }
        match iterations_between(target, access, element)? {
            0 if position > self.chain.writer => Some(self.made),
            before => self
                .waiting
                .get(usize::try_from(before).ok()?.checked_sub(1)?)
                .copied(),
        }
    }

    /// What this iteration has written is what the next one has from the one before it.
    fn move_on(&self) -> Vec<Node> {
        let from = self.waiting.iter().rev().skip(1).chain([&self.made]);
        let moves = self.waiting.iter().rev().zip(from);
        let moves = moves.map(|(to, from)| Node::Assign {
            place: Place::Local(*to),
            value: Expr::Local(*from),
            span: self.chain.element.span,
        });
        moves.collect()
    }
}

fn body(target: &AffineFor, chains: &[Scalars<'_>]) -> Vec<Node> {
    let mut nodes = Vec::new();
    for (position, node) in target.body.iter().enumerate() {
        let mut node = node.clone();
        let mut use_scalar = |expr: &mut Expr| {
            if let Expr::Load(access) = expr {
                let mut held = chains.iter().filter_map(|it| it.holding(access, position));
                if let Some(local) = held.next() {
                    *expr = Expr::Local(local);
                }
            }
        };
        for place in node.places_mut() {
            if let Place::Element(access) = place {
                change_subscripts(access, &mut use_scalar);
            }
        }
        for expr in node.expressions_mut() {
            change_expr(expr, &mut use_scalar);
        }
        let made = chains.iter().find(|it| it.chain.writer == position);
        if let (Some(chain), Node::Assign { value, .. }) = (made, &mut node) {
            let local = chain.made;
            let value = std::mem::replace(value, Expr::Local(local));
            nodes.push(Node::Declare { local, value });
        }
        nodes.push(node);
    }
    nodes.extend(chains.iter().flat_map(Scalars::move_on));
    nodes
}

#[cfg(test)]
mod tests {
    use crate::Verdict::Misaddressed;
    use crate::test_support::{
        accepts, apply, assert_same_meaning, assert_same_results, kernel, refuses,
    };

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: f64[n]) {
               affine.for i in 2..n { x[i] = x[i - 1] * 0.5 + x[i - 2] }
             }",
            "scalar_replace(x)",
            "kernel @k(n: i64, x: f64[n]) {
               affine.if (2 < n) {
                 var x_s: f64 = x[1]
                 var x_s_2: f64 = x[0]
                 affine.for i in 2..n {
                   let x_v: f64 = x_s * 0.5 + x_s_2
                   x[i] = x_v
                   x_s_2 = x_s
                   x_s = x_v
                 }
               }
             }",
        );
    }

    /// Rows that are made together: each uses what the one above has just made.
    #[test]
    fn several_chains_in_a_loop() {
        let before = kernel(
            "kernel @sums(n: i64, m: i64, a: f64[n, m], s: f64[n + 1, m + 1]) {
               affine.for i in 0..n { affine.for j in 0..m {
                 s[i + 1, j + 1] = a[i, j] + s[i, j + 1] + s[i + 1, j] - s[i, j]
               } }
             }",
        );
        let after = apply(&before, "unroll_and_jam(i, 2); scalar_replace(s)");
        let text = after.to_string();
        assert!(
            text.contains("let s_v_2: f64 = a[i + 1, j] + s_v + s_s_2 - s_s\n"),
            "{text}"
        );
        assert_same_meaning(&before, &after);
    }

    #[test]
    fn other_steps_strides_and_beginnings() {
        for (around, bounds, body) in [
            ("0..1", "3..n step 3", "y[j] = y[j - 3] + 1.0"),
            ("0..1", "0..n", "y[n - 1 - j] = y[n - j] * 2.0"),
            ("0..n", "max(i, 1)..n", "y[j] = y[j - 1] + y[j]"),
            (
                "0..n",
                "max(i, 1)..min(n, i + 3)",
                "y[j] = y[j - 1] z[j] = y[j] y[j] = z[j]",
            ),
            ("0..n", "max(1, 5 - i, i - 2)..n", "y[j] = y[j - 1] + z[j]"),
            (
                "0..n",
                "1..n",
                "let t: f64 = y[j - 1] y[j] = t * t z[j] = y[j] + t",
            ),
        ] {
            let before = kernel(&format!(
                "kernel @k(n: i64, y: f64[n + 1], z: f64[n]) {{
                   affine.for i in {around} {{ affine.for j in {bounds} {{ {body} }} }}
                 }}"
            ));
            let script: crate::Schedule = "scalar_replace(y)".parse().expect("a schedule");
            let Ok(after) = script.apply(&before, &mut ()) else {
                assert!(body.contains("y[j] = z[j]"), "{body}");
                continue;
            };
            assert!(after.to_string().contains("y_v"), "{after}");
            assert_same_results(&before, &after);
        }
    }

    #[test]
    fn what_others_may_write_meanwhile_stays_in_memory() {
        for body in [
            // The row of the second may be that of the first.
            "y[i, j] = y[i, j - 1] y[t, j] = 0.0",
            "y[i, j] = y[i, j - 1] y[i, n - j] = 0.0",
            "y[i, j] reduce(add) z[j] z[j] = y[i, j - 1]",
            "y[i, j] = y[i, j - 5]",
            "y[i, j] = y[i, j + 1]",
            "y[i, j] = y[j, j - 1]",
            "scf.if z[j] < 1.0 { y[i, j] = y[i, j - 1] }",
        ] {
            let source = format!(
                "kernel @k(n: i64, t: i64, y: f64[n, n], z: f64[n]) {{
                   affine.for i in 0..n {{ affine.for j in 1..n {{ {body} }} }}
                 }}"
            );
            refuses(
                &source,
                "scalar_replace(y)",
                Misaddressed,
                "NothingToReplace",
            );
        }
        // Where the first element is missing, its reads may be skipped.
        refuses(
            "kernel @k(n: i64, y: f64[n]) { affine.for i in 0..n { y[i] = y[i - 1] } }",
            "scalar_replace(y)",
            Misaddressed,
            "NothingToReplace",
        );
    }
}
