//! Reductions that take several statements: `t = h[k]; t += x; h[k] = t;`.
//!
//! What a variable holds is put in where it is used, if that makes a reduction of the use, and if
//! nothing in between writes what was read. The variable is not needed then.

use crate::locals::{for_each_own_use, for_each_use_in_mut};
use crate::recognize::{self, SizesByForm};
use std::collections::HashMap;
use strew_affine::visit::{for_each_load, reads, walk};
use strew_affine::{ArrayId, BinaryOp, Expr, Kernel, LocalId, Node, Place};

/// No value grows beyond this, in operations, however often a variable is used to compute itself.
const MOST_OPERATIONS: usize = 64;

/// Uses further behind are not looked for: every declaration would be compared with everything
/// behind it.
const MOST_BEHIND: usize = 32;

/// More statements than this under a condition are no reduction.
const MOST_GUARDED: usize = 4;

/// Makes reductions of the statements of `kernel` that are some once what variables hold is put in.
pub(super) fn forward(kernel: &mut Kernel) {
    let mut uses = HashMap::new();
    for_each_use_in_mut(kernel, &mut |local| *uses.entry(*local).or_default() += 1);
    let mut body = std::mem::take(&mut kernel.body);
    Forwarding { kernel, uses }.block(&mut body);
    kernel.body = body;
}

struct Forwarding<'k> {
    kernel: &'k Kernel,
    /// How often each local is used, its declaration aside.
    uses: HashMap<LocalId, usize>,
}

/// A variable that was set to what an array holds.
struct Held {
    local: LocalId,
    /// What it holds.
    value: Expr,
    /// The arrays that this reads.
    arrays: Vec<ArrayId>,
    /// The nodes that set it.
    set_by: Vec<usize>,
    /// How many uses of the variable have been seen.
    uses: usize,
}

impl Forwarding<'_> {
    fn block(&mut self, nodes: &mut Vec<Node>) {
        for node in nodes.iter_mut() {
            for block in node.blocks_mut() {
                self.block(block);
            }
            if let Some(reduction) = recognize::flag(self.kernel, node) {
                *node = reduction;
            }
        }
        let mut position = 0;
        while position < nodes.len() {
            if let Some((user, set_by, reductions)) = self.reduced(nodes, position) {
                self.count(&reductions, |uses| uses + 1);
                let replaced: Vec<Node> = nodes.splice(user..=user, reductions).collect();
                self.count(&replaced, |uses| uses.saturating_sub(1));
                for node in set_by.into_iter().rev() {
                    self.count(&[nodes.remove(node)], |uses| uses.saturating_sub(1));
                }
            } else {
                position += 1;
            }
        }
    }

    fn count(&mut self, nodes: &[Node], change: impl Fn(usize) -> usize) {
        walk(nodes, &mut |node, _| {
            for_each_own_use(node, &mut |local| {
                let uses = self.uses.entry(local).or_default();
                *uses = change(*uses);
            });
        });
    }

    /// The node that uses what the one at `position` declares, the nodes that are not needed then,
    /// and the reductions that it is.
    fn reduced(&self, nodes: &[Node], position: usize) -> Option<(usize, Vec<usize>, Vec<Node>)> {
        let mut held = Held::declared(nodes.get(position)?, position)?;
        let total = self.uses.get(&held.local).copied().unwrap_or(0);
        let behind = nodes.iter().enumerate().skip(position + 1);
        for (user, node) in behind.take(MOST_BEHIND) {
            is_plain(node).then_some(())?;
            let uses = count_uses(node, held.local);
            held.uses += uses;
            if uses == 0 {
                held.survives(node).then_some(())?;
            } else if !held.is_set_by(node, user) {
                let is_last_use = held.uses == total;
                let reductions = is_last_use.then(|| self.with_value(node, &held))??;
                let before = nodes.get(..user).unwrap_or_default();
                let is_apart = !reads_what_it_updates(&reductions, before);
                return is_apart.then_some((user, held.set_by, reductions));
            }
            if held.uses == total {
                return None;
            }
        }
        None
    }

    /// The node with the value in place of the variable, if it is reductions then.
    fn with_value(&self, node: &Node, held: &Held) -> Option<Vec<Node>> {
        match node {
            Node::Assign {
                place: place @ Place::Element(access),
                value,
                span,
            } if held.arrays.contains(&access.array) => {
                let value = held.put_into(value)?;
                let nodes = recognize::assignment(self.kernel, place.clone(), value, *span);
                nodes.iter().all(is_reduction).then_some(nodes)
            }
            Node::ScfIf {
                condition,
                then,
                otherwise,
                span,
            } if otherwise.is_empty() => {
                let condition = held.put_into(condition)?;
                let then = then.iter().map(|it| self.put_into_guarded(it, held));
                let then: Option<Vec<Node>> = then.collect();
                let sizes = &mut SizesByForm;
                let node = recognize::guarded(self.kernel, (&condition, *span), &then?, sizes)?;
                // Under a condition of its own it would not look at the place where it did before.
                is_reduction(&node).then(|| vec![node])
            }
            _ => None,
        }
    }

    /// A guarded statement with the value in place of the variable, as a reduction if it is one.
    fn put_into_guarded(&self, node: &Node, held: &Held) -> Option<Node> {
        let node = held.put_into_node(node)?;
        let Node::Assign { place, value, span } = &node else {
            return Some(node);
        };
        let nodes = recognize::assignment(self.kernel, place.clone(), value.clone(), *span);
        let [only] = <[Node; 1]>::try_from(nodes).ok()?;
        Some(only)
    }
}

impl Held {
    fn declared(node: &Node, position: usize) -> Option<Self> {
        let Node::Declare { local, value } = node else {
            return None;
        };
        let mut arrays = Vec::new();
        for_each_load(value, &mut |load| arrays.push(load.array));
        (!arrays.is_empty()).then(|| Self {
            local: *local,
            value: value.clone(),
            arrays,
            set_by: vec![position],
            uses: 0,
        })
    }

    /// Whether the value can still be computed behind `node`.
    fn survives(&self, node: &Node) -> bool {
        let mut survives = true;
        walk(std::slice::from_ref(node), &mut |inner, _| {
            survives &= inner.places().iter().all(|place| match place {
                Place::Element(access) => !self.arrays.contains(&access.array),
                Place::Local(local) => !reads(&self.value, *local),
            });
        });
        survives
    }

    /// Whether `node` does nothing but to give the variable another value, which is then the one
    /// held.
    fn is_set_by(&mut self, node: &Node, position: usize) -> bool {
        let value = match node {
            Node::Assign {
                place: Place::Local(local),
                value,
                ..
            } if *local == self.local => self.put_into(value),
            Node::Reduce {
                places,
                combiner,
                values,
                span,
            } => match (places.as_slice(), values.as_slice()) {
                ([Place::Local(local)], [value]) if *local == self.local => {
                    operation(combiner.name())
                        .map(|op| Expr::binary(op, self.value.clone(), value.clone(), *span))
                }
                _ => None,
            },
            _ => None,
        };
        let Some(value) = value.filter(is_small) else {
            return false;
        };
        for_each_load(&value, &mut |load| self.arrays.push(load.array));
        self.value = value;
        self.set_by.push(position);
        true
    }

    /// `expr` with the value in place of the variable; `None` where a subscript has it.
    fn put_into(&self, expr: &Expr) -> Option<Expr> {
        let mut result = expr.clone();
        self.put(&mut result);
        (!reads(&result, self.local)).then_some(result)
    }

    fn put(&self, expr: &mut Expr) {
        if *expr == Expr::Local(self.local) {
            *expr = self.value.clone();
            return;
        }
        for operand in expr.operands_mut() {
            self.put(operand);
        }
    }

    /// An assignment or an update with the value in place of the variable.
    fn put_into_node(&self, node: &Node) -> Option<Node> {
        let mut result = node.clone();
        match &mut result {
            Node::Assign { value, .. } => *value = self.put_into(value)?,
            Node::Reduce { values, .. } => {
                for value in values {
                    *value = self.put_into(value)?;
                }
            }
            _ => return None,
        }
        (count_uses(&result, self.local) == 0).then_some(result)
    }
}

/// Whether the node is a statement, or one with a few under a condition.
fn is_plain(node: &Node) -> bool {
    node.blocks()
        .all(|block| block.len() <= MOST_GUARDED && block.iter().all(Node::is_statement))
}

fn is_reduction(node: &Node) -> bool {
    matches!(node, Node::Reduce { .. })
}

/// Whether `reductions` read, by way of a variable that was set in one of the nodes `before`, an
/// array that they update.
fn reads_what_it_updates(reductions: &[Node], before: &[Node]) -> bool {
    let updated: Vec<ArrayId> = reductions
        .iter()
        .flat_map(|it| it.written_elements().map(|access| access.array))
        .collect();
    before.iter().any(|node| {
        let Node::Declare { local, value } = node else {
            return false;
        };
        let mut reads = false;
        for_each_load(value, &mut |load| reads |= updated.contains(&load.array));
        reads && reductions.iter().any(|it| count_uses(it, *local) > 0)
    })
}

/// The operation that a combiner of variables is.
fn operation(combiner: &str) -> Option<BinaryOp> {
    Some(match combiner {
        "add" => BinaryOp::Add,
        "mul" => BinaryOp::Mul,
        "and" => BinaryOp::BitAnd,
        "or" => BinaryOp::BitOr,
        "xor" => BinaryOp::BitXor,
        _ => return None,
    })
}

fn is_small(expr: &Expr) -> bool {
    fn count(expr: &Expr, left: &mut usize) -> bool {
        let Some(rest) = left.checked_sub(1) else {
            return false;
        };
        *left = rest;
        expr.operands().into_iter().all(|it| count(it, left))
    }
    let mut left = MOST_OPERATIONS;
    count(expr, &mut left)
}

/// How often `node`, with all that is in it, uses `local`.
fn count_uses(node: &Node, local: LocalId) -> usize {
    let mut uses = 0;
    walk(std::slice::from_ref(node), &mut |inner, _| {
        for_each_own_use(inner, &mut |it| uses += usize::from(it == local));
    });
    uses
}
