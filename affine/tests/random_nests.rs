//! Dependences of random nests against the runs of the interpreter: every pair of touches of one
//! cell is covered by a dependence, and every witness happens. `STREW_NESTS=5000` in the
//! environment checks that many.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use strew_affine::dependence::{Analyzed, Component, Dependence, Direction, Site, Target};
use strew_affine::interpret::{Argument, Touch, Touched, Watch, interpret_watched};
use strew_affine::verify::{Verified, verify};
use strew_affine::visit::AccessKind;
use strew_affine::{IterId, Kernel, Node, Span, StdMath, Type, Value, text};

/// Numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % count
    }

    fn within(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// Subscripts are moved by this, so that they are in range.
const MIDDLE: i64 = 40;
const EXTENT: i64 = 2 * MIDDLE;

struct Nest {
    random: Random,
    text: String,
    names: Vec<String>,
    count: usize,
    depth: usize,
}

impl Nest {
    /// The text of a kernel with one parameter, an array of one and one of two dimensions.
    fn text(seed: u64) -> String {
        let mut random = Random(seed);
        let depth = 1 + random.below(4) as usize;
        let mut nest = Self {
            random,
            text: format!("kernel @k(n: i64, x: f64[{EXTENT}], y: f64[{EXTENT}, {EXTENT}]) {{\n"),
            names: Vec::new(),
            count: 0,
            depth,
        };
        nest.loops(0);
        if nest.random.chance(20) {
            nest.loops(nest.depth.saturating_sub(2));
        }
        nest.text + "}\n"
    }

    fn loops(&mut self, level: usize) {
        self.count += 1;
        let name = format!("i{}", self.count);
        let (lower, upper) = self.bounds();
        let step = if self.random.chance(20) {
            format!(" step {}", self.random.within(2, 3))
        } else {
            String::new()
        };
        let _ = writeln!(self.text, "affine.for {name} in {lower}..{upper}{step} {{");
        self.names.push(name);
        if self.random.chance(25) {
            self.statement();
        }
        if level + 1 < self.depth {
            self.loops(level + 1);
        } else {
            self.guarded();
        }
        if self.random.chance(20) {
            self.statement();
        }
        self.names.pop();
        self.text += "}\n";
    }

    fn guarded(&mut self) {
        if !self.random.chance(35) {
            return self.statement();
        }
        let mut condition = || {
            let (left, right) = (self.affine(2), self.affine(1));
            let relation = ["<", "<=", "=="][self.random.below(3) as usize];
            format!("{left} {relation} {right}")
        };
        let mut conditions = condition();
        if self.random.chance(30) {
            let more = {
                let (left, right) = (self.affine(1), self.affine(1));
                format!("{left} <= {right}")
            };
            conditions = format!("{conditions}, {more}");
        }
        let _ = writeln!(self.text, "affine.if ({conditions}) {{");
        self.statement();
        self.text += "}";
        if self.random.chance(50) {
            self.text += " else {\n";
            self.statement();
            self.text += "}";
        }
        self.text += "\n";
    }

    fn outer(&mut self) -> Option<String> {
        let count = self.names.len() as u64;
        (count > 0).then(|| self.names[self.random.below(count) as usize].clone())
    }

    fn bounds(&mut self) -> (String, String) {
        let outer = self.outer();
        match (self.random.below(10), outer) {
            (0, Some(i)) => (i, "n".to_owned()),
            (1, Some(i)) => (format!("{i} + 1"), "n".to_owned()),
            (2, Some(i)) => ("0".to_owned(), format!("{i} + 1")),
            (3, Some(i)) => ("0".to_owned(), format!("n - {i}")),
            (4, Some(i)) => (format!("max(0, {i} - 1)"), format!("min(n, {i} + 2)")),
            (5, Some(i)) => (format!("{i} floordiv 2"), "n".to_owned()),
            (6, _) => ("1".to_owned(), "n - 1".to_owned()),
            (7, _) => ("-1".to_owned(), "3".to_owned()),
            _ => ("0".to_owned(), "n".to_owned()),
        }
    }

    /// A sum of iterators, perhaps the parameter, and a constant.
    fn affine(&mut self, most: i64) -> String {
        let mut text = String::new();
        for name in self.names.clone() {
            if self.random.chance(55) {
                let _ = write!(text, "{name} * {} + ", self.random.within(-most, most));
            }
        }
        if self.random.chance(15) {
            text += "n + ";
        }
        let sum = format!("{text}{}", self.random.within(-3, 3));
        match self.random.below(14) {
            0 => format!("({sum}) floordiv {}", self.random.within(2, 3)),
            1 => format!("({sum}) mod {}", self.random.within(2, 3)),
            _ => sum,
        }
    }

    fn access(&mut self) -> String {
        let mut subscript = || format!("{} + {MIDDLE}", self.affine(2));
        let first = subscript();
        let second = subscript();
        if self.random.chance(60) {
            format!("x[{first}]")
        } else {
            format!("y[{first}, {second}]")
        }
    }

    fn statement(&mut self) {
        let place = self.access();
        let value = match self.random.below(3) {
            0 => "1.0".to_owned(),
            1 => self.access(),
            _ => format!("{} + {}", self.access(), self.access()),
        };
        if self.random.chance(30) {
            let combiner = ["add", "max"][self.random.below(2) as usize];
            let _ = writeln!(self.text, "{place} reduce({combiner}) {value}");
        } else {
            let _ = writeln!(self.text, "{place} = {value}");
        }
    }
}

fn kernel(text: &str) -> Kernel {
    let mut kernels = text::parse(text).unwrap_or_else(|error| panic!("{error:?} in {text}"));
    kernels.pop().expect("a kernel")
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Seen {
    target: Touched,
    kind: AccessKind,
    span: Span,
    cell: Vec<i64>,
    iteration: Vec<(IterId, i64)>,
}

#[derive(Default)]
struct Log(Vec<Seen>);

impl Watch for Log {
    fn touch(&mut self, touch: Touch<'_>) {
        self.0.push(Seen {
            target: touch.to,
            kind: touch.kind,
            span: touch.span,
            cell: touch.cell.to_vec(),
            iteration: touch.iteration.to_vec(),
        });
    }
}

/// What a run with this parameter touches, in its order, if it comes to its end.
fn touches(kernel: &Verified, n: i64) -> Option<Vec<Seen>> {
    let cells = |count: i64| Argument::Array(vec![Value::zero(Type::F64); count as usize]);
    let mut arguments = [
        Argument::Scalar(Value::i64(n)),
        cells(EXTENT),
        cells(EXTENT * EXTENT),
    ];
    let mut log = Log::default();
    let mut fuel = 200_000;
    let end = interpret_watched(kernel, &mut arguments, &mut fuel, &StdMath, &mut log);
    end.ok().map(|_| log.0)
}

/// What the interpreter calls the place of a site.
fn span_of(site: &Site<'_>) -> Span {
    match site.node {
        Some(Node::Assign { span, .. } | Node::Reduce { span, .. }) if site.writes() => *span,
        _ => site.span,
    }
}

fn key(site: &Site<'_>) -> (Touched, AccessKind, Span) {
    let target = match site.target {
        Target::Array(array) => Touched::Array(array),
        Target::Local(local) => Touched::Local(local),
    };
    (target, site.kind, span_of(site))
}

fn covers(component: &Component, difference: i64) -> bool {
    let sign = match component.direction {
        Direction::Less => difference > 0,
        Direction::Equal => difference == 0,
        Direction::Greater => difference < 0,
        Direction::Any => true,
    };
    sign && component.distance.is_none_or(|it| it == difference)
}

struct Checked<'k> {
    text: &'k str,
    dependences: Vec<Dependence>,
    sites: HashMap<(Touched, AccessKind, Span), usize>,
    by_ends: HashMap<(usize, usize), Vec<usize>>,
}

/// A touch and the site that it is of.
type Known<'s> = (usize, &'s Seen);

/// Two sites and how far the iterations of the common loops are from each other.
type Pair = (usize, usize, Vec<i64>);

impl Checked<'_> {
    /// All pairs of touches of one cell, one of them a write.
    fn pairs(&self, touches: &[Seen]) -> HashSet<Pair> {
        let site = |seen: &Seen| self.sites[&(seen.target, seen.kind, seen.span)];
        let mut cells: HashMap<(Touched, &[i64]), Vec<Known<'_>>> = HashMap::new();
        let mut found = HashSet::new();
        for later in touches {
            let sink = site(later);
            let earlier = cells.entry((later.target, &later.cell)).or_default();
            for (source, earlier) in earlier.iter() {
                if earlier.kind == AccessKind::Read && later.kind == AccessKind::Read {
                    continue;
                }
                let pairs = earlier.iteration.iter().zip(&later.iteration);
                let common = pairs.take_while(|(left, right)| left.0 == right.0);
                let differences = common.map(|(left, right)| right.1 - left.1).collect();
                found.insert((*source, sink, differences));
            }
            earlier.push((sink, later));
        }
        found
    }

    fn covered(&self, (source, sink, differences): &Pair) {
        let ends = (*source, *sink);
        let known = self.by_ends.get(&ends).map_or(&[][..], Vec::as_slice);
        let is_covered = known.iter().any(|it| {
            let vector = &self.dependences[*it].vector;
            vector.len() == differences.len()
                && vector
                    .iter()
                    .zip(differences)
                    .all(|(component, it)| covers(component, *it))
        });
        assert!(is_covered, "{ends:?} {differences:?} in {}", self.text);
    }
}

/// Checks one nest, and counts its dependences and those that are not exact.
fn check(seed: u64) -> (usize, usize) {
    let text = Nest::text(seed);
    let kernel = verify(kernel(&text)).unwrap_or_else(|error| panic!("{error:?} in {text}"));
    let analyzed = Analyzed::new(&kernel);
    let dependences = analyzed.dependences();
    let mut by_ends: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    for (position, it) in dependences.iter().enumerate() {
        by_ends
            .entry((it.source, it.sink))
            .or_default()
            .push(position);
    }
    let sites = analyzed.sites().iter().map(|it| (key(it), it.order));
    let checked = Checked {
        text: &text,
        sites: sites.collect(),
        by_ends,
        dependences,
    };
    for n in [2, 3] {
        let Some(touches) = touches(&kernel, n) else {
            continue;
        };
        checked
            .pairs(&touches)
            .iter()
            .for_each(|it| checked.covered(it));
    }
    for dependence in &checked.dependences {
        assert!(!dependence.is_exact || dependence.is_must(), "{text}");
        replay(&kernel, &analyzed, dependence, &text);
    }
    let inexact = checked.dependences.iter().filter(|it| !it.is_exact).count();
    (checked.dependences.len(), inexact)
}

/// Both ends of the witness touch its cell, the source first, in a way that the vector says.
fn replay(kernel: &Verified, analyzed: &Analyzed<'_>, dependence: &Dependence, text: &str) {
    let Some(witness) = &dependence.witness else {
        return;
    };
    let n = witness.parameters[0].1;
    let Some(touches) = (n <= 12).then(|| touches(kernel, n)).flatten() else {
        return;
    };
    let sites = analyzed.sites();
    let in_names = |iteration: &[(IterId, i64)]| -> Vec<(String, i64)> {
        let each = iteration.iter();
        each.map(|(iter, value)| (kernel.iters[*iter].name.clone(), *value))
            .collect()
    };
    let position = |site: usize, iteration: &[(String, i64)]| {
        let (target, kind, span) = key(&sites[site]);
        touches.iter().position(|it| {
            (it.target, it.kind, it.span) == (target, kind, span)
                && in_names(&it.iteration) == iteration
                && it.cell == witness.cell
        })
    };
    let source = position(dependence.source, &witness.source);
    let sink = position(dependence.sink, &witness.sink);
    assert!(
        source.is_some() && source < sink,
        "{witness:?} of {dependence:?} in {text}"
    );
    for (depth, component) in dependence.vector.iter().enumerate() {
        let difference = witness.sink[depth].1 - witness.source[depth].1;
        assert!(
            covers(component, difference),
            "{witness:?} of {dependence:?} in {text}"
        );
    }
}

/// Of some nests none is missed and few are open.
#[expect(clippy::print_stdout, reason = "how much stays open is to be seen")]
fn check_all(seeds: std::ops::Range<u64>) {
    let (mut all, mut inexact) = (0, 0);
    let (mut conditional, mut slanted) = (0, 0);
    for seed in seeds.clone() {
        let (found, open) = check(seed);
        all += found;
        inexact += open;
        let text = Nest::text(seed);
        conditional += usize::from(text.contains("affine.if"));
        slanted += usize::from(is_slanted(&text));
    }
    println!("{inexact} of {all} dependences are not exact");
    assert!(
        inexact * 50 <= all,
        "{inexact} of {all} dependences are not exact"
    );
    let count = seeds.end - seeds.start;
    assert!(conditional as u64 * 10 >= count * 3, "{conditional}");
    assert!(slanted as u64 * 3 >= count, "{slanted}");
}

/// Whether a bound mentions another iterator.
fn is_slanted(text: &str) -> bool {
    let headers = text.lines().filter_map(|it| it.split_once("affine.for "));
    let mut bounds = headers.filter_map(|(_, it)| it.split_once(" in "));
    bounds.any(|(_, bounds)| {
        let words = bounds.split(|it: char| !it.is_alphanumeric());
        words
            .into_iter()
            .any(|it| it.starts_with('i') && it.ends_with(|it: char| it.is_ascii_digit()))
    })
}

/// So many nests, unless `STREW_NESTS` in the environment says how many.
const COUNT: u64 = 150;

fn count() -> u64 {
    let count = std::env::var("STREW_NESTS").ok();
    count.and_then(|it| it.parse().ok()).unwrap_or(COUNT)
}

#[test]
fn no_dependence_of_a_nest_is_missed_and_every_witness_happens() {
    check_all(0..count());
}

#[test]
fn nor_of_others() {
    check_all(1_000_000..1_000_000 + count());
}
