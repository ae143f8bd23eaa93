//! One compiled kernel, called from many threads at once. Float sums have the same bits at any
//! number of threads.
#![allow(clippy::print_stdout)]

use strew::{Compiler, Error};

const SOURCE: &str = "
void weighted_sum(int64_t n, int64_t m, const int32_t key[n], const double w[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[key[i]] += w[i];
}";

type Signature<'a> = (i64, i64, &'a [i32], &'a [f64], &'a mut [f64]);

fn main() -> Result<(), Error> {
    let program = Compiler::new().compile("weighted_sum.c", SOURCE)?;
    let kernel = program.kernel("weighted_sum")?;

    let count: i32 = 1 << 18;
    let keys: Vec<i32> = (0..count).map(|i| i.wrapping_mul(7919) % 100).collect();
    let weights: Vec<f64> = (0..count).map(|i| f64::from(i).sqrt()).collect();

    let sums: Result<Vec<Vec<f64>>, Error> = std::thread::scope(|scope| {
        let callers: Vec<_> = [1, 2, 4, 8]
            .map(|threads| kernel.clone().threads(threads))
            .map(|kernel| {
                let (keys, weights) = (&keys, &weights);
                scope.spawn(move || {
                    let sum = kernel.typed::<Signature<'_>>()?;
                    let mut out = vec![0.0; 100];
                    sum.call((i64::from(count), 100, keys, weights, &mut out))?;
                    Ok(out)
                })
            })
            .into();
        let joined = callers
            .into_iter()
            .map(|it| it.join().expect("no caller panics"));
        joined.collect()
    });

    let sums = sums?;
    assert!(sums.iter().all(|it| *it == sums[0]));
    println!("the same bits four times: {:?} …", &sums[0][..3]);
    Ok(())
}
