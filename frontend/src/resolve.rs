//! Which declaration every name means, and which of the declared are assigned.

mod declare;
mod scope;
mod shape;
mod size;
mod suspicious;
mod undefined;
mod unsequenced;

use crate::ast::{
    Case, Declaration, DeclarationId, Declarator, Designator, Element, Expr, ExprKind, File, For,
    Function, Name, Reduction, Start, Statement, StatementKind, UnaryOp,
};
use crate::diagnostic::{Diagnostics, Label};
use crate::lower::math::is_callable;
use crate::problem::{
    ControlFlowProblem, ExpressionProblem, Problem, Unsupported, UnsupportedFunction,
    is_library_function,
};
use crate::types::Position;
use scope::{Entry, Names, Tag};
use shape::Shape;
use std::collections::HashSet;
use std::rc::Rc;
use strew_affine::spelling::nearest;
use strew_affine::{Span, Value};

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
    /// The constant arrays outside of the function that it uses.
    globals: Vec<(DeclarationId, Rc<GlobalArray>)>,
}

/// What is known of one declaration.
#[derive(Debug)]
pub(crate) struct Symbol {
    /// Whether it is assigned after its declaration.
    is_assigned: bool,
    /// Whether `=` assigns it, rather than steps and compound assignments alone.
    is_replaced: bool,
}

impl Symbols {
    pub(crate) fn len(&self) -> usize {
        self.declarations.len()
    }

    /// Whether `=` assigns it after its declaration, rather than steps and compound assignments
    /// alone.
    pub(crate) fn is_replaced(&self, DeclarationId(index): DeclarationId) -> bool {
        let declared = self.declarations.get(index);
        declared.is_some_and(|it| it.is_replaced)
    }

    pub(crate) fn is_assigned(&self, DeclarationId(index): DeclarationId) -> bool {
        self.declarations
            .get(index)
            .is_some_and(|it| it.is_assigned)
    }

    /// The constant arrays outside of the function that it uses.
    pub(crate) fn globals(&self) -> &[(DeclarationId, Rc<GlobalArray>)] {
        &self.globals
    }
}

/// The types and constants outside of functions.
pub(crate) fn globals(file: &mut File, diagnostics: &mut Diagnostics) -> Globals {
    let nothing = Globals::default();
    let mut resolver = Resolver::new(&nothing, diagnostics);
    resolver.lost.clone_from(&file.lost);
    for declaration in &mut file.declarations {
        resolver.file_declaration(declaration);
    }
    for assertion in &mut file.assertions {
        resolver.assertion(assertion);
    }
    let functions = file.functions.iter().map(|it| &it.name);
    let functions = functions.chain(file.prototypes.iter().map(|it| &it.name));
    let functions = functions.filter(|it| !file.lost.contains(&it.text));
    Globals {
        functions: functions.map(|it| it.text.clone()).collect(),
        lost: resolver.lost,
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
    resolver.lost = std::mem::take(&mut function.lost);
    resolver.type_name(&mut function.returns);
    let declarators = function.parameters.iter().map(|it| it.declarator.as_ref());
    resolver.later = declarators
        .flatten()
        .map(|it| it.name.text.clone())
        .collect();
    for parameter in &mut function.parameters {
        resolver.type_name(&mut parameter.ty);
        if let Some(declarator) = &mut parameter.declarator {
            let base = Shape::of_type(&parameter.ty, Position::Parameter);
            resolver.declarator(declarator, base, false);
            resolver.later.remove(&declarator.name.text);
        }
    }
    // C gives the outermost block of the body the scope of the parameters.
    resolver.statements(&mut function.body);
    let statements = function.body.iter().map(|it| it.depth).max();
    let Resolver {
        mut symbols,
        deepest_expression,
        ..
    } = resolver;
    symbols.depth = deepest_expression + statements.unwrap_or_default();
    symbols
}

/// Resolves the names of what the file declares as reductions: of each the combiner, and the
/// identity.
pub(crate) fn reductions(
    reductions: &mut [Reduction],
    globals: &Globals,
    diagnostics: &mut Diagnostics,
) -> Vec<[Symbols; 2]> {
    let resolved = reductions
        .iter_mut()
        .map(|it| [&mut it.combiner, &mut it.identity].map(|it| resolve(it, globals, diagnostics)));
    resolved.collect()
}

/// More unknown names than this are reported without a proposal, each of which takes a look at
/// every visible name.
const PROPOSALS: usize = 20;

struct Resolver<'d> {
    symbols: Symbols,
    globals: &'d Globals,
    scopes: Vec<Names<Entry>>,
    tags: Vec<Names<Tag>>,
    /// By declaration.
    shapes: Vec<Shape>,
    /// Not inside of `sizeof`.
    is_evaluated: bool,
    /// By declaration: a local without an initial value that nothing was assigned to yet.
    unassigned: Vec<bool>,
    unknown: HashSet<String>,
    /// Names that may be declared in what could not be read.
    lost: HashSet<String>,
    /// Parameters that are still to come.
    later: HashSet<String>,
    deepest_expression: usize,
    /// Whether the next statement is one that a `switch` selects.
    in_switch: bool,
    /// Whether the next statement is the body of a `switch`.
    is_switch_body: bool,
    /// How many `switch`es are around.
    switches: usize,
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
            is_evaluated: true,
            unassigned: Vec::new(),
            unknown: HashSet::new(),
            lost: HashSet::new(),
            later: HashSet::new(),
            deepest_expression: 0,
            in_switch: false,
            is_switch_body: false,
            switches: 0,
            diagnostics,
        }
    }
}

impl Resolver<'_> {
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
            is_assigned: false,
            is_replaced: false,
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
        self.declare(&mut declarator.name, shape, unassigned);
        let id = declarator.name.declaration;
        if let (Some(initial), Some(id)) = (&mut declarator.initial, id) {
            self.unassigned[id.0] = is_scalar;
            self.full_expression(initial);
            self.warn_of_conversion(&self.shapes[id.0].clone(), initial);
            self.unassigned[id.0] = false;
            let shape = std::mem::replace(&mut self.shapes[id.0], Shape::Unknown);
            self.shapes[id.0] = self.completed(shape, initial);
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
        self.loops_without_body(statements);
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        self.symbols.size += 1;
        let is_labelled = std::mem::take(&mut self.in_switch);
        let is_switch_body = std::mem::take(&mut self.is_switch_body);
        self.labels(&mut statement.cases, is_labelled);
        match &mut statement.kind {
            StatementKind::Block(body) => self.scoped(|it| {
                it.loops_without_body(body);
                for statement in body {
                    it.in_switch = is_switch_body;
                    it.statement(statement);
                }
            }),
            StatementKind::Declaration(declaration) => self.declaration(declaration),
            StatementKind::Assertion(assertion) => self.assertion(assertion),
            StatementKind::Expression(expr) | StatementKind::Return(Some(expr)) => {
                self.full_expression(expr);
            }
            StatementKind::If {
                condition,
                then,
                otherwise,
            } => {
                self.empty_branch(condition, then, otherwise.is_some());
                self.full_expression(condition);
                self.scoped(|it| it.statement(then));
                if let Some(otherwise) = otherwise {
                    self.scoped(|it| it.statement(otherwise));
                }
            }
            StatementKind::For(it) => self.scoped(|resolver| resolver.for_loop(it)),
            StatementKind::While { condition, body } => {
                self.full_expression(condition);
                self.scoped(|it| it.statement(body));
            }
            StatementKind::Switch { value, body } => {
                self.full_expression(value);
                self.in_switch = true;
                self.is_switch_body = true;
                self.switches += 1;
                self.scoped(|it| it.statement(body));
                self.switches -= 1;
            }
            StatementKind::DoWhile { body, condition } => {
                self.scoped(|it| it.statement(body));
                self.full_expression(condition);
            }
            StatementKind::Empty
            | StatementKind::Goto(_)
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Return(None)
            | StatementKind::Invalid => {}
        }
    }

    fn labels(&mut self, cases: &mut [Case], is_labelled: bool) {
        for case in cases {
            if let Some(value) = &mut case.value {
                self.expression(value);
            }
            if !is_labelled {
                let problem = ControlFlowProblem::MisplacedCase {
                    in_switch: self.switches > 0,
                };
                self.diagnostics.report(problem, case.span);
            }
        }
    }

    fn for_loop(&mut self, it: &mut For) {
        match &mut it.start {
            Start::Nothing => {}
            Start::Declaration(declaration) => self.declaration(declaration),
            Start::Expression(expr) => self.full_expression(expr),
        }
        if let Some(condition) = &mut it.condition {
            self.full_expression(condition);
        }
        self.scoped(|resolver| resolver.statement(&mut it.body));
        if let Some(step) = &mut it.step {
            self.full_expression(step);
        }
    }

    fn expression(&mut self, expr: &mut Expr) {
        self.symbols.size += 1;
        self.deepest_expression = self.deepest_expression.max(expr.depth);
        match &mut expr.kind {
            ExprKind::Constant(_) | ExprKind::Text | ExprKind::Invalid => {}
            ExprKind::Name(name) => {
                if let Some(value) = self.read(name) {
                    expr.kind = ExprKind::Constant(value);
                }
            }
            // Functions have a name space of their own here: the lowering says what is wrong with a
            // call. Its arguments go with it.
            ExprKind::Call(function, arguments) if self.is_of_library(function) => {
                self.symbols.calls.push(function.clone());
                arguments.iter_mut().for_each(|it| self.handed_out(it));
            }
            ExprKind::Call(function, _) if self.is_lost_function(function) => {
                expr.kind = ExprKind::Invalid;
            }
            ExprKind::Call(function, arguments) => {
                self.symbols.calls.push(function.clone());
                for argument in arguments {
                    self.expression(argument);
                }
            }
            ExprKind::Braced(elements) => elements.iter_mut().for_each(|it| self.element(it)),
            ExprKind::SizeOfType(_) => self.size_of_type(expr),
            ExprKind::SizeOf(_) => self.size_of(expr),
            ExprKind::Cast(name, operand) | ExprKind::Compound(name, operand) => {
                self.type_name(name);
                self.expression(operand);
            }
            ExprKind::Unary(UnaryOp::AddressOf, operand) => self.address_taken(operand),
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
            ExprKind::Assign(op, place, value) => self.assignment(place, value, op.is_some()),
            ExprKind::Step(_, place) => {
                self.place(place, true);
                self.write(place);
            }
        }
    }

    fn element(&mut self, element: &mut Element) {
        for designator in &mut element.designators {
            if let Designator::Index(index) = designator {
                self.expression(index);
            }
        }
        self.expression(&mut element.value);
    }

    fn assignment(&mut self, place: &mut Expr, value: &mut Expr, is_compound: bool) {
        self.place(place, is_compound);
        self.expression(value);
        self.write(place);
        if let Some(id) = place.as_name().and_then(|name| name.declaration) {
            self.symbols.declarations[id.0].is_replaced |= !is_compound;
        }
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

    /// Whoever has the address of a number or a structure may change it. That of a pointer or of an
    /// array is not taken.
    fn address_taken(&mut self, operand: &mut Expr) {
        self.place(operand, false);
        if matches!(self.shape(operand), Shape::Scalar(_) | Shape::Structure(_)) {
            self.write(operand);
        }
    }

    /// A function that no kernel can call would set what it has the address of, so that nothing is
    /// to be said about that.
    fn handed_out(&mut self, argument: &mut Expr) {
        if let ExprKind::Unary(UnaryOp::AddressOf, operand) = &mut argument.kind
            && let Some(name) = operand.as_name()
            && let Some(Entry::Variable(_)) = self.meaning(&name.text, name.span)
        {
            self.address_taken(operand);
        }
    }

    fn report_constant(&mut self, name: &Name) {
        let problem = ExpressionProblem::AssignToConst {
            name: name.text.clone(),
        };
        self.diagnostics.report(problem, name.span);
    }

    fn write(&mut self, place: &Expr) {
        if !self.is_evaluated {
            return;
        }
        let mut variable = place;
        let mut inside = place;
        // An element of an array is no part of a variable, unless the array is a member of one.
        while let ExprKind::Member(base, _, false) | ExprKind::Index(base, _) = &inside.kind {
            let is_member = matches!(inside.kind, ExprKind::Member(..));
            inside = base;
            if is_member && matches!(self.shape(base), Shape::Structure(_)) {
                variable = base;
            }
        }
        if let Some(id) = variable.as_name().and_then(|name| name.declaration) {
            self.symbols.declarations[id.0].is_assigned = true;
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
        if std::mem::take(&mut self.unassigned[id.0]) {
            let problem = ExpressionProblem::ReadBeforeAssigned {
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
        // Outside of functions it stays what it is, for all of them.
        if let Some(outermost) = self.scopes.first_mut()
            && outermost.get(&name.text).is_none()
        {
            outermost.declare(&name.text, Entry::Variable(id), array.span);
        }
        self.symbols.globals.push((id, array));
        id
    }

    /// Whether an error was reported where `name` may be declared.
    fn is_lost(&self, name: &str) -> bool {
        self.lost.contains(name) || self.globals.lost.contains(name)
    }

    /// Whether it is a function that the file does not have and no kernel can call.
    fn is_of_library(&self, function: &Name) -> bool {
        let name = &function.text;
        let is_refused = is_library_function(name) && !is_callable(name);
        is_refused && !self.globals.functions.contains(name)
    }

    /// Whether an error was reported where `function` may be declared, or its type.
    fn is_lost_function(&self, function: &Name) -> bool {
        let is_variable = || {
            matches!(
                self.meaning(&function.text, function.span),
                Some(Entry::Variable(_))
            )
        };
        !self.globals.functions.contains(&function.text)
            && (self.is_lost(&function.text) || !self.globals.lost.is_empty() && is_variable())
    }

    /// Once for each name.
    fn report_unknown(&mut self, name: &Name) {
        let proposes = self.unknown.len() < PROPOSALS;
        if self.is_lost(&name.text) || !self.unknown.insert(name.text.clone()) {
            return;
        }
        if self.globals.functions.contains(&name.text) {
            let what = Unsupported::Function(UnsupportedFunction::FunctionAsValue {
                name: name.text.clone(),
            });
            return self
                .diagnostics
                .report(Problem::Unsupported(what), name.span);
        }
        let names = self.scopes.iter().chain([&self.globals.names]);
        let visible = names.flat_map(Names::keys).map(String::as_str);
        let nearest = || nearest(&name.text, visible).map(str::to_owned);
        let problem = ExpressionProblem::UnknownName {
            name: name.text.clone(),
            nearest: proposes.then(nearest).flatten(),
            is_later: self.later.contains(&name.text),
        };
        self.diagnostics.report(problem, name.span);
    }
}

impl Expr {
    /// Whether evaluating it does anything but give a value.
    pub(crate) fn has_effects(&self) -> bool {
        match &self.kind {
            ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Call(..) => true,
            // Not evaluated.
            ExprKind::SizeOf(_) => false,
            other => other.operands().into_iter().any(Self::has_effects),
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
