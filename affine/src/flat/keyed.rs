//! Rows and columns that data pick out of a flat array: `a[key[i] * m + j]` is `a[key[i], j]`, and
//! `a[i * m + key[j]]` is `a[i, key[j]]`.
//!
//! Which row it is nobody knows beforehand, so rows are all that the array has room for, and a key
//! that is none of them is out of range in either form. Numbers of fewer than 64 bits may wrap on
//! the way to a flat subscript, and so come to an element where the row is out of range, and a key
//! that is no column may come to another row: who runs the kernel in rows has to look at such a
//! fault again, in the form that is flat.

use super::apart::{extreme, stay_within};
use super::sizes::divided;
use super::{Understood, add_new, understood};
use crate::visit::{AccessSite, Loop, accesses, arrays_written_in, bound_to, reads_array};
use crate::{
    AffineExpr, ArrayId, BinaryOp, Condition, Expr, Kernel, Overflow, ScalarId, Subscript, Type,
    Variable,
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
    column: Column<'k>,
    /// The types of fewer than 64 bits that it is computed in.
    narrow: Vec<Type>,
    /// What keeps what is added to the row as it is.
    conditions: Vec<Condition>,
}

/// What is added to a row.
enum Column<'k> {
    Affine(AffineExpr),
    Key(&'k Expr),
}

/// How many rows `array` has, and their size, over parameters, where an access goes along a row
/// that data pick, or where one that writes has a row of its own in each turn of a loop and data
/// pick the column; `None` where none does.
pub fn keyed_sizes(kernel: &Kernel, array: ArrayId) -> Option<[AffineExpr; 2]> {
    let [length] = kernel.arrays[array].extents.as_slice() else {
        return None;
    };
    let is_written = arrays_written_in(&kernel.body).contains(&array);
    let sites = accesses(kernel);
    let mut sites = sites.iter().filter(|it| it.access.array == array);
    let size = sites.find_map(|site| {
        let [Subscript::Computed(flat)] = site.access.subscripts.as_slice() else {
            return None;
        };
        let reader = Reader::new(kernel, &site.loops);
        let parts = reader.parts(flat)?;
        let moves = |it: &AffineExpr| {
            let mut around = site.loops.iter();
            around.any(|around| it.mentions(Variable::Iter(around.iter())))
        };
        let is_meant = match &parts.column {
            Column::Affine(column) => moves(column),
            Column::Key(_) => {
                let row = reader.exact(parts.row, &mut Vec::new());
                is_written && row.as_ref().is_some_and(moves)
            }
        };
        is_meant.then_some(parts.size)
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
        add_new(&mut shape.conditions, conditions);
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
            let reader = Reader::new(kernel, &site.loops);
            let parts = reader.parts(flat).filter(|it| it.size == *size);
            match parts.filter(|_| !reads_array(flat, site.access.array)) {
                Some(parts) => reader.row_and_column(parts, site.access.array),
                None => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

impl Understood {
    fn of_row(self) -> Option<InRows> {
        let [row, column] = <[AffineExpr; 2]>::try_from(self.subscripts).ok()?;
        let subscripts = [row, column].map(Subscript::Affine);
        Some((subscripts, self.conditions))
    }
}

struct Reader<'k, 's> {
    kernel: &'k Kernel,
    loops: &'s [Loop<'k>],
}

impl<'k, 's> Reader<'k, 's> {
    fn new(kernel: &'k Kernel, loops: &'s [Loop<'k>]) -> Self {
        Self { kernel, loops }
    }

    /// The row and the column in `array`, with what keeps both what they are.
    fn row_and_column(&self, parts: Parts<'k>, array: ArrayId) -> Result<Option<InRows>, Overflow> {
        let mut conditions = parts.conditions;
        let subscripts = match parts.column {
            Column::Affine(column) => {
                let in_row = [AffineExpr::default(), column.clone()];
                let size = std::slice::from_ref(&parts.size);
                let Some(within) = stay_within(&in_row, size, self.loops)? else {
                    return Ok(None);
                };
                conditions.extend(within);
                [
                    Subscript::Computed(parts.row.clone()),
                    Subscript::Affine(column),
                ]
            }
            Column::Key(key) => {
                let Some(row) = self.exact(parts.row, &mut conditions) else {
                    return Ok(None);
                };
                [Subscript::Affine(row), Subscript::Computed(key.clone())]
            }
        };
        // Of an array that is not longer, no element is where a sum of these wraps.
        if let [length] = self.kernel.arrays[array].extents.as_slice() {
            let most = parts.narrow.iter().filter_map(|it| it.integer_range());
            let most = most.filter_map(|(_, it)| i64::try_from(it).ok());
            conditions.extend(most.map(|it| Condition::at_most(length.clone(), it)));
        }
        Ok(Some((subscripts, conditions)))
    }

    fn parts(&self, flat: &'k Expr) -> Option<Parts<'k>> {
        let flat = flat.without_widening(self.kernel);
        let mut parts = match flat {
            Expr::Binary(BinaryOp::Add, left, right, _) => match self.addend(left) {
                Some(parts) => self.added(parts, right)?,
                None => self.added(self.addend(right)?, left)?,
            },
            Expr::Binary(BinaryOp::Sub, left, right, _) => {
                let mut parts = self.addend(left)?;
                let less = self.exact(right, &mut parts.conditions)?;
                let Column::Affine(column) = parts.column else {
                    return None;
                };
                let column = Column::Affine(column.minus(&less).ok()?);
                Parts { column, ..parts }
            }
            Expr::Binary(BinaryOp::Mul, ..) => return self.product(flat),
            Expr::Local(local) => {
                let bound = bound_to(self.kernel, *local)?;
                return self.can_move(bound).then(|| self.addend(bound))?;
            }
            _ => return None,
        };
        parts.narrow = self.narrow(flat, parts.narrow);
        Some(parts)
    }

    /// The parts of what something is added to. A sum of fewer bits may wrap before it becomes one
    /// of more, whatever the whole comes to; a row by itself does not where it is one of the array.
    fn addend(&self, flat: &'k Expr) -> Option<Parts<'k>> {
        let parts = self.parts(flat)?;
        let is_widened = !std::ptr::eq(flat, flat.without_widening(self.kernel));
        let is_row = matches!(&parts.column, Column::Affine(it) if *it == AffineExpr::default());
        (is_row || !is_widened).then_some(parts)
    }

    /// `parts` and what is added to them.
    fn added(&self, mut parts: Parts<'k>, added: &'k Expr) -> Option<Parts<'k>> {
        let Column::Affine(column) = &parts.column else {
            return None;
        };
        parts.column = match self.exact(added, &mut parts.conditions) {
            Some(added) => Column::Affine(column.plus(&added).ok()?),
            None if *column == AffineExpr::default() => Column::Key(self.key(added)?),
            None => return None,
        };
        Some(parts)
    }

    /// A product of one row and sizes.
    fn product(&self, product: &'k Expr) -> Option<Parts<'k>> {
        let (mut row, mut size) = (None, AffineExpr::from(1));
        let mut narrow = Vec::new();
        let mut factors = vec![product];
        while let Some(factor) = factors.pop() {
            let factor = factor.without_widening(self.kernel);
            if let Expr::Binary(BinaryOp::Mul, left, right, _) = factor {
                narrow = self.narrow(factor, narrow);
                factors.extend([&**left, &**right]);
            } else if let Some(of_size) = self.size(factor) {
                size = size.times(&of_size).ok()?;
            } else if row.is_none() && factor.ty(self.kernel).is_integer() {
                row = Some(factor);
            } else {
                return None;
            }
        }
        let is_size = size.as_constant() != Some(1);
        row.filter(|_| is_size).map(|row| Parts {
            row,
            size,
            column: Column::Affine(AffineExpr::default()),
            narrow,
            conditions: Vec::new(),
        })
    }

    /// `known` and the type of `arithmetic`, if that may wrap.
    fn narrow(&self, arithmetic: &Expr, mut known: Vec<Type>) -> Vec<Type> {
        let ty = arithmetic.ty(self.kernel);
        if ty.bits() < 64 && !known.contains(&ty) {
            known.push(ty);
        }
        known
    }

    /// What data say, or what has a name.
    fn key(&self, expr: &'k Expr) -> Option<&'k Expr> {
        let key = expr.without_widening(self.kernel);
        let is_key = match key {
            Expr::Load(_) => true,
            Expr::Local(local) => !self.kernel.locals[*local].mutable,
            _ => false,
        };
        (is_key && key.ty(self.kernel).is_integer()).then_some(key)
    }

    /// What `expr` is in the loops around, where its arithmetic keeps to its types under
    /// `conditions`.
    fn exact(&self, expr: &Expr, conditions: &mut Vec<Condition>) -> Option<AffineExpr> {
        let value = match expr {
            Expr::Iter(iter) => (*iter).into(),
            Expr::Param(param) if self.is_counted(*param) => (*param).into(),
            Expr::Cast(_, inner) => self.exact(inner, conditions)?,
            Expr::Binary(op, left, right, _) => {
                let left = self.exact(left, conditions)?;
                let right = self.exact(right, conditions)?;
                match op {
                    BinaryOp::Add => left.plus(&right),
                    BinaryOp::Sub => left.minus(&right),
                    BinaryOp::Mul => left.times(&right),
                    _ => return None,
                }
                .ok()?
            }
            Expr::Local(local) => return self.exact(bound_to(self.kernel, *local)?, conditions),
            _ => expr.as_integer()?.into(),
        };
        let ty = expr.ty(self.kernel);
        if matches!(expr, Expr::Cast(..) | Expr::Binary(..)) && ty != Type::I64 {
            self.keep(&value, ty, conditions)?;
        }
        ty.is_integer().then_some(value)
    }

    /// Adds to `conditions` what keeps `value` in `ty`.
    fn keep(&self, value: &AffineExpr, ty: Type, conditions: &mut Vec<Condition>) -> Option<()> {
        let (least, most) = ty.integer_range()?;
        let opposite = value.scaled(-1).ok()?;
        for (value, most) in [(value, most), (&opposite, -least)] {
            let greatest = extreme(value, self.loops).ok()??;
            let is_kept = greatest
                .as_constant()
                .is_some_and(|it| i128::from(it) <= most);
            if !is_kept && most <= i64::MAX.into() {
                conditions.push(Condition::at_most(greatest, i64::try_from(most).ok()?));
            }
        }
        Some(())
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

    /// Whether every value of the parameter is one that affine expressions have.
    fn is_counted(&self, param: ScalarId) -> bool {
        Type::I64.holds_all_of(self.kernel.scalars[param].ty)
    }

    /// A number or a parameter, where the arithmetic around it keeps it as it is.
    fn size(&self, expr: &Expr) -> Option<AffineExpr> {
        let expr = expr.without_widening(self.kernel);
        match expr {
            Expr::Param(param) if self.is_counted(*param) => Some((*param).into()),
            _ => expr.as_integer().filter(|it| *it > 1).map(Into::into),
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
    fn keys_pick_columns() {
        for (subscript, shape) in [
            ("i32(i) * m + key[j]", "[i, key[j]] of length floordiv m, m"),
            ("i * p + at[j]", "[i, at[j]] of length floordiv p, p"),
            (
                "at[j] + i * p * i64(m)",
                "[i, at[j]] of length floordiv (m * p), m * p",
            ),
            (
                "(i * p + j) * 9 + at[i]",
                "[i * p + j, at[i]] of length floordiv 9, 9",
            ),
        ] {
            shows(&in_loops(subscript), shape);
        }
    }

    /// Rows that are read alone have nothing of which iterations could keep apart.
    #[test]
    fn columns_that_are_read_stay_flat() {
        let body = "affine.for i in 0..n { at_2[i] = a[i * p + at[i]] }";
        let source = format!(
            "kernel @k(n: i64, p: i64, length: i64, a: f64[length], at: i64[n], at_2: f64[n]) {{ {body} }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let array = kernel.array_params().next().expect("an array");
        assert_eq!(keyed_sizes(&kernel, array), None);
    }

    #[test]
    fn what_may_wrap_is_asked() {
        let source = "kernel @k(n: i64, m: i32, length: i64, a: f64[length], key: i32[n]) {
            affine.for i in 0..n { affine.for j in 0..m { a[i32(i) * m + key[j]] = 1.0 } } }";
        let kernel = text::parse(source).expect("a kernel").remove(0);
        let array = kernel.array_params().next().expect("an array");
        let [_, size] = keyed_sizes(&kernel, array).expect("rows");
        let shape = keyed_shape(&kernel, array, &size);
        let conditions = shape.expect("small numbers").expect("a shape").conditions;
        let told: Vec<_> = (conditions.iter().map(|it| text::condition(&kernel, it))).collect();
        assert_eq!(told, ["n - 1 <= 2147483647", "length <= 2147483647"]);
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
            "i * p + j + at[i]",
            "n * p + at[i]",
            "key[i] + i32(j)",
            "i64(i16(key[i]) * i16(m) + i16(j))",
            "i64(u32(key[i]) * u32(8) - u32(1)) + j",
            "i64(a[j]) * 8 + j",
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
