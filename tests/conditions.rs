//! What follows from conditions on parameters that were converted, and what is kept of expressions
//! of which only one value is possible.

use strew::{Compiler, Error, Kernel};

fn kernel(source: &str) -> Kernel {
    let program = Compiler::new().compile("k.c", source).expect("a program");
    program.kernel("k").expect("a kernel")
}

/// Behind a condition on `v` nothing is known of `p`, unless `v` is `p`.
#[test]
fn conditions_say_nothing_of_what_was_converted() {
    let source = "#include <stdint.h>
void k(uint32_t p, int16_t q, int32_t w[5]) {
  int32_t v = p;
  if (v < q) { w[0] += 1; if (v >= q) w[1] += 1; else w[2] += 1; }
  if (v < 7) { if (v >= 8) w[3] += 1; }
  if (v < q && v < 3) { if (v >= 3) w[4] += 1; }
}";
    for p in [0, 5, 10, 11, i32::MAX as u32, 1 << 31, u32::MAX] {
        let mut w = [0; 5];
        let q = 10_i16;
        let call = kernel(source).bind().scalar("p", p).scalar("q", q);
        call.array_mut("w", &mut w).run().expect("conditions");
        let is_less = i32::from(p.cast_signed() < i32::from(q));
        assert_eq!(w, [is_less, 0, is_less, 0, 0], "{p}");
    }
}

/// Whatever has a remainder by 1, it is 0, but by 0 nothing has one.
#[test]
fn a_division_by_zero_stays_one_where_its_value_is_known() {
    let source = "#include <stdint.h>
void k(int64_t n, uint16_t w[n]) {
  for (int64_t i = 1; i < n; i++) w[i] = 3 & (5 % (w[i] & 1));
}";
    let run = |w: &mut [u16]| {
        let call = kernel(source).bind().scalar("n", w.len() as i64);
        call.array_mut("w", w).run()
    };
    let mut odd = [1, 3, 5, 7];
    run(&mut odd).expect("remainders");
    assert_eq!(odd, [1, 0, 0, 0]);
    let mut even = [1, 3, 4, 7];
    assert!(matches!(run(&mut even), Err(Error::Fault(_))));
    assert_eq!(even, [1, 3, 4, 7]);
}

/// Where threads look ahead for places alone, what is written there is made by nobody, though it is
/// used behind two conditions. Some turns are made in lanes, whose values are no others'.
#[test]
fn what_is_not_made_is_not_handed_on() {
    let source = "#include <stdint.h>
void k(int64_t n, int32_t m, int64_t M, const float y[n], int32_t out[M], int64_t c[M], float f[M]) {
  for (int64_t i = -5; i < n; i++) {
    float b = y[(uint64_t)(i + 5) % n] * 3.0f + y[(uint64_t)(i + 5) % n] * y[(uint64_t)(i + 5) % n];
    if ((int32_t)y[(uint64_t)(i + 5) % n] >= 0 && m < M) out[m] += (int32_t)b - m;
    else c[m % m] = (int32_t)b;
    if (y[(uint64_t)(i + 5) % n] >= 0 && m < M && m > 1) f[m % m] = b;
  }
}";
    for (m, faults) in [(3, false), (-4, true)] {
        let (mut out, mut c, mut f) = ([0_i32; 30], [0_i64; 30], [0.0_f32; 30]);
        let kernel = kernel(source).strategy("serial".parse().expect("a strategy"));
        let call = kernel.threads(2).bind().scalar("n", 1_i64).scalar("m", m);
        let call = call.scalar("M", 30_i64).array("y", &[2.0_f32]);
        let call = call.array_mut("out", &mut out).array_mut("c", &mut c);
        let ran = call.array_mut("f", &mut f).run();
        match ran {
            Ok(()) => assert_eq!((out[3], f[0], faults), (6 * (10 - 3), 10.0, false)),
            Err(Error::Fault(_)) => assert!(faults),
            Err(other) => panic!("{other}"),
        }
    }
}
