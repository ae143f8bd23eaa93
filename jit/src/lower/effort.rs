//! How hard the code generator is to try at a function. Its time and memory are not linear in the
//! size of all functions.

use crate::isa::Effort;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function, Value};
use std::collections::HashSet;

/// The largest product of blocks and values for full effort. The optimiser computes a value where
/// it is used, which may leave all that it is made of alive in all blocks before: time and memory
/// then grow with this product.
const MOST_PAIRS: usize = 6_000_000;

/// The largest sum of [`lifetimes`] for an allocator that looks at the whole function: it takes
/// about a hundred bytes for each.
const MOST_ALIVE: usize = 1_000_000;

/// The effort that `function` is worth, and that ends.
pub(super) fn effort(function: &Function) -> Effort {
    let pairs = function
        .dfg
        .num_blocks()
        .saturating_mul(function.dfg.num_values());
    if !has_cycle(function) {
        Effort::Quick
    } else if pairs <= MOST_PAIRS {
        Effort::Full
    } else if lifetimes(function) <= MOST_ALIVE {
        Effort::Plain
    } else {
        Effort::Quick
    }
}

/// Whether `function` may jump back anywhere: only a loop does in the order in which its blocks
/// were made, but for a second way to a block that leaves the function, which no block follows.
fn has_cycle(function: &Function) -> bool {
    let mut seen = HashSet::new();
    function.layout.blocks().any(|block| {
        let mut successors = function.block_successors(block).peekable();
        if successors.peek().is_some() {
            seen.insert(block);
        }
        successors.any(|it| seen.contains(&it))
    })
}

/// In how many blocks a value is alive, summed over all values; a loop is taken for its text.
fn lifetimes(function: &Function) -> usize {
    let mut last_used = SecondaryMap::<Value, usize>::new();
    for (position, block) in function.layout.blocks().enumerate() {
        for inst in function.layout.block_insts(block) {
            for value in function.dfg.inst_values(inst) {
                last_used[function.dfg.resolve_aliases(value)] = position;
            }
        }
    }
    let lifetime = |(position, block): (usize, Block)| {
        let insts = function.layout.block_insts(block);
        let results = insts.flat_map(|inst| function.dfg.inst_results(inst));
        let made = function.dfg.block_params(block).iter().chain(results);
        made.map(|value| last_used[*value].saturating_sub(position))
            .fold(0, usize::saturating_add)
    };
    let blocks = function.layout.blocks().enumerate();
    blocks.map(lifetime).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Checks, Facts};
    use crate::form::{Form, Rounding};
    use crate::lower::{Request, lower};
    use crate::{Faults, isa::Target, loaded::module};
    use std::fmt::Write as _;
    use strew_affine::{interpret::Oob, text, verify::verify};

    /// The effort for the entry of a kernel with `body`, all of whose subscripts are checked.
    fn effort_for(body: &str, faults: Faults) -> Effort {
        let source = format!("kernel @k(n: i64, a: i32[n]) {{\n{body}}}");
        let kernel = text::parse(&source).unwrap().remove(0);
        let kernel = verify(kernel).unwrap();
        let request = Request {
            kernel: &kernel,
            facts: &Facts::of(&kernel),
            form: Form {
                checks: Checks::All,
                rounding: Rounding::Written,
            },
            faults,
            oob: Oob::Error,
        };
        let lowered = lower(&request, &mut module(Target::Baseline).unwrap()).unwrap();
        lowered.functions[0].effort
    }

    /// So many elements, each added to the sum before, or all of them at the end.
    fn sum(elements: usize, at_the_end: bool) -> String {
        let mut lets = "let s0: i32 = 0\n".to_owned();
        let mut sums = String::new();
        for number in 0..elements {
            let next = number + 1;
            writeln!(lets, "let v{number}: i32 = a[{number}]").unwrap();
            let sums = if at_the_end { &mut sums } else { &mut lets };
            writeln!(sums, "let s{next}: i32 = s{number} + v{number}").unwrap();
        }
        format!("{lets}{sums}a[0] = s{elements}\n")
    }

    #[test]
    fn the_effort_follows_from_loops_and_lifetimes() {
        let in_a_loop = |body: String| format!("affine.for i in 0..n {{\n{body}}}\n");
        for faults in [Faults::Bare, Faults::Located] {
            for elements in [10, 2000] {
                // Many ways lead to one fault, which is no loop.
                assert_eq!(effort_for(&sum(elements, false), faults), Effort::Quick);
            }
            for (elements, at_the_end, effort) in [
                (10, false, Effort::Full),
                (10, true, Effort::Full),
                (2000, false, Effort::Plain),
                (2000, true, Effort::Quick),
            ] {
                let body = in_a_loop(sum(elements, at_the_end));
                assert_eq!(effort_for(&body, faults), effort, "{elements} {at_the_end}");
            }
        }
    }
}
