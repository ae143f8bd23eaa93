//! Random pointers into arrays, and counters of what was found.

use super::expression::{Binary, Expression, Place};
use super::function::{Array, Extent, Form, Role};
use super::generate::{Generator, Local};
use super::statement::{Block, Statement};
use super::values::binary;
use strew::ir::Type;

/// A pointer: the way its type is written, and where it points to first.
struct Cursor {
    spelling: String,
    first: Expression,
    /// What it points into, under the name of the pointer.
    array: Array,
}

impl Generator<'_> {
    /// A pointer for the rest of the block that stays where it is.
    pub(super) fn cursor(&mut self, block: &mut Block) {
        let mut target = None;
        self.push(block, |generator| {
            let Some(cursor) = generator.unchanging(Self::new_cursor) else {
                return generator.declaration();
            };
            let name = cursor.array.name.clone();
            target = Some(cursor.array);
            Statement::Declare(cursor.spelling, name, cursor.first)
        });
        if let Some(array) = target {
            self.declare_target(&array);
            self.arrays.push(array);
        }
    }

    /// What a pointer points to is a variable.
    fn declare_target(&mut self, array: &Array) {
        let name = format!("(*{})", array.name);
        self.declare(Local::new(&name, array.ty, array.is_written));
    }

    fn new_cursor(&mut self) -> Option<Cursor> {
        let arrays = self.arrays.iter();
        let arrays = arrays.filter(|it| {
            let is_plain =
                matches!(it.form, Form::Shaped | Form::Pointer) && !it.name.contains('.');
            is_plain && it.role == Role::Values && (self.may_read_written || !it.is_written)
        });
        let arrays: Vec<_> = arrays.cloned().collect();
        let array = match arrays.is_empty() {
            true => return None,
            false => self.random.pick(&arrays).clone(),
        };
        let (last, outer) = array.extents.split_last()?;
        let mut first = Place::variable(array.name.clone(), array.ty);
        first.subscripts = outer.iter().map(|it| self.subscript(*it, 0)).collect();
        let (first, extent) = match self.random.below(4) {
            // Two elements behind it are there where there are two.
            0 => (format!("&{first}[1]"), Extent::Constant(2)),
            1 => (format!("{first} + 1"), Extent::Constant(2)),
            _ => (first.to_string(), *last),
        };
        let is_written = array.is_written && self.random.percent(70);
        let constant = if is_written { "" } else { "const " };
        Some(Cursor {
            spelling: format!("{constant}{} *", array.spelling),
            first: Expression::Variable(first, Type::I64),
            array: Array {
                name: self.name('c'),
                form: Form::Pointer,
                extents: vec![extent],
                is_written,
                ..array
            },
        })
    }

    /// A loop with a pointer that moves.
    pub(super) fn walk(&mut self, depth: usize) -> Statement {
        let Some(cursor) = self.unchanging(Self::new_cursor) else {
            return self.counted(depth);
        };
        let name = cursor.array.name.clone();
        let mut block = vec![Statement::Declare(
            cursor.spelling,
            name.clone(),
            cursor.first,
        )];
        let sign = if self.random.percent(90) { "++" } else { "--" };
        let is_inside = self.random.percent(50);
        let near = Array {
            extents: vec![Extent::Constant(1)],
            ..cursor.array
        };
        self.scoped(|generator| {
            generator.declare_target(&near);
            generator.arrays.push(near.clone());
            generator.push(&mut block, |generator| {
                let mut walk = generator.counted_with(|generator| {
                    let mut body = generator.block(depth + 1);
                    if is_inside {
                        generator.push(&mut body, |generator| generator.moved(&near, sign));
                    }
                    body
                });
                if let (Statement::For(header, _), false) = (&mut walk, is_inside) {
                    let comma = if header.step.is_empty() { "" } else { ", " };
                    header.step += &format!("{comma}{name}{sign}");
                }
                walk
            });
        });
        Statement::Block(block)
    }

    /// A step of a pointer, on its own or in an assignment.
    fn moved(&mut self, array: &Array, sign: &'static str) -> Statement {
        let name = &array.name;
        let value = self.value_for(array.ty, 2);
        if !array.is_written || self.random.percent(60) || value.to_string().contains(name) {
            let pointer = Place::variable(name.clone(), Type::I64);
            return Statement::Step(pointer, sign, self.random.percent(30));
        }
        let target = match self.random.percent(70) {
            true => format!("*{name}{sign}"),
            false => format!("*{sign}{name}"),
        };
        let operator = if self.random.percent(70) { "" } else { "+" };
        if operator == "+" && !array.ty.is_float() && value.ty().is_float() {
            return Statement::Effect(Expression::Variable(format!("{name}{sign}"), Type::I64));
        }
        Statement::Assign(Place::variable(target, array.ty), operator, value)
    }

    /// A loop that puts what it finds behind each other, and the count of it.
    pub(super) fn compaction(&mut self, block: &mut Block) {
        let (ty, counter) = (self.random.integer_type(), self.name('u'));
        let first = Expression::Literal("0".to_owned(), Type::I32);
        let spelling = self.random.spelling(ty).to_owned();
        block.push(Statement::Declare(spelling, counter.clone(), first));
        let array = self.written_array();
        self.push(block, |generator| {
            generator.counted_with(|generator| {
                let mut body = Vec::new();
                if generator.random.percent(30) {
                    generator.push(&mut body, Self::declaration);
                }
                generator.push(&mut body, |generator| {
                    let condition = generator.expression(2);
                    let mut found = Vec::new();
                    generator.push(&mut found, |it| it.kept(&array, &counter, ty));
                    Statement::If(condition, found, None)
                });
                body
            })
        });
        self.declare(Local::new(&counter, ty, false));
    }

    /// `array[counter++] = value`, or the same in two statements, or only the count.
    fn kept(&mut self, array: &Array, counter: &str, ty: Type) -> Statement {
        let next = Expression::Stepped(counter.to_owned(), ty, "++", self.random.percent(10));
        let mut place = self.element(array, 0);
        let value = self.value_for(array.ty, 2);
        if self.random.percent(10) {
            return Statement::Effect(next);
        }
        if self.random.percent(30) {
            let at = Expression::Variable(counter.to_owned(), ty);
            place.subscripts[0] = at;
            let step = Statement::Step(Place::variable(counter.to_owned(), ty), "++", false);
            return Statement::Block(vec![Statement::Assign(place, "", value), step]);
        }
        place.subscripts[0] = next;
        Statement::Assign(place, "", value)
    }

    /// The greatest or least of a loop and where it was, in variables.
    pub(super) fn extremum(&mut self, block: &mut Block) {
        let (ty, at) = (self.random.ty(), self.random.integer_type());
        let (best, place) = (self.name('v'), self.name('v'));
        let (best, place) = (Place::variable(best, ty), Place::variable(place, at));
        for place in [&best, &place] {
            self.push(block, |generator| {
                let spelling = generator.random.spelling(place.ty).to_owned();
                let first = generator.value_for(place.ty, 1);
                Statement::Declare(spelling, place.name.clone(), first)
            });
        }
        self.may_read_written = self.random.percent(50);
        self.push(block, |generator| {
            generator.counted_with(|generator| {
                let mut body = Vec::new();
                let pair = |generator: &mut Self| generator.pair(best.clone(), place.clone());
                generator.push(&mut body, pair);
                body
            })
        });
        self.may_read_written = true;
        self.declare(Local::new(&best.name, ty, true));
        self.declare(Local::new(&place.name, at, true));
    }

    /// The same in two arrays, of one shape where there are such.
    pub(super) fn extremum_pair(&mut self) -> Statement {
        let best = self.written_array();
        let others = self.arrays.iter().filter(|it| {
            let is_other = (&it.name, &it.form) != (&best.name, &best.form);
            it.is_written && it.role == Role::Values && it.extents == best.extents && is_other
        });
        let others: Vec<_> = others.cloned().collect();
        let held = self.unchanging(|generator| generator.element(&best, 1));
        let place = match others.is_empty() {
            true => self.unchanging(Self::written),
            false => {
                let other = self.random.pick(&others).clone();
                Place {
                    subscripts: held.subscripts.clone(),
                    ..self.unchanging(|generator| generator.element(&other, 1))
                }
            }
        };
        self.pair(held, place)
    }

    /// `if (value < held) { held = value; place = which; }`
    fn pair(&mut self, held: Place, place: Place) -> Statement {
        let ty = held.ty;
        let (value, which) = self.unchanging(|generator| {
            let iterators = generator.iterators();
            let which = match iterators.is_empty() || generator.random.percent(30) {
                true => generator.value_for(place.ty, 1),
                false => generator.random.pick(&iterators).expression(),
            };
            (generator.value_for(ty, 2), which)
        });
        let condition = self.order(Expression::Element(held.clone()), value.clone());
        let condition = match self.random.percent(15) {
            true => {
                let other = Box::new(self.unchanging(|generator| generator.expression(1)));
                binary(Binary::BothOf, condition, *other)
            }
            false => condition,
        };
        let mut both = vec![
            Statement::Assign(held, "", value),
            Statement::Assign(place, "", which),
        ];
        if self.random.percent(30) {
            both.reverse();
        }
        Statement::If(condition, both, None)
    }
}
