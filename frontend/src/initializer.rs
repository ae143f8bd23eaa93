//! Initial values in braces: which element each value is for.
//!
//! C lets inner braces be left out: values then fill the elements row by row. Elements for which there is no value are 0.

use crate::ast::{Designator, Element, Expr, ExprKind};
use crate::constant;
use crate::problem::{DeclarationProblem, ExpressionProblem, InitializerProblem, Problem};
use strew_affine::Span;

/// The values that are given, each with the subscripts of its element, in the order of the source.
pub(crate) type Elements<'e> = Vec<(Vec<i64>, &'e Expr)>;

type Refused = (Problem, Span);

/// The one value of a scalar, which may stand in braces.
pub(crate) fn scalar(initial: &Expr) -> Option<&Expr> {
    match &initial.kind {
        ExprKind::Braced(elements) => match elements.as_slice() {
            [only] if only.designators.is_empty() => scalar(&only.value),
            _ => None,
        },
        _ => Some(initial),
    }
}

/// The values of an array with these lengths, of which the first is found when it is absent.
pub(crate) fn elements<'e>(
    initial: &'e Expr,
    lengths: &mut [Option<i64>],
) -> Result<Elements<'e>, Refused> {
    let ExprKind::Braced(list) = &initial.kind else {
        return Err((InitializerProblem::ArrayWithoutBraces.into(), initial.span));
    };
    let mut walk = Walk {
        lengths: lengths.to_vec(),
        given: Vec::new(),
        longest: 0,
    };
    walk.list(list, &mut Vec::new())?;
    if let Some(first @ None) = lengths.first_mut() {
        *first = Some(walk.longest);
    }
    Ok(walk.given)
}

struct Walk<'e> {
    lengths: Vec<Option<i64>>,
    given: Elements<'e>,
    /// How many elements the outermost dimension has at least.
    longest: i64,
}

impl<'e> Walk<'e> {
    /// The list of one pair of braces: it is for the elements below `outer`.
    fn list(&mut self, list: &'e [Element], outer: &mut Vec<i64>) -> Result<(), Refused> {
        let depth = outer.len();
        // The position of the next value, below `outer`; at least one subscript.
        let mut position = vec![0_i64];
        for element in list {
            if let Some(designators) = designated(element)? {
                if depth + designators.len() > self.lengths.len() {
                    return Err((InitializerProblem::TooManyBraces.into(), element.value.span));
                }
                position = designators;
            }
            let is_list = matches!(element.value.kind, ExprKind::Braced(_));
            if !is_list {
                // Without braces of its own a value is for the first scalar of the row.
                position.resize(self.lengths.len().saturating_sub(depth).max(1), 0);
            }
            self.check(outer, &position, element.value.span)?;
            let before = outer.len();
            outer.extend(&position);
            self.value(&element.value, outer)?;
            outer.truncate(before);
            self.advance(depth, &mut position);
        }
        Ok(())
    }

    fn value(&mut self, value: &'e Expr, at: &mut Vec<i64>) -> Result<(), Refused> {
        if let Some(first) = at.first() {
            self.longest = self.longest.max(first.saturating_add(1));
        }
        match &value.kind {
            ExprKind::Braced(list) if at.len() < self.lengths.len() => self.list(list, at),
            ExprKind::Braced(_) => match scalar(value) {
                Some(value) => {
                    self.given.push((at.clone(), value));
                    Ok(())
                }
                None => Err((InitializerProblem::TooManyBraces.into(), value.span)),
            },
            _ => {
                self.given.push((at.clone(), value));
                Ok(())
            }
        }
    }

    fn check(&self, outer: &[i64], position: &[i64], span: Span) -> Result<(), Refused> {
        let lengths = self.lengths.iter().skip(outer.len());
        let is_inside = position
            .iter()
            .zip(lengths)
            .all(|(index, length)| *index >= 0 && length.is_none_or(|length| *index < length));
        if is_inside {
            Ok(())
        } else {
            Err((InitializerProblem::TooManyInitializers.into(), span))
        }
    }

    /// Goes to the next element of the innermost subscript, and to the next row behind the last.
    fn advance(&self, depth: usize, position: &mut Vec<i64>) {
        while let Some(last) = position.last_mut() {
            *last = last.saturating_add(1);
            let dimension = depth + position.len() - 1;
            let length = self.lengths.get(dimension).copied().flatten();
            let is_full = position.last().copied() >= length;
            if position.len() == 1 || length.is_none() || !is_full {
                return;
            }
            position.pop();
        }
    }
}

fn designated(element: &Element) -> Result<Option<Vec<i64>>, Refused> {
    let mut subscripts = Vec::new();
    for designator in &element.designators {
        match designator {
            Designator::Index(index) => {
                let value = constant::evaluate(index).and_then(|it| it.as_integer());
                let value = value.and_then(|it| i64::try_from(it).ok());
                subscripts.push(value.ok_or((DeclarationProblem::NotConstant.into(), index.span))?);
            }
            Designator::Member(member) => {
                let name = member.text.clone();
                return Err((
                    ExpressionProblem::UnknownMember { name, of: None }.into(),
                    member.span,
                ));
            }
        }
    }
    Ok((!subscripts.is_empty()).then_some(subscripts))
}
