//! Searches through graphs: all threads mark the same array, and read from it.

use strew::{Compiler, Error, Kernel, Mode, Report};

/// From the nodes of a frontier, whose rows lie anywhere.
const PUSH: &str = "
void push(int32_t n, int64_t e, int32_t nf, int32_t level, const int64_t row[n + 1], const int32_t adj[e],
          const int32_t front[nf], int32_t depth[n]) {
  for (int32_t q = 0; q < nf; q++)
    for (int64_t k = row[front[q]]; k < row[front[q] + 1]; k++)
      if (depth[adj[k]] == -1) depth[adj[k]] = level + 1;
}";

/// From all nodes that are in it, which the depths tell.
const SWEEP: &str = "
void sweep(int32_t n, int64_t e, int32_t level, const int64_t row[n + 1], const int32_t adj[e], int32_t depth[n]) {
  for (int32_t v = 0; v < n; v++)
    if (depth[v] == level)
      for (int64_t k = row[v]; k < row[v + 1]; k++)
        if (depth[adj[k]] == -1) depth[adj[k]] = level + 1;
}";

struct Graph {
    row: Vec<i64>,
    adj: Vec<i32>,
}

impl Graph {
    /// Rows of different lengths, some of them empty, whose nodes lie anywhere.
    fn of(nodes: usize) -> Self {
        let (mut row, mut adj) = (vec![0], Vec::new());
        for node in 0..nodes {
            let degree = (node * 7919 % 31) * usize::from(node % 3 > 0) / 2;
            adj.extend((0..degree).map(|it| ((node * 31 + it * 104_729) % nodes) as i32));
            row.push(adj.len() as i64);
        }
        Self { row, adj }
    }

    fn nodes(&self) -> usize {
        self.row.len() - 1
    }

    fn neighbours(&self, node: usize) -> &[i32] {
        &self.adj[self.row[node] as usize..self.row[node + 1] as usize]
    }

    /// How far each node is from the second one, by a queue; -1 where there is no way.
    fn depths(&self) -> Vec<i32> {
        let mut depths = vec![-1; self.nodes()];
        depths[1] = 0;
        let mut queue = std::collections::VecDeque::from([1]);
        while let Some(node) = queue.pop_front() {
            for next in self.neighbours(node) {
                let next = *next as usize;
                if depths[next] == -1 {
                    depths[next] = depths[node] + 1;
                    queue.push_back(next);
                }
            }
        }
        depths
    }
}

fn kernel(source: &str, name: &str, threads: usize, mode: Mode) -> Kernel {
    let compiler = Compiler::new().threads(threads).mode(mode);
    let program = compiler.compile("k.c", source).expect("a program");
    program.kernel(name).expect("a kernel")
}

fn push(
    kernel: &Kernel,
    graph: &Graph,
    front: &[i32],
    level: i32,
    depth: &mut [i32],
) -> Result<Report, Error> {
    let bind = kernel.bind().scalar("level", level).array("front", front);
    let bind = bind.array("row", &graph.row).array("adj", &graph.adj);
    bind.array_mut("depth", depth).run_with_report()
}

/// The same where pointers have half as many bits.
fn push_narrow(kernel: &Kernel, graph: &Graph, front: &[i32], level: i32, depth: &mut [i32]) {
    let row: Vec<i32> = graph.row.iter().map(|it| *it as i32).collect();
    let bind = kernel.bind().scalar("level", level).array("front", front);
    let bind = bind.array("row", &row).array("adj", &graph.adj);
    let report = bind.array_mut("depth", depth).run_with_report();
    report.expect("a push");
}

fn sweep(kernel: &Kernel, graph: &Graph, level: i32, depth: &mut [i32]) -> Result<Report, Error> {
    let bind = kernel.bind().scalar("level", level);
    let bind = bind.array("row", &graph.row).array("adj", &graph.adj);
    bind.array_mut("depth", depth).run_with_report()
}

/// The nodes at `level`, in no order.
fn front(depths: &[i32], level: i32) -> Vec<i32> {
    let nodes = (0..depths.len()).filter(|it| depths[*it] == level);
    let mut nodes: Vec<_> = nodes.map(|it| it as i32).collect();
    nodes.sort_by_key(|it| it.wrapping_mul(0x9E37_79B1_u32 as i32));
    nodes
}

/// More nodes than the caches near the processor hold, so that what is pushed from is asked for
/// ahead.
const NODES: usize = 400_000;

#[test]
fn a_search_finds_the_same_depths_on_any_number_of_threads() {
    let graph = Graph::of(NODES);
    let expected = graph.depths();
    let levels = *expected.iter().max().expect("a node");
    assert!(levels > 3, "{levels}");
    for (threads, mode) in [
        (1, Mode::Stable),
        (2, Mode::Fast),
        (2, Mode::Exact),
        (5, Mode::Stable),
    ] {
        let pushing = kernel(PUSH, "push", threads, mode);
        let sweeping = kernel(SWEEP, "sweep", threads, mode);
        let mut pushed = vec![-1; NODES];
        pushed[1] = 0;
        let mut swept = pushed.clone();
        let narrow = PUSH.replace("int64_t row", "int32_t row");
        let pushing_narrow = kernel(&narrow, "push", threads, mode);
        let mut pushed_narrow = pushed.clone();
        for level in 0..levels {
            let front = front(&pushed, level);
            push(&pushing, &graph, &front, level, &mut pushed).expect("a push");
            push_narrow(&pushing_narrow, &graph, &front, level, &mut pushed_narrow);
            let report = sweep(&sweeping, &graph, level, &mut swept).expect("a sweep");
            assert_eq!(report.record.strategy, "direct", "{threads} threads");
        }
        assert!(pushed == expected, "{threads} threads, {mode:?}");
        assert!(
            pushed_narrow == expected,
            "{threads} threads, {mode:?}, 32 bits"
        );
        assert!(swept == expected, "{threads} threads, {mode:?}");
    }
}

/// Nodes that are found would be swept from in the same turn or not, as it comes: then there is but
/// one order.
#[test]
fn a_level_that_nodes_have_before_they_are_found_runs_in_order() {
    let graph = Graph::of(3000);
    let kernel = kernel(SWEEP, "sweep", 2, Mode::Stable);
    let mut expected = vec![-1; 3000];
    for node in 0..3000 {
        if expected[node] == -1 {
            for next in graph.neighbours(node) {
                if expected[*next as usize] == -1 {
                    expected[*next as usize] = 0;
                }
            }
        }
    }
    let mut depth = vec![-1; 3000];
    let report = sweep(&kernel, &graph, -1, &mut depth).expect("a sweep");
    assert_ne!(report.record.strategy, "direct");
    assert_eq!(depth, expected);
}

#[test]
fn whatever_is_out_of_range_leaves_depths_as_they_were() {
    let good = Graph::of(NODES);
    let some: Vec<i32> = (0..20_000).map(|it| it * 20 + 1).collect();
    for threads in [1, 2] {
        let kernel = kernel(PUSH, "push", threads, Mode::Stable);
        let mut depth = vec![-1; NODES];
        let mut refused = |graph: &Graph, front: &[i32], what: &str| {
            let fault = push(&kernel, graph, front, 0, &mut depth).expect_err("a fault");
            assert!(fault.to_string().contains(what), "{fault}");
            assert!(depth.iter().all(|it| *it == -1));
        };
        let mut bad = Graph::of(NODES);
        *bad.adj.last_mut().expect("an edge") = NODES as i32;
        let last = (NODES as i32 - 3..NODES as i32).collect::<Vec<_>>();
        refused(&bad, &[some.as_slice(), &last].concat(), "adj");
        for node in [NODES as i32, -1, i32::MIN, i32::MAX] {
            refused(&good, &[some.as_slice(), &[node]].concat(), "front");
            // One that is asked for ahead.
            refused(
                &good,
                &[&some[..500], &[node], &some[500..]].concat(),
                "front",
            );
        }
        let mut bad = Graph::of(NODES);
        bad.row[some[10_000] as usize] = i64::MIN;
        refused(&bad, &some, "adj");
        // Where there is nothing to point at, what is asked for may lie at either end of all
        // addresses.
        for pointer in [-2, -3, -17, 1] {
            let mut bad = Graph {
                row: vec![0; NODES + 1],
                adj: Vec::new(),
            };
            bad.row[some[10_000] as usize] = pointer;
            bad.row[some[10_000] as usize + 1] = pointer + 1;
            refused(&bad, &some, "adj");
        }
    }
}
