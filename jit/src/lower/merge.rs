//! Merge functions: private buffers into each other, and into what they stand for.

use super::call::{Calls, MathFunctions};
use super::combine::apply_all;
use super::convert::clif_type;
use super::function::offset;
use super::operation::vector_of;
use super::{Function, Program, build, signature};
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::{FuncId, Module};
use strew_affine::lanes::combines_lanes;
use strew_affine::{Combiner, Expr, Type};

/// What a merge function is for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Merging {
    combiner: Combiner,
    types: Vec<Type>,
}

/// A lowered merge function.
pub(crate) struct LoweredMerge {
    pub(crate) id: FuncId,
    pub(crate) function: Function,
}

impl Program<'_> {
    /// The number of the merge function for `combiner` on elements of `types`.
    pub(super) fn merge(&mut self, combiner: &Combiner, types: &[Type]) -> u32 {
        let merging = Merging {
            combiner: combiner.clone(),
            types: types.to_vec(),
        };
        let known = self.merges.iter().position(|known| *known == merging);
        let number = known.unwrap_or(self.merges.len());
        if known.is_none() {
            self.merges.push(merging);
        }
        number as u32
    }
}

impl Merging {
    /// The element types of what is combined.
    pub(super) fn types(&self) -> &[Type] {
        &self.types
    }

    /// What combines them.
    pub(super) fn bodies(&self) -> Vec<Expr> {
        self.combiner.bodies(&self.types).unwrap_or_default()
    }

    /// Makes the function that merges.
    pub(crate) fn lower(&self, module: &mut dyn Module) -> Result<LoweredMerge, CompileError> {
        let bodies = self.bodies();
        function(3, module, |builder, calls, given| {
            let [held, incoming, elements] = *given else {
                return;
            };
            let count = self.types.len();
            let streams = Streams {
                held: addresses(builder, held, count),
                incoming: addresses(builder, incoming, count),
                elements,
                types: &self.types,
                vector: match self.types.as_slice() {
                    [ty] => bodies.iter().all(|body| combines_lanes(body, *ty)),
                    // Lanes of different widths do not go together.
                    _ => false,
                },
            };
            streams.merge(builder, calls, &bodies);
        })
    }
}

/// A function of `module` alone, with so many 64-bit parameters and no result; `fill` makes its
/// body from their values.
pub(super) fn function(
    parameters: usize,
    module: &mut dyn Module,
    fill: impl FnOnce(&mut FunctionBuilder<'_>, &mut Calls<'_>, &[Value]),
) -> Result<LoweredMerge, CompileError> {
    let mut signature = signature(module, parameters);
    signature.returns.clear();
    let id = module.declare_anonymous_function(&signature)?;
    let config = module.target_config();
    let mut math = MathFunctions::default();
    let mut calls = Calls {
        module: &mut *module,
        math: &mut math,
        contracts: false,
    };
    let function = build(id, signature, |mut builder| {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let given = builder.block_params(entry).to_vec();
        fill(&mut builder, &mut calls, &given);
        builder.ins().return_(&[]);
        builder.seal_all_blocks();
        builder.finalize(config);
        Ok(())
    })?;
    match math.into_failure() {
        Some(failure) => Err(failure),
        None => Ok(LoweredMerge { id, function }),
    }
}

/// The first `count` addresses of the table at `table`.
pub(super) fn addresses(
    builder: &mut FunctionBuilder<'_>,
    table: Value,
    count: usize,
) -> Vec<Value> {
    let flags = MemFlagsData::trusted();
    let mut read = |position: usize| {
        let at = offset(position * size_of::<u64>());
        builder.ins().load(types::I64, flags, table, at)
    };
    (0..count).map(&mut read).collect()
}

/// How many vectors, or elements, one turn of the main loop handles.
const UNROLL: u32 = 4;

/// Arrays of the same length that are walked together: for each part what is held, and what comes
/// to it.
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

    /// Combines what lies so many elements behind the addresses of `turn`: one element of each
    /// stream, or a vector.
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
        // Nobody can be told here: the host notes panics for whoever runs this.
        for ((value, address), ty) in combined.values.into_iter().zip(&turn.held).zip(self.types) {
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
