//! Short loops of updates that all bring one value: with a plan, values are stored first and sorted
//! later. Results are those of plain loops, whatever the loops' lengths are.

use strew::{ArrayElement, Bind, Compiler, Kernel};

const SOURCE: &str = "
void push(int32_t n, int64_t edges, int32_t m, const int64_t row[n + 1], const int32_t to[edges], const float x[n], float out[m]) {
  for (int32_t v = 0; v < n; v++)
    for (int64_t k = row[v]; k < row[v + 1]; k++)
      out[to[k]] += x[v] / (float)(row[v + 1] - row[v]);
}
void keys_with_names(int32_t n, int64_t edges, int32_t m, const int64_t row[n + 1], const int32_t to[edges], const double x[n], double out[m]) {
  for (int32_t v = 0; v < n; v++) {
    double half = x[v] * 0.5;
    for (int64_t k = row[v]; k < row[v + 1]; k++) {
      int32_t w = to[k];
      out[w] += half;
    }
  }
}
void bytes(int32_t n, int64_t edges, int32_t m, const int64_t row[n + 1], const int32_t to[edges], const uint8_t x[n], uint8_t out[m]) {
  for (int32_t v = 0; v < n; v++)
    for (int64_t k = row[v]; k < row[v + 1]; k++)
      out[to[k]] ^= x[v];
}
void every_other(int32_t n, int64_t edges, int32_t m, const int64_t row[n + 1], const int32_t to[edges], const uint16_t x[n], uint16_t out[m], int64_t count[m]) {
  for (int32_t v = 0; v < n; v++) {
    for (int64_t k = row[v]; k < row[v + 1]; k += 2)
      out[to[k]] += x[v];
    for (int64_t k = row[v]; k < row[v + 1]; k++)
      count[to[k]] += 1;
  }
}
void both_kinds(int32_t n, int64_t edges, int32_t m, const int64_t row[n + 1], const int32_t to[edges], const float x[n], float out[m]) {
  for (int32_t v = 0; v < n; v++) {
    out[to[row[v]]] -= 2.0f * x[v];
    for (int64_t k = row[v]; k < row[v + 1]; k++)
      out[to[k]] += x[v];
    for (int64_t k = row[v]; k < row[v + 1]; k++)
      out[to[k]] += x[v] * (float)k;
    if (x[v] > 0.2f)
      out[v] += x[v];
  }
}
void columns(int32_t n, int64_t edges, int32_t m, const int64_t row[n + 1], const int32_t to[edges], const int64_t x[n], int64_t out[m]) {
  for (int32_t v = 0; v < n; v++)
    for (int32_t j = 0; j < 3; j++)
      out[to[row[v] + j]] += x[v] / (j + 1);
}";

struct Graph {
    row: Vec<i64>,
    to: Vec<i32>,
    vertices: usize,
    elements: usize,
}

impl Graph {
    /// With vertices of so many edges by turns, none if that is negative, and three edges more
    /// behind the last.
    fn of(lengths: &[i64], vertices: usize, elements: usize) -> Self {
        let mut row = vec![0];
        for vertex in 0..vertices {
            row.push(row[vertex] + lengths[vertex % lengths.len()]);
        }
        let mut state = 7_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as usize % elements) as i32
        };
        let most = row.iter().max().copied().unwrap_or(0);
        let to = (0..most + 3).map(|_| next()).collect();
        Self {
            row,
            to,
            vertices,
            elements,
        }
    }

    fn edges(&self, vertex: usize) -> impl Iterator<Item = (usize, i64)> + '_ {
        let edges = self.row[vertex]..self.row[vertex + 1];
        edges.map(|edge| (self.to[edge as usize] as usize, edge))
    }

    /// `call` with what all kernels take.
    fn call<'a, T: ArrayElement>(
        &'a self,
        call: Bind<'a>,
        x: &'a [T],
        out: &'a mut [T],
    ) -> Bind<'a> {
        let call = call.array("row", &self.row).array("to", &self.to);
        call.array("x", x).array_mut("out", out)
    }

    fn first(&self, vertex: usize) -> usize {
        self.to[self.row[vertex] as usize] as usize
    }
}

/// Calls `check` with the kernel `name`, which is planned, and graphs of many kinds.
fn each_graph(name: &str, check: impl Fn(&Kernel, &Graph)) {
    let compiler = Compiler::new().strategy("planned".parse().expect("a strategy"));
    let program = compiler.compile("k.c", SOURCE).expect("a program");
    let kernel = program.kernel(name).expect("a kernel");
    let lengths: [&[i64]; 7] = [
        &[0],
        &[1, 0, 2, 0, 3, 1, 4],
        &[5, 0, 0, 8, 4, 3],
        &[510, 1, 2, 515, 0, 1],
        &[2000, 0, 1],
        &[3],
        &[7, -3, 2, -5, 1],
    ];
    for threads in [1, 2, 3] {
        let kernel = kernel.clone().threads(threads);
        for lengths in lengths {
            for (vertices, elements) in [(1, 1), (700, 700), (3000, 200_000)] {
                check(
                    &kernel,
                    &Graph::of(lengths, vertices, elements.max(vertices)),
                );
            }
        }
    }
}

fn values(count: usize) -> Vec<f32> {
    (0..count)
        .map(|it| 1.0 / (it as f32 % 97.0 + 3.0))
        .collect()
}

#[test]
fn values_that_are_divided_by_the_length() {
    each_graph("push", |kernel, graph| {
        let x = values(graph.vertices);
        let (mut expected, mut found) = (vec![0.5; graph.elements], vec![0.5; graph.elements]);
        for (v, x) in x.iter().enumerate() {
            for (to, _) in graph.edges(v) {
                expected[to] += x / (graph.row[v + 1] - graph.row[v]) as f32;
            }
        }
        let updates: usize = (0..graph.vertices).map(|v| graph.edges(v).count()).sum();
        let plan = kernel.plan(&graph.row).and(&graph.to);
        for _ in 0..3 {
            found.fill(0.5);
            let call = graph.call(plan.bind(), &x, &mut found);
            let report = call.run_with_report().expect("a run");
            assert_eq!(report.record.strategy, "planned");
            assert_eq!(report.record.updates, updates as u64);
            assert!(found == expected);
        }
    });
}

#[test]
fn keys_that_have_names() {
    each_graph("keys_with_names", |kernel, graph| {
        let x: Vec<f64> = values(graph.vertices)
            .iter()
            .map(|it| f64::from(*it))
            .collect();
        let (mut expected, mut found) = (vec![0.5; graph.elements], vec![0.5; graph.elements]);
        for (v, x) in x.iter().enumerate() {
            graph.edges(v).for_each(|(to, _)| expected[to] += x * 0.5);
        }
        let call = graph.call(kernel.bind(), &x, &mut found);
        call.run().expect("a run");
        assert!(found == expected);
    });
}

#[test]
fn values_of_one_byte() {
    each_graph("bytes", |kernel, graph| {
        let x: Vec<u8> = (0..graph.vertices).map(|it| it as u8).collect();
        let (mut expected, mut found) = (vec![3; graph.elements], vec![3; graph.elements]);
        for (v, x) in x.iter().enumerate() {
            graph.edges(v).for_each(|(to, _)| expected[to] ^= x);
        }
        let call = graph.call(kernel.bind(), &x, &mut found);
        call.run().expect("a run");
        assert!(found == expected);
    });
}

#[test]
fn steps_of_two_and_two_outputs() {
    each_graph("every_other", |kernel, graph| {
        let x: Vec<u16> = (0..graph.vertices).map(|it| it as u16).collect();
        let (mut expected, mut found) = (vec![3_u16; graph.elements], vec![3; graph.elements]);
        let (mut counts, mut counted) = (vec![0_i64; graph.elements], vec![0; graph.elements]);
        for (v, x) in x.iter().enumerate() {
            let every_other = graph.edges(v).step_by(2);
            every_other.for_each(|(to, _)| expected[to] = expected[to].wrapping_add(*x));
            graph.edges(v).for_each(|(to, _)| counts[to] += 1);
        }
        let call = graph.call(kernel.bind(), &x, &mut found);
        call.array_mut("count", &mut counted).run().expect("a run");
        assert!(found == expected && counted == counts);
    });
}

#[test]
fn other_updates_between_them_keep_their_places() {
    each_graph("both_kinds", |kernel, graph| {
        let x = values(graph.vertices);
        let (mut expected, mut found) = (vec![0.5; graph.elements], vec![0.5; graph.elements]);
        for (v, x) in x.iter().enumerate() {
            expected[graph.first(v)] -= 2.0 * x;
            graph.edges(v).for_each(|(to, _)| expected[to] += x);
            let edges = graph.edges(v);
            edges.for_each(|(to, k)| expected[to] += x * k as f32);
            if *x > 0.2 {
                expected[v] += x;
            }
        }
        let call = graph.call(kernel.bind(), &x, &mut found);
        call.run().expect("a run");
        assert!(found == expected);
    });
}

#[test]
fn values_that_change_in_the_loop() {
    each_graph("columns", |kernel, graph| {
        let x: Vec<i64> = (0..graph.vertices as i64).map(|it| it * it).collect();
        let (mut expected, mut found) = (vec![3; graph.elements], vec![3; graph.elements]);
        for (first, x) in graph.row.iter().zip(&x) {
            let first = *first as usize;
            for (j, to) in graph.to[first..first + 3].iter().enumerate() {
                expected[*to as usize] += x / (j as i64 + 1);
            }
        }
        let call = graph.call(kernel.bind(), &x, &mut found);
        call.run().expect("a run");
        assert!(found == expected);
    });
}
