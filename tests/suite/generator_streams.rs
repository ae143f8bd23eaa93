//! The generators make the same streams as those in C.

use crate::c::Binary;
use crate::generators::{Order, constant, sorted};
use crate::random::Random;

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

const PRINTS_ALL: &str = r#"
#include <stdio.h>
static void put(const int32_t *keys, int n) { for (int i = 0; i < n; i++) printf("%d ", keys[i]); printf("\n"); }
static void put_bits(const double *values, int n) {
  for (int i = 0; i < n; i++) { uint64_t bits; memcpy(&bits, &values[i], 8); printf("%llu ", (unsigned long long)bits); }
  printf("\n");
}
int main(void) {
  enum { N = 1000, M = 300, NX = 9, NY = 7 };
  static int32_t key[N], sink[N], tri[2 * NX * NY][3];
  static double xy[(NX + 1) * (NY + 1)][2], py[N], px[N];
  gen_uniform(N, M, key); put(key, N);
  gen_zipf(N, M, 1.1, key); put(key, N);
  gen_sorted(N, M, key); put(key, N);
  gen_constant(N, M, key); put(key, N);
  gen_two(N, M, key); put(key, N);
  gen_cluster(N, M, 64, 16, key); put(key, N);
  gen_rmat(8, N, key, sink); put(key, N); put(sink, N);
  for (int perm = 0; perm < 3; perm++) {
    gen_fem(NX, NY, perm, tri, xy); put(&tri[0][0], 6 * NX * NY); put_bits(&xy[0][0], 2 * (NX + 1) * (NY + 1));
  }
  gen_particles(N, 32, 16, 0.5, px, py); put_bits(px, N); put_bits(py, N);
  return 0;
}
"#;

fn all() -> String {
    let mut random = Random(SEED);
    let put = |keys: &[i32]| -> String {
        let keys: String = keys.iter().map(|it| format!("{it} ")).collect();
        keys + "\n"
    };
    let put_bits = |values: &[f64]| -> String {
        let values: String = values
            .iter()
            .map(|it| format!("{} ", it.to_bits()))
            .collect();
        values + "\n"
    };
    let (n, m) = (1000, 300);
    let mut lines = vec![
        put(&random.uniform(n, m)),
        put(&random.zipf(n, m, 1.1)),
        put(&sorted(n, m)),
        put(&constant(n, m)),
        put(&random.two(n, m)),
        put(&random.clustered(n, m, 64, 16)),
    ];
    let (sources, sinks): (Vec<_>, Vec<_>) = random.rmat(8, n).into_iter().unzip();
    lines.extend([put(&sources), put(&sinks)]);
    for order in [
        Order::Natural,
        Order::ShuffledNodes,
        Order::ShuffledElements,
    ] {
        let mesh = random.mesh(9, 7, order);
        lines.push(put(mesh.triangles.as_flattened()));
        lines.push(put_bits(mesh.positions.as_flattened()));
    }
    let (x, y) = random.particles(n, 32, 16, 0.5);
    lines.extend([put_bits(&x), put_bits(&y)]);
    lines.concat()
}

#[test]
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn the_streams_are_those_of_the_c_generators() {
    let generators = include_str!("../kernels/generators.c");
    let program = format!("{generators}#include <string.h>\n{PRINTS_ALL}");
    match Binary::compile(&program) {
        Some(binary) => {
            let output = binary.run(&[]);
            assert_eq!(all(), String::from_utf8_lossy(&output));
        }
        None => eprintln!("skipped: there is no cc to compare the generators with"),
    }
}
