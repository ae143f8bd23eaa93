//! Calls that fill and copy memory, as loops over its elements.

use super::Lowering;
use super::reference::{Reference, Target};
use super::value::{self, Typed};
use crate::ast::{Expr, Name};
use crate::problem::ExpressionProblem;
use crate::raise::computed;
use strew_affine::{
    Access, AffineExpr, BinaryOp, CompareOp, Expr as Computation, Node, Place, Span, Type, Value,
};

/// A function of C's library that deals with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Fill,
    Copy,
    /// Between places that may overlap.
    Move,
    /// Of so many bytes.
    Allocate,
    /// Of so many elements of so many bytes.
    AllocateElements,
    Release,
}

impl Memory {
    pub(super) fn named(function: &str) -> Option<Self> {
        Some(match function {
            "memset" => Self::Fill,
            "memcpy" => Self::Copy,
            "memmove" => Self::Move,
            "malloc" => Self::Allocate,
            "calloc" => Self::AllocateElements,
            "free" => Self::Release,
            _ => return None,
        })
    }
}

/// What elements are set to.
enum Contents {
    /// So many equal bytes.
    Bytes(Typed),
    Elements(Reference),
}

/// In which direction elements are copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Upwards,
    Downwards,
}

/// Elements that are set, so many of them in each dimension.
struct Setting<'s> {
    contents: &'s Contents,
    counts: &'s [Typed],
    direction: Direction,
    span: Span,
}

impl Lowering<'_> {
    /// Which function of C's library a call of `function` means, if it is one that deals with
    /// memory.
    pub(super) fn memory_function(&self, function: &Name) -> Option<Memory> {
        let is_defined = self.functions.get(&function.text).is_some();
        Memory::named(&function.text).filter(|_| !is_defined)
    }

    /// Does what such a call does. `None` after an error.
    pub(super) fn memory_call(
        &mut self,
        memory: Memory,
        (function, arguments): (&Name, &[Expr]),
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<()> {
        let done = match (memory, arguments) {
            (Memory::Release, [pointer]) if self.rank(pointer) > 0 => {
                let reference = self.reference(pointer, body)?;
                let array = reference.target.first();
                array.filter(|it| self.homes.contains_key(it)).map(|_| ())
            }
            (Memory::Fill | Memory::Copy | Memory::Move, [to, from, bytes])
                if self.rank(to) > 0 =>
            {
                self.set_memory(memory, [to, from, bytes], span, body)?
            }
            _ => None,
        };
        match done {
            Some(()) => Some(()),
            None => self.refuse_library(function, arguments),
        }
    }

    /// `None` inside where it cannot be done, and nothing after an error.
    fn set_memory(
        &mut self,
        memory: Memory,
        [to, from, bytes]: [&Expr; 3],
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Option<()>> {
        let is_filled = memory == Memory::Fill;
        if !is_filled && self.rank(to) != self.rank(from) {
            return Some(None);
        }
        // What is written may be what an argument was computed from.
        let place = self.kept_reference(to, body)?;
        let contents = match is_filled {
            true => {
                let byte = self.expression(from, body)?;
                Contents::Bytes(self.kept(byte, from.span, body))
            }
            false => Contents::Elements(self.kept_reference(from, body)?),
        };
        if place.is_const {
            let name = self.target_name(&place.target);
            return self.report(ExpressionProblem::AssignToConst { name }, to.span);
        }
        if !self.can_hold(&place, &contents) {
            return Some(None);
        }
        let Some(counts) = self.counts(&place, bytes, body) else {
            return Some(None);
        };
        let setting = |direction| Setting {
            contents: &contents,
            counts: &counts,
            direction,
            span,
        };
        let distance = self.distance(memory, &place, &contents, span);
        match distance.as_ref().map(Typed::as_constant) {
            None => self.set_elements(&setting(Direction::Upwards), place, body)?,
            Some(Some(distance)) => {
                let direction = match distance > 0 {
                    true => Direction::Downwards,
                    false => Direction::Upwards,
                };
                self.set_elements(&setting(direction), place, body)?;
            }
            Some(None) => {
                let directions = [Direction::Upwards, Direction::Downwards];
                let [up, down] = directions.map(|it| {
                    let mut done = None;
                    let block = self.nested(span, |lowering, block| {
                        done = lowering.set_elements(&setting(it), place.clone(), block);
                    });
                    done.map(|()| block)
                });
                let zero = Typed::constant(Value::i64(0));
                let is_below = value::compare(CompareOp::Le, distance?, zero);
                body.push(self.when((is_below, span), up?, down?));
            }
        }
        Some(Some(()))
    }

    /// What a pointer points to now, whatever happens later.
    fn kept_reference(&mut self, pointer: &Expr, body: &mut Vec<Node>) -> Option<Reference> {
        let mut reference = self.reference(pointer, body)?;
        for (value, span) in &mut reference.subscripts {
            *value = self.kept(value.clone(), *span, body);
        }
        Some(reference)
    }

    /// Whether the elements of `place` can be set to `contents`.
    fn can_hold(&self, place: &Reference, contents: &Contents) -> bool {
        let number = place.target.number(&self.kernel);
        match (contents, &place.target) {
            (_, Target::Cell(_)) => false,
            (Contents::Bytes(byte), _) => match byte.as_constant() {
                Some(byte) if byte & 0xFF == 0 => true,
                Some(_) => number.is_some_and(|it| it.is_integer() && it != Type::Bool),
                None => number.is_some_and(|it| it.is_integer() && it.bytes() == 1),
            },
            (Contents::Elements(from), _) => {
                let is_cell = matches!(from.target, Target::Cell(_));
                let is_same = from.target.number(&self.kernel) == number
                    && from.target.structure() == place.target.structure();
                is_same && !is_cell
            }
        }
    }

    /// How far `place` is behind what is copied there, where both may overlap.
    fn distance(
        &self,
        memory: Memory,
        place: &Reference,
        contents: &Contents,
        span: Span,
    ) -> Option<Typed> {
        let Contents::Elements(from) = contents else {
            return None;
        };
        let may_overlap = memory == Memory::Move && place.target.is(&from.target);
        let [(_, to), (_, from)] = [place, from].map(|it| it.split(span));
        let ranges = &self.ranges;
        may_overlap.then(|| value::arithmetic(BinaryOp::Sub, to, from, span, ranges))
    }

    /// How many elements there are in `bytes`, in each dimension that `place` leaves open.
    fn counts(
        &mut self,
        place: &Reference,
        bytes: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<Vec<Typed>> {
        let size = place.target.bytes(&self.kernel)?;
        let product = self.product(std::slice::from_ref(bytes))?;
        let mut product = product.divided(size.into())?;
        let inner: Vec<AffineExpr> = self.extents(place).into_iter().skip(1).collect();
        for extent in &inner {
            product = product.divided_by(extent, self)?;
        }
        let first = self.number(product, bytes.span, body)?;
        let first = self.kept(first, bytes.span, body);
        let inner = inner.iter().map(|it| Typed::any(computed(it), Type::I64));
        Some(std::iter::once(first).chain(inner).collect())
    }

    /// Sets the elements of `place`, in loops over the dimensions that it leaves open.
    fn set_elements(
        &mut self,
        setting: &Setting<'_>,
        place: Reference,
        body: &mut Vec<Node>,
    ) -> Option<()> {
        let contents = match setting.contents {
            Contents::Bytes(_) => None,
            Contents::Elements(from) => Some(from.clone()),
        };
        self.set_rows(setting, (place, contents), setting.counts, body)
    }

    fn set_rows(
        &mut self,
        setting: &Setting<'_>,
        (place, from): (Reference, Option<Reference>),
        counts: &[Typed],
        body: &mut Vec<Node>,
    ) -> Option<()> {
        let span = setting.span;
        let Some((count, inner)) = counts.split_first() else {
            return self.set_element(setting, (place, from), body);
        };
        let constant = |value| Typed::constant(Value::i64(value));
        let variable = self.variable_of("i", constant(0), span, body);
        let turn = Typed::any(Computation::Local(variable), Type::I64);
        let ranges = &self.ranges;
        let difference = |left, right| value::arithmetic(BinaryOp::Sub, left, right, span, ranges);
        let index = match setting.direction {
            Direction::Upwards => turn.clone(),
            Direction::Downwards => {
                difference(difference(count.clone(), constant(1)), turn.clone())
            }
        };
        let next = value::arithmetic(BinaryOp::Add, turn.clone(), constant(1), span, ranges);
        let place = self.indexed(place, index.clone(), span, span)?;
        let from = match from {
            Some(from) => Some(self.indexed(from, index, span, span)?),
            None => None,
        };
        let mut done = None;
        let mut block = self.nested(span, |it, block| {
            done = it.set_rows(setting, (place, from), inner, block);
        });
        block.push(self.set(variable, next.expr, span));
        body.push(Node::ScfWhile {
            condition: value::compare(CompareOp::Lt, turn, count.clone()).expr,
            body: block.into(),
            span,
        });
        done
    }

    /// Sets each of the numbers that an element is.
    fn set_element(
        &mut self,
        setting: &Setting<'_>,
        (place, from): (Reference, Option<Reference>),
        body: &mut Vec<Node>,
    ) -> Option<()> {
        let span = setting.span;
        let places = self.places(&place, span)?;
        let values = match (setting.contents, from) {
            (_, Some(from)) => {
                let numbers = self.places(&from, span)?.into_iter();
                numbers.map(|it| self.loaded(it)).collect()
            }
            (Contents::Bytes(byte), None) => {
                let types = places.iter().map(|it| self.kernel.arrays[it.array].element);
                types.map(|ty| of_bytes(byte.clone(), ty)).collect()
            }
            (Contents::Elements(_), None) => Vec::new(),
        };
        for (place, value) in places.into_iter().zip(values) {
            body.push(Node::Assign {
                place: Place::Element(place),
                value: value.expr,
                span,
            });
        }
        Some(())
    }

    /// The places of the numbers that an element is.
    fn places(&mut self, element: &Reference, span: Span) -> Option<Vec<Access>> {
        match &element.target {
            Target::Array(array) => Some(vec![self.element_access(element, *array, span)?]),
            Target::Record(_) | Target::Cell(_) => self.number_accesses(element, span),
        }
    }
}

/// A number of type `ty` of which each byte is the lowest one of `byte`; what is no integer has
/// none but 0.
fn of_bytes(byte: Typed, ty: Type) -> Typed {
    match byte.as_constant() {
        Some(byte) if byte & 0xFF == 0 => Typed::constant(Value::zero(ty)),
        Some(byte) => {
            let repeated = (byte & 0xFF) * 0x0101_0101_0101_0101;
            Typed::constant(Value::integer(ty, repeated))
        }
        None => byte.convert(ty),
    }
}
