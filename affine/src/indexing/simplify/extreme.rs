use super::linear::{Atom, Linear, Simplified, Term};
use super::normalize::Normalizer;

/// With more operands, only what is constant about them is used: each is held against each.
const OPERANDS_HELD_TOGETHER: usize = 16;

impl Normalizer<'_> {
    pub(in crate::indexing) fn least(&self, operands: Vec<Linear>) -> Simplified<Linear> {
        self.extreme(operands, Side::Least)
    }

    pub(in crate::indexing) fn greatest(&self, operands: Vec<Linear>) -> Simplified<Linear> {
        self.extreme(operands, Side::Greatest)
    }

    fn extreme(&self, operands: Vec<Linear>, side: Side) -> Simplified<Linear> {
        let mut flat = Vec::with_capacity(operands.len());
        for operand in operands {
            match (operand.as_atom(), side) {
                (Some(Atom::Min(inner)), Side::Least)
                | (Some(Atom::Max(inner)), Side::Greatest) => {
                    flat.extend(inner.iter().cloned());
                }
                _ => flat.push(operand),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        self.spend(flat.len() * flat.len().min(OPERANDS_HELD_TOGETHER))?;
        let mut kept = self.undominated(flat, side)?;
        if kept.len() == 1 {
            return Ok(kept.swap_remove(0));
        }
        let shared = shared_terms(&kept);
        let rest = kept.iter().map(|it| it.minus(&shared));
        let rest = rest.collect::<Simplified<Vec<_>>>()?;
        shared.plus(&made(rest, side)?)
    }

    /// The operands without those that another one is never behind.
    fn undominated(&self, operands: Vec<Linear>, side: Side) -> Simplified<Vec<Linear>> {
        if operands.len() > OPERANDS_HELD_TOGETHER {
            return Ok(operands);
        }
        let mut kept: Vec<Linear> = Vec::with_capacity(operands.len());
        for operand in operands {
            let mut is_needed = true;
            let mut still = Vec::with_capacity(kept.len() + 1);
            for other in kept {
                let difference = self.context.range(&operand.minus(&other)?);
                let (wins, loses) = match side {
                    Side::Least => (difference.high <= 0, difference.low >= 0),
                    Side::Greatest => (difference.low >= 0, difference.high <= 0),
                };
                is_needed &= !loses;
                if loses || !wins {
                    still.push(other);
                }
            }
            if is_needed {
                still.push(operand);
            }
            kept = still;
        }
        Ok(kept)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Least,
    Greatest,
}

/// The terms, and the constant, that all operands have.
fn shared_terms(operands: &[Linear]) -> Linear {
    let Some((first, rest)) = operands.split_first() else {
        return 0.into();
    };
    let is_shared = |term: &&Term| rest.iter().all(|it| it.terms.contains(term));
    let is_same = |it: &Linear| it.constant == first.constant;
    Linear {
        terms: first.terms.iter().filter(is_shared).cloned().collect(),
        constant: if rest.iter().all(is_same) {
            first.constant
        } else {
            0
        },
    }
}

/// The extreme of operands that have nothing in common. Where all lead with a minus, it is the
/// opposite one of the opposites.
fn made(mut operands: Vec<Linear>, side: Side) -> Simplified<Linear> {
    let leads_negative = |it: &Linear| match it.terms.first() {
        Some(first) => first.coefficient < 0,
        None => it.constant <= 0,
    };
    let is_opposite = operands.iter().all(leads_negative);
    if is_opposite {
        let opposite = operands.iter().map(Linear::negated);
        operands = opposite.collect::<Simplified<_>>()?;
    }
    operands.sort_unstable();
    let is_least = (side == Side::Least) != is_opposite;
    let atom = if is_least {
        Atom::Min(operands)
    } else {
        Atom::Max(operands)
    };
    Linear::from(atom).scaled(if is_opposite { -1 } else { 1 })
}
