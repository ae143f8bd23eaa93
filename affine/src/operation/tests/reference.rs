//! Arrays whose elements know which elements of the parameters they were computed from.

use super::indices;
use std::collections::BTreeSet;

/// An element.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) value: i64,
    /// The parameter and the index in it.
    pub(super) reads: BTreeSet<(usize, Vec<i64>)>,
}

impl Cell {
    pub(super) fn joined(cells: impl IntoIterator<Item = Self>) -> Self {
        let mut joined = Self::default();
        for cell in cells {
            joined.value += cell.value;
            joined.reads.extend(cell.reads);
        }
        joined
    }

    /// The same value, computed from what `other` was computed from as well.
    pub(super) fn and_reads_of(mut self, other: &Self) -> Self {
        self.reads.extend(other.reads.iter().cloned());
        self
    }
}

#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) extents: Vec<i64>,
    /// The fastest dimension first.
    pub(super) layout: Option<Vec<usize>>,
    /// In row-major order.
    pub(super) cells: Vec<Cell>,
}

impl Tensor {
    pub(super) fn generate(extents: &[i64], mut cell: impl FnMut(&[i64]) -> Cell) -> Self {
        Self {
            extents: extents.to_vec(),
            layout: None,
            cells: indices(extents).iter().map(|it| cell(it)).collect(),
        }
    }

    pub(super) fn at(&self, index: &[i64]) -> Option<&Cell> {
        let mut position = 0;
        for (value, extent) in index.iter().zip(&self.extents) {
            if !(0..*extent).contains(value) {
                return None;
            }
            position = position * extent + value;
        }
        self.cells.get(usize::try_from(position).ok()?)
    }

    /// The element at an index that is in range.
    #[track_caller]
    pub(super) fn get(&self, index: &[i64]) -> Cell {
        self.at(index).expect("an index in range").clone()
    }

    pub(super) fn all(&self) -> Cell {
        Cell::joined(self.cells.iter().cloned())
    }

    /// Its indices in the order in which they lie in memory.
    pub(super) fn in_memory(&self) -> Vec<Vec<i64>> {
        let order: Vec<usize> = match &self.layout {
            Some(layout) => layout.iter().rev().copied().collect(),
            None => (0..self.extents.len()).collect(),
        };
        let mut all = indices(&self.extents);
        all.sort_by_key(|index| order.iter().map(|it| index[*it]).collect::<Vec<_>>());
        all
    }

    pub(super) fn shape(&self) -> String {
        shape(&self.extents, self.layout.as_deref())
    }
}

pub(super) fn shape(extents: &[i64], layout: Option<&[usize]>) -> String {
    let layout = layout.map_or_else(String::new, |it| format!("{{{}}}", list(it)));
    format!("s32[{}]{layout}", list(extents))
}

pub(super) fn list<T: ToString>(items: &[T]) -> String {
    let items: Vec<_> = items.iter().map(T::to_string).collect();
    items.join(",")
}
