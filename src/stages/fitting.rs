//! Other forms of a scheduled kernel, for calls that its schedule does not fit.

use super::{ParsedKernel, Plan, Scheduled, verified};
use crate::Language;
use crate::convert;
use crate::error::Error;
use strew_affine::visit::{accesses, walk};
use strew_affine::{Access, Array, ArrayId, Node, Subscript};
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

    /// Whether its schedule assumes more than the kernel as it was written.
    pub(super) fn assumes(&self) -> bool {
        self.kernel.assumptions != self.written().assumptions
    }

    /// The same, or a schedule that assumes nothing where indices out of range are left out and
    /// this one takes others for such.
    pub(crate) fn fit_for(&self, oob: Oob) -> Result<Self, Error> {
        if oob == Oob::Skip && self.has_rows_by_keys() {
            let (fitting, _) = self.parsed.fitting(&self.plan)?;
            return Ok(fitting);
        }
        Ok(self.clone())
    }

    /// Whether its schedule may have given an array rows, or columns, that data pick: subscripts
    /// that wrap on the way to an element are out of range there, and so are columns of other rows.
    pub(super) fn has_rows_by_keys(&self) -> bool {
        let dimensions = |(array, it): (ArrayId, &Array)| {
            it.extents.len() < self.kernel.arrays[array].extents.len()
        };
        let is_by_key = |access: &Access| {
            let mut subscripts = access.subscripts.iter();
            subscripts.len() > 1 && subscripts.any(|it| matches!(it, Subscript::Computed(_)))
        };
        let sites = accesses(&self.kernel);
        self.written().arrays.iter().any(dimensions) && sites.iter().any(|it| is_by_key(it.access))
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
