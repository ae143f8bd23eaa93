//! Declarations of types and constants: `typedef`, `struct`, `enum`, and what stands outside of
//! functions.

use super::scope::{Declared, Entry, GlobalArray, Tag};
use super::shape::{self, Shape};
use super::{Resolver, first_declared};
use crate::ast::{
    Assertion, Declaration, Declarator, EnumSpecifier, Expr, Name, Specifier, StructSpecifier,
    TypeName,
};
use crate::constant;
use crate::initializer;
use crate::problem::{DeclarationProblem, Problem, Unsupported, UnsupportedDeclaration};
use crate::structure::{MemberElement, Structure};
use crate::types::{self, Named, Position};
use std::rc::Rc;
use strew_affine::{Span, Type, Value, evaluate};

/// How many members that hold numbers a structure may have, those of structures in it included:
/// each becomes an array or a variable.
const MOST_MEMBERS: usize = 256;
/// How many structures may contain each other.
const DEEPEST_STRUCTURE: usize = 32;

impl Resolver<'_> {
    /// Puts what the names of types mean in their place.
    pub(super) fn type_name(&mut self, name: &mut TypeName) {
        self.specifiers(name, None);
        for length in &mut name.lengths {
            if let Some(length) = &mut length.length {
                self.expression(length);
            }
        }
    }

    /// `first` is the first name that a `typedef` gives to the type.
    fn specifiers(&mut self, name: &mut TypeName, first: Option<&str>) {
        let mut words = Vec::with_capacity(name.words.len());
        for word in std::mem::take(&mut name.words) {
            match word {
                Specifier::Named(named) => match self.meaning(&named.text, named.span) {
                    Some(Entry::Type(meaning)) => words.extend(meaning.iter().cloned()),
                    _ => words.push(Specifier::Named(named)),
                },
                Specifier::Struct(mut it) => {
                    self.structure(&mut it, first);
                    words.push(Specifier::Struct(it));
                }
                Specifier::Enum(mut it) => {
                    self.enumeration(&mut it);
                    words.push(Specifier::Enum(it));
                }
                other => words.push(other),
            }
        }
        name.words = words;
    }

    fn structure(&mut self, specifier: &mut StructSpecifier, first: Option<&str>) {
        if specifier.definition.is_some() {
            return;
        }
        let Some(members) = &mut specifier.members else {
            specifier.definition = match &specifier.tag {
                Some(tag) => self.structure_of(tag, specifier.span),
                None => None,
            };
            return;
        };
        let mut list: Vec<(String, MemberElement, Vec<u32>)> = Vec::new();
        let mut fields = 0_usize;
        let mut lost = Vec::new();
        for declaration in members {
            self.type_name(&mut declaration.ty);
            for declarator in &mut declaration.declarators {
                let name = declarator.name.clone();
                if list.iter().any(|(it, ..)| *it == name.text) {
                    let problem = DeclarationProblem::Duplicate {
                        name: name.text.clone(),
                    };
                    self.diagnostics.report(problem, name.span);
                } else if let Some((element, lengths)) = self.member(&declaration.ty, declarator) {
                    let inner = element.structure().map_or(1, |it| it.field_count());
                    fields = fields.saturating_add(inner);
                    if fields <= MOST_MEMBERS {
                        list.push((name.text.clone(), element, lengths));
                    }
                } else {
                    lost.push(name.text.clone());
                }
            }
        }
        if fields > MOST_MEMBERS {
            let limit = MOST_MEMBERS;
            self.diagnostics
                .report(DeclarationProblem::TooManyMembers { limit }, specifier.span);
        }
        let tag = specifier.tag.as_ref();
        let name = tag.map(|tag| tag.text.as_str()).or(first);
        let structure = Structure::new(name.unwrap_or("struct").to_owned(), list);
        let structure = Rc::new(Structure { lost, ..structure });
        specifier.definition = Some(Rc::clone(&structure));
        if let Some(tag) = tag {
            self.declare_tag(tag, Tag::Structure(structure));
        }
    }

    fn structure_of(&mut self, tag: &Name, span: Span) -> Option<Rc<Structure>> {
        match self.tag(&tag.text, tag.span) {
            Some(Tag::Structure(it)) => Some(it),
            _ => {
                let name = format!("struct {}", tag.text);
                self.diagnostics
                    .report(DeclarationProblem::UnknownTag { name }, span);
                None
            }
        }
    }

    /// What a member is made of, and its lengths.
    fn member(
        &mut self,
        ty: &TypeName,
        declarator: &mut Declarator,
    ) -> Option<(MemberElement, Vec<u32>)> {
        if !declarator.pointers.is_empty() {
            let name = declarator.name.text.clone();
            let problem =
                Problem::Unsupported(Unsupported::Declaration(UnsupportedDeclaration::Member {
                    name,
                }));
            self.diagnostics.report(problem, declarator.span);
            return None;
        }
        let problem = match types::named(ty, Position::Member) {
            Ok(Named { ty: Some(ty), .. }) => {
                let lengths = self.member_lengths(declarator)?;
                return Some((MemberElement::Scalar(ty), lengths));
            }
            Ok(Named {
                structure: Some(structure),
                ..
            }) if structure.depth() < DEEPEST_STRUCTURE => {
                let lengths = self.member_lengths(declarator)?;
                return Some((MemberElement::Structure(structure), lengths));
            }
            Ok(Named {
                structure: Some(_), ..
            }) => {
                let limit = DEEPEST_STRUCTURE;
                DeclarationProblem::StructuresTooDeep { limit }
            }
            Ok(_) => DeclarationProblem::VoidValue,
            Err(problem) => {
                self.diagnostics.report(problem, ty.span);
                return None;
            }
        };
        self.diagnostics.report(problem, declarator.span);
        None
    }

    fn member_lengths(&mut self, declarator: &mut Declarator) -> Option<Vec<u32>> {
        let mut lengths = Vec::with_capacity(declarator.lengths.len());
        for length in &mut declarator.lengths {
            let value = match &mut length.length {
                Some(length) => {
                    self.expression(length);
                    self.constant_integer(length)?
                }
                None => 0,
            };
            match u32::try_from(value) {
                Ok(value) if value > 0 => lengths.push(value),
                _ => {
                    let name = declarator.name.text.clone();
                    let problem = DeclarationProblem::MemberLength { name };
                    self.diagnostics.report(problem, length.span);
                    return None;
                }
            }
        }
        Some(lengths)
    }

    fn enumeration(&mut self, specifier: &mut EnumSpecifier) {
        if specifier.ty.is_some() {
            return;
        }
        let Some(enumerators) = &mut specifier.enumerators else {
            let Some(tag) = &specifier.tag else { return };
            specifier.ty = match self.tag(&tag.text, tag.span) {
                Some(Tag::Enumeration(ty)) => Some(ty),
                _ => {
                    let name = format!("enum {}", tag.text);
                    self.diagnostics
                        .report(DeclarationProblem::UnknownTag { name }, tag.span);
                    Some(Type::I32)
                }
            };
            return;
        };
        let (mut next, mut has_negative) = (0_i128, false);
        for enumerator in enumerators {
            if let Some(value) = &mut enumerator.value {
                self.expression(value);
                next = self.constant_integer(value).unwrap_or(next);
            }
            let value = Value::integer(Type::I32, next);
            has_negative |= next < 0;
            if value.as_integer() != Some(next) {
                let name = enumerator.name.text.clone();
                self.diagnostics.report(
                    DeclarationProblem::EnumeratorRange { name },
                    enumerator.name.span,
                );
            }
            self.declare_entry(&enumerator.name, Entry::Constant(value));
            next += 1;
        }
        // The type that the platform's compilers choose.
        let ty = if has_negative { Type::I32 } else { Type::U32 };
        specifier.ty = Some(ty);
        if let Some(tag) = &specifier.tag {
            self.declare_tag(tag, Tag::Enumeration(ty));
        }
    }

    fn constant_integer(&mut self, expr: &Expr) -> Option<i128> {
        let value = constant::evaluate(expr).and_then(Value::as_integer);
        if value.is_none() {
            self.report_not_constant(expr);
        }
        value
    }

    /// `_Static_assert` is decided here, and leaves nothing behind.
    pub(super) fn assertion(&mut self, assertion: &mut Assertion) {
        self.expression(&mut assertion.condition);
        if self.constant_integer(&assertion.condition) == Some(0) {
            let text = assertion.text.clone();
            let problem = DeclarationProblem::AssertionFails { text };
            self.diagnostics.report(problem, assertion.condition.span);
        }
    }

    /// What has an unknown name in it was reported.
    fn report_not_constant(&mut self, expr: &Expr) {
        let mut is_resolved = true;
        expr.for_each_name(&mut |name| is_resolved &= name.declaration.is_some());
        if is_resolved {
            let problem = DeclarationProblem::NotConstant;
            self.diagnostics.report(problem, expr.span);
        }
    }

    fn declare_tag(&mut self, tag: &Name, meaning: Tag) {
        let tags = self.tags.last_mut();
        let previous = tags.and_then(|tags| tags.declare(&tag.text, meaning, tag.span));
        self.report_duplicate(tag, previous);
    }

    pub(super) fn declare_entry(&mut self, name: &Name, entry: Entry) {
        let scope = self.scopes.last_mut();
        let previous = scope.and_then(|scope| scope.declare(&name.text, entry, name.span));
        self.report_duplicate(name, previous);
    }

    fn report_duplicate(&mut self, name: &Name, previous: Option<Span>) {
        if let Some(previous) = previous {
            let problem = DeclarationProblem::Duplicate {
                name: name.text.clone(),
            };
            let labels = vec![first_declared(previous)];
            self.diagnostics.report_with(problem, name.span, labels);
        }
    }

    fn tag(&self, name: &str, span: Span) -> Option<Tag> {
        let inner = self.tags.iter().rev().find_map(|tags| tags.get(name));
        let outer = || self.globals.tags.get(name).filter(|it| is_before(it, span));
        inner.or_else(outer).map(|it| it.meaning.clone())
    }

    /// What a name means at `span`.
    pub(super) fn meaning(&self, name: &str, span: Span) -> Option<Entry> {
        let inner = self.scopes.iter().rev().find_map(|it| it.get(name));
        let outer = || {
            self.globals
                .names
                .get(name)
                .filter(|it| is_before(it, span))
        };
        inner.or_else(outer).map(|it| it.meaning.clone())
    }

    /// Whether the declaration only names a type; its names are declared then.
    pub(super) fn type_declaration(&mut self, declaration: &mut Declaration) -> bool {
        let first = declaration.declarators.first();
        let first = first.map(|it| it.name.text.clone());
        self.specifiers(&mut declaration.ty, first.as_deref());
        if !declaration.is_typedef() {
            return false;
        }
        let words = declaration.ty.words.iter();
        let words: Rc<[Specifier]> = words
            .filter(|word| **word != Specifier::Typedef)
            .map(Specifier::named_only)
            .collect();
        for declarator in &declaration.declarators {
            if declarator.pointers.is_empty() && declarator.lengths.is_empty() {
                self.declare_entry(&declarator.name, Entry::Type(Rc::clone(&words)));
            } else {
                let name = declarator.name.text.clone();
                let problem = Problem::Unsupported(Unsupported::Declaration(
                    UnsupportedDeclaration::TypedefOfPointer { name },
                ));
                self.diagnostics.report(problem, declarator.span);
                self.declare_entry(&declarator.name, Entry::Type(Rc::clone(&words)));
            }
        }
        true
    }

    /// A declaration outside of functions.
    pub(super) fn file_declaration(&mut self, declaration: &mut Declaration) {
        if self.type_declaration(declaration) {
            return;
        }
        let ty = declaration.ty.span;
        let named = match types::named(&declaration.ty, Position::File) {
            Ok(named) => Some(named),
            Err(problem) => {
                self.diagnostics.report(problem, ty);
                None
            }
        };
        let is_elsewhere = declaration.ty.words.contains(&Specifier::Extern);
        for declarator in &mut declaration.declarators {
            if let Some(named) = &named {
                let is_defined = declarator.initial.is_some() || !is_elsewhere;
                let is_constant = named.is_const && declarator.pointers.is_empty() && is_defined;
                self.file_variable(declarator, named.ty.filter(|_| is_constant));
            }
            let names = self.scopes.last();
            if names.is_none_or(|it| it.get(&declarator.name.text).is_none()) {
                self.lost.insert(declarator.name.text.clone());
            }
        }
    }

    /// `ty` is the type of a constant.
    fn file_variable(&mut self, declarator: &mut Declarator, ty: Option<Type>) {
        if let Some(ty) = ty {
            return self.file_constant(declarator, ty);
        }
        let name = declarator.name.text.clone();
        let problem = Problem::Unsupported(Unsupported::Declaration(
            UnsupportedDeclaration::FileScopeVariable { name },
        ));
        self.diagnostics.report(problem, declarator.span);
    }

    fn file_constant(&mut self, declarator: &mut Declarator, ty: Type) {
        for length in &mut declarator.lengths {
            if let Some(length) = &mut length.length {
                self.expression(length);
            }
        }
        if let Some(initial) = &mut declarator.initial {
            self.expression(initial);
        }
        let declarator = &*declarator;
        if !declarator.lengths.is_empty() {
            return self.file_array(declarator, ty);
        }
        let value = match &declarator.initial {
            Some(given) => {
                let initial = initializer::scalar(given);
                let value = initial.and_then(constant::evaluate);
                if value.is_none() {
                    self.report_not_constant(initial.unwrap_or(given));
                }
                value
            }
            None => None,
        };
        let value = value.map_or(Value::zero(ty), |it| evaluate::convert(ty, it));
        self.declare_entry(&declarator.name, Entry::Constant(value));
    }

    fn file_array(&mut self, declarator: &Declarator, element: Type) {
        let name = &declarator.name;
        let mut lengths: Vec<Option<i64>> = Vec::new();
        for (index, length) in declarator.lengths.iter().enumerate() {
            lengths.push(match &length.length {
                Some(expr) => match self.constant_integer(expr) {
                    Some(length) => i64::try_from(length).ok(),
                    None => return,
                },
                None if index == 0 => None,
                None => {
                    let array = name.text.clone();
                    return self
                        .diagnostics
                        .report(DeclarationProblem::MissingLength { array }, length.span);
                }
            });
        }
        let mut given = Vec::new();
        if let Some(initial) = &declarator.initial {
            match initializer::elements(initial, &mut lengths) {
                Ok(elements) => given = elements,
                Err((problem, span)) => return self.diagnostics.report(problem, span),
            }
        }
        let mut values = Vec::new();
        for (subscripts, expr) in given {
            match constant::evaluate(expr) {
                Some(value) => {
                    let value = evaluate::convert(element, value);
                    values.push((subscripts, value, expr.span));
                }
                None => self.report_not_constant(expr),
            }
        }
        let Some(lengths) = lengths.into_iter().collect::<Option<Vec<i64>>>() else {
            let array = name.text.clone();
            return self
                .diagnostics
                .report(DeclarationProblem::MissingLength { array }, declarator.span);
        };
        let counts: Vec<_> = lengths.iter().map(|it| u64::try_from(*it).ok()).collect();
        let array = Rc::new(GlobalArray {
            name: name.text.clone(),
            span: name.span,
            element,
            lengths,
            values,
            shape: shape::array(Shape::Scalar(element), &counts),
        });
        self.declare_entry(name, Entry::Array(array));
    }
}

fn is_before<T>(declared: &Declared<T>, span: Span) -> bool {
    declared.span.range().start <= span.range().start
}

impl Declaration {
    /// Whether it declares types and constants alone.
    pub(crate) fn declares_nothing(&self) -> bool {
        self.is_typedef() || self.declarators.is_empty()
    }

    /// Whether it declares names for a type.
    pub(crate) fn is_typedef(&self) -> bool {
        self.ty.words.contains(&Specifier::Typedef)
    }
}

impl Specifier {
    /// The same without the list of members or enumerators, which is not defined again where the
    /// type is named.
    fn named_only(&self) -> Self {
        match self {
            Self::Struct(it) => Self::Struct(Box::new(StructSpecifier {
                tag: it.tag.clone(),
                members: None,
                definition: it.definition.clone(),
                span: it.span,
            })),
            Self::Enum(it) => Self::Enum(Box::new(EnumSpecifier {
                tag: it.tag.clone(),
                enumerators: None,
                ty: it.ty,
                span: it.span,
            })),
            other => other.clone(),
        }
    }
}
