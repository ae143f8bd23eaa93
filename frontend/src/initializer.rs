//! Initial values in braces: which number each value is for.
//!
//! C lets inner braces be left out: values then fill the numbers one after the other. Numbers for
//! which there is no value are 0.

use crate::ast::{Designator, Element, Expr, ExprKind};
use crate::constant;
use crate::problem::{DeclarationProblem, ExpressionProblem, InitializerProblem, Problem};
use crate::structure::{MemberElement, Structure};
use std::rc::Rc;
use strew_affine::Span;

/// The values that are given, each with the subscripts of its element, in the order of the source.
pub(crate) type Elements<'e> = Vec<(Vec<i64>, &'e Expr)>;

/// What is said about an initial value that is refused, and where.
pub(crate) type Refused = (Problem, Span);

/// A value that is given.
#[derive(Debug)]
pub(crate) struct Given<'e> {
    /// The position of the first number that it is for, among all of them.
    pub(crate) first: u64,
    pub(crate) value: &'e Expr,
    /// The structure that it is; absent for a number.
    pub(crate) structure: Option<Rc<Structure>>,
}

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

/// The values of an array of numbers with these lengths, of which the first is found when it is
/// absent.
pub(crate) fn elements<'e>(
    initial: &'e Expr,
    lengths: &mut [Option<i64>],
) -> Result<Elements<'e>, Refused> {
    // Which numbers they are makes no difference.
    let element = MemberElement::Scalar(strew_affine::Type::I32);
    let given = numbers(initial, lengths, &element, &|_| None)?;
    let inner: Vec<i64> = lengths.iter().skip(1).map(|it| it.unwrap_or(1)).collect();
    let subscripts = |given: Given<'e>| (unravelled(given.first, &inner), given.value);
    Ok(given.into_iter().map(subscripts).collect())
}

/// The subscripts of the element at a position, behind which stand so many of each dimension but
/// the first.
pub(crate) fn unravelled(position: u64, inner: &[i64]) -> Vec<i64> {
    let mut rest = position;
    let mut subscripts = Vec::with_capacity(inner.len() + 1);
    for length in inner.iter().rev() {
        let length = u64::try_from(*length).unwrap_or(1).max(1);
        subscripts.push(i64::try_from(rest % length).unwrap_or(0));
        rest /= length;
    }
    subscripts.push(i64::try_from(rest).unwrap_or(i64::MAX));
    subscripts.reverse();
    subscripts
}

/// The values of an array with these lengths, or of a single element when there are none. The first
/// length is found when it is absent. What is no list in braces can be a structure, which
/// `structure_of` says.
pub(crate) fn numbers<'e>(
    initial: &'e Expr,
    lengths: &mut [Option<i64>],
    element: &MemberElement,
    structure_of: &dyn Fn(&Expr) -> Option<Rc<Structure>>,
) -> Result<Vec<Given<'e>>, Refused> {
    let ExprKind::Braced(list) = &initial.kind else {
        return Err((InitializerProblem::ArrayWithoutBraces.into(), initial.span));
    };
    // Nothing is beyond the end of an array that is as long as what it is given.
    let known = lengths.iter().map(|it| match it {
        Some(length) => u64::try_from(*length).unwrap_or(0),
        None => u64::MAX,
    });
    let known: Vec<u64> = known.collect();
    let object = Object {
        lengths: Lengths::Given(&known),
        element,
    };
    let mut walk = Walk {
        given: Vec::new(),
        end: 0,
        structure_of,
    };
    walk.list(list, object, 0)?;
    if let Some(first @ None) = lengths.first_mut() {
        let row = object.child(0).map_or(1, |it| it.0.number_count()).max(1);
        *first = Some(i64::try_from(walk.end.div_ceil(row)).unwrap_or(i64::MAX));
    }
    Ok(walk.given)
}

/// The lengths of an array that are left.
#[derive(Clone, Copy)]
enum Lengths<'t> {
    Given(&'t [u64]),
    OfMember(&'t [u32]),
}

impl Lengths<'_> {
    fn split(self) -> Option<(u64, Self)> {
        match self {
            Self::Given(it) => it
                .split_first()
                .map(|(first, rest)| (*first, Self::Given(rest))),
            Self::OfMember(it) => {
                let (first, rest) = it.split_first()?;
                Some((u64::from(*first), Self::OfMember(rest)))
            }
        }
    }
}

/// What values are for: an array, a structure, or a number.
#[derive(Clone, Copy)]
struct Object<'t> {
    lengths: Lengths<'t>,
    element: &'t MemberElement,
}

impl<'t> Object<'t> {
    fn number_count(self) -> u64 {
        match self.lengths.split() {
            None => self.element.number_count(),
            Some((length, lengths)) => {
                let row = Self { lengths, ..self };
                row.number_count().saturating_mul(length)
            }
        }
    }

    /// The structure that it is, if it is one.
    fn structure(self) -> Option<&'t Rc<Structure>> {
        match self.lengths.split() {
            None => self.element.structure(),
            Some(_) => None,
        }
    }

    /// Part number `index` of it, and the position of its first number; `None` beyond the end, and
    /// of a number.
    fn child(self, index: u64) -> Option<(Self, u64)> {
        if let Some((length, lengths)) = self.lengths.split() {
            let row = Self { lengths, ..self };
            let first = row.number_count().saturating_mul(index);
            return (index < length).then_some((row, first));
        }
        let members = &self.structure()?.members;
        let index = usize::try_from(index).ok()?;
        let member = members.get(index)?;
        let before = members.get(..index).unwrap_or_default().iter();
        let first = before.fold(0, |all, it| it.number_count().saturating_add(all));
        let child = Self {
            lengths: Lengths::OfMember(&member.lengths),
            element: &member.element,
        };
        Some((child, first))
    }
}

/// Where the next value goes: an object, the position of its first number, and the part of it that
/// is next.
#[derive(Clone, Copy)]
struct Level<'t> {
    object: Object<'t>,
    first: u64,
    next: u64,
}

struct Walk<'e, 'f> {
    given: Vec<Given<'e>>,
    /// The position behind the last number that has a value.
    end: u64,
    structure_of: &'f dyn Fn(&Expr) -> Option<Rc<Structure>>,
}

impl<'e> Walk<'e, '_> {
    /// The list of one pair of braces, which is for `object`.
    fn list(&mut self, list: &'e [Element], object: Object<'_>, first: u64) -> Result<(), Refused> {
        let outermost = Level {
            object,
            first,
            next: 0,
        };
        let mut path = vec![outermost];
        for element in list {
            let span = element.value.span;
            if !element.designators.is_empty() {
                path = designated(outermost, &element.designators, span)?;
            }
            // Behind the last part of a row comes the next row, but not behind the last of all.
            let (child, at) = loop {
                let is_only = path.len() == 1;
                let Some(level) = path.last_mut() else {
                    return Err((InitializerProblem::TooManyInitializers.into(), span));
                };
                if let Some((child, at)) = level.object.child(level.next) {
                    level.next += 1;
                    break (child, level.first.saturating_add(at));
                }
                if is_only {
                    return Err((beyond(object), span));
                }
                path.pop();
            };
            self.value(&element.value, child, at, &mut path)?;
        }
        Ok(())
    }

    /// A value for `object`, or for the first number of it when it stands there without braces.
    fn value<'t>(
        &mut self,
        value: &'e Expr,
        object: Object<'t>,
        first: u64,
        path: &mut Vec<Level<'t>>,
    ) -> Result<(), Refused> {
        if let ExprKind::Braced(list) = &value.kind {
            // What has braces of its own counts as given even where nothing is in them.
            self.end = self.end.max(first.saturating_add(object.number_count()));
            if object.child(0).is_some() {
                return self.list(list, object, first);
            }
            let only = scalar(value);
            let only = only.ok_or((InitializerProblem::TooManyBraces.into(), value.span))?;
            return self.number(only, first);
        }
        let structure = (self.structure_of)(value);
        let (mut object, mut first) = (object, first);
        loop {
            if let Some(found) = object.structure()
                && structure.as_ref() == Some(found)
            {
                self.end = self.end.max(first.saturating_add(object.number_count()));
                self.given.push(Given {
                    first,
                    value,
                    structure,
                });
                return Ok(());
            }
            let Some((child, at)) = object.child(0) else {
                return self.number(value, first);
            };
            path.push(Level {
                object,
                first,
                next: 1,
            });
            (object, first) = (child, first.saturating_add(at));
        }
    }

    fn number(&mut self, value: &'e Expr, first: u64) -> Result<(), Refused> {
        self.end = self.end.max(first.saturating_add(1));
        let structure = None;
        self.given.push(Given {
            first,
            value,
            structure,
        });
        Ok(())
    }
}

/// What is wrong with one value more than an object has parts.
fn beyond(object: Object<'_>) -> Problem {
    match object.element {
        MemberElement::Scalar(_) if object.lengths.split().is_none() => {
            InitializerProblem::TooManyBraces.into()
        }
        _ => InitializerProblem::TooManyInitializers.into(),
    }
}

/// The way to the part that the designators name.
fn designated<'t>(
    outermost: Level<'t>,
    designators: &[Designator],
    span: Span,
) -> Result<Vec<Level<'t>>, Refused> {
    let mut path: Vec<Level<'t>> = Vec::with_capacity(designators.len());
    let mut level = outermost;
    for designator in designators {
        if let Some(outer) = path.last_mut() {
            let Some((object, first)) = outer.object.child(outer.next) else {
                return Err((InitializerProblem::TooManyInitializers.into(), span));
            };
            outer.next += 1;
            level = Level {
                object,
                first: outer.first.saturating_add(first),
                next: 0,
            };
        }
        level.next = part(level.object, designator, span)?;
        path.push(level);
    }
    Ok(path)
}

/// The number of the part that a designator names.
fn part(object: Object<'_>, designator: &Designator, span: Span) -> Result<u64, Refused> {
    match designator {
        Designator::Index(index) => {
            if object.lengths.split().is_none() {
                return Err((InitializerProblem::TooManyBraces.into(), span));
            }
            let value = constant::evaluate(index).and_then(|it| it.as_integer());
            let value = value.ok_or((DeclarationProblem::NotConstant.into(), index.span))?;
            let beyond = (InitializerProblem::TooManyInitializers.into(), span);
            u64::try_from(value).map_err(|_| beyond)
        }
        Designator::Member(member) => {
            let structure = object.structure();
            let members = structure.map_or([].as_slice(), |it| it.members.as_slice());
            let position = members.iter().position(|it| it.name == member.text);
            let unknown = ExpressionProblem::UnknownMember {
                name: member.text.clone(),
                of: structure.map(|it| it.name.clone()),
                instead: structure.map_or_else(Vec::new, |it| it.instead_of(&member.text)),
            };
            let position = position.ok_or((unknown.into(), member.span))?;
            u64::try_from(position).map_err(|_| (DeclarationProblem::NotConstant.into(), span))
        }
    }
}
