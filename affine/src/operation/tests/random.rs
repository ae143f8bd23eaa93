//! Random computations: their maps have the pairs that the reference finds, in both directions.

use super::programs::{Program, text};
use super::{Pairs, module, pairs, points};
use crate::operation::{Analysis, ElementMaps, KnownMaps, PartMap, Value};

/// Larger domains take too long to enumerate.
const MAX_POINTS: u128 = 4_000;

/// The elements of a parameter that each element of the last line is computed from.
fn expected(program: &Program, parameter: usize) -> Pairs {
    let last = program.tensors.last().expect("a line");
    let mut found = Pairs::new();
    for (index, cell) in super::indices(&last.extents).iter().zip(&last.cells) {
        for (number, read) in &cell.reads {
            if *number == parameter {
                found.insert((index.clone(), read.clone()));
            }
        }
    }
    found
}

fn is_small(known: &KnownMaps) -> bool {
    let is_small = |it: &PartMap| {
        let map = it.indexing.map();
        let counted = map.dimensions().iter().chain(map.ranges());
        counted.map(|it| it.bounds.count()).product::<u128>() <= MAX_POINTS
    };
    known.iter().flatten().all(is_small)
}

/// The pairs of all maps, and whether all of them are exact.
fn found(program: &Program, known: &KnownMaps) -> (Pairs, bool) {
    let value_of = |value: Value, index: &[i64]| {
        let tensor = match (value.computation, program.parameters.get(value.instruction)) {
            (1, Some(parameter)) => &program.tensors[*parameter],
            _ => &program.tensors[value.instruction],
        };
        tensor.at(index).map_or(0, |it| it.value)
    };
    let mut all = Pairs::new();
    let mut is_exact = true;
    for it in known.as_ref().expect("known maps") {
        all.extend(pairs(&it.indexing, &value_of));
        is_exact &= it.indexing.is_exact();
    }
    (all, is_exact)
}

fn compare(program: &Program, maps: &ElementMaps, source: &str) {
    for parameter in 0..program.parameters.len() {
        let expected = expected(program, parameter);
        let backward = &maps.output_to_input[0][parameter];
        let forward = &maps.input_to_output[parameter][0];
        for (known, is_forward) in [(backward, false), (forward, true)] {
            if !is_small(known) {
                continue;
            }
            let (mut pairs, is_exact) = found(program, known);
            if is_forward {
                pairs = pairs.into_iter().map(|(from, to)| (to, from)).collect();
            }
            let shown = || -> Vec<_> {
                let maps = known.iter().flatten();
                maps.map(|it| format!("{} {:?}", it.indexing.map(), it.indexing.runtime()))
                    .collect()
            };
            if is_exact {
                assert_eq!(
                    pairs,
                    expected,
                    "{source}\np{parameter} {is_forward}: {:#?}",
                    shown()
                );
            } else {
                assert!(
                    pairs.is_superset(&expected),
                    "{source}\np{parameter} {is_forward}: {:#?}",
                    shown()
                );
            }
            assert!(is_exact || !program.is_exact, "{source}\n{:#?}", shown());
        }
    }
}

fn check(program: &Program) {
    for is_called in [false, true] {
        let source = text(program, is_called);
        let module = module(&source);
        let maps = Analysis::new(&module).root();
        compare(program, &maps.expect("maps"), &source);
    }
}

/// Each operation alone, on new parameters.
fn alone(operation: fn(&mut Program)) {
    for seed in 1..120 {
        let mut program = Program::new(seed);
        operation(&mut program);
        if !program.lines.is_empty() {
            check(&program);
        }
    }
}

macro_rules! each_alone {
    ($($name:ident: $operation:expr;)*) => {
        $(
            #[test]
            fn $name() {
                alone($operation);
            }
        )*
    };
}

each_alone! {
    unary_reads_what_the_reference_reads: Program::unary;
    binary_reads_what_the_reference_reads: Program::binary;
    broadcast_reads_what_the_reference_reads: Program::broadcast;
    transpose_reads_what_the_reference_reads: Program::transpose;
    reverse_reads_what_the_reference_reads: Program::reverse;
    reduce_reads_what_the_reference_reads: Program::reduce;
    slice_reads_what_the_reference_reads: Program::slice;
    reshape_reads_what_the_reference_reads: |it| it.reshape("reshape");
    bitcast_reads_what_the_reference_reads: |it| it.reshape("bitcast");
    concatenate_reads_what_the_reference_reads: Program::concatenate;
    dot_reads_what_the_reference_reads: Program::dot;
    convolution_reads_what_the_reference_reads: Program::convolution;
    pad_reads_what_the_reference_reads: Program::pad;
    reduce_window_reads_what_the_reference_reads: Program::reduce_window;
    dynamic_slice_reads_what_the_reference_reads: Program::dynamic_slice;
    dynamic_update_slice_reads_what_the_reference_reads: Program::dynamic_update_slice;
    gather_reads_what_the_reference_reads: Program::gather;
    scatter_reads_what_the_reference_reads: Program::scatter;
}

#[test]
fn computations_of_several_operations_read_what_the_reference_reads() {
    for seed in 1..1500 {
        let mut program = Program::new(seed);
        let count = 2 + program.random.below(3);
        for _ in 0..count {
            program.step();
            // Nothing can be cut out of an array without elements.
            if program.tensors.iter().any(|it| it.cells.is_empty()) {
                break;
            }
        }
        let cells: usize = program.tensors.iter().map(|it| it.cells.len()).sum();
        if !program.lines.is_empty() && cells < 400 {
            check(&program);
        }
    }
}

#[test]
fn boxes_are_enumerated_completely() {
    use crate::indexing::Interval;
    let bounds = [Interval::new(1, 2), Interval::new(-1, 1)];
    assert_eq!(points(&bounds).len(), 6);
    assert_eq!(points(&[]), [Vec::<i64>::new()]);
}
