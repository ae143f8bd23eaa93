//! Whether anything changed, as loops over the edges of a graph leave it: iterations that all set
//! the same meet in nothing else, and run at once where a flag is kept for it.

use super::Scheduler;
use crate::Flag;
use crate::flag::flaggable;
use strew_affine::dependence::{Analyzed, Parallelism, Target};
use strew_affine::visit::walk;
use strew_affine::{IterId, Kernel, Node};

impl Scheduler<'_> {
    /// Keeps flags for what outermost loops set, where nothing else keeps these from running at
    /// once.
    pub(super) fn keep_flags(&mut self) {
        let mut found: Vec<(IterId, Vec<Target>)> = Vec::new();
        walk(&self.found.kernel.body, &mut |node, loops| {
            if let (Node::AffineFor(target), []) = (node, loops) {
                found.push((target.iter, flaggable(target)));
            }
        });
        found.retain(|(target, set)| !set.is_empty() && is_tied(&self.found.kernel, *target));
        for (target, set) in found {
            self.attempt(|attempt| {
                for variable in set {
                    let name = variable.name(attempt.kernel()).to_owned();
                    attempt.step(Flag::new(name, attempt.path(target)))?;
                }
                (!is_tied(attempt.kernel(), target)).then_some(())
            });
        }
    }
}

/// Whether iterations of the loop over `target` depend on each other, or may.
fn is_tied(kernel: &Kernel, target: IterId) -> bool {
    let analyzed = Analyzed::new(kernel);
    let verdicts = analyzed.verdicts(&analyzed.dependences());
    let mut own = verdicts.iter().filter(|it| it.level.iter() == Some(target));
    own.any(|it| matches!(it.parallelism, Parallelism::No(_)))
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    fn hooking(set: &str) -> String {
        format!(
            "kernel @k(e: i64, n: i64, src: i32[e], dst: i32[e], lab: i32[n], low: i32[n], changed: i32[1]) {{
               affine.for k in 0..e {{
                 let a: i32 = lab[src[k]]
                 scf.if a < lab[dst[k]] {{ low[dst[k]] reduce(min) a {set} }}
               }}
             }}"
        )
    }

    #[test]
    fn whether_anything_changed() {
        schedules(
            &hooking("changed[0] = 1"),
            &[
                "flag(changed, k)",
                "tile_reduction_using_forall(k, chunks = 8)",
            ],
        );
    }

    #[test]
    fn what_else_ties_iterations_keeps_them_in_order() {
        let both = hooking("changed[0] = 1 lab[k] = low[src[k]]");
        schedules(&both, &[]);
    }
}
