//! Accesses that are kept apart: no two iterations of a loop meet in a cell through them.

use crate::LoopPath;
use crate::reason::{DependenceKind, Reason};
use crate::witness::{self, Ends};
use std::collections::BTreeSet;
use strew_affine::visit::{self, AccessKind, AccessSite, Loop};
use strew_affine::{Access, AffineExpr, AffineFor, ArrayId, IterId, Kernel, Subscript, Variable};

/// Two of `sites`, accesses of one array in the body of `target`, one of them at least a write, that are not shown to be kept
/// apart: they may touch the same cell in different iterations of `target`, everything around it being equal.
pub(crate) fn meeting_pair<'s, 'k>(
    sites: &[&'s AccessSite<'k>],
    target: &AffineFor,
    around: &[Loop<'_>],
) -> Option<(&'s AccessSite<'k>, &'s AccessSite<'k>)> {
    let outer: Vec<IterId> = around.iter().map(|it| it.iter()).collect();
    let writes = |site: &AccessSite<'_>| site.kind != AccessKind::Read;
    sites.iter().enumerate().find_map(|(position, first)| {
        let mut rest = sites[position..].iter();
        let second = rest.find(|second| {
            (writes(first) || writes(second))
                && !are_apart(first.access, second.access, target, &outer)
        })?;
        Some((*first, *second))
    })
}

/// That no two iterations of the loop meet in an element which one of them writes, arrays that an iteration allocates aside.
pub(crate) fn check_kept_apart(
    kernel: &Kernel,
    path: &LoopPath,
    target: &AffineFor,
    around: &[Loop<'_>],
) -> Result<(), Reason> {
    let sites = visit::accesses(kernel);
    let own = visit::allocated_arrays(&target.body);
    let is_shared = |site: &&AccessSite<'_>| {
        let is_inside = site.loops.iter().any(|it| it.iter() == target.iter);
        is_inside && !own.contains(&site.access.array)
    };
    let shared: Vec<_> = sites.iter().filter(is_shared).collect();
    let writes = shared.iter().filter(|it| it.kind != AccessKind::Read);
    let written: BTreeSet<_> = writes.map(|it| it.access.array).collect();
    for array in written {
        let of_array = shared.iter().filter(|it| it.access.array == array);
        let of_array: Vec<_> = of_array.copied().collect();
        if let Some((first, second)) = meeting_pair(&of_array, target, around) {
            let meeting = Meeting {
                kernel,
                path,
                target: target.iter,
                array,
            };
            return Err(meeting.carried([first, second], None));
        }
    }
    Ok(())
}

/// Iterations of a loop that are not shown to be kept apart in an array.
#[derive(Clone, Copy)]
pub(crate) struct Meeting<'k> {
    pub(crate) kernel: &'k Kernel,
    /// The loop, as the request names it.
    pub(crate) path: &'k LoopPath,
    pub(crate) target: IterId,
    pub(crate) array: ArrayId,
}

impl Meeting<'_> {
    /// The reason to decline, with two iterations that meet if some are found; else it tells of the two `sites` that may.
    pub(crate) fn carried(&self, sites: [&AccessSite<'_>; 2], combiner: Option<String>) -> Reason {
        let carries = |ends: Ends<'_>| {
            ends.are_in_different_iterations() && ends.either(|end| end.kind != AccessKind::Read)
        };
        let found = witness::find_ends(self.kernel, self.target, self.array, carries);
        let (source, sink) = match &found {
            Some((source, sink, _)) => (*source, *sink),
            None => sites.map(|it| (it.kind, it.access.span)).into(),
        };
        Reason::Carried {
            path: self.path.clone(),
            array: self.kernel.arrays[self.array].name.clone(),
            kind: dependence_kind(source.0, sink.0),
            earlier: source.1,
            later: sink.1,
            combiner,
            witness: found.map(|(_, _, witness)| Box::new(witness)),
        }
    }
}

pub(crate) fn dependence_kind(source: AccessKind, sink: AccessKind) -> DependenceKind {
    match (source, sink) {
        (AccessKind::Read, _) => DependenceKind::Anti,
        (_, AccessKind::Read) => DependenceKind::Flow,
        _ => DependenceKind::Output,
    }
}

/// Whether some dimension tells the iterations of the two accesses apart.
fn are_apart(first: &Access, second: &Access, target: &AffineFor, outer: &[IterId]) -> bool {
    let mut dimensions = first.subscripts.iter().zip(&second.subscripts);
    dimensions.any(|pair| match pair {
        (Subscript::Affine(first), Subscript::Affine(second)) => {
            differs_between_iterations(first, second, target, outer).unwrap_or(false)
        }
        _ => false,
    })
}

/// Whether `first` at one iteration never equals `second` at another.
///
/// With `first = a * i + r` and `second = a * i + r + d`, both `r` fixed while `target` runs, they are equal at iterations that
/// lie `k` steps apart exactly if `a * step * k = d` up to sign: never for a `k` other than 0 when `d` is 0 or no multiple of
/// `a * step`.
fn differs_between_iterations(
    first: &AffineExpr,
    second: &AffineExpr,
    target: &AffineFor,
    outer: &[IterId],
) -> Option<bool> {
    let (coefficient, first) = first.split_off(target.iter)?;
    let (other, second) = second.split_off(target.iter)?;
    if coefficient == 0
        || coefficient != other
        || !is_fixed(&first, outer)
        || !is_fixed(&second, outer)
    {
        return None;
    }
    let distance = second.minus(&first).ok()?.as_constant()?;
    let stride = i128::from(coefficient) * i128::from(target.step);
    Some(distance == 0 || i128::from(distance) % stride != 0)
}

fn is_fixed(expr: &AffineExpr, outer: &[IterId]) -> bool {
    let mut fixed = true;
    expr.for_each_variable(&mut |variable| {
        fixed &= match variable {
            Variable::Param(_) => true,
            Variable::Iter(iter) => outer.contains(&iter),
        };
    });
    fixed
}
