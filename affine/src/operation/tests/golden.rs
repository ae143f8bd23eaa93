//! Every example of the indexing analysis seeds, with the seed's answers. Where an answer is not
//! right, enumeration shows why.

use super::{Pairs, module, pairs, points, root, texts};
use crate::indexing::{Interval, parse_map};
use crate::operation::{Analysis, ElementMaps};

/// Both directions of the root as `from -> to: map`.
fn lines(maps: &ElementMaps) -> Vec<String> {
    let mut lines = Vec::new();
    for (output, operands) in maps.output_to_input.iter().enumerate() {
        for (input, known) in maps.inputs.iter().zip(operands) {
            let texts = texts(known).into_iter();
            lines.extend(texts.map(|it| format!("{output} -> {}: {it}", input.name)));
        }
    }
    for (input, outputs) in maps.inputs.iter().zip(&maps.input_to_output) {
        for (output, known) in outputs.iter().enumerate() {
            let texts = texts(known).into_iter();
            lines.extend(texts.map(|it| format!("{} -> {output}: {it}", input.name)));
        }
    }
    lines
}

#[track_caller]
fn expect(text: &str, expected: &[&str]) {
    assert_eq!(lines(&root(text)), expected);
}

/// The pairs of a map without runtime variables.
fn pairs_of(map: &str) -> Pairs {
    let map = parse_map(map).expect("a map");
    let counted = map.dimensions().len();
    let points = points(&map.box_bounds()).into_iter();
    let pairs = points.filter_map(|mut point| {
        let results = map.evaluate(&point).expect("a value")?;
        point.truncate(counted);
        Some((point, results))
    });
    pairs.collect()
}

const BROADCAST: &str = "\
p0 = f32[20] parameter(0)
bc0 = f32[10, 20, 30] broadcast(p0), dimensions={1}";

#[test]
fn seed_broadcast() {
    expect(
        BROADCAST,
        &[
            "0 -> p0: (d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]",
            "p0 -> 0: (d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 19], s0 in [0, 9], s1 in [0, 29]",
        ],
    );
}

/// The first example of both seeds has the bounds `[0, 10]`, `[0, 20]` and `[0, 30]`: read as
/// inclusive, as everywhere else, they leave both arrays.
#[test]
fn seed_first_example_has_bounds_one_too_high() {
    let seed =
        pairs_of("(d0, d1, d2) -> (d1), domain: d0 in [0, 10], d1 in [0, 20], d2 in [0, 30]");
    let exact = pairs_of(&texts(&root(BROADCAST).output_to_input[0][0])[0]);
    assert!(exact.is_subset(&seed));
    assert!(seed.contains(&(vec![10, 20, 30], vec![20])));
    assert!(
        exact
            .iter()
            .all(|(from, to)| from[0] < 10 && from[2] < 30 && to[0] < 20)
    );
}

#[test]
fn seed_elementwise() {
    let map = "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]";
    let expected = ["0 -> p0", "0 -> p1", "p0 -> 0", "p1 -> 0"].map(|it| format!("{it}: {map}"));
    let text = "
  p0 = f32[10, 20] parameter(0)
  p1 = f32[10, 20] parameter(1)
  add = f32[10, 20] add(p0, p1)";
    assert_eq!(lines(&root(text)), expected);
}

#[test]
fn seed_constant_and_iota_have_no_inputs() {
    expect("c = f32[2] constant({1, 2})", &[]);
    expect("i = s32[2,3] iota(), iota_dimension=1", &[]);
}

const DYNAMIC_SLICE: &str = "\
src = s32[2,2,258] parameter(0)
of1 = s32[] parameter(1)
of2 = s32[] parameter(2)
of3 = s32[] parameter(3)
ds = dynamic-slice(s32[2,2,258] src, s32[] of1, s32[] of2, s32[] of3), dynamic_slice_sizes={1, 2, 32}";

#[test]
fn seed_dynamic_slice() {
    let starts = "(d0, d1, d2) -> (), domain: d0 in [0, 0], d1 in [0, 1], d2 in [0, 31]";
    let maps = root(DYNAMIC_SLICE);
    let operands = &maps.output_to_input[0];
    assert_eq!(
        texts(&operands[0]),
        [
            "(d0, d1, d2){rt0, rt1, rt2} -> (d0 + rt0, d1 + rt1, d2 + rt2), domain: d0 in [0, 0], d1 in [0, 1], d2 in [0, 31], rt0 in [0, 1], rt1 in [0, 0], rt2 in [0, 226]"
        ]
    );
    for operand in &operands[1..] {
        assert_eq!(texts(operand), [starts]);
    }
    let known = operands[0].as_ref().expect("known maps");
    let sources = known[0].indexing.runtime();
    let read_from: Vec<_> = sources.iter().map(|it| it.value.instruction).collect();
    assert_eq!(read_from, [1, 2, 3]);
    assert!(sources.iter().all(|it| it.map.to_string() == starts));
    let clamps: Vec<_> = sources.iter().filter_map(|it| it.clamp).collect();
    assert_eq!(
        clamps,
        [(0, 1), (0, 0), (0, 226)].map(|(low, high)| Interval::new(low, high))
    );
    assert_eq!(
        texts(&maps.input_to_output[1][0]),
        ["()[s0, s1] -> (0, s0, s1), domain: s0 in [0, 1], s1 in [0, 31]"]
    );
}

/// The seed says in words that the offset is at most `tensor_size - slice_size - 1`, and has 226 =
/// 258 - 32 in its example: the last slice that stays inside begins there.
#[test]
fn seed_dynamic_slice_reaches_the_last_element() {
    let maps = root(DYNAMIC_SLICE);
    let known = maps.output_to_input[0][0].as_ref().expect("known maps");
    let read = pairs(&known[0].indexing, &|value, _| {
        if value.instruction == 3 { 1000 } else { 0 }
    });
    assert_eq!(read.iter().map(|(_, to)| to[2]).max(), Some(257));
}

const DYNAMIC_UPDATE_SLICE: &str = "\
src = s32[20,30] parameter(0)
upd = s32[5,10] parameter(1)
of1 = s32[] parameter(2)
of2 = s32[] parameter(3)
dus = s32[20,30] dynamic-update-slice(
    s32[20,30] src, s32[5,10] upd, s32[] of1, s32[] of2)";

#[test]
fn seed_dynamic_update_slice() {
    let maps = root(DYNAMIC_UPDATE_SLICE);
    let operands = &maps.output_to_input[0];
    let domain = "domain: d0 in [0, 19], d1 in [0, 29]";
    assert_eq!(
        texts(&operands[0]),
        [format!("(d0, d1) -> (d0, d1), {domain}")]
    );
    assert_eq!(
        texts(&operands[1]),
        [format!(
            "(d0, d1){{rt0, rt1}} -> (d0 - rt0, d1 - rt1), {domain}, rt0 in [0, 15], rt1 in [0, 20], d0 - rt0 in [0, 4], d1 - rt1 in [0, 9]"
        )]
    );
    for operand in &operands[2..] {
        assert_eq!(texts(operand), [format!("(d0, d1) -> (), {domain}")]);
    }
    let sources = operands[1].as_ref().expect("known maps")[0]
        .indexing
        .runtime();
    let read_from: Vec<_> = sources.iter().map(|it| it.value.instruction).collect();
    assert_eq!(read_from, [2, 3]);
}

/// The seed's map of the update has no constraints: most of the elements that it speaks of are none
/// of the update.
#[test]
fn seed_dynamic_update_slice_leaves_the_update() {
    let seed = "(d0, d1){rt0, rt1} -> (d0 - rt0, d1 - rt1), domain: d0 in [0, 19], d1 in [0, 29], rt0 in [0, 15], rt1 in [0, 20]";
    let seed = parse_map(seed).expect("a map");
    assert_eq!(seed.evaluate(&[0, 0, 15, 20]), Ok(Some(vec![-15, -20])));
    let maps = root(DYNAMIC_UPDATE_SLICE);
    let exact = maps.output_to_input[0][1].as_ref().expect("known maps")[0]
        .indexing
        .map();
    assert_eq!(exact.evaluate(&[0, 0, 15, 20]), Ok(None));
    for point in points(&exact.box_bounds()[..2]) {
        let at = [point[0], point[1], 3, 7];
        let results = exact.evaluate(&at).expect("a value");
        let is_updated = (3..8).contains(&at[0]) && (7..17).contains(&at[1]);
        assert_eq!(results.is_some(), is_updated);
        assert!(results.is_none_or(|it| (0..5).contains(&it[0]) && (0..10).contains(&it[1])));
    }
}

#[test]
fn seed_gather() {
    let text = "\
operand = f32[33,76,70] parameter(0)
indices = s32[1806,2] parameter(1)
gather = f32[1806,7,8,4] gather(operand, indices),
  offset_dims={1,2,3},
  collapsed_slice_dims={},
  start_index_map={0,1},
  index_vector_dim=1,
  slice_sizes={7,8,4}";
    let maps = root(text);
    let domain = "domain: d0 in [0, 1805], d1 in [0, 6], d2 in [0, 7], d3 in [0, 3]";
    assert_eq!(
        texts(&maps.output_to_input[0][0]),
        [format!(
            "(d0, d1, d2, d3){{rt0, rt1}} -> (d1 + rt0, d2 + rt1, d3), {domain}, rt0 in [0, 26], rt1 in [0, 68]"
        )]
    );
    assert_eq!(
        texts(&maps.output_to_input[0][1]),
        [format!(
            "(d0, d1, d2, d3)[s0] -> (d0, s0), {domain}, s0 in [0, 1]"
        )]
    );
    let sources = maps.output_to_input[0][0].as_ref().expect("known maps")[0]
        .indexing
        .runtime();
    let places: Vec<_> = sources.iter().map(|it| it.map.to_string()).collect();
    assert_eq!(
        places,
        [0, 1].map(|it| format!("(d0, d1, d2, d3) -> (d0, {it}), {domain}"))
    );
}

#[test]
fn seed_transpose() {
    expect(
        "\
p0 = f32[3, 12288, 6, 128] parameter(0)
transpose = f32[3, 6, 128, 12288] transpose(p0), dimensions={0, 2, 3, 1}",
        &[
            "0 -> p0: (d0, d1, d2, d3) -> (d0, d3, d1, d2), domain: d0 in [0, 2], d1 in [0, 5], d2 in [0, 127], d3 in [0, 12287]",
            "p0 -> 0: (d0, d1, d2, d3) -> (d0, d2, d3, d1), domain: d0 in [0, 2], d1 in [0, 12287], d2 in [0, 5], d3 in [0, 127]",
        ],
    );
}

#[test]
fn seed_reverse() {
    let map = "(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3), domain: d0 in [0, 0], d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]";
    let text = "\
p0 = f32[1, 17, 9, 9] parameter(0)
reverse = f32[1, 17, 9, 9] reverse(p0), dimensions={1, 2}";
    assert_eq!(
        lines(&root(text)),
        ["0 -> p0", "p0 -> 0"].map(|it| format!("{it}: {map}"))
    );
}

/// With `min` in the older seed.
#[test]
fn seed_variadic_reduce() {
    for combiner in ["max", "min"] {
        let text = format!(
            "\
p0 = f32[256,10] parameter(0)
p0_init = f32[] constant(-inf)
p1 = s32[256,10] parameter(1)
p1_init = s32[] constant(0)
reduce = (f32[10], s32[10]) reduce(p0, p1, p0_init, p1_init),
  dimensions={{0}}, to_apply={combiner}"
        );
        let maps = root(&text);
        for output in 0..2 {
            for input in 0..2 {
                assert_eq!(
                    texts(&maps.output_to_input[output][input]),
                    ["(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]"]
                );
                assert_eq!(
                    texts(&maps.output_to_input[output][2 + input]),
                    ["(d0) -> (), domain: d0 in [0, 9]"]
                );
                assert_eq!(
                    texts(&maps.input_to_output[input][output]),
                    ["(d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]"]
                );
                assert_eq!(
                    texts(&maps.input_to_output[2 + input][output]),
                    ["()[s0] -> (s0), domain: s0 in [0, 9]"]
                );
            }
        }
    }
}

/// The older seed has the reduced dimension as `s0 in [0, 9]`, which is the one that is kept: it
/// misses most of the input.
#[test]
fn seed_reduce_of_the_older_seed_misses_most_of_the_input() {
    let older = pairs_of("(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 9]");
    let exact = pairs_of("(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]");
    assert_eq!((older.len(), exact.len()), (100, 2560));
    assert!(exact.contains(&(vec![3], vec![255, 3])) && !older.contains(&(vec![3], vec![255, 3])));
}

#[test]
fn seed_slice() {
    expect(
        "\
p0 = f32[10, 20, 50] parameter(0)
slice = f32[5, 3, 25] slice(f32[10, 20, 50] p0),
  slice={[5:10:1], [3:20:7], [0:50:2]}",
        &[
            "0 -> p0: (d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: d0 in [0, 4], d1 in [0, 2], d2 in [0, 24]",
            "p0 -> 0: (d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: d0 in [5, 9], d1 in [3, 17], d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], d2 mod 2 in [0, 0]",
        ],
    );
}

/// The older seed maps the input by `(d0, d1 / 7, d2 / 2)` without the starts: the first element of
/// the slice would go to its sixth.
#[test]
fn seed_slice_of_the_older_seed_forgets_the_start() {
    let older = parse_map(
        "(d0, d1, d2) -> (d0, d1 floordiv 7, d2 floordiv 2), domain: d0 in [5, 9], d1 in [3, 19], d2 in [0, 49]",
    );
    assert_eq!(
        older.expect("a map").evaluate(&[5, 3, 0]),
        Ok(Some(vec![5, 0, 0]))
    );
    let exact = parse_map(
        "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: d0 in [5, 9], d1 in [3, 17], d2 in [0, 48]",
    );
    assert_eq!(
        exact.expect("a map").evaluate(&[5, 3, 0]),
        Ok(Some(vec![0, 0, 0]))
    );
}

#[test]
fn seed_collapse_shape() {
    expect(
        "p0 = f32[4,8] parameter(0)\nreshape = f32[32] reshape(p0)",
        &[
            "0 -> p0: (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
            "p0 -> 0: (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
        ],
    );
}

#[test]
fn seed_expand_shape() {
    expect(
        "p0 = f32[32] parameter(0)\nreshape = f32[4, 8] reshape(p0)",
        &[
            "0 -> p0: (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]",
            "p0 -> 0: (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]",
        ],
    );
}

#[test]
fn seed_generic_reshape_linearization_delinearization() {
    let text = "p0 = f32[4,8] parameter(0)\nreshape = f32[2, 4, 4] reshape(p0)";
    expect(
        text,
        &[
            "0 -> p0: (d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]",
            "p0 -> 0: (d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4), domain: d0 in [0, 3], d1 in [0, 7]",
        ],
    );
    // The older seed has the same before it is simplified.
    let maps = root(text);
    let older = "(d0, d1, d2) -> (2 * d0 + (4 * d1 + d2) floordiv 8, (4 * d1 + d2) mod 8), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]";
    assert_eq!(
        pairs_of(older),
        pairs_of(&texts(&maps.output_to_input[0][0])[0])
    );
    let older = "(d0, d1) -> ((8 * d0 + d1) floordiv 16, ((8 * d0 + d1) mod 16) floordiv 4, d1 mod 4), domain: d0 in [0, 3], d1 in [0, 7]";
    assert_eq!(
        pairs_of(older),
        pairs_of(&texts(&maps.input_to_output[0][0])[0])
    );
}

#[test]
fn seed_generic_reshape_expanded_and_collapsed_subshapes() {
    expect(
        "p0 = f32[4, 8, 12] parameter(0)\nreshape = f32[32, 3, 4] reshape(p0)",
        &[
            "0 -> p0: (d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: d0 in [0, 31], d1 in [0, 2], d2 in [0, 3]",
            "p0 -> 0: (d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4), domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 11]",
        ],
    );
}

#[test]
fn seed_bitcast_is_transpose_reshape_transpose() {
    let bitcast = "p0 = f32[4,6]{0,1} parameter(0)\nROOT b = f32[3,8]{1,0} bitcast(p0)";
    let sequence = "f {
  p0 = f32[4,6] parameter(0)
  t = f32[6,4] transpose(p0), dimensions={1,0}
  ROOT r = f32[3,8] reshape(t)
}";
    assert_eq!(lines(&root(bitcast)), lines(&root(sequence)));
}

#[test]
fn seed_concatenate() {
    let domain = |d1: &str| format!("domain: d0 in [0, 1], d1 in {d1}, d2 in [0, 6]");
    let expected = [
        ("0 -> p0", "d1", "[0, 4]"),
        ("0 -> p1", "d1 - 5", "[5, 15]"),
        ("0 -> p2", "d1 - 16", "[16, 32]"),
        ("p0 -> 0", "d1", "[0, 4]"),
        ("p1 -> 0", "d1 + 5", "[0, 10]"),
        ("p2 -> 0", "d1 + 16", "[0, 16]"),
    ];
    let expected = expected.map(|(head, d1, bounds)| {
        format!("{head}: (d0, d1, d2) -> (d0, {d1}, d2), {}", domain(bounds))
    });
    let text = "\
p0 = f32[2, 5, 7] parameter(0)
p1 = f32[2, 11, 7] parameter(1)
p2 = f32[2, 17, 7] parameter(2)
ROOT concat = f32[2, 33, 7] concatenate(f32[2, 5, 7] p0, f32[2, 11, 7] p1, f32[2, 17, 7] p2), dimensions={1}";
    assert_eq!(lines(&root(text)), expected);
}

#[test]
fn seed_concatenate_of_the_older_seed() {
    expect(
        "\
p0 = f32[3,50] parameter(0)
p1 = f32[3,30] parameter(1)
concat = f32[3,80] concatenate(f32[3,50] p0, f32[3,30] p1),
  dimensions={1}",
        &[
            "0 -> p0: (d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, 49]",
            "0 -> p1: (d0, d1) -> (d0, d1 - 50), domain: d0 in [0, 2], d1 in [50, 79]",
            "p0 -> 0: (d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, 49]",
            "p1 -> 0: (d0, d1) -> (d0, d1 + 50), domain: d0 in [0, 2], d1 in [0, 29]",
        ],
    );
}

#[test]
fn seed_dot() {
    expect(
        "\
p0 = f32[4, 128, 256] parameter(0)
p1 = f32[4, 256, 64] parameter(1)
dot = f32[4, 128, 64] dot(p0, p1),
  lhs_batch_dims={0}, rhs_batch_dims={0},
  lhs_contracting_dims={2}, rhs_contracting_dims={1}",
        &[
            "0 -> p0: (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 63], s0 in [0, 255]",
            "0 -> p1: (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 63], s0 in [0, 255]",
            "p0 -> 0: (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 255], s0 in [0, 63]",
            "p1 -> 0: (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 3], d1 in [0, 255], d2 in [0, 63], s0 in [0, 127]",
        ],
    );
}

#[test]
fn seed_pad() {
    expect(
        "\
p0 = f32[4, 4] parameter(0)
p1 = f32[] parameter(1)
pad = f32[12, 16] pad(p0, p1), padding=1_4_1x4_8_0",
        &[
            "0 -> p0: (d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]",
            "0 -> p1: (d0, d1) -> (), domain: d0 in [0, 11], d1 in [0, 15]",
            "p0 -> 0: (d0, d1) -> (d0 * 2 + 1, d1 + 4), domain: d0 in [0, 3], d1 in [0, 3]",
            "p1 -> 0: ()[s0, s1] -> (s0, s1), domain: s0 in [0, 11], s1 in [0, 15]",
        ],
    );
}

#[test]
fn seed_reduce_window() {
    let maps = root(
        "\
c_inf = f32[] constant(-inf)
p0 = f32[1024, 514] parameter(0)
reduce-window = f32[1024, 3] reduce-window(p0, c_inf),
  window={size=1x512 pad=0_0x0_0}, to_apply=max",
    );
    assert_eq!(
        texts(&maps.output_to_input[0][0]),
        ["(d0, d1)[s0] -> (d0, d1 + s0), domain: d0 in [0, 1023], d1 in [0, 2], s0 in [0, 511]"]
    );
    assert_eq!(
        texts(&maps.output_to_input[0][1]),
        ["(d0, d1) -> (), domain: d0 in [0, 1023], d1 in [0, 2]"]
    );
}

#[test]
fn seed_one_input_several_indexing_maps() {
    let maps = root(
        "\
f {
  p0 = f32[1000, 1000] parameter(0)
  transpose_p0 = f32[1000, 1000]{0, 1} transpose(p0), dimensions={1, 0}
  ROOT a0 = f32[1000, 1000] add(p0, transpose_p0)
}",
    );
    let domain = "domain: d0 in [0, 999], d1 in [0, 999]";
    let mut texts = texts(&maps.output_to_input[0][0]);
    texts.sort();
    assert_eq!(
        texts,
        [
            format!("(d0, d1) -> (d0, d1), {domain}"),
            format!("(d0, d1) -> (d1, d0), {domain}")
        ]
    );
}

const TRANSPOSES: &str = "\
f {
  p0 = f32[20, 10, 50] parameter(0)
  lhs_transpose_1 = f32[10, 20, 50] transpose(p0), dimensions={1, 0, 2}
  lhs_e = f32[10, 20, 50] exponential(lhs_transpose_1)
  lhs_transpose_2 = f32[10, 50, 20] transpose(lhs_e), dimensions={0, 2, 1}
  rhs_transpose_1 = f32[50, 10, 20] transpose(p0), dimensions={2, 1, 0}
  rhs_log = f32[50, 10, 20] exponential(rhs_transpose_1)
  rhs_transpose_2 = f32[10, 50, 20] transpose(rhs_log), dimensions={1, 0, 2}
  ROOT add = f32[10, 50, 20] add(lhs_transpose_2, rhs_transpose_2)
}
";

#[test]
fn seed_one_input_deduplicated_indexing_map() {
    let expected = [
        "0 -> p0: (d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]",
        "p0 -> 0: (d0, d1, d2) -> (d1, d2, d0), domain: d0 in [0, 19], d1 in [0, 9], d2 in [0, 49]",
    ];
    expect(TRANSPOSES, &expected);
    let called = "ENTRY e {
  p0 = f32[20,10,50] parameter(0)
  ROOT fusion = f32[10,50,20] fusion(p0), kind=kLoop, calls=f
}";
    expect(&format!("{TRANSPOSES}{called}"), &expected);
}

/// The seed shows softmax as a picture.
#[test]
fn seed_softmax() {
    let maps = root(
        "\
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b)
}
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
softmax {
  p0 = f32[2,65,125] parameter(0)
  lowest = f32[] constant(-inf)
  row_max = f32[2,65] reduce(p0, lowest), dimensions={2}, to_apply=max
  max_of_each = f32[2,65,125] broadcast(row_max), dimensions={0,1}
  shifted = f32[2,65,125] subtract(p0, max_of_each)
  exponentials = f32[2,65,125] exponential(shifted)
  zero = f32[] constant(0)
  row_sum = f32[2,65] reduce(exponentials, zero), dimensions={2}, to_apply=add
  sum_of_each = f32[2,65,125] broadcast(row_sum), dimensions={0,1}
  ROOT quotient = f32[2,65,125] divide(exponentials, sum_of_each)
}",
    );
    let domain = "domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]";
    let mut texts = texts(&maps.output_to_input[0][0]);
    texts.sort();
    assert_eq!(
        texts,
        [
            format!("(d0, d1, d2) -> (d0, d1, d2), {domain}"),
            format!("(d0, d1, d2)[s0] -> (d0, d1, s0), {domain}, s0 in [0, 124]"),
        ]
    );
}

#[test]
fn seed_chained_reshapes_cancel() {
    let text = "\
p0 = f32[10, 10, 10] parameter(0)
reshape1 = f32[50, 20] reshape(p0)
reshape2 = f32[10, 10, 10] reshape(reshape1)";
    let module = module(text);
    let through = Analysis::new(&module).of_computation(module.entry());
    let through = through.expect("maps");
    let identity = "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]";
    assert_eq!(
        lines(&through),
        ["0 -> p0", "p0 -> 0"].map(|it| format!("{it}: {identity}"))
    );
}
