//! What Ctrl-C does, and a request to terminate, while there are files that would be left behind.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use strew::StopToken;

/// The status of a process that Ctrl-C ended, as shells count it.
const INTERRUPTED: i32 = 130;

/// What the first Ctrl-C says, on a terminal or not: to stop can take until the loops that run have seen it.
const STOPPING: &str = "\nstopping: outputs are put back; Ctrl-C again ends it at once\n";

/// Files that are removed when the process is interrupted. All clones are one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Temporaries(Arc<Mutex<Vec<PathBuf>>>);

impl Temporaries {
    /// Adds a file that was just made.
    pub(crate) fn add(&self, path: &Path) {
        self.paths().push(path.to_owned());
    }

    fn remove(&self) {
        for path in &*self.paths() {
            // One that has its final name is gone from here, and nobody can be told why another stays.
            let _ = std::fs::remove_file(path);
        }
    }

    fn paths(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the first Ctrl-C end a running call, which then puts everything back; where none runs, and the second time, it ends the
/// process, without the files in the list that it hands out. Where no handler can be set, the first one always does.
pub(crate) fn handle(stop: StopToken) -> Temporaries {
    let temporaries = Temporaries::default();
    let left_behind = temporaries.clone();
    let _ = ctrlc::set_handler(move || {
        let is_second = stop.is_stopped();
        // Before it is asked whether a call runs: one that starts just then has seen it.
        stop.stop();
        if is_second || !stop.is_heard() {
            left_behind.remove();
            std::process::exit(INTERRUPTED);
        }
        // Nobody can be told where this cannot be written.
        let _ = std::io::stderr().write_all(STOPPING.as_bytes());
    });
    temporaries
}
