//! The step `tile_reduction_using_forall`.

use crate::address::{self, Target};
use crate::private;
use crate::scalars;
use crate::script::Written;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tile_indirection::{self, Tiled};
use crate::tree::{for_each_place_mut, reads_local, replace_loop};
use crate::{LoopPath, Reason, Reduction, TileIndirection};
use std::fmt;
use strew_affine::verify::Verified;
use strew_affine::visit;
use strew_affine::{
    Access, AffineFor, Array, ArrayId, Combiner, Expr, Kernel, Last, Local, LocalId, Node, Place,
    Span, Subscript,
};

/// Tiles a loop that reduces into scalars, runs the tiles at once, each with scalars of its own,
/// and combines these in the order of the loop.
///
/// ```text
/// affine.for i in 0..n {              alloc s_r: f64[1]
///   s reduce(add) x[i]                s_r[0] = s
/// }                                   scf.forall i_c in 0..8
///                                         private(s_r_p: f64[1] = identity(add)) merge(s_r reduce(add) s_r_p) strategy(auto) {
///                               →       affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {
///                                         s_r_p[0] reduce(add) x[i]
///                                       }
///                                     }
///                                     s = s_r[0]
/// ```
///
/// Legal when the loop touches each scalar that lives outside of it by reductions with one combiner
/// alone, and the rest of its body may be tiled by `tile_indirection_using_forall`, whose mechanism
/// this is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TileReduction {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
    /// The scalars, each with its combiner. When empty: those that the loop sets.
    pub reductions: Vec<Reduction>,
    /// How many tiles, from 1 to [`TileIndirection::MOST_CHUNKS`].
    pub chunks: u64,
}

impl TileReduction {
    /// The word that the step begins with.
    pub const NAME: &'static str = "tile_reduction_using_forall";

    /// A request with every choice left open.
    pub fn new(target: impl Into<LoopPath>) -> Self {
        Self {
            target: target.into(),
            reductions: Vec::new(),
            chunks: TileIndirection::CHUNKS,
        }
    }

    /// This request with the scalar `name` reduced by `combiner`.
    #[must_use]
    pub fn reduction(mut self, name: impl Into<String>, combiner: impl Into<String>) -> Self {
        self.reductions.push(Reduction {
            array: name.into(),
            combiner: combiner.into(),
        });
        self
    }

    /// This request with `chunks` tiles.
    #[must_use]
    pub fn chunks(mut self, chunks: u64) -> Self {
        self.chunks = chunks;
        self
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let mut request = Self::new(call.path()?);
        let mut is_counted = false;
        for (name, value) in call.names()? {
            // A scalar may be called so too: a combiner is no number.
            match (name.as_str(), value.number()) {
                ("chunks", Ok(_)) if is_counted => return Err(value.repeated("chunks")),
                ("chunks", Ok(chunks)) => (request.chunks, is_counted) = (chunks, true),
                _ => request = request.reduction(name, value.combiner()?),
            }
        }
        Ok(request)
    }
}

impl fmt::Display for TileReduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}", Self::NAME, self.target)?;
        for Reduction { array, combiner } in &self.reductions {
            write!(f, ", {} = {combiner}", Written(array))?;
        }
        write!(f, ", chunks = {})", self.chunks)
    }
}

impl Transform for TileReduction {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(tile_indirection::rewrite(plan(kernel, self)?))
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &TileReduction) -> Result<Tiled, Reason> {
    let Target { it: target, .. } = address::find_affine_for(kernel, &request.target)?;
    let with_own = private::with_own(kernel, target)?;
    plan_shared(with_own.as_ref().unwrap_or(kernel), request)
}

/// The loop tiled, each scalar being an array of one element, where iterations have all of their
/// own that they can.
fn plan_shared(kernel: &Kernel, request: &TileReduction) -> Result<Tiled, Reason> {
    let Target { it: target, .. } = address::find_affine_for(kernel, &request.target)?;
    let reduced = reduced_scalars(kernel, request, target)?;
    let mut prepared = kernel.clone();
    let tiling = TileIndirection::new(request.target.clone()).chunks(request.chunks);
    let mut around = target.clone();
    let (mut replacement, mut after) = (Vec::new(), Vec::new());
    for Scalar { local, span, .. } in reduced {
        let array = one_element(&mut prepared, local);
        replacement.extend([
            Node::Alloc { array },
            assign(element(array, span), Expr::Local(local), span),
        ]);
        let sum = Expr::Load(at(array, span));
        after.push(match is_surely_declared(kernel, local) {
            true => assign(Place::Local(local), sum, span),
            false => set_if_declared(local, sum, span),
        });
        redirect(
            &mut around.body,
            &Place::Local(local),
            &element(array, span),
        );
    }
    replacement.push(Node::AffineFor(around));
    replacement.append(&mut after);
    replace_loop(&mut prepared.body, target.iter, replacement);
    tile_indirection::tiled(&prepared, &tiling)
}

/// Whether no index in the declaration of `local`, or of what it reads, can be out of range: where
/// it is and that is to be skipped, there is no scalar, and what it would be set to must not make
/// one.
fn is_surely_declared(kernel: &Kernel, local: LocalId) -> bool {
    let mut is_sure = true;
    visit::walk(&kernel.body, &mut |node, _| {
        if let Node::Declare { local: it, value } = node
            && *it == local
        {
            visit::for_each_load(value, &mut |_| is_sure = false);
            is_sure &= !reads_a_local(value);
        }
    });
    is_sure
}

fn reads_a_local(value: &Expr) -> bool {
    matches!(value, Expr::Local(_)) || value.operands().into_iter().any(reads_a_local)
}

/// As an update, which is skipped where there is no scalar, and sets it as an assignment does.
fn set_if_declared(local: LocalId, value: Expr, span: Span) -> Node {
    Node::Reduce {
        places: vec![Place::Local(local)],
        combiner: Combiner::new(Last),
        values: vec![value],
        span,
    }
}

struct Scalar {
    local: LocalId,
    combiner: Combiner,
    /// One of the updates.
    span: Span,
}

/// The scalars from outside that the loop sets, if reductions are all that it does with each and
/// the request does not say otherwise.
fn reduced_scalars(
    kernel: &Kernel,
    request: &TileReduction,
    target: &AffineFor,
) -> Result<Vec<Scalar>, Reason> {
    let mut found: Vec<Scalar> = Vec::new();
    for (local, node) in scalars::set_in(target) {
        let span = scalars::span_of(node);
        let carried = || scalars::carried(kernel, &request.target, target, (local, span));
        let Node::Reduce {
            places, combiner, ..
        } = node
        else {
            return Err(carried());
        };
        let known = found.iter().find(|it| it.local == local);
        let is_alone = places.len() == 1 && known.is_none_or(|it| it.combiner == *combiner);
        if !is_alone || reads_local(&target.body, local) {
            return Err(carried());
        }
        if known.is_none() {
            found.push(Scalar {
                local,
                combiner: combiner.clone(),
                span,
            });
        }
    }
    for clause in &request.reductions {
        address::check_combiner(kernel, &clause.combiner, &[])?;
        check_clause(kernel, request, (clause, target), &found)?;
    }
    let none = || {
        let path = request.target.clone();
        reduced_array(kernel, request, target, None).unwrap_or(Reason::NothingReduced { path })
    };
    match found.is_empty() {
        true => Err(none()),
        false => Ok(found),
    }
}

/// That the loop combines into an array, called `name` if that is given.
fn reduced_array(
    kernel: &Kernel,
    request: &TileReduction,
    target: &AffineFor,
    name: Option<&str>,
) -> Option<Reason> {
    let mut found = None;
    visit::walk(&target.body, &mut |node, _| {
        if matches!(node, Node::Reduce { .. }) {
            let names = node
                .written_elements()
                .map(|it| &kernel.arrays[it.array].name);
            let mut names = names.filter(|it| name.is_none_or(|name| name == it.as_str()));
            found = found.take().or_else(|| names.next().cloned());
        }
    });
    found.map(|name| Reason::OtherReduction {
        path: request.target.clone(),
        name,
        is_scalar: false,
    })
}

fn check_clause(
    kernel: &Kernel,
    request: &TileReduction,
    (clause, target): (&Reduction, &AffineFor),
    found: &[Scalar],
) -> Result<(), Reason> {
    let name = |it: &&Scalar| kernel.locals[it.local].name == clause.array;
    match found.iter().find(name) {
        None => {
            let other = reduced_array(kernel, request, target, Some(&clause.array));
            Err(other.unwrap_or_else(|| Reason::NotWritten {
                array: clause.array.clone(),
                path: request.target.clone(),
            }))
        }
        Some(it) if it.combiner.to_string() != clause.combiner => Err(Reason::WrongCombiner {
            array: clause.array.clone(),
            given: clause.combiner.clone(),
            found: it.combiner.to_string(),
            span: it.span,
        }),
        Some(_) => Ok(()),
    }
}

/// Whether the loop reduces into scalars that live outside of it, and sets them in no other way.
pub(crate) fn reduces_scalars(target: &AffineFor) -> bool {
    let set = scalars::set_in(target);
    let is_reduced = |(_, node): &(LocalId, &Node)| matches!(node, Node::Reduce { .. });
    !set.is_empty() && set.iter().all(is_reduced)
}

fn one_element(kernel: &mut Kernel, local: LocalId) -> ArrayId {
    let Local { name, ty, span, .. } = kernel.locals[local].clone();
    let array = Array {
        name: kernel.fresh_name(&format!("{name}_r")),
        element: ty,
        extents: vec![1.into()],
        length: None,
        field: None,
        span,
    };
    kernel.arrays.alloc(array)
}

fn at(array: ArrayId, span: Span) -> Access {
    Access {
        array,
        subscripts: vec![Subscript::Affine(0.into())],
        span,
    }
}

fn element(array: ArrayId, span: Span) -> Place {
    Place::Element(at(array, span))
}

fn assign(place: Place, value: Expr, span: Span) -> Node {
    Node::Assign { place, value, span }
}

/// Lets every statement in `nodes` that sets `from` set `to` instead.
fn redirect(nodes: &mut [Node], from: &Place, to: &Place) {
    for_each_place_mut(nodes, &mut |place| {
        let is_it = match (&*place, from) {
            (Place::Local(place), Place::Local(from)) => place == from,
            (Place::Element(place), Place::Element(from)) => place.array == from.array,
            _ => false,
        };
        if is_it {
            *place = to.clone();
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed};
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses, suggestion};

    const DOT: &str = "kernel @dot(n: i64, x: f64[n], y: f64[n], out: f64[1]) {
  var s: f64 = 0.0
  affine.for i in 0..n { s reduce(add) x[i] * y[i] }
  out[0] = s
}";

    #[test]
    fn scheme() {
        let after = "kernel @dot(n: i64, x: f64[n], y: f64[n], out: f64[1]) {
  var s: f64 = 0.0
  alloc s_r: f64[1]
  s_r[0] = s
  scf.forall i_c in 0..4 private(s_r_p: f64[1] = identity(add)) merge(s_r reduce(add) s_r_p) strategy(auto) {
    affine.for i in (i_c * n) floordiv 4..(i_c * n + n) floordiv 4 { s_r_p[0] reduce(add) x[i] * y[i] }
  }
  s = s_r[0]
  out[0] = s
}";
        accepts(
            DOT,
            "tile_reduction_using_forall(i, s = add, chunks = 4)",
            after,
        );
        accepts(DOT, "tile_reduction_using_forall(i, chunks = 4)", after);
    }

    fn in_loop(body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], out: f64[n], rest: f64[2]) {{
               var s: f64 = 1.0
               var t: f64 = 0.5
               var count: i64 = 7
               affine.for i in 0..n {{ {body} }}
               rest[0] = s + f64(count)
               rest[1] = t
             }}"
        )
    }

    #[test]
    fn scalars_and_scattered_arrays_together() {
        for body in [
            "s reduce(add) x[i] t reduce(max) x[i]",
            "s reduce(mul) 2.0 affine.for j in 0..i { s reduce(mul) 0.5 }",
            "scf.if 1.0 < x[i] { count reduce(add) 1 } out[seg[i]] reduce(add) x[i]",
            "var own: f64 = x[i] own reduce(add) 1.0 t reduce(min) own",
        ] {
            let before = kernel(&in_loop(body));
            for chunks in [1, 3, 8] {
                let script = format!("tile_reduction_using_forall(i, chunks = {chunks})");
                assert_same_meaning(&before, &apply(&before, &script));
            }
        }
    }

    #[test]
    fn what_is_combined_into_arrays_is_for_the_other_step() {
        let source = in_loop("out[seg[i]] reduce(add) x[i]");
        for step in [
            "tile_reduction_using_forall(i, chunks = 4)",
            "tile_reduction_using_forall(i, out = add, chunks = 4)",
        ] {
            let reason = refuses(&source, step, Misaddressed, "OtherReduction");
            assert_eq!(
                reason.to_string(),
                "`i` combines into an array, `out`, which is for `tile_indirection_using_forall`"
            );
            assert_eq!(
                suggestion(&source, step).as_deref(),
                Some("tile_indirection_using_forall(i, chunks = 4, strategy = auto)")
            );
        }
    }

    #[test]
    fn refusals() {
        let tile = "tile_reduction_using_forall(i)";
        refuses(
            &in_loop("s reduce(add) x[i] out[i] = s"),
            tile,
            Illegal,
            "CarriedScalar",
        );
        refuses(&in_loop("s = x[i]"), tile, Illegal, "CarriedScalar");
        refuses(
            &in_loop("s reduce(add) x[i] s reduce(mul) 2.0"),
            tile,
            Illegal,
            "CarriedScalar",
        );
        refuses(
            &in_loop("out[i] = x[i]"),
            tile,
            Misaddressed,
            "NothingReduced",
        );
        let by_max = "tile_reduction_using_forall(i, s = max)";
        refuses(DOT, by_max, Misaddressed, "WrongCombiner");
        let unknown = "tile_reduction_using_forall(i, s = foo)";
        refuses(DOT, unknown, Misaddressed, "NoSuchCombiner");
        let other = "tile_reduction_using_forall(i, t = add)";
        refuses(DOT, other, Misaddressed, "NotWritten");
        let recurrence = in_loop("s reduce(add) x[i] out[i] = out[0] + 1.0");
        refuses(&recurrence, tile, Illegal, "Carried");
    }
}
