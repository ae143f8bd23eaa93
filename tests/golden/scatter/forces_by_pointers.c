// test scatter
// set m = 20
// set n = 6
// array pair = random 0 5
// array d = random -9 9
// array force = zeros
#include <stdint.h>
#include <stddef.h>
void forces(int m, int n, const int pair[2 * m], const double d[3 * m], double force[3 * n]) {
  for (int e = 0; e < m; e++) {
    const double *r = d + 3 * e;
    double *f = force + 3 * pair[2 * e], *g = force + 3 * pair[2 * e + 1];
    double r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2], s = 1 / (1 + r2);
    f[0] += s * r[0]; f[1] += s * r[1]; f[2] += s * r[2];
    g[0] -= s * r[0]; g[1] -= s * r[1]; g[2] -= s * r[2];
  }
}
// ----
// parallel, force by add
// assumes (m * 2 <= 2147483648, m * 3 <= 2147483650)
// force = -0.11904232615469112 -0.23965881067485284 0.040852823621744944 -0.05518710677148659 -0.034951410059835944 -0.21687947878357466 -0.13632574122045216 0.030735445598675165 0.1497712309610773 0.4896520786119582 0.1833825223873677 0.18120228640008879 -0.17909690446532842 0.06049225274864588 -0.1549468621993364 0 … checksum 4f171eb358c01b52
