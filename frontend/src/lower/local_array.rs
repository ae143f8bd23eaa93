//! Arrays that live inside the kernel: local ones, and the constant ones outside of functions,
//! which every kernel that uses them makes for itself.
//!
//! A new array is zero everywhere: of an initial value in braces only what is given has to be
//! stored.

use super::reference::{Reference, Target};
use super::structure_value::unnamed;
use super::tables::Table;
use super::{Binding, Lowering};
use crate::ast::{Declarator, Expr, TypeName};
use crate::initializer::{Given, unravelled};
use crate::problem::{DeclarationProblem, InitializerProblem, Unsupported, UnsupportedDeclaration};
use crate::resolve::{GlobalArray, Symbols};
use crate::structure::MemberElement;
use crate::types::{self, Position};
use std::rc::Rc;
use strew_affine::{
    Access, AffineExpr, Array, ArrayId, Expr as Computation, Node, Place, Span, Subscript, Type,
};

impl Lowering<'_> {
    /// Nothing after an error.
    pub(super) fn local_array(
        &mut self,
        declarator: &Declarator,
        element: Type,
        is_const: bool,
        body: &mut Vec<Node>,
    ) -> Option<ArrayId> {
        let name = &declarator.name;
        let (extents, given) = self.contents(declarator, &MemberElement::Scalar(element))?;
        let rows = extents.iter().skip(1);
        let rows: Vec<_> = rows.map(|it| it.as_constant().unwrap_or(1)).collect();
        // One of any other size may be too large, or none.
        let is_table = is_const && extents.iter().all(|it| it.as_constant().is_some());
        let array = self.declare_array(name, element, extents, is_const);
        self.allocate(array, body);
        let mut table = is_table.then(Table::default);
        for given in given {
            let (subscripts, expr) = (unravelled(given.first, &rows), given.value);
            if let Some(value) = self.expression(expr, body) {
                let value = value.convert(element).expr;
                table = table.and_then(|it| it.with(&subscripts, &value));
                body.push(element_store(array, &subscripts, value, expr.span));
            }
        }
        self.tables.extend(table.map(|it| (array, it)));
        Some(array)
    }

    /// An array that lives to the end of this block.
    pub(super) fn allocate(&mut self, array: ArrayId, body: &mut Vec<Node>) {
        self.homes.insert(array, self.nesting);
        body.push(Node::Alloc { array });
    }

    /// The lengths of a local array and what its elements are given; nothing after an error.
    pub(super) fn contents<'e>(
        &mut self,
        declarator: &'e Declarator,
        element: &MemberElement,
    ) -> Option<(Vec<AffineExpr>, Vec<Given<'e>>)> {
        let mut extents = self.local_extents(declarator)?;
        let given = match &declarator.initial {
            Some(initial) => self.initial_elements(declarator, initial, element, &mut extents)?,
            None => Vec::new(),
        };
        let extents = extents.into_iter().collect::<Option<Vec<AffineExpr>>>();
        if extents.is_none() {
            let array = declarator.name.text.clone();
            let problem = DeclarationProblem::MissingLength { array };
            self.diagnostics.report(problem, declarator.span);
        }
        Some((extents?, given))
    }

    /// `None` for a length that the initial value gives; nothing after an error.
    fn local_extents(&mut self, declarator: &Declarator) -> Option<Vec<Option<AffineExpr>>> {
        let mut extents = Vec::new();
        let name = &declarator.name.text;
        for (index, length) in declarator.lengths.iter().enumerate() {
            if index == 0 && length.length.is_none() && declarator.initial.is_some() {
                extents.push(None);
                continue;
            }
            match self.length(name, length.length.as_ref()) {
                Ok(extent) => extents.push(Some(extent?)),
                Err(problem) => {
                    self.diagnostics.report(problem, length.span);
                    return None;
                }
            }
        }
        Some(extents)
    }

    /// `(type[]){ elements }`
    pub(super) fn literal_array(
        &mut self,
        name: &TypeName,
        initial: &Expr,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Reference> {
        let named = match types::named(&name.element(), Position::Member) {
            Ok(named) if name.pointers.is_empty() => named,
            Ok(_) => {
                return self.unsupported(
                    Unsupported::Declaration(UnsupportedDeclaration::PointerType),
                    name.span,
                );
            }
            Err(problem) => return self.report(problem, name.span),
        };
        let declarator = Declarator {
            pointers: Vec::new(),
            name: unnamed(span),
            lengths: name.lengths.clone(),
            initial: Some(initial.clone()),
            span,
        };
        match (&named.structure, named.ty) {
            (Some(structure), _) => self.local_record(&declarator, structure, named.is_const, body),
            (None, Some(ty)) => {
                let array = self.local_array(&declarator, ty, named.is_const, body)?;
                Some(Reference::new(Target::Array(array), named.is_const))
            }
            (None, None) => self.report(DeclarationProblem::VoidValue, name.span),
        }
    }

    /// The constant arrays of the file that a function uses, each made once however many functions
    /// use it.
    pub(super) fn global_arrays(&mut self, symbols: &Symbols) {
        for (id, global) in symbols.globals() {
            let known = self.globals.iter().find(|(it, _)| Rc::ptr_eq(it, global));
            let array = match known {
                Some((_, array)) => *array,
                None => self.global_array(global),
            };
            let is_const = true;
            self.bind_declaration(*id, Binding::Array { array, is_const });
        }
    }

    fn global_array(&mut self, global: &Rc<GlobalArray>) -> ArrayId {
        let array = self.kernel.arrays.alloc(Array {
            name: global.name.clone(),
            element: global.element,
            extents: global.lengths.iter().map(|it| (*it).into()).collect(),
            length: None,
            field: None,
            span: global.span,
        });
        self.prelude.push(Node::Alloc { array });
        self.globals.push((global.clone(), array));
        // Every kernel that uses the array has all of this.
        if let Err(limit) = self.functions.expand(global.values.len()) {
            let problem = InitializerProblem::ConstantsTooLong { limit };
            self.diagnostics.report(problem, global.span);
            return array;
        }
        let mut table = Some(Table::default());
        for (subscripts, value, span) in &global.values {
            let value = Computation::Constant(*value);
            table = table.and_then(|it| it.with(subscripts, &value));
            let store = element_store(array, subscripts, value, *span);
            self.prelude.push(store);
        }
        self.tables.extend(table.map(|it| (array, it)));
        array
    }
}

pub(super) fn element_store(
    array: ArrayId,
    subscripts: &[i64],
    value: Computation,
    span: Span,
) -> Node {
    let subscripts = subscripts.iter().map(|it| Subscript::Affine((*it).into()));
    Node::Assign {
        place: Place::Element(Access {
            array,
            subscripts: subscripts.collect(),
            span,
        }),
        value,
        span,
    }
}
