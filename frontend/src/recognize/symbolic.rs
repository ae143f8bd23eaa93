//! What statements compute, as expressions of what was there before them.

use std::collections::HashMap;
use strew_affine::verify::MAX_NESTING;
use strew_affine::{Expr, Kernel, LocalId, Node, Place, Subscript};

/// More operations than this no expression may have, as often as variables are used to compute each
/// other.
pub(crate) const MOST_OPERATIONS: usize = 1000;

/// Why statements are no expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoExpression {
    /// They loop, or set elements.
    Effects,
    /// It has more than [`MOST_OPERATIONS`] operations, or is nested too deeply.
    TooLarge,
}

type Result<T> = std::result::Result<T, NoExpression>;

/// The values of the locals that statements have set.
#[derive(Clone)]
pub(crate) struct Symbolic<'k> {
    kernel: &'k Kernel,
    values: HashMap<LocalId, Expr>,
}

impl<'k> Symbolic<'k> {
    pub(crate) fn new(kernel: &'k Kernel) -> Self {
        Self {
            kernel,
            values: HashMap::new(),
        }
    }

    /// Takes in what `nodes` compute.
    pub(crate) fn run(&mut self, nodes: &[Node]) -> Result<()> {
        nodes.iter().try_for_each(|node| self.step(node))
    }

    fn step(&mut self, node: &Node) -> Result<()> {
        match node {
            Node::Declare { local, value } => {
                let value = self.value(value)?;
                self.values.insert(*local, value);
                Ok(())
            }
            Node::Assign {
                place: Place::Local(local),
                value,
                ..
            } => {
                let value = self.value(value)?;
                self.set(*local, value)
            }
            Node::Reduce { .. } => self.update(node),
            Node::ScfIf {
                condition,
                then,
                otherwise,
                ..
            } => self.branch(condition, then, otherwise),
            _ => Err(NoExpression::Effects),
        }
    }

    /// Nothing is said of variables that were there before.
    fn set(&mut self, local: LocalId, value: Expr) -> Result<()> {
        let known = self.values.get_mut(&local).ok_or(NoExpression::Effects)?;
        *known = value;
        Ok(())
    }

    fn update(&mut self, node: &Node) -> Result<()> {
        let Node::Reduce {
            places,
            combiner,
            values,
            ..
        } = node
        else {
            return Err(NoExpression::Effects);
        };
        let ([Place::Local(local)], [incoming]) = (places.as_slice(), values.as_slice()) else {
            return Err(NoExpression::Effects);
        };
        let held = self.value(&Expr::Local(*local))?;
        let incoming = self.value(incoming)?;
        let ty = self.kernel.locals[*local].ty;
        let value = combiner.combination(ty, &held, &incoming);
        self.set(*local, bounded(value.ok_or(NoExpression::Effects)?)?)
    }

    fn branch(&mut self, condition: &Expr, then: &[Node], otherwise: &[Node]) -> Result<()> {
        let condition = self.value(condition)?;
        let (mut first, mut second) = (self.clone(), self.clone());
        first.run(then)?;
        second.run(otherwise)?;
        for (local, value) in &mut self.values {
            if let (Some(then), Some(otherwise)) =
                (first.values.get(local), second.values.get(local))
                && !(then.is_same(value) && otherwise.is_same(value))
            {
                let chosen = Expr::select(condition.clone(), then.clone(), otherwise.clone());
                *value = bounded(chosen)?;
            }
        }
        Ok(())
    }

    /// What `expr` is then.
    pub(crate) fn value(&self, expr: &Expr) -> Result<Expr> {
        replaced(expr, &mut |leaf| match leaf {
            Expr::Local(local) => self.values.get(local),
            _ => None,
        })
    }
}

/// `expr` with what `by` gives in place of its leaves, those in subscripts included.
pub(crate) fn replaced<'v>(
    expr: &Expr,
    by: &mut impl FnMut(&Expr) -> Option<&'v Expr>,
) -> Result<Expr> {
    let mut result = expr.clone();
    replace(&mut result, by, &mut { MOST_OPERATIONS })?;
    bounded(result)
}

fn replace<'v>(
    expr: &mut Expr,
    by: &mut impl FnMut(&Expr) -> Option<&'v Expr>,
    left: &mut usize,
) -> Result<()> {
    if let Some(value) = by(expr) {
        count(value, left)?;
        *expr = value.clone();
        return Ok(());
    }
    if let Expr::Load(access) = expr {
        for subscript in &mut access.subscripts {
            if let Subscript::Computed(index) = subscript {
                replace(index, by, left)?;
            }
        }
    }
    for operand in expr.operands_mut() {
        replace(operand, by, left)?;
    }
    Ok(())
}

fn bounded(expr: Expr) -> Result<Expr> {
    count(&expr, &mut { MOST_OPERATIONS })?;
    if depth(&expr) > MAX_NESTING {
        return Err(NoExpression::TooLarge);
    }
    Ok(expr)
}

fn count(expr: &Expr, left: &mut usize) -> Result<()> {
    *left = left.checked_sub(1).ok_or(NoExpression::TooLarge)?;
    let mut operands = expr.operands().into_iter();
    operands.try_for_each(|it| count(it, left))
}

fn depth(expr: &Expr) -> usize {
    let operands = expr.operands().into_iter();
    1 + operands.map(depth).max().unwrap_or(0)
}
