//! The C compiler as an oracle.

use crate::data::{Data, Outcome, Passed, RESULT, passed};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use strew::RecordLayout;
use strew::ir::{Kernel, Type, Value};
use tempfile::TempDir;

/// The language that strew computes: nothing contracted, no library function replaced, signed sums
/// that wrap.
const FLAGS: [&str; 6] = [
    "-std=c99",
    "-O0",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-builtin",
    "-w",
];

/// A C program that `cc` has compiled.
pub(crate) struct Binary {
    folder: TempDir,
}

impl Binary {
    /// Compiles the whole program `text`; `None` where there is no `cc`.
    pub(crate) fn compile(text: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let binary = Self { folder };
        fs::write(binary.path("program.c"), text).expect("a file");
        let compiler = Command::new("cc")
            .args(FLAGS)
            .arg("-o")
            .args([binary.path("program"), binary.path("program.c")])
            .arg("-lm")
            .output()
            .ok()?;
        let complaints = String::from_utf8_lossy(&compiler.stderr).into_owned();
        assert!(compiler.status.success(), "{complaints}");
        Some(binary)
    }

    /// The same, linked with an object and the library that it needs.
    pub(crate) fn compile_with(text: &str, object: &[u8], library: &Path) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let binary = Self { folder };
        fs::write(binary.path("program.c"), text).expect("a file");
        fs::write(binary.path("kernel.o"), object).expect("a file");
        let compiler = Command::new("cc")
            .args(["-std=c99", "-Wall", "-Werror", "-Wno-unused-function", "-o"])
            .args(["program", "program.c", "kernel.o"].map(|it| binary.path(it)))
            .arg(library)
            .args(["-lpthread", "-ldl", "-lm"])
            .output()
            .ok()?;
        let complaints = String::from_utf8_lossy(&compiler.stderr).into_owned();
        assert!(compiler.status.success(), "{complaints}");
        Some(binary)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What the program writes when it reads `input`.
    pub(crate) fn run(&self, input: &[u8]) -> Vec<u8> {
        // From a file: two pipes at once could fill up and wait for each other.
        fs::write(self.path("input"), input).expect("a file");
        let input = File::open(self.path("input")).expect("a file");
        let output = Command::new(self.path("program"))
            .stdin(Stdio::from(input))
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{:?}", output.status);
        output.stdout
    }
}

/// C kernels in one program, to be called any number of times.
pub(crate) struct Program {
    binary: Binary,
    kernels: Vec<Kernel>,
}

impl Program {
    /// Compiles `source`, which holds the functions that `kernels` were made of; `None` where there
    /// is no `cc`.
    pub(crate) fn compile<'a>(
        source: &str,
        kernels: impl IntoIterator<Item = &'a Kernel>,
    ) -> Option<Self> {
        let kernels: Vec<_> = kernels.into_iter().cloned().collect();
        let binary = Binary::compile(&program(source, &kernels))?;
        Some(Self { binary, kernels })
    }

    /// The results of `calls`, each of the kernel with that number.
    pub(crate) fn run(&self, calls: &[(usize, &Data)]) -> Vec<Outcome> {
        let input: Vec<u8> = calls
            .iter()
            .flat_map(|(number, data)| encoded(*number, &self.kernels[*number], data))
            .collect();
        let output = self.binary.run(&input);
        let mut output = output.as_slice();
        let outcomes = calls
            .iter()
            .map(|(number, data)| Ok(results(&self.kernels[*number], data, &mut output)))
            .collect();
        assert!(output.is_empty(), "the program writes what was asked for");
        outcomes
    }
}

/// What `cc` makes of the only kernel in `source`; `None` where there is no `cc`.
pub(crate) fn run(source: &str, kernel: &Kernel, data: &Data) -> Option<Outcome> {
    let program = Program::compile(source, [kernel])?;
    program.run(&[(0, data)]).pop()
}

/// Reads arguments, and writes arrays, as they lie in memory, each array behind the number of its
/// bytes.
pub(crate) const DRIVER: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void driver_read(void *to, size_t bytes) {
  if (fread(to, 1, bytes, stdin) != bytes)
    exit(2);
}

static void *driver_array(uint64_t *bytes) {
  driver_read(bytes, sizeof *bytes);
  void *array = malloc(*bytes + 16);
  driver_read(array, *bytes);
  return array;
}

static void driver_write(void *array, uint64_t bytes) {
  fwrite(array, 1, bytes, stdout);
  free(array);
}
"#;

/// A program that reads the number of a kernel and its arguments, calls it, writes all its arrays,
/// and so on.
fn program(source: &str, kernels: &[Kernel]) -> String {
    let mut text = format!("{DRIVER}\n#line 1 \"kernels.c\"\n{source}\n");
    let mut cases = String::new();
    for (number, kernel) in kernels.iter().enumerate() {
        let _ = writeln!(text, "{}", caller(number, kernel, source));
        let _ = writeln!(cases, "case {number}: driver_{number}(); break;");
    }
    let _ = write!(
        text,
        "int main(void) {{\nuint32_t number;\nwhile (fread(&number, sizeof number, 1, stdin) == 1)\n\
         switch (number) {{\n{cases}default: return 1;\n}}\nreturn 0;\n}}\n"
    );
    text
}

fn caller(number: usize, kernel: &Kernel, source: &str) -> String {
    let (mut setup, mut finish) = (String::new(), String::new());
    let mut arguments = Vec::new();
    for (position, parameter) in passed(kernel).into_iter().enumerate() {
        let name = format!("driver_{position}");
        let is_array = matches!(parameter, Passed::Array(..));
        let member = match &parameter {
            Passed::Scalar(name, _) | Passed::Array(name, _) => name.clone(),
            Passed::Records(..) => String::new(),
        };
        let _ = match parameter {
            Passed::Scalar(_, ty) => {
                let ty = c_type(ty);
                writeln!(setup, "{ty} {name}; driver_read(&{name}, sizeof {name});")
            }
            Passed::Array(..) | Passed::Records(..) => {
                let _ = writeln!(finish, "driver_write({name}, {name}_bytes);");
                writeln!(
                    setup,
                    "uint64_t {name}_bytes; void *{name} = driver_array(&{name}_bytes);"
                )
            }
        };
        // The members of a structure that C hands over by value stand next to each other.
        match member.split_once('.') {
            None => arguments.push((String::new(), name)),
            Some((structure, member)) => {
                let set = set_member(structure, member, &name, is_array);
                if arguments.last().is_none_or(|(last, _)| last != structure) {
                    let ty = structure_type(source, &kernel.name, structure);
                    let _ = writeln!(setup, "{ty} driver_{structure} = {{0}};");
                    arguments.push((structure.to_owned(), format!("driver_{structure}")));
                }
                setup += &set;
            }
        }
    }
    let arguments: Vec<_> = arguments.into_iter().map(|(_, it)| it).collect();
    let arguments = arguments.join(", ");
    let mut keep = String::new();
    if let Some(ty) = kernel.result_type() {
        keep = format!("{} driver_result = ", c_type(ty));
        finish += "fwrite(&driver_result, 1, sizeof driver_result, stdout);\n";
    }
    format!(
        "static void driver_{number}(void) {{\n{setup}{keep}{}({arguments});\n{finish}}}",
        kernel.name
    )
}

fn set_member(structure: &str, member: &str, value: &str, is_array: bool) -> String {
    let place = format!("driver_{structure}.{member}");
    if is_array {
        format!("memcpy(&{place}, {value}, sizeof {place});\n")
    } else {
        format!("{place} = {value};\n")
    }
}

/// What stands in front of the parameter called `name` of the function `kernel`.
fn structure_type<'s>(source: &'s str, kernel: &str, name: &str) -> &'s str {
    let (_, parameters) = source
        .split_once(&format!(" {kernel}("))
        .expect("the function");
    let end = parameters
        .match_indices(name)
        .find(|(at, _)| parameters[at + name.len()..].starts_with([',', ')']))
        .expect("the parameter");
    let before = &parameters[..end.0];
    before[before.rfind([',', '(']).map_or(0, |it| it + 1)..].trim()
}

pub(crate) fn encoded(number: usize, kernel: &Kernel, data: &Data) -> Vec<u8> {
    let mut encoded = u32::try_from(number)
        .expect("few kernels")
        .to_le_bytes()
        .to_vec();
    for parameter in passed(kernel) {
        let memory = match &parameter {
            Passed::Scalar(name, _) => {
                encoded.extend(bytes(data.scalars[name]));
                continue;
            }
            Passed::Array(name, _) => data.arrays[name].iter().copied().flat_map(bytes).collect(),
            Passed::Records(name, layout) => records(name, layout, data),
        };
        encoded.extend((memory.len() as u64).to_le_bytes());
        encoded.extend(memory);
    }
    encoded
}

/// The records `name` as they lie in memory.
fn records(name: &str, layout: &RecordLayout, data: &Data) -> Vec<u8> {
    let mut memory = vec![0; data.records(name, layout) * layout.bytes()];
    for field in layout.fields() {
        let values = &data.arrays[&format!("{name}.{}", field.name)];
        let values = values.chunks(field.elements());
        for (record, values) in memory.chunks_mut(layout.bytes()).zip(values) {
            let bytes: Vec<u8> = values.iter().copied().flat_map(bytes).collect();
            record[field.offset..][..bytes.len()].copy_from_slice(&bytes);
        }
    }
    memory
}

fn bytes(value: Value) -> Vec<u8> {
    let bytes = value.bits().to_le_bytes();
    bytes[..value.ty().bytes() as usize].to_vec()
}

/// The arrays of one call and its result, taken off the beginning of `output`.
pub(crate) fn results(
    kernel: &Kernel,
    data: &Data,
    output: &mut &[u8],
) -> BTreeMap<String, Vec<Value>> {
    let mut found = BTreeMap::new();
    for parameter in passed(kernel) {
        match parameter {
            Passed::Scalar(..) => {}
            Passed::Array(name, ty) => {
                let length = data.arrays[&name].len();
                let values = (0..length).map(|_| value(ty, output)).collect();
                found.insert(name, values);
            }
            Passed::Records(name, layout) => {
                let bytes = data.records(&name, &layout) * layout.bytes();
                let (memory, rest) = output.split_at(bytes);
                *output = rest;
                for field in layout.fields() {
                    let records = memory.chunks(layout.bytes());
                    let values = records.flat_map(|record| {
                        let mut at = &record[field.offset..];
                        (0..field.elements())
                            .map(|_| value(field.ty, &mut at))
                            .collect::<Vec<_>>()
                    });
                    found.insert(format!("{name}.{}", field.name), values.collect());
                }
            }
        }
    }
    if let Some(ty) = kernel.result_type() {
        found.insert(RESULT.to_owned(), vec![value(ty, output)]);
    }
    found
}

/// The value at the beginning of `output`, which is taken off.
fn value(ty: Type, output: &mut &[u8]) -> Value {
    let (bytes, rest) = output.split_at(ty.bytes() as usize);
    *output = rest;
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    Value::from_bits(ty, u64::from_le_bytes(wide))
}

/// The name of `ty` in C.
pub(crate) fn c_type(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "_Bool",
        Type::U8 => "uint8_t",
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
