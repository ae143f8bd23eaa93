//! What is refused, where, and in which words; and that nothing else happens on any text.

use super::programs::{Program, Random, text};
use crate::operation::{Analysis, Module, coalescing, tile, utilization};

/// Errors as `text under the span: message`.
#[track_caller]
fn errors(source: &str) -> Vec<String> {
    let errors = Module::parse(source).expect_err("the text is wrong");
    let shown = errors.iter().map(|error| {
        let text = source.get(error.span.range()).unwrap_or("?");
        format!("{text}: {error}")
    });
    shown.collect()
}

#[track_caller]
fn refuses(source: &str, expected: &str) {
    assert_eq!(errors(source), [expected]);
}

/// With parameters `a: f32[4,6]`, `b: f32[6,4]`, `c: f32[]`, `i: s32[]`.
#[track_caller]
fn refuses_line(line: &str, expected: &str) {
    let head = "a = f32[4,6] parameter(0)\nb = f32[6,4] parameter(1)\nc = f32[] parameter(2)\ni = s32[] parameter(3)\n";
    refuses(&format!("{head}x = {line}\n"), expected);
}

#[test]
fn the_grammar_says_what_it_expects() {
    refuses("", ": there is no instruction");
    refuses("f { }", "f: there is no instruction");
    refuses(
        "x = f32[2] parameter(0) $ é",
        "é: `é` is not part of an HLO text",
    );
    refuses("x = = 3", "=: `=` cannot stand here; expected a name, `(`");
    refuses("x = f32[2", ": the text ends too early; expected `]`, `,`");
    let deep = format!("x = f32[2] negate(y), a={}", "{".repeat(200));
    assert_eq!(errors(&deep), ["{: this is nested deeper than 100 levels"]);
}

#[test]
fn names_are_looked_up_and_given_once() {
    refuses_line(
        "f32[4,6] negate(aa)",
        "aa: no instruction above is called `aa`",
    );
    refuses_line(
        "f32[4,6] negat(a)",
        "negat: `negat` is not an operation; did you mean `negate`?",
    );
    refuses_line(
        "f32[4,6] fusion(a), calls=g",
        "g: no computation above is called `g`",
    );
    refuses(
        "x = f32[] parameter(0)\nx = f32[] negate(x)",
        "x: the name `x` is taken",
    );
    refuses(
        "1x = f32[] parameter(0)",
        "1x: `1x` is not a name; one begins with a letter or `_`",
    );
    refuses(
        "ROOT x = f32[] parameter(0)\nROOT y = f32[] negate(x)",
        "y: there is one `ROOT` already",
    );
    refuses(
        "x = f32[] parameter(1)",
        "x: the parameters of a computation are numbered from 0, each number once; 0 is missing",
    );
    refuses(
        "x = f32[] parameter(y)",
        "y: `parameter` is written as in `parameter(0)`",
    );
}

#[test]
fn an_error_is_reported_once() {
    let text = "a = f32[2] parameter(0)\nb = f32[3] negate(a)\nc = f32[3] negate(b)\nd = q32[] parameter(1)";
    assert_eq!(
        errors(text),
        [
            "f32[3]: this is said to be f32[3], but it is f32[2]",
            "q32: `q32` is not a type of elements, as `f32` and `s64` are"
        ]
    );
}

#[test]
fn shapes_have_to_fit() {
    refuses_line(
        "f32[4,6] negate(f32[4,5] a)",
        "f32[4,5]: this is said to be f32[4,5], but it is f32[4,6]",
    );
    refuses_line(
        "f32[4,6] add(a, b)",
        "b: this operand is f32[6,4], but an array of [4,6] is needed",
    );
    refuses_line(
        "f32[4,6] add(a)",
        "add: `add` takes two operands, but 1 are given",
    );
    refuses_line(
        "reshape(a)",
        "reshape: the operands of `reshape` do not tell its shape; write it in front, as in `f32[2,3] reshape(…)`",
    );
    refuses_line(
        "f32[5,5] reshape(a)",
        "f32[5,5]: `reshape` keeps the number of elements, but f32[4,6] has 24 and f32[5,5] has 25",
    );
    refuses_line(
        "f32[-2] reshape(a)",
        "-2: `-2` is not an extent; one is a number from 0 to 9223372036854775807",
    );
    refuses_line(
        "f32[4294967296,4294967296] reshape(a)",
        "f32[4294967296,4294967296]: this has more elements than 64 bits count",
    );
    refuses_line(
        "f32[4,6]{0,0} negate(a)",
        "{0,0}: a layout of 2 dimensions names each of them once, from 0, the fastest first",
    );
    refuses_line(
        "f32[4,6] custom-call(a), foo={1, [2}",
        "}: `}` cannot stand here; expected a name, a string, `HloModule`, `ENTRY`, `ROOT`, `(`, …",
    );
}

#[test]
fn attributes_are_needed_and_checked() {
    refuses_line(
        "f32[6,4] transpose(a)",
        "transpose: `transpose` needs `dimensions`, as in `dimensions={0,2,1}`",
    );
    refuses_line(
        "f32[6,4] transpose(a), dimensions={1}",
        "{1}: `dimensions` lists 1, but there are 2 dimensions of the operand",
    );
    refuses_line(
        "f32[6,4] transpose(a), dimensions={1,2}",
        "2: `dimensions` names different dimensions from 0 and below 2, but here is 2",
    );
    refuses_line(
        "f32[6,4] transpose(a), dimensions={1,1}",
        "1: `dimensions` names different dimensions from 0 and below 2, but here is 1",
    );
    refuses_line(
        "f32[6,4] transpose(a), dimensions=1",
        "1: `dimensions` is written as in `dimensions={0,2}`",
    );
    refuses_line(
        "f32[2,6] slice(a), slice={[0:9], [0:6]}",
        "[0:9]: 9 cannot stand here: the limit of a slice of 4 positions is from 0 to 4",
    );
    refuses_line(
        "f32[2,6] slice(a), slice={[3:2], [0:6]}",
        "[3:2]: 3 cannot stand here: the start of this slice is from 0 to 2",
    );
    refuses_line(
        "f32[2,6] slice(a), slice={[0:2:0], [0:6]}",
        "{[0:2:0], [0:6]}: `slice` is written as in `slice={[5:10:1], [0:50:2]}`",
    );
    refuses_line(
        "f32[6,6] pad(a, c), padding=1_1",
        "1_1: `padding` lists 1, but there are 2 dimensions",
    );
    refuses_line(
        "f32[6,6] pad(a, c), padding=-3_-3x0_0",
        "-3_-3x0_0: -3 cannot stand here: 4 positions with this padding would be -2",
    );
    refuses_line(
        "f32[6,6] pad(a, b), padding=0_0x0_0",
        "b: this operand is f32[6,4], but a single value is needed",
    );
    refuses_line(
        "f32[9,6] dynamic-slice(a, i, i), dynamic_slice_sizes={9,6}",
        "9: 9 cannot stand here: a slice of 4 positions has 0 to 4",
    );
    refuses_line(
        "f32[1,6] dynamic-slice(a, c, i), dynamic_slice_sizes={1,6}",
        "c: this operand is f32[], but an integer is needed",
    );
    refuses_line(
        "f32[4,6] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "a: this operand is f32[4,6], but one with contracting dimensions of the extents [6] is needed",
    );
    refuses_line(
        "f32[4,6] convolution(a, b), dim_labels=bf_oi",
        "bf_oi: `dim_labels` is written as in `dim_labels=b01f_01io->b01f`",
    );
    refuses_line(
        "f32[4,6] convolution(a, b), dim_labels=b0f_0io->b0f",
        "b0f_0io->b0f: with 0 spatial dimensions the labels of input and output are `b`, `f` and the numbers from 0, and those of the kernel `i`, `o` and these numbers, as in `dim_labels=b01f_01io->b01f`",
    );
    refuses_line(
        "f32[4,4] convolution(a, b), dim_labels=bf_io->bf, feature_group_count=0",
        "0: 0 cannot stand here: there is at least one group",
    );
    refuses(
        "x = f32[3,5] parameter(0)\ni = s32[4,1] parameter(1)\ng = gather(x, i), offset_dims={}, collapsed_slice_dims={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, start_index_map={1}, index_vector_dim=1, slice_sizes={1,1}",
        "i: this operand is s32[4,1], but an array with the extents of the operand along the batching dimensions is needed",
    );
    refuses_line(
        "f32[] get-tuple-element(a), index=0",
        "a: this operand is f32[4,6], but a tuple is needed",
    );
    refuses_line(
        "(f32[4,6]) while(a), condition=x, body=y, foo=bar baz",
        ": the text ends too early; expected `(`, `{`, `=`, `->`",
    );
}

#[test]
fn operations_without_maps_are_known_and_say_so() {
    let text = "a = f32[4] parameter(0)\nb = f32[4] custom-call(a), custom_call_target=\"f\"\nROOT c = f32[4] negate(b)";
    let module = super::module(text);
    let mut analysis = Analysis::new(&module);
    let own = analysis.of_instruction(0, 1).expect("maps");
    assert_eq!(own.output_to_input, [[None]]);
    assert_eq!(own.input_to_output, [[None]]);
    let through = analysis.of_computation(0).expect("maps");
    assert_eq!(through.output_to_input, [[None]]);
}

#[test]
fn a_value_that_doubles_does_not_take_forever() {
    let mut lines = vec!["v0 = s32[2] parameter(0)".to_owned()];
    for at in 1..200 {
        lines.push(format!("v{at} = (s32[2], s32[2]) tuple(v0, v0)"));
        lines.push(format!("t{at} = tuple(v{at}, v{at})"));
    }
    lines.push("a0 = s32[2] add(v0, v0)".to_owned());
    for at in 1..400 {
        lines.push(format!("a{at} = s32[2] add(a{}, a{})", at - 1, at - 1));
    }
    let body = lines.join("\n");
    let module = super::module(&format!("f {{ {body} }}"));
    let maps = Analysis::new(&module).root().expect("maps");
    assert_eq!(maps.output_to_input[0][0].as_ref().map(Vec::len), Some(1));
    let doubled: Vec<_> = (1..40)
        .map(|at| format!("t{at} = tuple(t{}, t{})\n", at - 1, at - 1))
        .collect();
    let text = format!("t0 = f32[] parameter(0)\n{}", doubled.concat());
    assert_eq!(
        errors(&text),
        ["tuple: this tuple holds more than 4096 arrays"]
    );
    // Each step can take the one before to two places: more and more different maps.
    let mut lines = vec!["v0 = s32[999983] parameter(0)".to_owned()];
    for at in 1..40 {
        let before = at - 1;
        let by = 1_i64 << (at % 19);
        lines.push(format!("p{at} = s32[{by}] constant({{...}})"));
        lines.push(format!(
            "l{at} = s32[{}] slice(v{before}), slice={{[{by}:999983]}}",
            999_983 - by
        ));
        lines.push(format!(
            "r{at} = s32[999983] concatenate(l{at}, p{at}), dimensions={{0}}"
        ));
        lines.push(format!("v{at} = s32[999983] add(r{at}, v{before})"));
    }
    let module = super::module(&lines.join("\n"));
    let error = Analysis::new(&module)
        .of_computation(0)
        .expect_err("too many");
    assert_eq!(
        error.to_string(),
        "the instructions from here on read one array in too many different ways"
    );
}

#[test]
fn changed_texts_are_read_or_refused() {
    let mut random = Random(77);
    for seed in 1..300 {
        let mut program = Program::new(seed);
        program.step();
        program.step();
        let mut bytes = text(&program, seed % 2 == 0).into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => {
                    bytes.remove(at);
                }
                1 => bytes.insert(at, b"{}[](),:=-0179x_ \"%"[random.below(19)]),
                2 => bytes[at] = b"{}[](),:=-0179x_ \"%"[random.below(19)],
                _ => bytes.truncate(at.max(1)),
            }
        }
        let changed = String::from_utf8_lossy(&bytes).into_owned();
        if let Ok(module) = Module::parse(&changed) {
            ask_everything(&module);
        }
    }
}

/// Everything that is asked of a module, whatever comes of it.
fn ask_everything(module: &Module) {
    for (at, computation) in module.computations().iter().enumerate() {
        let instructions = 0..computation.instructions().len();
        let mut all: Vec<_> = instructions
            .map(|position| Analysis::new(module).of_instruction(at, position))
            .collect();
        all.push(Analysis::new(module).of_computation(at));
        for maps in all.into_iter().flatten() {
            for (output, operands) in maps.outputs().iter().zip(&maps.output_to_input) {
                for (input, known) in maps.inputs.iter().zip(operands) {
                    let _ = utilization(&input.shape, &[known]);
                    for it in known.iter().flatten() {
                        let _ = coalescing(&it.indexing, output, input.shape.leaves()[it.part]);
                        let sizes = vec![3; output.rank()];
                        let _ = tile(&it.indexing, &output.extents, &sizes);
                    }
                }
            }
        }
    }
}

#[test]
fn extreme_numbers_are_read_or_refused() {
    let extremes = [
        "0",
        "-1",
        "1",
        "2",
        "9223372036854775807",
        "-9223372036854775808",
        "4294967296",
        "9223372036854775808",
        "3037000500",
        "0_0_9223372036854775807",
        "1x1",
    ];
    let mut random = Random(99);
    for seed in 1..1200 {
        let mut program = Program::new(seed);
        program.step();
        let source = text(&program, false);
        let mut changed = String::new();
        let mut rest = source.as_str();
        while let Some(at) = rest.find(|it: char| it.is_ascii_digit()) {
            let (before, from) = rest.split_at(at);
            let end = from
                .find(|it: char| !it.is_ascii_digit())
                .unwrap_or(from.len());
            let (number, behind) = from.split_at(end);
            changed += before;
            let is_name = before.ends_with(['v', 's']);
            changed += if !is_name && random.below(6) == 0 {
                extremes[random.below(extremes.len())]
            } else {
                number
            };
            rest = behind;
        }
        changed += rest;
        // The shape of a result that follows from the operands can be left out: then other numbers
        // fit more often.
        for text in [
            changed.clone(),
            changed.replace("ROOT v", "w = s32[7] iota(), iota_dimension=0\n ROOT v"),
        ] {
            if let Ok(module) = Module::parse(&text) {
                ask_everything(&module);
            }
        }
        let without: Vec<_> = changed
            .lines()
            .map(|line| match line.split_once("] ") {
                Some((head, operation)) if !operation.starts_with("parameter") => {
                    let name = head.split_once('=').map_or(head, |it| it.0);
                    format!("{name} = {operation}")
                }
                _ => line.to_owned(),
            })
            .collect();
        if let Ok(module) = Module::parse(&without.join("\n")) {
            ask_everything(&module);
        }
    }
}
