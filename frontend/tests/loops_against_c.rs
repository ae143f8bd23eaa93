//! Random loops of every form, with parameters at the edges of their types: what the kernels
//! compute, with and without assumptions, is what `cc` computes.

use std::fmt::Write as _;
use std::process::Command;
use strew_affine::interpret::{Argument, FaultKind, ForallOrder, Stop, interpret};
use strew_affine::verify::verify;
use strew_affine::{Kernel, StdMath, Type, Value};
use strew_frontend::{compile, compile_exact};

const FUNCTIONS: u64 = 400;
/// More turns than this are not waited for.
const FUEL: u64 = 3_000;
const CELLS: usize = 16;

const TYPES: [(&str, Type); 7] = [
    ("int8_t", Type::I8),
    ("uint8_t", Type::U8),
    ("int16_t", Type::I16),
    ("int32_t", Type::I32),
    ("uint32_t", Type::U32),
    ("int64_t", Type::I64),
    ("uint64_t", Type::U64),
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % count as u64) as usize
    }

    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn ty(&mut self) -> (&'static str, Type) {
        TYPES[self.below(TYPES.len())]
    }

    /// Small, or near an end of the type.
    fn value(&mut self, ty: Type) -> Value {
        let (low, high) = ty.integer_range().unwrap_or((0, 0));
        let near = self.below(7) as i128;
        Value::integer(
            ty,
            match self.below(5) {
                0 => high - near,
                1 => low + near,
                2 => -near,
                _ => near + 1,
            },
        )
    }

    fn expression(&mut self, names: &[&str]) -> String {
        let (x, y) = (self.one_of(names), self.one_of(names));
        let constant = self.one_of(&["0", "1", "2", "5", "-1"]);
        match self.below(8) {
            0 => constant.to_owned(),
            1 => format!("{x} - {constant}"),
            2 => format!("{x} + {y}"),
            3 => format!("{x} * 2"),
            4 => format!("({x} < {y} ? {x} : {y})"),
            _ => x.to_owned(),
        }
    }

    fn header(&mut self, name: &str, ty: &str) -> (String, String, String) {
        let (first, end) = (
            self.expression(&["p", "q"]),
            self.expression(&["p", "q", "s"]),
        );
        let amount = self.one_of(&["1", "2", "3", "s"]);
        let compare = self.one_of(&["<", "<=", "!=", "<"]);
        let down = self.one_of(&[">", ">=", "!=", ">"]);
        let start = format!("{ty} {name} = {first}");
        let empty = String::new();
        match self.below(9) {
            0 | 1 => (
                start,
                format!("{name} {compare} {end}"),
                format!("{name}++"),
            ),
            2 => (
                start,
                format!("{name} {compare} {end}"),
                format!("{name} += {amount}"),
            ),
            3 => (start, format!("{name} {down} {end}"), format!("{name}--")),
            4 => (
                start,
                format!("{name} {down} {end}"),
                format!("{name} -= {amount}"),
            ),
            5 => (start, format!("{name}-- {down} {end}"), empty),
            6 => (
                start,
                format!("{name} < {end} && {name} < q"),
                format!("++{name}"),
            ),
            7 => (
                format!("{start}, {name}2 = {end}"),
                format!("{name} < {name}2"),
                format!("{name}++, {name}2--"),
            ),
            _ => (
                start,
                format!("{name} + 1 {compare} {end}"),
                format!("{name}++"),
            ),
        }
    }

    fn statement(&mut self, iterators: &[&str]) -> String {
        let i = self.one_of(iterators);
        let e = self.expression(&[i, "p", "k"]);
        match self.below(9) {
            // Nothing else reads `u`.
            8 => format!("out[u++ & 15] += {i};"),
            0 => format!("out[({e}) & 15] += {i};"),
            1 => "k += 3;".to_owned(),
            2 => format!("t = {e}; out[t & 15] ^= t;"),
            3 => format!("if ({i} > 0 && {i} < 16) out[{i}] += {i} - 1;"),
            4 => format!("if ({e} < q) out[1] += {i};"),
            5 => format!("out[({i} / 2) & 15] -= {e};"),
            6 => format!("if ({i} == s) continue; out[3] += {e};"),
            _ => format!("out[{i} % 16 & 15] += k;"),
        }
    }

    fn function(&mut self, number: u64) -> (String, [Type; 3]) {
        let types = [self.ty(), self.ty(), self.ty()];
        let [p, q, s] = types.map(|it| it.0);
        let (k, t, outer, inner) = (self.ty().0, self.ty().0, self.ty().0, self.ty().0);
        let (start, condition, step) = self.header("i", outer);
        let (before, after) = (self.statement(&["i"]), self.statement(&["i"]));
        let (inner_start, inner_condition, inner_step) = self.header("j", inner);
        let nested = self.statement(&["i", "j"]);
        let nested = match self.below(3) {
            0 => format!("for ({inner_start}; {inner_condition}; {inner_step}) {{ {nested} }}"),
            1 => format!("for ({inner} j = 0; j < i; j++) {{ {nested} }}"),
            _ => String::new(),
        };
        let turn = format!("{before} {nested} {after}");
        let text = match self.below(6) {
            0 | 1 => format!("for ({start}; {condition}; {step}) {{ {turn} }}"),
            2 => format!("{start}; do {{ {turn} {step}; }} while ({condition}); out[5] += i;"),
            3 => format!("{start}; for (;; {step}) {{ if (!({condition})) break; {turn} }}"),
            4 => format!(
                "{start}; while (--i > {}) {{ {turn} }} out[5] += i;",
                self.one_of(&["0", "s"])
            ),
            _ => format!("{start}; for (; {condition}; {step}) {{ {turn} }} out[5] += i;"),
        };
        let text = format!(
            "void f{number}({p} p, {q} q, {s} s, int64_t out[16]) {{ {k} k = 0, u = 0; {t} t = 0; {text} out[7] += k + t; }}\n"
        );
        (text, types.map(|it| it.1))
    }
}

fn kernel(source: &str, exact: bool) -> Kernel {
    let (mut kernels, diagnostics) = if exact {
        compile_exact(source)
    } else {
        compile(source)
    };
    let messages: Vec<_> = diagnostics.iter().map(|it| it.message()).collect();
    assert_eq!(kernels.len(), 1, "{source}\n{messages:?}");
    kernels.remove(0).kernel
}

/// What `out` holds afterwards; `None` where the kernel runs for too long or assumes what does not
/// hold.
fn run(kernel: &Kernel, values: &[Value]) -> Option<Result<Vec<Value>, String>> {
    let verified = verify(kernel.clone());
    let Ok(verified) = verified else {
        panic!("{kernel}\n{verified:?}");
    };
    let mut arguments: Vec<_> = values.iter().map(|it| Argument::Scalar(*it)).collect();
    arguments.push(Argument::Array(vec![Value::i64(0); CELLS]));
    match interpret(
        &verified,
        &mut arguments,
        FUEL,
        ForallOrder::Forward,
        &StdMath,
    ) {
        Ok(_) => match arguments.pop() {
            Some(Argument::Array(cells)) => Some(Ok(cells)),
            _ => None,
        },
        Err(Stop::Fault(fault)) if matches!(fault.kind, FaultKind::Assumption { .. }) => None,
        Err(Stop::Fault(fault)) => Some(Err(format!("{:?}", fault.kind))),
        Err(Stop::OutOfFuel) => None,
        Err(other) => Some(Err(other.to_string())),
    }
}

struct Case {
    function: u64,
    values: Vec<Value>,
    expected: Vec<Value>,
}

#[test]
fn random_loops_compute_what_they_compute_in_c() {
    let mut random = Random(2024);
    let (mut sources, mut cases) = (Vec::new(), Vec::new());
    let mut with_assumptions = 0;
    for function in 0..FUNCTIONS {
        let (source, types) = random.function(function);
        let (assuming, exact) = (kernel(&source, false), kernel(&source, true));
        for _ in 0..12 {
            let values: Vec<_> = types.iter().map(|ty| random.value(*ty)).collect();
            let found = run(&assuming, &values);
            let Some(Ok(expected)) = run(&exact, &values) else {
                continue;
            };
            if let Some(found) = found {
                with_assumptions += usize::from(!assuming.assumptions.is_empty());
                assert_eq!(
                    found.as_ref(),
                    Ok(&expected),
                    "{source}{values:?}\n{assuming}\n{exact}"
                );
            }
            cases.push(Case {
                function,
                values,
                expected,
            });
        }
        sources.push(source);
    }
    assert!(
        cases.len() > 1000 && with_assumptions > 200,
        "{} {with_assumptions}",
        cases.len()
    );
    compare_with_c(&sources, &cases);
}

fn compare_with_c(sources: &[String], cases: &[Case]) {
    let mut program = "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n".to_owned();
    program.extend(sources.iter().map(String::as_str));
    program.push_str("int main(void) {\nint64_t out[16];\n");
    for case in cases {
        let values = case.values.iter().map(|value| {
            let bits = value.bits();
            format!("{bits}u")
        });
        let values: Vec<_> = values.collect();
        let _ = writeln!(
            program,
            "memset(out, 0, sizeof out); f{}({}, out); fwrite(out, sizeof out, 1, stdout);",
            case.function,
            values.join(", ")
        );
    }
    program.push_str("return 0;\n}\n");
    let folder = std::env::temp_dir().join(format!("strew-loops-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (file, binary) = (folder.join("loops.c"), folder.join("loops"));
    std::fs::write(&file, program).expect("a file");
    let flags = ["-std=c99", "-O0", "-fwrapv", "-fno-builtin", "-w", "-o"];
    let compiler = Command::new("cc")
        .args(flags)
        .arg(&binary)
        .arg(&file)
        .output();
    let Ok(compiler) = compiler else {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: there is no cc\n");
        return;
    };
    assert!(
        compiler.status.success(),
        "{}",
        String::from_utf8_lossy(&compiler.stderr)
    );
    let output = Command::new(&binary)
        .output()
        .expect("the program starts")
        .stdout;
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(output.len(), cases.len() * CELLS * 8);
    for (case, bytes) in cases.iter().zip(output.chunks(CELLS * 8)) {
        let found: Vec<i128> = bytes
            .chunks(8)
            .map(|it| i64::from_le_bytes(it.try_into().unwrap_or_default()).into())
            .collect();
        let expected: Vec<_> = case
            .expected
            .iter()
            .filter_map(|it| it.as_integer())
            .collect();
        let source = &sources[case.function as usize];
        assert_eq!(
            found,
            expected,
            "{source}{:?}\n{}",
            case.values,
            kernel(source, true)
        );
    }
}
