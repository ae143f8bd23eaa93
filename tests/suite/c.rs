//! The C compiler as an oracle.

use crate::data::{Data, Outcome, parameters};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use strew::ir::{Kernel, Type, Value};

/// What `cc` makes of the kernel in `source`; `None` where there is no `cc`.
pub(crate) fn run(source: &Path, kernel: &Kernel, data: &Data) -> Option<Outcome> {
    let folder = tempfile::tempdir().expect("a folder");
    let driver = folder.path().join("driver.c");
    std::fs::write(&driver, program(source, kernel, data)).expect("a file");
    let binary = folder.path().join("driver");
    let compiler = Command::new("cc")
        .args([
            "-std=c99",
            "-O0",
            "-ffp-contract=off",
            "-fwrapv",
            "-fno-builtin",
            "-w",
            "-o",
        ])
        .args([&binary, &driver])
        .output()
        .ok()?;
    let complaints = String::from_utf8_lossy(&compiler.stderr).into_owned();
    assert!(
        compiler.status.success(),
        "{}: {complaints}",
        source.display()
    );
    let output = Command::new(&binary).output().expect("the driver starts");
    assert!(
        output.status.success(),
        "{}: the driver failed",
        source.display()
    );
    Some(Ok(results(kernel, data, &output.stdout)))
}

/// A program that holds the arguments as bytes, calls the kernel, and writes all arrays out as bytes.
fn program(source: &Path, kernel: &Kernel, data: &Data) -> String {
    let source = source.canonicalize().expect("a path");
    let mut text = format!(
        "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n#include \"{}\"\n",
        source.display()
    );
    let mut setup = String::new();
    let mut finish = String::new();
    let mut arguments = Vec::new();
    for (name, ty, is_array) in parameters(kernel) {
        let values = if is_array {
            data.arrays[&name].clone()
        } else {
            vec![data.scalars[&name]]
        };
        // Alignment for any type, and one element more since C has no arrays of none.
        let bytes: Vec<_> = values
            .iter()
            .flat_map(|it| bytes(*it))
            .chain([0])
            .map(|it| it.to_string())
            .collect();
        let _ = writeln!(
            text,
            "static __attribute__((aligned(16))) unsigned char {name}_bytes[] = {{{}}};",
            bytes.join(",")
        );
        let c_type = c_type(ty);
        if is_array {
            arguments.push(format!("(void *){name}_bytes"));
            let _ = writeln!(
                finish,
                "fwrite({name}_bytes, 1, {}, stdout);",
                values.len() * ty.bytes() as usize
            );
        } else {
            let _ = writeln!(
                setup,
                "{c_type} {name}; memcpy(&{name}, {name}_bytes, sizeof {name});"
            );
            arguments.push(name);
        }
    }
    let _ = writeln!(
        text,
        "int main(void) {{\n{setup}{}({});\n{finish}return 0;\n}}",
        kernel.name,
        arguments.join(", ")
    );
    text
}

fn c_type(ty: Type) -> &'static str {
    match ty {
        Type::Bool | Type::U8 => "uint8_t",
        Type::I8 => "int8_t",
        Type::I16 => "int16_t",
        Type::I32 => "int32_t",
        Type::I64 => "int64_t",
        Type::U16 => "uint16_t",
        Type::U32 => "uint32_t",
        Type::U64 => "uint64_t",
        Type::F32 => "float",
        Type::F64 => "double",
    }
}

fn bytes(value: Value) -> Vec<u8> {
    let bytes = value.bits().to_le_bytes();
    bytes[..value.ty().bytes() as usize].to_vec()
}

fn results(
    kernel: &Kernel,
    data: &Data,
    mut output: &[u8],
) -> std::collections::BTreeMap<String, Vec<Value>> {
    let arrays = parameters(kernel)
        .into_iter()
        .filter(|(_, _, is_array)| *is_array);
    arrays
        .map(|(name, ty, _)| {
            let values = (0..data.arrays[&name].len()).map(|_| {
                let (bytes, rest) = output.split_at(ty.bytes() as usize);
                output = rest;
                let mut wide = [0; 8];
                wide[..bytes.len()].copy_from_slice(bytes);
                Value::from_bits(ty, u64::from_le_bytes(wide))
            });
            let values = values.collect();
            (name, values)
        })
        .collect()
}
