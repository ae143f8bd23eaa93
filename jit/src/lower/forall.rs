//! Foralls: the body becomes a function of its own, the loop a call of the runtime.

use super::body::{is_separate, lanes_of_updates, steadiness};
use super::columns::column_loops;
use super::convert::clif_type;
use super::function::{Binding, FunctionLowering, Stride, argument_flags, offset};
use super::hold::{holds_most, may_hold};
use super::loops::Counted;
use super::rows::row_loops;
use super::run_length::Buffers;
use super::sort::Ranges;
use super::trips::Trips;
use super::{Program, Request, signature};
use crate::CompileError;
use crate::compiled::Faults;
use crate::free_names::FreeNames;
use crate::sure::Sure;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_module::FuncId;
use std::mem::offset_of;
use strew_affine::visit::{Loop, has_forall, walk};
use strew_affine::{Forall, Kernel, Node};
use strew_runtime::abi::{AUTO, BodyShape, Call, ForallCall, NO_BODY, Slot};

/// A forall whose body is still to be made into the function `id`.
pub(super) struct Outlined<'k> {
    pub(super) id: FuncId,
    forall: &'k Forall,
    shape: BodyShape,
    captured: FreeNames,
    loops: Vec<Loop<'k>>,
}

pub(super) const SLOT: usize = size_of::<u64>();

impl<'k> Program<'k> {
    /// Declares the body of the forall with the number `number`, to be made in `shape`.
    pub(super) fn body(&mut self, number: u32, shape: BodyShape) -> Result<FuncId, CompileError> {
        let Some((forall, loops)) = find_forall(self.kernel, number) else {
            return Err(CompileError::Internal(format!(
                "the kernel has no forall {number}"
            )));
        };
        let captured = captured(self.kernel, self.faults, forall, &loops);
        self.outline(forall, shape, captured, loops)
    }

    pub(super) fn outline(
        &mut self,
        forall: &'k Forall,
        shape: BodyShape,
        captured: FreeNames,
        loops: Vec<Loop<'k>>,
    ) -> Result<FuncId, CompileError> {
        let signature = signature(self.module, 5);
        let id = self.module.declare_anonymous_function(&signature)?;
        self.pending.push_back(Outlined {
            id,
            forall,
            shape,
            captured,
            loops,
        });
        Ok(id)
    }
}

/// The free names of the body but the parameters, which it reads again from the arguments. The
/// iterators of all loops around are among them if a fault tells their values.
pub(super) fn captured(
    kernel: &Kernel,
    faults: Faults,
    forall: &Forall,
    loops: &[Loop<'_>],
) -> FreeNames {
    let mut free = FreeNames::of(&forall.body, forall.iter);
    for param in kernel.array_params() {
        free.arrays.remove(&param);
    }
    for buffer in forall.own_buffers() {
        free.arrays.remove(&buffer);
    }
    free.arrays.extend(forall.disjoint.iter().map(|it| it.met));
    if faults == Faults::Located {
        free.iters.extend(loops.iter().map(|it| it.iter()));
    }
    free
}

/// The forall that the runtime knows by `number`, with the loops around it.
pub(crate) fn find_forall(kernel: &Kernel, number: u32) -> Option<(&Forall, Vec<Loop<'_>>)> {
    let mut found = None;
    walk(&kernel.body, &mut |node, loops| {
        if let Node::Forall(forall) = node
            && body_number(forall) == number
        {
            found = Some((forall, loops.to_vec()));
        }
    });
    found
}

/// Whether the runtime may ask for the body of `forall` in other shapes.
fn has_other_bodies(forall: &Forall, faults: Faults) -> bool {
    !is_separate(forall) && faults == Faults::Bare && !has_forall(&forall.body)
}

/// The bodies in other shapes that the runtime may ask for when it runs the kernel, by the numbers
/// of their foralls.
pub(crate) fn other_bodies(request: &Request<'_>) -> Vec<(u32, BodyShape)> {
    let mut bodies = Vec::new();
    walk(&request.kernel.body, &mut |node, _| {
        if let Node::Forall(forall) = node
            && has_other_bodies(forall, request.faults)
        {
            let is_asked_for = |shape: &BodyShape| match shape {
                BodyShape::Direct => false,
                BodyShape::Marks
                | BodyShape::Unmarked
                | BodyShape::Apart
                | BodyShape::SortedUnmarked => forall.is_speculative(),
                BodyShape::Emit | BodyShape::Sorted => !forall.privates.is_empty(),
                _ if forall.is_speculative() => false,
                BodyShape::Shared => may_hold(request.kernel, forall),
                BodyShape::Columns => column_loops(forall).is_some(),
                BodyShape::Rows => row_loops(forall, request.kernel).is_some(),
                _ => !forall.privates.is_empty(),
            };
            let shapes = BodyShape::ALL.into_iter().filter(is_asked_for);
            bodies.extend(shapes.map(|shape| (body_number(forall), shape)));
        }
    });
    bodies
}

/// What the runtime knows a forall by: the number of its iterator, which no other loop has.
pub(super) fn body_number(forall: &Forall) -> u32 {
    forall.iter.into_raw().into_u32()
}

/// A table that the runtime is handed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) address: Value,
    /// How many entries it has.
    pub(super) count: i64,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    pub(super) fn forall(&mut self, forall: &'k Forall) -> Result<(), CompileError> {
        let program = &self.program;
        let captured = captured(program.kernel, program.faults, forall, &self.loops);
        let frame = self.frame(&captured);
        let (shape, loops) = (BodyShape::Direct, self.loops.clone());
        let id = self.program.outline(forall, shape, captured, loops)?;
        let body = self
            .program
            .module
            .declare_func_in_func(id, self.builder.func);
        let (body, of) = ((body, frame), (id, frame));
        let status = if forall.privates.is_empty() && forall.disjoint.is_empty() {
            self.by_work(forall, body, |it, work| it.share_work(forall, of, work))?
        } else if self.may_update_targets(forall) {
            self.by_updates(forall, body, |it| it.share_updates(forall, of))?
        } else {
            self.share_updates(forall, of)?
        };
        self.leave_if(status, |function| {
            function.builder.ins().return_(&[status]);
        });
        Ok(())
    }

    /// Lets the runtime divide so much `work` among threads, whatever the iterations wait for.
    fn share_work(
        &mut self,
        forall: &'k Forall,
        of: (FuncId, Value),
        work: Value,
    ) -> Result<Value, CompileError> {
        let trips = Trips::of_statements(self, work);
        let address = self.builder.ins().iconst(types::I64, 0);
        let gathers = Table { address, count: 0 };
        self.run_as(forall, of, (&trips, gathers))
    }

    /// Lets the runtime find out how to combine updates.
    fn share_updates(
        &mut self,
        forall: &'k Forall,
        of: (FuncId, Value),
    ) -> Result<Value, CompileError> {
        let count = self.affine(&forall.count, None);
        let trips = self.trips(forall, count);
        let gathers = self.gathers(forall, &trips);
        self.run_as(forall, of, (&trips, gathers))
    }

    /// Lets the runtime run `forall`, which does as much as `trips` say and reads what `gathers`
    /// are.
    fn run_as(
        &mut self,
        forall: &'k Forall,
        (body, frame): (FuncId, Value),
        (trips, gathers): (&Trips, Table),
    ) -> Result<Value, CompileError> {
        let privates = self.privates(forall);
        let table = self.forall_call(forall, body, frame, [privates, gathers], trips)?;
        Ok(self.shared(table))
    }

    fn frame(&mut self, captured: &FreeNames) -> Value {
        let mut values = Vec::new();
        for iter in &captured.iters {
            values.push(self.iter(*iter));
        }
        for local in &captured.locals {
            values.push(self.held(*local));
            values.extend(self.flag_of(*local));
        }
        for buffer in &captured.arrays {
            let array = self.arrays.get(*buffer);
            values.extend(array.map(|array| array.address));
            if let Some(Stride::Given(stride)) = array.map(|array| array.stride) {
                values.push(stride);
            }
        }
        let frame = self.stack(values.len().max(1) * SLOT);
        for (position, value) in values.into_iter().enumerate() {
            self.store_at(frame, position * SLOT, value);
        }
        frame
    }

    pub(super) fn store_at(&mut self, base: Value, at: usize, value: Value) {
        let flags = MemFlagsData::trusted();
        self.builder.ins().store(flags, value, base, offset(at));
    }

    pub(super) fn store_constant(&mut self, base: Value, at: usize, value: u32) {
        let value = self.builder.ins().iconst(types::I32, i64::from(value));
        self.store_at(base, at, value);
    }

    fn store_function(&mut self, base: Value, at: usize, id: FuncId) {
        let function = self
            .program
            .module
            .declare_func_in_func(id, self.builder.func);
        let address = self.builder.ins().func_addr(types::I64, function);
        self.store_at(base, at, address);
    }

    /// How many bytes lie between elements that follow each other.
    pub(super) fn stride_value(&mut self, stride: Stride) -> Value {
        match stride {
            Stride::Fixed(bytes) => self.builder.ins().iconst(types::I64, i64::from(bytes)),
            Stride::Given(bytes) => bytes,
        }
    }

    pub(super) fn elements(&mut self, extents: &[Value]) -> Value {
        let product = extents
            .iter()
            .copied()
            .reduce(|left, right| self.builder.ins().imul(left, right));
        product.unwrap_or_else(|| self.builder.ins().iconst(types::I64, 1))
    }

    fn forall_call(
        &mut self,
        forall: &'k Forall,
        body: FuncId,
        frame: Value,
        [privates, gathers]: [Table; 2],
        trips: &Trips,
    ) -> Result<Value, CompileError> {
        let strategy = strategy_number(&forall.strategy)?;
        let table = self.stack(size_of::<ForallCall>());
        let count = self.affine(&forall.count, None);
        self.store_function(table, offset_of!(ForallCall, body), body);
        self.store_at(table, offset_of!(ForallCall, frame), frame);
        for (entries, at, counted) in [
            (
                privates,
                offset_of!(ForallCall, privates),
                offset_of!(ForallCall, private_count),
            ),
            (
                gathers,
                offset_of!(ForallCall, gathers),
                offset_of!(ForallCall, gather_count),
            ),
        ] {
            self.store_at(table, at, entries.address);
            let count = self.builder.ins().iconst(types::I64, entries.count);
            self.store_at(table, counted, count);
        }
        self.store_at(table, offset_of!(ForallCall, count), count);
        self.store_at(table, offset_of!(ForallCall, trips), trips.updates);
        self.store_at(table, offset_of!(ForallCall, others), trips.others);
        self.store_at(table, offset_of!(ForallCall, called), trips.called);
        self.store_constant(table, offset_of!(ForallCall, strategy), strategy);
        let guarded = u32::from(self.program.facts.is_guarded());
        self.store_constant(table, offset_of!(ForallCall, guarded), guarded);
        let is_separate = is_separate(forall);
        let number = if has_other_bodies(forall, self.program.faults) {
            u64::from(body_number(forall))
        } else {
            NO_BODY
        };
        let number = self.builder.ins().iconst(types::I64, number as i64);
        self.store_at(table, offset_of!(ForallCall, body_number), number);
        let steady = steadiness(self.program.kernel, forall);
        self.store_constant(table, offset_of!(ForallCall, steady), steady);
        let uncounted = u32::from(trips.are_uncounted);
        self.store_constant(table, offset_of!(ForallCall, uncounted), uncounted);
        let pure = u32::from(self.program.facts.is_pure(forall));
        self.store_constant(table, offset_of!(ForallCall, pure), pure);
        let sure = Sure {
            kernel: self.program.kernel,
            facts: self.program.facts,
            checks: self.program.checks,
            oob: self.program.oob,
        };
        let sure = u32::from(sure.is_sure(forall, &self.loops));
        self.store_constant(table, offset_of!(ForallCall, sure), sure);
        self.store_columns(table, forall);
        self.store_rows(table, forall);
        let lanes = lanes_of_updates(forall, self.program.kernel);
        let lanes = self.builder.ins().iconst(types::I64, lanes);
        self.store_at(table, offset_of!(ForallCall, lanes), lanes);
        let held = holds_most(self.program.kernel, self.program.facts, forall);
        self.store_constant(table, offset_of!(ForallCall, held), u32::from(held));
        let holds = may_hold(self.program.kernel, forall);
        self.store_constant(table, offset_of!(ForallCall, holds), u32::from(holds));
        let separate = u32::from(is_separate);
        self.store_constant(table, offset_of!(ForallCall, separate), separate);
        Ok(table)
    }

    /// Lets the runtime run the forall of `table`.
    fn shared(&mut self, table: Value) -> Value {
        let run = self.program.run_forall;
        let run = self
            .program
            .module
            .declare_func_in_func(run, self.builder.func);
        let call = self.builder.ins().call(run, &[self.call, table]);
        self.builder.inst_results(call)[0]
    }

    /// The body as a function: the captured values back from the frame, the private buffers, the
    /// loop over `first..last`.
    pub(super) fn chunk_body(&mut self, outlined: &Outlined<'k>) -> Result<(), CompileError> {
        let entry = self.builder.current_block();
        let params = entry.map(|entry| self.builder.block_params(entry).to_vec());
        let Some(&[_, frame, privates, first, last]) = params.as_deref() else {
            return Ok(());
        };
        self.read_frame(frame, &outlined.captured);
        self.disjoint.clone_from(&outlined.forall.disjoint);
        let targets = self.read_targets(outlined.forall);
        self.bind_private(outlined.forall, outlined.shape, privates);
        self.read_beside(targets);
        self.loops.clone_from(&outlined.loops);
        if outlined.shape == BodyShape::Scan {
            self.scan(outlined.forall, (first, last), privates);
            return Ok(());
        }
        let counted = Counted {
            iter: outlined.forall.iter,
            around: Loop::Forall(outlined.forall),
            lower: first,
            upper: last,
            step: 1,
            body: &outlined.forall.body,
            group: None,
            in_range: Vec::new(),
            divided: Vec::new(),
        };
        let held = match outlined.shape {
            BodyShape::Direct => self.hold_buffers(outlined.forall),
            _ => Vec::new(),
        };
        self.counted(counted)?;
        self.let_go(held);
        Ok(())
    }

    /// Makes the private buffers known, whose addresses and what else the shape asks for stand in
    /// the table `privates`.
    fn bind_private(&mut self, forall: &'k Forall, shape: BodyShape, privates: Value) {
        match shape {
            BodyShape::Apart => self.bind_buffers(forall, privates),
            BodyShape::Direct | BodyShape::Shared => {
                self.bind_buffers(forall, privates);
                self.hold_single_elements(forall);
            }
            BodyShape::RunLength => {
                self.bind_buffers(forall, privates);
                self.begin_runs(forall, Buffers::Whole);
            }
            BodyShape::Partials => {
                self.bind_buffers(forall, privates);
                self.begin_partials(forall);
            }
            BodyShape::Atomic => {
                self.bind_buffers(forall, privates);
                for (buffer, _) in forall.buffers() {
                    self.share(buffer);
                }
            }
            BodyShape::Tables => {
                self.bind_buffers(forall, privates);
                let behind = 2 * forall.buffers().count();
                self.bind_all_tables(forall, privates, behind);
            }
            BodyShape::Paged => self.bind_paged(forall, privates),
            BodyShape::PagedRunLength => {
                self.bind_paged(forall, privates);
                self.begin_runs(forall, Buffers::Whole);
            }
            BodyShape::PagedPartials => {
                self.bind_paged(forall, privates);
                self.begin_partials(forall);
            }
            BodyShape::PagedTables => {
                self.bind_paged(forall, privates);
                let behind = 3 * forall.buffers().count();
                self.bind_all_tables(forall, privates, behind);
            }
            BodyShape::Columns => {
                self.bind_buffers(forall, privates);
                let behind = 2 * forall.buffers().count();
                let first = self.read(types::I64, privates, behind);
                let end = self.read(types::I64, privates, behind + 1);
                self.bind_columns(forall, first, end);
            }
            BodyShape::Rows => self.bind_owned_rows(forall, privates),
            BodyShape::Check | BodyShape::Scan => self.bind_checked(forall),
            BodyShape::Bounds => {
                self.bind_checked(forall);
                self.bind_bounds(forall, privates);
            }
            BodyShape::Within => self.bind_within(forall, privates),
            BodyShape::WithinRunLength => {
                self.bind_within(forall, privates);
                self.begin_runs(forall, Buffers::Ranges);
            }
            BodyShape::Marks => {
                self.bind_checked(forall);
                self.bind_marks(forall);
            }
            BodyShape::Unmarked => {
                self.bind_buffers(forall, privates);
                self.bind_marks(forall);
            }
            BodyShape::Emit => self.each_of(forall, privates, |function, private, address| {
                function.bind_stream(private, address);
            }),
            BodyShape::Sorted => self.bind_all_lines(forall, privates, Ranges::ByKey),
            BodyShape::SortedUnmarked => {
                self.bind_all_lines(forall, privates, Ranges::ByKey);
                self.bind_marks(forall);
            }
            BodyShape::Values => self.bind_all_lines(forall, privates, Ranges::Listed),
        }
    }

    fn begin_runs(&mut self, forall: &Forall, buffers: Buffers) {
        for private in &forall.privates {
            self.begin_run(private, buffers);
        }
    }

    pub(super) fn read(
        &mut self,
        ty: cranelift_codegen::ir::Type,
        base: Value,
        position: usize,
    ) -> Value {
        self.builder
            .ins()
            .load(ty, argument_flags(), base, offset(position * SLOT))
    }

    fn read_frame(&mut self, frame: Value, captured: &FreeNames) {
        let kernel = self.program.kernel;
        let mut positions = 0..;
        let mut next = || positions.next().unwrap_or(usize::MAX);
        for iter in &captured.iters {
            let value = self.read(types::I64, frame, next());
            self.iters.insert(*iter, value);
        }
        for local in &captured.locals {
            let ty = clif_type(kernel.locals[*local].ty);
            let value = self.read(ty, frame, next());
            self.locals.insert(*local, Binding::Let(value));
            if self.program.uncertain.contains(local) {
                let flag = self.read(types::I8, frame, next());
                self.bind_flag(*local, flag);
            }
        }
        for buffer in &captured.arrays {
            let address = self.read(types::I64, frame, next());
            if let Some(own) = self.program.facts.strided(*buffer) {
                let stride = self.read(types::I64, frame, next());
                self.bind_strided(*buffer, (address, 0), Stride::Given(stride), own);
            } else {
                self.bind_array(*buffer, address);
            }
        }
    }
}

pub(super) fn strategy_number(name: &str) -> Result<u32, CompileError> {
    if name == "auto" {
        return Ok(AUTO);
    }
    let known: Vec<_> = strew_runtime::STRATEGIES
        .iter()
        .map(|it| it.name())
        .collect();
    known
        .iter()
        .position(|known| *known == name)
        .and_then(|position| u32::try_from(position).ok())
        .ok_or_else(|| CompileError::UnknownStrategy {
            name: name.to_owned(),
            known,
        })
}

const _: () = assert!(size_of::<Slot>() == 16 && size_of::<Call>().is_multiple_of(8));
