//! Random arguments for a function.

use super::function::{Array, Extent, Form, Function, Role};
use crate::data::Data;
use crate::random::Random;
use strew::ir::{Type, Value};

/// Arguments with sizes of at most `largest`.
pub(crate) fn arguments(random: &mut Random, function: &Function, largest: i32) -> Data {
    let [n, m] = function.sizes.map(|ty| {
        // An unsigned `n - 1` would be a very large number.
        let least = if ty.is_signed() && random.percent(5) {
            0
        } else {
            1
        };
        (
            ty,
            least.max(1 + random.below(largest) - i32::from(least == 0)),
        )
    });
    let mut data = Data::default();
    for (name, (ty, size)) in [("n", n), ("m", m)] {
        let size = Value::integer(ty, i128::from(size));
        data.scalars.insert(name.to_owned(), size);
    }
    for (_, ty, name) in &function.scalars {
        data.scalars.insert(name.clone(), random.any(*ty));
    }
    let sizes = (n.1, m.1);
    let rise = random.percent(50);
    for array in &function.arrays {
        let values = elements(random, array, sizes, rise);
        data.arrays
            .insert(format!("{}{}", array.name, array.member()), values);
    }
    data
}

/// Those of `array`. Keys never fall if they `rise`.
fn elements(random: &mut Random, array: &Array, sizes: (i32, i32), rise: bool) -> Vec<Value> {
    let integer = |value: i32| Value::integer(array.ty, i128::from(value));
    let count: i32 = array.extents.iter().map(|it| length(*it, sizes)).product();
    let count = match array.form {
        Form::Member(_, _, Some(length)) => count * i32::from(length),
        _ => count,
    };
    match array.role {
        Role::Values => (0..count).map(|_| random.any(array.ty)).collect(),
        Role::Keys(extent) => {
            let limit = length(extent, sizes);
            let keys = (0..count).map(|_| random.below(limit));
            let mut keys: Vec<_> = keys.collect();
            if rise {
                keys.sort_unstable();
            }
            let mut keys: Vec<_> = keys.into_iter().map(integer).collect();
            if count > 0 && random.percent(3) {
                let wrong = [limit, -1, limit + random.below(300), i32::MIN];
                let position = random.below(count) as usize;
                keys[position] = integer(*random.pick(&wrong));
            }
            keys
        }
        Role::Rows => {
            let begins = (0..=sizes.0).map(|_| random.below(sizes.1 + 1));
            let mut begins: Vec<_> = begins.collect();
            begins.sort_unstable();
            begins.into_iter().map(integer).collect()
        }
    }
}

fn length(extent: Extent, (n, m): (i32, i32)) -> i32 {
    match extent {
        Extent::N => n,
        Extent::M => m,
        Extent::Both => n * m,
        Extent::Constant(length) => i32::from(length),
    }
}

impl Random {
    /// Mostly small numbers, sometimes those at the edges of the type.
    fn any(&mut self, ty: Type) -> Value {
        match (self.below(100), ty.integer_range()) {
            (0..15, None) => {
                let special = [
                    0.0,
                    -0.0,
                    f64::NAN,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    1e-310,
                    1e300,
                ];
                Value::float(ty, *self.pick(&special))
            }
            (15..25, None) => Value::float(ty, (self.fraction() - 0.5) * 1e12),
            (_, None) => self.value(ty, -20, 100),
            (0..15, Some((low, high))) => {
                let edges = [low, low + 1, high - 1, high, 0];
                Value::integer(ty, *self.pick(&edges))
            }
            (15..25, Some(_)) => Value::from_bits(ty, self.next()),
            (_, Some((low, high))) => {
                let low = low.clamp(-20, 0) as i64;
                self.value(ty, low, high.min(100) as i64)
            }
        }
    }
}
