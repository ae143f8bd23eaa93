//! Several scalars or elements that are left with what one turn has: each lane keeps the number of its best turn beside the value that it is
//! best by, and what was best of all is updated by that turn, in the order that it has in the loop.

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
use strew_affine::{CompareOp, Expr, Extremum, Node, Ties, Type};

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

/// A value, and the number of a turn.
#[derive(Clone, Copy)]
struct Candidate {
    value: Value,
    turn: Value,
}

impl Elected {
    /// No turn yet, for `count` vectors of lanes of type `ty`.
    pub(super) fn none(
        builder: &mut FunctionBuilder<'_>,
        by: Extremum,
        ty: Type,
        count: u32,
    ) -> Self {
        let vector = operation::vector_of(numbers_for(ty));
        let mut begin = |number| {
            let number = builder.ins().iconst(vector.lane_type(), number);
            let number = builder.ins().splat(vector, number);
            let variable = builder.declare_var(vector);
            builder.def_var(variable, number);
            variable
        };
        // A number less than zero has all bits of its type and no others.
        let bits = vector.lane_bits();
        let none = (-1_i64 as u64 >> (64 - bits)) as i64;
        Self {
            by,
            groups: (0..count).map(|_| begin(none)).collect(),
            next: begin(0),
        }
    }

    /// Whether `one` beats `other`, or each lane of it. No value is a NaN.
    fn beats(
        &self,
        builder: &mut FunctionBuilder<'_>,
        [one, other]: [Candidate; 2],
        ty: Type,
    ) -> Value {
        let is_better = Extremum {
            ties: Ties::First,
            ..self.by
        };
        let better = operation::compare(builder, is_better.replaces(), one.value, other.value, ty);
        let equal = operation::compare(builder, CompareOp::Eq, one.value, other.value, ty);
        let in_front = match self.by.ties {
            Ties::First => CompareOp::Lt,
            Ties::Last => CompareOp::Gt,
        };
        let in_front = operation::compare(builder, in_front, one.turn, other.turn, numbers_for(ty));
        let instead = builder.ins().band(equal, in_front);
        builder.ins().bor(better, instead)
    }

    /// The best of all candidates, or of those in each lane.
    fn best(
        &self,
        builder: &mut FunctionBuilder<'_>,
        candidates: Vec<Candidate>,
        ty: Type,
    ) -> Option<Candidate> {
        candidates.into_iter().reduce(|best, it| {
            let wins = self.beats(builder, [it, best], ty);
            Candidate {
                value: operation::choose(builder, wins, it.value, best.value),
                turn: operation::choose(builder, wins, it.turn, best.turn),
            }
        })
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
        let lanes = builder.func.dfg.value_type(next);
        let one = builder.ins().iconst(lanes.lane_type(), 1);
        let one = builder.ins().splat(lanes, one);
        let next = builder.ins().iadd(next, one);
        builder.def_var(elected.next, next);
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// The number of the turn, counted from the first one, that is best of what all lanes of groups of `count` turns hold: less than zero if
    /// there is none.
    fn best_of_all(&mut self, held: &InRegisters, elected: &Elected, count: u32) -> Option<Value> {
        let ty = held.ty();
        let builder = &mut self.builder;
        let zero = builder.ins().iconst(types::I64, 0);
        let behind = value::counted(builder, zero, numbers_for(ty), count);
        let lanes = held.vectors().iter().zip(&elected.groups).zip(behind);
        let candidates = lanes.map(|((value, group), behind)| {
            let group = builder.use_var(*group);
            // A number of a group that is less than zero is that of a turn which is, since there are no more turns in a group.
            let first = (builder.ins()).ishl_imm_u(group, i64::from(count.trailing_zeros()));
            Candidate {
                value: builder.use_var(*value),
                turn: builder.ins().iadd(first, behind),
            }
        });
        let candidates = candidates.collect();
        let mut best = elected.best(builder, candidates, ty)?;
        // Each lane with the one half of the vectors away, then with the one a quarter away, and so on: all are the best of all.
        let mut bytes = VECTOR_BYTES / 2;
        while bytes >= ty.bytes() {
            let away = Candidate {
                value: value::rotated(builder, best.value, bytes),
                turn: value::rotated(builder, best.turn, bytes),
            };
            best = elected.best(builder, vec![best, away], ty)?;
            bytes /= 2;
        }
        Some(builder.ins().extractlane(best.turn, 0))
    }

    /// Goes to the block `again` with the first turn if there are more turns than the numbers in lanes of type `ty` count.
    pub(super) fn count_turns_of_lanes(&mut self, counted: &Counted<'k>, again: Block, ty: Type) {
        if numbers_for(ty) == Type::I64 {
            return;
        }
        let distance = self.builder.ins().isub(counted.upper, counted.lower);
        let most = i64::from(i32::MAX);
        let too_many = IntCC::UnsignedGreaterThan;
        let is_more = self.builder.ins().icmp_imm_u(too_many, distance, most);
        let next = self.builder.create_block();
        let begin = [BlockArg::Value(counted.lower)];
        self.builder.ins().brif(is_more, again, &begin, next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Makes `update` in the turn of `counted` that is best by what all lanes hold, if there is one.
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
