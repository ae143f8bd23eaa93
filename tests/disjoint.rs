//! Arrays of which no two iterations touch one element, as the caller says: checked, or trusted.

use strew::{Compiler, Error, FaultKind, Kernel, Verdict, parse_schedule};

const SOURCE: &str = "\
void place(int64_t n, int64_t m, const int32_t key[n], const double x[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[key[i]] = x[i];
}

void update(int64_t n, int64_t m, const int32_t key[n], const double x[n], double out[m], int64_t hits[1]) {
  for (int64_t i = 0; i < n; i++) {
    out[key[i]] += x[i];
    hits[0]++;
  }
}

void rows(int64_t n, int64_t m, const int32_t key[n], const double x[n], double out[m][3]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < 3; j++)
      out[key[i]][j] = x[i] + j;
}

void reads(int64_t n, int64_t m, const int32_t key[n], const double x[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[key[i]] = out[0] + x[i];
}
";

fn scheduled(kernel: &str, clause: &str) -> Result<Kernel, Error> {
    let program = Compiler::new().compile("k.c", SOURCE)?;
    let step = format!("tile_indirection_using_forall(i, reduction(out) = {clause})");
    program
        .kernel(kernel)?
        .with_schedule(parse_schedule("step", &step)?)
}

/// A permutation that looks like any other.
fn permutation(count: usize) -> Vec<i32> {
    let mut keys: Vec<i32> = (0..count as i32).collect();
    let mut state = 12345_u64;
    for last in (1..count).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        keys.swap(last, (state >> 33) as usize % (last + 1));
    }
    keys
}

#[test]
fn permutations_are_run_in_parallel_on_the_array_itself() {
    let count = 50_000;
    let key = permutation(count);
    let x: Vec<f64> = (0..count).map(|i| i as f64).collect();
    for clause in ["disjoint", "disjoint(trusted)"] {
        let kernel = scheduled("place", clause).expect("a kernel");
        let text = kernel.compiled().kernel().to_string();
        assert_eq!(
            text.contains("disjoint(out: out_met)"),
            clause == "disjoint",
            "{text}"
        );
        assert!(!text.contains("private("), "{text}");
        for threads in [1, 2, 8] {
            let mut out = vec![-1.0; count];
            let call = kernel
                .clone()
                .threads(threads)
                .bind()
                .array("key", &key)
                .array("x", &x);
            call.array_mut("out", &mut out).run().expect("no two meet");
            for (key, x) in key.iter().zip(&x) {
                assert_eq!(out[*key as usize], *x);
            }
        }
    }
}

#[test]
fn the_first_two_that_meet_are_told_and_the_output_is_as_it_was() {
    let count = 50_000;
    let mut key = permutation(count);
    // Iterations 30000 and 40000 come to an element of one before them.
    key[30_000] = key[20_000];
    key[40_000] = key[10];
    let x: Vec<f64> = (0..count).map(|i| i as f64).collect();
    let kernel = scheduled("place", "disjoint").expect("a kernel");
    for threads in [1, 2, 8] {
        let mut out = vec![-1.0; count];
        let call = kernel
            .clone()
            .threads(threads)
            .bind()
            .array("key", &key)
            .array("x", &x);
        let error = call.array_mut("out", &mut out).run().expect_err("two meet");
        assert!(out.iter().all(|it| *it == -1.0));
        let Error::Fault(fault) = &error else {
            panic!("{error}");
        };
        let expected = FaultKind::Met {
            array: "out".to_owned(),
            element: key[20_000].into(),
        };
        assert_eq!(fault.kind(), &expected);
        assert_eq!(fault.iteration(), [("i".to_owned(), 30_000)]);
        assert_eq!((fault.position().line, fault.position().column), (3, 5));
        let message = format!(
            "`out` is said to be disjoint, and two updates meet in its element {}",
            key[20_000]
        );
        assert!(error.to_string().contains(&message), "{error}");
    }
}

#[test]
fn updates_and_rows_can_be_disjoint_and_others_be_reduced_beside_them() {
    let key = permutation(1000);
    let x = vec![2.0; 1000];
    let kernel = scheduled("update", "disjoint").expect("a kernel");
    let text = kernel.compiled().kernel().to_string();
    assert!(
        text.contains("merge(hits reduce(add) hits_p) disjoint(out: out_met)"),
        "{text}"
    );
    let (mut out, mut hits) = (vec![1.0; 1000], [0_i64]);
    let call = kernel.bind().array("key", &key).array("x", &x);
    call.array_mut("out", &mut out)
        .array_mut("hits", &mut hits)
        .run()
        .expect("a call");
    assert!(out.iter().all(|it| *it == 3.0));
    assert_eq!(hits, [1000]);
    let kernel = scheduled("rows", "disjoint").expect("a kernel");
    let mut out = vec![0.0; 3000];
    let call = kernel.bind().array("key", &key).array("x", &x);
    call.array_mut("out", &mut out).run().expect("a call");
    assert!(out.chunks(3).all(|row| row == [2.0, 3.0, 4.0]));
    let (key, before) = ([4, 2, 4], out.clone());
    let call = kernel.bind().array("key", &key).array("x", &x[..3]);
    let error = call
        .array_mut("out", &mut out)
        .run()
        .expect_err("rows meet");
    assert!(error.to_string().contains("element 12"), "{error}");
    assert_eq!(out, before);
}

#[test]
fn other_faults_are_told_as_ever() {
    let kernel = scheduled("place", "disjoint").expect("a kernel");
    let mut out = [0.0; 4];
    let call = kernel
        .bind()
        .array("key", &[0, 1, 7])
        .array("x", &[1.0, 2.0, 3.0]);
    let error = call
        .array_mut("out", &mut out)
        .run()
        .expect_err("out of range");
    assert!(
        error
            .to_string()
            .contains("index 7 is out of range for `out`"),
        "{error}"
    );
    assert!(error.to_string().contains("iteration i = 2;"), "{error}");
    assert_eq!(out, [0.0; 4]);
}

#[test]
fn what_reads_the_array_can_only_be_trusted() {
    let refused = scheduled("reads", "disjoint")
        .map(drop)
        .expect_err("a refusal");
    let Error::Refused(refusal) = refused else {
        panic!("{refused}");
    };
    assert_eq!(refusal.refused.reason.name(), "ReadsPartialSum");
    assert_ne!(refusal.refused.reason.verdict(), Verdict::Misaddressed);
    assert!(scheduled("reads", "disjoint(trusted)").is_ok());
    let unknown = scheduled("place", "disjoint(maybe)").map(drop);
    assert!(unknown.is_err());
}
