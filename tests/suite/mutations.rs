//! C files and kernel texts in which some tokens are others: whatever they say has an answer, and
//! what is still a kernel means one thing. Nothing panics, and nothing is blamed on strew itself.
//!
//! The tests change the same few texts each time; `STREW_MUTATIONS=100000` in the environment
//! changes that many, and `STREW_RANDOM_SEED=7` begins elsewhere.

use crate::data::{Data, is_close, parameters};
use crate::engines::{agree, breaks_assumption, compiled, interpreted_within};
use crate::random::Random;
use std::collections::BTreeMap;
use std::path::Path;
use strew::ir::interpret::ForallOrder;
use strew::{Error, Parsed, ParsedKernel, Plan, Schedule, Source};

/// How many texts a test changes unless told otherwise.
const COUNT: u64 = 400;
/// Nodes and iterations after which a kernel is taken for one that never ends.
const FUEL: u64 = 20_000;
/// Nothing is to be learned from larger arrays.
const MOST_ELEMENTS: u64 = 5_000;

/// Tokens that are no part of the text they come into.
const STRANGERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "3",
    "255",
    "2147483647",
    "4294967296",
    "9223372036854775807",
    "1e400",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    "..",
    "*",
    "/",
    "%",
    "-",
    "!",
    "&",
    "?",
    ":",
    "=",
    "n",
    "x",
    "`",
    "\"",
    "'",
    "\u{e9}",
];

/// Words, white space, and single characters of other kinds.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let is_alike = |it: char| match first {
            _ if is_word(first) => is_word(it),
            _ => first.is_whitespace() && it.is_whitespace(),
        };
        let length = rest
            .char_indices()
            .skip(1)
            .find(|(_, it)| !is_alike(*it))
            .map_or(rest.len(), |(position, _)| position);
        let (token, behind) = rest.split_at(length);
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// A number below `end`, which is not zero.
fn pick(random: &mut Random, end: usize) -> usize {
    (random.next() % end as u64) as usize
}

/// The text with one to four changes.
fn changed(text: &str, random: &mut Random) -> String {
    let mut tokens = tokens(text);
    for _ in 0..1 + pick(random, 4) {
        let solid: Vec<_> = (0..tokens.len())
            .filter(|it| !tokens[*it].trim().is_empty())
            .collect();
        let Some(&at) = solid.get(pick(random, solid.len().max(1))) else {
            break;
        };
        let other = solid[pick(random, solid.len())];
        match pick(random, 5) {
            0 => tokens[at] = "",
            1 => tokens.swap(at, other),
            2 => tokens[at] = tokens[other],
            3 => tokens.insert(at, tokens[other]),
            _ => tokens[at] = STRANGERS[pick(random, STRANGERS.len())],
        }
    }
    tokens.concat()
}

/// Calls `check` with changed texts, and says which one it was when that panics.
#[expect(clippy::print_stderr, reason = "a failure tells what it was about")]
fn each_changed(texts: &[String], check: impl Fn(&str, &mut Random)) {
    let setting = |name| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let first: u64 = setting("STREW_RANDOM_SEED").unwrap_or(0);
    assert!(!texts.is_empty());
    for seed in first..first + setting("STREW_MUTATIONS").unwrap_or(COUNT) {
        let mut random = Random(seed);
        let text = changed(&texts[pick(&mut random, texts.len())], &mut random);
        let run = || check(&text, &mut random);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        if let Err(panic) = outcome {
            eprintln!("seed {seed}:\n{text}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// The kernels, if there are any. Errors say something, and not that strew is at fault.
fn parse(name: &str, text: &str) -> Option<Parsed> {
    match Source::new(name, text.to_owned()).parse() {
        Ok(parsed) => Some(parsed),
        Err(error) => {
            assert_blames_the_text(&error);
            None
        }
    }
}

fn assert_blames_the_text(error: &Error) {
    assert!(!matches!(error, Error::Defect(_)), "{error}");
    assert!(!error.to_string().is_empty());
}

/// The kernel in machine code, if its schedule is accepted.
fn machine_code(kernel: &ParsedKernel, plan: &Plan) -> Option<strew::Kernel> {
    let code = kernel
        .schedule(plan, &mut ())
        .and_then(|it| it.compile().map(strew::Kernel::from));
    code.inspect_err(assert_blames_the_text).ok()
}

/// Small arguments, if there are any that the kernel can be called with.
pub(crate) fn arguments(kernel: &strew::Kernel, random: &mut Random) -> Option<Data> {
    let all = parameters(kernel.compiled().kernel());
    let (arrays, scalars): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.2);
    let scalars = scalars.into_iter();
    let scalars: BTreeMap<_, _> = scalars
        .map(|(name, ty, _)| (name, random.value(ty, 0, 6)))
        .collect();
    let call = scalars.iter().fold(kernel.bind(), |call, (name, value)| {
        call.value(name, *value)
    });
    let sizes = call.sizes().ok()?;
    let mut values = BTreeMap::new();
    for (name, ty, _) in arrays {
        let extents = sizes.extents(&name)?;
        let count = extents.iter().try_fold(1_u64, |product, extent| {
            product
                .checked_mul(*extent)
                .filter(|it| *it <= MOST_ELEMENTS)
        })?;
        let elements = (0..count).map(|_| random.value(ty, 0, 5));
        values.insert(name, elements.collect());
    }
    Some(Data {
        scalars,
        arrays: values,
    })
}

/// The interpreter and machine code agree on what the kernel does, if it does it in a short time.
fn assert_means_one_thing(kernel: &ParsedKernel, random: &mut Random) {
    let as_written = Plan::Explicit(Schedule::new());
    let Some(code) = machine_code(kernel, &as_written) else {
        return;
    };
    let Some(data) = arguments(&code, random) else {
        return;
    };
    let expected = interpreted_within(kernel.kernel(), &data, ForallOrder::Forward, FUEL);
    // A call of a kernel text that assumes too much is refused.
    if let Some(expected) = expected.filter(|it| !breaks_assumption(it)) {
        let found = compiled(&code.threads(1), &data);
        // Private copies may be left out, and then floats are added in another order.
        agree("machine code", &found, &expected, is_close);
    }
}

fn c_files() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "tests/kernels",
        "tests/golden/brought",
        "tests/golden/run",
        "tests/golden/scatter",
        "examples/kernels",
    ];
    let files = folders.iter().flat_map(|it| {
        let entries = std::fs::read_dir(root.join(it)).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path())
    });
    let mut paths: Vec<_> = files
        .filter(|it| it.extension().is_some_and(|it| it == "c"))
        .collect();
    paths.sort();
    let texts = paths.iter().map(std::fs::read_to_string);
    texts.map(|it| it.expect("a text")).collect()
}

/// The examples of the page on kernel text, and what becomes of C files, before and after their
/// schedules.
fn kernel_texts() -> Vec<String> {
    let page = include_str!("../../docs/kernel_text.md");
    let blocks = page.split("```").skip(1).step_by(2);
    let examples = blocks.filter_map(|it| it.strip_prefix("nest\n"));
    let mut texts: Vec<_> = examples.map(str::to_owned).collect();
    for source in c_files() {
        let Some(parsed) = parse("k.c", &source) else {
            continue;
        };
        for kernel in parsed.kernels() {
            texts.push(kernel.kernel().to_string());
            let scheduled = kernel.schedule(&Plan::Auto, &mut ());
            texts.extend(scheduled.map(|it| it.kernel().to_string()));
        }
    }
    texts
}

#[test]
fn changed_c_files_are_answered() {
    each_changed(&c_files(), |text, _| {
        for kernel in parse("k.c", text).iter().flat_map(Parsed::kernels) {
            machine_code(kernel, &Plan::Source);
        }
    });
}

#[test]
fn changed_kernel_texts_are_answered_and_mean_one_thing() {
    each_changed(&kernel_texts(), |text, random| {
        for kernel in parse("k.nest", text).iter().flat_map(Parsed::kernels) {
            let printed = kernel.kernel().to_string();
            let again = parse("k.nest", &printed).expect("what is printed reads back");
            assert_eq!(
                again.kernel(None).expect("one kernel").kernel().to_string(),
                printed
            );
            machine_code(kernel, &Plan::Auto);
            assert_means_one_thing(kernel, random);
        }
    });
}
