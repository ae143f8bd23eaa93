//! What instructions compute: arrays of a number of extents, and tuples of them.

use std::fmt;

/// The type of the elements of an array, as HLO writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementType {
    name: &'static str,
    bits: u32,
}

/// The names of the element types with the number of bits of each; a `token` and an `opaque` have
/// none.
const ELEMENT_TYPES: [(&str, u32); 33] = [
    ("pred", 8),
    ("s1", 1),
    ("s2", 2),
    ("s4", 4),
    ("s8", 8),
    ("s16", 16),
    ("s32", 32),
    ("s64", 64),
    ("u1", 1),
    ("u2", 2),
    ("u4", 4),
    ("u8", 8),
    ("u16", 16),
    ("u32", 32),
    ("u64", 64),
    ("f4e2m1fn", 4),
    ("f8e3m4", 8),
    ("f8e4m3", 8),
    ("f8e4m3b11fnuz", 8),
    ("f8e4m3fn", 8),
    ("f8e4m3fnuz", 8),
    ("f8e5m2", 8),
    ("f8e5m2fnuz", 8),
    ("f8e8m0fnu", 8),
    ("bf16", 16),
    ("f16", 16),
    ("f32", 32),
    ("f64", 64),
    ("c64", 64),
    ("c128", 128),
    ("token", 0),
    ("opaque", 0),
    ("tf32", 32),
];

impl ElementType {
    /// The element type called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut known = ELEMENT_TYPES.iter();
        let (name, bits) = known.find(|(known, _)| *known == name)?;
        Some(Self { name, bits: *bits })
    }

    /// As the text writes it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// How many bits an element has; 0 where elements cannot be looked at.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Whether the elements are integers, as positions are.
    pub fn is_integer(self) -> bool {
        self.name.starts_with(['s', 'u']) && self.bits > 0
    }
}

/// The shape of one array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    /// What its elements are.
    pub element: ElementType,
    /// The number of positions along each dimension, none negative. Their product fits in an `i64`.
    pub extents: Vec<i64>,
    /// The dimensions from the one whose neighbours are neighbours in memory to the slowest.
    /// Without it the last dimension is the fastest.
    pub layout: Option<Vec<usize>>,
    /// Whether the layout says more, which is not kept: elements lie in tiles, or are padded.
    pub is_tiled: bool,
}

impl ArrayShape {
    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    /// The number of elements.
    pub fn element_count(&self) -> i64 {
        self.extents.iter().product()
    }

    /// The dimensions from the slowest to the fastest in memory.
    pub fn major_to_minor(&self) -> Vec<usize> {
        match &self.layout {
            Some(layout) => layout.iter().rev().copied().collect(),
            None => (0..self.rank()).collect(),
        }
    }
}

impl fmt::Display for ArrayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: Vec<String>| items.join(",");
        let extents = list(self.extents.iter().map(i64::to_string).collect());
        write!(f, "{}[{extents}]", self.element.name)?;
        match &self.layout {
            Some(layout) => {
                let layout = list(layout.iter().map(usize::to_string).collect());
                write!(f, "{{{layout}}}")
            }
            None => Ok(()),
        }
    }
}

/// The shape of what an instruction computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One array.
    Array(ArrayShape),
    /// Several values.
    Tuple(Vec<Shape>),
}

impl Shape {
    /// The arrays in it, in order; those of tuples inside of tuples as well.
    pub fn leaves(&self) -> Vec<&ArrayShape> {
        match self {
            Self::Array(array) => vec![array],
            Self::Tuple(parts) => parts.iter().flat_map(Self::leaves).collect(),
        }
    }

    /// Whether both are made of arrays with the same elements and extents, in whatever layout.
    pub fn agrees_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Array(one), Self::Array(other)) => {
                one.element == other.element && one.extents == other.extents
            }
            (Self::Tuple(one), Self::Tuple(other)) => {
                one.len() == other.len()
                    && one
                        .iter()
                        .zip(other)
                        .all(|(one, other)| one.agrees_with(other))
            }
            (Self::Array(_), Self::Tuple(_)) | (Self::Tuple(_), Self::Array(_)) => false,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(array) => array.fmt(f),
            Self::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(Self::to_string).collect();
                write!(f, "({})", parts.join(", "))
            }
        }
    }
}
