//! Panics in functions of the host that generated code calls.
//!
//! Nothing unwinds through generated code: such a panic is noted for the thread that it happened
//! on, and the code goes on until its task ends. From there the note goes to the thread that waits
//! for the task, and so to the one that started the call, which then fails.

use std::cell::RefCell;

/// What panicked, and what it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The combiner.
    pub combiner: String,
    /// The message of the panic.
    pub message: String,
}

thread_local! {
    static NOTE: RefCell<Option<Box<Note>>> = const { RefCell::new(None) };
}

/// Notes that a combiner panicked on this thread; of several only the first.
pub fn note(combiner: String, message: String) {
    NOTE.with_borrow_mut(|it| {
        it.get_or_insert_with(|| Box::new(Note { combiner, message }));
    });
}

/// Whether one has panicked on this thread and nobody has taken the note yet. What it would compute
/// then is of no use.
pub fn is_noted() -> bool {
    NOTE.with_borrow(Option::is_some)
}

/// Runs `work` as if `before` had been noted, or nothing; gives back what is noted after it, and
/// leaves what was noted on this thread as it was: that belongs to a call which waits for this one.
pub(crate) fn collect<T>(
    before: Option<Box<Note>>,
    work: impl FnOnce() -> T,
) -> (T, Option<Box<Note>>) {
    NOTE.with(|noted| {
        let outer = noted.replace(before);
        let _restore = Restore { noted, outer };
        let done = work();
        (done, noted.take())
    })
}

/// Puts the note back, even where a panic goes through.
struct Restore<'n> {
    noted: &'n RefCell<Option<Box<Note>>>,
    outer: Option<Box<Note>>,
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        self.noted.replace(self.outer.take());
    }
}

/// Hands a note on to whoever started the work that left it.
pub(crate) fn pass_on(note: Option<Box<Note>>) {
    if let Some(note) = note {
        self::note(note.combiner, note.message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(text: &str) {
        note("own".to_owned(), text.to_owned());
    }

    #[test]
    fn notes_belong_to_the_work_that_left_them() {
        let ((), outer) = collect(None, || {
            noted("outer");
            let (seen, inner) = collect(None, || {
                let seen = is_noted();
                noted("inner");
                noted("later");
                seen
            });
            assert!(!seen);
            assert_eq!(inner.map(|it| it.message).as_deref(), Some("inner"));
            assert!(is_noted());
        });
        assert_eq!(outer.map(|it| it.message).as_deref(), Some("outer"));
        assert!(!is_noted());
    }
}
