//! Memory that is asked for: a local array, which is there to the end of the block.

use super::Lowering;
use super::memory::Memory;
use super::reference::{Reference, Target};
use crate::ast::{Declarator, Expr, ExprKind, Length, Name};
use crate::types::Named;
use strew_affine::{Node, Span};

impl Lowering<'_> {
    /// The array that the pointer `name` is given, if `initial` is a call of `malloc` or `calloc`.
    /// Nothing inside after an error.
    pub(super) fn allocated(
        &mut self,
        name: &Name,
        named: &Named,
        initial: &Expr,
        body: &mut Vec<Node>,
    ) -> Option<Option<Reference>> {
        let (function, arguments) = self.allocation(initial)?;
        let Some(length) = self.allocated_length(named, arguments, initial.span) else {
            return Some(self.refuse_library(function, arguments));
        };
        let declarator = Declarator {
            pointers: Vec::new(),
            name: Name {
                declaration: None,
                ..name.clone()
            },
            lengths: vec![Length {
                span: length.span,
                length: Some(length),
            }],
            initial: None,
            span: initial.span,
        };
        Some(match (&named.structure, named.ty) {
            (Some(structure), _) => self.local_record(&declarator, structure, false, body),
            (None, Some(ty)) => {
                let array = self.local_array(&declarator, ty, false, body);
                array.map(|it| Reference::new(Target::Array(it), false))
            }
            (None, None) => None,
        })
    }

    /// How many elements are asked for in all.
    fn allocated_length(&mut self, named: &Named, bytes: &[Expr], span: Span) -> Option<Expr> {
        let element = match &named.structure {
            Some(structure) => structure.bytes(),
            None => named.ty?.bytes(),
        };
        let elements = self.product(bytes)?.divided(element.into())?;
        elements.written(span)
    }

    /// The function that `initial` calls for memory, and what it is given.
    fn allocation<'e>(&self, initial: &'e Expr) -> Option<(&'e Name, &'e [Expr])> {
        match &initial.kind {
            ExprKind::Cast(name, operand) if !name.pointers.is_empty() => self.allocation(operand),
            ExprKind::Call(function, arguments) => {
                let count = match self.memory_function(function)? {
                    Memory::Allocate => 1,
                    Memory::AllocateElements => 2,
                    Memory::Fill | Memory::Copy | Memory::Move | Memory::Release => return None,
                };
                (arguments.len() == count).then_some((function, arguments))
            }
            _ => None,
        }
    }
}
