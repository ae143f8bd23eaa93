#include <stdint.h>
#include <stdlib.h>
#include <math.h>
static uint64_t g_s = 0x9E3779B97F4A7C15ull;                     /* splitmix64: same stream on every machine */
static uint64_t g_u64(void) { uint64_t z = (g_s += 0x9E3779B97F4A7C15ull); z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull; return z ^ (z >> 31); }
static double g_f64(void) { return (double)(g_u64() >> 11) * 0x1p-53; }
static uint32_t g_below(uint32_t m) { return (uint32_t)(((g_u64() >> 32) * (uint64_t)m) >> 32); }
void gen_seed(uint64_t s) { g_s = s; }
void gen_uniform(int64_t n, int32_t m, int32_t idx[n]) { for (int64_t i = 0; i < n; i++) idx[i] = (int32_t)g_below((uint32_t)m); }
/* Zipf(s), s != 1, by inverse of the continuous CDF; ranks are scrambled so that hot keys are not neighbours */
void gen_zipf(int64_t n, int32_t m, double s, int32_t idx[n]) {
    double a = 1.0 - s, c = pow((double)m, a) - 1.0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t k = (uint64_t)pow(g_f64() * c + 1.0, 1.0 / a) - 1;
        idx[i] = (int32_t)(((k * 0x9E3779B1ull & 0xffffffffull) * (uint64_t)m) >> 32);
    }
}
void gen_sorted(int64_t n, int32_t m, int32_t idx[n]) { for (int64_t i = 0; i < n; i++) idx[i] = (int32_t)(i * (int64_t)m / n); }
void gen_constant(int64_t n, int32_t m, int32_t idx[n]) { for (int64_t i = 0; i < n; i++) idx[i] = m / 2; }
void gen_two(int64_t n, int32_t m, int32_t idx[n]) { for (int64_t i = 0; i < n; i++) idx[i] = (int32_t)(g_u64() & 1) % m; }
/* bursts of `run` draws inside a window of `win` keys around a random centre (spatial locality, no order) */
void gen_cluster(int64_t n, int32_t m, int32_t run, int32_t win, int32_t idx[n]) {
    int64_t c = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i % run == 0) c = g_below((uint32_t)m);
        idx[i] = (int32_t)((c + g_below((uint32_t)win)) % m);
    }
}
/* RMAT edges, Graph500 parameters a=.57 b=.19 c=.19; vertex ids scrambled; n = 1 << scale */
void gen_rmat(int32_t scale, int64_t ne, int32_t src[ne], int32_t dst[ne]) {
    uint64_t mask = (1ull << scale) - 1;
    for (int64_t e = 0; e < ne; e++) {
        uint64_t u = 0, v = 0;
        for (int32_t b = 0; b < scale; b++) {
            double r = g_f64();
            uint64_t ub = r >= 0.76, vb = (r >= 0.57 && r < 0.76) || r >= 0.95;
            u = u << 1 | ub; v = v << 1 | vb;
        }
        src[e] = (int32_t)(u * 0x9E3779B1ull & mask); dst[e] = (int32_t)(v * 0x9E3779B1ull & mask);
    }
}
/* structured P1 mesh of an nx x ny grid of squares, 2 triangles each; perm = 0 keeps the natural (RCM-like) order,
   perm = 1 renumbers the nodes at random, perm = 2 shuffles the elements too */
void gen_fem(int32_t nx, int32_t ny, int32_t perm, int32_t tri[2 * nx * ny][3], double xy[(nx + 1) * (ny + 1)][2]) {
    int32_t nn = (nx + 1) * (ny + 1), ne = 2 * nx * ny, *id = malloc(sizeof(int32_t) * (size_t)nn);
    for (int32_t i = 0; i < nn; i++) id[i] = i;
    if (perm) for (int32_t i = nn - 1; i > 0; i--) { int32_t j = (int32_t)g_below((uint32_t)i + 1), t = id[i]; id[i] = id[j]; id[j] = t; }
    for (int32_t j = 0; j <= ny; j++) for (int32_t i = 0; i <= nx; i++) {
        int32_t k = id[j * (nx + 1) + i]; xy[k][0] = i + 0.2 * (g_f64() - 0.5); xy[k][1] = j + 0.2 * (g_f64() - 0.5); }
    for (int32_t j = 0, e = 0; j < ny; j++) for (int32_t i = 0; i < nx; i++) {
        int32_t a = id[j * (nx + 1) + i], b = id[j * (nx + 1) + i + 1], c = id[(j + 1) * (nx + 1) + i], d = id[(j + 1) * (nx + 1) + i + 1];
        tri[e][0] = a; tri[e][1] = b; tri[e][2] = d; e++;  tri[e][0] = a; tri[e][1] = d; tri[e][2] = c; e++; }
    if (perm == 2) for (int32_t i = ne - 1; i > 0; i--) { int32_t j = (int32_t)g_below((uint32_t)i + 1);
        for (int32_t q = 0; q < 3; q++) { int32_t t = tri[i][q]; tri[i][q] = tri[j][q]; tri[j][q] = t; } }
    free(id);
}
/* particles in [0,nx-1) x [0,ny-1): frac = share that is cell-sorted, the rest random (a sort that has drifted) */
void gen_particles(int64_t np, int32_t nx, int32_t ny, double frac, double px[np], double py[np]) {
    for (int64_t p = 0; p < np; p++) {
        int64_t cell = g_f64() < frac ? p * ((int64_t)(nx - 1) * (ny - 1)) / np : (int64_t)(g_f64() * (nx - 1) * (ny - 1));
        px[p] = (double)(cell % (nx - 1)) + g_f64(); py[p] = (double)(cell / (nx - 1)) + g_f64(); }
}
