//! Whether iterations of a loop may run at once, in words.

use super::Reporter;
use strew::Mode;
use strew::ir::dependence::{Analyzed, Parallelism, Site, Target};
use strew::ir::flat::conditions_of;
use strew::ir::text;
use strew::ir::visit::written_arrays;
use strew::ir::{ArrayId, Kernel};

/// What sizes decide: whether flat subscripts are those of rows.
pub(super) struct RowsApart {
    conditions: String,
    /// For each loop, in the order of the verdicts, whether it may run at once where they hold.
    parallel: Vec<bool>,
}

pub(super) fn where_rows_are_apart(kernel: &Kernel) -> Option<RowsApart> {
    let conditions = conditions_of(kernel, written_arrays(kernel));
    if conditions.is_empty() {
        return None;
    }
    let shown = conditions.iter().map(|it| text::condition(kernel, it));
    let shown: Vec<_> = shown.collect();
    let mut assuming = kernel.clone();
    assuming.assumptions.extend(conditions);
    let analyzed = Analyzed::new(&assuming);
    let verdicts = analyzed.verdicts(&analyzed.dependences());
    let parallel = verdicts.iter().map(|it| {
        matches!(
            it.parallelism,
            Parallelism::Yes | Parallelism::Marks(_) | Parallelism::Reduction(_)
        )
    });
    Some(RowsApart {
        conditions: shown.join(" and "),
        parallel: parallel.collect(),
    })
}

impl Reporter<'_, '_> {
    /// What is said of a loop, the one at `position` in the order of the verdicts: `yes`, `no` or
    /// `reduction`, and why.
    pub(super) fn verdict(
        &self,
        position: usize,
        parallelism: &Parallelism,
    ) -> (&'static str, String) {
        match parallelism {
            Parallelism::Yes => ("yes", "parallel".to_owned()),
            Parallelism::Reduction(targets) if self.keeps_order(targets) => {
                let names = self.names(targets);
                let why = "not parallel, because mode exact keeps the order of the updates of";
                ("no", format!("{why} {names}"))
            }
            Parallelism::Reduction(targets) => (
                "reduction",
                format!("parallel as a reduction over {}", self.names(targets)),
            ),
            Parallelism::Marks(arrays) => {
                let names = self.names_of(arrays);
                let reason =
                    format!("parallel: iterations that meet in {names} set it to the same");
                ("yes", reason)
            }
            Parallelism::MarksIf(condition) => {
                let condition = text::expression(self.kernel, condition);
                (
                    "no",
                    format!(
                        "parallel only where {condition}: no element that is set is then looked for"
                    ),
                )
            }
            Parallelism::Tickets(counters) => {
                let names = self.names(counters);
                let reason = format!(
                    "parallel in parts, once it is counted with which tickets of {names} each begins"
                );
                ("no", reason)
            }
            Parallelism::IfMonotone(arrays) => {
                let names = self.names_of(arrays);
                let reason =
                    format!("parallel only if {names} never falls, which nothing promises");
                ("no", reason)
            }
            Parallelism::No(because) => {
                let apart = self.where_rows_are_apart.as_ref();
                let apart = apart.filter(|it| it.parallel.get(position) == Some(&true));
                let unless = apart.map(|it| format!("; parallel where {}", it.conditions));
                let reason = self.because(*because) + unless.as_deref().unwrap_or_default();
                ("no", reason)
            }
        }
    }

    fn names(&self, targets: &[Target]) -> String {
        let names: Vec<&str> = targets.iter().map(|it| it.name(self.kernel)).collect();
        names.join(", ")
    }

    fn names_of(&self, arrays: &[ArrayId]) -> String {
        let targets: Vec<_> = arrays.iter().map(|it| Target::Array(*it)).collect();
        self.names(&targets)
    }

    /// Whether mode `exact` forbids to regroup the updates of one of these.
    fn keeps_order(&self, targets: &[Target]) -> bool {
        let is_float = |target: &Target| target.ty(self.kernel).is_float();
        let is_inexact = |site: &Site<'_>| {
            let types = [site.target.ty(self.kernel)];
            site.update
                .is_some_and(|it| it.combiner.parts() == 1 && !it.combiner.is_exact(&types))
        };
        let mut sites = self.analyzed.sites().iter();
        self.mode == Mode::Exact
            && sites
                .any(|it| targets.contains(&it.target) && is_float(&it.target) && is_inexact(it))
    }

    fn because(&self, position: usize) -> String {
        let Some(dependence) = self.dependences.get(position) else {
            return "not parallel".to_owned();
        };
        let name = self
            .target(dependence)
            .map_or("?", |it| it.name(self.kernel));
        let meet = if dependence.is_must() {
            "meet"
        } else {
            "may meet"
        };
        let mut text = format!(
            "not parallel, because iterations {meet} in {name}: {} dependence from line {} to line {}",
            dependence.kind,
            self.line_of(dependence.source),
            self.line_of(dependence.sink)
        );
        if let Some(witness) = &dependence.witness {
            text += &format!("; {}", Self::example(witness));
        }
        text
    }
}
