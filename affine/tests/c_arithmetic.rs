//! The value of every operation, held against what the system's C compiler makes of it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Command;
use strew_affine::evaluate::{binary, compare, convert};
use strew_affine::{BinaryOp, CompareOp, Type, Value};

const TYPES: [(Type, &str); 10] = [
    (Type::I8, "int8_t"),
    (Type::I16, "int16_t"),
    (Type::I32, "int32_t"),
    (Type::I64, "int64_t"),
    (Type::U8, "uint8_t"),
    (Type::U16, "uint16_t"),
    (Type::U32, "uint32_t"),
    (Type::U64, "uint64_t"),
    (Type::F32, "float"),
    (Type::F64, "double"),
];

const COMPARISONS: [CompareOp; 6] = [
    CompareOp::Eq,
    CompareOp::Ne,
    CompareOp::Lt,
    CompareOp::Le,
    CompareOp::Gt,
    CompareOp::Ge,
];

fn samples(ty: Type) -> Vec<Value> {
    let Some((least, greatest)) = ty.integer_range() else {
        let values = [
            0.0,
            -0.0,
            0.1,
            -1.5,
            3.0,
            16_777_217.0,
            1e30,
            1e-40,
            f64::INFINITY,
            f64::NAN,
        ];
        return values.map(|it| Value::float(ty, it)).to_vec();
    };
    let values = [0, 1, 3, -1, -2, 77, least, greatest];
    let fitting = values
        .into_iter()
        .filter(|it| (least..=greatest).contains(it));
    fitting.map(|it| Value::integer(ty, it)).collect()
}

/// What C leaves open is not asked for: strew defines it, and `evaluate`'s own tests hold it to
/// that.
fn is_defined_in_c(op: BinaryOp, right: Value) -> bool {
    let divides = matches!(op, BinaryOp::Div | BinaryOp::Rem);
    let shifts = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
    match right.as_integer() {
        Some(value) if divides => value != 0 && value != -1,
        Some(value) if shifts => (0..i128::from(right.ty().bits())).contains(&value),
        Some(_) => true,
        None => !op.is_integer_only(),
    }
}

/// A conversion from a float is defined in C when the truncated value fits.
fn converts_in_c(to: Type, value: Value) -> bool {
    match (value.as_float(), to.integer_range()) {
        (Some(float), Some((least, greatest))) => {
            let truncated = float.trunc();
            !float.is_nan() && least as f64 <= truncated && truncated < greatest as f64
        }
        _ => true,
    }
}

/// The lines of the C program and, for each, what it has to print.
#[derive(Default)]
struct Program {
    lines: String,
    expected: Vec<(String, Value)>,
}

impl Program {
    /// `types` are the C types of the operands and of the result.
    fn case(&mut self, types: (&str, &str), operands: &[Value], expr: &str, expected: Value) {
        let (from, to) = types;
        let declared: String = operands
            .iter()
            .zip(["a", "b"])
            .map(|(it, name)| {
                let bits = it.bits();
                format!("bits = {bits}ull; {from} {name}; memcpy(&{name}, &bits, sizeof {name}); ")
            })
            .collect();
        let _ = writeln!(
            self.lines,
            "{{ uint64_t bits; {declared}{to} r = ({to})({expr}); bits = 0; memcpy(&bits, &r, sizeof r); printf(\"%llu\\n\", (unsigned long long)bits); }}"
        );
        let shown = format!("({to})({expr}) on {from} {operands:?}");
        self.expected.push((shown, expected));
    }

    fn all() -> Self {
        let mut program = Self::default();
        for (ty, name) in TYPES {
            for left in samples(ty) {
                for right in samples(ty) {
                    program.operations(name, left, right);
                }
                for (to, to_name) in TYPES {
                    if converts_in_c(to, left) {
                        program.case((name, to_name), &[left], "a", convert(to, left));
                    }
                }
            }
        }
        program
    }

    fn operations(&mut self, name: &str, left: Value, right: Value) {
        for op in BinaryOp::ALL {
            if is_defined_in_c(op, right)
                && let Ok(expected) = binary(op, left, right)
            {
                let expr = format!("a {} b", op.symbol());
                self.case((name, name), &[left, right], &expr, expected);
            }
        }
        for op in COMPARISONS {
            let holds = Value::integer(Type::I32, i128::from(compare(op, left, right)));
            let expr = format!("a {} b", op.symbol());
            self.case((name, "int32_t"), &[left, right], &expr, holds);
        }
    }

    fn source(&self) -> String {
        let head =
            "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\nint main(void) {\n";
        format!("{head}{}return 0; }}\n", self.lines)
    }
}

fn same(left: Value, right: Value) -> bool {
    let is_nan = |it: Value| it.as_float().is_some_and(f64::is_nan);
    left == right || is_nan(left) && is_nan(right)
}

#[test]
fn every_operation_gives_what_c_gives() -> std::io::Result<()> {
    if Command::new("cc").arg("--version").output().is_err() {
        return writeln!(
            std::io::stderr(),
            "skipped: there is no `cc` to compare with"
        );
    }
    let program = Program::all();
    let folder = std::env::temp_dir().join(format!("strew-c-arithmetic-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (source, binary) = (folder.join("arithmetic.c"), folder.join("arithmetic"));
    std::fs::write(&source, program.source())?;
    let flags = ["-std=c99", "-O0", "-w", "-ffp-contract=off", "-fwrapv"];
    let compiled = Command::new("cc")
        .args(flags)
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .output()?;
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let output = Command::new(&binary).output()?;
    std::fs::remove_dir_all(&folder)?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let results: Vec<u64> = printed.lines().filter_map(|it| it.parse().ok()).collect();
    assert_eq!(results.len(), program.expected.len());
    for (bits, (shown, expected)) in results.into_iter().zip(program.expected) {
        let found = Value::from_bits(expected.ty(), bits);
        assert!(
            same(found, expected),
            "{shown}: C gives {found:?}, strew {expected:?}"
        );
    }
    Ok(())
}
