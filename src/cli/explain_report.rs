//! What `strew explain --json` prints. The keys are stable; more may be added.

use crate::cli::failure::Failure;
use crate::cli::report::{RefusalReport, RunReport};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use strew::ir::dependence::{
    Analyzed, Dependence, DependenceKind, Level, LoopVerdict, Privacy, Site, Target, Witness,
};
use strew::ir::visit::{AccessKind, Loop, walk};
use strew::ir::{IterId, Kernel, Node, Place};
use strew::transforms::Choice;
use strew::{
    Busy, Error, Event, Mode, Observer, Parsed, ParsedKernel, Plan, Refusal, Schedule, Scheduled,
    Source, Span, Step,
};

mod verdict;

use verdict::{RowsApart, where_rows_are_apart};

#[derive(Debug, Serialize)]
pub(crate) struct KernelReport {
    pub(crate) kernel: String,
    pub(crate) loops: Vec<LoopReport>,
    pub(crate) privates: Vec<PrivateReport>,
    pub(crate) dependences: Vec<DependenceReport>,
    pub(crate) accesses: Vec<AccessReport>,
    #[serde(serialize_with = "in_words")]
    pub(crate) schedule: Schedule,
    /// Why the schedule is what it is, and what was tried besides.
    pub(crate) why: Vec<String>,
    /// A step that the source or the flags ask for and that is declined; the schedule ends before
    /// it.
    #[serde(
        rename = "refused",
        skip_serializing_if = "Option::is_none",
        serialize_with = "as_object"
    )]
    pub(crate) refusal: Option<Refusal>,
    /// What happened on the data, if it was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<Measured>,
}

fn in_words<S: Serializer>(schedule: &Schedule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(schedule.steps().iter().map(ToString::to_string))
}

fn as_object<S: Serializer>(refusal: &Option<Refusal>, serializer: S) -> Result<S::Ok, S::Error> {
    let refused = refusal.as_ref().map(|it| &*it.refused);
    refused.map(RefusalReport::from).serialize(serializer)
}

/// A run, for programs and for people.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    #[serde(flatten)]
    pub(crate) run: RunReport,
    #[serde(skip)]
    pub(crate) lines: Vec<(&'static str, String)>,
    /// When each thread that took part was at work, since the call began.
    #[serde(skip)]
    pub(crate) lanes: Vec<Vec<Busy>>,
}

/// Whether iterations of a loop can have a scalar or a local array of their own.
#[derive(Debug, Serialize)]
pub(crate) struct PrivateReport {
    pub(crate) variable: String,
    /// The loop by its iterator; a `while` without one by its line, as in what carries a
    /// dependence.
    #[serde(rename = "loop")]
    pub(crate) in_loop: String,
    /// Its iterator, if it has one.
    #[serde(skip)]
    pub(crate) name: Option<String>,
    pub(crate) line: usize,
    pub(crate) private: bool,
    pub(crate) reason: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct LoopReport {
    /// `None` for a `while` without an iterator.
    pub(crate) name: Option<String>,
    pub(crate) line: usize,
    pub(crate) depth: usize,
    /// `yes`, `reduction` or `no`.
    pub(crate) parallel: &'static str,
    pub(crate) reason: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct DependenceReport {
    pub(crate) kind: String,
    pub(crate) array: String,
    pub(crate) source_line: usize,
    pub(crate) sink_line: usize,
    pub(crate) direction: Vec<&'static str>,
    pub(crate) distance: Vec<Option<i64>>,
    pub(crate) carried_by: Option<String>,
    pub(crate) must: bool,
    /// Whether both ends are updates that may be regrouped.
    pub(crate) reduction: bool,
    /// Whether the direction says all there is to say.
    pub(crate) exact: bool,
    /// Two iterations that meet.
    pub(crate) example: Option<String>,
    /// Row pointers that rule it out when they never fall.
    pub(crate) unless_monotone: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct AccessReport {
    pub(crate) array: String,
    pub(crate) line: usize,
    pub(crate) kind: &'static str,
    pub(crate) map: Option<String>,
    pub(crate) runtime: Vec<RuntimeReport>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RuntimeReport {
    pub(crate) name: String,
    pub(crate) array: Option<String>,
    pub(crate) map: Option<String>,
}

/// A kernel under a schedule, and the time that it took to find and to apply that.
pub(crate) type Made = (Scheduled, Duration);

impl KernelReport {
    /// Everything that is known of a kernel, and what `plan` makes of it unless that is declined.
    pub(crate) fn of(
        parsed: &Parsed,
        kernel: &ParsedKernel,
        plan: &Plan,
        mode: Mode,
    ) -> Result<(Self, Option<Made>), Failure> {
        let analyzed = Analyzed::new(kernel.kernel());
        let dependences = analyzed.dependences();
        let reporter = Reporter {
            source: parsed.source(),
            parsed: kernel,
            kernel: kernel.kernel(),
            analyzed: &analyzed,
            dependences: &dependences,
            mode,
            where_rows_are_apart: where_rows_are_apart(kernel.kernel()),
        };
        let mut choices = Choices {
            mode,
            regrouped: BTreeSet::new(),
            why: Vec::new(),
            accepted: Vec::new(),
        };
        let started = Instant::now();
        let (scheduled, refusal) = match kernel.schedule(plan, &mut choices) {
            Ok(scheduled) => (Some((scheduled, started.elapsed())), None),
            Err(Error::Refused(refusal)) => (None, Some(refusal)),
            Err(error) => return Err(error.into()),
        };
        let schedule = match &scheduled {
            Some((scheduled, _)) => scheduled.steps().clone(),
            None => choices.accepted.into_iter().collect(),
        };
        let report = Self {
            kernel: kernel.kernel().name.clone(),
            loops: reporter.loops(),
            privates: reporter.privates(),
            run: None,
            dependences: reporter.dependences(),
            accesses: reporter.accesses(),
            schedule,
            refusal,
            why: choices.why,
        };
        Ok((report, scheduled))
    }
}

/// What the automatic schedule says of itself, each once.
struct Choices {
    mode: Mode,
    /// What the last step lets be added up in another order, in modes that allow it.
    regrouped: BTreeSet<Regrouped>,
    why: Vec<String>,
    /// Steps that were taken, also those of schedules that were only tried.
    accepted: Vec<Step>,
}

impl Observer for Choices {
    fn observe(&mut self, event: Event<'_>) {
        match event {
            Event::Applied {
                step,
                before,
                after,
                ..
            } => {
                self.accepted.push(step.clone());
                self.regrouped = &regrouped(after) - &regrouped(before);
            }
            Event::Chosen { choice } => {
                let text = self.in_mode(choice);
                if !self.why.contains(&text) {
                    self.why.push(text);
                }
            }
            Event::Started { .. } | Event::Refused { .. } => {}
        }
    }
}

impl Choices {
    fn in_mode(&self, choice: &Choice) -> String {
        let names: BTreeSet<&str> = self
            .regrouped
            .iter()
            .map(|it| it.updated.as_str())
            .collect();
        let updates = matches!(
            choice,
            Choice::Sums { .. } | Choice::Scattered { .. } | Choice::Inside { .. }
        );
        if self.mode != Mode::Exact || names.is_empty() || !updates {
            return choice.to_string();
        }
        let names: Vec<&str> = names.into_iter().collect();
        let names = names.join(", ");
        format!("{choice}; in mode exact only where the updates of {names} keep their order")
    }
}

/// Updates in a loop that a schedule lets round in another way than the loop as it is written.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone)]
struct Regrouped {
    in_loop: IterId,
    /// The name of what is updated.
    updated: String,
}

/// All such updates in `kernel`: in private copies, and in lanes.
fn regrouped(kernel: &Kernel) -> BTreeSet<Regrouped> {
    let mut found = BTreeSet::new();
    walk(&kernel.body, &mut |node, _| match Loop::of(node) {
        Some(Loop::Forall(forall)) => {
            let privates = forall.privates.iter();
            let rounded = privates.filter(|it| !it.combiner.is_exact(&it.types(kernel)));
            let targets = rounded.flat_map(|it| &it.targets);
            found.extend(targets.map(|it| Regrouped {
                in_loop: forall.iter,
                updated: kernel.arrays[*it].name.clone(),
            }));
        }
        Some(target) if target.lanes() > 1 => {
            let body = target.body().iter();
            let rounded = body.filter_map(|it| rounded_scalar(kernel, it));
            found.extend(rounded.map(|updated| Regrouped {
                in_loop: target.iter(),
                updated,
            }));
        }
        _ => {}
    });
    found
}

/// The scalar that `node` updates, if that rounds.
fn rounded_scalar(kernel: &Kernel, node: &Node) -> Option<String> {
    let Node::Reduce { combiner, .. } = node else {
        return None;
    };
    let [Place::Local(local)] = node.places() else {
        return None;
    };
    let local = &kernel.locals[*local];
    (!combiner.is_exact(&[local.ty])).then(|| local.name.clone())
}

struct Reporter<'r, 'k> {
    parsed: &'r ParsedKernel,
    source: &'r Source,
    kernel: &'k Kernel,
    analyzed: &'r Analyzed<'k>,
    dependences: &'r [Dependence],
    mode: Mode,
    where_rows_are_apart: Option<RowsApart>,
}

impl<'k> Reporter<'_, 'k> {
    fn line(&self, span: Span) -> usize {
        self.source.start(span).line
    }

    fn line_of(&self, site: usize) -> usize {
        let site = self.analyzed.sites().get(site);
        site.map_or(0, |it| self.line(it.span))
    }

    fn name(&self, level: Level<'_>) -> Option<String> {
        level
            .iter()
            .map(|it| self.parsed.written_name(it).to_owned())
    }

    /// Its iterator; a `while`, which has none, is told by its line.
    fn loop_called(&self, level: Level<'_>) -> String {
        let name = self.name(level);
        name.unwrap_or_else(|| format!("while (line {})", self.line_of_loop(level)))
    }

    fn target(&self, dependence: &Dependence) -> Option<Target> {
        let site = self.analyzed.sites().get(dependence.source);
        site.map(|it| it.target)
    }

    fn loops(&self) -> Vec<LoopReport> {
        let verdicts = self.analyzed.verdicts(self.dependences);
        let verdicts = verdicts.iter().enumerate();
        verdicts.map(|(at, it)| self.of_loop(at, it)).collect()
    }

    fn of_loop(&self, position: usize, verdict: &LoopVerdict<'k>) -> LoopReport {
        let (parallel, reason) = self.verdict(position, &verdict.parallelism);
        LoopReport {
            name: self.name(verdict.level),
            line: self.line_of_loop(verdict.level),
            depth: verdict.depth,
            parallel,
            reason,
        }
    }

    /// What each loop writes of what is declared around it, and neither a parameter nor set once.
    fn privates(&self) -> Vec<PrivateReport> {
        let verdicts = self.analyzed.verdicts(self.dependences);
        let mut reports = Vec::new();
        for verdict in &verdicts {
            let is_inside = |site: &&Site<'k>| {
                let around = site.levels().nth(verdict.depth);
                site.writes() && around.is_some_and(|it| it.is_same(verdict.level))
            };
            let written = self.analyzed.sites().iter().filter(is_inside);
            let written: BTreeSet<Target> = written.map(|it| it.target).collect();
            let privates = written.into_iter();
            reports.extend(privates.filter_map(|it| self.of_private(verdict, it)));
        }
        reports
    }

    fn of_private(&self, verdict: &LoopVerdict<'k>, target: Target) -> Option<PrivateReport> {
        let privacy = self.analyzed.privacy(verdict.level, verdict.depth, target);
        let reason = match privacy {
            Privacy::Own | Privacy::IsParameter { .. } => return None,
            Privacy::Private => "each iteration can have its own".to_owned(),
            Privacy::ReadsOlder(site) => format!(
                "not private, because line {} may read what another iteration or what came before left",
                self.line_of(site)
            ),
            Privacy::ReadBehind(site) => format!(
                "not private, because line {} behind the loop may read what the last iteration leaves",
                self.line_of(site)
            ),
        };
        Some(PrivateReport {
            variable: target.name(self.kernel).to_owned(),
            in_loop: self.loop_called(verdict.level),
            name: self.name(verdict.level),
            line: self.line_of_loop(verdict.level),
            private: privacy == Privacy::Private,
            reason,
        })
    }

    fn line_of_loop(&self, level: Level<'_>) -> usize {
        self.line(level.span(self.kernel))
    }

    /// `for example i = 0 and i = 1 meet in x[3] with n = 4`
    fn example(witness: &Witness) -> String {
        let assigned = |values: &[(String, i64)]| -> Vec<String> {
            let each = values.iter();
            each.map(|(name, value)| format!("{name} = {value}"))
                .collect()
        };
        let values = |end: &[(String, i64)]| -> String {
            let each = assigned(end);
            if each.is_empty() {
                "the kernel".to_owned()
            } else {
                format!("({})", each.join(", "))
            }
        };
        let target = &witness.array;
        let cell: String = witness.cell.iter().map(|it| format!("[{it}]")).collect();
        let parameters = assigned(&witness.parameters);
        let with = if parameters.is_empty() {
            String::new()
        } else {
            format!(" with {}", parameters.join(", "))
        };
        format!(
            "for example {} and {} meet in {target}{cell}{with}",
            values(&witness.source),
            values(&witness.sink)
        )
    }

    fn dependences(&self) -> Vec<DependenceReport> {
        let shown = self.dependences.iter().filter(|it| {
            it.kind != DependenceKind::Input
                && self.target(it).is_some_and(|target| match target {
                    Target::Array(_) => true,
                    Target::Local(local) => self.kernel.locals[local].mutable,
                })
        });
        shown.map(|it| self.of_dependence(it)).collect()
    }

    fn of_dependence(&self, dependence: &Dependence) -> DependenceReport {
        let levels = self.analyzed.common_levels(dependence);
        let carried = dependence.carried_level();
        let carried = carried.and_then(|it| levels.get(it));
        let target = self.target(dependence);
        let example = dependence.witness.as_ref();
        DependenceReport {
            kind: dependence.kind.to_string(),
            array: target.map_or("?", |it| it.name(self.kernel)).to_owned(),
            source_line: self.line_of(dependence.source),
            sink_line: self.line_of(dependence.sink),
            direction: dependence
                .vector
                .iter()
                .map(|it| it.direction.symbol())
                .collect(),
            distance: dependence.vector.iter().map(|it| it.distance).collect(),
            carried_by: carried.map(|it| self.loop_called(*it)),
            must: dependence.is_must(),
            reduction: dependence.is_reduction,
            exact: dependence.is_exact,
            example: example.map(Self::example),
            unless_monotone: dependence
                .unless_monotone
                .iter()
                .map(|it| self.kernel.arrays[*it].name.clone())
                .collect(),
        }
    }

    fn accesses(&self) -> Vec<AccessReport> {
        let arrays = self.analyzed.sites().iter();
        let arrays = arrays.filter(|it| matches!(it.target, Target::Array(_)));
        arrays.map(|it| self.of_access(it)).collect()
    }

    fn of_access(&self, site: &Site<'k>) -> AccessReport {
        let map = self.analyzed.access_map(site);
        let runtime = map.iter().flat_map(|it| &it.runtime);
        let runtime = runtime.map(|it| RuntimeReport {
            name: it.name.clone(),
            array: it.array.map(|array| self.kernel.arrays[array].name.clone()),
            map: it.map.clone(),
        });
        AccessReport {
            array: site.target.name(self.kernel).to_owned(),
            line: self.line(site.span),
            kind: match site.kind {
                AccessKind::Read => "read",
                AccessKind::Write => "write",
                AccessKind::Reduce => "reduce",
            },
            runtime: runtime.collect(),
            map: map.map(|it| it.map),
        }
    }
}
