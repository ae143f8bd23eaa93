//! Other forms of a scheduled kernel, for calls that its schedule does not fit.

use super::{ParsedKernel, Plan, Scheduled, verified};
use crate::Language;
use crate::convert;
use crate::error::Error;
use std::collections::BTreeMap;
use strew_affine::visit::{accesses, walk};
use strew_affine::{Access, ArrayId, Node, Subscript};
use strew_jit::Oob;
use strew_transforms::Schedule;

impl Scheduled {
    /// The kernel that can tell its faults, without assumptions if there is such a version, and
    /// whether its loops have to run in order for that: the kernel as it was written, but for what
    /// is asserted in its schedule.
    pub(crate) fn careful(&self) -> Result<(Self, bool), Error> {
        let checks_disjoint = self.checks_disjoint();
        let parsed = self.exact_source()?;
        if checks_disjoint {
            return Ok((parsed.fitting(&self.plan)?.0, true));
        }
        let plan = Plan::Explicit(Schedule::new());
        Ok((parsed.schedule(&plan, &mut ())?, false))
    }

    /// The source of the kernel, read without assumptions about its parameters; kernel text means
    /// what it says.
    pub(super) fn exact_source(&self) -> Result<ParsedKernel, Error> {
        let source = self.source();
        if source.language() != Language::C {
            return Ok((*self.parsed).clone());
        }
        let (kernels, _) = convert::from_c_exact(source);
        let mut kernels = kernels.into_iter();
        let found = kernels.find(|(kernel, _)| kernel.name == self.kernel.name);
        let missing = || Error::Defect("the exact version of a kernel is missing".to_owned());
        let (kernel, notes) = found.ok_or_else(missing)?;
        Ok(ParsedKernel {
            source: source.clone(),
            kernel: verified(source, kernel)?,
            notes,
        })
    }

    /// Whether its schedule assumes more than the kernel as it was written, of sizes or of keys.
    pub(super) fn assumes(&self) -> bool {
        self.kernel.assumptions != self.written().assumptions || self.has_rows_by_keys()
    }

    /// The same; or, where indices out of range are left out and this one may take others for such,
    /// a schedule that assumes nothing, and why this one was dropped if it was asked for.
    pub(crate) fn fit_for(self, oob: Oob) -> Result<(Self, Option<String>), Error> {
        match oob == Oob::Skip && self.has_rows_by_keys() {
            true => self.parsed.fitting(&self.plan),
            false => Ok((self, None)),
        }
    }

    /// Whether its schedule gave an array rows, or columns, that data pick: subscripts that wrap on
    /// the way to an element are out of range there, and so are columns of other rows.
    pub(super) fn has_rows_by_keys(&self) -> bool {
        let mut targets = BTreeMap::new();
        walk(&self.kernel.body, &mut |node, _| {
            if let Node::Forall(forall) = node {
                targets.extend(forall.buffers());
            }
        });
        let written = &self.written().arrays;
        let was_flat = |mut array: ArrayId| {
            while let Some(target) = targets.get(&array) {
                array = *target;
            }
            let mut before = written.iter().filter(|(it, _)| *it == array);
            before.any(|(_, it)| it.extents.len() == 1)
        };
        let is_by_key = |access: &Access| {
            let mut subscripts = access.subscripts.iter();
            subscripts.len() > 1 && subscripts.any(|it| matches!(it, Subscript::Computed(_)))
        };
        let sites = accesses(&self.kernel);
        let mut sites = sites.iter().map(|it| it.access);
        sites.any(|it| is_by_key(it) && was_flat(it.array))
    }

    /// Whether it checks that elements of an array are written once.
    pub(super) fn checks_disjoint(&self) -> bool {
        let mut checks = false;
        walk(&self.kernel.body, &mut |node, _| {
            checks |= matches!(node, Node::Forall(forall) if !forall.disjoint.is_empty());
        });
        checks
    }
}
