//! What kind of body a forall has.

use super::columns::column_loops;
use super::hold::holds_most;
use super::rows::row_loops;
use crate::facts::Facts;
use strew_affine::changed::Changed;
use strew_affine::lanes::{Lanes, turns_at_once};
use strew_affine::visit::{Loop, for_each_load, for_each_load_of, walk};
use strew_affine::{
    Access, ArrayId, Combiner, CompareOp, Expr, Forall, IterId, Kernel, Last, Node, Private, Value,
};

/// Whether the body does more with its private buffers than combine values into them with their own
/// combiners, those that are merged together together and at one place, and read those that are
/// targets too. Only if not can several iterations share a buffer: then combining into it is the
/// same, up to grouping, as merging buffers of their own.
pub(super) fn is_separate(forall: &Forall) -> bool {
    let private_of = |array: ArrayId| {
        let mut privates = forall.privates.iter();
        privates.find(|it| it.buffers.contains(&array))
    };
    let is_private = |access: &Access| private_of(access.array).is_some();
    let mut separate = false;
    walk(&forall.body, &mut |node, _| {
        for_each_load_of(node, &mut |access| {
            separate |= private_of(access.array).is_some_and(|it| !it.is_speculative());
        });
        separate |= match node {
            Node::Assign { .. } => node.written_elements().any(is_private),
            Node::Reduce { combiner, .. } => node.written_elements().any(|access| {
                private_of(access.array).is_some_and(|it| !combines_into(node, combiner, it))
            }),
            Node::Forall(inner) => inner.privates.iter().any(|private| {
                let mut targets = private.targets.iter();
                targets.any(|target| {
                    private_of(*target).is_some_and(|own| {
                        own.combiner != private.combiner || own.buffers != private.targets
                    })
                })
            }),
            _ => false,
        };
    });
    separate
}

/// What a [`ForallCall`](strew_runtime::abi::ForallCall) says of how surely turns of the body make
/// updates.
pub(super) fn steadiness(kernel: &Kernel, forall: &Forall) -> u32 {
    match is_steady(forall) {
        true => 1,
        false => 2 * u32::from(is_often(kernel, forall)),
    }
}

/// Whether every turn of the loop that the body is, or of a loop in it, is sure to update a private
/// buffer: a few of them then give as many updates, and take no more than their share of the time.
fn is_steady(forall: &Forall) -> bool {
    updates_each_turn(&forall.body, forall)
}

fn updates_each_turn(body: &[Node], forall: &Forall) -> bool {
    body.iter().any(|node| match node {
        Node::AffineFor(inner) => updates_each_turn(&inner.body, forall),
        Node::ScfFor(inner) => updates_each_turn(&inner.body, forall),
        Node::Reduce { .. } => is_update(node, forall),
        _ => false,
    })
}

/// Whether most turns look as if they did, too: conditions that keep integers in range hold,
/// mostly, and a search ends where it finds something. What floats are compared with may be seldom.
fn is_often(kernel: &Kernel, forall: &Forall) -> bool {
    updates_often(kernel, &forall.body, forall)
}

fn updates_often(kernel: &Kernel, body: &[Node], forall: &Forall) -> bool {
    body.iter().any(|node| match node {
        Node::Reduce { .. } => is_update(node, forall),
        Node::ScfIf {
            condition,
            then,
            otherwise,
            ..
        } => {
            let [then, otherwise] = [then, otherwise].map(|it| updates_often(kernel, it, forall));
            then && (otherwise || holds_often(kernel, condition))
        }
        Node::ScfWhile { body, .. } => {
            let mut updates = false;
            walk(body, &mut |it, _| updates |= is_update(it, forall));
            updates
        }
        Node::AffineFor(_) | Node::ScfFor(_) | Node::AffineIf { .. } => {
            let mut blocks = node.blocks();
            blocks.any(|it| updates_often(kernel, it, forall))
        }
        _ => false,
    })
}

fn holds_often(kernel: &Kernel, condition: &Expr) -> bool {
    match condition {
        Expr::And(left, right) | Expr::Or(left, right) => {
            holds_often(kernel, left) && holds_often(kernel, right)
        }
        Expr::Compare(CompareOp::Ne, ..) => true,
        Expr::Compare(CompareOp::Eq, ..) => false,
        Expr::Compare(_, left, _) => left.ty(kernel).is_integer(),
        _ => false,
    }
}

/// Whether `node` updates a private buffer.
pub(super) fn is_update(node: &Node, forall: &Forall) -> bool {
    let mut written = node.written_elements();
    matches!(node, Node::Reduce { .. }) && written.any(|access| forall.has_buffer(access.array))
}

/// What each update of buffers of `private` brings, a value for each of them.
fn brought<'k>(forall: &'k Forall, private: &Private) -> Vec<&'k [Expr]> {
    let mut brought = Vec::new();
    walk(&forall.body, &mut |node, _| {
        let mut written = node.written_elements();
        if let Node::Reduce { values, .. } = node
            && written.any(|access| private.buffers.contains(&access.array))
        {
            brought.push(values.as_slice());
        }
    });
    brought
}

/// For each buffer of `private` the value that every update of it brings, if they are all the same.
pub(super) fn constants(forall: &Forall, private: &Private) -> Vec<Option<Value>> {
    let updates = brought(forall, private);
    let constant = |part: usize| {
        let mut values = updates.iter().map(|values| match values.get(part) {
            Some(Expr::Constant(value)) => Some(*value),
            _ => None,
        });
        let first = values.next().flatten();
        first.filter(|_| values.all(|it| same_bits(first, it)))
    };
    (0..private.buffers.len()).map(constant).collect()
}

/// Whether all updates of the one buffer of `private` overwrite its elements with the same value,
/// which is there when the loop begins.
pub(super) fn is_alike(forall: &Forall, private: &Private) -> bool {
    let updates = brought(forall, private);
    let mut values = updates.iter().filter_map(|it| it.first());
    let Some(first) = values.next() else {
        return false;
    };
    let mut loads = false;
    for_each_load(first, &mut |_| loads = true);
    let overwrites = private.buffers.len() == 1 && private.combiner == Combiner::new(Last);
    overwrites
        && !loads
        && Changed::in_loop(forall.iter, &forall.body).expr_stays(first)
        && values.all(|it| it.is_same(first))
}

fn same_bits(one: Option<Value>, other: Option<Value>) -> bool {
    one.map(|it| it.bits()) == other.map(|it| it.bits())
}

/// Whether the loops that `is_found` names write nothing but updates of private buffers, and none
/// of them lies in another one: who runs some turns of that would run the one inside in these
/// alone.
pub(super) fn updates_alone(forall: &Forall, is_found: impl Fn(IterId) -> bool) -> bool {
    let mut alone = true;
    walk(&forall.body, &mut |node, loops| {
        let around = loops.iter().filter(|it| is_found(it.iter())).count();
        alone &= match around {
            0 => true,
            1 => node.places().is_empty() || is_update(node, forall),
            _ => false,
        };
    });
    alone
}

/// What decides besides numbers how a kernel runs: what strategies know of its foralls, and which
/// statements are made in lanes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Conduct {
    foralls: Vec<ForallConduct>,
    /// Of each loop in lanes, how many statements are made in them.
    together: Vec<Option<usize>>,
}

#[derive(Debug, PartialEq, Eq)]
struct ForallConduct {
    lanes: i64,
    has_columns: bool,
    has_rows: bool,
    is_pure: bool,
    steadiness: u32,
    is_separate: bool,
    holds_most: bool,
}

impl Conduct {
    pub(crate) fn of(kernel: &Kernel, facts: &Facts) -> Self {
        let mut conduct = Self::default();
        walk(&kernel.body, &mut |node, _| match Loop::of(node) {
            Some(Loop::Forall(forall)) => conduct.foralls.push(ForallConduct {
                lanes: lanes_of_updates(forall, kernel),
                has_columns: column_loops(forall).is_some(),
                has_rows: row_loops(forall, kernel).is_some(),
                is_pure: facts.is_pure(forall),
                steadiness: steadiness(kernel, forall),
                is_separate: is_separate(forall),
                holds_most: holds_most(kernel, facts, forall),
            }),
            Some(it) if it.lanes() > 1 => {
                let lanes = Lanes::of(kernel, it, it.lanes()).ok();
                conduct
                    .together
                    .push(lanes.map(|lanes| lanes.split(it.body()).0.len()));
            }
            _ => {}
        });
        conduct
    }
}

/// How many updates of private buffers are made at once, in the loops that are deepest inside: they
/// make most of them.
pub(super) fn lanes_of_updates(forall: &Forall, kernel: &Kernel) -> i64 {
    let mut most = (0, 1);
    walk(&forall.body, &mut |node, loops| {
        if is_update(node, forall) {
            let lanes = match loops.last() {
                Some(around) => turns_at_once(kernel, *around),
                None => 1,
            };
            most = match loops.len() {
                depth if depth > most.0 => (depth, lanes),
                depth if depth == most.0 => (depth, lanes.min(most.1)),
                _ => most,
            };
        }
    });
    i64::from(most.1)
}

/// Whether the reduction `node` combines into all buffers of `private`, in their order and at one
/// place.
fn combines_into(node: &Node, combiner: &Combiner, private: &Private) -> bool {
    let written: Vec<_> = node.written_elements().collect();
    let arrays = written.iter().map(|access| access.array);
    let mut pairs = written.windows(2);
    *combiner == private.combiner
        && arrays.eq(private.buffers.iter().copied())
        && pairs.all(|pair| match pair {
            [first, second] => first.is_at_same_place(second),
            _ => true,
        })
}

/// What `see` says of the one forall of a kernel, whose body is this.
#[cfg(test)]
pub(super) fn of_forall<T>(body: &str, see: impl Fn(&Forall, &strew_affine::Kernel) -> T) -> T {
    let text = format!(
        "kernel @k(n: i64, m: i64, d: i64, key: i32[n], row: i64[n], x: f32[n, d], out: f32[m, d], y: f32[n]) {{
           scf.forall c in 0..8 private(p: f32[m, d] = identity(add)) merge(out reduce(add) p) {{ {body} }}
         }}"
    );
    let mut kernels = strew_affine::text::parse(&text).expect("a kernel");
    let kernel = kernels.remove(0);
    let mut seen = None;
    walk(&kernel.body, &mut |node, _| {
        if let Node::Forall(forall) = node {
            seen = Some(see(forall, &kernel));
        }
    });
    seen.expect("a forall")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(body: &str) -> bool {
        of_forall(body, |forall, _| is_steady(forall))
    }

    #[test]
    fn a_loop_that_updates_in_each_turn_is_steady() {
        assert!(steady(
            "affine.for i in 0..n { p[key[i], 0] reduce(add) 1.0 }"
        ));
        assert!(steady(
            "affine.for i in 0..n { scf.for e in row[i]..row[i] + 3 { p[key[e], 0] reduce(add) 1.0 } }"
        ));
        assert!(steady(
            "affine.for i in 0..n { affine.for j in 0..n { let r: i64 = row[j] } p[key[i], 0] reduce(add) 1.0 }"
        ));
    }

    #[test]
    fn conditions_that_keep_keys_in_range_hold_often() {
        let often = |condition: &str| {
            let body = format!(
                "affine.for i in 0..n {{ scf.if {condition} {{ p[key[i], 0] reduce(add) 1.0 }} }}"
            );
            of_forall(&body, |forall, kernel| is_often(kernel, forall))
        };
        assert!(often("key[i] >= 0 && key[i] < 4"));
        assert!(often("y[i] != 0.0"));
        assert!(!often("y[i] > 0.5") && !often("key[i] == 3"));
    }

    #[test]
    fn updates_that_all_bring_the_same_value_are_known() {
        let brought = |body: &str| {
            let bits = |it: &Option<Value>| it.map(|it| it.bits());
            of_forall(body, |forall, _| {
                let constants = constants(forall, &forall.privates[0]);
                constants.iter().map(bits).collect::<Vec<_>>()
            })
        };
        let (one, two) = (
            "p[key[i], 0] reduce(add) 1.0",
            "p[0, key[i]] reduce(add) 2.0",
        );
        let within = |body: &str| format!("affine.for i in 0..n {{ {body} }}");
        let bits = Some(u64::from(1_f32.to_bits()));
        assert_eq!(brought(&within(one)), [bits]);
        assert_eq!(brought(&within(&format!("{one} {one}"))), [bits]);
        assert_eq!(brought(&within(&format!("{one} {two}"))), [None]);
        assert_eq!(brought(&within(&format!("{one} {two} {two}"))), [None]);
        assert_eq!(brought(&within("p[key[i], 0] reduce(add) y[i]")), [None]);
    }

    #[test]
    fn one_that_may_not_update_is_not() {
        assert!(!steady(
            "affine.for i in 0..n { scf.if key[i] > 3 { p[key[i], 0] reduce(add) 1.0 } }"
        ));
        assert!(!steady("let r: i64 = row[0]"));
    }
}
