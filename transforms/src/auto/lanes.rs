//! Which loops run in the lanes of vectors, and in how many.

use super::order::accesses;
use super::profit::most_trips;
use super::{MOST_UNROLLED, Saving, Scheduler, path_to, trips};
use crate::tree::Nested;
use crate::{Narrow, Step, Vectorize, narrow, tree, vectorize};
use std::collections::BTreeSet;
use strew_affine::lanes::{Lanes, MOST_LANES, VECTOR_BYTES};

use strew_affine::visit::{Loop, for_each_local_read, has_loops, walk};
use strew_affine::{
    Access, AffineFor, BinaryOp, Combine, Expr, Function, IterId, Kernel, Mul, Node, Place, Type,
};

/// What so many updates of a scalar multiply by does not fit the registers.
const LONG_SUM: usize = 16;

/// So many assignments of scalars are a chain, of which processors do not look far enough ahead to
/// find the next one by themselves: a polynomial of degree 11 in 40,000 places takes 107 µs with a
/// vector and 71 with two.
const LONG_CHAIN: usize = 3;

/// So many sums do not wait for themselves, since the others go on meanwhile: all pairs of 4,000
/// bodies take 30.5 ms with a vector for each of three, and 32.6 with four, but two sums of 160
/// products 7 µs with two vectors each, and 6 with four.
const SUMS_BESIDE: usize = 3;

/// With so many turns, those that do not fill all vectors are few: the strips of long loops have
/// them, tiles do not.
const MANY_TURNS: u64 = 2048;

/// A statement with so many elements is little to do in a turn: `b[i] = a[i] * 0.5 + 0.1` takes 2.7
/// µs with four vectors and 3.2 with two for 50,000 floats, and 1.3 ms and 2.4 for 7,000,000.
const FEW_ELEMENTS: usize = 4;

/// So many vectors of the widest type are made in a turn: what one of them waits for, another one
/// does meanwhile. A sum waits for the one before it, unless there are several, with what comes
/// with an extremum counting for two, and many statements have enough to do, but for a long sum
/// into one scalar, of which several vectors share what they load. One small statement has little
/// to do, so that there are more vectors where the loop may have many `turns`.
fn vectors_in_flight(lanes: &Lanes<'_>, body: &[Node], turns: Option<u64>) -> u32 {
    let is_link = |node: &&Node| {
        matches!(
            node,
            Node::Assign {
                place: Place::Local(_),
                ..
            }
        )
    };
    let links = body.iter().filter(is_link).count();
    let is_shared = |it: &Place| it.local().is_some() || lanes.is_one_element(it);
    let is_sum = |node: &&Node| {
        let places = node.places();
        matches!(node, Node::Reduce { .. }) && places.iter().all(is_shared)
    };
    let updated: Vec<&Place> = body.iter().filter(is_sum).flat_map(Node::places).collect();
    let sums = updated.len();
    let mut elements = body.iter().filter(|it| !is_sum(it));
    let writes = elements.any(|it| it.written_elements().next().is_some());
    let is_many = turns.is_some_and(|it| it >= MANY_TURNS);
    match (writes, body.len()) {
        (false, _) if sums >= SUMS_BESIDE => 1,
        (false, _) => 4,
        _ if longest(&updated) >= LONG_SUM => 4,
        // Each waits for the one before it.
        _ if links >= LONG_CHAIN => 2,
        (true, 1) if is_many && accesses(body).len() <= FEW_ELEMENTS => 4,
        (true, ..3) => 2,
        (true, _) => 1,
    }
}

/// How often the place among `updated` that is there most often is.
fn longest(updated: &[&Place]) -> usize {
    let of_same = |place: &&Place| updated.iter().filter(|it| it.is_same(place)).count();
    updated.iter().map(of_same).max().unwrap_or(0)
}

/// A loop that is known to fill so many vectors, or less, goes away: what it updates stays in
/// registers, and what it multiplies by is fetched once.
const WHOLE_VECTORS: u32 = 4;

/// To get a value out of a vector takes as long as so many operations.
pub(super) const TAKEN_OUT: usize = 2;

/// To pick a value by a subscript and to put it into a vector takes as long as so many operations:
/// products of sparse rows with a vector gain nothing where rows have thirty elements, and lose a
/// sixth where they have ten; forces between atoms and their neighbours gain a half.
const PICKED: usize = 3;

/// In a loop whose length is no data, and so hardly short, the first value that is picked pays for
/// itself with up to so many lanes, since keys are loaded and checked together: 100,000 floats take
/// 37 µs instead of 58, and a sum of them 38 instead of 84; but 200,000 bytes 68 instead of 61.
const MOST_PICKED: u32 = 8;

/// Values that are picked take so many vectors at a time at most: more of them leave less of short
/// loops to vectors, and no time is won.
const PICKED_IN_FLIGHT: u32 = 2;

/// An element that lies at a distance from that of the next lane gets into so few lanes by an
/// operation more than it takes by itself; into more of them it costs no more than that, but out of
/// them it does: three sums each of 4,000 floats that lie 32 bytes apart take 1.8 µs instead of
/// 4.4, of doubles 3.4 instead of 2.6, and three updates of each of as many records of floats 7.3
/// instead of 4.3.
const FEW_LANES: u32 = 2;

/// To make an integer of a float takes as long as so many operations where numbers that are too
/// large have to be found.
const SATURATING: usize = 3;

/// To divide, and to take a root, takes as long as so many operations, in vectors as well: 20,000
/// points of three doubles take 30 µs instead of 57 to be divided by how far they are away, though
/// their elements come into vectors one by one.
const DIVIDING: usize = 4;

/// There is no instruction for products of integers of 64 bits in vectors, or one that takes as
/// long as several: a product in two lanes takes so many operations more than two by themselves,
/// which what else is in vectors may be worth, but not what is taken out of them. 6 Mi keys that
/// are hashed by three products each, with updates where they say, take 13.6 ms in lanes, and 9.5
/// in turn.
const LONG_PRODUCT: usize = 4;

/// Whether it takes no longer to compute what the body of `target` makes in lanes, and to get out
/// of them what its other statements want, than to compute it turn by turn. What it makes in lanes
/// reads these elements.
fn pays(kernel: &Kernel, lanes: &Lanes<'_>, target: Loop<'_>, read: &Elements) -> bool {
    let (together, in_turn) = lanes.split(target.body());
    let mut all = 0;
    let mut products = 0;
    let mut computed = BTreeSet::new();
    walk(together, &mut |node, _| {
        let here = node
            .expressions()
            .into_iter()
            .map(|it| operations(kernel, lanes, it));
        let here: usize = here.sum();
        all += here;
        products += products_of(kernel, lanes, node);
        if let Node::Declare { local, .. } = node
            && (here > 0 || kernel.locals[*local].mutable)
        {
            computed.insert(*local);
        }
    });
    let mut wanted = BTreeSet::new();
    walk(in_turn, &mut |node, _| {
        for_each_local_read(node, &mut |local| {
            wanted.extend(computed.get(&local).copied())
        });
    });
    let per_vector = per_vector(lanes, together);
    let saved = |operations: usize| operations - operations / per_vector as usize;
    let gained = saved(all).saturating_sub(LONG_PRODUCT * products);
    let is_paid_for = || {
        let written = Elements::written(lanes, together);
        let is_whole = read.are_whole() && written.are_whole();
        let apart = apart(read, &written, per_vector, is_long(target));
        is_whole || saved(all + read.others + written.others) >= apart
    };
    (in_turn.is_empty() || gained > TAKEN_OUT * wanted.len()) && is_paid_for()
}

/// How many lanes the widest type that `body` computes in has in a vector, one at least.
pub(super) fn per_vector(lanes: &Lanes<'_>, body: &[Node]) -> u32 {
    let widest = lanes.types(body).into_iter().map(Type::bytes).max();
    (VECTOR_BYTES / widest.unwrap_or(VECTOR_BYTES)).max(1)
}

/// How many operations it takes to get elements into vectors and out of them one by one, in a loop
/// that is long or may be short.
fn apart(read: &Elements, written: &Elements, per_vector: u32, is_long: bool) -> usize {
    let loaded = match per_vector {
        ..=FEW_LANES => read.distant,
        _ => 0,
    };
    let paid = usize::from(is_long && per_vector <= MOST_PICKED);
    let picked = read.picked.saturating_sub(paid) + written.picked;
    PICKED * picked + loaded + TAKEN_OUT * written.distant
}

/// Whether no data tell how many turns there are, and they are not known to be few: such a loop
/// goes away.
fn is_long(target: Loop<'_>) -> bool {
    match target {
        Loop::Affine(it) => trips(it).is_none_or(|it| it > MOST_UNROLLED as u64),
        Loop::Forall(_) | Loop::Scf(_) => false,
    }
}

/// Elements that a body reads, or those that it writes.
#[derive(Default)]
pub(super) struct Elements {
    /// Those of which each lane picks its own.
    picked: usize,
    /// Those that come into vectors, or out of them, one by one, since they lie at a distance.
    distant: usize,
    /// Those that follow each other, or are the same in all lanes.
    others: usize,
}

impl Elements {
    /// What is in subscripts comes into no vector, and what is read again is there.
    pub(super) fn read(lanes: &Lanes<'_>, body: &[Node]) -> Self {
        fn add_loads<'k>(found: &mut Vec<&'k Access>, expr: &'k Expr) {
            match expr {
                Expr::Load(access) if found.iter().any(|it| it.is_same(access)) => {}
                Expr::Load(access) => found.push(access),
                _ => {
                    let operands = expr.operands().into_iter();
                    operands.for_each(|it| add_loads(found, it));
                }
            }
        }
        let mut read = Vec::new();
        walk(body, &mut |node, _| {
            for expr in node.expressions() {
                add_loads(&mut read, expr);
            }
        });
        let mut found = Self::default();
        for access in read {
            found.add(lanes, access, lanes.is_near(access));
        }
        found
    }

    fn written(lanes: &Lanes<'_>, body: &[Node]) -> Self {
        let mut written = Vec::new();
        walk(body, &mut |node, _| written.extend(node.written_elements()));
        let mut found = Self::default();
        for access in &written {
            let is_whole =
                lanes.distance(access) == Some(-1) || lanes.filling(access, &written).is_some();
            found.add(lanes, access, is_whole);
        }
        found
    }

    /// Adds one that `is_whole` where whole vectors have all that lies between its lanes.
    fn add(&mut self, lanes: &Lanes<'_>, access: &Access, is_whole: bool) {
        match (
            lanes.is_picked(access),
            lanes.is_strided(access) && !is_whole,
        ) {
            (true, _) => self.picked += 1,
            (false, true) => self.distant += 1,
            (false, false) => self.others += 1,
        }
    }

    pub(super) fn are_whole(&self) -> bool {
        self.picked + self.distant == 0
    }
}

/// How many operations of `expr` differ from lane to lane.
pub(super) fn operations(kernel: &Kernel, lanes: &Lanes<'_>, expr: &Expr) -> usize {
    let operands = expr
        .operands()
        .into_iter()
        .map(|it| operations(kernel, lanes, it));
    let inside: usize = operands.sum();
    let here = match expr {
        Expr::Load(_)
        | Expr::Iter(_)
        | Expr::Local(_)
        | Expr::Param(_)
        | Expr::Threads
        | Expr::Constant(_)
        | Expr::Operand(_) => 0,
        Expr::Cast(to, from) if to.is_integer() && from.ty(kernel).is_float() => SATURATING,
        Expr::Binary(BinaryOp::Div, ..) if expr.ty(kernel).is_float() => DIVIDING,
        Expr::Call(Function::Sqrt, _) => DIVIDING,
        _ => 1,
    };
    inside + if lanes.varies(expr) { here } else { 0 }
}

/// How many products of integers of 64 bits `node` itself makes in lanes.
fn products_of(kernel: &Kernel, lanes: &Lanes<'_>, node: &Node) -> usize {
    let expressions = node.expressions().into_iter();
    let inside = expressions.map(|it| long_products(kernel, lanes, it));
    let multiplies = matches!(node, Node::Reduce { combiner, .. } if combiner.name() == Mul.name());
    let mut places = node.places().iter();
    let is_product = multiplies && places.any(|place| is_long_integer(place.ty(kernel)));
    inside.sum::<usize>() + usize::from(is_product)
}

/// How many products of integers of 64 bits in `expr` differ from lane to lane.
fn long_products(kernel: &Kernel, lanes: &Lanes<'_>, expr: &Expr) -> usize {
    let operands = expr.operands().into_iter();
    let inside: usize = operands.map(|it| long_products(kernel, lanes, it)).sum();
    let is_product =
        matches!(expr, Expr::Binary(BinaryOp::Mul, ..)) && is_long_integer(expr.ty(kernel));
    inside + usize::from(is_product && lanes.varies(expr))
}

pub(super) fn is_long_integer(ty: Type) -> bool {
    ty.is_integer() && ty.bits() == 64
}

/// The innermost loops that could compute in narrower types.
fn narrowable(kernel: &Kernel) -> Vec<IterId> {
    let loops = tree::loops(kernel).into_iter();
    let innermost = loops.filter(|it| !has_loops(it.it.body()) && counts(kernel, it.it.body()));
    let found = innermost.map(|it| it.it.iter());
    let is_narrower =
        |it: &IterId| narrow::plan(kernel, &Narrow::new(path_to(kernel, *it))).is_ok();
    found.filter(is_narrower).collect()
}

/// Whether `body` does something with integers but to convert them: others are looked at no
/// further.
fn counts(kernel: &Kernel, body: &[Node]) -> bool {
    fn is_made(kernel: &Kernel, expr: &Expr) -> bool {
        let is_operation = matches!(
            expr,
            Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) | Expr::Compare(..)
        );
        let here = expr
            .operands()
            .into_iter()
            .any(|it| it.ty(kernel).is_integer());
        is_operation && here || expr.operands().into_iter().any(|it| is_made(kernel, it))
    }
    let mut found = false;
    walk(body, &mut |node, _| {
        found |= node.expressions().into_iter().any(|it| is_made(kernel, it));
    });
    found
}

/// The innermost loops for which lanes pay, where what they are made of has vector forms.
pub(super) fn vectorizable(kernel: &Kernel) -> Vec<(Vectorize, Saving)> {
    let loops = tree::loops(kernel).into_iter();
    let found = loops.filter_map(|Nested { it, around }| {
        let count = count(kernel, it)?;
        let in_lanes = around.into_iter().find(|it| it.lanes() > 1);
        if let Some(by) = in_lanes {
            let may_be_left = matches!(by, Loop::Affine(it) if trips(it).is_none());
            let request = Vectorize::new(path_to(kernel, it.iter()), u64::from(count));
            let by = kernel.iters[by.iter()].name.clone();
            return may_be_left.then_some((request, Saving::LeftOver { by }));
        }
        let lanes = Lanes::of(kernel, it, count).ok()?;
        let types = lanes.types(lanes.split(it.body()).0).into_iter();
        let lanes = VECTOR_BYTES / types.map(Type::bytes).max()?;
        let vectors = count / lanes.max(1);
        let request = Vectorize::new(path_to(kernel, it.iter()), u64::from(count));
        Some((request, Saving::Lanes { vectors, lanes }))
    });
    found.collect()
}

impl Scheduler<'_> {
    /// Lets innermost loops run in lanes where that pays, in narrower types where these do.
    pub(super) fn use_lanes(&mut self) {
        for iter in narrowable(&self.found.kernel) {
            self.attempt(|attempt| {
                attempt.step(Narrow::new(path_to(attempt.kernel(), iter)))?;
                let target = tree::loops_over(attempt.kernel(), &[iter]).pop()?;
                count(attempt.kernel(), target.it).map(drop)
            });
        }
        for (request, saving) in vectorizable(&self.found.kernel) {
            self.consider_for(Step::Vectorize(request), Some(saving));
        }
    }
}

/// Whether `target`, an innermost loop, is to run in lanes and may.
pub(super) fn are_meant(kernel: &Kernel, target: &AffineFor) -> bool {
    count(kernel, Loop::Affine(target)).is_some_and(|count| {
        let request = Vectorize::new(path_to(kernel, target.iter), u64::from(count));
        vectorize::plan(kernel, &request).is_ok()
    })
}

/// How many lanes of an innermost loop pay, if any do.
pub(super) fn count(kernel: &Kernel, target: Loop<'_>) -> Option<u32> {
    let body = target.body();
    if has_loops(body) {
        return None;
    }
    let lanes = Lanes::of(kernel, target, MOST_LANES).ok()?;
    let (together, _) = lanes.split(body);
    let read = Elements::read(&lanes, together);
    if matches!(target, Loop::Forall(_)) || !pays(kernel, &lanes, target, &read) {
        return None;
    }
    let bytes = lanes.types(together).into_iter().map(Type::bytes);
    let (widest, narrowest) = (bytes.clone().max()?, bytes.min()?);
    let least = VECTOR_BYTES / narrowest;
    let picks = read.picked > 0;
    let most_in_flight = if picks { PICKED_IN_FLIGHT } else { u32::MAX };
    let (all, most) = match target {
        Loop::Affine(it) => (trips(it), most_trips(it, &[])),
        Loop::Forall(_) | Loop::Scf(_) => (None, None),
    };
    let in_flight = vectors_in_flight(&lanes, body, most).min(most_in_flight);
    let usual = (in_flight * VECTOR_BYTES / widest).clamp(least, MOST_LANES);
    let all = all.and_then(|it| u32::try_from(it).ok());
    // Vector by vector, so many statements find what they share in registers.
    let is_many = in_flight == 1
        && body
            .iter()
            .flat_map(Node::written_elements)
            .any(|it| lanes.is_varying(it));
    let is_whole = |it: &u32| {
        !is_many
            && !picks
            && it.is_power_of_two()
            && (usual..=WHOLE_VECTORS * VECTOR_BYTES / widest).contains(it)
    };
    let count = all.filter(is_whole).unwrap_or(usual);
    let is_filled = most.is_none_or(|trips| trips >= u64::from(count));
    (target.lanes() == 1 && is_filled).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::super::tests::schedules;

    fn kernel(body: &str) -> String {
        format!(
            "kernel @k(n: i64, a: f32[n], b: i8[n], out: f64[n], t: f32[3]) {{ affine.for j in 0..n {{ {body} }} }}"
        )
    }

    #[test]
    fn some_vectors_of_the_widest_type_or_one_of_the_narrowest() {
        for (body, lanes) in [
            ("a[j] = 2.0 * a[j]", "vectorize(j_p, 16)"),
            (
                "let s: f32 = 2.0 * a[j] a[j] = s + 1.0",
                "vectorize(j_p, 8)",
            ),
            ("out[j] = f64(a[j])", "vectorize(j_p, 8)"),
            ("out[j] = f64(b[j])", "vectorize(j_p, 16)"),
        ] {
            let steps = ["strip_mine(j = 4096)", "parallelize(j_t)", lanes];
            schedules(&kernel(body), &steps);
        }
    }

    /// As keys are hashed; factors of 32 bits have an instruction.
    #[test]
    fn long_products_are_made_one_by_one() {
        for (ty, lanes) in [("u32", Some("vectorize(i, 8)")), ("u64", None)] {
            let hashed = format!(
                "kernel @k(n: i64, m: {ty}, x: {ty}[n], h: i64[65536]) {{
                   affine.for i in 0..n {{
                     let k: {ty} = x[i] * {ty}(40503) ^ x[i] >> {ty}(7)
                     h[k * {ty}(2654435) >> {ty}(8) & {ty}(65535)] reduce(add) 1
                   }}
                 }}"
            );
            let private = "tile_indirection_using_forall(i, chunks = 8, strategy = auto)";
            let unrolled = lanes.unwrap_or("unroll(i, 4)");
            schedules(&hashed, &[private, unrolled]);
        }
    }

    #[test]
    fn long_sums_of_several_vectors_share_their_factors() {
        for (weights, lanes) in [(3, "vectorize(i_p, 2)"), (4, "vectorize(i_p, 8)")] {
            let filter = format!(
                "kernel @k(n: i64, w: f64[5, 5], a: f64[5, n + 5], out: f64[n]) {{
                   affine.for i in 0..n {{
                     var s: f64 = 0.0
                     affine.for p in 0..{weights} {{ affine.for q in 0..{weights} {{
                       s reduce(add) w[p, q] * a[p, i + q]
                     }} }}
                     out[i] = s
                   }}
                 }}"
            );
            let flat = ["q", "p"].map(|it| format!("unroll({it}, {weights})"));
            let [inner, outer] = flat.each_ref().map(String::as_str);
            let cut = ["strip_mine(i = 4096)", "parallelize(i_t)"];
            schedules(&filter, &[inner, outer, cut[0], cut[1], lanes]);
        }
    }

    #[test]
    fn loops_that_are_known_to_be_short_do_not_run_in_lanes() {
        schedules(&kernel("affine.for k in 0..3 { t[k] = a[j] }"), &[]);
        schedules(
            &kernel("affine.for k in 0..3 { out[j] reduce(add) f64(t[k]) }"),
            &[
                "unroll(k, 3)",
                "strip_mine(j = 4096)",
                "parallelize(j_t)",
                "vectorize(j_p, 2)",
            ],
        );
        let around = "affine.for k in max(0, j - 2)..min(n, j + 3) { s reduce(add) a[k] }";
        let window = kernel(&format!("var s: f32 = 0.0 {around} out[j] = f64(s)"));
        schedules(&window, &["parallelize(j)"]);
    }

    #[test]
    fn keys_that_take_some_computing_are_computed_in_lanes() {
        let histogram = |key: &str| {
            format!(
                "kernel @k(n: i64, m: i64, x: f32[n], key: i32[n], h: u32[m]) {{
                   affine.for i in 0..n {{ {key} h[b] reduce(add) 1 }}
                 }}"
            )
        };
        let tiled = "tile_indirection_using_forall(i, chunks = 8, strategy = auto)";
        let computed = histogram("let b: i32 = i32((x[i] - 0.5) * 8.0)");
        schedules(&computed, &[tiled, "vectorize(i, 8)"]);
        let loaded = histogram("let b: i32 = key[i]");
        schedules(&loaded, &[tiled, "unroll(i, 4)"]);
    }

    #[test]
    fn sums_are_gathered() {
        let sum =
            kernel("var s: f32 = 0.0 affine.for k in 0..n { s reduce(add) a[k] } out[j] = f64(s)");
        schedules(&sum, &["parallelize(j)", "vectorize(k, 16)"]);
        let nothing_varies =
            kernel("var s: f32 = 0.0 affine.for k in 0..n { s reduce(add) 1.0 } out[j] = f64(s)");
        schedules(&nothing_varies, &["parallelize(j)"]);
    }
}
