//! Naming loops and arrays in a schedule, and finding them in a kernel.

use crate::reason::Reason;
use crate::tree::{self, Nested};
use std::fmt;
use strew_affine::visit::Loop;
use strew_affine::{AffineFor, ArrayId, Kernel};

/// How a schedule names a loop: by its iterator, or by a path of iterators from the outside in (`i/j`).
///
/// A path holds when its last name is the loop's and the others name loops around it, in that order; loops between them may
/// be left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoopPath(Vec<String>);

impl LoopPath {
    /// The path through `names`, outermost first.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// The names, outermost first.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl From<&str> for LoopPath {
    /// Takes `i/j` apart.
    fn from(path: &str) -> Self {
        Self::new(path.split('/').map(str::trim))
    }
}

impl fmt::Display for LoopPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

/// An `affine.for` and the loops around it, outermost first.
#[derive(Clone, Debug)]
pub(crate) struct Target<'k> {
    pub(crate) it: &'k AffineFor,
    pub(crate) around: Vec<Loop<'k>>,
}

/// The loop that `path` names.
pub(crate) fn find_loop<'k>(kernel: &'k Kernel, path: &LoopPath) -> Result<Nested<'k>, Reason> {
    let loops = tree::loops(kernel);
    let found = loops.iter().find(|nested| is_at(kernel, nested, path));
    found.cloned().ok_or_else(|| {
        let names = loops.iter().map(|nested| name_of(kernel, nested.it));
        Reason::NoSuchLoop {
            path: path.clone(),
            loops: names.collect(),
        }
    })
}

/// The `affine.for` that `path` names.
pub(crate) fn find_affine_for<'k>(
    kernel: &'k Kernel,
    path: &LoopPath,
) -> Result<Target<'k>, Reason> {
    let Nested { it, around } = find_loop(kernel, path)?;
    match it {
        Loop::Affine(it) => Ok(Target { it, around }),
        Loop::Forall(_) => Err(Reason::IsForall { path: path.clone() }),
        Loop::Scf(it) => Err(Reason::NotAffine {
            path: path.clone(),
            span: kernel.iters[it.iter].span,
        }),
    }
}

fn is_at(kernel: &Kernel, nested: &Nested<'_>, path: &LoopPath) -> bool {
    let Some((last, outer)) = path.0.split_last() else {
        return false;
    };
    let mut around = nested.around.iter();
    name_of(kernel, nested.it) == *last
        && outer
            .iter()
            .all(|name| around.any(|it| name_of(kernel, *it) == *name))
}

pub(crate) fn name_of(kernel: &Kernel, it: Loop<'_>) -> String {
    kernel.iters[it.iter()].name.clone()
}

/// The array called `name`.
pub(crate) fn find_array(kernel: &Kernel, name: &str) -> Result<ArrayId, Reason> {
    let found = kernel.arrays.iter().find(|(_, array)| array.name == name);
    found.map(|(id, _)| id).ok_or_else(|| Reason::NoSuchArray {
        name: name.to_owned(),
        arrays: kernel
            .arrays
            .values()
            .map(|array| array.name.clone())
            .collect(),
    })
}

/// The candidate that `name` most likely was meant to be: at most a third of its letters differ.
pub(crate) fn nearest<'n>(
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| 3 * distance <= candidate.chars().count().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, row by row.
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_one_slip_away() {
        assert_eq!(nearest("seq", ["seg", "x"]), Some("seg"));
        assert_eq!(nearest("totals", ["total", "n"]), Some("total"));
        assert_eq!(nearest("weights", ["seg", "x"]), None);
    }

    #[test]
    fn a_path_prints_as_it_is_written() {
        assert_eq!(LoopPath::from("i / j").to_string(), "i/j");
        assert_eq!(LoopPath::from("i/j"), LoopPath::new(["i", "j"]));
    }
}
