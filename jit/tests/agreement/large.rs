//! Functions so large that work with the square of their size would not end.

use crate::common::{array, check, scalar};
use std::fmt::Write as _;

const STATEMENTS: i64 = 4000;

/// So many statements that each add another element of `a`, at the subscript that `subscript` makes
/// of its number, and all of them can be left.
fn chain(subscript: impl Fn(i64) -> String) -> String {
    let mut text = "let v0: i32 = 0\n".to_owned();
    for number in 0..STATEMENTS {
        let (next, subscript) = (number + 1, subscript(number));
        writeln!(text, "let v{next}: i32 = v{number} + a[{subscript}]").expect("text");
    }
    text
}

#[test]
fn a_fault_in_a_long_row_of_statements_is_told() {
    let chain = chain(|number| number.to_string());
    let source =
        format!("kernel @k(n: i64, a: i32[n], out: i32[1]) {{\n{chain}out[0] = v{STATEMENTS}\n}}");
    let given = |extent: i64| {
        let values: Vec<_> = (0..extent as i32).collect();
        [scalar(extent), array(&values), array(&[0_i32])]
    };
    assert!(check(&source, &given(STATEMENTS)).is_ok());
    let last = STATEMENTS - 1;
    let words = format!("index {last} is out of range for `a`, whose extent there is {last}");
    assert_eq!(check(&source, &given(last)), Err((words, Vec::new())));
}

#[test]
fn a_fault_in_a_long_loop_is_told() {
    let chain = chain(|number| format!("key[i] + {number}"));
    let source = format!(
        "kernel @k(n: i64, m: i64, key: i64[n], a: i32[m], out: i32[n]) {{
          affine.for i in 0..n {{\n{chain}out[i] = v{STATEMENTS}\n}}
        }}"
    );
    let given = |keys: &[i64; 2]| {
        let values: Vec<_> = (0..=STATEMENTS as i32).collect();
        [
            scalar(2_i64),
            scalar(STATEMENTS + 1),
            array(keys),
            array(&values),
            array(&[0_i32; 2]),
        ]
    };
    assert!(check(&source, &given(&[0, 1])).is_ok());
    let extent = STATEMENTS + 1;
    let words = format!("index {extent} is out of range for `a`, whose extent there is {extent}");
    let iteration = vec![("i".to_owned(), 1)];
    assert_eq!(check(&source, &given(&[1, 2])), Err((words, iteration)));
}

#[test]
fn a_long_loop_keeps_many_values_alive() {
    let alive = 2000;
    let (mut lets, mut sums) = (String::new(), String::new());
    for number in 0..alive {
        writeln!(lets, "let v{number}: i32 = a[key[i] + {number}]").expect("text");
        writeln!(sums, "s = s * 3 + v{number}").expect("text");
    }
    let source = format!(
        "kernel @k(n: i64, m: i64, key: i64[n], a: i32[m], out: i32[n]) {{
          var s: i32 = 1
          affine.for i in 0..n {{
            {lets}
            affine.for j in 0..i {{ s = s * 5 + v7 + a[key[j]] }}
            {sums}
            out[i] = s
          }}
        }}"
    );
    let given = |keys: &[i64; 3]| {
        let values: Vec<_> = (0..alive + 2).map(|it| it * it - 7).collect();
        [
            scalar(3_i64),
            scalar(i64::from(alive) + 2),
            array(keys),
            array(&values),
            array(&[0_i32; 3]),
        ]
    };
    assert!(check(&source, &given(&[0, 2, 1])).is_ok());
    let fault = check(&source, &given(&[0, 2, 3]));
    let iteration = vec![("i".to_owned(), 2)];
    assert_eq!(fault.map_err(|it| it.1), Err(iteration));
}
