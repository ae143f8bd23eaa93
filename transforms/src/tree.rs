//! The loops of a kernel, and putting something in a loop's place.

use crate::in_range::is_non_negative;
use std::fmt;
use strew_affine::visit::{self, Loop};
use strew_affine::{
    Access, AffineExpr, AffineFor, ArrayId, Block, Condition, Expr, Iter, IterId, Kernel, Local,
    LocalId, Node, Overflow, Place, Relation, Span, Subscript, Variable,
};

/// A loop and the loops around it, outermost first.
#[derive(Clone, Debug)]
pub(crate) struct Nested<'k> {
    pub(crate) it: Loop<'k>,
    pub(crate) around: Vec<Loop<'k>>,
}

/// Every loop that binds an iterator, in the order of the text.
pub(crate) fn loops(kernel: &Kernel) -> Vec<Nested<'_>> {
    loops_where(kernel, |_, _| true)
}

/// Those that `are_meant`, which is asked with the loops around each.
pub(crate) fn loops_where<'k>(
    kernel: &'k Kernel,
    are_meant: impl Fn(Loop<'k>, &[Loop<'k>]) -> bool,
) -> Vec<Nested<'k>> {
    nested(kernel, |_| true, are_meant)
}

/// Those over `iters`.
pub(crate) fn loops_over<'k>(kernel: &'k Kernel, iters: &[IterId]) -> Vec<Nested<'k>> {
    nested(kernel, |it| iters.contains(&it), |_, _| true)
}

fn nested<'k>(
    kernel: &'k Kernel,
    is_over: impl Fn(IterId) -> bool,
    are_meant: impl Fn(Loop<'k>, &[Loop<'k>]) -> bool,
) -> Vec<Nested<'k>> {
    let mut found = Vec::new();
    visit::walk_loops(&kernel.body, &is_over, &mut |it, around| {
        if are_meant(it, around) {
            let around = around.to_vec();
            found.push(Nested { it, around });
        }
    });
    found
}

/// Every `affine.for`, in the order of the text.
pub(crate) fn affine_loops(kernel: &Kernel) -> impl Iterator<Item = &AffineFor> {
    let loops = loops(kernel).into_iter();
    loops.filter_map(|nested| match nested.it {
        Loop::Affine(it) => Some(it),
        Loop::Forall(_) | Loop::Scf(_) => None,
    })
}

/// The `affine.for` over `iter`.
pub(crate) fn find_affine_loop(kernel: &Kernel, iter: IterId) -> Option<&AffineFor> {
    let found = loops_over(kernel, &[iter]).into_iter().next()?;
    match found.it {
        Loop::Affine(it) => Some(it),
        Loop::Forall(_) | Loop::Scf(_) => None,
    }
}

/// The loops in `target`, those around others first.
pub(crate) fn loops_in(target: &AffineFor) -> Vec<Loop<'_>> {
    let mut found = Vec::new();
    visit::walk(&target.body, &mut |node, _| found.extend(Loop::of(node)));
    found
}

/// An iterator for a loop that comes from the one over `like`, called as that one is with `_suffix`
/// behind it. Labels stay with that one.
pub(crate) fn new_iter(kernel: &mut Kernel, like: IterId, suffix: impl fmt::Display) -> IterId {
    let mut it = kernel.iters[like].clone();
    it.labels.clear();
    it.name = kernel.fresh_name(&format!("{}_{suffix}", it.name));
    kernel.iters.alloc(it)
}

/// An iterator called `name`, if nothing else is.
pub(crate) fn named_iter(kernel: &mut Kernel, name: &str, span: Span) -> IterId {
    let name = kernel.fresh_name(name);
    kernel.iters.alloc(Iter {
        name,
        labels: Vec::new(),
        span,
    })
}

/// A scalar for what is at `access`, called as the array is with `_suffix` behind it, that is set
/// where it is declared.
pub(crate) fn scalar_for(kernel: &Kernel, access: &Access, suffix: impl fmt::Display) -> Local {
    let array = &kernel.arrays[access.array];
    Local {
        name: kernel.fresh_name(&format!("{}_{suffix}", array.name.replace('.', "_"))),
        ty: array.element,
        mutable: false,
        is_element: false,
        span: access.span,
    }
}

/// `expr` where `iter` is `by`.
pub(crate) fn replaced(
    expr: &AffineExpr,
    iter: IterId,
    by: &AffineExpr,
) -> Result<AffineExpr, Overflow> {
    expr.substitute(&|it| (it == Variable::Iter(iter)).then(|| by.clone()))
}

/// The element that `access` is of where `iter` is `by`, as far as its subscripts are affine.
pub(crate) fn replaced_in(
    access: &Access,
    iter: IterId,
    by: &AffineExpr,
) -> Result<Access, Overflow> {
    let mut access = access.clone();
    for subscript in &mut access.subscripts {
        if let Subscript::Affine(expr) = subscript {
            *expr = replaced(expr, iter, by)?;
        }
    }
    Ok(access)
}

/// `nodes`, done only if `target` runs at all.
pub(crate) fn if_runs(
    kernel: &Kernel,
    target: &AffineFor,
    nodes: Vec<Node>,
) -> Result<Vec<Node>, Overflow> {
    let mut conditions = Vec::new();
    for lower in &target.lower.0 {
        for upper in &target.upper.0 {
            if !is_non_negative(kernel, &upper.minus(lower)?.offset(-1)?) {
                conditions.push(Condition {
                    left: lower.clone(),
                    relation: Relation::Less,
                    right: upper.clone(),
                });
            }
        }
    }
    if conditions.is_empty() {
        return Ok(nodes);
    }
    Ok(vec![Node::AffineIf {
        conditions,
        then: nodes.into(),
        otherwise: Block::default(),
    }])
}

/// Calls `change` with every expression in `nodes`, each behind those that it is made of and those
/// in its subscripts.
pub(crate) fn for_each_expr_mut(nodes: &mut [Node], change: &mut dyn FnMut(&mut Expr)) {
    for node in nodes {
        for place in node.places_mut() {
            if let Place::Element(access) = place {
                change_subscripts(access, change);
            }
        }
        for expr in node.expressions_mut() {
            change_expr(expr, change);
        }
        for block in node.blocks_mut() {
            for_each_expr_mut(block, change);
        }
    }
}

/// Calls `change` with `expr` behind the expressions that it is made of and those in subscripts.
pub(crate) fn change_expr(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    match expr {
        Expr::Load(access) => change_subscripts(access, change),
        _ => {
            for operand in expr.operands_mut() {
                change_expr(operand, change);
            }
        }
    }
    change(expr);
}

/// Calls `change` with every expression in the subscripts of `access`, each behind those inside it.
pub(crate) fn change_subscripts(access: &mut Access, change: &mut dyn FnMut(&mut Expr)) {
    for subscript in &mut access.subscripts {
        if let Subscript::Computed(expr) = subscript {
            change_expr(expr, change);
        }
    }
}

/// Calls `change` with every access in `nodes`, each behind those in its subscripts.
pub(crate) fn for_each_access_mut(nodes: &mut [Node], change: &mut dyn FnMut(&mut Access)) {
    for_each_expr_mut(nodes, &mut |expr| {
        if let Expr::Load(access) = expr {
            change(access);
        }
    });
    for_each_place_mut(nodes, &mut |place| {
        if let Place::Element(access) = place {
            change(access);
        }
    });
}

/// Calls `change` with every place that a statement in `nodes` writes.
pub(crate) fn for_each_place_mut(nodes: &mut [Node], change: &mut dyn FnMut(&mut Place)) {
    for node in nodes {
        node.places_mut().iter_mut().for_each(&mut *change);
        for block in node.blocks_mut() {
            for_each_place_mut(block, change);
        }
    }
}

/// The same for a loop that takes the place of the one over `like`, with its labels.
pub(crate) fn successor(kernel: &mut Kernel, like: IterId, suffix: impl fmt::Display) -> IterId {
    let labels = kernel.iters[like].labels.clone();
    let iter = new_iter(kernel, like, suffix);
    kernel.iters[iter].labels = labels;
    iter
}

/// Puts `replacement` where the `affine.for` over `iter` stands.
pub(crate) fn replace_loop(nodes: &mut Vec<Node>, iter: IterId, replacement: Vec<Node>) {
    at_loop(nodes, iter, is_over, |block, position| {
        block.splice(position..=position, replacement);
    });
}

/// Calls `change` with the block in which the first node stands that `is_it` of the loop over
/// `iter`, and where in that it does. Blocks that are not around the loop stay
/// [shared](strew_affine::Block).
fn at_loop<T>(
    nodes: &mut Vec<Node>,
    iter: IterId,
    is_it: impl Fn(&Node, IterId) -> bool,
    change: impl FnOnce(&mut Vec<Node>, usize) -> T,
) -> Option<T> {
    if let Some(position) = nodes.iter().position(|it| is_it(it, iter)) {
        return Some(change(nodes, position));
    }
    let mut blocks = nodes.iter_mut().flat_map(Node::blocks_mut);
    let block = blocks.find(|it| it.loops().contains(&iter))?;
    at_loop(block, iter, is_it, change)
}

/// What every rewriting needs that puts something in the place of one loop.
pub(crate) struct Replacing {
    /// The kernel, with all new names made.
    pub(crate) kernel: Kernel,
    pub(crate) target: IterId,
    /// What stands in the loop's place.
    pub(crate) replacement: Vec<Node>,
}

impl Replacing {
    /// The kernel with that done.
    pub(crate) fn rewrite(mut self) -> Kernel {
        replace_loop(&mut self.kernel.body, self.target, self.replacement);
        self.kernel
    }
}

/// Lets every statement in `nodes` that writes `from` write `to` instead.
pub(crate) fn redirect_writes(nodes: &mut [Node], from: ArrayId, to: ArrayId) {
    for_each_place_mut(nodes, &mut |place| match place {
        Place::Element(access) if access.array == from => access.array = to,
        _ => {}
    });
}

/// The conditions behind which the `affine.for` over `second` directly follows that over `first`,
/// if it does.
pub(crate) fn follows(nodes: &[Node], first: IterId, second: IterId) -> Option<&[Condition]> {
    let mut pairs = nodes.iter().zip(nodes.iter().skip(1));
    let next = pairs.find(|(one, _)| is_over(one, first));
    next.and_then(|(_, next)| conditions_around(next, second))
        .or_else(|| {
            let mut blocks = nodes.iter().flat_map(Node::blocks);
            blocks.find_map(|block| follows(block, first, second))
        })
}

/// The conditions of `node`, if the `affine.for` over `iter` is all that it does where they hold;
/// none if it is that loop.
fn conditions_around(node: &Node, iter: IterId) -> Option<&[Condition]> {
    match node {
        Node::AffineIf {
            conditions,
            then,
            otherwise,
        } => {
            let is_alone = matches!(then.as_slice(), [only] if is_over(only, iter));
            (is_alone && otherwise.is_empty()).then_some(conditions)
        }
        _ => is_over(node, iter).then_some(&[]),
    }
}

fn is_over(node: &Node, iter: IterId) -> bool {
    Loop::of(node).is_some_and(|it| it.iter() == iter)
}

/// Takes the `affine.for` over `iter` away, and the `affine.if` around it if there is nothing else
/// in that.
pub(crate) fn remove_loop(nodes: &mut Vec<Node>, iter: IterId) {
    let is_it = |node: &Node, iter| conditions_around(node, iter).is_some();
    at_loop(nodes, iter, is_it, |block, position| {
        drop(block.remove(position))
    });
}

/// Takes away what stands behind the `affine.for` over `iter` in the block that it stands in.
pub(crate) fn take_behind(nodes: &mut Vec<Node>, iter: IterId) -> Vec<Node> {
    let behind = at_loop(nodes, iter, is_over, |block, it| block.split_off(it + 1));
    behind.unwrap_or_default()
}

/// The arrays that statements in `nodes` touch.
pub(crate) fn arrays_in(nodes: &[Node]) -> impl Iterator<Item = ArrayId> + use<> {
    let mut found = Vec::new();
    visit::walk(nodes, &mut |node, _| {
        if let Node::Forall(forall) = node {
            let privates = forall.privates.iter();
            found.extend(privates.flat_map(|it| it.targets.iter().copied()));
            found.extend(forall.disjoint.iter().flat_map(|it| [it.target, it.met]));
        }
        let mut take = |access: &Access| found.push(access.array);
        visit::for_each_load_of(node, &mut take);
        node.written_elements().for_each(take);
    });
    found.into_iter()
}

/// Whether a statement in `nodes` reads or sets `local`.
pub(crate) fn uses(nodes: &[Node], local: LocalId) -> bool {
    let mut is_set = false;
    visit::walk(nodes, &mut |node, _| {
        let mut places = node.places().iter();
        is_set |= places.any(|place| matches!(place, Place::Local(it) if *it == local));
    });
    is_set || reads_local(nodes, local)
}

/// Whether a statement in `nodes` reads `local`.
pub(crate) fn reads_local(nodes: &[Node], local: LocalId) -> bool {
    let mut found = false;
    visit::walk(nodes, &mut |node, _| {
        visit::for_each_local_read(node, &mut |it| found |= it == local);
    });
    found
}
