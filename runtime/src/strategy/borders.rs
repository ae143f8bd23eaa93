//! Iterations divided among threads where updates go from about one end of the outputs to about the
//! other, whatever their order at each place.

use super::apart::{Elements, Task};
use super::look::{Seen, meet};
use crate::abi::Bounds;
use crate::chunks::part;
use std::ops::Range;

/// Divides `count` iterations, of which each part has `seen` where its updates go, among `threads`
/// threads, or fewer: a task leaves elements that tasks before it update to the last of these,
/// which updates them behind its own. So each element is updated in the order of the loop. `None`
/// where a task would meet others than the one before, or most would be left to one thread.
pub(super) fn tasks(seen: &[Seen], count: u64, threads: usize) -> Option<Vec<Task>> {
    let most = threads.min(seen.len());
    let fewer = std::iter::successors(Some(most), |groups| Some(groups / 2));
    let mut fewer = fewer.take_while(|groups| *groups > 1);
    fewer.find_map(|groups| divided(seen, count, groups))
}

/// The same for one task for each of `groups` groups of parts.
fn divided(seen: &[Seen], count: u64, groups: usize) -> Option<Vec<Task>> {
    let mut tasks: Vec<Task> = Vec::new();
    // Where all updates so far go, group by group.
    let mut reached: Vec<Seen> = Vec::new();
    for number in 0..groups {
        let group = part(seen.len() as u64, groups, number);
        let group = group.start as usize..group.end as usize;
        let iterations = |parts: Range<usize>| {
            part(count, seen.len(), parts.start).start..part(count, seen.len(), parts.end).start
        };
        let of_group = seen.get(group.clone())?.iter().cloned().reduce(joined)?;
        let far = number.checked_sub(2).and_then(|it| reached.get(it));
        if far.is_some_and(|far| meet(&of_group, far)) {
            return None;
        }
        let before = reached.last();
        let meets = |number: &usize| before.is_some_and(|before| meet(before, &seen[*number]));
        let leading = group.clone().rev().find(meets);
        let leading = group.start..leading.map_or(group.start, |last| last + 1);
        let own = own_elements(&of_group, before)?;
        let first = iterations(leading);
        if let (Some(task), Some(before), false) = (tasks.last_mut(), before, first.is_empty()) {
            task.behind = Some((first.clone(), elements(before)));
        }
        tasks.push(Task {
            iterations: iterations(group),
            first: first.end - first.start,
            own,
            behind: None,
        });
        reached.push(match before {
            Some(before) => joined(before.clone(), of_group),
            None => of_group,
        });
    }
    are_divided(&tasks, count).then_some(tasks)
}

/// Whether no thread is left with most of the work.
fn are_divided(tasks: &[Task], count: u64) -> bool {
    let length = |it: &Range<i64>| it.end.abs_diff(it.start);
    let work = tasks.iter().map(|task| {
        let behind = task.behind.as_ref().map(|(it, _)| length(it));
        length(&task.iterations) + behind.unwrap_or(0)
    });
    let most = work.max().unwrap_or(0);
    most <= count - count / 4
}

/// Where the updates of both go, together.
fn joined(mut one: Seen, other: Seen) -> Seen {
    for ((one, _), (other, _)) in one.iter_mut().zip(other) {
        *one = Bounds {
            least: one.least.min(other.least),
            most: one.most.max(other.most),
            ..Bounds::default()
        };
    }
    one
}

/// The elements that a group which goes to `group` updates itself: all on one side of those of the
/// groups before. `None` where it goes to both sides.
fn own_elements(group: &Seen, before: Option<&Seen>) -> Option<Elements> {
    let own = group
        .iter()
        .enumerate()
        .map(|(position, (group, targets))| {
            let before = before.and_then(|it| it.get(position));
            let before = before.map(|(before, _)| before);
            let own = match before.filter(|it| it.least <= it.most) {
                None => 0..u64::MAX,
                Some(before) if group.least >= before.least => {
                    before.most.saturating_add(1)..u64::MAX
                }
                Some(before) if group.most <= before.most => 0..before.least,
                Some(_) => return None,
            };
            Some((own, *targets))
        });
    own.collect()
}

/// All elements from the least to the largest.
fn elements(reach: &Seen) -> Elements {
    let each = reach.iter().map(|(reach, targets)| {
        let all = match reach.least <= reach.most {
            true => reach.least..reach.most.saturating_add(1),
            false => 0..0,
        };
        (all, *targets)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::SmallVec;

    fn seen(ranges: &[[u64; 2]]) -> Vec<Seen> {
        let bounds = ranges.iter().map(|[least, most]| Bounds {
            least: *least,
            most: *most,
            ..Bounds::default()
        });
        bounds.map(|it| SmallVec::from_slice(&[(it, 1)])).collect()
    }

    /// The iterations of both tasks, how many of the second one's come first, and the elements that
    /// these update.
    fn described(tasks: &[Task]) -> ([Range<i64>; 2], i64, Range<u64>) {
        let [one, two] = [&tasks[0], &tasks[1]];
        assert_eq!((one.first, one.own[0].0.clone()), (0, 0..u64::MAX));
        let behind = one
            .behind
            .as_ref()
            .map(|(iterations, _)| iterations.clone());
        let start = two.iterations.start;
        assert_eq!(
            (behind, &two.behind),
            (Some(start..start + two.first), &None)
        );
        let iterations = [one.iterations.clone(), two.iterations.clone()];
        (iterations, two.first, two.own[0].0.clone())
    }

    #[test]
    fn what_two_tasks_update_is_left_to_the_first() {
        let seen = seen(&[[0, 9], [5, 14], [12, 30], [28, 40]]);
        let tasks = tasks(&seen, 400, 2).expect("tasks");
        let expected = ([0..200, 200..400], 100, 15..u64::MAX);
        assert_eq!(described(&tasks), expected);
        let (_, elements) = tasks[0].behind.as_ref().expect("a border");
        assert_eq!(elements[0].0, 0..15);
    }

    #[test]
    fn outputs_may_be_gone_through_backwards() {
        let seen = seen(&[[28, 40], [12, 30], [5, 14], [0, 9]]);
        let tasks = tasks(&seen, 400, 2).expect("tasks");
        let expected = ([0..200, 200..400], 100, 0..12);
        assert_eq!(described(&tasks), expected);
    }

    #[test]
    fn parts_that_meet_nobody_have_no_borders() {
        let seen = seen(&[[0, 9], [10, 14], [15, 30], [31, 40]]);
        let tasks = tasks(&seen, 400, 4).expect("tasks");
        assert!(tasks.iter().all(|it| it.first == 0 && it.behind.is_none()));
    }

    #[test]
    fn tasks_that_meet_others_than_the_next_are_none() {
        assert!(tasks(&seen(&[[0, 9], [5, 14], [7, 30]]), 300, 3).is_none());
        assert!(tasks(&seen(&[[5, 9], [0, 14]]), 200, 2).is_none());
        assert!(tasks(&seen(&[[0, 9], [0, 9], [0, 9], [0, 9]]), 400, 2).is_none());
        assert!(tasks(&seen(&[[0, 9]]), 100, 2).is_none());
        assert!(tasks(&[], 0, 2).is_none());
    }

    #[test]
    fn where_windows_are_wide_there_are_fewer_tasks() {
        let ranges: Vec<_> = (0..16).map(|it| [it * 10, it * 10 + 25]).collect();
        let tasks = tasks(&seen(&ranges), 1600, 16).expect("tasks");
        assert_eq!(tasks.len(), 8);
    }

    #[test]
    fn parts_without_updates_meet_nobody() {
        let seen = seen(&[[u64::MAX, 0], [0, 9], [9, 12], [u64::MAX, 0]]);
        let tasks = tasks(&seen, 400, 2).expect("tasks");
        assert_eq!(tasks[1].first, 100);
        assert_eq!(tasks[1].own[0].0, 10..u64::MAX);
    }
}
