//! What happens nowhere, conditions that hold everywhere and alternatives of bounds that never
//! decide, left out.

use crate::copy::Copying;
use crate::tiling::trip_count;
use std::collections::HashMap;
use strew_affine::dependence::{Analyzed, Site};
use strew_affine::evaluate;
use strew_affine::visit::has_loop_of;
use strew_affine::{
    AffineExpr, AffineFor, Bound, Condition, Expr, IterId, Kernel, Local, LocalId, Node, Overflow,
    Place, Relation, Type, Value,
};

/// What stands in `kernel` where the loops over `iters` do, each settled, or nothing where it never
/// runs.
pub(crate) fn settled(kernel: &Kernel, iters: &[IterId]) -> Vec<Node> {
    let mut probed = kernel.clone();
    let probe = probed.locals.alloc(Local {
        name: probed.fresh_name("probe"),
        ty: Type::I64,
        mutable: true,
        is_element: false,
        span: kernel.span,
    });
    for (position, node) in kernel.body.iter().enumerate().rev() {
        if has_loop_of(node, iters) {
            let nodes = with_probes(std::slice::from_ref(node), probe);
            probed.body.splice(position..=position, nodes);
        }
    }
    let analyzed = Analyzed::new(&probed);
    let sites = analyzed.sites().iter();
    let probes = sites.filter_map(|it| Some((std::ptr::from_ref(it.node?), it)));
    let settling = Settling {
        analyzed: &analyzed,
        probe,
        probes: probes.collect(),
    };
    let mut found = Vec::new();
    settling.find(&probed.body, iters, &mut found);
    found
}

/// `nodes` with a statement in front of each, from which what is known there is known; the accesses
/// of others know of themselves alone.
fn with_probes(nodes: &[Node], probe: LocalId) -> Vec<Node> {
    let probed = nodes.iter().flat_map(|node| {
        let mut node = node.clone();
        for block in node.blocks_mut() {
            *block = with_probes(block, probe).into();
        }
        let here = Node::Assign {
            place: Place::Local(probe),
            value: Expr::Constant(Value::i64(0)),
            span: Default::default(),
        };
        [here, node]
    });
    probed.collect()
}

struct Settling<'s, 'k> {
    analyzed: &'s Analyzed<'k>,
    probe: LocalId,
    /// The accesses, by their statements.
    probes: HashMap<*const Node, &'s Site<'k>>,
}

impl Settling<'_, '_> {
    /// The loops over `iters` in `nodes`, settled.
    fn find(&self, nodes: &[Node], iters: &[IterId], found: &mut Vec<Node>) {
        for (probe, node) in self.pairs(nodes) {
            match node {
                Node::AffineFor(it) if iters.contains(&it.iter) => {
                    found.extend(self.node(probe, node))
                }
                _ => {
                    for block in node.blocks() {
                        self.find(block, iters, found);
                    }
                }
            }
        }
    }

    /// The nodes that the kernel has, each with the statement in front of it.
    fn pairs<'n>(&self, nodes: &'n [Node]) -> impl Iterator<Item = (&'n Node, &'n Node)> {
        let is_probe = |node: &Node| matches!(node, Node::Assign { place: Place::Local(it), .. } if *it == self.probe);
        let pairs = nodes.iter().zip(nodes.iter().skip(1));
        pairs.filter(move |(probe, _)| is_probe(probe))
    }

    fn block(&self, nodes: &[Node]) -> Vec<Node> {
        let pairs = self.pairs(nodes);
        pairs
            .flat_map(|(probe, node)| self.node(probe, node))
            .collect()
    }

    fn node(&self, probe: &Node, node: &Node) -> Vec<Node> {
        match node {
            Node::AffineFor(it) if self.never_happens(&it.body) => Vec::new(),
            Node::AffineFor(it) => vec![Node::AffineFor(AffineFor {
                lower: self.tightest(probe, &it.lower, |one, other| one.minus(other)),
                upper: self.tightest(probe, &it.upper, |one, other| other.minus(one)),
                body: self.block(&it.body).into(),
                ..it.clone()
            })],
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => self.settled_if(probe, conditions, [then, otherwise]),
            other => {
                let mut settled = other.clone();
                for (block, of) in settled.blocks_mut().into_iter().zip(other.blocks()) {
                    *block = self.block(of).into();
                }
                vec![settled]
            }
        }
    }

    fn settled_if(
        &self,
        probe: &Node,
        conditions: &[Condition],
        [then, otherwise]: [&[Node]; 2],
    ) -> Vec<Node> {
        if self.never_happens(then) {
            return self.block(otherwise);
        }
        let left = conditions.iter().filter(|it| !self.holds(probe, it));
        let conditions: Vec<_> = left.cloned().collect();
        if conditions.is_empty() || self.never_happens(otherwise) {
            return self.block(then);
        }
        vec![Node::AffineIf {
            conditions,
            then: self.block(then).into(),
            otherwise: self.block(otherwise).into(),
        }]
    }

    fn never_happens(&self, block: &[Node]) -> bool {
        let first = block.first();
        first.is_some_and(|probe| self.is_never_negative(probe, &AffineExpr::from(-1)))
    }

    fn holds(&self, probe: &Node, condition: &Condition) -> bool {
        let margin = margin(condition).ok().flatten();
        margin.is_some_and(|it| self.is_never_negative(probe, &it))
    }

    fn is_never_negative(&self, probe: &Node, expr: &AffineExpr) -> bool {
        let site = self.probes.get(&std::ptr::from_ref(probe));
        site.is_some_and(|it| self.analyzed.is_never_negative_at(it, expr))
    }

    /// The alternatives without those that another one always makes idle; `ahead` says by how much
    /// the first is the tighter of two.
    fn tightest(
        &self,
        probe: &Node,
        bound: &Bound,
        ahead: impl Fn(&AffineExpr, &AffineExpr) -> Result<AffineExpr, Overflow>,
    ) -> Bound {
        let mut left = bound.0.clone();
        let mut position = 0;
        while let Some(one) = left.get(position) {
            let mut others = left.iter().enumerate().filter(|(it, _)| *it != position);
            let is_idle = others.any(|(_, other)| {
                ahead(other, one).is_ok_and(|it| self.is_never_negative(probe, &it))
            });
            match is_idle {
                true => drop(left.remove(position)),
                false => position += 1,
            }
        }
        Bound(left)
    }
}

/// `nodes` with what happens in them where a condition is known, in the place of the question, and
/// without loops that are known to run once or never.
pub(crate) fn without_known_choices(nodes: Vec<Node>) -> Vec<Node> {
    let settled = nodes.into_iter().flat_map(|mut node| {
        for block in node.blocks_mut() {
            *block = without_known_choices(std::mem::take(block).into()).into();
        }
        match node {
            Node::AffineFor(target) => {
                few_turns(&target).unwrap_or_else(|| vec![Node::AffineFor(target)])
            }
            Node::ScfIf {
                ref condition,
                ref mut then,
                ref mut otherwise,
                ..
            } if let Some(value) = evaluate::constant(condition) => {
                let side = if value.bits() != 0 { then } else { otherwise };
                std::mem::take(side).into()
            }
            Node::AffineIf {
                mut conditions,
                then,
                otherwise,
            } => {
                let is_false = conditions.iter().any(|it| known(it) == Some(false));
                conditions.retain(|it| known(it).is_none());
                match (is_false, conditions.is_empty()) {
                    (true, _) => otherwise.into(),
                    (_, true) => then.into(),
                    _ => vec![Node::AffineIf {
                        conditions,
                        then,
                        otherwise,
                    }],
                }
            }
            other => vec![other],
        }
    });
    settled.collect()
}

/// What a loop does that begins at a number and has one turn at most.
fn few_turns(target: &AffineFor) -> Option<Vec<Node>> {
    let (lower, upper) = (target.lower.as_single()?, target.upper.as_single()?);
    let turns = trip_count(lower, upper, target.step).ok()?.as_constant()?;
    if turns <= 0 {
        return Some(Vec::new());
    }
    let only = Copying::fix(target.iter, lower.as_constant()?);
    (turns == 1 && target.lanes == 1).then(|| only.block(&target.body).ok())?
}

/// Whether a condition between expressions that differ by a number holds.
fn known(condition: &Condition) -> Option<bool> {
    let difference = condition.right.minus(&condition.left).ok()?.as_constant()?;
    Some(condition.relation.holds(0, difference))
}

/// What is not negative exactly where the condition holds; nothing for an equality.
pub(crate) fn margin(condition: &Condition) -> Result<Option<AffineExpr>, Overflow> {
    let difference = condition.right.minus(&condition.left)?;
    Ok(match condition.relation {
        Relation::LessOrEqual => Some(difference),
        Relation::Less => Some(difference.offset(-1)?),
        Relation::Equal => None,
    })
}
