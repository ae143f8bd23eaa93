//! Random kernels, written as text, on random sizes: generated code does what the interpreter does,
//! and leaves the arrays alone when it fails.
//!
//! `STREW_RANDOM_KERNELS` sets how many are drawn.

use crate::common::{
    BEYOND, Cells, ENDLESS, Given, Outcome, executed, executed_counting, interpreted,
    interpreted_skipping, kernel, records, same,
};
use std::fmt::Write as _;
use strew_affine::interpret::ForallOrder;
use strew_affine::verify::Verified;
use strew_affine::{Function, Type, Value};
use strew_jit::{Compiled, Oob, Options, Specialize, Target, compile};
use strew_runtime::{Choice, Mode, Settings};

/// How many kernels are drawn unasked.
const KERNELS: u64 = 300;

/// Numbers that look random, from a seed: xorshift64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

#[derive(Clone)]
struct ArrayName {
    name: String,
    ty: &'static str,
    extents: &'static [&'static str],
}

#[derive(Clone)]
struct LocalName {
    name: String,
    ty: &'static str,
    settable: bool,
}

/// The array parameters: names, element types, extents.
const ARRAYS: [(&str, &str, &[&str]); 9] = [
    ("a", "i64", &["n"]),
    ("b", "i32", &["n", "m + 2"]),
    ("c", "u8", &["m + 3"]),
    ("d", "f64", &["n"]),
    ("e", "f32", &["n", "2"]),
    ("f", "u64", &["n + 1"]),
    ("g", "i16", &["n"]),
    ("key", "i32", &["n"]),
    ("flag", "bool", &["n + 1"]),
];

/// Element types of local arrays.
const LOCAL_TYPES: [&str; 9] = [
    "i64", "i32", "u8", "u64", "i16", "f64", "f32", "i32", "bool",
];

const TYPES: [&str; 8] = ["i64", "i32", "u8", "u64", "i16", "f64", "f32", "i32"];

/// The fields of a record parameter: names, element types, extents.
const FIELDS: [(&str, &str, &[&str]); 5] = [
    ("p.x", "f64", &["n"]),
    ("p.k", "i32", &["n"]),
    ("p.on", "bool", &["n"]),
    ("p.h", "i64", &["n"]),
    ("p.v", "f32", &["n", "2", "3"]),
];

/// The record parameter.
const RECORD: &str =
    "p: record(48) { x: f64 @ 0, k: i32 @ 8, on: bool @ 12, h: i64 @ 16, v: f32[2, 3] @ 24 }[n]";

/// Extents of local arrays.
const LOCAL_EXTENTS: [&[&str]; 7] = [
    &["3"],
    &["2", "5"],
    &["1"],
    &["40"],
    &["n"],
    &["n + 1", "3"],
    &["m + 2"],
];

/// More than a frame holds.
const LARGE: [&str; 1] = ["5000"];

/// Writes a kernel.
struct Writer {
    dice: Dice,
    text: String,
    names: usize,
    iters: Vec<String>,
    locals: Vec<LocalName>,
    readable: Vec<ArrayName>,
    writable: Vec<ArrayName>,
}

impl Writer {
    fn kernel(seed: u64) -> String {
        let arrays = ARRAYS.map(|(name, ty, extents)| ArrayName {
            name: name.to_owned(),
            ty,
            extents,
        });
        let fields = FIELDS.map(|(name, ty, extents)| ArrayName {
            name: name.to_owned(),
            ty,
            extents,
        });
        let known = [&arrays[..], &fields].concat();
        let mut writer = Self {
            dice: Dice(seed | 1),
            text: String::new(),
            names: 0,
            iters: Vec::new(),
            locals: Vec::new(),
            readable: known.clone(),
            writable: known,
        };
        writer.text = "kernel @k(n: i64, m: i32, far: i64, h: u64, w: u8".to_owned();
        for ArrayName { name, ty, extents } in arrays {
            let _ = write!(writer.text, ", {name}: {ty}[{}]", extents.join(", "));
        }
        let result = writer.dice.pick(&TYPES);
        let returns = writer.dice.chance(50);
        let arrow = if returns {
            format!(" -> {result}")
        } else {
            String::new()
        };
        writer.line(&format!(", {RECORD}){arrow} {{"));
        for _ in 0..1 + writer.dice.below(3) {
            writer.statement(3);
        }
        if returns {
            let value = writer.expr(result, 3);
            writer.line(&format!("return {value}"));
        }
        writer.line("}");
        writer.text
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn block(&mut self, depth: usize) {
        self.line("{");
        self.scoped(|writer| {
            for _ in 0..1 + writer.dice.below(3) {
                writer.statement(depth);
            }
        });
        self.line("}");
    }

    /// What is declared and allocated inside is not known behind it.
    fn scoped(&mut self, write: impl FnOnce(&mut Self)) {
        let locals = self.locals.len();
        let arrays = (self.readable.clone(), self.writable.clone());
        write(self);
        self.locals.truncate(locals);
        (self.readable, self.writable) = arrays;
    }

    fn statement(&mut self, depth: usize) {
        let kinds = if depth == 0 { 4 } else { 11 };
        match self.dice.below(kinds) {
            0 if self.dice.chance(40) => self.alloc(),
            0 => self.declare(),
            1..4 => self.update(),
            4 | 5 => self.affine_for(depth),
            6 => self.affine_if(depth),
            7 => {
                let condition = self.expr("bool", 2);
                self.text.push_str(&format!("scf.if {condition} "));
                self.block(depth - 1);
                if self.dice.chance(50) {
                    self.text.push_str("else ");
                    self.block(depth - 1);
                }
            }
            8 => self.scf_for(depth),
            9 => self.scf_while(depth),
            _ => self.forall(depth),
        }
    }

    fn declare(&mut self) {
        let ty = if self.dice.chance(10) {
            "bool"
        } else {
            self.dice.pick(&TYPES)
        };
        let value = self.expr(ty, 3);
        let (name, settable) = (self.name(), self.dice.chance(50));
        let word = if settable { "var" } else { "let" };
        self.line(&format!("{word} {name}: {ty} = {value}"));
        self.locals.push(LocalName { name, ty, settable });
    }

    fn alloc(&mut self) {
        let (name, ty) = (self.name(), self.dice.pick(&LOCAL_TYPES));
        let extents = if self.dice.chance(5) {
            &LARGE
        } else {
            self.dice.pick(&LOCAL_EXTENTS)
        };
        self.line(&format!("alloc {name}: {ty}[{}]", extents.join(", ")));
        let array = ArrayName { name, ty, extents };
        self.readable.push(array.clone());
        self.writable.push(array);
    }

    fn update(&mut self) {
        let settable: Vec<_> = self.locals.iter().filter(|it| it.settable).collect();
        let local = if self.dice.chance(30) && !settable.is_empty() {
            Some(settable[self.dice.below(settable.len())].clone())
        } else {
            None
        };
        let (place, ty) = match local {
            Some(local) => (local.name, local.ty),
            None if self.writable.is_empty() => return,
            None => {
                let array = self.dice.pick(&self.writable);
                (self.access(&array, 2), array.ty)
            }
        };
        let value = self.expr(ty, 3);
        let combiners: &[_] = match ty {
            "bool" => &["and", "or", "xor"],
            _ => &["add", "add", "mul", "min", "max"],
        };
        let line = if self.dice.chance(60) {
            format!("{place} reduce({}) {value}", self.dice.pick(combiners))
        } else {
            format!("{place} = {value}")
        };
        self.line(&line);
    }

    fn looped(&mut self, head: &str, iter: String, depth: usize) {
        self.text.push_str(head);
        self.iters.push(iter);
        self.block(depth - 1);
        self.iters.pop();
    }

    fn step(&mut self) -> String {
        match self.dice.below(3) {
            0 => " step 3".to_owned(),
            _ => String::new(),
        }
    }

    fn affine_for(&mut self, depth: usize) {
        let lower = match self.dice.below(3) {
            0 => self.affine(1),
            1 => format!("max(0, {})", self.affine(1)),
            _ => "0".to_owned(),
        };
        let upper = match self.dice.below(4) {
            0 => self.affine(1),
            1 => format!("min(n, {})", self.affine(2)),
            _ => "n".to_owned(),
        };
        let (iter, step) = (self.name(), self.step());
        let head = format!("affine.for {iter} in {lower}..{upper}{step} ");
        self.looped(&head, iter, depth);
    }

    fn affine_if(&mut self, depth: usize) {
        let relation = self.dice.pick(&["<", "<=", "==", ">", ">="]);
        let (left, right) = (self.affine(2), self.affine(1));
        self.text
            .push_str(&format!("affine.if ({left} {relation} {right}) "));
        self.block(depth - 1);
        if self.dice.chance(50) {
            self.text.push_str("else ");
            self.block(depth - 1);
        }
    }

    fn scf_for(&mut self, depth: usize) {
        let lower = self.expr("i64", 1);
        let upper = match self.dice.below(3) {
            0 => self.expr("i64", 2),
            1 => format!("{lower} + 3"),
            _ => "n".to_owned(),
        };
        let (iter, step) = (self.name(), self.step());
        let head = format!("scf.for {iter} in {lower}..{upper}{step} ");
        self.looped(&head, iter, depth);
    }

    /// Ends after some turns at the latest: nothing but its last statement sets the counter.
    fn scf_while(&mut self, depth: usize) {
        let (counter, condition) = (self.name(), self.expr("bool", 2));
        self.line(&format!("var {counter}: i64 = 0"));
        self.line(&format!("scf.while {counter} < 4 && {condition} {{"));
        self.locals.push(LocalName {
            name: counter.clone(),
            ty: "i64",
            settable: false,
        });
        self.line(&format!("{counter} = {counter} + 1"));
        self.scoped(|writer| writer.statement(depth - 1));
        self.line("}");
    }

    /// Merges integers only, whose grouping is free. Besides its private buffers the body writes
    /// one element of another array that belongs to its iteration: with more it would race.
    fn forall(&mut self, depth: usize) {
        let integers = self.writable.iter().filter(|it| !it.ty.starts_with('f'));
        let mut targets: Vec<_> = integers.cloned().collect();
        while targets.len() > 2 {
            targets.remove(self.dice.below(targets.len()));
        }
        let (mut privates, mut merges, mut buffers) = (vec![], vec![], vec![]);
        for ArrayName { name, ty, extents } in &targets {
            let combiner = match *ty {
                "bool" => self.dice.pick(&["and", "or", "xor"]),
                _ => self.dice.pick(&["add", "min", "max", "mul"]),
            };
            let buffer = self.name();
            let shape = extents.join(", ");
            privates.push(format!("{buffer}: {ty}[{shape}] = identity({combiner})"));
            merges.push(format!("{name} reduce({combiner}) {buffer}"));
            let (name, ty, extents) = (buffer, *ty, *extents);
            buffers.push(ArrayName { name, ty, extents });
        }
        let count = self.dice.pick(&["0", "1", "3", "n", "n floordiv 2", "m"]);
        let strategy = self.dice.pick(&["auto", "dense", "serial"]);
        let iter = self.name();
        let clauses = if privates.is_empty() {
            String::new()
        } else {
            let (privates, merges) = (privates.join(", "), merges.join(", "));
            format!("private({privates}) merge({merges}) ")
        };
        let head = format!("scf.forall {iter} in 0..{count} {clauses}strategy({strategy}) ");
        let outside = (
            self.locals.clone(),
            self.readable.clone(),
            self.writable.clone(),
        );
        self.locals.iter_mut().for_each(|it| it.settable = false);
        let is_target = |it: &ArrayName| targets.iter().any(|target| target.name == it.name);
        self.readable.retain(|it| !is_target(it));
        let flat = |it: &&ArrayName| it.extents.len() == 1 && !is_target(it);
        let direct: Vec<_> = self.writable.iter().filter(flat).cloned().collect();
        let direct = (!direct.is_empty() && self.dice.chance(50)).then(|| self.dice.pick(&direct));
        if let Some(direct) = &direct {
            self.readable.retain(|it| it.name != direct.name);
        }
        if self.dice.chance(40) {
            self.readable.extend(buffers.iter().cloned());
        }
        self.writable = buffers;
        self.text.push_str(&head);
        self.iters.push(iter.clone());
        self.line("{");
        if let Some(ArrayName { name, ty, .. }) = direct {
            let value = self.expr(ty, 2);
            self.line(&format!("{name}[{iter}] = {value}"));
        }
        self.line("affine.if (0 <= 0)");
        self.block(depth - 1);
        self.line("}");
        self.iters.pop();
        (self.locals, self.readable, self.writable) = outside;
    }

    fn affine(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.dice.below(6) {
                0..3 if !self.iters.is_empty() => self.dice.pick(&self.iters),
                3 => self.dice.pick(&["n", "n", "m", "w"]).to_owned(),
                4 if self.dice.chance(15) => self.dice.pick(&["far", "h"]).to_owned(),
                _ => format!("{}", self.dice.below(6)),
            };
        }
        let (left, right) = (self.affine(depth - 1), self.affine(depth - 1));
        let divisor = self.dice.pick(&["2", "3", "4", "n", "m", "5"]);
        match self.dice.below(9) {
            0 | 1 => format!("({left} + {right})"),
            2 => format!("({left} - {right})"),
            3 => format!("{left} * {}", self.dice.below(4)),
            4 => format!("({left}) * ({right})"),
            5 => format!("({left}) floordiv {divisor}"),
            6 => format!("({left}) mod {divisor}"),
            7 => format!("({left} - {right}) ceildiv {divisor}"),
            _ => left,
        }
    }

    fn access(&mut self, array: &ArrayName, depth: usize) -> String {
        let subscripts: Vec<_> = array
            .extents
            .iter()
            .map(|extent| self.subscript(extent, depth))
            .collect();
        format!("{}[{}]", array.name, subscripts.join(", "))
    }

    fn subscript(&mut self, extent: &str, depth: usize) -> String {
        match self.dice.below(10) {
            0 => self.affine(2),
            1 => self.affine(1),
            2 | 3 if !self.iters.is_empty() => self.dice.pick(&self.iters),
            4 | 5 => format!("({}) mod ({extent})", self.affine(1)),
            6 => {
                let ty = self.dice.pick(&["i64", "i32", "u8", "u64", "i16"]);
                format!("{ty}({})", self.expr(ty, depth))
            }
            7 => format!("u8({} & i32(1))", self.expr("i32", depth)),
            8 if !self.iters.is_empty() && self.readable.iter().any(|it| it.name == "key") => {
                format!("key[{}]", self.dice.pick(&self.iters))
            }
            _ => "0".to_owned(),
        }
    }

    fn leaf(&mut self, ty: &str) -> String {
        let locals: Vec<_> = self.locals.iter().filter(|it| it.ty == ty).collect();
        if !locals.is_empty() && self.dice.chance(60) {
            return locals[self.dice.below(locals.len())].name.clone();
        }
        let params = [
            ("i64", "n"),
            ("i32", "m"),
            ("i64", "far"),
            ("u64", "h"),
            ("u8", "w"),
        ];
        let (param_ty, param) = self.dice.pick(&params);
        if param_ty == ty {
            return param.to_owned();
        }
        if ty == "i64" && !self.iters.is_empty() && self.dice.chance(50) {
            return self.dice.pick(&self.iters);
        }
        match ty {
            "bool" => self.dice.pick(&["true", "false"]).to_owned(),
            "f64" | "f32" => {
                let value = self
                    .dice
                    .pick(&["0.5", "-0.0", "3.0", "1e20", "nan", "-inf", "0.1"]);
                format!("{ty}({value})")
            }
            "u8" | "u64" => format!("{ty}({})", self.dice.below(9)),
            _ => format!("{ty}({})", self.dice.below(9) as i64 - 3),
        }
    }

    fn expr(&mut self, ty: &str, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(ty);
        }
        let deeper = depth - 1;
        match self.dice.below(7) {
            0 => self.leaf(ty),
            1 | 2 if !self.readable.is_empty() => {
                let array = self.dice.pick(&self.readable);
                format!("{ty}({})", self.access(&array, deeper))
            }
            3 => {
                let from = self.dice.pick(&TYPES);
                format!("{ty}({})", self.expr(from, deeper))
            }
            4 => {
                let condition = self.expr("bool", deeper);
                let (then, otherwise) = (self.expr(ty, deeper), self.expr(ty, deeper));
                format!("({condition} ? {then} : {otherwise})")
            }
            _ if ty == "bool" => self.truth(deeper),
            5 if self.dice.chance(40) => format!("(-({}))", self.expr(ty, deeper)),
            5 if ty.starts_with('f') => {
                let function = self.dice.pick(Function::ALL);
                let count = 0..function.operand_count();
                let operands: Vec<_> = count.map(|_| self.expr(ty, deeper)).collect();
                format!("{function}({})", operands.join(", "))
            }
            _ => {
                let all = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"];
                let usable = if ty.starts_with('f') { &all[..4] } else { &all };
                let op = self.dice.pick(usable);
                format!("({} {op} {})", self.expr(ty, deeper), self.expr(ty, deeper))
            }
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        match self.dice.below(5) {
            0 => format!(
                "({} && {})",
                self.expr("bool", depth),
                self.expr("bool", depth)
            ),
            1 => format!(
                "({} || {})",
                self.expr("bool", depth),
                self.expr("bool", depth)
            ),
            2 => format!("!({})", self.expr("bool", depth)),
            _ => {
                let ty = self.dice.pick(&TYPES);
                let op = self.dice.pick(&["<", "<=", "==", "!=", ">", ">="]);
                format!("({} {op} {})", self.expr(ty, depth), self.expr(ty, depth))
            }
        }
    }
}

/// Arguments for [`Writer::kernel`].
fn arguments(kernel: &Verified, dice: &mut Dice) -> Vec<Given> {
    let n = dice.pick(&[0_i64, 1, 3, 6, 6, 11]);
    let m = dice.pick(&[-1_i64, 0, 1, 2, 5, 5]);
    let far = dice.pick(&[1_i64 << 40, i64::MAX, i64::MIN, -5, 2]);
    let h = dice.pick(&[0_i128, 3, 3, 1 << 62, u64::MAX.into()]);
    let w = dice.pick(&[0_i128, 1, 255]);
    let scalar = |ty, value| Given::Scalar(Value::integer(ty, value));
    let mut given = vec![
        scalar(Type::I64, n.into()),
        scalar(Type::I32, m.into()),
        scalar(Type::I64, far.into()),
        scalar(Type::U64, h),
        scalar(Type::U8, w),
    ];
    let elements = [n, n * (m + 2), m + 3, n, n * 2, n + 1, n, n, n + 1];
    for ((name, ty, _), elements) in ARRAYS.iter().zip(elements) {
        let ty = Type::ELEMENTS.into_iter().find(|it| it.to_string() == *ty);
        let ty = ty.unwrap_or(Type::I64);
        let cell = |_| {
            let number = match *name {
                "key" => dice.below(n as usize) as i128,
                _ => dice.below(12) as i128 - 3,
            };
            strew_affine::evaluate::convert(ty, Value::integer(Type::I64, number))
        };
        let cells: Vec<_> = (0..elements).map(cell).collect();
        given.push(Given::Array(Cells::of(ty, &cells)));
    }
    given.push(records(kernel, n as usize, |field, _| {
        let number = Value::integer(Type::I64, dice.below(12) as i128 - 3);
        strew_affine::evaluate::convert(field.ty, number)
    }));
    given
}

fn settings() -> Vec<Settings> {
    let mut all = Vec::new();
    for name in ["auto", "serial", "dense"] {
        for mode in [Mode::Stable, Mode::Exact, Mode::Fast] {
            let strategy = name.parse::<Choice>();
            all.push(Settings {
                mode,
                strategy: strategy.unwrap_or_else(|error| panic!("{error}")),
                ..Settings::default()
            });
        }
    }
    all
}

/// An unsigned size beyond `i64` is refused before the run, the interpreter stops only where it is
/// used.
fn is_refused(given: &[Given], found: &Outcome) -> bool {
    let beyond = |it: &Given| match it {
        Given::Scalar(value) => value.as_integer() > Some(i64::MAX.into()),
        Given::Array(_) | Given::Records(_) => false,
    };
    given.iter().any(beyond) && matches!(found, Err((words, _)) if words == BEYOND)
}

#[derive(Default)]
struct Count {
    finished: usize,
    stopped: usize,
    endless: usize,
}

/// What is out of range is skipped by both alike, and as often.
fn skipping(
    source: &str,
    kernel: &Verified,
    code: &Compiled,
    given: &[Given],
    settings: &Settings,
) {
    let (expected, times) = interpreted_skipping(kernel, given);
    if matches!(&expected, Err((words, _)) if words == ENDLESS) {
        return;
    }
    for threads in [1, 2] {
        let (found, counted) = executed_counting(code, given, threads, settings);
        assert!(
            is_refused(given, &found) || same(&expected, &found) && times == counted,
            "{threads} threads, {settings:?}\n{source}\n{given:?}\nexpected {expected:?}, skipped {times}\nfound {found:?}, skipped {counted}"
        );
    }
}

fn agree(seed: u64, settings: &[Settings], count: &mut Count) {
    let source = Writer::kernel(seed);
    let kernel = kernel(&source);
    let codes = [
        (Target::Native, Specialize::Never),
        (Target::Baseline, Specialize::Never),
        (Target::Native, Specialize::Always),
    ];
    let codes = codes.map(|(target, specialize)| {
        let code = compile(
            &kernel,
            &Options {
                target,
                specialize,
                ..Options::default()
            },
        );
        code.unwrap_or_else(|error| panic!("seed {seed}\n{source}\n{error}"))
    });
    let skips = compile(
        &kernel,
        &Options {
            oob: Oob::Skip,
            specialize: Specialize::Always,
            ..Options::default()
        },
    );
    let skips = skips.unwrap_or_else(|error| panic!("seed {seed}\n{source}\n{error}"));
    let mut dice = Dice(seed.rotate_left(17) | 1);
    for round in 0..6 {
        let given = arguments(&kernel, &mut dice);
        skipping(&source, &kernel, &skips, &given, &settings[round]);
        let expected = interpreted(&kernel, &given, ForallOrder::Forward);
        match &expected {
            Ok(_) => count.finished += 1,
            // Generated code would run on.
            Err((words, _)) if words == ENDLESS => {
                count.endless += 1;
                continue;
            }
            Err(_) => count.stopped += 1,
        }
        for code in &codes {
            for threads in [1, 2] {
                let settings = &settings[(seed as usize + round + threads) % settings.len()];
                let found = executed(code, &given, threads, settings);
                if is_refused(&given, &found) {
                    continue;
                }
                assert!(
                    same(&expected, &found),
                    "seed {seed}, {threads} threads, {settings:?}\n{source}\n{given:?}\nexpected {expected:?}\nfound {found:?}"
                );
            }
        }
    }
}

#[test]
fn random_kernels_do_what_the_interpreter_does() {
    let kernels = std::env::var("STREW_RANDOM_KERNELS").ok();
    let kernels = kernels.and_then(|it| it.parse().ok()).unwrap_or(KERNELS);
    let settings = settings();
    let mut count = Count::default();
    for number in 0..kernels {
        let seed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        agree(seed, &settings, &mut count);
    }
    let Count {
        finished,
        stopped,
        endless,
    } = count;
    let enough = kernels as usize / 2;
    assert!(
        finished > enough && stopped > enough && endless < enough,
        "{finished} {stopped} {endless}"
    );
}
