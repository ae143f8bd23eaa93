//! What a step assumes of the parameters, and a call checks.

use strew_affine::dependence::Analyzed;
use strew_affine::{Condition, Kernel, Overflow, Relation};

/// Lets `kernel` assume what of `conditions` does not always hold: a call that does not keep it
/// runs another version.
pub(crate) fn assume(
    kernel: &mut Kernel,
    conditions: impl IntoIterator<Item = Condition>,
) -> Result<(), Overflow> {
    for condition in conditions {
        if !holds(&Analyzed::of_parameters(kernel), &condition)? {
            kernel.assumptions.push(condition);
        }
    }
    Ok(())
}

fn holds(analyzed: &Analyzed<'_>, condition: &Condition) -> Result<bool, Overflow> {
    let difference = condition.right.minus(&condition.left)?;
    Ok(match condition.relation {
        Relation::LessOrEqual => analyzed.is_never_negative(&difference),
        Relation::Less => analyzed.is_never_negative(&difference.offset(-1)?),
        Relation::Equal => {
            analyzed.is_never_negative(&difference)
                && analyzed.is_never_negative(&difference.scaled(-1)?)
        }
    })
}
