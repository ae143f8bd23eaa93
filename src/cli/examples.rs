//! Examples that `--help` shows, and the manual pages: each of them works in a checkout.

pub(super) const EXAMPLES: &str = "\
Examples:
  strew run examples/kernels/histogram.c --in 'key=uniform(0, m)' --set n=1000000 --set m=256
  strew explain examples/kernels/smooth.c
  strew opt examples/kernels/segment_sum.c --step 'unroll(i, 4)'

Exit status: 0 done, 1 refused or diagnosed, 2 usage, 3 fault while running, 70 defect of strew;
ended by a signal, as shells tell it: 129 hang-up, 130 Ctrl-C, 143 request to terminate.";

pub(super) const RUN_EXAMPLE: &str = "\
Examples:
  strew run examples/kernels/segment_sum.c --in seg=examples/data/flights_dest.npy \\
      --in x=examples/data/flights_arr_delay.npy --set m=104
  strew run examples/kernels/histogram.c --in 'key=zipf(1.1, m)' --set n=1000000 \\
      --set m=4096 --repeat 5 --json
  strew run examples/kernels/gray_levels.c --in image=examples/data/ball.png \\
      --out seen=levels.csv";

pub(super) const CHECK_EXAMPLE: &str = "\
Examples:
  strew check examples/kernels/segment_sum.c
  strew check examples/kernels/segment_sum.c --json";

pub(super) const OPT_EXAMPLE: &str = "\
Examples:
  strew opt examples/kernels/product.c --step 'tile(i = 32, j = 32)' --print-ir-after-all
  strew opt examples/kernels/segment_sum.c \\
      --step 'tile_indirection_using_forall(i, reduction(out) = add, chunks = 8)'";

pub(super) const EMIT_EXAMPLE: &str = "\
Examples:
  strew emit examples/kernels/histogram.c --stage nest
  strew emit examples/kernels/smooth.c --stage mlir
  strew emit examples/kernels/histogram.c --stage asm -o histogram.s
  strew emit examples/kernels/histogram.c --stage object -o histogram.o";

pub(super) const EXPLAIN_EXAMPLE: &str = "\
Examples:
  strew explain examples/kernels/smooth.c
  strew explain examples/kernels/smooth.c --step 'skew(j by i, 1)' --html smooth.html
  strew explain examples/kernels/histogram.c --run --in 'key=uniform(0, m)' --set n=100000 \\
      --set m=64";

pub(super) const CALIBRATE_EXAMPLE: &str = "\
Example:
  strew calibrate --dry-run";

pub(super) const MAP_EXAMPLE: &str = "\
Example:
  strew map simplify '(i) -> ((i * 4) floordiv 4), domain: i in [0, 9]'";

pub(super) const BENCH_EXAMPLE: &str = "\
Examples:
  strew bench examples/kernels/histogram.c --in 'key=uniform(0, m)' --set n=1000000 \\
      --set m=256 --rounds 3
  strew bench examples/kernels/histogram.c --in 'key=uniform(0, m)' --set n=100000 \\
      --vary m=100,10000 --rounds 3 --against none --plot sizes.svg";

pub(super) const TUNE_EXAMPLE: &str = "\
Example:
  strew tune examples/kernels/product.c --set n=64 --set m=64 --set p=64 \\
      --in 'a=uniform(0, 1)' --in 'b=uniform(0, 1)' --seconds 1 -o product.schedule";

pub(super) const COMPLETIONS_EXAMPLE: &str = "\
Example:
  strew completions bash";

pub(super) const MAN_EXAMPLE: &str = "\
Example:
  strew man run";

pub(super) const INDEXING_EXAMPLE: &str = "\
Example:
  p0 = f32[4,8] parameter(0)
  reshape = f32[32] reshape(p0)
prints
  reshape = f32[32] reshape(p0)
    output -> p0: (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    p0 -> output: (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]";

pub(super) const SIMPLIFY_EXAMPLE: &str = "\
Example:
  strew map simplify '(d0, d1) -> ((d0 * 8 + d1) floordiv 8), domain: d0 in [0, 3], d1 in [0, 7]'
  (d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 7]";

pub(super) const COMPOSE_EXAMPLE: &str = "\
Example:
  strew map compose '(i) -> (i * 2), domain: i in [0, 4]' '(j) -> (j + 1), domain: j in [0, 9]'
  (i) -> (i * 2 + 1), domain: i in [0, 4]";

pub(super) const EVALUATE_EXAMPLE: &str = "\
Example:
  strew map evaluate '(d0)[s0] -> (d0 + 5, s0 floordiv 4), domain: d0 in [0, 9], s0 in [0, 3]' \\
      --at d0=3,s0=1
  (8, 0)";

pub(super) const RANGE_EXAMPLE: &str = "\
Example:
  strew map range '(d0, d1) -> (d0 - d1, d1 * 2), domain: d0 in [0, 9], d1 in [0, 3]'
  [-3, 9], [0, 6]";

pub(super) const INVERT_EXAMPLE: &str = "\
Example:
  strew map invert '(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]'
  (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]";
