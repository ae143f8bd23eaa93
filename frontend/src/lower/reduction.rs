//! Combiners that the file declares: the expression that each is, its identity, and whether it
//! keeps the laws.

use super::Lowering;
use super::effect::held;
use crate::Lowered;
use crate::ast::{Expr as AstExpr, Parameter, Prototype, Reduction, TypeName};
use crate::calls::{Functions, Resolved};
use crate::diagnostic::Diagnostics;
use crate::problem::{DeclarationProblem, ReductionProblem};
use crate::recognize::{MOST_OPERATIONS, NoExpression, Symbolic, divides, replaced};
use crate::resolve::Symbols;
use crate::types::{self, Position};
use std::collections::HashSet;
use strew_affine::visit::for_each_combiner;
use strew_affine::{
    BrokenLaw, CombineError, Combiner, Declared, Expr, Kernel, Node, NotComputed, Operand,
    Panicked, ScalarId, Span, StdMath, Type, Value, broken_law,
};

/// The combiners, without an identity where they do not keep the laws, so that updates by them are
/// not grouped. Each declaration comes with the names of its combiner and of its identity.
pub(crate) fn reductions<'a>(
    declared: impl Iterator<Item = (&'a Reduction, &'a [Symbols; 2])>,
    functions: &Functions<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Combiner> {
    let mut combiners = Vec::new();
    let mut names = HashSet::new();
    for (reduction, symbols) in declared {
        let name = &reduction.combiner.name;
        let text = name.text.clone();
        if Combiner::is_built_in(&text) {
            diagnostics.report(ReductionProblem::BuiltIn { name: text }, name.span);
        } else if !names.insert(&name.text) {
            diagnostics.report(ReductionProblem::Duplicate { name: text }, name.span);
        } else {
            combiners.extend(combiner(reduction, symbols, functions, diagnostics));
        }
    }
    combiners
}

/// Warns of combiners by which nothing is reduced.
pub(crate) fn report_unused(
    reductions: &[Reduction],
    combiners: &[Combiner],
    kernels: &[Lowered],
    diagnostics: &mut Diagnostics,
) {
    let mut used = HashSet::new();
    for lowered in kernels {
        for_each_combiner(&lowered.kernel.body, &mut |it| {
            used.insert(it.name());
        });
    }
    // Of the others there is a warning already.
    let keeps_laws = |it: &Combiner| {
        let declared = it.declaration();
        declared.is_some_and(|it| it.neutral().is_some())
    };
    let unused = combiners
        .iter()
        .filter(|it| keeps_laws(it) && !used.contains(it.name()));
    for combiner in unused {
        let name = combiner.name().to_owned();
        let mut declared = reductions.iter().map(|it| &it.combiner.name);
        if let Some(at) = declared.find(|it| it.text == name) {
            diagnostics.report(ReductionProblem::Unused { name }, at.span);
        }
    }
}

fn combiner(
    reduction: &Reduction,
    [of_combiner, of_identity]: &[Symbols; 2],
    functions: &Functions<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Combiner> {
    let name = reduction.combiner.name.text.clone();
    let function = Resolved {
        function: &reduction.combiner,
        symbols: of_combiner,
    };
    let (body, ty) = expression(function, reduction.span, functions, diagnostics)?;
    let function = Resolved {
        function: &reduction.identity,
        symbols: of_identity,
    };
    let (identity, _) = expression(function, reduction.span, functions, diagnostics)?;
    let Some(identity) = constant(&identity, ty) else {
        let at = reduction.identity.body.first();
        let span = at.map_or(reduction.span, |it| it.span);
        diagnostics.report(DeclarationProblem::NotConstant, span);
        return None;
    };
    let combiner = Combiner::new(Declared::new(name.clone(), ty, body, Some(identity)));
    match broken(&combiner, identity) {
        None => Some(combiner),
        Some(problem) => {
            diagnostics.report(problem, reduction.span);
            let declared = combiner.declaration().cloned();
            declared.map(|it| Combiner::new(it.without_identity()))
        }
    }
}

/// Those of `combiners`, functions of the host, that the file declares as such. Updates by one that
/// does not keep the laws are not grouped.
pub(crate) fn of_host(
    combiners: &[Combiner],
    functions: &Functions<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Combiner> {
    let mut declared = Vec::new();
    for combiner in combiners {
        let (Some(prototype), Some(of_host)) = (
            functions.prototype(combiner.name()),
            combiner.declaration().filter(|it| it.is_of_host()),
        ) else {
            continue;
        };
        let (ty, name) = (of_host.element(), combiner.name().to_owned());
        if functions.get(&name).is_some() {
            continue;
        }
        if !has_type(prototype, ty) {
            let problem = ReductionProblem::HostType { name, host: ty };
            diagnostics.report(problem, prototype.name.span);
            continue;
        }
        let problem = of_host.neutral().and_then(|it| broken(combiner, it));
        declared.push(match problem {
            None => combiner.clone(),
            Some(problem) => {
                diagnostics.report(problem, prototype.name.span);
                Combiner::new(of_host.clone().without_identity())
            }
        });
    }
    declared
}

/// Whether the function takes two numbers of type `ty` and returns one.
fn has_type(prototype: &Prototype, ty: Type) -> bool {
    let is =
        |name: &TypeName, position| types::named(name, position).is_ok_and(|it| it.ty == Some(ty));
    let is_number = |it: &Parameter| {
        let mut declarator = it.declarator.iter();
        let is_plain = declarator.all(|it| it.pointers.is_empty() && it.lengths.is_empty());
        is_plain && it.ty.pointers.is_empty() && is(&it.ty, Position::Parameter)
    };
    prototype.parameters.len() == 2
        && prototype.parameters.iter().all(is_number)
        && prototype.returns.pointers.is_empty()
        && is(&prototype.returns, Position::Function)
}

impl Lowering<'_> {
    /// The function of the host that `name` is.
    pub(super) fn host_combiner(&self, name: &str) -> Option<&Combiner> {
        let is_of_host = |it: &Combiner| it.declaration().is_some_and(Declared::is_of_host);
        let mut combiners = self.combiners.iter();
        combiners.find(|it| it.name() == name && is_of_host(it))
    }

    /// `place = name(first, second)`, where `name` is a function of the host: an update if `first`
    /// is what `place` holds.
    pub(super) fn update_by_host(
        &mut self,
        combiner: Combiner,
        place: &AstExpr,
        call: (&[AstExpr], Span),
        span: Span,
        body: &mut Vec<Node>,
    ) {
        let (arguments, at) = call;
        let target = self.place(place, body);
        let name = combiner.name().to_owned();
        let [first, second] = arguments else {
            return self
                .diagnostics
                .report(ReductionProblem::HostCall { name }, at);
        };
        let before = body.len();
        let first = self.expression(first, body);
        let second = self.expression(second, body);
        let (Some((mut place, ty)), Some(first), Some(second)) = (target, first, second) else {
            return;
        };
        let element = combiner.declaration().map(Declared::element);
        if element != Some(ty) || !first.expr.is_same(&held(&place)) {
            return self
                .diagnostics
                .report(ReductionProblem::HostCall { name }, at);
        }
        self.keep_place_before(before, &mut place, body);
        body.push(Node::Reduce {
            places: vec![place],
            combiner,
            values: vec![second.convert(ty).expr],
            span,
        });
    }
}

/// What samples show that is wrong with `combiner`.
fn broken(combiner: &Combiner, identity: Value) -> Option<ReductionProblem> {
    let name = combiner.name().to_owned();
    Some(match tried(combiner, identity) {
        Ok(None) | Err(CombineError::NoHost(_)) => return None,
        Ok(Some(law)) => {
            let law = Box::new(law);
            ReductionProblem::Breaks { name, law }
        }
        Err(CombineError::NotComputed(NotComputed(function))) => {
            ReductionProblem::NotTried { name, function }
        }
        Err(CombineError::Panicked(Panicked { message, .. })) => {
            ReductionProblem::Panics { name, message }
        }
    })
}

/// What the function returns, as an expression of its two parameters, and its type.
fn expression(
    resolved: Resolved<'_>,
    span: Span,
    functions: &Functions<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<(Expr, Type)> {
    let function = resolved.function;
    let mut lowering = Lowering::new(resolved, functions, &[], diagnostics);
    // It may well call the function whose name it has.
    lowering.callers.clear();
    let mut body = Vec::new();
    lowering.signature(function, &mut body);
    lowering.global_arrays(resolved.symbols);
    let result = lowering.function_body(function, &mut body);
    body.splice(0..0, std::mem::take(&mut lowering.prelude));
    let kernel = lowering.kernel;
    let result = result.and_then(|it| it.into_iter().next())?;
    let name = function.name.text.clone();
    let mut symbolic = Symbolic::new(&kernel);
    let expr = symbolic
        .run(&body)
        .and_then(|()| symbolic.value(&result.expr));
    let divides = expr.as_ref().is_ok_and(|it| divides(&kernel, it));
    let problem = match expr.and_then(|it| over_operands(&kernel, &it)) {
        Ok(_) if divides => ReductionProblem::Divides { name },
        Ok(expr) => return Some((expr, result.ty)),
        Err(NoExpression::Effects) => ReductionProblem::NotAnExpression { name },
        Err(NoExpression::TooLarge) => ReductionProblem::TooLarge {
            name,
            limit: MOST_OPERATIONS,
        },
    };
    diagnostics.report(problem, span);
    None
}

/// `expr` with operands in place of the parameters of `kernel`, if it reads nothing else.
fn over_operands(kernel: &Kernel, expr: &Expr) -> Result<Expr, NoExpression> {
    let operands: Vec<(ScalarId, Expr)> = kernel
        .scalars
        .iter()
        .map(|(id, _)| id)
        .zip([Operand::Held(0), Operand::Incoming(0)].map(Expr::Operand))
        .collect();
    let expr = replaced(expr, &mut |leaf| match leaf {
        Expr::Param(param) => {
            let mut operands = operands.iter();
            operands.find(|(id, _)| id == param).map(|(_, it)| it)
        }
        _ => None,
    })?;
    if is_over_operands(&expr) {
        Ok(expr)
    } else {
        Err(NoExpression::Effects)
    }
}

fn is_over_operands(expr: &Expr) -> bool {
    match expr {
        Expr::Load(_) | Expr::Local(_) | Expr::Iter(_) | Expr::Param(_) | Expr::Threads => false,
        other => other.operands().into_iter().all(is_over_operands),
    }
}

/// The value of an expression without operands: what a combiner with this body combines anything
/// to.
fn constant(expr: &Expr, ty: Type) -> Option<Value> {
    let zero = Value::zero(ty);
    let always = Combiner::new(Declared::new("constant", ty, expr.clone(), Some(zero)));
    let value = always.combine(&[zero], &[zero], &StdMath).ok()?;
    value.first().copied().filter(|it| it.ty() == ty)
}

fn tried(combiner: &Combiner, identity: Value) -> Result<Option<BrokenLaw>, CombineError> {
    broken_law(identity, &mut |held, incoming| {
        let combined = combiner.combine(&[held], &[incoming], &StdMath)?;
        Ok(combined.first().copied().unwrap_or(held))
    })
}
