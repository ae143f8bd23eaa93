use super::Interval;

/// What the values of a variable mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VariableKind {
    /// A dimension of what is mapped from. A map is applied to one value of each.
    Dimension,
    /// Stands for all of its values at once: one point is mapped to as many elements.
    Range,
    /// Has one value, which only the running program knows.
    Runtime,
}

impl VariableKind {
    /// All kinds, in the order in which a map lists its variables.
    pub const ALL: [Self; 3] = [Self::Dimension, Self::Range, Self::Runtime];

    /// What the names of unnamed variables of this kind begin with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Dimension => "d",
            Self::Range => "s",
            Self::Runtime => "rt",
        }
    }
}

/// A variable of an [`IndexingMap`](super::IndexingMap), by its kind and its position among those
/// of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable {
    /// Its kind.
    pub kind: VariableKind,
    /// Its position, from 0.
    pub position: usize,
}

impl Variable {
    /// The variable of that kind at that position.
    pub const fn new(kind: VariableKind, position: usize) -> Self {
        Self { kind, position }
    }

    /// The name that the variable has when it is given none: `d0`, `s0`, `rt0`.
    pub fn default_name(self) -> String {
        format!("{}{}", self.kind.prefix(), self.position)
    }
}

/// What a map says of one of its variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Declaration {
    /// The values that it can have.
    pub bounds: Interval,
    /// Its name, unless it is the one that its kind and position give it.
    pub name: Option<String>,
}

impl Declaration {
    /// A variable without a name of its own.
    pub const fn new(bounds: Interval) -> Self {
        Self { bounds, name: None }
    }

    /// A variable that is called `name`.
    pub fn named(name: impl Into<String>, bounds: Interval) -> Self {
        Self {
            bounds,
            name: Some(name.into()),
        }
    }
}

impl From<Interval> for Declaration {
    fn from(bounds: Interval) -> Self {
        Self::new(bounds)
    }
}
