//! The step `delinearize`.

use crate::address::find_array;
use crate::assume::assume;
use crate::script::Written;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tree::for_each_access_mut;
use crate::{LoopPath, Reason, Size};
use std::fmt;
use strew_affine::dependence::{Analyzed, Site, Target};
use strew_affine::flat::{KeyedShape, Shape, keyed_shape, last_rows, shape_in_rows};
use strew_affine::verify::Verified;
use strew_affine::{
    AffineExpr, Array, ArrayId, Condition, Expr, Kernel, Overflow, Relation, ScalarId, Subscript,
    Variable, visit,
};

/// Gives an array with flat subscripts the dimensions that were meant.
///
/// ```text
/// kernel @k(n: i64, m: i64, a: f64[n * m])     kernel @k(n: i64, m: i64, a: f64[n, m])
///   affine.for i in 0..n {                       affine.for i in 0..n {
///     affine.for j in 0..m {              →        affine.for j in 0..m {
///       a[i * m + j] = 0.0                           a[i, j] = 0.0
/// ```
///
/// Legal when the sizes multiply to the extent of the array, and all inner subscripts stay within
/// their sizes: then no two elements become one. An array that is as long as the call's has so many
/// elements or more. What of that parameters decide, and is not known, the kernel assumes from then
/// on, and a call checks it. The elements lie in memory as before, so a caller passes the same.
///
/// Data may pick rows, as in `a[key[i] * m + j]`, or columns, as in `a[i * m + key[j]]`. Of an
/// array that is as long as the call's there are `a_length / m` rows then, and that the length is a
/// multiple of `m` is assumed as well. A key that is no row, or no column, faults. In the flat form
/// it does not where arithmetic of fewer than 64 bits wraps to an element, or where that is in
/// another row: whoever runs the kernel has to look at a fault again in that form, and must not
/// skip what is out of range.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Delinearize {
    /// The array, of one dimension.
    pub array: String,
    /// The size of each dimension, outermost first.
    pub sizes: Vec<Size>,
}

impl Delinearize {
    /// The word that the step begins with.
    pub const NAME: &'static str = "delinearize";

    /// A request to give `array` dimensions of these sizes.
    pub fn new(array: impl Into<String>, sizes: impl IntoIterator<Item = impl Into<Size>>) -> Self {
        Self {
            array: array.into(),
            sizes: sizes.into_iter().map(Into::into).collect(),
        }
    }

    /// A request to give `array` of `kernel` dimensions of these sizes, where a schedule can say
    /// them.
    pub(crate) fn of(kernel: &Kernel, array: ArrayId, sizes: &[AffineExpr]) -> Option<Self> {
        let sizes = sizes.iter().map(|it| Size::of(kernel, it));
        let sizes: Vec<Size> = sizes.collect::<Option<_>>()?;
        Some(Self::new(kernel.arrays[array].name.clone(), sizes))
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let request = Self {
            array: call.word()?,
            sizes: call.list()?,
        };
        call.finish(&[])?;
        Ok(request)
    }
}

impl fmt::Display for Delinearize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<_> = self.sizes.iter().map(Size::to_string).collect();
        write!(
            f,
            "{}({}, [{}])",
            Self::NAME,
            Written(&self.array),
            sizes.join(", ")
        )
    }
}

impl Transform for Delinearize {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        Vec::new()
    }
}

/// The kernel with the new subscripts, and what the array gets.
#[derive(Clone)]
struct Delinearized {
    kernel: Kernel,
    array: ArrayId,
    extents: Vec<AffineExpr>,
    /// Of each access, in the order of [`visit::accesses`].
    subscripts: Vec<Vec<Subscript>>,
}

fn plan(kernel: &Kernel, request: &Delinearize) -> Result<Delinearized, Reason> {
    let array = find_array(kernel, &request.array)?;
    let sizes = request.sizes.iter().map(|it| it.resolve(kernel));
    let extents: Vec<AffineExpr> = sizes.collect::<Result<_, _>>()?;
    let length = length_of_call(kernel, array);
    if length.is_none() {
        check_sizes(kernel, request, array, &extents)?;
    }
    let inner = extents.get(1..).unwrap_or_default();
    let not_flat = || Reason::NotFlat {
        array: request.array.clone(),
    };
    let Some(shape) = shape_in_rows(kernel, array, inner)? else {
        let Ok(sizes) = <[AffineExpr; 2]>::try_from(extents) else {
            return Err(not_flat());
        };
        let shape = keyed_shape(kernel, array, &sizes[1])?.ok_or_else(not_flat)?;
        return of_keyed_shape(kernel, array, sizes, shape)?.ok_or_else(not_flat);
    };
    if any_holds_for_none(&shape.conditions)? {
        return Err(not_flat());
    }
    let mut prepared = kernel.clone();
    prepared.arrays[array].length = length;
    assume(&mut prepared, shape.conditions.iter().cloned())?;
    let sizes = extents.iter();
    assume(
        &mut prepared,
        sizes.map(|it| Condition::at_most(0, it.clone())),
    )?;
    if let Some(length) = length {
        assume(
            &mut prepared,
            [Condition::at_most(product(&extents)?, length)],
        )?;
    }
    let mut delinearized = Delinearized {
        kernel: prepared,
        array,
        extents,
        subscripts: affine(&shape),
    };
    if length.is_some() && !delinearized.stays_in_range() {
        let rows = delinearized.rows_are_there(&shape)?;
        assume(&mut delinearized.kernel, rows.ok_or_else(not_flat)?)?;
    }
    Ok(delinearized)
}

/// The length of an array that is as long as that of the call, which may be more than its
/// dimensions are.
fn length_of_call(kernel: &Kernel, array: ArrayId) -> Option<ScalarId> {
    let Array {
        extents,
        length: None,
        field: None,
        ..
    } = &kernel.arrays[array]
    else {
        return None;
    };
    let [extent] = extents.as_slice() else {
        return None;
    };
    let Some(Variable::Param(length)) = extent.as_variable() else {
        return None;
    };
    let mut told = kernel.array_params();
    let is_told = told.any(|it| kernel.arrays[it].length == Some(length));
    let is_passed = kernel.array_params().any(|it| it == array);
    (kernel.scalars[length].inferred && is_passed && !is_told).then_some(length)
}

fn affine(shape: &Shape) -> Vec<Vec<Subscript>> {
    let accesses = shape.subscripts.iter();
    accesses
        .map(|it| it.iter().cloned().map(Subscript::Affine).collect())
        .collect()
}

/// Gives `array` rows some of which data pick, where these are all that it has.
fn of_keyed_shape(
    kernel: &Kernel,
    array: ArrayId,
    [rows, size]: [AffineExpr; 2],
    shape: KeyedShape,
) -> Result<Option<Delinearized>, Overflow> {
    if any_holds_for_none(&shape.conditions)? {
        return Ok(None);
    }
    let length = length_of_call(kernel, array);
    let mut prepared = kernel.clone();
    prepared.arrays[array].length = length;
    // Before rows are counted, which divides by it.
    let counts = [(1, &size), (0, &rows)].map(|(least, it)| Condition::at_most(least, it.clone()));
    assume(&mut prepared, counts)?;
    assume(&mut prepared, shape.conditions)?;
    if let Some(length) = length {
        let whole = Condition {
            left: rows.times(&size)?,
            relation: Relation::Equal,
            right: length.into(),
        };
        assume(&mut prepared, [whole])?;
    }
    let subscripts = shape.subscripts.into_iter();
    Ok(Some(Delinearized {
        kernel: prepared,
        array,
        extents: vec![rows, size],
        subscripts: subscripts.map(Vec::from).collect(),
    }))
}

fn any_holds_for_none(conditions: &[Condition]) -> Result<bool, Overflow> {
    for condition in conditions {
        if holds_for_none(condition)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether `condition` asks for a size that is not positive: no loop that uses it then runs.
fn holds_for_none(condition: &Condition) -> Result<bool, Overflow> {
    let ahead = condition.right.minus(&condition.left)?;
    let are_below = ahead.terms().iter().all(|it| it.coefficient < 0);
    Ok(are_below && ahead.constant() <= 0)
}

fn product(extents: &[AffineExpr]) -> Result<AffineExpr, Overflow> {
    let mut factors = extents.iter();
    factors.try_fold(AffineExpr::from(1), |product, it| product.times(it))
}

/// That the array can have these extents: it has one dimension, of their product, and is what its
/// caller or an `alloc` made.
fn check_sizes(
    kernel: &Kernel,
    request: &Delinearize,
    array: ArrayId,
    extents: &[AffineExpr],
) -> Result<(), Reason> {
    let product = product(extents)?;
    let flat = &kernel.arrays[array];
    let is_same = match flat.extents.as_slice() {
        [extent] => kernel.assumes_equal(extent, &product),
        _ => false,
    };
    let is_own = flat.field.is_none() && is_passed_or_allocated(kernel, array);
    match is_same && is_own && extents.len() > 1 {
        true => Ok(()),
        false => Err(Reason::OtherShape {
            array: request.array.clone(),
        }),
    }
}

fn is_passed_or_allocated(kernel: &Kernel, array: ArrayId) -> bool {
    kernel.array_params().any(|it| it == array)
        || visit::allocated_arrays(&kernel.body).contains(&array)
}

impl Delinearized {
    /// Whether no access leaves the dimensions, whatever the sizes are.
    fn stays_in_range(&self) -> bool {
        let kernel = self.clone().rewrite();
        let analyzed = Analyzed::new(&kernel);
        let is_own = |it: &&Site<'_>| it.target == Target::Array(self.array);
        let mut sites = analyzed.sites().iter().filter(is_own);
        sites.all(|it| analyzed.stays_in_range(it))
    }

    /// That all rows that may be accessed are some of the array: what lies behind these in memory
    /// may be there, too. `None` where nobody can tell, or where they are not.
    fn rows_are_there(&self, shape: &Shape) -> Result<Option<Vec<Condition>>, Overflow> {
        let Some(last) = last_rows(&self.kernel, self.array, shape)? else {
            return Ok(None);
        };
        let Some(rows) = self.extents.first() else {
            return Ok(None);
        };
        let mut conditions = Vec::new();
        for last in last {
            if rows.minus(&last)?.as_constant().is_some_and(|it| it <= 0) {
                return Ok(None);
            }
            conditions.push(Condition::below(last, rows.clone()));
        }
        Ok(Some(conditions))
    }

    fn rewrite(self) -> Kernel {
        let Self {
            mut kernel,
            array,
            extents,
            subscripts,
        } = self;
        let sites = visit::accesses(&kernel);
        let sites = sites.iter().filter(|it| it.access.array == array);
        let found: Vec<_> = sites
            .map(|it| it.access.subscripts.clone())
            .zip(subscripts)
            .collect();
        let change = &mut |access: &mut strew_affine::Access| {
            let known = found.iter().find(|(flat, _)| *flat == access.subscripts);
            if let Some((_, subscripts)) = known.filter(|_| access.array == array) {
                access.subscripts.clone_from(subscripts);
            }
        };
        for_each_access_mut(&mut kernel.body, change);
        if let Some(result) = &mut kernel.result {
            crate::tree::change_expr(result, &mut |expr| {
                if let Expr::Load(access) = expr {
                    change(access);
                }
            });
        }
        kernel.arrays[array].extents = extents;
        kernel
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_where_assumed, kernel, refuses};

    fn flat(body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, sizes: f64[n, m], a: f64[n * m]) {{
  affine.for i in 0..n {{ affine.for j in 0..m {{ {body} }} }}
}}"
        )
    }

    #[test]
    fn scheme() {
        let after = apply(
            &kernel(&flat("a[i * m + j] = sizes[i, j]")),
            "delinearize(a, [n, m])",
        );
        assert_eq!(
            after.to_string(),
            "kernel @k(n: i64, m: i64, sizes: f64[n, m], a: f64[n, m]) {
  affine.for i in 0..n {
    affine.for j in 0..m {
      a[i, j] = sizes[i, j]
    }
  }
}
"
        );
    }

    #[test]
    fn local_arrays_and_several_accesses() {
        let source = |array: &str, at: [&str; 3]| {
            let [first, second, third] = at;
            format!(
                "kernel @k(n: i64, m: i64, x: f64[n, m], y: f64[n, m]) {{
  alloc t: f64[{array}]
  affine.for i in 0..n {{ affine.for j in 0..m {{ t[{first}] = x[i, j] }} }}
  affine.for i2 in 0..n {{ affine.for j2 in 0..m {{ y[i2, j2] = t[{second}] + t[{third}] }} }}
}}"
            )
        };
        accepts(
            &source(
                "n * m",
                ["i * m + j", "i2 * m + m - 1 - j2", "(n - 1 - i2) * m + j2"],
            ),
            "delinearize(t, [n, m])",
            &source("n, m", ["i, j", "i2, m - 1 - j2", "n - 1 - i2, j2"]),
        );
    }

    #[test]
    fn what_parameters_decide_is_assumed() {
        let before = kernel(
            "kernel @k(k: i64, n: i64, x: f64[n], y: f64[n]) {
  alloc a: f64[n * 2]
  affine.for i in 0..n { affine.for j in 0..k { a[i * 2 + j] = x[i] + f64(j) } }
  affine.for i2 in 0..n { y[i2] = a[2 * i2] + a[2 * i2 + 1] }
}",
        );
        let after = apply(&before, "delinearize(a, [n, 2])");
        assert!(after.to_string().contains("assume (k - 1 < 2)"), "{after}");
        assert_same_where_assumed(&before, &after);
    }

    #[test]
    fn an_array_as_long_as_that_of_the_call_has_so_many_elements() {
        let source =
            "kernel @k(n: i64, m: i64, infer a_length: i64, a: f64[a_length], x: f64[n, m]) {
  affine.for i in 0..n { affine.for j in 0..m { a[i * m + j] = x[i, j] } }
}";
        let after = apply(&kernel(source), "delinearize(a, [n, m]) interchange(i, j)");
        assert_eq!(
            after.to_string(),
            "kernel @k(n: i64, m: i64, infer a_length: i64, a: f64[n, m] infer a_length, x: f64[n, m]) assume (n * m <= a_length) {
  affine.for j in 0..m {
    affine.for i in 0..n {
      a[i, j] = x[i, j]
    }
  }
}
"
        );
        let used = source.replace("x[i, j] }", "x[i, j] + f64(a_length) }");
        let before = kernel(&used);
        assert_same_where_assumed(&before, &apply(&before, "delinearize(a, [n, m])"));
        refuses(source, "delinearize(a, [m, n])", Unproven, "NotFlat");
    }

    #[test]
    fn refusals() {
        let refused = |body: &str, step: &str, verdict, name: &str| {
            refuses(&flat(body), step, verdict, name);
        };
        let body = "a[i * m + j] = 1.0";
        refused(body, "delinearize(a, [m, n])", Unproven, "NotFlat");
        refused(body, "delinearize(a, [n, n])", Misaddressed, "OtherShape");
        refused(
            body,
            "delinearize(sizes, [n, m])",
            Misaddressed,
            "OtherShape",
        );
        refused(body, "delinearize(b, [n, m])", Misaddressed, "NoSuchArray");
        refused(
            "a[i64(sizes[i, j])] = 1.0",
            "delinearize(a, [n, m])",
            Unproven,
            "NotFlat",
        );
        refused(
            "a[i * m + j + 1] = 1.0",
            "delinearize(a, [n, m])",
            Unproven,
            "NotFlat",
        );
    }
}
