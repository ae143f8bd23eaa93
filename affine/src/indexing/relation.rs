//! Indexing maps as relations of variables and results, and back.

use super::{Constraint, Declaration, IndexExpr, IndexingError, IndexingMap, Interval, Variable};
use crate::sets::{Conjunction, Row, Set, Space, Unknown};

/// Why a map is no set that can be written down, or a set no map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    /// Variables are multiplied with each other, or divided by.
    #[error("a product of variables, or a division by one, is not linear")]
    NotLinear,
    /// The minima and maxima give too many cases.
    #[error("minima and maxima give more than {MAX_CASES} cases")]
    TooManyCases,
    /// The set is no relation, has parameters, or is a union of several conjunctions.
    #[error("a map is a relation of one conjunction without parameters")]
    NotOneRelation,
    /// An output does not follow from the inputs.
    #[error("output {0} is no quasi-affine expression of the inputs")]
    NotAFunction(usize),
    /// An existential is neither a quotient nor a multiple.
    #[error("an existential is neither a quotient nor the factor of a multiple")]
    Existential,
    /// A coefficient leaves its range.
    #[error(transparent)]
    Arithmetic(#[from] Unknown),
    /// The map cannot be built.
    #[error(transparent)]
    Indexing(#[from] IndexingError),
}

/// Minima and maxima become as many conjunctions at most.
const MAX_CASES: usize = 256;

type Converted<T> = Result<T, ConversionError>;

impl IndexingMap {
    /// The relation of all variables (dimensions, ranges, runtime) to the results: one output for
    /// each. Bounds of 64 bits count as no bounds.
    ///
    /// # Errors
    /// Why there is none.
    pub fn to_set(&self) -> Converted<Set> {
        let inputs = self.variable_names();
        let mut outputs: Vec<String> = Vec::new();
        for position in 0..self.results().len() {
            let mut name = format!("r{position}");
            while inputs.contains(&name) {
                name.push('_');
            }
            outputs.push(name);
        }
        let space = Space::relation(Vec::new(), inputs, outputs);
        if self.is_known_empty() {
            return Ok(Set::empty(space));
        }
        let mut cases = Cases {
            map: self,
            all: vec![Conjunction::universe(space.width())],
        };
        for (column, bounds) in self.box_bounds().into_iter().enumerate() {
            cases.confine(&Row::column(column), bounds)?;
        }
        for constraint in self.constraints() {
            let row = cases.row(&constraint.expr)?;
            cases.confine(&row, constraint.bounds)?;
        }
        let first = self.variables().count();
        for (result, column) in self.results().iter().zip(first..) {
            let row = cases.row(result)?;
            let row = row.minus(&Row::column(column))?;
            cases.each(|it| it.add_equality(row.clone()));
        }
        Ok(Set::new(space, cases.all))
    }

    /// The map of a relation whose outputs follow from its inputs, which become dimensions.
    ///
    /// # Errors
    /// Why there is none.
    pub fn from_set(set: &Set) -> Converted<Self> {
        let space = set.space();
        let Some(inputs) = space.inputs().filter(|_| space.parameters().is_empty()) else {
            return Err(ConversionError::NotOneRelation);
        };
        match set.conjunctions() {
            [] => Ok(Self::known_empty()),
            [conjunction] => Inverse::of(conjunction, inputs)?.map(space),
            _ => Err(ConversionError::NotOneRelation),
        }
    }
}

/// Conjunctions with the same existentials, one for each choice of operands of minima and maxima.
struct Cases<'m> {
    map: &'m IndexingMap,
    all: Vec<Conjunction>,
}

impl Cases<'_> {
    fn each(&mut self, change: impl Fn(&mut Conjunction)) {
        self.all.iter_mut().for_each(change);
    }

    fn confine(&mut self, row: &Row, bounds: Interval) -> Converted<()> {
        if bounds.low != i64::MIN {
            let above = row.offset(-i128::from(bounds.low))?;
            self.each(|it| it.add_inequality(above.clone()));
        }
        if bounds.high != i64::MAX {
            let below = row.scaled(-1)?.offset(bounds.high.into())?;
            self.each(|it| it.add_inequality(below.clone()));
        }
        Ok(())
    }

    fn quotient(&mut self, row: &Row, divisor: i128) -> Converted<Row> {
        let mut column = 0;
        for conjunction in &mut self.all {
            column = conjunction.add_quotient(row, divisor)?;
        }
        Ok(Row::column(column))
    }

    fn row(&mut self, expr: &IndexExpr) -> Converted<Row> {
        match expr {
            IndexExpr::Constant(value) => Ok(i128::from(*value).into()),
            IndexExpr::Variable(variable) => Ok(Row::column(self.map.slot(*variable))),
            IndexExpr::Product(_) => Err(ConversionError::NotLinear),
            IndexExpr::FloorDiv(pair) => {
                let (row, divisor) = self.division(pair)?;
                self.quotient(&row.scaled(divisor.signum())?, divisor.abs())
            }
            IndexExpr::CeilDiv(pair) => {
                let (row, divisor) = self.division(pair)?;
                let negated = self.quotient(&row.scaled(-divisor.signum())?, divisor.abs())?;
                Ok(negated.scaled(-1)?)
            }
            IndexExpr::Mod(pair) => {
                let (row, divisor) = self.division(pair)?;
                let quotient = self.quotient(&row.scaled(divisor.signum())?, divisor.abs())?;
                Ok(row.combined(1, &quotient, -divisor)?)
            }
            IndexExpr::Min(operands) => self.extreme(operands, -1),
            IndexExpr::Max(operands) => self.extreme(operands, 1),
            IndexExpr::Sum(sum) => {
                let mut total = Row::from(i128::from(sum.constant()));
                for term in sum.terms() {
                    let row = self.row(&term.expr)?;
                    total = total.combined(1, &row, term.coefficient.into())?;
                }
                Ok(total)
            }
        }
    }

    fn division(&mut self, pair: &[IndexExpr; 2]) -> Converted<(Row, i128)> {
        let [left, right] = pair;
        let divisor = right.as_constant().filter(|it| *it != 0);
        let divisor = divisor.ok_or(ConversionError::NotLinear)?;
        Ok((self.row(left)?, divisor.into()))
    }

    /// The greatest of the operands, or the least when `sign` is negative.
    fn extreme(&mut self, operands: &[IndexExpr], sign: i128) -> Converted<Row> {
        let rows = operands.iter().map(|it| self.row(it));
        let rows = rows.collect::<Converted<Vec<_>>>()?;
        let mut column = 0;
        for conjunction in &mut self.all {
            column = conjunction.add_existential();
        }
        let value = Row::column(column);
        let mut all = Vec::new();
        for chosen in &rows {
            for case in &self.all {
                let mut case = case.clone();
                case.add_equality(value.minus(chosen)?);
                for other in &rows {
                    case.add_inequality(value.minus(other)?.scaled(sign)?);
                }
                all.push(case);
            }
        }
        self.all = all;
        if self.all.len() > MAX_CASES {
            return Err(ConversionError::TooManyCases);
        }
        Ok(value)
    }
}

/// What the columns of a conjunction are in terms of its inputs.
struct Inverse<'c> {
    conjunction: &'c Conjunction,
    inputs: usize,
    columns: Vec<Option<IndexExpr>>,
    constraints: Vec<Constraint>,
}

impl<'c> Inverse<'c> {
    fn of(conjunction: &'c Conjunction, inputs: usize) -> Converted<Self> {
        let mut columns: Vec<Option<IndexExpr>> = (0..inputs)
            .map(|it| Some(IndexExpr::dimension(it)))
            .collect();
        columns.resize(conjunction.columns(), None);
        let mut inverse = Self {
            conjunction,
            inputs,
            columns,
            constraints: Vec::new(),
        };
        while inverse.define_one()? {}
        Ok(inverse)
    }

    /// Defines a column by those that are known; says whether there was one.
    fn define_one(&mut self) -> Converted<bool> {
        for column in 0..self.columns.len() {
            if self.columns.get(column).is_some_and(Option::is_some) {
                continue;
            }
            let defined = match self.by_equality(column)? {
                Some(expr) => Some(expr),
                None => self.by_quotient(column)?,
            };
            if defined.is_some() {
                if let Some(slot) = self.columns.get_mut(column) {
                    *slot = defined;
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn by_equality(&self, column: usize) -> Converted<Option<IndexExpr>> {
        for row in self.conjunction.equalities() {
            let coefficient = row.coefficient(column);
            if coefficient.abs() == 1
                && let Some(rest) = self.expression(row, Some(column))?
            {
                let sign = if coefficient > 0 { -1 } else { 1 };
                return Ok(Some(rest.scaled(sign)?));
            }
        }
        Ok(None)
    }

    /// `0 <= rest - divisor * column < divisor` makes the column `rest floordiv divisor`.
    fn by_quotient(&self, column: usize) -> Converted<Option<IndexExpr>> {
        let rows = self.conjunction.inequalities();
        for below in rows.iter().filter(|row| row.coefficient(column) < 0) {
            let divisor = below.coefficient(column).saturating_neg();
            let above = below.scaled(-1)?.offset(divisor - 1)?;
            if rows.contains(&above)
                && let Some(rest) = self.expression(below, Some(column))?
            {
                let divisor = short(divisor)?;
                return Ok(Some(rest.floordiv(&divisor.into())?));
            }
        }
        Ok(None)
    }

    /// The row without a column, if all others are known.
    fn expression(&self, row: &Row, without: Option<usize>) -> Converted<Option<IndexExpr>> {
        let mut terms = Vec::new();
        for (column, coefficient) in row.terms().filter(|(it, _)| Some(*it) != without) {
            let Some(Some(expr)) = self.columns.get(column) else {
                return Ok(None);
            };
            terms.push((expr.clone(), short(coefficient)?));
        }
        Ok(Some(IndexExpr::sum(terms, short(row.constant())?)?))
    }

    fn map(mut self, space: &Space) -> Converted<IndexingMap> {
        let outputs = self.conjunction.width() - self.inputs;
        let mut results = Vec::new();
        for position in 0..outputs {
            let column = self.columns.get(self.inputs + position).cloned().flatten();
            results.push(column.ok_or(ConversionError::NotAFunction(position))?);
        }
        for row in self.conjunction.equalities() {
            self.constrain_equal(row)?;
        }
        for row in self.conjunction.inequalities() {
            let expr = self.expression(row, None)?;
            let expr = expr.ok_or(ConversionError::Existential)?;
            self.constraints.push(Constraint {
                expr,
                bounds: Interval::new(0, i64::MAX),
            });
        }
        let names = space.dimensions().iter().take(self.inputs).enumerate();
        let declared = names.map(|(position, name)| {
            let variable = Variable::new(super::VariableKind::Dimension, position);
            let own = *name != variable.default_name();
            Declaration {
                bounds: Interval::ALL,
                name: own.then(|| name.clone()),
            }
        });
        let (declared, constraints) = (declared.collect(), self.constraints);
        Ok(IndexingMap::new(declared, Vec::new(), Vec::new(), results, constraints)?.simplified())
    }

    fn constrain_equal(&mut self, row: &Row) -> Converted<()> {
        let constraint = match self.expression(row, None)? {
            Some(expr) => Constraint {
                expr,
                bounds: Interval::point(0),
            },
            None => self.multiple(row)?,
        };
        if constraint.expr.as_constant() != Some(0) {
            self.constraints.push(constraint);
        }
        Ok(())
    }

    /// The remainder that `row` states, which says no more than that the rest is a multiple.
    fn multiple(&self, row: &Row) -> Converted<Constraint> {
        let conjunction = self.conjunction;
        let mut terms = row.terms();
        let unknown =
            terms.find(|(column, _)| self.columns.get(*column).is_some_and(Option::is_none));
        let (column, divisor) = unknown.ok_or(ConversionError::Existential)?;
        let equalities = conjunction.equalities().iter();
        let rows = equalities.chain(conjunction.inequalities());
        let is_alone = rows.filter(|it| it.coefficient(column) != 0).count() == 1;
        let divisor = short(divisor.saturating_abs())?;
        let rest = row.offset(row.constant().saturating_neg())?;
        let rest = self.expression(&rest, Some(column))?;
        let rest = rest.filter(|_| is_alone);
        let rest = rest.ok_or(ConversionError::Existential)?;
        let remainder = short(row.constant())?.checked_neg().unwrap_or(0);
        Ok(Constraint {
            expr: rest.modulo(&divisor.into())?,
            bounds: Interval::point(remainder.rem_euclid(divisor)),
        })
    }
}

fn short(value: i128) -> Converted<i64> {
    i64::try_from(value).map_err(|_| ConversionError::Arithmetic(Unknown::Overflow))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::indexing::parse_map;
    use crate::sets::{Budget, parse_set};

    fn converted(text: &str) -> Set {
        let map = parse_map(text).expect("a map");
        map.to_set().expect("a set")
    }

    #[track_caller]
    fn is_relation(text: &str, expected: &str) {
        let (set, expected) = (converted(text), parse_set(expected).expect("a set"));
        assert_eq!(
            set.is_equal(&expected, &mut Budget::default()),
            Ok(true),
            "{set}"
        );
    }

    #[test]
    fn maps_are_relations_of_variables_and_results() {
        is_relation(
            "(i, j)[s] -> (i + s, j floordiv 3), domain: i in [0, 9], j in [0, 8], s in [1, 2], (i + j) mod 2 in [0, 0]",
            "{ [i, j, s] -> [a, b] : 0 <= i <= 9 and 0 <= j <= 8 and 1 <= s <= 2 and (i + j) mod 2 = 0 \
             and a = i + s and 3b <= j < 3b + 3 }",
        );
        is_relation(
            "(i) -> (min(i, 4), max(i ceildiv -2, -1)), domain: i in [0, 9]",
            "{ [i] -> [a, b] : 0 <= i <= 9 and b = (-i) ceildiv 2 and a <= 4 and a <= i and (a = 4 or a = i) and b >= -1; \
               [i] -> [a, -1] : 4 <= i <= 9 and a = 4; [i] -> [i, -1] : 2 <= i <= 3 }",
        );
        assert_eq!(converted("known empty").conjunctions().len(), 0);
    }

    #[test]
    fn what_is_not_linear_is_no_set() {
        let map = parse_map("(i, j) -> (i * j), domain: i in [0, 9], j in [0, 9]").expect("a map");
        assert_eq!(map.to_set(), Err(ConversionError::NotLinear));
        let set = parse_set("{ [i] -> [j] : 0 <= j <= i <= 9 }").expect("a set");
        assert_eq!(
            IndexingMap::from_set(&set),
            Err(ConversionError::NotAFunction(0))
        );
        let set = parse_set("[n] -> { [i] -> [n] }").expect("a set");
        assert_eq!(
            IndexingMap::from_set(&set),
            Err(ConversionError::NotOneRelation)
        );
    }

    #[test]
    fn a_map_comes_back_from_its_relation() {
        for text in [
            "(d0, d1) -> (d0 * 3 + d1), domain: d0 in [0, 9], d1 in [0, 2]",
            "(i, j) -> (i floordiv 4, j - i mod 4), domain: i in [0, 19], j in [-3, 3], i + j in [2, 9]",
            "(d0) -> (-(d0 ceildiv 3), 7), domain: d0 in [0, 19], d0 mod 2 in [1, 1]",
            "(d0) -> ((d0 floordiv 2) floordiv 3), domain: d0 in [-20, 19]",
            "known empty",
        ] {
            let map = parse_map(text).expect("a map");
            let back = IndexingMap::from_set(&map.to_set().expect("a set")).expect("a map");
            for first in -25..25 {
                for second in if map.dimensions().len() == 2 {
                    -5..5
                } else {
                    0..1
                } {
                    let point = [first, second];
                    let point = &point[..map.dimensions().len()];
                    assert_eq!(back.evaluate(point), map.evaluate(point), "{text}: {back}");
                }
            }
        }
    }

    #[test]
    fn a_relation_with_strides_becomes_a_map() {
        let set =
            parse_set("{ [i, k] -> [j, k] : 2j = i - 1 and 0 <= i <= 9 and exists e : k = 3e }");
        let set = set
            .expect("a set")
            .without_existentials(&mut Budget::default());
        let map = IndexingMap::from_set(&set.expect("an answer"));
        assert_eq!(map, Err(ConversionError::NotAFunction(0)));
        let set =
            parse_set("{ [i, k] -> [i + 1, k] : 0 <= i <= 9 and 0 <= k <= 9 and k mod 3 = 1 }");
        let map = IndexingMap::from_set(&set.expect("a set")).expect("a map");
        assert_eq!(
            map.to_string(),
            "(i, k) -> (i + 1, k), domain: i in [0, 9], k in [1, 7], k mod 3 in [1, 1]"
        );
    }
}
