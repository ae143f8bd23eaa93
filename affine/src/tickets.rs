//! Counters that hand out tickets, as `next` does in `out[next[key[i]]++] = x[i]`.
//!
//! A counting sort, the filling of the rows of a sparse matrix and what keeps the elements for which a condition holds all take what a
//! counter says for the place of an element, and move the counter on by a constant. Nothing else orders their iterations, and how often
//! counters move can be told without all that tickets are used for: who counts first knows the tickets of each part of the loop before
//! that part runs. This is how parallel counting sorts work: count, add up, distribute (Zagha and Blelloch, *Radix sort for vector
//! multiprocessors*, 1991).

use crate::dependence::Target;
use crate::visit::{arrays_written_in, for_each_load_of, for_each_local_read, walk};
use crate::{
    Access, Add, ArrayId, BinaryOp, Block, Combine, Combiner, Expr, Kernel, LocalId, Node, Place,
    Span, Subscript, Type, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// The counters of a loop that hand out tickets.
pub struct Tickets {
    dispensers: Vec<Dispenser>,
    counting: Vec<Node>,
}

/// A scalar that counts, or an array each element of which does.
pub struct Dispenser {
    /// The scalar or the array.
    pub target: Target,
    /// Whether it is one counter, the same for all iterations.
    pub is_one: bool,
    /// Whether it is not greater behind the loop than before.
    pub goes_down: bool,
    /// The arrays of which the loop touches no element but those that tickets say, each with the dimension in which they do.
    pub seated: BTreeMap<ArrayId, usize>,
    /// The same, where other dimensions say which counter it is: each has a row of its own.
    pub in_rows: BTreeSet<ArrayId>,
    /// What is added to the lesser of the values that a counter has before and behind the loop for the first place that its tickets may say;
    /// the same, added to the greater one, is behind the last.
    pub first_place: i64,
    /// The greatest place that a ticket can say in the types that it goes through.
    pub greatest_place: i64,
    /// By how much assignments move it, if there are some.
    step: i64,
}

impl Dispenser {
    fn taken(&self) -> impl Iterator<Item = Target> {
        let arrays = self.seated.keys().chain(&self.in_rows);
        arrays.map(|it| Target::Array(*it)).chain([self.target])
    }

    /// `node`, which moves the counter at `place`, as `place reduce(add) step`.
    fn counted(&self, node: &Node, place: &Place, ty: Type) -> Node {
        if matches!(node, Node::Reduce { .. }) {
            return node.clone();
        }
        Node::Reduce {
            places: vec![place.clone()],
            combiner: Combiner::new(Add),
            values: vec![Expr::Constant(Value::integer(ty, self.step.into()))],
            span: Span::default(),
        }
    }
}

impl Tickets {
    /// Those of the loop with this body, if it has some, and if what moves its counters follows from nothing that the loop changes.
    pub fn of(kernel: &Kernel, body: &[Node]) -> Option<Self> {
        let written = arrays_written_in(body);
        let (mut dispensers, mut held) = (Vec::new(), BTreeSet::new());
        for target in counters(kernel, body) {
            let mut look = Look::new(kernel, target, &written);
            if look.block(body, None).is_none() || !look.is_read {
                continue;
            }
            held.extend(look.held.keys().copied());
            dispensers.extend(look.dispenser());
        }
        let found = Self {
            counting: counting(kernel, body, &dispensers),
            dispensers,
        };
        let is_any = !found.dispensers.is_empty();
        (is_any && found.counts_from_what_stays(&written, &held)).then_some(found)
    }

    /// The counters.
    pub fn dispensers(&self) -> &[Dispenser] {
        &self.dispensers
    }

    /// The counters, and the arrays of which tickets say all places.
    pub fn taken(&self) -> BTreeSet<Target> {
        let dispensers = self.dispensers.iter();
        dispensers.flat_map(Dispenser::taken).collect()
    }

    /// As much of the body as moves the counters, each by `reduce(add)` of its step.
    pub fn counting(&self) -> &[Node] {
        &self.counting
    }

    /// Whether nothing that the loop changes decides how often which counter moves.
    fn counts_from_what_stays(
        &self,
        written: &BTreeSet<ArrayId>,
        held: &BTreeSet<LocalId>,
    ) -> bool {
        let mut stays = true;
        walk(&self.counting, &mut |node, _| {
            for_each_load_of(node, &mut |it| stays &= !written.contains(&it.array));
            for_each_local_read(node, &mut |it| {
                stays &= !held.contains(&it) && !self.is_counter(Target::Local(it));
            });
        });
        stays
    }

    fn is_counter(&self, target: Target) -> bool {
        self.dispensers.iter().any(|it| it.target == target)
    }
}

/// What the loop moves by a constant, as far as one look at a statement tells.
fn counters(kernel: &Kernel, body: &[Node]) -> Vec<Target> {
    let mut found = Vec::new();
    let mut own = BTreeSet::new();
    walk(body, &mut |node, _| {
        match node {
            Node::Declare { local, .. } => drop(own.insert(Target::Local(*local))),
            Node::Alloc { array } => drop(own.insert(Target::Array(*array))),
            _ => {}
        }
        if let [place] = node.places() {
            let (target, ty) = moved(kernel, place);
            let counts = ty.is_integer() && ty.bytes() >= 4;
            if counts && !own.contains(&target) && !found.contains(&target) {
                found.push(target);
            }
        }
    });
    found
}

fn moved(kernel: &Kernel, place: &Place) -> (Target, Type) {
    match place {
        Place::Element(it) => (Target::Array(it.array), kernel.arrays[it.array].element),
        Place::Local(it) => (Target::Local(*it), kernel.locals[*it].ty),
    }
}

/// What of `body` moves the `dispensers`, and what decides how often.
fn counting(kernel: &Kernel, body: &[Node], dispensers: &[Dispenser]) -> Vec<Node> {
    let mut needed = BTreeSet::new();
    loop {
        let kept = kept(kernel, body, (dispensers, &needed));
        let known = needed.len();
        walk(&kept, &mut |node, _| {
            for_each_local_read(node, &mut |it| needed.extend([it]));
        });
        if needed.len() == known {
            return kept;
        }
    }
}

fn kept(kernel: &Kernel, nodes: &[Node], what: (&[Dispenser], &BTreeSet<LocalId>)) -> Vec<Node> {
    let (dispensers, needed) = what;
    let mut found = Vec::new();
    for node in nodes {
        let counted = match node.places() {
            [place] => {
                let (target, ty) = moved(kernel, place);
                let dispenser = dispensers.iter().find(|it| it.target == target);
                dispenser.map(|it| it.counted(node, place, ty))
            }
            _ => None,
        };
        let is_needed = |it: &Place| it.local().is_some_and(|it| needed.contains(&it));
        match node {
            _ if counted.is_some() => found.extend(counted),
            Node::Declare { local, .. } if needed.contains(local) => found.push(node.clone()),
            _ if node.places().iter().any(is_needed) => found.push(node.clone()),
            _ => found.extend(around(node, |block| kept(kernel, block, what))),
        }
    }
    found
}

/// The loop, or the condition, `node` around what `kept` leaves of its blocks, if that is anything.
fn around(node: &Node, kept: impl Fn(&[Node]) -> Vec<Node>) -> Option<Node> {
    let blocks: Vec<Block> = node.blocks().map(|it| kept(it).into()).collect();
    if blocks.iter().all(|it| it.is_empty()) {
        return None;
    }
    let mut node = node.clone();
    for (block, kept) in node.blocks_mut().into_iter().zip(blocks) {
        *block = kept;
    }
    Some(node)
}

/// The statement that moves a counter, seen from another one of its block.
#[derive(Clone, Copy)]
struct Event<'k> {
    place: &'k Place,
    /// By how much the counter has moved since the beginning of the block.
    moved: i64,
}

/// A look at all that a loop does with one counter.
struct Look<'k> {
    kernel: &'k Kernel,
    target: Target,
    /// The arrays that the loop writes.
    written: &'k BTreeSet<ArrayId>,
    /// By how much the counter moves in one block, at least and at most.
    steps: Option<(i64, i64)>,
    /// Whether more than one statement of a block moves it, and whether one assigns to it.
    is_one: bool,
    moves_again: bool,
    is_assigned: bool,
    /// Constants that hold a ticket, each with what has been added to it.
    held: BTreeMap<LocalId, i64>,
    is_read: bool,
    seated: BTreeMap<ArrayId, usize>,
    elsewhere: BTreeSet<ArrayId>,
    /// Arrays of which counters have no rows of their own.
    shared: BTreeSet<ArrayId>,
    offsets: Option<(i64, i64)>,
    greatest: i128,
}

impl<'k> Look<'k> {
    fn new(kernel: &'k Kernel, target: Target, written: &'k BTreeSet<ArrayId>) -> Self {
        let ty = match target {
            Target::Array(it) => kernel.arrays[it].element,
            Target::Local(it) => kernel.locals[it].ty,
        };
        Self {
            kernel,
            target,
            written,
            steps: None,
            is_one: true,
            moves_again: false,
            is_assigned: false,
            held: BTreeMap::new(),
            is_read: false,
            seated: BTreeMap::new(),
            elsewhere: BTreeSet::new(),
            shared: BTreeSet::new(),
            offsets: None,
            greatest: greatest_of(ty),
        }
    }

    fn dispenser(self) -> Option<Dispenser> {
        let (least_step, greatest_step) = self.steps?;
        let is_one = least_step == greatest_step && !self.moves_again;
        if least_step <= 0 && greatest_step >= 0 || self.is_assigned && !is_one {
            return None;
        }
        let (least, greatest) = self.offsets.unwrap_or_default();
        let between = match least_step > 0 {
            true => least_step,
            // Where counters go down, the first block says where places end: all have to move as far.
            false if least_step == greatest_step => least_step.checked_neg()?,
            false => 0,
        };
        // Places further apart than one block moves the counter meet those of the next one.
        let are_apart = greatest.checked_sub(least)? < between;
        let seated = self.seated.into_iter();
        let seated = seated.filter(|(array, _)| are_apart && !self.elsewhere.contains(array));
        let (seated, in_rows) = seated.partition(|(array, _)| self.shared.contains(array));
        Some(Dispenser {
            target: self.target,
            is_one: self.is_one,
            seated,
            in_rows: BTreeMap::into_keys(in_rows).collect(),
            first_place: match least_step < 0 {
                true => least.checked_sub(least_step)?,
                false => least,
            },
            goes_down: least_step < 0,
            step: least_step,
            greatest_place: i64::try_from(self.greatest).unwrap_or(i64::MAX),
        })
    }

    /// Looks at `nodes`, which stand in a block with the event `here`, if any: `None` if they do anything else with the counter.
    fn block(&mut self, nodes: &'k [Node], here: Option<Event<'k>>) -> Option<()> {
        let Some(place) = nodes.iter().find_map(|it| self.moved_by(it)) else {
            return nodes.iter().try_for_each(|it| self.node(it, here));
        };
        if here.is_some() || !self.stays(place) {
            return None;
        }
        let mut event = Event { place, moved: 0 };
        let mut moves = 0;
        for node in nodes {
            match self.moved_by(node) {
                Some(moved) if is_same(moved, place) => {
                    event.moved = self.moved_to(node, event)?;
                    moves += 1;
                }
                Some(_) => return None,
                None => self.node(node, Some(event))?,
            }
        }
        self.moves_again |= moves > 1;
        self.is_one &= is_over_parameters(place);
        let (least, greatest) = self.steps.unwrap_or((event.moved, event.moved));
        self.steps = Some((least.min(event.moved), greatest.max(event.moved)));
        Some(())
    }

    /// The counter that `node` sets, if it is one of these.
    fn moved_by(&self, node: &'k Node) -> Option<&'k Place> {
        let mut places = node.places().iter();
        places.find(|it| moved(self.kernel, it).0 == self.target)
    }

    /// Whether all that says which counter `place` is stays the same while an iteration runs.
    fn stays(&self, place: &Place) -> bool {
        let Place::Element(access) = place else {
            return true;
        };
        access.subscripts.iter().all(|it| match it {
            Subscript::Affine(_) => true,
            Subscript::Computed(expr) => self.expr_stays(expr),
        })
    }

    fn expr_stays(&self, expr: &Expr) -> bool {
        let here = match expr {
            Expr::Load(access) => {
                let mut subscripts = access.subscripts.iter();
                !self.written.contains(&access.array)
                    && subscripts.all(|it| match it {
                        Subscript::Affine(_) => true,
                        Subscript::Computed(expr) => self.expr_stays(expr),
                    })
            }
            Expr::Local(local) => !self.kernel.locals[*local].mutable,
            _ => true,
        };
        here && expr.operands().into_iter().all(|it| self.expr_stays(it))
    }

    /// By how much the counter has moved behind `node`, which sets it.
    fn moved_to(&mut self, node: &Node, event: Event<'k>) -> Option<i64> {
        match node {
            Node::Assign { value, .. } => {
                self.is_assigned = true;
                self.ticket(value, Some(event))
            }
            Node::Reduce {
                combiner, values, ..
            } if combiner.name() == Add.name() => {
                event.moved.checked_add(values.first()?.as_integer()?)
            }
            _ => None,
        }
    }

    fn node(&mut self, node: &'k Node, here: Option<Event<'k>>) -> Option<()> {
        for element in node.written_elements() {
            self.access(element, here)?;
        }
        for expr in node.expressions() {
            self.expr(expr, here)?;
        }
        if let Node::Declare { local, value } = node
            && !self.kernel.locals[*local].mutable
            && let Some(offset) = self.ticket(value, here)
        {
            self.held.insert(*local, offset);
        }
        node.blocks().try_for_each(|it| self.block(it, here))
    }

    fn expr(&mut self, expr: &'k Expr, here: Option<Event<'k>>) -> Option<()> {
        if self.is_counter(expr) {
            self.is_read = true;
            return self.value_of(expr, here).map(drop);
        }
        if let Expr::Load(access) = expr {
            self.access(access, here)?;
        }
        let mut operands = expr.operands().into_iter();
        operands.try_for_each(|it| self.expr(it, here))
    }

    /// Looks at an element of another array.
    fn access(&mut self, access: &'k Access, here: Option<Event<'k>>) -> Option<()> {
        let mut place = None;
        for (dimension, subscript) in access.subscripts.iter().enumerate() {
            let Subscript::Computed(expr) = subscript else {
                continue;
            };
            self.expr(expr, here)?;
            let offset = self.ticket(expr, here);
            place = place.or(offset.map(|it| (dimension, it)));
        }
        let Some((dimension, offset)) = place else {
            self.elsewhere.insert(access.array);
            return Some(());
        };
        if !here.is_some_and(|it| is_in_row(access, dimension, it.place)) {
            self.shared.insert(access.array);
        }
        if *self.seated.entry(access.array).or_insert(dimension) != dimension {
            self.elsewhere.insert(access.array);
        }
        let (least, greatest) = self.offsets.unwrap_or((offset, offset));
        self.offsets = Some((least.min(offset), greatest.max(offset)));
        Some(())
    }

    fn is_counter(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Load(access) => Target::Array(access.array) == self.target,
            Expr::Local(local) => Target::Local(*local) == self.target,
            _ => false,
        }
    }

    /// What the counter at hand has moved by, if that is what `expr` reads.
    fn value_of(&self, expr: &Expr, here: Option<Event<'k>>) -> Option<i64> {
        let event = here?;
        let is_it = match (expr, event.place) {
            (Expr::Load(access), Place::Element(place)) => access.is_same(place),
            (Expr::Local(local), Place::Local(place)) => local == place,
            _ => false,
        };
        is_it.then_some(event.moved)
    }

    /// What has been added to the ticket that `expr` is, if it is one.
    fn ticket(&mut self, expr: &Expr, here: Option<Event<'k>>) -> Option<i64> {
        match expr {
            _ if self.is_counter(expr) => self.value_of(expr, here),
            Expr::Local(local) => self.held.get(local).copied(),
            Expr::Cast(ty, operand) if ty.is_integer() => {
                let offset = self.ticket(operand, here)?;
                self.greatest = self.greatest.min(greatest_of(*ty));
                Some(offset)
            }
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => {
                let (ticket, by) = expr.split_constant();
                match std::ptr::eq(ticket, expr) {
                    true => None,
                    false => self.ticket(ticket, here)?.checked_add(by),
                }
            }
            _ => None,
        }
    }
}

/// Whether the subscripts of `access` but that in `dimension` say all that those of the counter at `place` do.
fn is_in_row(access: &Access, dimension: usize, place: &Place) -> bool {
    let Place::Element(counter) = place else {
        return false;
    };
    let others = access.subscripts.iter().enumerate();
    let others: Vec<_> = others.filter(|(at, _)| *at != dimension).collect();
    let mut subscripts = counter.subscripts.iter();
    subscripts.all(|it| others.iter().any(|(_, other)| other.is_same(it)))
}

fn is_over_parameters(place: &Place) -> bool {
    let Place::Element(access) = place else {
        return true;
    };
    let mut subscripts = access.subscripts.iter();
    subscripts.all(|it| matches!(it, Subscript::Affine(it) if it.is_over_parameters()))
}

fn is_same(one: &Place, other: &Place) -> bool {
    match (one, other) {
        (Place::Element(one), Place::Element(other)) => one.is_same(other),
        (Place::Local(one), Place::Local(other)) => one == other,
        _ => false,
    }
}

fn greatest_of(ty: Type) -> i128 {
    ty.integer_range().map_or(0, |(_, greatest)| greatest)
}
