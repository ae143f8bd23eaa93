//! What the runtime is told of reads where keys say, to see from these how long they wait for
//! memory.

use super::forall::Table;
use super::function::{ArrayValue, FunctionLowering, Stride};
use super::trips::{Trips, fixed, main_loop};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use std::collections::BTreeMap;
use std::mem::offset_of;
use strew_affine::changed::Changed;
use strew_affine::visit::{Loop, for_each_load_of, walk};
use strew_affine::{Access, ArrayId, BinaryOp, Expr, Forall, Kernel, LocalId, Node, Subscript};
use strew_runtime::abi::GatherCall;

/// The runtime is told of so many at most: to look at keys takes time.
const MOST: usize = 16;

/// A read of what keys choose.
#[derive(Clone)]
struct Read<'k> {
    access: &'k Access,
    /// Which dimension they choose in.
    dimension: usize,
    keys: &'k Access,
    /// What keys are multiplied by.
    scale: i64,
    /// The loops around that give other keys in other turns, from inside of the forall.
    loops: Vec<Loop<'k>>,
}

impl Read<'_> {
    /// Whether both read one array, by keys of one array.
    fn is_alike(&self, other: &Read<'_>) -> bool {
        let of = |it: &Read<'_>| (it.access.array, it.keys.array, it.dimension, it.scale);
        of(self) == of(other)
    }

    fn is_same(&self, other: &Read<'_>) -> bool {
        self.is_alike(other) && self.keys.is_same(other.keys)
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// A table of what `forall` reads where keys say, and how many entries it has.
    pub(super) fn gathers(&mut self, forall: &'k Forall, trips: &Trips) -> Table {
        let reads = reads(self.program.kernel, forall);
        let is_read_only = |it: &Read<'_>| {
            let keys = it.keys.array;
            let are_integers = self.program.kernel.arrays[keys].element.is_integer();
            are_integers && self.program.facts.is_read_only(keys)
        };
        let mut reads: Vec<_> = reads.into_iter().filter(is_read_only).collect();
        let mut alike = Vec::new();
        while let Some(first) = reads.first()
            && alike.len() < MOST
        {
            let (these, others): (Vec<_>, _) =
                (reads.iter().cloned()).partition(|it| it.is_alike(first));
            alike.push(these);
            reads = others;
        }
        let address = self.stack(alike.len().max(1) * size_of::<GatherCall>());
        let mut told = Vec::new();
        for these in alike {
            let at = told.len() * size_of::<GatherCall>();
            if let Some(array) = self.gather(forall, trips, &these, (address, at)) {
                let again = u32::from(told.contains(&array));
                self.store_constant(address, at + offset_of!(GatherCall, again), again);
                told.push(array);
            }
        }
        let count = told.len();
        Table {
            address,
            count: count as i64,
        }
    }

    /// Writes an entry for reads that are alike, and says of which array, unless it cannot be told
    /// where the keys are.
    fn gather(
        &mut self,
        forall: &'k Forall,
        trips: &Trips,
        alike: &[Read<'k>],
        (table, at): (Value, usize),
    ) -> Option<ArrayId> {
        let read = alike.first()?;
        let keys = self.arrays.get(read.keys.array).cloned()?;
        let key_bytes = keys.element_bytes;
        // Fields of records lie further apart.
        let are_beside = matches!(keys.stride, Stride::Fixed(bytes) if bytes == key_bytes);
        if !are_beside || keys.own_dimensions > 0 {
            return None;
        }
        let array = self.arrays.get(read.access.array).cloned()?;
        let (row_bytes, bytes) = self.row_and_whole(&array, read)?;
        let mut times = self.builder.ins().iconst(types::I64, 0);
        for read in alike {
            // What stands elsewhere, as the rest of an unrolled loop, is run seldom.
            if let Some(own) = self.times(forall, trips, read) {
                times = self.builder.ins().iadd(times, own);
            }
        }
        let keys_count = self.elements(&keys.extents);
        let first = self.beginning(&keys);
        self.store_at(table, at + offset_of!(GatherCall, keys), first);
        self.store_at(table, at + offset_of!(GatherCall, keys_count), keys_count);
        self.store_at(table, at + offset_of!(GatherCall, row_bytes), row_bytes);
        self.store_at(table, at + offset_of!(GatherCall, bytes), bytes);
        self.store_at(table, at + offset_of!(GatherCall, times), times);
        self.store_constant(table, at + offset_of!(GatherCall, key_bytes), key_bytes);
        Some(read.access.array)
    }

    /// The distance between what neighbouring keys choose, and the bytes of the whole array; `None`
    /// where they choose inside of records.
    fn row_and_whole(&mut self, array: &ArrayValue, read: &Read<'_>) -> Option<(Value, Value)> {
        let records = array.extents.len().checked_sub(array.own_dimensions)?;
        let (outer, inner) = array
            .extents
            .get(..records)?
            .split_at_checked(read.dimension + 1)?;
        let width = self.stride_value(array.stride);
        let inside = self.elements(inner);
        let row = self.builder.ins().imul(width, inside);
        let rows = self.elements(outer);
        let whole = self.builder.ins().imul(row, rows);
        Some((self.builder.ins().imul_imm_s(row, read.scale), whole))
    }

    /// How often another key is read, about.
    fn times(&mut self, forall: &Forall, trips: &Trips, read: &Read<'_>) -> Option<Value> {
        let mut loops = read.loops.iter();
        let outer = main_loop(&forall.body);
        let mut times = trips.turns;
        match (outer, loops.next()) {
            (_, None) => {}
            (Some(outer), Some(Loop::Affine(first))) if first.iter == outer.iter => {
                times = self.divided_among(times, first.step);
            }
            _ => return None,
        }
        for inner in loops {
            match inner {
                Loop::Affine(inner) => {
                    let (lower, upper) = (fixed(&inner.lower)?, fixed(&inner.upper)?);
                    let turns = self.distance(lower, upper);
                    let turns = self.divided_among(turns, inner.step);
                    times = self.builder.ins().imul(times, turns);
                }
                Loop::Scf(_) => times = trips.entries.unwrap_or(times),
                Loop::Forall(_) => return None,
            }
        }
        Some(times)
    }
}

/// The reads in `forall`, those by one key once.
fn reads<'k>(kernel: &'k Kernel, forall: &'k Forall) -> Vec<Read<'k>> {
    let mut declared = BTreeMap::new();
    walk(&forall.body, &mut |node, _| {
        if let Node::Declare { local, value } = node
            && !kernel.locals[*local].mutable
        {
            declared.insert(*local, value);
        }
    });
    let mut found: Vec<Read<'k>> = Vec::new();
    walk(&forall.body, &mut |node, loops| {
        for_each_load_of(node, &mut |access| {
            let read = read(access, loops, &declared);
            let is_new = |read: &Read<'k>| found.iter().all(|it| !it.is_same(read));
            found.extend(read.filter(is_new));
        });
    });
    found
}

/// What `access` reads, if it is computed from a key that an array holds at a place that loops go
/// along.
fn read<'k>(
    access: &'k Access,
    loops: &[Loop<'k>],
    declared: &BTreeMap<LocalId, &'k Expr>,
) -> Option<Read<'k>> {
    let mut subscripts = access.subscripts.iter().enumerate();
    let (dimension, subscript, expr) = subscripts.find_map(|(at, it)| match it {
        Subscript::Computed(expr) => Some((at, it, expr)),
        Subscript::Affine(_) => None,
    })?;
    let (keys, scale) = key(expr, declared)?;
    let changes = |it: &Loop<'k>| !Changed::in_loop(it.iter(), it.body()).stays(subscript);
    let deepest = loops.iter().rposition(changes).map_or(0, |it| it + 1);
    keys.is_affine().then(|| Read {
        access,
        dimension,
        keys,
        scale,
        loops: loops[..deepest].to_vec(),
    })
}

/// The element that `expr` is a multiple of, but for what is added to it.
fn key<'k>(expr: &'k Expr, declared: &BTreeMap<LocalId, &'k Expr>) -> Option<(&'k Access, i64)> {
    match expr {
        Expr::Load(access) => Some((access, 1)),
        Expr::Cast(_, operand) => key(operand, declared),
        // Scalars are declared before they are used, so this ends.
        Expr::Local(local) => key(declared.get(local)?, declared),
        Expr::Binary(op, left, right, _) => {
            let (key, scale) = match constant(left) {
                Some(_) => key(right, declared)?,
                None => key(left, declared)?,
            };
            let constant = constant(left).or(constant(right))?;
            match op {
                BinaryOp::Add | BinaryOp::Sub => Some((key, scale)),
                BinaryOp::Mul if constant > 0 => Some((key, scale.checked_mul(constant)?)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn constant(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Cast(_, operand) => constant(operand),
        _ => expr.as_integer(),
    }
}
