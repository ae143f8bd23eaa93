//! Which declaration every name means, and what happens to each declaration where.
//!
//! The walk gives every read and write of a name a number, its *time*, in the order of the source. A loop is a range of times, so
//! that "is this assigned in that loop" is a search in a sorted list, and the whole takes linear time.

mod alias;
mod declare;
mod scope;
mod shape;

use crate::ast::{
    Declaration, DeclarationId, Declarator, Designator, Expr, ExprKind, File, For, Function,
    LoopId, Name, Start, Statement, StatementKind,
};
use crate::diagnostic::{Diagnostics, Label};
use crate::problem::Problem;
use crate::types::Position;
use alias::Aliases;
use scope::{Entry, Names, Tag};
use shape::Shape;
use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;
use strew_affine::{Span, Type, Value};

pub(crate) use scope::{GlobalArray, Globals};

/// What is known of the names of a function.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    /// The names of the functions it calls, where it calls them.
    pub(crate) calls: Vec<Name>,
    /// How many statements and expressions it has.
    pub(crate) size: usize,
    /// How many statements and expressions contain each other, at most.
    pub(crate) depth: usize,
    declarations: Vec<Symbol>,
    loops: Vec<Range<u32>>,
    /// The constant arrays outside of the function that it uses.
    globals: Vec<(DeclarationId, Rc<GlobalArray>)>,
}

/// What is known of one declaration.
#[derive(Debug)]
pub(crate) struct Symbol {
    /// When it is assigned after its declaration; ascending.
    writes: Vec<u32>,
    /// When an element of it, or of what it may be another name for, is assigned; ascending.
    element_writes: Vec<u32>,
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

    /// The constant arrays outside of the function that it uses.
    pub(crate) fn globals(&self) -> &[(DeclarationId, Rc<GlobalArray>)] {
        &self.globals
    }

    /// How often the header and the body of a loop assign it.
    pub(crate) fn writes_in(&self, id: DeclarationId, within: LoopId) -> usize {
        let range = &self.loops[within.0];
        let count = |writes: &[u32]| {
            let before = |time: u32| writes.partition_point(|write| *write < time);
            before(range.end) - before(range.start)
        };
        let symbol = self.symbol(id);
        count(&symbol.writes) + count(&symbol.element_writes)
    }
}

/// The types and constants outside of functions.
pub(crate) fn globals(file: &mut File, diagnostics: &mut Diagnostics) -> Globals {
    let nothing = Globals::default();
    let mut resolver = Resolver::new(&nothing, diagnostics);
    for declaration in &mut file.declarations {
        resolver.file_declaration(declaration);
    }
    Globals {
        names: resolver.scopes.pop().unwrap_or_default(),
        tags: resolver.tags.pop().unwrap_or_default(),
    }
}

/// Resolves the names of `function` in place.
pub(crate) fn resolve(
    function: &mut Function,
    globals: &Globals,
    diagnostics: &mut Diagnostics,
) -> Symbols {
    let mut resolver = Resolver::new(globals, diagnostics);
    resolver.type_name(&mut function.returns);
    for parameter in &mut function.parameters {
        resolver.type_name(&mut parameter.ty);
        if let Some(declarator) = &mut parameter.declarator {
            let base = Shape::of_type(&parameter.ty, Position::Parameter);
            resolver.declarator(declarator, base, false);
        }
    }
    // C gives the outermost block of the body the scope of the parameters.
    resolver.statements(&mut function.body);
    let statements = function.body.iter().map(|it| it.depth).max();
    let Resolver {
        mut symbols,
        aliases,
        deepest_expression,
        ..
    } = resolver;
    symbols.depth = deepest_expression + statements.unwrap_or_default();
    aliases.share(&mut symbols.declarations);
    symbols
}

/// More unknown names than this are reported without a proposal, each of which takes a look at every visible name.
const PROPOSALS: usize = 20;

struct Resolver<'d> {
    symbols: Symbols,
    globals: &'d Globals,
    scopes: Vec<Names<Entry>>,
    tags: Vec<Names<Tag>>,
    /// By declaration.
    shapes: Vec<Shape>,
    aliases: Aliases,
    /// Not inside of `sizeof`.
    is_evaluated: bool,
    /// The iterators of the loops around.
    counting: Vec<DeclarationId>,
    /// By declaration: a local without an initial value that nothing was assigned to yet.
    unassigned: Vec<bool>,
    unknown: HashSet<String>,
    deepest_expression: usize,
    /// Whether the next statement is one that a `switch` selects.
    in_switch: bool,
    time: u32,
    diagnostics: &'d mut Diagnostics,
}

impl<'d> Resolver<'d> {
    fn new(globals: &'d Globals, diagnostics: &'d mut Diagnostics) -> Self {
        Self {
            symbols: Symbols::default(),
            globals,
            scopes: vec![Names::default()],
            tags: vec![Names::default()],
            shapes: Vec::new(),
            aliases: Aliases::default(),
            is_evaluated: true,
            counting: Vec::new(),
            unassigned: Vec::new(),
            unknown: HashSet::new(),
            deepest_expression: 0,
            in_switch: false,
            time: 0,
            diagnostics,
        }
    }
}

impl Resolver<'_> {
    fn tick(&mut self) -> u32 {
        self.time = self.time.saturating_add(1);
        self.time
    }

    fn scoped(&mut self, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(Names::default());
        self.tags.push(Names::default());
        walk(self);
        self.scopes.pop();
        self.tags.pop();
    }

    fn declare(&mut self, name: &mut Name, shape: Shape, unassigned: bool) {
        let id = self.symbol(shape, unassigned);
        name.declaration = Some(id);
        self.declare_entry(name, Entry::Variable(id));
    }

    fn symbol(&mut self, shape: Shape, unassigned: bool) -> DeclarationId {
        let id = DeclarationId(self.symbols.declarations.len());
        self.symbols.declarations.push(Symbol {
            writes: Vec::new(),
            element_writes: Vec::new(),
            read_outside_its_loops: false,
        });
        self.unassigned.push(unassigned);
        self.shapes.push(shape);
        id
    }

    /// In C the name is visible in its own initial value already, where it has no value yet.
    fn declarator(&mut self, declarator: &mut Declarator, base: Shape, is_local: bool) {
        for length in &mut declarator.lengths {
            if let Some(length) = &mut length.length {
                self.expression(length);
            }
        }
        let shape = Shape::declared(base, declarator, !is_local);
        let is_scalar = matches!(shape, Shape::Scalar(_));
        let unassigned = is_local && is_scalar && declarator.initial.is_none();
        let is_reference = shape.is_reference();
        self.declare(&mut declarator.name, shape, unassigned);
        let id = declarator.name.declaration;
        if let (Some(initial), Some(id)) = (&mut declarator.initial, id) {
            self.unassigned[id.0] = is_scalar;
            self.expression(initial);
            self.unassigned[id.0] = false;
            if is_reference {
                self.alias(id, initial);
            }
        }
    }

    fn declaration(&mut self, declaration: &mut Declaration) {
        if self.type_declaration(declaration) {
            return;
        }
        let base = Shape::of_type(&declaration.ty, Position::Variable);
        for declarator in &mut declaration.declarators {
            self.declarator(declarator, base.clone(), true);
        }
    }

    fn statements(&mut self, statements: &mut [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        self.symbols.size += 1;
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
        self.symbols.size += 1;
        self.deepest_expression = self.deepest_expression.max(expr.depth);
        match &mut expr.kind {
            ExprKind::Constant(_) | ExprKind::Invalid => {}
            ExprKind::Name(name) => {
                if let Some(value) = self.read(name) {
                    expr.kind = ExprKind::Constant(value);
                }
            }
            // Functions have a name space of their own here: the lowering says what is wrong with a call.
            ExprKind::Call(function, arguments) => {
                self.symbols.calls.push(function.clone());
                for argument in arguments.iter_mut() {
                    self.expression(argument);
                }
                for argument in arguments.iter() {
                    self.write_through(argument);
                }
            }
            ExprKind::Braced(elements) => {
                for element in elements {
                    for designator in &mut element.designators {
                        if let Designator::Index(index) = designator {
                            self.expression(index);
                        }
                    }
                    self.expression(&mut element.value);
                }
            }
            ExprKind::SizeOfType(name) => {
                self.type_name(name);
                let size = self.size_of_type(name);
                self.size(expr, size);
            }
            ExprKind::SizeOf(operand) => {
                self.unevaluated(operand);
                let size = self.shape(operand).size();
                self.size(expr, size);
            }
            ExprKind::Cast(name, operand) => {
                self.type_name(name);
                self.expression(operand);
            }
            ExprKind::Unary(_, operand) | ExprKind::Member(operand, _, _) => {
                self.expression(operand);
            }
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
                if let Some(id) = place.as_name().and_then(|name| name.declaration) {
                    self.alias(id, value);
                }
            }
            ExprKind::Step(_, place) => {
                self.place(place, true);
                self.write(place);
            }
        }
    }

    fn size(&mut self, expr: &mut Expr, size: Option<u64>) {
        expr.kind = match size {
            Some(size) => ExprKind::Constant(Value::integer(Type::U64, size.into())),
            None => {
                self.diagnostics.report(Problem::SizeUnknown, expr.span);
                ExprKind::Invalid
            }
        };
    }

    /// Nothing in the operand of `sizeof` happens: what is read or written there is not.
    fn unevaluated(&mut self, operand: &mut Expr) {
        let outside = std::mem::replace(&mut self.is_evaluated, false);
        self.expression(operand);
        self.is_evaluated = outside;
    }

    /// A plain variable is read only by a compound assignment; subscripts are always read.
    fn place(&mut self, place: &mut Expr, is_read: bool) {
        if let ExprKind::Name(name) = &mut place.kind {
            if let Some(Entry::Constant(_)) = self.look_up(name) {
                return self.report_constant(name);
            }
            if !is_read {
                return;
            }
        }
        match &mut place.kind {
            ExprKind::Member(base, _, false) if !is_read => self.place(base, false),
            _ => self.expression(place),
        }
    }

    fn report_constant(&mut self, name: &Name) {
        let problem = Problem::AssignToConst {
            name: name.text.clone(),
        };
        self.diagnostics.report(problem, name.span);
    }

    fn write(&mut self, place: &Expr) {
        if !self.is_evaluated {
            return;
        }
        let mut variable = place;
        while let ExprKind::Member(base, _, false) = &variable.kind {
            variable = base;
        }
        let Some(name) = variable.as_name() else {
            return self.write_through(place);
        };
        if let Some(id) = name.declaration {
            let time = self.tick();
            self.symbols.declarations[id.0].writes.push(time);
            self.unassigned[id.0] = false;
        }
    }

    fn read(&mut self, name: &mut Name) -> Option<Value> {
        let id = match self.look_up(name)? {
            Entry::Constant(value) => return Some(value),
            Entry::Variable(id) => id,
            _ => return None,
        };
        if !self.is_evaluated {
            return None;
        }
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
        None
    }

    fn look_up(&mut self, name: &mut Name) -> Option<Entry> {
        let mut found = self.meaning(&name.text, name.span);
        if let Some(Entry::Array(array)) = &found {
            let id = self.global(name, Rc::clone(array));
            found = Some(Entry::Variable(id));
        }
        match &found {
            Some(Entry::Variable(id)) => name.declaration = Some(*id),
            Some(_) => {}
            None => self.report_unknown(name),
        }
        found
    }

    /// A constant array of the file becomes a variable of the function where it is used first.
    fn global(&mut self, name: &Name, array: Rc<GlobalArray>) -> DeclarationId {
        let id = self.symbol(array.shape.clone(), false);
        if let Some(outermost) = self.scopes.first_mut() {
            outermost.declare(&name.text, Entry::Variable(id), array.span);
        }
        self.symbols.globals.push((id, array));
        id
    }

    /// Once for each name.
    fn report_unknown(&mut self, name: &Name) {
        let proposes = self.unknown.len() < PROPOSALS;
        if !self.unknown.insert(name.text.clone()) {
            return;
        }
        let names = self.scopes.iter().chain([&self.globals.names]);
        let visible = names.flat_map(Names::keys);
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
}

/// Where something of the same name was declared.
fn first_declared(span: Span) -> Label {
    Label {
        span,
        message: "first declared here".to_owned(),
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
