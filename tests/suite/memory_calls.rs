//! Calls of `memset`, `memcpy` and `memmove`, and memory from `malloc` and `calloc`: what `cc`
//! makes of them, and what is no whole number of elements refused.

use crate::against_c::outcomes;
use crate::data::Data;
use strew::Source;

/// What is done with `n` keys, `m` sums and a matrix of `m` rows.
const BODIES: [&str; 24] = [
    "memset(h, 0, m * sizeof *h); for (int i = 0; i < n; i++) h[key[i]] += x[i];",
    "memset(h, 0, sizeof(double) * (size_t)m);",
    "memset(count, -1, m * sizeof(int)); count[0] += 3;",
    "memset(count, 0x3f, (m - 1) * sizeof count[0]);",
    "memset(byte, n, m); memset(byte + 1, 'x', 2);",
    "memset(a, 0, sizeof(float) * m * 3); a[1][1] += 2;",
    "memset(a[2], 0, 3 * sizeof(float)); memset(&a[1][1], 0, 8);",
    "memcpy(count, key, (n < m ? n : m) * sizeof(int));",
    "memcpy(a[1], a[3], sizeof a[1]); memcpy(&h[2], h, 2 * sizeof(double));",
    "memmove(h + 1, h, (m - 1) * sizeof *h);",
    "memmove(h, h + 2, (m - 2) * sizeof *h);",
    "for (int i = 0; i < 4; i++) memmove(h + key[i] % 3, h + key[i + 1] % 3, 3 * sizeof *h);",
    "memset(p, 0, 2 * sizeof *p); memcpy(p + 3, p + 2, sizeof(struct point)); p[0].c[1] = 5;",
    "double *t = malloc(m * sizeof *t); if (!t) return; memcpy(t, h, m * sizeof *t);
     for (int i = 0; i < m; i++) h[i] = t[m - 1 - i]; free(t);",
    "int *u = (int *)calloc((size_t)m, sizeof(int)); if (u == NULL) return;
     for (int i = 0; i < n; i++) u[key[i]]++;
     for (int i = 1; i < m; i++) u[i] += u[i - 1]; memcpy(count, u, m * sizeof *u); free(u);",
    "float t[4][3]; memset(t, 0, sizeof t); for (int i = 0; i < n; i++) t[key[i] % 4][i % 3] += 1;
     memcpy(a[0], t[1], sizeof t[1]); struct point *q = malloc(4 * sizeof *q); memcpy(q, p, 4 * sizeof *q);
     for (int i = 0; i < 4; i++) p[i].x = q[3 - i].x; free(q);",
    "memset(byte, byte[3] + 1, m);",
    "memset(&count[count[1]], 0, count[2] * sizeof(int));",
    "memcpy(&count[count[2]], key, count[3] * sizeof(int));",
    "memmove(&count[count[1]], &count[count[2]], count[4] * sizeof(int));",
    "unsigned char z[8] = {3, 1, 4}; memset(z, z[2] * 2, z[0] + 2); for (int i = 0; i < 8; i++) count[i] = z[i];",
    "float l[n][6]; memset(l, 0, sizeof l); memset(h, 256, m * sizeof *h); h[1] += l[2][3];",
    "double *t = calloc(m, sizeof *t); if (!t || t == NULL) { printf(\"no memory\"); exit(1); } h[0] = t[m - 1];",
    "double *t = malloc(n * (size_t)m * sizeof *t); for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) t[i * m + j] = x[i] * j;
     for (int i = 0; i < n; i++) h[key[i]] += t[i * m + 2];",
];

fn source(body: &str) -> String {
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nstruct point {{ double x; int c[2]; }};\n\
         void k(int n, int m, const int key[n], const double x[n], double h[m], int count[m], \
         unsigned char byte[m], float a[m][3], struct point p[m]) {{ {body} }}"
    )
}

fn case() -> Data {
    let (n, m) = (24, 9);
    let numbers = |count: i32| (0..count).map(|it| f64::from(it * 7 % 5) - 1.5);
    Data::default()
        .scalar("n", n)
        .scalar("m", m)
        .array("key", &(0..n).map(|it| it * 5 % m).collect::<Vec<_>>())
        .array("x", &numbers(n).collect::<Vec<_>>())
        .array("h", &numbers(m).collect::<Vec<_>>())
        .array("count", &(0..m).collect::<Vec<_>>())
        .array("byte", &[7_u8; 9])
        .array("a", &numbers(3 * m).map(|it| it as f32).collect::<Vec<_>>())
        .array("p.x", &numbers(m).collect::<Vec<_>>())
        .array("p.c", &(0..2 * m).collect::<Vec<_>>())
}

#[test]
fn memory_is_set_and_copied_as_in_c() {
    for body in BODIES {
        let found = outcomes(&source(body), vec![case()]);
        assert!(found.iter().all(|(_, outcome)| outcome.is_ok()), "{body}");
    }
}

#[test]
fn what_leaves_an_array_is_a_fault() {
    for body in [
        "memset(h, 0, (m + 1) * sizeof *h);",
        "memcpy(count + 1, key, m * sizeof(int));",
    ] {
        let found = outcomes(&source(body), vec![case()]);
        assert!(found.iter().all(|(_, outcome)| outcome.is_err()), "{body}");
    }
}

#[test]
fn what_is_no_number_of_elements_is_refused() {
    for (body, message) in [
        ("memset(h, 0, m);", "`memset` cannot be called"),
        ("memset(h, 1, m * sizeof *h);", "`memset` cannot be called"),
        (
            "memset(count, n, m * sizeof(int));",
            "`memset` cannot be called",
        ),
        ("memcpy(h, a, m * 8);", "`memcpy` cannot be called"),
        (
            "memset(a, 0, n * m * sizeof(float));",
            "`memset` cannot be called",
        ),
        ("memcpy(x, h, 8);", "`x` is `const`"),
        (
            "double *t = malloc(n + 1); t[0] = 1;",
            "`malloc` cannot be called",
        ),
        (
            "double *t = malloc(key[0] * sizeof *t); t[0] = 1;",
            "length",
        ),
        ("free(h);", "`free` cannot be called"),
        ("memset(h, 0);", "`memset` cannot be called"),
        ("int u; memset(&u, 0, sizeof u);", "`memset`"),
    ] {
        let error = Source::new("k.c", source(body)).parse();
        let error = error.expect_err(body).to_string();
        assert!(error.contains(message), "{body}\n{error}");
    }
}
