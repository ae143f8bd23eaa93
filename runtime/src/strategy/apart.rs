use super::borders;
use super::look::{Looked, Seen, can_look, can_scan, look, look_while_rising};
use super::safety::{self, Safety};
use super::serial::{Serial, Targets};
use super::{Job, Ran, Shape, Strategy, distance};
use crate::abi::{BodyShape, Bounds, Call, ChunkFn};
use crate::chunks::{Chunks, part};
use crate::failure::{Failure, Refusal};
use crate::settings::Body;
use smallvec::SmallVec;
use std::ops::Range;
use std::time::Instant;

/// Looks first where all updates go. Where they go through the outputs from one end to the other,
/// or from about one to about the other, several threads update the targets themselves, each
/// elements of its own; else one thread does. The bits of the serial loop.
#[derive(Debug)]
pub(super) struct Apart;

/// Into so many parts iterations are divided to see where the updates of each go, if they do not
/// rise.
pub(super) const PARTS: usize = 64;

impl Strategy for Apart {
    fn name(&self) -> &'static str {
        "apart"
    }

    fn refusal(&self, shape: &Shape) -> Option<Refusal> {
        let strategy = self.name();
        (!can_look(shape)).then_some(Refusal::LooksFirst { strategy })
    }

    fn body_shape(&self, body: Body, shape: &Shape) -> BodyShape {
        match body {
            Body::RunLength | Body::Partials => BodyShape::RunLength,
            // There is one of each target.
            Body::Auto | Body::Direct | Body::Tables => shape.shared(),
        }
    }

    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure> {
        let start = Instant::now();
        if job.shape.threads == 1
            || job.session.is_nested()
            || job.shape.statements() > safety::MOST_CHECKED
        {
            // SAFETY: that of the caller.
            return unsafe { Serial.run(job) };
        }
        // SAFETY: the caller vouches for the forall.
        let Divided { tasks, order } = unsafe { divided(job) }?;
        let looked = Instant::now();
        let running = Running {
            whole: Safety::Whole.chunks(job, job.body(self)?),
            within: Safety::Whole.chunks(job, within(job)?),
            // What belongs to the task behind is counted there.
            behind: Safety::Whole.chunks(job, within(job)?).unseen(),
            targets: Targets::of(job),
            order,
        };
        let team = job.session.runtime().team();
        team.for_each(tasks.len(), &|number| {
            if let Some(task) = tasks.get(number) {
                // SAFETY: the caller vouches for the targets; no two tasks update one element.
                unsafe { running.run(number, task) };
            }
        });
        running.finish(job.call)?;
        Ok(Ran {
            chunks: tasks.len() as u64,
            threads: job.shape.threads.min(tasks.len().max(1)),
            prepare: looked - start,
            main: looked.elapsed(),
            ..Ran::default()
        })
    }
}

/// How updates go through the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// They never fall back, and the look has counted them.
    Rising,
    /// In any order, at each place.
    Any,
}

/// Tasks for several threads.
struct Divided {
    tasks: Vec<Task>,
    order: Order,
}

/// Looks where all updates go, and divides the iterations, if they can be; else there is one task.
///
/// # Errors
/// The failure of an iteration.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
unsafe fn divided(job: &mut Job<'_>) -> Result<Divided, Failure> {
    let (count, threads) = (job.shape.count, job.shape.threads);
    let may_rise = job.sample.is_none_or(|it| it.rises);
    // A scan tells how far each part goes in a fraction of the time that it takes to look at each
    // update: 2.8 ms instead of 4.5 for 8 Mi sorted keys of 1.5 Mi doubles, the updates included.
    // SAFETY: the caller vouches for the forall.
    let scans = may_rise && unsafe { can_scan(job) };
    if may_rise
        && !scans
        // SAFETY: as above.
        && let Some(divided) = unsafe { rising(job) }?
    {
        return Ok(divided);
    }
    let parts = PARTS.min(usize::try_from(count).unwrap_or(PARTS));
    // SAFETY: as above.
    let Looked { seen, skipped } = unsafe { look(job, parts) }?;
    // What is left out of a body for some elements is not looked at, so that nobody would count
    // what it skips; where updates rise, the look counts that.
    if scans
        && skipped != 0
        // SAFETY: as above.
        && let Some(divided) = unsafe { rising(job) }?
    {
        return Ok(divided);
    }
    let tasks = match skipped {
        0 => borders::tasks(&seen, count, threads),
        _ => None,
    };
    Ok(Divided {
        tasks: tasks.unwrap_or_else(|| vec![Task::whole(count)]),
        order: Order::Any,
    })
}

/// The iterations divided where updates go beyond all before, if they never fall back.
///
/// # Errors
/// The failure of an iteration.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
unsafe fn rising(job: &mut Job<'_>) -> Result<Option<Divided>, Failure> {
    let parts = job.shape.parts();
    // SAFETY: that of the caller.
    let seen = unsafe { look_while_rising(job, parts) }?;
    Ok(seen.map(|seen| Divided {
        tasks: tasks(&seen, job.shape.count),
        order: Order::Rising,
    }))
}

/// The body for the elements that parts have in common.
fn within(job: &Job<'_>) -> Result<ChunkFn, Failure> {
    let shape = match job.body {
        Body::RunLength | Body::Partials => BodyShape::WithinRunLength,
        Body::Auto | Body::Direct | Body::Tables => BodyShape::Within,
    };
    job.session.body(job.forall, shape)
}

/// What one thread runs: consecutive iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) iterations: Range<i64>,
    /// So many of the first of them may update elements that the task before does, too, and leave
    /// them to it.
    pub(super) first: i64,
    /// The elements that those update themselves.
    pub(super) own: Elements,
    /// The first iterations of the next task, and the elements that it leaves to this one.
    pub(super) behind: Option<(Range<i64>, Elements)>,
}

impl Task {
    /// All iterations.
    fn whole(count: u64) -> Self {
        Self {
            iterations: part(count, 1, 0),
            first: 0,
            own: SmallVec::new(),
            behind: None,
        }
    }
}

/// The elements of each of the targets that are updated together, with the number of those.
pub(super) type Elements = SmallVec<[(Range<u64>, usize); 2]>;

/// Divides the iterations where the updates of one part go beyond those of all parts before it, but
/// for the last element. One task is left where they do not.
fn tasks(seen: &[Seen], count: u64) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut last: SmallVec<[u64; 2]> = SmallVec::new();
    for (number, seen_here) in seen.iter().enumerate() {
        let iterations = part(count, seen.len(), number);
        let bounds = || seen_here.iter().map(|(bounds, _)| bounds);
        let follows = bounds().zip(&last).all(|(it, last)| it.least >= *last);
        if !follows {
            return vec![Task::whole(count)];
        }
        // Of those that have none, or only the last element of the part before, it would have to be
        // known where the next ones go.
        let is_whole = bounds()
            .zip(&last)
            .all(|(it, last)| it.least < it.last || it.least == it.last && it.last > *last);
        match tasks.last_mut() {
            Some(task) if !is_whole => task.iterations.end = iterations.end,
            task => {
                let shared =
                    |bounds: &Bounds, position: usize| last.get(position) == Some(&bounds.least);
                let each = || seen_here.iter().enumerate();
                let from = each().map(|(position, (bounds, targets))| {
                    let from = if shared(bounds, position) {
                        bounds.least + 1
                    } else {
                        0
                    };
                    (from..u64::MAX, *targets)
                });
                let own: Elements = from.collect();
                let is_shared = own.iter().any(|(own, _)| own.start > 0);
                if let (Some(task), true) = (task, is_shared) {
                    let elements = own
                        .iter()
                        .map(|(own, targets)| (own.start.saturating_sub(1)..own.start, *targets));
                    task.behind = Some((iterations.clone(), elements.collect()));
                }
                tasks.push(Task {
                    first: if is_shared {
                        iterations.end - iterations.start
                    } else {
                        0
                    },
                    iterations,
                    own,
                    behind: None,
                });
            }
        }
        last = last_elements(seen_here, &last);
    }
    tasks
}

/// The last elements that a part updates, or those of the parts `before` where it updates none.
fn last_elements(seen: &Seen, before: &[u64]) -> SmallVec<[u64; 2]> {
    let bounds = seen.iter().map(|(bounds, _)| bounds).enumerate();
    bounds
        .map(|(position, it)| {
            let before = before.get(position).copied().unwrap_or(0);
            if it.least > it.last { before } else { it.last }
        })
        .collect()
}

/// What the tasks have in common.
struct Running<'j> {
    whole: Chunks<'j>,
    within: Chunks<'j>,
    behind: Chunks<'j>,
    targets: Targets,
    order: Order,
}

impl Running<'_> {
    /// Runs task `number`.
    ///
    /// # Safety
    /// The targets are those of the forall, and nobody else touches the elements that the task
    /// updates meanwhile.
    unsafe fn run(&self, number: usize, task: &Task) {
        let Range { start, end } = task.iterations;
        let border = start + task.first;
        // In the order of the updates.
        let first = 3 * number;
        // SAFETY: the caller vouches for the targets.
        unsafe {
            self.within
                .run(first, start..border, &self.table(&task.own));
            self.whole.run(first + 1, border..end, self.targets.get());
            if let Some((iterations, elements)) = &task.behind {
                self.behind
                    .run(first + 2, iterations.clone(), &self.table(elements));
            }
        }
    }

    /// Counts the updates, if nobody has.
    ///
    /// # Errors
    /// A failure, of those that tasks come to first: all that an iteration can fail of was found
    /// before, but for combiners of the host.
    fn finish(self, call: &mut Call) -> Result<(), Failure> {
        if self.order == Order::Any {
            self.whole.add_counts(call);
            self.within.add_counts(call);
        }
        let all = [self.whole, self.within, self.behind].map(Chunks::first_failure);
        let first = all.into_iter().flatten().min_by_key(|(number, _)| *number);
        first.map_or(Ok(()), |(_, failure)| Err(failure))
    }

    /// What a body is handed that updates only `elements`.
    fn table(&self, elements: &Elements) -> SmallVec<[*mut u8; 8]> {
        let numbers = |number: fn(&Range<u64>) -> u64| {
            let all = elements.iter();
            all.flat_map(move |(range, targets)| {
                std::iter::repeat_n(distance(number(range)), *targets)
            })
        };
        let targets = self.targets.get().iter().copied();
        let targets = targets.chain(numbers(|it| it.start));
        let targets = targets.chain(numbers(|it| it.end));
        let ends = u64::from(self.order == Order::Rising);
        targets.chain([distance(ends)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kernels::{Scatter, runtime};
    use crate::{Choice, Failure, Mode, Settings};

    fn apart(mode: Mode) -> Settings {
        Settings {
            strategy: Choice::Named(&Apart),
            mode,
            ..Settings::default()
        }
    }

    fn bounds(least: u64, last: u64) -> Seen {
        let bounds = Bounds {
            least,
            most: last,
            last,
            falls: 0,
        };
        SmallVec::from_slice(&[(bounds, 1)])
    }

    #[test]
    fn parts_that_meet_in_one_element_are_divided_there() {
        let tasks = tasks(&[bounds(0, 5), bounds(5, 9), bounds(12, 20)], 30);
        let from = |it: &Task| it.own[0].0.start;
        assert_eq!(tasks.iter().map(from).collect::<Vec<_>>(), [0, 6, 0]);
        let firsts = tasks.iter().map(|it| it.first);
        assert_eq!(firsts.collect::<Vec<_>>(), [0, 10, 0]);
        let behind = tasks[0].behind.clone();
        let (iterations, elements) = behind.expect("a border");
        assert_eq!((iterations, &elements[0].0), (10..20, &(5..6)));
        assert_eq!(tasks[1].behind, None);
    }

    #[test]
    fn parts_of_one_element_belong_to_the_one_before() {
        let all = tasks(&[bounds(3, 3), bounds(3, 3), bounds(3, 3)], 30);
        assert_eq!((all.len(), all[0].iterations.clone()), (1, 0..30));
        let none = bounds(u64::MAX, 0);
        let all = tasks(&[bounds(0, 3), none, bounds(3, 3), bounds(3, 8)], 40);
        assert_eq!((all.len(), all[0].iterations.clone()), (2, 0..30));
        assert_eq!(all[1].own[0].0.start, 4);
    }

    #[test]
    fn parts_that_fall_back_are_one() {
        assert_eq!(tasks(&[bounds(0, 3), bounds(2, 8)], 20).len(), 1);
    }

    #[test]
    fn the_bits_are_those_of_a_plain_loop() {
        for elements in [1, 3, 99, 5000, 200_000] {
            for sorted in [false, true] {
                for chunks in [1, 8, 1000] {
                    let mut case = Scatter::new(100_000, elements);
                    if sorted {
                        case.keys.sort_unstable();
                    }
                    let case = Scatter { chunks, ..case };
                    let case = case.with_counts(elements).with_sums(elements);
                    let expected = case.expected();
                    for threads in [1, 2, 5] {
                        for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
                            let mut case = case.clone();
                            let record = case.run(&runtime(threads), &apart(mode)).unwrap();
                            let is_divided = sorted && threads > 1 && chunks > 1 && elements > 1;
                            assert_eq!((record.strategy, record.chunks > 1), ("apart", is_divided));
                            assert_eq!(record.updates, 100_000);
                            assert_eq!((case.counts, case.sums), expected.clone());
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn keys_that_go_to_and_fro_on_their_way_are_divided_too() {
        for elements in [99, 5000, 200_000] {
            for backwards in [false, true] {
                for chunks in [8, 1000] {
                    let mut case = Scatter::new(100_000, elements);
                    case.keys.sort_unstable();
                    case.keys.chunks_mut(300).for_each(<[i32]>::reverse);
                    if backwards {
                        case.keys.reverse();
                    }
                    let case = Scatter { chunks, ..case };
                    let case = case.with_counts(elements).with_sums(elements);
                    let expected = case.expected();
                    for threads in [1, 2, 5] {
                        let mut case = case.clone();
                        let record = case.run(&runtime(threads), &apart(Mode::Exact)).unwrap();
                        assert_eq!(record.chunks > 1, threads > 1, "{elements} {chunks}");
                        assert_eq!(record.updates, 100_000);
                        assert_eq!((case.counts, case.sums), expected.clone());
                    }
                }
            }
        }
    }

    #[test]
    fn a_fault_leaves_the_targets_alone() {
        let mut case = Scatter::new(100_000, 5000);
        case.keys.sort_unstable();
        case.keys[99_990] = 5000;
        let mut case = case.with_counts(5000).with_sums(5000);
        let before = case.clone();
        let failure = case.run(&runtime(3), &apart(Mode::Stable)).unwrap_err();
        assert!(matches!(failure, Failure::Fault(record) if record.index == 5000));
        assert_eq!(
            (case.counts.as_ref(), case.sum_bits()),
            (before.counts.as_ref(), before.sum_bits())
        );
    }
}
