//! Calls of functions of the file: the body of the callee is lowered where it is called.
//!
//! Its parameters become locals with the values of the arguments; those that nothing assigns stay
//! what the argument is. An array parameter is another name of the caller's array. A `return`
//! leaves the callee's statements alone.

use super::reference::Reference;
use super::value::Typed;
use super::{Activation, Binding, Lowering};
use crate::ast::{Declarator, Expr, Function, Name, Parameter, Statement, StatementKind};
use crate::calls::Resolved;
use crate::diagnostic::Label;
use crate::flow::Flow;
use crate::problem::{
    CallProblem, ControlFlowProblem, DeclarationProblem, Problem, ReductionProblem, c_name,
};
use crate::structure::Structure;
use crate::types::{self, Named, Position, Returned};
use std::rc::Rc;
use strew_affine::{AffineExpr, Expr as Computation, Node, Span, Value, text};

/// How many functions, and how many of their statements and expressions, may contain each other
/// where calls are expanded: the lowering recurses through them.
const DEEPEST: usize = 300;

/// What is handed over for a parameter.
enum Argument {
    Scalar(Typed),
    Reference(Reference),
    /// The members.
    Structure(Rc<Structure>, Vec<Typed>),
}

impl<'a> Lowering<'a> {
    /// The value of a call, `None` inside where the function returns none.
    pub(super) fn call(
        &mut self,
        name: &Name,
        arguments: &[Expr],
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Option<Typed>> {
        let values = self.call_numbers(name, arguments, span, body)?;
        Some(values.into_iter().next())
    }

    /// The values of a call: the numbers of a structure, one of anything else, none where the
    /// function returns none.
    pub(super) fn call_numbers(
        &mut self,
        name: &Name,
        arguments: &[Expr],
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        let Some(callee) = self.functions.get(&name.text) else {
            if name.text == "assert" && arguments.len() == 1 {
                self.diagnostics.report(CallProblem::Assertion, span);
                return Some(Vec::new());
            }
            if self.host_combiner(&name.text).is_some() {
                let name = name.text.clone();
                return self.report(ReductionProblem::HostCall { name }, span);
            }
            let value = self.library_call(name, arguments, span, body)?;
            return Some(vec![value]);
        };
        let parameters = parameters(callee.function);
        let function = callee.function.name.text.clone();
        if parameters.len() != arguments.len() {
            let problem = CallProblem::ArgumentCount {
                function,
                expected: parameters.len(),
                found: arguments.len(),
            };
            return self.report_at_function(problem, span, callee);
        }
        if self.callers.contains(&function) {
            // That a function comes to call itself has been said.
            return None;
        }
        let depth = callee.symbols.depth + 1;
        if self.call_depth + depth > DEEPEST {
            return self.report(CallProblem::CallsTooDeep { limit: DEEPEST }, span);
        }
        if let Err(limit) = self.functions.expand(callee.symbols.size) {
            return self.report(CallProblem::CallsTooLong { limit }, span);
        }
        let values = self.arguments(&parameters, arguments, body);
        self.call_depth += depth;
        self.callers.push(function);
        let value = values.and_then(|values| self.inlined(callee, &parameters, values, span, body));
        self.callers.pop();
        self.call_depth -= depth;
        value
    }

    fn report_at_function<T>(
        &mut self,
        problem: impl Into<Problem>,
        span: Span,
        callee: Resolved<'a>,
    ) -> Option<T> {
        let label = Label {
            span: callee.function.name.span,
            message: "declared here".to_owned(),
        };
        self.diagnostics.report_with(problem, span, vec![label]);
        None
    }

    /// Evaluates the arguments left to right; what a later one could change is kept.
    fn arguments(
        &mut self,
        parameters: &[(&Parameter, &Declarator)],
        arguments: &[Expr],
        body: &mut Vec<Node>,
    ) -> Option<Vec<Argument>> {
        let mut values = Vec::with_capacity(arguments.len());
        let mut is_complete = true;
        for ((parameter, declarator), argument) in parameters.iter().zip(arguments) {
            let value = if is_array(declarator) {
                self.array_argument(argument, declarator, body)
            } else {
                self.scalar_argument(parameter, declarator, argument, body)
            };
            is_complete &= value.is_some();
            values.extend(value);
        }
        is_complete.then_some(values)
    }

    fn scalar_argument(
        &mut self,
        parameter: &Parameter,
        declarator: &Declarator,
        argument: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<Argument> {
        let named = types::named(&parameter.ty, Position::Parameter);
        if let Ok(Named {
            structure: Some(it),
            ..
        }) = named
        {
            return self.structure_argument(it, declarator, argument, body);
        }
        let value = self.expression(argument, body);
        let ty = match named {
            Ok(Named { ty: Some(ty), .. }) => ty,
            Ok(_) => return self.report(DeclarationProblem::VoidValue, parameter.span),
            Err(problem) => return self.report(problem, parameter.ty.span),
        };
        let value = value?.convert(ty);
        let value = self.kept_as(&declarator.name.text, value, argument.span, body);
        Some(Argument::Scalar(value))
    }

    /// The members are copied: the callee may change its own, and what they come from.
    fn structure_argument(
        &mut self,
        structure: Rc<Structure>,
        declarator: &Declarator,
        argument: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<Argument> {
        let values = self.numbers_of(argument, &structure, body)?;
        let fields = structure.fields();
        let numbers = self.numbers(&structure, argument.span)?.into_iter();
        let values = numbers.zip(values).map(|(number, value)| {
            let field = fields.get(number.field).map_or("", |it| &it.name);
            let name = format!("{}_{}", declarator.name.text, field.replace('.', "_"));
            self.kept_as(&name, value, argument.span, body)
        });
        let values = values.collect();
        Some(Argument::Structure(structure, values))
    }

    fn array_argument(
        &mut self,
        argument: &Expr,
        declarator: &Declarator,
        body: &mut Vec<Node>,
    ) -> Option<Argument> {
        let is_unknown = |name: &Name| matches!(self.binding(name), Binding::Unbound);
        if argument.as_name().is_some_and(is_unknown) {
            return None;
        }
        if self.rank(argument) == 0 {
            let parameter = declarator.name.text.clone();
            let label = Label {
                span: declarator.span,
                message: "the parameter".to_owned(),
            };
            let problem = CallProblem::ArgumentNotArray { parameter };
            self.diagnostics
                .report_with(problem, argument.span, vec![label]);
            return None;
        }
        self.kept_reference(argument, body).map(Argument::Reference)
    }

    /// The body of the callee, and its value.
    fn inlined(
        &mut self,
        callee: Resolved<'a>,
        parameters: &[(&Parameter, &Declarator)],
        arguments: Vec<Argument>,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        let returned = self.returned_by(callee.function);
        let active = Activation::new(callee.symbols, returned.clone());
        let outer = std::mem::replace(&mut self.active, active);
        self.global_arrays(callee.symbols);
        let is_bound = self.bind_arguments(parameters, arguments, span, body);
        let value = is_bound.map(|()| self.function_body(callee.function, body));
        self.active = outer;
        match returned {
            Returned::Nothing => value.map(|_| Vec::new()),
            Returned::Value(_) | Returned::Structure(_) => value?,
            Returned::Invalid => None,
        }
    }

    /// Lengths of arrays may speak of any scalar parameter.
    fn bind_arguments(
        &mut self,
        parameters: &[(&Parameter, &Declarator)],
        arguments: Vec<Argument>,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<()> {
        let mut arrays = Vec::new();
        for ((parameter, declarator), argument) in parameters.iter().zip(arguments) {
            match argument {
                Argument::Scalar(value) => {
                    self.bind_scalar(parameter, &declarator.name, value, body);
                }
                Argument::Structure(structure, values) => {
                    self.bind_structure(parameter, &declarator.name, structure, values, body);
                }
                Argument::Reference(reference) => {
                    arrays.push((*parameter, *declarator, reference));
                }
            }
        }
        let bound = arrays
            .into_iter()
            .map(|(parameter, declarator, reference)| {
                self.bind_array(parameter, declarator, reference, span, body)
            });
        bound.fold(Some(()), Option::and)
    }

    fn bind_scalar(
        &mut self,
        parameter: &Parameter,
        name: &Name,
        value: Typed,
        body: &mut Vec<Node>,
    ) {
        if !self.is_assigned(name) {
            return self.bind(name, Binding::Value(value));
        }
        let is_const = types::named(&parameter.ty, Position::Parameter).is_ok_and(|it| it.is_const);
        let (local, node) = self.declare(name, true, value);
        body.push(node);
        self.bind(name, Binding::Variable { local, is_const });
    }

    fn bind_structure(
        &mut self,
        parameter: &Parameter,
        name: &Name,
        structure: Rc<Structure>,
        values: Vec<Typed>,
        body: &mut Vec<Node>,
    ) {
        let is_const = types::named(&parameter.ty, Position::Parameter).is_ok_and(|it| it.is_const);
        let kinds = (self.is_assigned(name), is_const);
        let members = self.members(name, &structure, Some(values), kinds, body);
        self.bind(name, Binding::Structure(members));
    }

    fn bind_array(
        &mut self,
        parameter: &Parameter,
        declarator: &Declarator,
        reference: Reference,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<()> {
        let named = match types::named(&parameter.ty, Position::Parameter) {
            Ok(named) => named,
            Err(problem) => return self.report(problem, parameter.ty.span),
        };
        let label = Label {
            span: declarator.span,
            message: "the parameter".to_owned(),
        };
        let array_name = self.target_name(&reference.target);
        let expected = self.parameter_shape(declarator);
        let problem = if !self.fits(&reference, &named, &expected) {
            CallProblem::ArgumentShape {
                array: array_name,
                found: self.shape_in_words(&reference),
                parameter: declarator.name.text.clone(),
                expected: self.expected_in_words(&named, &expected),
            }
        } else if reference.is_const && !named.is_const {
            CallProblem::ArgumentConst {
                array: array_name,
                parameter: declarator.name.text.clone(),
            }
        } else {
            let reference = Reference {
                is_const: named.is_const,
                ..reference
            };
            self.bind(&declarator.name, Binding::Reference(reference));
            self.parameter_cursor(&declarator.name, body);
            return Some(());
        };
        self.diagnostics.report_with(problem, span, vec![label]);
        None
    }

    /// The lengths of an array parameter but the first, which says nothing; `None` where one is not
    /// known.
    fn parameter_shape(&self, declarator: &Declarator) -> Vec<Option<AffineExpr>> {
        let pointers = declarator.pointers.iter().map(|_| None);
        let lengths = declarator.lengths.iter();
        let lengths = lengths.map(|it| self.extent(it.length.as_ref()?));
        pointers.chain(lengths).collect()
    }

    fn fits(&self, argument: &Reference, named: &Named, expected: &[Option<AffineExpr>]) -> bool {
        let is_element = argument.target.has_elements(named, &self.kernel);
        let extents = self.extents(argument);
        let inner = extents.iter().zip(expected).skip(1);
        is_element
            && extents.len() == expected.len()
            && inner
                .map(|(found, expected)| (Some(found), expected.as_ref()))
                .all(|(a, b)| a == b)
    }

    /// The extents behind the subscripts that a pointer has already.
    pub(super) fn extents(&self, reference: &Reference) -> Vec<AffineExpr> {
        let extents = match reference.target.first() {
            Some(array) => self.kernel.arrays[array].extents.clone(),
            None => vec![1.into()],
        };
        let dimensions = self.dimensions(&reference.target);
        let extents = extents.get(reference.complete()..dimensions);
        extents.unwrap_or_default().to_vec()
    }

    fn shape_in_words(&self, reference: &Reference) -> String {
        let extents = self.extents(reference).into_iter();
        let extents = extents.map(|it| format!("[{}]", text::affine(&self.kernel, &it)));
        let element = match reference.target.structure() {
            Some(structure) => structure.name.clone(),
            None => {
                let number = reference.target.number(&self.kernel);
                number.map_or("void", c_name).to_owned()
            }
        };
        format!("{element}{}", extents.collect::<String>())
    }

    fn expected_in_words(&self, named: &Named, expected: &[Option<AffineExpr>]) -> String {
        let extents = expected
            .iter()
            .enumerate()
            .map(|(position, extent)| match extent {
                _ if position == 0 => "[]".to_owned(),
                Some(extent) => format!("[{}]", text::affine(&self.kernel, extent)),
                None => "[?]".to_owned(),
            });
        let element = match &named.structure {
            Some(structure) => structure.name.as_str(),
            None => named.ty.map_or("void", c_name),
        };
        format!("{element}{}", extents.collect::<String>())
    }

    /// What the function returns.
    pub(super) fn returned_by(&mut self, function: &Function) -> Returned {
        match types::named(&function.returns, Position::Function) {
            Ok(Named {
                structure: Some(it),
                ..
            }) => Returned::Structure(it),
            Ok(Named { ty, .. }) => ty.map_or(Returned::Nothing, Returned::Value),
            Err(problem) => {
                self.diagnostics.report(problem, function.returns.span);
                Returned::Invalid
            }
        }
    }

    /// The statements of a function, and what it returns: the numbers of a structure, one value of
    /// anything else.
    pub(super) fn function_body(
        &mut self,
        function: &Function,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        let is_plain = |it: &Statement| it.flow == Flow::ON;
        let first = function.body.iter().position(|it| !is_plain(it));
        let (statements, last) = function.body.split_at(first.unwrap_or(function.body.len()));
        let types = match self.active.exit.returned.clone() {
            Returned::Value(ty) => vec![ty],
            Returned::Structure(it) => {
                let numbers = self.numbers(&it, function.returns.span)?;
                numbers.into_iter().map(|it| it.ty).collect()
            }
            Returned::Nothing | Returned::Invalid => Vec::new(),
        };
        if !types.is_empty()
            && let Some(tree) = Tree::of(last, &mut { Tree::LARGEST })
        {
            self.statements(statements, body);
            let values = self.returned_from(&tree, body)?.into_iter().zip(types);
            return Some(values.map(|(value, ty)| value.convert(ty)).collect());
        }
        if !types.is_empty() {
            self.check_end(function);
        }
        let mut results = Vec::with_capacity(types.len());
        for ty in &types {
            let zero = Typed::constant(Value::zero(*ty));
            results.push(self.variable_of("result", zero, function.name.span, body));
        }
        self.active.exit.results.clone_from(&results);
        let before = body.len();
        self.statements(&function.body, body);
        body.splice(before..before, self.active.exit.done.declared());
        let results = results.into_iter().zip(types);
        let value = |(local, ty)| Typed::any(Computation::Local(local), ty);
        Some(results.map(value).collect())
    }

    fn returned_from(&mut self, tree: &Tree<'_>, body: &mut Vec<Node>) -> Option<Vec<Typed>> {
        match tree {
            Tree::Value(value, span) => self.returned(Some(value), *span, body),
            Tree::Choice(condition, sides, span) => {
                let condition = self.expression(condition, body);
                let [then, otherwise] = [&sides.0, &sides.1].map(|side| {
                    let mut values = None;
                    let walk = |it: &mut Self, block: &mut Vec<Node>| {
                        values = it.returned_from(side, block);
                    };
                    let block = self.nested(*span, walk);
                    values.map(|values| (block, values))
                });
                Some(self.all_chosen(condition?, [then?, otherwise?], *span, body))
            }
        }
    }

    fn check_end(&mut self, function: &Function) {
        // What could not be read may be the `return`.
        if Flow::of_list(&function.body).completes && !self.diagnostics.has_errors() {
            let problem = ControlFlowProblem::MissingReturn {
                function: function.name.text.clone(),
            };
            self.diagnostics.report(problem, function.name.span);
        }
    }
}

/// Statements that do nothing but choose what is returned.
enum Tree<'s> {
    Value(&'s Expr, Span),
    Choice(&'s Expr, Box<(Tree<'s>, Tree<'s>)>, Span),
}

impl<'s> Tree<'s> {
    /// In more returns than these the values are not chosen by one expression.
    const LARGEST: usize = 8;

    /// `None` for statements that do anything else; `left` is how many returns there may be.
    fn of(statements: &'s [Statement], left: &mut usize) -> Option<Self> {
        let (first, rest) = statements.split_first()?;
        match &first.kind {
            StatementKind::Return(value) if rest.is_empty() => {
                *left = left.checked_sub(1)?;
                Some(Self::Value(value.as_ref()?, first.span))
            }
            StatementKind::Block(inner) if rest.is_empty() => Self::of(inner, left),
            StatementKind::If {
                condition,
                then,
                otherwise,
            } => {
                let then = Self::of(std::slice::from_ref(&**then), left)?;
                let otherwise = match otherwise {
                    Some(otherwise) if rest.is_empty() => {
                        Self::of(std::slice::from_ref(&**otherwise), left)
                    }
                    Some(_) => None,
                    None => Self::of(rest, left),
                };
                Some(Self::Choice(
                    condition,
                    Box::new((then, otherwise?)),
                    first.span,
                ))
            }
            _ => None,
        }
    }
}

/// Those with a name: all but the `void` in `f(void)`.
fn parameters(function: &Function) -> Vec<(&Parameter, &Declarator)> {
    let parameters = function.parameters.iter();
    let named = parameters.filter_map(|it| Some((it, it.declarator.as_ref()?)));
    named.collect()
}

fn is_array(declarator: &Declarator) -> bool {
    !declarator.pointers.is_empty() || !declarator.lengths.is_empty()
}
