//! Arrays whose elements are no numbers, from the host and from files.

mod program;

use std::fs;
use std::path::Path;
use strew::{Compiler, Kernel};

fn kernel(source: &str) -> Kernel {
    let program = Compiler::new().compile("k.nest", source);
    let program = program.expect("a program");
    program.kernel("k").expect("a kernel")
}

const MARK: &str = "\
kernel @k(n: i64, m: i64, on: bool, seg: i32[n], seen: bool[m], count: i32[1]) {
  affine.for i in 0..n {
    scf.if !seen[seg[i]] && on {
      count[0] reduce(add) 1
    }
    seen[seg[i]] reduce(or) on
  }
}
";

#[test]
fn arrays_of_bool_are_slices_of_bool() {
    let mark = kernel(MARK)
        .typed::<(i64, i64, bool, &[i32], &mut [bool], &mut [i32])>()
        .expect("the signature");
    let (mut seen, mut count) = ([false, true, false, false], [0]);
    let keys = [3, 0, 1, 3, 3];
    mark.call((5, 4, true, &keys, &mut seen, &mut count))
        .expect("a call");
    assert_eq!((seen, count), ([true, true, false, true], [2]));
    let refused = kernel(MARK).typed::<(i64, i64, bool, &[i32], &mut [u8], &mut [i32])>();
    assert_eq!(
        refused.expect_err("bytes are no truths").to_string(),
        "kernel `k`: `seen` takes &mut [bool], the call gives &mut [u8]"
    );
}

/// `strew ARGUMENTS` in `folder`: its status, and what it says on both streams.
fn strew(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = program::strew_in(folder, arguments).output();
    let output = output.expect("the program starts");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).expect("text"))
}

/// A `.npy` file of one dimension whose type NumPy writes as `descr`.
fn npy(descr: &str, elements: usize, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({elements},), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file.extend(data);
    file
}

#[test]
fn files_of_bool_are_read_and_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, contents: &[u8]| {
        fs::write(folder.path().join(name), contents).expect("a file");
    };
    write("k.nest", MARK.as_bytes());
    // Any byte but zero is true.
    write("seen.npy", &npy("'|b1'", 3, &[0, 7, 0]));
    let keys = [2_i32, 2, 1].map(i32::to_le_bytes).concat();
    write("seg.npy", &npy("'<i4'", 3, &keys));
    let arguments = [
        "run",
        "k.nest",
        "--set",
        "on=true",
        "--in",
        "seg=seg.npy",
        "--in",
        "seen=seen.npy",
        "--out",
        "seen=out.npy",
    ];
    let (status, said) = strew(folder.path(), &arguments);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("count: i32[1]  min 1  max 1"), "{said}");
    let out = fs::read(folder.path().join("out.npy")).expect("the result");
    assert!(out.windows(3).any(|it| it == b"|b1"), "{out:?}");
    assert_eq!(out[out.len() - 3..], [0, 1, 1]);
    write("seen.npy", &npy("'|u1'", 3, &[0, 7, 0]));
    let (status, said) = strew(folder.path(), &arguments);
    assert_eq!(status, Some(2), "{said}");
    let hint = "the elements have type u8, expected bool; types are never converted silently, save a.astype('bool')";
    assert!(said.contains(hint), "{said}");
}

const PUSH: &str = "\
kernel @k(n: i64, m: i64, p: record(24) { x: f64 @ 0, cell: i32 @ 8, alive: bool @ 12, v: f32 @ 16 }[n], load: i32[m]) {
  affine.for i in 0..n {
    scf.if p.alive[i] {
      p.x[i] = p.x[i] + f64(p.v[i])
      load[p.cell[i]] reduce(add) 1
    }
  }
}
";

strew::record! {
    #[derive(Debug, PartialEq)]
    struct Particle {
        x: f64,
        cell: i32,
        alive: bool,
        v: f32,
    }
}

fn particle(x: f64, cell: i32, alive: bool) -> Particle {
    Particle {
        x,
        cell,
        alive,
        v: 0.5,
    }
}

#[test]
fn structs_are_elements_of_arrays_of_records() {
    let push = kernel(PUSH)
        .typed::<(i64, i64, &mut [Particle], &mut [i32])>()
        .expect("the signature");
    let mut p = [
        particle(1.0, 2, true),
        particle(2.0, 0, false),
        particle(3.0, 2, true),
    ];
    let mut load = [0; 3];
    push.call((3, 3, &mut p, &mut load)).expect("a call");
    let after = [
        particle(1.5, 2, true),
        particle(2.0, 0, false),
        particle(3.5, 2, true),
    ];
    assert_eq!((&p, load), (&after, [0, 0, 2]));
    // Sizes follow from the number of records.
    let bound = kernel(PUSH);
    let call = bound.bind().array_mut("p", &mut p);
    call.array_mut("load", &mut load).run().expect("a call");
    assert_eq!(load, [0, 0, 4]);
    let (before, mut short) = (p, [0; 2]);
    let call = bound.bind().array_mut("p", &mut p);
    let fault = call.array_mut("load", &mut short).run();
    let fault = fault.expect_err("a cell that is not there").to_string();
    assert!(
        fault.contains("index 2 is out of range for `load`"),
        "{fault}"
    );
    assert_eq!((p, short), (before, [0; 2]));
}

#[test]
fn a_number_of_records_that_does_not_fit_is_told_by_their_name() {
    let mut p = [particle(1.0, 2, true)];
    let mut load = [0; 3];
    let bound = kernel(PUSH);
    let call = bound.bind().scalar("n", 2_i64).array_mut("p", &mut p);
    let refused = call.array_mut("load", &mut load).run();
    assert_eq!(
        refused.expect_err("one is missing").to_string(),
        "kernel `k`: `n` is 2 as given, 1 by `p`"
    );
    let push = kernel(PUSH)
        .typed::<(i64, i64, &mut [Particle], &mut [i32])>()
        .expect("the signature");
    let refused = push.call((2, 3, &mut p, &mut load));
    assert_eq!(
        refused.expect_err("one is missing").to_string(),
        "kernel `k`: `p` has 1 element, expected 2 elements for p[n]"
    );
}

#[test]
fn a_struct_of_another_layout_is_refused_with_the_difference() {
    strew::record! {
        struct Wide {
            x: f64,
            cell: i64,
            alive: bool,
            v: f32,
        }
    }
    strew::record! {
        struct Renamed {
            x: f64,
            bin: i32,
            alive: bool,
            v: f32,
        }
    }
    let wide = kernel(PUSH).typed::<(i64, i64, &mut [Wide], &mut [i32])>();
    let wide = wide.expect_err("another layout").to_string();
    let difference = ": field `cell` is i64, expected i32";
    assert!(wide.ends_with(difference), "{wide}");
    let renamed = kernel(PUSH).typed::<(i64, i64, &mut [Renamed], &mut [i32])>();
    let renamed = renamed.expect_err("another name").to_string();
    assert!(renamed.ends_with(": there is no field `cell`"), "{renamed}");
    let read = kernel(PUSH).typed::<(i64, i64, &[Particle], &mut [i32])>();
    let read = read.expect_err("they are written").to_string();
    let hint = ": the kernel writes `p`, so it needs the slice to itself";
    assert!(read.ends_with(hint), "{read}");
    let plain = kernel(PUSH).typed::<(i64, i64, &mut [f64], &mut [i32])>();
    let plain = plain.expect_err("no records").to_string();
    assert!(plain.ends_with("the call gives &mut [f64]"), "{plain}");
}

/// Records of a file that packs them in another order than the kernel, with space between two
/// fields.
fn packed(records: &[(i32, f64, u8, f32)]) -> Vec<u8> {
    let descr = "[('cell', '<i4'), ('x', '<f8'), ('', '|V3'), ('alive', '|b1'), ('v', '<f4')]";
    let data: Vec<u8> = records
        .iter()
        .flat_map(|(cell, x, alive, v)| {
            let (cell, x) = (cell.to_le_bytes(), x.to_le_bytes());
            [&cell[..], &x, &[1, 2, 3, *alive], &v.to_le_bytes()].concat()
        })
        .collect();
    npy(descr, records.len(), &data)
}

#[test]
fn structured_files_are_read_and_written_by_the_names_of_their_fields() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, contents: &[u8]| {
        fs::write(folder.path().join(name), contents).expect("a file");
    };
    write("k.nest", PUSH.as_bytes());
    let records = [(1, 1.5, 1, 0.5), (0, 2.5, 0, 0.25), (1, 3.5, 9, -1.0)];
    write("p.npy", &packed(&records));
    let arguments = [
        "run",
        "k.nest",
        "--set",
        "m=2",
        "--in",
        "p=p.npy",
        "--out",
        "p=out.npy",
    ];
    let (status, said) = strew(folder.path(), &arguments);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("load: i32[2]  min 0  max 2"), "{said}");
    let out = fs::read(folder.path().join("out.npy")).expect("the result");
    let header = String::from_utf8_lossy(&out[..128]).into_owned();
    let descr = "'descr': [('x', '<f8'), ('cell', '<i4'), ('alive', '|b1'), ('v', '<f4')]";
    assert!(
        header.contains(descr) && header.contains("'shape': (3, )"),
        "{header}"
    );
    let after = [(1, 2.0, 1, 0.5), (0, 2.5, 0, 0.25), (1, 2.5, 1, -1.0)];
    let expected: Vec<u8> = after
        .iter()
        .flat_map(|(cell, x, alive, v): &(i32, f64, u8, f32)| {
            let (x, cell) = (x.to_le_bytes(), cell.to_le_bytes());
            [&x[..], &cell, &[*alive], &v.to_le_bytes()].concat()
        })
        .collect();
    assert!(out.ends_with(&expected), "{out:?}");
    assert!((out.len() - expected.len()).is_multiple_of(64));
    // What was written is read again.
    let again = [
        "run",
        "k.nest",
        "--set",
        "m=2",
        "--in",
        "p=out.npy",
        "--json",
    ];
    let (status, said) = strew(folder.path(), &again);
    assert_eq!(status, Some(0), "{said}");
    let ty = "record(24) { x: f64 @ 0, cell: i32 @ 8, alive: bool @ 12, v: f32 @ 16 }";
    assert!(said.contains(ty), "{said}");
}

#[test]
fn files_of_other_records_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, contents: &[u8]| {
        fs::write(folder.path().join(name), contents).expect("a file");
    };
    write("k.nest", PUSH.as_bytes());
    let run = |source: &str| {
        let input = format!("p={source}");
        strew(
            folder.path(),
            &["run", "k.nest", "--set", "m=2", "--in", &input],
        )
    };
    let fields = "('cell', '<i4'), ('alive', '|b1'), ('v', '<f4')";
    let cases = [
        (
            format!("[('x', '<f4'), {fields}]"),
            "field `x` is f32, expected f64",
        ),
        (format!("[('y', '<f8'), {fields}]"), "there is no field `x`"),
        (
            format!("[('x', '<f8'), {fields}, ('more', '<i4')]"),
            "the kernel knows no field `more`",
        ),
        (format!("[('x', '>f8'), {fields}]"), "big-endian"),
        (
            "'<f8'".to_owned(),
            "the elements have type '<f8', expected record(24)",
        ),
    ];
    for (descr, words) in cases {
        write("p.npy", &npy(&descr, 0, &[]));
        let (status, said) = run("p.npy");
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
    write("p.npy", &packed(&[(1, 1.5, 1, 0.5)])[..100]);
    let (status, said) = run("p.npy");
    assert_eq!(status, Some(2), "{said}");
    let (status, said) = run("iota");
    assert_eq!(status, Some(2), "{said}");
    let words = "`p` is an array of records, which come from a structured .npy file";
    assert!(said.contains(words), "{said}");
}

const LATTICE: &str = "\
kernel @k(n: i64, p: record(64) { cell: i16 @ 0, pos.x: f64[3] @ 8, pos.m: f32 @ 32, jacobian: i32[2, 3] @ 40 }[n], sum: f64[3]) {
  affine.for i in 0..n {
    affine.for d in 0..3 {
      sum[d] reduce(add) p.pos.x[i, d]
      p.pos.x[i, d] = p.pos.x[i, d] * f64(p.pos.m[i])
      p.jacobian[i, 1, d] = p.jacobian[i, 0, 2 - d] + i32(p.cell[i])
    }
  }
}
";

strew::record! {
    #[derive(Debug, PartialEq)]
    struct Position {
        x: [f64; 3],
        m: f32,
    }
}

strew::record! {
    #[derive(Debug, PartialEq)]
    struct Site {
        cell: i16,
        pos: Position,
        jacobian: [[i32; 3]; 2],
    }
}

#[test]
fn fields_are_arrays_and_structs_themselves() {
    let site = |cell: i16| Site {
        cell,
        pos: Position {
            x: [1.0, 2.0, f64::from(cell)],
            m: 0.5,
        },
        jacobian: [[1, 2, 3], [0; 3]],
    };
    let step = kernel(LATTICE)
        .typed::<(i64, &mut [Site], &mut [f64])>()
        .expect("the signature");
    let (mut p, mut sum) = ([site(4), site(10)], [0.0; 3]);
    step.call((2, &mut p, &mut sum)).expect("a call");
    assert_eq!(sum, [2.0, 4.0, 14.0]);
    assert_eq!(p[1].pos.x, [0.5, 1.0, 5.0]);
    assert_eq!(p[0].jacobian, [[1, 2, 3], [7, 6, 5]]);
    let refused =
        kernel(&LATTICE.replace("[2, 3]", "[3, 2]")).typed::<(i64, &mut [Site], &mut [f64])>();
    let words = ": field `jacobian` is i32[2, 3], expected i32[3, 2]";
    let refused = refused.expect_err("another shape").to_string();
    assert!(refused.ends_with(words), "{refused}");
}

#[test]
fn structured_files_hold_arrays_and_records_in_records() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.nest"), LATTICE).expect("a file");
    let descr = "[('cell', '<i2'), ('jacobian', '<i4', (2, 3, )), ('pos', [('x', '<f8', (3, )), ('m', '<f4')])]";
    let record = |cell: i16, x: [f64; 3], jacobian: [i32; 6]| {
        let jacobian = jacobian.map(i32::to_le_bytes).concat();
        let x = x.map(f64::to_le_bytes).concat();
        [&cell.to_le_bytes()[..], &jacobian, &x, &2_f32.to_le_bytes()].concat()
    };
    let first = record(3, [1.0, 2.0, 3.0], [1, 2, 3, 0, 0, 0]);
    let file = npy(descr, 2, &[first.clone(), first].concat());
    fs::write(folder.path().join("p.npy"), file).expect("a file");
    let arguments = ["run", "k.nest", "--in", "p=p.npy", "--out", "p=out.npy"];
    let (status, said) = strew(folder.path(), &arguments);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("sum: f64[3]  min 2  max 6"), "{said}");
    let out = fs::read(folder.path().join("out.npy")).expect("the result");
    let header = String::from_utf8_lossy(&out).into_owned();
    let descr = "[('cell', '<i2'), ('pos', [('x', '<f8', (3, )), ('m', '<f4')]), ('jacobian', '<i4', (2, 3, ))]";
    assert!(header.contains(descr), "{header}");
    let after = [
        &3_i16.to_le_bytes()[..],
        &[2.0, 4.0, 6.0].map(f64::to_le_bytes).concat(),
        &2_f32.to_le_bytes(),
        &[1, 2, 3, 6, 5, 4].map(i32::to_le_bytes).concat(),
    ];
    assert!(out.ends_with(&[after, after].concat().concat()), "{out:?}");
    let again = ["run", "k.nest", "--in", "p=out.npy"];
    assert_eq!(strew(folder.path(), &again).0, Some(0));
    let other = npy(
        "[('cell', '<i2'), ('jacobian', '<i4', (2, 3, )), ('pos', [('x', '<f8', (2, )), ('m', '<f4')])]",
        0,
        &[],
    );
    fs::write(folder.path().join("p.npy"), other).expect("a file");
    let (status, said) = strew(folder.path(), &arguments);
    assert_eq!(status, Some(2), "{said}");
    assert!(
        said.contains("field `pos.x` is f64[2], expected f64[3]"),
        "{said}"
    );
}
