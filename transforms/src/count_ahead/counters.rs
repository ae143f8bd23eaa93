//! The counters of one dispenser as they are where each part of the loop begins.

use crate::build::{assign, declare, either, element, loop_over, scalar, sum, when};
use crate::tree::{for_each_expr_mut, named_iter};
use strew_affine::dependence::Target;
use strew_affine::evaluate::convert;
use strew_affine::tickets::Dispenser;
use strew_affine::{
    Access, AffineExpr, AffineFor, AffineValues, Array, ArrayId, CompareOp, Expr, IterId, Kernel,
    Local, LocalId, Node, Overflow, Place, Span, Subscript, Type, Value,
};

/// So many counters more lie between those of two parts: threads that move counters of two parts
/// would wait for each other's cache lines. None of them may move, which is looked at afterwards:
/// subscripts find them there as they do others.
const BETWEEN_ROWS: i64 = 16;

/// A row of counters for each part.
pub(super) struct Counters<'t> {
    of: &'t Dispenser,
    chunks: i64,
    /// The extents of the array of counters; none of a scalar.
    counters: Vec<AffineExpr>,
    rows: ArrayId,
    /// The type of the scalar that counts in one part.
    counts_in: Type,
}

impl<'t> Counters<'t> {
    pub(super) fn new(
        kernel: &mut Kernel,
        chunks: i64,
        of: &'t Dispenser,
        are_bounded: bool,
    ) -> Result<Self, Overflow> {
        let name = name_of(of, kernel);
        let (counters, span) = match of.target {
            Target::Array(it) => (kernel.arrays[it].extents.clone(), kernel.arrays[it].span),
            Target::Local(it) => (Vec::new(), kernel.locals[it].span),
        };
        // Counters of 32 bits go around as they do in order; how far they have gone tells a number
        // of as many bits if it is bounded.
        let element = match of.target {
            Target::Array(_) if are_bounded => of.target.ty(kernel),
            _ => Type::I64,
        };
        let padded = counters
            .iter()
            .enumerate()
            .map(|(dimension, extent)| match dimension {
                0 => extent.offset(BETWEEN_ROWS),
                _ => Ok(extent.clone()),
            });
        let mut extents = vec![chunks.into()];
        for extent in padded {
            extents.push(extent?);
        }
        let rows = Array {
            name: kernel.fresh_name(&format!("{name}_c")),
            element,
            extents,
            length: None,
            field: None,
            span,
        };
        Ok(Self {
            of,
            chunks,
            counters,
            rows: kernel.arrays.alloc(rows),
            counts_in: match are_bounded {
                true => Type::I32,
                false => Type::I64,
            },
        })
    }

    pub(super) fn alloc(&self) -> Node {
        Node::Alloc { array: self.rows }
    }

    /// How many counters there are.
    pub(super) fn number(&self) -> Result<AffineExpr, Overflow> {
        let mut extents = self.counters.iter();
        extents.try_fold(AffineExpr::from(1), |count, extent| count.times(extent))
    }

    /// The counter of a part that stands for the one with these subscripts.
    fn of_part(&self, part: impl Into<AffineExpr>, subscripts: &[Subscript]) -> Access {
        let part = Subscript::Affine(part.into());
        element(self.rows, &[&[part], subscripts].concat())
    }

    /// `nodes`, which move counters from nothing in one part.
    pub(super) fn count(&self, kernel: &mut Kernel, part: IterId, nodes: Vec<Node>) -> Vec<Node> {
        let Target::Local(counter) = self.of.target else {
            return self.on_row(kernel, part, nodes);
        };
        let own = self.own(kernel, counter, self.counts_in);
        let zero = Expr::Constant(Value::zero(self.counts_in));
        self.on_own(kernel, part, nodes, (counter, own, zero))
    }

    /// `nodes`, which take tickets in one part.
    pub(super) fn take(&self, kernel: &mut Kernel, part: IterId, nodes: Vec<Node>) -> Vec<Node> {
        let Target::Local(counter) = self.of.target else {
            return self.on_row(kernel, part, nodes);
        };
        let ty = kernel.locals[counter].ty;
        let own = self.own(kernel, counter, ty);
        let first = Expr::Load(self.of_part(part, &[])).cast_to(ty, kernel);
        self.on_own(kernel, part, nodes, (counter, own, first))
    }

    /// With the counters of the part in the place of the array.
    fn on_row(&self, kernel: &Kernel, part: IterId, mut nodes: Vec<Node>) -> Vec<Node> {
        let ty = self.of.target.ty(kernel);
        let is_it = |it: &Access| Target::Array(it.array) == self.of.target;
        for_each_expr_mut(&mut nodes, &mut |expr| {
            if let Expr::Load(access) = expr
                && is_it(access)
            {
                let row = self.of_part(part, &access.subscripts);
                *expr = Expr::Load(row).cast_to(ty, kernel);
            }
        });
        self.move_rows(kernel, part, &mut nodes);
        nodes
    }

    fn move_rows(&self, kernel: &Kernel, part: IterId, nodes: &mut [Node]) {
        for node in nodes {
            let place = match node.places_mut() {
                [Place::Element(it)] if Target::Array(it.array) == self.of.target => Some(it),
                _ => None,
            };
            if let Some(place) = place {
                let row = self.of_part(part, &place.subscripts);
                *place = Access {
                    span: place.span,
                    ..row
                };
                node.expressions_mut()
                    .into_iter()
                    .for_each(|it| retype(kernel, it, kernel.arrays[self.rows].element));
            }
            for block in node.blocks_mut() {
                self.move_rows(kernel, part, block);
            }
        }
    }

    fn own(&self, kernel: &mut Kernel, counter: LocalId, ty: Type) -> LocalId {
        let like = kernel.locals[counter].clone();
        let name = kernel.fresh_name(&format!("{}_p", like.name));
        kernel.locals.alloc(Local {
            name,
            ty,
            is_element: false,
            ..like
        })
    }

    /// With a scalar of the part, `own`, in the place of `counter`.
    fn on_own(
        &self,
        kernel: &Kernel,
        part: IterId,
        mut nodes: Vec<Node>,
        (counter, own, first): (LocalId, LocalId, Expr),
    ) -> Vec<Node> {
        for_each_expr_mut(&mut nodes, &mut |expr| match expr {
            Expr::Local(it) if *it == counter => *it = own,
            _ => {}
        });
        move_own(kernel, &mut nodes, (counter, own));
        let last = Expr::Local(own).cast_to(Type::I64, kernel);
        let keep = assign(Place::Element(self.of_part(part, &[])), last);
        [vec![declare(own, first)], nodes, vec![keep]].concat()
    }

    /// Makes of how often each part moves each counter what that says where the part begins. Where
    /// tickets say places, `apart` gets what must hold for no two of them to say the same, and for
    /// all to be there.
    pub(super) fn add_up(
        &self,
        kernel: &mut Kernel,
        apart: &mut Vec<Expr>,
    ) -> Result<Vec<Node>, Overflow> {
        let name = name_of(self.of, kernel);
        let iters = self.iters(kernel, 0);
        let place = subscripts(&iters);
        let first = scalar(kernel, &format!("{name}_first"), false);
        let next = scalar(kernel, &format!("{name}_next"), true);
        let mut sums = vec![
            declare(first, self.target_at(&place).cast_to(Type::I64, kernel)),
            declare(next, Expr::Local(first)),
            self.sums(kernel, &place, next),
        ];
        if !self.says_places() && self.counters.is_empty() {
            return Ok(sums);
        }
        let met = scalar(kernel, &format!("{name}_met"), true);
        let mut nodes = vec![declare(met, Expr::i64(0))];
        if self.says_places() {
            let reach = scalar(kernel, &format!("{name}_reach"), true);
            nodes.push(declare(reach, Expr::i64(0)));
            sums.push(self.look((first, next), [reach, met]));
            apart.extend(self.are_there(kernel, reach));
        }
        nodes.extend(self.for_each(&iters, sums));
        nodes.extend(self.strays(kernel, met)?);
        apart.push(Expr::compare(CompareOp::Eq, Expr::Local(met), Expr::i64(0)));
        Ok(nodes)
    }

    /// Sets `met` where a counter between two rows has moved: it is none of the array.
    fn strays(&self, kernel: &mut Kernel, met: LocalId) -> Result<Option<Node>, Overflow> {
        let Some(first) = self.counters.first() else {
            return Ok(None);
        };
        let [part, between] = ["part", "between"].map(|it| named_iter(kernel, it, Span::default()));
        let inner = self.iters(kernel, 1);
        let place = subscripts(&[&[part, between], inner.as_slice()].concat());
        let none = Expr::Constant(Value::zero(kernel.arrays[self.rows].element));
        let stray = Expr::Load(element(self.rows, &place));
        let strays = Expr::compare(CompareOp::Ne, stray, none);
        let look = vec![when(strays, vec![assign(Place::Local(met), Expr::i64(1))])];
        let looks = self.for_each(&inner, look);
        let between = AffineFor {
            iter: between,
            lower: first.clone().into(),
            upper: first.offset(BETWEEN_ROWS)?.into(),
            step: 1,
            lanes: 1,
            body: looks.into(),
        };
        let rows = vec![Node::AffineFor(between)];
        Ok(Some(loop_over(part, self.chunks.into(), rows)))
    }

    /// Whether something must hold of the places that tickets say.
    fn says_places(&self) -> bool {
        !self.of.seated.is_empty() || self.may_go_around()
    }

    /// Whether tickets could be the same again in rows of their own, since they have gone through
    /// all numbers of a narrow type.
    fn may_go_around(&self) -> bool {
        !self.of.in_rows.is_empty() && self.of.greatest_place < i64::MAX
    }

    fn target_at(&self, subscripts: &[Subscript]) -> Expr {
        match self.of.target {
            Target::Array(array) => Expr::Load(element(array, subscripts)),
            Target::Local(local) => Expr::Local(local),
        }
    }

    /// A loop over the parts that adds up in `next` how often the counter at `place` moves.
    fn sums(&self, kernel: &mut Kernel, place: &[Subscript], next: LocalId) -> Node {
        let part = named_iter(kernel, "part", Span::default());
        let moved = scalar(kernel, "moved", false);
        let counter = self.of_part(part, place);
        let element = kernel.arrays[self.rows].element;
        let far = Expr::Load(counter.clone());
        // Less than nothing is a great number where counters have no sign.
        let far = match element {
            Type::U32 => far.cast_to(Type::I32, kernel),
            _ => far,
        };
        let far = far.cast_to(Type::I64, kernel);
        let begins = Expr::Local(next).cast_to(element, kernel);
        let after = sum(Expr::Local(next), Expr::Local(moved));
        loop_over(
            part,
            self.chunks.into(),
            vec![
                declare(moved, far),
                assign(Place::Element(counter), begins),
                assign(Place::Local(next), after),
            ],
        )
    }

    /// Sets `met` where the places between what a counter says at the beginning and at the end are
    /// none, or, where counters share an array, do not lie behind all that came before, up to
    /// `reach`.
    fn look(&self, (first, next): (LocalId, LocalId), [reach, met]: [LocalId; 2]) -> Node {
        let ends = match self.of.goes_down {
            true => [next, first],
            false => [first, next],
        };
        let [low, high] = ends.map(|it| match self.of.first_place {
            0 => Expr::Local(it),
            by => sum(Expr::Local(it), Expr::i64(by)),
        });
        let least = Expr::Local(reach);
        let is_before = Expr::compare(CompareOp::Lt, low.clone(), least);
        // A counter that goes through all of 64 bits.
        let is_around = Expr::compare(CompareOp::Lt, high.clone(), low);
        let none = either(is_before, is_around);
        let beyond = self
            .of
            .greatest_place
            .checked_add(1)
            .map(|end| Expr::compare(CompareOp::Gt, high.clone(), Expr::i64(end)));
        let meets = beyond.into_iter().fold(none, either);
        let mut looks = vec![when(meets, vec![assign(Place::Local(met), Expr::i64(1))])];
        if !self.of.seated.is_empty() {
            looks.push(assign(Place::Local(reach), high));
        }
        let moves = Expr::compare(CompareOp::Ne, Expr::Local(next), Expr::Local(first));
        when(moves, looks)
    }

    /// That places up to `reach` are in the arrays.
    fn are_there(&self, kernel: &Kernel, reach: LocalId) -> Vec<Expr> {
        let values = AffineValues {
            kernel,
            counter: None,
        };
        let extents = self.of.seated.iter().filter_map(|(array, dimension)| {
            let extent = kernel.arrays[*array].extents.get(*dimension)?;
            Some(values.value(extent))
        });
        extents
            .map(|end| Expr::compare(CompareOp::Le, Expr::Local(reach), end))
            .collect()
    }

    /// Leaves what counters say behind the last part.
    pub(super) fn settle(&self, kernel: &mut Kernel) -> Vec<Node> {
        let ty = self.of.target.ty(kernel);
        let iters = self.iters(kernel, 0);
        let place = subscripts(&iters);
        let last = self.of_part(self.chunks.saturating_sub(1), &place);
        let last = Expr::Load(last).cast_to(ty, kernel);
        let target = match self.of.target {
            Target::Array(array) => Place::Element(element(array, &place)),
            Target::Local(local) => Place::Local(local),
        };
        self.for_each(&iters, vec![assign(target, last)])
    }

    /// An iterator for each dimension of the counters but for some outer ones.
    fn iters(&self, kernel: &mut Kernel, outer: usize) -> Vec<IterId> {
        let name = format!("{}_k", name_of(self.of, kernel));
        let dimensions = self.counters.iter().skip(outer);
        dimensions
            .map(|_| named_iter(kernel, &name, Span::default()))
            .collect()
    }

    /// `body` for each counter, in as many of the inner dimensions as there are `iters`.
    fn for_each(&self, iters: &[IterId], body: Vec<Node>) -> Vec<Node> {
        let loops = iters.iter().rev().zip(self.counters.iter().rev());
        loops.fold(body, |body, (iter, extent)| {
            vec![loop_over(*iter, extent.clone(), body)]
        })
    }
}

/// What is made for a counter is called by this, in which no field has a dot.
fn name_of(of: &Dispenser, kernel: &Kernel) -> String {
    of.target.name(kernel).replace('.', "_")
}

/// Puts `own` in the place of `counter` where `nodes` set it.
fn move_own(kernel: &Kernel, nodes: &mut [Node], (counter, own): (LocalId, LocalId)) {
    for node in nodes {
        for place in node.places_mut() {
            if *place == Place::Local(counter) {
                *place = Place::Local(own);
                let ty = kernel.locals[own].ty;
                node.expressions_mut()
                    .into_iter()
                    .for_each(|it| retype(kernel, it, ty));
                break;
            }
        }
        for block in node.blocks_mut() {
            move_own(kernel, block, (counter, own));
        }
    }
}

/// Makes `expr` one of type `ty`, a number a number.
fn retype(kernel: &Kernel, expr: &mut Expr, ty: Type) {
    let before = std::mem::replace(expr, Expr::i64(0));
    *expr = match before {
        Expr::Constant(it) => Expr::Constant(convert(ty, it)),
        _ => before.cast_to(ty, kernel),
    };
}

fn subscripts(iters: &[IterId]) -> Vec<Subscript> {
    let subscript = |it: &IterId| Subscript::Affine((*it).into());
    iters.iter().map(subscript).collect()
}
