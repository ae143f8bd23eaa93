//! How far apart the elements of lanes lie.

use super::{Lanes, VECTOR_BYTES};
use crate::{Access, AffineExpr, ArrayId, Kernel, Subscript, Variable};

/// Elements of all lanes that are so far apart have room in the displacement of one address.
const FAR: u64 = 1 << 16;

impl Lanes<'_> {
    /// Whether each lane picks its element for itself: nothing tells how far they are apart.
    pub fn is_picked(&self, access: &Access) -> bool {
        let is_apart = self.is_strided(access) || !self.is_dense(access);
        access.subscripts.iter().any(|subscript| {
            matches!(subscript, Subscript::Computed(expr) if self.varies(expr) && (is_apart || !self.goes_along(expr)))
        })
    }

    /// Whether the elements of the lanes do not follow each other, but lie at one distance: each is
    /// loaded by itself.
    pub fn is_strided(&self, access: &Access) -> bool {
        let Some((last, others)) = access.subscripts.split_last() else {
            return false;
        };
        if let Some(step) = access.step_through_rows(self.kernel, self.iter) {
            return step != 1 || !self.is_dense(access);
        }
        let follows = match last {
            Subscript::Affine(expr) => {
                !self.is_moving(last) || self.follows(expr) && self.is_dense(access)
            }
            Subscript::Computed(_) => true,
        };
        !follows || others.iter().any(|it| self.is_moving(it))
    }

    /// Whether elements with successive last subscripts follow each other in memory: those of
    /// records may have other fields between them.
    pub(super) fn is_dense(&self, access: &Access) -> bool {
        steps(self.kernel, access.array).last() == Some(&Some(1))
    }

    /// Whether `expr` is the iterator and something that is the same in all lanes.
    pub fn follows(&self, expr: &AffineExpr) -> bool {
        let iter = Variable::Iter(self.iter);
        let rest = expr.minus(&AffineExpr::from(self.iter));
        rest.is_ok_and(|rest| !rest.mentions(iter))
    }

    /// Whether `expr` goes as far from each lane to the next one, be that a number or not.
    pub(super) fn goes_evenly(&self, expr: &AffineExpr) -> bool {
        let iter = Variable::Iter(self.iter);
        let step = || {
            let next = AffineExpr::from(self.iter).offset(1)?;
            let next = expr.substitute(&|it| (it == iter).then(|| next.clone()))?;
            next.minus(expr)
        };
        step().is_ok_and(|it| !it.mentions(iter))
    }

    /// How many elements further the one of a lane lies than that of the lane before, where
    /// extents, factors and the sizes of records say; 0 where all lanes have the same. Nothing is
    /// said of elements at computed places, and of those that are far away.
    pub fn distance(&self, access: &Access) -> Option<i64> {
        let steps = steps(self.kernel, access.array);
        let all = match access.step_through_rows(self.kernel, self.iter) {
            Some(step) => step.checked_mul((*steps.last()?)?)?,
            None => self.sum_of_steps(access, &steps)?,
        };
        (all.unsigned_abs() <= FAR).then_some(all)
    }

    fn sum_of_steps(&self, access: &Access, steps: &[Option<i64>]) -> Option<i64> {
        let mut both = access.subscripts.iter().zip(steps);
        both.try_fold(0_i64, |all, (subscript, step)| match subscript {
            Subscript::Affine(expr) => match expr.split_off(self.iter)? {
                (0, _) => Some(all),
                (factor, _) => all.checked_add(factor.checked_mul((*step)?)?),
            },
            Subscript::Computed(expr) => (!self.varies(expr)).then_some(all),
        })
    }

    /// Whether the lanes of a vector find their elements of `access`, which do not follow each
    /// other, in few vectors of the array: two in each of these, or all of them.
    pub fn is_near(&self, access: &Access) -> bool {
        let lanes = VECTOR_BYTES / self.kernel.arrays[access.array].element.bytes();
        let distance = self.distance(access).filter(|it| *it != 0);
        distance.is_some_and(|it| {
            let vectors = windows(it, lanes).len();
            vectors == 1 || vectors * 2 <= lanes as usize
        })
    }

    /// How many elements `other` lies behind `one`, wherever both are; `None` where that is no
    /// number. Fields of one type lie behind each other in their record.
    pub fn behind(&self, one: &Access, other: &Access) -> Option<i64> {
        let kernel = self.kernel;
        let together = match one.array == other.array {
            true => one.subscripts.len(),
            false => records_of_both(kernel, one.array, other.array)?,
        };
        let mut all = inside_record(kernel, other, together)?
            .checked_sub(inside_record(kernel, one, together)?)?;
        let both = one.subscripts.iter().zip(&other.subscripts).take(together);
        for ((one, other), step) in both.zip(steps(kernel, one.array)) {
            all = match (one, other) {
                _ if one.is_same(other) => all,
                (Subscript::Affine(one), Subscript::Affine(other)) => {
                    let difference = other.minus(one).ok()?.as_constant()?;
                    all.checked_add(difference.checked_mul(step?)?)?
                }
                _ => return None,
            };
        }
        Some(all)
    }

    /// Those of `accesses`, `access` among them, that fill all elements between the lanes of
    /// `access`, the first in memory first, so that whole vectors can be stored; `None` where some
    /// are missing. Of several to one place there is one.
    pub fn filling<'a>(&self, access: &Access, accesses: &[&'a Access]) -> Option<Vec<&'a Access>> {
        let distance = self.distance(access).filter(|it| *it > 1)?;
        let beside = accesses
            .iter()
            .filter_map(|it| Some((self.behind(access, it)?, *it)));
        let mut beside: Vec<_> = beside.collect();
        beside.sort_by_key(|(behind, _)| *behind);
        beside.dedup_by_key(|(behind, _)| *behind);
        let first = beside.first()?.0;
        let numbers = beside.iter().map(|(behind, _)| behind - first);
        let is_filled = numbers.eq(0..distance);
        is_filled.then(|| beside.into_iter().map(|(_, it)| it).collect())
    }
}

/// Where vectors of the array begin that have the elements of so many lanes, `distance` elements
/// apart, counted from the first of them in memory. No vector goes beyond these elements, and each
/// has one that those before it do not have.
pub fn windows(distance: i64, lanes: u32) -> Vec<u64> {
    let lanes = u64::from(lanes);
    let distance = distance.unsigned_abs();
    let last = distance.saturating_mul(lanes - 1);
    let mut found: Vec<u64> = Vec::new();
    for lane in 0..lanes {
        let place = distance.saturating_mul(lane);
        if found
            .last()
            .is_none_or(|begin| place >= begin.saturating_add(lanes))
        {
            found.push(place.min((last + 1).saturating_sub(lanes)));
        }
    }
    found
}

/// How many dimensions the records have that both arrays are fields of, with elements of the same
/// type.
fn records_of_both(kernel: &Kernel, one: ArrayId, other: ArrayId) -> Option<usize> {
    let [one, other] = [one, other].map(|it| &kernel.arrays[it]);
    let are_alike = one.field?.record == other.field?.record && one.element == other.element;
    are_alike.then(|| one.split_extents().0.len())
}

/// How many elements behind the beginning of its record, or of its field where all subscripts are
/// `outer` ones, the element of `access` lies.
fn inside_record(kernel: &Kernel, access: &Access, outer: usize) -> Option<i64> {
    let array = &kernel.arrays[access.array];
    let offset = array.field.map_or(0, |it| it.offset) / array.element.bytes();
    let own = access.subscripts.iter().zip(steps(kernel, access.array));
    own.skip(outer).try_fold(
        i64::from(offset),
        |all, (subscript, step)| match subscript {
            Subscript::Affine(expr) => all.checked_add(expr.as_constant()?.checked_mul(step?)?),
            Subscript::Computed(_) => None,
        },
    )
}

/// How many elements of its type further the next one of `array` lies in each dimension, outermost
/// first, where numbers say.
fn steps(kernel: &Kernel, array: ArrayId) -> Vec<Option<i64>> {
    let (bytes, record) = (
        kernel.arrays[array].element.bytes(),
        kernel.stride_bytes(array),
    );
    let (records, own) = kernel.arrays[array].split_extents();
    let is_whole = record.is_multiple_of(bytes);
    let mut found = inner_elements(records, is_whole.then(|| i64::from(record / bytes)));
    found.extend(inner_elements(own, Some(1)));
    found
}

/// For each of `extents`, how many elements those behind it have together, where the last one has
/// so many for each step.
fn inner_elements(extents: &[AffineExpr], mut inside: Option<i64>) -> Vec<Option<i64>> {
    let mut found = Vec::with_capacity(extents.len());
    for extent in extents.iter().rev() {
        found.push(inside);
        let both = inside.zip(extent.as_constant());
        inside = both.and_then(|(inside, extent)| inside.checked_mul(extent));
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Node;
    use crate::visit::{Loop, walk};

    /// Asks `about` the lanes of the only loop, and its accesses that are written.
    fn ask<T>(statements: &str, about: impl Fn(&Lanes<'_>, &[&Access]) -> T) -> T {
        let source = format!(
            "kernel @k(n: i64, m: i64, a: f32[n, 3], b: u8[4 * n + 8], c: i16[n, m]) {{ affine.for i in 0..n {{ {statements} }} }}"
        );
        let kernel: Kernel = crate::text::parse(&source).unwrap().remove(0);
        let target = kernel.body.first().and_then(Loop::of).unwrap();
        let lanes = Lanes::of(&kernel, target, 16).unwrap();
        let mut accesses = Vec::new();
        walk(target.body(), &mut |node: &Node, _| {
            accesses.extend(node.written_elements())
        });
        about(&lanes, &accesses)
    }

    #[test]
    fn extents_and_factors_tell_distances() {
        let distances = |statements: &str| {
            ask(statements, |lanes, accesses| {
                let distances = accesses.iter().map(|it| lanes.distance(it));
                distances.collect::<Vec<_>>()
            })
        };
        let statements = "a[i, 1] = 1.0 b[4 * i + 3] = 1 b[n - i] = 2 b[i] = 3";
        let expected = [3, 4, -1, 1].map(Some);
        assert_eq!(distances(statements), expected);
    }

    #[test]
    fn rows_that_subscripts_divide_by_go_on_in_the_next_one() {
        let strided = |subscripts: &str| {
            ask(&format!("a[{subscripts}] = 1.0"), |lanes, accesses| {
                let access = accesses[0];
                (lanes.is_strided(access), lanes.distance(access))
            })
        };
        assert_eq!(strided("i floordiv 3, i mod 3"), (false, Some(1)));
        assert_eq!(strided("i floordiv 3 + 2, i mod 3"), (false, Some(1)));
        assert_eq!(
            strided("(2 * i) floordiv 3, (2 * i) mod 3"),
            (true, Some(2))
        );
        let row = "kernel @k(n: i64, c: i16[n, 4]) { affine.for i in 0..n { c[i floordiv 3, i mod 3] = 1 } }";
        let kernel: Kernel = crate::text::parse(row).unwrap().remove(0);
        let target = kernel.body.first().and_then(Loop::of).unwrap();
        assert!(Lanes::of(&kernel, target, 16).is_err());
    }

    #[test]
    fn windows_have_all_elements_and_no_others_at_their_ends() {
        for distance in [1, 2, 3, 4, 5, 7, 8, 100] {
            for lanes in [2, 4, 8, 16] {
                let windows = windows(distance, lanes);
                let lanes = u64::from(lanes);
                let has = |place: u64| windows.iter().any(|it| (*it..it + lanes).contains(&place));
                let last = distance as u64 * (lanes - 1);
                assert!(
                    (0..lanes).all(|it| has(it * distance as u64)),
                    "{distance}, {lanes}"
                );
                assert!(
                    windows.iter().all(|it| it + lanes <= last + 1),
                    "{distance}, {lanes}"
                );
            }
        }
    }

    #[test]
    fn statements_that_fill_rows_are_found_in_any_order() {
        let places = |statements: &str| {
            ask(statements, |lanes, accesses| {
                let filling = lanes.filling(accesses[0], accesses)?;
                let last = filling.iter().map(|it| it.subscripts.last().cloned());
                Some(last.map(|it| format!("{it:?}")).collect::<Vec<_>>().len())
            })
        };
        assert_eq!(places("a[i, 2] = 1.0 a[i, 0] = 2.0 a[i, 1] = 3.0"), Some(3));
        assert_eq!(places("a[i, 2] = 1.0 a[i, 0] = 2.0"), None);
        assert_eq!(
            places("b[4 * i + 2] = 1 b[4 * i + 5] = 1 b[4 * i + 3] = 1 b[4 * i + 4] = 1"),
            Some(4)
        );
        assert_eq!(
            places("b[4 * i + 2] = 1 b[4 * i + 6] = 1 b[4 * i + 3] = 1 b[4 * i + 4] = 1"),
            None
        );
    }
}
