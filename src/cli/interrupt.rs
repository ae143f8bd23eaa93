//! What signals do that ask the process to end, while something would be left behind.

use std::fs::remove_file;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use strew::StopToken;
use tempfile::TempDir;

/// What is not to outlive the process. All clones are one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Temporaries(Arc<Mutex<Vec<Temporary>>>);

#[derive(Debug)]
enum Temporary {
    File(PathBuf),
    Folder(PathBuf),
    Process(Process),
}

/// A process that ends with this one.
#[derive(Clone, Debug)]
pub(crate) struct Process(Arc<Mutex<Child>>);

impl Process {
    /// The child. Nobody has it any more when a signal ends this process: what ends there is no
    /// news then.
    pub(crate) fn child(&self) -> MutexGuard<'_, Child> {
        locked(&self.0)
    }

    /// Ends it. One that has ended stays as it is.
    pub(crate) fn end(child: &mut Child) {
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Temporaries {
    /// Adds a file that was just made.
    pub(crate) fn add(&self, path: &Path) {
        self.list().push(Temporary::File(path.to_owned()));
    }

    /// Makes a folder.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn folder(&self) -> io::Result<TempDir> {
        // A signal has to wait until it is in the list.
        let mut list = self.list();
        let folder = tempfile::tempdir()?;
        list.push(Temporary::Folder(folder.path().to_owned()));
        Ok(folder)
    }

    /// Starts a process. It is in a group of its own: what a terminal sends to this one does not
    /// end it first, and is not taken for a failure of its own.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn start(&self, command: &mut Command) -> io::Result<Process> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut list = self.list();
        let process = Process(Arc::new(Mutex::new(command.spawn()?)));
        list.push(Temporary::Process(process.clone()));
        Ok(process)
    }

    fn list(&self) -> MutexGuard<'_, Vec<Temporary>> {
        locked(&self.0)
    }

    /// Removes all of them, and lets `end` end the process before anybody makes another one or sees
    /// that a process has ended.
    fn remove(&self, end: impl FnOnce()) {
        let list = self.list();
        let processes = list.iter().filter_map(|it| match it {
            Temporary::Process(process) => Some(process.child()),
            _ => None,
        });
        let mut processes: Vec<_> = processes.collect();
        processes.iter_mut().for_each(|it| Process::end(it));
        for temporary in &*list {
            // What has its final name is gone from here, and nobody can be told why another stays.
            let _ = match temporary {
                Temporary::File(path) => remove_file(path),
                Temporary::Folder(path) => std::fs::remove_dir_all(path),
                Temporary::Process(_) => Ok(()),
            };
        }
        end();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets a signal end the process without what is in the list that it hands out. With a `stop`, the
/// first one ends a running call, which then puts everything back; where none runs, and the second
/// time, it ends the process. Where no handler can be set, the first one always does, and leaves
/// behind what there is.
pub(crate) fn handle(stop: Option<StopToken>) -> Temporaries {
    let temporaries = Temporaries::default();
    #[cfg(unix)]
    let _ = unix::handle(stop, temporaries.clone());
    #[cfg(not(unix))]
    drop(stop);
    temporaries
}

/// Ends the process by the signal that stopped a call, if one did: whoever started it is told as of
/// any other program, and shells have 128 and the number of the signal as its status.
pub(crate) fn end_if_stopped() {
    #[cfg(unix)]
    unix::end_if_stopped();
}

#[cfg(unix)]
mod unix {
    use super::Temporaries;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    use std::io::{self, Write as _};
    use std::sync::atomic::{AtomicI32, Ordering};
    use strew::StopToken;

    /// The signal that stopped a call; 0 where none did.
    static STOPPED_BY: AtomicI32 = AtomicI32::new(0);

    pub(super) fn handle(stop: Option<StopToken>, left_behind: Temporaries) -> io::Result<()> {
        let ignored = ignored();
        let heard = [SIGHUP, SIGINT, SIGTERM].into_iter();
        let mut signals = Signals::new(heard.filter(|it| !is_in(ignored, *it)))?;
        let listen = move || {
            for signal in signals.forever() {
                if !stop.as_ref().is_some_and(|it| stops(it, signal)) {
                    left_behind.remove(|| end(signal));
                }
            }
        };
        let listening = std::thread::Builder::new().name("signals".to_owned());
        listening.spawn(listen).map(drop)
    }

    /// Whether `signal` stops a call. A second one does not.
    fn stops(stop: &StopToken, signal: i32) -> bool {
        let is_second = stop.is_stopped();
        // Before it is asked whether a call runs: one that starts just then has seen it. The signal
        // first, for whom that call tells.
        let _ = STOPPED_BY.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
        stop.stop();
        if is_second || !stop.is_heard() {
            return false;
        }
        // Nobody can be told where this cannot be written.
        let _ = io::stderr().write_all(stopping(signal).as_bytes());
        true
    }

    /// What the first signal says, on a terminal or not: to stop can take until the loops that run
    /// have seen it.
    fn stopping(signal: i32) -> &'static str {
        match signal {
            // Behind what a terminal shows for the key.
            SIGINT => "\nstopping: outputs are put back; Ctrl-C again ends it at once\n",
            _ => "stopping: outputs are put back; a second signal ends it at once\n",
        }
    }

    pub(super) fn end_if_stopped() {
        match STOPPED_BY.load(Ordering::SeqCst) {
            0 => {}
            signal => end(signal),
        }
    }

    fn end(signal: i32) {
        // The first process of a container is not ended by signals of its own.
        if std::process::id() != 1 {
            let _ = emulate_default_handler(signal);
        }
        std::process::exit(128 + signal);
    }

    /// The signals that whoever started the process has it ignore, as `nohup` does, in the order of
    /// their numbers from the last bit on. Known on Linux.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|it| it.strip_prefix("SigIgn:"));
        mask.map_or(0, |it| u64::from_str_radix(it.trim(), 16).unwrap_or(0))
    }

    fn is_in(mask: u64, signal: i32) -> bool {
        mask >> (signal - 1) & 1 == 1
    }
}
