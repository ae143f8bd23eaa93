//! What tells which turn of a loop is running.

use crate::visit::{for_each_local, walk};
use crate::{Expr, IterId, Kernel, LocalId, Node, Place, Type};

/// What tells the turn of a loop around a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// The iterator of a loop that has one.
    Iter(IterId),
    /// The variable of a `while`.
    Local(LocalId),
}

/// The variables of the `while` loops around, outermost first, each behind so many loops with
/// iterators.
pub type Whiles = Vec<(usize, LocalId)>;

impl Counter {
    /// Those of the loops around, outermost first.
    pub fn around(iters: impl Iterator<Item = IterId>, whiles: &Whiles) -> Vec<Self> {
        let mut all: Vec<_> = iters.map(Self::Iter).collect();
        for (depth, local) in whiles.iter().rev() {
            all.insert((*depth).min(all.len()), Self::Local(*local));
        }
        all
    }

    /// Its name in `kernel`.
    pub fn name(self, kernel: &Kernel) -> &str {
        match self {
            Self::Iter(iter) => &kernel.iters[iter].name,
            Self::Local(local) => &kernel.locals[local].name,
        }
    }
}

/// The variable of a `while`: the first integer that its condition tests and its body adds
/// something to.
pub fn variable_of_while(kernel: &Kernel, condition: &Expr, body: &[Node]) -> Option<LocalId> {
    let mut tested = Vec::new();
    for_each_local(condition, &mut |it| tested.push(it));
    let is_number = |ty: Type| ty.is_integer() && ty != Type::Bool;
    let mut tested = tested.into_iter();
    tested.find(|it| is_number(kernel.locals[*it].ty) && is_stepped(body, *it))
}

fn is_stepped(body: &[Node], local: LocalId) -> bool {
    let mut is_stepped = false;
    walk(body, &mut |node, _| {
        is_stepped |= matches!(node, Node::Reduce { places, combiner, .. }
            if combiner.name() == "add" && places.as_slice() == [Place::Local(local)]);
    });
    is_stepped
}
