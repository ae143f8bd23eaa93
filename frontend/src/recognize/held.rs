//! What a statement updates, and how expressions stand to it.

use strew_affine::{Access, Expr, Kernel, Place, Subscript, Type, Value};

/// What a statement updates: the place as an expression.
pub(super) struct Held<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) load: Expr,
    pub(super) ty: Type,
    /// Whether values may read elements of the same array at other places.
    reads_others: bool,
}

impl<'k> Held<'k> {
    /// `None` where the place is found by reading what is updated: then the order of the updates
    /// decides where they go.
    pub(super) fn new(kernel: &'k Kernel, place: &Place) -> Option<Self> {
        let load = match place {
            Place::Element(access) => Expr::Load(access.clone()),
            Place::Local(local) => Expr::Local(*local),
        };
        let ty = load.ty(kernel);
        let held = Self {
            kernel,
            load,
            ty,
            reads_others: false,
        };
        held.is_unread_by_subscripts_of(place).then_some(held)
    }

    /// The same where a value may read other elements, as far as the text tells: it is evaluated
    /// before its element is updated.
    pub(super) fn among_others(kernel: &'k Kernel, place: &Place) -> Option<Self> {
        let held = Self::new(kernel, place)?;
        Some(Self {
            reads_others: true,
            ..held
        })
    }

    pub(super) fn is_unread_by_subscripts_of(&self, place: &Place) -> bool {
        match place {
            Place::Element(access) => self.is_unread_by_subscripts(access),
            Place::Local(_) => true,
        }
    }

    fn is_unread_by_subscripts(&self, access: &Access) -> bool {
        access.subscripts.iter().all(|it| match it {
            Subscript::Affine(_) => true,
            Subscript::Computed(expr) => self.is_unread_by(expr),
        })
    }

    pub(super) fn is_unread_by(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Local(_) => *expr != self.load,
            Expr::Load(access) => {
                let reads = |held: &Access| held.array == access.array && !self.reads_others;
                let is_read = matches!(&self.load, Expr::Load(held) if reads(held));
                !is_read && !expr.is_same(&self.load) && self.is_unread_by_subscripts(access)
            }
            other => other.operands().into_iter().all(|it| self.is_unread_by(it)),
        }
    }

    /// Whether `expr` is what is there already, perhaps converted without a change of value.
    pub(super) fn is_held(&self, expr: &Expr) -> bool {
        self.core(expr).is_same(&self.load)
    }

    /// Whether `expr` has the bits of what is there already: an `int` taken as `unsigned` is
    /// another value, but wrapping arithmetic does not see the difference.
    pub(super) fn has_held_bits(&self, expr: &Expr) -> bool {
        let mut core = expr;
        while let Expr::Cast(to, inner) = core
            && to.is_integer()
            && to.bits() >= self.ty.bits()
            && inner.ty(self.kernel).is_integer()
        {
            core = inner;
        }
        core.is_same(&self.load)
    }

    /// Without conversions that keep the value.
    pub(super) fn core<'e>(&self, expr: &'e Expr) -> &'e Expr {
        without_conversions(self.kernel, expr)
    }

    /// Whether the place can hold every value of `expr` unchanged.
    pub(super) fn holds(&self, expr: &Expr) -> bool {
        if let (Expr::Constant(value), Some((low, high))) = (expr, self.ty.integer_range())
            && let Some(integer) = value.as_integer()
        {
            return low <= integer && integer <= high;
        }
        keeps_value(expr.ty(self.kernel), self.ty)
    }

    pub(super) fn in_type_of_held(&self, value: &Expr) -> Expr {
        match value {
            Expr::Constant(constant) if self.ty.is_integer() => match constant.as_integer() {
                Some(integer) => Expr::Constant(Value::integer(self.ty, integer)),
                None => value.clone().cast_to(self.ty, self.kernel),
            },
            other => other.clone().cast_to(self.ty, self.kernel),
        }
    }
}

/// The expression under the outermost conversion, and its type.
pub(super) fn uncast<'e>(value: &'e Expr, kernel: &Kernel) -> (&'e Expr, Type) {
    let inner = match value {
        Expr::Cast(_, inner) => inner,
        other => other,
    };
    (inner, inner.ty(kernel))
}

/// `expr` without conversions that keep its value.
pub(crate) fn without_conversions<'e>(kernel: &Kernel, expr: &'e Expr) -> &'e Expr {
    let mut core = expr;
    while let Expr::Cast(to, inner) = core
        && keeps_value(inner.ty(kernel), *to)
    {
        core = inner;
    }
    core
}

/// Whether every value of `from` is one of `to`.
fn keeps_value(from: Type, to: Type) -> bool {
    match (from.is_float(), to.is_float()) {
        (true, true) => from.bits() <= to.bits(),
        _ => from.is_integer() && to.is_integer() && to.holds_all_of(from),
    }
}
