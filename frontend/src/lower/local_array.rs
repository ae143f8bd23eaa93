//! Arrays that live inside the kernel: local ones, and the constant ones outside of functions, which every kernel that uses them
//! makes for itself.
//!
//! A new array is zero everywhere: of an initial value in braces only what is given has to be stored.

use super::{Binding, Lowering};
use crate::ast::Declarator;
use crate::initializer::unravelled;
use crate::problem::{DeclarationProblem, InitializerProblem};
use crate::resolve::{GlobalArray, Symbols};
use crate::structure::MemberElement;
use std::rc::Rc;
use strew_affine::{
    Access, AffineExpr, Array, ArrayId, Expr as Computation, Node, Place, Span, Subscript, Type,
};

impl Lowering<'_> {
    pub(super) fn local_array(
        &mut self,
        declarator: &Declarator,
        element: Type,
        is_const: bool,
        body: &mut Vec<Node>,
    ) {
        let name = &declarator.name;
        let Some(mut extents) = self.local_extents(declarator) else {
            return;
        };
        let given = match &declarator.initial {
            Some(initial) => {
                let element = MemberElement::Scalar(element);
                match self.initial_elements(declarator, initial, &element, &mut extents) {
                    Some(given) => given,
                    None => return,
                }
            }
            None => Vec::new(),
        };
        let Some(extents) = extents.into_iter().collect::<Option<Vec<AffineExpr>>>() else {
            let array = name.text.clone();
            return self
                .diagnostics
                .report(DeclarationProblem::MissingLength { array }, declarator.span);
        };
        let rows = extents.iter().skip(1);
        let rows: Vec<_> = rows.map(|it| it.as_constant().unwrap_or(1)).collect();
        let array = self.declare_array(name, element, extents, is_const);
        body.push(Node::Alloc { array });
        for given in given {
            let (subscripts, expr) = (unravelled(given.first, &rows), given.value);
            if let Some(value) = self.expression(expr, body) {
                let value = value.convert(element).expr;
                body.push(element_store(array, &subscripts, value, expr.span));
            }
        }
    }

    /// `None` for a length that the initial value gives; nothing after an error.
    pub(super) fn local_extents(
        &mut self,
        declarator: &Declarator,
    ) -> Option<Vec<Option<AffineExpr>>> {
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

    /// The constant arrays of the file that a function uses, each made once however many functions use it.
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
        for (subscripts, value, span) in &global.values {
            let value = Computation::Constant(*value);
            let store = element_store(array, subscripts, value, *span);
            self.prelude.push(store);
        }
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
