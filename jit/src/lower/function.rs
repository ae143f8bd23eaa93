//! One function while it is made: its environment, its prologue, its statements.

use super::Program;
use super::atomic::Shared;
use super::bounds::BoundsValue;
use super::columns::Columns;
use super::convert::clif_type;
use super::early::Early;
use super::emit::StreamValue;
use super::exit::Exits;
use super::known::{Known, Mark};
use super::lanes::{Across, Behind, InMemory};
use super::leave::Leave;
use super::marks::MarksValue;
use super::offsets::Offsets;
use super::operation;
use super::pages::PagesValue;
use super::partials::Partials;
use super::rows::Rows;
use super::run_length::Run;
use super::skip::Skips;
use super::sort::LinesValue;
use super::tables::Tables;
use super::within::Within;
use crate::CompileError;
use crate::deciding::Deciding;
use cranelift_codegen::ir::{
    self, AliasRegion, AliasRegionData, Block, InstBuilder, MemFlagsData, Value, types,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use la_arena::ArenaMap;
use std::collections::BTreeSet;
use std::mem::offset_of;
use strew_affine::interpret::Oob;
use strew_affine::visit::Loop;
use strew_affine::{
    AffineExpr, ArrayId, Counter, Disjoint, Expr, IterId, LocalId, Node, Parameter, ScalarId, Type,
    Whiles,
};
use strew_runtime::abi::{Call, Slot, Status};

/// A function under construction.
pub(super) struct FunctionLowering<'p, 'k, 'f> {
    pub(super) program: &'p mut Program<'k>,
    pub(super) builder: FunctionBuilder<'f>,
    /// The address of the function's [`Call`].
    pub(super) call: Value,
    pub(super) iters: ArenaMap<IterId, Value>,
    pub(super) locals: ArenaMap<LocalId, Binding>,
    pub(super) scalars: ArenaMap<ScalarId, Value>,
    pub(super) arrays: ArenaMap<ArrayId, ArrayValue>,
    /// What is read of the arrays of which other elements are updated than those that are there.
    pub(super) targets: ArenaMap<ArrayId, ArrayValue>,
    /// The elements that nobody may update.
    pub(super) marks: Vec<MarksValue>,
    /// The elements of the arrays that are variables.
    pub(super) promoted: ArenaMap<ArrayId, Vec<Variable>>,
    /// The small local arrays that are memory here, each with how many loops are around what
    /// allocates it.
    pub(super) small_arrays: Vec<(ArrayId, usize)>,
    /// The rows that a loop around has in vectors.
    pub(super) across: Vec<Across<'k>>,
    /// The loops around what is being lowered, outermost first.
    pub(super) loops: Vec<Loop<'k>>,
    /// The variables of the `while` loops among them, in this function.
    pub(super) whiles: Whiles,
    /// How many `affine.if` there are around, in this function.
    pub(super) conditions: usize,
    /// The loops around whose iterator has another value in each turn, each with how many
    /// conditions are around it.
    pub(super) turning: Vec<(IterId, usize)>,
    /// Whether what is loaded anew in each turn is so where it stands, and not where it is used.
    pub(super) loads_in_place: bool,
    /// Whether what is loaded is for lanes of a loop, in front of which it stays.
    pub(super) is_preparing: bool,
    /// How turns of the innermost `while` loop around leave it, where they may.
    pub(super) leave: Option<Leave>,
    /// The address of what is not zero when somebody asked the call to stop.
    pub(super) stop: Value,
    pub(super) updates: Variable,
    pub(super) known: Known,
    /// Subscripts of the body that is being lowered.
    pub(super) offsets: Vec<Offsets>,
    pub(super) exits: Exits,
    /// Where updates of private buffers go, if not into them.
    pub(super) streams: Vec<StreamValue>,
    pub(super) lines: Vec<LinesValue>,
    /// What private buffers do not have yet.
    pub(super) runs: Vec<Run>,
    /// The same where there are several values of an element.
    pub(super) partials: Vec<Partials>,
    /// The private buffers of which there are several.
    pub(super) tables: Vec<Tables>,
    /// The lane that is lowered, where lanes are made one after the other.
    pub(super) behind: Option<Behind>,
    /// What of private buffers is filled.
    pub(super) pages: Vec<PagesValue>,
    /// The private buffers that updates are only checked for.
    pub(super) checked: BTreeSet<ArrayId>,
    /// What then decides whether something fails.
    pub(super) deciding: Option<Deciding>,
    /// Where updates that are only checked go.
    pub(super) bounds: Vec<BoundsValue>,
    /// Which elements of private buffers are updated, if not all.
    pub(super) within: Vec<Within>,
    /// Which columns of the private buffers are updated.
    pub(super) columns: Columns,
    /// Which rows of them.
    pub(super) rows: Rows,
    /// The private buffers that are not private.
    pub(super) shared: Shared,
    /// The arrays of which no element is written twice here.
    pub(super) disjoint: Vec<Disjoint>,
    /// What statements do where an index is out of range.
    pub(super) skips: Skips,
    /// What the next turns of the `while` loops around read.
    pub(super) early: Vec<Early>,
}

/// Where the value of a local is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binding {
    /// A `let`.
    Let(Value),
    /// A `let` of an integer of type `ty` that was loaded, sign- or zero-extended to 64 bits.
    Loaded { wide: Value, ty: ir::Type },
    /// A `let` of a loop in lanes, which is loaded where it is wanted.
    InMemory(InMemory),
    /// A mutable scalar.
    Mutable(Variable),
}

/// The distance in bytes from one element of an array to the next, of a field from one record to
/// the next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stride {
    Fixed(u32),
    /// Of a buffer that may be a field of a record itself.
    Given(Value),
}

/// An array while its function runs.
#[derive(Clone, Debug)]
pub(super) struct ArrayValue {
    pub(super) address: Value,
    /// Bytes from `address` to the first element.
    pub(super) offset: u32,
    pub(super) stride: Stride,
    /// How many of the last dimensions lie inside of a record, where elements follow each other.
    pub(super) own_dimensions: usize,
    pub(super) element_bytes: u32,
    /// One for each dimension, as `i64`.
    pub(super) extents: Vec<Value>,
    /// Accesses of different arrays never meet.
    pub(super) region: AliasRegion,
}

/// Flags for what the prologue reads: always there, never changing during the call.
pub(super) fn argument_flags() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly().with_can_move()
}

/// An offset into one of the tables, all of which are far smaller than 2 GiB.
pub(super) fn offset(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

impl<'p, 'k, 'f> FunctionLowering<'p, 'k, 'f> {
    /// Makes the entry block and reads the arguments.
    pub(super) fn start(program: &'p mut Program<'k>, mut builder: FunctionBuilder<'f>) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let call = builder.block_params(entry)[0];
        let flags = argument_flags();
        let slots = builder
            .ins()
            .load(types::I64, flags, call, offset(offset_of!(Call, slots)));
        let stop = builder
            .ins()
            .load(types::I64, flags, call, offset(offset_of!(Call, stop)));
        let updates = builder.declare_var(types::I64);
        let zero = builder.ins().iconst(types::I64, 0);
        builder.def_var(updates, zero);
        let mut function = Self {
            program,
            builder,
            call,
            iters: ArenaMap::default(),
            locals: ArenaMap::default(),
            scalars: ArenaMap::default(),
            arrays: ArenaMap::default(),
            targets: ArenaMap::default(),
            marks: Vec::new(),
            promoted: ArenaMap::default(),
            small_arrays: Vec::new(),
            across: Vec::new(),
            loops: Vec::new(),
            whiles: Vec::new(),
            conditions: 0,
            turning: Vec::new(),
            loads_in_place: false,
            is_preparing: false,
            leave: None,
            stop,
            updates,
            known: Known::default(),
            offsets: Vec::new(),
            exits: Exits::default(),
            streams: Vec::new(),
            lines: Vec::new(),
            runs: Vec::new(),
            partials: Vec::new(),
            tables: Vec::new(),
            behind: None,
            pages: Vec::new(),
            checked: BTreeSet::new(),
            deciding: None,
            bounds: Vec::new(),
            within: Vec::new(),
            columns: Columns::default(),
            rows: Rows::default(),
            shared: Shared::default(),
            disjoint: Vec::new(),
            skips: Skips::default(),
            early: Vec::new(),
        };
        function.begin_skips();
        function.read_arguments(slots);
        function
    }

    fn read_arguments(&mut self, slots: Value) {
        let kernel = self.program.kernel;
        let address = |position: usize| offset(position * size_of::<Slot>());
        for (position, param) in kernel.params.iter().enumerate() {
            if let Parameter::Scalar(scalar) = *param {
                let ty = clif_type(kernel.scalars[scalar].ty);
                let value = self
                    .builder
                    .ins()
                    .load(ty, argument_flags(), slots, address(position));
                self.scalars.insert(scalar, value);
            }
        }
        for (position, param) in kernel.params.iter().enumerate() {
            let arrays = match param {
                Parameter::Scalar(_) => continue,
                Parameter::Array(array) => std::slice::from_ref(array),
                Parameter::Record(record) => &kernel.records[*record].fields,
            };
            let base =
                self.builder
                    .ins()
                    .load(types::I64, argument_flags(), slots, address(position));
            for array in arrays {
                self.bind_array(*array, base);
            }
        }
    }

    /// Makes `array` known at `address`, of a field that of its record; its extents are computed
    /// from the scalar parameters.
    pub(super) fn bind_array(&mut self, array: ArrayId, address: Value) {
        let kernel = self.program.kernel;
        let declared = &kernel.arrays[array];
        let (offset, own) = declared
            .field
            .map_or((0, 0), |it| (it.offset, it.own_dimensions));
        let stride = Stride::Fixed(kernel.stride_bytes(array));
        self.bind_strided(array, (address, offset), stride, own);
    }

    /// The same for an array whose elements, or records of so many dimensions of its own, lie so
    /// far apart.
    pub(super) fn bind_strided(
        &mut self,
        array: ArrayId,
        (address, offset): (Value, u32),
        stride: Stride,
        own_dimensions: usize,
    ) {
        let kernel = self.program.kernel;
        let declared = &kernel.arrays[array];
        // A vector may be stored over several fields.
        let record = declared.field.map(|it| &kernel.records[it.record]);
        let first = record.and_then(|it| it.fields.first()).copied();
        let region = self.builder.func.dfg.alias_regions.insert(AliasRegionData {
            user_id: first.unwrap_or(array).into_raw().into_u32(),
            description: record.map_or(&declared.name, |it| &it.name).clone().into(),
        });
        let extents = declared
            .extents
            .iter()
            .map(|extent| self.extent(extent))
            .collect();
        self.arrays.insert(
            array,
            ArrayValue {
                address,
                offset,
                stride,
                own_dimensions,
                element_bytes: declared.element.bytes(),
                extents,
                region,
            },
        );
    }

    /// The extent of an array, or what never is negative as those are not: calls with negative ones
    /// are refused.
    ///
    /// So a maximum changes nothing about it. The code generator adds a constant anew in each block
    /// that uses the sum, but keeps a maximum.
    pub(super) fn extent(&mut self, extent: &AffineExpr) -> Value {
        let value = self.exact_affine(extent);
        if extent.constant() == 0 || extent.as_constant().is_some() {
            return value;
        }
        let zero = self.builder.ins().iconst(types::I64, 0);
        self.builder.ins().smax(value, zero)
    }

    /// Leaves the value of `result` where the caller of the kernel finds it.
    pub(super) fn result(&mut self, result: &'k Expr) {
        let ty = result.ty(self.program.kernel);
        let value = self.expr(result);
        let flags = MemFlagsData::new();
        let bits = match ty {
            Type::F64 => self.builder.ins().bitcast(types::I64, flags, value),
            Type::F32 => self.builder.ins().bitcast(types::I32, flags, value),
            _ => value,
        };
        let bits = match ty.bytes() {
            8 => bits,
            _ => self.builder.ins().uextend(types::I64, bits),
        };
        let field = offset(offset_of!(Call, returned));
        let flags = MemFlagsData::trusted();
        self.builder.ins().store(flags, bits, self.call, field);
    }

    /// Ends the function with [`Status::Done`].
    pub(super) fn finish(mut self) {
        let done = self.builder.use_var(self.updates);
        self.add_to_call(offset_of!(Call, updates), done);
        self.end_skips();
        self.leave_streams();
        self.leave_lines();
        self.end_runs();
        self.end_partials();
        self.end_bounds();
        self.return_status(Status::Done);
        self.end();
    }

    /// Ends the function behind its last instruction.
    pub(super) fn end(mut self) {
        self.builder.seal_all_blocks();
        self.builder.finalize(self.program.module.target_config());
    }

    /// What tells the turns of the loops around, outermost first.
    pub(super) fn enclosing_counters(&self) -> Vec<Counter> {
        Counter::around(self.loops.iter().map(|it| it.iter()), &self.whiles)
    }

    pub(super) fn nodes(&mut self, nodes: &'k [Node]) -> Result<(), CompileError> {
        self.with_offsets(nodes, |function| function.nodes_with_offsets(nodes))
    }

    /// The same, where it was said before which subscripts are checked together.
    pub(super) fn nodes_with_offsets(&mut self, nodes: &'k [Node]) -> Result<(), CompileError> {
        let oob = self.program.oob;
        match oob {
            Oob::Error => self.nodes_that_leave(nodes),
            Oob::Skip => nodes.iter().try_for_each(|node| self.skippable(node)),
        }
    }

    pub(super) fn statement(&mut self, node: &'k Node) -> Result<(), CompileError> {
        let held = self.hold_locals(node);
        // A loop inside is left for what follows it.
        let leave = self.leave.filter(|_| Loop::of(node).is_none());
        let around = std::mem::replace(&mut self.leave, leave);
        self.one_of_nodes(node)?;
        self.leave = around;
        self.let_go(held);
        Ok(())
    }

    fn one_of_nodes(&mut self, node: &'k Node) -> Result<(), CompileError> {
        match node {
            Node::AffineFor(affine_for) => self.affine_for(affine_for),
            Node::ScfFor(scf_for) => self.scf_for(scf_for),
            Node::ScfWhile {
                condition, body, ..
            } => self.scf_while(condition, body),
            Node::Forall(forall) => self.forall(forall),
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => {
                let condition = self.affine_conditions(conditions);
                self.conditions += 1;
                self.branch([then, otherwise], |function, [yes, no]| {
                    function.builder.ins().brif(condition, yes, &[], no, &[]);
                    function.mark()
                })?;
                self.conditions -= 1;
                Ok(())
            }
            Node::ScfIf {
                condition,
                then,
                otherwise,
                ..
            } => {
                let sides = [then.as_slice(), otherwise.as_slice()];
                let is_chosen = !self.leave_in(sides)
                    && (self.choose(condition, sides)?
                        || self.choose_float(condition, sides)
                        || self.keep(condition, sides)?);
                if is_chosen {
                    return Ok(());
                }
                self.branch([then, otherwise], |function, blocks| {
                    function.jump_on(condition, blocks)
                })
            }
            Node::Declare { local, value } => {
                self.declare(*local, value);
                Ok(())
            }
            Node::Alloc { array } => {
                self.alloc(*array);
                Ok(())
            }
            Node::Assign { place, value, .. } => {
                self.assign(place, value);
                Ok(())
            }
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } => {
                self.reduce(places, combiner, values);
                Ok(())
            }
        }
    }

    /// Both sides of a condition, which `jump` decides on as [`jump_on`](Self::jump_on) does.
    fn branch(
        &mut self,
        sides: [&'k [Node]; 2],
        jump: impl FnOnce(&mut Self, [Block; 2]) -> Mark,
    ) -> Result<(), CompileError> {
        let blocks = [self.builder.create_block(), self.builder.create_block()];
        let join = self.builder.create_block();
        let mark = jump(self, blocks);
        for (block, body) in blocks.into_iter().zip(sides) {
            self.builder.switch_to_block(block);
            self.count_updates(body, None);
            self.nodes(body)?;
            self.forget_since(mark);
            self.builder.ins().jump(join, &[]);
        }
        self.builder.switch_to_block(join);
        Ok(())
    }

    pub(super) fn declare(&mut self, local: LocalId, value: &'k Expr) {
        if self.is_idle(local) {
            return self.check_expr(value);
        }
        if self.program.uncertain.contains(&local) {
            return self.declare_uncertain(local, value);
        }
        let declared = &self.program.kernel.locals[local];
        let (ty, mutable) = (declared.ty, declared.mutable);
        let binding = if mutable {
            let variable = self.builder.declare_var(clif_type(ty));
            let value = self.expr(value);
            self.builder.def_var(variable, value);
            Binding::Mutable(variable)
        } else {
            self.let_binding(ty, value)
        };
        self.locals.insert(local, binding);
    }

    /// An integer that comes straight from memory is extended by the load itself, which is what a
    /// subscript wants.
    fn let_binding(&mut self, ty: Type, value: &'k Expr) -> Binding {
        match value {
            Expr::Load(access) if ty.is_integer() && ty.bits() < 64 => {
                let wide = self.load_extended(access);
                let ty = clif_type(ty);
                Binding::Loaded { wide, ty }
            }
            Expr::Local(local) => match self.locals.get(*local).copied() {
                Some(loaded @ (Binding::Loaded { .. } | Binding::InMemory(_))) => loaded,
                _ => Binding::Let(self.expr(value)),
            },
            _ => Binding::Let(self.expr(value)),
        }
    }

    pub(super) fn local(&mut self, local: LocalId) -> Value {
        self.skip_without_value(local);
        self.held(local)
    }

    /// What stands for the value of `local`, which it need not have.
    pub(super) fn held(&mut self, local: LocalId) -> Value {
        match self.locals.get(local).copied() {
            Some(Binding::Let(value)) => value,
            Some(Binding::Loaded { wide, ty }) => self.builder.ins().ireduce(ty, wide),
            Some(Binding::InMemory(place)) => self.load_lane(place),
            Some(Binding::Mutable(variable)) => self.builder.use_var(variable),
            // A verified kernel declares every local before it is used: this one is idle, and lanes
            // compute what nobody needs from it.
            None => operation::zero(&mut self.builder, self.program.kernel.locals[local].ty),
        }
    }

    /// Adds to the number of updates what the statements that stand directly in `nodes` do in
    /// `turns` turns, or in one.
    pub(super) fn count_updates(&mut self, nodes: &[Node], turns: Option<Value>) {
        let facts = self.program.facts;
        let each = nodes.iter().filter(|node| facts.counts(node)).count();
        if each == 0 {
            return;
        }
        let each = self.builder.ins().iconst(types::I64, each as i64);
        let done = match turns {
            Some(turns) => self.builder.ins().imul(turns, each),
            None => each,
        };
        let before = self.builder.use_var(self.updates);
        let after = self.builder.ins().iadd(before, done);
        self.builder.def_var(self.updates, after);
    }

    /// Adds the updates that `nodes` make to what is done, where it `holds` that they do.
    pub(super) fn count_updates_where(&mut self, holds: Value, nodes: &[Node]) {
        let all = self.builder.ins().uextend(types::I64, holds);
        self.count_updates(nodes, Some(all));
    }

    /// The address of `bytes` bytes in the frame, for numbers of 64 bits.
    pub(super) fn stack(&mut self, bytes: usize) -> Value {
        stack(&mut self.builder, bytes, align_of::<u64>())
    }
}

/// The address of `bytes` bytes in the frame of the function under construction, a multiple of
/// `align`, which is a power of two.
pub(super) fn stack(builder: &mut FunctionBuilder<'_>, bytes: usize, align: usize) -> Value {
    let slot = slot(builder, bytes, align);
    builder.ins().stack_addr(types::I64, slot, 0)
}

/// `bytes` bytes in the frame of the function under construction, from a multiple of `align` on,
/// which is a power of two.
pub(super) fn slot(builder: &mut FunctionBuilder<'_>, bytes: usize, align: usize) -> ir::StackSlot {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let shift = align.trailing_zeros() as u8;
    let slot = ir::StackSlotData::new(ir::StackSlotKind::ExplicitSlot, bytes, shift);
    builder.create_sized_stack_slot(slot)
}
