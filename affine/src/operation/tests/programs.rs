//! Random computations: the text, and what the reference computes for every instruction.

use super::reference::{Cell, Tensor, list, shape};

/// A generator of numbers that are the same in every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % count.max(1)
    }

    /// From `low` to `high`, both included.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1).max(1) as usize) as i64
    }

    pub(super) fn extents(&mut self, rank: usize) -> Vec<i64> {
        (0..rank).map(|_| self.between(1, 4)).collect()
    }

    pub(super) fn permutation(&mut self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rank).collect();
        for at in (1..rank).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }

    /// Some of the dimensions, in any order.
    pub(super) fn some(&mut self, rank: usize) -> Vec<usize> {
        let count = self.below(rank + 1);
        let mut order = self.permutation(rank);
        order.truncate(count);
        order
    }
}

pub(super) struct Program {
    pub(super) random: Random,
    pub(super) lines: Vec<String>,
    /// What each line computes.
    pub(super) tensors: Vec<Tensor>,
    /// The lines of the parameters.
    pub(super) parameters: Vec<usize>,
    /// Whether all maps of the result are exact: every operation says for sure what it reads.
    pub(super) is_exact: bool,
}

impl Program {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            lines: Vec::new(),
            tensors: Vec::new(),
            parameters: Vec::new(),
            is_exact: true,
        }
    }

    pub(super) fn push(&mut self, text: &str, tensor: Tensor) -> usize {
        let at = self.lines.len();
        let shape = tensor.shape();
        self.lines.push(format!("v{at} = {shape} {text}"));
        self.tensors.push(tensor);
        at
    }

    pub(super) fn parameter(&mut self, extents: &[i64]) -> usize {
        let number = self.parameters.len();
        let values: Vec<_> = (0..extents.iter().product::<i64>())
            .map(|_| self.random.between(-2, 5))
            .collect();
        let mut values = values.into_iter();
        let mut tensor = Tensor::generate(extents, |index| Cell {
            value: values.next().unwrap_or(0),
            reads: [(number, index.to_vec())].into(),
        });
        if self.random.below(2) == 0 {
            tensor.layout = Some(self.random.permutation(extents.len()));
        }
        let at = self.push(&format!("parameter({number})"), tensor);
        self.parameters.push(at);
        at
    }

    fn any_parameter(&mut self) -> usize {
        let rank = self.random.below(4);
        let extents = self.random.extents(rank);
        self.parameter(&extents)
    }

    /// A value that is there, or a new parameter.
    pub(super) fn operand(&mut self) -> usize {
        if self.tensors.is_empty() || self.random.below(8) == 0 {
            self.any_parameter()
        } else if self.random.below(2) == 0 {
            self.tensors.len() - 1
        } else {
            self.random.below(self.tensors.len())
        }
    }

    pub(super) fn operand_of_rank(&mut self, rank: usize) -> usize {
        let fits = |it: &usize| self.tensors[*it].extents.len() == rank;
        match (0..self.tensors.len()).rev().find(fits) {
            Some(found) if self.random.below(3) > 0 => found,
            _ => {
                let extents = self.random.extents(rank);
                self.parameter(&extents)
            }
        }
    }

    /// A position: a parameter, a constant, or an element of a list of numbers.
    fn start(&mut self) -> usize {
        match self.random.below(4) {
            0 => {
                let value = self.random.between(-3, 6);
                let tensor = Tensor::generate(&[], |_| Cell {
                    value,
                    ..Cell::default()
                });
                self.push(&format!("constant({value})"), tensor)
            }
            1 => {
                let list = self.iota(&[3], 0);
                let first = self.random.between(0, 2);
                let tensor = self.tensors[list].clone();
                let text = format!("slice(v{list}), slice={{[{first}:{}]}}", first + 1);
                let tensor = Tensor::generate(&[1], |_| tensor.get(&[first]));
                let one = self.push(&text, tensor.clone());
                self.push(
                    &format!("reshape(v{one})"),
                    Tensor::generate(&[], |_| tensor.get(&[0])),
                )
            }
            _ => self.parameter(&[]),
        }
    }

    fn iota(&mut self, extents: &[i64], dimension: usize) -> usize {
        let tensor = Tensor::generate(extents, |index| Cell {
            value: index[dimension],
            ..Cell::default()
        });
        self.push(&format!("iota(), iota_dimension={dimension}"), tensor)
    }

    pub(super) fn step(&mut self) {
        match self.random.below(18) {
            0 => self.unary(),
            1 => self.binary(),
            2 => self.broadcast(),
            3 => self.transpose(),
            4 => self.reverse(),
            5 => self.reduce(),
            6 => self.slice(),
            7 => self.reshape("reshape"),
            8 => self.reshape("bitcast"),
            9 => self.concatenate(),
            10 => self.dot(),
            11 => self.convolution(),
            12 => self.pad(),
            13 => self.reduce_window(),
            14 => self.dynamic_slice(),
            15 => self.dynamic_update_slice(),
            16 => self.gather(),
            _ => self.scatter(),
        }
    }

    pub(super) fn unary(&mut self) {
        let x = self.operand();
        let mut tensor = self.tensors[x].clone();
        tensor.layout = None;
        for cell in &mut tensor.cells {
            cell.value = -cell.value;
        }
        self.push(&format!("negate(v{x})"), tensor);
    }

    pub(super) fn binary(&mut self) {
        let x = self.operand();
        let extents = self.tensors[x].extents.clone();
        let others: Vec<_> = (0..self.tensors.len())
            .filter(|it| self.tensors[*it].extents == extents)
            .collect();
        let y = others[self.random.below(others.len())];
        let (a, b) = (&self.tensors[x], &self.tensors[y]);
        let tensor = Tensor::generate(&extents, |at| Cell::joined([a.get(at), b.get(at)]));
        self.push(&format!("add(v{x}, v{y})"), tensor);
    }

    pub(super) fn broadcast(&mut self) {
        let x = self.operand();
        let input = self.tensors[x].clone();
        let rank = input.extents.len() + self.random.below(2);
        let mut dimensions = self.random.permutation(rank);
        dimensions.truncate(input.extents.len());
        let mut output = self.random.extents(rank);
        for (dimension, extent) in dimensions.iter().zip(&input.extents) {
            if *extent != 1 || self.random.below(2) == 0 {
                output[*dimension] = *extent;
            }
        }
        let tensor = Tensor::generate(&output, |at| {
            let index = dimensions.iter().zip(&input.extents);
            let index: Vec<_> = index
                .map(|(dimension, extent)| if *extent == 1 { 0 } else { at[*dimension] })
                .collect();
            input.get(&index)
        });
        let text = format!("broadcast(v{x}), dimensions={{{}}}", list(&dimensions));
        self.push(&text, tensor);
    }

    pub(super) fn transpose(&mut self) {
        let x = self.operand();
        let input = self.tensors[x].clone();
        let order = self.random.permutation(input.extents.len());
        let output: Vec<_> = order.iter().map(|it| input.extents[*it]).collect();
        let tensor = Tensor::generate(&output, |at| {
            let mut index = vec![0; at.len()];
            for (position, dimension) in order.iter().enumerate() {
                index[*dimension] = at[position];
            }
            input.get(&index)
        });
        self.push(
            &format!("transpose(v{x}), dimensions={{{}}}", list(&order)),
            tensor,
        );
    }

    pub(super) fn reverse(&mut self) {
        let x = self.operand();
        let input = self.tensors[x].clone();
        let reversed = self.random.some(input.extents.len());
        let tensor = Tensor::generate(&input.extents, |at| {
            let mut index = at.to_vec();
            for it in &reversed {
                index[*it] = input.extents[*it] - 1 - index[*it];
            }
            input.get(&index)
        });
        self.push(
            &format!("reverse(v{x}), dimensions={{{}}}", list(&reversed)),
            tensor,
        );
    }

    pub(super) fn reduce(&mut self) {
        let x = self.operand();
        let initial = self.parameter(&[]);
        let input = self.tensors[x].clone();
        let first = self.tensors[initial].get(&[]);
        let reduced = self.random.some(input.extents.len());
        let rank = input.extents.len();
        let kept: Vec<_> = (0..rank).filter(|it| !reduced.contains(it)).collect();
        let output: Vec<_> = kept.iter().map(|it| input.extents[*it]).collect();
        let tensor = Tensor::generate(&output, |at| {
            let all = super::indices(&input.extents).into_iter();
            let all = all.filter(|index| kept.iter().zip(at).all(|(it, at)| index[*it] == *at));
            Cell::joined(all.map(|index| input.get(&index)).chain([first.clone()]))
        });
        let dimensions = list(&reduced);
        let text = format!("reduce(v{x}, v{initial}), dimensions={{{dimensions}}}, to_apply=add");
        self.push(&text, tensor);
    }

    pub(super) fn slice(&mut self) {
        let x = self.operand();
        let input = self.tensors[x].clone();
        let (mut slices, mut texts, mut output) = (Vec::new(), Vec::new(), Vec::new());
        for extent in &input.extents {
            let start = self.random.between(0, extent - 1);
            let limit = self.random.between(start + 1, *extent);
            let stride = self.random.between(1, 3);
            texts.push(format!("[{start}:{limit}:{stride}]"));
            output.push((limit - start + stride - 1) / stride);
            slices.push((start, stride));
        }
        let tensor = Tensor::generate(&output, |at| {
            let index = slices.iter().zip(at);
            let index: Vec<_> = index
                .map(|((start, stride), at)| start + stride * at)
                .collect();
            input.get(&index)
        });
        self.push(
            &format!("slice(v{x}), slice={{{}}}", texts.join(", ")),
            tensor,
        );
    }

    pub(super) fn reshape(&mut self, opcode: &str) {
        let x = self.operand();
        let input = self.tensors[x].clone();
        let mut rest = input.cells.len() as i64;
        let mut output = Vec::new();
        while rest > 1 || self.random.below(4) == 0 {
            let divisors: Vec<_> = (1..=rest).filter(|it| rest % it == 0).collect();
            let extent = divisors[self.random.below(divisors.len())];
            output.push(extent);
            rest /= extent;
            if output.len() == 3 {
                output.push(rest);
                break;
            }
        }
        let mut tensor = Tensor::generate(&output, |_| Cell::default());
        let from = match opcode {
            "bitcast" => {
                tensor.layout = Some(self.random.permutation(output.len()));
                input.in_memory()
            }
            _ => super::indices(&input.extents),
        };
        let to = match opcode {
            "bitcast" => tensor.in_memory(),
            _ => super::indices(&output),
        };
        let moved: std::collections::BTreeMap<_, _> = to.into_iter().zip(from).collect();
        let filled = Tensor::generate(&output, |at| input.get(&moved[at]));
        tensor.cells = filled.cells;
        self.push(&format!("{opcode}(v{x})"), tensor);
    }

    pub(super) fn concatenate(&mut self) {
        let rank = 1 + self.random.below(3);
        let x = self.operand_of_rank(rank);
        let along = self.random.below(rank);
        let mut other = self.tensors[x].extents.clone();
        other[along] = self.random.between(1, 3);
        let y = self.parameter(&other);
        let parts = [x, y, x].map(|it| self.tensors[it].clone());
        let mut output = other;
        output[along] = parts.iter().map(|it| it.extents[along]).sum();
        let tensor = Tensor::generate(&output, |at| {
            let mut index = at.to_vec();
            for part in &parts {
                if let Some(cell) = part.at(&index) {
                    return cell.clone();
                }
                index[along] -= part.extents[along];
            }
            Cell::default()
        });
        let text = format!("concatenate(v{x}, v{y}, v{x}), dimensions={{{along}}}");
        self.push(&text, tensor);
    }

    pub(super) fn dot(&mut self) {
        let x = self.operand();
        let left = self.tensors[x].clone();
        let order = self.random.permutation(left.extents.len());
        let batch = self.random.below(order.len() + 1);
        let summed = batch + self.random.below(order.len() - batch + 1);
        let (batch, rest) = order.split_at(batch);
        let (summed, free) = rest.split_at(summed - batch.len());
        // The right side has the shared dimensions in some order, and one of its own.
        let count = batch.len() + summed.len();
        let places = self.random.permutation(count + 1);
        let mut extents = vec![2; count + 1];
        for (place, dimension) in places.iter().zip(batch.iter().chain(summed)) {
            extents[*place] = left.extents[*dimension];
        }
        let y = self.parameter(&extents);
        let right = self.tensors[y].clone();
        let mut free = free.to_vec();
        free.sort_unstable();
        let mut output: Vec<_> = batch.iter().map(|it| left.extents[*it]).collect();
        output.extend(free.iter().map(|it| left.extents[*it]));
        output.push(2);
        let sums: Vec<_> = summed.iter().map(|it| left.extents[*it]).collect();
        let tensor = Tensor::generate(&output, |at| {
            let products = super::indices(&sums).into_iter().map(|sum| {
                let mut ours = vec![0; left.extents.len()];
                let mut theirs = vec![at[at.len() - 1]; count + 1];
                for (position, dimension) in batch.iter().enumerate() {
                    ours[*dimension] = at[position];
                    theirs[places[position]] = at[position];
                }
                for (position, dimension) in summed.iter().enumerate() {
                    ours[*dimension] = sum[position];
                    theirs[places[batch.len() + position]] = sum[position];
                }
                for (position, dimension) in free.iter().enumerate() {
                    ours[*dimension] = at[batch.len() + position];
                }
                Cell::joined([left.get(&ours), right.get(&theirs)])
            });
            Cell::joined(products.collect::<Vec<_>>())
        });
        let (ours, theirs) = places[..count].split_at(batch.len());
        let text = format!(
            "dot(v{x}, v{y}), lhs_batch_dims={{{}}}, rhs_batch_dims={{{}}}, lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}",
            list(batch),
            list(ours),
            list(summed),
            list(theirs)
        );
        self.push(&text, tensor);
    }

    pub(super) fn pad(&mut self) {
        let x = self.operand();
        let value = self.parameter(&[]);
        let input = self.tensors[x].clone();
        let rank = input.extents.len();
        let (mut padding, mut output) = (Vec::new(), Vec::new());
        for extent in &input.extents {
            let interior = self.random.between(0, 2);
            let low = self.random.between(-2, 3);
            let whole = extent + (extent - 1) * interior + low;
            let high = self.random.between(-2, 3).max(-whole);
            padding.push((low, high, interior));
            output.push((whole + high).max(0));
        }
        if rank == 0 || output.contains(&0) {
            return;
        }
        self.is_exact = false;
        let other = self.tensors[value].get(&[]);
        let tensor = Tensor::generate(&output, |at| {
            let mut index = Vec::new();
            for (at, (low, _, interior)) in at.iter().zip(&padding) {
                if (at - low).rem_euclid(interior + 1) != 0 {
                    return other.clone();
                }
                index.push((at - low).div_euclid(interior + 1));
            }
            input.at(&index).cloned().unwrap_or_else(|| other.clone())
        });
        let texts: Vec<_> = padding
            .iter()
            .map(|(low, high, interior)| format!("{low}_{high}_{interior}"))
            .collect();
        self.push(
            &format!("pad(v{x}, v{value}), padding={}", texts.join("x")),
            tensor,
        );
    }

    pub(super) fn dynamic_slice(&mut self) {
        let x = self.operand();
        let starts = self.starts(x);
        let input = self.tensors[x].clone();
        let sizes: Vec<_> = input
            .extents
            .iter()
            .map(|it| self.random.between(1, *it))
            .collect();
        let corner = self.corner(&starts, &input.extents, &sizes);
        let tensor = Tensor::generate(&sizes, |at| {
            let index: Vec<_> = at
                .iter()
                .zip(&corner)
                .map(|(at, it)| at + it.value)
                .collect();
            Cell::joined(corner.iter().cloned()).and_reads_of(&input.get(&index))
        });
        let mut tensor = tensor;
        for (cell, at) in tensor.cells.iter_mut().zip(super::indices(&sizes)) {
            let index: Vec<_> = at
                .iter()
                .zip(&corner)
                .map(|(at, it)| at + it.value)
                .collect();
            cell.value = input.get(&index).value;
        }
        let text = format!(
            "dynamic-slice(v{x}{}), dynamic_slice_sizes={{{}}}",
            names(&starts),
            list(&sizes)
        );
        self.push(&text, tensor);
    }

    fn starts(&mut self, x: usize) -> Vec<usize> {
        let rank = self.tensors[x].extents.len();
        (0..rank).map(|_| self.start()).collect()
    }

    /// The starts, moved so that the box does not leave the array.
    fn corner(&self, starts: &[usize], extents: &[i64], sizes: &[i64]) -> Vec<Cell> {
        let limits = extents
            .iter()
            .zip(sizes)
            .map(|(extent, size)| extent - size);
        let starts = starts.iter().map(|it| self.tensors[*it].get(&[]));
        let clamped = starts.zip(limits).map(|(cell, limit)| Cell {
            value: cell.value.clamp(0, limit),
            ..cell
        });
        clamped.collect()
    }

    pub(super) fn dynamic_update_slice(&mut self) {
        let x = self.operand();
        let sizes: Vec<_> = self.tensors[x]
            .extents
            .clone()
            .iter()
            .map(|it| self.random.between(1, *it))
            .collect();
        let update = self.parameter(&sizes);
        let starts = self.starts(x);
        let (input, patch) = (self.tensors[x].clone(), self.tensors[update].clone());
        let corner = self.corner(&starts, &input.extents, &sizes);
        self.is_exact = false;
        let reads = Cell::joined(corner.iter().cloned());
        let tensor = Tensor::generate(&input.extents, |at| {
            let index: Vec<_> = at
                .iter()
                .zip(&corner)
                .map(|(at, it)| at - it.value)
                .collect();
            let cell = patch.at(&index).cloned().unwrap_or_else(|| input.get(at));
            cell.and_reads_of(&reads)
        });
        let text = format!("dynamic-update-slice(v{x}, v{update}{})", names(&starts));
        self.push(&text, tensor);
    }
}

/// The names of operands, each behind a comma.
pub(super) fn names(values: &[usize]) -> String {
    values.iter().map(|it| format!(", v{it}")).collect()
}

/// A text in which the lines are a computation whose last line is its value; with `is_called` a
/// fusion of it.
pub(super) fn text(program: &Program, is_called: bool) -> String {
    let mut lines = program.lines.clone();
    if let Some(last) = lines.last_mut() {
        *last = format!("ROOT {last}");
    }
    let body = format!("f {{\n  {}\n}}\n", lines.join("\n  "));
    if !is_called {
        return body;
    }
    let parameters: Vec<_> = program
        .parameters
        .iter()
        .enumerate()
        .map(|(number, at)| {
            let tensor = &program.tensors[*at];
            let shape = shape(&tensor.extents, tensor.layout.as_deref());
            format!("  p{number} = {shape} parameter({number})\n")
        })
        .collect();
    let arguments: Vec<_> = (0..parameters.len()).map(|it| format!("p{it}")).collect();
    let root = program
        .tensors
        .last()
        .map_or_else(String::new, Tensor::shape);
    format!(
        "{body}ENTRY e {{\n{}  ROOT fusion = {root} fusion({}), kind=kLoop, calls=f\n}}\n",
        parameters.concat(),
        arguments.join(", ")
    )
}
