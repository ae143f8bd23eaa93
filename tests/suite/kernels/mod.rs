//! The kernels of `tests/kernels`, which people bring from histograms, graphs, meshes and
//! particles, on keys of every kind: all engines and `cc` agree bit for bit.

mod graph;
mod in_order;
mod mesh;
mod rows;
mod scatter;

use crate::c::Program;
use crate::data::{Data, is_same};
use crate::engines::{Engines, agree};
use crate::generators::{constant, sorted};
use crate::mlir;
use crate::objects::Linked;
use crate::random::Random;
use strew::{ObjectSettings, Parsed, Plan, Source};

/// A kernel's name and text.
macro_rules! kernel {
    ($name:literal) => {
        (
            concat!($name, ".c"),
            include_str!(concat!("../../kernels/", $name, ".c")),
        )
    };
}
use kernel;

/// Arguments and what they are.
type Case = (String, Data);

fn parse((file, text): (&str, &str)) -> Parsed {
    let parsed = Source::new(file, text).parse();
    parsed.unwrap_or_else(|error| panic!("{error}"))
}

/// Everything that runs the kernel `name` of `source` computes the same from every one of `cases`.
fn check(source: (&str, &str), name: &str, cases: &[Case]) {
    let parsed = parse(source);
    let kernel = parsed.kernel(Some(name)).expect("the kernel");
    let engines = Engines::new(kernel);
    let calls: Vec<_> = cases.iter().map(|(_, data)| (0, data)).collect();
    let expected = Program::compile(source.1, [kernel.kernel()]).map(|it| it.run(&calls));
    if expected.is_none() {
        skip(source.0);
    }
    let linked = Linked::new(kernel, &Plan::Source, &ObjectSettings::default());
    let data: Vec<_> = cases.iter().map(|(_, data)| data).collect();
    let called = linked.map(|it| it.run(&data));
    let largest = cases.iter().filter(|(_, data)| mlir::takes(data));
    let largest = largest.max_by_key(|(_, data)| data.arrays.values().map(Vec::len).sum::<usize>());
    for (position, (what, data)) in cases.iter().enumerate() {
        begin(name, what);
        let found = engines.everywhere(data);
        if largest.is_some_and(|it| std::ptr::eq(data, &raw const it.1)) {
            mlir::agrees(kernel, data);
        }
        if let Some(called) = &called {
            agree("object", &found, &called[position], is_same);
        }
        if let Some(expected) = &expected {
            agree("cc", &found, &expected[position], is_same);
        }
    }
}

/// The test shows it when it fails.
#[expect(clippy::print_stderr, reason = "a failure tells where it was")]
fn begin(kernel: &str, case: &str) {
    eprintln!("{kernel}: {case}");
}

#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn skip(file: &str) {
    eprintln!("skipped: there is no cc to compare {file} with");
}

/// `n` keys below `m` of every kind.
fn keys(random: &mut Random, n: usize, m: i32) -> [(&'static str, Vec<i32>); 6] {
    [
        ("uniform", random.uniform(n, m)),
        ("zipf", random.zipf(n, m, 1.1)),
        ("sorted", sorted(n, m)),
        ("constant", constant(n, m)),
        ("two", random.two(n, m)),
        ("clustered", random.clustered(n, m, 16, 4)),
    ]
}

/// Numbers of keys, and what they are below: none, one, a few, and enough for every chunk.
const SIZES: [(usize, i32); 7] = [
    (0, 0),
    (0, 5),
    (1, 1),
    (3, 2),
    (700, 1),
    (700, 90),
    (50, 300),
];

/// The cases that `case` makes of keys of every kind.
fn over_keys(sizes: &[(usize, i32)], case: impl Fn(&mut Random, &[i32], i32) -> Data) -> Vec<Case> {
    let mut random = Random(1);
    let mut cases = Vec::new();
    for (n, m) in sizes {
        for (kind, keys) in keys(&mut random, *n, *m) {
            let data = case(&mut random, &keys, *m);
            cases.push((format!("{n} keys below {m}, {kind}"), data));
        }
    }
    cases
}

impl Random {
    /// Numbers in `low..high`.
    fn floats(&mut self, count: usize, low: f64, high: f64) -> Vec<f64> {
        (0..count)
            .map(|_| low + (high - low) * self.fraction())
            .collect()
    }

    /// As [`floats`](Self::floats), rounded.
    fn singles(&mut self, count: usize, low: f64, high: f64) -> Vec<f32> {
        let floats = self.floats(count, low, high).into_iter();
        floats.map(|it| it as f32).collect()
    }
}

/// A length as the kernels take it.
fn length<T, N: TryFrom<usize>>(elements: &[T]) -> N {
    N::try_from(elements.len())
        .ok()
        .expect("a length that fits")
}

/// What is found for each kernel: whether it runs in parallel, and a reduction in it.
#[test]
fn reductions_are_found_and_run_in_parallel() {
    let expected = [
        (kernel!("k01_hist_bin"), true, "h[b] reduce(add) 1"),
        (kernel!("k02_scatter_add"), true, "reduce(add) w[i]"),
        (kernel!("k03_segment_sum"), true, "reduce(add)"),
        (kernel!("k04_segment_argmax"), true, "reduce(argmax)"),
        (kernel!("k05_spmv_t"), true, "reduce(add)"),
        (kernel!("k06_pagerank_push"), true, "reduce(add)"),
        (kernel!("k07_triangles"), true, "reduce(add) 1"),
        // It reads other elements of what it gathers in, forward and backward.
        (kernel!("k08_betweenness"), true, "[adj[k]] reduce(add)"),
        (kernel!("k09_fem_assemble"), true, "reduce(add)"),
        (kernel!("k10_deposit"), true, "reduce(add)"),
        (kernel!("k11_kmeans"), true, "reduce(argmin)"),
        (kernel!("k12_edge_flux"), true, "reduce(add)"),
        (kernel!("n04_saturating"), true, "reduce(add_sat(255)) 1"),
    ];
    for (source, is_parallel, reduction) in expected {
        for kernel in parse(source).kernels() {
            let written = kernel.kernel().to_string();
            assert!(written.contains(reduction), "{written}");
            let engines = Engines::new(kernel);
            assert_eq!(engines.has_forall(), is_parallel, "{}", source.0);
        }
    }
}
