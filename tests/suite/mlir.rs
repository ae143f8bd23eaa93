//! Kernels as MLIR, run by `mlir-cpu-runner` on the arguments of the suite.

use crate::data::{Data, Passed, RESULT, passed};
use crate::engines::interpreted;
use crate::mlir_tools::{LOWERING, done, piped, tool};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use strew::ir::interpret::ForallOrder;
use strew::ir::{ArrayId, Kernel, Parameter, ScalarId, Type, Value, Variable};
use strew::{ParsedKernel, Plan, Schedule};

static RUN: AtomicUsize = AtomicUsize::new(0);
static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// More elements make a module that takes long to read.
const MOST_ELEMENTS: usize = 20_000;

/// Whether `data` can be written into a module.
pub(crate) fn takes(data: &Data) -> bool {
    let lengths = data.arrays.values().map(Vec::len);
    lengths.clone().all(|it| it > 0) && lengths.sum::<usize>() <= MOST_ELEMENTS
}

/// Runs `kernel` as it is written and under the schedule that is found for it, and compares each
/// with what the interpreter makes of it.
#[track_caller]
pub(crate) fn agrees(kernel: &ParsedKernel, data: &Data) {
    let (Some(opt), Some(runner)) = (tool("mlir-opt"), tool("mlir-cpu-runner")) else {
        return;
    };
    for plan in [Plan::Explicit(Schedule::new()), Plan::Auto] {
        let scheduled = kernel.schedule(&plan, &mut ()).expect("a schedule");
        let name = &kernel.kernel().name;
        let module = match scheduled.to_mlir() {
            Ok(module) => module,
            Err(why) => {
                tell(&REFUSED, &format!("{name} is not printed: {why}"));
                continue;
            }
        };
        let expected = interpreted(scheduled.kernel(), data, ForallOrder::Forward);
        let Ok(expected) = expected else {
            continue;
        };
        let (functions, _) = module.rsplit_once('}').expect("a module");
        let program = format!("{functions}{}}}\n", main_function(kernel.kernel(), data));
        let lowered = done(piped(&opt, &LOWERING, &program));
        let arguments = ["-e", "main", "-entry-point-result=i64"];
        let result = done(piped(&runner, &arguments, &lowered));
        let result: i64 = result.trim().parse().unwrap_or_else(|_| panic!("{result}"));
        let expected = hash_of(kernel.kernel(), &expected);
        assert_eq!(result.cast_unsigned(), expected, "{name} as MLIR: {module}");
        tell(&RUN, &format!("{name} computes the same as MLIR"));
    }
}

/// How many there were so far, for whoever wants to see them.
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn tell(counter: &AtomicUsize, what: &str) {
    counter.fetch_add(1, Ordering::Relaxed);
    let [run, refused] = [&RUN, &REFUSED].map(|it| it.load(Ordering::Relaxed));
    eprintln!("{what}; MLIR so far: {run} run, {refused} not printed");
}

/// The bits of a value, of any NaN the same.
fn bits(value: Value) -> u64 {
    match value.as_float() {
        Some(float) if float.is_nan() => NAN,
        _ => value.bits(),
    }
}

const NAN: u64 = 0x7ff8;
const FACTOR: u64 = 1_000_003;

fn hash_of(kernel: &Kernel, outcome: &BTreeMap<String, Vec<Value>>) -> u64 {
    let arrays = arrays(kernel).into_iter().map(|(name, _)| name);
    let results = kernel.result_type().map(|_| RESULT.to_owned());
    let values = arrays.chain(results).flat_map(|it| &outcome[&it]);
    values.fold(0_u64, |hash, it| {
        hash.wrapping_mul(FACTOR).wrapping_add(bits(*it))
    })
}

fn arrays(kernel: &Kernel) -> Vec<(String, Type)> {
    let arrays = passed(kernel).into_iter().filter_map(|it| match it {
        Passed::Array(name, ty) => Some((name, ty)),
        Passed::Scalar(..) | Passed::Records(..) => None,
    });
    arrays.collect()
}

fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "i1",
        Type::I8 | Type::U8 => "i8",
        Type::I16 | Type::U16 => "i16",
        Type::I32 | Type::U32 => "i32",
        Type::I64 | Type::U64 => "i64",
        Type::F32 => "f32",
        Type::F64 => "f64",
    }
}

fn constant(value: Value) -> String {
    match value.ty() {
        Type::Bool => (value.bits() != 0).to_string(),
        Type::F32 => format!("0x{:08X} : f32", value.bits()),
        Type::F64 => format!("0x{:016X} : f64", value.bits()),
        ty => {
            let width = u32::from(ty.bits() < 64) * ty.bits();
            let wide = match width {
                0 => value.bits().cast_signed(),
                width => ((value.bits() << (64 - width)).cast_signed()) >> (64 - width),
            };
            format!("{wide} : {}", type_name(ty))
        }
    }
}

/// A main function that calls the kernel with `data` and returns the hash of all its arrays and its
/// result.
fn main_function(kernel: &Kernel, data: &Data) -> String {
    let (mut globals, mut body, mut after) = (String::new(), String::new(), String::new());
    let (mut names, mut types) = (Vec::new(), Vec::new());
    let mut hashes = 0;
    for (position, parameter) in kernel.params.iter().enumerate() {
        let name = format!("%p{position}");
        match parameter {
            Parameter::Scalar(scalar) => {
                let scalar = &kernel.scalars[*scalar];
                let value = match scalar.inferred {
                    true => Value::i64(inferred(kernel, data, &scalar.name)),
                    false => data.scalars[&scalar.name],
                };
                let _ = writeln!(body, "{name} = arith.constant {}", constant(value));
                types.push(type_name(scalar.ty).to_owned());
            }
            Parameter::Array(array) => {
                let array = &kernel.arrays[*array];
                let (values, element) = (&data.arrays[&array.name], type_name(array.element));
                let rank = array.extents.len();
                let flat = format!("memref<{}x{element}>", values.len());
                let dynamic = format!("memref<{}{element}>", "?x".repeat(rank));
                let dense = dense(values, array.element);
                let _ = writeln!(
                    globals,
                    "memref.global \"private\" @g{position} : {flat} = dense<{dense}>"
                );
                let _ = writeln!(
                    body,
                    "{name}_flat = memref.get_global @g{position} : {flat}"
                );
                let extents = extents(kernel, data, &array.name);
                let strides: Vec<u64> = (0..rank)
                    .map(|it| extents[it + 1..].iter().product())
                    .collect();
                let list = |numbers: &[u64]| {
                    let texts: Vec<_> = numbers.iter().map(u64::to_string).collect();
                    texts.join(", ")
                };
                let sized: String = extents.iter().map(|it| format!("{it}x")).collect();
                let _ = writeln!(
                    body,
                    "{name}_shaped = memref.reinterpret_cast {name}_flat to offset: [0], sizes: [{}], strides: [{}] : {flat} to memref<{sized}{element}, strided<[{}]>>",
                    list(&extents),
                    list(&strides),
                    list(&strides),
                );
                let _ = writeln!(
                    body,
                    "{name} = memref.cast {name}_shaped : memref<{sized}{element}, strided<[{}]>> to {dynamic}",
                    list(&strides)
                );
                types.push(dynamic);
                let _ = writeln!(
                    after,
                    "%n{position} = arith.constant {} : index\n\
                     %h{} = scf.for %i = %zero to %n{position} step %one iter_args(%h = %h{hashes}) -> (i64) {{\n\
                     %x = memref.load {name}_flat[%i] : {flat}\n{}\
                     %m = arith.muli %h, %factor : i64\n%s = arith.addi %m, %w : i64\nscf.yield %s : i64\n}}",
                    values.len(),
                    hashes + 1,
                    widened(array.element)
                );
                hashes += 1;
            }
            Parameter::Record(_) => unreachable!("arrays of structs are not printed"),
        }
        names.push(name);
    }
    let (names, types) = (names.join(", "), types.join(", "));
    let call = format!("func.call @{}({names}) : ({types}) -> ", kernel.name);
    let call = match kernel.result_type() {
        None => format!("{call}()\n"),
        Some(ty) => {
            let _ = writeln!(
                after,
                "{}%mr = arith.muli %h{hashes}, %factor : i64\n%h{} = arith.addi %mr, %w : i64",
                widened(ty),
                hashes + 1
            );
            hashes += 1;
            format!("%x = {call}{}\n", type_name(ty))
        }
    };
    format!(
        "{globals}func.func @main() -> i64 {{\n{body}{call}%h0 = arith.constant 0 : i64\n\
         %factor = arith.constant {FACTOR} : i64\n%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n\
         {after}return %h{hashes} : i64\n}}\n"
    )
}

/// `%w`, the bits of `%x`, of any NaN the same.
fn widened(ty: Type) -> String {
    let of_float = |float: &str, bits: &str, widen: &str| {
        format!(
            "%b = arith.bitcast %x : {float} to {bits}\n{widen}\
             %none = arith.cmpf une, %x, %x : {float}\n%nan = arith.constant {NAN} : i64\n\
             %w = arith.select %none, %nan, %wide : i64\n"
        )
    };
    match ty {
        Type::F64 => of_float("f64", "i64", "%wide = arith.ori %b, %b : i64\n"),
        Type::F32 => of_float("f32", "i32", "%wide = arith.extui %b : i32 to i64\n"),
        Type::I64 | Type::U64 => "%w = arith.ori %x, %x : i64\n".to_owned(),
        ty => format!("%w = arith.extui %x : {} to i64\n", type_name(ty)),
    }
}

fn dense(values: &[Value], ty: Type) -> String {
    if ty == Type::Bool {
        let truths: Vec<_> = values
            .iter()
            .map(|it| (it.bits() != 0).to_string())
            .collect();
        return format!("[{}]", truths.join(", "));
    }
    let mut text = "\"0x".to_owned();
    for value in values {
        for byte in &value.bits().to_le_bytes()[..ty.bytes() as usize] {
            let _ = write!(text, "{byte:02X}");
        }
    }
    text + "\""
}

fn inferred(kernel: &Kernel, data: &Data, name: &str) -> i64 {
    let elements = |array: ArrayId| data.arrays[&kernel.arrays[array].name].len() as u64;
    let value = |scalar: ScalarId| {
        let value: Value = *data.scalars.get(&kernel.scalars[scalar].name)?;
        i64::try_from(value.as_integer()?).ok()
    };
    let sizes = kernel.inferred_sizes(&elements, &value);
    let mut sizes = sizes.into_iter();
    let found = sizes.find(|(id, _)| kernel.scalars[*id].name == name);
    found.expect("it is inferred").1
}

fn extents(kernel: &Kernel, data: &Data, name: &str) -> Vec<u64> {
    let array = kernel.arrays.values().find(|it| it.name == name);
    let value = |variable| match variable {
        Variable::Param(scalar) => {
            let scalar = &kernel.scalars[scalar];
            match scalar.inferred {
                true => inferred(kernel, data, &scalar.name),
                false => i64::try_from(data.scalars[&scalar.name].as_integer().expect("a size"))
                    .expect("a size"),
            }
        }
        Variable::Iter(_) => 0,
    };
    let extents = array.expect("the array").extents.iter();
    let extents = extents.map(|it| it.evaluate(&value).expect("a size"));
    extents
        .map(|it| u64::try_from(it).expect("a size"))
        .collect()
}
