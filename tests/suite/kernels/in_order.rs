//! Kernels whose updates mean something in the order of the loop alone, and steps that would change
//! that order and are declined.

use super::{SIZES, check, kernel, length, over_keys, parse};
use crate::data::Data;
use strew::{Error, Plan, Verdict, parse_schedule};

/// Nothing is parallel unless asked for, and `step` is declined with `reason`.
fn stays_in_order(source: (&str, &str), step: &str, verdict: Verdict, reason: &str) {
    let parsed = parse(source);
    let kernel = parsed.kernel(None).expect("one kernel");
    let found = kernel.schedule(&Plan::Auto, &mut ()).expect("a schedule");
    let text = found.kernel().to_string();
    assert!(!text.contains("scf.forall"), "{text}");
    declined(source, step, verdict, reason);
}

/// `step` is declined with `reason`.
fn declined(source: (&str, &str), step: &str, verdict: Verdict, reason: &str) {
    let parsed = parse(source);
    let kernel = parsed.kernel(None).expect("one kernel");
    let schedule = parse_schedule("step", step).expect("a step");
    match kernel.schedule(&Plan::Explicit(schedule), &mut ()) {
        Err(Error::Refused(refusal)) => {
            let found = &refusal.refused.reason;
            assert_eq!(
                (found.verdict(), found.name()),
                (verdict, reason),
                "{found}"
            );
            assert_eq!(found.witness().is_some(), verdict == Verdict::Illegal);
            assert!(refusal.refused.is_replayed(), "{found}");
        }
        other => panic!("expected a refusal, found {other:?}"),
    }
}

#[test]
fn n01_ordered() {
    let source = kernel!("n01_ordered");
    let cases = over_keys(&SIZES, |random, keys, m| {
        let out: Vec<i32> = (0..m).map(|_| random.below(3) - 1).collect();
        Data::default()
            .scalar("n", length::<_, i64>(keys))
            .scalar("m", m)
            .array("idx", keys)
            .array("out", &out)
    });
    check(source, "n01_ordered", &cases);
    stays_in_order(
        source,
        "tile_indirection_using_forall(i)",
        Verdict::Misaddressed,
        "NothingReduced",
    );
    stays_in_order(
        source,
        "tile_indirection_using_forall(i, reduction(out) = add)",
        // With arrays of zeros, which is what witnesses have, the condition never holds.
        Verdict::Unproven,
        "ReadsPartialSum",
    );
}

#[test]
fn n02_reads_partial() {
    let source = kernel!("n02_reads_partial");
    let cases = over_keys(&SIZES, |random, keys, m| {
        let others = random.uniform(keys.len(), m);
        Data::default()
            .scalar("n", length::<_, i64>(keys))
            .scalar("m", m)
            .array("a", keys)
            .array("b", &others)
            .array("h", &random.floats(m as usize, -1.0, 1.0))
    });
    check(source, "n02_reads_partial", &cases);
    // Only the data tell whether any element is both read and updated, and to ask them takes as
    // long as the loop.
    let parsed = parse(source);
    let kernel = parsed.kernel(None).expect("one kernel");
    let text = |plan: &Plan| {
        let found = kernel.schedule(plan, &mut ()).expect("a schedule");
        found.kernel().to_string()
    };
    assert!(!text(&Plan::Auto).contains("scf.forall"));
    let step = parse_schedule(
        "step",
        "tile_indirection_using_forall(i, reduction(h) = add)",
    );
    let asked = text(&Plan::Explicit(step.expect("a step")));
    assert!(asked.contains("speculative(h reduce(add))"), "{asked}");
}

#[test]
fn n03_last_writer() {
    let source = kernel!("n03_last_writer");
    let cases = over_keys(&SIZES, |random, keys, m| {
        Data::default()
            .scalar("n", length::<_, i64>(keys))
            .scalar("m", m)
            .array("idx", keys)
            .array("v", &random.floats(keys.len(), -1.0, 1.0))
            .array("out", &random.floats(m as usize, -1.0, 1.0))
    });
    check(source, "n03_last_writer", &cases);
    let step = "tile_indirection_using_forall(i, reduction(out) = add)";
    declined(source, step, Verdict::Illegal, "OverwritesPrivate");
    let parsed = parse(source);
    let kernel = parsed.kernel(None).expect("one kernel");
    let found = kernel.schedule(&Plan::Auto, &mut ()).expect("a schedule");
    let text = found.kernel().to_string();
    assert!(text.contains("identity(last)"), "{text}");
}

#[test]
fn n04_saturating() {
    let cases = over_keys(&SIZES, |random, keys, m| {
        let counts: Vec<u8> = (0..m).map(|_| 255 - random.below(40) as u8).collect();
        Data::default()
            .scalar("n", length::<_, i64>(keys))
            .scalar("m", m)
            .array("idx", keys)
            .array("h", &counts)
    });
    check(kernel!("n04_saturating"), "n04_saturating", &cases);
}

/// Small arrays are in registers while a loop runs whose subscripts of them are constants, in the
/// end.
#[test]
fn n05_small_sums() {
    let cases = over_keys(&SIZES, |random, keys, m| {
        let whole: Vec<f32> = keys.iter().map(|_| random.below(9) as f32 - 4.0).collect();
        Data::default()
            .scalar("n", length::<_, i64>(keys))
            .scalar("m", m)
            .array("key", keys)
            .array("x", &whole)
            .array("h", &vec![7; m as usize])
            .array("s", &[-0.0_f32, 0.0, 1.0, 2.0, -3.0, 4.0, 5.0, -6.0, -0.0])
            .array("z", &random.floats(4, -1.0, 1.0))
            .array("y", &random.floats(keys.len(), -1.0, 1.0))
            .array("seen", &[1, 2, 3, 4])
    });
    check(kernel!("n05_small_sums"), "n05_small_sums", &cases);
}
