//! How much work a forall is, as far as that can be told before it runs.

use super::body::is_update;
use super::function::FunctionLowering;
use super::leave::{flag, is_no_more};
use super::weight::calls;
use crate::compiled::Faults;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use strew_affine::lanes::turns_at_once;
use strew_affine::visit::{
    Loop, bound_to, for_each_load, for_each_sure_load, has_computed_loops, has_updates,
    writes_elements,
};
use strew_affine::{
    Access, AffineExpr, AffineFor, Bound, Expr, Forall, IterId, Kernel, Node, ScfFor, Subscript,
    Variable,
};

/// What a forall does, about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trips {
    /// How many updates.
    pub(super) updates: Value,
    /// How many statements in loops that make none, and what these call.
    pub(super) others: Value,
    /// As how many statements what updates call counts.
    pub(super) called: Value,
    /// How many turns the first loop inside has in all iterations together, or else these.
    pub(super) turns: Value,
    /// How many the loops over the entries of its rows have, if they do.
    pub(super) entries: Option<Value>,
    /// Whether loops inside turn nobody knows how often before they run.
    pub(super) are_uncounted: bool,
}

impl Trips {
    /// Those of a forall without private buffers, all of whose `statements` count alike.
    pub(super) fn of_statements(
        function: &mut FunctionLowering<'_, '_, '_>,
        statements: Value,
    ) -> Self {
        let none = function.builder.ins().iconst(types::I64, 0);
        Self {
            updates: statements,
            others: none,
            called: none,
            turns: statements,
            entries: None,
            are_uncounted: false,
        }
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// An estimate of the work.
    ///
    /// How many iterations the first affine loop of the body has over all iterations of the forall
    /// is the distance from its lower bound in the first to its upper bound in the last. Updates
    /// are those of the innermost of the loops inside that make any, times the turns of the
    /// loops around, as many as they have in the middle iteration of those around them, or over the
    /// rows of a compressed matrix. Without an affine loop, each iteration of the forall counts as
    /// one.
    pub(super) fn trips(&mut self, forall: &Forall, count: Value) -> Trips {
        let around = self.iters.clone();
        let trips = self.trips_inside(forall, count);
        // What iterators of loops inside are taken for is known in some blocks alone.
        self.iters = around;
        trips
    }

    fn trips_inside(&mut self, forall: &Forall, count: Value) -> Trips {
        let outer = main_loop(&forall.body);
        let ends = outer.and_then(|outer| ends(forall, outer));
        let Some((outer, (lower, upper, step))) = outer.zip(ends) else {
            let others = self.builder.ins().iconst(types::I64, 0);
            let called = self.builder.ins().imul_imm_s(count, calls(&forall.body));
            return Trips {
                updates: count,
                others,
                called,
                turns: count,
                entries: None,
                are_uncounted: has_computed_loops(&forall.body),
            };
        };
        let entries = self.entries(outer, (&lower, &upper, step));
        let half = self.builder.ins().sshr_imm_u(count, 1);
        self.iters.insert(forall.iter, half);
        let [first, end] = [&lower, &upper].map(|it| self.exact_affine(it));
        let turns = self.builder.ins().isub(end, first);
        self.middle_between(outer.iter, first, end);
        let updates = updating(&forall.body);
        let others = self.scoped(|function| function.others(&outer.body, updates));
        let others = self.builder.ins().imul(turns, others);
        let (trips, are_uncounted) = self.innermost_turns(outer, (first, turns), entries);
        let turn = Turn::of(forall, outer);
        let [updates, called] = [turn.updates, turn.calls].map(|each| {
            let all = self.builder.ins().imul_imm_s(trips, each);
            self.divided_among(all, turn.turns)
        });
        Trips {
            updates,
            others,
            called,
            turns,
            entries,
            are_uncounted,
        }
    }

    /// How many turns the innermost of the loops that make most updates has in all iterations of
    /// `outer` together, which go a distance of `turns` from `first` on, and have so many `entries`
    /// of rows, if they do; and whether nobody knows.
    fn innermost_turns(
        &mut self,
        outer: &AffineFor,
        (first, turns): (Value, Value),
        entries: Option<Value>,
    ) -> (Value, bool) {
        let (known, rest) = match (entries, inner_loop(&outer.body)) {
            (Some(entries), Some(row @ Loop::Scf(_))) => (entries, row.body()),
            (Some(entries), _) => (entries, &[][..]),
            (None, _) => (turns, &outer.body[..]),
        };
        let inside = self.scoped(|function| function.turns_about(rest));
        let all = self.builder.ins().imul(known, inside);
        let all = self.builder.ins().smax(turns, all);
        if !has_computed_loops(rest) {
            return (all, false);
        }
        match self.sampled_turns(outer, (first, turns)) {
            Some(sampled) => (self.builder.ins().smax(all, sampled), false),
            None => {
                let is_counted = matches!(inner_loop(rest), Some(Loop::Scf(_)));
                let each = if is_counted { UNKNOWN_TURNS } else { 1 };
                (self.builder.ins().imul_imm_s(all, each), true)
            }
        }
    }

    pub(super) fn divided_among(&mut self, count: Value, turns: i64) -> Value {
        if turns == 1 {
            return count;
        }
        let turns = self.builder.ins().iconst(types::I64, turns);
        self.builder.ins().sdiv(count, turns)
    }

    /// How many statements one turn runs in loops that make no `updates`, such as those that
    /// compute what an update is made of, while the iterators around them are in the middle. In
    /// lanes, a group of them counts as one.
    fn others(&mut self, body: &[Node], updates: fn(&[Node]) -> bool) -> Value {
        let mut all = self.builder.ins().iconst(types::I64, 0);
        for inner in loops_in(body) {
            let turns = self.enter_middle(inner, body);
            let inside = self.others(&inner.body, updates);
            let own = match updates(&inner.body) {
                true => 0,
                false => inner.body.len() as i64 + calls(&inner.body),
            };
            let each = self.builder.ins().iadd_imm_s(inside, own);
            let statements = self.builder.ins().imul(turns, each);
            let lanes = turns_at_once(self.program.kernel, Loop::Affine(inner));
            let together = inner.step.saturating_mul(i64::from(lanes));
            let statements = self.divided_among(statements, together);
            all = self.builder.ins().iadd(all, statements);
        }
        all
    }

    /// How many turns the loops in `body` take together while the iterators around them are in the
    /// middle.
    fn turns_about(&mut self, body: &[Node]) -> Value {
        self.turns_of_loops(body, |function, inner, body| {
            Some(function.enter_middle(inner, body))
        })
    }

    /// How many turns the loops in `body` take together, each as many as `turns` makes of it and
    /// what it stands in, and one at the least.
    fn turns_of_loops(
        &mut self,
        mut body: &[Node],
        turns: fn(&mut Self, &AffineFor, &[Node]) -> Option<Value>,
    ) -> Value {
        let mut all = self.builder.ins().iconst(types::I64, 1);
        while let Some(inner) = main_loop(body) {
            if let Some(turns) = turns(self, inner, body) {
                let one = self.builder.ins().iconst(types::I64, 1);
                let turns = self.builder.ins().smax(turns, one);
                all = self.builder.ins().imul(all, turns);
            }
            body = &inner.body;
        }
        all
    }

    /// The distance that the iterator of `target`, which stands in `body`, goes, of which it is in
    /// the middle then.
    pub(super) fn enter_middle(&mut self, target: &AffineFor, body: &[Node]) -> Value {
        let rest = rest_of(target, body);
        let last = rest.unwrap_or(target);
        let lower = self.greatest(&target.lower, Self::exact_affine);
        let upper = self.least(&last.upper, Self::exact_affine);
        let distance = self.middle_between(target.iter, lower, upper);
        if rest.is_some() || target.step == 1 {
            return distance;
        }
        // A turn that ends beyond the upper bound is one, too.
        let ins = &mut self.builder;
        let begun = ins.ins().iadd_imm_s(distance, target.step - 1);
        let turns = ins.ins().sdiv_imm_s(begun, target.step);
        ins.ins().imul_imm_s(turns, target.step)
    }

    /// The distance that an iterator goes from `lower` to `upper`, of which it is in the middle
    /// then: where bounds of loops inside are sums of iterators, these have as many turns there as
    /// in the mean.
    pub(super) fn middle_between(&mut self, iter: IterId, lower: Value, upper: Value) -> Value {
        let distance = self.builder.ins().isub(upper, lower);
        let none = self.builder.ins().iconst(types::I64, 0);
        let distance = self.builder.ins().smax(distance, none);
        let half = self.builder.ins().sshr_imm_u(distance, 1);
        let middle = self.builder.ins().iadd(lower, half);
        self.iters.insert(iter, middle);
        distance
    }

    /// How many turns the loops in `body` take together each time, as far as their bounds are the
    /// same every time.
    pub(super) fn turns_inside(&mut self, body: &[Node]) -> Value {
        self.turns_of_loops(body, |function, inner, _| {
            let (lower, upper) = (fixed(&inner.lower)?, fixed(&inner.upper)?);
            Some(function.distance(lower, upper))
        })
    }

    pub(super) fn distance(&mut self, lower: &AffineExpr, upper: &AffineExpr) -> Value {
        let (lower, upper) = (self.exact_affine(lower), self.exact_affine(upper));
        self.builder.ins().isub(upper, lower)
    }

    /// How many turns an inner loop over the entries of a row has over all rows `lower..upper` of
    /// `outer`, when each row begins where the row before ends, as in
    /// `for k in row[r]..row[r + 1]`: the distance from the first row to the end of the last.
    fn entries(
        &mut self,
        outer: &AffineFor,
        (lower, upper, step): (&AffineExpr, &AffineExpr, i64),
    ) -> Option<Value> {
        let mut body = behind_conditions(&outer.body).into_iter();
        let inner = body.find_map(as_computed_loop)?;
        let [first, end] =
            [&inner.lower, &inner.upper].map(|it| written_out(self.program.kernel, it));
        let next = following(&first, outer.iter)?;
        // What a condition guards may be out of range elsewhere.
        let are_there = [&first, &end]
            .iter()
            .all(|it| is_read_surely(it, &outer.body));
        // Where a fault is told in full, it must not come before those of earlier iterations.
        if !next.is_same(&end) || self.program.faults != Faults::Bare {
            return None;
        }
        let ends = [lower, upper].map(|end| self.exact_affine(end));
        let some = self.builder.create_block();
        let done = self.builder.create_block();
        let entries = self.builder.append_block_param(done, types::I64);
        let zero = self.builder.ins().iconst(types::I64, 0);
        let less = IntCC::SignedLessThan;
        let has_rows = self.builder.ins().icmp(less, ends[0], ends[1]);
        let none = [BlockArg::Value(zero)];
        self.builder.ins().brif(has_rows, some, &[], done, &none);
        self.builder.switch_to_block(some);
        // The last row may be as many rows in front of `upper` as a step has, and behind its end
        // there may be nothing.
        let end = self.builder.ins().iadd_imm_s(ends[1], 1 - step);
        let end = self.builder.ins().smax(ends[0], end);
        let unknown = self.builder.create_block();
        let [begin, last] = [ends[0], end].map(|row| {
            self.iters.insert(outer.iter, row);
            if !are_there {
                self.look(&first, unknown);
            }
            self.beside(unknown, |function| {
                function.scoped(|function| function.expr(&first))
            })
        });
        let distance = self.builder.ins().isub(last, begin);
        let distance = [BlockArg::Value(distance)];
        self.builder.ins().jump(done, &distance);
        self.builder.switch_to_block(unknown);
        self.builder.ins().jump(done, &none);
        self.builder.switch_to_block(done);
        Some(entries)
    }
}

/// The lower bound of `outer`, the first loop of the body, in the first iteration of `forall`, and
/// the upper bound of the last loop of the body in its last iteration, with the step of that: an
/// unrolled loop has the rest of its iterations in a loop of their own.
pub(super) fn ends(forall: &Forall, outer: &AffineFor) -> Option<(AffineExpr, AffineExpr, i64)> {
    let rest = last_beside(&forall.body, outer)?;
    let last = forall.count.offset(-1).ok()?;
    let at = |bound: &AffineExpr, value: &AffineExpr| {
        bound
            .substitute(&|variable| {
                (variable == Variable::Iter(forall.iter)).then(|| value.clone())
            })
            .ok()
    };
    let lower = at(outer.lower.0.first()?, &0.into())?;
    let upper = at(rest.upper.0.first()?, &last)?;
    Some((lower, upper, rest.step))
}

/// The last loop in the block of `body` in which `target` is.
fn last_beside<'k>(body: &'k [Node], target: &AffineFor) -> Option<&'k AffineFor> {
    let own = |node: &'k Node| match node {
        Node::AffineFor(it) => Some(it),
        _ => None,
    };
    let mut loops = body.iter().filter_map(own);
    match loops.clone().any(|it| it.iter == target.iter) {
        true => loops.next_back(),
        false => body.iter().find_map(|node| match node {
            Node::AffineIf { .. } | Node::ScfIf { .. } => {
                let mut sides = node.blocks();
                sides.find_map(|side| last_beside(side, target))
            }
            _ => None,
        }),
    }
}

/// The loop behind `target`, an unrolled one, that has the rest of its iterations.
fn rest_of<'k>(target: &AffineFor, body: &'k [Node]) -> Option<&'k AffineFor> {
    let mut pairs = body.windows(2);
    pairs.find_map(|pair| match pair {
        [Node::AffineFor(it), Node::AffineFor(rest)]
            if it.iter == target.iter && it.step > 1 && rest.step == 1 =>
        {
            Some(rest)
        }
        _ => None,
    })
}

/// A loop whose bounds nobody knows is taken for one of so many turns.
const UNKNOWN_TURNS: i64 = 4;

/// A `while` is taken for so many updates. It is seldom entered for fewer turns, as in a merge of
/// two rows of a sparse matrix, and even if none of them updates anything they take their time.
const WHILE_TURNS: i64 = 8;

/// A turn of the innermost loop that [`FunctionLowering::trips`] counts.
struct Turn {
    /// How many updates of private buffers it makes; 1 where none stand there.
    updates: i64,
    /// As how many statements counts what it calls.
    calls: i64,
    /// How many turns of the loop before it was unrolled it is.
    turns: i64,
}

impl Turn {
    fn of(forall: &Forall, outer: &AffineFor) -> Self {
        let mut turns = outer.step;
        let mut body: &[Node] = &outer.body;
        while let Some(inner) = inner_loop(body) {
            (turns, body) = (turns.saturating_mul(inner.step()), inner.body());
        }
        let (updates, turns) = match updates_in(body, forall) {
            0 => (1, 1),
            updates => (updates, turns.max(1)),
        };
        Self {
            updates,
            calls: calls(body),
            turns,
        }
    }
}

/// About how many updates of private buffers `nodes` make, those of counted loops in them left out:
/// as many as the side of a condition that makes more. A loop that turns as often as it likes makes
/// those at which it ends once.
fn updates_in(nodes: &[Node], forall: &Forall) -> i64 {
    let each = nodes.iter().map(|node| match node {
        Node::ScfIf { .. } | Node::AffineIf { .. } => {
            let sides = node.blocks().map(|it| updates_in(it, forall));
            sides.max().unwrap_or(0)
        }
        Node::ScfWhile {
            condition, body, ..
        } => match updates_in(body, forall) {
            updates @ 1.. if ends_where_it_updates(condition, body, forall) => updates,
            _ => WHILE_TURNS,
        },
        _ => i64::from(is_update(node, forall)),
    });
    each.fold(0, i64::saturating_add)
}

/// Whether a loop that goes on while `condition` holds makes updates in no other turns than its
/// last one.
fn ends_where_it_updates(condition: &Expr, body: &[Node], forall: &Forall) -> bool {
    let Some(flag) = flag(condition) else {
        return false;
    };
    let ends = |side: &[Node]| side.iter().any(|it| is_no_more(it, flag));
    let is_last = |node: &Node| match node {
        Node::ScfIf { .. } => node
            .blocks()
            .all(|it| ends(it) || updates_in(it, forall) == 0),
        _ => updates_in(std::slice::from_ref(node), forall) == 0,
    };
    body.iter().all(is_last)
}

/// The first affine loop that makes updates, or else the first one.
pub(super) fn main_loop(body: &[Node]) -> Option<&AffineFor> {
    let (loops, updates) = (loops_in(body), updating(body));
    let first = loops.iter().find(|it| updates(&it.body));
    first.or(loops.first()).copied()
}

/// Which loops of `body` make updates: those that combine anything with what is there, beside which
/// others that write elements compute what is combined; where there are none, those that write.
fn updating(body: &[Node]) -> fn(&[Node]) -> bool {
    match has_updates(body) {
        true => has_updates,
        false => writes_elements,
    }
}

/// The loop in `body` that has most to do, by what it looks like: one whose bounds are data where
/// there is no other.
pub(super) fn inner_loop(body: &[Node]) -> Option<Loop<'_>> {
    let computed = || {
        behind_conditions(body)
            .into_iter()
            .find_map(as_computed_loop)
    };
    let affine = main_loop(body).map(Loop::Affine);
    affine.or_else(|| computed().map(Loop::Scf))
}

/// The affine loops of `body`, also where it is asked before whether they have turns at all.
fn loops_in(body: &[Node]) -> Vec<&AffineFor> {
    let nodes = behind_conditions(body).into_iter();
    let loops = nodes.filter_map(|node| match node {
        Node::AffineFor(inner) => Some(inner),
        _ => None,
    });
    loops.collect()
}

/// What stands in `body`, and what on both sides of the conditions in it.
fn behind_conditions(body: &[Node]) -> Vec<&Node> {
    let mut nodes = Vec::new();
    for node in body {
        nodes.push(node);
        if let Node::AffineIf { .. } | Node::ScfIf { .. } = node {
            nodes.extend(node.blocks().flat_map(|it| behind_conditions(it)));
        }
    }
    nodes
}

/// `expr`, with what scalars are declared as, for good, in their place.
pub(super) fn written_out(kernel: &Kernel, expr: &Expr) -> Expr {
    if let Expr::Local(local) = expr {
        return match bound_to(kernel, *local) {
            Some(declared) => written_out(kernel, declared),
            None => expr.clone(),
        };
    }
    let mut expr = expr.clone();
    for operand in expr.operands_mut() {
        *operand = written_out(kernel, operand);
    }
    if let Expr::Load(access) = &mut expr {
        for subscript in &mut access.subscripts {
            if let Subscript::Computed(place) = subscript {
                *place = written_out(kernel, place);
            }
        }
    }
    expr
}

/// Whether each turn that runs `body` reads all elements that `expr` does.
fn is_read_surely(expr: &Expr, body: &[Node]) -> bool {
    let mut read: Vec<&Access> = Vec::new();
    for value in body.iter().flat_map(Node::expressions) {
        for_each_sure_load(value, &mut |access| read.push(access));
    }
    let mut all = true;
    for_each_load(expr, &mut |access| {
        all &= read.iter().any(|it| it.is_same(access))
    });
    all
}

/// The bound, when it is one expression over parameters alone.
pub(super) fn fixed(bound: &Bound) -> Option<&AffineExpr> {
    let expr = bound.as_single()?;
    expr.is_over_parameters().then_some(expr)
}

fn as_computed_loop(node: &Node) -> Option<&ScfFor> {
    match node {
        Node::ScfFor(inner) => Some(inner),
        _ => None,
    }
}

/// `expr` in the next iteration of the loop over `iter`, when it has nothing of that loop but
/// `iter` in affine subscripts.
fn following(expr: &Expr, iter: IterId) -> Option<Expr> {
    let mut expr = expr.clone();
    follow(&mut expr, iter).then_some(expr)
}

fn follow(expr: &mut Expr, iter: IterId) -> bool {
    match expr {
        Expr::Load(access) => access
            .subscripts
            .iter_mut()
            .all(|subscript| match subscript {
                Subscript::Affine(expr) => {
                    let next = |variable| {
                        let is_own = variable == Variable::Iter(iter);
                        is_own
                            .then(|| AffineExpr::from(iter).offset(1).ok())
                            .flatten()
                    };
                    let shifted = expr.substitute(&next);
                    shifted.map(|shifted| *expr = shifted).is_ok()
                }
                Subscript::Computed(_) => false,
            }),
        Expr::Cast(_, operand) => follow(operand, iter),
        _ => false,
    }
}
