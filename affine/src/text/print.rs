use super::names::{written, written_combiner};
use super::print_affine::Order;
use super::print_expr::Context;
use crate::combiner::{HELD, INCOMING};
use crate::visit::{Loop, for_each_combiner};
use crate::{
    AffineExpr, AffineFor, Array, ArrayId, Bound, Combine, Combiner, Condition, Declared, Expr,
    Forall, Kernel, LocalId, Node, Parameter, Place, RecordId, ScfFor, Type, View,
};
use std::fmt;

/// The lines of all views.
pub(super) fn view_lines(kernel: &Kernel) -> String {
    let mut printer = Printer::of(kernel);
    kernel.views.values().for_each(|it| printer.view(it));
    printer.text
}

pub(super) fn expression(kernel: &Kernel, expr: &Expr) -> String {
    Printer::of(kernel).expr(expr, Context::Default)
}

/// The kernel as text, which parses back to the same kernel.
pub fn print(kernel: &Kernel) -> String {
    let mut printer = Printer::of(kernel);
    printer.kernel();
    printer.text
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}

pub(super) struct Printer<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) order: Order,
    text: String,
    depth: usize,
}

impl<'k> Printer<'k> {
    fn of(kernel: &'k Kernel) -> Self {
        Self {
            kernel,
            order: Order::of(kernel),
            text: String::new(),
            depth: 0,
        }
    }

    fn kernel(&mut self) {
        let kernel = self.kernel;
        for declared in declared_combiners(kernel) {
            self.reduction(&declared);
        }
        let params: Vec<_> = kernel.params.iter().map(|it| self.param(it)).collect();
        let mut header = format!("kernel @{}({})", written(&kernel.name), params.join(", "));
        let result = kernel.result.as_ref().zip(kernel.result_type());
        if let Some((_, ty)) = result {
            header.push_str(&format!(" -> {ty}"));
        }
        if !kernel.assumptions.is_empty() {
            let texts: Vec<_> = kernel
                .assumptions
                .iter()
                .map(|it| self.condition(it))
                .collect();
            header.push_str(&format!(" assume ({})", texts.join(", ")));
        }
        self.line(&format!("{header} {{"));
        self.depth += 1;
        for view in kernel.views.values() {
            self.view(view);
        }
        self.depth -= 1;
        self.body(&kernel.body);
        if let Some((result, ty)) = result {
            let result = self.expr(result, Context::Known(ty));
            self.line(&format!("  return {result}"));
        }
        self.line("}");
    }

    /// `view name = collapse(array, [[0, 1], [2]])`
    fn view(&mut self, view: &View) {
        let mut first = 0;
        let groups = view.dimensions.iter().map(|length| {
            let group: Vec<_> = (first..first + length).map(|it| it.to_string()).collect();
            first += length;
            format!("[{}]", group.join(", "))
        });
        let groups: Vec<_> = groups.collect();
        let array = written(&self.kernel.arrays[view.array].name);
        let (name, groups) = (written(&view.name), groups.join(", "));
        self.line(&format!("view {name} = collapse({array}, [{groups}])"));
    }

    /// `reduction @name(a, b: type) = body identity(neutral)`
    fn reduction(&mut self, declared: &Declared) {
        let ty = declared.element();
        let own = declared.as_kernel();
        let printer = Printer::of(&own);
        let name = written_combiner(declared.name());
        let mut line = format!("reduction @{name}({HELD}, {INCOMING}: {ty})");
        if let Some(body) = &own.result {
            line.push_str(&format!(" = {}", printer.expr(body, Context::Known(ty))));
        }
        if let Some(neutral) = declared.neutral() {
            let neutral = printer.expr(&Expr::Constant(neutral), Context::Known(ty));
            line.push_str(&format!(" identity({neutral})"));
        }
        self.line(&line);
    }

    fn param(&self, param: &Parameter) -> String {
        match param {
            Parameter::Scalar(scalar) => {
                let scalar = &self.kernel.scalars[*scalar];
                let word = if scalar.inferred { "infer " } else { "" };
                format!("{word}{}: {}", written(&scalar.name), scalar.ty)
            }
            Parameter::Array(array) => self.array(&self.kernel.arrays[*array]),
            Parameter::Record(record) => self.record(*record),
        }
    }

    fn record(&self, id: RecordId) -> String {
        let kernel = self.kernel;
        let record = &kernel.records[id];
        let field = |id: &ArrayId| {
            let array = &kernel.arrays[*id];
            let offset = array.field.map_or(0, |it| it.offset);
            let name = written(kernel.field_name(*id));
            let lengths = match array.split_extents() {
                (_, []) => String::new(),
                (_, own) => format!("[{}]", self.extents(own)),
            };
            format!("{name}: {}{lengths} @ {offset}", array.element)
        };
        let fields: Vec<_> = record.fields.iter().map(field).collect();
        let first = record.fields.first().map(|it| &kernel.arrays[*it]);
        let extents = first.map_or(String::new(), |it| self.extents(it.split_extents().0));
        let (name, fields) = (written(&record.name), fields.join(", "));
        format!("{name}: record({}) {{ {fields} }}[{extents}]", record.bytes)
    }

    fn array(&self, array: &Array) -> String {
        let (name, extents) = (written(&array.name), self.extents(&array.extents));
        let length = array
            .length
            .map(|it| written(&self.kernel.scalars[it].name));
        let length = length.map_or(String::new(), |it| format!(" infer {it}"));
        format!("{name}: {}[{extents}]{length}", array.element)
    }

    fn extents(&self, extents: &[AffineExpr]) -> String {
        let extents: Vec<_> = extents.iter().map(|it| self.affine(it)).collect();
        extents.join(", ")
    }

    fn affine(&self, expr: &AffineExpr) -> String {
        self.order.expr(self.kernel, expr)
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// `header { body`, without the closing brace.
    fn block(&mut self, header: &str, body: &'k [Node]) {
        self.line(&format!("{header} {{"));
        self.body(body);
    }

    fn body(&mut self, body: &'k [Node]) {
        self.depth += 1;
        for node in body {
            self.node(node);
        }
        self.depth -= 1;
    }

    fn closed_block(&mut self, header: &str, body: &'k [Node]) {
        self.block(header, body);
        self.line("}");
    }

    fn branches(&mut self, header: &str, then: &'k [Node], otherwise: &'k [Node]) {
        self.block(header, then);
        if otherwise.is_empty() {
            self.line("}");
        } else {
            self.closed_block("} else", otherwise);
        }
    }

    fn node(&mut self, node: &'k Node) {
        let labels = self.labels(node);
        match node {
            Node::AffineFor(affine) => {
                self.closed_block(&(labels + &self.affine_header(affine)), &affine.body);
            }
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => {
                let texts: Vec<_> = conditions.iter().map(|it| self.condition(it)).collect();
                self.branches(
                    &format!("affine.if ({})", texts.join(", ")),
                    then,
                    otherwise,
                );
            }
            Node::Forall(forall) => {
                self.closed_block(&(labels + &self.forall_header(forall)), &forall.body);
            }
            Node::ScfFor(scf) => {
                self.closed_block(&(labels + &self.scf_header(scf)), &scf.body);
            }
            Node::ScfWhile {
                condition, body, ..
            } => {
                let condition = self.expr(condition, Context::Known(Type::Bool));
                self.closed_block(&format!("scf.while {condition}"), body);
            }
            Node::ScfIf {
                condition,
                then,
                otherwise,
                ..
            } => {
                let condition = self.expr(condition, Context::Known(Type::Bool));
                self.branches(&format!("scf.if {condition}"), then, otherwise);
            }
            Node::Declare { local, value } => {
                self.line(&(labels + &self.declaration(*local, value)))
            }
            Node::Alloc { array } => {
                let array = self.array(&self.kernel.arrays[*array]);
                self.line(&format!("alloc {array}"));
            }
            Node::Assign { place, value, .. } => {
                let (place, ty) = self.place(place);
                let value = self.expr(value, Context::Known(ty));
                self.line(&format!("{labels}{place} = {value}"));
            }
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } => {
                let (places, types): (Vec<_>, Vec<_>) =
                    places.iter().map(|place| self.place(place)).unzip();
                let values = values.iter().zip(types);
                let values = values.map(|(value, ty)| self.expr(value, Context::Known(ty)));
                let (places, values) = (tuple(places), tuple(values.collect()));
                self.line(&format!("{labels}{places} {} {values}", reduce(combiner)));
            }
        }
    }

    /// `L1: `
    fn labels(&self, node: &Node) -> String {
        let of_loop = Loop::of(node).map(|it| &self.kernel.iters[it.iter()].labels);
        let of_loop = of_loop.into_iter().flatten().map(String::as_str);
        let labels = of_loop.chain(self.kernel.labels_of(node));
        labels.map(|it| format!("{}: ", written(it))).collect()
    }

    fn affine_header(&self, affine: &AffineFor) -> String {
        let iter = written(&self.kernel.iters[affine.iter].name);
        let (lower, upper) = (
            self.bound("max", &affine.lower),
            self.bound("min", &affine.upper),
        );
        let (step, lanes) = (step(affine.step), lanes(affine.lanes));
        format!("affine.for {iter} in {lower}..{upper}{step}{lanes}")
    }

    fn bound(&self, word: &str, bound: &Bound) -> String {
        match bound.as_single() {
            Some(expr) => self.affine(expr),
            None => {
                let texts: Vec<_> = bound.0.iter().map(|it| self.affine(it)).collect();
                format!("{word}({})", texts.join(", "))
            }
        }
    }

    fn condition(&self, condition: &Condition) -> String {
        self.order.condition(self.kernel, condition)
    }

    fn forall_header(&self, forall: &Forall) -> String {
        let kernel = self.kernel;
        let iter = written(&kernel.iters[forall.iter].name);
        let mut header = format!("scf.forall {iter} in 0..{}", self.affine(&forall.count));
        header.push_str(&self.merged(forall));
        header.push_str(&self.speculative(forall));
        if !forall.disjoint.is_empty() {
            let name = |array: ArrayId| written(&kernel.arrays[array].name);
            let pairs = forall.disjoint.iter();
            let pairs = pairs.map(|it| format!("{}: {}", name(it.target), name(it.met)));
            let pairs: Vec<_> = pairs.collect();
            header.push_str(&format!(" disjoint({})", pairs.join(", ")));
        }
        format!("{header} strategy({})", written(&forall.strategy))
    }

    fn merged(&self, forall: &Forall) -> String {
        let merged = forall.privates.iter().filter(|it| !it.is_speculative());
        let (buffers, merges): (Vec<_>, Vec<_>) = merged
            .map(|private| {
                let buffers = private.buffers.iter().map(|it| &self.kernel.arrays[*it]);
                let declared = buffers.map(|it| self.array(it)).collect();
                let combiner = combiner(&private.combiner);
                let (targets, merged) =
                    (self.names(&private.targets), self.names(&private.buffers));
                (
                    format!("{} = identity({combiner})", tuple(declared)),
                    format!("{targets} reduce({combiner}) {merged}"),
                )
            })
            .unzip();
        match buffers.is_empty() {
            true => String::new(),
            false => format!(
                " private({}) merge({})",
                buffers.join(", "),
                merges.join(", ")
            ),
        }
    }

    fn speculative(&self, forall: &Forall) -> String {
        let speculative = forall.privates.iter().filter(|it| it.is_speculative());
        let clauses = speculative.map(|it| {
            let targets = self.names(&it.targets);
            format!("{targets} reduce({})", combiner(&it.combiner))
        });
        let clauses: Vec<_> = clauses.collect();
        match clauses.is_empty() {
            true => String::new(),
            false => format!(" speculative({})", clauses.join(", ")),
        }
    }

    fn names(&self, arrays: &[ArrayId]) -> String {
        let names = arrays
            .iter()
            .map(|it| written(&self.kernel.arrays[*it].name));
        tuple(names.collect())
    }

    fn scf_header(&self, scf: &ScfFor) -> String {
        let context = Context::Known(Type::I64);
        let iter = written(&self.kernel.iters[scf.iter].name);
        let (lower, upper) = (
            self.expr(&scf.lower, context),
            self.expr(&scf.upper, context),
        );
        let (step, lanes) = (step(scf.step), lanes(scf.lanes));
        format!("scf.for {iter} in {lower}..{upper}{step}{lanes}")
    }

    fn declaration(&self, local: LocalId, value: &Expr) -> String {
        let local = &self.kernel.locals[local];
        let word = match (local.is_element, local.mutable) {
            (true, _) => "element",
            (false, true) => "var",
            (false, false) => "let",
        };
        let value = self.expr(value, Context::Known(local.ty));
        format!("{word} {}: {} = {value}", written(&local.name), local.ty)
    }

    fn place(&self, place: &Place) -> (String, Type) {
        match place {
            Place::Element(access) => {
                let ty = self.kernel.arrays[access.array].element;
                (self.access(access), ty)
            }
            Place::Local(local) => {
                let local = &self.kernel.locals[*local];
                (written(&local.name), local.ty)
            }
        }
    }
}

fn lanes(lanes: u32) -> String {
    match lanes {
        1 => String::new(),
        _ => format!(" lanes {lanes}"),
    }
}

fn step(step: i64) -> String {
    if step == 1 {
        String::new()
    } else {
        format!(" step {step}")
    }
}

fn combiner(combiner: &Combiner) -> String {
    let name = written_combiner(combiner.name());
    match combiner.parameter() {
        Some(parameter) => format!("{name}({parameter})"),
        None => name,
    }
}

/// The combiners of `kernel` that are not built in, in the order of their first use.
fn declared_combiners(kernel: &Kernel) -> Vec<Declared> {
    let mut all: Vec<Declared> = Vec::new();
    for_each_combiner(&kernel.body, &mut |combiner| {
        if let Some(declared) = combiner.declaration()
            && !all.contains(declared)
        {
            all.push(declared.clone());
        }
    });
    all
}

fn reduce(by: &Combiner) -> String {
    format!("reduce({})", combiner(by))
}

/// `a`, or `(a, b)`.
fn tuple(parts: Vec<String>) -> String {
    match parts.as_slice() {
        [part] => part.clone(),
        _ => format!("({})", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::test_kernels::{chunked_segment_sum, segment_sum};

    #[test]
    fn the_kernels_of_the_design_print_as_it_shows_them() {
        assert_eq!(
            segment_sum().to_string(),
            "\
kernel @segment_sum(n: i64, m: i32, seg: i32[n], x: f32[n], out: f64[m]) {
  affine.for i in 0..n {
    out[seg[i]] reduce(add) f64(x[i])
  }
}
"
        );
        assert_eq!(
            chunked_segment_sum().to_string(),
            "\
kernel @segment_sum(n: i64, m: i32, seg: i32[n], x: f32[n], out: f64[m]) {
  scf.forall i_c in 0..8 private(out_p: f64[m] = identity(add)) merge(out reduce(add) out_p) strategy(auto) {
    affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {
      out_p[seg[i]] reduce(add) f64(x[i])
    }
  }
}
"
        );
    }
}
