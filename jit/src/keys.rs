//! What decides where the updates of a forall go.

use crate::facts::{Facts, writes_buffers_alone};
use crate::free_names::FreeNames;
use crate::lower::{Request, find_forall};
use std::collections::{BTreeSet, HashMap};
use strew_affine::interpret::Oob;
use strew_affine::visit::walk;
use strew_affine::{
    AffineExpr, ArrayId, Expr, Forall, IterId, Kernel, LocalId, Node, Parameter, Place, ScalarId,
    Subscript, Variable,
};
use strew_runtime::abi::KeySlots;

/// The parameters that decide how many updates of private buffers a forall makes, and which
/// elements they go to, when nothing else does: then they go there again whenever the forall runs
/// with the same ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeySources {
    /// Arrays that the kernel never writes.
    pub(crate) arrays: BTreeSet<ArrayId>,
    /// Scalar parameters.
    pub(crate) scalars: BTreeSet<ScalarId>,
}

impl KeySources {
    /// Those of `forall`; `None` when something that changes while the kernel runs decides too, or
    /// when the body cannot be run for the keys alone, since it writes something else.
    ///
    /// All conditions and bounds in the body count, as do subscripts of private buffers, and what
    /// the locals in all these are set to.
    pub(crate) fn of(forall: &Forall, facts: &Facts) -> Option<Self> {
        let mut search = Search {
            sets: sets(&forall.body),
            found: Self::default(),
            iters: BTreeSet::new(),
            locals: BTreeSet::new(),
        };
        search.affine(&forall.count);
        walk(&forall.body, &mut |node, _| search.places_of(node, forall));
        let outside = FreeNames::of(&forall.body, forall.iter);
        let is_fixed = outside.iters.is_disjoint(&search.iters)
            && outside.locals.is_disjoint(&search.locals)
            && forall.count.is_over_parameters()
            && search.found.arrays.iter().all(|it| facts.is_read_only(*it));
        (is_fixed && writes_buffers_alone(forall)).then_some(search.found)
    }
}

/// What decides where the updates of the forall with this number go; `None` when something does
/// that changes while the kernel runs.
pub(crate) fn key_slots(request: &Request<'_>, number: u32) -> Option<KeySlots> {
    // Whether an update is made at all then follows from the values, which may change.
    if request.oob == Oob::Skip {
        return None;
    }
    let kernel = request.kernel;
    let (forall, _) = find_forall(kernel, number)?;
    let sources = KeySources::of(forall, request.facts)?;
    let slot = |param: Parameter| {
        let position = kernel.params.iter().position(|it| *it == param)?;
        u32::try_from(position).ok()
    };
    let arrays = sources.arrays.into_iter();
    let scalars = sources.scalars.into_iter();
    Some(KeySlots {
        arrays: arrays
            .map(|it| slot(parameter_of(kernel, it)))
            .collect::<Option<_>>()?,
        scalars: scalars
            .map(|it| slot(Parameter::Scalar(it)))
            .collect::<Option<_>>()?,
    })
}

/// The parameter that an array of the caller is, or is a field of.
pub(crate) fn parameter_of(kernel: &Kernel, array: ArrayId) -> Parameter {
    match kernel.arrays[array].field {
        // Several fields of one record are one parameter.
        Some(field) => Parameter::Record(field.record),
        None => Parameter::Array(array),
    }
}

struct Search<'k> {
    /// Everything that the body sets each of its locals to.
    sets: HashMap<LocalId, Vec<&'k Expr>>,
    found: KeySources,
    iters: BTreeSet<IterId>,
    locals: BTreeSet<LocalId>,
}

impl<'k> Search<'k> {
    /// What `node` has to say about the places of updates.
    fn places_of(&mut self, node: &'k Node, forall: &Forall) {
        match node {
            Node::AffineFor(inner) => {
                let bounds = inner.bounds();
                bounds.for_each(|bound| self.affine(bound));
            }
            Node::AffineIf { conditions, .. } => {
                for condition in conditions {
                    self.affine(&condition.left);
                    self.affine(&condition.right);
                }
            }
            Node::ScfFor(_) | Node::ScfWhile { .. } | Node::ScfIf { .. } => {
                node.expressions().into_iter().for_each(|it| self.expr(it));
            }
            Node::Reduce { .. } => {
                let is_private = |array| forall.has_buffer(array);
                let written = node.written_elements();
                written
                    .filter(|access| is_private(access.array))
                    .for_each(|access| self.subscripts(&access.subscripts));
            }
            Node::Forall(inner) => self.affine(&inner.count),
            Node::Declare { .. } | Node::Alloc { .. } | Node::Assign { .. } => {}
        }
    }

    fn affine(&mut self, expr: &AffineExpr) {
        expr.for_each_variable(&mut |variable| match variable {
            Variable::Param(param) => {
                self.found.scalars.insert(param);
            }
            Variable::Iter(iter) => {
                self.iters.insert(iter);
            }
        });
    }

    fn subscripts(&mut self, subscripts: &'k [Subscript]) {
        for subscript in subscripts {
            match subscript {
                Subscript::Affine(expr) => self.affine(expr),
                Subscript::Computed(expr) => self.expr(expr),
            }
        }
    }

    fn expr(&mut self, expr: &'k Expr) {
        match expr {
            Expr::Iter(iter) => {
                self.iters.insert(*iter);
            }
            Expr::Param(param) => {
                self.found.scalars.insert(*param);
            }
            Expr::Local(local) => self.local(*local),
            Expr::Load(access) => {
                self.found.arrays.insert(access.array);
                self.subscripts(&access.subscripts);
            }
            _ => expr.operands().into_iter().for_each(|it| self.expr(it)),
        }
    }

    fn local(&mut self, local: LocalId) {
        if self.locals.insert(local) {
            let sets = self.sets.remove(&local).unwrap_or_default();
            sets.into_iter().for_each(|it| self.expr(it));
        }
    }
}

/// The expressions that `body` sets each local to; those of a statement that sets several count for
/// all of them.
fn sets(body: &[Node]) -> HashMap<LocalId, Vec<&Expr>> {
    let mut sets = HashMap::<_, Vec<_>>::new();
    walk(body, &mut |node, _| {
        let declared = match node {
            Node::Declare { local, .. } => Some(*local),
            _ => None,
        };
        let assigned = node.places().iter().filter_map(|place| match place {
            Place::Local(local) => Some(*local),
            Place::Element(_) => None,
        });
        for local in assigned.chain(declared) {
            sets.entry(local).or_default().extend(node.expressions());
        }
    });
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(body: &str) -> Option<(Vec<String>, Vec<String>)> {
        let text = format!(
            "kernel @k(n: i64, m: i64, t: i64, key: i32[n], row: i64[n], w: f64[n], out: f64[m], old: i32[n]) {{
               affine.for s in 0..t {{
                 var before: i64 = 0
                 before = s
                 affine.for z in 0..n {{ old[z] = 1 }}
                 scf.forall c in 0..8 private(p: f64[m] = identity(add)) merge(out reduce(add) p) {{
                   affine.for i in c * n floordiv 8..(c + 1) * n floordiv 8 {{ {body} }}
                 }}
               }}
             }}"
        );
        let kernel: Kernel = strew_affine::text::parse(&text)
            .expect("a kernel")
            .remove(0);
        let facts = Facts::of(&kernel);
        let mut found = None;
        walk(&kernel.body, &mut |node, _| {
            if let Node::Forall(forall) = node {
                found = KeySources::of(forall, &facts);
            }
        });
        found.map(|found| {
            let arrays = found.arrays.into_iter();
            let scalars = found.scalars.into_iter();
            (
                arrays.map(|it| kernel.arrays[it].name.clone()).collect(),
                scalars.map(|it| kernel.scalars[it].name.clone()).collect(),
            )
        })
    }

    fn of_parameters(arrays: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
        let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
        Some((names(arrays), names(&["n"])))
    }

    #[test]
    fn keys_follow_from_subscripts_bounds_conditions_and_locals() {
        assert_eq!(
            sources("p[key[i]] reduce(add) w[i]"),
            of_parameters(&["key"])
        );
        let nested =
            "scf.for e in row[i]..row[i] + 3 { let k: i32 = key[e] p[k] reduce(add) w[i] }";
        assert_eq!(sources(nested), of_parameters(&["key", "row"]));
        let guarded = "scf.if w[i] > 0.0 { p[key[i]] reduce(add) 1.0 }";
        assert_eq!(sources(guarded), of_parameters(&["key", "w"]));
    }

    #[test]
    fn what_changes_in_the_kernel_fixes_no_keys() {
        assert_eq!(sources("p[old[i]] reduce(add) w[i]"), None);
        assert_eq!(sources("p[s] reduce(add) w[i]"), None);
        assert_eq!(sources("p[before] reduce(add) w[i]"), None);
        assert_eq!(
            sources("scf.if f64(old[i]) > w[i] { p[key[i]] reduce(add) 1.0 }"),
            None
        );
    }

    #[test]
    fn a_body_that_writes_something_else_has_none() {
        assert_eq!(sources("p[key[i]] reduce(add) w[i] old[i] = 3"), None);
    }

    #[test]
    fn values_may_change() {
        assert_eq!(
            sources("p[key[i]] reduce(add) w[i] * f64(s + before)"),
            of_parameters(&["key"])
        );
    }
}
