//! Operations and texts that the random computations do not make, and places where other
//! implementations are known to be wrong.

use super::{Pairs, indices, module, pairs, root, texts};
use crate::indexing::{IndexExpr, Variable, VariableKind};
use crate::operation::{Analysis, Value};

/// The only map to (or from) an operand.
#[track_caller]
fn only(known: &crate::operation::KnownMaps) -> String {
    let mut texts = texts(known);
    assert_eq!(texts.len(), 1, "{texts:?}");
    texts.remove(0)
}

#[test]
fn a_computation_of_the_compiler_reads_as_it_is_printed() {
    let maps = root(
        r#"HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[4,8]{1,0})->f32[4]{0}}, frontend_attributes={a="b"}

%region_0.3 (Arg_0.4: f32[], Arg_1.5: f32[]) -> f32[] {
  %Arg_1.5 = f32[] parameter(1), metadata={op_name="jit(f)/reduce"}
  %Arg_0.4 = f32[] parameter(0)
  ROOT %add.6 = f32[] add(f32[] %Arg_0.4, f32[] %Arg_1.5), metadata={op_name="a b" source_line=3}
}

%fused (p.1: f32[4,8], p.2: (f32[2], s32[])) -> f32[4] {
  %p.2 = (f32[2]{0}, s32[]) parameter(1)
  %p.1 = f32[4,8]{1,0:T(8,128)S(1)} parameter(0), sharding={devices=[2,1]<=[2]}
  %zero = f32[] constant(0) /*index=5*/
  %unused = f32[2,2] constant({ { 1.5, 2e-05 }, { -inf, nan } })
  ROOT %reduce.7 = f32[4]{0} reduce(%p.1, %zero), dimensions={1}, to_apply=%region_0.3, backend_config={"queues":[],"b":false}
}

ENTRY %main.10 (Arg_0.1: f32[4,8]) -> f32[4] {
  %Arg_0.1 = f32[4,8]{1,0} parameter(0)
  %k = f32[2] constant({1,2})
  %n = s32[] constant(7)
  %t = (f32[2]{0}, s32[]) tuple(%k, %n)
  ROOT %fusion = f32[4]{0} fusion(%Arg_0.1, %t), kind=kInput, calls=%fused // the end
}"#,
    );
    assert_eq!(
        only(&maps.output_to_input[0][0]),
        "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]"
    );
    assert_eq!(texts(&maps.output_to_input[0][1]), [""; 0]);
}

#[test]
fn without_an_entry_the_last_computation_that_none_uses_is_meant() {
    let body = "main {\n x = f32[4] parameter(0)\n c = f32[] constant(0)\n r = f32[] reduce(x, c), dimensions={0}, to_apply=sum\n}";
    let sum = "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n s = f32[] add(a, b)\n}";
    for text in [format!("{body}\n{sum}"), format!("{sum}\n{body}")] {
        assert_eq!(root(&text).name, "r");
    }
}

#[test]
fn tuples_are_taken_apart_through_fusions() {
    let maps = root(
        "f {
  a = f32[2,3] parameter(0)
  t = f32[3,2] transpose(a), dimensions={1,0}
  n = f32[2,3] negate(a)
  ROOT both = (f32[3,2], f32[2,3]) tuple(t, n)
}
ENTRY e {
  a = f32[2,3] parameter(0)
  fusion = (f32[3,2], f32[2,3]) fusion(a), kind=kLoop, calls=f
  barrier = (f32[3,2], f32[2,3]) optimization-barrier(fusion)
  first = f32[3,2] get-tuple-element(barrier), index=0
  ROOT again = f32[2,3] transpose(first), dimensions={1,0}
}",
    );
    let domain = "domain: d0 in [0, 1], d1 in [0, 2]";
    assert_eq!(
        only(&maps.output_to_input[0][0]),
        format!("(d0, d1) -> (d1, d0), {domain}")
    );
    let module = module(
        "a = f32[2] parameter(0)\nb = s32[3] parameter(1)\nt = tuple(a, b)\nu = tuple(t, a)\ng = get-tuple-element(u), index=1\nh = get-tuple-element(u), index=0\nROOT i = get-tuple-element(h), index=1",
    );
    let through = Analysis::new(&module).of_computation(0).expect("maps");
    assert_eq!(texts(&through.output_to_input[0][0]), [""; 0]);
    assert_eq!(
        only(&through.output_to_input[0][1]),
        "(d0) -> (d0), domain: d0 in [0, 2]"
    );
}

#[test]
fn single_values_go_with_all_elements() {
    let maps = root(
        "low = f32[] parameter(0)\nx = f32[4] parameter(1)\nhigh = f32[4] parameter(2)\nROOT c = f32[4] clamp(low, x, high)",
    );
    assert_eq!(
        only(&maps.output_to_input[0][0]),
        "(d0) -> (), domain: d0 in [0, 3]"
    );
    assert_eq!(
        only(&maps.output_to_input[0][2]),
        "(d0) -> (d0), domain: d0 in [0, 3]"
    );
    assert_eq!(
        only(&maps.input_to_output[0][0]),
        "()[s0] -> (s0), domain: s0 in [0, 3]"
    );
    let maps =
        root("p = pred[] parameter(0)\nx = f32[4] parameter(1)\nROOT s = f32[4] select(p, x, x)");
    let known = maps.output_to_input[0][1].as_ref().expect("known maps");
    assert!(!known[0].indexing.is_exact());
}

#[test]
fn sorted_elements_come_from_anywhere_along_the_dimension() {
    let maps = root(
        "k = f32[3,5] parameter(0)\nv = s32[3,5] parameter(1)\nROOT s = (f32[3,5], s32[3,5]) sort(k, v), dimensions={1}, to_apply=compare",
    );
    for output in &maps.output_to_input {
        for known in output {
            let domain = "domain: d0 in [0, 2], d1 in [0, 4], s0 in [0, 4]";
            assert_eq!(only(known), format!("(d0, d1)[s0] -> (d0, s0), {domain}"));
        }
    }
}

#[test]
fn the_parts_of_a_wider_element_are_a_dimension() {
    let maps = root("x = u8[3,4] parameter(0)\nROOT b = u32[3] bitcast-convert(x)");
    assert_eq!(
        only(&maps.output_to_input[0][0]),
        "(d0)[s0] -> (d0, s0), domain: d0 in [0, 2], s0 in [0, 3]"
    );
    let maps = root("x = u32[3] parameter(0)\nROOT b = u8[3,4] bitcast-convert(x)");
    assert_eq!(
        only(&maps.output_to_input[0][0]),
        "(d0, d1) -> (d0), domain: d0 in [0, 2], d1 in [0, 3]"
    );
}

#[test]
fn arrays_without_elements_have_no_maps() {
    let maps = root(
        "x = f32[0,4] parameter(0)\ny = f32[2,4] parameter(1)\nROOT c = f32[2,4] concatenate(x, y), dimensions={0}",
    );
    assert_eq!(texts(&maps.output_to_input[0][0]), [""; 0]);
    assert_eq!(
        only(&maps.output_to_input[0][1]),
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 3]"
    );
}

/// What a gather with batching dimensions reads, element by element.
#[test]
fn dimensions_of_a_batch_are_counted_together() {
    let maps = root(
        "x = f32[3,5] parameter(0)\ni = s32[3,2,1] parameter(1)\nROOT g = f32[3,2] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1}",
    );
    let value = |_: Value, at: &[i64]| at[0] * 7 + at[1] * 3 - 4;
    let known = maps.output_to_input[0][0].as_ref().expect("known maps");
    let expected: Pairs = indices(&[3, 2])
        .into_iter()
        .map(|at| {
            let position = (at[0] * 7 + at[1] * 3 - 4).clamp(0, 4);
            let read = vec![at[0], position];
            (at, read)
        })
        .collect();
    assert_eq!(pairs(&known[0].indexing, &value), expected);
    let forward = maps.input_to_output[0][0].as_ref().expect("known maps");
    let turned: Pairs = expected.into_iter().map(|(from, to)| (to, from)).collect();
    assert_eq!(pairs(&forward[0].indexing, &value), turned);
}

#[test]
fn dimensions_of_a_scattered_batch_are_counted_together() {
    let maps = root(
        "x = f32[3,5] parameter(0)\ni = s32[3,2,1] parameter(1)\nu = f32[3,2] parameter(2)\nROOT s = f32[3,5] scatter(x, i, u), update_window_dims={}, inserted_window_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, scatter_dims_to_operand_dims={1}, index_vector_dim=2, to_apply=add",
    );
    let place = |at: &[i64]| at[0] * 2 + at[1] * 3 - 1;
    let value = |_: Value, at: &[i64]| place(at);
    let inside = indices(&[3, 2])
        .into_iter()
        .filter(|at| (0..5).contains(&place(at)));
    let expected: Pairs = inside.map(|at| (vec![at[0], place(&at)], at)).collect();
    assert!(expected.len() > 3);
    let known = maps.output_to_input[0][2].as_ref().expect("known maps");
    assert_eq!(pairs(&known[0].indexing, &value), expected);
}

/// Elsewhere the map goes over all groups.
#[test]
fn a_convolution_in_groups_of_the_batch_reads_its_own_group() {
    let maps = root(
        "x = f32[6,4] parameter(0)\nw = f32[4,9] parameter(1)\nROOT c = f32[2,9] convolution(x, w), dim_labels=bf_io->bf, batch_group_count=3",
    );
    assert_eq!(
        only(&maps.output_to_input[0][0]),
        "(d0, d1)[s0] -> (d0 + (d1 floordiv 3) * 2, s0), domain: d0 in [0, 1], d1 in [0, 8], s0 in [0, 3]"
    );
    assert_eq!(
        only(&maps.input_to_output[0][0]),
        "(d0, d1)[s0] -> (d0 mod 2, s0 + (d0 floordiv 2) * 3), domain: d0 in [0, 5], d1 in [0, 3], s0 in [0, 2]"
    );
}

/// Elsewhere a constant start outside of the range stays a variable.
#[test]
fn a_constant_start_is_moved_into_the_array() {
    for (start, read) in [(-7, "d0"), (2, "d0 + 2"), (100, "d0 + 6")] {
        let maps = root(&format!(
            "x = f32[10] parameter(0)\ni = s32[] constant({start})\nROOT s = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={{4}}"
        ));
        assert_eq!(
            only(&maps.output_to_input[0][0]),
            format!("(d0) -> ({read}), domain: d0 in [0, 3]")
        );
    }
}

/// Elsewhere the bounds of one start stand at the other.
#[test]
fn a_slice_of_a_slice_has_each_start_with_its_bounds() {
    let maps = root(
        "f {
  x = f32[100] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  outer = f32[20] dynamic-slice(x, i), dynamic_slice_sizes={20}
  ROOT inner = f32[5] dynamic-slice(outer, j), dynamic_slice_sizes={5}
}",
    );
    let known = &maps.output_to_input[0][0].as_ref().expect("known maps")[0].indexing;
    let read: Vec<_> = known
        .map()
        .runtimes()
        .iter()
        .zip(known.runtime())
        .map(|(it, source)| {
            (
                source.value.instruction,
                it.bounds.high,
                source.clamp.map(|it| it.high),
            )
        })
        .collect();
    let mut sorted = read.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [(1, 80, Some(80)), (2, 15, Some(15))]);
}

/// Elsewhere the starts come out rotated when an update is followed through a fusion.
#[test]
fn starts_of_an_update_stay_with_their_dimensions() {
    let maps = root(
        "f {
  x = f32[9,11,13] parameter(0)
  u = f32[2,3,4] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  k = s32[] parameter(4)
  n = f32[2,3,4] negate(u)
  d = f32[9,11,13] dynamic-update-slice(x, n, i, j, k)
  ROOT t = f32[13,9,11] transpose(d), dimensions={2,0,1}
}",
    );
    let known = &maps.output_to_input[0][1].as_ref().expect("known maps")[0].indexing;
    let map = known.map();
    assert_eq!(
        map.results()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["d1 - rt0", "d2 - rt1", "d0 - rt2"]
    );
    let sources: Vec<_> = known
        .runtime()
        .iter()
        .map(|it| it.value.instruction)
        .collect();
    assert_eq!(sources, [2, 3, 4]);
    let highest: Vec<_> = map.runtimes().iter().map(|it| it.bounds.high).collect();
    assert_eq!(highest, [7, 8, 9]);
}

/// Where there is no padding its value is never read; where there may be, every element is said to
/// read it perhaps.
#[test]
fn the_value_of_padding_is_read_where_there_is_some() {
    let head = "x = f32[4] parameter(0)\nv = f32[] parameter(1)\nROOT p = ";
    let maps = root(&format!("{head}f32[3] pad(x, v), padding=-1_0"));
    assert_eq!(
        only(&maps.output_to_input[0][0]),
        "(d0) -> (d0 + 1), domain: d0 in [0, 2]"
    );
    assert_eq!(texts(&maps.output_to_input[0][1]), [""; 0]);
    let maps = root(&format!("{head}f32[6] pad(x, v), padding=-1_0_1"));
    assert_eq!(
        only(&maps.output_to_input[0][0]),
        "(d0) -> (d0 ceildiv 2), domain: d0 in [1, 5], (d0 - 1) mod 2 in [0, 0]"
    );
    let known = maps.output_to_input[0][1].as_ref().expect("known maps");
    assert!(!known[0].indexing.is_exact());
}

/// A position that counts is known without a table.
#[test]
fn positions_that_count_are_put_into_the_map() {
    let maps = root(
        "f {
  x = f32[10,3] parameter(0)
  i = s32[4] iota(), iota_dimension=0
  two = s32[] constant(2)
  twos = s32[4] broadcast(two), dimensions={}
  rows = s32[4,1] reshape(i)
  ROOT g = f32[4,3] gather(x, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
}",
    );
    assert_eq!(
        only(&maps.output_to_input[0][0]),
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 2]"
    );
}

/// A constant index that fits is no variable any more; one that does not fit updates nothing.
#[test]
fn known_indices_of_a_scatter_leave_no_variable() {
    for (index, expected) in [
        (
            3,
            vec!["(d0)[s0] -> (s0), domain: d0 in [3, 3], s0 in [0, 1]".to_owned()],
        ),
        (9, vec![]),
    ] {
        let maps = root(&format!(
            "x = f32[8] parameter(0)\ni = s32[2] constant({{{index}, {index}}})\nu = f32[2] parameter(1)\nROOT s = f32[8] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add"
        ));
        assert_eq!(texts(&maps.output_to_input[0][2]), expected);
    }
}

#[test]
fn a_kernel_is_not_read_where_it_meets_padding_alone() {
    let maps = root(
        "x = f32[1,1,1] parameter(0)\nw = f32[1,1,3] parameter(1)\nROOT c = f32[1,1,1] convolution(x, w), dim_labels=bf0_io0->bf0, window={size=3 pad=1_1}",
    );
    assert_eq!(
        only(&maps.output_to_input[0][1]),
        "(d0, d1, d2) -> (0, d1, 1), domain: d0 in [0, 0], d1 in [0, 0], d2 in [0, 0]"
    );
    let read = crate::operation::utilization(&maps.inputs[1].shape, &[&maps.output_to_input[0][1]]);
    assert_eq!(read, Ok(Some(1.0 / 3.0)));
}

#[test]
fn maps_whose_ranges_count_from_elsewhere_are_one() {
    let sum = "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n s = f32[] add(a, b)\n}";
    for (extent, expected) in [
        (
            8,
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]",
        ),
        (1, "(d0) -> (d0, 0), domain: d0 in [0, 3]"),
    ] {
        let twice = 2 * extent;
        let maps = root(&format!(
            "{sum}\nf {{\n p = f32[4,{extent}] parameter(0)\n both = f32[4,{twice}] concatenate(p, p), dimensions={{1}}\n zero = f32[] constant(0)\n ROOT r = f32[4] reduce(both, zero), dimensions={{1}}, to_apply=sum\n}}"
        ));
        assert_eq!(only(&maps.output_to_input[0][0]), expected);
    }
    // Not the same: each half of the sum reads other elements.
    let maps = root(&format!(
        "{sum}\nf {{\n p = f32[4,8] parameter(0)\n left = f32[4,4] slice(p), slice={{[0:4],[0:4]}}\n right = f32[4,4] slice(p), slice={{[0:4],[4:8]}}\n both = f32[4,8] concatenate(right, left), dimensions={{1}}\n zero = f32[] constant(0)\n ROOT r = f32[4] reduce(both, zero), dimensions={{1}}, to_apply=sum\n}}"
    ));
    assert_eq!(texts(&maps.output_to_input[0][0]).len(), 2);
}

#[test]
fn what_newer_compilers_print_is_read() {
    let maps = root(
        r#"HloModule jit_f, is_scheduled=true

FileNames
1 "/home/me/f.py"
2 "g.py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=5 end_column=10}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY %main (x: f32[<=4,8]) -> f32[<=4,8] {
  %x = f32[<=4,8]{1,0} parameter(0), metadata={op_name="x" stack_frame_id=1}
  %one = c64[] constant((1, 2.5))
  %two = c64[2] constant({(1, 2), (-inf, nan)})
  ROOT %s = f32[<=4,8]{1,0} sinh(%x)
}"#,
    );
    assert_eq!(
        only(&maps.output_to_input[0][0]),
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]"
    );
    let scan = root(
        "x = f32[8] parameter(0)\ni = f32[] parameter(1)\nROOT s = f32[8] scan(x, i), dimensions={0}, to_apply=add",
    );
    assert_eq!(scan.output_to_input, [[None, None]]);
}

#[test]
fn the_greatest_elements_come_from_anywhere_along_the_last_dimension() {
    let maps =
        root("x = f32[3,9] parameter(0)\nROOT t = (f32[3,2], s32[3,2]) topk(x), k=2, largest=true");
    for output in 0..2 {
        assert_eq!(
            only(&maps.output_to_input[output][0]),
            "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 2], d1 in [0, 1], s0 in [0, 8]"
        );
    }
    assert_eq!(
        only(&maps.input_to_output[0][1]),
        "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 2], d1 in [0, 8], s0 in [0, 1]"
    );
    let too_many = "x = f32[3,9] parameter(0)\nROOT t = (f32[3,2], s32[3,2]) topk(x), k=10";
    let errors = crate::operation::Module::parse(too_many).expect_err("there are nine");
    assert_eq!(
        errors[0].to_string(),
        "10 cannot stand here: the last dimension has 9 positions"
    );
}

/// Both calls compute a start of their own, under one name.
#[test]
fn what_two_calls_of_one_computation_compute_are_two_values() {
    let text = |second: &str| {
        format!(
            "f {{
  p0 = f32[100] parameter(0)
  k = s32[] parameter(1)
  j = s32[] add(k, k)
  ROOT s = f32[10] dynamic-slice(p0, j), dynamic_slice_sizes={{10}}
}}
g {{
  x = f32[100] parameter(0)
  a = s32[] parameter(1)
  j = s32[] parameter(2)
  u = f32[10] fusion(x, a), kind=kLoop, calls=f
  {second}
  ROOT sum = f32[10] add(u, v)
}}"
        )
    };
    let called = module(&text("v = f32[10] fusion(x, j), kind=kLoop, calls=f"));
    let maps = Analysis::new(&called).root().expect("maps");
    let known = maps.output_to_input[0][0].as_ref().expect("known maps");
    let sources = known.iter().flat_map(|it| it.indexing.runtime());
    let mut names: Vec<_> = sources.map(|it| called.name_of(&it.value)).collect();
    names.sort_unstable();
    assert_eq!(names, ["u/j", "v/j"]);
    // A parameter is what the caller passes.
    let own = module(&text(
        "v = f32[10] dynamic-slice(x, j), dynamic_slice_sizes={10}",
    ));
    let maps = Analysis::new(&own).root().expect("maps");
    let known = maps.output_to_input[0][0].as_ref().expect("known maps");
    let sources = known.iter().flat_map(|it| it.indexing.runtime());
    let mut names: Vec<_> = sources.map(|it| own.name_of(&it.value)).collect();
    names.sort_unstable();
    assert_eq!(names, ["j", "u/j"]);
}

#[test]
fn dimensions_of_one_value_do_not_tell_maps_apart() {
    let maps = root(
        "f {
  p = f32[1,4,1] parameter(0)
  t = f32[1,4,1] transpose(p), dimensions={2,1,0}
  r = f32[1,4,1] reverse(p), dimensions={0}
  s = f32[1,4,1] add(t, r)
  ROOT sum = f32[1,4,1] add(s, p)
}",
    );
    assert_eq!(maps.output_to_input[0][0].as_ref().map(Vec::len), Some(1));
    assert_eq!(maps.input_to_output[0][0].as_ref().map(Vec::len), Some(1));
}

/// Whoever reads the value of a runtime variable does not know it yet.
#[test]
fn the_place_of_a_runtime_variable_is_said_without_its_value() {
    let text = "\
f {
  x = s32[6,5] parameter(0)
  i = s32[3,2] parameter(1)
  g = s32[1,3,2] gather(x, i), offset_dims={0,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,2}
  j = s32[2,2] parameter(2)
  ROOT h = s32[2,1] gather(g, j), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={1,0}, index_vector_dim=1, slice_sizes={1,1,1}, operand_batching_dims={2}, start_indices_batching_dims={0}
}";
    let maps = root(text);
    let known = maps.input_to_output.iter().chain(&maps.output_to_input);
    let known = known.flatten().flatten().flatten();
    let mut found = 0;
    for it in known {
        for (position, source) in it.indexing.runtime().iter().enumerate() {
            found += 1;
            let own = Variable::new(VariableKind::Runtime, position);
            let is_said = |it: &IndexExpr| it.mentions(own);
            let constraints = source.map.constraints().iter();
            assert!(!source.map.results().iter().any(is_said), "{}", source.map);
            assert!(
                !constraints.map(|it| &it.expr).any(is_said),
                "{}",
                source.map
            );
        }
    }
    assert!(found > 4, "{found}");
}
