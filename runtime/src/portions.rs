//! Numbers of tasks that several threads take, each first those of its own portion.
//!
//! Where the same loop runs again, a thread finds in its caches what it had there: portions depend
//! on the numbers of tasks and threads alone, and who has nothing left takes from the far ends of
//! others' portions, which these come to last.

use crossbeam::utils::CachePadded;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};

/// The tasks that are left, in one portion for each thread.
#[derive(Debug)]
pub(crate) struct Portions(SmallVec<[CachePadded<AtomicU64>; 4]>);

impl Portions {
    /// All numbers below `tasks`, in so many portions.
    pub(crate) fn new(tasks: u32, portions: usize) -> Self {
        let portions = portions.max(1) as u64;
        let bound = |number: u64| (u64::from(tasks) * number / portions) as u32;
        let all = (0..portions).map(|it| pack(bound(it), bound(it + 1)));
        Self(all.map(AtomicU64::new).map(CachePadded::new).collect())
    }

    /// Calls `work` with each number that nobody else takes, until none is left.
    pub(crate) fn take(&self, own: usize, mut work: impl FnMut(u32)) {
        let count = self.0.len();
        for distance in 0..count {
            let portion = &self.0[(own + distance) % count];
            let is_own = distance == 0;
            let rest = |portion| match (unpack(portion), is_own) {
                ((first, end), _) if first >= end => None,
                ((first, end), true) => Some(pack(first + 1, end)),
                ((first, end), false) => Some(pack(first, end - 1)),
            };
            while let Ok(taken) = portion.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest) {
                let (first, end) = unpack(taken);
                work(if is_own { first } else { end - 1 });
            }
        }
    }
}

fn pack(first: u32, end: u32) -> u64 {
    u64::from(first) << u32::BITS | u64::from(end)
}

/// The first task, and the one behind the last.
fn unpack(portion: u64) -> (u32, u32) {
    ((portion >> u32::BITS) as u32, portion as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(portions: &Portions, own: usize) -> Vec<u32> {
        let mut all = Vec::new();
        portions.take(own, |task| all.push(task));
        all
    }

    #[test]
    fn own_tasks_come_first_and_those_of_others_from_their_end() {
        assert_eq!(taken(&Portions::new(6, 2), 0), [0, 1, 2, 5, 4, 3]);
        assert_eq!(taken(&Portions::new(6, 2), 1), [3, 4, 5, 2, 1, 0]);
        assert_eq!(taken(&Portions::new(5, 3), 4), [1, 2, 4, 3, 0]);
        assert_eq!(taken(&Portions::new(1, 3), 0), [0]);
        assert_eq!(taken(&Portions::new(0, 3), 0), [0_u32; 0]);
    }

    #[test]
    fn each_is_taken_once() {
        for tasks in [1, 2, 1000] {
            let portions = Portions::new(tasks, 3);
            let mut all: Vec<u32> = std::thread::scope(|scope| {
                let takes = |own| {
                    let portions = &portions;
                    scope.spawn(move || taken(portions, own))
                };
                let threads: Vec<_> = (0..4).map(takes).collect();
                let each = threads.into_iter().map(|it| it.join().unwrap());
                each.flatten().collect()
            });
            all.sort_unstable();
            assert_eq!(all, (0..tasks).collect::<Vec<_>>());
            assert_eq!(taken(&portions, 1), [0_u32; 0]);
        }
    }
}
