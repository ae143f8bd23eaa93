//! Which declaration every name means, and what happens to each declaration where.
//!
//! The walk gives every read and write of a name a number, its *time*, in the order of the source. A loop is a range of times, so
//! that "is this assigned in that loop" is a search in a sorted list, and the whole takes linear time.

use crate::ast::{
    Declaration, DeclarationId, Declarator, Expr, ExprKind, For, Function, LoopId, Name, Start,
    Statement, StatementKind,
};
use crate::diagnostic::{Diagnostics, Label};
use crate::problem::Problem;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use strew_affine::Span;

/// What is known of the names of a function.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    declarations: Vec<Symbol>,
    loops: Vec<Range<u32>>,
}

/// What is known of one declaration.
#[derive(Debug)]
pub(crate) struct Symbol {
    pub(crate) span: Span,
    /// When it is assigned after its declaration; ascending.
    writes: Vec<u32>,
    /// Whether it is read anywhere but in loops that count with it.
    pub(crate) read_outside_its_loops: bool,
}

impl Symbols {
    pub(crate) fn len(&self) -> usize {
        self.declarations.len()
    }

    pub(crate) fn symbol(&self, id: DeclarationId) -> &Symbol {
        &self.declarations[id.0]
    }

    pub(crate) fn is_assigned(&self, id: DeclarationId) -> bool {
        !self.symbol(id).writes.is_empty()
    }

    /// How often the header and the body of a loop assign it.
    pub(crate) fn writes_in(&self, id: DeclarationId, within: LoopId) -> usize {
        let range = &self.loops[within.0];
        let writes = &self.symbol(id).writes;
        let before = |time: u32| writes.partition_point(|write| *write < time);
        before(range.end) - before(range.start)
    }
}

/// Resolves the names of `function` in place.
pub(crate) fn resolve(function: &mut Function, diagnostics: &mut Diagnostics) -> Symbols {
    let mut resolver = Resolver {
        symbols: Symbols::default(),
        scopes: vec![HashMap::new()],
        counting: Vec::new(),
        unassigned: Vec::new(),
        unknown: HashSet::new(),
        in_switch: false,
        time: 0,
        diagnostics,
    };
    for parameter in &mut function.parameters {
        if let Some(declarator) = &mut parameter.declarator {
            resolver.declarator(declarator, false);
        }
    }
    // C gives the outermost block of the body the scope of the parameters.
    resolver.statements(&mut function.body);
    resolver.symbols
}

/// More unknown names than this are reported without a proposal, each of which takes a look at every visible name.
const PROPOSALS: usize = 20;

struct Resolver<'d> {
    symbols: Symbols,
    scopes: Vec<HashMap<String, DeclarationId>>,
    /// The iterators of the loops around.
    counting: Vec<DeclarationId>,
    /// By declaration: a local without an initial value that nothing was assigned to yet.
    unassigned: Vec<bool>,
    unknown: HashSet<String>,
    /// Whether the next statement is one that a `switch` selects.
    in_switch: bool,
    time: u32,
    diagnostics: &'d mut Diagnostics,
}

impl Resolver<'_> {
    fn tick(&mut self) -> u32 {
        self.time = self.time.saturating_add(1);
        self.time
    }

    fn scoped(&mut self, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(HashMap::new());
        walk(self);
        self.scopes.pop();
    }

    fn declare(&mut self, name: &mut Name, unassigned: bool) {
        let id = DeclarationId(self.symbols.declarations.len());
        self.symbols.declarations.push(Symbol {
            span: name.span,
            writes: Vec::new(),
            read_outside_its_loops: false,
        });
        self.unassigned.push(unassigned);
        name.declaration = Some(id);
        let scope = self.scopes.last_mut();
        let previous = scope.and_then(|scope| scope.insert(name.text.clone(), id));
        if let Some(previous) = previous {
            let label = Label {
                span: self.symbols.symbol(previous).span,
                message: "first declared here".to_owned(),
            };
            let name_text = name.text.clone();
            let problem = Problem::Duplicate { name: name_text };
            self.diagnostics
                .report_with(problem, name.span, vec![label]);
        }
    }

    /// In C the name is visible in its own initial value already, where it has no value yet.
    fn declarator(&mut self, declarator: &mut Declarator, is_local: bool) {
        for length in &mut declarator.lengths {
            if let Some(length) = &mut length.length {
                self.expression(length);
            }
        }
        let unassigned = is_local && declarator.initial.is_none();
        self.declare(&mut declarator.name, unassigned);
        let id = declarator.name.declaration;
        if let (Some(initial), Some(id)) = (&mut declarator.initial, id) {
            self.unassigned[id.0] = true;
            self.expression(initial);
            self.unassigned[id.0] = false;
        }
    }

    fn declaration(&mut self, declaration: &mut Declaration) {
        for declarator in &mut declaration.declarators {
            self.declarator(declarator, true);
        }
    }

    fn statements(&mut self, statements: &mut [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        let is_labelled = std::mem::take(&mut self.in_switch);
        for case in &mut statement.cases {
            if let Some(value) = &mut case.value {
                self.expression(value);
            }
            if !is_labelled {
                self.diagnostics.report(Problem::MisplacedCase, case.span);
            }
        }
        match &mut statement.kind {
            StatementKind::Block(body) => self.scoped(|it| {
                for statement in body {
                    it.in_switch = is_labelled;
                    it.statement(statement);
                }
            }),
            StatementKind::Declaration(declaration) => self.declaration(declaration),
            StatementKind::Expression(expr) | StatementKind::Return(Some(expr)) => {
                self.expression(expr);
            }
            StatementKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.expression(condition);
                self.scoped(|it| it.statement(then));
                if let Some(otherwise) = otherwise {
                    self.scoped(|it| it.statement(otherwise));
                }
            }
            StatementKind::For(it) => self.scoped(|resolver| resolver.for_loop(it)),
            StatementKind::While { condition, body } => {
                self.expression(condition);
                self.scoped(|it| it.statement(body));
            }
            StatementKind::Switch { value, body } => {
                self.expression(value);
                self.in_switch = true;
                self.scoped(|it| it.statement(body));
            }
            StatementKind::DoWhile { body, condition } => {
                self.scoped(|it| it.statement(body));
                self.expression(condition);
            }
            StatementKind::Empty
            | StatementKind::Goto(_)
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return(None)
            | StatementKind::Invalid => {}
        }
    }

    fn for_loop(&mut self, it: &mut For) {
        match &mut it.start {
            Start::Nothing => {}
            Start::Declaration(declaration) => self.declaration(declaration),
            Start::Expression(expr) => self.expression(expr),
        }
        let id = LoopId(self.symbols.loops.len());
        it.id = Some(id);
        let start = self.tick();
        self.symbols.loops.push(start..start);
        let iterator = it.start.iterator().and_then(|name| name.declaration);
        self.counting.extend(iterator);
        if let Some(condition) = &mut it.condition {
            self.expression(condition);
        }
        self.scoped(|resolver| resolver.statement(&mut it.body));
        if let Some(step) = &mut it.step {
            self.expression(step);
        }
        if iterator.is_some() {
            self.counting.pop();
        }
        let end = self.tick();
        self.symbols.loops[id.0] = start..end;
    }

    fn expression(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Constant(_) | ExprKind::SizeOfType(_) | ExprKind::Invalid => {}
            ExprKind::Braced(elements) => {
                for element in elements {
                    self.expression(&mut element.value);
                }
            }
            ExprKind::Name(name) => self.read(name),
            // Functions have a name space of their own here: the lowering says what is wrong with a call.
            ExprKind::Call(_, arguments) => {
                for argument in arguments {
                    self.expression(argument);
                }
            }
            ExprKind::Unary(_, operand)
            | ExprKind::Cast(_, operand)
            | ExprKind::SizeOf(operand)
            | ExprKind::Member(operand, _, _) => self.expression(operand),
            ExprKind::Index(left, right)
            | ExprKind::Binary(_, left, right)
            | ExprKind::Comma(left, right) => {
                self.expression(left);
                self.expression(right);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.expression(condition);
                self.expression(then);
                self.expression(otherwise);
            }
            ExprKind::Assign(op, place, value) => {
                self.place(place, op.is_some());
                self.expression(value);
                self.write(place);
            }
            ExprKind::Step(_, place) => {
                self.place(place, true);
                self.write(place);
            }
        }
    }

    /// A plain variable is read only by a compound assignment; subscripts are always read.
    fn place(&mut self, place: &mut Expr, is_read: bool) {
        match &mut place.kind {
            ExprKind::Name(name) if !is_read => {
                self.look_up(name);
            }
            _ => self.expression(place),
        }
    }

    fn write(&mut self, place: &Expr) {
        if let Some(id) = place.base_name().and_then(|name| name.declaration) {
            let time = self.tick();
            self.symbols.declarations[id.0].writes.push(time);
            self.unassigned[id.0] = false;
        }
    }

    fn read(&mut self, name: &mut Name) {
        let Some(id) = self.look_up(name) else { return };
        self.tick();
        if !self.counting.contains(&id) {
            self.symbols.declarations[id.0].read_outside_its_loops = true;
        }
        if std::mem::take(&mut self.unassigned[id.0]) {
            let problem = Problem::ReadBeforeAssigned {
                name: name.text.clone(),
            };
            self.diagnostics.report(problem, name.span);
        }
    }

    fn look_up(&mut self, name: &mut Name) -> Option<DeclarationId> {
        let scopes = self.scopes.iter().rev();
        let found = scopes
            .filter_map(|scope| scope.get(&name.text))
            .next()
            .copied();
        if found.is_none() {
            self.report_unknown(name);
        }
        name.declaration = found;
        found
    }

    /// Once for each name.
    fn report_unknown(&mut self, name: &Name) {
        let proposes = self.unknown.len() < PROPOSALS;
        if !self.unknown.insert(name.text.clone()) {
            return;
        }
        let visible = self.scopes.iter().flat_map(HashMap::keys);
        let problem = Problem::UnknownName {
            name: name.text.clone(),
            nearest: proposes.then(|| nearest(&name.text, visible)).flatten(),
        };
        self.diagnostics.report(problem, name.span);
    }
}

impl Start {
    /// The variable that this gives its first value.
    pub(crate) fn iterator(&self) -> Option<&Name> {
        match self {
            Self::Declaration(declaration) => match declaration.declarators.as_slice() {
                [only] => Some(&only.name),
                _ => None,
            },
            Self::Expression(expr) => match &expr.kind {
                ExprKind::Assign(None, place, _) => place.as_name(),
                _ => None,
            },
            Self::Nothing => None,
        }
    }
}

impl Expr {
    /// The name, when the expression is just one.
    pub(crate) fn as_name(&self) -> Option<&Name> {
        match &self.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Whether evaluating it does anything but give a value.
    pub(crate) fn has_effects(&self) -> bool {
        match &self.kind {
            ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Call(..) => true,
            // Not evaluated.
            ExprKind::SizeOf(_) => false,
            other => other.operands().into_iter().any(Self::has_effects),
        }
    }

    /// Calls `visit` for every variable and array that is named.
    pub(crate) fn for_each_name(&self, visit: &mut impl FnMut(&Name)) {
        if let ExprKind::Name(name) = &self.kind {
            visit(name);
        }
        for operand in self.kind.operands() {
            operand.for_each_name(visit);
        }
    }

    /// The name that subscripts stand behind, if any do.
    pub(crate) fn base_name(&self) -> Option<&Name> {
        let mut base = self;
        while let ExprKind::Index(inner, _) = &base.kind {
            base = inner;
        }
        base.as_name()
    }
}

/// The candidate that takes the fewest edits, at most a third of the name's length.
pub(crate) fn nearest<'n>(
    name: &str,
    candidates: impl Iterator<Item = &'n String>,
) -> Option<String> {
    const LONGEST: usize = 40;
    if name.len() > LONGEST {
        return None;
    }
    candidates
        .filter(|it| it.len() <= LONGEST)
        .map(|it| (distance(name, it), it))
        .filter(|(edits, it)| 3 * edits <= name.len().max(it.len()))
        .min()
        .map(|(_, it)| it.clone())
}

/// Levenshtein's distance in bytes.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, byte) in left.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in right.bytes().enumerate() {
            let replaced = diagonal + usize::from(byte != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_proposed_only_when_it_is_near() {
        let names = ["out", "seg", "weights"].map(str::to_owned);
        let near = |name: &str| nearest(name, names.iter());
        assert_eq!(near("wieghts"), Some("weights".to_owned()));
        assert_eq!(near("ouy"), Some("out".to_owned()));
        assert_eq!(near("velocity"), None);
    }
}
