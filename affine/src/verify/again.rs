//! Verifying a kernel of which most stands as it stood in one that was verified.

use super::{Verified, Verifier, Violation, verify, without_lanes};
use crate::visit::{Loop, combiners, walk};
use crate::{ArrayId, IterId, Kernel, LocalId, Node};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// [`verify`] of a kernel that was made of `before`. A step changes one nest of many: outermost
/// statements that are as they were are not looked at again, so that a schedule takes time for what
/// it changes.
///
/// # Errors
/// As [`verify`].
pub fn verify_after(before: &Verified, after: Kernel) -> Result<Verified, Vec<Violation>> {
    let keeps_invariants = Change::between(before, &after).is_some_and(|it| it.keeps_invariants());
    debug_assert!(!keeps_invariants || verify(after.clone()).is_ok());
    debug_assert!(after.body.has_addresses(), "a step took nodes that it left");
    match keeps_invariants {
        true => Ok(Verified(Arc::new(after))),
        false => verify(after),
    }
}

/// Outermost statements that others took the place of.
struct Change<'k> {
    before: &'k Kernel,
    after: &'k Kernel,
    /// What stands in front of both.
    above: &'k [Node],
    old: &'k [Node],
    new: &'k [Node],
}

impl<'k> Change<'k> {
    /// `None` if there are other differences than in the body, in what iterators are called, and in
    /// what there is more of.
    fn between(before: &'k Kernel, after: &'k Kernel) -> Option<Self> {
        extends(before, after).then_some(())?;
        let (old, new) = (before.body.as_slice(), after.body.as_slice());
        let same = |(one, other): &(&Node, &Node)| one == other;
        let above = old.iter().zip(new).take_while(same).count();
        let (above, old) = old.split_at_checked(above)?;
        let (_, new) = new.split_at_checked(above.len())?;
        let below = old.iter().rev().zip(new.iter().rev());
        let below = below.take_while(same).count();
        Some(Self {
            before,
            after,
            above,
            old: old.get(..old.len().checked_sub(below)?)?,
            new: new.get(..new.len().checked_sub(below)?)?,
        })
    }

    /// Whether the kernel keeps all invariants if the one before did. `false` where that is not
    /// seen from the new statements alone.
    ///
    /// What stands beside them does: it sees all that it saw, which means the same, and what is new
    /// has an id and a name that nothing else has.
    fn keeps_invariants(&self) -> bool {
        let mut kept = self.old.iter().filter(|it| is_declaration(it));
        kept.all(|it| self.new.contains(it))
            && self.is_verified()
            && self.combines_as_before()
            && self.binds_nothing_that_is_bound()
    }

    /// Whether what the new statements bind was bound by the old ones, or is new; and what is new,
    /// or called otherwise than it was, is bound by them and has a name that nothing else has.
    fn binds_nothing_that_is_bound(&self) -> bool {
        let bound_now = bound(self.new);
        let new = &bound_now - &bound(self.old);
        let renamed: HashSet<_> = self.renamed().map(Entity::Iter).collect();
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        uses.extend((&new | &renamed).iter().map(|it| (it.name(self.after), 0)));
        if !uses.is_empty() {
            for name in self.after.names() {
                if let Some(count) = uses.get_mut(name) {
                    *count += 1;
                }
            }
        }
        new.iter().all(|it| it.is_new_since(self.before))
            && renamed.is_subset(&bound_now)
            && uses.values().all(|it| *it == 1)
    }

    /// The iterators that the kernel had, and that are not called as they were.
    fn renamed(&self) -> impl Iterator<Item = IterId> {
        let both = self.before.iters.values().zip(self.after.iters.iter());
        both.filter(|(was, (_, is))| was != is)
            .map(|(_, (iter, _))| iter)
    }

    fn combines_as_before(&self) -> bool {
        let old = combiners(self.old);
        combiners(self.new).iter().all(|it| old.contains(it))
    }

    /// Whether the new statements keep the invariants where they stand.
    fn is_verified(&self) -> bool {
        let mut verifier = Verifier::of(self.after);
        verifier.params();
        self.above.iter().for_each(|it| verifier.show(it));
        self.new.iter().for_each(|it| verifier.node(it, 1));
        verifier.violations.is_empty() && without_lanes(self.after, self.new).is_empty()
    }
}

impl<'k> Verifier<'k> {
    /// Makes visible what a statement declares that was verified before.
    fn show(&mut self, node: &'k Node) {
        match node {
            Node::Declare { local, .. } => {
                self.scope.declare(*local);
                self.scope.take_name(&self.kernel.locals[*local].name);
            }
            Node::Alloc { array } => {
                self.scope.allocate(*array);
                self.scope.take_name(&self.kernel.arrays[*array].name);
            }
            _ => {}
        }
    }
}

/// Whether everything but the body and the names of iterators is as it was, or more of it.
fn extends(before: &Kernel, after: &Kernel) -> bool {
    (&before.name, &before.params, &before.labels) == (&after.name, &after.params, &after.labels)
        && (&before.scalars, &before.records) == (&after.scalars, &after.records)
        && (&before.views, &before.assumptions) == (&after.views, &after.assumptions)
        && before.result == after.result
        && before.iters.len() <= after.iters.len()
        && is_prefix(before.locals.values(), after.locals.values())
        && is_prefix(before.arrays.values(), after.arrays.values())
}

fn is_prefix<'k, T: PartialEq + 'k>(
    first: impl ExactSizeIterator<Item = &'k T>,
    second: impl ExactSizeIterator<Item = &'k T>,
) -> bool {
    first.len() <= second.len() && first.zip(second).all(|(one, other)| one == other)
}

fn is_declaration(node: &Node) -> bool {
    matches!(node, Node::Declare { .. } | Node::Alloc { .. })
}

/// What a statement binds.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Entity {
    Iter(IterId),
    Local(LocalId),
    Array(ArrayId),
}

impl Entity {
    fn name(self, kernel: &Kernel) -> &str {
        match self {
            Self::Iter(it) => &kernel.iters[it].name,
            Self::Local(it) => &kernel.locals[it].name,
            Self::Array(it) => &kernel.arrays[it].name,
        }
    }

    fn is_new_since(self, before: &Kernel) -> bool {
        let (position, known) = match self {
            Self::Iter(it) => (it.into_raw(), before.iters.len()),
            Self::Local(it) => (it.into_raw(), before.locals.len()),
            Self::Array(it) => (it.into_raw(), before.arrays.len()),
        };
        position.into_u32() as usize >= known
    }
}

fn bound(nodes: &[Node]) -> HashSet<Entity> {
    let mut bound = HashSet::new();
    walk(nodes, &mut |node, _| {
        bound.extend(Loop::of(node).map(|it| Entity::Iter(it.iter())));
        match node {
            Node::Declare { local, .. } => drop(bound.insert(Entity::Local(*local))),
            Node::Alloc { array } => drop(bound.insert(Entity::Array(*array))),
            Node::Forall(forall) => bound.extend(forall.own_buffers().map(Entity::Array)),
            _ => {}
        }
    });
    bound
}

#[cfg(test)]
mod tests {
    use super::{Verified, verify, verify_after};
    use crate::text::parse;
    use crate::{AffineExpr, Expr, Kernel, Local, Node, Type, Value};

    const TWO: &str = "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n { x[i] reduce(add) 1.0 }
  affine.for j in 0..n { y[j] reduce(add) 1.0 }
}";

    fn before() -> Verified {
        let kernel = parse(TWO).expect("kernel text").swap_remove(0);
        verify(kernel).expect("a verified kernel")
    }

    /// The first message after a change, which both ways to verify have to agree on.
    #[track_caller]
    fn changed(change: impl FnOnce(&mut Kernel)) -> Option<String> {
        let before = before();
        let mut after = before.clone().into_kernel();
        change(&mut after);
        let whole = verify(after.clone()).err();
        let again = verify_after(&before, after).err();
        assert_eq!(again, whole);
        again.map(|it| it[0].to_string())
    }

    /// The second loop, over another iterator, called `name`.
    fn rebound(kernel: &mut Kernel, name: &str) {
        let Some(Node::AffineFor(second)) = kernel.body.last_mut() else {
            panic!("a loop");
        };
        let mut iter = kernel.iters[second.iter].clone();
        iter.name = name.to_owned();
        second.iter = kernel.iters.alloc(iter);
        second.body.clear();
    }

    #[test]
    fn a_change_is_verified_like_the_whole() {
        assert_eq!(changed(|_| {}), None);
        assert_eq!(changed(|kernel| drop(kernel.body.pop())), None);
        assert_eq!(changed(|kernel| rebound(kernel, "k")), None);
    }

    /// The second loop's iterator, called `name`.
    fn renamed(kernel: &mut Kernel, name: &str) {
        let Some(Node::AffineFor(second)) = kernel.body.last_mut() else {
            panic!("a loop");
        };
        second.step = 2;
        kernel.iters[second.iter].name = name.to_owned();
    }

    #[test]
    fn an_iterator_can_be_called_otherwise() {
        assert_eq!(changed(|kernel| renamed(kernel, "k")), None);
        let taken = changed(|kernel| renamed(kernel, "i"));
        assert_eq!(taken.as_deref(), Some("the name `i` is given twice"));
    }

    #[test]
    fn more_can_be_declared() {
        let declared = |name: &str| {
            changed(|kernel| {
                let local = kernel.locals.alloc(Local {
                    name: name.to_owned(),
                    ty: Type::F64,
                    mutable: false,
                    is_element: false,
                    span: kernel.span,
                });
                let value = Expr::Constant(Value::f64(1.0));
                kernel.body.insert(1, Node::Declare { local, value });
            })
        };
        assert_eq!(declared("s"), None);
        let taken = declared("x");
        assert_eq!(taken.as_deref(), Some("the name `x` is given twice"));
    }

    #[test]
    fn what_meets_the_rest_of_the_kernel_is_found() {
        let twice = changed(|kernel| {
            let first = kernel.body[0].clone();
            kernel.body.push(first);
        });
        assert_eq!(twice.as_deref(), Some("`i` is declared twice"));
        let named = changed(|kernel| rebound(kernel, "i"));
        assert_eq!(named.as_deref(), Some("the name `i` is given twice"));
        let renamed = changed(|kernel| {
            kernel
                .iters
                .values_mut()
                .for_each(|it| it.name = "x".into())
        });
        assert_eq!(renamed.as_deref(), Some("the name `x` is given twice"));
        let foreign = changed(|kernel| {
            let other = before();
            let Some(Node::AffineFor(mut last)) = other.body.last().cloned() else {
                panic!("a loop");
            };
            let mut iters = other.iters.clone();
            let some = iters.values().next().expect("an iterator").clone();
            last.iter = iters.alloc(some);
            last.body.clear();
            kernel.body[1] = Node::AffineFor(last);
        });
        assert_eq!(
            foreign.as_deref(),
            Some("the iterator is not one of this kernel")
        );
    }

    #[test]
    fn what_stands_in_the_new_statements_is_looked_at() {
        let message = changed(|kernel| {
            let Some(Node::AffineFor(first)) = kernel.body.first_mut() else {
                panic!("a loop");
            };
            first.step = 0;
            first.upper = AffineExpr::from(first.iter).into();
        });
        assert_eq!(
            message.as_deref(),
            Some("the iterator `i` is not visible here")
        );
    }
}
