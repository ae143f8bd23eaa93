//! How fast indexing maps are simplified: maps of ten terms a second, and how it grows with the
//! number of terms.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use strew_affine::indexing::{IndexingMap, parse_map};

/// Maps that are measured together, so that no single one decides.
const MAPS: usize = 64;

/// xorshift64: any source will do, and this one needs no crate.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn pick(&mut self, numbers: &[usize]) -> usize {
        numbers[self.below(numbers.len())]
    }

    /// A term of a sum as reshapes, slices and tilings leave it.
    fn term(&mut self, variable: usize) -> String {
        let scale = self.pick(&[1, 2, 4, 8, 16, 32, 100, 128, 1024]);
        let divisor = self.pick(&[2, 4, 8, 10, 16, 32]);
        match self.below(5) {
            0 | 1 => format!("d{variable} * {scale}"),
            2 => format!("(d{variable} floordiv {divisor}) * {scale}"),
            3 => format!("(d{variable} mod {divisor}) * {scale}"),
            _ => format!("(d{variable} * {scale} + {divisor}) mod {divisor}"),
        }
    }

    /// The quotient and the remainder of one sum, over as many variables as it has terms.
    fn map(&mut self, terms: usize) -> IndexingMap {
        let sum: Vec<_> = (0..terms).map(|it| self.term(it)).collect();
        let sum = sum.join(" + ");
        let names: Vec<_> = (0..terms).map(|it| format!("d{it}")).collect();
        let bounds = names.iter().map(|name| {
            let high = self.pick(&[1, 3, 7, 9, 15, 31, 63, 99, 127]);
            format!("{name} in [0, {high}]")
        });
        let bounds: Vec<_> = bounds.collect();
        let divisor = self.pick(&[8, 16, 32, 64, 100, 128]);
        let (names, bounds) = (names.join(", "), bounds.join(", "));
        let text = format!("({names}) -> (({sum}) floordiv {divisor}), domain: {bounds}");
        parse_map(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

fn maps(terms: usize) -> Vec<IndexingMap> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    (0..MAPS).map(|_| random.map(terms)).collect()
}

fn simplify(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("simplify");
    group.throughput(Throughput::Elements(MAPS as u64));
    for terms in [1, 2, 5, 10, 20, 50, 100, 200] {
        let maps = maps(terms);
        group.bench_with_input(BenchmarkId::new("terms", terms), &maps, |bencher, maps| {
            bencher.iter(|| {
                maps.iter()
                    .map(|it| black_box(it).simplified().size().nodes)
                    .sum::<usize>()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, simplify);
criterion_main!(benches);
