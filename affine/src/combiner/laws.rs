//! The laws, by brute force over the values where they could break.

#![cfg(test)]

use super::*;
use crate::StdMath;

/// Zeros of both signs, neighbours, the ends of the ranges, infinities, NaN, a subnormal.
fn samples(ty: Type) -> Vec<Value> {
    let floats = [
        0.0,
        -0.0,
        1.5,
        -2.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e-320,
    ];
    let (low, high) = ty.integer_range().unwrap_or_default();
    let integers = [0, 1, -1, 2, 5, 77, low, low + 1, high - 1, high];
    if ty.is_float() {
        floats.map(|it| Value::float(ty, it)).to_vec()
    } else {
        integers.map(|it| Value::integer(ty, it)).to_vec()
    }
}

/// Pairs whose payloads tell which of several equal keys is there.
fn tuples(types: &[Type], mark: i128) -> Vec<Vec<Value>> {
    let keys = types.first().copied().map(samples).unwrap_or_default();
    let payload = |ty: Type| number(ty, mark, mark as f64).unwrap_or(Value::zero(ty));
    let rest = types.iter().skip(1).map(|ty| payload(*ty));
    let rest: Vec<_> = rest.collect();
    keys.into_iter()
        .map(|key| std::iter::once(key).chain(rest.clone()).collect())
        .collect()
}

fn same(left: &[Value], right: &[Value]) -> bool {
    let nan = |it: &Value| it.as_float().is_some_and(f64::is_nan);
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|(left, right)| left == right || nan(left) && nan(right))
}

fn combined(combiner: &Combiner, held: &[Value], incoming: &[Value]) -> Vec<Value> {
    let combined = combiner.combine(held, incoming, &StdMath);
    combined.expect("built-in combiners call no function")
}

fn all() -> Vec<Combiner> {
    let limits = [-128, -127, -5, 0, 1, 3, 77, 126, 127, 200, 255, 1 << 20];
    let limited = limits.map(|limit| Combiner::new(AddSaturating { limit }));
    Combiner::built_in().into_iter().chain(limited).collect()
}

fn type_tuples(combiner: &Combiner) -> Vec<Vec<Type>> {
    match combiner.parts() {
        1 => Type::ELEMENTS.iter().map(|ty| vec![*ty]).collect(),
        _ => Type::ELEMENTS
            .iter()
            .flat_map(|key| [Type::I64, Type::F32, Type::U8].map(|payload| vec![*key, payload]))
            .collect(),
    }
}

#[test]
fn the_laws_hold_for_every_built_in_combiner_on_every_type() {
    for combiner in all() {
        for types in type_tuples(&combiner) {
            let Some(e) = combiner.identity(&types) else {
                continue;
            };
            let on = |held: &[Value], incoming: &[Value]| combined(&combiner, held, incoming);
            for a in tuples(&types, 11) {
                assert!(same(&on(&a, &e), &a), "{combiner} on {types:?}: {a:?} ∘ e");
                for b in tuples(&types, 22) {
                    let once = on(&e, &b);
                    assert!(
                        same(&on(&a, &once), &on(&a, &b)),
                        "{combiner} on {types:?}: {a:?} {b:?}"
                    );
                    for c in tuples(&types, 33) {
                        let grouped = on(&a, &on(&once, &c));
                        let in_order = on(&on(&a, &b), &c);
                        assert!(
                            same(&grouped, &in_order) || !combiner.is_exact(&types),
                            "{combiner} on {types:?}: {a:?} {b:?} {c:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn where_operands_may_be_exchanged_it_is_said() {
    let mut unsaid = Vec::new();
    for combiner in all() {
        for types in type_tuples(&combiner) {
            if combiner.identity(&types).is_none() {
                assert!(!combiner.is_commutative(&types));
                continue;
            }
            let on = |held: &[Value], incoming: &[Value]| combined(&combiner, held, incoming);
            let (all, others) = (tuples(&types, 11), tuples(&types, 22));
            let mut pairs = all.iter().flat_map(|a| others.iter().map(move |b| (a, b)));
            let commutes = pairs.all(|(a, b)| same(&on(a, b), &on(b, a)));
            assert!(commutes || !combiner.is_commutative(&types), "{combiner}");
            if commutes && !combiner.is_commutative(&types) {
                unsaid.push(combiner.to_string());
            }
        }
    }
    assert_eq!(unsaid, [""; 0]);
}

/// `held` with `updates` combined into it, in their order.
fn in_order(combiner: &Combiner, held: Value, updates: &[Value]) -> Value {
    let combine = |held, update: &Value| combined(combiner, &[held], &[*update])[0];
    updates.iter().fold(held, combine)
}

#[test]
fn other_orders_differ_only_where_it_is_said_that_they_do() {
    let is_nan = |it: &Value| it.as_float().is_some_and(f64::is_nan);
    let is_zero = |it: &Value| it.as_float() == Some(0.0);
    let is_negative = |it: &Value| it.as_float().is_some_and(f64::is_sign_negative);
    let mut exempt = 0;
    for combiner in all().into_iter().filter(|it| it.parts() == 1) {
        for ty in Type::ELEMENTS {
            let order = combiner.order(&[ty]);
            let by = match &order {
                Order::OfLoop | Order::AnyOfTurns(_) => continue,
                Order::Any | Order::AnyButOfZeros => combiner.clone(),
                Order::AnyButOfZerosAndNan(by) => by.clone(),
            };
            let minds_nan = matches!(order, Order::AnyButOfZerosAndNan(_));
            let identity = by.identity(&[ty]).expect("an identity")[0];
            let samples = samples(ty);
            for (held, a) in samples
                .iter()
                .flat_map(|it| samples.iter().map(move |a| (*it, *a)))
            {
                for (b, c) in samples
                    .iter()
                    .flat_map(|it| samples.iter().map(move |c| (*it, *c)))
                {
                    let expected = in_order(&combiner, held, &[a, b, c]);
                    for updates in [
                        [a, b, c],
                        [a, c, b],
                        [b, a, c],
                        [b, c, a],
                        [c, a, b],
                        [c, b, a],
                    ] {
                        let gathered = in_order(&by, identity, &updates);
                        let found = combined(&combiner, &[held], &[gathered])[0];
                        let mut zeros = updates.iter().filter(|it| is_zero(it));
                        let has_plus = zeros.clone().any(|it| !is_negative(it));
                        let both = has_plus && zeros.any(is_negative) && is_zero(&gathered);
                        let nan = updates.iter().any(is_nan) || gathered == identity;
                        let may_differ = match order {
                            Order::Any => !combiner.is_exact(&[ty]),
                            _ => both || minds_nan && nan,
                        };
                        exempt += u32::from(may_differ);
                        assert!(
                            may_differ || same(&[found], &[expected]),
                            "{combiner} on {ty}: {held:?} {updates:?}"
                        );
                    }
                }
            }
        }
    }
    assert!(exempt > 0);
}

#[test]
fn an_identity_that_is_called_two_sided_gives_back_what_comes() {
    let mut others = Vec::new();
    for combiner in all() {
        for types in type_tuples(&combiner) {
            let Some(e) = combiner.identity(&types) else {
                assert!(!combiner.has_two_sided_identity(&types));
                continue;
            };
            let gives_back = |b: &Vec<Value>| same(&combined(&combiner, &e, b), b);
            let is_two_sided = tuples(&types, 22).iter().all(gives_back);
            assert!(is_two_sided || !combiner.has_two_sided_identity(&types));
            if is_two_sided && !combiner.has_two_sided_identity(&types) {
                others.push(combiner.to_string());
            }
        }
    }
    assert_eq!(others, [""; 0]);
}

#[test]
fn an_identity_has_the_types_it_is_for_and_needs_bodies() {
    for combiner in all() {
        for types in type_tuples(&combiner) {
            let bodies = combiner.bodies(&types);
            assert!(bodies.is_none_or(|it| it.len() == types.len()));
            let Some(e) = combiner.identity(&types) else {
                continue;
            };
            assert!(e.iter().map(|it| it.ty()).eq(types.iter().copied()));
            assert!(combiner.bodies(&types).is_some());
        }
    }
}

/// What a loop with `if (h < limit) h++` in it does.
fn counted(held: i128, steps: i128, limit: i128) -> i128 {
    (0..steps).fold(held, |held, _| if held < limit { held + 1 } else { held })
}

#[test]
fn saturating_steps_are_those_of_the_loop_on_every_byte() {
    for ty in [Type::I8, Type::U8] {
        let (low, high) = ty.integer_range().unwrap_or_default();
        for limit in low + 1..=high {
            let combiner = Combiner::new(AddSaturating { limit });
            for held in (low..=high).step_by(5).chain([high, limit]) {
                for steps in [0, 1, 2, 9, 100, 127, 128, 200, 254, 255] {
                    let value = |it| Value::integer(ty, it);
                    let found = combined(&combiner, &[value(held)], &[value(low + steps)]);
                    let expected = counted(held, steps, limit);
                    assert_eq!(
                        found,
                        [value(expected)],
                        "{ty}: {held} + {steps} to {limit}"
                    );
                }
            }
        }
    }
}

#[test]
fn which_of_equals_is_left_follows_the_comparison() {
    let (plus, minus) = (Value::f64(0.0), Value::f64(-0.0));
    let on = |name: &str, held: Value, incoming: Value| {
        let combiner = Combiner::from_name(name).expect("a built-in combiner");
        combined(&combiner, &[held], &[incoming])
    };
    for first in ["max", "min", "fmax_first", "fmin_first"] {
        assert_eq!(on(first, plus, minus), [plus]);
        assert_eq!(on(first, minus, plus), [minus]);
    }
    for last in ["max_last", "min_last", "fmax", "fmin"] {
        assert_eq!(on(last, plus, minus), [minus]);
        assert_eq!(on(last, minus, plus), [plus]);
    }
}

#[test]
fn names_are_read_back() {
    for combiner in all() {
        let again = Combiner::from_name(&combiner.to_string());
        assert_eq!(again.as_ref(), Some(&combiner));
    }
    assert_eq!(Combiner::from_name("add_sat"), None);
    assert_eq!(Combiner::from_name("max(3)"), None);
    assert_eq!(Combiner::from_name("add_sat(x)"), None);
}
