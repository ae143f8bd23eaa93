//! Counters that hand out tickets, as `next` does in `out[next[key[i]]++] = x[i]`.
//!
//! A counting sort, the filling of the rows of a sparse matrix and what keeps the elements for
//! which a condition holds all take what a counter says for the place of an element, and move the
//! counter on by a constant. Nothing else orders their iterations, and how often counters move can
//! be told without all that tickets are used for: who counts first knows the tickets of each part
//! of the loop before that part runs. This is how parallel counting sorts work: count, add up,
//! distribute (Zagha and Blelloch, *Radix sort for vector multiprocessors*, 1991).

use crate::changed::Changed;
use crate::dependence::Target;
use crate::slice::slice;
use crate::visit::{for_each_load_of, for_each_local_read, walk};
use crate::{
    Access, Add, ArrayId, BinaryOp, Combine, Combiner, Expr, Kernel, LocalId, Node, Place, Span,
    Subscript, Type,
};
use std::collections::{BTreeMap, BTreeSet};

/// Greater steps could take counters around before a loop ends.
const MOST_STEP: i64 = 1 << 20;

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
    /// The arrays of which the loop touches no element but those that tickets say, each with the
    /// dimension in which they do.
    pub seated: BTreeMap<ArrayId, usize>,
    /// The same, where other dimensions say which counter it is: each has a row of its own.
    pub in_rows: BTreeSet<ArrayId>,
    /// What is added to the lesser of the values that a counter has before and behind the loop for
    /// the first place that its tickets may say; the same, added to the greater one, is behind the
    /// last.
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
    fn counted(&self, node: &Node, place: &Place) -> Node {
        let step = step_of(node).unwrap_or(self.step);
        Node::Reduce {
            places: vec![place.clone()],
            combiner: Combiner::new(Add),
            values: vec![Expr::i64(step)],
            span: Span::default(),
        }
    }
}

impl Tickets {
    /// Those of the loop with this body, if it has some, and if what moves its counters follows
    /// from nothing that the loop changes.
    pub fn of(kernel: &Kernel, body: &[Node]) -> Option<Self> {
        let changed = Changed::by(body);
        let (mut dispensers, mut held) = (Vec::new(), BTreeSet::new());
        for target in counters(kernel, body) {
            let mut look = Look::new(kernel, target, &changed);
            if look.block(body, None).is_none() || !look.is_read {
                continue;
            }
            held.extend(look.held.keys().copied());
            dispensers.extend(look.dispenser());
        }
        let found = Self {
            counting: counting(body, &dispensers),
            dispensers,
        };
        let is_any = !found.dispensers.is_empty();
        (is_any && found.counts_from_what_stays(&changed, &held)).then_some(found)
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

    /// As much of the body as moves the counters, each by `reduce(add)` of a number of 64 bits.
    pub fn counting(&self) -> &[Node] {
        &self.counting
    }

    /// Whether nothing that the loop changes decides how often which counter moves.
    fn counts_from_what_stays(&self, changed: &Changed, held: &BTreeSet<LocalId>) -> bool {
        let mut stays = true;
        walk(&self.counting, &mut |node, _| {
            let mut elements = node.written_elements();
            stays &= elements.all(|it| self.is_counter(Target::Array(it.array)));
            for_each_load_of(node, &mut |it| stays &= !changed.has_array(it.array));
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
            let target = Target::from(place);
            let ty = target.ty(kernel);
            let counts = ty.is_integer() && ty.bytes() >= 4;
            if counts && !own.contains(&target) && !found.contains(&target) {
                found.push(target);
            }
        }
    });
    found
}

/// What of `body` moves the `dispensers`, and what decides how often.
fn counting(body: &[Node], dispensers: &[Dispenser]) -> Vec<Node> {
    slice(body, &|node| {
        let [place] = node.places() else {
            return None;
        };
        let target = Target::from(place);
        let dispenser = dispensers.iter().find(|it| it.target == target);
        dispenser.map(|it| it.counted(node, place))
    })
}

/// The statement that moves a counter, seen from another one of its block.
#[derive(Clone, Copy)]
struct Event<'k> {
    place: &'k Place,
    /// By how much the counter has moved since the beginning of the block.
    moved: i64,
}

/// A ticket that an expression is made of.
#[derive(Clone, Copy)]
struct Ticket {
    /// What has been added to it.
    offset: i64,
    /// The greatest number that the types have which it has gone through.
    greatest: i128,
    /// The fewest bits that they have.
    bits: u32,
}

impl Ticket {
    fn plus(self, by: i64) -> Option<Self> {
        let offset = self.offset.checked_add(by)?;
        Some(Self { offset, ..self })
    }

    fn through(self, ty: Type) -> Self {
        Self {
            offset: self.offset,
            greatest: self.greatest.min(greatest_of(ty)),
            bits: self.bits.min(ty.bits()),
        }
    }
}

/// A look at all that a loop does with one counter.
struct Look<'k> {
    kernel: &'k Kernel,
    target: Target,
    /// What the loop changes.
    changed: &'k Changed,
    ty: Type,
    /// By how much the counter moves in one block, at least and at most.
    steps: Option<(i64, i64)>,
    /// Whether it is the same counter in all iterations.
    is_one: bool,
    /// Whether more than one statement of a block moves it.
    moves_again: bool,
    is_assigned: bool,
    /// Constants that hold a ticket.
    held: BTreeMap<LocalId, Ticket>,
    is_read: bool,
    /// Arrays of which tickets say places, each with the dimension in which they do.
    seated: BTreeMap<ArrayId, usize>,
    elsewhere: BTreeSet<ArrayId>,
    /// Those of them of which each counter has a row of its own, with the dimensions in which its
    /// own subscripts stand.
    rows: BTreeMap<ArrayId, Vec<usize>>,
    /// Those of which counters have none.
    shared: BTreeSet<ArrayId>,
    /// What is added to tickets where they say places, at least and at most.
    offsets: Option<(i64, i64)>,
    /// The greatest place that they can say.
    greatest: i128,
}

impl<'k> Look<'k> {
    fn new(kernel: &'k Kernel, target: Target, changed: &'k Changed) -> Self {
        let ty = target.ty(kernel);
        Self {
            kernel,
            target,
            changed,
            ty,
            steps: None,
            is_one: true,
            moves_again: false,
            is_assigned: false,
            held: BTreeMap::new(),
            is_read: false,
            seated: BTreeMap::new(),
            elsewhere: BTreeSet::new(),
            rows: BTreeMap::new(),
            shared: BTreeSet::new(),
            offsets: None,
            greatest: greatest_of(ty),
        }
    }

    fn dispenser(self) -> Option<Dispenser> {
        let (least_step, greatest_step) = self.steps?;
        let is_constant = least_step == greatest_step && !self.moves_again;
        if least_step <= 0 && greatest_step >= 0 || self.is_assigned && !is_constant {
            return None;
        }
        let (least, greatest) = self.offsets.unwrap_or_default();
        let between = match least_step > 0 {
            true => least_step,
            // Where counters go down, the first block says where places end: all have to move as
            // far.
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

    /// Looks at `nodes`, which stand in a block with the event `here`, if any: `None` if they do
    /// anything else with the counter.
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
                Some(moved) if moved.is_same(place) => {
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
        places.find(|it| Target::from(*it) == self.target)
    }

    /// Whether `place` is the same counter while an iteration runs.
    fn stays(&self, place: &Place) -> bool {
        let element = place.element();
        element.is_none_or(|it| self.changed.keeps_place(it))
    }

    /// By how much the counter has moved behind `node`, which sets it.
    fn moved_to(&mut self, node: &Node, event: Event<'k>) -> Option<i64> {
        match node {
            Node::Assign { value, .. } => {
                self.is_assigned = true;
                let ticket = self.ticket(value, Some(event))?;
                // In fewer bits it would go around before the counter does.
                let is_whole = ticket.bits >= self.ty.bits();
                Some(ticket.offset).filter(|it| is_whole && it.abs() <= MOST_STEP)
            }
            _ => event.moved.checked_add(step_of(node)?),
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
            && let Some(ticket) = self.ticket(value, here)
        {
            self.held.insert(*local, ticket);
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
            let ticket = self.ticket(expr, here);
            place = place.or(ticket.map(|it| (dimension, it)));
        }
        let Some((
            dimension,
            Ticket {
                offset, greatest, ..
            },
        )) = place
        else {
            self.elsewhere.insert(access.array);
            return Some(());
        };
        let row = here.and_then(|it| row(access, dimension, it.place));
        let known = row.map(|it| (self.rows.entry(access.array).or_insert(it.clone()), it));
        if known.is_none_or(|(known, row)| *known != row) {
            self.shared.insert(access.array);
        }
        self.greatest = self.greatest.min(greatest);
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

    /// The ticket that `expr` is, if it is one.
    fn ticket(&self, expr: &Expr, here: Option<Event<'k>>) -> Option<Ticket> {
        match expr {
            _ if self.is_counter(expr) => Some(Ticket {
                offset: self.value_of(expr, here)?,
                greatest: greatest_of(self.ty),
                bits: self.ty.bits(),
            }),
            Expr::Local(local) => self.held.get(local).copied(),
            Expr::Cast(ty, operand) if ty.is_integer() => {
                Some(self.ticket(operand, here)?.through(*ty))
            }
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => {
                let (ticket, by) = expr.split_constant();
                match std::ptr::eq(ticket, expr) {
                    true => None,
                    false => self.ticket(ticket, here)?.plus(by),
                }
            }
            _ => None,
        }
    }
}

/// The dimensions of `access` but the given one in which the subscripts of the counter at `place`
/// stand, if all do.
fn row(access: &Access, dimension: usize, place: &Place) -> Option<Vec<usize>> {
    let Place::Element(counter) = place else {
        return None;
    };
    let others = access.subscripts.iter().enumerate();
    let others = others.filter(|(at, _)| *at != dimension);
    let subscripts = counter.subscripts.iter();
    let found = subscripts.map(|it| {
        let stands = others.clone().find(|(_, other)| other.is_same(it));
        stands.map(|(at, _)| at)
    });
    found.collect()
}

/// What `node` adds to a counter of 32 or 64 bits, a number less than nothing where it has no sign
/// and goes around.
pub fn step_of(node: &Node) -> Option<i64> {
    let Node::Reduce {
        combiner, values, ..
    } = node
    else {
        return None;
    };
    let Some(Expr::Constant(step)) = values.first() else {
        return None;
    };
    let step = match step.ty().bytes() {
        4 => i64::from(step.bits() as u32 as i32),
        8 => step.bits() as i64,
        _ => return None,
    };
    (combiner.name() == Add.name() && (-MOST_STEP..=MOST_STEP).contains(&step)).then_some(step)
}

fn is_over_parameters(place: &Place) -> bool {
    let Place::Element(access) = place else {
        return true;
    };
    let mut subscripts = access.subscripts.iter();
    subscripts.all(|it| matches!(it, Subscript::Affine(it) if it.is_over_parameters()))
}

fn greatest_of(ty: Type) -> i128 {
    ty.integer_range().map_or(0, |(_, greatest)| greatest)
}
