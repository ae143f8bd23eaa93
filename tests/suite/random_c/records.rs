//! Random structures of one's own.

use super::expression::{Expression, Place};
use super::function::{Form, Role, Structure};
use super::generate::{Generator, Local};
use super::statement::{Block, Statement};
use strew::ir::Type;

impl Generator<'_> {
    /// The members of the structure `name` are variables from here on.
    pub(super) fn declare_record(&mut self, name: &str, structure: &Structure) {
        self.records.push((name.to_owned(), structure.clone()));
        for (_, ty, member, role) in &structure.members {
            let name = format!("{name}.{member}");
            self.declare(Local::new(&name, *ty, *role == Role::Values));
        }
    }

    /// A structure for the rest of the block, where the text has any.
    pub(super) fn record(&mut self, block: &mut Block) {
        let Some(structure) = self.structures.first().cloned() else {
            return;
        };
        let name = self.name('s');
        let spelling = structure.name.clone();
        self.push(block, |generator| {
            if let Some(value) = generator
                .record_value(&structure)
                .filter(|_| generator.random.percent(60))
            {
                return Statement::Declare(spelling, name.clone(), value);
            }
            let members = structure.members.iter();
            let values = members.map(|(_, ty, _, role)| match role {
                Role::Values => generator.value_for(*ty, 2),
                Role::Keys(_) | Role::Rows => Expression::Literal("1".to_owned(), Type::I32),
            });
            Statement::Record(spelling, name.clone(), values.collect())
        });
        self.declare_record(&name, &structure);
    }

    /// A whole structure that can be read: a variable, or an element. Its type is nobody's business.
    pub(super) fn record_value(&mut self, structure: &Structure) -> Option<Expression> {
        let known = self.records.iter().filter(|it| it.1 == *structure);
        let known: Vec<_> = known.map(|it| it.0.clone()).collect();
        if !known.is_empty() && self.random.percent(50) {
            let name = self.random.pick(&known).clone();
            return Some(Expression::Variable(name, Type::I32));
        }
        self.record_element(structure, false)
            .map(Expression::Element)
    }

    /// A whole element of an array of structures.
    fn record_element(&mut self, structure: &Structure, to_write: bool) -> Option<Place> {
        let arrays = self.arrays.iter().filter(|it| {
            let is_it = matches!(&it.form, Form::Member(name, _) if *name == structure.name);
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
            ..element
        })
    }

    /// An assignment of a whole structure.
    pub(super) fn copy(&mut self) -> Option<Statement> {
        let structure = self.structures.first()?.clone();
        let known: Vec<_> = self.records.iter().map(|it| it.0.clone()).collect();
        let place = if known.is_empty() || self.random.percent(60) {
            self.record_element(&structure, true)?
        } else {
            Place::variable(self.random.pick(&known).clone(), Type::I32)
        };
        let value = self.record_value(&structure)?;
        Some(Statement::Assign(place, "", value))
    }
}
