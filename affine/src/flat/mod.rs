//! The shape that flat subscripts show: `a[(i * n + j) * m + k]` is `a[i][j][k]` with rows of `n`
//! times `m` elements.
//!
//! The factors that iterators are multiplied by are the strides of the dimensions. Where each
//! divides the next, their quotients are the sizes of the dimensions, and dividing a subscript by
//! the strides, the largest first, gives a subscript for each dimension. That is the shape that was
//! meant where the inner subscripts stay within their sizes: two flat subscripts are then equal if,
//! and only if, all subscripts are. What has to hold for that comes as [`Condition`]s over the
//! parameters.
//!
//! What is added to all subscripts alike moves every access and says nothing about rows: in
//! `a[i * m + j + 1]`, and in `a[i * m - j]`, whose rows run backwards, the shape is that of the
//! array from its first accessed element on.
//!
//! After Grosser, Ramanujam, Pouchet, Sadayappan, Pop: *Optimistic Delinearization of
//! Parametrically Sized Arrays* (ICS 2015).

mod apart;
mod keyed;
mod sizes;

pub use keyed::{KeyedShape, keyed_shape, keyed_sizes};

use crate::visit::{AccessKind, AccessSite, Loop, accesses};
use crate::{AffineExpr, ArrayId, Condition, Kernel, Overflow, Subscript};
use apart::{candidates, extreme, moving_and_added, stay_within, taken_apart};
use sizes::inner_sizes;
use std::collections::BTreeMap;

/// A shape of a one-dimensional array in which its accesses are understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The sizes of all dimensions but the outermost, over parameters, outermost first; at least
    /// one, none of them constant.
    pub inner: Vec<AffineExpr>,
    /// The flat subscript of the element that has the subscripts `[0, …]`, over parameters.
    pub origin: AffineExpr,
    /// The subscripts of each access, in the order of [`accesses`], outermost first; one more than
    /// there are inner sizes.
    pub subscripts: Vec<Vec<AffineExpr>>,
    /// What has to hold so that the inner subscripts stay within their sizes, but for what always
    /// does.
    pub conditions: Vec<Condition>,
}

/// The shape that the accesses of `array` show together.
///
/// `None` where the array has several dimensions already, where a subscript is computed, where no
/// stride is symbolic, or where the accesses do not agree.
///
/// # Errors
/// A coefficient leaves 64 bits.
pub fn shape_of(kernel: &Kernel, array: ArrayId) -> Result<Option<Shape>, Overflow> {
    let sites = accesses(kernel);
    let Some(flat) = flat_subscripts(&sites, array) else {
        return Ok(None);
    };
    let Some(inner) = inner_sizes(flat.iter().map(|(subscript, _)| *subscript))? else {
        return Ok(None);
    };
    let mut best: Option<Shape> = None;
    for origin in origins(&flat, &inner)? {
        let Some(shape) = shape_of_rows(&flat, &inner, origin)? else {
            continue;
        };
        let asks_for = shape.conditions.len();
        if (best.as_ref()).is_none_or(|it| asks_for < it.conditions.len()) {
            best = Some(shape);
        }
        if asks_for == 0 {
            break;
        }
    }
    Ok(best)
}

/// The shape of `array` in which its inner dimensions have these sizes, from its first element on.
///
/// `None` where the array has several dimensions already, where a subscript is computed, or where a
/// subscript could not be taken apart.
///
/// # Errors
/// A coefficient leaves 64 bits.
pub fn shape_in_rows(
    kernel: &Kernel,
    array: ArrayId,
    inner: &[AffineExpr],
) -> Result<Option<Shape>, Overflow> {
    let sites = accesses(kernel);
    match flat_subscripts(&sites, array) {
        Some(flat) => shape_of_rows(&flat, inner, AffineExpr::default()),
        None => Ok(None),
    }
}

/// A flat subscript with the loops around it.
type Flat<'s, 'k> = (&'k AffineExpr, &'s [Loop<'k>]);

fn flat_subscripts<'s, 'k>(
    sites: &'s [AccessSite<'k>],
    array: ArrayId,
) -> Option<Vec<Flat<'s, 'k>>> {
    let sites = sites.iter().filter(|site| site.access.array == array);
    let flat = sites.map(|site| match site.access.subscripts.as_slice() {
        [Subscript::Affine(subscript)] => Some((subscript, site.loops.as_slice())),
        _ => None,
    });
    flat.collect()
}

/// More accesses are not asked where the shape may begin.
const MOST_ORIGINS: usize = 8;

/// Where the shape may begin: with the array, or with the least subscripts that are accessed, of
/// all accesses or of one.
fn origins(flat: &[Flat<'_, '_>], inner: &[AffineExpr]) -> Result<Vec<AffineExpr>, Overflow> {
    let mut corners: Vec<Vec<AffineExpr>> = Vec::new();
    for (subscript, loops) in flat {
        let corner = least_subscripts(subscript, inner, loops)?;
        corners.extend(corner.filter(|it| !corners.contains(it)));
    }
    corners.truncate(MOST_ORIGINS);
    if let Some((first, others)) = corners.split_first() {
        let mut least = first.clone();
        for other in others {
            for (least, other) in least.iter_mut().zip(other) {
                let difference = other.minus(least)?.as_constant();
                if difference.is_some_and(|it| it < 0) {
                    *least = other.clone();
                }
            }
        }
        corners.push(least);
    }
    let mut origins = vec![AffineExpr::default()];
    for corner in &corners {
        let mut origin = AffineExpr::default();
        for (subscript, size) in corner.iter().zip(inner) {
            origin = origin.times(size)?.plus(subscript)?;
        }
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    Ok(origins)
}

/// The least of each inner subscript that `flat` is made of, over parameters, if that is known.
fn least_subscripts(
    flat: &AffineExpr,
    inner: &[AffineExpr],
    loops: &[Loop<'_>],
) -> Result<Option<Vec<AffineExpr>>, Overflow> {
    let (moving, added) = moving_and_added(flat)?;
    let mut subscripts = taken_apart(&moving, inner)?;
    for term in added {
        for (subscript, fixed) in subscripts.iter_mut().zip(taken_apart(&term, inner)?) {
            *subscript = subscript.plus(&fixed)?;
        }
    }
    let mut least = Vec::with_capacity(inner.len());
    for subscript in subscripts.iter().skip(1) {
        match extreme(&subscript.scaled(-1)?, loops)? {
            Some(opposite) => least.push(opposite.scaled(-1)?),
            None => return Ok(None),
        }
    }
    Ok(Some(least))
}

fn shape_of_rows(
    flat: &[Flat<'_, '_>],
    inner: &[AffineExpr],
    origin: AffineExpr,
) -> Result<Option<Shape>, Overflow> {
    let mut shape = Shape {
        inner: inner.to_vec(),
        origin,
        subscripts: Vec::new(),
        conditions: Vec::new(),
    };
    for (subscript, loops) in flat {
        let subscript = subscript.minus(&shape.origin)?;
        let Some(understood) = understood(&subscript, &shape.inner, loops)? else {
            return Ok(None);
        };
        shape.subscripts.push(understood.subscripts);
        add_new(&mut shape.conditions, understood.conditions);
    }
    Ok(Some(shape))
}

/// What has to hold so that the flat subscripts of these arrays are made of those of the shapes
/// that they show: conditions over parameters, which whoever runs the kernel can look at. None
/// where no shape is shown or nothing is left to be asked.
pub fn conditions_of(kernel: &Kernel, arrays: impl IntoIterator<Item = ArrayId>) -> Vec<Condition> {
    let shapes = arrays
        .into_iter()
        .filter_map(|it| shape_of(kernel, it).ok().flatten());
    let mut all: Vec<Condition> = Vec::new();
    add_new(&mut all, shapes.flat_map(|it| it.conditions));
    all
}

/// Adds to `all` those of `conditions` that are not among them.
fn add_new(all: &mut Vec<Condition>, conditions: impl IntoIterator<Item = Condition>) {
    for condition in conditions {
        if !all.contains(&condition) {
            all.push(condition);
        }
    }
}

/// The greatest row that each access of `array`, in the order of [`accesses`], may be of in its
/// `shape`, over parameters; `None` where that is not known of one.
///
/// # Errors
/// A coefficient leaves 64 bits.
pub fn last_rows(
    kernel: &Kernel,
    array: ArrayId,
    shape: &Shape,
) -> Result<Option<Vec<AffineExpr>>, Overflow> {
    let sites = accesses(kernel);
    let sites = sites.iter().filter(|it| it.access.array == array);
    let rows = sites.zip(&shape.subscripts).map(|(site, subscripts)| {
        let row = subscripts.first();
        row.map_or(Ok(None), |it| extreme(it, &site.loops))
    });
    rows.collect()
}

/// The sizes of all dimensions that the accesses of `array` show from its first element on, over
/// parameters, outermost first: of the outermost one so many rows as are accessed. `None` where no
/// shape is shown, or where it is not known how many rows are accessed.
///
/// # Errors
/// A coefficient leaves 64 bits.
pub fn sizes_of(kernel: &Kernel, array: ArrayId) -> Result<Option<Vec<AffineExpr>>, Overflow> {
    let Some(shape) = shape_of(kernel, array)? else {
        return Ok(None);
    };
    let rows = rows_of(kernel, array, &shape)?.pop();
    let is_from_first = shape.origin == AffineExpr::default();
    let rows = rows.filter(|_| is_from_first);
    Ok(rows.map(|rows| [&[rows], shape.inner.as_slice()].concat()))
}

/// How many rows the accesses of `array` may show that it has in its `shape`, over parameters: each
/// number of them that one shows by itself, the least first, and one less than that, since
/// conditions may keep the others in range. None where that is not known, or where not even those
/// of what is written differ by numbers alone.
///
/// # Errors
/// A coefficient leaves 64 bits.
pub fn rows_of(
    kernel: &Kernel,
    array: ArrayId,
    shape: &Shape,
) -> Result<Vec<AffineExpr>, Overflow> {
    let last = last_rows(kernel, array, shape)?.unwrap_or_default();
    let all = in_order(last.iter())?;
    if !all.is_empty() {
        return Ok(all);
    }
    let sites = accesses(kernel);
    let sites = sites.iter().filter(|it| it.access.array == array);
    let written = sites
        .zip(&last)
        .filter(|(it, _)| it.kind != AccessKind::Read);
    in_order(written.map(|(_, last)| last))
}

/// How many rows there are up to each of `last`, the least first, if these differ by numbers alone.
/// Those that are numbers, as of borders, do not count where there are others.
fn in_order<'e>(last: impl Iterator<Item = &'e AffineExpr>) -> Result<Vec<AffineExpr>, Overflow> {
    let (fixed, moving): (Vec<_>, Vec<_>) = last.partition(|it| it.as_constant().is_some());
    let have_sizes = !moving.is_empty();
    let last = if have_sizes { moving } else { fixed };
    let mut rows: BTreeMap<i64, AffineExpr> = BTreeMap::new();
    for row in &last {
        let Some(more) = row.minus(last[0])?.as_constant() else {
            return Ok(Vec::new());
        };
        rows.insert(more, row.offset(1)?);
    }
    let least = rows.first_key_value().filter(|_| have_sizes);
    if let Some((more, least)) = least {
        let fewer = (more - 1, least.offset(-1)?);
        rows.extend([fewer]);
    }
    Ok(rows.into_values().collect())
}

/// One flat subscript, as several.
struct Understood {
    subscripts: Vec<AffineExpr>,
    conditions: Vec<Condition>,
}

/// The subscripts that `flat` is made of, in the way that asks for the least, and what that is.
fn understood(
    flat: &AffineExpr,
    inner: &[AffineExpr],
    loops: &[Loop<'_>],
) -> Result<Option<Understood>, Overflow> {
    let mut best: Option<Understood> = None;
    for subscripts in candidates(flat, inner)? {
        let Some(conditions) = stay_within(&subscripts, inner, loops)? else {
            continue;
        };
        let least = best.as_ref().map(|it| it.conditions.len());
        if least.is_none_or(|least| conditions.len() < least) {
            best = Some(Understood {
                subscripts,
                conditions,
            });
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Variable, text};

    /// Kernel, inner sizes, subscripts of each access and conditions, as text.
    #[track_caller]
    fn shape(body: &str) -> Option<(Kernel, Shape)> {
        let source = format!(
            "kernel @k(n: i64, m: i64, p: i64, length: i64, a: f64[length], seg: i32[n]) {{ {body} }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let array = kernel.arrays.iter().find(|(_, it)| it.name == "a");
        let (array, _) = array.expect("an array");
        let shape = shape_of(&kernel, array).expect("no overflow")?;
        Some((kernel, shape))
    }

    #[track_caller]
    fn shows(body: &str, inner: &str, subscripts: &[&str], conditions: &[&str]) {
        let (kernel, shape) = shape(body).expect("a shape");
        let shown = |expr: &AffineExpr| text::affine(&kernel, expr);
        let list = |exprs: &[AffineExpr]| {
            let each: Vec<_> = exprs.iter().map(shown).collect();
            each.join(", ")
        };
        assert_eq!(list(&shape.inner), inner);
        let found: Vec<_> = shape.subscripts.iter().map(|it| list(it)).collect();
        assert_eq!(found, subscripts);
        let found: Vec<_> = shape
            .conditions
            .iter()
            .map(|it| text::condition(&kernel, it))
            .collect();
        assert_eq!(found, conditions);
    }

    #[test]
    fn three_dimensions() {
        shows(
            "affine.for i in 0..p { affine.for j in 0..n { affine.for k in 0..m {
               a[i * n * m + j * m + k] = 1.0
             } } }",
            "n, m",
            &["i, j, k"],
            &[],
        );
    }

    #[test]
    fn offsets_and_strides() {
        shows(
            "affine.for i in 1..p { affine.for j in 1..m - 1 {
               a[i * m + j] = a[(i - 1) * m + j] + a[i * m + j - 1] + a[2 * i * m + j + 1]
             } }",
            "m",
            &["i - 1, j", "i, j - 1", "i * 2, j + 1", "i, j"],
            &[],
        );
    }

    #[track_caller]
    fn begins_at(body: &str, origin: &str) {
        let (kernel, shape) = shape(body).expect("a shape");
        assert_eq!(text::affine(&kernel, &shape.origin), origin);
    }

    #[test]
    fn what_is_added_to_all_subscripts_moves_the_shape() {
        let rows = |subscript: &str| {
            format!("affine.for i in 0..n {{ affine.for j in 0..m {{ {subscript} = 1.0 }} }}")
        };
        for (subscript, origin, found) in [
            ("a[i * m + j + 1]", "1", "i, j"),
            ("a[p + i * m + j]", "p", "i, j"),
            ("a[p + i * m + j - 5]", "p - 5", "i, j"),
            ("a[i * m - j]", "-m + 1", "i, -j + m - 1"),
            ("a[i * m + m * 3 - j]", "-m + 1", "i + 3, -j + m - 1"),
            ("a[n * m + j - i * m]", "0", "-i + n, j"),
        ] {
            shows(&rows(subscript), "m", &[found], &[]);
            begins_at(&rows(subscript), origin);
        }
        // Within the rows of the array nothing is moved.
        let inside = "affine.for i in 0..n { affine.for j in 2..m { a[i * m + j - 1] = 1.0 } }";
        shows(inside, "m", &["i, j - 1"], &[]);
        begins_at(inside, "0");
    }

    #[test]
    fn accesses_agree_on_where_the_shape_begins() {
        let rows = "affine.for i in 0..p { affine.for j in 1..m - 1 {
             a[length + i * m + j] = a[length + i * m + j - 1] + a[length + i * m + m + j + 1]
           } }";
        shows(rows, "m", &["i, j - 1", "i + 1, j + 1", "i, j"], &[]);
        begins_at(rows, "length");
        let planes = "affine.for i in 0..p { affine.for j in 0..n - 1 { affine.for k in 0..m - 1 {
             a[length + i * n * m + j * m + k + 1] = a[length + i * n * m + j * m + m + k]
           } } }";
        shows(planes, "n, m", &["i, j + 1, k", "i, j, k + 1"], &[]);
        begins_at(planes, "length");
        // One row and what is beyond it are no row together.
        let body = "affine.for i in 0..n { affine.for j in 0..m {
             a[i * m + j + 1] = a[i * m + j]
           } }";
        assert_eq!(shape(body).map(|(_, shape)| shape), None);
    }

    #[test]
    fn sizes_may_be_sums() {
        shows(
            "affine.for i in 0..p { affine.for j in 0..n + 1 { affine.for k in 0..m + 2 {
               a[(i * (n + 1) + j) * (m + 2) + k] = 1.0
             } } }",
            "n + 1, m + 2",
            &["i, j, k"],
            &[],
        );
    }

    #[test]
    fn what_is_added_to_rows_may_belong_to_the_columns() {
        shows(
            "affine.for i in 0..p { affine.for j in 0..m { a[i * m + m - 1 - j] = 1.0 } }",
            "m",
            &["i, -j + m - 1"],
            &[],
        );
        shows(
            "affine.for i in 0..p { affine.for j in 0..m { a[i * m + m + j] = 1.0 } }",
            "m",
            &["i + 1, j"],
            &[],
        );
    }

    #[test]
    fn triangles_stay_within() {
        shows(
            "affine.for i in 0..n { affine.for j in 0..i + 1 { a[i * n + j] = 1.0 } }",
            "n",
            &["i, j"],
            &[],
        );
    }

    #[test]
    fn what_is_not_known_is_a_condition() {
        shows(
            "affine.for i in 0..n { affine.for j in 0..p { a[i * m + j] = 1.0 } }",
            "m",
            &["i, j"],
            &["p - 1 < m"],
        );
        shows(
            "affine.for i in 0..n { affine.for j in p..m { a[i * m + j] = a[i * m] } }",
            "m",
            &["i, 0", "i, j"],
            &["0 < m", "0 <= p"],
        );
    }

    #[test]
    fn conditions_of_several_arrays_come_together() {
        let source = "kernel @k(n: i64, m: i64, p: i64, l: i64, a: f64[l], b: f64[l], c: f64[l]) {
           affine.for i in 0..n { affine.for j in 0..p {
             a[i * m + j] = b[i * m + j] + c[j]
           } }
         }";
        let kernel = text::parse(source).expect("a kernel").remove(0);
        let conditions = conditions_of(&kernel, kernel.array_params());
        let shown = conditions.iter().map(|it| text::condition(&kernel, it));
        assert_eq!(shown.collect::<Vec<_>>(), ["p - 1 < m"]);
    }

    #[test]
    fn as_many_rows_as_are_accessed() {
        let sizes = |body: &str| {
            let (kernel, _) = shape(body).expect("a shape");
            let array = kernel.arrays.iter().find(|(_, it)| it.name == "a");
            let sizes = sizes_of(&kernel, array.expect("an array").0).expect("no overflow");
            sizes.map(|it| {
                let shown: Vec<_> = it.iter().map(|it| text::affine(&kernel, it)).collect();
                shown.join(", ")
            })
        };
        let rows = "affine.for i in 1..n { affine.for j in 0..p { a[i * m + j] = a[i * m - m + j] + a[i * m + m + j] } }";
        assert_eq!(sizes(rows).as_deref(), Some("n + 1, m"));
        let later = "affine.for i in 1..n { affine.for j in 0..m { a[p + i * m + j] = 0.0 } }";
        assert_eq!(sizes(later), None);
    }

    #[test]
    fn no_shape() {
        for body in [
            // No symbolic stride.
            "affine.for i in 0..n { a[i * 8 + 3] = 1.0 }",
            // Two strides of which none divides the other.
            "affine.for i in 0..n { affine.for j in 0..m { a[i * n + j * m] = 1.0 } }",
            // Columns beyond the row.
            "affine.for i in 0..n { affine.for j in 0..m + 1 { a[i * m + j] = 1.0 } }",
            // Computed.
            "affine.for i in 0..n { a[i * m + i64(seg[i])] = 1.0 }",
            "affine.for i in 0..n { affine.for j in 0..m { a[i * j] = 1.0 } }",
        ] {
            assert_eq!(shape(body).map(|(_, shape)| shape), None, "{body}");
        }
    }

    /// Brute force: within the conditions, the subscripts are those of one element in each
    /// row-major shape.
    #[test]
    fn subscripts_name_the_same_elements() {
        for body in [
            "affine.for i in 0..p { affine.for j in 0..n { affine.for k in 0..m {
               a[(i * n + j) * m + k] = a[i * n * m + (n - 1 - j) * m + k] } } }",
            "affine.for i in 0..p { affine.for j in 0..n { affine.for k in 0..m {
               a[(2 * i + 1) * n * m + j * m + m - 1 - k] = 1.0 } } }",
            "affine.for i in 0..n { affine.for j in 0..m { a[i * m + j] = a[(i + 3) * m + j] } }",
            "affine.for i in 0..n { affine.for j in 0..m { a[p + i * m + 3 - j] = a[p - i * m + 3 - j] } }",
            "affine.for i in 0..p { affine.for j in 0..n { affine.for k in 0..m {
               a[length - (i * n + j) * m + k] = a[length + i * n * m - j * m + k] } } }",
        ] {
            let (kernel, shape) = shape(body).expect("a shape");
            assert_eq!(shape.conditions, [], "{body}");
            let array = |name| kernel.arrays.iter().find(|(_, it)| it.name == name);
            let (array, _) = array("a").expect("an array");
            let sites = accesses(&kernel);
            let sites = sites.iter().filter(|site| site.access.array == array);
            for (site, subscripts) in sites.zip(&shape.subscripts) {
                let [Subscript::Affine(flat)] = site.access.subscripts.as_slice() else {
                    panic!("an affine subscript");
                };
                for seed in 0..200_i64 {
                    let flat = flat.minus(&shape.origin).expect("no overflow");
                    check_at(&kernel, &flat, subscripts, &shape.inner, seed);
                }
            }
        }
    }

    /// The values of variables follow from `seed`: sizes are positive, iterators below them.
    fn check_at(
        kernel: &Kernel,
        flat: &AffineExpr,
        subscripts: &[AffineExpr],
        inner: &[AffineExpr],
        seed: i64,
    ) {
        let size = |name: &str| 1 + seed * (name.len() as i64 + i64::from(name.as_bytes()[0])) % 7;
        let value_of = |variable| match variable {
            Variable::Param(scalar) => size(&kernel.scalars[scalar].name),
            Variable::Iter(iter) => {
                let bound = match kernel.iters[iter].name.as_str() {
                    "i" => size("p").min(size("n")),
                    "j" => size("n").min(size("m")),
                    _ => size("m"),
                };
                seed % bound
            }
        };
        let at = |expr: &AffineExpr| expr.evaluate(&value_of).expect("a value");
        let mut linear = at(&subscripts[0]);
        for (subscript, size) in subscripts[1..].iter().zip(inner) {
            assert!((0..at(size)).contains(&at(subscript)));
            linear = linear * at(size) + at(subscript);
        }
        assert_eq!(linear, at(flat));
    }
}
