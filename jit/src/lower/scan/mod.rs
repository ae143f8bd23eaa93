//! Bodies that find out for many iterations at once whether any of them can fail, and where their
//! updates may go.
//!
//! Loops are not run: iterators are taken as the ranges they go through, affine expressions as
//! those of their values, and of an array of indices, or of numbers that indices rise or fall with,
//! the least and the largest are looked for in the part that may be read, whichever of them are. So
//! they are in an array of bounds: rows that it tells the ends of are taken as all that lies
//! between the first and the last. If all of that is in range, no iteration fails. If it is not,
//! some iteration may fail, or none: that takes the body that checks them one by one.

mod interval;
mod monotone;

use super::function::{FunctionLowering, offset};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use interval::Interval;
use la_arena::ArenaMap;
use monotone::Monotone;
use std::collections::BTreeSet;
use std::mem::offset_of;
use strew_affine::visit::{Loop, walk};
use strew_affine::{
    Access, AffineFor, ArrayId, Bound, Expr, Forall, IterId, LocalId, Node, Place, ScfFor,
    Subscript, Term, Type,
};
use strew_runtime::SIGNED_KEYS;
use strew_runtime::abi::{Bounds, Scanned};

/// The body does what this way of looking at it does not understand.
#[derive(Clone, Copy, Debug)]
struct Unknown;

/// Of the indices that are looked at, one out of so many must be read by some iteration: else it
/// takes less to run them.
const SPARSE: i64 = 4;

/// A part of an array of indices.
struct Part<'k> {
    array: ArrayId,
    /// Equal for subscripts that differ by constants.
    terms: Vec<&'k [Term]>,
    innermost: Option<IterId>,
    /// The numbers of its elements.
    elements: Interval,
    /// Whether any of them is read.
    is_read: Value,
    /// How many iterations read it, and how many elements each.
    turns: Value,
    reads: i64,
}

impl Part<'_> {
    /// Whether iterations read `other` where they read this, but for a fixed distance.
    fn is_like(&self, other: &Self) -> bool {
        (self.array, self.innermost) == (other.array, other.innermost) && self.terms == other.terms
    }
}

/// What a subscript may be.
enum Position<'k> {
    Affine(Interval),
    Computed(Monotone<'k>),
}

/// An element that is read or written.
struct Reached<'k> {
    array: ArrayId,
    positions: Vec<Position<'k>>,
    /// Whether it is in any iteration.
    is_reached: Value,
}

struct Scanner<'s, 'p, 'k, 'f> {
    function: &'s mut FunctionLowering<'p, 'k, 'f>,
    forall: &'k Forall,
    ranges: ArenaMap<IterId, Interval>,
    /// What scalars hold that are set once.
    held: ArenaMap<LocalId, &'k Expr>,
    /// Those that are set more often.
    assigned: BTreeSet<LocalId>,
    /// Whether all is known so far.
    is_known: Value,
    /// Whether the loops around run at all, and about how often.
    runs: Value,
    turns: Value,
    parts: Vec<Part<'k>>,
    reached: Vec<Reached<'k>>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Looks at the iterations `first..last` of `forall`, and widens the bounds whose addresses
    /// stand in the table `privates`.
    pub(super) fn scan(
        &mut self,
        forall: &'k Forall,
        (first, last): (Value, Value),
        privates: Value,
    ) {
        let mut scanner = Scanner::new(self, forall);
        let outcome = scanner.iterations(first, last);
        let (reached, positions) = match outcome {
            Ok(()) => scanner.look(),
            Err(Unknown) => {
                scanner.is_known = scanner.function.builder.ins().iconst(types::I8, 0);
                Default::default()
            }
        };
        let is_known = scanner.is_known;
        let mut position = 0;
        for private in &forall.privates {
            let address = self.read(types::I64, privates, position);
            let mut bounds = self.bounds_at(address);
            for (reached, numbers) in reached.iter().zip(&positions) {
                if private.buffers.first() == Some(&reached.array) {
                    bounds = self.widened(bounds, reached.is_reached, *numbers);
                }
            }
            self.leave_bounds(address, bounds, is_known);
            position += private.buffers.len();
        }
    }

    fn bounds_at(&mut self, address: Value) -> Interval {
        let [least, most] = [offset_of!(Bounds, least), offset_of!(Bounds, most)].map(|field| {
            let (flags, at) = (MemFlagsData::trusted(), offset(field));
            self.builder.ins().load(types::I64, flags, address, at)
        });
        Interval { least, most }
    }

    /// The bounds of `bounds` and of `numbers`, if any of these is reached.
    fn widened(&mut self, bounds: Interval, is_reached: Value, numbers: Interval) -> Interval {
        let ins = &mut self.builder;
        let least = ins.ins().umin(bounds.least, numbers.least);
        let most = ins.ins().umax(bounds.most, numbers.most);
        Interval {
            least: ins.ins().select(is_reached, least, bounds.least),
            most: ins.ins().select(is_reached, most, bounds.most),
        }
    }

    /// Leaves the bounds where the runtime finds them, or that nothing is known.
    fn leave_bounds(&mut self, address: Value, bounds: Interval, is_known: Value) {
        let fields = [
            (offset_of!(Bounds, least), bounds.least, Bounds::ALL.least),
            (offset_of!(Bounds, most), bounds.most, Bounds::ALL.most),
        ];
        for (field, value, unknown) in fields {
            let unknown = self.builder.ins().iconst(types::I64, unknown.cast_signed());
            let value = self.builder.ins().select(is_known, value, unknown);
            self.store_at(address, field, value);
        }
    }
}

impl<'s, 'p, 'k, 'f> Scanner<'s, 'p, 'k, 'f> {
    fn new(function: &'s mut FunctionLowering<'p, 'k, 'f>, forall: &'k Forall) -> Self {
        let one = function.builder.ins().iconst(types::I64, 1);
        let holds = function.builder.ins().iconst(types::I8, 1);
        let mut assigned = BTreeSet::new();
        walk(&forall.body, &mut |node, _| {
            let places = node.places().iter();
            assigned.extend(places.filter_map(|place| match place {
                Place::Local(local) => Some(*local),
                Place::Element(_) => None,
            }));
        });
        Self {
            function,
            forall,
            ranges: ArenaMap::default(),
            held: ArenaMap::default(),
            assigned,
            is_known: holds,
            runs: holds,
            turns: one,
            parts: Vec::new(),
            reached: Vec::new(),
        }
    }

    fn iterations(&mut self, first: Value, last: Value) -> Result<(), Unknown> {
        // Whether an element is written twice is not a question of where it is.
        if !self.forall.disjoint.is_empty() {
            return Err(Unknown);
        }
        let most = self.function.builder.ins().iadd_imm_s(last, -1);
        let range = Interval { least: first, most };
        self.in_loop(Loop::Forall(self.forall), range, 1)
    }

    /// The body of a loop whose iterator goes through `range`, or not all of it.
    fn in_loop(&mut self, around: Loop<'k>, range: Interval, step: i64) -> Result<(), Unknown> {
        let (runs, turns) = (self.runs, self.turns);
        let ins = &mut self.function.builder;
        let here = (ins.ins()).icmp(IntCC::SignedLessThanOrEqual, range.least, range.most);
        self.runs = ins.ins().band(runs, here);
        // Of these a guess is enough.
        let length = ins.ins().isub(range.most, range.least);
        let step = ins.ins().iconst(types::I64, step.max(1));
        let length = ins.ins().udiv(length, step);
        let length = ins.ins().iadd_imm_s(length, 1);
        self.turns = ins.ins().imul(turns, length);
        self.ranges.insert(around.iter(), range);
        self.function.loops.push(around);
        let outcome = self.nodes(around.body());
        self.function.loops.pop();
        (self.runs, self.turns) = (runs, turns);
        outcome
    }

    fn nodes(&mut self, nodes: &'k [Node]) -> Result<(), Unknown> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'k Node) -> Result<(), Unknown> {
        match node {
            Node::AffineFor(affine_for) => return self.affine_for(affine_for),
            Node::ScfFor(scf_for) => return self.scf_for(scf_for),
            Node::Forall(_) | Node::ScfWhile { .. } => return Err(Unknown),
            Node::Declare { local, value } if !self.assigned.contains(local) => {
                self.held.insert(*local, value);
            }
            Node::AffineIf { conditions, .. } => {
                for condition in conditions {
                    self.interval(&condition.left)?;
                    self.interval(&condition.right)?;
                }
            }
            Node::Declare { .. }
            | Node::ScfIf { .. }
            | Node::Alloc { .. }
            | Node::Assign { .. }
            | Node::Reduce { .. } => {}
        }
        for expr in node.expressions() {
            self.expr(expr)?;
        }
        for access in node.written_elements() {
            self.access(access)?;
        }
        // As if all branches were taken.
        node.blocks().try_for_each(|it| self.nodes(it))
    }

    fn affine_for(&mut self, node: &'k AffineFor) -> Result<(), Unknown> {
        let lowers = self.intervals(&node.lower)?;
        let uppers = self.intervals(&node.upper)?;
        let ins = &mut self.function.builder;
        let leasts = lowers.into_iter().map(|it| it.least);
        let least = leasts.reduce(|one, other| ins.ins().smax(one, other));
        let mosts = uppers.into_iter().map(|it| it.most);
        let most = mosts.reduce(|one, other| ins.ins().smin(one, other));
        let (least, most) = least.zip(most).ok_or(Unknown)?;
        let back = self.constant(-1);
        let most = self.sum(most, back);
        self.in_loop(Loop::Affine(node), Interval { least, most }, node.step)
    }

    /// A loop whose bounds are elements, as those over rows are.
    fn scf_for(&mut self, node: &'k ScfFor) -> Result<(), Unknown> {
        self.expr(&node.lower)?;
        self.expr(&node.upper)?;
        let mut lower = self.part_of(&node.lower)?;
        let upper = self.part_of(&node.upper)?;
        // What its iterator is a subscript of has to be known at once.
        let [least, most] = if lower.is_like(&upper) {
            self.join(&mut lower, upper.elements);
            self.ends_in_order([&lower, &lower])
        } else {
            self.ends_in_order([&lower, &upper])
        };
        let back = self.constant(-1);
        let most = self.sum(most, back);
        // Rows are parts of what lies between the first and the last, not all of it again.
        let one = self.constant(1);
        let turns = std::mem::replace(&mut self.turns, one);
        let outcome = self.in_loop(Loop::Scf(node), Interval { least, most }, node.step);
        self.turns = turns;
        outcome
    }

    /// The least that a row begins with and the most that one ends with. Nothing is known unless
    /// these are the first row and the last one: elsewhere what lies between may be far more than
    /// all rows.
    fn ends_in_order(&mut self, [lower, upper]: [&Part<'k>; 2]) -> [Value; 2] {
        let [first, last] = [(lower, lower.elements.least), (upper, upper.elements.most)];
        let least = self.extremes(lower).least;
        let most = self.extremes(upper).most;
        for ((part, at), end) in [(first, least), (last, most)] {
            let one = self.constant(1);
            let only = self.call_scan(part, at, one);
            let is_end = (self.function.builder.ins()).icmp(IntCC::Equal, only.least, end);
            self.require_if(part.is_read, is_end);
        }
        // Of no rows there are no ends, and what stands for these leaves 64 bits in the sums to
        // come.
        let none = self.constant(0);
        [(lower, least), (upper, most)]
            .map(|(part, end)| (self.function.builder.ins()).select(part.is_read, end, none))
    }

    fn intervals(&mut self, bound: &Bound) -> Result<Vec<Interval>, Unknown> {
        bound.0.iter().map(|it| self.interval(it)).collect()
    }

    /// What `expr` may fail of, whichever parts of it are evaluated.
    fn expr(&mut self, expr: &'k Expr) -> Result<(), Unknown> {
        match expr {
            Expr::Load(access) => self.access(access)?,
            _ if expr.may_divide_by_zero(self.function.program.kernel) => return Err(Unknown),
            _ => {}
        }
        let mut operands = expr.operands().into_iter();
        operands.try_for_each(|it| self.expr(it))
    }

    fn access(&mut self, access: &'k Access) -> Result<(), Unknown> {
        let is_update = self.forall.has_buffer(access.array);
        if !is_update && self.function.is_proved(access) {
            return Ok(());
        }
        let mut positions = Vec::new();
        for subscript in &access.subscripts {
            positions.push(match subscript {
                Subscript::Affine(expr) => Position::Affine(self.interval(expr)?),
                Subscript::Computed(expr) => {
                    // Whatever else is read for it.
                    self.expr(expr)?;
                    Position::Computed(self.monotone(expr)?)
                }
            });
        }
        self.reached.push(Reached {
            array: access.array,
            positions,
            is_reached: self.runs,
        });
        Ok(())
    }

    /// The number of the part of an array of indices that `index` is read from.
    fn part(&mut self, index: &'k Expr) -> Result<usize, Unknown> {
        let part = self.part_of(index)?;
        let mut known = std::mem::take(&mut self.parts);
        let position = known.iter().position(|it| it.is_like(&part));
        match position.and_then(|position| known.get_mut(position)) {
            Some(known) => self.join(known, part.elements),
            None => known.push(part),
        }
        self.parts = known;
        Ok(position.unwrap_or(self.parts.len() - 1))
    }

    fn part_of(&mut self, index: &'k Expr) -> Result<Part<'k>, Unknown> {
        let access = self.read_from(index).ok_or(Unknown)?;
        let mut terms = Vec::new();
        let mut intervals = Vec::new();
        for subscript in &access.subscripts {
            let Subscript::Affine(expr) = subscript else {
                return Err(Unknown);
            };
            terms.push(expr.terms());
            intervals.push(self.interval(expr)?);
        }
        Ok(Part {
            array: access.array,
            terms,
            innermost: self.function.loops.last().map(|it| it.iter()),
            elements: self.number(access.array, &intervals),
            is_read: self.runs,
            turns: self.turns,
            reads: 1,
        })
    }

    /// Adds `elements` to those of `part`.
    fn join(&mut self, part: &mut Part<'k>, elements: Interval) {
        let ins = &mut self.function.builder;
        let least = ins.ins().smin(part.elements.least, elements.least);
        let most = ins.ins().smax(part.elements.most, elements.most);
        part.elements = Interval { least, most };
        part.reads += 1;
    }

    /// The element of an array, which nobody writes meanwhile, that `index` has the number of.
    fn read_from(&self, index: &'k Expr) -> Option<&'k Access> {
        let kernel = self.function.program.kernel;
        match index {
            Expr::Load(access) => {
                let is_given = kernel.array_params().any(|it| it == access.array);
                let is_plain = kernel.arrays[access.array].field.is_none();
                let is_plain = is_plain && !self.forall.has_buffer(access.array);
                (is_given && is_plain).then_some(access)
            }
            Expr::Local(local) => self.read_from(self.held.get(*local).copied()?),
            Expr::Cast(to, from) => {
                let is_kept = to.holds_all_of(from.ty(kernel));
                is_kept.then(|| self.read_from(from))?
            }
            _ => None,
        }
    }

    /// The numbers, row by row, of elements of `array` in these places.
    fn number(&mut self, array: ArrayId, places: &[Interval]) -> Interval {
        let extents = self.extents(array);
        let mut number = None;
        for (place, extent) in places.iter().zip(extents) {
            number = Some(match number {
                None => *place,
                Some(row) => {
                    let row = self.combined(row, row, |it, end, _| it.product(end, extent));
                    self.combined(row, *place, Self::sum)
                }
            });
        }
        let zero = self.constant(0);
        number.unwrap_or(Interval {
            least: zero,
            most: zero,
        })
    }

    fn extents(&mut self, array: ArrayId) -> Vec<Value> {
        let extents = &self.function.program.kernel.arrays[array].extents;
        let values = extents.iter().map(|it| self.function.exact_affine(it));
        values.collect()
    }

    fn require(&mut self, condition: Value) {
        self.is_known = self.function.builder.ins().band(self.is_known, condition);
    }

    /// Looks at all parts, and requires all that is reached to be in range. What is reached, with
    /// the numbers of its elements.
    fn look(&mut self) -> (Vec<Reached<'k>>, Vec<Interval>) {
        let parts = std::mem::take(&mut self.parts);
        let found: Vec<_> = parts.iter().map(|part| self.extremes(part)).collect();
        let reached = std::mem::take(&mut self.reached);
        let numbers = reached.iter().map(|reached| {
            let places = reached.positions.iter().map(|position| match position {
                Position::Affine(interval) => *interval,
                Position::Computed(monotone) => self.values(monotone, &found, reached.is_reached),
            });
            let places: Vec<Interval> = places.collect();
            let extents = self.extents(reached.array);
            for (place, extent) in places.iter().zip(extents) {
                self.require_within(*place, extent, reached.is_reached);
            }
            self.wrapping_number(reached.array, &places)
        });
        let numbers = numbers.collect();
        (reached, numbers)
    }

    /// Requires `condition`, if `is_reached`.
    fn require_if(&mut self, is_reached: Value, condition: Value) {
        let ins = &mut self.function.builder;
        let is_not_reached = ins.ins().icmp_imm_u(IntCC::Equal, is_reached, 0);
        let is_fine = ins.ins().bor(condition, is_not_reached);
        self.require(is_fine);
    }

    /// Requires `place` to be in range, if it is reached.
    fn require_within(&mut self, place: Interval, extent: Value, is_reached: Value) {
        let is_within = self.is_within(place, extent);
        self.require_if(is_reached, is_within);
    }

    fn is_within(&mut self, place: Interval, extent: Value) -> Value {
        let ins = &mut self.function.builder;
        let from = (ins.ins()).icmp_imm_s(IntCC::SignedGreaterThanOrEqual, place.least, 0);
        let to = (ins.ins()).icmp(IntCC::SignedLessThan, place.most, extent);
        ins.ins().band(from, to)
    }

    /// The same as [`Self::number`] of places that are in range, or of which it does not matter.
    fn wrapping_number(&mut self, array: ArrayId, places: &[Interval]) -> Interval {
        let is_known = self.is_known;
        let number = self.number(array, places);
        self.is_known = is_known;
        number
    }

    /// The least and the largest number in `part`: the bits of `f64` where it has floats.
    fn extremes(&mut self, part: &Part<'k>) -> Interval {
        let length = self.extents(part.array);
        let length = self.function.elements(&length);
        self.require_within(part.elements, length, part.is_read);
        let ins = &mut self.function.builder;
        let count = ins.ins().isub(part.elements.most, part.elements.least);
        let count = ins.ins().iadd_imm_s(count, 1);
        let most = ins.ins().imul_imm_s(part.turns, SPARSE * part.reads);
        let is_dense = (ins.ins()).icmp(IntCC::SignedLessThanOrEqual, count, most);
        self.require_if(part.is_read, is_dense);
        self.call_scan(part, part.elements.least, count)
    }

    /// The same of `count` elements of `part` from the one at `first` on, if all that is required
    /// so far holds; else of none.
    fn call_scan(&mut self, part: &Part<'k>, first: Value, count: Value) -> Interval {
        let none = self.constant(0);
        let ins = &mut self.function.builder;
        let is_wanted = ins.ins().band(self.is_known, part.is_read);
        let count = ins.ins().select(is_wanted, count, none);
        let function = &mut *self.function;
        let ty = function.program.kernel.arrays[part.array].element;
        let bytes = i64::from(ty.bytes());
        let array = function.arrays.get(part.array).map(|it| it.address);
        let array = array.unwrap_or(count);
        let behind = (function.builder.ins()).imul_imm_s(first, bytes);
        let keys = function.builder.ins().iadd(array, behind);
        let kind = bytes
            + match ty {
                Type::F32 | Type::F64 => KIND_OF_FLOATS,
                _ if ty.is_signed() => SIGNED_KEYS as i64,
                _ => 0,
            };
        let kind = function.builder.ins().iconst(types::I64, kind);
        let found = function.stack(size_of::<Scanned>());
        let scan = function.program.scan_keys;
        let module = &mut function.program.module;
        let scan = module.declare_func_in_func(scan, function.builder.func);
        let arguments = [keys, count, kind, found];
        function.builder.ins().call(scan, &arguments);
        let [least, most] = [offset_of!(Scanned, least), offset_of!(Scanned, most)].map(|field| {
            let (flags, at) = (MemFlagsData::trusted(), offset(field));
            function.builder.ins().load(types::I64, flags, found, at)
        });
        Interval { least, most }
    }
}

/// What tells [`strew_runtime::scan_keys`] of floats.
const KIND_OF_FLOATS: i64 = 0x200;
