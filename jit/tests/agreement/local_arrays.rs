//! Arrays that live inside of a kernel.

use crate::common::{array, check, executed_counting, interpreted_skipping, kernel, same, scalar};
use strew_affine::Value;
use strew_affine::interpret::Oob;
use strew_jit::{Argument, ArrayMut, ArrayRef, CallError, Options, Specialize, compile};
use strew_runtime::{Failure, Held, Runtime, Settings};

/// A histogram of each row in an array of its own, of this many bins.
fn rows(bins: &str) -> String {
    format!(
        "kernel @k(n: i64, bins: i64, seg: i32[n, n], out: i64[n, bins]) {{
           affine.for i in 0..n {{
             alloc h: i64[{bins}]
             affine.for j in 0..n {{ h[seg[i, j]] reduce(add) j + 1 }}
             affine.for b in 0..bins {{ out[i, b] = h[b] }}
           }} }}"
    )
}

#[test]
fn arrays_in_the_frame_and_in_memory_start_as_zeros() {
    // Few bins are zeroed without a loop, more in one, and the last are too many for a frame.
    for (n, bins) in [(9, 3_i64), (9, 40), (9, 300), (2, 5000)] {
        let keys: Vec<i32> = (0..n * n).map(|it| (it * it % bins) as i32).collect();
        let given = [
            scalar(n),
            scalar(bins),
            array(&keys),
            array(&vec![7_i64; (n * bins) as usize]),
        ];
        for extent in [bins.to_string(), "bins".to_owned()] {
            let outcome = check(&rows(&extent), &given);
            assert!(outcome.is_ok(), "{outcome:?}");
        }
    }
}

#[test]
fn an_array_that_is_only_read_is_zero() {
    let source = "kernel @k(n: i64, out: f64[n]) {
      affine.for i in 0..n {
        alloc t: f64[4]
        alloc u: f32[n]
        out[i] = t[i mod 4] + f64(u[i]) + f64(i)
      } }";
    assert!(check(source, &[scalar(6_i64), array(&[9.0; 6])]).is_ok());
}

#[test]
fn every_iteration_of_a_forall_has_its_own() {
    let source = "kernel @k(n: i64, m: i64, key: i32[n], out: f64[m]) {
      scf.forall c in 0..8 private(p: f64[m] = identity(add)) merge(out reduce(add) p) strategy(dense) {
        alloc t: f64[m]
        alloc s: f64[2]
        affine.for i in (c * n) floordiv 8..(c * n + n) floordiv 8 {
          t[key[i]] reduce(add) 1.0
          s[i mod 2] reduce(add) 1.0
        }
        affine.for j in 0..m { p[j] reduce(add) t[j] * (s[0] + s[1]) }
      } }";
    let keys: Vec<i32> = (0..1000).map(|it| it * 7 % 13).collect();
    let given = [
        scalar(1000_i64),
        scalar(13_i64),
        array(&keys),
        array(&[0.5; 13]),
    ];
    assert!(check(source, &given).is_ok());
}

#[test]
fn foralls_merge_into_arrays_around_them() {
    for extent in ["5", "m"] {
        let source = format!(
            "kernel @k(n: i64, m: i64, key: i32[n], out: i64[m]) {{
               affine.for r in 0..3 {{
                 alloc t: i64[{extent}]
                 scf.forall c in 0..4 private(p: i64[{extent}] = identity(add)) merge(t reduce(add) p) strategy(dense) {{
                   affine.for i in (c * n) floordiv 4..(c * n + n) floordiv 4 {{ p[key[i]] reduce(add) i + r }}
                 }}
                 scf.forall j in 0..m {{ out[j] = out[j] + t[j] }}
               }} }}"
        );
        let keys: Vec<i32> = (0..100).map(|it| it % 5).collect();
        let given = [
            scalar(100_i64),
            scalar(5_i64),
            array(&keys),
            array(&[1_i64; 5]),
        ];
        assert!(check(&source, &given).is_ok());
    }
}

#[test]
fn subscripts_of_local_arrays_are_checked() {
    let source = "kernel @k(n: i64, key: i32[n], out: i32[n]) {
      affine.for i in 0..n {
        alloc t: i32[3]
        t[key[i]] = 1
        out[i] = t[i]
      } }";
    let fault = |keys: &[i32]| {
        let n = keys.len();
        let given = [scalar(n as i64), array(keys), array(&vec![5_i32; n])];
        check(source, &given).map_err(|(words, _)| words)
    };
    assert_eq!(
        fault(&[2, 1, 3]),
        Err("index 3 is out of range for `t`, whose extent there is 3".to_owned())
    );
    assert_eq!(
        fault(&[2, 1, 0, 0]),
        Err("index 3 is out of range for `t`, whose extent there is 3".to_owned())
    );
}

const LARGE: &str = "kernel @k(n: i64, m: i64, out: i64[n]) {
  affine.for i in 0..n {
    out[i] = i
    scf.if out[i] == n - 1 { alloc t: i64[m] t[0] = 1 out[0] = t[0] }
  } }";

/// What a call with these sizes and this much memory comes to.
fn large(m: i64, memory: Option<u64>) -> (Result<(), CallError>, Vec<i64>) {
    let code = compile(&kernel(LARGE), &Options::default()).expect("code");
    let mut out = vec![-1_i64; 10];
    let mut arguments = [
        Argument::Scalar(Value::i64(10)),
        Argument::Scalar(Value::i64(m)),
        Argument::Write(ArrayMut::new(&mut out)),
    ];
    let settings = Settings {
        memory,
        ..Settings::default()
    };
    let runtime = Runtime::new(None).expect("threads");
    let outcome = code.call_with_record(&runtime, &settings, &mut arguments);
    (outcome.map(drop), out)
}

#[test]
fn without_memory_for_an_array_nothing_is_changed() {
    let (outcome, out) = large(1000, Some(8 * 1010));
    assert_eq!(outcome, Ok(()));
    assert_eq!(out, [1, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let (outcome, out) = large(1000, Some(8 * 1009));
    let over = Failure::OverBudget {
        held: Held::Locals,
        needed: 8080,
        budget: 8072,
    };
    assert_eq!(outcome, Err(CallError::Failure(over)));
    assert_eq!(out, [-1; 10]);
    let (outcome, out) = large(1 << 58, Some(u64::MAX));
    assert!(
        matches!(
            outcome,
            Err(CallError::Failure(Failure::OutOfMemory { .. }))
        ),
        "{outcome:?}"
    );
    assert_eq!(out, [-1; 10]);
}

#[test]
fn sizes_of_local_arrays_are_looked_at_before_the_start() {
    let (outcome, out) = large(-1, None);
    let size = CallError::Size {
        what: "array `t`".to_owned(),
    };
    assert_eq!(outcome, Err(size));
    assert_eq!(out, [-1; 10]);
}

/// Sums that are carried in elements with constant subscripts, `body` being the turns of a loop
/// over `j` in each iteration.
#[track_caller]
fn check_carried(body: &str) {
    let source = format!(
        "kernel @k(n: i64, m: i64, key: i32[n], x: f64[n], out: f64[m]) {{
           affine.for i in 0..n {{
             alloc s: f64[3]
             alloc c: i16[2, 2]
             alloc b: bool[1]
             {body}
             scf.if b[0] {{ out[key[i]] reduce(add) s[0] * f64(c[1, 0]) }}
             out[key[i]] reduce(add) s[0] - s[1] * s[2] + f64(c[0, 1])
           }} }}"
    );
    for out_of_range in [false, true] {
        let mut keys: Vec<i32> = (0..40).map(|it| it * 7 % 13).collect();
        if out_of_range {
            keys[21] = 13;
        }
        let values: Vec<f64> = (0..40).map(|it| f64::from(it) * 0.5 - 3.0).collect();
        let given = [
            scalar(40_i64),
            scalar(13_i64),
            array(&keys),
            array(&values),
            array(&[0.25; 13]),
        ];
        assert_eq!(check(&source, &given).is_err(), out_of_range);
        let kernel = kernel(&source);
        let options = Options {
            oob: Oob::Skip,
            ..Options::default()
        };
        let code = compile(&kernel, &options).expect("code");
        let (expected, skipped) = interpreted_skipping(&kernel, &given);
        let (found, counted) = executed_counting(&code, &given, 2, &Settings::default());
        assert!(same(&expected, &found), "{expected:?}\n{found:?}");
        assert_eq!((counted > 0, counted), (out_of_range, skipped));
    }
}

#[test]
fn elements_with_constant_subscripts_are_carried_through_loops_and_branches() {
    check_carried(
        "affine.for j in 0..i { s[0] reduce(add) x[j] c[1, 0] = i16(j) b[0] = x[j] < 0.0 }",
    );
    check_carried(
        "affine.for j in 0..i {
           scf.if 0.0 < x[j] { s[0] = s[1] s[1] reduce(max) x[j] } else { s[2] reduce(add) 1.0 }
           affine.if (j < 3) { c[0, 1] = i16(2 * j + i) } else { b[0] = !b[0] }
         }",
    );
    check_carried(
        "affine.for j in 0..5 {
           alloc t: f64[2]
           t[0] = t[1] + s[0] + x[i]
           t[1] = t[0]
           s[0] = t[1]
           c[0, 0] = c[0, 0] + i16(1)
           scf.for k in i64(c[0, 0])..4 { s[1] reduce(add) f64(k) s[2] = s[0] }
         }
         var w: i64 = i64(c[0, 0])
         scf.while 0 < w { w = w - 1 s[1] = s[1] + x[w] b[0] = true }",
    );
}

#[test]
fn several_elements_are_set_at_once() {
    let source = "kernel @k(n: i64, x: i64[n], out: i64[2]) {
      alloc best: i64[1]
      alloc at: i64[1]
      affine.for i in 0..n { (best[0], at[0]) reduce(argmax) (x[i], i) }
      out[0] = best[0]
      out[1] = at[0]
    }";
    let values = [3_i64, 9, -2, 9, 4];
    let outcome = check(source, &[scalar(5_i64), array(&values), array(&[0_i64; 2])]);
    let last = outcome.map(|arrays| arrays.last().cloned());
    let expected = [9_i64, 1].map(Value::i64).to_vec();
    assert_eq!(last, Ok(Some(expected)));
}

#[test]
fn elements_are_zero_again_where_their_array_is_allocated_again() {
    let source = "kernel @k(n: i64, out: u8[n]) {
      affine.for i in 0..n {
        alloc t: u8[2]
        out[i] = t[0] + t[1]
        t[0] = 200
        t[1] = t[0] + 100
      } }";
    let outcome = check(source, &[scalar(4_i64), array(&[9_u8; 4])]);
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[test]
fn foralls_inside_read_and_merge_into_small_arrays() {
    let source = "kernel @k(n: i64, m: i64, key: i32[n], out: i64[m]) {
      affine.for r in 0..3 {
        alloc t: i64[2]
        alloc u: i64[1]
        u[0] = r + 1
        scf.forall c in 0..4 private(p: i64[2] = identity(add)) merge(t reduce(add) p) strategy(dense) {
          alloc v: i64[1]
          affine.for i in (c * n) floordiv 4..(c * n + n) floordiv 4 {
            v[0] = v[0] + i64(key[i])
            p[1] reduce(add) u[0] * v[0]
          }
        }
        out[r] = t[1] + u[0]
      } }";
    let keys: Vec<i32> = (0..50).collect();
    let given = [
        scalar(50_i64),
        scalar(4_i64),
        array(&keys),
        array(&[0_i64; 4]),
    ];
    let outcome = check(source, &given);
    assert!(outcome.is_ok(), "{outcome:?}");
}

/// In code for a small `m`, `b` is in the frame of the function, where then is no room for `a`:
/// memory for that is wanted under a condition, when `z` has been written.
#[test]
fn code_for_small_sizes_wants_no_memory_that_there_is_none_for() {
    let source = "kernel @k(n: i64, m: i64, x: f64[n], y: f64[n], z: f64[n]) {
  alloc b: f64[m]
  affine.for i in 0..n { z[i] = x[i] + 1.0 }
  affine.for j in 0..m { b[j] = f64(j) }
  affine.if (5 < n) {
    alloc a: f64[2040]
    affine.for k in 0..2040 { a[k] = f64(k) }
    affine.for i_2 in 0..n {
      var s: f64 = x[i_2]
      affine.for l in 0..m { s reduce(add) b[l] * a[2039 - l] }
      y[i_2] = s
    }
  }
}";
    let (n, m) = (200_000, 16);
    for specialize in [Specialize::Never, Specialize::Always] {
        let options = Options {
            specialize,
            ..Options::default()
        };
        let code = compile(&kernel(source), &options).expect("code");
        let x = vec![1.0_f64; n];
        let (mut y, mut z) = (vec![-1.0_f64; n], vec![-1.0_f64; n]);
        let mut arguments = [
            Argument::Scalar(Value::i64(n as i64)),
            Argument::Scalar(Value::i64(m)),
            Argument::Read(ArrayRef::new(&x)),
            Argument::Write(ArrayMut::new(&mut y)),
            Argument::Write(ArrayMut::new(&mut z)),
        ];
        let settings = Settings {
            memory: Some(1000),
            ..Settings::default()
        };
        let runtime = Runtime::new(None).expect("threads");
        let outcome = code.call_with_record(&runtime, &settings, &mut arguments);
        let (first, all) = (z[0], z.iter().all(|it| *it == z[0]));
        match outcome {
            Ok(_) => assert!(first == 2.0 && all),
            Err(_) => assert!(first == -1.0 && all),
        }
        assert!(outcome.is_ok() || y.iter().all(|it| *it == -1.0));
    }
}
