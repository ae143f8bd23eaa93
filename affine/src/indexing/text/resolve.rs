use super::error::{MapParseError, MapParseErrorKind};
use super::tree::{Infix, Literal, MapTree, Name, Tree, TreeKind};
use crate::Span;
use crate::indexing::{
    Constraint, Declaration, IndexExpr, IndexingError, IndexingMap, Interval, MAX_DEPTH, Variable,
    VariableKind, delinearize_index, linearize_index,
};
use std::collections::HashMap;

type Resolved<T> = Result<T, MapParseError>;

fn wrong<T>(span: Span, kind: impl Into<MapParseErrorKind>) -> Resolved<T> {
    let kind = kind.into();
    Err(MapParseError { span, kind })
}

pub(super) fn map(tree: MapTree<'_>, whole: Span) -> Resolved<IndexingMap> {
    let MapTree::Map {
        dimensions,
        ranges,
        runtimes,
        results,
        domain,
    } = tree
    else {
        return Ok(IndexingMap::known_empty());
    };
    let mut scope = Scope::default();
    let names = [dimensions, ranges, runtimes];
    for (kind, names) in VariableKind::ALL.into_iter().zip(&names) {
        scope.declare(kind, names)?;
    }
    let results = results.iter().map(|it| scope.expression(it));
    let results = results.collect::<Resolved<Vec<_>>>()?;
    let mut bounds = HashMap::new();
    let mut constraints = Vec::new();
    for constrained in &domain {
        let expr = scope.expression(&constrained.expr)?;
        let interval = Interval::new(literal(&constrained.low)?, literal(&constrained.high)?);
        match expr.as_variable() {
            Some(variable) => {
                let declared = bounds.entry(variable).or_insert(interval);
                *declared = declared.intersect(interval);
            }
            None => constraints.push(Constraint {
                expr,
                bounds: interval,
            }),
        }
    }
    let [dimensions, ranges, runtimes] = names;
    let declared = |kind, names: &[Name<'_>]| declarations(kind, names, &bounds);
    let bounded = IndexingMap::new(
        declared(VariableKind::Dimension, &dimensions)?,
        declared(VariableKind::Range, &ranges)?,
        declared(VariableKind::Runtime, &runtimes)?,
        results,
        constraints,
    );
    bounded.or_else(|error| wrong(whole, error))
}

fn declarations(
    kind: VariableKind,
    names: &[Name<'_>],
    bounds: &HashMap<Variable, Interval>,
) -> Resolved<Vec<Declaration>> {
    let declared = names.iter().enumerate().map(|(position, name)| {
        let variable = Variable::new(kind, position);
        let Some(bounds) = bounds.get(&variable) else {
            return wrong(
                name.span,
                MapParseErrorKind::Unbounded(name.text.to_owned()),
            );
        };
        let own = name.text != variable.default_name();
        Ok(Declaration {
            bounds: *bounds,
            name: own.then(|| name.text.to_owned()),
        })
    });
    declared.collect()
}

fn literal(literal: &Literal<'_>) -> Resolved<i64> {
    let sign = if literal.is_negative { "-" } else { "" };
    integer(format!("{sign}{}", literal.digits), literal.span)
}

fn integer(text: String, span: Span) -> Resolved<i64> {
    match text.parse() {
        Ok(value) => Ok(value),
        Err(_) => wrong(span, MapParseErrorKind::IntegerOutOfRange(text)),
    }
}

/// The variables that names stand for.
#[derive(Default)]
pub(super) struct Scope<'a> {
    variables: HashMap<&'a str, Variable>,
}

impl<'a> Scope<'a> {
    pub(super) fn over(variables: &[(&'a str, Variable)]) -> Self {
        Self {
            variables: variables.iter().copied().collect(),
        }
    }

    fn declare(&mut self, kind: VariableKind, names: &[Name<'a>]) -> Resolved<()> {
        for (position, name) in names.iter().enumerate() {
            let variable = Variable::new(kind, position);
            if self.variables.insert(name.text, variable).is_some() {
                return wrong(
                    name.span,
                    MapParseErrorKind::Duplicate(name.text.to_owned()),
                );
            }
        }
        Ok(())
    }

    pub(super) fn expression(&self, tree: &Tree<'_>) -> Resolved<IndexExpr> {
        let built = self.built(tree)?;
        match built {
            Ok(expr) if expr.depth() > MAX_DEPTH => wrong(tree.span, IndexingError::TooDeep),
            Ok(expr) => Ok(expr),
            Err(error) => wrong(tree.span, error),
        }
    }

    /// The outer error is one that has its place already, the inner one is of `tree` itself.
    fn built(&self, tree: &Tree<'_>) -> Resolved<Result<IndexExpr, IndexingError>> {
        let all = |trees: &[Tree<'_>]| -> Resolved<Vec<IndexExpr>> {
            trees.iter().map(|it| self.operand(it)).collect()
        };
        Ok(match &tree.kind {
            TreeKind::Integer(digits) => Ok(integer((*digits).to_owned(), tree.span)?.into()),
            TreeKind::Name(name) => Ok(self.variable(name, tree.span)?.into()),
            TreeKind::Negated(inner) => match &inner.kind {
                TreeKind::Integer(digits) => Ok(integer(format!("-{digits}"), tree.span)?.into()),
                _ => self.operand(inner)?.scaled(-1),
            },
            TreeKind::Sum(terms) => {
                let terms = terms.iter().map(|(is_negative, term)| match &term.kind {
                    // The least integer has no positive counterpart.
                    TreeKind::Integer(digits) if *is_negative => {
                        Ok((integer(format!("-{digits}"), term.span)?.into(), 1))
                    }
                    _ => Ok((self.operand(term)?, if *is_negative { -1 } else { 1 })),
                });
                IndexExpr::sum(terms.collect::<Resolved<Vec<_>>>()?, 0)
            }
            TreeKind::Infix(op, pair) => {
                let (left, right) = (self.operand(&pair[0])?, self.operand(&pair[1])?);
                match op {
                    Infix::Times => left.times(&right),
                    Infix::FloorDiv => left.floordiv(&right),
                    Infix::CeilDiv => left.ceildiv(&right),
                    Infix::Mod => left.modulo(&right),
                }
            }
            TreeKind::Min(operands) => Ok(IndexExpr::least(all(operands)?)),
            TreeKind::Max(operands) => Ok(IndexExpr::greatest(all(operands)?)),
            // Each size of a basis is a level of its own.
            TreeKind::LinearizeIndex(_, basis) | TreeKind::DelinearizeIndex(_, basis, _)
                if basis.len() > MAX_DEPTH =>
            {
                Err(IndexingError::TooDeep)
            }
            TreeKind::LinearizeIndex(indices, basis) => {
                linearize_index(&all(indices)?, &all(basis)?)
            }
            TreeKind::DelinearizeIndex(linear, basis, result) => {
                let indices = delinearize_index(&self.operand(linear)?, &all(basis)?);
                let result = result.parse().unwrap_or(usize::MAX);
                match indices.map(|mut it| (result < it.len()).then(|| it.swap_remove(result))) {
                    Ok(Some(index)) => Ok(index),
                    Ok(None) => return wrong(tree.span, MapParseErrorKind::NoIndex(basis.len())),
                    Err(error) => Err(error),
                }
            }
        })
    }

    fn operand(&self, tree: &Tree<'_>) -> Resolved<IndexExpr> {
        match self.built(tree)? {
            Ok(expr) => Ok(expr),
            Err(error) => wrong(tree.span, error),
        }
    }

    fn variable(&self, name: &str, span: Span) -> Resolved<Variable> {
        if let Some(variable) = self.variables.get(name) {
            return Ok(*variable);
        }
        let known = self.variables.keys().copied();
        let nearest = crate::spelling::nearest(name, known).map(str::to_owned);
        let name = name.to_owned();
        wrong(span, MapParseErrorKind::UnknownName { name, nearest })
    }
}
