//! Local arrays that are no memory: each of their elements is a variable of the function that
//! allocates them.

use std::collections::{BTreeMap, BTreeSet};
use strew_affine::visit::{Loop, accesses, for_each_load_of, walk};
use strew_affine::{Access, ArrayId, IterId, Kernel, Node, Subscript};

/// Larger arrays stay in memory, since a processor has about so many registers.
const MOST_ELEMENTS: usize = 16;

/// A kernel has no more elements than this in variables, since each may have to be handed from
/// block to block.
const MOST_TOGETHER: usize = 256;

/// The local arrays of `kernel` that are small, all of whose subscripts are constants in range, and
/// that nothing outside of the function that allocates them touches: no forall inside of their
/// block reads or writes them, merges into them or marks them.
pub(crate) fn promoted(kernel: &Kernel) -> BTreeSet<ArrayId> {
    let mut homes = small_arrays(kernel);
    if homes.is_empty() {
        return BTreeSet::new();
    }
    for site in accesses(kernel) {
        let access = site.access;
        if homes.get(&access.array).is_some_and(|home| {
            *home != innermost_forall(&site.loops) || element_number(kernel, access).is_none()
        }) {
            homes.remove(&access.array);
        }
    }
    walk(&kernel.body, &mut |node, _| {
        if let Node::Forall(forall) = node {
            let targets = forall.buffers().map(|(_, target)| target);
            let marked = forall.disjoint.iter().flat_map(|it| [it.target, it.met]);
            for array in targets.chain(marked) {
                homes.remove(&array);
            }
        }
    });
    let mut room = MOST_TOGETHER;
    let fits = |array: &ArrayId| {
        let rest = few_elements(kernel, *array).and_then(|it| room.checked_sub(it));
        room = rest.unwrap_or(room);
        rest.is_some()
    };
    homes.into_keys().filter(fits).collect()
}

/// The elements of `array` that `body` uses, by their numbers, each with whether it writes it;
/// `None` unless the array is small and all of its subscripts in there are constants in range.
pub(crate) fn used_elements(
    kernel: &Kernel,
    array: ArrayId,
    body: &[Node],
) -> Option<BTreeMap<usize, bool>> {
    few_elements(kernel, array)?;
    let mut used = Some(BTreeMap::new());
    let mut add = |access: &Access, is_written: bool| {
        if access.array == array
            && let Some(known) = &mut used
        {
            match element_number(kernel, access) {
                Some(number) => *known.entry(number).or_default() |= is_written,
                None => used = None,
            }
        }
    };
    walk(body, &mut |node, _| {
        for_each_load_of(node, &mut |it| add(it, false));
        node.written_elements().for_each(|it| add(it, true));
    });
    used
}

/// How many elements `array` has, when that is known and few enough for variables.
pub(crate) fn few_elements(kernel: &Kernel, array: ArrayId) -> Option<usize> {
    let elements = usize::try_from(kernel.arrays[array].known_elements()?).ok()?;
    (elements <= MOST_ELEMENTS).then_some(elements)
}

/// The number of the element of a small array, row by row, when `access` has constant subscripts in
/// range.
pub(crate) fn element_number(kernel: &Kernel, access: &Access) -> Option<usize> {
    let extents = &kernel.arrays[access.array].extents;
    let dimensions = access.subscripts.iter().zip(extents);
    dimensions
        .map(|(subscript, extent)| match subscript {
            Subscript::Affine(expr) => Some((expr.as_constant()?, extent.as_constant()?)),
            Subscript::Computed(_) => None,
        })
        .try_fold(0_usize, |number, dimension| {
            let (subscript, extent) = dimension?;
            let is_in_range = (0..extent).contains(&subscript);
            let subscript = usize::try_from(subscript).ok().filter(|_| is_in_range)?;
            let row = number.checked_mul(usize::try_from(extent).ok()?)?;
            row.checked_add(subscript)
        })
}

/// The local arrays of few elements, each with the forall whose body allocates it.
fn small_arrays(kernel: &Kernel) -> BTreeMap<ArrayId, Option<IterId>> {
    let mut small = BTreeMap::new();
    walk(&kernel.body, &mut |node, loops| {
        if let Node::Alloc { array } = node
            && few_elements(kernel, *array).is_some()
        {
            small.insert(*array, innermost_forall(loops));
        }
    });
    small
}

/// What is in the body of the same forall is in the same function.
fn innermost_forall(loops: &[Loop<'_>]) -> Option<IterId> {
    let mut inner_first = loops.iter().rev();
    inner_first.find_map(|it| match it {
        Loop::Forall(forall) => Some(forall.iter),
        Loop::Affine(_) | Loop::Scf(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew_affine::text;

    /// The names of the arrays that are promoted in a kernel with `body`.
    #[track_caller]
    fn names(body: &str) -> Vec<String> {
        let source = format!(
            "kernel @k(n: i64, m: i64, key: i32[n], out: f64[m]) {{ affine.for i in 0..n {{ {body} }} }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let promoted = promoted(&kernel).into_iter();
        promoted
            .map(|array| kernel.arrays[array].name.clone())
            .collect()
    }

    #[test]
    fn arrays_with_constant_subscripts_are_promoted() {
        let names = names(
            "alloc t: f64[3]
             alloc u: f64[4, 4]
             t[2] = 1.0
             u[3, 3] reduce(add) t[0]
             out[key[i]] reduce(add) u[0, 1]",
        );
        assert_eq!(names, ["t", "u"]);
    }

    #[test]
    fn arrays_that_need_addresses_are_not() {
        for body in [
            "alloc t: f64[3] t[i mod 3] = 1.0",
            "alloc t: f64[3] t[key[i]] = 1.0",
            "alloc t: f64[3] out[key[i]] reduce(add) t[3]",
            "alloc t: f64[3] out[key[i]] reduce(add) t[-1]",
            "alloc t: f64[2, 2] out[key[i]] reduce(add) t[0, 3]",
            "alloc t: f64[17] t[0] = 1.0",
            "alloc t: f64[m] t[0] = 1.0",
        ] {
            assert!(names(body).is_empty(), "{body}");
        }
    }

    #[test]
    fn what_a_loop_uses_of_a_small_array_is_known_where_subscripts_are_constants() {
        let used = |body: &str| {
            let source = format!(
                "kernel @k(n: i64, x: f64[n]) {{ alloc t: f64[2, 2] affine.for i in 0..n {{ {body} }} }}"
            );
            let kernel = text::parse(&source).expect("a kernel").remove(0);
            let array = kernel.arrays.iter().find(|it| it.1.name == "t");
            let (array, _) = array.expect("an array");
            let used = used_elements(&kernel, array, &kernel.body);
            used.map(|it| it.into_iter().collect::<Vec<_>>())
        };
        let body = "t[1, 0] = t[0, 1] t[1, 1] reduce(add) x[i]";
        assert_eq!(used(body), Some(vec![(1, false), (2, true), (3, true)]));
        assert_eq!(used("x[i] = 1.0"), Some(Vec::new()));
        assert_eq!(used("t[1, 0] = t[i mod 2, 1]"), None);
    }

    #[test]
    fn as_many_arrays_as_there_is_room_for_are_promoted() {
        let arrays: Vec<_> = (0..20).map(|it| format!("alloc t{it}: f64[15]")).collect();
        let names = names(&format!("{} alloc u: f64[1]", arrays.join("\n")));
        assert_eq!(names.len(), 18);
        assert_eq!(names.last().map(String::as_str), Some("u"));
    }

    #[test]
    fn arrays_that_a_forall_inside_touches_are_not() {
        let reads = "alloc t: f64[1]
            scf.forall c in 0..2 private(p: f64[m] = identity(add)) merge(out reduce(add) p) strategy(auto) {
              p[key[c]] reduce(add) t[0]
            }";
        assert!(names(reads).is_empty());
        let merges = "alloc t: f64[1]
            scf.forall c in 0..2 private(p: f64[1] = identity(add)) merge(t reduce(add) p) strategy(auto) {
              p[0] reduce(add) 1.0
            }";
        assert!(names(merges).is_empty());
        let own = "scf.forall c in 0..2 private(p: f64[m] = identity(add)) merge(out reduce(add) p) strategy(auto) {
              alloc t: f64[1]
              affine.for j in 0..2 { t[0] = t[0] + 1.0 }
              p[key[c]] reduce(add) t[0]
            }";
        assert_eq!(names(own), ["t"]);
    }
}
