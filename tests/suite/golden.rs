//! Golden files: each names its command in its first line and ends with what the command prints.
//!
//! ```text
//! // test schedule
//! // step unroll(i, 4)
//! kernel @k(…) { … }
//! // ----
//! // kernel @k(…) {
//! // …
//! ```
//!
//! `BLESS=1 cargo test --test suite golden` writes what the commands print now.

use crate::c;
use crate::data::{Data, is_same, parameters, parsed, shown, sizes};
use crate::engines::{agree, everywhere};
use crate::random::Random;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use strew::ir::visit::walk;
use strew::ir::{Forall, Kernel, Node, Type, Value};
use strew::{Error, ParsedKernel, Plan, Schedule, Source, parse_schedule};

/// Stands between the input and what is expected of it.
const RULE: &str = "// ----";

struct Case {
    path: PathBuf,
    /// The first word behind `// test`.
    command: String,
    /// The other lines of the head, as pairs of a word and the rest.
    head: Vec<(String, String)>,
    /// The whole file up to the rule.
    source: String,
    expected: String,
}

impl Case {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).expect("a file");
        let (source, expected) = match text.split_once(&format!("{RULE}\n")) {
            Some((source, expected)) => (source.to_owned(), expected.to_owned()),
            None => (text, String::new()),
        };
        let head = source.lines().map_while(|line| line.strip_prefix("// "));
        let mut head: Vec<_> = head
            .map(|line| line.split_once(' ').unwrap_or((line, "")))
            .map(|(word, rest)| (word.to_owned(), rest.trim().to_owned()))
            .collect();
        assert!(
            head.first().is_some_and(|it| it.0 == "test"),
            "{}: no `// test`",
            path.display()
        );
        let command = head.remove(0).1;
        Self {
            path,
            command,
            head,
            source,
            expected,
        }
    }

    fn given(&self, word: &str) -> impl Iterator<Item = &str> {
        let lines = self.head.iter().filter(move |(it, _)| it == word);
        lines.map(|(_, rest)| rest.as_str())
    }

    /// The name of the file, so that diagnostics do not depend on where the project lies.
    fn name(&self) -> String {
        let name = self.path.file_name().expect("a name");
        name.to_string_lossy().into_owned()
    }

    fn parse(&self) -> Result<strew::Parsed, Error> {
        Source::new(self.name(), self.source.clone()).parse()
    }

    fn kernel(&self) -> ParsedKernel {
        let parsed = self
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
        parsed.kernel(None).expect("one kernel").clone()
    }

    fn actual(&self) -> String {
        match self.command.as_str() {
            "lower" | "parse" => match self.parse() {
                Ok(parsed) => {
                    let kernels: Vec<_> = parsed
                        .kernels()
                        .iter()
                        .map(|it| it.kernel().to_string())
                        .collect();
                    kernels.join("\n")
                }
                Err(error) => panic!("{}: {error}", self.path.display()),
            },
            "check" => match self.parse() {
                Ok(parsed) => parsed.warnings().to_string(),
                Err(error) => error.to_string(),
            },
            "schedule" => self.schedule(),
            "auto" => {
                let kernel = self
                    .kernel()
                    .schedule(&Plan::Auto, &mut ())
                    .expect("a schedule");
                format!("{}{}", kernel.steps(), kernel.kernel())
            }
            "run" => self.run(),
            "scatter" => format!("{}\n{}", self.parallelism(), self.run()),
            other => panic!("{}: no command `{other}`", self.path.display()),
        }
    }

    fn schedule(&self) -> String {
        let mut schedule = Schedule::new();
        for step in self.given("step") {
            schedule.extend(
                parse_schedule("step", step)
                    .expect("a step")
                    .steps()
                    .iter()
                    .cloned(),
            );
        }
        match self.kernel().schedule(&Plan::Explicit(schedule), &mut ()) {
            Ok(scheduled) => scheduled.kernel().to_string(),
            Err(Error::Refused(refusal)) => {
                let reason = &refusal.refused.reason;
                assert!(refusal.refused.is_replayed(), "{}", self.path.display());
                let witness = reason.witness().map(|it| format!("\nwitness {it}"));
                format!(
                    "refused {} {}{}",
                    reason.verdict(),
                    reason.name(),
                    witness.unwrap_or_default()
                )
            }
            Err(other) => panic!("{}: {other}", self.path.display()),
        }
    }

    /// What runs at once when nobody wrote a schedule, and what is assumed for that.
    fn parallelism(&self) -> String {
        let scheduled = self.kernel().schedule(&Plan::Auto, &mut ());
        let scheduled = scheduled.expect("a schedule");
        let kernel = scheduled.kernel();
        let mut lines = Vec::new();
        walk(&kernel.body, &mut |node, _| {
            if let Node::Forall(forall) = node {
                lines.push(combined(kernel, forall));
            }
        });
        if lines.is_empty() {
            lines.push("in order".to_owned());
        }
        let text = kernel.to_string();
        let head = text.lines().next().unwrap_or_default();
        let assumed = head.split(" assume ").nth(1);
        lines.extend(assumed.map(|it| format!("assumes {}", it.trim_end_matches(" {"))));
        lines.join("\n")
    }

    #[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
    fn run(&self) -> String {
        let kernel = self.kernel();
        let data = self.data(&kernel);
        let outcome = everywhere(&kernel, &data);
        if outcome.is_ok() && self.path.extension().is_some_and(|it| it == "c") {
            match c::run(&self.source, kernel.kernel(), &data) {
                Some(found) => agree("cc", &found, &outcome, is_same),
                None => eprintln!(
                    "skipped: there is no cc to compare {} with",
                    self.path.display()
                ),
            }
        }
        match outcome {
            Ok(arrays) => {
                let changed = arrays
                    .iter()
                    .filter(|(name, values)| data.arrays.get(*name) != Some(values));
                let lines: Vec<_> = changed.map(|(name, values)| line(name, values)).collect();
                lines.join("\n")
            }
            Err(fault) => format!("fault {fault}"),
        }
    }

    /// `// set n = 4` gives a scalar; `// array x = 1 2 3`, `zeros` or `random LOW HIGH` an array.
    fn data(&self, kernel: &ParsedKernel) -> Data {
        let pairs = |word| {
            self.given(word)
                .map(|it| it.split_once('=').expect("NAME = VALUE"))
        };
        let pairs = |word| pairs(word).map(|(name, text)| (name.trim(), text.trim()));
        let types: BTreeMap<_, _> = parameters(kernel.kernel())
            .into_iter()
            .map(|(name, ty, _)| (name, ty))
            .collect();
        let scalars = pairs("set").map(|(name, text)| (name.to_owned(), parsed(text, types[name])));
        let scalars: BTreeMap<_, _> = scalars.collect();
        let plan = Plan::Explicit(Schedule::new());
        let code = kernel
            .schedule(&plan, &mut ())
            .and_then(strew::Scheduled::compile)
            .expect("code");
        let code = strew::Kernel::from(code);
        // Lengths that are inferred are those of the elements given.
        let count = |name: &str| {
            let sizes = sizes(&code, &scalars);
            let record = name.split_once('.').and_then(|(it, _)| sizes.extents(it));
            let extents = record.or_else(|| sizes.extents(name)).expect("an array");
            let mut arrays = kernel.kernel().arrays.values();
            let own = arrays.find(|it| it.name == name);
            let per_record = own.map_or(1, |it| it.elements_per_record());
            extents.iter().product::<u64>() * per_record
        };
        let arrays = pairs("array").map(|(name, text)| {
            let values = elements(text, types[name], || count(name));
            (name.to_owned(), values)
        });
        Data {
            arrays: arrays.collect(),
            scalars,
        }
    }
}

/// The arrays that the chunks of a loop have copies of, and how those are combined.
fn combined(kernel: &Kernel, forall: &Forall) -> String {
    let privates = forall.privates.iter().map(|private| {
        let names = private.targets.iter();
        let names: Vec<_> = names.map(|it| kernel.arrays[*it].name.as_str()).collect();
        format!("{} by {}", names.join(" with "), private.combiner)
    });
    let privates: Vec<_> = privates.collect();
    match privates.as_slice() {
        [] => "parallel".to_owned(),
        several => format!("parallel, {}", several.join(", ")),
    }
}

fn elements(text: &str, ty: Type, count: impl Fn() -> u64) -> Vec<Value> {
    let words: Vec<_> = text.split_whitespace().collect();
    match words.as_slice() {
        ["zeros"] => vec![Value::zero(ty); usize::try_from(count()).expect("a size")],
        ["random", low, high] => {
            let bound = |text: &str| text.parse().expect("a bound");
            let (low, high) = (bound(low), bound(high));
            let count = count();
            let mut random = Random(count);
            (0..count).map(|_| random.value(ty, low, high)).collect()
        }
        words => words.iter().map(|it| parsed(it, ty)).collect(),
    }
}

/// The elements, or the first of them and a checksum of all.
fn line(name: &str, values: &[Value]) -> String {
    let first: Vec<_> = values.iter().take(16).map(|it| shown(*it)).collect();
    let first = first.join(" ");
    if values.len() <= 16 {
        return format!("{name} = {first}");
    }
    let checksum = values.iter().fold(0_u64, |sum, it| {
        sum.rotate_left(5)
            .wrapping_add(it.bits())
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    format!("{name} = {first} … checksum {checksum:016x}")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn golden_files_hold() {
    let bless = std::env::var_os("BLESS").is_some();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut failures = Vec::new();
    let paths = files(&root);
    assert!(!paths.is_empty());
    for path in paths {
        let case = Case::read(path);
        let lines = case.actual();
        let actual: String = lines
            .trim_end()
            .lines()
            .map(|line| format!("// {line}").trim_end().to_owned() + "\n")
            .collect();
        if actual == case.expected {
            continue;
        }
        if bless {
            fs::write(&case.path, format!("{}{RULE}\n{actual}", case.source)).expect("a file");
        } else {
            let path = case.path.display();
            failures.push(format!(
                "{path}\nexpected\n{}found\n{actual}",
                case.expected
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Every step has files that show what it takes and what it refuses.
#[test]
fn every_step_is_shown_accepting_and_refusing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/schedule");
    for name in strew::Step::NAMES {
        for folder in ["accepts", "refuses"] {
            let texts = files(&root.join(folder)).into_iter();
            let mut texts = texts.map(|path| fs::read_to_string(path).expect("a file"));
            assert!(
                texts.any(|text| text.contains(&format!("// step {name}("))),
                "no file in {folder} for {name}"
            );
        }
    }
}
