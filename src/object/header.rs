//! The header of an object: what a C program has to know to call the kernel.

use super::{ObjectSettings, identifier};
use crate::sizes::{representative, written_extents};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use strew_affine::visit::written_arrays;
use strew_affine::{ArrayId, Kernel, Parameter, RecordId, Type};
use strew_jit::{Oob, RecordLayout, Target};
use strew_runtime::Mode;

/// What all headers have in common; a program may include several.
const COMMON: &str = "\
#ifndef STREW_CODES
#define STREW_CODES

/* What a kernel returns. All arrays are as they were before the call unless it is STREW_DONE. */
enum strew_code {
  STREW_DONE = 0,             /* it ran to its end */
  STREW_OUT_OF_RANGE = 1,     /* an index was out of range */
  STREW_DIVISION_BY_ZERO = 2, /* an integer was divided by zero */
  STREW_MET = 3,              /* an element of an array that is said to be disjoint was written twice */
  STREW_SIZES = 4,            /* sizes below zero, or beyond what can be calculated with */
  STREW_ASSUMPTION = 5,       /* the sizes do not keep what the kernel text assumes */
  STREW_MEMORY = 6,           /* it would hold more memory than it may, or than there is */
  STREW_REFUSED = 7,          /* not with the strategy that the schedule names, or with so many threads */
  STREW_NULL = 8,             /* an array that has elements is a null pointer */
  STREW_INTERNAL = 9          /* a defect of strew, or a library of another version */
};

/* What the last call on this thread met. */
struct strew_fault {
  uint32_t code;        /* what it returned */
  uint32_t line;        /* where in the source, from 1; 0 when that is not known */
  uint32_t column;
  uint32_t depth;       /* how many entries of iteration are meant */
  const char *array;    /* the array, or NULL */
  int64_t index;        /* the index that was out of range, or the element that was written twice */
  int64_t extent;       /* what the index had to be below */
  int64_t iteration[8]; /* the iterators of the loops around, outermost first */
};

void strew_last_fault(struct strew_fault *fault);

/* Why the last call on this thread returned STREW_MEMORY, STREW_REFUSED or STREW_INTERNAL, in words and with what to do; \"\" after all
   others. It is there until the next call on this thread. */
const char *strew_last_message(void);

/* How many threads later calls use, 0 for as many as the machine has; returns STREW_DONE or STREW_REFUSED. */
uint32_t strew_threads(uint32_t threads);

#endif
";

/// The header of the function `symbol` for `kernel` as its source has it.
pub(super) fn header(kernel: &Kernel, symbol: &str, settings: &ObjectSettings) -> String {
    let written = written_arrays(kernel);
    let guard = symbol.to_uppercase();
    let mut text = format!(
        "/* {}, compiled by strew {}: {}.\n   To be linked with the object, libstrew_runtime.a, and -lpthread -ldl -lm. */\n\
         #ifndef {guard}_H\n#define {guard}_H\n\n#include <stdbool.h>\n#include <stdint.h>\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{COMMON}\n",
        kernel.name,
        env!("CARGO_PKG_VERSION"),
        described(settings),
    );
    let mut parameters = Vec::new();
    for param in &kernel.params {
        if let Parameter::Record(record) = param {
            text += &structure(kernel, *record, symbol);
        }
        parameters.push(parameter(kernel, *param, symbol, &written));
    }
    if let Some(ty) = kernel.result_type() {
        parameters.push(format!("{} *result", c_type(ty)));
    }
    text += &explained(kernel);
    let list = match parameters.is_empty() {
        true => "void".to_owned(),
        false => parameters.join(", "),
    };
    // Writing to a `String` does not fail.
    let _ = write!(
        text,
        "uint32_t {symbol}({list});\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    );
    text
}

fn described(settings: &ObjectSettings) -> String {
    let mode = match settings.mode {
        Mode::Fast => "fast",
        Mode::Stable => "stable",
        Mode::Exact => "exact",
    };
    let oob = match settings.oob {
        Oob::Error => "an error",
        Oob::Skip => "skipped",
    };
    let target = match settings.target {
        Target::Native => "processors like the one at hand",
        Target::Baseline => "every processor of the architecture",
    };
    format!("mode {mode}, an index out of range is {oob}, for {target}")
}

fn parameter(
    kernel: &Kernel,
    param: Parameter,
    symbol: &str,
    written: &BTreeSet<ArrayId>,
) -> String {
    let constant = |is_written| if is_written { "" } else { "const " };
    match param {
        Parameter::Scalar(scalar) => {
            let scalar = &kernel.scalars[scalar];
            format!("{} {}", c_type(scalar.ty), identifier(&scalar.name))
        }
        Parameter::Array(array) => {
            let constant = constant(written.contains(&array));
            let array = &kernel.arrays[array];
            let name = identifier(&array.name);
            format!("{constant}{} *{name}", c_type(array.element))
        }
        Parameter::Record(record) => {
            let record = &kernel.records[record];
            let constant = constant(record.fields.iter().any(|it| written.contains(it)));
            let name = identifier(&record.name);
            format!("{constant}struct {symbol}_{name} *{name}")
        }
    }
}

/// The structure that an array has as elements. What the kernel does not touch is bytes that hold
/// the place.
fn structure(kernel: &Kernel, record: RecordId, symbol: &str) -> String {
    let name = identifier(&kernel.records[record].name);
    let layout = RecordLayout::of(kernel, record);
    let mut text = format!("struct {symbol}_{name} {{\n");
    let mut at = 0;
    let hold = |text: &mut String, from: usize, to: usize| {
        if to > from {
            // Writing to a `String` does not fail.
            let _ = writeln!(text, "  uint8_t strew_bytes_{from}[{}];", to - from);
        }
    };
    for field in layout.fields() {
        hold(&mut text, at, field.offset);
        let lengths: String = field.lengths.iter().map(|it| format!("[{it}]")).collect();
        let name = identifier(&field.name);
        let _ = writeln!(text, "  {} {name}{lengths};", c_type(field.ty));
        at = field.offset + field.elements() * field.ty.bytes() as usize;
    }
    hold(&mut text, at, layout.bytes());
    let bytes = layout.bytes();
    let _ = write!(
        text,
        "}};\n/* Does not compile where the structure is laid out in another way. */\n\
         typedef char {symbol}_{name}_has_{bytes}_bytes[sizeof(struct {symbol}_{name}) == {bytes} ? 1 : -1];\n\n"
    );
    text
}

/// What a caller cannot see from the types.
fn explained(kernel: &Kernel) -> String {
    let mut shapes = Vec::new();
    for param in &kernel.params {
        if let Some(array) = representative(kernel, *param) {
            let name = match param {
                Parameter::Record(record) => &kernel.records[*record].name,
                Parameter::Array(_) | Parameter::Scalar(_) => &kernel.arrays[array].name,
            };
            shapes.push(format!("{name}{}", written_extents(kernel, array)));
        }
    }
    let mut text = format!("/* Arrays, row by row: {}.", shapes.join(", "));
    if shapes.is_empty() {
        text = "/* No arrays.".to_owned();
    }
    text += "\n   Distinct arrays must not overlap where one is written; nobody else touches them during the call.";
    if kernel.result_type().is_some() {
        text += "\n   The result goes to *result.";
    }
    text + " */\n"
}

fn c_type(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::I8 => "int8_t",
        Type::I16 => "int16_t",
        Type::I32 => "int32_t",
        Type::I64 => "int64_t",
        Type::U8 => "uint8_t",
        Type::U16 => "uint16_t",
        Type::U32 => "uint32_t",
        Type::U64 => "uint64_t",
        Type::F32 => "float",
        Type::F64 => "double",
    }
}
