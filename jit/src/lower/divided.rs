//! Quotients and remainders of what counts: of `i floordiv m` and `i mod m`, those of the next turn
//! follow from those of this one without a division, as rows and columns of one loop over both do,
//! and so do those of `(i + s) mod m`, with an `s` that is the same in all turns.

use super::affine::Wanted;
use super::function::FunctionLowering;
use super::known::Division;
use super::loops::Counted;
use crate::facts::{Checks, for_each_bound};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable as Register;
use std::collections::BTreeSet;
use strew_affine::visit::{Loop, for_each_load_of, walk};
use strew_affine::{Access, AffineExpr, Factor, IterId, Node, Subscript};

/// Of so many sums of an iterator and a number, and no more: what belongs to each takes two
/// registers.
const MOST_SUMS: usize = 8;

/// So many groups of such sums, of one divisor and with one base each.
const MOST_GROUPS: usize = 4;

/// What a loop divides sums of its iterator by.
#[derive(Clone, Debug, PartialEq)]
struct Dividing {
    divisor: AffineExpr,
    /// What is added to the iterator, the same in all turns, but for numbers.
    base: AffineExpr,
}

/// A division of sums of a loop's iterator.
#[derive(Clone, Debug)]
pub(super) struct Divided {
    dividing: Dividing,
    /// The numbers that are added besides, the least first.
    added: Vec<i64>,
    /// Both of each distance between two of these, and to the next turn.
    gaps: Vec<(i64, Both)>,
    quotient: Register,
    remainder: Register,
}

/// A quotient, and its remainder.
type Both = [Value; 2];

impl Divided {
    /// Both of `gap`, unless that is none.
    fn gap(&self, gap: i64) -> Option<Both> {
        let mut gaps = self.gaps.iter();
        gaps.find(|it| it.0 == gap).map(|it| it.1)
    }
}

/// The distances between numbers that are added to an iterator, and from the last of them to the
/// first in the next turn, `step` later, or to that from the first where the last is beyond.
fn gaps(added: &[i64], step: i64) -> BTreeSet<i64> {
    let mut gaps: BTreeSet<_> = added.windows(2).map(|it| it[1] - it[0]).collect();
    let ends = added.first().zip(added.last());
    let left = step - ends.map_or(0, |(first, last)| last - first);
    gaps.insert(if left < 0 { step } else { left });
    gaps.remove(&0);
    gaps
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// `counted`, with the quotients and remainders of its first turn.
    pub(super) fn with_divided(&mut self, counted: &Counted<'k>) -> Counted<'k> {
        let mut with = counted.clone();
        // Where nobody has proved a divisor to be positive, its remainders are whatever they are.
        // Turns whose updates are looked at together are not made one by one.
        let is_proved = self.program.checks != Checks::All;
        if counted.group.is_some() || !is_proved || !self.partials.is_empty() {
            return with;
        }
        for (dividing, added) in self.divisions(counted) {
            let least = added.first().copied().unwrap_or_default();
            let first = self.further_on(counted.lower, least);
            let first = self.behind_base(first, &dividing.base);
            let gaps = gaps(&added, counted.step);
            let divisor = &dividing.divisor;
            let gaps = gaps.into_iter().map(|gap| (gap, self.gap(gap, divisor)));
            let gaps = gaps.collect();
            let [quotient, remainder] = self.divided_by(first, divisor);
            let registers = [quotient, remainder].map(|value| {
                let register = self.builder.declare_var(types::I64);
                self.builder.def_var(register, value);
                register
            });
            with.divided.push(Divided {
                dividing,
                added,
                gaps,
                quotient: registers[0],
                remainder: registers[1],
            });
        }
        with
    }

    /// Makes the quotients and remainders of this turn known, and finds those of the next one.
    pub(super) fn begin_divided(&mut self, counted: &Counted<'k>) {
        for divided in &counted.divided {
            let divisor = self.exact_affine(&divided.dividing.divisor);
            let registers = [divided.quotient, divided.remainder];
            let first = registers.map(|it| self.builder.use_var(it));
            let (mut both, mut behind) = (first, 0);
            let least = divided.added.first().copied().unwrap_or_default();
            for added in &divided.added {
                both = self.advanced(both, divided.gap(added - least - behind), divisor);
                behind = added - least;
                self.keep_divided((counted.iter, *added), &divided.dividing, both);
            }
            let next = match counted.step - behind {
                left @ 0.. => self.advanced(both, divided.gap(left), divisor),
                _ => self.advanced(first, divided.gap(counted.step), divisor),
            };
            for (register, value) in registers.into_iter().zip(next) {
                self.builder.def_var(register, value);
            }
        }
    }

    /// Both of `gap`, which is positive. Of one, where the divisor is one, they are taken for 0 and
    /// 1: the sum of remainders is then the divisor, as it is for any other.
    fn gap(&mut self, gap: i64, divisor: &AffineExpr) -> Both {
        match gap {
            1 => [0, 1].map(|it| self.builder.ins().iconst(types::I64, it)),
            _ => {
                let gap = self.builder.ins().iconst(types::I64, gap);
                self.divided_by(gap, divisor)
            }
        }
    }

    /// `base` and `number`.
    fn behind_base(&mut self, number: Value, base: &AffineExpr) -> Value {
        if base.as_constant() == Some(0) {
            return number;
        }
        let base = self.exact_affine(base);
        self.builder.ins().iadd(base, number)
    }

    fn keep_divided(&mut self, (iter, added): (IterId, i64), dividing: &Dividing, both: Both) {
        let number = dividing.base.plus(&iter.into());
        let Ok(number) = number.and_then(|it| it.offset(added)) else {
            return;
        };
        let [number, divisor] = [&number, &dividing.divisor].map(|it| Box::new(it.clone()));
        let factors = [
            Factor::FloorDiv(number.clone(), divisor.clone()),
            Factor::Mod(number, divisor),
        ];
        let turn = Some((iter, self.iter(iter)));
        for (factor, value) in factors.into_iter().zip(both) {
            self.known.divisions.push(Division {
                factor,
                value,
                turn,
            });
        }
    }

    /// Both of a number that is larger by one of which both are `gap`, where there is one.
    fn advanced(&mut self, [quotient, remainder]: Both, gap: Option<Both>, divisor: Value) -> Both {
        let Some([more, rest]) = gap else {
            return [quotient, remainder];
        };
        let ins = &mut self.builder;
        let sum = ins.ins().iadd(remainder, rest);
        let reduced = ins.ins().isub(sum, divisor);
        let is_below = IntCC::SignedLessThan;
        let stays = ins.ins().icmp(is_below, sum, divisor);
        let remainder = ins.ins().select(stays, sum, reduced);
        let raised = ins.ins().iadd(quotient, more);
        let next = ins.ins().iadd_imm_s(raised, 1);
        [ins.ins().select(stays, raised, next), remainder]
    }

    /// How sums of the iterator are divided in the loop, and which numbers are in these.
    fn divisions(&self, counted: &Counted<'k>) -> Vec<(Dividing, Vec<i64>)> {
        let mut found: Vec<(Dividing, BTreeSet<i64>)> = Vec::new();
        let mut look = |factor: &Factor| {
            let (Factor::FloorDiv(number, divisor) | Factor::Mod(number, divisor)) = factor else {
                return;
            };
            let Some((1, added)) = number.split_off(counted.iter) else {
                return;
            };
            let number = added.constant();
            let base = number.checked_neg().and_then(|it| added.offset(it).ok());
            let Some(base) = base.filter(|it| takes_long(divisor) && self.is_known_here(it)) else {
                return;
            };
            let dividing = Dividing {
                divisor: divisor.as_ref().clone(),
                base,
            };
            match found.iter_mut().find(|(it, _)| *it == dividing) {
                Some((_, all)) => drop(all.insert(number)),
                None => found.push((dividing, BTreeSet::from([number]))),
            }
        };
        let mut around = self.loops.clone();
        around.push(counted.around);
        let depth = around.len();
        walk(counted.body, &mut |node, inside| {
            around.truncate(depth);
            around.extend(inside);
            self.for_each_affine_of(node, &around, &mut |expr| for_each_factor(expr, &mut look));
        });
        found.retain(|(_, added)| added.len() <= MOST_SUMS);
        found.truncate(MOST_GROUPS);
        let lists = found.into_iter();
        lists
            .map(|(dividing, added)| (dividing, added.into_iter().collect()))
            .collect()
    }

    /// The affine expressions that `node`, which stands in `loops`, itself computes.
    fn for_each_affine_of(
        &self,
        node: &Node,
        loops: &[Loop<'_>],
        visit: &mut impl FnMut(&AffineExpr),
    ) {
        for_each_bound(node, visit);
        let mut subscripts = |access: &Access| match self.as_one_index(access, loops) {
            Some(number) => visit(&number),
            None => {
                for subscript in &access.subscripts {
                    if let Subscript::Affine(expr) = subscript {
                        visit(expr);
                    }
                }
            }
        };
        for_each_load_of(node, &mut subscripts);
        node.written_elements().for_each(subscripts);
    }

    fn divided_by(&mut self, number: Value, divisor: &AffineExpr) -> Both {
        let divisor = self.exact_affine(divisor);
        [Wanted::Quotient, Wanted::Remainder].map(|it| self.divided(number, divisor, it))
    }
}

/// Whether to divide by `divisor`, which is the same in all turns, takes longer than to go on from
/// turn to turn: by numbers it is done by products and shifts.
fn takes_long(divisor: &AffineExpr) -> bool {
    divisor.is_over_parameters() && divisor.as_constant().is_none()
}

fn for_each_factor(expr: &AffineExpr, visit: &mut impl FnMut(&Factor)) {
    for factor in expr.terms().iter().flat_map(|it| &it.factors) {
        visit(factor);
        if let Factor::FloorDiv(number, _) | Factor::Mod(number, _) = factor {
            for_each_factor(number, visit);
        }
    }
}
