//! From the syntax tree to a kernel that computes as C does: variables of machine integers, and
//! loops that run while a condition holds. What is affine about them is found out by
//! [`raise`](crate::raise).

pub(crate) mod affine_value;
mod allocation;
mod best;
mod call;
mod cell;
mod common;
mod effect;
mod expression;
mod forward;
pub(crate) mod interval;
mod jump;
mod local_array;
mod localize;
mod loops;
pub(crate) mod math;
mod member;
mod memory;
mod pointer;
mod product;
mod reduction;
mod reference;
mod rows;
mod signature;
mod size_of;
mod statement;
mod structure;
mod structure_value;
mod switch;
mod tables;
mod tidy;
mod unused;
pub(crate) mod value;
mod while_loop;

use crate::Lowered;
use crate::ast::{DeclarationId, Function, Name, Statement, StatementKind};
use crate::calls::{Functions, Resolved};
use crate::diagnostic::Diagnostics;
use crate::raise::{LoopSources, raise};
use crate::resolve::{GlobalArray, Symbols};
use crate::types;
use interval::{Interval, Ranges};
use jump::{Exit, Flag, Target};
use pointer::{Cursor, Pending};
pub(crate) use reduction::{of_host, reductions, report_unused};
use reference::Reference;
use std::collections::HashMap;
use std::rc::Rc;
use strew_affine::{
    ArrayId, Combiner, Expr, Kernel, LocalId, Node, ScalarId, Span, Type, Variable,
};
use structure::Members;
use tables::Table;
use value::{Known, Typed};

/// The kernel of a function whose names are resolved. It means something only if no error was
/// reported.
pub(crate) fn lower(
    Resolved { function, symbols }: Resolved<'_>,
    functions: &Functions<'_>,
    combiners: &[Combiner],
    assumes: bool,
    diagnostics: &mut Diagnostics,
) -> Lowered {
    let resolved = Resolved { function, symbols };
    let mut lowering = Lowering::new(resolved, functions, combiners, diagnostics);
    let mut body = Vec::new();
    lowering.signature(function, &mut body);
    lowering.global_arrays(symbols);
    let result = lowering.function_body(function, &mut body);
    if let types::Returned::Value(_) = lowering.active.exit.returned {
        let result = result.and_then(|it| it.into_iter().next());
        lowering.kernel.result = result.map(|it| it.expr);
        lowering.kernel.result_span = span_of_result(function);
    }
    body.splice(0..0, std::mem::take(&mut lowering.prelude));
    lowering.kernel.body = body.into();
    lowering.remove_unread_tables();
    let Lowering {
        kernel,
        ranges,
        loop_sources,
        ..
    } = lowering;
    let mut lowered = raise(kernel, ranges, &loop_sources, assumes, diagnostics);
    tidy::tidy(&mut lowered.kernel);
    lowered
}

/// Where what a function returns stands: the value at its end, or the statement there that returns
/// in some way.
fn span_of_result(function: &Function) -> Span {
    match function.body.last() {
        Some(Statement {
            kind: StatementKind::Return(Some(value)),
            ..
        }) => value.span,
        Some(last) => last.span,
        None => function.name.span,
    }
}

/// What a declaration has become.
#[derive(Clone, Debug)]
enum Binding {
    /// Nothing, after an error.
    Unbound,
    /// A parameter that is never assigned.
    Parameter(ScalarId),
    /// An array parameter.
    Array { array: ArrayId, is_const: bool },
    /// A local that is never assigned after its declaration.
    Let { local: LocalId, known: Known },
    /// A parameter of a function that is called, and never assigned: the argument.
    Value(Typed),
    /// A local inside of its own initial value.
    Unset(Type),
    /// A local that is assigned again.
    Variable { local: LocalId, is_const: bool },
    /// A pointer that is never assigned again, or an array of structures.
    Reference(Reference),
    /// A pointer that is assigned again.
    Cursor(Cursor),
    /// A pointer that is not set yet: the variable that will say where in its array it points.
    Pending(Pending),
    /// A structure whose members are variables.
    Structure(Members),
}

/// A function while its statements are lowered.
struct Activation<'a> {
    symbols: &'a Symbols,
    /// By declaration.
    bindings: Vec<Binding>,
    /// The loops and `switch`es around, innermost last.
    targets: Vec<Target>,
    exit: Exit,
}

impl<'a> Activation<'a> {
    fn new(symbols: &'a Symbols, returned: types::Returned) -> Self {
        Self {
            symbols,
            bindings: vec![Binding::Unbound; symbols.len()],
            targets: Vec::new(),
            exit: Exit {
                returned,
                results: Vec::new(),
                done: Flag::default(),
            },
        }
    }
}

struct Lowering<'a> {
    kernel: Kernel,
    /// The function whose statements are lowered.
    active: Activation<'a>,
    functions: &'a Functions<'a>,
    /// Those that the file declares.
    combiners: &'a [Combiner],
    /// The functions whose bodies are lowered, one called by the other.
    callers: Vec<String>,
    /// How deep these reach into each other.
    call_depth: usize,
    /// The constant arrays of the file that are used, and what makes them, in front of everything
    /// else.
    globals: Vec<(Rc<GlobalArray>, ArrayId)>,
    /// How many blocks there are around each array that lives in one.
    homes: HashMap<ArrayId, usize>,
    /// What the source calls an array that is a member of a local structure.
    members: HashMap<ArrayId, String>,
    /// What was kept in locals that are never set again.
    kept: HashMap<LocalId, Expr>,
    prelude: Vec<Node>,
    /// What arrays hold that are constant.
    tables: HashMap<ArrayId, Table>,
    /// How many copies of what is lowered there are, one for each turn of loops over tables.
    copies: usize,
    /// How many blocks contain each other here.
    nesting: usize,
    ranges: Ranges,
    loop_sources: LoopSources,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Lowering<'a> {
    fn new(
        Resolved { function, symbols }: Resolved<'a>,
        functions: &'a Functions<'a>,
        combiners: &'a [Combiner],
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        Self {
            kernel: Kernel::new(function.name.text.clone(), function.name.span),
            active: Activation::new(symbols, types::Returned::Nothing),
            functions,
            combiners,
            callers: vec![function.name.text.clone()],
            call_depth: symbols.depth,
            globals: Vec::new(),
            homes: HashMap::new(),
            kept: HashMap::new(),
            members: HashMap::new(),
            prelude: Vec::new(),
            tables: HashMap::new(),
            copies: 1,
            nesting: 0,
            ranges: Ranges::default(),
            loop_sources: LoopSources::new(),
            diagnostics,
        }
    }
}

impl Lowering<'_> {
    fn binding(&self, name: &Name) -> &Binding {
        name.declaration
            .and_then(|DeclarationId(index)| self.active.bindings.get(index))
            .unwrap_or(&Binding::Unbound)
    }

    fn bind(&mut self, name: &Name, binding: Binding) {
        if let Some(id) = name.declaration {
            self.bind_declaration(id, binding);
        }
    }

    fn bind_declaration(&mut self, DeclarationId(index): DeclarationId, binding: Binding) {
        if let Some(slot) = self.active.bindings.get_mut(index) {
            *slot = binding;
        }
    }

    fn is_assigned(&self, name: &Name) -> bool {
        name.declaration
            .is_some_and(|id| self.active.symbols.is_assigned(id))
    }

    /// The value of a parameter.
    fn parameter(&self, param: ScalarId) -> Typed {
        let ty = self.kernel.scalars[param].ty;
        match Interval::of(ty) {
            Some(_) => {
                let range = self.ranges.get(Variable::Param(param));
                Typed::variable(Expr::Param(param), ty, Variable::Param(param), range)
            }
            None => Typed::any(Expr::Param(param), ty),
        }
    }

    /// A new local and the node that declares it.
    fn declare(&mut self, name: &Name, mutable: bool, value: Typed) -> (LocalId, Node) {
        self.unnamed(&name.text, mutable, value, name.span)
    }
}
