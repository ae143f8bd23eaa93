//! Random arrays and structures for a function to work on.

use super::expression::Expression;
use super::function::{Array, Extent, Form, Member, Role, Structure};
use crate::random::Random;
use strew::ir::Type;

const EXTENTS: [Extent; 5] = [
    Extent::N,
    Extent::M,
    Extent::Both,
    Extent::Constant(5),
    Extent::Constant(8),
];

impl Random {
    fn extent(&mut self) -> Extent {
        *self.pick(&EXTENTS)
    }

    fn role(&mut self) -> Role {
        match self.percent(15) {
            true => Role::Keys(self.extent()),
            false => Role::Values,
        }
    }

    /// How the type of elements with this role is written, and the type.
    fn type_for(&mut self, role: Role) -> (&'static str, Type) {
        let ty = match role {
            Role::Values => self.ty(),
            Role::Keys(_) | Role::Rows => self.integer_type(),
        };
        (self.spelling(ty), ty)
    }

    /// A type of structures with one to four members, or five where `inner` is one of them.
    pub(super) fn structure(&mut self, name: &str, inner: Option<&Structure>) -> Structure {
        let mut structure = Structure {
            name: format!("struct {name}"),
            declarations: Vec::new(),
            members: Vec::new(),
        };
        for number in 0..=self.below(4) {
            let role = self.role();
            let (spelling, ty) = self.type_for(role);
            let length = self.percent(20).then_some(3);
            let name = format!("m{number}");
            let extent = length.map_or(String::new(), |it| format!("[{it}]"));
            let declaration = format!("{spelling} {name}{extent}");
            structure.declarations.push(declaration);
            structure.members.push(Member {
                spelling,
                ty,
                name,
                role,
                length,
            });
        }
        if let Some(inner) = inner {
            structure.declarations.push(format!("{} in", inner.name));
            let members = inner.members.iter().map(|member| Member {
                name: format!("in.{}", member.name),
                ..member.clone()
            });
            structure.members.extend(members);
        }
        structure
    }

    /// A constant array of the file, and its elements.
    pub(super) fn table(&mut self, name: String) -> (Array, Vec<Expression>) {
        let length = *self.pick(&[5, 8]);
        let role = match self.percent(40) {
            true => Role::Keys(Extent::Constant(*self.pick(&[5, 8]))),
            false => Role::Values,
        };
        let (spelling, ty) = self.type_for(role);
        let table = Array {
            spelling,
            ty,
            name,
            form: Form::Shaped,
            extents: vec![Extent::Constant(length)],
            role,
            is_written: false,
        };
        let limit = match role {
            Role::Keys(Extent::Constant(limit)) => i32::from(limit),
            _ => 100,
        };
        let elements = (0..length).map(|_| {
            let element = self.below(limit);
            Expression::Literal(element.to_string(), Type::I32)
        });
        let elements = elements.collect();
        (table, elements)
    }

    /// Arrays for a function to be given, the first of them to be written.
    pub(super) fn arrays(&mut self, structures: &[Structure]) -> Vec<Array> {
        let mut arrays: Vec<Array> = Vec::new();
        for number in 0..3 + self.below(4) {
            if number > 0 && !structures.is_empty() && self.percent(30) {
                let structure = self.pick(structures).clone();
                arrays.extend(self.members(number, &structure));
                continue;
            }
            let array = self.array(number, &arrays);
            arrays.push(array);
        }
        arrays
    }

    fn array(&mut self, number: i32, others: &[Array]) -> Array {
        let role = match number {
            0 => Role::Values,
            1 => Role::Keys(self.extent()),
            _ if self.percent(15) => Role::Rows,
            _ => self.role(),
        };
        let (spelling, ty) = self.type_for(role);
        let is_pointer = role != Role::Rows && self.percent(15);
        // Arrays of one shape are updated together.
        let extents = match others.first() {
            _ if role == Role::Rows => vec![Extent::N],
            Some(other) if self.percent(40) && !is_pointer => other.extents.clone(),
            _ if self.percent(25) && !is_pointer => vec![self.extent(), self.extent()],
            _ => vec![self.extent()],
        };
        Array {
            spelling,
            ty,
            name: format!("{}{number}", if role == Role::Values { "x" } else { "k" }),
            form: if is_pointer {
                Form::Pointer
            } else {
                Form::Shaped
            },
            extents,
            role,
            is_written: role == Role::Values && (number == 0 || self.percent(50)),
        }
    }

    /// An array of structures, as one array for each of their members.
    fn members(&mut self, number: i32, structure: &Structure) -> Vec<Array> {
        let extents = match self.percent(15) {
            true => vec![self.extent(), self.extent()],
            false => vec![self.extent()],
        };
        let is_written = self.percent(60);
        let members = structure.members.iter();
        let members = members.map(|member| Array {
            spelling: member.spelling,
            ty: member.ty,
            name: format!("r{number}"),
            form: Form::Member(structure.name.clone(), member.name.clone(), member.length),
            extents: extents.clone(),
            role: member.role,
            is_written,
        });
        members.collect()
    }
}
