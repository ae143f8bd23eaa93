//! From the tree of a text to a set: names become columns, formulas conjunctions.

use super::MAX_CONJUNCTIONS;
use super::error::{SetParseError, SetParseErrorKind};
use super::tree::{Comparison, Formula, FormulaKind, Infix, Name, Part, SetTree, Tree, TreeKind};
use crate::Span;
use crate::sets::{Conjunction, Row, Set, Space, Unknown};

type Resolved<T> = Result<T, SetParseError>;

fn wrong<T>(span: Span, kind: impl Into<SetParseErrorKind>) -> Resolved<T> {
    let kind = kind.into();
    Err(SetParseError { span, kind })
}

fn checked<T>(span: Span, value: Result<T, Unknown>) -> Resolved<T> {
    value.or_else(|why| wrong(span, why))
}

pub(super) fn set(tree: &SetTree<'_>) -> Resolved<Set> {
    let mut parameters: Vec<&str> = Vec::new();
    for name in &tree.parameters {
        if parameters.contains(&name.text) {
            return wrong(
                name.span,
                SetParseErrorKind::Duplicate(name.text.to_owned()),
            );
        }
        parameters.push(name.text);
    }
    let Some(first) = tree.parts.first() else {
        return Ok(Set::empty(Space::new(owned(&parameters), Vec::new())));
    };
    let space = space(&parameters, first);
    let mut set = Set::empty(space);
    for part in &tree.parts {
        let inputs = part.second.is_some().then_some(part.first.len());
        let count = part.first.len() + part.second.as_ref().map_or(0, Vec::len);
        let same = set.space().inputs() == inputs && set.space().dimensions().len() == count;
        if !same {
            return wrong(part.span, SetParseErrorKind::DifferentTuples);
        }
        let found = self::part(&parameters, part)?;
        set = set.union(&Set::new(set.space().clone(), found));
    }
    Ok(set)
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|it| (*it).to_owned()).collect()
}

/// The space of a set whose first part this is.
fn space<'a>(parameters: &[&'a str], part: &Part<'a>) -> Space {
    let mut taken = parameters.to_vec();
    let first = dimension_names(&part.first, "i", &mut taken);
    match &part.second {
        Some(second) => {
            let outputs = dimension_names(second, "o", &mut taken);
            Space::relation(owned(parameters), first, outputs)
        }
        None => Space::new(owned(parameters), first),
    }
}

/// The names of a tuple's entries; those that are expressions are numbered.
fn dimension_names<'a>(tuple: &[Tree<'a>], prefix: &str, taken: &mut Vec<&'a str>) -> Vec<String> {
    let entries = tuple.iter().enumerate();
    let names = entries.map(|(position, entry)| match new_name(entry, taken) {
        Some(name) => {
            taken.push(name);
            name.to_owned()
        }
        None => format!("{prefix}{position}"),
    });
    names.collect()
}

/// The name that an entry of a tuple declares; one that is there already is an expression.
fn new_name<'a>(entry: &Tree<'a>, taken: &[&str]) -> Option<&'a str> {
    match entry.kind {
        TreeKind::Name(name) if !taken.contains(&name) => Some(name),
        _ => None,
    }
}

/// Names with the columns that they stand for, later ones in front of earlier ones.
struct Scope<'a> {
    names: Vec<(&'a str, usize)>,
}

fn part(parameters: &[&str], part: &Part<'_>) -> Resolved<Vec<Conjunction>> {
    let mut scope = Scope { names: Vec::new() };
    let named = parameters.iter().enumerate();
    scope
        .names
        .extend(named.map(|(column, name)| (*name, column)));
    let entries = part.first.iter().chain(part.second.iter().flatten());
    let entries: Vec<&Tree<'_>> = entries.collect();
    let width = parameters.len() + entries.len();
    let mut equal = Vec::new();
    for (entry, column) in entries.into_iter().zip(parameters.len()..) {
        let taken: Vec<&str> = scope.names.iter().map(|(name, _)| *name).collect();
        match new_name(entry, &taken) {
            Some(name) => scope.names.push((name, column)),
            None => equal.push((entry, column)),
        }
    }
    let mut all = Conjunction::universe(width);
    for (entry, column) in equal {
        let value = scope.linear(entry, &mut all)?;
        let row = checked(entry.span, Row::column(column).minus(&value))?;
        all.add_equality(row);
    }
    scope.apply(&part.formula, all, part.span)
}

impl<'a> Scope<'a> {
    /// The conjunctions that are `so_far` and the formula.
    fn apply(
        &mut self,
        formula: &Formula<'a>,
        so_far: Conjunction,
        span: Span,
    ) -> Resolved<Vec<Conjunction>> {
        let found = match &formula.kind {
            FormulaKind::All(parts) => {
                let mut found = vec![so_far];
                for part in parts {
                    let mut next = Vec::new();
                    for conjunction in found {
                        next.extend(self.apply(part, conjunction, span)?);
                        limit(&next, span)?;
                    }
                    found = next;
                }
                found
            }
            FormulaKind::Any(parts) => {
                let mut found = Vec::new();
                for part in parts {
                    found.extend(self.apply(part, so_far.clone(), span)?);
                }
                found
            }
            FormulaKind::Exists(names, inner) => self.exists(names, inner, so_far, span)?,
            FormulaKind::Chain(first, rest) => self.chain(first, rest, so_far)?,
        };
        limit(&found, span)?;
        Ok(found)
    }

    fn exists(
        &mut self,
        names: &[Name<'a>],
        inner: &Formula<'a>,
        mut so_far: Conjunction,
        span: Span,
    ) -> Resolved<Vec<Conjunction>> {
        let outside = self.names.len();
        for name in names {
            self.names.push((name.text, so_far.add_existential()));
        }
        let found = self.apply(inner, so_far, span);
        self.names.truncate(outside);
        found
    }

    fn chain(
        &self,
        first: &Tree<'a>,
        rest: &[(Comparison, Tree<'a>)],
        so_far: Conjunction,
    ) -> Resolved<Vec<Conjunction>> {
        let mut found = vec![so_far];
        let mut left = first;
        for (comparison, right) in rest {
            let mut next = Vec::new();
            for conjunction in found {
                next.extend(self.compare(left, *comparison, right, conjunction)?);
            }
            limit(&next, right.span)?;
            found = next;
            left = right;
        }
        Ok(found)
    }

    fn compare(
        &self,
        left: &Tree<'a>,
        comparison: Comparison,
        right: &Tree<'a>,
        mut so_far: Conjunction,
    ) -> Resolved<Vec<Conjunction>> {
        if comparison == Comparison::Equal && self.is_multiple(left, right, &mut so_far)? {
            return Ok(vec![so_far]);
        }
        let span = right.span;
        let value = self.linear(left, &mut so_far)?;
        let other = self.linear(right, &mut so_far)?;
        let above = checked(span, value.minus(&other))?;
        let below = checked(span, other.minus(&value))?;
        let strictly = |row: &Row| checked(span, row.offset(-1));
        match comparison {
            Comparison::Less => so_far.add_inequality(strictly(&below)?),
            Comparison::LessOrEqual => so_far.add_inequality(below),
            Comparison::Equal => so_far.add_equality(above),
            Comparison::GreaterOrEqual => so_far.add_inequality(above),
            Comparison::Greater => so_far.add_inequality(strictly(&above)?),
            Comparison::NotEqual => {
                let mut greater = so_far.clone();
                so_far.add_inequality(strictly(&below)?);
                greater.add_inequality(strictly(&above)?);
                return Ok(vec![so_far, greater]);
            }
        }
        Ok(vec![so_far])
    }

    /// `a mod m = c` needs no remainder. Says whether it was one.
    fn is_multiple(
        &self,
        left: &Tree<'a>,
        right: &Tree<'a>,
        so_far: &mut Conjunction,
    ) -> Resolved<bool> {
        let TreeKind::Infix(Infix::Mod, pair) = &left.kind else {
            return Ok(false);
        };
        let TreeKind::Integer(digits) = &right.kind else {
            return Ok(false);
        };
        let value = self.linear(&pair[0], so_far)?;
        let divisor = self.divisor(&pair[1], so_far)?;
        let remainder = integer(digits, right.span)?;
        if remainder >= divisor {
            return Ok(false);
        }
        let rest = checked(left.span, value.offset(-remainder))?;
        checked(left.span, so_far.add_multiple(&rest, divisor))?;
        Ok(true)
    }

    fn divisor(&self, tree: &Tree<'a>, so_far: &mut Conjunction) -> Resolved<i128> {
        let row = self.linear(tree, so_far)?;
        if !row.is_constant() || row.constant() <= 0 {
            return wrong(tree.span, SetParseErrorKind::BadDivisor);
        }
        Ok(row.constant())
    }

    /// The value of an expression; quotients become existentials.
    fn linear(&self, tree: &Tree<'a>, so_far: &mut Conjunction) -> Resolved<Row> {
        match &tree.kind {
            TreeKind::Integer(digits) => Ok(integer(digits, tree.span)?.into()),
            TreeKind::Name(name) => Ok(Row::column(self.column(name, tree.span)?)),
            TreeKind::Negated(inner) => {
                let inner = self.linear(inner, so_far)?;
                checked(tree.span, inner.scaled(-1))
            }
            TreeKind::Sum(terms) => {
                let mut sum = Row::default();
                for (is_negative, term) in terms {
                    let term = self.linear(term, so_far)?;
                    let sign = if *is_negative { -1 } else { 1 };
                    sum = checked(tree.span, sum.combined(1, &term, sign))?;
                }
                Ok(sum)
            }
            TreeKind::Infix(Infix::Times, pair) => {
                let left = self.linear(&pair[0], so_far)?;
                let right = self.linear(&pair[1], so_far)?;
                let product = if right.is_constant() {
                    left.scaled(right.constant())
                } else if left.is_constant() {
                    right.scaled(left.constant())
                } else {
                    return wrong(tree.span, SetParseErrorKind::NotLinear);
                };
                checked(tree.span, product)
            }
            TreeKind::Infix(op, pair) => {
                let row = self.linear(&pair[0], so_far)?;
                let divisor = self.divisor(&pair[1], so_far)?;
                checked(tree.span, divided(*op, &row, divisor, so_far))
            }
        }
    }

    fn column(&self, name: &str, span: Span) -> Resolved<usize> {
        let found = self.names.iter().rev().find(|(known, _)| *known == name);
        if let Some((_, column)) = found {
            return Ok(*column);
        }
        let known = self.names.iter().map(|(known, _)| *known);
        let nearest = crate::spelling::nearest(name, known).map(str::to_owned);
        let name = name.to_owned();
        wrong(span, SetParseErrorKind::UnknownName { name, nearest })
    }
}

fn limit(conjunctions: &[Conjunction], span: Span) -> Resolved<()> {
    if conjunctions.len() > MAX_CONJUNCTIONS {
        return wrong(span, SetParseErrorKind::TooLarge);
    }
    Ok(())
}

fn divided(op: Infix, row: &Row, divisor: i128, so_far: &mut Conjunction) -> Result<Row, Unknown> {
    match op {
        Infix::CeilDiv => {
            let quotient = so_far.add_quotient(&row.scaled(-1)?, divisor)?;
            Row::column(quotient).scaled(-1)
        }
        Infix::Mod => {
            let quotient = so_far.add_quotient(row, divisor)?;
            row.combined(1, &Row::column(quotient), -divisor)
        }
        Infix::FloorDiv | Infix::Times => Ok(Row::column(so_far.add_quotient(row, divisor)?)),
    }
}

fn integer(digits: &str, span: Span) -> Resolved<i128> {
    match digits.parse::<i64>() {
        Ok(value) => Ok(value.into()),
        Err(_) => wrong(
            span,
            SetParseErrorKind::IntegerOutOfRange(digits.to_owned()),
        ),
    }
}
