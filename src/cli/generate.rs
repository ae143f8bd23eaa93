//! Arrays made on the spot: `zeros`, `fill(2)`, `iota`, `uniform(0, m, seed=1)` and the like.
//! Bounds may name scalar parameters.

mod zipf;

use crate::cli::array::{Number, Values};
use crate::cli::failure::Failure;
use crate::cli::inputs::{in_range, out_of_memory};
use crate::cli::progress::Meter;
use strew::ir::spelling::counted;
use strew::{Sizes, Type};
use zipf::zipf;

/// A generator with its arguments, numbers or names of scalar parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Generator {
    kind: Kind,
    arguments: Vec<String>,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Zeros,
    Fill,
    Iota,
    Uniform,
    Sorted,
    Constant,
    Two,
    Zipf,
    Clustered,
}

impl Kind {
    const ALL: [(&'static str, Self, usize); 9] = [
        ("zeros", Self::Zeros, 0),
        ("fill", Self::Fill, 1),
        ("iota", Self::Iota, 0),
        ("uniform", Self::Uniform, 2),
        ("sorted", Self::Sorted, 1),
        ("constant", Self::Constant, 1),
        ("two", Self::Two, 2),
        ("zipf", Self::Zipf, 2),
        ("clustered", Self::Clustered, 3),
    ];
}

impl Generator {
    /// The generator that `text` names; `None` when it names none, so that it is a file.
    pub(crate) fn parse(text: &str) -> Option<Result<Self, String>> {
        let (name, arguments) = match text.split_once('(') {
            None => (text, ""),
            Some((name, rest)) => (name, rest.strip_suffix(')')?),
        };
        let found = Kind::ALL.iter().find(|(it, ..)| *it == name.trim());
        let (name, kind, arity) = *found?;
        Some(Self::with_arguments(name, kind, arity, arguments))
    }

    /// Whether it makes zeros, which every type of elements has.
    pub(crate) fn is_zeros(&self) -> bool {
        self.kind == Kind::Zeros
    }

    /// What is wrong with `text`, which names no generator, if it was to be one.
    pub(crate) fn mistaken(text: &str) -> Option<String> {
        let (name, has_arguments) = match text.split_once('(') {
            None => (text, false),
            Some((name, rest)) => (name.trim(), rest.ends_with(')')),
        };
        if text.contains('(') && !has_arguments && Kind::ALL.iter().any(|it| it.0 == name) {
            return Some(format!("the bracket of `{name}(` is not closed"));
        }
        let is_word = !name.is_empty() && name.chars().all(|it| it.is_ascii_alphabetic());
        let names = Kind::ALL.map(|it| it.0);
        let near = names
            .into_iter()
            .map(|it| (strsim::damerau_levenshtein(&name.to_lowercase(), it), it))
            .min()
            .filter(|(distance, it)| *distance <= it.len() / 3)
            .map(|(_, it)| it);
        match (is_word, near, has_arguments) {
            (true, Some(near), _) => Some(format!(
                "there is no generator `{name}`; did you mean `{near}`?"
            )),
            (true, None, true) => Some(format!(
                "there is no generator `{name}`; there are {}",
                names.join(", ")
            )),
            _ => None,
        }
    }

    fn with_arguments(name: &str, kind: Kind, arity: usize, text: &str) -> Result<Self, String> {
        let mut seed = 1;
        let mut arguments = Vec::new();
        for part in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
            match part.split_once('=') {
                Some((key, value)) if key.trim() == "seed" => {
                    let parsed = value.trim().parse();
                    seed = parsed.map_err(|_| {
                        let value = value.trim();
                        format!(
                            "`{value}` is not a seed, expected a whole number from 0 to {}",
                            u64::MAX
                        )
                    })?;
                }
                Some((key, _)) => return Err(format!("{name} takes no `{}`", key.trim())),
                None => arguments.push(part.to_owned()),
            }
        }
        if arguments.len() != arity {
            let found = arguments.len();
            let takes = counted(arity, "argument");
            return Err(format!("{name} takes {takes}, found {found}"));
        }
        Ok(Self {
            kind,
            arguments,
            seed,
        })
    }

    /// `length` elements of type `ty` for the array `name`.
    pub(crate) fn values(
        &self,
        name: &str,
        ty: Type,
        length: u64,
        sizes: &Sizes,
        meter: &Meter,
    ) -> Result<Values, Failure> {
        let wrong = |why: String| Failure::usage(format!("--in {name}: {why}"));
        let numbers: Result<Vec<_>, _> =
            self.arguments.iter().map(|it| resolve(it, sizes)).collect();
        let numbers = numbers.map_err(wrong)?;
        let mut draw = self.draw(ty, length, &numbers).map_err(wrong)?;
        meter.begin(length, "elements");
        let draw = |index| {
            meter.pass(index);
            draw(index)
        };
        Values::generate(ty, length, draw).map_err(|it| out_of_memory(name, it.elements))
    }

    fn draw(&self, ty: Type, length: u64, numbers: &[Number]) -> Result<Draw, String> {
        let mut random = Random(self.seed);
        Ok(match (self.kind, numbers) {
            (Kind::Fill | Kind::Constant, [value]) => {
                let value = fitting(*value, ty)?;
                Box::new(move |_| value)
            }
            (Kind::Iota, _) => Box::new(|index| Number::Integer(i128::from(index))),
            (Kind::Uniform, [low, high]) if ty.is_float() => {
                let (low, high) = (float(fitting(*low, ty)?), float(fitting(*high, ty)?));
                Box::new(move |_| Number::Float(low + (high - low) * random.unit()))
            }
            (Kind::Uniform, [low, high]) => {
                let (low, high) = range(*low, *high, ty)?;
                Box::new(move |_| Number::Integer(low + random.below(high - low)))
            }
            (Kind::Sorted, [most]) => {
                let (_, most) = range(Number::Integer(0), *most, ty)?;
                let length = i128::from(length.max(1));
                Box::new(move |index| Number::Integer(i128::from(index) * most / length))
            }
            (Kind::Zipf, [exponent, most]) => {
                let (_, most) = range(Number::Integer(0), *most, ty)?;
                zipf(random, float(*exponent), most)?
            }
            (Kind::Clustered, [run, window, most]) => {
                let (_, run) = range(Number::Integer(0), *run, Type::I64)?;
                let (_, window) = range(Number::Integer(0), *window, Type::I64)?;
                let (_, most) = range(Number::Integer(0), *most, ty)?;
                clustered(random, (run, window), most)
            }
            (Kind::Two, [first, second]) => {
                let values = [fitting(*first, ty)?, fitting(*second, ty)?];
                Box::new(move |_| values[usize::from(random.below(2) == 1)])
            }
            _ => Box::new(|_| Number::Integer(0)),
        })
    }
}

type Draw = Box<dyn FnMut(u64) -> Number>;

/// Whole numbers below `most`: `run` at a time near each other, within `window` from a number drawn
/// for them all.
fn clustered(mut random: Random, (run, window): (i128, i128), most: i128) -> Draw {
    let mut center = 0;
    Box::new(move |index| {
        if i128::from(index) % run == 0 {
            center = random.below(most);
        }
        Number::Integer((center + random.below(window)) % most)
    })
}

/// A number, or the value of the scalar parameter that `text` names.
fn resolve(text: &str, sizes: &Sizes) -> Result<Number, String> {
    if let Some(value) = sizes.scalar(text) {
        let integer = value.as_integer().map(Number::Integer);
        return Ok(integer.unwrap_or(Number::Float(value.as_float().unwrap_or_default())));
    }
    let integer = text.parse().map(Number::Integer).ok();
    if let Ok(float) = text.parse() {
        in_range(text, float, Type::F64)?;
    }
    let number = integer.or_else(|| text.parse().map(Number::Float).ok());
    number.ok_or_else(|| format!("`{text}` is neither a number nor a scalar parameter"))
}

fn float(number: Number) -> f64 {
    match number {
        Number::Integer(value) => value as f64,
        Number::Float(value) => value,
    }
}

/// `number`, if an element of type `ty` can hold it.
fn fitting(number: Number, ty: Type) -> Result<Number, String> {
    match (number, ty.integer_range()) {
        (Number::Integer(value), Some((low, high))) if value < low || value > high => {
            Err(format!("{value} does not fit {ty}"))
        }
        (Number::Float(value), Some((low, high))) => Err(match value.fract() {
            0.0 if value < low as f64 || value > high as f64 => {
                format!("{value:e} does not fit {ty}")
            }
            0.0 => format!("{value:?} is written as a float, expected {ty}"),
            _ => format!("{value} is not a whole number, expected {ty}"),
        }),
        (Number::Float(value), None)
            if ty == Type::F32 && value.is_finite() && (value as f32).is_infinite() =>
        {
            Err(format!("{value:e} does not fit {ty}"))
        }
        _ => Ok(number),
    }
}

/// `low..high` as integers of type `ty`, not empty.
fn range(low: Number, high: Number, ty: Type) -> Result<(i128, i128), String> {
    match (low, high) {
        (Number::Integer(low), Number::Integer(high)) if low < high => {
            // Floats hold every integer that matters here closely enough.
            if !ty.is_float() {
                fitting(Number::Integer(low), ty)?;
                fitting(Number::Integer(high - 1), ty)?;
            }
            Ok((low, high))
        }
        (Number::Integer(low), Number::Integer(high)) => Err(format!("{low}..{high} is empty")),
        _ => Err(format!("expected whole numbers for an array of {ty}")),
    }
}

/// SplitMix64: small, good enough for keys, the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// In `0..bound`, for a positive bound of at most 2⁶⁴.
    fn below(&mut self, bound: i128) -> i128 {
        (i128::from(self.next()) * bound) >> 64
    }

    /// In `0..1`.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, ty: Type, length: u64) -> Result<Values, String> {
        let generator = Generator::parse(text).ok_or("no generator")??;
        let sizes = Sizes::default();
        let made = generator.values("x", ty, length, &sizes, &Meter::default());
        made.map_err(|failure| failure.render(strew::Style::Plain).unwrap_or_default())
    }

    #[test]
    fn names_that_are_nearly_those_of_generators_are_told() {
        let mistaken = |text: &str| Generator::mistaken(text).unwrap_or_default();
        assert_eq!(
            mistaken("unifrom(0, 5)"),
            "there is no generator `unifrom`; did you mean `uniform`?"
        );
        assert_eq!(
            mistaken("Zeros"),
            "there is no generator `Zeros`; did you mean `zeros`?"
        );
        assert!(
            mistaken("normal(0, 1)")
                .starts_with("there is no generator `normal`; there are zeros, ")
        );
        for open in ["uniform(0, 5", "uniform(0", "fill("] {
            let name = open.split('(').next().unwrap_or_default();
            let expected = format!("the bracket of `{name}(` is not closed");
            assert_eq!(mistaken(open), expected);
        }
        for file in ["a.npy", "data", "dir/zero", ""] {
            assert_eq!(Generator::mistaken(file), None, "{file}");
        }
        let seed = Generator::parse("uniform(0, 5, seed=-1)").expect("a generator");
        assert_eq!(
            seed.expect_err("no seed"),
            "`-1` is not a seed, expected a whole number from 0 to 18446744073709551615"
        );
    }

    #[test]
    fn plain_generators_do_what_they_say() {
        assert_eq!(
            made("zeros", Type::U8, 2),
            Ok(Values::U8(vec![0, 0].into()))
        );
        assert_eq!(
            made("fill(2.5)", Type::F64, 2),
            Ok(Values::F64(vec![2.5, 2.5].into()))
        );
        assert_eq!(
            made("iota", Type::I16, 3),
            Ok(Values::I16(vec![0, 1, 2].into()))
        );
        assert_eq!(
            made("sorted(2)", Type::I32, 4),
            Ok(Values::I32(vec![0, 0, 1, 1].into()))
        );
        assert_eq!(made("iota", Type::I32, 0), Ok(Values::I32(vec![].into())));
    }

    #[test]
    fn uniform_keys_stay_in_their_range_and_follow_the_seed() {
        let Ok(Values::I32(keys)) = made("uniform(-2, 3, seed=7)", Type::I32, 1000) else {
            panic!("keys");
        };
        assert!(keys.iter().all(|key| (-2..3).contains(key)));
        assert!((-2..3).all(|key| keys.contains(&key)));
        assert_eq!(
            made("uniform(-2, 3, seed=7)", Type::I32, 1000),
            Ok(Values::I32(keys))
        );
    }

    fn keys(text: &str, length: u64) -> Vec<i32> {
        match made(text, Type::I32, length) {
            Ok(Values::I32(keys)) => keys.to_vec(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn few_numbers_of_a_zipf_distribution_come_often() {
        let keys = keys("zipf(1.1, 1000)", 100_000);
        assert!(keys.iter().all(|key| (0..1000).contains(key)));
        let mut counts = vec![0; 1000];
        keys.iter().for_each(|key| counts[*key as usize] += 1);
        counts.sort_unstable();
        let top: i32 = counts[990..].iter().sum();
        assert!((30_000..60_000).contains(&top), "{top}");
    }

    #[test]
    fn all_numbers_of_a_zipf_distribution_come() {
        for text in ["zipf(0, 10)", "zipf(1, 10)", "zipf(1.2, 2)"] {
            let mut keys = keys(text, 10_000);
            keys.sort_unstable();
            keys.dedup();
            let most = if text.ends_with(" 2)") { 2 } else { 10 };
            assert!(keys.into_iter().eq(0..most), "{text}");
        }
    }

    #[test]
    fn clustered_numbers_lie_near_each_other_for_a_while() {
        let keys = keys("clustered(64, 32, 1000000)", 6400);
        for run in keys.chunks(64) {
            let first = run[0];
            let distance = |key: &i32| (key - first).rem_euclid(1_000_000);
            let distances = run.iter().map(distance);
            assert!(distances.map(|it| it.min(1_000_000 - it)).all(|it| it < 32));
        }
        assert!(keys.iter().any(|key| *key > 500_000));
        assert!(keys.iter().any(|key| *key < 500_000));
    }

    #[test]
    fn floats_for_integers_are_told_what_they_are() {
        for (text, why) in [
            ("fill(1e300)", "1e300 does not fit i32"),
            ("fill(-1e10)", "-1e10 does not fit i32"),
            ("fill(2.0)", "2.0 is written as a float, expected i32"),
            ("fill(0.5)", "0.5 is not a whole number, expected i32"),
            ("fill(inf)", "inf is not a whole number, expected i32"),
        ] {
            let error = made(text, Type::I32, 3).expect_err(text);
            assert_eq!(error, format!("error: --in x: {why}"));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (text, ty) in [
            ("fill(300)", Type::U8),
            ("fill(0.5)", Type::I32),
            ("fill(1e39)", Type::F32),
            ("fill(1e400)", Type::F64),
            ("uniform(0, 1e39)", Type::F32),
            ("uniform(3, 3)", Type::I32),
            ("uniform(0, 300)", Type::I8),
            ("uniform(0)", Type::I32),
            ("uniform(0, q)", Type::I32),
            ("fill(1, speed=2)", Type::I32),
            ("zipf(-1, 10)", Type::I32),
            ("zipf(1.1, 300)", Type::I8),
            ("clustered(0, 4, 10)", Type::I32),
        ] {
            assert!(made(text, ty, 3).is_err(), "{text}");
        }
        assert_eq!(Generator::parse("zeros.npy"), None);
    }
}
