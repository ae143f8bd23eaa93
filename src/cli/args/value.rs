//! What flags take that is written in a way of its own.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use strew::{Body, Strategy};

/// The names of strategies, which help lists and shells complete.
pub(super) fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let named = Strategy::named().map(Strategy::name);
    let names = std::iter::once(Strategy::Auto.name()).chain(named);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Strategy>())
}

/// Those of bodies.
pub(super) fn bodies() -> impl TypedValueParser<Value = Body> {
    PossibleValuesParser::new(Body::ALL.map(Body::name)).try_map(|name| name.parse::<Body>())
}

/// Values of variables, written as `d0=3,s0=1`.
#[derive(Clone, Debug)]
pub(crate) struct Point(pub(crate) Vec<(String, i64)>);

impl std::str::FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split(',').filter(|it| !it.trim().is_empty());
        let mut seen: Vec<&str> = Vec::new();
        let values = parts.map(|part| {
            let (name, value) = part
                .split_once('=')
                .ok_or("expected NAME=VALUE,NAME=VALUE")?;
            let value = value.trim();
            let number = value
                .parse()
                .map_err(|_| format!("`{value}` is not a 64-bit integer"))?;
            let name = name.trim();
            if seen.contains(&name) {
                return Err(format!("`{name}` is given twice"));
            }
            seen.push(name);
            Ok((name.to_owned(), number))
        });
        values.collect::<Result<_, String>>().map(Self)
    }
}

/// Values for a scalar parameter, written as `m=10,100`.
#[derive(Clone, Debug)]
pub(crate) struct Vary {
    pub(crate) name: String,
    pub(crate) values: Vec<i64>,
}

impl std::str::FromStr for Vary {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected NAME=V,V with whole numbers from 1, as m=10,100";
        let (name, values) = text.split_once('=').ok_or(expected)?;
        let values = values.split(',').map(|it| it.trim().parse().ok());
        let values: Option<Vec<i64>> = values.map(|it| it.filter(|value| *value > 0)).collect();
        let name = name.trim().to_owned();
        values.map(|values| Self { name, values }).ok_or(expected)
    }
}

/// A number of seconds.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: Option<f64> = text.parse().ok();
    let seconds = seconds.filter(|it| it.is_finite() && *it > 0.0);
    seconds.ok_or_else(|| "expected a number of seconds above 0".to_owned())
}

/// `NAME=TEXT`.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl std::str::FromStr for Assignment {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, rest)) if !name.is_empty() && !rest.is_empty() => Ok(Self {
                name: name.trim().to_owned(),
                text: rest.to_owned(),
            }),
            _ => Err("expected NAME=VALUE"),
        }
    }
}

/// The sizes of a tile, written as `4,32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TileSizes(pub(crate) Vec<i64>);

impl std::str::FromStr for TileSizes {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let sizes = text.split(',').map(|it| it.trim().parse().ok());
        let sizes: Option<Vec<i64>> = sizes.map(|it| it.filter(|size| *size > 0)).collect();
        sizes
            .map(Self)
            .ok_or("expected a size from 1 for each dimension, as 4,32")
    }
}

/// A number of bytes, written as `4096`, `64K`, `512M`, `2G` or `1T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteCount(pub(crate) u64);

impl std::str::FromStr for ByteCount {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "expected a number of bytes, as 4096, 64K, 512M, 2G or 1T";
        let digits = text.trim_end_matches(|it: char| !it.is_ascii_digit());
        let unit = match text.get(digits.len()..) {
            Some("") => 1,
            Some("K" | "k" | "KiB") => 1 << 10,
            Some("M" | "MiB") => 1 << 20,
            Some("G" | "GiB") => 1 << 30,
            Some("T" | "TiB") => 1 << 40,
            Some("P" | "PiB") => 1 << 50,
            Some("E" | "EiB") => 1 << 60,
            _ => return Err(expected),
        };
        let count: u64 = digits.parse().map_err(|_| expected)?;
        count.checked_mul(unit).map(Self).ok_or(expected)
    }
}

/// A whole number from one.
pub(super) fn at_least_one<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| "expected a whole number, at least 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_name_their_values() {
        let point: Point = " d0=3, s0 = -1 ,".parse().expect("a point");
        assert_eq!(point.0, [("d0".to_owned(), 3), ("s0".to_owned(), -1)]);
        for bad in ["d0", "d0=x", "d0=99999999999999999999"] {
            assert!(bad.parse::<Point>().is_err(), "{bad}");
        }
    }

    #[test]
    fn byte_counts_have_binary_units() {
        assert_eq!("512M".parse(), Ok(ByteCount(512 << 20)));
        assert_eq!("4096".parse(), Ok(ByteCount(4096)));
        assert_eq!("1E".parse(), Ok(ByteCount(1 << 60)));
        for bad in ["", "M", "12Q", "-1", "99999999999G", "16E", "1.5G"] {
            assert!(bad.parse::<ByteCount>().is_err(), "{bad}");
        }
    }
}
