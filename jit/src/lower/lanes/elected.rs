//! Several scalars or elements that are left with what one turn has: each lane keeps the number of
//! its best turn beside the value that it is best by, and what was best of all is updated by that
//! turn, in the order that it has in the loop.

use super::super::function::FunctionLowering;
use super::super::operation;
use super::Group;
use super::gather::InRegisters;
use super::value;
use super::vectors::Vectors;
use crate::CompileError;
use crate::lower::loops::Counted;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use cranelift_frontend::{FunctionBuilder, Variable};
use strew_affine::lanes::VECTOR_BYTES;
use strew_affine::{CompareOp, Expr, Extremum, Node, Ties, Type, Value as Constant};

/// Which turn each lane has its value from.
#[derive(Clone, Debug)]
pub(super) struct Elected {
    by: Extremum,
    /// For each lane the number of a group, less than zero if it has its value from no turn.
    groups: Vec<Variable>,
    /// The number of the next group, in all lanes.
    next: Variable,
}

/// Numbers as wide as the lanes of `ty`.
fn numbers_for(ty: Type) -> Type {
    match ty.bytes() {
        8 => Type::I64,
        _ => Type::I32,
    }
}

/// How far apart lanes of type `ty` are that are put together so that each has all of them in the
/// end: half a vector, a quarter, and so on.
fn halves(ty: Type) -> impl Iterator<Item = u32> {
    let halves = std::iter::successors(Some(VECTOR_BYTES / 2), |bytes| Some(bytes / 2));
    halves.take_while(move |bytes| *bytes >= ty.bytes())
}

impl Elected {
    /// No turn yet, for `count` vectors of lanes of type `ty`.
    pub(super) fn none(
        builder: &mut FunctionBuilder<'_>,
        by: Extremum,
        ty: Type,
        count: u32,
    ) -> Self {
        let numbers = numbers_for(ty);
        let mut begin = |number| {
            let number = value::in_all_lanes(builder, Constant::integer(numbers, number));
            let variable = builder.declare_var(operation::vector_of(numbers));
            builder.def_var(variable, number);
            variable
        };
        Self {
            by,
            groups: (0..count).map(|_| begin(-1)).collect(),
            next: begin(0),
        }
    }

    /// The number of the turn that is in front, or behind where the last one is left; lane by lane.
    fn chosen(
        &self,
        builder: &mut FunctionBuilder<'_>,
        [one, other]: [Value; 2],
        ty: Type,
    ) -> Value {
        let is_it = match self.by.ties {
            Ties::First => CompareOp::Lt,
            Ties::Last => CompareOp::Gt,
        };
        let is_it = operation::compare(builder, is_it, one, other, numbers_for(ty));
        operation::choose(builder, is_it, one, other)
    }
}

impl<'k> Vectors<'_, '_, 'k, '_> {
    /// Keeps what is best in each lane, of what `values` begin with and what is held.
    pub(super) fn elect(&mut self, held: &InRegisters, elected: &Elected, values: &'k [Expr]) {
        let Some((incoming, _)) = values.split_first() else {
            return;
        };
        let ty = held.ty();
        let incoming = self.expr(incoming);
        let incoming = self.spread(incoming, ty);
        let meant = self.meant_lanes(ty.bytes());
        let builder = &mut self.function.builder;
        let next = builder.use_var(elected.next);
        let lanes = held.vectors().iter().zip(&elected.groups).zip(incoming);
        for (position, ((value, group), incoming)) in lanes.enumerate() {
            let (before, from) = (builder.use_var(*value), builder.use_var(*group));
            let mut wins = operation::compare(builder, elected.by.replaces(), incoming, before, ty);
            if let Some(meant) = meant.get(position) {
                wins = builder.ins().band(wins, *meant);
            }
            let best = operation::choose(builder, wins, incoming, before);
            let from = operation::choose(builder, wins, next, from);
            builder.def_var(*value, best);
            builder.def_var(*group, from);
        }
        let one = value::in_all_lanes(builder, Constant::integer(numbers_for(ty), 1));
        let next = builder.ins().iadd(next, one);
        builder.def_var(elected.next, next);
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// The number of the turn, counted from the first one, that is best of what all lanes of groups
    /// of `count` turns hold: less than zero if there is none.
    fn best_of_all(&mut self, held: &InRegisters, elected: &Elected, count: u32) -> Option<Value> {
        let ty = held.ty();
        let best = self.best_value(held)?;
        let builder = &mut self.builder;
        let behind = value::numbers(builder, numbers_for(ty), count);
        // Which is no turn that could be chosen.
        let worst = match (elected.by.ties, numbers_for(ty)) {
            (Ties::Last, _) => -1,
            (Ties::First, Type::I64) => i64::MAX.into(),
            (Ties::First, _) => i32::MAX.into(),
        };
        let worst = value::in_all_lanes(builder, Constant::integer(numbers_for(ty), worst));
        let lanes = held.vectors().iter().zip(&elected.groups).zip(behind);
        let turns = lanes.map(|((value, group), behind)| {
            let (value, group) = (builder.use_var(*value), builder.use_var(*group));
            // A number of a group that is less than zero is that of a turn which is, since there
            // are no more turns in a group.
            let first = (builder.ins()).ishl_imm_u(group, i64::from(count.trailing_zeros()));
            let turn = builder.ins().iadd(first, behind);
            let is_best = operation::compare(builder, CompareOp::Eq, value, best, ty);
            operation::choose(builder, is_best, turn, worst)
        });
        let turns: Vec<_> = turns.collect();
        let turn = turns
            .into_iter()
            .reduce(|one, other| elected.chosen(builder, [other, one], ty))?;
        let turn = halves(ty).fold(turn, |turn, bytes| {
            let away = value::rotated(builder, turn, bytes);
            elected.chosen(builder, [away, turn], ty)
        });
        Some(builder.ins().extractlane(turn, 0))
    }

    /// The best value of all lanes, in each lane.
    fn best_value(&mut self, held: &InRegisters) -> Option<Value> {
        let vectors = held.vectors().iter();
        let vectors = vectors.map(|it| self.builder.use_var(*it)).collect();
        let mut best = self.tree(held.gathering(), vectors)?;
        let ty = held.ty();
        for bytes in halves(ty) {
            let away = value::rotated(&mut self.builder, best, bytes);
            best = self.combined_values((&held.gathering().by, ty), best, away);
        }
        Some(best)
    }

    /// Goes to the block `rest` with the first turn if there are more turns than the numbers in
    /// lanes of one of the types `by` count.
    pub(super) fn leave_if_uncounted(
        &mut self,
        counted: &Counted<'k>,
        rest: Block,
        by: impl IntoIterator<Item = Type>,
    ) {
        let mut numbers = by.into_iter().map(numbers_for);
        if !numbers.any(|it| it != Type::I64) {
            return;
        }
        let distance = self.builder.ins().isub(counted.upper, counted.lower);
        let most = i64::from(i32::MAX);
        let too_many = IntCC::UnsignedGreaterThan;
        let is_more = self.builder.ins().icmp_imm_u(too_many, distance, most);
        let next = self.builder.create_block();
        let first = [BlockArg::Value(counted.lower)];
        self.builder.ins().brif(is_more, rest, &first, next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Makes `update` in the turn of `counted` that is best by what all lanes hold, if there is
    /// one.
    ///
    /// # Errors
    /// Those of lowering the update.
    pub(super) fn update_by_elected(
        &mut self,
        (held, elected): (&InRegisters, &Elected),
        update: &'k Node,
        (counted, group): (&Counted<'k>, &Group<'k>),
    ) -> Result<(), CompileError> {
        let Some(turn) = self.best_of_all(held, elected, group.count) else {
            return Ok(());
        };
        let turn = match self.builder.func.dfg.value_type(turn) {
            types::I64 => turn,
            _ => self.builder.ins().sextend(types::I64, turn),
        };
        let [made, next] = [(); 2].map(|()| self.builder.create_block());
        let none = (self.builder.ins()).icmp_imm_s(IntCC::SignedLessThan, turn, 0);
        self.builder.ins().brif(none, next, &[], made, &[]);
        self.builder.switch_to_block(made);
        let turn = self.builder.ins().iadd(counted.lower, turn);
        self.scoped(|function| {
            function.loops.push(counted.around);
            function.iters.insert(counted.iter, turn);
            function.forget_turn(counted.iter, counted.body);
            for node in counted.body {
                if matches!(node, Node::Declare { .. }) {
                    function.nodes(std::slice::from_ref(node))?;
                }
            }
            function.nodes(std::slice::from_ref(update))?;
            function.forget_turn(counted.iter, counted.body);
            function.loops.pop();
            Ok::<_, CompileError>(())
        })?;
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
        Ok(())
    }
}
