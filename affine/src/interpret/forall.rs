use super::{ForallOrder, Machine, Stop};
use crate::{Forall, Private, Value};

/// The private buffers of one iteration, in the order of the clauses.
type Buffers = Vec<Vec<Value>>;

impl<'k> Machine<'k> {
    pub(super) fn forall(&mut self, forall: &'k Forall) -> Result<(), Stop> {
        let count = self.affine(&forall.count)?;
        match self.order {
            ForallOrder::Forward => self.forall_forward(forall, count),
            ForallOrder::Backward => self.forall_backward(forall, count),
        }
    }

    /// The body does not touch the targets, so merging after each iteration is merging after all.
    fn forall_forward(&mut self, forall: &'k Forall, count: i64) -> Result<(), Stop> {
        for iteration in 0..count {
            let buffers = self.privately(forall, iteration)?;
            self.merge(forall, buffers);
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
            self.merge(forall, buffers);
        }
        Ok(())
    }

    /// Runs an iteration on buffers of its own.
    fn privately(&mut self, forall: &'k Forall, iteration: i64) -> Result<Buffers, Stop> {
        for private in &forall.privates {
            self.fill_private(private)?;
        }
        self.iteration(forall.iter, iteration, &forall.body)?;
        let buffers = forall.privates.iter();
        Ok(buffers.map(|it| self.memory.take(it.buffer)).collect())
    }

    fn fill_private(&mut self, private: &Private) -> Result<(), Stop> {
        let ty = self.kernel.arrays[private.buffer].element;
        let identity = private.combiner.identity(&[ty]);
        let identity = identity.and_then(|it| it.first().copied());
        self.fill(private.buffer, identity.unwrap_or(Value::zero(ty)))
    }

    fn merge(&mut self, forall: &Forall, buffers: Buffers) {
        for (private, buffer) in forall.privates.iter().zip(buffers) {
            let target = self.memory.cells_mut(private.target);
            for (held, incoming) in target.iter_mut().zip(buffer) {
                let after = private.combiner.combine(&[*held], &[incoming]);
                *held = after.first().copied().unwrap_or(*held);
            }
        }
    }
}
