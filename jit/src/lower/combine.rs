//! Combiners: one update, and the merge functions of private buffers.

use super::call::Calls;
use super::convert::{clif_type, convert};
use super::function::offset;
use super::operation::{self, vector_of};
use super::{Program, signature};
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Linkage, Module};
use strew_affine::{BinaryOp, Combiner, Expr, Operand, Type};

/// The values of a combiner's `bodies` on operands of `types`, or on vectors of them, lane by lane.
pub(super) fn apply_all(
    builder: &mut FunctionBuilder<'_>,
    calls: &mut Calls<'_>,
    bodies: &[Expr],
    types: &[Type],
    held: &[Value],
    incoming: &[Value],
) -> Vec<Value> {
    let operands = Operands {
        types,
        held,
        incoming,
    };
    bodies
        .iter()
        .map(|body| apply(builder, calls, body, operands))
        .collect()
}

#[derive(Clone, Copy)]
struct Operands<'o> {
    types: &'o [Type],
    held: &'o [Value],
    incoming: &'o [Value],
}

impl Operands<'_> {
    /// A verified combiner names no other parts than there are.
    fn value(&self, builder: &mut FunctionBuilder<'_>, operand: Operand) -> Value {
        let value = match operand {
            Operand::Held(part) => self.held.get(part),
            Operand::Incoming(part) => self.incoming.get(part),
        };
        value
            .copied()
            .unwrap_or_else(|| builder.ins().iconst(types::I64, 0))
    }

    /// The type of a part of a combiner's body.
    fn type_of(&self, part: &Expr) -> Type {
        match part {
            Expr::Constant(value) => value.ty(),
            Expr::Cast(to, _) => *to,
            Expr::Compare(..) | Expr::And(..) | Expr::Or(..) => Type::Bool,
            Expr::Unary(_, operand) | Expr::Binary(_, operand, ..) => self.type_of(operand),
            Expr::Select(_, then, _) => self.type_of(then),
            Expr::Call(_, operands) => operands.first().map_or(Type::F64, |it| self.type_of(it)),
            Expr::Operand(Operand::Held(part) | Operand::Incoming(part)) => {
                self.types.get(*part).copied().unwrap_or(Type::I64)
            }
            Expr::Iter(_) | Expr::Param(_) | Expr::Local(_) | Expr::Load(_) => Type::I64,
        }
    }
}

fn apply(
    builder: &mut FunctionBuilder<'_>,
    calls: &mut Calls<'_>,
    body: &Expr,
    operands: Operands<'_>,
) -> Value {
    let mut on =
        |builder: &mut FunctionBuilder<'_>, expr: &Expr| apply(builder, calls, expr, operands);
    match body {
        Expr::Operand(operand) => operands.value(builder, *operand),
        Expr::Unary(op, operand) => {
            let of = operands.type_of(operand);
            let operand = on(builder, operand);
            operation::unary(builder, *op, operand, of)
        }
        Expr::Binary(op, left, right, _) => {
            let of = operands.type_of(left);
            let (left, right) = (on(builder, left), on(builder, right));
            operation::binary(builder, *op, left, right, of)
        }
        Expr::Compare(op, left, right) => {
            let of = operands.type_of(left);
            let (left, right) = (on(builder, left), on(builder, right));
            operation::compare(builder, *op, left, right, of)
        }
        // Nothing in a combiner can fault, so both sides may be computed.
        Expr::And(left, right) => {
            let (left, right) = (on(builder, left), on(builder, right));
            builder.ins().band(left, right)
        }
        Expr::Or(left, right) => {
            let (left, right) = (on(builder, left), on(builder, right));
            builder.ins().bor(left, right)
        }
        Expr::Cast(to, operand) => {
            let from = operands.type_of(operand);
            let operand = on(builder, operand);
            convert(builder, operand, from, *to)
        }
        Expr::Call(function, values) => {
            let of = operands.type_of(body);
            let values: Vec<_> = values.iter().map(|it| on(builder, it)).collect();
            calls.emit(builder, *function, &values, of)
        }
        Expr::Select(condition, then, otherwise) => {
            let condition = on(builder, condition);
            let (then, otherwise) = (on(builder, then), on(builder, otherwise));
            operation::choose(builder, condition, then, otherwise)
        }
        Expr::Constant(value) => {
            let held = operands.value(builder, Operand::Held(0));
            let lanes = builder.func.dfg.value_type(held);
            let value = operation::constant(builder, *value);
            operation::splat(builder, lanes, value)
        }
        // A verified combiner is made of operands and constants.
        Expr::Iter(_) | Expr::Param(_) | Expr::Local(_) | Expr::Load(_) => {
            operands.value(builder, Operand::Held(0))
        }
    }
}

/// Whether the processor has every operation of `body` on vectors of `ty`.
fn is_vectorizable(body: &Expr, ty: Type) -> bool {
    let here = match body {
        // Of vectors, comparisons give masks, which no `bool` is.
        Expr::Compare(..) if ty == Type::Bool => false,
        Expr::And(..) | Expr::Or(..) => ty == Type::Bool,
        Expr::Binary(BinaryOp::Mul, ..) => ty.is_float() || matches!(ty.bytes(), 2 | 4),
        Expr::Binary(op, ..) => {
            ty.is_float()
                || matches!(
                    op,
                    BinaryOp::Add
                        | BinaryOp::Sub
                        | BinaryOp::BitAnd
                        | BinaryOp::BitOr
                        | BinaryOp::BitXor
                )
        }
        Expr::Compare(..) | Expr::Select(..) | Expr::Operand(_) => true,
        _ => false,
    };
    here && body
        .operands()
        .into_iter()
        .all(|it| is_vectorizable(it, ty))
}

impl Program<'_> {
    /// The merge function for `combiner` on elements of `types`, made when first asked for.
    pub(super) fn merge(
        &mut self,
        combiner: &Combiner,
        types: &[Type],
    ) -> Result<FuncId, CompileError> {
        let key = (combiner.to_string(), types.to_vec());
        if let Some((_, merge)) = self.merges.iter().find(|(known, _)| *known == key) {
            return Ok(*merge);
        }
        let merge = self.new_merge(combiner, types)?;
        self.merges.push((key, merge));
        Ok(merge)
    }

    fn new_merge(&mut self, combiner: &Combiner, types: &[Type]) -> Result<FuncId, CompileError> {
        let names: Vec<_> = types.iter().map(|ty| ty.name()).collect();
        let name = format!("merge {combiner} {}", names.join(" "));
        let bodies = combiner.bodies(types).unwrap_or_default();
        let mut signature = signature(&self.module, 3);
        signature.returns.clear();
        let id = self
            .module
            .declare_function(&name, Linkage::Local, &signature)?;
        let config = self.module.target_config();
        self.define(id, signature, |program, mut builder| {
            let entry = builder.create_block();
            builder.append_block_params_for_function_params(entry);
            builder.switch_to_block(entry);
            if let [held, incoming, elements] = *builder.block_params(entry) {
                let streams = Streams {
                    held: addresses(&mut builder, held, types.len()),
                    incoming: addresses(&mut builder, incoming, types.len()),
                    elements,
                    types,
                    vector: match types {
                        [ty] => bodies.iter().all(|body| is_vectorizable(body, *ty)),
                        // Lanes of different widths do not go together.
                        _ => false,
                    },
                };
                streams.merge(&mut builder, &mut program.calls(), &bodies);
            }
            builder.ins().return_(&[]);
            builder.seal_all_blocks();
            builder.finalize(config);
            Ok(())
        })?;
        Ok(id)
    }
}

/// The first `count` addresses of the table at `table`.
fn addresses(builder: &mut FunctionBuilder<'_>, table: Value, count: usize) -> Vec<Value> {
    let flags = MemFlagsData::trusted();
    let mut read = |position: usize| {
        let at = offset(position * size_of::<u64>());
        builder.ins().load(types::I64, flags, table, at)
    };
    (0..count).map(&mut read).collect()
}

/// How many vectors, or elements, one turn of the main loop handles.
const UNROLL: u32 = 4;

/// Arrays of the same length that are walked together: for each part what is held, and what comes to it.
struct Streams<'t> {
    held: Vec<Value>,
    incoming: Vec<Value>,
    elements: Value,
    types: &'t [Type],
    vector: bool,
}

/// The addresses of what one turn of a loop combines.
struct Turn {
    held: Vec<Value>,
    incoming: Vec<Value>,
}

impl Streams<'_> {
    /// Emits the loops: whole groups first, then element by element.
    fn merge(&self, builder: &mut FunctionBuilder<'_>, calls: &mut Calls<'_>, bodies: &[Expr]) {
        let lanes = match self.types {
            [ty] if self.vector => 16 / ty.bytes(),
            _ => 1,
        };
        let group = UNROLL * lanes;
        let zero = builder.ins().iconst(types::I64, 0);
        let whole = builder.ins().band_imm_s(self.elements, -i64::from(group));
        self.walk(builder, (zero, whole), group, |builder, turn| {
            for copy in 0..UNROLL {
                self.step(builder, calls, bodies, turn, (copy * lanes, self.vector));
            }
        });
        self.walk(builder, (whole, self.elements), 1, |builder, turn| {
            self.step(builder, calls, bodies, turn, (0, false));
        });
    }

    /// Combines what lies so many elements behind the addresses of `turn`: one element of each stream, or a vector.
    fn step(
        &self,
        builder: &mut FunctionBuilder<'_>,
        calls: &mut Calls<'_>,
        bodies: &[Expr],
        turn: &Turn,
        (behind, is_vector): (u32, bool),
    ) {
        let flags = MemFlagsData::trusted();
        let at = |ty: &Type| offset((behind * ty.bytes()) as usize);
        let mut load = |addresses: &[Value]| -> Vec<Value> {
            let streams = addresses.iter().zip(self.types);
            streams
                .map(|(address, ty)| {
                    let clif = if is_vector {
                        vector_of(*ty)
                    } else {
                        clif_type(*ty)
                    };
                    builder.ins().load(clif, flags, *address, at(ty))
                })
                .collect()
        };
        let incoming = load(&turn.incoming);
        let held = load(&turn.held);
        let combined = apply_all(builder, calls, bodies, self.types, &held, &incoming);
        for ((value, address), ty) in combined.into_iter().zip(&turn.held).zip(self.types) {
            builder.ins().store(flags, value, *address, at(ty));
        }
    }

    /// One loop over the elements `range.0..range.1` in steps of `stride`.
    fn walk(
        &self,
        builder: &mut FunctionBuilder<'_>,
        range: (Value, Value),
        stride: u32,
        body: impl FnOnce(&mut FunctionBuilder<'_>, &Turn),
    ) {
        let turn = builder.create_block();
        let done = builder.create_block();
        let element = builder.append_block_param(turn, types::I64);
        let some = builder
            .ins()
            .icmp(IntCC::UnsignedLessThan, range.0, range.1);
        builder
            .ins()
            .brif(some, turn, &[BlockArg::Value(range.0)], done, &[]);
        builder.switch_to_block(turn);
        let mut behind = |streams: &[Value]| -> Vec<Value> {
            let streams = streams.iter().zip(self.types);
            streams
                .map(|(address, ty)| {
                    let at = builder.ins().imul_imm_s(element, i64::from(ty.bytes()));
                    builder.ins().iadd(*address, at)
                })
                .collect()
        };
        let addresses = Turn {
            held: behind(&self.held),
            incoming: behind(&self.incoming),
        };
        body(builder, &addresses);
        let next = builder.ins().iadd_imm_s(element, i64::from(stride));
        let more = builder.ins().icmp(IntCC::UnsignedLessThan, next, range.1);
        builder
            .ins()
            .brif(more, turn, &[BlockArg::Value(next)], done, &[]);
        builder.switch_to_block(done);
    }
}
