//! Random structures of one's own.

use super::expression::{Expression, Place};
use super::function::{Array, Extent, Form, Function, Member, Role, Structure};
use super::generate::{Generator, Local};
use super::statement::{Block, Statement};
use strew::ir::Type;

impl Generator<'_> {
    /// The members of the structure `name` are variables and arrays from here on.
    pub(super) fn declare_record(&mut self, name: &str, structure: &Structure) {
        self.records.push((name.to_owned(), structure.clone()));
        for member in &structure.members {
            let name = format!("{name}.{}", member.name);
            match member.length {
                None => {
                    let is_free = member.role == Role::Values;
                    self.declare(Local::new(&name, member.ty, is_free));
                }
                Some(length) => self.arrays.push(Array {
                    spelling: member.spelling,
                    ty: member.ty,
                    name,
                    form: Form::Shaped,
                    extents: vec![Extent::Constant(length)],
                    role: member.role,
                    is_written: true,
                }),
            }
        }
    }

    /// A structure for the rest of the block, where the text has any.
    pub(super) fn record(&mut self, block: &mut Block) {
        if self.structures.is_empty() {
            return;
        }
        let structure = self.random.pick(self.structures).clone();
        let name = self.name('s');
        self.push(block, |generator| {
            let (spelling, name) = (structure.name.clone(), name.clone());
            match generator.random.percent(60) {
                true => {
                    let value = generator.record_value(&structure);
                    Statement::Declare(spelling, name, value)
                }
                false => Statement::Record(spelling, name, generator.members(&structure)),
            }
        });
        self.declare_record(&name, &structure);
    }

    /// Values for all members, or for the first ones.
    fn members(&mut self, structure: &Structure) -> Vec<Expression> {
        let numbers = |member: &Member| usize::from(member.length.unwrap_or(1));
        let all: usize = structure.members.iter().map(numbers).sum();
        let given = match self.random.percent(20) {
            true => 1 + self.random.below(all as i32) as usize,
            false => all,
        };
        let members = structure.members.iter();
        let each = members.flat_map(|it| std::iter::repeat_n(it, numbers(it)));
        let values = each.take(given).map(|member| match member.role {
            // Deeper ones would call functions of structures so often that there was no end to it.
            Role::Values => self.value_for(member.ty, 1),
            Role::Keys(_) | Role::Rows => Expression::Literal("1".to_owned(), Type::I32),
        });
        values.collect()
    }

    /// A whole structure: a variable, an element, what a function gives, one made for the purpose,
    /// or one of two of these.
    pub(super) fn record_value(&mut self, structure: &Structure) -> Expression {
        let known = self.records.iter().filter(|it| it.1 == *structure);
        let known: Vec<_> = known.map(|it| it.0.clone()).collect();
        let found = match self.random.below(100) {
            0..40 if !known.is_empty() => {
                let name = self.random.pick(&known).clone();
                Some(Expression::Variable(name, Type::I32))
            }
            0..65 => self
                .record_element(structure, false)
                .map(Expression::Element),
            65..80 => self.record_call(structure),
            80..88 if !known.is_empty() => {
                let condition = Box::new(self.expression(1));
                let other = Expression::Variable(self.random.pick(&known).clone(), Type::I32);
                let value = Box::new(self.record_value(structure));
                Some(Expression::Conditional(condition, value, Box::new(other)))
            }
            _ => None,
        };
        found.unwrap_or_else(|| {
            Expression::Structure(structure.name.clone(), self.members(structure))
        })
    }

    /// A call of a function that gives such a structure and only reads.
    fn record_call(&mut self, structure: &Structure) -> Option<Expression> {
        let helpers = self.helpers;
        let fits = |it: &&Function| {
            it.result_record.as_ref() == Some(structure)
                && it.arrays.iter().all(|it| !it.is_written)
        };
        let helpers: Vec<_> = helpers.iter().filter(fits).collect();
        if helpers.is_empty() {
            return None;
        }
        let helper = *self.random.pick(&helpers);
        self.call_of(helper)
    }

    /// A number of the structure that `value` is.
    pub(super) fn member_of(
        &mut self,
        value: Expression,
        structure: &Structure,
    ) -> Option<Expression> {
        let numbers = structure.members.iter().filter(|it| it.length.is_none());
        let numbers: Vec<_> = numbers.collect();
        if numbers.is_empty() {
            return None;
        }
        let member = *self.random.pick(&numbers);
        let name = format!(".{}", member.name);
        Some(Expression::Member(Box::new(value), name, member.ty))
    }

    /// A whole element of an array of structures.
    fn record_element(&mut self, structure: &Structure, to_write: bool) -> Option<Place> {
        let arrays = self.arrays.iter().filter(|it| {
            let is_it = matches!(&it.form, Form::Member(name, ..) if *name == structure.name);
            is_it && (it.is_written && self.may_read_written || !it.is_written && !to_write)
        });
        let arrays: Vec<_> = arrays.cloned().collect();
        if arrays.is_empty() {
            return None;
        }
        let array = self.random.pick(&arrays).clone();
        let element = self.element(&array, 1);
        Some(Place {
            member: String::new(),
            within: Vec::new(),
            ..element
        })
    }

    /// An assignment of a whole structure.
    pub(super) fn copy(&mut self) -> Option<Statement> {
        if self.structures.is_empty() {
            return None;
        }
        let structure = self.random.pick(self.structures).clone();
        let known = self.records.iter().filter(|it| it.1 == structure);
        let known: Vec<_> = known.map(|it| it.0.clone()).collect();
        let place = if known.is_empty() || self.random.percent(60) {
            self.record_element(&structure, true)?
        } else {
            Place::variable(self.random.pick(&known).clone(), Type::I32)
        };
        let value = self.record_value(&structure);
        Some(Statement::Assign(place, "", value))
    }
}
