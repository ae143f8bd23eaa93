//! Random schedules.

use crate::random::Random;
use strew::ir::Kernel;

/// A step or two about loops of `kernel`; for most kernels none, since each is one more to compile.
pub(crate) fn random(random: &mut Random, kernel: &Kernel) -> Option<String> {
    let text = kernel.to_string();
    let words: Vec<_> = text.split_whitespace().collect();
    let loops = words.windows(2).filter(|it| it[0].ends_with(".for"));
    // Kernel text puts names like `i8` between backquotes; schedules do not.
    let loops: Vec<_> = loops.map(|it| it[1].trim_matches('`')).collect();
    if loops.is_empty() || random.percent(75) {
        return None;
    }
    let steps = (0..=random.below(2)).map(|_| {
        let target = *random.pick(&loops);
        match random.percent(60) {
            true => format!("unroll({target}, {})\n", 2 + random.below(4)),
            false => {
                let chunks = 1 + random.below(9);
                format!("tile_indirection_using_forall({target}, chunks = {chunks})\n")
            }
        }
    });
    Some(steps.collect())
}
