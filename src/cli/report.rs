//! What `--json` prints. The keys are stable; more may be added.

use crate::cli::decimal::readable;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use strew::{
    Costs, Diagnostics, Fault, FaultKind, Gathered, Mode, Refused, Report, Sample, Type, Value,
    Witness,
};

/// One run.
#[derive(Debug, Serialize)]
pub(crate) struct RunReport {
    pub(crate) kernel: String,
    pub(crate) mode: &'static str,
    pub(crate) threads: Option<usize>,
    /// What it ran under.
    pub(crate) schedule: Vec<String>,
    /// Why that is not the schedule that was asked for or found, where it is not.
    pub(crate) dropped: Option<String>,
    pub(crate) strategy: Option<&'static str>,
    /// How updates were combined.
    pub(crate) body: Option<&'static str>,
    pub(crate) why: Option<String>,
    pub(crate) saw: Option<SawReport>,
    /// The sizes that the code was made for, if it was for these alone.
    pub(crate) sizes: BTreeMap<String, i64>,
    pub(crate) predicted_ns: BTreeMap<&'static str, u64>,
    pub(crate) seconds: Option<Seconds>,
    pub(crate) repeats: Vec<f64>,
    pub(crate) updates: Option<u64>,
    /// How many statements did nothing because of an index out of range.
    pub(crate) skipped: Option<u64>,
    pub(crate) private_bytes: Option<u64>,
    pub(crate) returned: Option<ValueReport>,
    pub(crate) outputs: Vec<OutputReport>,
    pub(crate) fault: Option<FaultReport>,
}

/// What was seen of the keys.
#[derive(Debug, Serialize)]
pub(crate) struct SawReport {
    /// How many updates were looked at.
    updates: u64,
    /// The share of them that go to the element of the one before.
    repeated: f64,
    /// The share of them that go to another one after another number of updates than the time
    /// before.
    unforeseen: f64,
    /// Cache lines for each of them.
    scattered: f64,
    /// The share of them that leave the cache lines around those before for others.
    leaps: f64,
    /// In so many elements lie those of one place.
    span: u64,
    /// The same for all places together.
    reach: u64,
    /// To how many elements all of them go.
    elements: u64,
    /// Whether some elements get far more of them than others.
    skewed: bool,
    rises: bool,
    advances: bool,
    /// How many cache lines all iterations wait for where they read by keys.
    waits: u64,
    /// The bytes of the arrays that are read anywhere alike.
    gathered: u64,
}

impl SawReport {
    fn new(sample: Sample, gathered: Gathered) -> Self {
        Self {
            waits: gathered.waits,
            gathered: gathered.bytes,
            updates: sample.updates,
            repeated: sample.repeated,
            unforeseen: sample.unforeseen,
            scattered: sample.scattered,
            leaps: sample.leaps,
            span: sample.span,
            reach: sample.reach,
            elements: sample.elements,
            skewed: sample.is_skewed,
            rises: sample.rises,
            advances: sample.advances,
        }
    }
}

/// A scalar. JSON has no number for infinities and NaN, which are strings.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ValueReport {
    Bool(bool),
    Integer(i128),
    /// An `f32` has fewer digits than the `f64` of the same value.
    Single(f32),
    Double(f64),
    Special(String),
}

impl From<Value> for ValueReport {
    fn from(value: Value) -> Self {
        match (value.ty(), value.as_integer(), value.as_float()) {
            (Type::Bool, ..) => Self::Bool(value.bits() != 0),
            (_, Some(integer), _) => Self::Integer(integer),
            (_, None, Some(float)) if !float.is_finite() => Self::Special(float.to_string()),
            (Type::F32, None, Some(float)) => Self::Single(float as f32),
            (_, None, float) => Self::Double(float.unwrap_or_default()),
        }
    }
}

impl fmt::Display for ValueReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Single(value) => f.write_str(&readable(value)),
            Self::Double(value) => f.write_str(&readable(value)),
            Self::Special(value) => value.fmt(f),
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Seconds {
    pub(crate) compile: f64,
    pub(crate) prepare: f64,
    pub(crate) main: f64,
    pub(crate) merge: f64,
    pub(crate) total: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct OutputReport {
    pub(crate) name: String,
    pub(crate) shape: Vec<u64>,
    #[serde(rename = "type")]
    pub(crate) ty: String,
    pub(crate) path: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct FaultReport {
    kind: &'static str,
    line: usize,
    column: usize,
    array: Option<String>,
    index: Option<i128>,
    extent: Option<i64>,
    iteration: Vec<i64>,
}

/// What each strategy was expected to take, in nanoseconds.
pub(crate) fn predicted(costs: Costs) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("serial", costs.serial),
        ("dense", costs.dense),
        ("blocked", costs.blocked),
        ("atomic", costs.atomic),
        ("apart", costs.apart),
        ("colored", costs.apart),
        ("binned", costs.binned),
        ("planned", costs.planned),
        ("columns", costs.columns),
        ("rows", costs.rows),
    ])
}

impl RunReport {
    /// What is known of `kernel` without any call of it having ended.
    pub(crate) fn new(kernel: &strew::Kernel, mode: Mode) -> Self {
        let steps = kernel.compiled().steps().steps();
        Self {
            kernel: kernel.name().to_owned(),
            mode: mode_name(mode),
            threads: None,
            schedule: steps.iter().map(ToString::to_string).collect(),
            dropped: None,
            strategy: None,
            body: None,
            why: None,
            saw: None,
            sizes: BTreeMap::new(),
            predicted_ns: BTreeMap::new(),
            seconds: None,
            repeats: Vec::new(),
            updates: None,
            skipped: None,
            private_bytes: None,
            returned: None,
            outputs: Vec::new(),
            fault: None,
        }
    }

    /// Adds what a call said of itself; `compile` is the time from source text to callable code.
    pub(crate) fn add(&mut self, report: &Report, compile: Duration) {
        let record = &report.record;
        self.schedule.clone_from(&report.schedule);
        self.dropped.clone_from(&report.dropped);
        self.threads = Some(record.threads);
        self.strategy = Some(record.strategy);
        self.body = Some(record.body.name());
        self.why = Some(report.why());
        self.saw = record.sample.map(|it| SawReport::new(it, record.gathered));
        self.sizes = report.sizes.iter().cloned().collect();
        self.predicted_ns = record.costs.map(predicted).unwrap_or_default();
        self.updates = Some(record.updates);
        self.skipped = Some(record.skipped);
        self.private_bytes = Some(record.private_bytes);
        self.returned = report.returned.map(ValueReport::from);
        self.repeats.push(record.total.as_secs_f64());
        // The first call warms caches and buffers, the last is like those that follow it.
        self.seconds = Some(Seconds {
            compile: compile.as_secs_f64(),
            prepare: record.prepare.as_secs_f64(),
            main: record.main.as_secs_f64(),
            merge: record.merge.as_secs_f64(),
            total: record.total.as_secs_f64(),
        });
    }
}

impl From<&Fault> for FaultReport {
    fn from(fault: &Fault) -> Self {
        let position = fault.position();
        let (kind, array, index, extent) = match fault.kind() {
            FaultKind::OutOfRange {
                array,
                index,
                extent,
            } => (
                "out_of_range",
                Some(array.clone()),
                Some(*index),
                Some(*extent),
            ),
            FaultKind::DivisionByZero => ("division_by_zero", None, None, None),
            FaultKind::Met { array, element } => (
                "disjoint",
                Some(array.clone()),
                Some((*element).into()),
                None,
            ),
            FaultKind::Combiner(_) => ("combiner", None, None, None),
            FaultKind::Assumption { .. } => ("assumption", None, None, None),
        };
        Self {
            kind,
            line: position.line,
            column: position.column,
            array,
            index,
            extent,
            iteration: fault.iteration().iter().map(|(_, value)| *value).collect(),
        }
    }
}

/// The name of `mode` on the command line.
pub(crate) fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Fast => "fast",
        Mode::Stable => "stable",
        Mode::Exact => "exact",
    }
}

#[derive(Serialize)]
struct DiagnosticReport<'a> {
    severity: String,
    code: &'a str,
    message: &'a str,
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    help: Option<&'a str>,
}

/// The diagnostics as JSON.
pub(crate) fn diagnostics(diagnostics: &Diagnostics) -> String {
    let source = diagnostics.source();
    let rows = diagnostics.list().iter().map(|it| {
        let start = it.span.map(|span| source.start(span));
        let end = it.span.map(|span| source.end(span));
        DiagnosticReport {
            severity: it.severity.to_string(),
            code: &it.code,
            message: &it.message,
            file: source.name(),
            line: start.map(|it| it.line),
            column: start.map(|it| it.column),
            end_line: end.map(|it| it.line),
            end_column: end.map(|it| it.column),
            help: it.help.as_deref(),
        }
    });
    json(&rows.collect::<Vec<_>>())
}

/// A step that was declined.
#[derive(Serialize)]
pub(crate) struct RefusalReport<'a> {
    step: String,
    verdict: String,
    reason: &'a str,
    message: String,
    witness: Option<WitnessReport<'a>>,
    #[serde(rename = "try")]
    try_next: Option<String>,
}

#[derive(Serialize)]
struct WitnessReport<'a> {
    parameters: BTreeMap<&'a str, i64>,
    source: Vec<i64>,
    sink: Vec<i64>,
    array: &'a str,
    cell: &'a [i64],
}

/// A step that was declined, as JSON.
pub(crate) fn refusal(refused: &Refused) -> String {
    json(&RefusalReport::from(refused))
}

impl<'a> From<&'a Refused> for RefusalReport<'a> {
    fn from(refused: &'a Refused) -> Self {
        let Refused { step, reason, .. } = refused;
        Self {
            step: step.to_string(),
            verdict: reason.verdict().to_string(),
            reason: reason.name(),
            message: reason.to_string(),
            witness: reason.witness().map(witness),
            try_next: refused.try_next(),
        }
    }
}

fn witness(witness: &Witness) -> WitnessReport<'_> {
    let values = |iteration: &[(String, i64)]| iteration.iter().map(|(_, value)| *value).collect();
    WitnessReport {
        parameters: witness
            .parameters
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect(),
        source: values(&witness.source),
        sink: values(&witness.sink),
        array: &witness.array,
        cell: &witness.cell,
    }
}

/// `value` as JSON in one line.
pub(crate) fn json(value: &impl Serialize) -> String {
    // Maps with text keys, numbers, lists: none of them can fail, and an empty object says that one
    // did.
    let text = serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned());
    text + "\n"
}
