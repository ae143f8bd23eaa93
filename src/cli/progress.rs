//! A bar on standard error for runs that take long, where a terminal shows it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use strew::Progress;

/// A run that ends before this has no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// The bar moves so often.
const STEP: Duration = Duration::from_millis(100);

/// Runs `call`, which tells `progress` how far it is, with a bar that is gone when it has ended.
pub(crate) fn with_bar<R>(progress: &Progress, call: impl FnOnce() -> R) -> R {
    if !io::stderr().is_terminal() {
        return call();
    }
    let (ended, end) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let bar = bar();
                while end.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                    bar.set_length(progress.total());
                    bar.set_position(progress.done());
                    bar.tick();
                }
                bar.finish_and_clear();
            }
        });
        let outcome = call();
        drop(ended);
        outcome
    })
}

fn bar() -> ProgressBar {
    let bar =
        ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr()).with_elapsed(PATIENCE);
    let form = "{elapsed_precise} [{wide_bar}] {percent}%, {eta} to go";
    match ProgressStyle::with_template(form) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
