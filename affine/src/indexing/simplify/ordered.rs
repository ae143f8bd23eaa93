use super::express::put_positive_first;
use crate::indexing::{IndexExpr, Sum};

/// The same expression with the operands of sums, products and extrema in their canonical order.
pub(in crate::indexing) fn ordered(expr: &IndexExpr) -> IndexExpr {
    let all = |operands: &[IndexExpr]| {
        let mut operands: Vec<_> = operands.iter().map(ordered).collect();
        operands.sort_unstable();
        operands
    };
    let both = |pair: &[IndexExpr; 2]| Box::new([ordered(&pair[0]), ordered(&pair[1])]);
    match expr {
        IndexExpr::Constant(_) | IndexExpr::Variable(_) => expr.clone(),
        IndexExpr::Product(factors) => IndexExpr::Product(all(factors)),
        IndexExpr::FloorDiv(pair) => IndexExpr::FloorDiv(both(pair)),
        IndexExpr::CeilDiv(pair) => IndexExpr::CeilDiv(both(pair)),
        IndexExpr::Mod(pair) => IndexExpr::Mod(both(pair)),
        IndexExpr::Min(operands) => IndexExpr::Min(all(operands)),
        IndexExpr::Max(operands) => IndexExpr::Max(all(operands)),
        IndexExpr::Sum(sum) => {
            let mut terms = sum.terms.clone();
            for term in &mut terms {
                term.expr = ordered(&term.expr);
            }
            terms.sort_unstable();
            put_positive_first(&mut terms, |it| it.coefficient);
            IndexExpr::Sum(Sum {
                terms,
                constant: sum.constant,
            })
        }
    }
}
