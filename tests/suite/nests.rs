//! Nests that scatter nothing through data: they run in parallel by themselves, and the bits are
//! those of the loops as they are written.

use crate::data::{Data, is_close, is_same, parameters};
use crate::engines::{Engines, agree, compiled, interpreted};
use crate::mlir;
use crate::random::Random;
use strew::ir::interpret::ForallOrder;
use strew::ir::{Kernel, Node, Type, Value, visit};
use strew::{Mode, Parsed, Source};

/// The name of a nest, the loops that run in parallel, and sizes at which they have something to
/// share.
type Nest = (&'static str, &'static str, &'static [(&'static str, i64)]);

const NESTS: [Nest; 34] = [
    ("mm_ijk", "i_t_t", &[("n", 131), ("m", 83), ("p", 75)]),
    ("mm_local", "i", &[("n", 61), ("m", 83), ("p", 45)]),
    ("mm_ikj", "i_t_t", &[("n", 131), ("m", 83), ("p", 75)]),
    ("mm_kij", "i_t_t", &[("n", 1111), ("m", 11), ("p", 9)]),
    (
        "gemm_polybench",
        "i i_2_t_t",
        &[("n", 231), ("m", 83), ("p", 45)],
    ),
    ("gemv", "i", &[("n", 301), ("m", 407)]),
    ("gemv_t", "i_c", &[("n", 51), ("m", 4097)]),
    ("gemv_t_cols", "i_c", &[("n", 51), ("m", 4097)]),
    ("atax", "j_t_c i_c", &[("n", 9), ("m", 20_003)]),
    ("syrk", "i", &[("n", 83), ("m", 61)]),
    ("trmm", "j_t_c j_2_t_c", &[("n", 61), ("m", 83)]),
    ("trsv", "i_p_r_c", &[("n", 301)]),
    ("trsm", "j_t_c i_r_r_t_c", &[("n", 171), ("m", 83)]),
    ("lu", "i_r_r_c j_r_t_c i_2_r_r_t_c", &[("n", 203)]),
    ("lu_polybench", "j_2_t_c", &[("n", 151)]),
    ("cholesky", "i_r_c i_2_c", &[("n", 203)]),
    ("cholesky_right", "i_t_c i_2_c", &[("n", 201)]),
    ("jacobi1d", "i_t_c i_2_t_c", &[("n", 40_001), ("steps", 3)]),
    ("jacobi2d", "i_c i_2_c", &[("n", 201), ("steps", 3)]),
    ("heat3d", "i_c i_2_c", &[("n", 41), ("steps", 3)]),
    ("seidel2d", "i_t_c", &[("n", 203), ("steps", 3)]),
    ("smooth", "i_t_c", &[("n", 203)]),
    (
        "fdtd2d",
        "j_t_c i_c i_2 i_3",
        &[("n", 201), ("m", 151), ("steps", 3)],
    ),
    ("floyd_warshall", "i i_r_r_c", &[("n", 151)]),
    ("conv2d", "i", &[("n", 151), ("m", 203)]),
    ("transpose", "i_t_c", &[("n", 301), ("m", 203)]),
    ("prefix_rows", "i", &[("n", 301), ("m", 203)]),
    ("prefix_cols", "j_t_c", &[("n", 33), ("m", 4097)]),
    (
        "correlation",
        "j_t_c i_c j_3_2_t_c j_2_t_c i_2_c j_2_3_t_c j_2_4_t_c i_3 i_4",
        &[("n", 83), ("m", 61)],
    ),
    ("axpy", "i_t_c", &[("n", 300_001)]),
    ("heat_ping", "i_t_c", &[("n", 40_001), ("steps", 5)]),
    ("colsum", "j_t_c i_c j_3_t_c", &[("n", 301), ("m", 203)]),
    ("ring", "i", &[("n", 301), ("m", 203)]),
    ("padded", "i", &[("n", 151), ("m", 203), ("p", 1)]),
];

fn nests() -> Parsed {
    let text = include_str!("../kernels/nests.c");
    Source::new("nests.c", text).parse().expect("kernels")
}

fn engines(parsed: &Parsed, name: &str) -> Engines {
    Engines::new(parsed.kernel(Some(name)).expect("a kernel"))
}

/// Arguments for sizes that `size` gives; the matrices of triangular solves and factorizations have
/// large diagonals.
fn data(kernel: &strew::Kernel, size: impl Fn(&str) -> i64) -> Data {
    let mut random = Random(7);
    let parameters = parameters(kernel.compiled().kernel());
    let mut data = Data::default();
    for (name, ty, _) in parameters.iter().filter(|it| !it.2) {
        let value = match ty.is_float() {
            true => Value::float(*ty, 1.25),
            false => Value::integer(*ty, size(name).into()),
        };
        data.scalars.insert(name.clone(), value);
    }
    let scalars = data.scalars.iter();
    let call = scalars.fold(kernel.bind(), |call, (name, value)| {
        call.value(name, *value)
    });
    let sizes = call.sizes().expect("sizes");
    for (name, ty, _) in parameters.into_iter().filter(|it| it.2) {
        let extents = sizes.extents(&name).expect("extents");
        let count = extents.iter().product::<u64>();
        let row = extents.last().map_or(1, |it| it + 1);
        let value = |at: u64| match ty {
            Type::F64 => {
                let diagonal = if at.is_multiple_of(row) { 40.0 } else { 0.0 };
                let small = random.value(Type::I64, 1, 1000).bits() as f64 / 997.0;
                Value::float(ty, small + diagonal)
            }
            _ => random.value(ty, 1, 1000),
        };
        data.arrays.insert(name, (0..count).map(value).collect());
    }
    data
}

fn parallel_loops(kernel: &Kernel) -> String {
    let mut names = Vec::new();
    visit::walk(&kernel.body, &mut |node, _| {
        if let Node::Forall(it) = node {
            names.push(kernel.iters[it.iter].name.as_str());
        }
    });
    names.join(" ")
}

#[test]
fn the_loops_that_run_in_parallel() {
    let parsed = nests();
    for kernel in parsed.kernels() {
        let name = kernel.kernel().name.as_str();
        assert!(NESTS.iter().any(|it| it.0 == name), "{name}");
    }
    for (name, expected, _) in NESTS {
        let scheduled = engines(&parsed, name).scheduled;
        let scheduled = scheduled.compiled().kernel();
        assert_eq!(parallel_loops(scheduled), expected, "{name}\n{scheduled}");
    }
}

/// In whatever order their iterations run.
#[test]
fn what_is_found_means_what_was_written() {
    let parsed = nests();
    for (name, ..) in NESTS {
        let engines = engines(&parsed, name);
        for size in [1, 2, 11] {
            let size = |name: &str| if name == "steps" { 3 } else { size };
            let data = data(&engines.serial, size);
            let expected = interpreted(&engines.written, &data, ForallOrder::Forward);
            let scheduled = engines.scheduled.compiled().kernel();
            let found = interpreted(scheduled, &data, ForallOrder::Backward);
            // What iterations collect in private copies is rounded in another way, unless the mode
            // forbids it.
            let is_summed = scheduled.to_string().contains("private(");
            let is_equal = if is_summed { is_close } else { is_same };
            agree(name, &found, &expected, is_equal);
            let exact = engines.scheduled.clone().mode(Mode::Exact);
            let found = compiled(&exact.threads(2), &data);
            agree(name, &found, &expected, is_same);
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let parsed = nests();
    for (name, _, sizes) in NESTS {
        let engines = engines(&parsed, name);
        let size = |name: &str| {
            let found = sizes.iter().find(|it| it.0 == name);
            found.expect("a size").1
        };
        let data = data(&engines.serial, size);
        let expected = compiled(&engines.serial.clone().threads(1), &data);
        for threads in [1, 2, 3] {
            let exact = engines.scheduled.clone().mode(Mode::Exact);
            let found = compiled(&exact.threads(threads), &data);
            agree(name, &found, &expected, is_same);
        }
        let stable = |threads| compiled(&engines.scheduled.clone().threads(threads), &data);
        agree(name, &stable(3), &stable(1), is_same);
    }
}

#[test]
fn nests_compute_the_same_as_mlir() {
    let parsed = nests();
    for (name, _, sizes) in NESTS {
        let kernel = parsed.kernel(Some(name)).expect("a kernel");
        let engines = engines(&parsed, name);
        let small = |size: &str| {
            let (_, large) = sizes.iter().find(|it| it.0 == size).expect("a size");
            (*large).min(3 + large % 9)
        };
        let data = data(&engines.scheduled, small);
        assert!(mlir::takes(&data), "{name}");
        mlir::agrees(kernel, &data);
    }
}
