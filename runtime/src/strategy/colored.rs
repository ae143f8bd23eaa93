use super::look::{Seen, can_look, look, meet};
use super::safety::{self, Safety};
use super::serial::{Serial, Targets};
use super::{Job, Ran, Shape, Strategy};
use crate::abi::BodyShape;
use crate::chunks::{Chunks, part};
use crate::failure::{Failure, Refusal};
use crate::settings::{Body, Mode};
use std::time::Instant;

/// Looks first where all updates go. Parts of the iterations whose updates go to different ranges
/// of elements get the same color, and one color after the other runs on all threads, the targets
/// as private buffers. Which parts there are and which color they get follows from sizes and keys
/// alone, and so do the bits.
///
/// It is the coloring of finite element codes, of ranges of elements that follow each other instead
/// of single ones.
#[derive(Debug)]
pub(super) struct Colored;

/// So many parts can be eight threads' for each of a few colors, and most meet none but the parts
/// next to them.
const PARTS: usize = 64;

/// With more colors there is too little for several threads to do at a time.
const MOST_COLORS: usize = PARTS / 8;

impl Strategy for Colored {
    fn name(&self) -> &'static str {
        "colored"
    }

    fn refusal(&self, shape: &Shape) -> Option<Refusal> {
        let strategy = self.name();
        if !can_look(shape) {
            Some(Refusal::LooksFirst { strategy })
        } else if !shape.commutes {
            Some(Refusal::InOrder { strategy })
        } else {
            let keeps_bits = shape.mode != Mode::Exact || shape.is_exact;
            (!keeps_bits).then_some(Refusal::Regroups { strategy })
        }
    }

    fn body_shape(&self, body: Body, shape: &Shape) -> BodyShape {
        match body {
            Body::Partials => BodyShape::Partials,
            Body::RunLength => BodyShape::RunLength,
            // There is one of each target.
            Body::Auto | Body::Direct | Body::Tables => shape.shared(),
        }
    }

    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure> {
        let start = Instant::now();
        if job.shape.statements() > safety::MOST_CHECKED {
            // SAFETY: that of the caller.
            return unsafe { Serial.run(job) };
        }
        let parts = PARTS.min(usize::try_from(job.shape.count).unwrap_or(PARTS));
        // SAFETY: the caller vouches for the forall.
        let seen = unsafe { look(job, parts) }?.seen;
        let looked = Instant::now();
        let colors = colors(&seen).unwrap_or_default();
        let body = job.body(self)?;
        let running = Running {
            chunks: Safety::Whole.chunks(job, body),
            targets: Targets::of(job),
        };
        if colors.is_empty() {
            // SAFETY: the caller vouches for the targets.
            unsafe { running.run((0, 1), job.shape.count) };
        }
        for of_color in &colors {
            let team = job.session.runtime().team();
            team.for_each(of_color.len(), &|number| {
                if let Some(number) = of_color.get(number) {
                    // SAFETY: the caller vouches for the targets; no two parts of a color update
                    // one element.
                    unsafe { running.run((*number, parts), job.shape.count) };
                }
            });
        }
        running.chunks.finish(job.call)?;
        Ok(Ran {
            chunks: if colors.is_empty() { 1 } else { parts as u64 },
            threads: job.shape.threads.min(parts.max(1)),
            prepare: looked - start,
            main: looked.elapsed(),
            ..Ran::default()
        })
    }
}

/// The parts of each color, if a few are enough: each part gets the first color that none of the
/// parts before it has that meet it.
fn colors(seen: &[Seen]) -> Option<Vec<Vec<usize>>> {
    let mut colors: Vec<Vec<usize>> = Vec::new();
    for (number, part) in seen.iter().enumerate() {
        let is_free = |color: &Vec<usize>| {
            let mut others = color.iter().filter_map(|other| seen.get(*other));
            !others.any(|other| meet(part, other))
        };
        let free = colors.iter().position(is_free);
        let free = free.unwrap_or(colors.len());
        if free == MOST_COLORS {
            return None;
        }
        colors.resize_with(colors.len().max(free + 1), Vec::new);
        if let Some(color) = colors.get_mut(free) {
            color.push(number);
        }
    }
    Some(colors)
}

/// What all parts have in common.
struct Running<'j> {
    chunks: Chunks<'j>,
    targets: Targets,
}

impl Running<'_> {
    /// Runs one of several parts of `count` iterations.
    ///
    /// # Safety
    /// The targets are those of the forall, and nobody else touches the elements that the part
    /// updates meanwhile.
    unsafe fn run(&self, (number, parts): (usize, usize), count: u64) {
        // SAFETY: that of the caller.
        unsafe {
            self.chunks
                .run(number, part(count, parts, number), self.targets.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Bounds;
    use crate::test_kernels::{Scatter, runtime};
    use crate::{Choice, Settings};
    use smallvec::SmallVec;

    fn colored(mode: Mode) -> Settings {
        Settings {
            strategy: Choice::Named(&Colored),
            mode,
            ..Settings::default()
        }
    }

    fn bounds(least: u64, most: u64) -> Seen {
        let bounds = Bounds {
            least,
            most,
            ..Bounds::default()
        };
        SmallVec::from_slice(&[(bounds, 1)])
    }

    #[test]
    fn parts_that_meet_have_different_colors() {
        let seen = [
            bounds(0, 5),
            bounds(5, 9),
            bounds(9, 20),
            bounds(21, 22),
            bounds(3, 30),
            bounds(u64::MAX, 0),
        ];
        let colors = colors(&seen).expect("few");
        assert_eq!(colors, [vec![0, 2, 3, 5], vec![1], vec![4]]);
    }

    #[test]
    fn parts_that_all_meet_have_no_colors() {
        let seen: Vec<_> = (0..20).map(|it| bounds(it, 100)).collect();
        assert_eq!(colors(&seen), None);
    }

    #[test]
    fn whatever_the_threads_the_bits_are_the_same() {
        for (elements, is_near) in [(1, true), (99, true), (50_000, true), (50_000, false)] {
            let mut case = Scatter::new(100_000, elements);
            if is_near {
                case.keys.sort_unstable();
                case.keys.chunks_mut(300).for_each(<[i32]>::reverse);
            }
            let case = Scatter {
                chunks: 1000,
                ..case
            };
            let case = case.with_counts(elements).with_sums(elements);
            let (counts, sums) = case.expected();
            let mut first: Option<Vec<u64>> = None;
            for threads in [1, 2, 5] {
                let mut case = case.clone();
                let record = case.run(&runtime(threads), &colored(Mode::Stable)).unwrap();
                let is_divided = is_near && elements > 1;
                assert_eq!(
                    (record.strategy, record.chunks > 1),
                    ("colored", is_divided)
                );
                assert_eq!((record.updates, &case.counts), (100_000, &counts));
                let bits = case.sum_bits();
                assert_eq!(first.get_or_insert(bits.clone()), &bits);
                for (sum, expected) in case.sums.iter().flatten().zip(sums.iter().flatten()) {
                    assert!((sum - expected).abs() < 1e-9 * expected.abs().max(1.0));
                }
            }
        }
    }

    #[test]
    fn a_fault_leaves_the_targets_alone() {
        let mut case = Scatter::new(100_000, 5000);
        case.keys[99_990] = 5000;
        let mut case = case.with_counts(5000).with_sums(5000);
        let before = case.clone();
        let failure = case.run(&runtime(3), &colored(Mode::Stable)).unwrap_err();
        assert!(matches!(failure, Failure::Fault(record) if record.index == 5000));
        assert_eq!(
            (case.counts.as_ref(), case.sum_bits()),
            (before.counts.as_ref(), before.sum_bits())
        );
    }

    #[test]
    fn exact_mode_refuses_what_rounds() {
        let mut case = Scatter::new(1000, 9).with_sums(9);
        let failure = case.run(&runtime(2), &colored(Mode::Exact)).unwrap_err();
        assert!(matches!(
            failure,
            Failure::Refused(Refusal::Regroups { .. })
        ));
    }
}
