//! Direction and distance vectors.

use std::fmt;

/// How an iterator of the sink compares to that of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// `<`: the sink is in a later iteration.
    Less,
    /// `=`: both are in the same one.
    Equal,
    /// `>`: the sink is in an earlier iteration.
    Greater,
    /// `*`: any of these.
    Any,
}

impl Direction {
    pub(super) const SIGNS: [Self; 3] = [Self::Less, Self::Equal, Self::Greater];

    pub(super) fn of(difference: i128) -> Self {
        match difference.signum() {
            1 => Self::Less,
            0 => Self::Equal,
            _ => Self::Greater,
        }
    }

    /// The direction when source and sink change places.
    pub fn opposite(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::Greater => Self::Less,
            same @ (Self::Equal | Self::Any) => same,
        }
    }

    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::Equal => "=",
            Self::Greater => ">",
            Self::Any => "*",
        }
    }

    /// Whether it is possible that both are in the same iteration.
    pub fn may_be_equal(self) -> bool {
        matches!(self, Self::Equal | Self::Any)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

/// One entry of a vector: what is known of `sink - source` for one common loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Component {
    /// Its sign, turned as directions are written.
    pub direction: Direction,
    /// Its value, where it is the same for all pairs.
    pub distance: Option<i64>,
}

impl Component {
    pub(super) fn flipped(self) -> Self {
        Self {
            direction: self.direction.opposite(),
            distance: self.distance.and_then(i64::checked_neg),
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.distance {
            Some(distance) => write!(f, "{distance}"),
            None => self.direction.fmt(f),
        }
    }
}

/// The first sign that is not `=`.
pub(super) fn leading(vector: &[Component]) -> Direction {
    let signs = vector.iter().map(|it| it.direction);
    let mut signs = signs.filter(|it| *it != Direction::Equal);
    signs.next().unwrap_or(Direction::Equal)
}

/// The same vectors with `*` where all three signs stand before the same rest.
pub(super) fn merged(mut vectors: Vec<Vec<Component>>) -> Vec<Vec<Component>> {
    vectors.sort();
    vectors.dedup();
    let length = vectors.first().map_or(0, Vec::len);
    for position in (0..length).rev() {
        let mut kept: Vec<Vec<Component>> = Vec::new();
        let mut rest = vectors;
        while let Some(vector) = rest.pop() {
            let like = |other: &Vec<Component>| {
                let mut pairs = vector.iter().zip(other).enumerate();
                pairs.all(|(at, (left, right))| at == position || left == right)
            };
            let (group, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(like);
            rest = others;
            let mut group = group;
            group.push(vector);
            if group.len() == Direction::SIGNS.len() {
                group.truncate(1);
                if let Some(slot) = group.iter_mut().flatten().nth(position) {
                    *slot = Component {
                        direction: Direction::Any,
                        distance: None,
                    };
                }
            }
            kept.append(&mut group);
        }
        vectors = kept;
    }
    vectors.sort();
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(texts: &[&str]) -> Vec<Vec<Component>> {
        let component = |sign| Component {
            direction: match sign {
                '<' => Direction::Less,
                '=' => Direction::Equal,
                '>' => Direction::Greater,
                _ => Direction::Any,
            },
            distance: None,
        };
        texts
            .iter()
            .map(|it| it.chars().map(component).collect())
            .collect()
    }

    #[test]
    fn three_signs_are_any() {
        assert_eq!(
            merged(vectors(&["=<", "<<", "<=", "<>"])),
            vectors(&["<*", "=<"])
        );
        let all: Vec<String> = "<=>"
            .chars()
            .flat_map(|a| "<=>".chars().map(move |b| format!("{a}{b}")))
            .collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        assert_eq!(merged(vectors(&all)), vectors(&["**"]));
        assert_eq!(merged(vectors(&["<<", "<="])), vectors(&["<<", "<="]));
        assert_eq!(merged(vec![vec![]]), [vec![]]);
    }
}
