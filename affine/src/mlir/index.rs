//! Affine expressions: as the `affine` dialect writes them where it takes them, else calculated.

use super::{Emitter, Typed, Unsupported};
use crate::{AffineExpr, Condition, Factor, Relation, Term, Type, Variable};

/// The values that an affine map is applied to.
#[derive(Default)]
pub(super) struct Operands {
    values: Vec<String>,
    /// Whether expressions name the values themselves instead of dimensions, as accesses do.
    are_inline: bool,
}

impl Operands {
    /// Those of expressions that name the values themselves.
    pub(super) fn inline() -> Self {
        Self {
            are_inline: true,
            ..Self::default()
        }
    }

    /// `(d0, d1)`
    pub(super) fn dimensions(&self) -> String {
        let names: Vec<_> = (0..self.values.len()).map(|it| format!("d{it}")).collect();
        format!("({})", names.join(", "))
    }

    /// `(%i, %n)`
    pub(super) fn values(&self) -> String {
        format!("({})", self.values.join(", "))
    }

    fn place(&mut self, value: &str) -> String {
        if self.are_inline {
            return value.to_owned();
        }
        let found = self.values.iter().position(|it| it == value);
        let place = found.unwrap_or_else(|| {
            self.values.push(value.to_owned());
            self.values.len() - 1
        });
        format!("d{place}")
    }
}

impl Emitter<'_> {
    /// Whether the `affine` dialect takes the expression here.
    pub(super) fn is_affine(&self, expr: &AffineExpr) -> bool {
        expr.terms()
            .iter()
            .all(|term| match term.factors.as_slice() {
                [Factor::Variable(Variable::Iter(iter))] => self.dimensions.contains(iter),
                [Factor::Variable(Variable::Param(scalar))] => self.sizes.contains_key(scalar),
                [Factor::FloorDiv(dividend, divisor) | Factor::Mod(dividend, divisor)] => {
                    self.is_affine(dividend) && divisor.as_constant().is_some_and(|it| it > 0)
                }
                _ => false,
            })
    }

    /// The expression over dimensions, whose values are added to `operands`.
    pub(super) fn affine(&self, expr: &AffineExpr, operands: &mut Operands) -> String {
        let terms = expr.terms().iter().map(|term| {
            let factors = term.factors.iter().map(|it| self.factor(it, operands));
            let factors: Vec<_> = factors.collect();
            match term.coefficient {
                1 => factors.join(" * "),
                coefficient => format!("{} * {coefficient}", factors.join(" * ")),
            }
        });
        let mut parts: Vec<_> = terms.collect();
        if expr.constant() != 0 || parts.is_empty() {
            parts.push(expr.constant().to_string());
        }
        parts.join(" + ")
    }

    fn factor(&self, factor: &Factor, operands: &mut Operands) -> String {
        match factor {
            Factor::Variable(variable) => operands.place(&self.variable_name(*variable)),
            Factor::FloorDiv(dividend, divisor) => {
                let (dividend, divisor) = (
                    self.affine(dividend, operands),
                    self.affine(divisor, operands),
                );
                format!("(({dividend}) floordiv {divisor})")
            }
            Factor::Mod(dividend, divisor) => {
                let (dividend, divisor) = (
                    self.affine(dividend, operands),
                    self.affine(divisor, operands),
                );
                format!("(({dividend}) mod {divisor})")
            }
        }
    }

    fn variable_name(&self, variable: Variable) -> String {
        let name = match variable {
            Variable::Iter(iter) => self.iters.get(&iter),
            Variable::Param(scalar) => self.sizes.get(&scalar),
        };
        name.cloned().unwrap_or_default()
    }

    /// The calculated value, of type `index`.
    pub(super) fn index(&mut self, expr: &AffineExpr) -> Result<String, Unsupported> {
        let mut sum: Option<String> = None;
        for term in expr.terms() {
            let term = self.term(term)?;
            sum = Some(match sum {
                None => term,
                Some(sum) => self.define(&format!("arith.addi {sum}, {term} : index")),
            });
        }
        Ok(match (sum, expr.constant()) {
            (Some(sum), 0) => sum,
            (None, constant) => self.index_constant(constant),
            (Some(sum), constant) => {
                let constant = self.index_constant(constant);
                self.define(&format!("arith.addi {sum}, {constant} : index"))
            }
        })
    }

    fn term(&mut self, term: &Term) -> Result<String, Unsupported> {
        let mut product: Option<String> = None;
        for factor in &term.factors {
            let factor = self.calculated_factor(factor)?;
            product = Some(match product {
                None => factor,
                Some(product) => self.define(&format!("arith.muli {product}, {factor} : index")),
            });
        }
        Ok(match (product, term.coefficient) {
            (Some(product), 1) => product,
            (None, coefficient) => self.index_constant(coefficient),
            (Some(product), coefficient) => {
                let coefficient = self.index_constant(coefficient);
                self.define(&format!("arith.muli {product}, {coefficient} : index"))
            }
        })
    }

    fn calculated_factor(&mut self, factor: &Factor) -> Result<String, Unsupported> {
        let (dividend, divisor) = match factor {
            Factor::Variable(variable) => return Ok(self.variable_name(*variable)),
            Factor::FloorDiv(dividend, divisor) | Factor::Mod(dividend, divisor) => {
                (self.index(dividend)?, self.index(divisor)?)
            }
        };
        let quotient = self.define(&format!("arith.floordivsi {dividend}, {divisor} : index"));
        Ok(match factor {
            Factor::Mod(..) => {
                let whole = self.define(&format!("arith.muli {quotient}, {divisor} : index"));
                self.define(&format!("arith.subi {dividend}, {whole} : index"))
            }
            _ => quotient,
        })
    }

    pub(super) fn index_constant(&mut self, value: i64) -> String {
        self.define(&format!("arith.constant {value} : index"))
    }

    /// An integer as `index`.
    pub(super) fn cast_to_index(&mut self, value: &Typed) -> String {
        let (name, ty) = (&value.name, super::type_name(value.ty));
        let operation = match value.ty {
            it if it.is_signed() => "arith.index_cast",
            _ => "arith.index_castui",
        };
        self.define(&format!("{operation} {name} : {ty} to index"))
    }

    /// An `index` as a number of the kernel's.
    pub(super) fn number_of_index(&mut self, index: &str) -> Typed {
        self.typed(
            Type::I64,
            &format!("arith.index_cast {index} : index to i64"),
        )
    }

    /// Whether the condition holds, calculated.
    pub(super) fn condition(&mut self, condition: &Condition) -> Result<String, Unsupported> {
        let (left, right) = (self.index(&condition.left)?, self.index(&condition.right)?);
        let predicate = match condition.relation {
            Relation::LessOrEqual => "sle",
            Relation::Less => "slt",
            Relation::Equal => "eq",
        };
        Ok(self.define(&format!("arith.cmpi {predicate}, {left}, {right} : index")))
    }

    /// The condition as a constraint of an integer set.
    pub(super) fn constraint(
        &self,
        condition: &Condition,
        operands: &mut Operands,
    ) -> Result<String, Unsupported> {
        let left = self.affine(&condition.left, operands);
        let right = self.affine(&condition.right, operands);
        Ok(match condition.relation {
            Relation::LessOrEqual => format!("{left} <= {right}"),
            // There is no word for it.
            Relation::Less => format!("{right} - 1 >= {left}"),
            Relation::Equal => format!("{left} == {right}"),
        })
    }

    /// The extents of an array, calculated.
    pub(super) fn extents(&mut self, extents: &[AffineExpr]) -> Result<Vec<String>, Unsupported> {
        extents.iter().map(|it| self.index(it)).collect()
    }
}
