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
    /// The type of its elements.
    pub ty: Type,
    /// How many elements it has in each dimension, row by row; none for a field that is a single
    /// one.
    pub lengths: Vec<usize>,
    /// The distance in bytes from the beginning of the record.
    pub offset: usize,
}

impl FieldLayout {
    /// How many elements it has; `usize::MAX` for more than that.
    pub fn elements(&self) -> usize {
        let lengths = self.lengths.iter();
        lengths.fold(1, |all, length| all.saturating_mul(*length))
    }

    /// The type and the lengths, as kernel text writes them.
    pub fn described(&self) -> String {
        if self.lengths.is_empty() {
            return self.ty.to_string();
        }
        let lengths: Vec<_> = self.lengths.iter().map(usize::to_string).collect();
        format!("{}[{}]", self.ty, lengths.join(", "))
    }
}

/// A Rust type that a field of a struct can have which [`record!`](crate::record) declares: an
/// [`Element`], an array of such types, or another such struct.
///
/// # Safety
/// The fields are those of the type: each is there with its own type and offset.
pub unsafe trait RecordField: Copy {
    /// The fields that one called `name` at `offset` makes: itself, or those of the struct that it
    /// is, with both names.
    fn layouts(name: &str, offset: usize) -> Vec<FieldLayout>;
}

// SAFETY: it is the only field, of its own type, where it is said to be.
unsafe impl<T: Element> RecordField for T {
    fn layouts(name: &str, offset: usize) -> Vec<FieldLayout> {
        vec![FieldLayout {
            name: name.strip_prefix("r#").unwrap_or(name).to_owned(),
            ty: T::TYPE,
            lengths: Vec::new(),
            offset,
        }]
    }
}

// SAFETY: elements of arrays follow each other, each of the type `T`.
unsafe impl<T: RecordField, const LENGTH: usize> RecordField for [T; LENGTH] {
    fn layouts(name: &str, offset: usize) -> Vec<FieldLayout> {
        let mut first = T::layouts(name, offset);
        if let [only] = first.as_mut_slice()
            && !only.name.contains('.')
        {
            only.lengths.insert(0, LENGTH);
            return first;
        }
        // No kernel takes structs in an array in a struct; this says what is there.
        let elements = 0..LENGTH;
        let at = |number| {
            T::layouts(
                &format!("{name}[{number}]"),
                offset + number * size_of::<T>(),
            )
        };
        elements.flat_map(at).collect()
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
            let lengths = array.split_extents().1.iter();
            let lengths = lengths.filter_map(|it| usize::try_from(it.as_constant()?).ok());
            FieldLayout {
                name: kernel.field_name(*field).to_owned(),
                ty: array.element,
                lengths: lengths.collect(),
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

    /// The fields of such a record that is itself a field, called `name`, at `offset` of another.
    pub fn inside(&self, name: &str, offset: usize) -> Vec<FieldLayout> {
        let name = name.strip_prefix("r#").unwrap_or(name);
        let fields = self.fields.iter().map(|field| FieldLayout {
            name: format!("{name}.{}", field.name),
            offset: offset.saturating_add(field.offset),
            ..field.clone()
        });
        fields.collect()
    }

    /// The first thing in which `found` differs from this layout, in words.
    pub fn difference(&self, found: &Self) -> Option<String> {
        for field in &self.fields {
            match found.fields.iter().find(|it| it.name == field.name) {
                None => return Some(format!("there is no field `{}`", field.name)),
                Some(it) if it.offset == field.offset && it != field => {
                    return Some(format!(
                        "field `{}` is {}, expected {}",
                        field.name,
                        it.described(),
                        field.described()
                    ));
                }
                Some(it) if it != field => {
                    return Some(format!(
                        "field `{}` is {} at byte {}, expected {} at byte {}",
                        field.name,
                        it.described(),
                        it.offset,
                        field.described(),
                        field.offset
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
        let field = |it: &FieldLayout| format!("{}: {} @ {}", it.name, it.described(), it.offset);
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
    #[inline]
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

/// A Rust type that can be an element of an array: an [`Element`], or a struct that
/// [`record!`](crate::record) declares.
///
/// # Safety
/// The layout is that of the type: of a record, every field is there with its own type and offset,
/// `bytes` is the size of the type, and the type is aligned for all of its fields.
pub unsafe trait ArrayElement: Copy + Send + Sync + 'static {
    /// How it lies in memory.
    fn layout() -> Layout<'static>;
}

/// Declares a struct that can be an element of an array of records, with the layout that C gives
/// it. It is `Copy`; its fields are numbers, `bool`, arrays of these, or other such structs.
///
/// ```
/// strew_jit::record! {
///     /// Where something is, and in which cell.
///     #[derive(Debug, PartialEq)]
///     pub struct Particle {
///         pub x: [f64; 3],
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

        // SAFETY: names, types and offsets are those of the declaration itself, all of its fields
        // are elements, and what `repr(C)` makes is aligned for them.
        #[allow(unsafe_code)]
        unsafe impl $crate::ArrayElement for $name {
            fn layout() -> $crate::Layout<'static> {
                static LAYOUT: ::std::sync::OnceLock<$crate::RecordLayout> =
                    ::std::sync::OnceLock::new();
                let layout = LAYOUT.get_or_init(|| {
                    let fields = [$(
                        <$ty as $crate::RecordField>::layouts(
                            ::std::stringify!($field),
                            ::std::mem::offset_of!($name, $field),
                        )
                    ),+];
                    $crate::RecordLayout::new(::std::mem::size_of::<$name>(), fields.concat())
                });
                $crate::Layout::Record(layout)
            }
        }

        // SAFETY: the fields are those of the struct, each as far from its beginning as in any
        // other.
        #[allow(unsafe_code)]
        unsafe impl $crate::RecordField for $name {
            fn layouts(name: &str, offset: usize) -> ::std::vec::Vec<$crate::FieldLayout> {
                match <$name as $crate::ArrayElement>::layout() {
                    $crate::Layout::Record(layout) => layout.inside(name, offset),
                    $crate::Layout::Plain(_) => ::std::vec::Vec::new(),
                }
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

    record! {
        struct Nested {
            id: u8,
            inner: Mixed,
            m: [[f32; 3]; 2],
        }
    }

    record! {
        struct Several {
            inner: [Mixed; 2],
        }
    }

    #[test]
    fn fields_are_arrays_and_other_structs() {
        let written = |layout: Layout<'_>| layout.element_type().to_string();
        assert_eq!(
            written(Nested::layout()),
            "record(56) { id: u8 @ 0, inner.flag: bool @ 8, inner.at: f64 @ 16, inner.in: i16 @ 24, m: f32[2, 3] @ 32 }"
        );
        let several = written(Several::layout());
        assert!(several.contains("inner[1].at: f64 @ 32"), "{several}");
        let nested = Nested {
            id: 1,
            inner: Mixed {
                flag: true,
                at: 0.0,
                r#in: 1,
            },
            m: [[0.0; 3]; 2],
        };
        let several = Several {
            inner: [nested.inner; 2],
        };
        assert!(several.inner[1].flag && nested.id == 1 && nested.m[1][2] == 0.0);
    }

    #[test]
    fn differences_are_told() {
        let field = |name: &str, ty, offset| FieldLayout {
            name: name.to_owned(),
            ty,
            lengths: Vec::new(),
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
            (
                layout(
                    16,
                    &[
                        expected.fields[1].clone(),
                        FieldLayout {
                            lengths: vec![2, 1],
                            ..expected.fields[0].clone()
                        },
                    ],
                ),
                Some("field `x` is f64[2, 1], expected f64"),
            ),
            (expected.clone(), None),
        ];
        for (found, words) in cases {
            assert_eq!(expected.difference(&found).as_deref(), words);
        }
    }
}
