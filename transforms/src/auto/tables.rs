//! Tables of numbers that are read at constant places alone, where loops over them are gone.

use super::Scheduler;
use crate::ScalarReplace;
use crate::scalar_replace::is_table;
use strew_affine::Node;

impl Scheduler<'_> {
    /// Puts numbers in the place of what is read of tables.
    pub(super) fn read_tables(&mut self) {
        let kernel = &self.found.kernel;
        let made = kernel.body.iter().filter_map(|node| match node {
            Node::Alloc { array } => Some(*array),
            _ => None,
        });
        let tables = made.filter(|it| is_table(kernel, *it));
        let names: Vec<_> = tables.map(|it| kernel.arrays[it].name.clone()).collect();
        for name in names {
            self.attempt(|attempt| attempt.step(ScalarReplace::new(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::auto::tests::schedules;

    #[test]
    fn filters_have_numbers() {
        schedules(
            "kernel @k(n: i64, x: u8[n], y: i32[n]) {
               alloc w: i32[3] w[0] = -1 w[2] = 1
               affine.for i in 1..n - 1 {
                 var s: i32 = 0
                 affine.for k in 0..3 { s reduce(add) w[k] * i32(x[i + k - 1]) }
                 y[i] = s
               }
             }",
            &[
                "unroll(k, 3)",
                "scalar_replace(w)",
                "strip_mine(i = 4096)",
                "parallelize(i_t)",
                "narrow(i_p)",
                "vectorize(i_p, 16)",
            ],
        );
    }
}
