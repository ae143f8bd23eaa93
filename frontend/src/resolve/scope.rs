//! What names mean where: variables, constants, types and tags, in nested scopes.

use super::shape::Shape;
use crate::ast::{DeclarationId, Specifier};
use crate::structure::Structure;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use strew_affine::{Span, Type, Value};

/// What a name means that is neither a tag, nor a member, nor a function.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// A variable of the function.
    Variable(DeclarationId),
    /// A constant, which is put in the place of its name.
    Constant(Value),
    /// A type, whose words are put in the place of its name.
    Type(Rc<[Specifier]>),
    /// A constant array outside of functions.
    Array(Rc<GlobalArray>),
}

/// What a tag means.
#[derive(Clone, Debug)]
pub(super) enum Tag {
    Structure(Rc<Structure>),
    Enumeration(Type),
}

/// A constant array outside of functions.
#[derive(Debug)]
pub(crate) struct GlobalArray {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) element: Type,
    pub(crate) lengths: Vec<i64>,
    /// The elements that are given: the subscripts and the value of each, and where it is given.
    pub(crate) values: Vec<(Vec<i64>, Value, Span)>,
    pub(super) shape: Shape,
}

/// A meaning and where it was given.
#[derive(Clone, Debug)]
pub(super) struct Declared<T> {
    pub(super) meaning: T,
    pub(super) span: Span,
}

/// The names of one scope.
#[derive(Clone, Debug)]
pub(super) struct Names<T>(HashMap<String, Declared<T>>);

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> Names<T> {
    /// Where the name was declared before in this scope.
    pub(super) fn declare(&mut self, name: &str, meaning: T, span: Span) -> Option<Span> {
        let previous = self.0.insert(name.to_owned(), Declared { meaning, span });
        previous.map(|it| it.span)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Declared<T>> {
        self.0.get(name)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }
}

/// The names of the file.
#[derive(Debug, Default)]
pub(crate) struct Globals {
    /// The functions that the file defines or declares.
    pub(super) functions: HashSet<String>,
    /// Names that may be declared in what could not be read.
    pub(super) lost: HashSet<String>,
    pub(super) names: Names<Entry>,
    pub(super) tags: Names<Tag>,
}
