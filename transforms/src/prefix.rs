//! The step `prefix`.

use crate::address::{self, Target, single_bounds};
use crate::anew::Anew;
use crate::assume::assume;
use crate::build::{assign, decide, declare, element, loop_over};
use crate::copy::{Copying, loop_anew};
use crate::reason::checked_number;
use crate::scalars::named_in;
use crate::script::WrittenAll;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::{Replacing, new_iter};
use crate::{LoopPath, Reason, tiling};
use std::fmt;
use strew_affine::verify::Verified;
use strew_affine::visit::{for_each_local_read, walk};
use strew_affine::{
    AffineExpr, AffineFor, Array, ArrayId, Bound, Combiner, CompareOp, Condition, Expr, IterId,
    Kernel, Local, LocalId, Node, Overflow, Place, Span, Subscript, Type,
};

/// More threads than any machine has.
const MOST_THREADS: u64 = 1 << 32;

/// Cuts the iterations of a loop into tiles, each of which begins with what the reductions of all
/// tiles before it leave in scalars, so that tiles no longer meet in these.
///
/// ```text
/// affine.for i in 0..n {          alloc at_s: i64[n ceildiv 32]
///   at reduce(add) by[i]          affine.for i_s in 0..n ceildiv 32 {
///   out[at] reduce(add) x[i]        var at_p: i64 = 0
/// }                                 affine.for i_q in i_s * 32..min(n, i_s * 32 + 32) {
///                                     at_p reduce(add) by[i_q]
///                                   }
///                                   at_s[i_s] = at_p
///                            →    }
///                                 affine.for i_k in 0..n ceildiv 32 {
///                                   let moved: i64 = at_s[i_k]
///                                   at_s[i_k] = at
///                                   at reduce(add) moved
///                                 }
///                                 affine.for i_t in 0..n ceildiv 32 {
///                                   var at_t: i64 = at_s[i_t]
///                                   affine.for i_p in i_t * 32..min(n, i_t * 32 + 32) {
///                                     at_t reduce(add) by[i_p]
///                                     out[at_t] reduce(add) x[i_p]
///                                   }
///                                 }
/// ```
///
/// This is how prefix sums are made in parallel (Blelloch, *Prefix sums and their applications*,
/// 1990). Legal when all that the loop does with the scalars besides reading them are reductions
/// that regrouping changes no bit of, of values that follow neither from the scalars nor from
/// anything else that iterations change. That what is read for them is in range the kernel assumes
/// from then on, where that is not known, and a call checks it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prefix {
    /// The scalars.
    pub variables: Vec<String>,
    /// The loop, an `affine.for` with steps of one.
    pub target: LoopPath,
    /// How many iterations a tile has, at least 1.
    pub tile: u64,
    /// With fewer threads the loop runs as it was; at least 1.
    pub threads: u64,
}

impl Prefix {
    /// The word that the step begins with.
    pub const NAME: &'static str = "prefix";

    /// A request to begin each `tile` iterations of `target` with what `variables` are there.
    pub fn new(
        variables: impl IntoIterator<Item = impl Into<String>>,
        target: impl Into<LoopPath>,
        tile: u64,
    ) -> Self {
        Self {
            variables: variables.into_iter().map(Into::into).collect(),
            target: target.into(),
            tile,
            threads: 1,
        }
    }

    /// The same for so many threads at least, where fewer save nothing by it. Who lets private
    /// buffers collect what tiles add regroups that in one of both versions alone.
    pub fn threads(self, threads: u64) -> Self {
        Self { threads, ..self }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let threads = call.named("threads")?;
        let (variables, target, tile) = call.scalars_in_tiles()?;
        let threads = threads.map_or(Ok(1), |it| it.number())?;
        call.finish(&["tile", "threads"])?;
        Ok(Self::new(variables, target, tile).threads(threads))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, variables) = (Self::NAME, WrittenAll(&self.variables));
        let Self { target, tile, .. } = self;
        write!(f, "{name}({variables}, {target}, tile = {tile}")?;
        match self.threads {
            1 => f.write_str(")"),
            threads => write!(f, ", threads = {threads})"),
        }
    }
}

impl Transform for Prefix {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &Prefix) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, around } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target.lanes, path)?;
    let (lower, upper) = single_bounds(target, path)?;
    let tile = tiling::checked_tile(request.tile)?;
    let count = tiling::trip_count(lower, upper, tile)?;
    if !count.is_over_parameters() {
        return Err(Reason::MovingExtent { path: path.clone() });
    }
    let (locals, refused) = named_in(kernel, (path, target), &request.variables)?;
    let sums: Option<Vec<_>> = locals
        .iter()
        .map(|it| Running::of(kernel, target, *it))
        .collect();
    let anew = Anew::of(target, &locals).filter(|it| {
        target.step == 1 && !reads_any(it, &locals) && !may_divide_by_zero(kernel, it)
    });
    let (sums, anew) = sums.zip(anew).ok_or_else(&refused)?;
    let needed = anew.conditions(kernel, target, &around);
    let mut needed = needed.ok_or_else(&refused)?;
    needed.push(Condition::at_most(0, count.clone()));
    let mut prepared = kernel.clone();
    assume(&mut prepared, needed)?;
    let tiles = Tiles {
        target,
        lower,
        upper,
        tile,
        count,
    };
    let threads: i64 = checked_number("the number of threads", request.threads, 1..=MOST_THREADS)?;
    let mut nodes = tiles.nodes(&mut prepared, &sums, &anew)?;
    if threads > 1 {
        let most = Expr::i64(threads - 1);
        let are_enough = Expr::compare(CompareOp::Gt, Expr::Threads, most);
        let as_it_was = Node::AffineFor(loop_anew(&mut prepared, target, "r")?);
        // Memory that there may not be is asked for before anything is written.
        let at_once = nodes.split_off(sums.len());
        nodes.push(decide(are_enough, at_once, [as_it_was]));
    }
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: nodes,
    })
}

/// Whether what moves the scalars reads any of them.
fn reads_any(anew: &Anew, locals: &[LocalId]) -> bool {
    let mut reads = false;
    walk(&anew.nodes, &mut |node, _| {
        for_each_local_read(node, &mut |it| reads |= locals.contains(&it));
    });
    reads
}

/// It would be found before what earlier iterations do wrong.
fn may_divide_by_zero(kernel: &Kernel, anew: &Anew) -> bool {
    let mut found = false;
    walk(&anew.nodes, &mut |node, _| {
        found |= node.expressions().iter().any(|it| it.divides(kernel));
    });
    found
}

/// A scalar that a loop does nothing with but to combine into it, and to read it.
struct Running {
    local: LocalId,
    combiner: Combiner,
    ty: Type,
    identity: Expr,
}

impl Running {
    fn of(kernel: &Kernel, target: &AffineFor, local: LocalId) -> Option<Self> {
        let place = Place::Local(local);
        let mut combiners: Vec<Option<&Combiner>> = Vec::new();
        walk(&target.body, &mut |node, _| {
            if node.places().contains(&place) {
                combiners.push(match node {
                    Node::Reduce {
                        places, combiner, ..
                    } if places.len() == 1 => Some(combiner),
                    _ => None,
                });
            }
        });
        let (first, others) = combiners.split_first()?;
        let combiner = (*first).filter(|_| others.iter().all(|it| it == first))?;
        let ty = kernel.locals[local].ty;
        let identity = combiner.identity(&[ty])?;
        let is_exact = combiner.is_exact(&[ty]) && ty != Type::Bool;
        is_exact.then_some(Self {
            local,
            combiner: combiner.clone(),
            ty,
            identity: Expr::Constant(*identity.first()?),
        })
    }

    fn combined(&self, value: Expr) -> Node {
        Node::Reduce {
            places: vec![Place::Local(self.local)],
            combiner: self.combiner.clone(),
            values: vec![value],
            span: Span::default(),
        }
    }

    /// An element for each tile.
    fn array(&self, kernel: &mut Kernel, extent: &AffineExpr) -> ArrayId {
        let local = &kernel.locals[self.local];
        let array = Array {
            name: kernel.fresh_name(&format!("{}_s", local.name)),
            element: self.ty,
            extents: vec![extent.clone()],
            length: None,
            field: None,
            span: local.span,
        };
        kernel.arrays.alloc(array)
    }
}

/// The tiles of a loop, by their numbers.
struct Tiles<'k> {
    target: &'k AffineFor,
    lower: &'k AffineExpr,
    upper: &'k AffineExpr,
    tile: i64,
    count: AffineExpr,
}

impl Tiles<'_> {
    /// First the arrays, one for each of `sums`.
    fn nodes(
        &self,
        kernel: &mut Kernel,
        sums: &[Running],
        anew: &Anew,
    ) -> Result<Vec<Node>, Overflow> {
        let arrays: Vec<_> = sums
            .iter()
            .map(|it| it.array(kernel, &self.count))
            .collect();
        let sums: Vec<_> = sums.iter().zip(arrays).collect();
        let number = new_iter(kernel, self.target.iter, "t");
        let mut nodes: Vec<Node> = sums
            .iter()
            .map(|(_, array)| Node::Alloc { array: *array })
            .collect();
        nodes.push(self.each(kernel, &sums, anew)?);
        nodes.push(self.before(kernel, &sums));
        let point = format!("{}_p", kernel.iters[self.target.iter].name);
        kernel.iters[self.target.iter].name = kernel.fresh_name(&point);
        nodes.push(self.tiled(kernel, &sums, number)?);
        Ok(nodes)
    }

    /// The iterations of the tile `number`, without a body.
    fn points(&self, iter: IterId, number: IterId) -> Result<AffineFor, Overflow> {
        let begin = self
            .lower
            .plus(&AffineExpr::from(number).scaled(self.tile)?)?;
        Ok(AffineFor {
            iter,
            upper: Bound(vec![self.upper.clone(), begin.offset(self.tile)?]),
            lower: begin.into(),
            step: 1,
            lanes: 1,
            body: Vec::new().into(),
        })
    }

    /// What each tile by itself makes of the identities.
    fn each(
        &self,
        kernel: &mut Kernel,
        sums: &[(&Running, ArrayId)],
        anew: &Anew,
    ) -> Result<Node, Overflow> {
        let number = new_iter(kernel, self.target.iter, "s");
        let point = new_iter(kernel, self.target.iter, "q");
        let copying = Copying::shift(self.target.iter, point, 0).anew(kernel, &anew.nodes, 1);
        let nodes = copying.block(&anew.nodes)?;
        let mut own = Copying::default();
        let owns = sums.iter().map(|(it, array)| {
            let local = own.new_local(kernel, it.local, "s");
            let made = Place::Element(element(*array, &[Subscript::Affine(number.into())]));
            let declared = declare(local, it.identity.clone());
            (declared, assign(made, Expr::Local(local)))
        });
        let (mut body, kept): (Vec<_>, Vec<_>) = owns.unzip();
        body.push(Node::AffineFor(AffineFor {
            body: own.block(&nodes)?.into(),
            ..self.points(point, number)?
        }));
        body.extend(kept);
        Ok(loop_over(number, self.count.clone(), body))
    }

    /// Makes of what each tile leaves what all before it leave.
    fn before(&self, kernel: &mut Kernel, sums: &[(&Running, ArrayId)]) -> Node {
        let number = new_iter(kernel, self.target.iter, "k");
        let mut body = Vec::new();
        for (it, array) in sums {
            let access = element(*array, &[Subscript::Affine(number.into())]);
            let moved = kernel.locals.alloc(Local {
                name: kernel.fresh_name("moved"),
                mutable: false,
                is_element: false,
                ..kernel.locals[it.local].clone()
            });
            body.push(declare(moved, Expr::Load(access.clone())));
            body.push(assign(Place::Element(access), Expr::Local(it.local)));
            body.push(it.combined(Expr::Local(moved)));
        }
        loop_over(number, self.count.clone(), body)
    }

    fn tiled(
        &self,
        kernel: &mut Kernel,
        sums: &[(&Running, ArrayId)],
        number: IterId,
    ) -> Result<Node, Overflow> {
        let mut own = Copying::default();
        let declared = sums.iter().map(|(it, array)| {
            let first = element(*array, &[Subscript::Affine(number.into())]);
            declare(own.new_local(kernel, it.local, "t"), Expr::Load(first))
        });
        let mut body: Vec<Node> = declared.collect();
        body.push(Node::AffineFor(AffineFor {
            body: own.block(&self.target.body)?.into(),
            ..self.points(self.target.iter, number)?
        }));
        Ok(loop_over(number, self.count.clone(), body))
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed, Unproven};
    use crate::test_support::{
        accepts, apply, assert_same_where_assumed, kernel, refused, refuses,
    };

    const STEP: &str = "prefix(at, i, tile = 3)";

    fn in_loop(bounds: &str, body: &str) -> String {
        format!(
            "kernel @k(n: i64, x: i64[n], y: i64[n]) {{
               var at: i64 = 7
               var last: i64 = 0
               affine.for i in {bounds} {{ {body} }}
               y[0] reduce(add) at + last
             }}"
        )
    }

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: i32[n], y: i64[n]) {
  var at: i64 = 0
  affine.for i in 0..n {
    y[i] = at
    at reduce(add) i64(x[i])
  }
}",
            "prefix(at, i, tile = 32)",
            "kernel @k(n: i64, x: i32[n], y: i64[n]) {
  var at: i64 = 0
  alloc at_s: i64[n ceildiv 32]
  affine.for i_s in 0..n ceildiv 32 {
    var at_s_2: i64 = 0
    affine.for i_q in i_s * 32..min(n, i_s * 32 + 32) {
      at_s_2 reduce(add) i64(x[i_q])
    }
    at_s[i_s] = at_s_2
  }
  affine.for i_k in 0..n ceildiv 32 {
    let moved: i64 = at_s[i_k]
    at_s[i_k] = at
    at reduce(add) moved
  }
  affine.for i_t in 0..n ceildiv 32 {
    var at_t: i64 = at_s[i_t]
    affine.for i_p in i_t * 32..min(n, i_t * 32 + 32) {
      y[i_p] = at_t
      at_t reduce(add) i64(x[i_p])
    }
  }
}",
        );
    }

    #[test]
    fn tiles_begin_with_what_those_before_leave() {
        for bounds in ["0..n", "2..n - 1", "n - 7..n"] {
            for body in [
                "y[i] = at at reduce(add) x[i]",
                "at reduce(max) x[i] y[i] = at",
                "affine.if (3 <= i) { scf.if x[i] != x[i - 3] { at reduce(add) 1 } } y[i] = at + x[i]",
                "scf.if i32(i) > 0 && x[i] != x[i - 1] { at reduce(add) 1 } y[i] = at + x[i]",
                "let a: i64 = x[i] * 2 affine.for j in 0..3 { at reduce(xor) a + j y[i] reduce(add) at }",
            ] {
                let before = kernel(&in_loop(bounds, body));
                let after = apply(&before, STEP);
                assert_same_where_assumed(&before, &after);
                apply(&apply(&after, "parallelize(i_s)"), "parallelize(i_t)");
            }
        }
        let before = kernel(&in_loop("0..n", "at reduce(add) x[i] y[i] = at"));
        let after = apply(&before, "prefix(at, i, tile = 3, threads = 2)");
        assert!(after.to_string().contains("threads() > 1"), "{after}");
        assert_same_where_assumed(&before, &after);
        let both = "at reduce(add) x[i] last reduce(min) x[i] - i y[i] = at * last";
        let before = kernel(&in_loop("0..n", both));
        let after = apply(&before, "prefix(at, last, i, tile = 3)");
        assert_same_where_assumed(&before, &after);
        apply(&after, "parallelize(i_t)");
    }

    #[test]
    fn refusals() {
        for body in [
            // Not reductions alone, and by two combiners.
            "y[i] = at at = x[i]",
            "y[i] = at at reduce(add) x[i] at reduce(max) 3",
            // Of what it holds, and of what iterations change.
            "y[i] = at at reduce(add) at",
            "scf.if at < 9 { y[i] = at at reduce(add) x[i] }",
            "y[i] = at at reduce(add) y[i]",
            "y[i] = at at reduce(add) last last = x[i]",
            // Of an element that is not there at first.
            "scf.if x[i] != x[i - 1] { at reduce(add) 1 } y[i] = at",
            // A fault of its own.
            "y[i] = at at reduce(add) 7 / x[i]",
        ] {
            let reason = refused(&in_loop("0..n", body), STEP);
            assert_eq!(reason.name(), "CarriedScalar", "{body}");
        }
        let floats = in_loop("0..n", "y[i] = at at reduce(add) x[i]")
            .replace(": i64[n]", ": f64[n]")
            .replace("at: i64 = 7", "at: f64 = 7.0")
            .replace("last: i64 = 0", "last: f64 = 0.0");
        refuses(&floats, STEP, Illegal, "CarriedScalar");
        let source = in_loop("0..n", "y[i] = at at reduce(add) x[i]");
        for (step, name) in [
            ("prefix(last, i, tile = 3)", "NotWritten"),
            ("prefix(lost, i, tile = 3)", "NoSuchVariable"),
            ("prefix(at, i, tile = 0)", "BadNumber"),
        ] {
            refuses(&source, step, Misaddressed, name);
        }
        let several = in_loop("max(0, n - 4)..n", "y[i] = at at reduce(add) x[i]");
        refuses(&several, STEP, Unproven, "SeveralBounds");
    }
}
