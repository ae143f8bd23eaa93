//! The engines, and the check that they agree.

use crate::data::{
    Data, Elements, Outcome, Passed, RESULT, is_close, is_same, passed, with_elements,
};
use std::collections::BTreeMap;
use strew::ir::interpret::{self, Argument, ForallOrder, Stop};
use strew::ir::verify::verify;
use strew::ir::{Kernel, Value};
use strew::{
    ArgumentKind, Body, ElementType, Error, FaultKind, Mode, Oob, ParsedKernel, Plan, PlatformMath,
    RecordLayout, Records, Schedule, parse_schedule,
};

const FUEL: u64 = 100_000_000;

/// The threads that parallel code is run with.
const THREADS: [usize; 4] = [1, 2, 4, 8];

/// What the interpreter makes of `kernel`.
pub(crate) fn interpreted(kernel: &Kernel, data: &Data, order: ForallOrder) -> Outcome {
    interpreted_within(kernel, data, order, FUEL).expect("the kernel ends")
}

/// The same, unless it takes more than `fuel` or calculates with places beyond 64 bits.
pub(crate) fn interpreted_within(
    kernel: &Kernel,
    data: &Data,
    order: ForallOrder,
    fuel: u64,
) -> Option<Outcome> {
    let verified = verify(kernel.clone()).expect("a verified kernel");
    let mut arguments = interpreter_arguments(kernel, data);
    let outcome = interpret::interpret(&verified, &mut arguments, fuel, order, &PlatformMath);
    outcome_of(kernel, data, outcome, arguments)
}

/// What the interpreter makes of `kernel` where statements out of range are skipped, and how many
/// were.
pub(crate) fn interpreted_skipping(kernel: &Kernel, data: &Data) -> (Outcome, u64) {
    skipping_within(kernel, data, FUEL).expect("the kernel ends")
}

/// The same, unless it takes more than `fuel` or calculates with places beyond 64 bits.
fn skipping_within(kernel: &Kernel, data: &Data, fuel: u64) -> Option<(Outcome, u64)> {
    let verified = verify(kernel.clone()).expect("a verified kernel");
    let mut arguments = interpreter_arguments(kernel, data);
    let order = ForallOrder::Forward;
    let done = interpret::interpret_skipping(&verified, &mut arguments, fuel, order, &PlatformMath);
    let skipped = done.as_ref().map_or(0, |it| it.skipped);
    let outcome = outcome_of(kernel, data, done.map(|it| it.result), arguments);
    Some((outcome?, skipped))
}

fn interpreter_arguments(kernel: &Kernel, data: &Data) -> Vec<Argument> {
    passed(kernel)
        .iter()
        .map(|parameter| match parameter {
            Passed::Scalar(name, _) => Argument::Scalar(data.scalars[name]),
            Passed::Array(name, _) => Argument::Array(data.arrays[name].clone()),
            Passed::Records(name, layout) => {
                let fields = layout.fields().iter();
                let fields = fields.map(|it| data.arrays[&format!("{name}.{}", it.name)].clone());
                Argument::Record(fields.collect())
            }
        })
        .collect()
}

/// `None` where `outcome` tells nothing.
fn outcome_of(
    kernel: &Kernel,
    data: &Data,
    outcome: Result<Option<Value>, Stop>,
    arguments: Vec<Argument>,
) -> Option<Outcome> {
    let mut arrays = BTreeMap::new();
    for (parameter, argument) in passed(kernel).into_iter().zip(arguments) {
        match (parameter, argument) {
            (Passed::Array(name, _), Argument::Array(cells)) => {
                arrays.insert(name, cells);
            }
            (Passed::Records(name, layout), Argument::Record(fields)) => {
                let names = layout.fields().iter();
                let names = names.map(|it| format!("{name}.{}", it.name));
                arrays.extend(names.zip(fields));
            }
            _ => {}
        }
    }
    Some(match outcome {
        Ok(result) => Ok(with_result(arrays, result)),
        Err(Stop::OutOfFuel | Stop::Overflow) => return None,
        Err(Stop::Fault(fault)) => {
            assert_eq!(arrays, data.arrays, "a fault leaves all arrays alone");
            let kind = match fault.kind {
                interpret::FaultKind::OutOfRange {
                    array,
                    index,
                    extent,
                } => {
                    format!("out_of_range {array} index {index} extent {extent}")
                }
                interpret::FaultKind::DivisionByZero => "division_by_zero".to_owned(),
                interpret::FaultKind::Combiner(panicked) => panicked.to_string(),
                interpret::FaultKind::Met { array, element } => format!("met {array} {element}"),
                interpret::FaultKind::Assumption { condition } => format!("assumption {condition}"),
            };
            Err(format!("{kind} {:?}", fault.iteration))
        }
        Err(other) => panic!("the interpreter stopped: {other}"),
    })
}

/// The arrays, and the result of the kernel as one more.
fn with_result(
    mut arrays: BTreeMap<String, Vec<Value>>,
    result: Option<Value>,
) -> BTreeMap<String, Vec<Value>> {
    arrays.extend(result.map(|it| (RESULT.to_owned(), vec![it])));
    arrays
}

/// What the machine code of `kernel` makes of it.
pub(crate) fn compiled(kernel: &strew::Kernel, data: &Data) -> Outcome {
    compiled_counting(kernel, data).0
}

/// The same, and how many statements were skipped.
pub(crate) fn compiled_counting(kernel: &strew::Kernel, data: &Data) -> (Outcome, u64) {
    let (outcome, record) = compiled_recording(kernel, data);
    (outcome, record.map_or(0, |it| it.skipped))
}

/// The same, and what was recorded of a call that did not fail.
pub(crate) fn compiled_recording(
    kernel: &strew::Kernel,
    data: &Data,
) -> (Outcome, Option<strew::Record>) {
    let kinds: BTreeMap<_, _> = kernel.parameters().into_iter().collect();
    let mut arrays = BTreeMap::new();
    let mut records = BTreeMap::new();
    for (name, kind) in &kinds {
        match kind {
            ArgumentKind::Scalar(_) => {}
            ArgumentKind::Read(ElementType::Plain(ty))
            | ArgumentKind::Write(ElementType::Plain(ty)) => {
                arrays.insert(name.clone(), Elements::of(*ty, &data.arrays[name]));
            }
            ArgumentKind::Read(ElementType::Record(layout))
            | ArgumentKind::Write(ElementType::Record(layout)) => {
                records.insert(name.clone(), gathered(name, layout, data));
            }
        }
    }
    let mut call = kernel.bind();
    for (name, value) in &data.scalars {
        call = call.value(name, *value);
    }
    for (name, elements) in &mut arrays {
        call = match kinds[name] {
            ArgumentKind::Write(_) => with_elements!(elements, it => call.array_mut(name, it)),
            _ => with_elements!(elements, it => call.array(name, it)),
        };
    }
    for (name, records) in &mut records {
        call = match kinds[name] {
            ArgumentKind::Write(_) => call.records_mut(name, records),
            _ => call.records(name, records),
        };
    }
    let outcome = call.run_with_report();
    let arrays = arrays.into_iter();
    let mut arrays: BTreeMap<_, _> = arrays
        .map(|(name, elements)| (name, elements.values()))
        .collect();
    arrays.extend(
        records
            .iter()
            .flat_map(|(name, records)| scattered(name, records)),
    );
    let record = outcome.as_ref().ok().map(|it| it.record);
    let outcome = match outcome {
        Ok(report) => Ok(with_result(arrays, report.returned)),
        Err(Error::Fault(fault)) => {
            assert_eq!(arrays, data.arrays, "a fault leaves all arrays alone");
            let kind = match fault.kind() {
                FaultKind::OutOfRange {
                    array,
                    index,
                    extent,
                } => {
                    format!("out_of_range {array} index {index} extent {extent}")
                }
                FaultKind::DivisionByZero => "division_by_zero".to_owned(),
                FaultKind::Combiner(panicked) => panicked.to_string(),
                FaultKind::Met { array, element } => format!("met {array} {element}"),
                FaultKind::Assumption { condition } => format!("assumption {condition}"),
            };
            Err(format!("{kind} {:?}", fault.iterators()))
        }
        Err(other) if is_refusal(&other.to_string()) => Err(other.to_string()),
        Err(other) => panic!("the call failed: {other}"),
    };
    (outcome, record)
}

/// Mode `exact` keeps the order of rounded updates. A loop that holds another parallel loop, or
/// does more with its outputs than update them, cannot run by every strategy; neither can one whose
/// outputs are fields of records.
const REFUSALS: [&str; 12] = [
    "does not keep the order of the loop",
    "makes updates in an order that varies",
    "regroups updates that round",
    "the strategy `binned` takes the updates of a loop apart",
    "the strategy `planned` takes the updates of a loop apart",
    "the strategy `columns` gives each thread some columns",
    "the strategy `rows` gives each thread some rows",
    "the strategy `planned` finds out once where the updates of a loop go",
    "the strategy `blocked` runs only loops",
    "the strategy `apart` looks at all updates before it makes them",
    "the strategy `colored` looks at all updates before it makes them",
    "runs no loops that read elements of the outputs that they update",
];

pub(crate) fn is_refusal(said: &str) -> bool {
    REFUSALS.iter().any(|it| said.contains(it))
}

/// The fields of the parameter `name`, put together to records.
fn gathered(name: &str, layout: &RecordLayout, data: &Data) -> Records {
    let count = data.records(name, layout);
    let mut records = Records::zeros(layout.clone(), count).expect("a layout that the kernel has");
    for field in layout.fields() {
        let values = &data.arrays[&format!("{name}.{}", field.name)];
        for (index, value) in values.iter().enumerate() {
            records.set(index, field, *value);
        }
    }
    records
}

/// The fields of `records`, each an array.
fn scattered(name: &str, records: &Records) -> Vec<(String, Vec<Value>)> {
    let fields = records.layout().fields().iter();
    let fields = fields.map(|field| {
        let elements = 0..records.len() * field.elements();
        let values = elements.map(|index| records.get(index, field));
        (format!("{name}.{}", field.name), values.collect())
    });
    fields.collect()
}

/// A kernel as every engine takes it.
pub(crate) struct Engines {
    /// As its source says it, for the interpreter.
    pub(crate) written: Kernel,
    /// The same in machine code.
    pub(crate) serial: strew::Kernel,
    /// With the schedule of its source, or the one that was found.
    pub(crate) scheduled: strew::Kernel,
}

impl Engines {
    pub(crate) fn new(parsed: &ParsedKernel) -> Self {
        let with_plan = |plan: &Plan| {
            let scheduled = parsed.schedule(plan, &mut ()).expect("a schedule");
            strew::Kernel::from(scheduled.compile().expect("machine code"))
        };
        Self {
            written: parsed.kernel().clone(),
            serial: with_plan(&Plan::Explicit(Schedule::new())),
            scheduled: with_plan(&Plan::Source),
        }
    }

    /// The outcome on which all engines agree: bit for bit wherever the order of combination is the
    /// same, up to rounding where it is not.
    #[track_caller]
    pub(crate) fn everywhere(&self, data: &Data) -> Outcome {
        let reference = self.exactly(data);
        for strategy in ["auto", "serial", "dense", "blocked"] {
            let strategy = strategy.parse().expect("a strategy");
            let kernel = self.scheduled.clone().strategy(strategy);
            let first = compiled(&kernel.clone().threads(1), data);
            if first.as_ref().is_err_and(|it| is_refusal(it)) {
                continue;
            }
            agree(
                &format!("{strategy}, one thread"),
                &first,
                &reference,
                is_close,
            );
            for threads in THREADS {
                let kernel = kernel.clone().threads(threads);
                agree(
                    &format!("{strategy}, {threads} threads"),
                    &compiled(&kernel, data),
                    &first,
                    is_same,
                );
            }
            let in_registers = kernel.clone().threads(2).body(Body::RunLength);
            agree(
                &format!("{strategy}, in a register"),
                &compiled(&in_registers, data),
                &first,
                is_same,
            );
            for body in [Body::Partials, Body::Tables] {
                let kernel = kernel.clone().body(body);
                let what = format!("{strategy}, {body}");
                let one = compiled(&kernel.clone().threads(1), data);
                agree(&what, &one, &reference, is_close);
                let two = compiled(&kernel.threads(2), data);
                agree(&what, &two, &one, is_same);
            }
            let fast = compiled(&kernel.threads(3).mode(Mode::Fast), data);
            agree("fast mode", &fast, &reference, is_close);
        }
        let written = interpreted(&self.written, data, ForallOrder::Forward);
        if !breaks_assumption(&written) {
            scheduled_meaning(&self.scheduled, data, &reference);
        }
        reference
    }

    /// The outcome on which the interpreter, serial machine code, and parallel machine code that
    /// keeps the serial order agree bit for bit.
    #[track_caller]
    pub(crate) fn exactly(&self, data: &Data) -> Outcome {
        let mut reference = interpreted(&self.written, data, ForallOrder::Forward);
        let serial = compiled(&self.serial, data);
        if breaks_assumption(&reference) {
            // A call runs the version without assumptions, which only machine code is made of.
            reference = serial;
        } else {
            agree("serial machine code", &serial, &reference, is_same);
        }
        keeps_order(&self.scheduled, data, &reference);
        reference
    }
}

impl Engines {
    /// Whether anything runs in parallel.
    pub(crate) fn has_forall(&self) -> bool {
        let text = self.scheduled.compiled().kernel().to_string();
        text.contains("scf.forall")
    }

    /// With private buffers, however little there is to do: the same bits on one thread and on two,
    /// those of `reference` where the order of combination `is_free`.
    #[track_caller]
    pub(crate) fn privately(&self, data: &Data, reference: &Outcome, is_free: bool) {
        let by = |strategy: &str| {
            let strategy = strategy.parse().expect("a strategy");
            let kernel = self.scheduled.clone().strategy(strategy);
            [1, 2].map(|threads| compiled(&kernel.clone().threads(threads), data))
        };
        let says = |outcome: &Outcome, what: &str| {
            let said = outcome.as_ref().err();
            said.is_some_and(|it| it.contains(what))
        };
        let mut both = by("dense");
        if says(&both[0], "does not keep the order of the loop") {
            both = by("binned");
        }
        if says(&both[0], "takes the updates of a loop apart") {
            both = by("serial");
        }
        let [one, two] = both;
        agree("two threads beside one", &two, &one, is_same);
        if is_free {
            agree("private buffers", &one, reference, is_same);
        }
    }
}

/// The kernel under `script`, where its steps are accepted.
pub(crate) fn scheduled_by(script: &str, parsed: &ParsedKernel) -> Option<strew::Kernel> {
    let plan = Plan::Explicit(parse_schedule("script", script).expect("a schedule"));
    let scheduled = parsed.schedule(&plan, &mut ()).ok()?;
    Some(scheduled.compile().expect("machine code").into())
}

/// Where `outcome` is an index out of range, what skipping it makes of `written` is what it makes
/// of each of `scheduled`.
#[track_caller]
pub(crate) fn skip_alike(
    written: &Kernel,
    scheduled: &[&strew::Kernel],
    data: &Data,
    outcome: &Outcome,
) {
    let is_it = |fault: &String| fault.starts_with("out_of_range");
    if !outcome.as_ref().is_err_and(is_it) {
        return;
    }
    let Some((expected, times)) = skipping_within(written, data, FUEL / 100) else {
        return;
    };
    // A call runs the version without assumptions, which only machine code is made of.
    if breaks_assumption(&expected) {
        return;
    }
    for kernel in scheduled {
        for threads in [1, 2] {
            let kernel = (*kernel).clone().oob(Oob::Skip).mode(Mode::Exact);
            let (found, counted) = compiled_counting(&kernel.threads(threads), data);
            agree("skipping", &found, &expected, is_same);
            assert_eq!(counted, times, "skipped statements");
        }
    }
}

/// In mode `exact` the order of the loop is kept, whatever the schedule.
#[track_caller]
pub(crate) fn keeps_order(kernel: &strew::Kernel, data: &Data, reference: &Outcome) {
    for threads in [1, 2] {
        let kernel = kernel.clone().mode(Mode::Exact).threads(threads);
        agree(
            &format!("exact mode, {threads} threads"),
            &compiled(&kernel, data),
            reference,
            is_same,
        );
        for body in [Body::RunLength, Body::Partials, Body::Tables] {
            let outcome = compiled(&kernel.clone().body(body), data);
            agree(body.name(), &outcome, reference, is_same);
        }
        for strategy in ["apart", "binned", "planned", "columns", "colored", "rows"] {
            let kernel = kernel.clone();
            let sorting = kernel.strategy(strategy.parse().expect("a strategy"));
            let outcome = compiled(&sorting, data);
            let is_refused = outcome.as_ref().err();
            if !is_refused.is_some_and(|it| is_refusal(it)) {
                agree(strategy, &outcome, reference, is_same);
            }
        }
    }
}

/// Whether the sizes are not what the kernel takes them for.
pub(crate) fn breaks_assumption(outcome: &Outcome) -> bool {
    matches!(outcome, Err(fault) if fault.starts_with("assumption "))
}

/// As [`Engines::everywhere`], for a kernel that is run once.
#[track_caller]
pub(crate) fn everywhere(parsed: &ParsedKernel, data: &Data) -> Outcome {
    Engines::new(parsed).everywhere(data)
}

/// The interpreter on the scheduled kernel, its parallel iterations in either order.
#[track_caller]
fn scheduled_meaning(kernel: &strew::Kernel, data: &Data, reference: &Outcome) {
    let kernel = kernel.compiled().kernel();
    let forward = interpreted(kernel, data, ForallOrder::Forward);
    agree(
        "backward",
        &interpreted(kernel, data, ForallOrder::Backward),
        &forward,
        is_same,
    );
    if reference.is_ok() {
        agree(
            "the scheduled kernel interpreted",
            &forward,
            reference,
            is_close,
        );
    } else {
        assert!(forward.is_err(), "the scheduled kernel has a fault too");
    }
}

#[track_caller]
pub(crate) fn agree(
    what: &str,
    found: &Outcome,
    expected: &Outcome,
    is_equal: impl Fn(Value, Value) -> bool,
) {
    match (found, expected) {
        (Ok(found), Ok(expected)) => {
            assert!(found.keys().eq(expected.keys()));
            for ((name, found), expected) in found.iter().zip(expected.values()) {
                assert_eq!(found.len(), expected.len(), "{what}: {name}");
                for (position, (found, expected)) in found.iter().zip(expected).enumerate() {
                    assert!(
                        is_equal(*found, *expected),
                        "{what}: {name}[{position}] is {found:?}, expected {expected:?}"
                    );
                }
            }
        }
        (found, expected) => assert_eq!(found.as_ref().err(), expected.as_ref().err(), "{what}"),
    }
}
