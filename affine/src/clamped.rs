//! Computed subscripts that stay in their dimension whatever the arrays hold:
//! `k < 0 ? 0 : k >= m ? m - 1 : k`, where there is an element at all.
//!
//! A kernel is followed for one extent after the other, since numbers are compared with that.

mod candidates;
mod flow;

use crate::{ArrayId, Expr, Kernel};
use candidates::{Candidates, Verdict, candidates};
use std::collections::{BTreeMap, BTreeSet};

/// So many extents are looked at: a kernel is followed anew for each.
const MOST_EXTENTS: usize = 8;

/// The subscripts of a kernel that stay in their dimensions.
///
/// ```
/// use strew_affine::clamped::Clamped;
/// use strew_affine::{Node, Subscript, text};
///
/// let source = "kernel @k(m: i32, x: i32[1], out: f64[m]) {
///   let k: i32 = x[0] < 0 ? 0 : x[0]
///   out[k < m ? k : m - 1] = 1.0
/// }";
/// let kernel = text::parse(source).unwrap().remove(0);
/// let written = kernel.body[1].written_elements().next().unwrap();
/// let Subscript::Computed(expr) = &written.subscripts[0] else { unreachable!() };
/// let clamped = Clamped::of(&kernel);
/// assert!(clamped.keeps((written.array, 0), expr));
/// assert!(clamped.dimensions().contains(&(written.array, 0)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Clamped {
    kept: BTreeMap<(ArrayId, usize), Vec<Expr>>,
    dimensions: BTreeSet<(ArrayId, usize)>,
}

impl Clamped {
    /// Those of `kernel`.
    pub fn of(kernel: &Kernel) -> Self {
        let mut clamped = Self::default();
        for candidates in candidates(kernel).into_iter().take(MOST_EXTENTS) {
            clamped.add(kernel, candidates);
        }
        clamped
    }

    /// The dimensions of arrays, by their numbers, that need an element: all of this holds where
    /// they have one, and only there.
    pub fn dimensions(&self) -> &BTreeSet<(ArrayId, usize)> {
        &self.dimensions
    }

    /// Whether `subscript` stays in that dimension of that array, wherever it is evaluated.
    pub fn keeps(&self, place: (ArrayId, usize), subscript: &Expr) -> bool {
        let kept = self.kept.get(&place);
        kept.is_some_and(|it| it.iter().any(|it| it.is_same(subscript)))
    }

    /// What holds without an element asks no call for one, nor does what is optional alone.
    fn add<'k>(&mut self, kernel: &'k Kernel, mut candidates: Candidates<'k>) {
        candidates.follow(kernel, 1);
        let mut always = candidates.clone();
        if candidates.extent.as_constant().is_none() {
            always.follow(kernel, 0);
        }
        candidates.remove(&always);
        self.keep(&always);
        if candidates.all().any(|it| it.verdict == Verdict::Kept) {
            self.dimensions.extend(candidates.of.keys());
            self.keep(&candidates);
        }
    }

    fn keep(&mut self, candidates: &Candidates<'_>) {
        for (place, found) in &candidates.of {
            let kept = self.kept.entry(*place).or_default();
            kept.extend(found.iter().map(|it| it.expr.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Subscript;
    use crate::interpret::{Argument, ForallOrder, interpret};
    use crate::text::parse;
    use crate::verify::verify;
    use crate::visit::walk;
    use crate::{StdMath, Type, Value};

    fn kernel(body: &str) -> Kernel {
        let source = format!(
            "kernel @k(n: i64, m: i32, w: i32, u: u32, x: i32[n], y: i64[n], z: u32[n], out: f64[m], wide: f64[m + 1], \
             other: f64[w], bins: f64[u], fixed: f64[16]) {{ affine.for i in 0..n {{ {body} }} }}"
        );
        parse(&source).expect("kernel text").swap_remove(0)
    }

    /// Whether each computed subscript of what is written is kept, with an element or without.
    fn kept(body: &str) -> Vec<&'static str> {
        let kernel = kernel(body);
        let clamped = Clamped::of(&kernel);
        let mut found = Vec::new();
        walk(&kernel.body, &mut |node, _| {
            for access in node.written_elements() {
                if let [Subscript::Computed(expr)] = &access.subscripts[..] {
                    let place = (access.array, 0);
                    let needs_element = clamped.dimensions().contains(&place);
                    found.push(match (clamped.keeps(place, expr), needs_element) {
                        (true, true) => "with an element",
                        (true, false) => "always",
                        _ => "not",
                    });
                }
            }
        });
        found
    }

    #[test]
    fn clamps_of_all_spellings_keep_their_dimension() {
        for body in [
            "out[x[i] < 0 ? 0 : x[i] > m - 1 ? m - 1 : x[i]] = 1.0",
            "out[x[i] >= m ? m - 1 : x[i] < 0 ? 0 : x[i]] = 1.0",
            "let a: i32 = x[i] > 0 ? x[i] : 0 let hi: i32 = m - 1 out[a < hi ? a : hi] = 1.0",
            "let a: i32 = m - 1 < x[i] ? m - 1 : x[i] out[0 > a ? 0 : a] = 1.0",
            "var b: i32 = x[i] b reduce(max) 0 scf.if b >= m { b = m - 1 } out[b] = 1.0",
            "var b: i32 = x[i] scf.if b < 0 { b = 0 } else { scf.if b >= m { b = m - 1 } } out[b] = 1.0",
            "var b: i32 = x[i] b reduce(min) m - 1 b reduce(max) 0 out[b] = 1.0",
            "let k: i64 = y[i] out[!(k < i64(m)) ? i64(m) - 1 : k >= 0 ? k : 0] = 1.0",
            "bins[z[i] < u ? z[i] : u - u32(1)] = 1.0",
            "bins[z[i] % u] = 1.0",
            "bins[z[i] & u - u32(1)] = 1.0",
            "let k: i32 = x[i] out[u32(k) < u32(m) ? k : 0] = 1.0",
            "let k: i32 = x[i] out[k >= 0 && k < m ? k : 0] = 1.0",
            "let k: i32 = x[i] out[k < 0 || m <= k ? 0 : k] = 1.0",
            "wide[x[i] < 0 ? 0 : x[i] > m ? m : x[i]] = 1.0",
            "let k: i32 = x[i] < 0 ? 0 : x[i] > m - 1 ? m - 1 : x[i] out[m - 1 - k] = 1.0",
            "affine.for j in 0..m { out[j > 0 ? j - 1 : 0] = 1.0 }",
            "affine.for j in 0..m { out[j + 1 < i64(m) ? j + 1 : j] = 1.0 }",
            "affine.for j in 0..m { out[j == i64(m) - 1 ? 0 : j + 1] = 1.0 }",
            "var b: i32 = x[i] scf.if b < 0 { b = 0 } scf.if b > 15 { b = 15 } fixed[b] = 1.0",
        ] {
            assert!(!kept(body).contains(&"not"), "{body}");
        }
    }

    #[test]
    fn what_is_only_near_to_a_clamp_is_not_kept() {
        for body in [
            "out[x[i]] = 1.0",
            "out[x[i] < 0 ? 0 : x[i] > m ? m : x[i]] = 1.0",
            "out[x[i] < 0 ? 0 : x[i] > m ? m - 1 : x[i]] = 1.0",
            "out[x[i] < -1 ? 0 : x[i] > m - 1 ? m - 1 : x[i]] = 1.0",
            "out[x[i] < 0 ? 1 : x[i] > m - 1 ? m - 1 : x[i]] = 1.0",
            "out[x[i] > m - 1 ? m - 1 : x[i]] = 1.0",
            "other[x[i] < 0 ? 0 : x[i] > m - 1 ? m - 1 : x[i]] = 1.0",
            "let k: i32 = x[i] < 0 ? 0 : x[i] > m - 1 ? m - 1 : x[i] out[k + 1] = 1.0",
            "out[x[i] < 0 ? 0 : x[i] > m - 2 ? m - 2 : x[i]] = 1.0",
            // `m` may be 0.
            "let k: i32 = x[i] < 0 ? 0 : x[i] > m - 1 ? m - 1 : x[i] wide[k + 1] = 1.0",
            "out[y[i] < 0 ? 0 : y[i] > i64(m) ? m : i32(y[i])] = 1.0",
            "bins[z[i] < u ? z[i] : u - u32(2)] = 1.0",
            "out[x[i] % m] = 1.0",
            "var b: i32 = x[i] b reduce(max) 0 scf.if b >= m { b = m - 1 } b = x[i] out[b] = 1.0",
            "var b: i32 = x[i] b reduce(max) 0 scf.if b >= m { b = m - 1 } b reduce(add) 1 out[b] = 1.0",
            "var b: i32 = x[i] scf.if y[i] > 0 { b reduce(max) 0 b reduce(min) m - 1 } out[b] = 1.0",
            "var b: i32 = 0 affine.for j in 0..n { out[b] = 1.0 b = x[j] }",
            "var b: i32 = 0 scf.while b < m { b reduce(add) 1 out[b] = 1.0 }",
            "let k: i32 = -x[i] out[x[i] > 0 ? 0 : k < m ? k : 0] = 1.0",
        ] {
            assert_eq!(kept(body), ["not"], "{body}");
        }
        // It is the same text before the clamp.
        let twice =
            "var b: i32 = x[i] out[b] = 1.0 b reduce(max) 0 b reduce(min) m - 1 out[b] = 2.0";
        assert_eq!(kept(twice), ["not", "not"]);
    }

    #[test]
    fn what_conditions_around_say_counts_for_what_they_leave_alone() {
        for (body, expected) in [
            (
                "let k: i32 = x[i] scf.if k >= 0 { out[k < m ? k : m - 1] = 1.0 }",
                "not",
            ),
            (
                "let k: i32 = x[i] scf.if k >= 0 { let q: i32 = k < m ? k : m - 1 out[q] = 1.0 }",
                "not",
            ),
            (
                "let k: i32 = x[i] scf.if k < 0 { } else { scf.if k < m { out[k] = 1.0 } }",
                "not",
            ),
            (
                "let k: i32 = x[i] scf.if k > 7 { out[k < 0 ? 0 : k < m ? k : m - 1] = 1.0 }",
                "with an element",
            ),
            (
                "scf.if y[i] > 0 { var b: i32 = x[i] scf.if b < 0 { b = 0 } else { scf.if b >= m { b = m - 1 } } out[b] = 1.0 }",
                "with an element",
            ),
            (
                "var b: i32 = 0 let k: i32 = x[i] scf.if k >= 0 && k < m { b = k } out[b] = 1.0",
                "with an element",
            ),
            (
                "var b: i32 = x[i] scf.if b >= 0 { b = -b } b reduce(min) m - 1 out[b] = 1.0",
                "not",
            ),
            // The array may hold something else by then.
            (
                "scf.if x[i] >= 0 { x[i] = -1 out[x[i] < m ? x[i] : m - 1] = 1.0 }",
                "not",
            ),
            // Nothing is in a dimension that runs nowhere.
            (
                "affine.for j in 8..8 { fixed[y[i] > 0 ? j : j] = 1.0 }",
                "not",
            ),
        ] {
            let found = kept(body);
            assert_eq!(found.last(), Some(&expected), "{body}");
        }
    }

    #[test]
    fn an_element_is_asked_for_where_it_is_needed_alone() {
        let clamp = "out[x[i] < 0 ? 0 : x[i] < m ? x[i] : m - 1] = 1.0";
        for (body, expected) in [
            ("bins[z[i] % u] = 1.0", "always"),
            ("fixed[x[i] & 15] = 1.0", "always"),
            (
                "affine.for j in 0..m { out[j > 0 ? j : j] = 1.0 }",
                "always",
            ),
            (
                "affine.for j in 0..m { out[j > 0 ? j - 1 : 0] = 1.0 }",
                "with an element",
            ),
            (clamp, "with an element"),
            // Whoever calls it without these elements wants the rest to be fast.
            (&format!("affine.if (0 < m) {{ {clamp} }}"), "not"),
            (&format!("scf.if w != 0 {{ {clamp} }}"), "not"),
            (
                &format!("{clamp} scf.if w != 0 {{ {clamp} }}"),
                "with an element",
            ),
        ] {
            assert_eq!(kept(body).last(), Some(&expected), "{body}");
        }
    }

    #[test]
    fn a_condition_around_all_loops_leaves_nothing_out() {
        for (behind, expected) in [("", true), ("affine.for j in 0..m { out[j] = 1.0 }", false)] {
            let source = format!(
                "kernel @k(n: i64, m: i32, x: i32[n], out: f64[m]) {{
                   affine.if (0 < m) {{ affine.for i in 0..n {{ out[x[i] < 0 ? 0 : x[i] < m ? x[i] : m - 1] = 1.0 }} }} {behind}
                 }}"
            );
            let kernel = parse(&source).expect("kernel text").swap_remove(0);
            assert_eq!(keeps_something(&kernel), expected, "{behind}");
        }
    }

    fn keeps_something(kernel: &Kernel) -> bool {
        Clamped::of(kernel).kept.values().any(|it| !it.is_empty())
    }

    /// As many statements as there may be, each of which sets what the next one clamps anew.
    #[test]
    fn conditions_without_end_are_followed() {
        let set: Vec<_> = (0..3000)
            .map(|it| format!("scf.if y[i] > {it} {{ b = {it} }}"))
            .collect();
        let body = format!(
            "var b: i32 = x[i] {} b reduce(max) 0 scf.if b >= m {{ b = m - 1 }} out[b] = 1.0",
            set.join(" ")
        );
        assert_eq!(kept(&body), ["with an element"]);
    }

    /// Random statements over numbers of eight bits.
    struct Words(u64);

    impl Words {
        fn below(&mut self, count: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005) | 1;
            self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % count
        }

        fn one_of(&mut self, words: &[&str]) -> String {
            words[self.below(words.len())].to_owned()
        }

        fn number(&mut self, depth: usize) -> String {
            if depth == 0 || self.below(4) == 0 {
                return self.one_of(&[
                    "b",
                    "b",
                    "b",
                    "a",
                    "m",
                    "m - i8(1)",
                    "i8(0)",
                    "i8(1)",
                    "i8(-1)",
                ]);
            }
            let [left, right] = [(); 2].map(|()| self.number(depth - 1));
            match self.below(9) {
                0 => format!("({left} + {right})"),
                1 => format!("({left} - {right})"),
                2 => format!("({left} % m)"),
                3 => format!("({left} & {right})"),
                4 => format!("({left} / i8(2))"),
                5 => format!("i8(u8({left}) >> u8(1))"),
                _ => format!("({} ? {left} : {right})", self.condition(depth - 1)),
            }
        }

        fn condition(&mut self, depth: usize) -> String {
            let [left, right] = [(); 2].map(|()| self.number(depth.min(1)));
            let op = self.one_of(&["<", "<=", ">", ">=", "==", "!="]);
            let plain = match self.below(4) {
                0 => format!("u8({left}) {op} u8({right})"),
                _ => format!("{left} {op} {right}"),
            };
            match self.below(6) {
                0 if depth > 0 => format!("({plain} && {})", self.condition(depth - 1)),
                1 if depth > 0 => format!("({plain} || {})", self.condition(depth - 1)),
                2 => format!("!({plain})"),
                _ => plain,
            }
        }

        fn statement(&mut self, depth: usize) -> String {
            match self.below(if depth > 0 { 6 } else { 3 }) {
                0 => format!("b = {}", self.number(2)),
                1 => format!("b reduce(max) {}", self.number(1)),
                2 => format!("b reduce(min) {}", self.number(1)),
                3 => {
                    let iter = self.0;
                    let body = self.statement(depth - 1);
                    format!("scf.for j{iter} in i64(0)..i64(2) {{ {body} }}")
                }
                _ => {
                    let condition = self.condition(1);
                    let [then, otherwise] = [(); 2].map(|()| self.statement(depth - 1));
                    format!("scf.if {condition} {{ {then} }} else {{ {otherwise} }}")
                }
            }
        }
    }

    /// Whether all numbers of eight bits, in an array `x`, end in a place of `out`.
    fn all_are_in_range(kernel: &Kernel, m: i128) -> bool {
        let numbers = (-128..128).map(|it| Value::integer(Type::I8, it));
        let mut arguments = [
            Argument::Scalar(Value::integer(Type::I8, m)),
            Argument::Array(numbers.clone().collect()),
            Argument::Array(numbers.rev().collect()),
            Argument::Array((0..m).map(|_| Value::i64(0)).collect()),
        ];
        let verified = verify(kernel.clone()).expect("a verified kernel");
        let order = ForallOrder::Forward;
        interpret(&verified, &mut arguments, u64::MAX, order, &StdMath).is_ok()
    }

    /// What is kept behind a condition is in range without it.
    #[test]
    fn what_is_kept_is_in_range_whatever_the_arrays_hold() {
        let mut words = Words(1);
        let mut kept = 0;
        for _ in 0..2000 {
            let statements: Vec<_> = (0..3).map(|_| words.statement(2)).collect();
            let condition = words.condition(1);
            let [anywhere, behind] = ["", &condition].map(|condition| {
                let update = match condition {
                    "" => "out[b] = 1".to_owned(),
                    _ => format!("scf.if {condition} {{ out[b] = 1 }}"),
                };
                let source = format!(
                    "kernel @k(m: i8, x: i8[256], y: i8[256], out: i64[m]) {{ affine.for i in 0..256 {{ \
                       let a: i8 = y[i] var b: i8 = x[i] {} {update} }} }}",
                    statements.join(" ")
                );
                parse(&source).expect(&source).swap_remove(0)
            });
            assert!(
                keeps_something(&anywhere) || !keeps_something(&behind),
                "{behind}"
            );
            if keeps_something(&anywhere) {
                kept += 1;
                for m in [1, 2, 3, 64, 127] {
                    assert!(all_are_in_range(&anywhere, m), "{m}: {anywhere}");
                }
            }
        }
        assert!(kept > 100, "{kept}");
    }
}
