//! Copies of a loop's body: with another iterator, and with all that the body declares made anew.

use crate::simplify::simplify;
use crate::tree::{new_iter, successor};
use std::collections::HashMap;
use std::fmt;
use strew_affine::AffineValues;
use strew_affine::visit;
use strew_affine::{
    Access, AffineExpr, AffineFor, ArrayId, BinaryOp, Bound, Condition, Expr, IterId, Kernel,
    LocalId, Node, Overflow, Place, Span, Subscript, Variable,
};

/// What becomes what in a copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copying {
    iters: HashMap<IterId, Iteration>,
    locals: HashMap<LocalId, LocalId>,
    arrays: HashMap<ArrayId, ArrayId>,
}

/// What an iterator becomes.
#[derive(Clone, Debug)]
enum Iteration {
    /// Another iterator plus a constant.
    Shifted(IterId, i64),
    /// A constant.
    Fixed(i64),
    /// Any affine function, in bounds and subscripts, and the same as a value of 64 bits.
    Function(AffineExpr, Expr),
}

impl Iteration {
    fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    fn affine(&self) -> Option<AffineExpr> {
        match self {
            // A variable plus a constant is a canonical expression: there is nothing to overflow.
            Self::Shifted(base, offset) => AffineExpr::from(*base).offset(*offset).ok(),
            Self::Fixed(value) => Some((*value).into()),
            Self::Function(function, _) => Some(function.clone()),
        }
    }

    fn expr(&self) -> Expr {
        match self {
            Self::Shifted(base, 0) => Expr::Iter(*base),
            Self::Shifted(base, offset) => Expr::binary(
                BinaryOp::Add,
                Expr::Iter(*base),
                Expr::i64(*offset),
                Span::default(),
            ),
            Self::Fixed(value) => Expr::i64(*value),
            Self::Function(_, value) => value.clone(),
        }
    }
}

/// `target` over an iterator of its own, with all that it declares made anew.
pub(crate) fn loop_anew(
    kernel: &mut Kernel,
    target: &AffineFor,
    suffix: &str,
) -> Result<AffineFor, Overflow> {
    let iter = new_iter(kernel, target.iter, suffix);
    let copying = Copying::shift(target.iter, iter, 0).anew(kernel, &target.body, 1);
    Ok(AffineFor {
        iter,
        lower: target.lower.clone(),
        upper: target.upper.clone(),
        body: copying.block(&target.body)?.into(),
        ..*target
    })
}

impl Copying {
    /// `iter` becomes `value`.
    pub(crate) fn fix(iter: IterId, value: i64) -> Self {
        Self {
            iters: HashMap::from([(iter, Iteration::Fixed(value))]),
            ..Self::default()
        }
    }

    /// `iter` becomes `base + offset`.
    pub(crate) fn shift(iter: IterId, base: IterId, offset: i64) -> Self {
        Self {
            iters: HashMap::from([(iter, Iteration::Shifted(base, offset))]),
            ..Self::default()
        }
    }

    /// `iter` becomes `function`.
    pub(crate) fn express(
        mut self,
        values: AffineValues<'_>,
        iter: IterId,
        function: AffineExpr,
    ) -> Self {
        let value = values.value(&function);
        self.iters
            .insert(iter, Iteration::Function(function, value));
        self
    }

    /// The iterator of `target`, which begins at `lower`, becomes what it is in the iteration of a
    /// new one that counts from zero by one; that one is the first of the pair.
    pub(crate) fn counting(
        kernel: &mut Kernel,
        target: &AffineFor,
        lower: &AffineExpr,
    ) -> Result<(IterId, Self), Overflow> {
        let counter = successor(kernel, target.iter, "c");
        let value = lower.plus(&AffineExpr::from(counter).scaled(target.step)?)?;
        let values = AffineValues {
            kernel,
            counter: Some(counter),
        };
        let copying = Self::default().express(values, target.iter, value);
        Ok((counter, copying))
    }

    /// Everything that `body` declares becomes something new in `kernel`, called as before with
    /// `_suffix` behind it.
    pub(crate) fn anew(mut self, kernel: &mut Kernel, body: &[Node], suffix: i64) -> Self {
        visit::walk(body, &mut |node, _| match node {
            Node::AffineFor(it) => self.new_iter(kernel, it.iter, suffix),
            Node::ScfFor(it) => self.new_iter(kernel, it.iter, suffix),
            Node::Forall(it) => {
                self.new_iter(kernel, it.iter, suffix);
                for buffer in it.own_buffers() {
                    self.new_array(kernel, buffer, suffix);
                }
            }
            Node::Declare { local, .. } => drop(self.new_local(kernel, *local, suffix)),
            Node::Alloc { array } => drop(self.new_array(kernel, *array, suffix)),
            _ => {}
        });
        self
    }

    fn new_iter(&mut self, kernel: &mut Kernel, iter: IterId, suffix: i64) {
        let anew = new_iter(kernel, iter, suffix);
        self.iters.insert(iter, Iteration::Shifted(anew, 0));
    }

    /// What `node` declares and binds becomes what `like` does, a node of the same form; `false` if
    /// the forms differ.
    pub(crate) fn liken(&mut self, node: &Node, like: &Node) -> bool {
        match (node, like) {
            (Node::AffineFor(one), Node::AffineFor(other)) => self.liken_iter(one.iter, other.iter),
            (Node::ScfFor(one), Node::ScfFor(other)) => self.liken_iter(one.iter, other.iter),
            (Node::Declare { local, .. }, Node::Declare { local: like, .. }) => {
                self.locals.insert(*local, *like);
            }
            (Node::Alloc { array }, Node::Alloc { array: like }) => {
                self.arrays.insert(*array, *like);
            }
            (Node::Forall(_), _) => return false,
            _ if std::mem::discriminant(node) != std::mem::discriminant(like) => return false,
            _ => {}
        }
        let (blocks, likes) = (node.blocks(), like.blocks());
        let mut pairs = blocks.zip(likes);
        pairs.all(|(block, like)| {
            block.len() == like.len()
                && block
                    .iter()
                    .zip(like)
                    .all(|(it, like)| self.liken(it, like))
        })
    }

    /// `iter` becomes `like`.
    pub(crate) fn liken_iter(&mut self, iter: IterId, like: IterId) {
        self.iters.insert(iter, Iteration::Shifted(like, 0));
    }

    /// A local in the place of `local`, called as that one is with `_suffix` behind it.
    pub(crate) fn new_local(
        &mut self,
        kernel: &mut Kernel,
        local: LocalId,
        suffix: impl fmt::Display,
    ) -> LocalId {
        let mut it = kernel.locals[local].clone();
        it.name = kernel.fresh_name(&format!("{}_{suffix}", it.name));
        let anew = kernel.locals.alloc(it);
        self.locals.insert(local, anew);
        anew
    }

    /// An array in the place of `array`, called likewise.
    pub(crate) fn new_array(
        &mut self,
        kernel: &mut Kernel,
        array: ArrayId,
        suffix: impl fmt::Display,
    ) -> ArrayId {
        let mut it = kernel.arrays[array].clone();
        // A copy of a field is an array by itself, whose name has no dot.
        let name = it.name.replace('.', "_");
        it.name = kernel.fresh_name(&format!("{name}_{suffix}"));
        it.field = None;
        it.length = None;
        let anew = kernel.arrays.alloc(it);
        self.arrays.insert(array, anew);
        anew
    }

    /// The copy of `body`.
    pub(crate) fn block(&self, body: &[Node]) -> Result<Vec<Node>, Overflow> {
        let mut copy = body.to_vec();
        copy.iter_mut().try_for_each(|node| self.node(node))?;
        Ok(copy)
    }

    /// The copy of `access`.
    pub(crate) fn access(&self, access: &Access) -> Result<Access, Overflow> {
        let mut copy = access.clone();
        self.access_mut(&mut copy)?;
        Ok(copy)
    }

    fn node(&self, node: &mut Node) -> Result<(), Overflow> {
        match node {
            Node::AffineFor(it) => return self.affine_for(it),
            Node::AffineIf { conditions, .. } => {
                conditions
                    .iter_mut()
                    .try_for_each(|condition| self.condition(condition))?;
            }
            Node::Forall(it) => {
                self.iter(&mut it.iter);
                self.affine(&mut it.count)?;
                for private in &mut it.privates {
                    let arrays = private.buffers.iter_mut().chain(&mut private.targets);
                    arrays.for_each(|array| self.array(array));
                }
                for disjoint in &mut it.disjoint {
                    self.array(&mut disjoint.target);
                    self.array(&mut disjoint.met);
                }
            }
            Node::ScfFor(it) => self.iter(&mut it.iter),
            Node::Declare { local, .. } => self.local(local),
            Node::Alloc { array } => self.array(array),
            Node::Assign { .. }
            | Node::Reduce { .. }
            | Node::ScfWhile { .. }
            | Node::ScfIf { .. } => {}
        }
        for place in node.places_mut() {
            self.place(place)?;
        }
        for expr in node.expressions_mut() {
            self.expr(expr)?;
        }
        let mut inside = node.blocks_mut().into_iter().flatten();
        inside.try_for_each(|node| self.node(node))
    }

    /// `it` becomes its copy.
    pub(crate) fn affine_for(&self, it: &mut AffineFor) -> Result<(), Overflow> {
        self.iter(&mut it.iter);
        self.bound(&mut it.lower)?;
        self.bound(&mut it.upper)?;
        it.body.iter_mut().try_for_each(|node| self.node(node))
    }

    fn iter(&self, iter: &mut IterId) {
        if let Some(Iteration::Shifted(base, _)) = self.iters.get(iter) {
            *iter = *base;
        }
    }

    fn local(&self, local: &mut LocalId) {
        *local = self.locals.get(local).copied().unwrap_or(*local);
    }

    fn array(&self, array: &mut ArrayId) {
        *array = self.arrays.get(array).copied().unwrap_or(*array);
    }

    fn place(&self, place: &mut Place) -> Result<(), Overflow> {
        match place {
            Place::Element(access) => self.access_mut(access)?,
            Place::Local(local) => self.local(local),
        }
        Ok(())
    }

    /// `bound` becomes that of the copy.
    pub(crate) fn bound(&self, Bound(alternatives): &mut Bound) -> Result<(), Overflow> {
        alternatives
            .iter_mut()
            .try_for_each(|expr| self.affine(expr))
    }

    fn condition(&self, condition: &mut Condition) -> Result<(), Overflow> {
        self.affine(&mut condition.left)?;
        self.affine(&mut condition.right)
    }

    fn affine(&self, expr: &mut AffineExpr) -> Result<(), Overflow> {
        *expr = expr.substitute(&|variable| match variable {
            Variable::Iter(iter) => self.iters.get(&iter)?.affine(),
            Variable::Param(_) => None,
        })?;
        Ok(())
    }

    fn access_mut(&self, access: &mut Access) -> Result<(), Overflow> {
        self.array(&mut access.array);
        let mut subscripts = access.subscripts.iter_mut();
        subscripts.try_for_each(|subscript| match subscript {
            Subscript::Affine(expr) => self.affine(expr),
            Subscript::Computed(expr) => self.expr(expr),
        })
    }

    fn expr(&self, expr: &mut Expr) -> Result<(), Overflow> {
        self.fixed(expr).map(drop)
    }

    /// The same; whether something in it has become a number.
    fn fixed(&self, expr: &mut Expr) -> Result<bool, Overflow> {
        match expr {
            Expr::Iter(iter) => {
                let iteration = self.iters.get(iter);
                if let Some(iteration) = iteration {
                    *expr = iteration.expr();
                }
                return Ok(iteration.is_some_and(Iteration::is_fixed));
            }
            Expr::Local(local) => self.local(local),
            Expr::Load(access) => self.access_mut(access)?,
            _ => {
                let mut is_fixed = false;
                for operand in expr.operands_mut() {
                    is_fixed |= self.fixed(operand)?;
                }
                if is_fixed {
                    simplify(expr);
                }
                return Ok(is_fixed);
            }
        }
        Ok(false)
    }
}
