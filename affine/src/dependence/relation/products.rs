//! Products of iterators and parameters, such as where a tile begins whose size is a parameter.

use super::{Checked, End, MOST_CASES, Relation, Value};
use crate::sets::{Budget, Conjunction, Row};
use crate::{AffineExpr, Factor, IterId, Variable};

/// How much work one question about the sign of parameters may take, in rows.
const ROWS: u64 = 1000;

/// The product of an iterator at both ends, and what it is multiplied by.
struct Product {
    source: usize,
    sink: usize,
    by: Row,
}

impl Relation<'_, '_> {
    /// Adds what is known of the difference of products of one iterator by what is not negative: it
    /// is nothing in one iteration, and else at least one times that: `(i' - i) p >= p` for
    /// `i' > i`, and `p + (i' - i) - 1` if `p` is positive, since `(i' - i - 1) (p - 1)` is not
    /// negative then.
    pub(super) fn products(&mut self) -> Checked<()> {
        for depth in 0..self.source.common_depth(self.sink) {
            let products = self.products_at(depth)?;
            if products.is_empty() || self.cases.len() * 3 > MOST_CASES {
                continue;
            }
            let ahead = self.difference(depth)?;
            let mut cases = Vec::new();
            for case in &self.cases {
                let bounds = products.iter().map(|it| least(case, &it.by));
                let bounds: Vec<_> = bounds.collect::<Checked<_>>()?;
                for sign in [-1, 0, 1] {
                    let mut signed = case.clone();
                    match sign {
                        0 => signed.add_equality(ahead.clone()),
                        _ => signed.add_inequality(ahead.scaled(sign)?.offset(-1)?),
                    }
                    for (product, least) in products.iter().zip(&bounds) {
                        product.add_to(&mut signed, *least, (sign, &ahead))?;
                    }
                    cases.push(signed);
                }
            }
            self.cases = cases;
        }
        Ok(())
    }

    fn products_at(&mut self, depth: usize) -> Checked<Vec<Product>> {
        let Some(iter) = self.source_levels.get(depth).and_then(|it| it.iter()) else {
            return Ok(Vec::new());
        };
        let found = self.opaques.iter().filter_map(|it| match &it.value {
            Value::Product(factors) => Some((it.end, it.column, others(factors, iter)?)),
            _ => None,
        });
        let found: Vec<_> = found.collect();
        let mut products = Vec::new();
        for (end, source, by) in &found {
            let is_other = |it: &&(End, usize, Vec<Factor>)| it.0 == End::Sink && it.2 == *by;
            if *end == End::Source
                && let Some((_, sink, _)) = found.iter().find(is_other)
            {
                let by = match by.as_slice() {
                    [factor] => self.factor(End::Source, factor)?,
                    several => self.product(End::Source, several),
                };
                products.push(Product {
                    source: *source,
                    sink: *sink,
                    by,
                });
            }
        }
        Ok(products)
    }
}

/// What `iter` is multiplied by, if that is made of parameters alone.
fn others(factors: &[Factor], iter: IterId) -> Option<Vec<Factor>> {
    let alone = Factor::Variable(Variable::Iter(iter));
    let (of_iter, others): (Vec<_>, Vec<_>) = factors.iter().cloned().partition(|it| *it == alone);
    let mut parameters = others.iter().cloned().map(AffineExpr::from_factor);
    let is_product = of_iter.len() == 1 && !others.is_empty();
    (is_product && parameters.all(|it| it.is_over_parameters())).then_some(others)
}

impl Product {
    fn add_to(
        &self,
        signed: &mut Conjunction,
        least: Option<i128>,
        (sign, ahead): (i128, &Row),
    ) -> Checked<()> {
        let difference = Row::column(self.sink).minus(&Row::column(self.source))?;
        if sign == 0 {
            signed.add_equality(difference);
            return Ok(());
        }
        let rises = difference.scaled(sign)?.minus(&self.by)?;
        match least {
            Some(1..) => {
                let turns = ahead.scaled(sign)?.offset(-1)?;
                signed.add_inequality(rises.minus(&turns)?);
            }
            Some(_) => signed.add_inequality(rises),
            None => {}
        }
        Ok(())
    }
}

/// Which of 1 and 0 `row` is at least at all points of `case`, if one of them.
fn least(case: &Conjunction, row: &Row) -> Checked<Option<i128>> {
    for least in [1, 0] {
        if is_at_least(case, row, least)? {
            return Ok(Some(least));
        }
    }
    Ok(None)
}

/// Whether `row` is at least `least` at all points of `case`.
fn is_at_least(case: &Conjunction, row: &Row, least: i128) -> Checked<bool> {
    let mut below = case.clone();
    below.add_inequality(row.scaled(-1)?.offset(least - 1)?);
    Ok(below.is_empty(&mut Budget::new(ROWS)) == Ok(true))
}
