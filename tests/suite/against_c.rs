//! A kernel of C with several arguments, run by all engines: they agree, and `cc` agrees with them
//! where nothing fails.

use crate::c::Program;
use crate::data::{Data, Outcome, is_same};
use crate::engines::{Engines, agree};
use strew::ir::Kernel;
use strew::{ParsedKernel, Source};

/// What all engines make of all `cases`, which is what `cc` makes of those that are no faults.
pub(crate) fn outcomes(text: &str, cases: Vec<Data>) -> Vec<(Data, Outcome)> {
    let parsed = Source::new("k.c", text).parse();
    let parsed = parsed.unwrap_or_else(|error| panic!("{error}"));
    let kernel: &ParsedKernel = parsed.kernel(None).expect("one kernel");
    let engines = Engines::new(kernel);
    let found = cases.into_iter().map(|data| {
        let outcome = engines.everywhere(&data);
        (data, outcome)
    });
    let found: Vec<_> = found.collect();
    agree_with_c(text, kernel.kernel(), &found);
    found
}

fn agree_with_c(text: &str, kernel: &Kernel, found: &[(Data, Outcome)]) {
    let sound = found.iter().filter(|(_, outcome)| outcome.is_ok());
    let calls: Vec<_> = sound.clone().map(|(data, _)| (0, data)).collect();
    let Some(program) = Program::compile(text, [kernel]) else {
        return skip();
    };
    for ((_, found), expected) in sound.zip(program.run(&calls)) {
        agree(text, found, &expected, is_same);
    }
}

#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn skip() {
    eprintln!("skipped: there is no cc to compare with");
}
