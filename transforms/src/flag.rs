//! The step `flag`.

use crate::address::{self, Target, find_variable};
use crate::build::{declare, when};
use crate::scalars::declared_in;
use crate::script::Written;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::Replacing;
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::changed::Changed;
use strew_affine::dependence::Target as Variable;
use strew_affine::verify::Verified;
use strew_affine::visit::{for_each_load_of, for_each_local_read, has_forall, walk};
use strew_affine::{
    AffineFor, Bitwise, Combiner, CompareOp, Expr, Kernel, Local, LocalId, Node, Place, Span, Type,
    Value,
};

/// Keeps in a flag whether any iteration of a loop sets a scalar, or an element, which all that do
/// set to the same, and sets it behind the loop. Iterations then meet in the flag alone, and a
/// flag is a reduction.
///
/// ```text
/// affine.for i in 0..n {              var changed_set: i32 = 0
///   scf.if x[i] < y[i] {              affine.for i in 0..n {
///     y[i] = x[i]                       scf.if x[i] < y[i] {
///     changed[0] = 1             →        y[i] = x[i]
///   }                                     changed_set reduce(or) 1
/// }                                     }
///                                     }
///                                     scf.if changed_set != 0 {
///                                       changed[0] = 1
///                                     }
/// ```
///
/// Legal when the loop reads neither the scalar nor any element of the array, and every statement
/// in it that writes one sets the same place to the same value, whichever iteration it is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Flag {
    /// The scalar or the array.
    pub variable: String,
    /// The loop, an `affine.for`.
    pub target: LoopPath,
}

impl Flag {
    /// The word that the step begins with.
    pub const NAME: &'static str = "flag";

    /// A request to keep in a flag whether `target` sets `variable`.
    pub fn new(variable: impl Into<String>, target: impl Into<LoopPath>) -> Self {
        Self {
            variable: variable.into(),
            target: target.into(),
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let (variable, target) = (call.word()?, call.path()?);
        call.finish(&[])?;
        Ok(Self::new(variable, target))
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, variable) = (Self::NAME, Written(&self.variable));
        write!(f, "{name}({variable}, {})", self.target)
    }
}

impl Transform for Flag {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &Flag) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, .. } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target.lanes, path)?;
    let variable = find_variable(kernel, &request.variable)?;
    if !writes(target, variable) {
        return Err(Reason::NotWritten {
            path: path.clone(),
            array: request.variable.clone(),
        });
    }
    let set = set_alike(target, variable).ok_or_else(|| Reason::NotSetAlike {
        path: path.clone(),
        variable: request.variable.clone(),
    })?;
    let mut prepared = kernel.clone();
    let name = prepared.fresh_name(&format!("{}_set", request.variable));
    let flag = prepared.locals.alloc(Local {
        name,
        ty: Type::I32,
        mutable: true,
        is_element: false,
        span: Span::default(),
    });
    let number = |it| Expr::Constant(Value::integer(Type::I32, it));
    let mut flagging = target.clone();
    raise_flag(&mut flagging.body, variable, flag);
    let is_set = Expr::compare(CompareOp::Ne, Expr::Local(flag), number(0));
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement: vec![
            declare(flag, number(0)),
            Node::AffineFor(flagging),
            when(is_set, vec![set]),
        ],
    })
}

fn writes(target: &AffineFor, variable: Variable) -> bool {
    let mut writes = false;
    walk(&target.body, &mut |node, _| writes |= sets(node, variable));
    writes
}

/// Whether the statement itself writes `variable`.
fn sets(node: &Node, variable: Variable) -> bool {
    let mut places = node.places().iter();
    places.any(|it| Variable::from(it) == variable)
}

/// The variables that a flag can be kept for in `target`.
pub(crate) fn flaggable(target: &AffineFor) -> Vec<Variable> {
    let mut found: Vec<Variable> = Vec::new();
    walk(&target.body, &mut |node, _| {
        if let Node::Assign { place, .. } = node {
            let variable = Variable::from(place);
            if !found.contains(&variable) {
                found.push(variable);
            }
        }
    });
    found.retain(|it| set_alike(target, *it).is_some());
    found
}

/// The statement that sets `variable` in `target`, if that is the same wherever it does, and
/// nothing reads it.
fn set_alike(target: &AffineFor, variable: Variable) -> Option<Node> {
    let is_inside = match variable {
        Variable::Local(local) => declared_in(&target.body).contains(&local),
        Variable::Array(_) => false,
    };
    let changed = Changed::in_loop(target.iter, &target.body);
    let stays = |place: &Place| match place {
        Place::Element(access) => changed.place_stays(access),
        Place::Local(_) => true,
    };
    let (mut set, mut are_alike): (Option<&Node>, bool) = (None, true);
    walk(&target.body, &mut |node, _| {
        are_alike &= !reads(node, variable);
        if !sets(node, variable) {
            return;
        }
        are_alike &= match (node, set) {
            (Node::Assign { place, value, .. }, None) => stays(place) && changed.expr_stays(value),
            (node, Some(set)) => is_same(node, set),
            _ => false,
        };
        set = Some(node);
    });
    let is_plain = !is_inside && are_alike && !has_forall(&target.body);
    set.filter(|_| is_plain).cloned()
}

fn reads(node: &Node, variable: Variable) -> bool {
    let mut reads = false;
    match variable {
        Variable::Array(array) => for_each_load_of(node, &mut |it| reads |= it.array == array),
        Variable::Local(local) => for_each_local_read(node, &mut |it| reads |= it == local),
    }
    reads
}

fn is_same(one: &Node, other: &Node) -> bool {
    let (
        Node::Assign { place, value, .. },
        Node::Assign {
            place: to,
            value: from,
            ..
        },
    ) = (one, other)
    else {
        return false;
    };
    place.is_same(to) && value.is_same(from)
}

/// Puts an update of `flag` in the place of each statement that sets `variable`.
fn raise_flag(nodes: &mut [Node], variable: Variable, flag: LocalId) {
    for node in nodes {
        if let Node::Assign { place, span, .. } = node
            && Variable::from(&*place) == variable
        {
            *node = Node::Reduce {
                places: vec![Place::Local(flag)],
                combiner: Combiner::new(Bitwise::Or),
                values: vec![Expr::Constant(Value::integer(Type::I32, 1))],
                span: *span,
            };
            continue;
        }
        for block in node.blocks_mut() {
            raise_flag(block, variable, flag);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_where_assumed, kernel, refuses};

    fn in_loop(body: &str) -> String {
        format!(
            "kernel @k(n: i64, c: i32, x: i64[n], y: i64[n], changed: i32[2]) {{
               var any: i32 = 7
               affine.for i in 0..n {{ {body} }}
               y[0] reduce(add) i64(any)
             }}"
        )
    }

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: i64[n], y: i64[n], changed: i32[1]) {
  affine.for i in 0..n {
    scf.if x[i] < y[i] {
      y[i] = x[i]
      changed[0] = 1
    }
  }
}",
            "flag(changed, i)",
            "kernel @k(n: i64, x: i64[n], y: i64[n], changed: i32[1]) {
  var changed_set: i32 = 0
  affine.for i in 0..n {
    scf.if x[i] < y[i] {
      y[i] = x[i]
      changed_set reduce(or) 1
    }
  }
  scf.if changed_set != 0 {
    changed[0] = 1
  }
}",
        );
    }

    #[test]
    fn wherever_it_is_set() {
        let scalar = "scf.if x[i] < 0 { any = c } else { scf.if y[i] < 0 { any = c } }";
        let element = "affine.for j in 0..i { scf.if x[j] < y[i] { changed[1] = c + 1 } }";
        for (body, variable) in [(scalar, "any"), (element, "changed")] {
            let before = kernel(&in_loop(body));
            let after = apply(&before, &format!("flag({variable}, i)"));
            assert_same_where_assumed(&before, &after);
        }
    }

    #[test]
    fn refusals() {
        let refused = |body: &str, step: &str, verdict, name: &str| {
            refuses(&in_loop(body), step, verdict, name);
        };
        for body in [
            // Not the same.
            "any = i32(i)",
            "any = 1 scf.if x[i] < 0 { any = 2 }",
            "any reduce(add) 1",
            // It is read.
            "any = 1 y[i] = i64(any)",
        ] {
            refused(body, "flag(any, i)", Unproven, "NotSetAlike");
        }
        for body in [
            "changed[x[i]] = 1",
            "changed[0] = 1 changed[1] = 1",
            "changed[0] = 1 y[i] = i64(changed[1])",
        ] {
            refused(body, "flag(changed, i)", Unproven, "NotSetAlike");
        }
        refused("y[i] = x[i]", "flag(any, i)", Misaddressed, "NotWritten");
        refused("any = 1", "flag(none, i)", Misaddressed, "NoSuchVariable");
    }
}
