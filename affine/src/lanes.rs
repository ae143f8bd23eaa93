//! Which loops can run several iterations at once in the lanes of vectors, as far as that follows
//! from what they are made of.

use crate::visit::{Loop, for_each_local, for_each_local_read, has_loops, walk};
use crate::{
    Access, ArrayId, BinaryOp, Combiner, Expr, IterId, Kernel, LocalId, Node, Operand, Order,
    Place, Span, Subscript, Type, UnaryOp, Variable,
};
use along::Along;
use in_turn::may_follow;
use std::collections::{BTreeMap, BTreeSet};

mod along;
mod chosen;
mod distance;
mod divisor;
mod gathered;
mod in_turn;
mod nested;
mod shared;

pub use distance::windows;
pub use divisor::divisor;
pub use gathered::{Gathering, elects};

/// The bytes of a vector.
pub const VECTOR_BYTES: u32 = 16;

/// The most lanes there can be.
pub const MOST_LANES: u32 = 64;

/// What lanes compute, and a turn would not.
const NOT_ALWAYS: &str = "what is not always computed and can fail";

/// What keeps a loop from running in lanes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// Turns that are not one apart.
    #[error("its iterator does not count by one")]
    Step,
    /// Not a power of two from 2 to [`MOST_LANES`].
    #[error("{0} is not a power of two from 2 to {MOST_LANES}")]
    Count(u32),
    /// Fewer lanes than a vector of the narrowest type has.
    #[error("a vector of `{0}` has {lanes} lanes, more than {given}", lanes = VECTOR_BYTES / .0.bytes(), given = .1)]
    Narrow(Type, u32),
    /// A `while`, a parallel loop, a branch that does more than to choose values of scalars and
    /// elements, or a local array in it.
    #[error(
        "there is more in it than assignments, updates, `let` and counted loops: a `while`, a parallel loop, a local array, or a branch that does more than to choose what scalars and elements become"
    )]
    Nested,
    /// A loop in it that has other bounds in other turns.
    #[error("the loop `{0}` in it does not have the same turns in all lanes")]
    Inner(String),
    /// What all turns write to, in a loop around others.
    #[error("all turns write to one place in `{0}`, and there are loops in it")]
    Shared(String),
    /// An update on one side of a condition, by this combiner, for which a turn may have to be made
    /// again.
    #[error(
        "an update by `{0}` stands under a condition, for which turns may have to be made again, and what else they do cannot be"
    )]
    Again(String),
    /// A scalar of what is around it, or a `bool`, that is assigned in it.
    #[error("`{0}` is assigned in it")]
    Assigned(String),
    /// A scalar, or an array of which all turns update one element, that is updated in it and used
    /// otherwise, too.
    #[error("`{0}` is updated in it, and its value used or updated again")]
    Used(String),
    /// A subscript that is computed anew in each turn, so that lanes lie anywhere.
    #[error("where in `{0}` a turn is, is computed in the turn")]
    Scattered(String),
    /// Elements of turns that follow each other do not lie at one distance, or at one that is no
    /// number and are written.
    #[error(
        "elements of `{0}` in turns that follow each other do not follow each other, nor lie at a known distance"
    )]
    Strided(String),
    /// What vectors do not have.
    #[error("there is no vector form of {0}")]
    Operation(String),
}

/// The scalars of a loop's body that differ from lane to lane.
#[derive(Clone, Debug)]
pub struct Lanes<'k> {
    kernel: &'k Kernel,
    iter: IterId,
    varying: BTreeSet<LocalId>,
    /// Those of them that are one more in each lane than in the one before.
    counting: BTreeMap<LocalId, Along>,
    /// How many of the statements.
    together: usize,
    /// Whether there are loops in it.
    has_loops: bool,
}

impl<'k> Lanes<'k> {
    /// What differs between the turns of `target`.
    ///
    /// Statements from the first one on that has no vector form are made turn by turn, if what
    /// stands in front of them may be made by all turns of a group before.
    ///
    /// # Errors
    /// What keeps it from running `count` turns at once, and where that stands.
    pub fn of(kernel: &'k Kernel, target: Loop<'_>, count: u32) -> Result<Self, (Obstacle, Span)> {
        let (iter, body) = (target.iter(), target.body());
        let mut found = Self {
            kernel,
            iter,
            varying: BTreeSet::new(),
            counting: BTreeMap::new(),
            together: body.len(),
            has_loops: has_loops(body),
        };
        let here = kernel.iters[iter].span;
        if target.step() != 1 {
            return Err((Obstacle::Step, here));
        }
        if !count.is_power_of_two() || !(2..=MOST_LANES).contains(&count) {
            return Err((Obstacle::Count(count), here));
        }
        let mut questions = 0;
        for (position, node) in body.iter().enumerate() {
            let Err(obstacle) = found.statement(node) else {
                continue;
            };
            if !found.has_loops && found.is_question_alone(node, body) {
                questions += 1;
                continue;
            }
            let (first, then) = body.split_at(position);
            if first.len() == questions || !may_follow(first, then) {
                return Err((obstacle, span_of(node, here)));
            }
            found.together = position;
            break;
        }
        let (together, _) = found.split(body);
        found.check_updated(together).map_err(|it| (it, here))?;
        found.check_conditions(body).map_err(|it| (it, here))?;
        let types = found.types(together).into_iter();
        match types.min_by_key(|ty| ty.bytes()) {
            Some(ty) if VECTOR_BYTES / ty.bytes() > count => {
                Err((Obstacle::Narrow(ty, count), here))
            }
            _ => Ok(found),
        }
    }

    /// Whether `node` declares in `body` what nobody reads, and fails in all turns or in none: to
    /// make it once, without lanes, tells.
    fn is_question_alone(&self, node: &Node, body: &[Node]) -> bool {
        let Node::Declare { local, value } = node else {
            return false;
        };
        let mut is_read = false;
        walk(body, &mut |node, _| {
            for_each_local_read(node, &mut |it| is_read |= it == *local);
        });
        let mut is_of_lanes = false;
        for_each_local(value, &mut |it| is_of_lanes |= self.is_own(it));
        let is_needed = is_read || is_of_lanes || self.kernel.locals[*local].mutable;
        !is_needed && self.fails_alike(value)
    }

    /// Whether `expr` divides by what is the same in all turns, and reads nothing that may be out
    /// of range in some.
    fn fails_alike(&self, expr: &Expr) -> bool {
        let here = match expr {
            Expr::Load(_) => false,
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor, _) => !self.varies(divisor),
            _ => true,
        };
        let mut operands = expr.operands().into_iter();
        here && operands.all(|it| self.fails_alike(it))
    }

    /// The iterator of the loop.
    pub fn iter(&self) -> IterId {
        self.iter
    }

    /// Whether there are loops in it. All lanes make each turn of these together.
    pub fn has_loops(&self) -> bool {
        self.has_loops
    }

    /// The statements of the loop's `body` that are made in lanes, and those behind them that are
    /// made turn by turn.
    pub fn split<'n>(&self, body: &'n [Node]) -> (&'n [Node], &'n [Node]) {
        body.split_at(self.together.min(body.len()))
    }

    /// Whether `expr` may have another value in another lane.
    pub fn varies(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Iter(iter) => *iter == self.iter,
            Expr::Local(local) => self.varying.contains(local),
            Expr::Load(access) => self.is_varying(access),
            _ => expr.operands().into_iter().any(|it| self.varies(it)),
        }
    }

    /// Whether the scalar may have another value in another lane; each lane has one of its own
    /// then.
    pub fn is_own(&self, local: LocalId) -> bool {
        self.varying.contains(&local)
    }

    /// Whether `access` may be of another element in another lane.
    pub fn is_varying(&self, access: &Access) -> bool {
        access.subscripts.iter().any(|it| self.is_moving(it))
    }

    /// Whether `place` is an element, the same one in all lanes.
    pub fn is_one_element(&self, place: &Place) -> bool {
        place.element().is_some_and(|it| !self.is_varying(it))
    }

    /// Whether `subscript` may have another value in another lane.
    pub fn is_moving(&self, subscript: &Subscript) -> bool {
        match subscript {
            Subscript::Affine(expr) => expr.mentions(Variable::Iter(self.iter)),
            Subscript::Computed(expr) => self.varies(expr),
        }
    }

    fn statement(&mut self, node: &Node) -> Result<(), Obstacle> {
        match node {
            Node::Declare { local, value } => {
                self.expr(value)?;
                let declared = &self.kernel.locals[*local];
                if declared.mutable && declared.ty == Type::Bool {
                    return Err(Obstacle::Assigned(declared.name.clone()));
                }
                if declared.mutable || self.varies(value) {
                    self.varying.insert(*local);
                }
                if let Some(along) = self.along(value).filter(|_| !declared.mutable) {
                    self.counting.insert(*local, along);
                }
                Ok(())
            }
            Node::Assign { place, value, .. } => {
                self.expr(value)?;
                match place {
                    Place::Element(access) => self.written(access),
                    Place::Local(local) if self.is_own(*local) => Ok(()),
                    Place::Local(local) => {
                        Err(Obstacle::Assigned(self.kernel.locals[*local].name.clone()))
                    }
                }
            }
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } => self.update(places, combiner, values),
            Node::ScfIf {
                condition,
                then,
                otherwise,
                ..
            } => {
                self.expr(condition)?;
                self.side(then)?;
                self.side(otherwise)
            }
            _ => self.inside(node),
        }
    }

    /// Elements, and scalars that each lane has, are combined in lanes, other scalars, and an
    /// element that is the same in all of them, lane by lane.
    fn update(
        &self,
        places: &[Place],
        combiner: &Combiner,
        values: &[Expr],
    ) -> Result<(), Obstacle> {
        values.iter().try_for_each(|it| self.expr(it))?;
        let mut types = Vec::new();
        for place in places {
            match place {
                Place::Element(access) if self.is_varying(access) => {
                    self.written(access)?;
                    types.push(self.kernel.arrays[access.array].element);
                }
                Place::Local(local) if self.is_own(*local) => {
                    types.push(self.kernel.locals[*local].ty);
                }
                _ if self.has_loops => return Err(Obstacle::Shared(self.name_of(place))),
                Place::Element(access) => self.element(access)?,
                Place::Local(_) => {}
            }
        }
        let known = |ty| {
            let bodies = combiner.bodies(&[ty]).unwrap_or_default();
            !bodies.is_empty() && bodies.iter().all(|it| combines_lanes(it, ty))
        };
        match (types.as_slice(), places) {
            ([], _) => Ok(()),
            ([ty], [_]) if known(*ty) => Ok(()),
            (types, places)
                if types.len() == places.len() && replaces_together(combiner, types) =>
            {
                Ok(())
            }
            _ => Err(Obstacle::Operation(format!("`{combiner}`"))),
        }
    }

    /// An element that is written: a different one in each lane, at a known distance from the one
    /// before.
    fn written(&self, access: &Access) -> Result<(), Obstacle> {
        self.element(access)?;
        if self.has_loops && !self.is_varying(access) {
            return Err(Obstacle::Shared(self.name(access.array)));
        }
        let is_apart = !self.is_strided(access) || self.distance(access).is_some_and(|it| it != 0);
        match self.is_varying(access) && is_apart {
            true => Ok(()),
            false => Err(Obstacle::Strided(self.name(access.array))),
        }
    }

    /// Elements lie behind each other, or at one distance.
    fn element(&self, access: &Access) -> Result<(), Obstacle> {
        self.has_vector_type(access)?;
        if self.has_loops {
            self.known_place(access)?;
        }
        if access.step_through_rows(self.kernel, self.iter).is_some() {
            return Ok(());
        }
        for subscript in &access.subscripts {
            match subscript {
                Subscript::Affine(expr) if self.is_moving(subscript) => {
                    if !self.goes_evenly(expr) {
                        return Err(Obstacle::Strided(self.name(access.array)));
                    }
                }
                Subscript::Computed(expr) if self.varies(expr) => {
                    if !self.goes_along(expr) {
                        return Err(Obstacle::Scattered(self.name(access.array)));
                    }
                    if !self.is_dense(access) {
                        return Err(Obstacle::Strided(self.name(access.array)));
                    }
                }
                Subscript::Affine(_) | Subscript::Computed(_) => {}
            }
        }
        Ok(())
    }

    fn name_of(&self, place: &Place) -> String {
        match place {
            Place::Element(access) => self.name(access.array),
            Place::Local(local) => self.kernel.locals[*local].name.clone(),
        }
    }

    fn has_vector_type(&self, access: &Access) -> Result<(), Obstacle> {
        let is_bool = self.kernel.arrays[access.array].element == Type::Bool;
        match is_bool && self.is_varying(access) {
            true => Err(Obstacle::Operation("arrays of `bool`".to_owned())),
            false => Ok(()),
        }
    }

    fn name(&self, array: ArrayId) -> String {
        self.kernel.arrays[array].name.clone()
    }

    /// What is the same in all lanes is computed once, as it is without them.
    fn expr(&self, expr: &Expr) -> Result<(), Obstacle> {
        if !self.varies(expr) {
            return Ok(());
        }
        let ty = expr.ty(self.kernel);
        match expr {
            Expr::Load(access) if self.is_picked(access) && !self.has_loops => {
                return self.has_vector_type(access);
            }
            Expr::Load(access) => return self.element(access),
            Expr::And(_, right) | Expr::Or(_, right) if self.may_fail(right) => {
                return Err(Obstacle::Operation(NOT_ALWAYS.to_owned()));
            }
            Expr::Select(_, then, otherwise) if self.may_fail(then) || self.may_fail(otherwise) => {
                return Err(Obstacle::Operation(NOT_ALWAYS.to_owned()));
            }
            Expr::Unary(op, _) if UnaryOp::COUNTING.contains(op) => {
                return Err(Obstacle::Operation(format!("`{}`", op.symbol())));
            }
            Expr::Binary(op, _, right, _) if !self.has_operation(*op, ty, right) => {
                return Err(Obstacle::Operation(format!("`{}` on `{ty}`", op.symbol())));
            }
            Expr::Cast(to, operand) if !has_conversion(self.source(operand, *to), *to) => {
                let from = operand.ty(self.kernel);
                return Err(Obstacle::Operation(format!(
                    "converting `{from}` to `{to}`"
                )));
            }
            Expr::Call(function, _)
                if !function.is_inline()
                    || function.operand_count() != 1 && function.extreme().is_none() =>
            {
                return Err(Obstacle::Operation(format!("`{function}`")));
            }
            _ => {}
        }
        expr.operands().into_iter().try_for_each(|it| self.expr(it))
    }

    /// The iterator is computed in the type that it is converted to.
    fn source(&self, operand: &Expr, to: Type) -> Type {
        match operand {
            Expr::Iter(_) if to.is_integer() => to,
            _ => operand.ty(self.kernel),
        }
    }

    /// Whether `expr` holds what is checked when it is computed; affine subscripts were before.
    fn may_fail(&self, expr: &Expr) -> bool {
        let here = match expr {
            Expr::Load(access) => {
                let mut subscripts = access.subscripts.iter();
                subscripts.any(|it| matches!(it, Subscript::Computed(_)))
            }
            Expr::Binary(op, _, right, _) => {
                let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem);
                divides && expr.ty(self.kernel).is_integer() && divisor(*op, right).is_none()
            }
            _ => false,
        };
        here || expr.operands().into_iter().any(|it| self.may_fail(it))
    }

    fn has_operation(&self, op: BinaryOp, ty: Type, right: &Expr) -> bool {
        match op {
            BinaryOp::Shl | BinaryOp::Shr => ty.bytes() > 1 && !self.varies(right),
            _ => is_lane_operation(op, ty) || divisor(op, right).is_some(),
        }
    }

    /// The types of what differs from lane to lane in `body`, but for `bool`, whose masks are as
    /// wide as what was compared.
    pub fn types(&self, body: &[Node]) -> Vec<Type> {
        let mut types = Vec::new();
        walk(body, &mut |node, _| {
            for expr in self.made_in_lanes(node) {
                self.collect_types(expr, &mut types);
            }
            let written = node.written_elements();
            types.extend(written.map(|it| self.kernel.arrays[it.array].element));
            if let Node::Declare { local, .. } = node
                && self.kernel.locals[*local].mutable
            {
                types.push(self.kernel.locals[*local].ty);
            }
            for side in node.blocks() {
                let updated = side.iter().filter(|it| matches!(it, Node::Reduce { .. }));
                let updated = updated.flat_map(Node::places).filter_map(Place::local);
                types.extend(updated.map(|it| self.kernel.locals[it].ty));
            }
        });
        types
    }

    fn collect_types(&self, expr: &Expr, types: &mut Vec<Type>) {
        let ty = expr.ty(self.kernel);
        if self.varies(expr) && ty != Type::Bool {
            types.push(ty);
        }
        for operand in expr.operands() {
            self.collect_types(operand, types);
        }
    }
}

/// How many turns of `target` make each of its statements at once: as many as it has lanes, or one
/// where some are made turn by turn. Where a loop inside has lanes for what is left over, it is
/// about as many of its turns that are made at once instead.
pub fn turns_at_once(kernel: &Kernel, target: Loop<'_>) -> u32 {
    let is_whole = |lanes: Lanes<'_>| {
        let mut is_whole = lanes.split(target.body()).1.is_empty();
        walk(target.body(), &mut |node, _| {
            is_whole &= Loop::of(node).is_none_or(|it| it.lanes() == 1);
        });
        is_whole
    };
    match target.lanes() {
        1 => 1,
        count if Lanes::of(kernel, target, count).is_ok_and(is_whole) => count,
        _ => 1,
    }
}

fn span_of(node: &Node, otherwise: Span) -> Span {
    match node {
        Node::Assign { span, .. } | Node::Reduce { span, .. } => *span,
        _ => otherwise,
    }
}

fn is_lane_operation(op: BinaryOp, ty: Type) -> bool {
    match op {
        BinaryOp::Add | BinaryOp::Sub => true,
        BinaryOp::Mul => ty.is_float() || ty.bytes() > 1,
        BinaryOp::Div => ty.is_float(),
        BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => false,
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => true,
    }
}

/// Whether vectors have what the body of a combiner of elements of type `ty` does.
pub fn combines_lanes(body: &Expr, ty: Type) -> bool {
    let here = match body {
        Expr::Operand(Operand::Host(_)) => false,
        Expr::And(..) | Expr::Or(..) => ty == Type::Bool,
        // Of vectors, comparisons give masks, which no `bool` in memory is.
        Expr::Compare(..) | Expr::Select(..) => ty != Type::Bool,
        Expr::Operand(_) | Expr::Constant(_) => true,
        Expr::Binary(op, ..) => is_lane_operation(*op, ty),
        _ => false,
    };
    here && body.operands().into_iter().all(|it| combines_lanes(it, ty))
}

/// Whether a comparison of first parts decides about all of them.
fn replaces_together(combiner: &Combiner, types: &[Type]) -> bool {
    matches!(combiner.order(types), Order::AnyOfTurns(_)) && !types.contains(&Type::Bool)
}

/// Whether vectors have the conversion. Those of 64-bit integers to floats and back, and of floats
/// to 32 unsigned bits, are missing.
fn has_conversion(from: Type, to: Type) -> bool {
    match (from, to) {
        _ if from == to => true,
        (Type::Bool, _) => !to.is_float(),
        (_, Type::Bool) => true,
        (Type::F32, Type::F64) | (Type::F64, Type::F32) => true,
        (Type::F32 | Type::F64, Type::I32) => true,
        (Type::F32 | Type::F64, _) if to.is_integer() => to.bytes() < 4,
        (Type::U32, Type::F32) => true,
        (_, Type::F32 | Type::F64) => from.bytes() < 4 || from == Type::I32,
        (Type::F32 | Type::F64, _) => false,
        _ => true,
    }
}
