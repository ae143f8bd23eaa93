//! What may be evaluated where C would not evaluate it, because it cannot fault.

use strew_affine::{Access, AffineExpr, Expr, Kernel, Place, Subscript};

/// What is known of sizes and iterators where a statement stands.
pub(crate) trait Sizes {
    /// Whether `least` is never greater than `most` there.
    fn ascend(&mut self, least: &AffineExpr, most: &AffineExpr) -> bool;
}

/// Where nothing is known what looks the same is the same.
pub(crate) struct SizesByForm;

impl Sizes for SizesByForm {
    fn ascend(&mut self, least: &AffineExpr, most: &AffineExpr) -> bool {
        least == most
    }
}

/// What has been evaluated, without a fault, when a decision falls.
pub(super) struct Evaluated<'k> {
    kernel: &'k Kernel,
    loads: Vec<&'k Access>,
    sizes: &'k mut dyn Sizes,
}

impl<'k> Evaluated<'k> {
    pub(super) fn by(kernel: &'k Kernel, expr: &'k Expr, sizes: &'k mut dyn Sizes) -> Self {
        let mut evaluated = Self {
            kernel,
            loads: Vec::new(),
            sizes,
        };
        evaluated.add(expr);
        evaluated
    }

    /// When all parts of `condition` held.
    pub(super) fn by_all(
        kernel: &'k Kernel,
        condition: &'k Expr,
        sizes: &'k mut dyn Sizes,
    ) -> Self {
        let mut evaluated = Self {
            kernel,
            loads: Vec::new(),
            sizes,
        };
        let mut rest = condition;
        while let Expr::And(first, last) = rest {
            evaluated.add(last);
            rest = first;
        }
        evaluated.add(rest);
        evaluated
    }

    /// The loads of `expr` that are evaluated whatever the values are.
    fn add(&mut self, expr: &'k Expr) {
        match expr {
            Expr::Load(access) => {
                self.add_subscripts(access);
                self.loads.push(access);
            }
            Expr::And(first, _) | Expr::Or(first, _) | Expr::Select(first, ..) => self.add(first),
            other => {
                for operand in other.operands() {
                    self.add(operand);
                }
            }
        }
    }

    fn add_subscripts(&mut self, access: &'k Access) {
        for subscript in &access.subscripts {
            if let Subscript::Computed(expr) = subscript {
                self.add(expr);
            }
        }
    }

    /// Whether `access` lies in its array: because an access with the same subscripts lay in an
    /// array that is not greater, or because of what its subscripts are.
    fn covers(&mut self, access: &Access) -> bool {
        let extents = &self.kernel.arrays[access.array].extents;
        let mut like = self.loads.iter().filter(|it| it.is_at_same_place(access));
        let sizes = &mut *self.sizes;
        let is_covered = like.any(|load| {
            let smaller = &self.kernel.arrays[load.array].extents;
            let mut pairs = smaller.iter().zip(extents);
            smaller.len() == extents.len() && pairs.all(|(less, more)| sizes.ascend(less, more))
        });
        let mut subscripts = access.subscripts.iter().zip(extents);
        is_covered
            || subscripts.all(|(subscript, extent)| match subscript {
                Subscript::Affine(index) => {
                    let next = index.offset(1);
                    sizes.ascend(&0.into(), index)
                        && next.is_ok_and(|next| sizes.ascend(&next, extent))
                }
                Subscript::Computed(_) => false,
            })
    }

    /// Whether `companion`, which is combined together with `place`, lies in its array because
    /// `place` lies in its own. That the arrays are of one size is more than this needs, but what
    /// their private copies need.
    pub(super) fn covers_companion(&mut self, place: &Place, companion: &Place) -> bool {
        let (Place::Element(access), Place::Element(other)) = (place, companion) else {
            return matches!(companion, Place::Local(_));
        };
        let extents = |access: &Access| &self.kernel.arrays[access.array].extents;
        let (ours, theirs) = (extents(access), extents(other));
        let sizes = &mut *self.sizes;
        access.is_at_same_place(other)
            && ours.len() == theirs.len()
            && ours
                .iter()
                .zip(theirs)
                .all(|(one, other)| sizes.ascend(one, other) && sizes.ascend(other, one))
    }

    /// Whether `expr` can be evaluated now.
    pub(super) fn cannot_fault(&mut self, expr: &Expr) -> bool {
        let here = match expr {
            Expr::Load(access) => self.covers(access),
            _ => !expr.may_divide_by_zero(self.kernel),
        };
        here && expr
            .operands()
            .into_iter()
            .all(|operand| self.cannot_fault(operand))
    }
}
