//! Parallel loops with their private buffers.

use super::node::{Cell, undefined};
use super::{Emitter, Memref, Typed, Unsupported, memref, named, quoted, type_name};
use crate::marks::Marks;
use crate::{ArrayId, Forall, Private, Type};

impl Emitter<'_> {
    /// A forall, and behind it the merges of its private buffers, in the order of its iterations.
    pub(super) fn forall(
        &mut self,
        forall: &Forall,
        labels: Option<String>,
    ) -> Result<(), Unsupported> {
        if !forall.disjoint.is_empty() {
            return Err(Unsupported::Disjoint);
        }
        let count = self.index(&forall.count)?;
        let mut all = Vec::new();
        let (speculative, merged): (Vec<_>, Vec<_>) =
            forall.privates.iter().partition(|it| it.is_speculative());
        for private in &merged {
            let identity = private.combiner.identity(&private.types(self.kernel));
            let identity = identity.ok_or_else(|| undefined(&private.combiner))?;
            for (part, (buffer, identity)) in private.buffers.iter().zip(identity).enumerate() {
                let of = &self.kernel.arrays[*buffer];
                let ty = memref(of.extents.len() + 1, of.element);
                let mut extents = vec![count.clone()];
                extents.extend(self.extents(&of.extents)?);
                let target = private.targets.get(part);
                let target = target.map_or("", |it| self.kernel.arrays[*it].name.as_str());
                let known = format!(
                    " {{strew.buffer = {}, strew.target = {}, strew.combiner = {}}}",
                    quoted(&of.name),
                    quoted(target),
                    quoted(&private.combiner.to_string())
                );
                let rows = self.allocated(&format!("{}_rows", of.name), extents, (ty, &known));
                let identity = self.constant(identity);
                self.fill(&rows, &identity);
                all.push((*buffer, rows));
            }
        }
        let iter = self.named(&self.kernel.iters[forall.iter].name);
        let marks = !Marks::of(forall.iter, &forall.body).arrays().is_empty();
        let in_order = marks || !speculative.is_empty();
        let head = match in_order {
            false => format!("scf.forall ({iter}) in ({count})"),
            // What it means in order is all that others are to know.
            true => {
                let (first, step) = (self.index_constant(0), self.index_constant(1));
                format!("scf.for {iter} = {first} to {count} step {step}")
            }
        };
        self.iters.insert(forall.iter, iter.clone());
        self.region(&head, |this| {
            for (buffer, rows) in &all {
                this.row(*buffer, rows, &iter)?;
            }
            this.slots(&forall.body);
            this.block(&forall.body)
        })?;
        let strategy = format!("strew.strategy = {}", quoted(&forall.strategy));
        let name = named(&self.kernel.iters[forall.iter].name);
        let speculative = in_order.then(|| self.speculative(&speculative));
        let attributes = [name, strategy].into_iter().chain(speculative);
        self.behind_brace(attributes.chain(labels));
        let mut rows = all.iter().map(|(_, rows)| rows.clone());
        for private in merged {
            let rows: Vec<_> = rows.by_ref().take(private.buffers.len()).collect();
            self.merge(private, &rows, &count)?;
        }
        for (_, Memref { name, ty }) in all.iter().rev() {
            self.line(&format!("memref.dealloc {name} : {ty}"));
        }
        Ok(())
    }

    /// The attribute with what is updated in its place, if anything is: by what, and behind that
    /// the names, each on a line.
    fn speculative(&self, privates: &[&Private]) -> String {
        let clauses = privates.iter().map(|private| {
            let targets = private.targets.iter();
            let names = targets.map(|it| self.kernel.arrays[*it].name.clone());
            let lines: Vec<_> = [private.combiner.to_string()]
                .into_iter()
                .chain(names)
                .collect();
            lines.join("\n")
        });
        let clauses: Vec<_> = clauses.collect();
        format!("strew.speculative = {}", quoted(&clauses.join("\n\n")))
    }

    /// The row of an iteration, as the private buffer.
    fn row(&mut self, buffer: ArrayId, rows: &Memref, iter: &str) -> Result<(), Unsupported> {
        let of = &self.kernel.arrays[buffer];
        let extents = self.extents(&of.extents)?;
        let list = |first: &str, others: Vec<String>| {
            let all: Vec<_> = std::iter::once(first.to_owned()).chain(others).collect();
            all.join(", ")
        };
        let offsets = list(iter, vec!["0".to_owned(); extents.len()]);
        let strides = list("1", vec!["1".to_owned(); extents.len()]);
        let mut apart = vec!["?"; extents.len()];
        if let Some(last) = apart.last_mut() {
            *last = "1";
        }
        let plain = memref(extents.len(), of.element);
        let ty = format!(
            "{}, strided<[{}], offset: ?>>",
            plain.trim_end_matches('>'),
            apart.join(", ")
        );
        let sizes = list("1", extents);
        let name = self.named(&of.name);
        let Memref {
            name: rows,
            ty: of_rows,
        } = rows;
        self.line(&format!(
            "{name} = memref.subview {rows}[{offsets}] [{sizes}] [{strides}] : {of_rows} to {ty}"
        ));
        self.arrays.insert(buffer, Memref { name, ty });
        Ok(())
    }

    /// Combines the rows into the targets: by `linalg` where a tuple is one value, else by loops.
    fn merge(
        &mut self,
        private: &Private,
        rows: &[Memref],
        count: &str,
    ) -> Result<(), Unsupported> {
        let targets = private
            .targets
            .iter()
            .filter_map(|it| self.arrays.get(it).cloned());
        let targets: Vec<Memref> = targets.collect();
        let types = private.types(self.kernel);
        if let ([rows], [target], [ty]) = (rows, targets.as_slice(), types.as_slice()) {
            let element = type_name(*ty);
            let (incoming, held) = (self.named("incoming"), self.named("held"));
            self.line(&format!(
                "linalg.reduce ins({} : {}) outs({} : {}) dimensions = [0] ({incoming}: {element}, {held}: {element}) {{",
                rows.name, rows.ty, target.name, target.ty
            ));
            self.depth += 1;
            let typed = |name: String| vec![Typed { name, ty: *ty }];
            let combined = self.combined(&private.combiner, typed(held), typed(incoming))?;
            for value in combined {
                self.line(&format!("linalg.yield {} : {element}", value.name));
            }
            self.depth -= 1;
            self.line("}");
            return Ok(());
        }
        let extents = private
            .targets
            .first()
            .map(|it| self.kernel.arrays[*it].extents.clone());
        let mut ends = vec![count.to_owned()];
        ends.extend(self.extents(&extents.unwrap_or_default())?);
        self.merge_loops(private, (rows, &targets), &ends, Vec::new())
    }

    fn merge_loops(
        &mut self,
        private: &Private,
        (rows, targets): (&[Memref], &[Memref]),
        ends: &[String],
        at: Vec<String>,
    ) -> Result<(), Unsupported> {
        if let Some((end, ends)) = ends.split_first() {
            let (first, step) = (self.index_constant(0), self.index_constant(1));
            let iter = self.named("row");
            let head = format!("scf.for {iter} = {first} to {end} step {step}");
            let at = at.into_iter().chain([iter]).collect();
            return self.region(&head, |this| {
                this.merge_loops(private, (rows, targets), ends, at)
            });
        }
        let types = private.types(self.kernel);
        let cells = |buffers: &[Memref], at: &[String]| -> Vec<Cell> {
            let buffers = buffers.iter().zip(&types);
            let cell = |(buffer, ty): (&Memref, &Type)| Cell::Element {
                buffer: buffer.clone(),
                subscripts: at.join(", "),
                ty: *ty,
                is_affine: false,
            };
            buffers.map(cell).collect()
        };
        let held_cells = cells(targets, at.get(1..).unwrap_or_default());
        let incoming = cells(rows, &at).iter().map(|it| self.load(it)).collect();
        let held = held_cells.iter().map(|it| self.load(it)).collect();
        let combined = self.combined(&private.combiner, held, incoming)?;
        for (cell, value) in held_cells.iter().zip(&combined) {
            self.store(cell, value);
        }
        Ok(())
    }
}
