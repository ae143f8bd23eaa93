//! What the operations of an expression calculate.

use super::index::in_range;
use super::token::Attributes;
use super::{Checked, Division, Known, ReadError, Reader, Token, labels, name_of};
use crate::mlir::expression::{counting_of, operation_of};
use crate::{
    AffineExpr, BinaryOp, CompareOp, Condition, Expr, Function, Relation, Span, Type, UnaryOp,
    Value, Variable,
};

impl<'t> Reader<'_, 't> {
    /// What the operation `word` makes.
    pub(super) fn value(&mut self, word: &str, span: Span) -> Checked<Known> {
        match word {
            "arith.constant" => self.constant(),
            "arith.index_cast" | "arith.index_castui" => self.index_cast(),
            "arith.select" => self.select(),
            "arith.cmpi" | "arith.cmpf" => self.compare(span),
            "arith.extsi" | "arith.extui" | "arith.trunci" | "arith.sitofp" | "arith.uitofp"
            | "arith.extf" | "arith.truncf" | "arith.bitcast" | "arith.fptosi" | "arith.fptoui" => {
                self.cast(word)
            }
            "arith.negf" => {
                let operand = self.expr()?;
                self.end_of_type()?;
                Ok(Known::Expr(Expr::unary(UnaryOp::Neg, operand)))
            }
            "scf.if" => self.choice(),
            "func.call" => self.call(span),
            _ => match word.strip_prefix("arith.") {
                Some(operation) => self.binary(operation, span),
                None => self.of_library(word, span),
            },
        }
    }

    /// `: i32`
    fn end_of_type(&mut self) -> Checked<&'t str> {
        self.tokens.expect(":")?;
        Ok(self.tokens.word()?.0)
    }

    fn constant(&mut self) -> Checked<Known> {
        let attributes = self.tokens.attributes()?;
        let span = self.tokens.here();
        let text = match self.tokens.next() {
            Some(Token::Word(text @ ("true" | "false"))) => {
                let truth = Value::bool(text == "true");
                return Ok(Known::Expr(Expr::Constant(truth)));
            }
            Some(Token::Number(text)) => text,
            _ => return Err(ReadError::new(span, "expected a number")),
        };
        let ty = self.end_of_type()?;
        if ty == "index" {
            let number: i64 = text
                .parse()
                .map_err(|_| ReadError::new(span, "expected a whole number"))?;
            return Ok(Known::Index(number.into(), Division::None));
        }
        if is_marked(&attributes, "threads") {
            return Ok(Known::Expr(Expr::Threads));
        }
        let ty = kernel_type(&attributes, ty, span)?;
        let value = number(text, ty);
        let value = value.ok_or_else(|| ReadError::new(span, format!("this is no {ty}")))?;
        Ok(Known::Expr(Expr::Constant(value)))
    }

    fn index_cast(&mut self) -> Checked<Known> {
        let (name, span) = self.tokens.value()?;
        self.end_of_type()?;
        self.tokens.expect("to")?;
        self.tokens.word()?;
        match self.current_value(name, span)? {
            Some(Known::Expr(Expr::Param(scalar))) if self.sizes.contains(&scalar) => {
                // Those before it that nothing needs may have been left out.
                while self.sizes.pop().is_some_and(|it| it != scalar) {}
                Ok(Known::Index(scalar.into(), Division::None))
            }
            Some(Known::Expr(expr)) => Ok(Known::Wide(expr)),
            Some(Known::Index(expr, _)) => match expr.as_variable() {
                Some(Variable::Iter(iter)) => Ok(Known::Expr(Expr::Iter(iter))),
                _ => Err(ReadError::new(span, format!("`%{name}` is no iterator"))),
            },
            _ => Err(ReadError::new(span, format!("`%{name}` is no number here"))),
        }
    }

    fn select(&mut self) -> Checked<Known> {
        let condition = self.expr()?;
        self.tokens.expect(",")?;
        let then = self.expr()?;
        self.tokens.expect(",")?;
        let (name, span) = self.tokens.value()?;
        self.end_of_type()?;
        match self.known.get(name).cloned() {
            Some(Known::Divided(op, left, right)) => {
                Ok(Known::Expr(Expr::binary(op, left, right, Span::default())))
            }
            Some(Known::Saturated(2, cast)) => Ok(Known::Expr(cast)),
            Some(Known::Saturated(ends, cast)) => Ok(Known::Saturated(ends + 1, cast)),
            Some(Known::Expr(otherwise)) => Ok(Known::Expr(chosen(condition, then, otherwise))),
            _ => Err(ReadError::new(span, format!("`%{name}` is no number here"))),
        }
    }

    /// `%c -> (f64) { … } else { … }`
    fn choice(&mut self) -> Checked<Known> {
        let condition = self.expr()?;
        self.tokens.expect("->")?;
        self.tokens.expect("(")?;
        self.tokens.word()?;
        self.tokens.expect(")")?;
        let then = self.side()?;
        self.tokens.expect("else")?;
        let otherwise = self.side()?;
        Ok(Known::Expr(chosen(condition, then, otherwise)))
    }

    fn side(&mut self) -> Checked<Expr> {
        self.tokens.expect("{")?;
        let span = self.tokens.here();
        let (nodes, end) = self.block()?;
        self.tokens.expect("}")?;
        match (nodes.is_empty(), end) {
            (true, Some(value)) => Ok(value),
            _ => Err(ReadError::new(
                span,
                "expected a value that is yielded and nothing else",
            )),
        }
    }

    /// `%a, %b {…} : f64`: what both names stand for, and the attributes.
    fn sides(&mut self) -> Checked<([Option<Known>; 2], Attributes<'t>)> {
        let (left, of_left) = self.tokens.value()?;
        self.tokens.expect(",")?;
        let (right, of_right) = self.tokens.value()?;
        let attributes = self.tokens.attributes()?;
        self.end_of_type()?;
        let left = self.current_value(left, of_left)?;
        let right = self.current_value(right, of_right)?;
        Ok(([left, right], attributes))
    }

    fn compare(&mut self, span: Span) -> Checked<Known> {
        let (predicate, _) = self.tokens.word()?;
        self.tokens.expect(",")?;
        let (sides, attributes) = self.sides()?;
        match sides {
            [Some(Known::Expr(left)), Some(Known::Expr(right))] => {
                if is_marked(&attributes, "bool") {
                    return Ok(Known::Expr(Expr::Cast(Type::Bool, Box::new(left))));
                }
                let op = match predicate {
                    "oeq" | "eq" => CompareOp::Eq,
                    "une" | "ne" => CompareOp::Ne,
                    "olt" | "slt" | "ult" => CompareOp::Lt,
                    "ole" | "sle" | "ule" => CompareOp::Le,
                    "ogt" | "sgt" | "ugt" => CompareOp::Gt,
                    "oge" | "sge" | "uge" => CompareOp::Ge,
                    _ => return Err(ReadError::new(span, "strew prints no such comparison")),
                };
                Ok(Known::Expr(Expr::compare(op, left, right)))
            }
            [Some(Known::Index(left, _)), Some(Known::Index(right, _))] => {
                let relation = match predicate {
                    "sle" => Relation::LessOrEqual,
                    "slt" => Relation::Less,
                    "eq" => Relation::Equal,
                    _ => return Err(ReadError::new(span, "strew prints no such comparison")),
                };
                Ok(Known::Condition(Condition {
                    left,
                    relation,
                    right,
                }))
            }
            [Some(Known::Wide(_)), Some(Known::Index(..))] if predicate == "ult" => {
                Ok(Known::InRange)
            }
            _ => {
                let why = format!("strew does not read a comparison `{predicate}` of these");
                Err(ReadError::new(span, why))
            }
        }
    }

    fn cast(&mut self, word: &str) -> Checked<Known> {
        let operand = self.expr()?;
        let attributes = self.tokens.attributes()?;
        self.end_of_type()?;
        self.tokens.expect("to")?;
        let (to, span) = self.tokens.word()?;
        let is_known = attributes.iter().any(|(key, _)| *key == "strew.type");
        if word == "arith.bitcast" && !is_known {
            // It gives a value a name.
            self.labels = labels(&attributes);
            self.called = name_of(&attributes);
            return Ok(Known::Expr(operand));
        }
        let mut ty = kernel_type(&attributes, to, span)?;
        if word == "arith.fptoui" {
            ty = without_sign(ty);
        }
        let cast = Expr::Cast(ty, Box::new(operand));
        Ok(match word {
            "arith.fptosi" | "arith.fptoui" => Known::Saturated(0, cast),
            _ => Known::Expr(cast),
        })
    }

    fn call(&mut self, span: Span) -> Checked<Known> {
        let name = self.tokens.symbol()?;
        let operands = self.operands("(", ")")?;
        self.tokens.expect(":")?;
        self.tokens.expect("(")?;
        while !self.tokens.take(")") {
            self.tokens.word()?;
            self.tokens.take(",");
        }
        self.tokens.expect("->")?;
        let (ty, _) = self.tokens.word()?;
        let own = match ty {
            "f32" => name.strip_suffix('f').unwrap_or(name),
            _ => name,
        };
        let function = Function::from_name(own).filter(|it| it.operand_count() == operands.len());
        match function {
            Some(function) => Ok(Known::Expr(Expr::Call(function, operands))),
            None => Err(ReadError::new(
                span,
                format!("strew calls no function `{name}`"),
            )),
        }
    }

    fn operands(&mut self, first: &str, last: &str) -> Checked<Vec<Expr>> {
        self.tokens.expect(first)?;
        let mut operands = Vec::new();
        while !self.tokens.take(last) {
            operands.push(self.expr()?);
            self.tokens.take(",");
        }
        Ok(operands)
    }

    /// An operation of the dialect `math`.
    fn of_library(&mut self, word: &str, span: Span) -> Checked<Known> {
        let mut counting = UnaryOp::COUNTING.into_iter();
        if let Some(op) = counting.find(|it| counting_of(*it) == Some(word)) {
            let operand = self.expr()?;
            self.tokens.attributes()?;
            self.end_of_type()?;
            return Ok(Known::Expr(Expr::unary(op, operand)));
        }
        let mut all = Function::ALL.iter().copied();
        let function = all.find(|it| operation_of(*it) == Some(word));
        let unknown = || ReadError::new(span, format!("strew does not read `{word}`"));
        let function = function.ok_or_else(unknown)?;
        let mut operands = vec![self.expr()?];
        while self.tokens.take(",") {
            operands.push(self.expr()?);
        }
        let function = match is_marked(&self.tokens.attributes()?, "nearbyint") {
            true => Function::Nearbyint,
            false => function,
        };
        self.end_of_type()?;
        Ok(Known::Expr(Expr::Call(function, operands)))
    }

    fn binary(&mut self, operation: &str, span: Span) -> Checked<Known> {
        let (sides, attributes) = self.sides()?;
        match sides {
            [Some(Known::Expr(left)), Some(Known::Expr(right))] => {
                if is_marked(&attributes, "neg") {
                    return Ok(Known::Expr(Expr::unary(UnaryOp::Neg, right)));
                }
                if is_marked(&attributes, "not") {
                    return Ok(Known::Expr(Expr::unary(UnaryOp::BitNot, left)));
                }
                self.arithmetic(operation, span, (left, right))
            }
            [
                Some(Known::Index(left, of_left)),
                Some(Known::Index(right, of_right)),
            ] => self.index_arithmetic(operation, span, (left, of_left), (right, of_right)),
            [Some(Known::Extreme(mut all)), Some(Known::Index(last, _))]
                if matches!(operation, "maxsi" | "minsi") =>
            {
                all.push(last);
                Ok(Known::Extreme(all))
            }
            // All conditions hold.
            [Some(Known::Expr(_)), Some(Known::Condition(first))] if operation == "andi" => {
                Ok(Known::Conditions(vec![first]))
            }
            [
                Some(Known::Conditions(mut all)),
                Some(Known::Condition(last)),
            ] if operation == "andi" => {
                all.push(last);
                Ok(Known::Conditions(all))
            }
            _ => {
                let why = format!("strew does not read `arith.{operation}` of these operands");
                Err(ReadError::new(span, why))
            }
        }
    }

    fn arithmetic(
        &mut self,
        operation: &str,
        span: Span,
        (left, right): (Expr, Expr),
    ) -> Checked<Known> {
        let made = |op, left, right| Known::Expr(Expr::binary(op, left, right, Span::default()));
        let op = match operation {
            "addf" | "addi" => BinaryOp::Add,
            "subf" | "subi" => BinaryOp::Sub,
            "mulf" | "muli" => BinaryOp::Mul,
            "divf" | "divui" => BinaryOp::Div,
            "remui" => BinaryOp::Rem,
            "andi" => BinaryOp::BitAnd,
            "ori" => BinaryOp::BitOr,
            "xori" if left.ty(&self.kernel) == Type::Bool => {
                return Ok(Known::Expr(Expr::unary(UnaryOp::Not, left)));
            }
            "xori" => BinaryOp::BitXor,
            "remf" => return Ok(Known::Expr(Expr::Call(Function::Fmod, vec![left, right]))),
            // The divisor was made safe, the count less than the width.
            "divsi" | "remsi" => {
                let op = if operation == "divsi" {
                    BinaryOp::Div
                } else {
                    BinaryOp::Rem
                };
                return match right {
                    Expr::Select(_, _, divisor) => Ok(Known::Divided(op, left, *divisor)),
                    // What `mlir-opt` makes of a divisor that is safe.
                    Expr::Constant(divisor) if is_safe_divisor(divisor) => {
                        Ok(made(op, left, right))
                    }
                    _ => Err(ReadError::new(
                        span,
                        "strew makes divisors safe before this",
                    )),
                };
            }
            "shli" | "shrsi" | "shrui" => {
                let op = if operation == "shli" {
                    BinaryOp::Shl
                } else {
                    BinaryOp::Shr
                };
                return match right {
                    Expr::Binary(BinaryOp::BitAnd, count, ..) => Ok(made(op, left, *count)),
                    // What `mlir-opt` makes of a count that is less than the width.
                    Expr::Constant(count) if is_count(count, left.ty(&self.kernel)) => {
                        Ok(made(op, left, right))
                    }
                    _ => Err(ReadError::new(
                        span,
                        "strew takes counts modulo the width before this",
                    )),
                };
            }
            _ => {
                return Err(ReadError::new(
                    span,
                    format!("strew does not read `arith.{operation}`"),
                ));
            }
        };
        Ok(made(op, left, right))
    }

    fn index_arithmetic(
        &mut self,
        operation: &str,
        span: Span,
        (left, of_left): (AffineExpr, Division),
        (right, of_right): (AffineExpr, Division),
    ) -> Checked<Known> {
        match operation {
            "addi" => {
                let sum = in_range(span, left.plus(&right))?;
                Ok(Known::Index(sum, Division::None))
            }
            "muli" => {
                let of_product = match of_left {
                    Division::Quotient(dividend, divisor) if divisor == right => {
                        Division::Whole(dividend, divisor)
                    }
                    _ => Division::None,
                };
                let product = in_range(span, left.times(&right))?;
                Ok(Known::Index(product, of_product))
            }
            "subi" => match of_right {
                Division::Whole(dividend, divisor) if dividend == left => {
                    let rest = in_range(span, dividend.modulo(&divisor))?;
                    Ok(Known::Index(rest, Division::None))
                }
                _ => Err(ReadError::new(
                    span,
                    "strew subtracts indices for remainders alone",
                )),
            },
            "floordivsi" => self.quotient(span, (left, right)),
            "maxsi" | "minsi" => Ok(Known::Extreme(vec![left, right])),
            _ => Err(ReadError::new(
                span,
                format!("strew does not calculate `{operation}` of indices"),
            )),
        }
    }
}

/// Both spellings of a choice whose one side is a truth are those of C.
fn chosen(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    let is = |expr: &Expr, truth: bool| *expr == Expr::Constant(Value::bool(truth));
    if is(&otherwise, false) {
        Expr::And(Box::new(condition), Box::new(then))
    } else if is(&then, true) {
        Expr::Or(Box::new(condition), Box::new(otherwise))
    } else {
        Expr::select(condition, then, otherwise)
    }
}

fn is_marked(attributes: &[(&str, &str)], mark: &str) -> bool {
    attributes.contains(&("strew.op", mark))
}

fn kernel_type(attributes: &[(&str, &str)], name: &str, span: Span) -> Checked<Type> {
    let said = attributes.iter().find(|(key, _)| *key == "strew.type");
    let name = said.map_or(name, |it| it.1);
    let found = match name {
        "i1" => Some(Type::Bool),
        name => Type::from_name(name),
    };
    found.ok_or_else(|| ReadError::new(span, format!("`{name}` is no type of strew's")))
}

fn without_sign(ty: Type) -> Type {
    match ty {
        Type::I8 => Type::U8,
        Type::I16 => Type::U16,
        Type::I32 => Type::U32,
        Type::I64 => Type::U64,
        other => other,
    }
}

fn number(text: &str, ty: Type) -> Option<Value> {
    if ty.is_float() {
        return match text.strip_prefix("0x") {
            Some(digits) => Some(Value::from_bits(ty, u64::from_str_radix(digits, 16).ok()?)),
            None => Some(Value::float(ty, text.parse().ok()?)),
        };
    }
    Some(Value::integer(ty, text.parse().ok()?))
}

/// Whether everything can be divided by it.
fn is_safe_divisor(divisor: Value) -> bool {
    divisor.as_integer().is_some_and(|it| it != 0 && it != -1)
}

/// Whether numbers of type `ty` can be shifted by so many places.
fn is_count(count: Value, ty: Type) -> bool {
    let places = count.as_integer();
    places.is_some_and(|it| (0..8 * i128::from(ty.bytes())).contains(&it))
}
