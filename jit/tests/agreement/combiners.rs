//! Combiners: the same bits at any number of threads, and those that are not built in.

use crate::common::{Cells, Given, executed, interpreted, kernel, same, scalar};
use strew_affine::interpret::ForallOrder;
use strew_affine::verify::{Verified, verify};
use strew_affine::{
    BinaryOp, Combine, Combiner, CompareOp, Expr, Kernel, Node, Operand, Span, Type, Value,
};
use strew_jit::{Options, Target, compile};
use strew_runtime::Settings;

fn chunks(combiner: &Combiner, ty: Type) -> String {
    format!(
        "kernel @k(n: i64, m: i64, x: {ty}[n], out: {ty}[m]) {{
           scf.forall c in 0..8 private(p: {ty}[m] = identity({combiner})) merge(out reduce({combiner}) p) strategy(dense) {{
             affine.for i in (c * n) floordiv 8..(c * n + n) floordiv 8 {{ p[i * i64(7) % m] reduce({combiner}) x[i] }}
           }}
         }}"
    )
}

/// Numbers whose sums round, or wrap.
fn numbers(ty: Type, count: usize) -> Vec<Value> {
    let number = |position: usize| {
        let value = (position as f64 * 0.731).sin() * 1.3 + 0.001;
        if ty.is_float() {
            Value::float(ty, value)
        } else {
            Value::integer(ty, (value * 1e18) as i128)
        }
    };
    (0..count).map(number).collect()
}

#[test]
fn stable_results_have_the_same_bits_at_any_number_of_threads() {
    for combiner in Combiner::built_in() {
        for ty in Type::ELEMENTS {
            if combiner.identity(&[ty]).is_none() {
                continue;
            }
            let code = compile(&kernel(&chunks(&combiner, ty)), &Options::default());
            let code = code.unwrap_or_else(|error| panic!("{combiner} on {ty}: {error}"));
            let given = [
                scalar(1000_i64),
                scalar(37_i64),
                Given::Array(Cells::of(ty, &numbers(ty, 1000))),
                Given::Array(Cells::of(ty, &numbers(ty, 37))),
            ];
            let on = |threads| {
                let outcome = executed(&code, &given, threads, &Settings::default());
                outcome.unwrap_or_else(|fault| panic!("{combiner} on {ty}: {fault:?}"))
            };
            let expected = on(1);
            for threads in [2, 4, 8] {
                assert_eq!(
                    on(threads),
                    expected,
                    "{combiner} on {ty}, {threads} threads"
                );
            }
        }
    }
}

fn held() -> Expr {
    Expr::Operand(Operand::Held(0))
}

fn incoming() -> Expr {
    Expr::Operand(Operand::Incoming(0))
}

/// Addition with its operands written the other way round.
#[derive(Debug)]
struct TurnedSum;

impl Combine for TurnedSum {
    fn name(&self) -> &str {
        "turned"
    }

    fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
        let [ty] = types else { return None };
        ty.is_integer().then(|| vec![Value::zero(*ty)])
    }

    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        let sum = || Expr::binary(BinaryOp::Add, incoming(), held(), Span::default());
        matches!(types, [_]).then(|| vec![sum()])
    }

    fn is_exact(&self, _: &[Type]) -> bool {
        true
    }
}

/// The bits of both, by way of a wider type, and a comparison that always holds.
#[derive(Debug)]
struct WideUnion;

impl Combine for WideUnion {
    fn name(&self) -> &str {
        "wide"
    }

    fn identity(&self, types: &[Type]) -> Option<Vec<Value>> {
        let [ty] = types else { return None };
        ty.is_integer().then(|| vec![Value::zero(*ty)])
    }

    fn bodies(&self, types: &[Type]) -> Option<Vec<Expr>> {
        let [ty] = types else { return None };
        let wide = |expr| Expr::Cast(Type::I64, Box::new(expr));
        let union = Expr::binary(
            BinaryOp::BitOr,
            wide(held()),
            wide(incoming()),
            Span::default(),
        );
        let reflexive = |expr: Expr| Box::new(Expr::compare(CompareOp::Eq, expr.clone(), expr));
        let both = Expr::And(reflexive(wide(held())), reflexive(incoming()));
        let either = Expr::Or(Box::new(both), reflexive(held()));
        let chosen = Expr::select(either, Expr::Cast(*ty, Box::new(union)), held());
        Some(vec![chosen])
    }

    fn is_exact(&self, _: &[Type]) -> bool {
        true
    }
}

/// The kernel with `combiner` in the place of every other.
fn with_combiner(mut kernel: Kernel, combiner: &Combiner) -> Verified {
    fn replace(nodes: &mut [Node], by: &Combiner) {
        for node in nodes {
            match node {
                Node::Reduce { combiner, .. } => *combiner = by.clone(),
                Node::Forall(forall) => {
                    let privates = forall.privates.iter_mut();
                    privates.for_each(|private| private.combiner = by.clone());
                }
                _ => {}
            }
            for block in node.blocks_mut() {
                replace(block, by);
            }
        }
    }
    replace(&mut kernel.body, combiner);
    verify(kernel).unwrap_or_else(|violations| panic!("{violations:?}"))
}

#[test]
fn combiners_that_are_not_built_in() {
    for combiner in [Combiner::new(TurnedSum), Combiner::new(WideUnion)] {
        for ty in [Type::I8, Type::U16, Type::I32, Type::U64] {
            let add = Combiner::from_name("add").unwrap_or_else(|| panic!("there is an add"));
            let negated = chunks(&add, ty).replace("reduce(add) x[i]", "reduce(add) -x[i]");
            for source in [chunks(&add, ty), negated] {
                let kernel = with_combiner(kernel(&source).into_kernel(), &combiner);
                let given = [
                    scalar(100_i64),
                    scalar(37_i64),
                    Given::Array(Cells::of(ty, &numbers(ty, 100))),
                    Given::Array(Cells::of(ty, &numbers(ty, 37))),
                ];
                let expected = interpreted(&kernel, &given, ForallOrder::Forward);
                assert!(expected.is_ok(), "{expected:?}");
                for target in [Target::Native, Target::Baseline] {
                    let code = compile(
                        &kernel,
                        &Options {
                            target,
                            ..Options::default()
                        },
                    );
                    let code = code.unwrap_or_else(|error| panic!("{combiner} on {ty}: {error}"));
                    let found = executed(&code, &given, 2, &Settings::default());
                    assert!(same(&expected, &found), "{combiner} on {ty}: {found:?}");
                }
            }
        }
    }
}
