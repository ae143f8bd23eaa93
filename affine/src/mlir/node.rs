//! Statements and loops.

use super::index::Operands;
use super::{
    Emitter, Memref, Slot, Typed, Unsupported, attributes, labels, memref, named, type_name,
};
use crate::{
    Access, AffineExpr, AffineFor, ArrayId, Bound, Combiner, Condition, Expr, IterId, LocalId,
    Node, Place, ScfFor, Subscript, Type,
};

/// A place whose subscripts have been calculated.
pub(super) enum Cell {
    /// Element, element type, and whether the subscripts are those of the `affine` dialect.
    Element {
        buffer: Memref,
        subscripts: String,
        ty: Type,
        is_affine: bool,
    },
    Local(Typed),
}

impl Emitter<'_> {
    /// The statements, and the end of the arrays that they make.
    pub(super) fn block(&mut self, nodes: &[Node]) -> Result<(), Unsupported> {
        nodes.iter().try_for_each(|node| self.node(node))?;
        for node in nodes.iter().rev() {
            if let Node::Alloc { array } = node
                && let Some(Memref { name, ty }) = self.arrays.get(array).cloned()
            {
                self.line(&format!("memref.dealloc {name} : {ty}"));
            }
        }
        Ok(())
    }

    fn node(&mut self, node: &Node) -> Result<(), Unsupported> {
        let labels = labels(self.kernel, node);
        match node {
            Node::AffineFor(it) => self.affine_for(it, labels),
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => self.affine_if(conditions, then, otherwise),
            Node::Forall(forall) => self.forall(forall, labels),
            Node::ScfFor(it) => self.scf_for(it, labels),
            Node::ScfWhile {
                condition, body, ..
            } => self.scf_while(condition, body),
            Node::ScfIf {
                condition,
                then,
                otherwise,
                ..
            } => {
                let condition = self.expr(condition)?;
                self.branches(&format!("scf.if {}", condition.name), then, otherwise)
            }
            Node::Declare { local, value } => self.declare(*local, value, labels),
            Node::Alloc { array } => self.alloc(*array),
            Node::Assign { place, value, .. } => {
                let value = self.expr(value)?;
                let cell = self.cell(place)?;
                self.store_as(&cell, &value, &attributes(labels));
                Ok(())
            }
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } => self.reduce(places, (combiner, labels), values),
        }
    }

    /// `head { … }`
    pub(super) fn region(
        &mut self,
        head: &str,
        body: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        body(self)?;
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    fn branches(
        &mut self,
        head: &str,
        then: &[Node],
        otherwise: &[Node],
    ) -> Result<(), Unsupported> {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        self.block(then)?;
        if !otherwise.is_empty() {
            self.depth -= 1;
            self.line("} else {");
            self.depth += 1;
            self.block(otherwise)?;
        }
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    fn affine_for(&mut self, it: &AffineFor, labels: Option<String>) -> Result<(), Unsupported> {
        let iter = self.named(&self.kernel.iters[it.iter].name);
        let mut bounds = it.bounds();
        let is_affine = bounds.all(|bound| self.is_affine(bound));
        let head = if is_affine {
            let (lower, upper) = (self.map("max", &it.lower), self.map("min", &it.upper));
            let step = match it.step {
                1 => String::new(),
                step => format!(" step {step}"),
            };
            format!("affine.for {iter} = {lower} to {upper}{step}")
        } else {
            let (lower, upper) = (
                self.extreme("maxsi", &it.lower)?,
                self.extreme("minsi", &it.upper)?,
            );
            let step = self.index_constant(it.step);
            format!("scf.for {iter} = {lower} to {upper} step {step}")
        };
        self.iters.insert(it.iter, iter);
        if is_affine {
            self.dimensions.insert(it.iter);
        }
        self.region(&head, |this| this.block(&it.body))?;
        self.behind_loop((it.iter, it.lanes), labels);
        Ok(())
    }

    /// The attributes of a loop with an iterator.
    fn behind_loop(&mut self, (iter, lanes): (IterId, u32), labels: Option<String>) {
        let lanes = (lanes != 1).then(|| format!("strew.lanes = {lanes} : i64"));
        let name = named(&self.kernel.iters[iter].name);
        self.behind_brace([name].into_iter().chain(lanes).chain(labels));
    }

    /// Puts attributes behind what has just ended.
    pub(super) fn behind_brace(&mut self, all: impl IntoIterator<Item = String>) {
        self.text.truncate(self.text.trim_end().len());
        self.text += &attributes(all);
        self.text.push('\n');
    }

    /// A bound as a map: the greatest or the least of its results where it has several.
    fn map(&self, of_several: &str, bound: &Bound) -> String {
        if let Some(constant) = bound.as_single().and_then(AffineExpr::as_constant) {
            return constant.to_string();
        }
        let mut operands = Operands::default();
        let results: Vec<_> = bound
            .0
            .iter()
            .map(|it| self.affine(it, &mut operands))
            .collect();
        let word = if results.len() > 1 {
            format!("{of_several} ")
        } else {
            String::new()
        };
        format!(
            "{word}affine_map<{} -> ({})>{}",
            operands.dimensions(),
            results.join(", "),
            operands.values()
        )
    }

    /// The greatest or the least of the results, calculated.
    fn extreme(&mut self, operation: &str, bound: &Bound) -> Result<String, Unsupported> {
        let mut found: Option<String> = None;
        for expr in &bound.0 {
            let value = self.index(expr)?;
            found = Some(match found {
                None => value,
                Some(found) => self.define(&format!("arith.{operation} {found}, {value} : index")),
            });
        }
        Ok(match found {
            Some(found) => found,
            None => self.index_constant(0),
        })
    }

    fn affine_if(
        &mut self,
        conditions: &[Condition],
        then: &[Node],
        otherwise: &[Node],
    ) -> Result<(), Unsupported> {
        let is_affine = |it: &Condition| self.is_affine(&it.left) && self.is_affine(&it.right);
        if conditions.iter().all(is_affine) && !conditions.is_empty() {
            let mut operands = Operands::default();
            let constraints = conditions
                .iter()
                .map(|it| self.constraint(it, &mut operands));
            let constraints: Vec<_> = constraints.collect::<Result<_, _>>()?;
            let (dimensions, values) = (operands.dimensions(), operands.values());
            let head = format!(
                "affine.if affine_set<{dimensions} : ({})>{values}",
                constraints.join(", ")
            );
            return self.branches(&head, then, otherwise);
        }
        let mut all = self.define("arith.constant true");
        for condition in conditions {
            let holds = self.condition(condition)?;
            all = self.define(&format!("arith.andi {all}, {holds} : i1"));
        }
        self.branches(&format!("scf.if {all}"), then, otherwise)
    }

    fn scf_for(&mut self, it: &ScfFor, labels: Option<String>) -> Result<(), Unsupported> {
        let (lower, upper) = (self.expr(&it.lower)?, self.expr(&it.upper)?);
        let (lower, upper) = (self.cast_to_index(&lower), self.cast_to_index(&upper));
        let step = self.index_constant(it.step);
        let iter = self.named(&self.kernel.iters[it.iter].name);
        let head = format!("scf.for {iter} = {lower} to {upper} step {step}");
        self.iters.insert(it.iter, iter);
        self.region(&head, |this| this.block(&it.body))?;
        self.behind_loop((it.iter, it.lanes), labels);
        Ok(())
    }

    fn scf_while(&mut self, condition: &Expr, body: &[Node]) -> Result<(), Unsupported> {
        self.line("scf.while : () -> () {");
        self.depth += 1;
        let condition = self.expr(condition)?;
        self.line(&format!("scf.condition({})", condition.name));
        self.depth -= 1;
        self.line("} do {");
        self.depth += 1;
        self.block(body)?;
        self.line("scf.yield");
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    /// Memory for the locals of `nodes` that change, made before all loops: it would grow in them.
    pub(super) fn slots(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Declare { local, .. } if self.kernel.locals[*local].mutable => {
                    let ty = self.kernel.locals[*local].ty;
                    let known = named(&self.kernel.locals[*local].name);
                    let name = self.named(&self.kernel.locals[*local].name);
                    let element = self.kernel.locals[*local].is_element;
                    let element = element.then(|| "strew.element".to_owned());
                    let known = attributes([known].into_iter().chain(element));
                    let of = type_name(ty);
                    self.line(&format!("{name} = memref.alloca(){known} : memref<{of}>"));
                    let slot = Typed { name, ty };
                    self.locals.insert(*local, Slot::Memory(slot));
                }
                Node::AffineFor(it) => self.slots(&it.body),
                Node::ScfFor(it) => self.slots(&it.body),
                Node::ScfWhile { body, .. } => self.slots(body),
                Node::AffineIf {
                    then, otherwise, ..
                }
                | Node::ScfIf {
                    then, otherwise, ..
                } => {
                    self.slots(then);
                    self.slots(otherwise);
                }
                // A forall's iterations have locals of their own.
                Node::Forall(_)
                | Node::Declare { .. }
                | Node::Alloc { .. }
                | Node::Assign { .. }
                | Node::Reduce { .. } => {}
            }
        }
    }

    fn declare(
        &mut self,
        local: LocalId,
        value: &Expr,
        labels: Option<String>,
    ) -> Result<(), Unsupported> {
        let mut value = self.expr(value)?;
        if !self.kernel.locals[local].mutable {
            let name = &self.kernel.locals[local].name;
            value = self.name_value(value, name, labels.clone());
        }
        let known = attributes(labels);
        match self.locals.get(&local).cloned() {
            Some(Slot::Memory(slot)) => self.store_as(&Cell::Local(slot), &value, &known),
            Some(Slot::Value(_)) | None => {
                self.locals.insert(local, Slot::Value(value));
            }
        }
        Ok(())
    }

    /// The value with a name of its own, which is read when this runs and not again where it is
    /// used.
    fn name_value(&mut self, value: Typed, name: &str, labels: Option<String>) -> Typed {
        let known = attributes([named(name)].into_iter().chain(labels));
        let name = self.named(name);
        let Typed { name: before, ty } = value;
        let of = type_name(ty);
        self.line(&format!(
            "{name} = arith.bitcast {before}{known} : {of} to {of}"
        ));
        Typed { name, ty }
    }

    fn alloc(&mut self, array: ArrayId) -> Result<(), Unsupported> {
        let of = &self.kernel.arrays[array];
        let ty = memref(of.extents.len(), of.element);
        let extents = self.extents(&of.extents)?;
        let known = attributes([named(&of.name)]);
        let buffer = self.allocated(&of.name, extents, (ty, &known));
        let zero = self.constant(crate::Value::zero(of.element));
        self.fill(&buffer, &zero);
        self.arrays.insert(array, buffer);
        Ok(())
    }

    pub(super) fn allocated(
        &mut self,
        name: &str,
        extents: Vec<String>,
        (ty, known): (String, &str),
    ) -> Memref {
        let name = self.named(name);
        self.line(&format!(
            "{name} = memref.alloc({}){known} : {ty}",
            extents.join(", ")
        ));
        Memref { name, ty }
    }

    pub(super) fn fill(&mut self, buffer: &Memref, value: &Typed) {
        let (value, element) = (&value.name, type_name(value.ty));
        let Memref { name, ty } = buffer;
        self.line(&format!(
            "linalg.fill ins({value} : {element}) outs({name} : {ty})"
        ));
    }

    fn cell(&mut self, place: &Place) -> Result<Cell, Unsupported> {
        match place {
            Place::Element(access) => self.element(access),
            Place::Local(local) => match self.locals.get(local).cloned() {
                Some(Slot::Memory(slot)) => Ok(Cell::Local(slot)),
                Some(Slot::Value(value)) => Ok(Cell::Local(value)),
                None => Err(Unsupported::Overflow),
            },
        }
    }

    fn element(&mut self, access: &Access) -> Result<Cell, Unsupported> {
        let kernel = self.kernel;
        let array = &kernel.arrays[access.array];
        let buffer = self.arrays.get(&access.array).cloned();
        let buffer = buffer.ok_or_else(|| Unsupported::Records {
            name: array.name.clone(),
        })?;
        let is_affine = |it: &Subscript| matches!(it, Subscript::Affine(it) if self.is_affine(it));
        let is_affine = access.subscripts.iter().all(is_affine);
        let mut subscripts = Vec::new();
        for (subscript, extent) in access.subscripts.iter().zip(&array.extents) {
            subscripts.push(match subscript {
                Subscript::Affine(expr) if is_affine => {
                    let mut operands = Operands::inline();
                    self.affine(expr, &mut operands)
                }
                Subscript::Affine(expr) => self.index(expr)?,
                Subscript::Computed(expr) => {
                    let value = self.expr(expr)?;
                    let index = self.cast_to_index(&value);
                    let extent = self.index(extent)?;
                    // One comparison without signs tells of both ends.
                    let inside = self.define(&format!("arith.cmpi ult, {index}, {extent} : index"));
                    let name = super::symbol(&array.name);
                    self.line(&format!(
                        "cf.assert {inside}, \"index out of range for {name}\""
                    ));
                    index
                }
            });
        }
        Ok(Cell::Element {
            buffer,
            subscripts: subscripts.join(", "),
            ty: array.element,
            is_affine,
        })
    }

    pub(super) fn load(&mut self, cell: &Cell) -> Typed {
        self.load_as(cell, "")
    }

    fn load_as(&mut self, cell: &Cell, known: &str) -> Typed {
        match cell {
            Cell::Local(slot) => {
                let operation = format!(
                    "memref.load {}[]{known} : memref<{}>",
                    slot.name,
                    type_name(slot.ty)
                );
                self.typed(slot.ty, &operation)
            }
            Cell::Element {
                buffer,
                subscripts,
                ty,
                is_affine,
            } => {
                let dialect = if *is_affine { "affine" } else { "memref" };
                let operation = format!(
                    "{dialect}.load {}[{subscripts}]{known} : {}",
                    buffer.name, buffer.ty
                );
                self.typed(*ty, &operation)
            }
        }
    }

    pub(super) fn store(&mut self, cell: &Cell, value: &Typed) {
        self.store_as(cell, value, "");
    }

    fn store_as(&mut self, cell: &Cell, value: &Typed, known: &str) {
        let value = &value.name;
        match cell {
            Cell::Local(slot) => {
                let (slot, ty) = (&slot.name, type_name(slot.ty));
                self.line(&format!(
                    "memref.store {value}, {slot}[]{known} : memref<{ty}>"
                ));
            }
            Cell::Element {
                buffer: Memref { name, ty },
                subscripts,
                is_affine,
                ..
            } => {
                let dialect = if *is_affine { "affine" } else { "memref" };
                self.line(&format!(
                    "{dialect}.store {value}, {name}[{subscripts}]{known} : {ty}"
                ));
            }
        }
    }

    /// The element that an access reads.
    pub(super) fn loaded(&mut self, access: &Access) -> Result<Typed, Unsupported> {
        let cell = self.element(access)?;
        Ok(self.load(&cell))
    }

    /// The value of a local.
    pub(super) fn local(&mut self, local: LocalId) -> Result<Typed, Unsupported> {
        match self.locals.get(&local).cloned() {
            Some(Slot::Value(value)) => Ok(value),
            Some(Slot::Memory(slot)) => Ok(self.load(&Cell::Local(slot))),
            None => Err(Unsupported::Overflow),
        }
    }

    fn reduce(
        &mut self,
        places: &[Place],
        (combiner, labels): (&Combiner, Option<String>),
        values: &[Expr],
    ) -> Result<(), Unsupported> {
        let incoming: Vec<Typed> = values
            .iter()
            .map(|it| self.expr(it))
            .collect::<Result<_, _>>()?;
        let cells: Vec<Cell> = places
            .iter()
            .map(|it| self.cell(it))
            .collect::<Result<_, _>>()?;
        let known = format!(
            " {{strew.reduce = {}}}",
            super::quoted(&combiner.to_string())
        );
        let held = cells.iter().map(|it| self.load_as(it, &known)).collect();
        let combined = self.combined(combiner, held, incoming)?;
        // The first of them has the labels of all.
        let mut labels = attributes(labels);
        for (cell, value) in cells.iter().zip(&combined) {
            self.store_as(cell, value, &std::mem::take(&mut labels));
        }
        Ok(())
    }

    /// `held ∘ incoming`
    pub(super) fn combined(
        &mut self,
        combiner: &Combiner,
        held: Vec<Typed>,
        incoming: Vec<Typed>,
    ) -> Result<Vec<Typed>, Unsupported> {
        let types: Vec<Type> = held.iter().map(|it| it.ty).collect();
        let bodies = combiner.bodies(&types).ok_or_else(|| undefined(combiner))?;
        let outer = (
            std::mem::replace(&mut self.held, held),
            std::mem::replace(&mut self.incoming, incoming),
        );
        let combined = bodies.iter().map(|it| self.expr(it)).collect();
        (self.held, self.incoming) = outer;
        combined
    }
}

pub(super) fn undefined(combiner: &Combiner) -> Unsupported {
    Unsupported::Combiner {
        name: combiner.to_string(),
    }
}
