use super::{Checked, Domain, Form, Item, NoPoint};
use crate::indexing::simplify::context::Congruence;

impl Domain {
    /// Moves the ends of what an expression can be to values that leave the residue which is known of it, which need not be said of a
    /// single value.
    pub(super) fn tighten_to_residues(&mut self) -> Checked<()> {
        let known = self.items.iter().filter_map(Item::normal);
        let known = known.filter_map(|(linear, bounds)| Congruence::of(&linear, bounds));
        for congruence in known.collect::<Vec<_>>() {
            let mut is_point = false;
            for item in &mut self.items {
                let Some((linear, bounds)) = item.normal() else {
                    continue;
                };
                if linear != congruence.linear {
                    continue;
                }
                let tight = congruence.within(bounds);
                if tight.is_empty() {
                    return Err(NoPoint);
                }
                is_point |= tight.as_point().is_some();
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
            if is_point {
                self.items.retain(|item| {
                    let own = item.normal();
                    let own = own.and_then(|(linear, bounds)| Congruence::of(&linear, bounds));
                    own.is_none_or(|it| it != congruence)
                });
            }
        }
        Ok(())
    }
}
