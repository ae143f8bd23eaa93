use super::{Checked, Domain, Form, Item, NoPoint};
use crate::indexing::simplify::congruence::wide_mod;
use crate::indexing::simplify::context::Congruence;
use crate::indexing::simplify::linear::Linear;

/// So often the ends of one expression are moved by all residues of it: those that contradict each
/// other would move them on and on.
const PASSES: usize = 16;

impl Domain {
    /// Moves the ends of what an expression can be to values that leave the residue which is known
    /// of it, which need not be said of a single value.
    pub(super) fn tighten_to_residues(&mut self) -> Checked<()> {
        let known = self.items.iter().filter_map(Item::normal);
        let known = known.filter_map(|(linear, bounds)| Congruence::of(&linear, bounds));
        let known: Vec<_> = known.collect();
        let mut implied: Vec<Congruence> = Vec::new();
        for item in &mut self.items {
            let Some((linear, bounds)) = item.normal() else {
                continue;
            };
            let moduli = known.iter().map(|it| it.modulus);
            let own = moduli.filter_map(|it| congruence_of(&linear, it, &known));
            let own: Vec<_> = own.collect();
            let mut tight = bounds;
            for _ in 0..PASSES {
                let before = tight;
                tight = own.iter().fold(tight, |tight, it| it.within(tight));
                // What one residue leaves may not be left by another.
                if tight.is_empty() || tight == before {
                    break;
                }
            }
            if tight.is_empty() {
                return Err(NoPoint);
            }
            if let Some(value) = tight.as_point() {
                let of_this = known.iter().filter(|it| it.follows_from(&linear, value));
                implied.extend(of_this.cloned());
            }
            if tight != bounds {
                *item = Item {
                    form: Form::Normal {
                        linear,
                        bounds: tight,
                    },
                    written: None,
                    is_multiple: false,
                };
            }
        }
        self.items.retain(|item| {
            let own = item.normal();
            let own = own.and_then(|(linear, bounds)| Congruence::of(&linear, bounds));
            own.is_none_or(|it| !implied.contains(&it))
        });
        Ok(())
    }
}

/// What `known` says of `linear` by `modulus`: it is taken apart into multiples of what these speak
/// of.
fn congruence_of(linear: &Linear, modulus: i64, known: &[Congruence]) -> Option<Congruence> {
    let (mut left, mut residue) = (linear.clone(), 0_i128);
    for congruence in known.iter().filter(|it| it.modulus % modulus == 0) {
        let first = congruence.linear.terms.first()?;
        let own = left.terms.iter().find(|it| it.atom == first.atom);
        let Some(own) = own.filter(|_| matches!(first.coefficient, 1 | -1)) else {
            continue;
        };
        let times = own.coefficient.checked_mul(first.coefficient)?;
        left = left
            .plus_scaled(&congruence.linear, times.checked_neg()?)
            .ok()?;
        residue += i128::from(times) * i128::from(congruence.residue);
        left.terms.retain(|it| it.coefficient % modulus != 0);
    }
    left.terms.retain(|it| it.coefficient % modulus != 0);
    left.terms.is_empty().then(|| Congruence {
        linear: linear.clone(),
        modulus,
        residue: wide_mod(residue, modulus),
    })
}

impl Congruence {
    /// Whether that `linear` is `value` says what it leaves: both or their opposites differ by a
    /// multiple of the modulus.
    fn follows_from(&self, linear: &Linear, value: i64) -> bool {
        let differences = [linear.minus(&self.linear), linear.plus(&self.linear)];
        differences
            .into_iter()
            .zip([1, -1])
            .any(|(difference, sign)| {
                let is_multiple = difference.is_ok_and(|it| it.is_multiple_of(self.modulus));
                let left = i128::from(value) - i128::from(sign) * i128::from(self.residue);
                is_multiple && wide_mod(left, self.modulus) == 0
            })
    }
}

#[cfg(test)]
mod tests {
    use crate::indexing::test_maps::map;

    #[track_caller]
    fn domain_of(text: &str, expected: &str) {
        let text = format!("(d0, d1) -> (d0, d1), domain: {text}");
        let simplified = map(&text).simplified();
        let expected = format!("(d0, d1) -> (d0, d1), domain: {expected}");
        assert_eq!(simplified.to_string(), expected);
        let points = |it: &crate::indexing::IndexingMap| -> Vec<_> {
            it.points(1 << 12).expect("few points").collect()
        };
        assert_eq!(points(&map(&text)), points(&simplified));
    }

    #[test]
    fn what_residues_say_of_sums_cuts_their_bounds() {
        domain_of(
            "d0 in [0, 31], d1 in [0, 31], d0 - d1 in [0, 5], (d0 + d1) mod 2 in [1, 1]",
            "d0 in [1, 31], d1 in [0, 30], (d0 + d1) mod 2 in [1, 1], d0 - d1 in [1, 5]",
        );
        domain_of(
            "d0 in [0, 31], d1 in [0, 31], d0 - d1 in [1, 3], (d0 + d1) mod 2 in [0, 0]",
            "d0 in [2, 31], d1 in [0, 29], d0 - d1 in [2, 2]",
        );
        domain_of(
            "d0 in [0, 30], d1 in [0, 30], d0 mod 2 in [0, 0], d1 mod 4 in [1, 1], d0 - d1 in [0, 4]",
            "d0 in [2, 30], d1 in [1, 29], d0 mod 2 in [0, 0], d0 - d1 in [1, 3], d1 mod 4 in [1, 1]",
        );
    }

    #[test]
    fn residues_that_leave_no_value_together() {
        for order in [
            "d0 * 4 + d1 in [8, 11], d1 mod 2 in [1, 1], (d0 + d1) mod 3 in [1, 1]",
            "(d0 + d1) mod 3 in [1, 1], d1 mod 2 in [1, 1], d0 * 4 + d1 in [8, 11]",
        ] {
            let text = format!("(d0, d1) -> (d0, d1), domain: d0 in [1, 2], d1 in [1, 8], {order}");
            assert!(map(&text).simplified().is_known_empty(), "{order}");
        }
    }

    #[test]
    fn what_follows_from_another_constraint_is_dropped() {
        domain_of(
            "d0 in [0, 31], d1 in [0, 31], d0 + d1 in [5, 9], (d0 + d1) floordiv 2 + d0 in [2, 40]",
            "d0 in [0, 9], d1 in [0, 9], d0 + d1 in [5, 9]",
        );
        domain_of(
            "d0 in [0, 9], d1 in [0, 9], d0 - d1 in [2, 4], d0 * 3 - d1 * 2 in [4, 30]",
            "d0 in [2, 9], d1 in [0, 7], d0 - d1 in [2, 4]",
        );
    }
}
