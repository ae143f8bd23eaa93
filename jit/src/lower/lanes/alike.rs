//! Groups of turns that update what is held in registers.
//!
//! Where keys are computed in lanes, one comparison tells whether all lanes of a group go to one
//! element: the first sees to it that this is the one that is held, and the others combine into it.
//! Where they do not, jumps lane by lane cannot be foretold, which takes longer than to wait for
//! memory: there the lanes update their elements, all but the last one, whose element is held from
//! then on.

use super::one_by_one::OneByOne;
use super::value::{InLanes, as_integers, first_lane_in_all};
use crate::CompileError;
use crate::lower::function::FunctionLowering;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use strew_affine::{ArrayId, Expr, Node, Subscript};

/// Vectors that are the same in all lanes where these go to one element each.
type Keys<'v> = Vec<&'v [Value]>;

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// What tells where lanes go, if all that they make are updates of elements that are held, of
    /// each buffer one.
    pub(super) fn keys_of_runs<'v>(&self, statements: &'v OneByOne<'_, 'k>) -> Option<Keys<'v>> {
        let mut buffers: Vec<ArrayId> = Vec::new();
        let mut keys = Keys::new();
        for node in statements.in_turn {
            let Node::Reduce { places, .. } = node else {
                return None;
            };
            let access = places.first()?.element()?;
            let is_held = self.run_of(places).is_some() && self.within_of(places).is_none();
            if !is_held || buffers.contains(&access.array) {
                return None;
            }
            buffers.push(access.array);
            let mut subscripts = access.subscripts.iter();
            subscripts.try_for_each(|it| statements.add_keys(it, &mut keys))?;
        }
        (!keys.is_empty()).then_some(keys)
    }

    /// Makes the statements of all lanes, which go by `keys`.
    pub(super) fn together_or_not(
        &mut self,
        statements: &OneByOne<'_, 'k>,
        keys: &Keys<'_>,
    ) -> Result<(), CompileError> {
        let [together, apart, next] = [(); 3].map(|()| self.builder.create_block());
        let differ = self.differ_in_lanes(keys);
        self.builder.ins().brif(differ, apart, &[], together, &[]);
        self.builder.switch_to_block(together);
        self.update_together(statements)?;
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(apart);
        self.update_apart(statements)?;
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
        Ok(())
    }

    /// What is not 0 if one of `keys` is not the same in all lanes.
    fn differ_in_lanes(&mut self, keys: &Keys<'_>) -> Value {
        let mut differ = self.builder.ins().iconst(types::I64, 0);
        for vectors in keys {
            let bits = vectors.iter().map(|it| as_integers(&mut self.builder, *it));
            let bits: Vec<_> = bits.collect();
            let Some(first) = bits.first() else {
                continue;
            };
            let first = first_lane_in_all(&mut self.builder, *first);
            for vector in bits {
                let ins = &mut self.builder;
                let others = ins.ins().icmp(IntCC::NotEqual, vector, first);
                let others = ins.ins().vhigh_bits(types::I64, others);
                differ = ins.ins().bor(differ, others);
            }
        }
        differ
    }

    fn update_together(&mut self, statements: &OneByOne<'_, 'k>) -> Result<(), CompileError> {
        self.lanes(statements, 0..1, |function| {
            function.statements_of_lane(statements)
        })?;
        self.lanes(statements, 1..statements.group.count, |function| {
            for node in statements.in_turn {
                function.update_held(node);
            }
            Ok(())
        })
    }

    fn update_apart(&mut self, statements: &OneByOne<'_, 'k>) -> Result<(), CompileError> {
        let last = statements.group.count - 1;
        let runs = self.leave_runs();
        self.lanes(statements, 0..last, |function| {
            function.statements_of_lane(statements)
        })?;
        self.runs = runs;
        self.lanes(statements, last..last + 1, |function| {
            function.statements_of_lane(statements)
        })
    }
}

impl OneByOne<'_, '_> {
    /// Adds what `subscript` is computed from in each lane to `keys`, if all of that is in vectors.
    fn add_keys<'v>(&'v self, subscript: &Subscript, keys: &mut Keys<'v>) -> Option<()> {
        match subscript {
            _ if !self.group.lanes.is_moving(subscript) => Some(()),
            Subscript::Affine(_) => None,
            Subscript::Computed(expr) => self.add_keys_of(expr, keys),
        }
    }

    fn add_keys_of<'v>(&'v self, expr: &Expr, keys: &mut Keys<'v>) -> Option<()> {
        match expr {
            _ if !self.group.lanes.varies(expr) => Some(()),
            Expr::Load(_) | Expr::Iter(_) => None,
            Expr::Local(local) => match self.locals.get(local)? {
                InLanes::Each(vectors) => {
                    keys.push(vectors);
                    Some(())
                }
                InLanes::Same(_) | InLanes::Mask(_) => None,
            },
            _ => {
                let mut operands = expr.operands().into_iter();
                operands.try_for_each(|it| self.add_keys_of(it, keys))
            }
        }
    }
}
