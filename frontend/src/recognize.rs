//! Which statements are reductions.
//!
//! This looks at one statement at a time and knows nothing of loops or dependences. A spelling is a reduction only if its C
//! meaning, conversions included, equals that of the combiner on NaN, ties and signed zeros; see [`strew_affine::Combine`].

use strew_affine::{
    Access, BinaryOp, Combiner, CompareOp, Expr, Kernel, Node, Place, Span, Subscript, Type,
    UnaryOp, Value,
};

/// `place = value` as a reduction if it is one, else as the assignment it is written as.
pub(crate) fn assignment(kernel: &Kernel, place: Place, value: Expr, span: Span) -> Node {
    let update = Held::new(kernel, &place).and_then(|held| {
        held.updated_by_operator(&value)
            .or_else(|| held.updated_by_select(&value))
    });
    match update {
        Some((combiner, value)) => Node::Reduce {
            places: vec![place],
            combiner,
            values: vec![value],
            span,
        },
        None => Node::Assign { place, value, span },
    }
}

/// `if (condition) body` as a reduction if it is one.
pub(crate) fn guarded(kernel: &Kernel, condition: &Expr, body: &[Node]) -> Option<Node> {
    let [Node::Assign { place, value, span }] = body else {
        return None;
    };
    let held = Held::new(kernel, place)?;
    let (combiner, value) = held.replaced_when(condition, value)?;
    Some(Node::Reduce {
        places: vec![place.clone()],
        combiner,
        values: vec![value],
        span: *span,
    })
}

/// What the statement updates: the place as an expression.
struct Held<'k> {
    kernel: &'k Kernel,
    load: Expr,
    ty: Type,
}

type Update = (Combiner, Expr);

impl<'k> Held<'k> {
    /// `None` where the place is found by reading what is updated: then the order of the updates decides where they go.
    fn new(kernel: &'k Kernel, place: &Place) -> Option<Self> {
        let load = match place {
            Place::Element(access) => Expr::Load(access.clone()),
            Place::Local(local) => Expr::Local(*local),
        };
        let ty = load.ty(kernel);
        let held = Self { kernel, load, ty };
        let is_plain = match place {
            Place::Element(access) => access.subscripts.iter().all(|it| match it {
                Subscript::Affine(_) => true,
                Subscript::Computed(expr) => held.is_unread_by(expr),
            }),
            Place::Local(_) => true,
        };
        is_plain.then_some(held)
    }

    /// `held op value`, `value op held`, with the conversions around it.
    fn updated_by_operator(&self, value: &Expr) -> Option<Update> {
        let (Expr::Binary(op, left, right, _), common) = uncast(value, self.kernel) else {
            return None;
        };
        if !self.conversions_commute(common) {
            return None;
        }
        let (name, is_commutative) = match op {
            BinaryOp::Add => ("add", true),
            BinaryOp::Sub => ("add", false),
            BinaryOp::Mul => ("mul", true),
            BinaryOp::BitAnd => ("and", true),
            BinaryOp::BitOr => ("or", true),
            BinaryOp::BitXor => ("xor", true),
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => return None,
        };
        let incoming = if self.has_held_bits(left) {
            right
        } else if is_commutative && self.has_held_bits(right) {
            left
        } else {
            return None;
        };
        let incoming = self.incoming(incoming)?;
        let incoming = match op {
            BinaryOp::Sub => self.negated(incoming),
            _ => incoming,
        };
        Some((Combiner::from_name(name)?, incoming))
    }

    /// Arithmetic modulo a power of two commutes with cutting high bits off; floats must not be rounded twice.
    fn conversions_commute(&self, common: Type) -> bool {
        common == self.ty || (common.is_integer() && self.ty.is_integer())
    }

    fn negated(&self, incoming: Expr) -> Expr {
        let negative = match &incoming {
            Expr::Constant(value) => match (value.as_integer(), value.as_float()) {
                (Some(integer), _) => Some(Value::integer(self.ty, -integer)),
                (None, float) => float.map(|float| Value::float(self.ty, -float)),
            },
            _ => None,
        };
        match negative {
            Some(value) => Expr::Constant(value),
            None => Expr::unary(UnaryOp::Neg, incoming),
        }
    }

    /// The value in the type of the element, if it does not read what is updated.
    fn incoming(&self, value: &Expr) -> Option<Expr> {
        if !self.is_unread_by(value) {
            return None;
        }
        // Widening and cutting off again gives back the bits that were there.
        let value = match value {
            Expr::Cast(_, inner) if inner.ty(self.kernel) == self.ty && self.ty.is_integer() => {
                inner
            }
            other => other,
        };
        Some(self.in_type_of_held(value))
    }

    fn in_type_of_held(&self, value: &Expr) -> Expr {
        match value {
            Expr::Constant(constant) if self.ty.is_integer() => match constant.as_integer() {
                Some(integer) => Expr::Constant(Value::integer(self.ty, integer)),
                None => value.clone().cast_to(self.ty, self.kernel),
            },
            other => other.clone().cast_to(self.ty, self.kernel),
        }
    }

    /// `value op held ? value : held` and its mirror images.
    fn updated_by_select(&self, value: &Expr) -> Option<Update> {
        let (Expr::Select(condition, then, otherwise), _) = uncast(value, self.kernel) else {
            return None;
        };
        if self.is_held(otherwise) {
            self.replaced_when(condition, then)
        } else if self.is_held(then) && self.ty.is_integer() {
            // What is kept when the condition holds is replaced when it does not, which only integers can turn round.
            let Expr::Compare(op, left, right) = &**condition else {
                return None;
            };
            let condition = Expr::compare(opposite(*op), (**left).clone(), (**right).clone());
            self.replaced_when(&condition, otherwise)
        } else {
            None
        }
    }

    /// `if (condition) held = value`
    fn replaced_when(&self, condition: &Expr, value: &Expr) -> Option<Update> {
        let Expr::Compare(op, left, right) = condition else {
            return None;
        };
        let (op, compared) = if self.is_held(right) {
            (*op, left)
        } else if self.is_held(left) {
            (mirrored(*op), right)
        } else {
            return None;
        };
        let combiner = match op {
            CompareOp::Gt => "max",
            CompareOp::Lt => "min",
            // Of equal integers it does not matter which is kept; of floats it does, since -0.0 equals 0.0.
            CompareOp::Ge if self.ty.is_integer() => "max",
            CompareOp::Le if self.ty.is_integer() => "min",
            _ => return None,
        };
        let (compared, stored) = (self.core(compared), self.core(value));
        if !is_same(compared, stored) || !self.is_unread_by(stored) || !self.holds(stored) {
            return None;
        }
        Some((Combiner::from_name(combiner)?, self.in_type_of_held(stored)))
    }

    /// Whether an element can hold every value of `expr` unchanged.
    fn holds(&self, expr: &Expr) -> bool {
        if let (Expr::Constant(value), Some((low, high))) = (expr, self.ty.integer_range())
            && let Some(integer) = value.as_integer()
        {
            return low <= integer && integer <= high;
        }
        keeps_value(expr.ty(self.kernel), self.ty)
    }

    /// Whether `expr` is what is there already, perhaps converted without a change of value.
    fn is_held(&self, expr: &Expr) -> bool {
        is_same(self.core(expr), &self.load)
    }

    /// Whether `expr` has the bits of what is there already: an `int` taken as `unsigned` is another value, but wrapping
    /// arithmetic does not see the difference.
    fn has_held_bits(&self, expr: &Expr) -> bool {
        let mut core = expr;
        while let Expr::Cast(to, inner) = core
            && to.is_integer()
            && to.bits() >= self.ty.bits()
            && inner.ty(self.kernel).is_integer()
        {
            core = inner;
        }
        is_same(core, &self.load)
    }

    /// Without conversions that keep the value.
    fn core<'e>(&self, expr: &'e Expr) -> &'e Expr {
        let mut core = expr;
        while let Expr::Cast(to, inner) = core
            && keeps_value(inner.ty(self.kernel), *to)
        {
            core = inner;
        }
        core
    }

    fn is_unread_by(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Local(_) => *expr != self.load,
            Expr::Load(access) => {
                !matches!(&self.load, Expr::Load(held) if held.array == access.array)
                    && access.subscripts.iter().all(|it| match it {
                        Subscript::Affine(_) => true,
                        Subscript::Computed(inner) => self.is_unread_by(inner),
                    })
            }
            other => other.operands().into_iter().all(|it| self.is_unread_by(it)),
        }
    }
}

/// The expression under the outermost conversion, and its type.
fn uncast<'e>(value: &'e Expr, kernel: &Kernel) -> (&'e Expr, Type) {
    let inner = match value {
        Expr::Cast(_, inner) => inner,
        other => other,
    };
    (inner, inner.ty(kernel))
}

/// Whether every value of `from` is one of `to`.
fn keeps_value(from: Type, to: Type) -> bool {
    match (from.integer_range(), to.integer_range()) {
        (Some((low, high)), Some((least, greatest))) => {
            from != Type::Bool && to != Type::Bool && least <= low && high <= greatest
        }
        (None, None) => from.bits() <= to.bits(),
        _ => false,
    }
}

fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        same @ (CompareOp::Eq | CompareOp::Ne) => same,
    }
}

fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
    }
}

/// Whether two expressions compute the same, wherever they stand in the source.
fn is_same(left: &Expr, right: &Expr) -> bool {
    match (left, right) {
        (Expr::Load(left), Expr::Load(right)) => is_same_element(left, right),
        (Expr::Binary(op, ..), Expr::Binary(other, ..)) if op != other => false,
        (Expr::Unary(op, ..), Expr::Unary(other, ..)) if op != other => false,
        (Expr::Compare(op, ..), Expr::Compare(other, ..)) if op != other => false,
        (Expr::Cast(ty, ..), Expr::Cast(other, ..)) if ty != other => false,
        _ => {
            let (ours, theirs) = (left.operands(), right.operands());
            if ours.is_empty() || theirs.is_empty() {
                return left == right;
            }
            std::mem::discriminant(left) == std::mem::discriminant(right)
                && ours
                    .into_iter()
                    .zip(theirs)
                    .all(|(left, right)| is_same(left, right))
        }
    }
}

fn is_same_element(left: &Access, right: &Access) -> bool {
    left.array == right.array
        && left.subscripts.len() == right.subscripts.len()
        && left
            .subscripts
            .iter()
            .zip(&right.subscripts)
            .all(|pair| match pair {
                (Subscript::Affine(left), Subscript::Affine(right)) => left == right,
                (Subscript::Computed(left), Subscript::Computed(right)) => is_same(left, right),
                _ => false,
            })
}
