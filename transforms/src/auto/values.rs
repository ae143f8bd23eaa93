//! Which loops compute what they put where data say in lanes, in front of the statements that do.

use super::lanes::{TAKEN_OUT, count, is_long_integer, operations, per_vector};
use super::{Scheduler, path_to};
use crate::Precompute;
use crate::precompute::{Early, Put, first_write};
use crate::tree::{self, Nested, reads_local};
use strew_affine::lanes::{Lanes, MOST_LANES};
use strew_affine::visit::{Loop, has_loops, writes_elements};
use strew_affine::{BinaryOp, Expr, IterId, Kernel, Node};

/// What is computed where a condition holds is so in all lanes then. With so many of them it takes
/// no longer though the condition holds in one of them alone.
const LANES_WITH_CONDITIONS: u32 = 4;

impl Scheduler<'_> {
    /// Computes what innermost loops put into elements before they do, where that pays in lanes.
    pub(super) fn precompute(&mut self) {
        let loops = tree::loops(&self.found.kernel).into_iter();
        let innermost = loops.filter(|it| !has_loops(it.it.body()));
        let found: Vec<IterId> = innermost.map(|it| it.it.iter()).collect();
        for iter in found {
            let before = self.found.kernel.clone();
            let Some(Nested { it, around }) = tree::loops_over(&before, &[iter]).pop() else {
                continue;
            };
            let early = Early::of(&before, &around, it);
            if early.is_empty() {
                continue;
            }
            let first = first_write(it.body());
            self.attempt(|attempt| {
                attempt.step(Precompute::new(path_to(attempt.kernel(), iter)))?;
                let after = tree::loops_over(attempt.kernel(), &[iter]).pop()?.it;
                pays(attempt.kernel(), after, (first, &early.values)).then_some(())
            });
        }
    }
}

/// Whether it takes no longer to compute in the lanes of `target` what is declared from its
/// statement number `first` on, some of it these `values`, and to get it out of these than to
/// compute it where it is wanted.
fn pays(kernel: &Kernel, target: Loop<'_>, (first, values): (usize, &[Put<'_>])) -> bool {
    let Ok(lanes) = Lanes::of(kernel, target, MOST_LANES) else {
        return false;
    };
    let (together, in_turn) = lanes.split(target.body());
    let in_a_vector = per_vector(&lanes, together);
    let may_be_in_vain = |it: &Put<'_>| {
        it.is_conditional && (in_a_vector < LANES_WITH_CONDITIONS || takes_long(kernel, it.value))
    };
    let (mut all, mut wanted) = (0, 0);
    for node in together.get(first..).unwrap_or_default() {
        if let Node::Declare { local, value } = node {
            all += operations(kernel, &lanes, value);
            wanted += usize::from(reads_local(in_turn, *local));
        }
    }
    let saved = all - all / in_a_vector as usize;
    !in_turn.is_empty()
        && !writes_elements(together)
        && !values.iter().any(may_be_in_vain)
        && saved > TAKEN_OUT * wanted
        && count(kernel, target).is_some()
}

/// Whether there is something in `expr` that takes as long as several operations.
fn takes_long(kernel: &Kernel, expr: &Expr) -> bool {
    let here = match expr {
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) | Expr::Call(..) => true,
        Expr::Binary(BinaryOp::Mul, ..) => is_long_integer(expr.ty(kernel)),
        _ => false,
    };
    let mut operands = expr.operands().into_iter();
    here || operands.any(|it| takes_long(kernel, it))
}

#[cfg(test)]
mod tests {
    use crate::auto::{Machine, auto};
    use crate::test_support::{assert_same_results, kernel};

    /// Whether `body`, of a loop over `i`, gets what it puts into elements in lanes.
    #[track_caller]
    fn check(body: &str, is_taken: bool) {
        let before = kernel(&format!(
            "kernel @k(n: i64, m: i64, key: i32[n], x: f32[n], y: f32[n], z: f64[n], h: f32[m], g: f64[m]) {{
               affine.for i in 0..n {{ let b: i32 = i32(x[i]) {body} }}
             }}"
        ));
        let found = auto(&before, &Machine::default(), &mut ());
        let steps = found.schedule.to_string();
        let has_both = steps.contains("precompute(i)") && steps.contains("vectorize(i, ");
        assert_eq!(has_both, is_taken, "{body}\n{steps}");
        assert_same_results(&before, &found.kernel);
    }

    #[test]
    fn what_takes_several_operations_is_computed_in_lanes() {
        let value = "y[i] * (1.0 - x[i]) * (1.0 - y[i])";
        check(&format!("h[b] reduce(add) {value}"), true);
        check(
            &format!("scf.if b < 5 {{ h[b] reduce(add) {value} }}"),
            true,
        );
        check(&format!("h[b] = {value}"), true);
        check(
            &format!("h[b] reduce(add) y[i] let a: f32 = {value} h[0] reduce(add) a"),
            true,
        );
    }

    #[test]
    fn what_gains_little_or_may_be_in_vain_is_not() {
        check("h[b] reduce(add) y[i] * 2.0", false);
        check("h[i] = y[i] * (1.0 - x[i]) * (1.0 - y[i])", false);
        check("h[b] reduce(add) h[i] * (1.0 - x[i]) * x[i]", false);
        let twice = "z[i] * (1.0 - z[i]) * z[i]";
        check(&format!("g[b] reduce(add) {twice}"), false);
        let long = "y[i] / (1.0 - x[i]) / (1.0 - y[i])";
        check(
            &format!("scf.if b < 5 {{ h[b] reduce(add) {long} }}"),
            false,
        );
    }
}
