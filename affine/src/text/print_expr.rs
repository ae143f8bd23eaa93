use super::names::written;
use super::print::Printer;
use crate::view::{is_one, linear};
use crate::{
    Access, AffineExpr, BinaryOp, CompareOp, Expr, Function, Kernel, Operand, Subscript, Type,
    UnaryOp, Value,
};

/// What the place that an expression stands in says about its type, and with it about the bare
/// literals in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Bare literals have this type.
    Known(Type),
    /// Bare literals are `i64` or `f64`.
    Default,
    /// A bare literal would make the expression an affine one.
    Typed,
}

/// Binding strength, from loosest to tightest, as in C.
type Level = u8;
const SELECT: Level = 1;
const OR: Level = 2;
const AND: Level = 3;
const UNARY: Level = 12;
const PRIMARY: Level = 13;

fn level_of(op: BinaryOp) -> Level {
    match op {
        BinaryOp::BitOr => 4,
        BinaryOp::BitXor => 5,
        BinaryOp::BitAnd => 6,
        BinaryOp::Shl | BinaryOp::Shr => 9,
        BinaryOp::Add | BinaryOp::Sub => 10,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 11,
    }
}

fn level_of_comparison(op: CompareOp) -> Level {
    match op {
        CompareOp::Eq | CompareOp::Ne => 7,
        CompareOp::Lt | CompareOp::Le | CompareOp::Gt | CompareOp::Ge => 8,
    }
}

impl Printer<'_> {
    pub(super) fn expr(&self, expr: &Expr, context: Context) -> String {
        self.at_least(expr, context, SELECT)
    }

    fn at_least(&self, expr: &Expr, context: Context, needed: Level) -> String {
        let (text, level) = self.with_level(expr, context);
        if level < needed {
            format!("({text})")
        } else {
            text
        }
    }

    fn with_level(&self, expr: &Expr, context: Context) -> (String, Level) {
        let kernel = self.kernel;
        match expr {
            Expr::Constant(value) => constant(*value, context),
            Expr::Iter(iter) => (written(&kernel.iters[*iter].name), PRIMARY),
            Expr::Param(param) => (written(&kernel.scalars[*param].name), PRIMARY),
            Expr::Local(local) => (written(&kernel.locals[*local].name), PRIMARY),
            Expr::Operand(Operand::Held(part)) => (format!("held.{part}"), PRIMARY),
            Expr::Operand(Operand::Incoming(part)) => (format!("incoming.{part}"), PRIMARY),
            Expr::Operand(Operand::Host(_)) => ("host".to_owned(), PRIMARY),
            Expr::Threads => ("threads()".to_owned(), PRIMARY),
            Expr::Load(access) => (self.access(access), PRIMARY),
            Expr::Unary(op, operand) if UnaryOp::COUNTING.contains(op) => {
                let operand = self.expr(operand, context);
                (format!("{}({operand})", op.symbol()), PRIMARY)
            }
            Expr::Unary(op, operand) => (self.unary(*op, operand, context), UNARY),
            Expr::Binary(op, left, right, _) => {
                let level = level_of(*op);
                let sides = self.sides(left, right, context, level);
                (format!("{} {} {}", sides.0, op.symbol(), sides.1), level)
            }
            Expr::Compare(op, left, right) => {
                let level = level_of_comparison(*op);
                let sides = self.sides(left, right, Context::Default, level);
                (format!("{} {} {}", sides.0, op.symbol(), sides.1), level)
            }
            Expr::And(left, right) => (self.logic("&&", left, right, AND), AND),
            Expr::Or(left, right) => (self.logic("||", left, right, OR), OR),
            Expr::Select(condition, then, otherwise) => {
                let sides = self.typed_sides(then, otherwise, context);
                let condition = self.at_least(condition, Context::Known(Type::Bool), OR);
                let then = self.expr(then, sides.0);
                let otherwise = self.expr(otherwise, sides.1);
                (format!("{condition} ? {then} : {otherwise}"), SELECT)
            }
            Expr::Cast(ty, operand) => (self.cast(*ty, operand), PRIMARY),
            Expr::Call(function, operands) => (self.call(*function, operands, context), PRIMARY),
        }
    }

    /// An operand whose type shows gives the bare literals in all of them theirs.
    fn call(&self, function: Function, operands: &[Expr], context: Context) -> String {
        let shown = operands.iter().find(|it| is_self_typed(it));
        let context = shown.map_or(context, |it| Context::Known(it.ty(self.kernel)));
        let texts: Vec<_> = operands.iter().map(|it| self.expr(it, context)).collect();
        format!("{function}({})", texts.join(", "))
    }

    fn cast(&self, ty: Type, operand: &Expr) -> String {
        let context = match operand {
            // `f32(0.5)` is a constant, not a conversion.
            Expr::Constant(_) => Context::Typed,
            _ => Context::Default,
        };
        format!("{ty}({})", self.expr(operand, context))
    }

    fn unary(&self, op: UnaryOp, operand: &Expr, context: Context) -> String {
        let symbol = op.symbol();
        let text = self.at_least(operand, context, UNARY);
        match (op, operand) {
            // `-5` is a constant.
            (UnaryOp::Neg, Expr::Constant(_)) => format!("-({text})"),
            _ => format!("{symbol}{text}"),
        }
    }

    fn logic(&self, symbol: &str, left: &Expr, right: &Expr, level: Level) -> String {
        let context = Context::Known(Type::Bool);
        let left = self.at_least(left, context, level);
        let right = self.at_least(right, context, level + 1);
        format!("{left} {symbol} {right}")
    }

    fn sides(&self, left: &Expr, right: &Expr, context: Context, level: Level) -> (String, String) {
        let contexts = self.typed_sides(left, right, context);
        (
            self.at_least(left, contexts.0, level),
            self.at_least(right, contexts.1, level + 1),
        )
    }

    /// The contexts of two operands of one type: each gives the other its type.
    fn typed_sides(&self, left: &Expr, right: &Expr, context: Context) -> (Context, Context) {
        if let Context::Known(_) = context {
            (context, context)
        } else if !is_self_typed(left) && is_self_typed(right) {
            let ty = Context::Known(right.ty(self.kernel));
            (ty, Context::Default)
        } else {
            (context, Context::Known(left.ty(self.kernel)))
        }
    }

    pub(super) fn access(&self, access: &Access) -> String {
        let views = self.kernel.views.values();
        let shown = views.filter_map(|it| Some((&it.name, it.shown(self.kernel, access)?)));
        // What is collapsed most says it with the fewest subscripts.
        let shown = shown.min_by_key(|(_, subscripts)| subscripts.len());
        let (name, subscripts) = match &shown {
            Some((name, subscripts)) => (*name, subscripts),
            None => (&self.kernel.arrays[access.array].name, &access.subscripts),
        };
        let subscripts = match &shown {
            Some(_) => subscripts.iter().map(|it| self.subscript(it)).collect(),
            None => self.subscripts(subscripts, &self.kernel.arrays[access.array].extents),
        };
        format!("{}[{}]", written(name), subscripts.join(", "))
    }

    /// The text of subscripts into dimensions of these sizes; those that come from one linear index
    /// by their sizes are shown together.
    fn subscripts(&self, subscripts: &[Subscript], extents: &[AffineExpr]) -> Vec<String> {
        let mut shown = Vec::with_capacity(subscripts.len());
        let mut rest = (subscripts, extents);
        while let Some((first, _)) = rest.0.split_first() {
            let lengths = (2..=rest.0.len().min(rest.1.len())).rev();
            let mut groups = lengths.filter_map(|length| {
                let (subscripts, sizes) = (rest.0.get(..length)?, rest.1.get(..length)?);
                let is_trivial = sizes.iter().skip(1).any(is_one);
                let linear = linear(self.kernel, subscripts, sizes).filter(|_| !is_trivial)?;
                Some((length, self.delinearized(&linear, sizes)))
            });
            let (length, text) = groups.next().unwrap_or_else(|| (1, self.subscript(first)));
            shown.push(text);
            rest = (
                rest.0.get(length..).unwrap_or_default(),
                rest.1.get(length..).unwrap_or_default(),
            );
        }
        shown
    }

    fn delinearized(&self, linear: &Subscript, sizes: &[AffineExpr]) -> String {
        let linear = match (linear, self.subscript(linear)) {
            (Subscript::Affine(expr), text) if expr.as_variable().is_some() => text,
            (_, text) => format!("({text})"),
        };
        let sizes = sizes.iter().map(|it| self.order.expr(self.kernel, it));
        let sizes: Vec<_> = sizes.collect();
        format!("delinearize_index {linear} into ({})", sizes.join(", "))
    }

    fn subscript(&self, subscript: &Subscript) -> String {
        match subscript {
            Subscript::Affine(expr) => self.order.expr(self.kernel, expr),
            Subscript::Computed(expr) if !is_self_typed(expr) => self.expr(expr, Context::Typed),
            Subscript::Computed(expr) if self.needs_mark(expr) => {
                let ty = expr.ty(self.kernel);
                format!("{ty}({})", self.expr(expr, Context::Default))
            }
            Subscript::Computed(expr) => self.expr(expr, Context::Default),
        }
    }

    /// Whether a computed subscript would be read back as an affine one, or as this mark around
    /// one. A cast to the type that it has anyway then says that it is computed.
    fn needs_mark(&self, expr: &Expr) -> bool {
        let mut core = expr;
        while let Expr::Cast(ty, operand) = core
            && operand.ty(self.kernel) == *ty
        {
            core = operand;
        }
        is_self_typed(core) && has_affine_form(core, self.kernel)
    }
}

fn constant(value: Value, context: Context) -> (String, Level) {
    let (text, is_bare) = literal(value);
    let ty = value.ty();
    let fits = match context {
        Context::Known(known) => known == ty,
        Context::Default => matches!(ty, Type::I64 | Type::F64 | Type::Bool),
        Context::Typed => ty == Type::Bool,
    };
    match (is_bare && fits, text.starts_with('-')) {
        (true, true) => (text, UNARY),
        (true, false) => (text, PRIMARY),
        (false, _) => (format!("{ty}({text})"), PRIMARY),
    }
}

/// The text of a constant without its type, and whether it can stand alone.
fn literal(value: Value) -> (String, bool) {
    if value.ty() == Type::Bool {
        return ((value.bits() != 0).to_string(), true);
    }
    match value.as_float() {
        None => (value.as_integer().unwrap_or_default().to_string(), true),
        Some(float) if float.is_nan() => ("nan".to_owned(), false),
        Some(float) if float.is_infinite() => (float.to_string(), false),
        // The shortest digits that give an `f32` back are fewer than those that give its `f64`
        // back.
        Some(float) if value.ty() == Type::F32 => (format!("{:?}", float as f32), true),
        Some(float) => (format!("{float:?}"), true),
    }
}

/// Whether the expression's type shows in its text even when all its literals are bare.
fn is_self_typed(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(value) => value.ty() == Type::Bool,
        Expr::Binary(_, left, right, _) | Expr::Select(_, left, right) => {
            is_self_typed(left) || is_self_typed(right)
        }
        Expr::Call(_, operands) => operands.iter().any(is_self_typed),
        Expr::Iter(_)
        | Expr::Param(_)
        | Expr::Local(_)
        | Expr::Operand(_)
        | Expr::Threads
        | Expr::Load(_)
        | Expr::Unary(UnaryOp::Not, _)
        | Expr::Compare(..)
        | Expr::And(..)
        | Expr::Or(..)
        | Expr::Cast(..) => true,
        Expr::Unary(_, operand) => is_self_typed(operand),
    }
}

/// Whether the text of `expr` is also that of an affine expression.
fn has_affine_form(expr: &Expr, kernel: &Kernel) -> bool {
    match expr {
        Expr::Constant(value) => value.ty().is_integer(),
        Expr::Iter(_) => true,
        Expr::Param(param) => kernel.scalars[*param].ty.is_integer(),
        Expr::Unary(UnaryOp::Neg, operand) => has_affine_form(operand, kernel),
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, left, right, _) => {
            has_affine_form(left, kernel) && has_affine_form(right, kernel)
        }
        _ => false,
    }
}
