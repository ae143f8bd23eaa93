//! Arrays that a loop marks: whichever of its iterations do, and in whichever order, the elements
//! are the same afterwards.
//!
//! `if (depth[w] < 0) depth[w] = level` is what a search through a graph does. An iteration makes
//! `f(v) = p(v) ? c : v` of an element, with a condition of its own and the same `c` as all others.
//! Of two of them, in any order, comes `c` if the condition of either holds of what was there
//! before, and `v` else: where one has set `c`, the other leaves or sets `c`. So they may also run
//! at once, each reading `v` or `c`, as long as a processor stores an element in one piece and
//! nobody writes a value back that was read before.
//!
//! Where all marks are behind `a[w] == x`, elements only change from `x` to `c`. So a comparison of
//! any element with `y` has one outcome whenever it is made, unless `y` is one of these.

use crate::changed::Changed;
use crate::visit::{Loop, for_each_load};
use crate::{Access, ArrayId, BinaryOp, CompareOp, Expr, IterId, Node, Place, Subscript};
use std::collections::BTreeSet;

/// What a loop marks, and what it does with the same arrays.
pub struct Marks<'k> {
    /// What may be another thing in each iteration.
    inside: Changed,
    marks: Vec<Mark<'k>>,
    compared: Vec<Compared<'k>>,
    /// Arrays with which something else is done.
    others: BTreeSet<ArrayId>,
}

/// Elements that are set to a value.
struct Mark<'k> {
    array: ArrayId,
    value: &'k Expr,
    /// Whether a condition around it reads the element.
    looks_first: bool,
    /// What the element is before.
    before: Option<&'k Expr>,
}

/// Elements that are compared with what is the same in all iterations.
struct Compared<'k> {
    array: ArrayId,
    with: &'k Expr,
}

/// A comparison of an element.
struct Comparison<'k> {
    op: CompareOp,
    element: &'k Access,
    with: &'k Expr,
}

impl<'k> Comparison<'k> {
    fn of(expr: &'k Expr) -> Option<Self> {
        let Expr::Compare(op, left, right) = expr else {
            return None;
        };
        let (element, with) = match (&**left, &**right) {
            (Expr::Load(element), with) | (with, Expr::Load(element)) => (element, with),
            _ => return None,
        };
        Some(Self {
            op: *op,
            element,
            with,
        })
    }
}

impl<'k> Marks<'k> {
    /// Those of the loop over `iter` with this body.
    pub fn of(iter: IterId, body: &'k [Node]) -> Self {
        let inside = Changed::in_loop(iter, body);
        let mut marks = Self {
            inside: inside.clone(),
            marks: Vec::new(),
            compared: Vec::new(),
            others: BTreeSet::new(),
        };
        marks.look_at(body, &inside);
        marks
    }

    /// The arrays with which the loop does nothing but mark elements, those at places that keys
    /// tell.
    pub fn marked(&self) -> BTreeSet<ArrayId> {
        let arrays = self.arrays().into_iter();
        arrays.filter(|it| !self.compares(*it)).collect()
    }

    /// The arrays with which the loop does nothing but mark elements and compare others.
    pub(crate) fn arrays(&self) -> BTreeSet<ArrayId> {
        let arrays = self.marks.iter().map(|it| it.array);
        arrays.filter(|it| !self.others.contains(it)).collect()
    }

    fn compares(&self, array: ArrayId) -> bool {
        self.compared.iter().any(|it| it.array == array)
    }

    /// The arrays that are marked, and of which others may be compared, with what must hold for
    /// that, if there are such: it is computed before the loop. `None` also where nothing tells
    /// what an element is before it is marked.
    pub fn where_apart(&self) -> Option<(BTreeSet<ArrayId>, Expr)> {
        let arrays = self.arrays();
        let mut different = Vec::new();
        let compared = self.compared.iter();
        for compared in compared.filter(|it| arrays.contains(&it.array)) {
            for mark in self.marks.iter().filter(|it| it.array == compared.array) {
                let ends = [mark.before?, mark.value].into_iter();
                let with = compared.with;
                different
                    .extend(ends.map(|it| Expr::compare(CompareOp::Ne, it.clone(), with.clone())));
            }
        }
        let all = |one, other| Expr::And(Box::new(one), Box::new(other));
        Some((arrays, different.into_iter().reduce(all)?))
    }

    /// Those of all these arrays of which it looks at an element before it marks it, so that it
    /// writes few elements twice: lines that several processors write go to and fro between them.
    pub fn rarely_written(&self) -> BTreeSet<ArrayId> {
        let (marked, asked) = (self.marked(), self.where_apart());
        let arrays = asked.map_or(marked, |(arrays, _)| arrays);
        let looks = |array: ArrayId| {
            let mut marks = self.marks.iter().filter(|it| it.array == array);
            marks.all(|it| it.looks_first)
        };
        arrays.into_iter().filter(|it| looks(*it)).collect()
    }

    /// Sorts what `nodes` do, which stand in a loop that changes what `turn` says.
    fn look_at(&mut self, nodes: &'k [Node], turn: &Changed) {
        for node in nodes {
            if let Some((guards, place, value)) = mark(node)
                && self.is_mark(place, value, turn)
                && always_faults(&guards, place)
            {
                let mut looks_first = false;
                for guard in &guards {
                    looks_first |= self.read(guard, Some(place));
                }
                let before = guards.iter().find_map(|it| self.before(it, place));
                self.marks.push(Mark {
                    array: place.array,
                    value,
                    looks_first,
                    before,
                });
                self.read_in_subscripts(place);
                continue;
            }
            for expr in node.expressions() {
                self.read(expr, None);
            }
            for written in node.written_elements() {
                self.others.insert(written.array);
                self.read_in_subscripts(written);
            }
            let own = Loop::of(node).map(|it| Changed::in_loop(it.iter(), it.body()));
            let own = match node {
                Node::ScfWhile { body, .. } => Some(Changed::by(body)),
                _ => own,
            };
            for block in node.blocks() {
                self.look_at(block, own.as_ref().unwrap_or(turn));
            }
        }
    }

    /// Whether all iterations set elements to `value`, and `place` is another one in each turn of
    /// the innermost loop. Nothing keeps it in a register then, to write it back later:
    /// `scalar_replace` takes affine places alone, and code holds no array of the caller.
    fn is_mark(&self, place: &Access, value: &Expr, turn: &Changed) -> bool {
        let mut known = self.marks.iter().filter(|it| it.array == place.array);
        let is_computed = matches!(place.subscripts.last(), Some(Subscript::Computed(_)));
        is_computed
            && !turn.place_stays(place)
            && self.is_known_before(value)
            && known.all(|it| it.value.is_same(value))
    }

    /// What `guard` says that the element at `place` is.
    fn before(&self, guard: &'k Expr, place: &Access) -> Option<&'k Expr> {
        let found = Comparison::of(guard)?;
        let says = found.op == CompareOp::Eq && found.element.is_same(place);
        (says && self.is_known_before(found.with)).then_some(found.with)
    }

    /// Whether `expr` can be computed before the loop as well as in any iteration.
    fn is_known_before(&self, expr: &Expr) -> bool {
        is_computed_anywhere(expr) && self.inside.expr_stays(expr)
    }

    /// Takes note of what `expr` reads, but for what is at `place`: whether it reads that.
    fn read(&mut self, expr: &'k Expr, place: Option<&Access>) -> bool {
        let is_place = |it: &Access| place.is_some_and(|place| place.is_same(it));
        if let Some(found) = Comparison::of(expr)
            && matches!(found.op, CompareOp::Eq | CompareOp::Ne)
            && !is_place(found.element)
            && self.is_known_before(found.with)
        {
            self.compared.push(Compared {
                array: found.element.array,
                with: found.with,
            });
            self.read_in_subscripts(found.element);
            return false;
        }
        if let Expr::Load(access) = expr {
            self.read_in_subscripts(access);
            let is_place = is_place(access);
            if !is_place {
                self.others.insert(access.array);
            }
            return is_place;
        }
        let operands = expr.operands().into_iter();
        operands.fold(false, |any, it| self.read(it, place) | any)
    }

    fn read_in_subscripts(&mut self, access: &'k Access) {
        for subscript in &access.subscripts {
            if let Subscript::Computed(expr) = subscript {
                self.read(expr, None);
            }
        }
    }
}

/// Whether it is the same in any order which of `guards`, which are asked one after the other, end
/// a call: none of those that the element at `place` decides about may, since it may be another one
/// when it is looked at.
fn always_faults(guards: &[&Expr], place: &Access) -> bool {
    let decides = |it: &&Expr| reads(it, place);
    let mut behind = guards.iter().skip_while(|it| !decides(it));
    let first = behind.next();
    first.is_none_or(|it| faults_alike(it, place)) && behind.all(|it| cannot_fault(it, place))
}

/// Whether computing `expr` ends a call or not, whatever the element at `place` is.
fn faults_alike(expr: &Expr, place: &Access) -> bool {
    let mut operands = expr.operands().into_iter();
    match expr {
        _ if !reads(expr, place) => true,
        // What is computed depends on it.
        Expr::And(..) | Expr::Or(..) | Expr::Select(..) => cannot_fault(expr, place),
        Expr::Load(access) => place.is_same(access),
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, dividend, divisor, _) => {
            faults_alike(dividend, place) && !reads(divisor, place)
        }
        _ => operands.all(|it| faults_alike(it, place)),
    }
}

fn reads(expr: &Expr, place: &Access) -> bool {
    let mut reads = false;
    for_each_load(expr, &mut |it| reads |= it.is_same(place));
    reads
}

/// Whether computing `expr` never ends a call where the element at `place` is there: elements at
/// affine places are before a call begins.
fn cannot_fault(expr: &Expr, place: &Access) -> bool {
    match expr {
        Expr::Load(access) => access.is_affine() || place.is_same(access),
        Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => false,
        _ => expr
            .operands()
            .into_iter()
            .all(|it| cannot_fault(it, place)),
    }
}

/// Whether `expr` reads no elements, which need not be there where a loop does not run, and does
/// not divide.
fn is_computed_anywhere(expr: &Expr) -> bool {
    let reads_or_divides = matches!(
        expr,
        Expr::Load(_) | Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..)
    );
    !reads_or_divides && expr.operands().into_iter().all(is_computed_anywhere)
}

/// The conditions that must hold for an assignment that `node` is or consists of, in the order in
/// which they are asked, what it sets, and to what.
fn mark(node: &Node) -> Option<(Vec<&Expr>, &Access, &Expr)> {
    match node {
        Node::Assign {
            place: Place::Element(place),
            value,
            ..
        } => Some((Vec::new(), place, value)),
        Node::ScfIf {
            condition,
            then,
            otherwise,
            ..
        } if otherwise.is_empty() => {
            let [inner] = &then[..] else {
                return None;
            };
            let (inner, place, value) = mark(inner)?;
            let mut guards = Vec::new();
            all_of(condition, &mut guards);
            guards.extend(inner);
            Some((guards, place, value))
        }
        _ => None,
    }
}

/// The conditions that all hold where `condition` does.
fn all_of<'k>(condition: &'k Expr, all: &mut Vec<&'k Expr>) {
    match condition {
        Expr::And(left, right) => {
            all_of(left, all);
            all_of(right, all);
        }
        _ => all.push(condition),
    }
}
