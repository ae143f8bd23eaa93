//! The step `hoist`.

use crate::address::{self, Target};
use crate::in_range::{can_fail, is_in_range};
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::{self, Replacing, if_runs};
use crate::{LoopPath, Reason, StatementName};
use std::fmt;
use strew_affine::changed::Changed;
use strew_affine::verify::Verified;
use strew_affine::visit::{self, Loop};
use strew_affine::{
    Access, AffineExpr, AffineFor, Expr, IterId, Kernel, Node, Place, Subscript, Variable,
};

/// Does what every iteration of a loop does alike once, before the loop.
///
/// ```text
/// affine.for i in 0..n {              affine.for i in 0..n {
///   affine.for j in 0..n {              let a: f64 = x[i] * 2.0
///     let a: f64 = x[i] * 2.0     →     affine.for j in 0..n {
///     y[i, j] = a + z[j]                  y[i, j] = a + z[j]
///   }                                   }
/// }                                   }
/// ```
///
/// Legal when what the statement reads is the same in all iterations, and when no other one writes
/// what it writes, nor one before it reads that. Where it could fail, or writes, it is done only if
/// the loop runs at all. If iterations fail, it fails before them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hoist {
    /// The statement, in the body of the loop.
    pub statement: StatementName,
    /// The loop, an `affine.for`.
    pub target: LoopPath,
}

impl Hoist {
    /// The word that the step begins with.
    pub const NAME: &'static str = "hoist";

    /// A request to do `statement` of the body of `target` before that.
    pub fn new(statement: impl Into<StatementName>, target: impl Into<LoopPath>) -> Self {
        Self {
            statement: statement.into(),
            target: target.into(),
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let request = Self::new(call.statement()?, call.path()?);
        call.finish(&[])?;
        Ok(request)
    }
}

impl fmt::Display for Hoist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {})", Self::NAME, self.statement, self.target)
    }
}

impl Transform for Hoist {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &Hoist) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, around } = address::find_affine_for(kernel, path)?;
    let position = address::find_statement(kernel, target, &request.statement, path)?;
    let mut rest = target.body.clone();
    let hoisted = rest.remove(position);
    let loops = [&around[..], &[Loop::Affine(target)]].concat();
    let hoisting = Hoisting {
        kernel,
        changed: Changed::in_loop(target.iter, &rest),
    };
    if let Some(name) = hoisting.obstacle(&hoisted, target, position) {
        return Err(Reason::NotInvariant {
            path: path.clone(),
            statement: request.statement.clone(),
            name,
        });
    }
    let may_miss = |access: &Access| !is_in_range(kernel, &loops, access);
    let can_stand_alone = match &hoisted {
        Node::Declare { value, .. } => !can_fail(kernel, value, &may_miss),
        _ => false,
    };
    let around = Node::AffineFor(AffineFor {
        body: rest,
        ..target.clone()
    });
    let both = vec![hoisted, around];
    Ok(Replacing {
        kernel: kernel.clone(),
        target: target.iter,
        replacement: match can_stand_alone {
            true => both,
            false => if_runs(kernel, target, both)?,
        },
    })
}

struct Hoisting<'k> {
    kernel: &'k Kernel,
    /// What the iterations change, but for the statement that leaves the loop.
    changed: Changed,
}

impl Hoisting<'_> {
    /// What keeps `statement`, which stands at `position` in the body of `target`, there.
    fn obstacle(&self, statement: &Node, target: &AffineFor, position: usize) -> Option<String> {
        let before = target.body.get(..position).unwrap_or_default();
        match statement {
            Node::Declare { local, value } if !self.changed.has_local(*local) => {
                self.depends_on(value)
            }
            Node::Declare { local, .. } => Some(self.kernel.locals[*local].name.clone()),
            Node::Assign { place, value, .. } => {
                let itself = self.is_changed_or_read(place, before, value);
                itself.or_else(|| self.depends_on(value))
            }
            _ => Some(self.kernel.iters[target.iter].name.clone()),
        }
    }

    /// The place, where another statement writes to it, or one before reads it, or the value or a
    /// subscript does.
    fn is_changed_or_read(&self, place: &Place, before: &[Node], value: &Expr) -> Option<String> {
        match place {
            Place::Local(local) => {
                let is_read = tree::reads_local(before, *local) || visit::reads(value, *local);
                let is_obstacle = is_read || self.changed.has_local(*local);
                is_obstacle.then(|| self.kernel.locals[*local].name.clone())
            }
            Place::Element(access) => {
                let mut is_read = tree::arrays_in(before).any(|it| it == access.array);
                let mut note = |it: &Access| is_read |= it.array == access.array;
                visit::for_each_load(value, &mut note);
                visit::for_each_load_in_subscripts(access, &mut note);
                let is_obstacle = is_read || self.changed.has_array(access.array);
                let itself = || self.kernel.arrays[access.array].name.clone();
                let subscripts = &access.subscripts;
                is_obstacle
                    .then(itself)
                    .or_else(|| self.in_subscripts(subscripts))
            }
        }
    }

    /// The name of something in `expr` that is another in other iterations.
    fn depends_on(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Iter(iter) => self.of_iter(*iter),
            Expr::Local(local) if self.changed.has_local(*local) => {
                Some(self.kernel.locals[*local].name.clone())
            }
            Expr::Load(access) if self.changed.has_array(access.array) => {
                Some(self.kernel.arrays[access.array].name.clone())
            }
            Expr::Load(access) => self.in_subscripts(&access.subscripts),
            _ => expr
                .operands()
                .into_iter()
                .find_map(|it| self.depends_on(it)),
        }
    }

    fn in_subscripts(&self, subscripts: &[Subscript]) -> Option<String> {
        subscripts.iter().find_map(|subscript| match subscript {
            Subscript::Affine(expr) => self.in_affine(expr),
            Subscript::Computed(expr) => self.depends_on(expr),
        })
    }

    fn in_affine(&self, expr: &AffineExpr) -> Option<String> {
        let mut found = None;
        expr.for_each_variable(&mut |variable| {
            if let Variable::Iter(iter) = variable {
                found = found.take().or_else(|| self.of_iter(iter));
            }
        });
        found
    }

    fn of_iter(&self, iter: IterId) -> Option<String> {
        let is_changed = self.changed.has_iter(iter);
        is_changed.then(|| self.kernel.iters[iter].name.clone())
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Misaddressed, Unproven};
    use crate::test_support::{
        accepts, apply, assert_same_meaning, assert_same_results, kernel, refuses,
    };

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: f64[n], z: f64[n], y: f64[n, n]) {
  affine.for i in 0..n {
    affine.for j in 0..n { let a: f64 = x[i] * 2.0 y[i, j] = a + z[j] }
  }
}",
            "hoist(S1, j)",
            "kernel @k(n: i64, x: f64[n], z: f64[n], y: f64[n, n]) {
  affine.for i in 0..n {
    let a: f64 = x[i] * 2.0
    affine.for j in 0..n { y[i, j] = a + z[j] }
  }
}",
        );
    }

    fn with(body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, seg: i32[n], x: f64[n], y: f64[n], out: f64[n]) {{
  var t: f64 = 0.0
  affine.for i in 0..n {{ affine.for j in 0..m {{ {body} }} }}
}}"
        )
    }

    #[test]
    fn what_may_fail_or_writes_waits_for_the_loop_to_run() {
        for (body, step) in [
            ("let a: f64 = x[m - 1] y[j] = a", "hoist(S1, j)"),
            (
                "let k: i32 = seg[i] / seg[0] y[k] reduce(add) x[j]",
                "hoist(S1, j)",
            ),
            (
                "y[j] = 1.0 out[i] = x[i] y[j] reduce(add) out[i]",
                "hoist(S2, j)",
            ),
            ("y[j] = 1.0 t = x[i] y[j] reduce(add) t", "hoist(S2, j)"),
        ] {
            let before = kernel(&with(body));
            let after = apply(&before, step);
            assert!(after.to_string().contains("affine.if (0 < m)"), "{after}");
            assert_same_results(&before, &after);
        }
        let before = kernel(&with("let a: f64 = x[i] y[j] = a"));
        assert_same_meaning(&before, &apply(&before, "hoist(S1, j)"));
    }

    #[test]
    fn refusals() {
        for (body, step, name) in [
            ("let a: f64 = x[j] y[j] = a", "hoist(S1, j)", "`j`"),
            ("let a: f64 = y[i] y[j] = a", "hoist(S1, j)", "`y`"),
            ("y[j] = t t = x[i]", "hoist(S2, j)", "`t`"),
            ("t = x[i] t = x[j]", "hoist(S1, j)", "`t`"),
            ("y[i] = y[i] + 1.0", "hoist(S1, j)", "`y`"),
            ("y[i] reduce(add) 1.0", "hoist(S1, j)", "`j`"),
            ("y[i64(y[0])] = 5.0", "hoist(S1, j)", "`y`"),
        ] {
            let reason = refuses(&with(body), step, Unproven, "NotInvariant").to_string();
            assert!(reason.contains(name), "{reason}");
        }
        refuses(
            &with("y[j] = t"),
            "hoist(S2, j)",
            Misaddressed,
            "NoSuchStatement",
        );
        refuses(
            &with("y[j] = t"),
            "hoist(S0, j)",
            Misaddressed,
            "NoSuchStatement",
        );
    }
}
