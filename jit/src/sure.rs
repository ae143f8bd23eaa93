//! Loops none of whose iterations can fail: then nothing has to be kept for the case that one does.

use crate::facts::{Checks, Facts, is_of_host};
use strew_affine::bounded::{Between, bounded};
use strew_affine::interpret::Oob;
use strew_affine::visit::Loop;
use strew_affine::{
    Access, AffineExpr, AffineFor, Bound, Condition, Expr, Forall, Kernel, Node, Place, Subscript,
    Variable,
};

/// What is needed to tell that.
pub(crate) struct Sure<'f, 'k> {
    pub(crate) kernel: &'k Kernel,
    pub(crate) facts: &'f Facts,
    pub(crate) checks: Checks,
    pub(crate) oob: Oob,
}

/// What is known at a statement.
#[derive(Clone)]
struct Here<'k> {
    loops: Vec<Loop<'k>>,
    /// How many of them are not inside of the forall.
    outer: usize,
    /// What conditions around say of numbers.
    between: Vec<Between>,
}

impl<'k> Sure<'_, 'k> {
    /// Whether no iteration of `forall`, around which `loops` are, can leave an array, divide by
    /// zero, want memory, or run for longer than anybody has counted before.
    ///
    /// Foralls whose combiners are of the host, or whose merges can fail, are guarded by whoever
    /// calls the kernel, so they need no word here.
    pub(crate) fn is_sure(&self, forall: &'k Forall, loops: &[Loop<'k>]) -> bool {
        let speculates = forall.privates.iter().any(|it| it.is_speculative());
        let mut here = Here {
            loops: loops.to_vec(),
            outer: loops.len() + 1,
            between: Vec::new(),
        };
        here.loops.push(Loop::Forall(forall));
        self.oob == Oob::Error
            && forall.disjoint.is_empty()
            && !speculates
            && self.block(&forall.body, &here)
    }

    fn block(&self, nodes: &'k [Node], here: &Here<'k>) -> bool {
        nodes.iter().all(|node| self.node(node, here))
    }

    fn node(&self, node: &'k Node, here: &Here<'k>) -> bool {
        match node {
            Node::AffineFor(it) => {
                let mut inside = here.clone();
                inside.loops.push(Loop::Affine(it));
                self.bound(&it.lower, here)
                    && self.bound(&it.upper, here)
                    && is_counted(it, here)
                    && self.block(&it.body, &inside)
            }
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => {
                conditions.iter().all(|it| self.condition(it, here))
                    && self.block(then, here)
                    && self.block(otherwise, here)
            }
            Node::ScfIf {
                condition,
                then,
                otherwise,
                ..
            } => {
                let mut inside = here.clone();
                let found = bounded(self.kernel, &condition.conjuncts()).into_iter();
                let between = found.map(|it| it.between);
                inside
                    .between
                    .extend(between.filter(|it| self.is_steady(&it.number)));
                self.expr(condition, here)
                    && self.block(then, &inside)
                    && self.block(otherwise, here)
            }
            Node::Declare { value, .. } => self.expr(value, here),
            Node::Assign { place, value, .. } => self.expr(value, here) && self.place(place, here),
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } => {
                !is_of_host(combiner)
                    && values.iter().all(|it| self.expr(it, here))
                    && places.iter().all(|it| self.place(it, here))
            }
            // They may want memory, or take who knows how long.
            Node::Forall(_) | Node::ScfFor(_) | Node::ScfWhile { .. } | Node::Alloc { .. } => false,
        }
    }

    /// Whether `number` is the same wherever its scalars are known.
    fn is_steady(&self, number: &Expr) -> bool {
        match number {
            Expr::Load(access) => {
                let mut subscripts = access.subscripts.iter();
                let is_steady = |it: &Subscript| match it {
                    Subscript::Affine(_) => true,
                    Subscript::Computed(expr) => self.is_steady(expr),
                };
                self.facts.is_read_only(access.array) && subscripts.all(is_steady)
            }
            Expr::Local(local) => !self.kernel.locals[*local].mutable,
            _ => number.operands().into_iter().all(|it| self.is_steady(it)),
        }
    }

    fn bound(&self, bound: &Bound, here: &Here<'k>) -> bool {
        bound.0.iter().all(|it| self.affine(it, here))
    }

    fn condition(&self, condition: &Condition, here: &Here<'k>) -> bool {
        self.affine(&condition.left, here) && self.affine(&condition.right, here)
    }

    fn affine(&self, expr: &AffineExpr, here: &Here<'k>) -> bool {
        self.checks.is_exact(expr, &here.loops)
    }

    fn place(&self, place: &Place, here: &Here<'k>) -> bool {
        place.element().is_none_or(|it| self.access(it, here))
    }

    fn access(&self, access: &Access, here: &Here<'k>) -> bool {
        let extents = self.kernel.arrays[access.array].extents.iter();
        let mut dimensions = access.subscripts.iter().zip(extents).enumerate();
        dimensions.all(|(dimension, (subscript, extent))| match subscript {
            Subscript::Affine(_) => self.checks.is_proved(subscript, &here.loops),
            Subscript::Computed(expr) => {
                let place = (access.array, dimension);
                let mut between = here.between.iter();
                let code = (self.checks, self.oob);
                let is_in_range = (self.facts.stays()).is_in(self.kernel, code, place, expr)
                    || between.any(|it| it.says(self.kernel, expr, extent));
                is_in_range && self.expr(expr, here)
            }
        })
    }

    fn expr(&self, expr: &Expr, here: &Here<'k>) -> bool {
        match expr {
            Expr::Load(access) => self.access(access, here),
            _ if expr.may_divide_by_zero(self.kernel) => false,
            _ => expr.operands().into_iter().all(|it| self.expr(it, here)),
        }
    }
}

/// Whether the loop has as many turns in all iterations of the loops inside of the forall: those of
/// others are not in the estimate of the work, by which a loop is not stopped.
fn is_counted(target: &AffineFor, here: &Here<'_>) -> bool {
    let inside = here.loops.iter().skip(here.outer);
    let inside: Vec<_> = inside.map(|it| Variable::Iter(it.iter())).collect();
    let mut bounds = target.bounds();
    bounds.all(|bound| inside.iter().all(|it| !bound.mentions(*it)))
}

#[cfg(test)]
mod tests {
    use super::Sure;
    use crate::facts::{Checks, Facts};
    use strew_affine::interpret::Oob;
    use strew_affine::text::parse;
    use strew_affine::{Kernel, Node};

    /// Whether a forall with this body is sure.
    fn is_sure(body: &str) -> bool {
        let source = format!(
            "kernel @k(n: i64, m: i64, key: i64[n], b: u8[n], x: f64[m], y: f64[m], h: i64[256]) {{
               scf.forall i in 0..n private(p: f64[m] = identity(add), q: i64[256] = identity(add))
                 merge(y reduce(add) p, h reduce(add) q) {{ {body} }}
             }}"
        );
        let kernel: Kernel = parse(&source).expect("kernel text").swap_remove(0);
        let Some(Node::Forall(forall)) = kernel.body.first() else {
            panic!("a forall");
        };
        let facts = Facts::of(&kernel);
        let sure = Sure {
            kernel: &kernel,
            facts: &facts,
            checks: Checks::Computed,
            oob: Oob::Error,
        };
        sure.is_sure(forall, &[])
    }

    #[test]
    fn what_conditions_and_types_say_is_sure() {
        for body in [
            "q[b[i]] reduce(add) 1",
            "affine.for j in i * 4..i * 4 + 4 { affine.for l in 0..m { q[b[i]] reduce(add) 1 } }",
            "let k: i64 = key[i] scf.if k >= 0 && k < m { p[k] reduce(add) x[k] }",
            "scf.if key[i] >= 0 && key[i] < m { p[key[i]] reduce(add) 1.0 }",
            "let k: i64 = key[i] scf.if k > 0 && k < m - 1 { p[k - 1] reduce(add) 1.0 p[k + 1] reduce(add) 1.0 }",
            "p[key[i] < 0 ? 0 : key[i] < m ? key[i] : m - 1] reduce(add) 1.0",
            "let k: i64 = key[i] scf.if k >= 0 && k < m { let l: i64 = k / 3 p[k] reduce(add) f64(l) }",
        ] {
            assert!(is_sure(body), "{body}");
        }
    }

    #[test]
    fn what_can_fail_is_not() {
        for body in [
            "p[key[i]] reduce(add) 1.0",
            "let k: i64 = key[i] scf.if k < m { p[k] reduce(add) 1.0 }",
            "p[key[i] < 0 ? 0 : key[i] < m ? key[i] : m] reduce(add) 1.0",
            "let k: i64 = key[i] scf.if k >= 0 { p[k < m ? k : m - 1] reduce(add) 1.0 }",
            "p[key[i] < 0 ? 0 : key[i] < n ? key[i] : n - 1] reduce(add) 1.0",
            "let k: i64 = key[i] scf.if k >= 0 && k < n { p[k] reduce(add) 1.0 }",
            "let k: i64 = key[i] scf.if k >= 0 && k < m { } else { p[k] reduce(add) 1.0 }",
            "let k: i64 = key[i] scf.if k >= 0 && k < m && x[k] > 0.0 { p[k] reduce(add) 1.0 }",
            "var k: i64 = key[i] scf.if k >= 0 && k < m { k = 7 p[k] reduce(add) 1.0 }",
            "let k: i64 = key[i] scf.if k >= 0 && k < m { p[k] reduce(add) f64(7 / k) }",
            "let k: i64 = key[i] scf.if k >= 0 && k < m { p[k + 1] reduce(add) 1.0 }",
            "affine.for j in 0..m { affine.for l in 0..j { q[b[i]] reduce(add) 1 } }",
            "scf.for j in 0..key[i] { q[b[i]] reduce(add) 1 }",
        ] {
            assert!(!is_sure(body), "{body}");
        }
    }
}
