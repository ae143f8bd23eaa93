//! The step `count_ahead`.

use crate::address::{self, Target as Found};
use crate::build::{both, decide};
use crate::carried::Iterations;
use crate::copy::loop_anew;
use crate::private;
use crate::reason::checked_number;
use crate::scalars;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tiling;
use crate::tree::{Replacing, new_iter};
use crate::{LoopPath, Reason, TileIndirection};
use counters::Counters;
use std::fmt;
use strew_affine::dependence::Target;
use strew_affine::tickets::Tickets;
use strew_affine::verify::Verified;
use strew_affine::visit::{Loop, has_forall};
use strew_affine::{AffineExpr, AffineFor, Forall, IterId, Kernel, Node};
use worth::Moves;

mod counters;
mod worth;

/// More moves than a loop can make.
const MOST_MOVES: u64 = 1 << 62;

/// Runs parts of a loop at once whose iterations are in order for nothing but the counters of which
/// they take tickets.
///
/// ```text
/// affine.for i in 0..n {            scf.if threads() > 1 {
///   out[next[key[i]]] = x[i]          alloc next_c: i64[8, m]
///   next[key[i]] reduce(add) 1        scf.forall i_c in 0..8 strategy(auto) {
/// }                             →       affine.for i_n in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {
///                                         next_c[i_c, key[i_n]] reduce(add) 1
///                                       }
///                                     }
///                                     …
///                                     scf.if … { the same parts, each on the counters at its beginning, next_c } else { the loop }
///                                   } else { the loop }
/// ```
///
/// The first pass counts how often each part moves each counter; the sums over the parts before are
/// what counters say where a part begins. So each part takes the tickets that it takes in order,
/// and all results have the same bits. Where tickets say places in arrays, counters could run into
/// each other's: whether any does is found out from where they begin and end, before anything is
/// written. The loop runs as it was if one does, on one thread, and where there are many counters
/// beside iterations.
///
/// Legal when iterations are apart but for counters and for the places that their tickets say, when
/// the loop moves each counter by one constant, and when nothing that it changes decides how often.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CountAhead {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
    /// How many parts, from 1 to [`TileIndirection::MOST_CHUNKS`].
    pub chunks: u64,
    /// How often counters move at least where threads run it.
    pub least: u64,
}

impl CountAhead {
    /// The word that the step begins with.
    pub const NAME: &'static str = "count_ahead";
    /// How often counters move at least, when nothing is said about it: what threads take to begin
    /// is little beside that.
    pub const LEAST: u64 = 16_384;

    /// A request to run [`TileIndirection::CHUNKS`] parts of `target` at once.
    pub fn new(target: impl Into<LoopPath>) -> Self {
        Self {
            target: target.into(),
            chunks: TileIndirection::CHUNKS,
            least: Self::LEAST,
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let mut request = Self::new(call.path()?);
        if let Some(chunks) = call.named("chunks")? {
            request.chunks = chunks.number()?;
        }
        if let Some(least) = call.named("least")? {
            request.least = least.number()?;
        }
        call.finish(&["chunks", "least"])?;
        Ok(request)
    }
}

impl fmt::Display for CountAhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            target,
            chunks,
            least,
        } = self;
        write!(
            f,
            "{}({target}, chunks = {chunks}, least = {least})",
            Self::NAME
        )
    }
}

impl Transform for CountAhead {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &CountAhead) -> Result<Replacing, Reason> {
    let Found { it: target, .. } = address::find_affine_for(kernel, &request.target)?;
    let with_own = private::with_own(kernel, target)?;
    plan_shared(with_own.as_ref().unwrap_or(kernel), request)
}

/// The same, where iterations have all of their own that they can.
fn plan_shared(kernel: &Kernel, request: &CountAhead) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Found { it: target, around } = address::find_affine_for(kernel, path)?;
    let in_forall = around.iter().any(|it| matches!(it, Loop::Forall(_)));
    if in_forall || has_forall(&target.body) {
        return Err(Reason::NestedForall { path: path.clone() });
    }
    address::check_no_lanes(target.lanes, path)?;
    let chunks = checked_number(
        "the number of chunks",
        request.chunks,
        1..=TileIndirection::MOST_CHUNKS,
    )?;
    let tickets = Tickets::of(kernel, &target.body)
        .ok_or_else(|| Reason::NoTickets { path: path.clone() })?;
    check_apart(kernel, (path, target), &tickets)?;
    let mut prepared = kernel.clone();
    let parts = Parts {
        target,
        path,
        chunks,
        least: checked_number("the number of moves", request.least, 0..=MOST_MOVES)?,
    };
    let replacement = vec![versions(&mut prepared, &parts, &tickets)?];
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement,
    })
}

/// That iterations meet in nothing but counters and what tickets say.
fn check_apart(
    kernel: &Kernel,
    (path, target): (&LoopPath, &AffineFor),
    tickets: &Tickets,
) -> Result<(), Reason> {
    let taken = tickets.taken();
    let is_shared = |it| !taken.contains(&Target::Array(it));
    Iterations::of(kernel, path, target.iter).check_kept_apart(is_shared)?;
    let mut set = scalars::set_in(target).into_iter();
    match set.find(|(local, _)| !taken.contains(&Target::Local(*local))) {
        Some((local, node)) => {
            let span = scalars::span_of(node);
            Err(scalars::carried(kernel, path, target, (local, span)))
        }
        None => Ok(()),
    }
}

/// The loop, and into how many parts it goes.
struct Parts<'k> {
    target: &'k AffineFor,
    path: &'k LoopPath,
    chunks: i64,
    least: i64,
}

impl Parts<'_> {
    /// A forall over the parts, each of which does what `part` makes of the iterator of the parts
    /// and of `like`, which has the bounds of the loop, over its iterations.
    fn at_once(
        &self,
        kernel: &mut Kernel,
        like: AffineFor,
        part: impl FnOnce(&mut Kernel, IterId, AffineFor) -> Vec<Node>,
    ) -> Result<Node, Reason> {
        let iter = new_iter(kernel, self.target.iter, "c");
        let bounds = tiling::nth_part(self.target, self.path, &iter.into(), self.chunks)?;
        let within = AffineFor {
            lower: bounds.lower,
            upper: bounds.upper,
            ..like
        };
        Ok(Node::Forall(Forall {
            iter,
            count: self.chunks.into(),
            privates: Vec::new(),
            disjoint: Vec::new(),
            strategy: "auto".to_owned(),
            body: part(kernel, iter, within).into(),
        }))
    }

    /// The loop as it was.
    fn in_order(&self, kernel: &mut Kernel) -> Result<Node, Reason> {
        Ok(Node::AffineFor(loop_anew(kernel, self.target, "s")?))
    }
}

/// The loop in parts where that is worth it and they keep to their places, and else as it was.
fn versions(kernel: &mut Kernel, parts: &Parts<'_>, tickets: &Tickets) -> Result<Node, Reason> {
    let moves = Moves::of(kernel, parts.target, tickets.counting())?;
    let dispensers = tickets.dispensers().iter();
    let counters =
        dispensers.map(|it| Counters::new(kernel, parts.chunks, it, moves.are_bounded()));
    let counters: Vec<Counters<'_>> = counters.collect::<Result<_, _>>()?;
    let mut number = AffineExpr::from(0);
    for it in &counters {
        number = number.plus(&it.number()?)?;
    }
    let worth_it = moves.is_worth_it(kernel, &number, parts.least)?;
    let ahead = ahead(kernel, parts, &counters, tickets.counting())?;
    Ok(decide(worth_it, ahead, [parts.in_order(kernel)?]))
}

/// What counts ahead and then runs the loop in parts, if these keep to their places, and else as it
/// was.
fn ahead(
    kernel: &mut Kernel,
    parts: &Parts<'_>,
    counters: &[Counters<'_>],
    counting: &[Node],
) -> Result<Vec<Node>, Reason> {
    let counting = AffineFor {
        body: counting.to_vec().into(),
        ..parts.target.clone()
    };
    let counting = loop_anew(kernel, &counting, "n")?;
    let counting = parts.at_once(kernel, counting, |kernel, part, it| {
        let nodes = vec![Node::AffineFor(it)];
        counters
            .iter()
            .fold(nodes, |nodes, of| of.count(kernel, part, nodes))
    })?;
    let mut nodes: Vec<Node> = counters.iter().map(Counters::alloc).collect();
    nodes.push(counting);
    let mut apart = Vec::new();
    for it in counters {
        nodes.extend(it.add_up(kernel, &mut apart)?);
    }
    let target = parts.target.clone();
    let taking = parts.at_once(kernel, target, |kernel, part, it| {
        let nodes = vec![Node::AffineFor(it)];
        counters
            .iter()
            .fold(nodes, |nodes, of| of.take(kernel, part, nodes))
    })?;
    let mut at_once = vec![taking];
    at_once.extend(counters.iter().flat_map(|it| it.settle(kernel)));
    match apart.into_iter().reduce(both) {
        Some(condition) => nodes.push(decide(condition, at_once, [parts.in_order(kernel)?])),
        None => nodes.extend(at_once),
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed};
    use crate::test_support::{accepts, apply, assert_same_results, kernel, refused, refuses};

    const STEP: &str = "count_ahead(i, chunks = 4, least = 0)";

    fn in_loop(body: &str) -> String {
        format!(
            "kernel @k(n: i64, m: i64, next: i32[m], key: i32[n], x: f64[n], out: f64[n], table: f64[m, n]) {{
               var s: i64 = 0
               affine.for i in 0..n {{ {body} }}
             }}"
        )
    }

    #[test]
    fn scheme() {
        let header = "kernel @k(n: i64, m: i64, next: i64[m], key: i32[n], x: f64[n], out: f64[n])";
        let turn = |i: &str| {
            format!(
                "affine.for {i} in 0..n {{ out[next[key[{i}]]] = x[{i}] next[key[{i}]] reduce(add) 1 }}"
            )
        };
        accepts(
            &format!("{header} {{ {} }}", turn("i")),
            STEP,
            &format!(
                "{header} {{
                   scf.if threads() > 1 && m * 8 <= n && n <= 2147483647 {{
                     alloc next_c: i64[4, m + 16]
                     scf.forall i_c in 0..4 strategy(auto) {{
                       affine.for i_n in (i_c * n) floordiv 4..(i_c * n + n) floordiv 4 {{
                         next_c[i_c, key[i_n]] reduce(add) 1
                       }}
                     }}
                     var next_met: i64 = 0
                     var next_reach: i64 = 0
                     affine.for next_k in 0..m {{
                       let next_first: i64 = next[next_k]
                       var next_next: i64 = next_first
                       affine.for part in 0..4 {{
                         let moved: i64 = next_c[part, next_k]
                         next_c[part, next_k] = next_next
                         next_next = next_next + moved
                       }}
                       scf.if next_next != next_first {{
                         scf.if next_first < next_reach || next_next < next_first {{ next_met = 1 }}
                         next_reach = next_next
                       }}
                     }}
                     affine.for part_2 in 0..4 {{
                       affine.for between in m..m + 16 {{ scf.if next_c[part_2, between] != 0 {{ next_met = 1 }} }}
                     }}
                     scf.if next_reach <= n && next_met == 0 {{
                       scf.forall i_c_2 in 0..4 strategy(auto) {{
                         affine.for i in (i_c_2 * n) floordiv 4..(i_c_2 * n + n) floordiv 4 {{
                           out[next_c[i_c_2, key[i]]] = x[i]
                           next_c[i_c_2, key[i]] reduce(add) 1
                         }}
                       }}
                       affine.for next_k_2 in 0..m {{ next[next_k_2] = next_c[3, next_k_2] }}
                     }} else {{ {} }}
                   }} else {{ {} }}
                 }}",
                turn("i_s"),
                turn("i_s_2"),
            ),
        );
    }

    #[test]
    fn what_is_kept_of_a_filter() {
        let before = "kernel @k(n: i64, x: f64[n], out: f64[n]) -> i64 {
            var s: i64 = 0
            affine.for i in 0..n { scf.if x[i] > 1.0 { out[s] = x[i] s reduce(add) 1 } }
            return s
        }";
        let after = apply(&kernel(before), STEP);
        let text = after.to_string();
        assert!(text.contains("var s_p: i32 = 0"), "{text}");
        assert!(text.contains("s_reach <= n"), "{text}");
        assert_same_results(&kernel(before), &after);
    }

    #[test]
    fn any_tickets() {
        for body in [
            // Before they move and behind, up and down, at a place beside.
            "out[next[key[i]]] = x[i] next[key[i]] = next[key[i]] + 1",
            "next[key[i]] reduce(add) -1 out[next[key[i]]] = x[i]",
            "let p: i64 = i64(next[key[i]]) next[key[i]] reduce(add) 2 out[p] = x[i] out[p + 1] = 2.0",
            // Several at once.
            "out[s] = x[i] s reduce(add) 1 out[s] = 1.0 s reduce(add) 1",
            "scf.if x[i] > 1.0 { out[s] = x[i] s reduce(add) 1 } next[key[i]] reduce(add) 1 let p: i32 = next[key[i]]",
            // In loops inside.
            "affine.for j in 0..3 { scf.if i64(key[i]) > j { out[s] = x[i] s reduce(add) 1 } }",
            // Places in rows of their own, and tickets that say none.
            "let p: i32 = next[key[i]] next[key[i]] reduce(add) 1 scf.if p < 4 { table[key[i], p] = x[i] }",
            "out[i] = f64(next[key[i]]) next[key[i]] reduce(add) 1",
        ] {
            let before = kernel(&in_loop(body));
            let after = apply(&before, STEP);
            assert!(after.to_string().contains("threads()"), "{body}");
            assert_same_results(&before, &after);
        }
    }

    #[test]
    fn refusals() {
        for body in [
            // No counters: by a step that data say, or that depends on the ticket.
            "out[s] = x[i] s reduce(add) i64(key[i])",
            "out[next[key[i]]] = x[i] next[key[i]] reduce(mul) 2",
            "scf.if s < m { out[s] = x[i] s reduce(add) 1 }",
            // Another one is read, and one of which nobody takes a ticket.
            "out[next[key[i]]] = x[i] next[i] reduce(add) 1",
            "next[key[i]] reduce(add) 1",
            // Which counter it is changes on the way.
            "let p: i32 = next[key[i]] key[i] = 0 next[key[i]] reduce(add) 1 out[p] = x[i]",
        ] {
            refuses(&in_loop(body), STEP, Misaddressed, "NoTickets");
        }
        for body in [
            // Places that meet those of the next ticket, and others of the same array.
            "out[s] = x[i] out[s + 1] = 0.0 s reduce(add) 1",
            "out[s] = x[0] + out[0] s reduce(add) 1",
            "out[s] = x[i] x[0] = x[i] + 1.0 s reduce(add) 1",
        ] {
            assert_eq!(refused(&in_loop(body), STEP).name(), "Carried", "{body}");
        }
        let set = "let p: i64 = s s reduce(add) 1 scf.if p < 3 { let q: i32 = next[0] next[0] reduce(add) 1 s = 0 }";
        refuses(&in_loop(set), STEP, Illegal, "CarriedScalar");
        let parallel = in_loop("out[s] = x[i] s reduce(add) 1");
        refuses(
            &parallel,
            "count_ahead(i, chunks = 0)",
            Misaddressed,
            "BadNumber",
        );
        refuses(&parallel, "count_ahead(j)", Misaddressed, "NoSuchLoop");
    }
}
