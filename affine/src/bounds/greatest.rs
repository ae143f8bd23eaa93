//! What an affine expression never exceeds, whatever values the parameters have.

use super::nest::{PARTS, last_turn};
use crate::visit::Loop;
use crate::{AffineExpr, AffineFor};

/// A number that `expr` never exceeds inside of `loops`, outermost first, whatever values the
/// parameters have; `None` if the bounds of these loops do not tell one.
///
/// Iterators give way to their bounds from the inside out, so that what these have in common
/// cancels.
pub fn greatest_inside(expr: &AffineExpr, loops: &[Loop<'_>]) -> Option<i64> {
    greatest(expr, loops, &mut { PARTS })
}

fn greatest(expr: &AffineExpr, loops: &[Loop<'_>], parts: &mut usize) -> Option<i64> {
    if let Some(constant) = expr.as_constant() {
        return Some(constant);
    }
    *parts = parts.checked_sub(1)?;
    let (innermost, around) = loops.split_last()?;
    let (scale, rest) = expr.split_off(innermost.iter())?;
    let ends = match innermost {
        _ if scale == 0 => return greatest(expr, around, parts),
        Loop::Affine(it) if scale < 0 => it.lower.0.clone(),
        Loop::Affine(it) => last_values(it),
        Loop::Forall(_) if scale < 0 => vec![0.into()],
        Loop::Forall(it) => it.count.offset(-1).into_iter().collect(),
        Loop::Scf(_) => return None,
    };
    let ends = ends.iter().filter_map(|end| {
        let at_end = rest.plus(&end.scaled(scale).ok()?).ok()?;
        greatest(&at_end, around, parts)
    });
    ends.min()
}

/// The iterator of `target` exceeds none of these.
fn last_values(target: &AffineFor) -> Vec<AffineExpr> {
    let ends = target.upper.0.iter().map(|beyond| match &*target.lower.0 {
        [first] => last_turn(first, beyond, target.step),
        _ => beyond.offset(-1),
    });
    ends.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::super::numeric_range_inside;
    use super::*;
    use crate::visit::accesses;
    use crate::{Subscript, text};

    /// `k in t..t + 64 step 64` has one turn, so `i in t + 64..n` is behind all that is counted
    /// from there.
    #[test]
    fn bounds_of_loops_show_which_iterator_is_greater() {
        let kernel = "kernel @k(n: i64, x: f64[n]) {
          affine.for t in 0..n step 64 {
            scf.forall c in 0..-((t - n + 64) floordiv 32) strategy(auto) {
              affine.for s in t..t + 64 step 64 {
                affine.for i in t + c * 32 + 64..min(n - 1, t + c * 32 + 95) step 2 {
                  affine.for k in s..s + 61 step 4 { x[i] = x[k + 3] }
                }
              }
            }
          }
        }";
        let kernels = text::parse(kernel).expect("a kernel");
        let sites = accesses(&kernels[0]);
        let [read, written] = [&sites[0], &sites[1]].map(|it| match &it.access.subscripts[0] {
            Subscript::Affine(expr) => expr.clone(),
            Subscript::Computed(_) => panic!("affine"),
        });
        let ahead = read.minus(&written).expect("small");
        assert_eq!(greatest_inside(&ahead, &sites[0].loops), Some(-1));
        let behind = written.minus(&read).expect("small");
        assert_eq!(greatest_inside(&behind, &sites[0].loops), None);
        // Where no row trails nothing is read, and `t` ends before.
        for n in [64, 192, 200, 1500] {
            let range = numeric_range_inside(&read, &sites[0].loops, &|_| n);
            let (_, greatest) = range.expect("small").expect("known");
            assert!(greatest < n, "{n}: {greatest}");
        }
    }
}
