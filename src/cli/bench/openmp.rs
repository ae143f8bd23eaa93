//! How OpenMP would run a C kernel in parallel: `#pragma omp` lines for a source that has none.
//!
//! Outermost first, a loop whose iterations may run at once gets `parallel for`. What they update
//! alike becomes a reduction, each thread with a copy of its own, or updates of single elements
//! become atomic where copies would be large.

use crate::cli::job::Data;
use std::collections::BTreeMap;
use strew::Kernel;
use strew::ir::dependence::{Analyzed, LoopVerdict, Parallelism, Privacy, Target};
use strew::ir::visit::{Loop, walk};
use strew::ir::{ArrayId, Kernel as Ir, Node};

/// Arrays with more bytes are updated in place: a copy for each thread would take longer than to
/// wait for each other.
const MOST_COPIED: u64 = 16 << 20;

/// Why OpenMP cannot run a loop in parallel.
type Reason = String;

/// The source of `kernel` with such lines, which have those of OpenMP's reductions.
///
/// # Errors
/// Why no loop gets one.
pub(super) fn with_pragmas(kernel: &Kernel, data: &Data) -> Result<String, Reason> {
    let compiled = kernel.compiled();
    let text = compiled.source().text();
    let ir = compiled.parsed().kernel();
    let analyzed = Analyzed::new(ir);
    let verdicts = analyzed.verdicts(&analyzed.dependences());
    let writer = Writer {
        ir,
        data,
        text,
        analyzed,
    };
    let mut lines = BTreeMap::new();
    let mut reasons = Vec::new();
    // Loops inside of one that runs in parallel come behind it, and are deeper.
    let mut inside_of = None;
    for verdict in &verdicts {
        if inside_of.is_some_and(|depth| verdict.depth > depth) {
            continue;
        }
        inside_of = None;
        match writer.lines(verdict) {
            Ok(found) => {
                lines.extend(found);
                inside_of = Some(verdict.depth);
            }
            Err(reason) => reasons.push(reason),
        }
    }
    match (lines.is_empty(), reasons.into_iter().next()) {
        (false, _) => Ok(inserted(text, &lines)),
        (true, Some(reason)) => Err(reason),
        (true, None) => Err("the kernel has no loop".to_owned()),
    }
}

/// `text` with each of `lines` on a line of its own before the byte at its position.
fn inserted(text: &str, lines: &BTreeMap<usize, String>) -> String {
    let mut all = text.to_owned();
    for (at, line) in lines.iter().rev() {
        all.insert_str(*at, &format!("\n#pragma omp {line}\n"));
    }
    all
}

struct Writer<'w> {
    ir: &'w Ir,
    data: &'w Data,
    text: &'w str,
    analyzed: Analyzed<'w>,
}

impl Writer<'_> {
    /// What stands where, so that the loop runs in parallel.
    fn lines(&self, verdict: &LoopVerdict<'_>) -> Result<BTreeMap<usize, String>, Reason> {
        let iter = verdict.level.iter();
        let iter = iter.ok_or("a `while` has no counterpart in OpenMP")?;
        let name = &self.ir.iters[iter].name;
        let updated = match &verdict.parallelism {
            Parallelism::Yes | Parallelism::Marks(_) | Parallelism::IfMonotone(_) => &[],
            Parallelism::Reduction(targets) => targets.as_slice(),
            Parallelism::No(_) | Parallelism::MarksIf(_) | Parallelism::Tickets(_) => {
                return Err(format!("iterations of `{name}` cannot run at once"));
            }
        };
        let at = self.ir.iters[iter].span.start as usize;
        let at = start_of_for(self.text, at);
        let at = at.ok_or_else(|| format!("`{name}` is the iterator of no `for`"))?;
        let body = body_of(self.ir, verdict);
        let mut clauses = vec!["parallel for".to_owned()];
        let mut lines = BTreeMap::new();
        for target in updated {
            match self.updates(*target, body)? {
                Updates::Copied(clause) => clauses.push(clause),
                Updates::InPlace(places) => {
                    lines.extend(places.into_iter().map(|at| (at, "atomic".to_owned())));
                }
            }
        }
        clauses.extend(self.private(verdict, body));
        lines.insert(at, clauses.join(" "));
        Ok(lines)
    }

    /// How the updates of `target` in `body` do not get into each other's way.
    fn updates(&self, target: Target, body: &[Node]) -> Result<Updates, Reason> {
        let name = target.name(self.ir);
        let mut operators = Vec::new();
        let mut places = Vec::new();
        walk(body, &mut |node, _| {
            if let Node::Reduce { combiner, span, .. } = node
                && node.places().iter().any(|it| Target::from(it) == target)
            {
                let is_pair = node.places().len() > 1;
                operators.push((combiner.name().to_owned(), is_pair));
                places.push(span.start as usize);
            }
        });
        operators.dedup();
        let [(combiner, is_pair)] = operators.as_slice() else {
            return Err(format!("`{name}` is updated in several ways"));
        };
        let operator = operator(combiner).filter(|_| !is_pair);
        let operator = operator.ok_or_else(|| {
            format!("`{name}` is updated by `{combiner}`, which OpenMP has no reduction for")
        })?;
        let Target::Array(array) = target else {
            return Ok(Updates::Copied(format!("reduction({operator}: {name})")));
        };
        let bytes = self.data.original(name).map_or(0, |it| it.values.bytes());
        let is_minimum = matches!(operator, "min" | "max");
        if bytes <= MOST_COPIED {
            let section = self.section(array);
            return Ok(Updates::Copied(format!("reduction({operator}: {section})")));
        }
        match is_minimum {
            false => Ok(Updates::InPlace(places)),
            true => Err(format!(
                "`{name}` is too large for a copy in each thread, and OpenMP has no atomic `{combiner}`"
            )),
        }
    }

    /// All elements of `array`.
    fn section(&self, array: ArrayId) -> String {
        let name = &self.ir.arrays[array].name;
        let extents = self.data.sizes.extents(name).unwrap_or_default();
        let extents = extents.iter().map(|it| format!("[0:{it}]"));
        format!("{name}{}", extents.collect::<String>())
    }

    /// The clause for what is declared before the loop, and of which each iteration can have its
    /// own.
    fn private(&self, verdict: &LoopVerdict<'_>, body: &[Node]) -> Option<String> {
        let mut targets = Vec::new();
        walk(body, &mut |node, _| {
            for target in node.places().iter().map(Target::from) {
                let privacy = self.analyzed.privacy(verdict.level, verdict.depth, target);
                if privacy == Privacy::Private && !targets.contains(&target) {
                    targets.push(target);
                }
            }
        });
        let names: Vec<_> = targets.iter().map(|it| it.name(self.ir)).collect();
        (!names.is_empty()).then(|| format!("private({})", names.join(", ")))
    }
}

/// How updates from several threads are kept apart.
enum Updates {
    /// By a clause.
    Copied(String),
    /// One by one, each where its statement begins.
    InPlace(Vec<usize>),
}

/// The body of the loop of `verdict`.
fn body_of<'k>(ir: &'k Ir, verdict: &LoopVerdict<'_>) -> &'k [Node] {
    let mut body: &[Node] = &[];
    walk(&ir.body, &mut |node, _| {
        let is_it = Loop::of(node).is_some_and(|it| Some(it.iter()) == verdict.level.iter());
        if let (true, Node::AffineFor(it)) = (is_it, node) {
            body = &it.body;
        }
        if let (true, Node::ScfFor(it)) = (is_it, node) {
            body = &it.body;
        }
    });
    body
}

/// What OpenMP calls a combiner that C has an operator for.
fn operator(combiner: &str) -> Option<&'static str> {
    Some(match combiner {
        "add" => "+",
        "mul" => "*",
        "and" => "&",
        "or" => "|",
        "xor" => "^",
        "min" | "fmin" | "min_last" | "fmin_first" => "min",
        "max" | "fmax" | "max_last" | "fmax_first" => "max",
        _ => return None,
    })
}

/// Where the `for` begins whose iterator is declared or set at `iterator`.
fn start_of_for(text: &str, iterator: usize) -> Option<usize> {
    // The span of a loop begins there, that of an iterator behind it.
    if text.get(iterator..)?.starts_with("for") {
        return Some(iterator);
    }
    let at = text.get(..iterator)?.rfind("for")?;
    let head = text.get(at + 3..iterator)?;
    let is_head = |it: char| it.is_alphanumeric() || "_( \t\n\r".contains(it);
    head.chars().all(is_head).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_for_of_an_iterator_is_found() {
        let text = "for (int64_t i = 0; i < n; i++) x[i] = 0; i = 0; while (i < n) i++;";
        assert_eq!(start_of_for(text, 13), Some(0));
        assert_eq!(start_of_for(text, 0), Some(0));
        assert_eq!(start_of_for(text, 43), None);
        let second = "/* for nothing */ for (i = 0;;)";
        assert_eq!(start_of_for(second, 18), Some(18));
        assert_eq!(start_of_for(second, 23), Some(18));
        assert_eq!(start_of_for(text, 1000), None);
    }

    #[test]
    fn lines_stand_before_what_they_are_about() {
        let lines = BTreeMap::from([(0, "a".to_owned()), (4, "b".to_owned())]);
        let text = inserted("for x", &lines);
        assert_eq!(text, "\n#pragma omp a\nfor \n#pragma omp b\nx");
    }
}
