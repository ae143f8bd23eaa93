//! The examples of `docs/language.md`: what the page says is accepted computes what `cc` makes of
//! it, and what it says is refused is refused with the message that stands below it.

use crate::c::Program;
use crate::data::{Data, is_same, parameters, sizes};
use crate::engines::{Engines, agree};
use crate::random::Random;
use std::collections::BTreeMap;
use strew::ir::{Type, Value};
use strew::{Error, ParsedKernel, Source};

const PAGE: &str = include_str!("../../docs/language.md");

/// The blocks of the page: what stands behind the three quotes, and the text.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let blocks = PAGE.split("```").skip(1).step_by(2);
    blocks.filter_map(|it| it.split_once('\n')).collect()
}

fn parse(text: &str) -> Result<strew::Parsed, Error> {
    Source::new("example.c", text).parse()
}

/// Every size is six, and every integer is a subscript.
fn data(kernel: &ParsedKernel, engines: &Engines) -> Data {
    let mut random = Random(6);
    let number = |ty: Type| match ty {
        Type::Bool => Value::integer(ty, 1),
        _ if ty.is_float() => Value::float(ty, 2.5),
        _ => Value::integer(ty, 6),
    };
    let all = parameters(kernel.kernel());
    let scalars = all.iter().filter(|(_, _, is_array)| !is_array);
    let scalars: BTreeMap<_, _> = scalars
        .map(|(name, ty, _)| (name.clone(), number(*ty)))
        .collect();
    let sizes = sizes(&engines.scheduled, &scalars);
    let arrays = all.iter().filter(|(_, _, is_array)| *is_array);
    let arrays = arrays.map(|(name, ty, _)| {
        let extents = sizes.extents(name).expect("a shape");
        let count: u64 = extents.iter().product();
        let high = if *ty == Type::Bool { 2 } else { 6 };
        let values = (0..count).map(|_| random.value(*ty, 0, high)).collect();
        (name.clone(), values)
    });
    let arrays = arrays.collect();
    Data { scalars, arrays }
}

#[test]
#[expect(clippy::print_stderr, reason = "a failure tells where it was")]
fn accepted_examples_compute_what_they_compute_in_c() {
    let accepted: Vec<_> = blocks().into_iter().filter(|it| it.0 == "c").collect();
    assert!(accepted.len() >= 10);
    for (_, text) in accepted {
        eprintln!("{text}");
        let parsed = parse(text).unwrap_or_else(|error| panic!("{error}"));
        for kernel in parsed.kernels() {
            let engines = Engines::new(kernel);
            let data = data(kernel, &engines);
            let found = engines.everywhere(&data);
            match Program::compile(text, [kernel.kernel()]) {
                Some(program) => agree("cc", &found, &program.run(&[(0, &data)])[0], is_same),
                None => eprintln!("skipped: there is no cc to compare with"),
            }
        }
    }
}

#[test]
fn other_accepted_examples_compile() {
    let compiled = blocks().into_iter().filter(|it| it.0 == "c compiled");
    for (_, text) in compiled {
        let parsed = parse(text).unwrap_or_else(|error| panic!("{error}"));
        parsed.kernels().iter().map(Engines::new).for_each(drop);
    }
}

#[test]
fn examples_that_are_warned_of_are_warned_of_in_these_words() {
    let blocks = blocks();
    let warned = blocks
        .windows(2)
        .filter(|it| it[1].1.starts_with("warning["));
    let mut count = 0;
    for pair in warned {
        count += 1;
        let parsed = parse(pair[0].1).unwrap_or_else(|error| panic!("{error}"));
        let text = parsed.warnings().to_string();
        let messages = text.lines().filter(|it| it.starts_with("warning["));
        let messages: Vec<_> = messages.collect();
        let expected: Vec<_> = pair[1].1.trim_end().lines().collect();
        assert_eq!(messages, expected, "{}", pair[0].1);
    }
    assert!(count >= 1);
}

#[test]
fn refused_examples_are_refused_in_these_words() {
    let blocks = blocks();
    let refused = blocks.windows(2).filter(|it| it[0].0 == "c refused");
    let mut count = 0;
    for pair in refused {
        count += 1;
        let text = parse(pair[0].1).expect_err("an error").to_string();
        let messages = text.lines().filter(|it| it.starts_with("error["));
        let messages: Vec<_> = messages.collect();
        let expected: Vec<_> = pair[1].1.trim_end().lines().collect();
        assert_eq!(pair[1].0, "text", "{}", pair[0].1);
        assert_eq!(messages, expected, "{}", pair[0].1);
    }
    assert!(count >= 5);
}
