//! Random operations with windows and with positions in arrays.

use super::indices;
use super::programs::Program;
use super::reference::{Cell, Tensor, list};

struct Window {
    size: i64,
    stride: i64,
    low: i64,
    high: i64,
    base: i64,
    dilation: i64,
    is_reversed: bool,
}

impl Window {
    fn output(&self, extent: i64) -> i64 {
        let base = (extent - 1) * self.base + 1 + self.low + self.high;
        let window = (self.size - 1) * self.dilation + 1;
        if base < window {
            0
        } else {
            (base - window) / self.stride + 1
        }
    }

    /// The index of the base below a position of the window, unless padding or a hole is there.
    fn index(&self, output: i64, position: i64) -> Option<i64> {
        let place = output * self.stride + position * self.dilation - self.low;
        (place.rem_euclid(self.base) == 0).then_some(place.div_euclid(self.base))
    }
}

fn text(windows: &[Window]) -> String {
    let all = |one: fn(&Window) -> String| windows.iter().map(one).collect::<Vec<_>>().join("x");
    if windows.is_empty() {
        return String::new();
    }
    format!(
        ", window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={} rhs_reversal={}}}",
        all(|it| it.size.to_string()),
        all(|it| it.stride.to_string()),
        all(|it| format!("{}_{}", it.low, it.high)),
        all(|it| it.base.to_string()),
        all(|it| it.dilation.to_string()),
        all(|it| i64::from(it.is_reversed).to_string()),
    )
}

impl Program {
    fn window(&mut self, extent: i64, can_be_reversed: bool) -> Window {
        let random = &mut self.random;
        let mut window = Window {
            size: random.between(1, 3),
            stride: random.between(1, 3),
            low: random.between(-1, 2),
            high: random.between(-1, 2),
            base: random.between(1, 2),
            dilation: random.between(1, 2),
            is_reversed: can_be_reversed && random.below(2) == 0,
        };
        if window.output(extent) < 1 {
            (window.size, window.low, window.high) = (1, 0, 0);
        }
        window
    }

    pub(super) fn reduce_window(&mut self) {
        let x = self.operand();
        let initial = self.parameter(&[]);
        let input = self.tensors[x].clone();
        let windows: Vec<_> = input
            .extents
            .iter()
            .map(|it| self.window(*it, false))
            .collect();
        let output: Vec<_> = windows
            .iter()
            .zip(&input.extents)
            .map(|(it, extent)| it.output(*extent))
            .collect();
        let sizes: Vec<_> = windows.iter().map(|it| it.size).collect();
        let first = self.tensors[initial].get(&[]);
        let tensor = Tensor::generate(&output, |at| {
            let cells = indices(&sizes).into_iter().filter_map(|position| {
                let index = windows.iter().zip(at).zip(&position);
                let index: Option<Vec<_>> = index
                    .map(|((it, at), position)| it.index(*at, *position))
                    .collect();
                input.at(&index?).cloned()
            });
            Cell::joined(cells.chain([first.clone()]))
        });
        let window = text(&windows);
        self.push(
            &format!("reduce-window(v{x}, v{initial}){window}, to_apply=add"),
            tensor,
        );
    }

    pub(super) fn convolution(&mut self) {
        let spatial = self.random.below(2);
        let groups = self.random.between(1, 2);
        let (feature_groups, batch_groups) = match self.random.below(3) {
            0 => (1, 1),
            1 => (groups, 1),
            _ => (1, groups),
        };
        let batch = batch_groups * self.random.between(1, 2);
        let features = self.random.between(1, 2);
        let output_features = groups * self.random.between(1, 2);
        let extents = self.random.extents(spatial);
        let windows: Vec<_> = extents.iter().map(|it| self.window(*it, true)).collect();
        // Each array has its dimensions in an order of its own.
        let rank = spatial + 2;
        let orders = [(); 3].map(|()| self.random.permutation(rank));
        let arranged = |order: &[usize], logical: &[i64]| -> Vec<i64> {
            order.iter().map(|it| logical[*it]).collect()
        };
        let input_logical = [&[batch, features * feature_groups], extents.as_slice()].concat();
        let sizes: Vec<_> = windows.iter().map(|it| it.size).collect();
        let kernel_logical = [&[features, output_features], sizes.as_slice()].concat();
        let outputs = windows
            .iter()
            .zip(&extents)
            .map(|(it, extent)| it.output(*extent));
        let output_logical: Vec<_> = [batch / batch_groups, output_features]
            .into_iter()
            .chain(outputs)
            .collect();
        let x = self.parameter(&arranged(&orders[0], &input_logical));
        let y = self.parameter(&arranged(&orders[1], &kernel_logical));
        let (input, kernel) = (self.tensors[x].clone(), self.tensors[y].clone());
        let output = arranged(&orders[2], &output_logical);
        let tensor = Tensor::generate(&output, |at| {
            let mut logical = vec![0; rank];
            for (position, role) in orders[2].iter().enumerate() {
                logical[*role] = at[position];
            }
            let feature = logical[1];
            let feature_group = feature / (output_features / feature_groups);
            let batch_group = feature / (output_features / batch_groups);
            let inner = [&[features], sizes.as_slice()].concat();
            let cells = indices(&inner).into_iter().flat_map(|inner| {
                let mut ours = vec![
                    batch_group * (batch / batch_groups) + logical[0],
                    feature_group * features + inner[0],
                ];
                let mut theirs = vec![inner[0], feature];
                let mut is_inside = true;
                for (at, window) in windows.iter().enumerate() {
                    let index = window.index(logical[2 + at], inner[1 + at]);
                    is_inside &= index.is_some();
                    ours.push(index.unwrap_or(0));
                    let position = inner[1 + at];
                    theirs.push(if window.is_reversed {
                        window.size - 1 - position
                    } else {
                        position
                    });
                }
                let read = input
                    .at(&arranged(&orders[0], &ours))
                    .filter(|_| is_inside)
                    .cloned();
                // What meets padding counts for nothing.
                let weight = kernel.get(&arranged(&orders[1], &theirs));
                let product = read.map(|read| [read, weight]);
                product.into_iter().flatten()
            });
            Cell::joined(cells.collect::<Vec<_>>())
        });
        let label = |order: &[usize], letters: [&str; 2]| -> String {
            let labels = order.iter().map(|it| match it {
                0 | 1 => letters[*it].to_owned(),
                it => (it - 2).to_string(),
            });
            labels.collect()
        };
        let text = format!(
            "convolution(v{x}, v{y}){}, dim_labels={}_{}->{}, feature_group_count={feature_groups}, batch_group_count={batch_groups}",
            text(&windows),
            label(&orders[0], ["b", "f"]),
            label(&orders[1], ["i", "o"]),
            label(&orders[2], ["b", "f"]),
        );
        self.push(&text, tensor);
    }

    /// Indices of `count` coordinates with a batch of some rank, and the dimension of the
    /// coordinates.
    fn indices_array(&mut self, count: usize) -> (usize, usize, Vec<i64>) {
        let rank = self.random.below(2);
        let batch = self.random.extents(rank);
        let along = self.random.below(rank + 1);
        let mut extents = batch.clone();
        // A single coordinate needs no dimension.
        let along = if count == 1 && self.random.below(2) == 0 {
            rank
        } else {
            extents.insert(along, count as i64);
            along
        };
        (self.parameter(&extents), along, batch)
    }

    pub(super) fn gather(&mut self) {
        let x = self.operand();
        let input = self.tensors[x].clone();
        let rank = input.extents.len();
        let mut started = self.random.some(rank);
        if started.is_empty() && rank > 0 {
            started = vec![0];
        }
        let (y, along, batch) = self.indices_array(started.len());
        let corners = self.tensors[y].clone();
        let collapsed: Vec<_> = (0..rank).filter(|_| self.random.below(3) == 0).collect();
        let sizes: Vec<_> = (0..rank)
            .map(|it| {
                if collapsed.contains(&it) {
                    1
                } else {
                    self.random.between(1, input.extents[it])
                }
            })
            .collect();
        let kept: Vec<_> = (0..rank).filter(|it| !collapsed.contains(it)).collect();
        let output_rank = batch.len() + kept.len();
        let mut offsets = self.random.permutation(output_rank);
        offsets.truncate(kept.len());
        offsets.sort_unstable();
        let others: Vec<_> = (0..output_rank)
            .filter(|it| !offsets.contains(it))
            .collect();
        let mut output = vec![0; output_rank];
        for (dimension, it) in offsets.iter().zip(&kept) {
            output[*dimension] = sizes[*it];
        }
        for (dimension, extent) in others.iter().zip(&batch) {
            output[*dimension] = *extent;
        }
        let tensor = Tensor::generate(&output, |at| {
            let element: Vec<_> = others.iter().map(|it| at[*it]).collect();
            let mut index = vec![0; rank];
            for (dimension, it) in offsets.iter().zip(&kept) {
                index[*it] = at[*dimension];
            }
            let mut reads = Cell::default();
            for (coordinate, dimension) in started.iter().enumerate() {
                let cell = corners.get(&place(&element, along, coordinate, &corners.extents));
                index[*dimension] += cell
                    .value
                    .clamp(0, input.extents[*dimension] - sizes[*dimension]);
                reads = reads.and_reads_of(&cell);
            }
            input.get(&index).and_reads_of(&reads)
        });
        let text = format!(
            "gather(v{x}, v{y}), offset_dims={{{}}}, collapsed_slice_dims={{{}}}, start_index_map={{{}}}, index_vector_dim={along}, slice_sizes={{{}}}",
            list(&offsets),
            list(&collapsed),
            list(&started),
            list(&sizes)
        );
        self.push(&text, tensor);
    }

    pub(super) fn scatter(&mut self) {
        let x = self.operand();
        let input = self.tensors[x].clone();
        let rank = input.extents.len();
        let mut started = self.random.some(rank);
        if started.is_empty() && rank > 0 {
            started = vec![0];
        }
        let (y, along, batch) = self.indices_array(started.len());
        let corners = self.tensors[y].clone();
        let inserted: Vec<_> = (0..rank).filter(|_| self.random.below(3) == 0).collect();
        let kept: Vec<_> = (0..rank).filter(|it| !inserted.contains(it)).collect();
        let sizes: Vec<_> = kept
            .iter()
            .map(|it| self.random.between(1, input.extents[*it]))
            .collect();
        let update_rank = batch.len() + kept.len();
        let mut window = self.random.permutation(update_rank);
        window.truncate(kept.len());
        window.sort_unstable();
        let others: Vec<_> = (0..update_rank).filter(|it| !window.contains(it)).collect();
        let mut extents = vec![0; update_rank];
        for (dimension, size) in window.iter().zip(&sizes) {
            extents[*dimension] = *size;
        }
        for (dimension, extent) in others.iter().zip(&batch) {
            extents[*dimension] = *extent;
        }
        let z = self.parameter(&extents);
        let updates = self.tensors[z].clone();
        self.is_exact = false;
        let mut tensor = input.clone();
        tensor.layout = None;
        for update in indices(&extents) {
            let element: Vec<_> = others.iter().map(|it| update[*it]).collect();
            let mut corner = vec![0; rank];
            for (coordinate, dimension) in started.iter().enumerate() {
                corner[*dimension] = corners
                    .get(&place(&element, along, coordinate, &corners.extents))
                    .value;
            }
            // The whole slice has to fit.
            let size = |it: usize| {
                kept.iter()
                    .position(|kept| *kept == it)
                    .map_or(1, |at| sizes[at])
            };
            if (0..rank).any(|it| corner[it] < 0 || corner[it] + size(it) > input.extents[it]) {
                continue;
            }
            for (dimension, it) in window.iter().zip(&kept) {
                corner[*it] += update[*dimension];
            }
            let mut position = 0;
            for (value, extent) in corner.iter().zip(&input.extents) {
                position = position * extent + value;
            }
            let cell = &mut tensor.cells[position as usize];
            *cell = Cell::joined([cell.clone(), updates.get(&update)]);
        }
        let all = corners.all();
        for cell in &mut tensor.cells {
            *cell = cell.clone().and_reads_of(&all);
        }
        let text = format!(
            "scatter(v{x}, v{y}, v{z}), update_window_dims={{{}}}, inserted_window_dims={{{}}}, scatter_dims_to_operand_dims={{{}}}, index_vector_dim={along}, to_apply=add",
            list(&window),
            list(&inserted),
            list(&started)
        );
        self.push(&text, tensor);
    }
}

/// Where a coordinate of the corner of a batch element stands.
fn place(element: &[i64], along: usize, coordinate: usize, extents: &[i64]) -> Vec<i64> {
    let mut place = element.to_vec();
    if along < extents.len() {
        place.insert(along, coordinate as i64);
    }
    place
}
