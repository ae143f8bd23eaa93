//! Computed subscripts that are one more in each lane than in the one before: `start[i] + j`.

use super::Lanes;
use crate::visit::{for_each_load_of, walk};
use crate::{Access, ArrayId, BinaryOp, Expr, Node, Subscript};

impl Lanes<'_> {
    /// Whether `expr`, an integer, is one more in each turn than in the one before, unless it wraps around: a sum of the iterator and of what
    /// is the same in all turns.
    ///
    /// Wherever a step of it wraps, the result falls far behind. So nothing has wrapped between two turns if the results there are as far apart as
    /// the turns are.
    pub fn goes_along(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Iter(iter) => *iter == self.iter,
            Expr::Local(local) => self.counting.contains(local),
            Expr::Cast(to, operand) => {
                let from = operand.ty(self.kernel);
                let are_integers = to.is_integer() && from.is_integer();
                // What falls below zero would not fall behind as a wide number without a sign.
                let may_rise = from.is_signed() && !to.is_signed() && from.bits() < to.bits();
                are_integers && !may_rise && self.goes_along(operand)
            }
            Expr::Binary(BinaryOp::Add, left, right, _) => {
                self.goes_along(left) && !self.varies(right)
                    || self.goes_along(right) && !self.varies(left)
            }
            Expr::Binary(BinaryOp::Sub, left, right, _) => {
                self.goes_along(left) && !self.varies(right)
            }
            _ => false,
        }
    }

    /// Whether turns of a group never meet in an element of `array`, since all accesses of `body` to it are at one place, which goes along.
    ///
    /// Numbers of eight bits and more are the same again after 256 turns at the least, and no group is as long.
    pub fn keeps_apart(&self, body: &[Node], array: ArrayId) -> bool {
        let mut accesses: Vec<&Access> = Vec::new();
        walk(body, &mut |node, _| {
            for_each_load_of(node, &mut |it| accesses.push(it));
            accesses.extend(node.written_elements());
        });
        accesses.retain(|it| it.array == array);
        let Some((first, others)) = accesses.split_first() else {
            return true;
        };
        let goes_along =
            |it: &Subscript| matches!(it, Subscript::Computed(expr) if self.goes_along(expr));
        let mut subscripts = first.subscripts.iter();
        subscripts.any(goes_along) && others.iter().all(|it| it.is_same(first))
    }
}
