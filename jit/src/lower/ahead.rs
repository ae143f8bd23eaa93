//! What every turn of a loop is sure to check is checked before the first.
//!
//! A loop over a row, `for k in row[u]..row[u + 1]`, reads `col[k]` in each turn: all of them are
//! in range if the row lies in the array. And what is the same in every turn needs one look. Where
//! that fails some turn fails, unless one before it does, so the call ends with a fault in any
//! case; which one is the first is found by the code that tells faults in full, where nothing is
//! checked ahead.

use super::function::FunctionLowering;
use super::loops::Counted;
use crate::compiled::Faults;
use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use strew_affine::changed::Changed;
use strew_affine::interpret::Oob;
use strew_affine::visit::walk;
use strew_affine::{Access, AffineExpr, Expr, IterId, Node, Place, Subscript, Variable};
use strew_runtime::abi::Status;

/// What is kept for all turns takes a register.
const MOST_KEPT: usize = 4;

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Checks ahead what can be, in the preheader of a loop that turns at least once; returns the
    /// extents, over parameters alone, that the iterator is below and not below zero in all turns.
    pub(super) fn check_ahead(&mut self, counted: &Counted<'k>) -> Vec<AffineExpr> {
        let may = self.program.faults == Faults::Bare && self.program.oob == Oob::Error;
        if !may || holds_while(counted.body) {
            return Vec::new();
        }
        let accesses = sure_accesses(counted.body);
        let inside = changed_inside(counted.iter, counted.body);
        let mut kept = 0;
        for access in &accesses {
            if kept < MOST_KEPT && self.is_kept(access, &inside) {
                self.load_ahead(access);
                kept += 1;
            }
        }
        let mut checked: Vec<&Access> = Vec::new();
        for access in &accesses {
            let is_new = !checked.iter().any(|it| it.is_same(access));
            if kept < MOST_KEPT && is_new && self.is_checked_once(access, &inside) {
                self.check_access(access);
                checked.push(access);
                kept += 1;
            }
        }
        self.check_ends(counted, &accesses)
    }

    /// Whether `access` is the same element in every turn, and nobody else keeps it.
    fn is_kept(&self, access: &Access, inside: &Changed) -> bool {
        self.program.facts.is_read_only(access.array)
            && (self.is_extended(access) || !self.is_movable(access))
            && self.known_element(access).is_none()
            && inside.place_stays(access)
            && self.is_steady(access)
    }

    /// Whether elements are integers that a load extends to 64 bits: the code generator moves such
    /// loads out of no loop.
    fn is_extended(&self, access: &Access) -> bool {
        let ty = self.program.kernel.arrays[access.array].element;
        ty.is_integer() && ty.bits() < 64
    }

    /// Whether `access` is to one place in all turns, of which nobody knows that it is there.
    fn is_checked_once(&self, access: &Access, inside: &Changed) -> bool {
        let is_computed = |it: &Subscript| matches!(it, Subscript::Computed(_));
        access.subscripts.iter().any(is_computed)
            && self.known_element(access).is_none()
            && inside.place_stays(access)
            && self.is_steady(access)
    }

    fn load_ahead(&mut self, access: &Access) {
        if self.is_extended(access) {
            self.load_extended(access);
        } else {
            self.load(access);
        }
    }

    /// Checks that the values of the iterator are subscripts in range, for all `accesses` that it
    /// is a subscript of.
    fn check_ends(&mut self, counted: &Counted<'k>, accesses: &[&Access]) -> Vec<AffineExpr> {
        let mut checked: Vec<AffineExpr> = Vec::new();
        // With another step the last value may lie further from the upper bound.
        if counted.step != 1 {
            return checked;
        }
        for access in accesses {
            let Some(array) = self.arrays.get(access.array).cloned() else {
                continue;
            };
            let declared = &self.program.kernel.arrays[access.array].extents;
            let dimensions = access.subscripts.iter().zip(declared).zip(array.extents);
            for ((subscript, bound), extent) in dimensions {
                let is_new = !checked.contains(bound) && checked.len() < MOST_KEPT;
                if is_new && is_iter(subscript, counted.iter) && !self.is_proved(access) {
                    // Below the extent is what is not above it and not negative: one of both is, as
                    // a number with a sign.
                    let room = self.builder.ins().isub(extent, counted.upper);
                    let either = self.builder.ins().bor(room, counted.lower);
                    let less = IntCC::SignedLessThan;
                    let outside = self.builder.ins().icmp_imm_s(less, either, 0);
                    self.leave_with(outside, Status::Fault);
                    checked.push(bound.clone());
                }
            }
        }
        checked
    }
}

pub(super) fn is_iter(subscript: &Subscript, iter: IterId) -> bool {
    matches!(subscript, Subscript::Affine(expr) if expr.as_variable() == Some(Variable::Iter(iter)))
}

fn holds_while(body: &[Node]) -> bool {
    let mut holds = false;
    walk(body, &mut |node, _| {
        holds |= matches!(node, Node::ScfWhile { .. })
    });
    holds
}

/// The accesses that every turn of a loop makes, unless it ends before.
pub(super) fn sure_accesses(body: &[Node]) -> Vec<&Access> {
    let mut found = Vec::new();
    for node in body {
        // Those of conditions and of bounds among them, none of inner blocks.
        for expr in node.expressions() {
            sure_loads(expr, &mut found);
        }
        for place in node.places() {
            if let Place::Element(access) = place {
                sure_subscripts(access, &mut found);
                found.push(access);
            }
        }
    }
    found
}

fn sure_loads<'k>(expr: &'k Expr, found: &mut Vec<&'k Access>) {
    match expr {
        Expr::Load(access) => {
            sure_subscripts(access, found);
            found.push(access);
        }
        Expr::And(left, _) | Expr::Or(left, _) | Expr::Select(left, _, _) => {
            sure_loads(left, found);
        }
        _ => {
            let operands = expr.operands().into_iter();
            operands.for_each(|it| sure_loads(it, found));
        }
    }
}

fn sure_subscripts<'k>(access: &'k Access, found: &mut Vec<&'k Access>) {
    for subscript in &access.subscripts {
        if let Subscript::Computed(expr) = subscript {
            sure_loads(expr, found);
        }
    }
}

/// What a loop binds or sets. Whether elements that it reads stay is asked elsewhere.
pub(super) fn changed_inside(iter: IterId, body: &[Node]) -> Changed {
    Changed::in_loop(iter, body).but(|_| true)
}
