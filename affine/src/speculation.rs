//! Loops that read what they update, at other elements as far as anybody knows before the data are
//! there.
//!
//! Such a loop may run at once on copies, if what is read and what is updated turn out to be
//! different elements (Rauchwerger and Padua, The LRPD test, 1995). To find that out the
//! [`inspector`] marks what is read and may be updated: all of it before the first update, since as
//! long as no update meets a mark, whatever the loop reads is what was there before it.

mod guards;

use crate::changed::Changed;
use crate::visit::{Loop, allocated_arrays, for_each_load_of, walk};
use crate::{Access, ArrayId, Combiner, Expr, IterId, Last, LocalId, Node, Place, Value};
use guards::Guards;
use std::collections::{BTreeMap, BTreeSet};

/// Arrays that a loop updates together.
#[derive(Clone, Copy, Debug)]
pub struct Updated<'k> {
    /// The arrays, in the order of the parts of the combiner.
    pub arrays: &'k [ArrayId],
    /// By what.
    pub combiner: &'k Combiner,
    /// Whether they may be read, too.
    pub is_read: bool,
}

/// Whether `body` can run for nothing where what it reads of the arrays is older than it should be:
/// it writes nothing but these, by updates alone, and arrays and scalars of its own, and it comes
/// to an end, since nothing that it reads of them decides how often a loop in it turns.
pub fn is_contained(body: &[Node], updated: &[Updated<'_>]) -> bool {
    let own = allocated_arrays(body);
    let of = |array: ArrayId| updated.iter().find(|it| it.arrays.contains(&array));
    let mut is_contained = true;
    walk(body, &mut |node, _| {
        is_contained &= !matches!(node, Node::Forall(_) | Node::ScfWhile { .. });
        for access in loads(node) {
            is_contained &= of(access.array).is_none_or(|it| it.is_read);
        }
        for access in node.written_elements() {
            is_contained &= match of(access.array) {
                Some(updated) => updates(node, updated),
                None => own.contains(&access.array),
            };
        }
    });
    let is_read = |array: ArrayId| of(array).is_some();
    is_contained && !Followed::of(body, &is_read).bounds
}

/// Whether `node` is an update of all of the arrays by their combiner, at one place.
fn updates(node: &Node, updated: &Updated<'_>) -> bool {
    let written: Vec<_> = node.written_elements().collect();
    let mut pairs = written.windows(2);
    matches!(node, Node::Reduce { combiner, .. } if combiner == updated.combiner)
        && written
            .iter()
            .map(|it| it.array)
            .eq(updated.arrays.iter().copied())
        && pairs.all(|it| matches!(it, [one, other] if one.is_at_same_place(other)))
}

/// What `node` itself loads, in order of evaluation.
fn loads(node: &Node) -> Vec<&Access> {
    let mut found = Vec::new();
    for_each_load_of(node, &mut |it| found.push(it));
    found
}

/// What follows from elements of some arrays.
#[derive(Default)]
struct Followed {
    locals: BTreeSet<LocalId>,
    arrays: BTreeSet<ArrayId>,
    /// Whether bounds of loops do.
    bounds: bool,
}

impl Followed {
    fn of(body: &[Node], is_watched: &impl Fn(ArrayId) -> bool) -> Self {
        let mut followed = Self::default();
        loop {
            let known = followed.locals.len() + followed.arrays.len();
            followed.block(body, false, is_watched);
            if followed.locals.len() + followed.arrays.len() == known {
                return followed;
            }
        }
    }

    fn block(&mut self, nodes: &[Node], decided: bool, is_watched: &impl Fn(ArrayId) -> bool) {
        for node in nodes {
            let follows = decided || self.follows(node, is_watched);
            match node {
                Node::ScfFor(_) => self.bounds |= self.follows(node, is_watched),
                Node::Declare { local, .. } if follows => drop(self.locals.insert(*local)),
                _ if follows => node.places().iter().for_each(|place| match place {
                    Place::Local(local) => drop(self.locals.insert(*local)),
                    Place::Element(access) => drop(self.arrays.insert(access.array)),
                }),
                _ => {}
            }
            let decides = follows && matches!(node, Node::ScfIf { .. });
            for block in node.blocks() {
                self.block(block, decided || decides, is_watched);
            }
        }
    }

    fn follows(&self, node: &Node, is_watched: &impl Fn(ArrayId) -> bool) -> bool {
        let mut follows = false;
        for access in loads(node) {
            follows |= is_watched(access.array) || self.arrays.contains(&access.array);
        }
        crate::visit::for_each_local_read(node, &mut |it| follows |= self.locals.contains(&it));
        follows
    }
}

/// What `body`, which [is contained](is_contained) and the body of the loop over `iter`, reads of
/// the watched arrays, and nothing else: updates of each element, by a combiner that says nothing
/// and values of which one says whether the loop may update the element, too, as far as conditions
/// around all of its updates tell. What is read again in each turn of a loop stands before it,
/// whether the loop turns or not, so there may be updates of more elements; an index out of range
/// in them is none of the loop's own. Of a loop that computes its bounds, makes updates, and reads
/// nothing else, nothing but these bounds is left: so often it turns.
pub fn inspector(iter: IterId, body: &[Node], is_watched: &dyn Fn(ArrayId) -> bool) -> Vec<Node> {
    let inspecting = Inspecting {
        own: allocated_arrays(body),
        is_watched,
        guards: guards(iter, body, is_watched),
    };
    let mut nodes = inspecting.block(body);
    let mut needed = Needed::default();
    loop {
        let known = needed.len();
        needed.block(&nodes, is_watched);
        if needed.len() == known {
            break;
        }
    }
    needed.keep(&mut nodes, is_watched);
    nodes
}

/// How many loops are around the innermost of what the inspector marks, or around the innermost
/// update of the watched arrays in a body.
pub fn depth(nodes: &[Node], is_watched: &dyn Fn(ArrayId) -> bool) -> usize {
    let mut deepest = 0;
    walk(nodes, &mut |node, loops| {
        if is_update(node, is_watched) {
            deepest = deepest.max(loops.len());
        }
    });
    deepest
}

fn is_update(node: &Node, is_watched: &dyn Fn(ArrayId) -> bool) -> bool {
    node.written_elements().any(|it| is_watched(it.array))
}

fn any(nodes: &[Node], is_meant: &dyn Fn(&Node) -> bool) -> bool {
    let mut found = false;
    walk(nodes, &mut |node, _| found |= is_meant(node));
    found
}

struct Inspecting<'w> {
    /// The arrays that the body allocates.
    own: Vec<ArrayId>,
    is_watched: &'w dyn Fn(ArrayId) -> bool,
    /// Of the watched arrays that the body updates; `None` where an update is made under no
    /// condition that speaks of its element.
    guards: BTreeMap<ArrayId, Option<Guards>>,
}

/// What holds of the elements of watched arrays that `body`, of the loop over `iter`, updates.
fn guards(
    iter: IterId,
    body: &[Node],
    is_watched: &dyn Fn(ArrayId) -> bool,
) -> BTreeMap<ArrayId, Option<Guards>> {
    let changed = Changed::in_loop(iter, body);
    let mut updated = BTreeSet::new();
    walk(body, &mut |node, _| {
        updated.extend(node.written_elements().map(|it| it.array));
    });
    let watched = updated.into_iter().filter(|it| is_watched(*it));
    let guards = |array| (array, Guards::of(body, &changed, array));
    watched.map(guards).collect()
}

impl Inspecting<'_> {
    fn block(&self, nodes: &[Node]) -> Vec<Node> {
        let mut after = Vec::new();
        for node in nodes {
            let loads = loads(node).into_iter();
            let watched = loads.filter(|it| (self.is_watched)(it.array));
            after.extend(watched.flat_map(|it| self.marks(it)));
            let mut written = node.written_elements();
            if written.all(|it| self.own.contains(&it.array)) {
                after.extend(self.node(node.clone()));
            }
        }
        after
    }

    /// Updates of the element by values of which one says whether the loop may update it, too.
    fn marks(&self, access: &Access) -> impl Iterator<Item = Node> {
        let conditions = match self.guards.get(&access.array) {
            Some(Some(guards)) => guards.of_element(access),
            Some(None) => vec![Expr::Constant(Value::bool(true))],
            None => Vec::new(),
        };
        conditions.into_iter().map(|condition| Node::Reduce {
            places: vec![Place::Element(access.clone())],
            combiner: Combiner::new(Last),
            values: vec![condition],
            span: access.span,
        })
    }

    /// What is to be done for `node` besides marking what it reads itself.
    fn node(&self, mut node: Node) -> Vec<Node> {
        match &mut node {
            Node::AffineFor(it) => it.lanes = 1,
            Node::ScfFor(it) => it.lanes = 1,
            _ => {}
        }
        let mut before = Vec::new();
        let updates = |it: &Node| is_update(it, &|array| !self.own.contains(&array));
        let is_updating = matches!(&node, Node::ScfFor(it) if any(&it.body, &updates));
        for block in node.blocks_mut() {
            *block = self.block(block).into();
        }
        if Loop::of(&node).is_some() {
            let turn = Changed::by(std::slice::from_ref(&node)).but(self.is_watched);
            for block in node.blocks_mut() {
                take_steady(block, &turn, self.is_watched, &mut before);
            }
        }
        if let Node::ScfFor(it) = &mut node
            && is_updating
            && !any(&it.body, &|it| is_update(it, self.is_watched))
        {
            it.body.clear();
        }
        before.push(node);
        before
    }
}

/// Takes the marks in `nodes` that are the same in all turns of a loop.
fn take_steady(
    nodes: &mut Vec<Node>,
    turn: &Changed,
    is_watched: &dyn Fn(ArrayId) -> bool,
    taken: &mut Vec<Node>,
) {
    nodes.retain(|node| {
        let mut marked = node.written_elements().filter(|it| is_watched(it.array));
        let mut values = node.expressions().into_iter();
        let is_steady = marked.next().is_some_and(|it| turn.place_stays(it))
            && values.all(|it| turn.expr_stays(it));
        if is_steady && !taken.contains(node) {
            taken.push(node.clone());
        }
        !is_steady
    });
    for block in nodes.iter_mut().flat_map(Node::blocks_mut) {
        take_steady(block, turn, is_watched, taken);
    }
}

/// What marks follow from.
#[derive(Default)]
struct Needed {
    locals: BTreeSet<LocalId>,
    arrays: BTreeSet<ArrayId>,
}

impl Needed {
    fn len(&self) -> usize {
        self.locals.len() + self.arrays.len()
    }

    /// Adds what `nodes` need that are kept.
    fn block(&mut self, nodes: &[Node], is_watched: &dyn Fn(ArrayId) -> bool) {
        for node in nodes
            .iter()
            .filter(|it| self.keeps(it, is_watched))
            .collect::<Vec<_>>()
        {
            self.arrays.extend(loads(node).iter().map(|it| it.array));
            let locals = &mut self.locals;
            crate::visit::for_each_local_read(node, &mut |it| locals.extend([it]));
            for block in node.blocks() {
                self.block(block, is_watched);
            }
        }
    }

    fn keeps(&self, node: &Node, is_watched: &dyn Fn(ArrayId) -> bool) -> bool {
        let mut blocks = node.blocks().flatten();
        let mut places = node.places().iter();
        match node {
            Node::Declare { local, .. } => self.locals.contains(local),
            Node::Alloc { array } => self.arrays.contains(array),
            Node::ScfFor(it) if it.body.is_empty() => true,
            _ => {
                blocks.any(|it| self.keeps(it, is_watched))
                    || places.any(|place| match place {
                        Place::Local(local) => self.locals.contains(local),
                        Place::Element(access) => {
                            is_watched(access.array) || self.arrays.contains(&access.array)
                        }
                    })
            }
        }
    }

    fn keep(&self, nodes: &mut Vec<Node>, is_watched: &dyn Fn(ArrayId) -> bool) {
        nodes.retain(|it| self.keeps(it, is_watched));
        for block in nodes.iter_mut().flat_map(Node::blocks_mut) {
            self.keep(block, is_watched);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    /// What marks the reads of `out` and `other` in the loop over `i` around `body`.
    fn inspected(body: &str) -> String {
        let source = format!(
            "kernel @k(n: i64, m: i64, row: i64[n + 1], key: i32[n], from: i32[n], x: f64[n], out: f64[m], other: i64[m]) {{
               affine.for i in 0..n {{ {body} }}
             }}"
        );
        let mut kernel = text::parse(&source).expect("a kernel").remove(0);
        let (out, _) = array(&kernel, "out");
        let (other, _) = array(&kernel, "other");
        let is_watched = |array: ArrayId| array == out || array == other;
        kernel.body = inspector(nowhere(&kernel), &kernel.body, &is_watched).into();
        let text = kernel.to_string();
        let lines = text.lines().skip(1).map(str::trim);
        lines.collect::<Vec<_>>().join(" ")
    }

    /// No loop of the kernel.
    fn nowhere(kernel: &crate::Kernel) -> IterId {
        let mut iters = kernel.iters.clone();
        iters.alloc(crate::Iter {
            name: "elsewhere".to_owned(),
            labels: Vec::new(),
            span: crate::Span::default(),
        })
    }

    fn array<'k>(kernel: &'k crate::Kernel, name: &str) -> (ArrayId, &'k crate::Array) {
        let mut arrays = kernel.arrays.iter();
        arrays.find(|(_, it)| it.name == name).expect("an array")
    }

    #[test]
    fn what_is_read_is_marked_where_it_changes() {
        for (body, expected) in [
            (
                "out[key[i]] reduce(add) x[i]",
                "}",
            ),
            (
                "out[key[i]] reduce(add) out[from[i]]",
                "affine.for i in 0..n { out[from[i]] reduce(last) bool(true) } }",
            ),
            (
                "let v: i32 = from[i]
                 scf.for k in row[v]..row[v + 1] { scf.if x[k] < 1.0 { out[key[k]] reduce(add) out[v] * x[k] } }",
                "affine.for i in 0..n { let v: i32 = from[i] out[v] reduce(last) bool(true) scf.for k in row[v]..row[v + 1] { } } }",
            ),
            (
                "let c: f64 = out[i] + 1.0
                 affine.for j in 0..m { out[key[i]] reduce(add) c }",
                "affine.for i in 0..n { out[i] reduce(last) bool(true) } }",
            ),
            (
                "affine.for j in 0..n { let v: i32 = from[j] out[key[i]] reduce(add) out[v] }",
                "affine.for i in 0..n { affine.for j in 0..n { let v: i32 = from[j] out[v] reduce(last) bool(true) } } }",
            ),
            (
                "affine.for j in 0..n { out[key[i]] reduce(add) out[0] + out[i] + out[i + j] }",
                "out[0] reduce(last) bool(true) affine.for i in 0..n { out[i] reduce(last) bool(true) affine.for j in 0..n { \
                 out[i + j] reduce(last) bool(true) } } }",
            ),
            (
                "scf.if x[i] < 1.0 { out[key[i]] reduce(add) f64(other[other[from[i]]]) } else { x[i] = 1.0 }",
                "}",
            ),
            (
                "let w: i32 = key[i]
                 scf.if x[i] > 1.0 && row[w] == m { out[w] reduce(add) out[from[i]] }",
                "affine.for i in 0..n { let w: i32 = key[i] scf.if x[i] > 1.0 && row[w] == m { \
                 out[from[i]] reduce(last) row[from[i]] == m } } }",
            ),
            (
                "scf.if row[key[i]] == i { out[key[i]] reduce(add) out[from[i]] }",
                "affine.for i in 0..n { scf.if row[key[i]] == i { out[from[i]] reduce(last) bool(true) } } }",
            ),
            (
                "alloc t: f64[3]
                 var s: i32 = 0
                 t[s] = x[i]
                 s = i32(t[0])
                 x[i] = 2.0
                 out[key[i]] reduce(add) out[s]",
                "affine.for i in 0..n { alloc t: f64[3] var s: i32 = 0 t[s] = x[i] s = i32(t[0]) out[s] reduce(last) bool(true) } }",
            ),
        ] {
            assert_eq!(inspected(body), expected, "{body}");
        }
    }

    #[test]
    fn marks_lie_as_deep_as_what_they_depend_on() {
        let depths = |body: &str| {
            let source = format!(
                "kernel @k(n: i64, m: i64, from: i32[n], key: i32[n], out: f64[m]) {{ affine.for i in 0..n {{ {body} }} }}"
            );
            let kernel = text::parse(&source).expect("a kernel").remove(0);
            let (out, _) = array(&kernel, "out");
            let is_out = |it: ArrayId| it == out;
            let marks = inspector(nowhere(&kernel), &kernel.body, &is_out);
            (depth(&marks, &is_out), depth(&kernel.body, &is_out))
        };
        assert_eq!(depths("out[key[i]] reduce(add) out[from[i]]"), (1, 1));
        let inner = "affine.for j in 0..n { out[key[j]] reduce(add) out[from[i]] }";
        assert_eq!(depths(inner), (1, 2));
    }

    fn contained(body: &str) -> bool {
        let source = format!(
            "kernel @k(n: i64, m: i64, key: i32[n], from: i32[n], x: f64[n], out: f64[m], other: f64[m]) {{
               scf.forall c in 0..8 private(p: f64[m] = identity(add)) merge(other reduce(add) p) {{ {body} }}
             }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let Some(Node::Forall(forall)) = kernel.body.first() else {
            panic!("no forall");
        };
        let (out, _) = array(&kernel, "out");
        let private = forall.privates.first().expect("a buffer");
        let updated = [
            Updated {
                arrays: &[out],
                combiner: &private.combiner,
                is_read: true,
            },
            Updated {
                arrays: &private.buffers,
                combiner: &private.combiner,
                is_read: false,
            },
        ];
        is_contained(&forall.body, &updated)
    }

    #[test]
    fn only_what_ends_and_leaves_nothing_can_run_for_nothing() {
        for body in [
            "out[key[c]] reduce(add) out[from[c]]",
            "p[key[c]] reduce(add) out[from[c]]",
            "alloc t: f64[2] t[0] = out[from[c]] scf.if t[0] < 1.0 { out[key[c]] reduce(add) t[0] }",
            "scf.for k in i64(key[c])..n { out[key[k]] reduce(add) out[0] }",
        ] {
            assert!(contained(body), "{body}");
        }
        for body in [
            "x[c] = out[from[c]]",
            "out[key[c]] = out[from[c]]",
            "out[key[c]] reduce(max) out[from[c]]",
            "out[key[c]] reduce(add) p[from[c]]",
            "var s: f64 = 0.0 scf.while s < 3.0 { s = s + 1.0 } out[key[c]] reduce(add) s",
            "scf.for k in 0..i64(out[from[c]]) { out[key[k]] reduce(add) 1.0 }",
            "var s: i64 = 0 scf.if out[from[c]] < 1.0 { s = i64(key[c]) } scf.for k in 0..s { out[key[k]] reduce(add) 1.0 }",
            "alloc t: f64[2] t[0] = out[from[c]] let s: f64 = t[0] scf.for k in 0..i64(s) { out[key[k]] reduce(add) 1.0 }",
        ] {
            assert!(!contained(body), "{body}");
        }
    }
}
