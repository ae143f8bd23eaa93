//! Which functions of a file call which.
//!
//! A call is replaced by the body of the function called, so that no function may come to call
//! itself. Every function becomes a kernel, except for a `static` one, or one that is called and
//! returns a structure, which no kernel can: that is part of its callers alone. Where all are
//! `static`, those become kernels that no other calls.

use crate::ast::{Function, Name, Prototype, Specifier};
use crate::diagnostic::{Diagnostics, Label};
use crate::problem::{CallProblem, DeclarationProblem};
use crate::resolve::Symbols;
use crate::types::{self, Position};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

/// How many statements and expressions calls may add to the kernels of a file.
const LIMIT: usize = 400_000;

/// A function whose names are resolved.
#[derive(Clone, Copy)]
pub(crate) struct Resolved<'a> {
    pub(crate) function: &'a Function,
    pub(crate) symbols: &'a Symbols,
}

/// The functions of a file, by name.
pub(crate) struct Functions<'a> {
    defined: HashMap<&'a str, Resolved<'a>>,
    in_order: Vec<Resolved<'a>>,
    prototypes: HashMap<&'a str, &'a Prototype>,
    /// The functions that the combiners of the file call.
    combining: Vec<&'a Name>,
    /// How many statements and expressions calls may still add.
    left: Cell<usize>,
}

impl<'a> Functions<'a> {
    pub(crate) fn new(
        functions: impl Iterator<Item = (&'a Function, &'a Symbols)>,
        prototypes: &'a [Prototype],
        combiners: impl Iterator<Item = &'a Symbols>,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let in_order = functions.map(|(function, symbols)| Resolved { function, symbols });
        let in_order: Vec<_> = in_order.collect();
        let mut defined: HashMap<&str, Resolved<'_>> = HashMap::new();
        for resolved in &in_order {
            let name = &resolved.function.name;
            if let Some(first) = defined.get(name.text.as_str()) {
                let label = Label {
                    span: first.function.name.span,
                    message: "first defined here".to_owned(),
                };
                let problem = DeclarationProblem::Duplicate {
                    name: name.text.clone(),
                };
                diagnostics.report_with(problem, name.span, vec![label]);
                continue;
            }
            defined.insert(&name.text, *resolved);
        }
        Self {
            defined,
            in_order,
            prototypes: prototypes
                .iter()
                .map(|it| (it.name.text.as_str(), it))
                .collect(),
            combining: combiners.flat_map(|it| &it.calls).collect(),
            left: Cell::new(LIMIT),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Resolved<'a>> {
        self.defined.get(name).copied()
    }

    pub(crate) fn prototype(&self, name: &str) -> Option<&'a Prototype> {
        self.prototypes.get(name).copied()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.defined.keys().copied()
    }

    /// Takes `size` from what calls may add.
    ///
    /// # Errors
    /// How much they may add in all, when no more is left.
    pub(crate) fn expand(&self, size: usize) -> Result<(), usize> {
        let left = self.left.get().checked_sub(size).ok_or(LIMIT)?;
        self.left.set(left);
        Ok(())
    }

    /// The functions that become kernels, in the order of the source: the one that is asked for, if
    /// there is any.
    pub(crate) fn kernels(&self, asked: Option<&str>) -> Vec<Resolved<'a>> {
        if let Some(only) = asked.and_then(|it| self.get(it)) {
            return vec![only];
        }
        let called = self.called();
        let in_order = self.in_order.iter().copied();
        let (inside, outside): (Vec<_>, Vec<_>) = in_order
            .filter(|it| {
                let is_helper = is_static(it.function) || returns_structure(it.function);
                !(is_helper && called.contains(it.function.name.text.as_str()))
            })
            .partition(|it| is_static(it.function));
        match outside.is_empty() {
            true => inside,
            false => outside,
        }
    }

    fn called(&self) -> HashSet<&'a str> {
        let calls = self.in_order.iter().flat_map(|it| &it.symbols.calls);
        let calls = calls.chain(self.combining.iter().copied());
        calls.map(|it| it.text.as_str()).collect()
    }

    /// Reports the calls that lead back to the function they stand in.
    pub(crate) fn check_recursion(&self, diagnostics: &mut Diagnostics) {
        let mut done = HashSet::new();
        for start in &self.in_order {
            self.search(&start.function.name.text, &mut done, diagnostics);
        }
    }

    /// Depth first, without recursion: chains of calls may be long.
    fn search(&self, start: &'a str, done: &mut HashSet<&'a str>, diagnostics: &mut Diagnostics) {
        let mut path: Vec<(&str, usize)> = vec![(start, 0)];
        let mut on_path = HashSet::from([start]);
        while let Some((name, next)) = path.last_mut() {
            let function = self.defined.get(*name).filter(|_| !done.contains(*name));
            let Some(call) = function.and_then(|it| it.symbols.calls.get(*next)) else {
                done.insert(*name);
                on_path.remove(*name);
                path.pop();
                continue;
            };
            *next += 1;
            let callee = call.text.as_str();
            if on_path.contains(callee) {
                let cycle = path.iter().map(|(name, _)| *name);
                let cycle = cycle.skip_while(|name| *name != callee);
                let problem = CallProblem::Recursion {
                    cycle: cycle.map(str::to_owned).collect(),
                };
                diagnostics.report(problem, call.span);
            } else if self.defined.contains_key(callee) && !done.contains(callee) {
                on_path.insert(callee);
                path.push((callee, 0));
            }
        }
    }
}

fn returns_structure(function: &Function) -> bool {
    let named = types::named(&function.returns, Position::Function);
    named.is_ok_and(|it| it.structure.is_some())
}

fn is_static(function: &Function) -> bool {
    function.returns.words.contains(&Specifier::Static)
}
