//! Views in the kernel text compute what plain kernels over the flat array do.

use crate::data::{Data, parameters};
use crate::engines::{Engines, everywhere};
use crate::random::Random;
use std::fmt::Write;
use strew::{ParsedKernel, Source};

fn parsed(name: &str, source: &str) -> ParsedKernel {
    let parsed = Source::new(name, source.to_owned()).parse();
    let parsed = parsed.unwrap_or_else(|error| panic!("{error}\n{source}"));
    parsed.kernel(None).expect("one kernel").clone()
}

/// Runs the text and the plain C function, whose arrays have the same names and as many elements,
/// and compares what comes out.
#[track_caller]
fn same(text: &str, plain: &str, data: &Data) {
    let (text, plain) = (parsed("view.nest", text), parsed("plain.c", plain));
    match (everywhere(&text, data), everywhere(&plain, data)) {
        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{}", text.kernel()),
        // The one names the place in the array, the other that in the flat one.
        (Err(_), Err(_)) => {}
        (found, expected) => panic!("{found:?}\n{expected:?}\n{}", text.kernel()),
    }
}

fn filled(text: &str, mut data: Data, lengths: &[(&str, usize)]) -> Data {
    let kernel = parsed("view.nest", text);
    let types = parameters(kernel.kernel());
    let mut random = Random(7);
    for (name, length) in lengths {
        let ty = types.iter().find(|it| it.0 == *name).expect("an array").1;
        let values = (0..*length).map(|_| random.value(ty, -4, 5));
        data.arrays.insert((*name).to_owned(), values.collect());
    }
    data
}

/// The proposal for `delinearize_index`: a product with rows of a collapsed tensor, tile by tile.
#[test]
fn rfc_slice_of_a_collapsed_tensor() {
    let text = "
kernel @k(a: i64[10, 10, 6], b: i64[6, 6], out: i64[100, 6]) {
  view all = collapse(a, [[0, 1], [2]])
  affine.for iv in 0..10 {
    view rows = slice(all, [iv * 10, 0], [10, 6])
    affine.for i in 0..10 {
      affine.for j in 0..6 {
        affine.for l in 0..6 {
          out[iv * 10 + i, j] reduce(add) rows[i, l] * b[l, j]
        }
      }
    }
  }
}";
    let plain = "
void k(const int64_t a[600], const int64_t b[36], int64_t out[600]) {
  for (int i = 0; i < 100; i++)
    for (int j = 0; j < 6; j++)
      for (int l = 0; l < 6; l++)
        out[i * 6 + j] += a[i * 6 + l] * b[l * 6 + j];
}";
    let data = filled(
        text,
        Data::default(),
        &[("a", 600), ("b", 36), ("out", 600)],
    );
    same(text, plain, &data);
}

#[test]
fn sizes_may_be_parameters() {
    let text = "
kernel @k(n: i64, m: i32, k: i64, a: f64[n, m, k], out: f64[n * m, k]) {
  view rows = collapse(a, [[0, 1], [2]])
  view flat = collapse(rows, [[0, 1]])
  affine.for i in 0..n * m {
    affine.for j in 0..k {
      out[i, j] = rows[n * m - 1 - i, j] + flat[i * k + j]
      rows[i, j] reduce(add) 1.0
    }
  }
}";
    let plain = "
void k(int64_t n, int32_t m, int64_t k, double a[n * m * k], double out[n * m * k]) {
  for (int64_t i = 0; i < n * m; i++)
    for (int64_t j = 0; j < k; j++) {
      out[i * k + j] = a[(n * m - 1 - i) * k + j] + a[i * k + j];
      a[i * k + j] += 1;
    }
}";
    for (n, m, k) in [
        (3_i64, 4, 5),
        (1, 7, 2),
        (6, 1, 1),
        (0, 3, 2),
        (3, 0, 2),
        (3, 2, 0),
    ] {
        let data = Data::default()
            .scalar("n", n)
            .scalar("m", m as i32)
            .scalar("k", k);
        let elements = usize::try_from(n * m * k).expect("a length");
        let data = filled(text, data, &[("a", elements), ("out", elements)]);
        same(text, plain, &data);
    }
}

#[test]
fn keys_go_through_views() {
    let text = "
kernel @k(n: i64, m: i64, s: i64, key: i32[s], x: f64[s], out: f64[n, 1, m, 2]) {
  view flat = collapse(out, [[0, 1, 2], [3]])
  view odd = slice(flat, [1, 0], [n, 1], [2, 1])
  affine.for i in 0..s {
    flat[key[i], 1] reduce(add) x[i]
    odd[key[i], 0] reduce(add) 0.5
  }
}";
    let plain = "
void k(int64_t n, int64_t m, int64_t s, const int32_t key[s], const double x[s], double out[n * m][2]) {
  for (int64_t i = 0; i < s; i++) {
    out[key[i]][1] += x[i];
    out[(int64_t)key[i] * 2 + 1][0] += 0.5;
  }
}";
    let lengths = [("x", 40), ("out", 2 * 5 * 7)];
    let sizes = || {
        Data::default()
            .scalar("n", 5_i64)
            .scalar("m", 7_i64)
            .scalar("s", 40_i64)
    };
    let mut keys: Vec<i32> = (0..40).map(|it| it * it * 3 % 17).collect();
    same(
        text,
        plain,
        &filled(text, sizes(), &lengths).array("key", &keys),
    );
    // Whatever is no row is out of range, be it below or above.
    for key in [-1, -35, i32::MIN, 17, i32::MAX] {
        keys[11] = key;
        same(
            text,
            plain,
            &filled(text, sizes(), &lengths).array("key", &keys),
        );
    }
}

/// Views of views of an array of a few dimensions: each element that the last view has is added up
/// with its place in it.
struct Chain {
    text: String,
    /// For each element of the last view, in its order, which one of the array it is.
    elements: Vec<usize>,
    extents: Vec<usize>,
}

fn below(random: &mut Random, bound: usize) -> usize {
    usize::try_from(random.next() % bound as u64).expect("a small number")
}

fn list(numbers: impl IntoIterator<Item = impl ToString>) -> String {
    let numbers: Vec<_> = numbers.into_iter().map(|it| it.to_string()).collect();
    format!("[{}]", numbers.join(", "))
}

impl Chain {
    fn random(random: &mut Random) -> Self {
        let extents: Vec<_> = (0..1 + below(random, 4))
            .map(|_| 1 + below(random, 5))
            .collect();
        let count: usize = extents.iter().product();
        let (mut shape, mut elements) = (extents.clone(), (0..count).collect::<Vec<_>>());
        let mut text = String::new();
        let mut last = "a".to_owned();
        for number in 0..1 + below(random, 3) {
            let name = format!("v{number}");
            if random.next() & 1 == 0 {
                let mut groups: Vec<Vec<usize>> = Vec::new();
                for dimension in 0..shape.len() {
                    match groups.last_mut() {
                        Some(group) if random.next() & 1 == 0 => group.push(dimension),
                        _ => groups.push(vec![dimension]),
                    }
                }
                let sizes = groups
                    .iter()
                    .map(|it| it.iter().map(|it| shape[*it]).product());
                let sizes = sizes.collect();
                let groups = list(groups.iter().map(list));
                writeln!(text, "view {name} = collapse({last}, {groups})").expect("text");
                shape = sizes;
            } else {
                let each = shape.iter().map(|size| {
                    let (offset, stride) = (below(random, *size), 1 + below(random, 3));
                    (
                        offset,
                        1 + below(random, (size - offset).div_ceil(stride)),
                        stride,
                    )
                });
                let each: Vec<_> = each.collect();
                let [offsets, sizes, strides] = [
                    list(each.iter().map(|it| it.0)),
                    list(each.iter().map(|it| it.1)),
                    list(each.iter().map(|it| it.2)),
                ];
                writeln!(
                    text,
                    "view {name} = slice({last}, {offsets}, {sizes}, {strides})"
                )
                .expect("text");
                let sizes: Vec<_> = each.iter().map(|it| it.1).collect();
                let places = places(&sizes).into_iter().map(|place| {
                    let inner = place.iter().zip(&each).map(|(it, of)| it * of.2 + of.0);
                    let linear = inner
                        .zip(&shape)
                        .fold(0, |linear, (it, size)| linear * size + it);
                    elements[linear]
                });
                elements = places.collect();
                shape = sizes;
            }
            last = name;
        }
        let text = Self::kernel(&extents, &text, &last, &shape);
        Self {
            text,
            elements,
            extents,
        }
    }

    fn kernel(extents: &[usize], views: &str, last: &str, shape: &[usize]) -> String {
        let iters = (0..shape.len()).map(|it| format!("i{it}"));
        let iters: Vec<_> = iters.collect();
        let mut text = format!(
            "kernel @k(a: i64[{}], out: i64[{}]) {{\n{views}",
            list(extents).trim_matches(['[', ']']),
            shape.iter().product::<usize>()
        );
        for (iter, size) in iters.iter().zip(shape) {
            writeln!(text, "affine.for {iter} in 0..{size} {{").expect("text");
        }
        let linear = iters
            .iter()
            .zip(shape)
            .fold("0".to_owned(), |linear, (iter, size)| {
                format!("({linear}) * {size} + {iter}")
            });
        writeln!(text, "out[{linear}] = {last}{}", list(&iters)).expect("text");
        writeln!(
            text,
            "{last}{} reduce(add) 1 {}",
            list(&iters),
            "}".repeat(shape.len() + 1)
        )
        .expect("text");
        text
    }
}

/// All places in an array of these extents, row by row.
fn places(extents: &[usize]) -> Vec<Vec<usize>> {
    extents.iter().fold(vec![Vec::new()], |places, extent| {
        let longer = places
            .iter()
            .flat_map(|place| (0..*extent).map(move |it| [place.as_slice(), &[it]].concat()));
        longer.collect()
    })
}

#[test]
fn random_views_show_the_elements_that_they_say() {
    let mut random = Random(11);
    for _ in 0..24 {
        let chain = Chain::random(&mut random);
        let count = chain.extents.iter().product::<usize>();
        let out = vec![0_i64; chain.elements.len()];
        let a: Vec<i64> = (0..count).map(|it| 100 + it as i64).collect();
        let data = Data::default().array("a", &a).array("out", &out);
        let parsed = parsed("view.nest", &chain.text);
        let again = parsed.kernel().to_string();
        assert_eq!(
            strew::ir::text::parse(&again).expect("a kernel")[0].to_string(),
            again
        );
        let found = Engines::new(&parsed).exactly(&data).expect("no fault");
        let expected = chain.elements.iter().map(|it| a[*it]);
        let shown: Vec<_> = found["out"].iter().map(|it| it.as_integer()).collect();
        let expected: Vec<_> = expected.map(|it| Some(i128::from(it))).collect();
        assert_eq!(shown, expected, "{}", chain.text);
        let mut after = a.clone();
        chain.elements.iter().for_each(|it| after[*it] += 1);
        let shown: Vec<_> = found["a"].iter().map(|it| it.as_integer()).collect();
        let expected: Vec<_> = after.iter().map(|it| Some(i128::from(*it))).collect();
        assert_eq!(shown, expected, "{}", chain.text);
    }
}
