//! The step `privatize`.

use crate::address::{self, find_variable};
use crate::private::{check_private, privatized};
use crate::script::Written;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::{LoopPath, Reason};
use std::fmt;
use strew_affine::Kernel;
use strew_affine::verify::Verified;

/// Gives every iteration of a loop a scalar, or an array, of its own.
///
/// ```text
/// var t: f64 = 0.0                    var t: f64 = 0.0
/// affine.for i in 0..n {              affine.for i in 0..n {
///   t = x[i]                    →       var t_p: f64 = 0.0
///   y[i] = t * t                        t_p = x[i]
/// }                                     y[i] = t_p * t_p
///                                     }
/// ```
///
/// Legal when each iteration surely writes what it reads before it reads it, and nothing behind the
/// loop reads what the last one leaves: the caller reads all parameters, so what is written of one
/// is written again behind the loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Privatize {
    /// The scalar or the array.
    pub variable: String,
    /// The loop, an `affine.for`.
    pub target: LoopPath,
}

impl Privatize {
    /// The word that the step begins with.
    pub const NAME: &'static str = "privatize";

    /// A request to give every iteration of `target` a `variable` of its own.
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

impl fmt::Display for Privatize {
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

impl Transform for Privatize {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        let of = address::find_affine_for(kernel, &self.target)?.it;
        let variable = find_variable(kernel, &self.variable)?;
        if check_private(kernel, of, &self.target, variable)? {
            return Err(Reason::PrivateAnyway {
                array: self.variable.clone(),
                path: self.target.clone(),
            });
        }
        Ok(privatized(kernel, of, &[variable])?)
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_meaning, kernel, refuses};

    fn with(body: &str, behind: &str) -> String {
        format!(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {{
  var t: f64 = 0.0
  alloc a: f64[4]
  affine.for i in 0..n {{ {body} }}
  {behind}
}}"
        )
    }

    /// The kernel does the same after these `steps`, and has what they have `made`.
    #[track_caller]
    fn gives(source: &str, steps: &str, made: &str) {
        let before = kernel(source);
        let after = apply(&before, steps);
        assert!(after.to_string().contains(made), "{after}");
        assert_same_meaning(&before, &after);
    }

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  var t: f64 = 0.0
  affine.for i in 0..n { t = x[i] y[i] = t * t }
}",
            "privatize(t, i) parallelize(i)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  var t: f64 = 0.0
  scf.forall i in 0..n strategy(auto) {
    var t_p: f64 = 0.0
    t_p = x[i]
    y[i] = t_p * t_p
  }
}",
        );
    }

    #[test]
    fn arrays_that_are_covered() {
        for body in [
            "a[0] = x[i] y[i] = a[0]",
            "affine.for j in 0..4 { a[j] = x[i] + f64(j) } affine.for k in 1..4 { y[i] = y[i] + a[k] * a[k - 1] }",
            "affine.for j in 0..2 { a[2 * j] = x[i] a[2 * j + 1] = 1.0 } affine.for k in 0..4 { y[i] = y[i] + a[k] }",
            "affine.if (i < 3) { a[0] = 1.0 } else { a[0] = 2.0 } y[i] = a[0]",
        ] {
            gives(&with(body, ""), "privatize(a, i)", "alloc a_p: f64[4]");
        }
    }

    #[test]
    fn room_of_the_caller_that_is_written_again() {
        let source = "kernel @k(n: i64, m: i64, x: f64[n], y: f64[n], r: f64[m], z: f64[n]) {
  affine.for o in 0..n {
    affine.for i in 0..n {
      affine.for j in 0..m { r[j] = x[i] + f64(j) }
      affine.for k in 1..m { y[i] = y[i] + r[k] * r[k - 1] }
    }
    affine.for l in 0..m { r[l] = f64(o) }
    affine.for q in 0..m { z[o] reduce(add) r[q] }
  }
}";
        for steps in ["privatize(r, i)", "privatize(r, i) parallelize(i)"] {
            gives(source, steps, "alloc r_p: f64[m]");
        }
    }

    /// A merge updates elements that no subscript names, so to write one of them again is not to
    /// write all of them.
    #[test]
    fn what_is_merged_is_not_written_again() {
        let source = "kernel @k(n: i64, m: i64, key: i64[n], x: f64[n], y: f64[n], t: f64[m]) {
  affine.for i in 0..n {
    t[0] = 0.0
    scf.forall c in 0..4 private(t_p: f64[m] = identity(add)) merge(t reduce(add) t_p) strategy(auto) {
      t_p[key[i]] reduce(add) x[i]
    }
    y[i] = t[0]
  }
  t[0] = 0.0
}";
        refuses(source, "privatize(t, i)", Unproven, "SeenByCaller");
    }

    /// Nothing of what a loop leaves in `t` is read: it is set again before, in the loop behind and
    /// around.
    #[test]
    fn a_scalar_that_several_loops_use_is_private_in_each() {
        let source = "kernel @k(n: i64, x: f64[n], y: f64[n], z: f64[n, n]) {
  var t: f64 = 0.0
  affine.for r in 0..n {
    affine.for i in 0..n { t = x[i] * 2.0 y[i] = t + 1.0 }
    affine.for j in 0..n {
      t = y[j]
      affine.for k in 0..n { t reduce(add) z[j, k] }
      x[j] = t
    }
  }
}";
        for script in [
            "privatize(t, i)",
            "privatize(t, j)",
            "parallelize(i); parallelize(j)",
        ] {
            let before = kernel(source);
            assert_same_meaning(&before, &apply(&before, script));
        }
    }

    #[test]
    fn one_that_may_not_be_set_again_is_not() {
        for rest in [
            "affine.for j in 0..n { affine.if (0 < j) { t = y[j] } x[j] = t }",
            "affine.for j in 0..n { x[j] = t t = y[j] }",
            "t = 3.0 affine.for k in 0..2 { affine.for j in 0..n { x[j] = t } affine.for l in 0..n { t = x[l] y[l] = t } }",
        ] {
            let source = format!(
                "kernel @k(n: i64, m: i64, x: f64[n], y: f64[n]) {{
  var t: f64 = 0.0
  affine.for i in 0..n {{ t = x[i] * 2.0 + 1.0 y[i] = t + 1.0 }}
  {rest}
}}"
            );
            let (name, step) = match rest.contains("for l") {
                true => ("ReadBehind", "privatize(t, l)"),
                false => ("ReadBehind", "privatize(t, i)"),
            };
            refuses(&source, step, Illegal, name);
        }
    }

    #[test]
    fn refusals() {
        let t = |body, behind, verdict, name| {
            refuses(&with(body, behind), "privatize(t, i)", verdict, name).to_string()
        };
        let older = t("y[i] = t t = x[i]", "", Illegal, "ReadsOlder");
        assert!(
            older.contains("iterations (i = 0) and (i = 1) meet in t"),
            "{older}"
        );
        t("t reduce(add) x[i]", "", Illegal, "ReadsOlder");
        t(
            "scf.if 1.0 < x[i] { t = 1.0 } y[i] = t",
            "",
            Unproven,
            "ReadsOlder",
        );
        t("t = x[i]", "y[0] = t", Illegal, "ReadBehind");
        // Where an index out of range is skipped, so is the assignment of what was not declared.
        t(
            "let k: f64 = x[i + 1] t = k y[i] = t",
            "",
            Unproven,
            "ReadsOlder",
        );
        t("y[i] = 1.0", "", Misaddressed, "NotWritten");
        let a = |body, script, verdict, name| {
            refuses(&with(body, ""), script, verdict, name);
        };
        // Two iterations of `j` write each element, so two elements are not written, whatever the
        // sizes are called.
        let halves = "kernel @k(n: i64, m: i64, x: f64[n], y: f64[n]) {
  alloc a: f64[4]
  affine.for i in 0..n { affine.for j in 0..4 { a[j floordiv 2] = x[i] } affine.for k in 0..4 { y[i] = y[i] + a[k] } }
}";
        refuses(halves, "privatize(a, i)", Unproven, "ReadsOlder");
        let partly = "affine.for j in 0..3 { a[j] = x[i] } y[i] = a[3]";
        a(partly, "privatize(a, i)", Unproven, "ReadsOlder");
        a("y[i] = 1.0", "privatize(y, i)", Illegal, "SeenByCaller");
        // Of what may be written again nobody can say that the caller sees it.
        for behind in [
            "affine.if (1 < n) { y[0] = 2.0 }",
            "affine.for j in 1..n { y[j] = 2.0 }",
        ] {
            let source = with("y[0] = x[i]", behind);
            refuses(&source, "privatize(y, i)", Unproven, "SeenByCaller");
        }
        a(
            "var b: f64 = x[i] b = 2.0 y[i] = b",
            "privatize(b, i)",
            Misaddressed,
            "PrivateAnyway",
        );
        a(
            "y[i] = 1.0",
            "privatize(zz, i)",
            Misaddressed,
            "NoSuchVariable",
        );
    }
}
