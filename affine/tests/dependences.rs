//! Dependences of kernels that are written down, beside those that random nests are held against.

use strew_affine::dependence::{Analyzed, Instance, Parallelism, Site};
use strew_affine::sets::{Row, Unknown};
use strew_affine::{IterId, Kernel, text};

fn kernel(text: &str) -> Kernel {
    let mut kernels = text::parse(text).expect("a kernel");
    kernels.pop().expect("one kernel")
}

/// A kernel with this body, and arrays of all kinds.
fn with_body(body: &str) -> Kernel {
    kernel(&format!(
        "kernel @k(n: i64, m: i64, seg: i32[n], row: i64[n + 1], x: f64[n], y: f64[n], z: f64[n, n], out: f64[m]) {{\n{body}\n}}"
    ))
}

/// Each dependence between arrays and mutable scalars as `flow x (1) must`.
fn dependences(kernel: &Kernel) -> Vec<String> {
    let analyzed = Analyzed::new(kernel);
    let found = analyzed.dependences().into_iter().map(|it| {
        let target = analyzed.sites()[it.source].target.name(kernel).to_owned();
        let mut text = format!("{} {target} {}", it.kind, it.vector_text());
        text += if it.is_must() { " must" } else { " may" };
        if it.is_reduction {
            text += " reduction";
        }
        for array in &it.unless_monotone {
            text += &format!(" unless {} never falls", kernel.arrays[*array].name);
        }
        text
    });
    found.collect()
}

#[track_caller]
fn depends(body: &str, expected: &[&str]) {
    let mut found = dependences(&with_body(body));
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected, "{body}");
}

/// Each loop with what it allows.
fn verdicts(kernel: &Kernel) -> Vec<String> {
    let analyzed = Analyzed::new(kernel);
    let dependences = analyzed.dependences();
    let verdicts = analyzed.verdicts(&dependences).into_iter().map(|it| {
        let name = it
            .level
            .iter()
            .map_or("while", |iter| &kernel.iters[iter].name);
        let what = match it.parallelism {
            Parallelism::Yes => "parallel".to_owned(),
            Parallelism::Marks(_) | Parallelism::MarksIf(_) => "parallel by marks".to_owned(),
            Parallelism::Reduction(targets) => {
                let names: Vec<&str> = targets.iter().map(|it| it.name(kernel)).collect();
                format!("reduction over {}", names.join(", "))
            }
            Parallelism::Tickets(_) => "parallel in parts".to_owned(),
            Parallelism::IfMonotone(_) => "parallel if monotone".to_owned(),
            Parallelism::No(because) => format!("no: {}", dependences[because].vector_text()),
        };
        format!("{name} {what}")
    });
    verdicts.collect()
}

#[test]
fn constant_distances_are_found() {
    depends(
        "affine.for i in 2..n { x[i] = x[i - 2] }",
        &["flow x (2) must"],
    );
    depends(
        "affine.for i in 0..n - 2 { x[i] = x[i + 2] }",
        &["anti x (2) must"],
    );
    depends(
        "affine.for i in 0..n { x[i] = x[i] + 1.0 }",
        &["anti x (0) must"],
    );
    depends(
        "affine.for i in 1..n { affine.for j in 1..n { z[i, j] = z[i - 1, j] + z[i, j - 1] } }",
        &["flow z (0, 1) must", "flow z (1, 0) must"],
    );
}

#[test]
fn greatest_common_divisors_and_bounds_keep_accesses_apart() {
    depends("affine.for i in 0..n { x[2 * i] = x[2 * i + 1] }", &[]);
    depends("affine.for i in 0..10 { x[i] = x[i + 10] }", &[]);
    depends("affine.for i in 0..n step 2 { x[i] = x[i + 3] }", &[]);
    depends(
        "affine.for i in 0..n { affine.if (i < 5) { x[i] = 1.0 } else { y[i] = x[i] } }",
        &[],
    );
}

#[test]
fn coupled_subscripts_and_triangles_are_exact() {
    depends(
        "affine.for i in 0..n { affine.for j in 0..i { z[i, j] = z[j, i] } }",
        &[],
    );
    depends(
        "affine.for i in 0..n { affine.for j in 0..n { z[i, j] = z[j, i] } }",
        &[
            "anti z (0, 0) must",
            "anti z (<, >) must",
            "flow z (<, >) must",
        ],
    );
}

/// A sum of ones in these loops.
fn sum_in(loops: &[String]) -> String {
    let begin = loops.iter().map(|it| format!("affine.for {it} {{ "));
    let end = loops.iter().map(|_| " }");
    let begin: String = begin.collect();
    format!("{begin}out[i] reduce(add) 1.0{}", end.collect::<String>())
}

/// Each of them has three signs: twelve such loops would have half a million vectors.
#[test]
fn loops_that_nothing_ties_to_others_have_all_signs_together() {
    let sum = |inner: &[&str]| {
        let loops = ["i in 0..n", "j in 0..n"].iter().chain(inner);
        sum_in(&loops.map(|it| (*it).to_owned()).collect::<Vec<_>>())
    };
    let any = [
        "output out (0, 0, <) must reduction",
        "output out (0, <, *) must reduction",
    ];
    depends(&sum(&["k in 0..n"]), &any);
    depends(&sum(&["k in 0..j"]), &any);
    depends(
        &sum(&["k in 0..1"]),
        &["output out (0, <, 0) must reduction"],
    );
    depends(
        &sum(&["k in 0..n", "l in k..k + 1"]),
        &[
            "output out (0, 0, <, <) must reduction",
            "output out (0, <, 0, 0) must reduction",
            "output out (0, <, <, <) must reduction",
            "output out (0, <, >, >) must reduction",
        ],
    );
    let deep = ["i in 0..n".to_owned()].into_iter();
    let deep = deep.chain((1..14).map(|it| format!("l{it} in 0..n")));
    let found = dependences(&with_body(&sum_in(&deep.collect::<Vec<_>>())));
    assert_eq!(found.len(), 13);
    assert!(found.iter().all(|it| it.ends_with(" must reduction")));
}

#[test]
fn updates_are_marked() {
    depends(
        "affine.for i in 0..n { out[0] reduce(add) x[i] }",
        &["output out (<) must reduction"],
    );
    depends(
        "affine.for i in 0..n { out[0] reduce(add) x[i] out[1] = out[0] }",
        &[
            "output out (<) must reduction",
            "flow out (0) must",
            "flow out (<) must",
            "anti out (<) must",
            "output out (<) must",
        ],
    );
}

#[test]
fn indirect_accesses_may_meet_and_the_same_one_does_not_meet_itself() {
    depends(
        "affine.for i in 0..n { out[seg[i]] reduce(add) x[i] }",
        &["output out (<) may reduction"],
    );
    depends(
        "affine.for i in 0..n { out[seg[i]] = out[seg[i] + 1] }",
        &["anti out (<) may", "flow out (<) may", "output out (<) may"],
    );
    depends(
        "affine.for i in 0..n { y[i] = out[seg[i]] out[seg[i]] = x[i] }",
        &[
            "anti out (0) may",
            "anti out (<) may",
            "flow out (<) may",
            "output out (<) may",
        ],
    );
    depends(
        "affine.for i in 0..n { affine.for j in 0..n { out[seg[j]] = x[i] } }",
        &["output out (0, <) may", "output out (<, *) may"],
    );
}

#[test]
fn neighbouring_rows_are_apart_if_the_pointer_never_falls() {
    let body = "affine.for i in 0..n { scf.for p in row[i]..row[i + 1] { out[p] = x[i] } }";
    depends(body, &["output out (<, 0) may unless row never falls"]);
    assert_eq!(
        verdicts(&with_body(body)),
        ["i parallel if monotone", "p parallel"]
    );
    let several = "affine.for i in 0..n {
      scf.for p in row[i]..row[i + 1] { out[p] = x[i] }
      scf.for q in row[i]..row[i + 1] { out[q] = out[q] + 1.0 }
    }";
    assert_eq!(
        verdicts(&with_body(several)),
        ["i parallel if monotone", "p parallel", "q parallel"]
    );
    let of_neighbours = several.replace("q in row[i]..row[i + 1]", "q in row[i + 1]..row[i + 2]");
    assert!(verdicts(&with_body(&of_neighbours))[0].starts_with("i no: "));
}

#[test]
fn what_is_promised_to_be_disjoint_is_apart() {
    depends(
        "alloc met: u8[m]
         scf.forall i in 0..n disjoint(out: met) { out[seg[i]] = x[i] }",
        &[],
    );
}

#[test]
fn conditions_on_data_leave_it_open() {
    depends(
        "affine.for i in 1..n { scf.if y[i] < 0.0 { x[i] = x[i - 1] } }",
        &["flow x (1) may"],
    );
    depends(
        "affine.for i in 1..n { x[i] = y[i] < 0.0 ? x[i - 1] : 1.0 }",
        &["flow x (1) may"],
    );
    depends(
        "var k: i64 = 0 scf.while k < n { x[0] = 1.0 k = 3 }",
        &[
            "output x (<) may",
            "output k () may",
            "output k (<) may",
            "flow k () may",
            "flow k (<) may",
            "anti k (0) may",
            "anti k (<) may",
        ],
    );
}

#[test]
fn loops_have_verdicts() {
    let body = "affine.for i in 1..n {
      affine.for j in 0..n { z[i, j] = z[i - 1, j] }
      affine.for j2 in 0..n { out[0] reduce(add) z[i, j2] }
      affine.for j3 in 1..n { x[j3] = x[j3 - 1] }
    }";
    assert_eq!(
        verdicts(&with_body(body)),
        [
            "i no: (1, 0)",
            "j parallel",
            "j2 reduction over out",
            "j3 no: (0, 1)"
        ]
    );
}

#[test]
fn scalars_that_are_set_before_they_are_read_do_not_tie_iterations() {
    let private = "var t: f64 = 0.0 affine.for i in 0..n { t = x[i] y[i] = t * t }";
    assert_eq!(verdicts(&with_body(private)), ["i parallel"]);
    let carried = "var t: f64 = 0.0 affine.for i in 0..n { y[i] = t t = x[i] }";
    assert_eq!(verdicts(&with_body(carried)), ["i no: (<)"]);
    let left = "var t: f64 = 0.0 affine.for i in 0..n { t = x[i] y[i] = t } out[0] = t";
    assert_eq!(verdicts(&with_body(left)), ["i no: (<)"]);
    let inside = "affine.for i in 0..n { var t: f64 = x[i] t = t * 2.0 y[i] = t }";
    assert_eq!(verdicts(&with_body(inside)), ["i parallel"]);
    let allocated = "affine.for i in 0..n { alloc t: f64[4] t[0] = x[i] y[i] = t[0] }";
    assert_eq!(verdicts(&with_body(allocated)), ["i parallel"]);
    let sum = "var t: f64 = 0.0 affine.for i in 0..n { t reduce(add) x[i] } out[0] = t";
    assert_eq!(verdicts(&with_body(sum)), ["i reduction over t"]);
}

fn iter(kernel: &Kernel, name: &str) -> IterId {
    let found = kernel.iters.iter().find(|(_, it)| it.name == name);
    found.expect("an iterator").0
}

/// What happens to the order when every access gets this time.
fn order(
    kernel: &Kernel,
    time: impl Fn(&mut Instance<'_, '_, '_>) -> Result<Vec<Row>, Unknown>,
) -> String {
    let all = |_: &Site<'_>, _: &Site<'_>| true;
    match Analyzed::new(kernel).order(all, time) {
        None => "kept".to_owned(),
        Some(reversal) => match reversal.witness {
            Some(witness) => {
                let values =
                    |end: &[(String, i64)]| -> Vec<i64> { end.iter().map(|it| it.1).collect() };
                format!(
                    "{:?} before {:?}",
                    values(&witness.source),
                    values(&witness.sink)
                )
            }
            None => "unknown".to_owned(),
        },
    }
}

#[test]
fn other_orders_are_judged_by_their_times() {
    let nest = |body: &str| {
        with_body(&format!(
            "affine.for i in 1..n {{ affine.for j in 1..n - 1 {{ {body} }} }}"
        ))
    };
    let wavefront = nest("z[i, j] = z[i - 1, j + 1] + z[i, j - 1]");
    let (i, j) = (iter(&wavefront, "i"), iter(&wavefront, "j"));
    let of = |at: &Instance<'_, '_, '_>, it| at.iterator(it).unwrap_or_default();
    assert_eq!(
        order(&wavefront, |at| Ok(vec![of(at, i), of(at, j)])),
        "kept"
    );
    let interchanged = order(&wavefront, |at| Ok(vec![of(at, j), of(at, i)]));
    assert_eq!(interchanged, "[1, 2] before [2, 1]");
    let skewed = order(&wavefront, |at| {
        Ok(vec![of(at, j).plus(&of(at, i).scaled(2)?)?, of(at, i)])
    });
    assert_eq!(skewed, "kept");
    let reversed = order(&wavefront, |at| Ok(vec![of(at, i), of(at, j).scaled(-1)?]));
    assert_eq!(reversed, "[1, 1] before [1, 2]");
    let tiled = |at: &mut Instance<'_, '_, '_>, size| {
        let (i, j) = (of(at, i), of(at, j));
        let tiles = [at.quotient(&i, size)?, at.quotient(&j, size)?];
        Ok(tiles.into_iter().chain([i, j]).collect())
    };
    assert_eq!(order(&wavefront, |at| tiled(at, 2)), "[2, 2] before [3, 1]");
    let stencil = nest("z[i, j] = z[i - 1, j] + z[i, j - 1]");
    assert_eq!(order(&stencil, |at| tiled(at, 32)), "kept");
}

#[test]
fn fusion_is_the_same_leading_time() {
    let body = |second: &str| {
        with_body(&format!(
            "affine.for i in 1..n - 1 {{ x[i] = 1.0 }} affine.for j in 1..n - 1 {{ y[j] = {second} }}"
        ))
    };
    for (second, expected) in [
        ("x[j]", "kept"),
        ("x[j - 1]", "kept"),
        ("x[j + 1]", "[2] before [1]"),
    ] {
        let kernel = body(second);
        let (i, j) = (iter(&kernel, "i"), iter(&kernel, "j"));
        let fused = order(&kernel, |at| {
            Ok(vec![at.iterator(i).or(at.iterator(j)).unwrap_or_default()])
        });
        assert_eq!(fused, expected, "{second}");
    }
}

#[test]
fn flat_subscripts_with_symbolic_strides_are_compared_as_several() {
    let flat = |bound: &str, read: &str| {
        let text = format!(
            "kernel @k(n: i64, m: i64, a: f64[n * m]) {{
               affine.for i in 1..n {{ affine.for j in 0..{bound} {{ a[i * m + j] = a[{read}] + 1.0 }} }}
             }}"
        );
        dependences(&kernel(&text))
    };
    assert_eq!(flat("m", "i * m + j"), ["anti a (0, 0) must"]);
    assert_eq!(flat("m", "i * m - m + j"), ["flow a (1, 0) must"]);
    // Rows may overlap here, and nothing is dropped.
    let found = flat("n", "i * m + j");
    assert!(
        found.iter().any(|it| it.starts_with("output a (<, ")),
        "{found:?}"
    );
    assert!(found.contains(&"anti a (0, 0) may".to_owned()), "{found:?}");
    assert!(!found.iter().any(|it| it.contains("(0, <)")), "{found:?}");
}

#[test]
fn rows_of_a_collapsed_array_are_apart() {
    let over = |body: &str| {
        let head = "n: i64, m: i64, k: i64, a: f64[n, m, k], x: f64[k]";
        let views = "view rows = collapse(a, [[0, 1], [2]]) view flat = collapse(a, [[0, 1, 2]])";
        verdicts(&kernel(&format!("kernel @k({head}) {{ {views} {body} }}")))
    };
    assert_eq!(
        over(
            "affine.for i in 0..n * m { affine.for j in 0..k { rows[i, j] = rows[i, j] * 0.5 + x[j] } }"
        ),
        ["i parallel", "j parallel"]
    );
    assert_eq!(
        over("affine.for i in 0..n * m * k { flat[i] = flat[i] * 0.5 }"),
        ["i parallel"]
    );
    assert_eq!(
        over("affine.for i in 1..n * m { rows[i, 0] = rows[i - 1, 0] }"),
        ["i no: (1)"]
    );
    // Taken apart in two ways.
    let mixed = over("affine.for i in 0..n * m { rows[i, 0] = a[i floordiv k, i mod k, 0] }");
    assert!(mixed[0].starts_with("i no"), "{mixed:?}");
}

/// An array that is as long as its caller's is so long in a witness that it has what both
/// iterations access.
#[test]
fn flat_subscripts_have_witnesses() {
    let kernel = kernel(
        "kernel @k(n: i64, m: i64, infer len: i64, a: f64[len]) {
           affine.for i in 1..n { affine.for j in 1..m { a[i * m + j] = a[i * m - m + j] + 1.0 } }
         }",
    );
    let analyzed = Analyzed::new(&kernel);
    let found = analyzed.dependences();
    let witnesses: Vec<_> = found.iter().filter_map(|it| it.witness.as_ref()).collect();
    assert_eq!((found.len(), witnesses.len()), (1, 1));
    let value = |name: &str| {
        let mut parameters = witnesses[0].parameters.iter();
        parameters.find(|it| it.0 == name).map(|it| it.1)
    };
    let [m, len] = ["m", "len"].map(|it| value(it).expect("a parameter"));
    let [at, next] = [&witnesses[0].source, &witnesses[0].sink].map(|it| it[0].1 * m + it[1].1);
    assert_eq!((at, witnesses[0].cell.as_slice()), (next - m, &[at][..]));
    assert!(next < len);
}

/// What a subscript says of an iteration holds as far as the rest of it is equal at both ends.
#[test]
fn a_subscript_tells_iterations_apart() {
    for (subscripts, is_apart, is_apart_anywhere) in [
        ("i, 0", true, true),
        ("2 * i + n, j", true, true),
        ("i + t, 0", true, false),
        ("i + j, 0", false, false),
        ("i + j, j", true, true),
        ("i floordiv 2, 0", false, false),
        ("t, j", false, false),
    ] {
        let kernel = with_body(&format!(
            "affine.for t in 0..n {{ affine.for i in 0..n {{ affine.for j in 0..n {{ z[{subscripts}] = z[{subscripts}] * 0.5 }} }} }}"
        ));
        let mut iters = kernel.iters.iter();
        let (iter, _) = iters.find(|(_, it)| it.name == "i").expect("a loop");
        let analyzed = Analyzed::around(&kernel, &[iter]);
        let found = analyzed.are_apart(iter, |_, _| true);
        assert_eq!(found, is_apart, "{subscripts}");
        let found = analyzed.are_apart_anywhere(iter, 0, |_, _| true);
        assert_eq!(found, is_apart_anywhere, "{subscripts}");
    }
}
