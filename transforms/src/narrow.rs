//! The step `narrow`.

mod cut;
mod held;
mod quotient;

use crate::one_loop::about_one_loop;
use crate::tree::{Nested, Replacing, change_subscripts};
use crate::{LoopPath, Reason, address};
use cut::Cutting;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use strew_affine::changed::Changed;
use strew_affine::value_range::ValueRanges;
use strew_affine::visit::{Loop, for_each_load_of, for_each_local_in_subscripts, walk};
use strew_affine::{
    Access, BinaryOp, Block, Expr, Kernel, LocalId, Node, Operand, Place, Subscript, Type,
};

/// Computes what a loop computes in the narrowest types that give the same results, so that a
/// vector has more lanes of them.
///
/// ```text
/// affine.for i in 0..n {                             affine.for i in 0..n {
///   out[i] = u8(i32(a[i]) + i32(b[i]) + 1 >> 1)  →     out[i] = u8(u16(a[i]) + u16(b[i]) + 1 >> 1)
/// }                                                  }
/// ```
///
/// C computes in `int` whatever is narrower. Of a sum, a difference, a product or a bitwise
/// operation the low bits follow from those of the operands; other operations are narrow where
/// interval arithmetic says that their operands are. Scalars of the loop become narrow where all
/// that is assigned to them is, or where low bits of them are all that is used. Quotients by
/// constants become products, which vectors have. What goes where data say is made turn by turn,
/// and stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Narrow {
    /// The loop, an `affine.for` or `scf.for`.
    pub target: LoopPath,
}

about_one_loop!(
    Narrow,
    "narrow",
    /// A request to compute in `target` in the narrowest types.
);

pub(crate) fn plan(kernel: &Kernel, request: &Narrow) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Nested { it: target, .. } = address::find_counted(kernel, path)?;
    address::check_no_lanes(most_lanes(target), path)?;
    let mut narrowing = Narrowing {
        cutting: Cutting {
            kernel,
            ranges: ValueRanges::of(kernel),
            changed: Changed::in_loop(target.iter(), target.body()),
            narrow: BTreeMap::new(),
            low: BTreeMap::new(),
            missed: RefCell::default(),
            looks: Cell::new(cut::MOST_LOOKS),
        },
        indices: remainders_in_subscripts(target.body()),
        body: target.body(),
    };
    narrowing.find_scalars();
    let body = narrowing.find_low_bits();
    if body.as_slice() == target.body() {
        return Err(Reason::NothingNarrower { path: path.clone() });
    }
    let mut prepared = kernel.clone();
    let Cutting { narrow, low, .. } = &narrowing.cutting;
    for (local, ty) in narrow.iter().chain(low) {
        prepared.locals[*local].ty = *ty;
    }
    Ok(Replacing {
        kernel: prepared,
        target: target.iter(),
        replacement: vec![with_body(target, body)],
    })
}

/// Of the loop and of those inside.
fn most_lanes(target: Loop<'_>) -> u32 {
    let mut most = target.lanes();
    walk(target.body(), &mut |node, _| {
        most = most.max(Loop::of(node).map_or(1, Loop::lanes));
    });
    most
}

fn with_body(target: Loop<'_>, body: Block) -> Node {
    let mut node = target.to_node();
    // A loop has one.
    for block in node.blocks_mut() {
        block.clone_from(&body);
    }
    node
}

struct Narrowing<'k> {
    cutting: Cutting<'k>,
    /// The scalars whose numbers have to be seen to be in a range.
    indices: BTreeSet<LocalId>,
    /// Of the loop.
    body: &'k [Node],
}

impl Narrowing<'_> {
    /// The scalars of the loop that can be narrower: all that each of them ever is fits.
    fn find_scalars(&mut self) {
        let kernel = self.cutting.kernel;
        let held = held::ranges(kernel, &self.cutting.ranges, self.body);
        for (local, range) in &held {
            self.cutting.ranges.assume(*local, *range);
        }
        for (local, range) in held {
            let scalar = &kernel.locals[local];
            if scalar.is_element || self.indices.contains(&local) || !self.gains(local) {
                continue;
            }
            for ty in cut::narrower_than(scalar.ty).filter(|it| it.holds(range)) {
                self.cutting.narrow.insert(local, ty);
                if self.sets_narrow(local, ty) {
                    break;
                }
                self.cutting.narrow.remove(&local);
            }
        }
    }

    /// Whether the scalar comes from something narrow, by operations.
    fn gains(&self, local: LocalId) -> bool {
        let is_mutable = self.cutting.kernel.locals[local].mutable;
        let mut gains = false;
        walk(self.body, &mut |node, _| {
            let mut values = node.expressions().into_iter();
            gains |= set_by(node).contains(&local)
                && values.any(|it| self.cutting.has_narrow(it) && (is_mutable || is_made(it)));
        });
        gains
    }

    /// The body, and the scalars that are set once and of which nothing but low bits is asked for.
    /// Each begins with the fewest, and gets more until those are enough.
    fn find_low_bits(&mut self) -> Block {
        let mut left = Vec::new();
        walk(self.body, &mut |node, _| {
            if let Node::Declare { local, value } = node
                && !self.cutting.kernel.locals[*local].mutable
                && self.cutting.narrowed(*local).is_none()
                && !self.indices.contains(local)
                && is_made(value)
                && self.cutting.has_narrow(value)
            {
                left.push((*local, value));
            }
        });
        for (local, value) in &left {
            self.keep_bits(*local, value, 0);
        }
        loop {
            let body = self.block(self.body);
            let missed = self.cutting.missed.take();
            if missed.is_empty() {
                return body;
            }
            for (local, value) in left.iter().filter(|(it, _)| missed.contains(it)) {
                let bits = self.cutting.low.remove(local).map_or(0, Type::bits);
                self.keep_bits(*local, value, bits);
            }
        }
    }

    /// Leaves more than so many low bits of the scalar, if its value can be computed in that many.
    fn keep_bits(&mut self, local: LocalId, value: &Expr, bits: u32) {
        let types = cut::narrower_than(self.cutting.kernel.locals[local].ty);
        let mut types = types.filter(|it| !it.is_signed() && it.bits() > bits);
        let found = types.find(|it| self.cutting.cut(value, *it).is_some());
        self.cutting.low.extend(found.map(|ty| (local, ty)));
        self.cutting.missed.take();
    }

    /// Whether all that is assigned to the scalar and combined into it can be computed in `ty`, and
    /// combined there.
    fn sets_narrow(&self, local: LocalId, ty: Type) -> bool {
        let can = |it: &Expr| self.cutting.cut(it, ty).is_some();
        let mut all = true;
        walk(self.body, &mut |node, _| {
            if !set_by(node).contains(&local) {
                return;
            }
            if let Node::Reduce { combiner, .. } = node {
                let bodies = combiner.bodies(&[ty]).unwrap_or_default();
                all &= !bodies.is_empty() && bodies.iter().all(is_alike_in_all_types);
            }
            all &= node.expressions().into_iter().all(can);
        });
        all
    }

    fn block(&self, nodes: &[Node]) -> Block {
        let nodes = nodes.iter().map(|it| self.node(it));
        nodes.collect::<Vec<_>>().into()
    }

    fn node(&self, node: &Node) -> Node {
        let mut narrowed = node.clone();
        let is_in_turn = node.written_elements().any(|it| {
            let mut subscripts = it.subscripts.iter();
            subscripts
                .any(|it| matches!(it, Subscript::Computed(_)) && !self.cutting.changed.stays(it))
        });
        let set = set_by(node);
        let is_index = set.iter().any(|it| self.indices.contains(it));
        let ty = set.iter().find_map(|it| self.cutting.narrowed(*it));
        for expr in narrowed.expressions_mut() {
            *expr = match ty {
                Some(ty) => self.cutting.cut_anyway(expr, ty),
                None if is_in_turn || is_index => self.cutting.renamed(expr),
                None => self.cutting.exact(expr),
            };
        }
        let mut rename = |it: &mut Expr| self.cutting.rename(it);
        for place in narrowed.places_mut() {
            if let Place::Element(access) = place {
                change_subscripts(access, &mut rename);
            }
        }
        for block in narrowed.blocks_mut() {
            *block = self.block(block);
        }
        narrowed
    }
}

/// The scalars in subscripts that remainders are assigned to: as differences, these would be
/// numbers of any size for all who look at them.
fn remainders_in_subscripts(body: &[Node]) -> BTreeSet<LocalId> {
    fn has_remainder(expr: &Expr) -> bool {
        matches!(expr, Expr::Binary(BinaryOp::Rem, ..))
            || expr.operands().into_iter().any(has_remainder)
    }
    let (mut indices, mut remainders) = (BTreeSet::new(), BTreeSet::new());
    walk(body, &mut |node, _| {
        let mut note = |access: &Access| {
            for_each_local_in_subscripts(access, &mut |it| indices.extend([it]));
        };
        for_each_load_of(node, &mut note);
        node.written_elements().for_each(&mut note);
        let mut values = node.expressions().into_iter();
        if values.any(has_remainder) {
            remainders.extend(set_by(node));
        }
    });
    indices.intersection(&remainders).copied().collect()
}

/// The scalars that `node` itself gives a value.
fn set_by(node: &Node) -> Vec<LocalId> {
    match node {
        Node::Declare { local, .. } => vec![*local],
        _ => node.places().iter().filter_map(Place::local).collect(),
    }
}

/// Whether `value` is computed, and not only fetched and converted.
fn is_made(value: &Expr) -> bool {
    match value {
        Expr::Cast(_, operand) => is_made(operand),
        _ => !matches!(value, Expr::Load(_) | Expr::Local(_) | Expr::Iter(_)),
    }
}

/// Whether a combiner with this body makes the same of the same numbers in all types that have them
/// and the result: of bits of sums, products and bitwise operations, those behind tell nothing of
/// the first ones.
fn is_alike_in_all_types(body: &Expr) -> bool {
    let here = match body {
        Expr::Operand(Operand::Host(_)) => false,
        Expr::Operand(_) | Expr::Select(..) => true,
        Expr::Compare(_, left, right) => {
            return [left, right]
                .iter()
                .all(|it| matches!(***it, Expr::Operand(_)));
        }
        Expr::Binary(op, ..) => cut::keeps_low_bits(*op),
        _ => false,
    };
    here && body.operands().into_iter().all(is_alike_in_all_types)
}

#[cfg(test)]
mod tests {
    use crate::Verdict::Misaddressed;
    use crate::test_support::{accepts, refuses};

    const STEP: &str = "narrow(i)";

    fn kernel(body: &str) -> String {
        format!(
            "kernel @k(n: i64, p: i32, a: u8[n], b: i8[n], c: i16[n], d: u16[n], e: i32[n], o8: u8[n], o16: i16[n], o32: i32[n], h: i32[256]) {{
               var around: i32 = 0
               affine.for i in 0..n {{ {body} }}
               o32[0] = around
             }}"
        )
    }

    /// Of the first one comes the second one, or nothing if they are the same.
    #[track_caller]
    fn becomes(before: &str, after: &str) {
        let (before, after) = (kernel(before), kernel(after));
        if before == after {
            refuses(&before, STEP, Misaddressed, "NothingNarrower");
        } else {
            accepts(&before, STEP, &after);
        }
    }

    #[test]
    fn each_operation_has_the_bits_that_it_needs() {
        for (before, after) in [
            // Of sums the low bits alone are wanted.
            (
                "o8[i] = u8(i32(a[i]) - i32(b[i]) + 300)",
                "o8[i] = a[i] - u8(b[i]) + 44",
            ),
            // No vector has products or shifted lanes of eight bits.
            (
                "o8[i] = u8(i32(a[i]) * i32(b[i]))",
                "o8[i] = u8(u16(a[i]) * u16(b[i]))",
            ),
            (
                "o8[i] = u8(i32(c[i]) << 3)",
                "o8[i] = u8(u16(c[i]) << u16(3))",
            ),
            // What is shifted to the right needs all bits that stay.
            (
                "o8[i] = u8(i32(a[i]) * p >> 8)",
                "o8[i] = u8(u16(a[i]) * u16(p) >> u16(8))",
            ),
            (
                "o16[i] = i16(i32(c[i]) + i32(d[i]) >> 1)",
                "o16[i] = i16(i32(c[i]) + i32(d[i]) >> 1)",
            ),
            (
                "o16[i] = i16(i32(b[i]) * 3 >> 1)",
                "o16[i] = i16(b[i]) * 3 >> i16(1)",
            ),
            (
                "o32[i] = i32(a[i]) + i32(b[i])",
                "o32[i] = i32(i16(a[i]) + i16(b[i]))",
            ),
            (
                "o32[i] = i32(a[i]) / 10",
                "o32[i] = i32(u16(a[i]) * 205 >> u16(11))",
            ),
            (
                "o32[i] = (i32(a[i]) * 3 + 7) % 8",
                "o32[i] = i32(u16(a[i]) * 3 + 7 & 7)",
            ),
            (
                "o32[i] = (i32(c[i]) + i32(d[i])) / 4",
                "o32[i] = i32(c[i]) + i32(d[i]) + (i32(c[i]) + i32(d[i]) >> 31 & 3) >> 2",
            ),
            (
                "o16[i] = i16(i32(a[i]) / 4 + i32(b[i]) % 10)",
                "o16[i] = i16(u16(a[i]) >> u16(2)) + (i16(b[i]) - i16(i32(f32(i32(b[i])) / 10.0)) * 10)",
            ),
            (
                "o32[i] = i32(c[i]) * 5 / 7",
                "o32[i] = i32(f32(i32(c[i]) * 5) / 7.0)",
            ),
        ] {
            becomes(before, after);
        }
    }

    #[test]
    fn scalars_are_as_narrow_as_what_they_ever_are() {
        for (before, after) in [
            (
                "let s: i32 = i32(a[i]) + i32(a[i]) o32[i] = s * 2",
                "let s: u16 = u16(a[i]) + u16(a[i]) o32[i] = i32(s * 2)",
            ),
            (
                "var s: i32 = i32(a[i]) s reduce(add) i32(a[i]) s reduce(max) 3 o8[i] = u8(s)",
                "var s: u16 = u16(a[i]) s reduce(add) u16(a[i]) s reduce(max) 3 o8[i] = u8(s)",
            ),
            (
                "var s: i32 = 0 scf.if a[i] > 3 { s = -1 } else { s = 40000 } s = s + 1 o32[i] = s",
                "var s: i32 = 0 scf.if a[i] > 3 { s = -1 } else { s = 40000 } s = s + 1 o32[i] = s",
            ),
            // Of a sum that is too large, both uses want low bits alone.
            (
                "let s: i32 = i32(c[i]) + i32(d[i]) o8[i] = u8(s) o16[i] = i16(s - 1)",
                "let s: u16 = u16(c[i]) + d[i] o8[i] = u8(s) o16[i] = i16(s) - 1",
            ),
            (
                "let s: i32 = i32(c[i]) + i32(d[i]) o8[i] = u8(s) o16[i] = i16(s >> 1)",
                "let s: i32 = i32(c[i]) + i32(d[i]) o8[i] = u8(s) o16[i] = i16(s >> 1)",
            ),
            // Nothing narrow is in it.
            (
                "let s: i32 = e[i] > 3 ? 1 : 0 o32[i] = s - 1",
                "let s: i32 = e[i] > 3 ? 1 : 0 o32[i] = s - 1",
            ),
            // A turn finds what the one before left.
            (
                "around reduce(add) i32(a[i]) o16[i] = i16(i32(a[i]) + 1)",
                "around reduce(add) i32(a[i]) o16[i] = i16(a[i]) + 1",
            ),
            (
                "around = i32(a[i]) o16[i] = i16(around)",
                "around = i32(a[i]) o16[i] = i16(around)",
            ),
            (
                "var s: i32 = 1 affine.for k in 0..n { s reduce(add) s } o32[i] = s",
                "var s: i32 = 1 affine.for k in 0..n { s reduce(add) s } o32[i] = s",
            ),
        ] {
            becomes(before, after);
        }
    }

    #[test]
    fn quotients_of_numbers_of_eight_bits_are_of_what_is_left_of_them() {
        accepts(
            &kernel("o8[i] = u8(d[i] + u16(5)) / 7 o16[i] = i16(u8(d[i])) % 10"),
            STEP,
            &kernel(
                "o8[i] = u8(u32(u16(u8(d[i] + 5))) * 293 >> u32(11)) o16[i] = i16(u8(d[i])) - i16(u16(i16(u8(d[i]))) * 205 >> u16(11)) * 10",
            ),
        );
    }

    #[test]
    fn remainders_that_are_subscripts_are_seen_to_be_in_range() {
        let body = "let s: i32 = i32(d[i]) % 100 h[s + 9] reduce(add) 1";
        refuses(&kernel(body), STEP, Misaddressed, "NothingNarrower");
    }

    #[test]
    fn loops_in_lanes_are_left_alone() {
        let body = "affine.for j in 0..n lanes 16 { o32[j] = i32(a[j]) + i32(b[j]) }";
        refuses(&kernel(body), STEP, Misaddressed, "HasLanes");
    }

    #[test]
    fn what_goes_where_data_say_stays_but_for_its_scalars() {
        let before = kernel("let s: i32 = i32(a[i]) + 1 h[s - 1] reduce(add) i32(a[i]) * 2 - s");
        let after =
            kernel("let s: u16 = u16(a[i]) + 1 h[i32(s) - 1] reduce(add) i32(a[i]) * 2 - i32(s)");
        accepts(&before, STEP, &after);
    }

    #[test]
    fn what_is_the_same_in_all_turns_is_not_touched() {
        let before = kernel("o32[i] = (p / 3 + 1) % 7");
        refuses(&before, STEP, Misaddressed, "NothingNarrower");
        accepts(
            &kernel("o8[i] = u8(i32(a[i]) <= p / 3 ? 1 : 0)"),
            STEP,
            &kernel(
                "o8[i] = i16(a[i]) <= i16(p / 3 > 256 ? 256 : p / 3 < -1 ? -1 : p / 3) ? 1 : 0",
            ),
        );
    }
}
