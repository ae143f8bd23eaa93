//! Which statements are reductions, in every spelling that people use, and which only look like
//! one.

use strew_affine::verify::verify;
use strew_frontend::compile;

const PARAMETERS: &str = "int n, int m, int64_t l, unsigned u, uint64_t w, float f, double d, int8_t c[n], uint8_t b[w], int k[n], unsigned uu[n], int64_t q[n], float x[n], double y[n], float z[n][m], float best[m], int arg[m], int64_t at[m], double top[m], uint8_t hits[m], int other[n]";

/// The lines of the kernel that a function body becomes.
fn lines(code: &str) -> Vec<String> {
    let source = format!(
        "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n\
         void f({PARAMETERS}) {{ {code} }}"
    );
    let (mut kernels, diagnostics) = compile(&source);
    let messages: Vec<String> = diagnostics.iter().map(|it| it.message()).collect();
    assert!(messages.is_empty(), "{code}\n{messages:#?}");
    let kernel = kernels.remove(0).kernel;
    let text = kernel.to_string().replace('`', "");
    let verified = verify(kernel);
    assert!(verified.is_ok(), "{text}\n{verified:?}");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let last = lines.len() - 1;
    lines[1..last].iter().map(|it| (*it).to_owned()).collect()
}

#[track_caller]
fn assert_last(cases: &[(&str, &str)]) {
    for (code, expected) in cases {
        let lines = lines(code);
        assert_eq!(lines.last().map(String::as_str), Some(*expected), "{code}");
    }
}

#[track_caller]
fn assert_in_order(cases: &[&str]) {
    for code in cases {
        let text = lines(code).join("\n");
        assert!(!text.contains("reduce"), "{code}\n{text}");
    }
}

#[test]
fn every_spelling_of_an_update_is_one_reduction() {
    assert_last(&[
        ("x[m] += f;", "x[m] reduce(add) f"),
        ("x[m] = x[m] + f;", "x[m] reduce(add) f"),
        ("x[m] = f + x[m];", "x[m] reduce(add) f"),
        ("x[m] -= f;", "x[m] reduce(add) -f"),
        ("x[m]++;", "x[m] reduce(add) 1.0"),
        ("--x[m];", "x[m] reduce(add) -1.0"),
        ("x[m] *= f;", "x[m] reduce(mul) f"),
        ("x[m] += n;", "x[m] reduce(add) f32(n)"),
        ("c[m] += m;", "c[m] reduce(add) i8(m)"),
        ("c[m] *= b[0];", "c[m] reduce(mul) i8(i32(b[0]))"),
        ("k[m] += u;", "k[m] reduce(add) i32(u)"),
        ("uu[m] -= 1;", "uu[m] reduce(add) 4294967295"),
        ("k[m] &= n;", "k[m] reduce(and) n"),
        ("k[m] |= 1 << n;", "k[m] reduce(or) 1 << n"),
        ("k[m] ^= n;", "k[m] reduce(xor) n"),
        ("if (f > x[m]) x[m] = f;", "x[m] reduce(max) f"),
        ("if (x[m] > f) { x[m] = f; }", "x[m] reduce(min) f"),
        ("x[m] = f > x[m] ? f : x[m];", "x[m] reduce(max) f"),
        ("x[m] = x[m] < f ? f : x[m];", "x[m] reduce(max) f"),
        ("k[m] = k[m] > n ? k[m] : n;", "k[m] reduce(max) n"),
        ("if (n <= k[m]) k[m] = n;", "k[m] reduce(min) n"),
        (
            "y[m] = x[0] < y[m] ? x[0] : y[m];",
            "y[m] reduce(min) f64(x[0])",
        ),
        (
            "k[m] = b[0] < k[m] ? b[0] : k[m];",
            "k[m] reduce(min) i32(b[0])",
        ),
        (
            "if (c[0] > c[m]) ; if (b[0] > k[m]) k[m] = b[0];",
            "k[m] reduce(max) i32(b[0])",
        ),
        ("x[k[0]] += f;", "x[k[0]] reduce(add) f"),
        ("if (f >= x[m]) x[m] = f;", "x[m] reduce(max_last) f"),
        ("if (x[m] >= f) x[m] = f;", "x[m] reduce(min_last) f"),
        ("x[m] = f <= x[m] ? f : x[m];", "x[m] reduce(min_last) f"),
        ("k[m] = MAX(k[m], n);", "k[m] reduce(max) n"),
        ("k[m] = MAX(n, k[m]);", "k[m] reduce(max) n"),
        ("k[m] = MIN(k[m], n);", "k[m] reduce(min) n"),
        ("uu[m] = MIN(u, uu[m]);", "uu[m] reduce(min) u"),
        ("x[m] = MAX(f, x[m]);", "x[m] reduce(max) f"),
        ("x[m] = MIN(f, x[m]);", "x[m] reduce(min) f"),
        ("x[m] = MAX(x[m], f);", "x[m] reduce(max_kept) f"),
        ("x[m] = MIN(x[m], f);", "x[m] reduce(min_kept) f"),
        ("x[m] = x[m] > f ? x[m] : f;", "x[m] reduce(max_kept) f"),
        (
            "if (!(f <= x[m])) x[m] = f;",
            "x[m] reduce(max_kept_first) f",
        ),
        (
            "x[m] = !(x[m] <= f) ? f : x[m];",
            "x[m] reduce(min_kept_first) f",
        ),
        ("x[m] = f < x[m] ? x[m] : f;", "x[m] reduce(max_kept) f"),
        ("if (!(n <= k[m])) k[m] = n;", "k[m] reduce(max) n"),
        ("z[k[0]][m] += f;", "z[k[0], m] reduce(add) f"),
        (
            "z[k[0]][m] = f * f + z[k[0]][m];",
            "z[k[0], m] reduce(add) f * f",
        ),
    ]);
}

#[test]
fn what_only_looks_like_a_reduction_stays_in_order() {
    assert_in_order(&[
        // The conversion rounds or truncates at every step.
        "x[m] += d;",
        "k[m] += 0.5;",
        "k[m] += f;",
        // The value is compared in one type and stored in another.
        "if (n > c[m]) c[m] = n;",
        "if (u > k[m]) k[m] = u;",
        "if (d > x[m]) x[m] = d;",
        // The array is read elsewhere.
        "x[m] += x[n];",
        "k[k[m]] += 1;",
        "if (k[k[0]] < n) k[k[0]] = n;",
        // Another element, another value, another operation.
        "x[m] = x[n] + f;",
        "if (f > x[m]) x[m] = f + 1;",
        "if (f > x[m]) x[n] = f;",
        "x[m] = f - x[m];",
        "x[m] /= f;",
        "k[m] %= n;",
        "k[m] <<= 1;",
        "k[m] = (int8_t)(k[m] + n);",
    ]);
}

#[test]
fn several_updates_and_updates_under_conditions() {
    assert_eq!(
        lines("if (f > 0) { x[m] += f; x[n] += f; k[m]++; }"),
        [
            "scf.if f > 0.0 {",
            "x[m] reduce(add) f",
            "x[n] reduce(add) f",
            "k[m] reduce(add) 1",
            "}"
        ]
    );
    assert_eq!(
        lines("if (b[0] && f > x[m]) x[m] = f; else x[n] *= f;").concat(),
        "scf.if bool(b[0]) && f > x[m] {x[m] = f} else {x[n] reduce(mul) f}"
    );
    assert_eq!(
        lines("if (b[0] && f > x[m]) x[m] = f;"),
        ["scf.if bool(b[0]) {", "x[m] reduce(max) f", "}"]
    );
}

#[test]
fn a_place_that_is_computed_twice_is_one() {
    let absolute = "x[value < 0 ? -value : value] reduce";
    assert_last(&[
        (
            "x[abs(k[m])] = x[abs(k[m])] + f;",
            &format!("{absolute}(add) f"),
        ),
        (
            "if (x[abs(k[m])] < f) x[abs(k[m])] = f;",
            &format!("{absolute}(max) f"),
        ),
        (
            "x[abs(k[m])] = fminf(x[abs(k[m])], f);",
            &format!("{absolute}(fmin) f"),
        ),
        (
            "const int p = k[m] % n; const int v = k[m] % n; x[p] = x[v] * 2;",
            "x[p] reduce(mul) 2.0",
        ),
        (
            "int p = abs(k[m]); if (u) { int v = abs(k[m]); x[v] = x[p] * 2; }",
            "}",
        ),
    ]);
    // What the element is found by is written in between, or in another turn.
    assert_in_order(&[
        "int p = abs(k[m]); k[m] = 3; int v = abs(k[m]); x[p] = x[v] * 2;",
        "int p = abs(k[m]); if (u) k[1] = 0; int v = abs(k[m]); x[p] = x[v] * 2;",
        "int p = abs(k[m]); while (n > k[0]) { int v = abs(k[m]); x[p] = x[v] * 2; k[m] = n; }",
        "int64_t r = 0; for (int i = 0; i < n; i++) { int p = abs(k[r]); r = q[i]; int s = abs(k[r]); x[p] = x[s] * 2; }",
        "if (u) { int p = abs(k[m]); x[p] = 1; } int v = abs(k[m]); x[v] = x[m] * 2;",
    ]);
}

#[test]
fn counting_up_to_a_limit() {
    assert_last(&[
        (
            "if (hits[m] < 255) hits[m]++;",
            "hits[m] reduce(add_sat(255)) 1",
        ),
        (
            "if (hits[m] < 255) hits[m] += 1;",
            "hits[m] reduce(add_sat(255)) 1",
        ),
        (
            "if (hits[m] < 255) hits[m] = hits[m] + 1;",
            "hits[m] reduce(add_sat(255)) 1",
        ),
        (
            "if (hits[m] <= 254) ++hits[m];",
            "hits[m] reduce(add_sat(255)) 1",
        ),
        (
            "if (hits[m] != UINT8_MAX) hits[m]++;",
            "hits[m] reduce(add_sat(255)) 1",
        ),
        (
            "if (255 > hits[m]) hits[m]++;",
            "hits[m] reduce(add_sat(255)) 1",
        ),
        (
            "if (hits[m] < 10) hits[m]++;",
            "hits[m] reduce(add_sat(10)) 1",
        ),
        (
            "hits[m] += hits[m] < 255;",
            "hits[m] reduce(add_sat(255)) 1",
        ),
        (
            "hits[m] = hits[m] + (hits[m] < 99);",
            "hits[m] reduce(add_sat(99)) 1",
        ),
        (
            "hits[m] = hits[m] < 7 ? hits[m] + 1 : hits[m];",
            "hits[m] reduce(add_sat(7)) 1",
        ),
        (
            "hits[m] = hits[m] < 255 ? hits[m] + 1 : 255;",
            "hits[m] reduce(add_sat(255)) 1",
        ),
        ("if (c[m] < 127) c[m]++;", "c[m] reduce(add_sat(127)) -127"),
        (
            "if (k[m] < 1000) k[m]++;",
            "k[m] reduce(add_sat(1000)) -2147483647",
        ),
        (
            "if (uu[m] < 1000) uu[m]++;",
            "uu[m] reduce(add_sat(1000)) 1",
        ),
    ]);
}

#[test]
fn counting_otherwise_stays_in_order() {
    for code in [
        // Two steps at a time can go beyond the limit.
        "if (hits[m] < 255) hits[m] += 2;",
        // What is beyond the limit comes down to it.
        "hits[m] = hits[m] < 7 ? hits[m] + 1 : 7;",
        // The limit varies, or is no value of the type, or the comparison is one of other values.
        "if (hits[m] < n) hits[m]++;",
        "if (hits[m] < 256) hits[m]++;",
        "if (hits[m] != 7) hits[m]++;",
        "if (k[m] < 1000u) k[m]++;",
        "if (hits[n] < 255) hits[m]++;",
        "if (x[m] < 255) x[m]++;",
    ] {
        let text = lines(code).join("\n");
        assert!(!text.contains("add_sat"), "{code}\n{text}");
        assert!(text.contains("< ") || text.contains("!="), "{code}\n{text}");
    }
}

/// Whoever wants the place alone has it decided by the extremum, all that is done to that included.
#[test]
fn what_decides_about_a_place_is_kept() {
    let code = |rest: &str| {
        lines(&format!(
            "int big = k[0]; int where = 0; for (int i = 1; i < n; i++) {{ if (k[i] > big) {{ big = k[i]; where = i; }} {rest} }} k[0] = where;"
        ))
    };
    for rest in [
        "big = big - 10;",
        "if (m > i) big = 7;",
        "int less = big / 2; big = less;",
    ] {
        let written = code(rest);
        let sets_big = |line: &String| line.starts_with("big =") || line.starts_with("big reduce");
        assert!(written.iter().any(sets_big), "{written:?}");
    }
}

#[test]
fn the_place_of_an_extremum_comes_with_it() {
    assert_last(&[
        (
            "if (x[n] > best[k[n]]) { best[k[n]] = x[n]; arg[k[n]] = n; }",
            "(best[k[n]], arg[k[n]]) reduce(argmax) (x[n], n)",
        ),
        (
            "if (best[k[n]] < x[n]) { arg[k[n]] = n; best[k[n]] = x[n]; }",
            "(best[k[n]], arg[k[n]]) reduce(argmax) (x[n], n)",
        ),
        (
            "int s = k[n]; float v = x[n]; if (v < best[s]) { best[s] = v; at[s] = n; }",
            "(best[s], at[s]) reduce(argmin) (v, i64(n))",
        ),
        (
            "if (x[n] >= top[m]) { top[m] = x[n]; arg[m] = other[n]; }",
            "(top[m], arg[m]) reduce(argmax_last) (f64(x[n]), other[n])",
        ),
        (
            "if (n <= arg[m]) { arg[m] = n; best[m] = f; }",
            "(arg[m], best[m]) reduce(argmin_last) (n, f)",
        ),
    ]);
    assert_eq!(
        lines(
            "float big = x[0]; int where = 0; for (int i = 1; i < n; i++) if (x[i] > big) { big = x[i]; where = i; } x[0] = big; k[0] = where;"
        ),
        [
            "var big: f32 = x[0]",
            "var where: i32 = 0",
            "affine.for i in 1..n {",
            "(big, where) reduce(argmax) (x[i], i32(i))",
            "}",
            "x[0] = big",
            "k[0] = where",
        ]
    );
    assert_eq!(
        lines("if (b[0] && x[n] > best[m]) { best[m] = x[n]; arg[m] = 7; }"),
        [
            "scf.if bool(b[0]) {",
            "(best[m], arg[m]) reduce(argmax) (x[n], 7)",
            "}"
        ]
    );
}

#[test]
fn pairs_that_differ_from_the_combiner_stay_in_order() {
    let cases = [
        // What comes with it would be evaluated where C does not, and could fault.
        "if (f > best[m]) { best[m] = f; arg[m] = k[m]; }",
        "if (f > best[m]) { best[m] = f; arg[m] = 100 / n; }",
        "if (f > best[m]) { best[m] = f; k[m] = n; }",
        "if (f > best[m]) { best[m] = f; arg[n] = n; }",
        "if (x[n] > 0 ? f > x[n] : f > best[m]) { best[m] = f; arg[m] = n; }",
        // It is read, or the same place.
        "if (f > best[m]) { best[m] = f; arg[m] = arg[m] + 1; }",
        "if (f > best[m]) { arg[m] = best[m]; best[m] = f; }",
        "if (f > best[arg[0]]) { best[arg[0]] = f; arg[arg[0]] = n; }",
        "if (f > best[m]) { best[m] = f; best[n] = n; }",
        // Another value is stored than was compared, or it is cut.
        "if (f > best[m]) { best[m] = f + 1; arg[m] = n; }",
        "if (d > best[m]) { best[m] = d; arg[m] = n; }",
        "if (f != best[m]) { best[m] = f; arg[m] = n; }",
        "if (f > best[m]) { best[m] = f; arg[m] = n; k[m] = 1; }",
        // A slot that is taken once, in the order of the iterations.
        "int next = 0; if (arg[m] < 0) { arg[m] = next++; at[m] = 1; }",
    ];
    for code in cases {
        let text = lines(code).join("\n");
        assert!(!text.contains("reduce(arg"), "{code}\n{text}");
    }
}
