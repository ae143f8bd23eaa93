//! Structures: members of scalar type and where they are.

use strew_affine::Type;

/// What a `struct` with members is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The tag, or the name that a `typedef` gave first.
    pub name: String,
    /// In the order of the source.
    pub members: Vec<StructureMember>,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructureMember {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// In bytes, from the beginning of the structure.
    pub offset: u32,
}

impl Structure {
    /// Lays the members out as C does on this platform: each at the next multiple of its size.
    pub(crate) fn new(name: String, members: Vec<(String, Type)>) -> Self {
        let mut end = 0_u32;
        let members = members.into_iter().map(|(name, ty)| {
            let offset = end.next_multiple_of(ty.bytes());
            end = offset.saturating_add(ty.bytes());
            StructureMember { name, ty, offset }
        });
        let members = members.collect();
        Self { name, members }
    }

    /// `sizeof`: a multiple of the greatest alignment.
    pub(crate) fn bytes(&self) -> u32 {
        let end = self.members.last();
        let end = end.map_or(0, |it| it.offset.saturating_add(it.ty.bytes()));
        let alignment = self.members.iter().map(|it| it.ty.bytes()).max();
        end.next_multiple_of(alignment.unwrap_or(1))
    }

    pub(crate) fn member(&self, name: &str) -> Option<(usize, &StructureMember)> {
        let mut members = self.members.iter().enumerate();
        members.find(|(_, it)| it.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_aligned_and_the_end_is_padded() {
        let members = [
            ("a", Type::I8),
            ("b", Type::F64),
            ("c", Type::I16),
            ("d", Type::I32),
            ("e", Type::U8),
        ];
        let members = members.map(|(name, ty)| (name.to_owned(), ty));
        let structure = Structure::new("s".to_owned(), members.to_vec());
        let offsets: Vec<_> = structure.members.iter().map(|it| it.offset).collect();
        assert_eq!(offsets, [0, 8, 16, 20, 24]);
        assert_eq!(structure.bytes(), 32);
        assert_eq!(structure.member("c").map(|(index, _)| index), Some(2));
    }
}
