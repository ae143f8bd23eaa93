use super::{Argument, ForallOrder, Machine, Stop};
use crate::verify::Verified;
use crate::visit::AccessKind;
use crate::{ArrayId, Combiner, IterId, LocalId, Math, Span, Value};

/// Someone who is told what a run does while it does it. By default, nothing of it matters.
pub trait Watch {
    /// The loop over `iter` starts, whether or not it has iterations.
    fn enter(&mut self, _iter: IterId) {}

    /// Something is read, or is about to be written. What is updated is touched once.
    fn touch(&mut self, _touch: Touch<'_>) {}
}

/// What an access is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touched {
    /// An element of an array.
    Array(ArrayId),
    /// A `let` or a mutable scalar. Its declaration is no access.
    Local(LocalId),
}

/// One access of a run.
#[derive(Clone, Copy, Debug)]
pub struct Touch<'r> {
    /// What it is to.
    pub to: Touched,
    /// What it does there.
    pub kind: AccessKind,
    /// By what it updates.
    pub combiner: Option<&'r Combiner>,
    /// Of a write the statement, else the access; nothing where a local is read.
    pub span: Span,
    /// The subscripts, all of them in range; none for a local.
    pub cell: &'r [i64],
    /// The loops that are running, outermost first, with the values of their iterators.
    pub iteration: &'r [(IterId, i64)],
}

/// As [`interpret`](super::interpret) in the order of the text, for someone who watches. What the
/// run costs is taken from `fuel`.
///
/// # Errors
/// Those of [`interpret`](super::interpret).
pub fn interpret_watched(
    kernel: &Verified,
    arguments: &mut [Argument],
    fuel: &mut u64,
    math: &dyn Math,
    watch: &mut dyn Watch,
) -> Result<Option<Value>, Stop> {
    let mut machine = Machine::new(kernel, arguments, *fuel, ForallOrder::Forward, math)?;
    machine.watch = Some(watch);
    let result = machine.run(arguments);
    *fuel = machine.fuel;
    result
}

/// A write of a statement, as far as it is the same for all its places.
#[derive(Clone, Copy)]
pub(super) struct Writing<'k> {
    pub(super) combiner: Option<&'k Combiner>,
    pub(super) span: Span,
}

impl Machine<'_> {
    pub(super) fn enter(&mut self, iter: IterId) {
        if let Some(watch) = &mut self.watch {
            watch.enter(iter);
        }
    }

    pub(super) fn read(&mut self, from: Touched, cell: &[i64], span: Span) {
        self.touch(Touch {
            to: from,
            kind: AccessKind::Read,
            combiner: None,
            span,
            cell,
            iteration: &[],
        });
    }

    pub(super) fn write(&mut self, to: Touched, cell: &[i64], writing: Writing<'_>) {
        self.touch(Touch {
            to,
            kind: match writing.combiner {
                Some(_) => AccessKind::Reduce,
                None => AccessKind::Write,
            },
            combiner: writing.combiner,
            span: writing.span,
            cell,
            iteration: &[],
        });
    }

    fn touch(&mut self, touch: Touch<'_>) {
        if let Some(watch) = &mut self.watch {
            let iteration = &self.running;
            watch.touch(Touch { iteration, ..touch });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::verify;
    use crate::{StdMath, text};

    #[derive(Default)]
    struct Log {
        names: Vec<String>,
        lines: Vec<String>,
    }

    impl Watch for Log {
        fn enter(&mut self, iter: IterId) {
            let name = &self.names[iter.into_raw().into_u32() as usize];
            self.lines.push(format!("loop {name}"));
        }

        fn touch(&mut self, touch: Touch<'_>) {
            let by = touch.combiner.map(|it| it.name().to_owned());
            let iteration = touch.iteration.iter().map(|(_, value)| *value);
            self.lines.push(format!(
                "{:?} {:?} {:?} at {:?}",
                touch.kind,
                touch.cell,
                by.unwrap_or_default(),
                iteration.collect::<Vec<_>>()
            ));
        }
    }

    #[test]
    fn a_run_is_told_in_order() {
        let source = "kernel @k(n: i64, seg: i64[n], out: f64[2, n]) {
          var s: f64 = 0.0
          affine.for i in 0..n {
            affine.for j in 0..0 { }
            out[1, seg[i]] reduce(add) 1.0
            s = out[0, 0]
          } }";
        let kernels = text::parse(source).expect("a kernel");
        let kernel = verify(kernels.into_iter().next().expect("a kernel")).expect("verified");
        let integers = |values: &[i64]| values.iter().map(|it| Value::i64(*it)).collect();
        let mut arguments = [
            Argument::Scalar(Value::i64(2)),
            Argument::Array(integers(&[1, 0])),
            Argument::Array(vec![Value::f64(0.0); 4]),
        ];
        let mut log = Log {
            names: kernel.iters.values().map(|it| it.name.clone()).collect(),
            ..Log::default()
        };
        let mut fuel = 100;
        let result = interpret_watched(&kernel, &mut arguments, &mut fuel, &StdMath, &mut log);
        assert_eq!(result, Ok(None));
        // The declaration, the loop, and for each iteration itself and its three nodes.
        assert_eq!(fuel, 100 - 2 - 2 * 4);
        let expected = [
            "loop i",
            "loop j",
            "Read [0] \"\" at [0]",
            "Reduce [1, 1] \"add\" at [0]",
            "Read [0, 0] \"\" at [0]",
            "Write [] \"\" at [0]",
            "loop j",
            "Read [1] \"\" at [1]",
            "Reduce [1, 0] \"add\" at [1]",
            "Read [0, 0] \"\" at [1]",
            "Write [] \"\" at [1]",
        ];
        assert_eq!(log.lines, expected);
    }
}
