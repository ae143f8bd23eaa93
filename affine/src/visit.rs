//! Walks over kernels: nodes with the loops around them, accesses with what they do, the arrays
//! that a call changes.

use crate::{
    Access, AffineFor, ArrayId, Block, Combiner, Expr, Forall, IterId, Kernel, LocalId, Node,
    Place, ScfFor, Subscript,
};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeSet;

/// A loop with an iterator, of any kind.
#[derive(Clone, Copy, Debug)]
pub enum Loop<'k> {
    /// `affine.for`
    Affine(&'k AffineFor),
    /// `scf.forall`
    Forall(&'k Forall),
    /// `scf.for`
    Scf(&'k ScfFor),
}

impl<'k> Loop<'k> {
    /// The loop that `node` is, if it is one with an iterator; `scf.while` has none.
    pub fn of(node: &'k Node) -> Option<Self> {
        match node {
            Node::AffineFor(affine) => Some(Self::Affine(affine)),
            Node::Forall(forall) => Some(Self::Forall(forall)),
            Node::ScfFor(scf) => Some(Self::Scf(scf)),
            Node::AffineIf { .. }
            | Node::ScfWhile { .. }
            | Node::ScfIf { .. }
            | Node::Declare { .. }
            | Node::Alloc { .. }
            | Node::Assign { .. }
            | Node::Reduce { .. } => None,
        }
    }

    /// The iterator that the loop binds.
    pub fn iter(self) -> IterId {
        match self {
            Self::Affine(affine) => affine.iter,
            Self::Forall(forall) => forall.iter,
            Self::Scf(scf) => scf.iter,
        }
    }

    /// The body.
    pub fn body(self) -> &'k [Node] {
        match self {
            Self::Affine(affine) => &affine.body,
            Self::Forall(forall) => &forall.body,
            Self::Scf(scf) => &scf.body,
        }
    }

    /// The loop as a node.
    pub fn to_node(self) -> Node {
        match self {
            Self::Affine(affine) => Node::AffineFor(affine.clone()),
            Self::Forall(forall) => Node::Forall(forall.clone()),
            Self::Scf(scf) => Node::ScfFor(scf.clone()),
        }
    }

    /// What the iterator counts by.
    pub fn step(self) -> i64 {
        match self {
            Self::Affine(affine) => affine.step,
            Self::Forall(_) => 1,
            Self::Scf(scf) => scf.step,
        }
    }

    /// How many iterations at once, in the lanes of vectors.
    pub fn lanes(self) -> u32 {
        match self {
            Self::Affine(affine) => affine.lanes,
            Self::Forall(_) => 1,
            Self::Scf(scf) => scf.lanes,
        }
    }
}

/// What an access does to its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// An [`Expr::Load`].
    Read,
    /// The place of an [`Node::Assign`].
    Write,
    /// A place of a [`Node::Reduce`].
    Reduce,
}

/// An access and where it stands.
#[derive(Clone, Debug)]
pub struct AccessSite<'k> {
    /// The access.
    pub access: &'k Access,
    /// What it does.
    pub kind: AccessKind,
    /// The node that it belongs to; `None` when it is the kernel's result.
    pub node: Option<&'k Node>,
    /// The loops around `node`, outermost first.
    pub loops: Vec<Loop<'k>>,
}

impl Node {
    /// The blocks directly inside, in the order of the text; an `else` that is not there is an
    /// empty block.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> + Clone {
        let (first, second) = match self {
            Self::AffineFor(AffineFor { body, .. })
            | Self::Forall(Forall { body, .. })
            | Self::ScfFor(ScfFor { body, .. })
            | Self::ScfWhile { body, .. } => (Some(body), None),
            Self::AffineIf {
                then, otherwise, ..
            }
            | Self::ScfIf {
                then, otherwise, ..
            } => (Some(then), Some(otherwise)),
            Self::Declare { .. }
            | Self::Alloc { .. }
            | Self::Assign { .. }
            | Self::Reduce { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Whether there are no blocks inside.
    pub fn is_statement(&self) -> bool {
        self.blocks().next().is_none()
    }

    /// The same, for rewriting in place.
    pub fn blocks_mut(&mut self) -> SmallVec<[&mut Block; 2]> {
        match self {
            Self::AffineFor(AffineFor { body, .. })
            | Self::Forall(Forall { body, .. })
            | Self::ScfFor(ScfFor { body, .. })
            | Self::ScfWhile { body, .. } => smallvec![body],
            Self::AffineIf {
                then, otherwise, ..
            }
            | Self::ScfIf {
                then, otherwise, ..
            } => smallvec![then, otherwise],
            Self::Declare { .. }
            | Self::Alloc { .. }
            | Self::Assign { .. }
            | Self::Reduce { .. } => smallvec![],
        }
    }

    /// Whether it is a loop of any kind, or has one inside.
    pub fn holds_loops(&self) -> bool {
        matches!(self, Self::ScfWhile { .. })
            || Loop::of(self).is_some()
            || self.blocks().any(|it| has_loops(it))
    }

    /// What the node writes, when it is a statement that writes.
    pub fn places(&self) -> &[Place] {
        match self {
            Self::Assign { place, .. } => std::slice::from_ref(place),
            Self::Reduce { places, .. } => places,
            _ => &[],
        }
    }

    /// The same, for rewriting in place.
    pub fn places_mut(&mut self) -> &mut [Place] {
        match self {
            Self::Assign { place, .. } => std::slice::from_mut(place),
            Self::Reduce { places, .. } => places,
            _ => &mut [],
        }
    }

    /// The array elements among the [`places`](Self::places).
    pub fn written_elements(&self) -> impl Iterator<Item = &Access> {
        self.places().iter().filter_map(|place| match place {
            Place::Element(access) => Some(access),
            Place::Local(_) => None,
        })
    }

    /// The expressions of the node itself, in order of evaluation: not those of nodes inside it,
    /// nor those in subscripts.
    pub fn expressions(&self) -> Vec<&Expr> {
        match self {
            Self::ScfFor(scf) => vec![&scf.lower, &scf.upper],
            Self::ScfWhile { condition, .. } | Self::ScfIf { condition, .. } => vec![condition],
            Self::Declare { value, .. } | Self::Assign { value, .. } => vec![value],
            Self::Reduce { values, .. } => values.iter().collect(),
            Self::AffineFor(_) | Self::AffineIf { .. } | Self::Forall(_) | Self::Alloc { .. } => {
                vec![]
            }
        }
    }

    /// The same, for rewriting in place.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::ScfFor(scf) => vec![&mut scf.lower, &mut scf.upper],
            Self::ScfWhile { condition, .. } | Self::ScfIf { condition, .. } => vec![condition],
            Self::Declare { value, .. } | Self::Assign { value, .. } => vec![value],
            Self::Reduce { values, .. } => values.iter_mut().collect(),
            Self::AffineFor(_) | Self::AffineIf { .. } | Self::Forall(_) | Self::Alloc { .. } => {
                vec![]
            }
        }
    }
}

/// Whether a loop over one of `iters` stands in `node`, or is it.
pub fn has_loop_of(node: &Node, iters: &[IterId]) -> bool {
    has_loop_where(node, &|it| iters.contains(&it))
}

fn has_loop_where(node: &Node, is_meant: &impl Fn(IterId) -> bool) -> bool {
    let mut inside = node.blocks().flat_map(Block::loops);
    Loop::of(node).is_some_and(|it| is_meant(it.iter())) || inside.any(|it| is_meant(*it))
}

/// Those of `nodes`, from the first to the last, in which one of the loops over `iters` stands.
pub fn span_of<'k>(nodes: &'k [Node], iters: &[IterId]) -> &'k [Node] {
    let has_one = |node: &Node| has_loop_of(node, iters);
    let (first, last) = (
        nodes.iter().position(has_one),
        nodes.iter().rposition(has_one),
    );
    let span = first.zip(last).and_then(|(it, last)| nodes.get(it..=last));
    span.unwrap_or_default()
}

/// Calls `visit` for every loop in `body` whose iterator `is_meant`, in the order of the text, with
/// the loops around it, outermost first.
pub fn walk_loops<'k>(
    body: &'k [Node],
    is_meant: &impl Fn(IterId) -> bool,
    visit: &mut impl FnMut(Loop<'k>, &[Loop<'k>]),
) {
    walk_loops_inside(body, &mut Vec::new(), is_meant, visit);
}

fn walk_loops_inside<'k>(
    body: &'k [Node],
    loops: &mut Vec<Loop<'k>>,
    is_meant: &impl Fn(IterId) -> bool,
    visit: &mut impl FnMut(Loop<'k>, &[Loop<'k>]),
) {
    for node in body.iter().filter(|it| has_loop_where(it, is_meant)) {
        let own = Loop::of(node);
        if let Some(own) = own.filter(|it| is_meant(it.iter())) {
            visit(own, loops);
        }
        let around = loops.len();
        loops.extend(own);
        for block in node.blocks() {
            walk_loops_inside(block, loops, is_meant, visit);
        }
        loops.truncate(around);
    }
}

/// Calls `visit` for every node of `body` and of the blocks inside, each before what it contains,
/// with the loops around it, outermost first.
pub fn walk<'k>(body: &'k [Node], visit: &mut impl FnMut(&'k Node, &[Loop<'k>])) {
    walk_inside(body, &mut Vec::new(), visit);
}

fn walk_inside<'k>(
    body: &'k [Node],
    loops: &mut Vec<Loop<'k>>,
    visit: &mut impl FnMut(&'k Node, &[Loop<'k>]),
) {
    for node in body {
        visit(node, loops);
        let around = loops.len();
        loops.extend(Loop::of(node));
        for block in node.blocks() {
            walk_inside(block, loops, visit);
        }
        loops.truncate(around);
    }
}

/// Calls `visit` for every load that is made whenever `expr` is computed, but for those in
/// subscripts.
pub fn for_each_sure_load<'k>(expr: &'k Expr, visit: &mut impl FnMut(&'k Access)) {
    match expr {
        Expr::Load(access) => visit(access),
        Expr::And(first, _) | Expr::Or(first, _) | Expr::Select(first, ..) => {
            for_each_sure_load(first, visit);
        }
        _ => {
            for operand in expr.operands() {
                for_each_sure_load(operand, visit);
            }
        }
    }
}

/// Whether there is a loop of any kind among `nodes`, or in one of them.
pub fn has_loops(nodes: &[Node]) -> bool {
    nodes.iter().any(Node::holds_loops)
}

/// Whether a `scf.forall` stands in `nodes`.
pub fn has_forall(nodes: &[Node]) -> bool {
    let mut found = false;
    walk(nodes, &mut |node, _| {
        found |= matches!(node, Node::Forall(_))
    });
    found
}

/// What a `let` is bound to: `None` for a local that can be set again.
pub fn bound_to(kernel: &Kernel, local: LocalId) -> Option<&Expr> {
    let mut found = None;
    walk(&kernel.body, &mut |node, _| match node {
        Node::Declare { local: it, value } if *it == local => found = Some(value),
        _ => {}
    });
    found.filter(|_| !kernel.locals[local].mutable)
}

/// What `local` is declared with among `nodes` themselves, not in blocks inside of them.
pub fn declared_in(nodes: &[Node], local: LocalId) -> Option<&Expr> {
    nodes.iter().find_map(|node| match node {
        Node::Declare { local: it, value } if *it == local => Some(value),
        _ => None,
    })
}

/// Whether a turn of `body` may take longer than others, since a loop in it computes its bounds or
/// its condition.
pub fn has_computed_loops(body: &[Node]) -> bool {
    let mut any = false;
    walk(body, &mut |node, _| {
        any |= matches!(node, Node::ScfFor(_) | Node::ScfWhile { .. });
    });
    any
}

/// The combiners in `nodes`, each once.
pub fn combiners(nodes: &[Node]) -> Vec<&Combiner> {
    let mut used: Vec<&Combiner> = Vec::new();
    for_each_combiner(nodes, &mut |combiner| {
        if !used.contains(&combiner) {
            used.push(combiner);
        }
    });
    used
}

/// Calls `visit` with every combiner of the nodes in `body`, in the order of the text.
pub fn for_each_combiner<'k>(body: &'k [Node], visit: &mut impl FnMut(&'k Combiner)) {
    walk(body, &mut |node, _| match node {
        Node::Reduce { combiner, .. } => visit(combiner),
        Node::Forall(forall) => forall.privates.iter().for_each(|it| visit(&it.combiner)),
        _ => {}
    });
}

/// Calls `visit` for every load of `expr`, those inside subscripts included, in order of
/// evaluation: a load after the loads in its subscripts.
pub fn for_each_load<'k>(expr: &'k Expr, visit: &mut impl FnMut(&'k Access)) {
    for operand in expr.operands() {
        for_each_load(operand, visit);
    }
    if let Expr::Load(access) = expr {
        for_each_load_in_subscripts(access, visit);
        visit(access);
    }
}

/// Whether `expr` loads an element of `array`.
pub fn reads_array(expr: &Expr, array: ArrayId) -> bool {
    let mut reads = false;
    for_each_load(expr, &mut |access| reads |= access.array == array);
    reads
}

/// Calls `visit` for every load in the subscripts of `access`, in order of evaluation, not for
/// `access` itself.
pub fn for_each_load_in_subscripts<'k>(access: &'k Access, visit: &mut impl FnMut(&'k Access)) {
    for subscript in &access.subscripts {
        match subscript {
            Subscript::Affine(_) => {}
            Subscript::Computed(expr) => for_each_load(expr, visit),
        }
    }
}

/// Calls `visit` for every load that the node itself makes, in order of evaluation, those in the
/// subscripts of its places included. What an update reads of what it updates does not count.
pub fn for_each_load_of<'k>(node: &'k Node, visit: &mut impl FnMut(&'k Access)) {
    for expr in node.expressions() {
        for_each_load(expr, visit);
    }
    for access in node.written_elements() {
        for_each_load_in_subscripts(access, visit);
    }
}

/// Calls `visit` for every local that `expr` reads, those in subscripts included.
pub fn for_each_local(expr: &Expr, visit: &mut impl FnMut(LocalId)) {
    match expr {
        Expr::Local(local) => visit(*local),
        Expr::Load(access) => for_each_local_in_subscripts(access, visit),
        _ => {
            for operand in expr.operands() {
                for_each_local(operand, visit);
            }
        }
    }
}

/// Calls `visit` for every local that the subscripts of `access` read.
pub fn for_each_local_in_subscripts(access: &Access, visit: &mut impl FnMut(LocalId)) {
    for subscript in &access.subscripts {
        if let Subscript::Computed(expr) = subscript {
            for_each_local(expr, visit);
        }
    }
}

/// Whether `expr` reads `local`.
pub fn reads(expr: &Expr, local: LocalId) -> bool {
    let mut found = false;
    for_each_local(expr, &mut |it| found |= it == local);
    found
}

/// Calls `visit` for every local that the node itself reads, those in the subscripts of its places
/// included. An update reads what it updates only for itself: that does not count.
pub fn for_each_local_read(node: &Node, visit: &mut impl FnMut(LocalId)) {
    for expr in node.expressions() {
        for_each_local(expr, visit);
    }
    for access in node.written_elements() {
        for_each_local_in_subscripts(access, visit);
    }
}

/// Whether anything in `nodes` reads `local`; that an update combines with what it holds does not
/// count.
pub fn reads_local(nodes: &[Node], local: LocalId) -> bool {
    let mut found = false;
    walk(nodes, &mut |node, _| {
        for_each_local_read(node, &mut |it| found |= it == local);
    });
    found
}

/// Every access of the kernel, in the order of the text and within a statement in order of
/// evaluation.
pub fn accesses(kernel: &Kernel) -> Vec<AccessSite<'_>> {
    let mut sites = Vec::new();
    walk(&kernel.body, &mut |node, loops| {
        let mut site = |kind, access| {
            sites.push(AccessSite {
                access,
                kind,
                node: Some(node),
                loops: loops.to_vec(),
            });
        };
        for expr in node.expressions() {
            for_each_load(expr, &mut |load| site(AccessKind::Read, load));
        }
        for access in node.written_elements() {
            for_each_load_in_subscripts(access, &mut |load| site(AccessKind::Read, load));
            site(kind_of_writes(node), access);
        }
    });
    if let Some(result) = &kernel.result {
        for_each_load(result, &mut |access| {
            sites.push(AccessSite {
                access,
                kind: AccessKind::Read,
                node: None,
                loops: Vec::new(),
            });
        });
    }
    sites
}

fn kind_of_writes(node: &Node) -> AccessKind {
    match node {
        Node::Reduce { .. } => AccessKind::Reduce,
        _ => AccessKind::Write,
    }
}

/// The arrays that `body` allocates, in the order of the text.
pub fn allocated_arrays(body: &[Node]) -> Vec<ArrayId> {
    let mut allocated = Vec::new();
    walk(body, &mut |node, _| {
        if let Node::Alloc { array } = node {
            allocated.push(*array);
        }
    });
    allocated
}

/// The array parameters and fields of record parameters that a call may change: those that a
/// statement writes and those that a forall merges into.
pub fn written_arrays(kernel: &Kernel) -> BTreeSet<ArrayId> {
    let params: BTreeSet<_> = kernel.array_params().collect();
    &arrays_written_in(&kernel.body) & &params
}

/// The scalars that statements in `body` set again, each as often as they do.
pub fn scalars_set_in(body: &[Node]) -> Vec<LocalId> {
    let mut set = Vec::new();
    walk(body, &mut |node, _| {
        set.extend(node.places().iter().filter_map(Place::local));
    });
    set
}

/// Whether a statement in `body` combines anything with what is there.
pub fn has_updates(body: &[Node]) -> bool {
    let mut has_updates = false;
    walk(body, &mut |node, _| {
        has_updates |= matches!(node, Node::Reduce { .. });
    });
    has_updates
}

/// Whether a statement in `body` writes an element.
pub fn writes_elements(body: &[Node]) -> bool {
    let mut writes = false;
    walk(body, &mut |node, _| {
        writes |= node.written_elements().next().is_some();
    });
    writes
}

/// All arrays that a statement in `body` writes or a forall merges into.
pub fn arrays_written_in(body: &[Node]) -> BTreeSet<ArrayId> {
    let mut written = BTreeSet::new();
    walk(body, &mut |node, _| {
        written.extend(node.written_elements().map(|access| access.array));
        if let Node::Forall(forall) = node {
            written.extend(forall.buffers().map(|(_, target)| target));
        }
    });
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kernels::{chunked_segment_sum, segment_sum};

    #[test]
    fn accesses_come_in_order_of_evaluation_with_their_loops() {
        let kernel = segment_sum();
        let seen: Vec<_> = accesses(&kernel)
            .iter()
            .map(|site| {
                let name = kernel.arrays[site.access.array].name.clone();
                (name, site.kind, site.loops.len())
            })
            .collect();
        let expected = [
            ("x", AccessKind::Read),
            ("seg", AccessKind::Read),
            ("out", AccessKind::Reduce),
        ];
        assert_eq!(
            seen,
            expected.map(|(name, kind)| (name.to_owned(), kind, 1))
        );
    }

    #[test]
    fn a_merge_counts_as_a_write_of_its_target_and_a_private_buffer_is_no_parameter() {
        for kernel in [segment_sum(), chunked_segment_sum()] {
            let names: Vec<_> = written_arrays(&kernel)
                .into_iter()
                .map(|array| kernel.arrays[array].name.as_str())
                .collect();
            assert_eq!(names, ["out"]);
        }
    }

    #[test]
    fn a_walk_tells_the_loops_around_each_node() {
        let kernel = chunked_segment_sum();
        let mut depths = Vec::new();
        walk(&kernel.body, &mut |_, loops| depths.push(loops.len()));
        assert_eq!(depths, [0, 1, 2]);
    }
}
