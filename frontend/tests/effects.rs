//! Side effects inside of expressions: what runs before the value, and what is kept from before the
//! effect.

mod common;

/// The parameters of every function here.
const PARAMETERS: &str = "int n, int m, double d, int k[n], double x[n], double y[n]";

/// The lines of the kernel that a function body becomes.
fn lines(code: &str) -> Vec<String> {
    common::lines(PARAMETERS, code)
}

fn assert_lines(cases: &[(&str, &[&str])]) {
    for (code, expected) in cases {
        assert_eq!(lines(code), *expected, "{code}");
    }
}

#[test]
fn a_step_behind_its_place_gives_the_value_from_before() {
    assert_lines(&[
        (
            "int j = k[1]; x[j++] = d;",
            &[
                "var j: i32 = k[1]",
                "let value: i32 = j",
                "j reduce(add) 1",
                "x[value] = d",
            ],
        ),
        (
            "int j = k[1]; x[--j] = d;",
            &["var j: i32 = k[1]", "j reduce(add) -1", "x[j] = d"],
        ),
        (
            "x[k[m]++] = d;",
            &[
                "let value: i32 = k[m]",
                "k[m] reduce(add) 1",
                "x[value] = d",
            ],
        ),
    ]);
}

#[test]
fn an_assignment_gives_what_is_stored() {
    assert_lines(&[
        (
            "int i, j; i = j = k[1]; k[i] = j;",
            &[
                "var i: i32 = 0",
                "var j: i32 = 0",
                "j = k[1]",
                "i = j",
                "k[i] = j",
            ],
        ),
        ("y[0] = k[0] = d;", &["k[0] = i32(d)", "y[0] = f64(i32(d))"]),
    ]);
}

#[test]
fn what_was_evaluated_before_an_effect_is_kept() {
    assert_lines(&[
        (
            "int j = k[1]; x[0] = x[j] + y[j++];",
            &[
                "var j: i32 = k[1]",
                "let value: f64 = x[j]",
                "let value_2: i32 = j",
                "j reduce(add) 1",
                "x[0] = value + y[value_2]",
            ],
        ),
        (
            "int j = k[1]; x[k[j]] = y[j++];",
            &[
                "var j: i32 = k[1]",
                "let value: i32 = k[j]",
                "let value_2: i32 = j",
                "j reduce(add) 1",
                "x[value] = y[value_2]",
            ],
        ),
        // A reduction stays one.
        (
            "int j = k[1]; x[k[j]] += y[j++];",
            &[
                "var j: i32 = k[1]",
                "let value: i32 = k[j]",
                "let value_2: i32 = j",
                "j reduce(add) 1",
                "x[value] reduce(add) y[value_2]",
            ],
        ),
    ]);
}

#[test]
fn a_conditional_effect_is_a_branch() {
    assert_lines(&[
        (
            "int j = k[1]; k[0] = d > 0 && j++;",
            &[
                "var j: i32 = k[1]",
                "var holds: bool = false",
                "scf.if d > 0.0 {",
                "let value: i32 = j",
                "j reduce(add) 1",
                "holds = bool(value)",
                "}",
                "k[0] = i32(holds)",
            ],
        ),
        (
            "int j = k[1]; if (n > 3 || --j) k[0] = j;",
            &[
                "var j: i32 = k[1]",
                "var holds: bool = true",
                "affine.if (n <= 3) {",
                "j reduce(add) -1",
                "holds = bool(j)",
                "}",
                "scf.if holds {",
                "k[0] = j",
                "}",
            ],
        ),
        (
            "int i = 0, j = 0; d > 0 ? i++ : j--; d > 1 && i++; k[i] = j;",
            &[
                "var i: i32 = 0",
                "var j: i32 = 0",
                "scf.if d > 0.0 {",
                "i reduce(add) 1",
                "} else {",
                "j reduce(add) -1",
                "}",
                "scf.if d > 1.0 {",
                "i reduce(add) 1",
                "}",
                "k[i] = j",
            ],
        ),
    ]);
}

#[test]
fn a_step_in_the_condition_is_the_beginning_of_the_turn() {
    assert_lines(&[(
        "int j = k[1]; while (j-- > k[0]) x[j] = d;",
        &[
            "var j: i32 = k[1]",
            "scf.for j_turn in 0..i64(j) - i64(k[0]) {",
            "x[j - i32(j_turn) - 1] = d",
            "}",
            "j reduce(add) -1",
        ],
    )]);
}

#[test]
fn expressions_deeper_than_the_kernel_can_be_are_kept_in_parts() {
    let sum = format!("x[0] = {} 1;", "y[k[0]] + ".repeat(150));
    let first = lines(&sum).remove(0);
    assert!(first.starts_with("let value: f64 = y[k[0]] + "), "{first}");
    let negated = format!("k[0] = {} k[1];", "- ".repeat(150));
    assert_eq!(lines(&negated).len(), 8);
}
