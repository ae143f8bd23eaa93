//! How much is read, in what order and in which boxes, against enumeration.

use super::programs::{Program, text};
use super::reference::Tensor;
use super::{Pairs, indices, module, pairs, root};
use crate::indexing::VariableKind;
use crate::operation::{
    Analysis, ArrayShape, ElementMaps, Indexing, Tile, coalescing, tile, utilization,
};
use std::collections::BTreeSet;

/// The maps of random operations that have no runtime variables, with the pairs of each.
fn each_map(mut check: impl FnMut(&Program, &ElementMaps, usize, &Indexing, Pairs)) {
    for seed in 1..600 {
        let mut program = Program::new(seed);
        program.step();
        if seed % 3 == 0 {
            program.step();
        }
        let is_small = |it: &Tensor| (1..200).contains(&it.cells.len());
        if !program.tensors.iter().all(is_small) {
            continue;
        }
        let source = text(&program, false);
        let module = module(&source);
        let maps = Analysis::new(&module).root().expect("maps");
        for (input, known) in maps.output_to_input[0].iter().enumerate() {
            for it in known.iter().flatten() {
                if it.indexing.map().runtimes().is_empty() {
                    let pairs = pairs(&it.indexing, &|_, _| 0);
                    check(&program, &maps, input, &it.indexing, pairs);
                }
            }
        }
    }
}

#[test]
fn tiles_are_the_boxes_that_are_read() {
    let mut found = 0;
    each_map(|program, maps, input, indexing, pairs| {
        let extents = &maps.outputs()[0].extents;
        let sizes: Vec<i64> = extents
            .iter()
            .enumerate()
            .map(|(at, it)| 1 + (at as i64 + it) % 3)
            .collect();
        // A third of the tiles are all of the array along some dimensions.
        let sizes = match (found + input) % 3 {
            0 => (sizes.iter().zip(extents).enumerate())
                .map(|(at, (size, extent))| if at % 2 == 0 { *extent } else { *size })
                .collect(),
            1 => extents.clone(),
            _ => sizes,
        };
        let Some(tile) = tile(indexing, extents, &sizes).expect("numbers") else {
            return;
        };
        found += 1;
        let counts: Vec<_> = extents
            .iter()
            .zip(&sizes)
            .map(|(extent, size)| (extent + size - 1) / size)
            .collect();
        for number in indices(&counts) {
            let corner: Vec<_> = number
                .iter()
                .zip(&sizes)
                .map(|(it, size)| it * size)
                .collect();
            let is_inside = |from: &Vec<i64>| {
                let mut all = from.iter().zip(&corner).zip(&sizes);
                all.all(|((at, corner), size)| (*corner..corner + size).contains(at))
            };
            let read: BTreeSet<_> = pairs
                .iter()
                .filter(|it| is_inside(&it.0))
                .map(|it| it.1.clone())
                .collect();
            let offsets: Vec<_> = tile
                .offsets
                .iter()
                .map(|it| {
                    it.evaluate(&|variable| match variable.kind {
                        VariableKind::Dimension => corner[variable.position],
                        VariableKind::Range | VariableKind::Runtime => panic!("{it}"),
                    })
                    .expect("a position")
                })
                .collect();
            let boxed = indices(&tile.sizes).into_iter().map(|at| {
                let positions = offsets.iter().zip(&tile.strides).zip(&at);
                positions
                    .map(|((offset, stride), at)| offset + stride * at)
                    .collect::<Vec<_>>()
            });
            let boxed: BTreeSet<_> = boxed.collect();
            let mut ends = corner.iter().zip(&sizes).zip(extents);
            let is_complete = ends.all(|((corner, size), extent)| corner + size <= *extent);
            let shown = || {
                format!(
                    "{}\n{}\n{tile:?} {sizes:?} {corner:?}",
                    program.lines.join("\n"),
                    indexing.map()
                )
            };
            assert!(read.is_subset(&boxed), "{}", shown());
            if tile.is_whole && is_complete {
                assert_eq!(read, boxed, "p{input}: {}", shown());
            }
        }
    });
    assert!(found > 400, "{found}");
}

#[test]
fn neighbours_are_as_far_apart_as_it_is_said() {
    let mut found = 0;
    each_map(|program, maps, input, indexing, pairs| {
        let from = maps.outputs()[0].clone();
        let to = maps.inputs[input].shape.leaves()[0].clone();
        let facts = coalescing(indexing, &from, &to).expect("numbers");
        let (Some(stride), true) = (facts.stride, indexing.map().ranges().is_empty()) else {
            return;
        };
        let wide = |it: &usize| from.extents[*it] > 1;
        let Some(fastest) = from.major_to_minor().into_iter().rev().find(wide) else {
            return;
        };
        found += 1;
        for (index, read) in &pairs {
            let mut next = index.clone();
            next[fastest] += 1;
            let behind = pairs.iter().filter(|it| it.0 == next);
            for (_, other) in behind {
                let apart = position(&to, other) - position(&to, read);
                assert_eq!(
                    apart,
                    stride,
                    "{}\n{}",
                    program.lines.join("\n"),
                    indexing.map()
                );
            }
        }
    });
    assert!(found > 150, "{found}");
}

/// The place of an element in memory.
fn position(shape: &ArrayShape, index: &[i64]) -> i64 {
    let order = shape.major_to_minor().into_iter();
    order.fold(0, |place, it| place * shape.extents[it] + index[it])
}

#[test]
fn shares_are_those_that_enumeration_finds() {
    let mut found = 0;
    each_map(|program, maps, input, _, _| {
        let known = &maps.output_to_input[0][input];
        let maps_of_input = known.as_ref().expect("known maps");
        let is_plain = |it: &crate::operation::PartMap| it.indexing.map().runtimes().is_empty();
        if !maps_of_input.iter().all(is_plain) {
            return;
        }
        let share = utilization(&maps.inputs[input].shape, &[known]).expect("numbers");
        let mut read = BTreeSet::new();
        for it in maps_of_input {
            read.extend(pairs(&it.indexing, &|_, _| 0).into_iter().map(|it| it.1));
        }
        let all = program.tensors[program.parameters[input]].cells.len();
        let expected = read.len() as f64 / all as f64;
        assert_eq!(share, Some(expected), "{}", program.lines.join("\n"));
        found += 1;
    });
    assert!(found > 500, "{found}");
}

const GATHER: &str = "\
x = f32[64,32] parameter(0)
rows = s32[100,1] parameter(1)
ROOT g = f32[100,32] gather(x, rows), offset_dims={1}, collapsed_slice_dims={0},
  start_index_map={0}, index_vector_dim=1, slice_sizes={1,32}";

/// Rows from anywhere: a tile of one row is a box, one of several is not.
#[test]
fn what_depends_on_values_is_not_claimed() {
    let maps = root(GATHER);
    let known = &maps.output_to_input[0][0];
    let indexing = &known.as_ref().expect("known maps")[0].indexing;
    let extents = [100, 32];
    assert_eq!(tile(indexing, &extents, &[2, 32]), Ok(None));
    let row = tile(indexing, &extents, &[1, 32])
        .expect("numbers")
        .expect("a box");
    assert_eq!((row.sizes, row.strides), (vec![1, 32], vec![1, 1]));
    let offsets: Vec<_> = row.offsets.iter().map(ToString::to_string).collect();
    assert_eq!(offsets, ["rt0", "d1"]);
    assert_eq!(utilization(&maps.inputs[0].shape, &[known]), Ok(None));
}

/// The box of a dynamic slice has the same size wherever it is.
#[test]
fn a_slice_at_an_unknown_place_has_a_known_size() {
    let maps = root(
        "x = f32[64,32] parameter(0)\ni = s32[] parameter(1)\nROOT s = f32[8,32] dynamic-slice(x, i, i), dynamic_slice_sizes={8,32}",
    );
    let known = &maps.output_to_input[0][0];
    assert_eq!(
        utilization(&maps.inputs[0].shape, &[known]),
        Ok(Some(0.125))
    );
}

/// The tile of the only map to the first operand.
#[track_caller]
fn tile_of(text: &str, sizes: &[i64]) -> Option<Tile> {
    let maps = root(text);
    let known = maps.output_to_input[0][0].as_ref().expect("known maps");
    tile(&known[0].indexing, &maps.outputs()[0].extents, sizes).expect("numbers")
}

#[track_caller]
fn reads(text: &str, sizes: &[i64], offsets: &[&str], box_: &[i64], strides: &[i64]) {
    let tile = tile_of(text, sizes).unwrap_or_else(|| panic!("{text} {sizes:?}"));
    let found: Vec<_> = tile.offsets.iter().map(ToString::to_string).collect();
    assert_eq!(found, offsets, "{text} {sizes:?}");
    let found = (tile.sizes.as_slice(), tile.strides.as_slice());
    assert_eq!(found, (box_, strides), "{text} {sizes:?}");
    assert!(tile.is_whole, "{text} {sizes:?}");
}

#[test]
fn tiles_of_slices_reshapes_and_padding() {
    let slice = "p = f32[10,20,50] parameter(0)\ns = f32[5,3,25] slice(p), slice={[5:10:1], [3:20:7], [0:50:2]}";
    let offsets = ["d0 + 5", "d1 * 7 + 3", "d2 * 2"];
    reads(slice, &[2, 1, 5], &offsets, &[2, 1, 5], &[1, 1, 2]);
    reads(slice, &[1, 1, 1], &offsets, &[1, 1, 1], &[1, 1, 1]);
    let expand = "p = f32[32] parameter(0)\nr = f32[4,8] reshape(p)";
    reads(expand, &[1, 4], &["d0 * 8 + d1"], &[4], &[1]);
    reads(expand, &[2, 8], &["d0 * 8 + d1"], &[16], &[1]);
    reads(expand, &[4, 1], &["d0 * 8 + d1"], &[4], &[8]);
    assert_eq!(tile_of(expand, &[2, 4]), None);
    // One element is read from one place, wherever that is.
    let collapse = "p = f32[4,8] parameter(0)\nr = f32[32] reshape(p)";
    reads(
        collapse,
        &[1],
        &["d0 floordiv 8", "d0 mod 8"],
        &[1, 1],
        &[1, 1],
    );
    let inner =
        "p = f32[10] parameter(0)\nv = f32[] parameter(1)\nr = f32[28] pad(p, v), padding=0_0_2";
    reads(inner, &[28], &["d0 floordiv 3"], &[10], &[1]);
    assert_eq!(tile_of(inner, &[7]), None);
    let around = "p = f32[4,4] parameter(0)\nv = f32[] parameter(1)\nr = f32[12,16] pad(p, v), padding=1_4_1x4_8_0";
    reads(around, &[12, 16], &["0", "0"], &[4, 4], &[1, 1]);
}

const ELEMENTS: &str = "\
x = f32[1000] parameter(0)
i = s32[100,1] parameter(1)
ROOT g = f32[100] gather(x, i), offset_dims={}, collapsed_slice_dims={0},
  start_index_map={0}, index_vector_dim=1, slice_sizes={1}";

/// A scatter at one index, which can be outside of the array: then no update is read.
const ONE_PLACE: &str = "\
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[100,8] parameter(0)
  i = s32[1] parameter(1)
  u = f32[8] parameter(2)
  ROOT s = f32[100,8] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add
}";

#[test]
fn what_is_read_by_values_varies_with_them() {
    let facts = |text: &str, input: usize| {
        let maps = root(text);
        let known = maps.output_to_input[0][input].as_ref().expect("known maps");
        let to = maps.inputs[input].shape.leaves()[0].clone();
        let facts = coalescing(&known[0].indexing, maps.outputs()[0], &to);
        let share = utilization(
            &maps.inputs[input].shape,
            &[&maps.output_to_input[0][input]],
        );
        let facts = facts.expect("numbers");
        (facts.fastest, facts.stride, share.expect("numbers"))
    };
    assert_eq!(facts(ELEMENTS, 0), (vec![0], None, None));
    assert_eq!(facts(ELEMENTS, 1), (vec![0], Some(1), Some(1.0)));
    // Rows of a gather are read in order, wherever they are.
    assert_eq!(facts(GATHER, 0), (vec![1], Some(1), None));
    assert_eq!(facts(ONE_PLACE, 2), (vec![0], Some(1), None));
    // Where there is padding between elements, no two neighbours read any.
    let inner =
        "p = f32[10] parameter(0)\nv = f32[] parameter(1)\nr = f32[28] pad(p, v), padding=0_0_2";
    assert_eq!(facts(inner, 0), (vec![0], None, Some(1.0)));
}
