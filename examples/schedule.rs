//! A schedule built by hand, the kernel text after each of its steps, and a step that is declined.
#![allow(clippy::print_stdout)]

use strew::{Compiler, Error, Event, Plan, Schedule, parse_schedule};

const SOURCE: &str = "
kernel @histogram(n: i64, m: i64, key: i32[n], h: i32[m]) {
  affine.for i in 0..n {
    h[key[i]] reduce(add) 1
  }
}";

/// Prints every kernel on the way.
struct Printer;

impl strew::Observer for Printer {
    fn observe(&mut self, event: Event<'_>) {
        if let Event::Applied { step, after, .. } = event {
            println!("// ---- after {step}\n{after}");
        }
    }
}

fn main() -> Result<(), Error> {
    let schedule = parse_schedule(
        "histogram.schedule",
        "tile_indirection_using_forall(i, reduction(h) = add, chunks = 4)
         unroll(i, 4)   # four keys first, then four updates",
    )?;
    let program = Compiler::new()
        .schedule(schedule.clone())
        .compile("histogram.nest", SOURCE)?;
    let kernel = program.kernel("histogram")?;
    let mut bins = [0; 3];
    kernel
        .bind()
        .array("key", &[2, 0, 2])
        .array_mut("h", &mut bins)
        .run()?;
    assert_eq!(bins, [1, 0, 2]);

    let parsed = kernel.compiled().parsed();
    parsed.schedule(&Plan::Explicit(schedule), &mut Printer)?;
    match kernel.with_schedule(Schedule::new().unroll("j", 4)) {
        Err(Error::Refused(refusal)) => println!("{refusal}"),
        other => panic!("expected a refusal, found {other:?}"),
    }
    Ok(())
}
