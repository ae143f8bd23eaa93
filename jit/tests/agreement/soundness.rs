//! Sizes at which an unchecked step would leave an array, trap, or compute something else than the
//! interpreter.

use crate::common::{BEYOND, array, check, executed, interpreted, kernel, same, scalar};
use std::num::NonZeroUsize;
use std::time::Duration;
use strew_affine::Value;
use strew_affine::interpret::ForallOrder;
use strew_jit::{Argument, ArrayMut, CallError, Options, compile};
use strew_runtime::{Failure, Runtime, Settings, StopToken};

#[track_caller]
fn check_beyond(source: &str, given: &[crate::common::Given]) {
    assert_eq!(check(source, given), Err((BEYOND.to_owned(), vec![])));
}

#[test]
fn a_numerator_beyond_64_bits_does_not_become_a_subscript() {
    let source = "kernel @k(n: i64, a: i32[n]) {
      affine.for i in 1073741824..1073741825 {
        a[(i * 1099511627776) floordiv 1099511627776 - 1073741824] = 7
      }
    }";
    check_beyond(source, &[scalar(1_i64), array(&[0_i32])]);
}

#[test]
fn an_unsigned_size_beyond_i64_is_refused() {
    let source = "kernel @k(n: u64, a: i32[4]) { a[n floordiv 2305843009213693952] = 7 }";
    check_beyond(source, &[scalar(1_u64 << 63), array(&[0_i32; 4])]);
    let extent =
        "kernel @k(n: u64, at: i64, a: i32[n floordiv 2305843009213693952]) { a[i64(at)] = 7 }";
    let code = compile(&kernel(extent), &Options::default()).unwrap_or_else(|it| panic!("{it}"));
    let given = [scalar(1_u64 << 63), scalar(9_i64), array(&[0_i32; 3])];
    let found = executed(&code, &given, 1, &Settings::default());
    assert_eq!(found, Err((BEYOND.to_owned(), vec![])));
}

#[test]
fn an_unsigned_number_that_is_no_size_may_be_any() {
    let source = "kernel @k(n: i64, seed: u64, a: u64[n]) {
      affine.for i in 0..n { a[i] = seed ^ u64(i) }
    }";
    let given = [scalar(3_i64), scalar(u64::MAX), array(&[0_u64; 3])];
    assert!(check(source, &given).is_ok());
}

#[test]
fn a_divisor_below_one_is_no_trap() {
    for divisor in [0_i64, -1] {
        for body in [
            "scf.for k in i64(0)..n { a[k floordiv d] = 1 }",
            "scf.for k in i64(0)..n { affine.for i in 0..k mod d { a[i] = 1 } }",
            "affine.for i in 0..n { a[i mod d] = 1 }",
            "scf.forall c in 0..n private(p: i32[n] = identity(add)) merge(a reduce(add) p) {
               affine.for i in c floordiv d..n { p[i] reduce(add) 1 } }",
        ] {
            let source = format!("kernel @k(n: i64, d: i64, a: i32[n]) {{ {body} }}");
            check_beyond(
                &source,
                &[scalar(3_i64), scalar(divisor), array(&[0_i32; 3])],
            );
            let nothing = [scalar(0_i64), scalar(divisor), array::<i32>(&[])];
            assert!(check(&source, &nothing).is_ok(), "{source}");
        }
    }
}

#[test]
fn computed_iterators_do_not_wrap_in_affine_expressions() {
    let far = 1_i64 << 32;
    for body in [
        "scf.for k in far..far + 1 { a[k * 4294967296] = 7 }",
        "scf.for k in far..far + 1 { a[k * far] = 7 }",
        "scf.for k in far..far + 1 { affine.for i in k * far..k * far + 1 { a[i] = 7 } }",
        "scf.for k in far..far + 1 { affine.if (k * far <= 0) { a[0] = 7 } }",
    ] {
        let source = format!("kernel @k(far: i64, a: i32[2]) {{ {body} }}");
        check_beyond(&source, &[scalar(far), array(&[1_i32, 2])]);
    }
    let last = "kernel @k(most: i64, a: i32[2]) { scf.for k in most - 1..most { a[k + 2] = 7 } }";
    check_beyond(last, &[scalar(i64::MAX), array(&[1_i32, 2])]);
}

#[test]
fn bounds_beyond_64_bits_matter_only_where_they_are_reached() {
    let source = "kernel @k(n: i64, m: i64, a: i32[m]) {
      affine.for i in 0..m { affine.for j in n * 4..n * 5 { a[i] = 1 } }
    }";
    let nothing = [scalar(i64::MAX), scalar(0_i64), array::<i32>(&[])];
    assert!(check(source, &nothing).is_ok());
    check_beyond(
        source,
        &[scalar(i64::MAX), scalar(2_i64), array(&[0_i32; 2])],
    );
}

#[test]
fn what_was_written_before_an_affine_fault_is_put_back() {
    // `check` holds the arrays against what they were.
    let source = "kernel @k(n: i64, a: i32[n]) { affine.for i in 0..n { a[i + 2] = 7 } }";
    assert!(check(source, &[scalar(5_i64), array(&[1_i32; 5])]).is_err());
}

#[test]
fn a_fault_in_a_chunk_tells_all_loops_around() {
    let source = "kernel @k(n: i64, key: i32[n], out: i32[n]) {
      affine.for r in 2..n {
        scf.forall c in 0..n private(p: i32[n] = identity(add)) merge(out reduce(add) p) {
          p[key[c]] reduce(add) 1
        }
      }
    }";
    let given = [scalar(4_i64), array(&[0_i32, 1, 9, 2]), array(&[0_i32; 4])];
    let iteration = vec![("r".to_owned(), 2), ("c".to_owned(), 2)];
    let outcome = check(source, &given);
    assert_eq!(outcome.map_err(|it| it.1), Err(iteration));
}

#[test]
fn a_private_buffer_changes_when_a_forall_merges_into_it() {
    let source = "kernel @k(n: i64, seen: i32[n], out: i32[n]) {
      scf.forall c in 0..2 private(p: i32[n] = identity(add), s: i32[n] = identity(add))
          merge(out reduce(add) p, seen reduce(add) s) {
        let before: i32 = p[0]
        scf.forall d in 0..3 private(q: i32[n] = identity(add)) merge(p reduce(add) q) {
          q[0] reduce(add) 5
        }
        s[0] reduce(add) p[0] * 10 + before
      }
    }";
    let given = [scalar(1_i64), array(&[0_i32]), array(&[0_i32])];
    assert!(check(source, &given).is_ok());
}

#[test]
fn many_arrays_and_many_captured_values() {
    let count = 300;
    let join = |each: &dyn Fn(usize) -> String, by: &str| {
        let all: Vec<_> = (0..count).map(each).collect();
        all.join(by)
    };
    let source = format!(
        "kernel @k(n: i64, {}, out: i64[n]) {{ {} scf.forall c in 0..n private(p: i64[n] = identity(add)) merge(out reduce(add) p) {{ p[c] = {} }} }}",
        join(&|it| format!("a{it}: i64[n]"), ", "),
        join(&|it| format!("let v{it}: i64 = a{it}[0] * {it} + n"), " "),
        (0..count / 4)
            .map(|it| format!("(v{} + a{}[c])", it * 4, it * 3))
            .collect::<Vec<_>>()
            .join(" ^ "),
    );
    let mut given = vec![scalar(2_i64)];
    given.extend((0..count as i64).map(|it| array(&[it, it * 3])));
    given.push(array(&[1_i64, 2]));
    assert!(check(&source, &given).is_ok());
}

/// Frames larger than a page.
#[test]
fn thousands_of_captured_values() {
    let count = 1500;
    let declare: String = (0..count)
        .map(|it| format!("var v{it}: i64 = n * {it} "))
        .collect();
    let use_all: String = (0..count)
        .map(|it| format!("p[c] reduce(add) v{it} "))
        .collect();
    let source = format!(
        "kernel @k(n: i64, out: i64[n]) {{ {declare} scf.forall c in 0..n private(p: i64[n] = identity(add)) merge(out reduce(add) p) {{ {use_all} }} }}"
    );
    let kernel = kernel(&source);
    let code = compile(&kernel, &Options::default()).unwrap_or_else(|it| panic!("{it}"));
    let given = [scalar(2_i64), array(&[1_i64, 2])];
    let expected = interpreted(&kernel, &given, ForallOrder::Forward);
    let found = executed(&code, &given, 2, &Settings::default());
    assert!(same(&expected, &found), "{found:?}");
}

/// The bytes of code in memory that belongs to no file.
#[cfg(target_os = "linux")]
fn bytes_of_code() -> u64 {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let size = |line: &str| {
        let mut fields = line.split_whitespace();
        let (first, last) = fields.next()?.split_once('-')?;
        let is_code = fields.next()?.contains('x') && fields.nth(3).is_none();
        let address = |digits| u64::from_str_radix(digits, 16).ok();
        is_code.then_some(address(last)? - address(first)?)
    };
    maps.lines().filter_map(size).sum()
}

#[cfg(target_os = "linux")]
#[test]
fn code_is_freed_with_its_last_handle() {
    let kernel = kernel("kernel @k(n: i64, a: i32[n]) { affine.for i in 0..n { a[i + 0] = 1 } }");
    let round = |times: usize| {
        for _ in 0..times {
            let code = compile(&kernel, &Options::default()).unwrap_or_else(|it| panic!("{it}"));
            let clone = code.clone();
            drop(code);
            let found = executed(
                &clone,
                &[scalar(1_i64), array(&[0_i32])],
                1,
                &Settings::default(),
            );
            assert!(found.is_ok());
        }
    };
    round(20);
    let before = bytes_of_code();
    round(1000);
    // A page for each would be 4 MB; other tests compile at the same time.
    let after = bytes_of_code();
    assert!(after < before + (2 << 20), "{before} {after}");
}

/// Runs `source` on an array of one element, asks it to stop, and sees that it does.
#[track_caller]
fn check_stops(source: &str) {
    let code = compile(&kernel(source), &Options::default()).unwrap_or_else(|it| panic!("{it}"));
    let token = StopToken::new();
    let settings = Settings {
        stop: Some(token.clone()),
        ..Settings::default()
    };
    let runtime = Runtime::new(NonZeroUsize::new(2)).unwrap_or_else(|it| panic!("{it}"));
    let mut out = [3_i32];
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        token.stop();
    });
    let mut arguments = [
        Argument::Scalar(Value::i64(1)),
        Argument::Write(ArrayMut::new(&mut out)),
    ];
    let outcome = code.call_with_record(&runtime, &settings, &mut arguments);
    let stopped = CallError::Failure(Failure::Stopped);
    assert_eq!(outcome.err(), Some(stopped));
    assert_eq!(out, [3]);
    assert!(stopper.join().is_ok());
}

#[test]
fn endless_loops_can_be_stopped() {
    for body in [
        "scf.while true { p[0] reduce(add) 1 }",
        "scf.for k in i64(0)..9223372036854775807 { p[0] reduce(add) 1 }",
        "scf.for k in i64(-9223372036854775807)..9223372036854775807 step 5 { p[0] reduce(add) 1 }",
        "affine.for k in 0..n * 4611686018427387904 { p[i64(0)] reduce(add) 1 }",
        "affine.for k in 0..n * 4611686018427387904 { affine.for j in 0..9 { p[i64(0)] reduce(add) 1 } }",
    ] {
        check_stops(&format!("kernel @k(n: i64, p: i32[n]) {{ {body} }}"));
        check_stops(&format!(
            "kernel @k(n: i64, out: i32[n]) {{
               scf.forall c in 0..4 private(p: i32[n] = identity(add)) merge(out reduce(add) p) strategy(dense) {{ {body} }}
             }}"
        ));
    }
}

#[test]
fn loops_over_computed_bounds_go_on_after_a_look_at_the_stop_token() {
    let source = "kernel @k(n: i64, turns: i64[1], last: i64[1]) {
      scf.for k in i64(-7)..n step 3 { turns[0] reduce(add) 1 last[0] = k }
    }";
    let code = compile(&kernel(source), &Options::default()).unwrap_or_else(|it| panic!("{it}"));
    let strip = 3 << 20;
    for n in [
        strip - 8,
        strip - 7,
        strip - 6,
        2 * strip - 7,
        3 * strip + 1,
    ] {
        let given = [scalar(n), array(&[0_i64]), array(&[0_i64])];
        let turns = (n + 7 + 2) / 3;
        let found = executed(&code, &given, 1, &Settings::default());
        let expected = [turns, 3 * (turns - 1) - 7].map(|it| vec![Value::i64(it)]);
        assert_eq!(found, Ok(expected.to_vec()), "{n}");
    }
}

/// Each bound names the loop before twice.
#[test]
fn deep_nests_compile_in_no_time() {
    let depth = 90;
    let loops: String = (1..depth)
        .map(|it| format!("affine.for x{it} in x{0}..x{0} + 1 {{ ", it - 1))
        .collect();
    let source = format!(
        "kernel @k(n: i64, a: i32[n]) {{ affine.for x0 in 0..n {{ {loops} a[x{}] = 7 {} }} }}",
        depth - 1,
        "}".repeat(depth - 1)
    );
    assert!(check(&source, &[scalar(2_i64), array(&[0_i32, 1])]).is_ok());
}

#[test]
fn kernels_may_have_any_name() {
    for name in [
        "`fill.add.i32`",
        "`merge add i32`",
        "`forall c`",
        "strew_run_forall",
        "memcpy",
    ] {
        let source = format!(
            "kernel @{name}(n: i64, out: i32[n]) {{
               scf.forall c in 0..n private(p: i32[n] = identity(add)) merge(out reduce(add) p) strategy(dense) {{ p[c] reduce(add) 1 }}
             }}"
        );
        assert!(
            check(&source, &[scalar(2_i64), array(&[0_i32, 1])]).is_ok(),
            "{name}"
        );
    }
}
