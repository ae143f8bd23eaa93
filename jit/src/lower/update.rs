//! Assignments and reductions.

use super::access::Element;
use super::combine;
use super::function::{Binding, FunctionLowering};
use crate::site::Site;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;
use strew_affine::{BinaryOp, Combiner, Expr, LocalId, Operand, Place, Span, Type};

/// A place that was found.
enum Cell {
    Element(Element),
    /// An element of a local array that is no memory.
    Promoted(Variable),
    Local(LocalId),
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    pub(super) fn assign(&mut self, place: &'k Place, value: &'k Expr) {
        if self.are_idle(std::slice::from_ref(place)) {
            return self.check_statement(std::slice::from_ref(place), std::slice::from_ref(value));
        }
        let value = self.expr(value);
        let cell = self.cell(place);
        self.meet_cell(place, &cell);
        self.set(&cell, value);
    }

    pub(super) fn reduce(
        &mut self,
        places: &'k [Place],
        combiner: &'k Combiner,
        values: &'k [Expr],
    ) {
        match self.within(places) {
            Some(next) => {
                self.scoped(|function| function.update(places, combiner, values));
                self.builder.ins().jump(next, &[]);
                self.builder.switch_to_block(next);
            }
            None => self.update(places, combiner, values),
        }
    }

    fn update(&mut self, places: &'k [Place], combiner: &'k Combiner, values: &'k [Expr]) {
        if let Some(stream) = self.stream_of(places) {
            return self.emit(&stream, places, values);
        }
        if let Some(lines) = self.lines_of(places) {
            return self.put(&lines, places, values);
        }
        if self.is_only_checked(places) {
            return self.check_update(places, values);
        }
        if self.are_idle(places) {
            return self.check_statement(places, values);
        }
        if let Some(run) = self.run_of(places) {
            return self.update_in_run(&run, places, combiner, values);
        }
        if let Some(update) = self.partial_update(places, combiner, values) {
            return self.update_any(&update);
        }
        if self.is_shared(places) {
            return self.update_shared(places, combiner, values);
        }
        self.take_turns(places);
        let types: Vec<_> = places.iter().map(|place| self.type_of(place)).collect();
        let bodies = combiner.bodies(&types).unwrap_or_default();
        let incoming = self.incoming_of_memory(&bodies, &types, values);
        let cells: Vec<_> = places.iter().map(|place| self.cell(place)).collect();
        self.reach_cells(places, &cells);
        self.leave_if_marked(places, &cells);
        for (place, cell) in places.iter().zip(&cells) {
            self.meet_cell(place, cell);
        }
        // Scalars are there already, and a jump that cannot be foretold would throw away what was
        // begun of the next value.
        let is_there = |it: &Cell| matches!(it, Cell::Local(_) | Cell::Promoted(_));
        if let Some(condition) = taken_together(&bodies)
            && !cells.iter().all(is_there)
        {
            return self.take_where(condition, (places, &types), &cells, &incoming);
        }
        let held: Vec<_> = cells
            .iter()
            .zip(&types)
            .map(|(cell, ty)| self.get(cell, *ty))
            .collect();
        let combined = self.combined(places, &bodies, &types, &held, &incoming);
        for (cell, value) in cells.iter().zip(combined) {
            self.set(cell, value);
        }
    }

    /// Stores what is `incoming` where the condition holds. Of elements that stay as they are, what
    /// does not decide that is not even fetched: far from the caches that is what takes the time.
    fn take_where(
        &mut self,
        condition: &Expr,
        (places, types): (&[Place], &[Type]),
        cells: &[Cell],
        incoming: &[Value],
    ) {
        let parts = cells.iter().zip(types).zip(incoming).enumerate();
        let held: Vec<_> = parts
            .map(
                |(part, ((cell, ty), incoming))| match mentions(condition, part) {
                    true => self.get(cell, *ty),
                    false => *incoming,
                },
            )
            .collect();
        let bodies = std::slice::from_ref(condition);
        let decided = self.combined(places, bodies, types, &held, incoming);
        let [taken, next] = [(); 2].map(|()| self.builder.create_block());
        for decided in decided {
            self.builder.ins().brif(decided, taken, &[], next, &[]);
        }
        self.builder.switch_to_block(taken);
        for (cell, value) in cells.iter().zip(incoming) {
            self.set(cell, *value);
        }
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Updates what needs nothing but to go to memory, or is held in a register, with values that
    /// were computed already.
    pub(super) fn update_by(
        &mut self,
        places: &'k [Place],
        combiner: &Combiner,
        incoming: &[Value],
    ) {
        if let Some(run) = self.run_of(places) {
            return self.update_run_by(&run, places, combiner, incoming);
        }
        let types: Vec<_> = places.iter().map(|place| self.type_of(place)).collect();
        let bodies = combiner.bodies(&types).unwrap_or_default();
        let cells: Vec<_> = places.iter().map(|place| self.cell(place)).collect();
        self.reach_cells(places, &cells);
        let pairs = cells.iter().zip(&types);
        let held: Vec<_> = pairs.map(|(cell, ty)| self.get(cell, *ty)).collect();
        let combined = self.combined(places, &bodies, &types, &held, incoming);
        for (cell, value) in cells.iter().zip(combined) {
            self.set(cell, value);
        }
    }

    /// The values of the `bodies` of a combiner that updates `places`.
    pub(super) fn combined(
        &mut self,
        places: &[Place],
        bodies: &[Expr],
        types: &[Type],
        held: &[Value],
        incoming: &[Value],
    ) -> Vec<Value> {
        let mut calls = self.program.calls();
        let combined =
            combine::apply_all(&mut self.builder, &mut calls, bodies, types, held, incoming);
        for panicked in combined.panicked {
            let span = match places.first() {
                Some(Place::Element(access)) => access.span,
                _ => Span::default(),
            };
            let site = Site::combiner(span, &self.enclosing_counters());
            self.fault_if(panicked, site, None);
        }
        combined.values
    }

    fn meet_cell(&mut self, place: &Place, cell: &Cell) {
        if let (Place::Element(access), Cell::Element(element)) = (place, cell)
            && !self.disjoint.is_empty()
        {
            self.meet(access, element);
        }
    }

    /// Leaves where the loop reads the element. Those that are updated with it are at the same
    /// place.
    fn leave_if_marked(&mut self, places: &[Place], cells: &[Cell]) {
        if let (Some(Place::Element(access)), Some(Cell::Element(element))) =
            (places.first(), cells.first())
            && let Some(marks) = self.marks_of(access.array)
        {
            let place = self.whole_address(element);
            self.leave_if_marked_at(&marks, access.array, place);
        }
    }

    /// Sees to it that the element of a private buffer holds something. Those that are merged with
    /// it are filled with it.
    fn reach_cells(&mut self, places: &[Place], cells: &[Cell]) {
        if let (Some(Place::Element(access)), Some(Cell::Element(element))) =
            (places.first(), cells.first())
            && !self.pages.is_empty()
        {
            let place = self.whole_address(element);
            self.reach(access.array, place);
        }
    }

    pub(super) fn type_of(&self, place: &Place) -> Type {
        place.ty(self.program.kernel)
    }

    fn cell(&mut self, place: &'k Place) -> Cell {
        match place {
            Place::Element(access) => match self.promoted_element(access) {
                Some(element) => Cell::Promoted(element),
                None => Cell::Element(self.element(access)),
            },
            Place::Local(local) => Cell::Local(*local),
        }
    }

    /// What is at `place`, where no register holds it.
    pub(super) fn value_at(&mut self, place: &'k Place) -> Value {
        let ty = self.type_of(place);
        let cell = self.cell(place);
        self.get(&cell, ty)
    }

    fn get(&mut self, cell: &Cell, ty: Type) -> Value {
        match cell {
            Cell::Element(element) => self.read_element(ty, element),
            Cell::Promoted(element) => self.builder.use_var(*element),
            Cell::Local(local) => self.local(*local),
        }
    }

    fn set(&mut self, cell: &Cell, value: Value) {
        match cell {
            Cell::Element(element) => {
                self.builder.ins().store(
                    element.flags,
                    value,
                    element.address,
                    element.displacement,
                );
            }
            Cell::Promoted(element) => self.builder.def_var(*element, value),
            Cell::Local(local) => self.set_local(*local, value),
        }
    }

    /// Sets a scalar that [somebody needs](Self::is_idle).
    pub(super) fn set_local(&mut self, local: LocalId, value: Value) {
        if let Some(Binding::Mutable(variable)) = self.locals.get(local).copied() {
            self.builder.def_var(variable, value);
        }
        self.gets_value(local);
        self.forget_local(local);
    }

    /// The incoming values and the combiner's bodies.
    pub(super) fn incoming(
        &mut self,
        combiner: &Combiner,
        types: &[Type],
        values: &'k [Expr],
    ) -> (Vec<Value>, Vec<Expr>) {
        let bodies = combiner.bodies(types).unwrap_or_default();
        let incoming = values.iter().map(|value| self.expr(value)).collect();
        (incoming, bodies)
    }

    /// The incoming values of an update of memory by `bodies`. Where one instruction makes it, no
    /// load may come between the load of the element and its store.
    fn incoming_of_memory(
        &mut self,
        bodies: &[Expr],
        types: &[Type],
        values: &'k [Expr],
    ) -> Vec<Value> {
        self.loads_in_place = is_one_instruction(bodies, types);
        let incoming = values.iter().map(|value| self.expr(value)).collect();
        self.loads_in_place = false;
        incoming
    }
}

/// Whether processors have an instruction that loads an element, combines it with a register, and
/// stores it.
fn is_one_instruction(bodies: &[Expr], types: &[Type]) -> bool {
    use BinaryOp::{Add, BitAnd, BitOr, BitXor};
    let is_simple = matches!(bodies, [Expr::Binary(Add | BitAnd | BitOr | BitXor, ..)]);
    is_simple && types.iter().all(|ty| ty.is_integer() && ty.bytes() >= 4)
}

/// When the parts of several become what comes in where one condition holds, and else stay: that
/// condition.
fn taken_together(bodies: &[Expr]) -> Option<&Expr> {
    let [Expr::Select(condition, ..), _, ..] = bodies else {
        return None;
    };
    let is_taken = |(part, body): (usize, &Expr)| {
        let (then, otherwise) = (Operand::Incoming(part), Operand::Held(part));
        matches!(body, Expr::Select(it, yes, no) if it == condition
            && **yes == Expr::Operand(then) && **no == Expr::Operand(otherwise))
    };
    bodies.iter().enumerate().all(is_taken).then_some(condition)
}

/// Whether `expr` asks what is held of a part.
fn mentions(expr: &Expr, part: usize) -> bool {
    *expr == Expr::Operand(Operand::Held(part))
        || expr.operands().into_iter().any(|it| mentions(it, part))
}
