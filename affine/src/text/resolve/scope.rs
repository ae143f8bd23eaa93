use crate::spelling::nearest;
use crate::text::error::ParseErrorKind;
use crate::{ArrayId, IterId, LocalId, ScalarId, Span};
use std::borrow::Cow;
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Symbol {
    Scalar(ScalarId),
    Array(ArrayId),
    Record,
    /// By its position among the views.
    View(usize),
    Iter(IterId),
    Local(LocalId),
}

#[derive(Clone, Copy)]
struct Entry {
    symbol: Symbol,
    span: Span,
    is_visible: bool,
}

/// The names of a kernel. No name is given twice, so one table is enough for all blocks.
#[derive(Default)]
pub(super) struct Scope<'a> {
    entries: HashMap<Cow<'a, str>, Entry>,
    visible: Vec<Cow<'a, str>>,
}

impl<'a> Scope<'a> {
    /// Makes the name visible until the block is left.
    ///
    /// # Errors
    /// Where the name was given before.
    pub(super) fn declare(
        &mut self,
        name: Cow<'a, str>,
        span: Span,
        symbol: Symbol,
    ) -> Result<(), Span> {
        if let Some(first) = self.entries.get(&name) {
            return Err(first.span);
        }
        let entry = Entry {
            symbol,
            span,
            is_visible: true,
        };
        self.entries.insert(name.clone(), entry);
        self.visible.push(name);
        Ok(())
    }

    pub(super) fn lookup(&self, name: &str) -> Result<Symbol, ParseErrorKind> {
        match self.entries.get(name) {
            Some(entry) if entry.is_visible => Ok(entry.symbol),
            Some(_) => Err(ParseErrorKind::NotVisible(name.to_owned())),
            None => Err(ParseErrorKind::UnknownName {
                name: name.to_owned(),
                nearest: nearest(name, self.visible.iter().map(|it| &**it)).map(str::to_owned),
            }),
        }
    }

    /// Begins a block; what it gives back ends it.
    pub(super) fn enter(&self) -> usize {
        self.visible.len()
    }

    pub(super) fn leave(&mut self, outer: usize) {
        for name in self.visible.split_off(outer) {
            if let Some(entry) = self.entries.get_mut(&name) {
                entry.is_visible = false;
            }
        }
    }
}
