//! Structures: members that are numbers, arrays of constant length or structures, and where they
//! are.
//!
//! Below all names and subscripts a structure is a list of *fields*, one for each member that holds
//! numbers, called by the names on the way to it: `pos.x`. A field has the lengths of all arrays on
//! that way. The *numbers* of a structure are the elements of its fields, in the order of the
//! members.

use std::rc::Rc;
use strew_affine::Type;
use strew_affine::spelling::nearest;

/// Nobody reads a longer list.
const MEMBERS_SHOWN: usize = 12;

/// What a `struct` with members is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The tag, or the name that a `typedef` gave first.
    pub name: String,
    /// In the order of the source.
    pub members: Vec<StructureMember>,
    /// The names of the members that an error was reported about.
    pub(crate) lost: Vec<String>,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructureMember {
    /// Its name.
    pub name: String,
    /// What it is, or its elements are.
    pub element: MemberElement,
    /// The number of elements in each dimension; none for a member that is no array.
    pub lengths: Vec<u32>,
    /// In bytes, from the beginning of the structure.
    pub offset: u32,
}

/// What a member is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberElement {
    /// A number or a `bool`.
    Scalar(Type),
    /// A structure.
    Structure(Rc<Structure>),
}

/// A member that holds numbers, however deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// The names on the way to it, with dots between them.
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// The lengths of the arrays on the way to it.
    pub(crate) lengths: Vec<u32>,
    /// In bytes, from the beginning of the structure to its first element.
    pub(crate) offset: u32,
    /// Whether its elements follow each other; not those of a structure in an array.
    pub(crate) is_dense: bool,
}

/// A member and the fields that it consists of.
#[derive(Clone, Debug)]
pub(crate) struct Part<'s> {
    pub(crate) member: &'s StructureMember,
    /// The number of its first field.
    pub(crate) first: usize,
    /// How many fields it has.
    pub(crate) count: usize,
}

impl MemberElement {
    fn bytes(&self) -> u32 {
        match self {
            Self::Scalar(ty) => ty.bytes(),
            Self::Structure(it) => it.bytes(),
        }
    }

    fn alignment(&self) -> u32 {
        match self {
            Self::Scalar(ty) => ty.bytes(),
            Self::Structure(it) => it.alignment(),
        }
    }

    pub(crate) fn structure(&self) -> Option<&Rc<Structure>> {
        match self {
            Self::Scalar(_) => None,
            Self::Structure(it) => Some(it),
        }
    }

    fn field_count(&self) -> usize {
        match self {
            Self::Scalar(_) => 1,
            Self::Structure(it) => it.field_count(),
        }
    }

    /// How many numbers one has; more than there can be stands for too many to count.
    pub(crate) fn number_count(&self) -> u64 {
        match self {
            Self::Scalar(_) => 1,
            Self::Structure(it) => it.number_count(),
        }
    }
}

impl StructureMember {
    fn end(&self) -> u32 {
        let lengths = self.lengths.iter();
        let bytes = lengths.fold(self.element.bytes(), |all, it| all.saturating_mul(*it));
        self.offset.saturating_add(bytes)
    }

    /// How many numbers it has.
    pub(crate) fn number_count(&self) -> u64 {
        let lengths = self.lengths.iter();
        lengths.fold(self.element.number_count(), |all, it| {
            all.saturating_mul(u64::from(*it))
        })
    }
}

impl Structure {
    /// Lays the members out as C does on this platform: each at the next multiple of its alignment.
    pub(crate) fn new(name: String, members: Vec<(String, MemberElement, Vec<u32>)>) -> Self {
        let mut end = 0_u32;
        let members = members.into_iter().map(|(name, element, lengths)| {
            let alignment = element.alignment().max(1);
            let offset = end.checked_next_multiple_of(alignment).unwrap_or(u32::MAX);
            let member = StructureMember {
                name,
                element,
                lengths,
                offset,
            };
            end = member.end();
            member
        });
        let members = members.collect();
        let lost = Vec::new();
        Self {
            name,
            members,
            lost,
        }
    }

    /// `sizeof`: a multiple of the greatest alignment. One that does not fit is `u32::MAX`.
    pub(crate) fn bytes(&self) -> u32 {
        let end = self.members.last().map_or(0, StructureMember::end);
        let alignment = self.alignment().max(1);
        end.checked_next_multiple_of(alignment).unwrap_or(u32::MAX)
    }

    fn alignment(&self) -> u32 {
        let alignments = self.members.iter().map(|it| it.element.alignment());
        alignments.max().unwrap_or(1)
    }

    pub(crate) fn member(&self, name: &str) -> Option<Part<'_>> {
        let mut first = 0;
        for member in &self.members {
            let count = member.element.field_count();
            if member.name == name {
                return Some(Part {
                    member,
                    first,
                    count,
                });
            }
            first += count;
        }
        None
    }

    /// What may be meant by `name`, which is no member: the one that is spelled most like it, or
    /// any.
    pub(crate) fn instead_of(&self, name: &str) -> Vec<String> {
        let members = || self.members.iter().map(|it| it.name.as_str());
        match nearest(name, members()) {
            Some(nearest) => vec![nearest.to_owned()],
            None => members().take(MEMBERS_SHOWN).map(str::to_owned).collect(),
        }
    }

    /// The members that hold numbers, in order.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let mut fields = Vec::new();
        for member in &self.members {
            match &member.element {
                MemberElement::Scalar(ty) => fields.push(Field {
                    name: member.name.clone(),
                    ty: *ty,
                    lengths: member.lengths.clone(),
                    offset: member.offset,
                    is_dense: true,
                }),
                MemberElement::Structure(it) => {
                    let inner = it.fields().into_iter().map(|field| Field {
                        name: format!("{}.{}", member.name, field.name),
                        offset: member.offset.saturating_add(field.offset),
                        lengths: [&member.lengths[..], &field.lengths].concat(),
                        is_dense: field.is_dense && member.lengths.is_empty(),
                        ..field
                    });
                    fields.extend(inner);
                }
            }
        }
        fields
    }

    /// How many structures contain each other, this one included.
    pub(crate) fn depth(&self) -> usize {
        let inner = self.members.iter().filter_map(|it| it.element.structure());
        inner.map(|it| it.depth()).max().unwrap_or(0) + 1
    }

    /// How many fields there are.
    pub(crate) fn field_count(&self) -> usize {
        let members = self.members.iter();
        members.map(|it| it.element.field_count()).sum()
    }

    /// How many numbers there are.
    pub(crate) fn number_count(&self) -> u64 {
        let members = self.members.iter();
        members.fold(0, |all, it| it.number_count().saturating_add(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(name: &str, members: &[(&str, MemberElement, &[u32])]) -> Rc<Structure> {
        let members = members.iter().map(|(name, element, lengths)| {
            ((*name).to_owned(), element.clone(), lengths.to_vec())
        });
        Rc::new(Structure::new(name.to_owned(), members.collect()))
    }

    const fn scalar(ty: Type) -> MemberElement {
        MemberElement::Scalar(ty)
    }

    #[test]
    fn members_are_aligned_and_the_end_is_padded() {
        let structure = structure(
            "s",
            &[
                ("a", scalar(Type::I8), &[]),
                ("b", scalar(Type::F64), &[]),
                ("c", scalar(Type::I16), &[]),
                ("d", scalar(Type::I32), &[]),
                ("e", scalar(Type::U8), &[]),
            ],
        );
        let offsets: Vec<_> = structure.members.iter().map(|it| it.offset).collect();
        assert_eq!(offsets, [0, 8, 16, 20, 24]);
        assert_eq!(structure.bytes(), 32);
        assert_eq!(structure.member("c").map(|it| it.first), Some(2));
    }

    /// The sizes and offsets are those of `cc` on x86-64.
    #[test]
    fn members_are_arrays_and_structures() {
        let inner = structure(
            "v",
            &[("x", scalar(Type::F32), &[3]), ("k", scalar(Type::I8), &[])],
        );
        assert_eq!(inner.bytes(), 16);
        let outer = structure(
            "p",
            &[
                ("id", scalar(Type::I8), &[]),
                ("v", MemberElement::Structure(Rc::clone(&inner)), &[]),
                ("w", MemberElement::Structure(inner), &[2]),
                ("m", scalar(Type::F64), &[2, 2]),
            ],
        );
        let fields = outer.fields();
        let fields = fields.iter().map(|it| {
            let lengths: String = it.lengths.iter().map(|it| format!("[{it}]")).collect();
            let dense = if it.is_dense { "" } else { " apart" };
            format!("{}{lengths} @ {}{dense}", it.name, it.offset)
        });
        assert_eq!(
            fields.collect::<Vec<_>>(),
            [
                "id @ 0",
                "v.x[3] @ 4",
                "v.k @ 16",
                "w.x[2][3] @ 20 apart",
                "w.k[2] @ 32 apart",
                "m[2][2] @ 56"
            ]
        );
        assert_eq!(outer.bytes(), 88);
        assert_eq!((outer.field_count(), outer.number_count()), (6, 17));
        assert_eq!(
            outer.member("w").map(|it| (it.first, it.count)),
            Some((3, 2))
        );
    }

    #[test]
    fn sizes_that_do_not_fit_are_no_panic() {
        let huge = structure("h", &[("a", scalar(Type::F64), &[u32::MAX, u32::MAX])]);
        let outer = structure(
            "o",
            &[
                ("h", MemberElement::Structure(huge), &[7]),
                ("x", scalar(Type::F64), &[]),
            ],
        );
        assert_eq!(outer.bytes(), u32::MAX);
        assert_eq!(outer.number_count(), u64::MAX);
    }
}
