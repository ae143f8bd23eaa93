//! Computed subscripts that are one more in each lane than in the one before: `start[i] + j`.

use super::Lanes;
use crate::visit::{for_each_load_of, walk};
use crate::{Access, ArrayId, BinaryOp, Expr, Node, Subscript};

/// How an integer goes along with the turns: it is one more in each than in the one before, but for
/// where it wraps around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Along {
    /// Where it is as wide as the numbers that it is computed in: all of it is right modulo those.
    Whole,
    /// Something of it was narrower. Where that wraps, all of it falls back by the numbers of that
    /// width.
    Widened,
}

impl Lanes<'_> {
    /// Whether `expr`, an integer, is one more in each turn than in the one before, unless it wraps
    /// around: a sum of the iterator and of what is the same in all turns.
    ///
    /// Nothing has wrapped between two turns if the results there are as far apart as the turns
    /// are, and the first one is not negative: every wrap lets the result fall, and only what has
    /// fallen below the least number can rise by one. A sum that was narrower, then wide, and is
    /// narrower again could have fallen by both widths and be back where it would be, so that one
    /// does not count.
    pub fn goes_along(&self, expr: &Expr) -> bool {
        self.along(expr).is_some()
    }

    pub(super) fn along(&self, expr: &Expr) -> Option<Along> {
        match expr {
            Expr::Iter(iter) if *iter == self.iter => Some(Along::Whole),
            Expr::Local(local) => self.counting.get(local).copied(),
            Expr::Cast(to, operand) => {
                let (from, to) = (operand.ty(self.kernel), *to);
                let widens = to.bits() > from.bits();
                // What is below zero would be a large number.
                let is_kept = widens && (to.is_signed() || !from.is_signed());
                match self.along(operand)? {
                    _ if !from.is_integer() || !to.is_integer() => None,
                    Along::Whole if !widens => Some(Along::Whole),
                    Along::Whole | Along::Widened => is_kept.then_some(Along::Widened),
                }
            }
            Expr::Binary(BinaryOp::Add, left, right, _) => match self.varies(right) {
                false => self.along(left),
                true if !self.varies(left) => self.along(right),
                true => None,
            },
            Expr::Binary(BinaryOp::Sub, left, right, _) if !self.varies(right) => self.along(left),
            _ => None,
        }
    }

    /// Whether turns of a group never meet in an element of `array`, since all accesses of `body`
    /// to it are at one place, which goes along.
    ///
    /// Numbers of eight bits and more are the same again after 256 turns at the least, and no group
    /// is as long.
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
