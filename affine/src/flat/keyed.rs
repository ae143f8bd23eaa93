//! Rows that data pick out of a flat array: `a[key[i] * m + j]` is `a[key[i], j]`.
//!
//! Which row it is nobody knows beforehand, so rows are all that the array has room for, and a key
//! that is none of them is out of range in either form. Numbers of fewer than 64 bits may wrap on
//! the way to a flat subscript, and so come to an element where the row is out of range; who runs
//! the kernel in rows has to look at such a fault again, in the form that is flat.

use super::apart::stay_within;
use super::sizes::divided;
use super::{Understood, understood};
use crate::visit::{AccessSite, Loop, accesses, arrays_written_in, bound_to};
use crate::{
    AffineExpr, ArrayId, BinaryOp, Condition, Expr, Kernel, Overflow, Subscript, Type, Variable,
};

/// A flat array in rows.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedShape {
    /// The row and the column of each access, in the order of [`accesses`].
    pub subscripts: Vec<[Subscript; 2]>,
    /// What has to hold so that the columns stay within the size of a row, but for what always
    /// does.
    pub conditions: Vec<Condition>,
}

/// A subscript as so many rows and a column.
struct Parts<'k> {
    row: &'k Expr,
    size: AffineExpr,
    column: AffineExpr,
}

/// How many rows `array` has, and their size, over parameters, where an access goes along a row
/// that data pick; `None` where none does.
pub fn keyed_sizes(kernel: &Kernel, array: ArrayId) -> Option<[AffineExpr; 2]> {
    let [length] = kernel.arrays[array].extents.as_slice() else {
        return None;
    };
    let sites = accesses(kernel);
    let mut sites = sites.iter().filter(|it| it.access.array == array);
    let size = sites.find_map(|site| {
        let [Subscript::Computed(flat)] = site.access.subscripts.as_slice() else {
            return None;
        };
        let parts = Reader::new(kernel).parts(flat)?;
        let mut around = site.loops.iter();
        let goes_along = around.any(|it| parts.column.mentions(Variable::Iter(it.iter())));
        goes_along.then_some(parts.size)
    })?;
    let rows = match divided(length, &size).ok()? {
        (rows, rest) if rest == AffineExpr::default() => rows,
        _ => length.floordiv(&size).ok()?,
    };
    Some([rows, size])
}

/// The shape of `array` in rows of `size` elements, some of which data pick; `None` where the array
/// has several dimensions already, or where an access has another form.
///
/// # Errors
/// A coefficient leaves 64 bits.
pub fn keyed_shape(
    kernel: &Kernel,
    array: ArrayId,
    size: &AffineExpr,
) -> Result<Option<KeyedShape>, Overflow> {
    let mut shape = KeyedShape {
        subscripts: Vec::new(),
        conditions: Vec::new(),
    };
    let sites = accesses(kernel);
    for site in sites.iter().filter(|it| it.access.array == array) {
        let Some((subscripts, conditions)) = in_rows(kernel, site, size)? else {
            return Ok(None);
        };
        shape.subscripts.push(subscripts);
        for condition in conditions {
            if !shape.conditions.contains(&condition) {
                shape.conditions.push(condition);
            }
        }
    }
    Ok(Some(shape))
}

type InRows = ([Subscript; 2], Vec<Condition>);

fn in_rows(
    kernel: &Kernel,
    site: &AccessSite<'_>,
    size: &AffineExpr,
) -> Result<Option<InRows>, Overflow> {
    let inner = std::slice::from_ref(size);
    match site.access.subscripts.as_slice() {
        [Subscript::Affine(flat)] => {
            let found = understood(flat, inner, &site.loops)?;
            // A subscript that is a row under conditions is rather none.
            let found = found.filter(|it| it.conditions.is_empty());
            Ok(found.and_then(Understood::of_row))
        }
        [Subscript::Computed(flat)] => {
            let parts = Reader::new(kernel).parts(flat);
            let Some(Parts { row, column, .. }) = parts.filter(|it| it.size == *size) else {
                return Ok(None);
            };
            let conditions = within(&column, inner, &site.loops)?;
            let subscripts = [Subscript::Computed(row.clone()), Subscript::Affine(column)];
            Ok(conditions.map(|conditions| (subscripts, conditions)))
        }
        _ => Ok(None),
    }
}

fn within(
    column: &AffineExpr,
    inner: &[AffineExpr],
    loops: &[Loop<'_>],
) -> Result<Option<Vec<Condition>>, Overflow> {
    stay_within(&[AffineExpr::default(), column.clone()], inner, loops)
}

impl Understood {
    fn of_row(self) -> Option<InRows> {
        let [row, column] = <[AffineExpr; 2]>::try_from(self.subscripts).ok()?;
        let subscripts = [row, column].map(Subscript::Affine);
        Some((subscripts, self.conditions))
    }
}

struct Reader<'k> {
    kernel: &'k Kernel,
}

impl<'k> Reader<'k> {
    fn new(kernel: &'k Kernel) -> Self {
        Self { kernel }
    }

    fn parts(&self, flat: &'k Expr) -> Option<Parts<'k>> {
        match flat.without_widening(self.kernel) {
            Expr::Binary(BinaryOp::Add, left, right, _) => {
                let (parts, added) = match self.parts(left) {
                    Some(parts) => (parts, right),
                    None => (self.parts(right)?, left),
                };
                let column = parts.column.plus(&self.affine(added, &parts.size)?).ok()?;
                Some(Parts { column, ..parts })
            }
            Expr::Binary(BinaryOp::Sub, left, right, _) => {
                let parts = self.parts(left)?;
                let column = parts.column.minus(&self.affine(right, &parts.size)?).ok()?;
                Some(Parts { column, ..parts })
            }
            Expr::Binary(BinaryOp::Mul, left, right, _) => {
                let (row, size) = match self.size(right) {
                    Some(size) => (left, size),
                    None => (right, self.size(left)?),
                };
                let row = row.without_widening(self.kernel);
                row.ty(self.kernel).is_integer().then(|| Parts {
                    row,
                    size,
                    column: AffineExpr::default(),
                })
            }
            Expr::Local(local) => {
                let bound = bound_to(self.kernel, *local)?;
                self.can_move(bound).then(|| self.parts(bound))?
            }
            _ => None,
        }
    }

    /// Whether `expr` is the same wherever what it is bound to is visible.
    fn can_move(&self, expr: &Expr) -> bool {
        let is_fixed = match expr {
            Expr::Load(access) => !arrays_written_in(&self.kernel.body).contains(&access.array),
            Expr::Local(local) => !self.kernel.locals[*local].mutable,
            _ => true,
        };
        is_fixed && expr.operands().into_iter().all(|it| self.can_move(it))
    }

    /// A number or a parameter, where the arithmetic around it keeps it as it is.
    fn size(&self, expr: &Expr) -> Option<AffineExpr> {
        let expr = expr.without_widening(self.kernel);
        match expr {
            Expr::Param(param) => Some((*param).into()),
            _ => expr.as_integer().filter(|it| *it > 1).map(Into::into),
        }
    }

    /// What `expr` adds to a column, where it keeps to numbers up to `size` in its type.
    fn affine(&self, expr: &Expr, size: &AffineExpr) -> Option<AffineExpr> {
        match expr.without_widening(self.kernel) {
            Expr::Iter(iter) => Some((*iter).into()),
            Expr::Cast(to, inner) => match **inner {
                Expr::Iter(iter) => self.holds(*to, size).then(|| iter.into()),
                _ => None,
            },
            Expr::Binary(BinaryOp::Add, left, right, _) => {
                let left = self.affine(left, size)?;
                left.plus(&self.affine(right, size)?).ok()
            }
            other => other.as_integer().map(Into::into),
        }
    }

    fn holds(&self, ty: Type, size: &AffineExpr) -> bool {
        match (size.as_variable(), size.as_constant()) {
            (Some(Variable::Param(param)), _) => ty.holds_all_of(self.kernel.scalars[param].ty),
            (_, Some(constant)) => ty.holds((0, constant.into())),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    fn told(body: &str) -> Option<String> {
        let source = format!(
            "kernel @k(n: i64, m: i32, p: i64, length: i64, a: f64[length], key: i32[n], at: i64[n]) {{ {body} }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let array = kernel.array_params().next().expect("an array");
        let [rows, size] = keyed_sizes(&kernel, array)?;
        let shape = keyed_shape(&kernel, array, &size).expect("small numbers")?;
        let text = |subscript: &Subscript| match subscript {
            Subscript::Affine(expr) => text::affine(&kernel, expr),
            Subscript::Computed(expr) => text::expression(&kernel, expr),
        };
        let accesses = shape.subscripts.iter();
        let accesses: Vec<_> = accesses
            .map(|[row, column]| format!("[{}, {}]", text(row), text(column)))
            .collect();
        let [rows, size] = [rows, size].map(|it| text::affine(&kernel, &it));
        Some(format!("{} of {rows}, {size}", accesses.join(" ")))
    }

    #[track_caller]
    fn shows(body: &str, shape: &str) {
        assert_eq!(told(body).as_deref(), Some(shape), "{body}");
    }

    fn in_loops(subscript: &str) -> String {
        format!("affine.for i in 0..n {{ affine.for j in 0..m {{ a[{subscript}] = 1.0 }} }}")
    }

    #[test]
    fn keys_pick_rows() {
        for (subscript, shape) in [
            ("key[i] * m + i32(j)", "[key[i], j] of length floordiv m, m"),
            (
                "i64(key[i]) * i64(m) + j",
                "[key[i], j] of length floordiv m, m",
            ),
            ("j + i64(m) * at[i]", "[at[i], j] of length floordiv m, m"),
            (
                "(key[i] - 1) * m + i32(j)",
                "[key[i] - 1, j] of length floordiv m, m",
            ),
            (
                "i64(key[i] * m + i32(j))",
                "[key[i], j] of length floordiv m, m",
            ),
        ] {
            shows(&in_loops(subscript), shape);
        }
        shows(
            "affine.for i in 0..n { affine.for c in 1..8 { a[at[i] * 8 + c - 1] = a[at[i] * 8 + 7] } }",
            "[at[i], 7] [at[i], c - 1] of length floordiv 8, 8",
        );
    }

    #[test]
    fn a_row_may_have_a_name() {
        let row = "affine.for i in 0..n { let row: i64 = at[i] * i64(m) affine.for j in 0..m { a[row + j] = 1.0 } }";
        shows(row, "[at[i], j] of length floordiv m, m");
        let moved = row.replace("at[i] *", "i64(a[i]) *");
        assert_eq!(told(&moved), None, "the key is written");
    }

    #[test]
    fn others_may_be_rows_by_numbers() {
        let body = "affine.for i in 0..n { affine.for j in 0..m { a[key[i] * m + i32(j)] = a[i * m + j] } }";
        shows(body, "[i, j] [key[i], j] of length floordiv m, m");
    }

    #[test]
    fn what_is_no_row() {
        for subscript in [
            "key[i] * m + i32(j) + 1",
            "key[i] * m + key[j]",
            "key[i] + i32(j)",
            "i64(i16(key[i]) * i16(m) + i16(j))",
        ] {
            assert_eq!(told(&in_loops(subscript)), None, "{subscript}");
        }
        let nothing_along = "affine.for i in 0..n { a[key[i] * m] = 1.0 }";
        assert_eq!(told(nothing_along), None);
        let other =
            "affine.for i in 0..n { affine.for j in 0..m { a[key[i] * m + i32(j)] = a[i] } }";
        assert_eq!(told(other), None);
    }
}
