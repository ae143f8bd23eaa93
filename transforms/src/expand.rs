//! The step `expand`.

use crate::address::{self, find_variable, single_bounds};
use crate::assume::assume;
use crate::in_range::never_negative;
use crate::private::check_private;
use crate::script::Written;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tiling::trip_count;
use crate::tree::{Replacing, for_each_access_mut, for_each_expr_mut};
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::dependence::{Analyzed, Target};
use strew_affine::verify::Verified;
use strew_affine::{
    Access, AffineExpr, AffineFor, Array, ArrayId, Condition, Expr, Kernel, Node, Place, Span,
    Subscript,
};

/// Makes an array with an element for each iteration of a loop of a scalar, and of a local array
/// one with a dimension more, so that iterations no longer meet in it.
///
/// ```text
/// affine.for i in 0..n {              alloc t_x: f64[n]
///   let t: f64 = x[i]                 affine.for i in 0..n {
///   y[i] = t * t                →       t_x[i] = x[i]
/// }                                     y[i] = t_x[i] * t_x[i]
///                                     }
/// ```
///
/// Legal when iterations could have it of their own, as [`Privatize`](crate::Privatize) asks, or
/// when it is declared in the loop. After it statements that shared the scalar can be distributed
/// over loops of their own. Where an index out of range is skipped, what was skipped with a
/// declaration finds a zero. That the loop does not end before it begins the kernel assumes from
/// then on, where that is not known, and a call checks it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expand {
    /// The scalar or the local array.
    pub variable: String,
    /// The loop, an `affine.for` that runs as often whatever the iterations around it are.
    pub target: LoopPath,
}

impl Expand {
    /// The word that the step begins with.
    pub const NAME: &'static str = "expand";

    /// A request to give `variable` an element for each iteration of `target`.
    pub fn new(variable: impl Into<String>, target: impl Into<LoopPath>) -> Self {
        Self {
            variable: variable.into(),
            target: target.into(),
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let request = Self::new(call.word()?, call.path()?);
        call.finish(&[])?;
        Ok(request)
    }
}

impl fmt::Display for Expand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}({}, {})",
            Self::NAME,
            Written(&self.variable),
            self.target
        )
    }
}

impl Transform for Expand {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &Expand) -> Result<Replacing, Reason> {
    let path = &request.target;
    let of = address::find_affine_for(kernel, path)?.it;
    address::check_no_lanes(of.lanes, path)?;
    let variable = find_variable(kernel, &request.variable)?;
    check_private(kernel, of, path, variable)?;
    check_begins_once(kernel, of, path, variable)?;
    let (lower, _) = single_bounds(of, path)?;
    let extent = extent(kernel, of, path)?;
    let number = AffineExpr::from(of.iter).minus(lower)?;
    let mut prepared = kernel.clone();
    assume(&mut prepared, [Condition::at_most(0, extent.clone())])?;
    let expanded = Expanded {
        variable,
        array: expanded_array(&mut prepared, variable, extent),
        number: number.floordiv(&of.step.into())?,
    };
    let mut around = of.clone();
    expanded.block(&mut around.body);
    let alloc = Node::Alloc {
        array: expanded.array,
    };
    Ok(Replacing {
        kernel: prepared,
        target: of.iter,
        replacement: vec![alloc, Node::AffineFor(around)],
    })
}

/// That an array is not filled with zeros several times in one iteration: its elements in the
/// expanded one are once.
fn check_begins_once(
    kernel: &Kernel,
    of: &AffineFor,
    path: &LoopPath,
    variable: Target,
) -> Result<(), Reason> {
    let analyzed = Analyzed::new(kernel);
    let mut sites = analyzed.sites().iter();
    let around = sites.find_map(|it| it.levels().position(|level| level.iter() == Some(of.iter)));
    let is_array = matches!(variable, Target::Array(_));
    let is_again = is_array && around.is_some_and(|it| analyzed.home_depth(variable) > it + 1);
    match is_again {
        true => Err(Reason::AllocatedInside {
            array: variable.name(kernel).to_owned(),
            path: path.clone(),
        }),
        false => Ok(()),
    }
}

/// An extent for an element for each iteration of `of`: the number of them, or one that is greater
/// where that could be negative, and one that seldom is where only the parameters of a call tell.
fn extent(kernel: &Kernel, of: &AffineFor, path: &LoopPath) -> Result<AffineExpr, Reason> {
    let (lower, upper) = single_bounds(of, path)?;
    let analyzed = Analyzed::of_parameters(kernel);
    let around = address::find_affine_for(kernel, path)?.around;
    let mut candidates = vec![trip_count(lower, upper, of.step)?];
    if never_negative(kernel, &around, lower) {
        candidates.push(upper.clone());
        candidates.push(upper.offset(upper.constant().saturating_neg().max(0))?);
    }
    candidates.retain(AffineExpr::is_over_parameters);
    let is_extent = |it: &&AffineExpr| analyzed.is_never_negative(it);
    let found = candidates.iter().find(is_extent).or(candidates.last());
    found
        .cloned()
        .ok_or_else(|| Reason::MovingExtent { path: path.clone() })
}

/// `t_x`, with one element, or one copy of the array, for each of `trips` iterations.
fn expanded_array(kernel: &mut Kernel, variable: Target, trips: AffineExpr) -> ArrayId {
    let name = kernel.fresh_name(&format!("{}_x", variable.name(kernel)));
    let (element, inner, span) = match variable {
        Target::Local(local) => {
            let local = &kernel.locals[local];
            (local.ty, Vec::new(), local.span)
        }
        Target::Array(array) => {
            let array = &kernel.arrays[array];
            (array.element, array.extents.clone(), array.span)
        }
    };
    kernel.arrays.alloc(Array {
        name,
        element,
        extents: [vec![trips], inner].concat(),
        length: None,
        field: None,
        span,
    })
}

/// What a variable becomes.
struct Expanded {
    variable: Target,
    array: ArrayId,
    /// The number of the iteration.
    number: AffineExpr,
}

impl Expanded {
    fn block(&self, body: &mut Vec<Node>) {
        body.retain(|node| match (node, self.variable) {
            (Node::Alloc { array }, Target::Array(it)) => *array != it,
            _ => true,
        });
        for node in body.iter_mut() {
            self.declaration(node);
            for block in node.blocks_mut() {
                self.block(block);
            }
        }
        match self.variable {
            Target::Local(local) => for_each_expr_mut(body, &mut |expr| {
                if matches!(expr, Expr::Local(it) if *it == local) {
                    *expr = Expr::Load(self.access(Vec::new(), Span::default()));
                }
            }),
            Target::Array(array) => for_each_access_mut(body, &mut |access| {
                if access.array == array {
                    *access = self.access(std::mem::take(&mut access.subscripts), access.span);
                }
            }),
        }
    }

    /// What declared the scalar assigns, and what set it sets the element.
    fn declaration(&self, node: &mut Node) {
        let Target::Local(expanded) = self.variable else {
            return;
        };
        if let Node::Declare { local, value } = node
            && *local == expanded
        {
            let value = std::mem::replace(value, Expr::i64(0));
            let span = Span::default();
            *node = Node::Assign {
                place: Place::Element(self.access(Vec::new(), span)),
                value,
                span,
            };
        }
        for place in node.places_mut() {
            if matches!(place, Place::Local(local) if *local == expanded) {
                *place = Place::Element(self.access(Vec::new(), Span::default()));
            }
        }
    }

    fn access(&self, inner: Vec<Subscript>, span: Span) -> Access {
        Access {
            array: self.array,
            subscripts: [vec![Subscript::Affine(self.number.clone())], inner].concat(),
            span,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed, Unproven};
    use crate::test_support::{
        accepts, apply, assert_same_meaning, assert_same_where_assumed, kernel, refuses,
    };

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n { let t: f64 = x[i] y[i] = t * t }
}",
            "expand(t, i)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  alloc t_x: f64[n]
  affine.for i in 0..n { t_x[i] = x[i] y[i] = t_x[i] * t_x[i] }
}",
        );
    }

    #[test]
    fn scalars_and_arrays_in_any_loop() {
        for bounds in ["0..n", "2..n step 3", "3..n - 2", "1..n - 1"] {
            for (body, name) in [
                ("t = x[i] y[i] = t + f64(i)", "t"),
                ("let k: i32 = seg[i] y[k] reduce(add) x[k]", "k"),
                ("a[1] = x[i] y[i] = a[1]", "a"),
                (
                    "alloc b: f64[3] affine.for j in 0..2 { b[j + 1] = x[i] b[j] reduce(add) b[j + 1] } y[i] = b[0]",
                    "b",
                ),
            ] {
                let before = kernel(&format!(
                    "kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], y: f64[n]) {{
                       var t: f64 = 0.0
                       alloc a: f64[4]
                       affine.for o in 0..2 {{ affine.for i in {bounds} {{ {body} }} }}
                     }}"
                ));
                let after = apply(&before, &format!("expand({name}, i)"));
                assert!(
                    after.to_string().contains(&format!("alloc {name}_x")),
                    "{after}"
                );
                assert_same_meaning(&before, &after);
            }
        }
    }

    #[test]
    fn what_shared_a_scalar_can_be_distributed() {
        let before = kernel(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  affine.for i in 0..n { let t: f64 = x[i] y[i] = t * t }
}",
        );
        let after = apply(&before, "expand(t, i) distribute(i) parallelize(i_2)");
        assert_same_meaning(&before, &after);
    }

    #[test]
    fn that_there_are_iterations_is_assumed() {
        for (bounds, assumed) in [
            ("0..m", "0 <= m"),
            ("1..m - 1", "0 <= m"),
            ("m..2 step 2", "0 <= -((m - 2) floordiv 2)"),
        ] {
            let before = kernel(&format!(
                "kernel @k(m: i64, n: i64, x: f64[n], y: f64[n]) {{
  affine.for i in {bounds} {{ let t: f64 = x[1] y[1] = t * t }}
}}"
            ));
            let after = apply(&before, "expand(t, i)");
            assert!(
                after.to_string().contains(&format!("assume ({assumed})")),
                "{after}"
            );
            assert_same_where_assumed(&before, &after);
        }
    }

    #[test]
    fn refusals() {
        let source = "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  var s: f64 = 0.0
  affine.for i in 0..n {
    affine.for j in 0..i { let t: f64 = x[j] y[i] reduce(add) t }
    s reduce(add) x[i]
  }
}";
        refuses(source, "expand(t, j)", Unproven, "MovingExtent");
        refuses(source, "expand(s, i)", Illegal, "ReadsOlder");
        refuses(source, "expand(u, i)", Misaddressed, "NoSuchVariable");
        let counts = "kernel @k(n: i64, y: i64[n, n]) {
  affine.for i in 0..n {
    affine.for j in 0..n { alloc w: i64[1] w[0] reduce(add) 1 y[i, j] = w[0] }
  }
}";
        refuses(counts, "expand(w, i)", Misaddressed, "AllocatedInside");
        let before = kernel(counts);
        assert_same_meaning(&before, &apply(&before, "expand(w, j) expand(w_x, i)"));
    }
}
