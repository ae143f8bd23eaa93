//! Layouts of records, and Rust types that have one.

use crate::Element;
use std::fmt;
use strew_affine::{Kernel, RecordId, Type};

/// How records lie in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    bytes: usize,
    /// In the order of their offsets.
    fields: Vec<FieldLayout>,
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldLayout {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The distance in bytes from the beginning of the record.
    pub offset: usize,
}

impl FieldLayout {
    /// A field of the Rust type `T`.
    pub fn of<T: Element>(name: &str, offset: usize) -> Self {
        Self {
            name: name.strip_prefix("r#").unwrap_or(name).to_owned(),
            ty: T::TYPE,
            offset,
        }
    }
}

impl RecordLayout {
    /// Records `bytes` bytes apart with these fields, in any order.
    pub fn new(bytes: usize, mut fields: Vec<FieldLayout>) -> Self {
        fields.sort_by_key(|field| field.offset);
        Self { bytes, fields }
    }

    /// How the records of a parameter of `kernel` lie.
    pub fn of(kernel: &Kernel, record: RecordId) -> Self {
        let record = &kernel.records[record];
        let fields = record.fields.iter().map(|field| {
            let array = &kernel.arrays[*field];
            FieldLayout {
                name: kernel.field_name(*field).to_owned(),
                ty: array.element,
                offset: array.field.map_or(0, |it| it.offset) as usize,
            }
        });
        Self::new(record.bytes as usize, fields.collect())
    }

    /// The distance in bytes from one record to the next.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The fields in the order of their offsets.
    pub fn fields(&self) -> &[FieldLayout] {
        &self.fields
    }

    /// The first thing in which `found` differs from this layout, in words.
    pub fn difference(&self, found: &Self) -> Option<String> {
        for field in &self.fields {
            match found.fields.iter().find(|it| it.name == field.name) {
                None => return Some(format!("there is no field `{}`", field.name)),
                Some(it) if it.offset == field.offset && it.ty != field.ty => {
                    return Some(format!(
                        "field `{}` is {}, expected {}",
                        field.name, it.ty, field.ty
                    ));
                }
                Some(it) if it != field => {
                    return Some(format!(
                        "field `{}` is {} at byte {}, expected {} at byte {}",
                        field.name, it.ty, it.offset, field.ty, field.offset
                    ));
                }
                Some(_) => {}
            }
        }
        let is_extra = |it: &&FieldLayout| self.fields.iter().all(|field| field.name != it.name);
        if let Some(extra) = found.fields.iter().find(is_extra) {
            return Some(format!("the kernel knows no field `{}`", extra.name));
        }
        (self.bytes != found.bytes).then(|| {
            format!(
                "a record has {} bytes, expected {}",
                found.bytes, self.bytes
            )
        })
    }
}

impl fmt::Display for RecordLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = |it: &FieldLayout| format!("{}: {} @ {}", it.name, it.ty, it.offset);
        let fields: Vec<_> = self.fields.iter().map(field).collect();
        write!(f, "record({}) {{ {} }}", self.bytes, fields.join(", "))
    }
}

/// The elements of an array that a kernel takes: of one type, or records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// Numbers or truths.
    Plain(Type),
    /// Records.
    Record(RecordLayout),
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(ty) => ty.fmt(f),
            Self::Record(layout) => layout.fmt(f),
        }
    }
}

impl From<Type> for ElementType {
    fn from(ty: Type) -> Self {
        Self::Plain(ty)
    }
}

/// The elements of an array that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout<'l> {
    /// Numbers or truths.
    Plain(Type),
    /// Records.
    Record(&'l RecordLayout),
}

impl Layout<'_> {
    /// The distance in bytes from one element to the next.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Plain(ty) => ty.bytes() as usize,
            Self::Record(layout) => layout.bytes,
        }
    }

    pub(crate) fn is(self, expected: &ElementType) -> bool {
        match (self, expected) {
            (Self::Plain(ty), ElementType::Plain(expected)) => ty == *expected,
            (Self::Record(layout), ElementType::Record(expected)) => layout == expected,
            _ => false,
        }
    }

    /// The type that has this layout.
    pub fn element_type(self) -> ElementType {
        match self {
            Self::Plain(ty) => ElementType::Plain(ty),
            Self::Record(layout) => ElementType::Record(layout.clone()),
        }
    }
}

/// A Rust type that can be an element of an array: an [`Element`], or a struct that [`record!`](crate::record) declares.
///
/// # Safety
/// The layout is that of the type: of a record, every field is there with its own type and offset, `bytes` is the size of the
/// type, and the type is aligned for all of its fields.
pub unsafe trait ArrayElement: Copy + Send + Sync + 'static {
    /// How it lies in memory.
    fn layout() -> Layout<'static>;
}

/// Declares a struct that can be an element of an array of records, with the layout that C gives it. It is `Copy`; its fields are
/// numbers or `bool`.
///
/// ```
/// strew_jit::record! {
///     /// Where something is, and in which cell.
///     #[derive(Debug, PartialEq)]
///     pub struct Particle {
///         pub x: f64,
///         pub cell: i32,
///     }
/// }
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $ty:ty),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $ty),+
        }

        // SAFETY: names, types and offsets are those of the declaration itself, all of its fields are elements, and what
        // `repr(C)` makes is aligned for them.
        #[allow(unsafe_code)]
        unsafe impl $crate::ArrayElement for $name {
            fn layout() -> $crate::Layout<'static> {
                static LAYOUT: ::std::sync::OnceLock<$crate::RecordLayout> =
                    ::std::sync::OnceLock::new();
                let layout = LAYOUT.get_or_init(|| {
                    let fields = [$(
                        $crate::FieldLayout::of::<$ty>(
                            ::std::stringify!($field),
                            ::std::mem::offset_of!($name, $field),
                        )
                    ),+];
                    $crate::RecordLayout::new(::std::mem::size_of::<$name>(), fields.to_vec())
                });
                $crate::Layout::Record(layout)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    record! {
        struct Mixed {
            flag: bool,
            at: f64,
            r#in: i16,
        }
    }

    #[test]
    fn a_declared_struct_has_the_layout_that_c_gives_it() {
        let mixed = Mixed {
            flag: true,
            at: 1.0,
            r#in: 3,
        };
        assert!(mixed.flag && mixed.at > 0.0 && mixed.r#in == 3);
        assert_eq!(
            Mixed::layout().element_type().to_string(),
            "record(24) { flag: bool @ 0, at: f64 @ 8, in: i16 @ 16 }"
        );
    }

    #[test]
    fn differences_are_told() {
        let field = |name: &str, ty, offset| FieldLayout {
            name: name.to_owned(),
            ty,
            offset,
        };
        let layout = |bytes, fields: &[FieldLayout]| RecordLayout::new(bytes, fields.to_vec());
        let expected = layout(16, &[field("x", Type::F64, 0), field("k", Type::I32, 8)]);
        let cases = [
            (
                layout(16, &[field("x", Type::F64, 0)]),
                Some("there is no field `k`"),
            ),
            (
                layout(16, &[field("k", Type::I32, 8), field("x", Type::F32, 0)]),
                Some("field `x` is f32, expected f64"),
            ),
            (
                layout(24, &[field("x", Type::F64, 8), field("k", Type::I32, 0)]),
                Some("field `x` is f64 at byte 8, expected f64 at byte 0"),
            ),
            (
                layout(24, &[field("x", Type::F64, 0), field("k", Type::I32, 8)]),
                Some("a record has 24 bytes, expected 16"),
            ),
            (
                layout(
                    16,
                    &[expected.fields.clone(), vec![field("y", Type::U8, 12)]].concat(),
                ),
                Some("the kernel knows no field `y`"),
            ),
            (expected.clone(), None),
        ];
        for (found, words) in cases {
            assert_eq!(expected.difference(&found).as_deref(), words);
        }
    }
}
