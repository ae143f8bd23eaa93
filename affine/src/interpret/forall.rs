use super::{FaultKind, ForallOrder, Machine, Stop};
use crate::{Access, Disjoint, Forall, Private, Type, Value};

/// The private buffers of one iteration, in the order of the clauses: for each clause its buffers.
type Buffers = Vec<Vec<Vec<Value>>>;

/// The clauses that have buffers; what is speculative is updated in its place.
fn merged(forall: &Forall) -> impl Iterator<Item = &Private> {
    forall.privates.iter().filter(|it| !it.is_speculative())
}

impl<'k> Machine<'k> {
    pub(super) fn forall(&mut self, forall: &'k Forall) -> Result<(), Stop> {
        let count = self.affine(&forall.count)?;
        self.enter(forall.iter);
        let whiles = std::mem::take(&mut self.whiles);
        let outer = self.disjoint.len();
        self.disjoint.extend(&forall.disjoint);
        let ended = match self.order {
            ForallOrder::Backward if !self.is_in_order(forall) => {
                self.forall_backward(forall, count)
            }
            _ => self.forall_forward(forall, count),
        };
        self.disjoint.truncate(outer);
        self.whiles = whiles;
        ended
    }

    /// Marks an element as written, where that is to happen only once.
    pub(super) fn meet(&mut self, access: &Access, position: usize) -> Result<(), Stop> {
        let mut disjoint = self.disjoint.iter();
        let Some(Disjoint { met, .. }) = disjoint.find(|it| it.target == access.array).copied()
        else {
            return Ok(());
        };
        let mark = Value::integer(Type::U8, 1);
        match self.memory.cell_mut(met, position) {
            Some(held) if *held == mark => {
                let kind = FaultKind::Met {
                    array: self.kernel.arrays[access.array].name.clone(),
                    element: i64::try_from(position).unwrap_or(i64::MAX),
                };
                Err(self.fault(kind, access.span))
            }
            Some(held) => {
                *held = mark;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The body does not touch the targets, so merging after each iteration is merging after all.
    fn forall_forward(&mut self, forall: &'k Forall, count: i64) -> Result<(), Stop> {
        for iteration in 0..count {
            let buffers = self.privately(forall, iteration)?;
            self.merge(forall, buffers)?;
        }
        Ok(())
    }

    fn forall_backward(&mut self, forall: &'k Forall, count: i64) -> Result<(), Stop> {
        let mut finished = Vec::new();
        let mut first_stop = None;
        for iteration in (0..count).rev() {
            match self.privately(forall, iteration) {
                Ok(buffers) => finished.push(buffers),
                Err(Stop::OutOfFuel) => return Err(Stop::OutOfFuel),
                // An iteration before this one may stop too, and is then the one to report.
                Err(stop) => first_stop = Some(stop),
            }
        }
        if let Some(stop) = first_stop {
            return Err(stop);
        }
        for buffers in finished.into_iter().rev() {
            self.merge(forall, buffers)?;
        }
        Ok(())
    }

    /// Whether the iterations have to run in their order, since a combiner has no identity, since
    /// they read what others update, or to tell the first that meet.
    fn is_in_order(&self, forall: &Forall) -> bool {
        let mut privates = forall.privates.iter();
        !forall.disjoint.is_empty()
            || forall.is_speculative()
            || privates.any(|it| it.combiner.identity(&it.types(self.kernel)).is_none())
    }

    /// Runs an iteration on buffers of its own.
    fn privately(&mut self, forall: &'k Forall, iteration: i64) -> Result<Buffers, Stop> {
        for private in merged(forall) {
            self.fill_private(private)?;
        }
        self.iteration(forall.iter, iteration, &forall.body)?;
        let mut take = |private: &Private| {
            let buffers = private.buffers.iter();
            buffers.map(|it| self.memory.take(*it)).collect()
        };
        Ok(merged(forall).map(&mut take).collect())
    }

    fn fill_private(&mut self, private: &Private) -> Result<(), Stop> {
        let types = private.types(self.kernel);
        let Some(identity) = private.combiner.identity(&types) else {
            return self.continue_with_targets(private);
        };
        let mut parts = private.buffers.iter().zip(identity);
        parts.try_for_each(|(buffer, value)| self.fill(*buffer, value))
    }

    /// The buffers hold what the targets do.
    fn continue_with_targets(&mut self, private: &Private) -> Result<(), Stop> {
        for (buffer, target) in private.buffers.iter().zip(&private.targets) {
            self.fill(*buffer, Value::i64(0))?;
            let cells = self.memory.cells(*target).to_vec();
            self.memory.cells_mut(*buffer).copy_from_slice(&cells);
        }
        Ok(())
    }

    fn merge(&mut self, forall: &Forall, buffers: Buffers) -> Result<(), Stop> {
        for (private, buffer) in merged(forall).zip(buffers) {
            if private
                .combiner
                .identity(&private.types(self.kernel))
                .is_none()
            {
                for (target, cells) in private.targets.iter().zip(&buffer) {
                    self.memory.cells_mut(*target).copy_from_slice(cells);
                }
                continue;
            }
            let cells = buffer.first().map_or(0, Vec::len);
            for cell in 0..cells {
                self.merge_cell(private, &buffer, cell)?;
            }
        }
        Ok(())
    }

    fn merge_cell(
        &mut self,
        private: &Private,
        buffers: &[Vec<Value>],
        cell: usize,
    ) -> Result<(), Stop> {
        let targets = private.targets.iter();
        let held: Vec<_> = targets
            .filter_map(|target| self.memory.cells(*target).get(cell).copied())
            .collect();
        let incoming: Vec<_> = buffers
            .iter()
            .filter_map(|it| it.get(cell).copied())
            .collect();
        let after = private
            .combiner
            .combine(&held, &incoming, self.math)
            .map_err(|error| self.not_combined(error, self.kernel.span))?;
        for (target, value) in private.targets.iter().zip(after) {
            if let Some(held) = self.memory.cell_mut(*target, cell) {
                *held = value;
            }
        }
        Ok(())
    }
}
