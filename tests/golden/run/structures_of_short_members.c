// test run
// set n = 3
// array r.a = 5 6 7
// array r.b = 1 0 1
// array r.c = 200 201 202
// array out = zeros
struct s { short a; _Bool b; unsigned char c; };
struct one { signed char a; };

static struct s either(int first, struct s p, struct s q) { return first ? p : q; }
static struct one small(int k) {
  if (k > 1)
    return (struct one){k * 100};
  return (struct one){k - 1};
}

void structures_of_short_members(int n, struct s r[n], int out[n]) {
  for (int i = 0; i < n; i++) {
    struct s t = r[i].b ? r[i] : (struct s){70000, 2, 300};
    r[i] = either(i, r[0], t);
    struct one u = i == 1 ? small(i + 1) : small(i);
    out[i] = u.a * 1000 + either(1, t, r[0]).c + (i ? t : r[0]).a;
  }
}
// ----
// out = -795 -51492 -55791
// r.a = 5 5 5
// r.b = 1 1 1
// r.c = 200 200 200
