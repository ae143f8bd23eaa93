//! Expressions, as C calculates them.

use super::{Emitter, Typed, Unsupported, type_name, unsigned};
use crate::{BinaryOp, CompareOp, Expr, Function, Operand, Type, UnaryOp, Value};

impl Emitter<'_> {
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Typed, Unsupported> {
        match expr {
            Expr::Constant(value) => Ok(self.constant(*value)),
            Expr::Iter(iter) => {
                let index = self.iters.get(iter).cloned().unwrap_or_default();
                Ok(self.number_of_index(&index))
            }
            Expr::Param(scalar) => {
                let found = self.scalars.get(scalar).cloned();
                found.ok_or(Unsupported::Overflow)
            }
            Expr::Local(local) => self.local(*local),
            Expr::Operand(operand) => self.operand(*operand),
            // Who runs it does not say; one is right for all.
            Expr::Threads => {
                Ok(self.typed(Type::I64, "arith.constant {strew.op = \"threads\"} 1 : i64"))
            }
            Expr::Load(access) => self.loaded(access),
            Expr::Unary(op, operand) => {
                let operand = self.expr(operand)?;
                Ok(self.unary(*op, &operand))
            }
            Expr::Binary(op, left, right, _) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                Ok(self.binary(*op, &left, &right))
            }
            Expr::Compare(op, left, right) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                Ok(self.compare(*op, &left, &right))
            }
            Expr::And(left, right) => {
                let no = Expr::Constant(Value::bool(false));
                self.choice(left, right, &no)
            }
            Expr::Or(left, right) => {
                let yes = Expr::Constant(Value::bool(true));
                self.choice(left, &yes, right)
            }
            Expr::Select(condition, then, otherwise) => self.choice(condition, then, otherwise),
            Expr::Cast(ty, operand) => {
                let operand = self.expr(operand)?;
                Ok(self.cast(*ty, operand))
            }
            Expr::Call(function, operands) => {
                let operands: Vec<Typed> = operands
                    .iter()
                    .map(|it| self.expr(it))
                    .collect::<Result<_, _>>()?;
                Ok(self.call(*function, &operands))
            }
        }
    }

    fn operand(&self, operand: Operand) -> Result<Typed, Unsupported> {
        let found = match operand {
            Operand::Held(part) => self.held.get(part),
            Operand::Incoming(part) => self.incoming.get(part),
            Operand::Host(_) => return Err(Unsupported::Host),
        };
        found.cloned().ok_or(Unsupported::Overflow)
    }

    pub(super) fn constant(&mut self, value: Value) -> Typed {
        let ty = value.ty();
        let text = match (ty, value.as_integer()) {
            (Type::Bool, _) => (value.bits() != 0).to_string(),
            // Numbers without signs are written by the signed one with the same bits.
            (Type::U64, Some(_)) => format!("{} : i64", value.bits().cast_signed()),
            (_, Some(integer)) if !ty.is_float() => format!("{integer} : {}", type_name(ty)),
            _ => format!("{} : {}", float_text(value), type_name(ty)),
        };
        let known = unsigned(ty);
        self.typed(ty, &format!("arith.constant{known} {text}"))
    }

    /// Only the side that is chosen is calculated: the other one may have a fault.
    fn choice(
        &mut self,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
    ) -> Result<Typed, Unsupported> {
        let condition = self.expr(condition)?.name;
        if is_harmless(then) && is_harmless(otherwise) {
            let (then, otherwise) = (self.expr(then)?, self.expr(otherwise)?);
            let operation = format!(
                "arith.select {condition}, {}, {} : {}",
                then.name,
                otherwise.name,
                type_name(then.ty)
            );
            return Ok(self.typed(then.ty, &operation));
        }
        let name = format!("%{}", self.next);
        self.next += 1;
        let head = self.text.len();
        self.depth += 1;
        let then = self.expr(then)?;
        let ty = type_name(then.ty);
        self.line(&format!("scf.yield {} : {ty}", then.name));
        self.depth -= 1;
        self.line("} else {");
        self.depth += 1;
        let otherwise = self.expr(otherwise)?;
        self.line(&format!("scf.yield {} : {ty}", otherwise.name));
        self.depth -= 1;
        self.line("}");
        // The type is known once the first side is written.
        let line = format!(
            "{:width$}{name} = scf.if {condition} -> ({ty}) {{\n",
            "",
            width = 2 * self.depth
        );
        self.text.insert_str(head, &line);
        Ok(Typed { name, ty: then.ty })
    }

    fn unary(&mut self, op: UnaryOp, operand: &Typed) -> Typed {
        let (ty, name) = (operand.ty, &operand.name);
        let of = type_name(ty);
        match op {
            UnaryOp::Neg if ty.is_float() => self.typed(ty, &format!("arith.negf {name} : {of}")),
            UnaryOp::Neg => {
                let zero = self.constant(Value::zero(ty)).name;
                let known = "{strew.op = \"neg\"}";
                self.typed(ty, &format!("arith.subi {zero}, {name} {known} : {of}"))
            }
            UnaryOp::BitNot => {
                let ones = self.define(&format!("arith.constant -1 : {of}"));
                let known = "{strew.op = \"not\"}";
                self.typed(ty, &format!("arith.xori {name}, {ones} {known} : {of}"))
            }
            UnaryOp::Not => {
                let truth = self.constant(Value::bool(true)).name;
                self.typed(ty, &format!("arith.xori {name}, {truth} : i1"))
            }
            UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => {
                let operation = counting_of(op).unwrap_or_default();
                self.typed(ty, &format!("{operation} {name} : {of}"))
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Typed, right: &Typed) -> Typed {
        let ty = left.ty;
        let operation = match op {
            BinaryOp::Add if ty.is_float() => "addf",
            BinaryOp::Sub if ty.is_float() => "subf",
            BinaryOp::Mul if ty.is_float() => "mulf",
            BinaryOp::Div if ty.is_float() => "divf",
            BinaryOp::Add => "addi",
            BinaryOp::Sub => "subi",
            BinaryOp::Mul => "muli",
            BinaryOp::Div | BinaryOp::Rem => return self.division(op, left, right),
            BinaryOp::BitAnd => "andi",
            BinaryOp::BitOr => "ori",
            BinaryOp::BitXor => "xori",
            BinaryOp::Shl | BinaryOp::Shr => return self.shift(op, left, right),
        };
        self.same(operation, left, &right.name)
    }

    /// An operation on two values of the type of `left`.
    fn same(&mut self, operation: &str, left: &Typed, right: &str) -> Typed {
        let (ty, name) = (left.ty, &left.name);
        self.typed(
            ty,
            &format!("arith.{operation} {name}, {right} : {}", type_name(ty)),
        )
    }

    /// By zero it is a fault; the least number by -1 is itself, with nothing left.
    fn division(&mut self, op: BinaryOp, left: &Typed, right: &Typed) -> Typed {
        let ty = left.ty;
        let of = type_name(ty);
        let zero = self.constant(Value::zero(ty));
        let divisor = &right.name;
        let is_fine = self.define(&format!("arith.cmpi ne, {divisor}, {} : {of}", zero.name));
        self.line(&format!("cf.assert {is_fine}, \"division by zero\""));
        let is_quotient = op == BinaryOp::Div;
        if !ty.is_signed() {
            return self.same(if is_quotient { "divui" } else { "remui" }, left, divisor);
        }
        let minus_one = self.define(&format!("arith.constant -1 : {of}"));
        let negates = self.define(&format!("arith.cmpi eq, {divisor}, {minus_one} : {of}"));
        let one = self.define(&format!("arith.constant 1 : {of}"));
        let safe = self.define(&format!("arith.select {negates}, {one}, {divisor} : {of}"));
        let divided = self.same(if is_quotient { "divsi" } else { "remsi" }, left, &safe);
        let negated = match is_quotient {
            true => self.same("subi", &zero, &left.name),
            false => zero,
        };
        self.typed(
            ty,
            &format!(
                "arith.select {negates}, {}, {} : {of}",
                negated.name, divided.name
            ),
        )
    }

    /// By a count modulo the width.
    fn shift(&mut self, op: BinaryOp, left: &Typed, right: &Typed) -> Typed {
        let count = self.cast(left.ty, right.clone());
        let mask = self.constant(Value::integer(left.ty, i128::from(left.ty.bits()) - 1));
        let count = self.same("andi", &count, &mask.name);
        let operation = match op {
            BinaryOp::Shl => "shli",
            _ if left.ty.is_signed() => "shrsi",
            _ => "shrui",
        };
        self.same(operation, left, &count.name)
    }

    fn compare(&mut self, op: CompareOp, left: &Typed, right: &Typed) -> Typed {
        self.compare_as(op, [left, right], "")
    }

    fn compare_as(&mut self, op: CompareOp, [left, right]: [&Typed; 2], known: &str) -> Typed {
        let ty = left.ty;
        let (is_float, is_signed) = (ty.is_float(), ty.is_signed());
        let predicate = match (op, is_float, is_signed) {
            (CompareOp::Eq, true, _) => "oeq",
            (CompareOp::Ne, true, _) => "une",
            (CompareOp::Lt, true, _) => "olt",
            (CompareOp::Le, true, _) => "ole",
            (CompareOp::Gt, true, _) => "ogt",
            (CompareOp::Ge, true, _) => "oge",
            (CompareOp::Eq, false, _) => "eq",
            (CompareOp::Ne, false, _) => "ne",
            (CompareOp::Lt, false, true) => "slt",
            (CompareOp::Le, false, true) => "sle",
            (CompareOp::Gt, false, true) => "sgt",
            (CompareOp::Ge, false, true) => "sge",
            (CompareOp::Lt, false, false) => "ult",
            (CompareOp::Le, false, false) => "ule",
            (CompareOp::Gt, false, false) => "ugt",
            (CompareOp::Ge, false, false) => "uge",
        };
        let operation = if is_float { "cmpf" } else { "cmpi" };
        let (left, right) = (&left.name, &right.name);
        self.typed(
            Type::Bool,
            &format!(
                "arith.{operation} {predicate}, {left}, {right}{known} : {}",
                type_name(ty)
            ),
        )
    }

    fn cast(&mut self, to: Type, from: Typed) -> Typed {
        let (source, target) = (type_name(from.ty), type_name(to));
        if to == Type::Bool && from.ty != Type::Bool {
            let zero = self.constant(Value::zero(from.ty));
            return self.compare_as(CompareOp::Ne, [&from, &zero], " {strew.op = \"bool\"}");
        }
        let is_signed = from.ty.is_signed();
        let operation = match (from.ty.is_float(), to.is_float()) {
            (false, false) if bits(from.ty) > bits(to) => "arith.trunci",
            (false, false) if bits(from.ty) < bits(to) && is_signed => "arith.extsi",
            (false, false) if bits(from.ty) < bits(to) => "arith.extui",
            (false, true) if is_signed => "arith.sitofp",
            (false, true) => "arith.uitofp",
            (true, true) if bits(from.ty) < bits(to) => "arith.extf",
            (true, true) if bits(from.ty) > bits(to) => "arith.truncf",
            (true, false) => return self.saturated(to, &from),
            _ if to == from.ty => return from,
            // Bits that are read in another way.
            _ => "arith.bitcast",
        };
        let known = match unsigned(to) {
            known if known.is_empty() && operation == "arith.bitcast" => {
                format!(" {{strew.type = \"{to}\"}}")
            }
            known => known,
        };
        self.typed(
            to,
            &format!("{operation} {}{known} : {source} to {target}", from.name),
        )
    }

    /// A float as the nearest integer towards zero: the least and the greatest one beyond them,
    /// zero where it is no number.
    fn saturated(&mut self, to: Type, from: &Typed) -> Typed {
        let (low, high) = to.integer_range().unwrap_or_default();
        let (source, target) = (type_name(from.ty), type_name(to));
        let operation = if to.is_signed() { "fptosi" } else { "fptoui" };
        let inside = self.typed(
            to,
            &format!("arith.{operation} {} : {source} to {target}", from.name),
        );
        // One above the greatest, a power of two, is a float; the greatest itself may be none.
        let above = self.constant(Value::float(from.ty, high as f64 + 1.0));
        let below = self.constant(Value::float(from.ty, low as f64));
        let (greatest, least) = (Value::integer(to, high), Value::integer(to, low));
        let (greatest, least) = (self.constant(greatest).name, self.constant(least).name);
        let is_above = self.compare(CompareOp::Ge, from, &above).name;
        let is_below = self.compare(CompareOp::Le, from, &below).name;
        let is_none = self.compare(CompareOp::Ne, from, from).name;
        let zero = self.constant(Value::zero(to)).name;
        let mut value = inside.name;
        for (condition, other) in [(is_above, greatest), (is_below, least), (is_none, zero)] {
            value = self.define(&format!(
                "arith.select {condition}, {other}, {value} : {target}"
            ));
        }
        Typed {
            name: value,
            ty: to,
        }
    }

    fn call(&mut self, function: Function, operands: &[Typed]) -> Typed {
        let ty = operands.first().map_or(Type::F64, |it| it.ty);
        let names: Vec<&str> = operands.iter().map(|it| it.name.as_str()).collect();
        let (names, of) = (names.join(", "), type_name(ty));
        if let Some(operation) = operation_of(function) {
            // Another function is the same operation.
            let known = match function {
                Function::Nearbyint => " {strew.op = \"nearbyint\"}",
                _ => "",
            };
            return self.typed(ty, &format!("{operation} {names}{known} : {of}"));
        }
        let ending = if ty == Type::F32 { "f" } else { "" };
        let name = format!("{}{ending}", function.name());
        let types = vec![of; operands.len()].join(", ");
        self.declared
            .insert(format!("func.func private @{name}({types}) -> {of}"));
        self.typed(
            ty,
            &format!("func.call @{name}({names}) : ({types}) -> {of}"),
        )
    }
}

/// The operation that a function of the C library is; `None` where it has to be called.
pub(super) fn operation_of(function: Function) -> Option<&'static str> {
    Some(match function {
        Function::Sqrt => "math.sqrt",
        Function::Fma => "math.fma",
        Function::Fabs => "math.absf",
        Function::Floor => "math.floor",
        Function::Ceil => "math.ceil",
        Function::Trunc => "math.trunc",
        Function::Round => "math.round",
        Function::Rint | Function::Nearbyint => "math.roundeven",
        Function::Copysign => "math.copysign",
        Function::Exp => "math.exp",
        Function::Log => "math.log",
        Function::Sin => "math.sin",
        Function::Cos => "math.cos",
        Function::Pow => "math.powf",
        Function::Tanh => "math.tanh",
        Function::Fmod => "arith.remf",
        _ => return None,
    })
}

/// The operation that counts bits as `op` does; `None` where it counts none.
pub(super) fn counting_of(op: UnaryOp) -> Option<&'static str> {
    match op {
        UnaryOp::CountOnes => Some("math.ctpop"),
        UnaryOp::LeadingZeros => Some("math.ctlz"),
        UnaryOp::TrailingZeros => Some("math.cttz"),
        UnaryOp::Neg | UnaryOp::BitNot | UnaryOp::Not => None,
    }
}

/// The width in MLIR, where a truth is one bit.
fn bits(ty: Type) -> u32 {
    match ty {
        Type::Bool => 1,
        other => other.bits(),
    }
}

/// Whether it can be calculated where nobody asked for it.
fn is_harmless(expr: &Expr) -> bool {
    match expr {
        Expr::Load(_) | Expr::Call(..) => false,
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => false,
        other => other.operands().into_iter().all(is_harmless),
    }
}

/// A float by its digits where they are few, else by its bits.
fn float_text(value: Value) -> String {
    let float = value.as_float().unwrap_or_default();
    let is_short = float.abs() < 1e6 && (float * 1024.0).fract() == 0.0;
    match value.ty() {
        _ if is_short => format!("{float:?}"),
        Type::F32 => format!("0x{:08X}", value.bits()),
        _ => format!("0x{:016X}", value.bits()),
    }
}
