//! Arrays that a loop reads besides updating them: whether it is for the data to say that these are
//! different elements.

use super::plan::Privatized;
use strew_affine::speculation::{Updated, is_contained};
use strew_affine::visit::{AccessKind, AccessSite};
use strew_affine::{AffineFor, Kernel, Subscript};

/// Whether some element that `sites`, the accesses of one array in a loop, read may be another than
/// all that they update. It is not where it is read at the place of an update, nor where the kernel
/// alone says which elements they are.
pub(super) fn may_be_apart(sites: &[&AccessSite<'_>]) -> bool {
    let is_read = |site: &&&AccessSite<'_>| site.kind == AccessKind::Read;
    let is_open = |read: &AccessSite<'_>| {
        let mut updates = sites.iter().filter(|it| !is_read(it));
        updates.all(|update| {
            let is_data = is_found_by_data(read) || is_found_by_data(update);
            is_data && !read.access.is_at_same_place(update.access)
        })
    };
    sites.iter().filter(is_read).all(|read| is_open(read))
}

fn is_found_by_data(site: &AccessSite<'_>) -> bool {
    let mut subscripts = site.access.subscripts.iter();
    subscripts.any(|it| matches!(it, Subscript::Computed(_)))
}

/// Whether the loop can be run for nothing, if it reads what is not yet updated as it should be.
pub(super) fn can_be_dropped(kernel: &Kernel, target: &AffineFor, privates: &[Privatized]) -> bool {
    let updated = privates.iter().map(|it| Updated {
        arrays: &it.arrays,
        combiner: &it.combiner,
        is_read: it.is_read,
    });
    let updated: Vec<_> = updated.collect();
    let has_identity = |it: &Privatized| {
        let types = it.arrays.iter().map(|array| kernel.arrays[*array].element);
        let types: Vec<_> = types.collect();
        it.combiner.identity(&types).is_some() && it.fill.is_none()
    };
    privates.iter().all(has_identity) && is_contained(&target.body, &updated)
}
