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
#[derive(Clone)]
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

/// What is set to what.
#[derive(Clone)]
struct Setting {
    place: Reference,
    contents: Contents,
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
        match (memory, arguments) {
            (Memory::Release, [pointer]) if self.rank(pointer) > 0 => {
                let reference = self.reference(pointer, body)?;
                let array = reference.target.first();
                if array.is_some_and(|it| self.homes.contains_key(&it)) {
                    return Some(());
                }
            }
            (Memory::Fill | Memory::Copy | Memory::Move, [to, from, bytes])
                if self.rank(to) > 0
                    && (memory == Memory::Fill || self.rank(to) == self.rank(from)) =>
            {
                let setting = self.setting(memory, [to, from], span, body)?;
                if self.can_hold(&setting)
                    && let Some(counts) = self.counts(&setting.place, bytes, body)
                {
                    return self.set_memory(memory, setting, &counts, body);
                }
            }
            _ => {}
        }
        self.refuse_library(function, arguments)
    }

    /// What is to be set to what, as it is before anything is: that may be what an argument was
    /// computed from.
    fn setting(
        &mut self,
        memory: Memory,
        [to, from]: [&Expr; 2],
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Setting> {
        let place = self.kept_reference(to, body)?;
        let contents = match memory == Memory::Fill {
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
        Some(Setting {
            place,
            contents,
            direction: Direction::Upwards,
            span,
        })
    }

    /// Sets so many elements in each dimension; those that may overlap with what is copied in the
    /// direction in which none is read behind its own copy.
    fn set_memory(
        &mut self,
        memory: Memory,
        setting: Setting,
        counts: &[Typed],
        body: &mut Vec<Node>,
    ) -> Option<()> {
        let downwards = Setting {
            direction: Direction::Downwards,
            ..setting.clone()
        };
        let Some(distance) = self.distance(memory, &setting) else {
            return self.set_rows(setting, counts, body);
        };
        match distance.as_constant() {
            Some(1..) => self.set_rows(downwards, counts, body),
            Some(_) => self.set_rows(setting, counts, body),
            None => {
                let span = setting.span;
                let [up, down] = [setting, downwards].map(|setting| {
                    let mut done = None;
                    let block = self.nested(span, |it, block| {
                        done = it.set_rows(setting, counts, block);
                    });
                    done.map(|()| block)
                });
                let zero = Typed::constant(Value::i64(0));
                let is_below = value::compare(CompareOp::Le, distance, zero);
                body.push(self.when((is_below, span), up?, down?));
                Some(())
            }
        }
    }

    /// Whether elements can be set to that.
    fn can_hold(&self, setting: &Setting) -> bool {
        let place = &setting.place;
        let number = place.target.number(&self.kernel);
        match (&setting.contents, &place.target) {
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

    /// How far what is set lies behind what is copied there, where both may overlap.
    fn distance(&self, memory: Memory, setting: &Setting) -> Option<Typed> {
        let Contents::Elements(from) = &setting.contents else {
            return None;
        };
        let may_overlap = memory == Memory::Move && setting.place.target.is(&from.target);
        let span = setting.span;
        let [(_, to), (_, from)] = [&setting.place, from].map(|it| it.split(span));
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

    /// Sets elements, in loops over the dimensions that are left open.
    fn set_rows(&mut self, setting: Setting, counts: &[Typed], body: &mut Vec<Node>) -> Option<()> {
        let span = setting.span;
        let Some((count, inner)) = counts.split_first() else {
            return self.set_element(setting, body);
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
        let row = Setting {
            place: self.indexed(setting.place, index.clone(), span, span)?,
            contents: match setting.contents {
                Contents::Elements(from) => {
                    Contents::Elements(self.indexed(from, index, span, span)?)
                }
                bytes @ Contents::Bytes(_) => bytes,
            },
            ..setting
        };
        let mut done = None;
        let mut block = self.nested(span, |it, block| done = it.set_rows(row, inner, block));
        block.push(self.set(variable, next.expr, span));
        body.push(Node::ScfWhile {
            condition: value::compare(CompareOp::Lt, turn, count.clone()).expr,
            body: block.into(),
            span,
        });
        done
    }

    /// Sets each of the numbers that an element is.
    fn set_element(&mut self, setting: Setting, body: &mut Vec<Node>) -> Option<()> {
        let span = setting.span;
        let places = self.places(&setting.place, span)?;
        let values: Vec<Typed> = match setting.contents {
            Contents::Elements(from) => {
                let numbers = self.places(&from, span)?.into_iter();
                numbers.map(|it| self.loaded(it)).collect()
            }
            Contents::Bytes(byte) => {
                let types = places.iter().map(|it| self.kernel.arrays[it.array].element);
                types.map(|ty| of_bytes(byte.clone(), ty)).collect()
            }
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
