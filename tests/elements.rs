//! Arrays whose elements are no numbers, from the host and from files.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
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
    let output = Command::new(env!("CARGO_BIN_EXE_strew"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
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
