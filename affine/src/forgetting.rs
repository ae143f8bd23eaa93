//! Scalars that forget: of what they hold at some time nothing is left some iterations later.
//!
//! `before = now` forgets at once, and the last ten letters of two bits each,
//! `x = (x << 2 | letter) & 0xfffff`, after ten: each iteration moves what it found up by two bits,
//! and drops what comes beyond the twentieth. Which bits follow from which is followed through the
//! statements of iteration after iteration, until none is left that follows from those at the
//! beginning.

use crate::{BinaryOp, Expr, Kernel, LocalId, Node, Operand, Place, Type, UnaryOp, visit};
use std::collections::BTreeMap;

/// Scalars of 64 bits that lose one in each iteration forget within so many, and within one more
/// for each that hands on to another what that one loses.
const MOST_ITERATIONS: u64 = 128;

/// After how many iterations, at least one, with the statements `nodes` nothing that any of
/// `locals` held before decides what any of them holds. `None` where that cannot be told.
pub fn forgets_after(kernel: &Kernel, nodes: &[Node], locals: &[LocalId]) -> Option<u64> {
    let types = locals.iter().map(|it| kernel.locals[*it].ty);
    let look = Look {
        kernel,
        bits: types.map(Type::bits).max()?,
    };
    let all = |local: &LocalId| (*local, Left::all(kernel.locals[*local].ty));
    let mut lefts: Lefts = locals.iter().map(all).collect();
    for iterations in 1..=MOST_ITERATIONS {
        look.block(nodes, &mut lefts)?;
        // What an iteration declares is gone when it ends.
        lefts.retain(|local, _| locals.contains(local));
        if lefts.is_empty() {
            return Some(iterations);
        }
    }
    None
}

/// What of a value follows from the bits that scalars held at first. Where neither is known, any of
/// it may.
#[derive(Clone, Copy)]
struct Left {
    up: Option<Up>,
    /// Bit `j` follows from none below `j` plus so many.
    down: Option<u32>,
}

/// Bit `j` follows from none beyond `j - by`, and none of them from `end` on from any.
#[derive(Clone, Copy)]
struct Up {
    by: u32,
    end: u32,
}

impl Left {
    const ANYHOW: Self = Self {
        up: None,
        down: None,
    };

    /// All of it, where it is.
    fn all(ty: Type) -> Self {
        let end = ty.bits();
        Self {
            up: Some(Up { by: 0, end }),
            down: Some(0),
        }
    }

    fn joined(self, other: Self) -> Self {
        let up = |(one, other): (Up, Up)| Up {
            by: one.by.min(other.by),
            end: one.end.max(other.end),
        };
        Self {
            up: self.up.zip(other.up).map(up),
            down: self.down.zip(other.down).map(|(one, it)| one.min(it)),
        }
    }

    /// With bits below `end` alone.
    fn up_to(self, end: u32) -> Self {
        let up = self.up.map(|it| Up {
            end: it.end.min(end),
            ..it
        });
        Self { up, ..self }
    }

    /// Moved up, in a value of so many bits, by what nobody knows where that is not known.
    fn moved_up(self, by: Option<u32>, bits: u32) -> Self {
        let up = self.up.map(|it| Up {
            by: it.by.saturating_add(by.unwrap_or(0)),
            end: by.map_or(bits, |by| bits.min(it.end.saturating_add(by))),
        });
        Self { up, down: None }
    }

    fn moved_down(self, by: Option<u32>) -> Self {
        let down = self.down.map(|it| it.saturating_add(by.unwrap_or(0)));
        Self { up: None, down }
    }

    /// What is carried goes to higher bits alone.
    fn carried(self, bits: u32) -> Self {
        let up = self.up.map(|it| Up { end: bits, ..it });
        Self { up, down: None }
    }

    /// Whether nothing is left of scalars of so many bits.
    fn is_gone(self, bits: u32) -> bool {
        self.up.is_some_and(|it| it.by >= it.end) || self.down.is_some_and(|by| by >= bits)
    }
}

/// What of scalars follows from what they held at first; of those that are not there, nothing.
type Lefts = BTreeMap<LocalId, Left>;

struct Look<'k> {
    kernel: &'k Kernel,
    /// The most that scalars had at first.
    bits: u32,
}

impl Look<'_> {
    fn block(&self, nodes: &[Node], lefts: &mut Lefts) -> Option<()> {
        nodes.iter().try_for_each(|it| self.node(it, lefts))
    }

    /// `None` where it may take longer, or fail, for what is left.
    fn node(&self, node: &Node, lefts: &mut Lefts) -> Option<()> {
        let mut expressions = node.expressions().into_iter();
        if expressions.any(|it| divides_by_any(self.kernel, it, lefts)) {
            return None;
        }
        match node {
            Node::Declare { local, value } => self.set(*local, self.of(value, lefts), lefts),
            Node::Assign {
                place: Place::Local(local),
                value,
                ..
            } => self.set(*local, self.of(value, lefts), lefts),
            Node::Reduce { places, .. } => {
                let left = match self.reduced(node) {
                    Some(value) => self.of(&value, lefts),
                    None => Some(Left::ANYHOW),
                };
                let set = places.iter().filter_map(Place::local);
                set.for_each(|it| self.set(it, left, lefts));
            }
            Node::AffineIf {
                then, otherwise, ..
            } => self.either((then, otherwise), lefts)?,
            Node::ScfIf {
                condition,
                then,
                otherwise,
                ..
            } if reads_none(condition, lefts) => self.either((then, otherwise), lefts)?,
            _ => self.anyhow(node, lefts)?,
        }
        Some(())
    }

    /// What a reduction leaves in its one scalar, as an expression.
    fn reduced(&self, node: &Node) -> Option<Expr> {
        let Node::Reduce {
            places,
            combiner,
            values,
            ..
        } = node
        else {
            return None;
        };
        let ([Place::Local(local)], [value]) = (places.as_slice(), values.as_slice()) else {
            return None;
        };
        let combined =
            combiner.combination(self.kernel.locals[*local].ty, &Expr::Local(*local), value);
        // What the host makes of both nobody sees.
        combined.filter(|it| !is_by_host(it))
    }

    /// What a loop sets, and what is set behind a condition, follows from what they read.
    fn anyhow(&self, node: &Node, lefts: &mut Lefts) -> Option<()> {
        let nodes = std::slice::from_ref(node);
        let set = visit::scalars_set_in(nodes);
        let mut follows = set.iter().any(|it| lefts.contains_key(it));
        let mut may_fail = false;
        visit::walk(nodes, &mut |node, _| {
            visit::for_each_local_read(node, &mut |it| follows |= lefts.contains_key(&it));
            let mut expressions = node.expressions().into_iter();
            may_fail |= expressions.any(|it| it.divides(self.kernel));
        });
        if follows && (may_fail || visit::has_computed_loops(nodes)) {
            return None;
        }
        if follows {
            lefts.extend(set.into_iter().map(|it| (it, Left::ANYHOW)));
        }
        Some(())
    }

    fn set(&self, local: LocalId, left: Option<Left>, lefts: &mut Lefts) {
        match left.filter(|it| !it.is_gone(self.bits)) {
            Some(left) => drop(lefts.insert(local, left)),
            None => drop(lefts.remove(&local)),
        }
    }

    fn either(&self, (then, otherwise): (&[Node], &[Node]), lefts: &mut Lefts) -> Option<()> {
        let mut others = lefts.clone();
        self.block(then, lefts)?;
        self.block(otherwise, &mut others)?;
        for (local, other) in others {
            let left = lefts.entry(local).or_insert(other);
            *left = left.joined(other);
        }
        Some(())
    }

    /// What is left in `expr`, if anything is.
    fn of(&self, expr: &Expr, lefts: &Lefts) -> Option<Left> {
        if reads_none(expr, lefts) {
            return None;
        }
        Some(match expr {
            Expr::Local(local) => *lefts.get(local)?,
            Expr::Unary(UnaryOp::BitNot, operand) => self.of(operand, lefts)?,
            Expr::Cast(to, operand) => {
                let from = operand.ty(self.kernel);
                cast(self.of(operand, lefts)?, from, *to)
            }
            Expr::Select(condition, then, otherwise) if reads_none(condition, lefts) => {
                of_both(self.of(then, lefts), self.of(otherwise, lefts))?
            }
            Expr::Binary(op @ (BinaryOp::Shl | BinaryOp::Shr), value, count, _)
                if reads_none(count, lefts) =>
            {
                self.shifted(*op, self.of(value, lefts)?, (value, count))
            }
            Expr::Binary(op, left, right, _) => {
                let both = of_both(self.of(left, lefts), self.of(right, lefts))?;
                self.binary(*op, both, (left, right))
            }
            _ => Left::ANYHOW,
        })
    }

    fn shifted(&self, op: BinaryOp, left: Left, (value, count): (&Expr, &Expr)) -> Left {
        let ty = value.ty(self.kernel);
        let count = count.as_integer();
        let count = count.map(|it| it.rem_euclid(i64::from(ty.bits())) as u32);
        match op {
            BinaryOp::Shl => left.moved_up(count, ty.bits()),
            // The sign is copied to the bits that become free.
            BinaryOp::Shr if !ty.is_signed() => left.moved_down(count),
            _ => Left::ANYHOW,
        }
    }

    /// What is left in `left op right`, if `both` is in them.
    fn binary(&self, op: BinaryOp, both: Left, (left, right): (&Expr, &Expr)) -> Left {
        let ty = left.ty(self.kernel);
        let constants = || [left, right].into_iter().filter_map(constant);
        match op {
            _ if !ty.is_integer() => Left::ANYHOW,
            BinaryOp::BitOr | BinaryOp::BitXor => both,
            BinaryOp::BitAnd => {
                let ends = constants().map(|mask| u64::BITS - mask.leading_zeros());
                ends.fold(both, Left::up_to)
            }
            BinaryOp::Add | BinaryOp::Sub => both.carried(ty.bits()),
            BinaryOp::Mul => {
                let zeros = constants().map(u64::trailing_zeros).sum();
                both.moved_up(Some(zeros), ty.bits()).carried(ty.bits())
            }
            BinaryOp::Rem if !ty.is_signed() => match constant(right) {
                Some(divisor) if divisor.is_power_of_two() => both.up_to(divisor.trailing_zeros()),
                _ => Left::ANYHOW,
            },
            _ => Left::ANYHOW,
        }
    }
}

/// What is left of a value of one type in one of the other.
fn cast(left: Left, from: Type, to: Type) -> Left {
    let are_integers = from.is_integer() && to.is_integer();
    if !are_integers || to == Type::Bool {
        return Left::ANYHOW;
    }
    if to.bits() <= from.bits() || !from.is_signed() {
        return left.up_to(to.bits());
    }
    // All bits beyond are those of the sign.
    let up = left.up.map(|it| match it.end < from.bits() {
        true => it,
        false => Up {
            end: to.bits(),
            ..it
        },
    });
    Left { up, down: None }
}

fn reads_none(expr: &Expr, lefts: &Lefts) -> bool {
    let mut reads = false;
    visit::for_each_local(expr, &mut |it| reads |= lefts.contains_key(&it));
    !reads
}

fn is_by_host(expr: &Expr) -> bool {
    let mut operands = expr.operands().into_iter();
    matches!(expr, Expr::Operand(Operand::Host(_))) || operands.any(is_by_host)
}

/// Whether `expr` divides by something of which the first values decide whether it is zero.
fn divides_by_any(kernel: &Kernel, expr: &Expr, lefts: &Lefts) -> bool {
    let here = match expr {
        Expr::Binary(_, _, divisor, _) => {
            expr.may_divide_by_zero(kernel) && !reads_none(divisor, lefts)
        }
        _ => false,
    };
    let mut operands = expr.operands().into_iter();
    here || operands.any(|it| divides_by_any(kernel, it, lefts))
}

fn constant(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Constant(value) => Some(value.bits()),
        _ => None,
    }
}

fn of_both(one: Option<Left>, other: Option<Left>) -> Option<Left> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.joined(other)),
        _ => one.or(other),
    }
}
