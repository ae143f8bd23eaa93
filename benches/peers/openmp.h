/* The kernels with OpenMP pragmas. This text is compiled for each way to resolve conflicts. */
static void k01(int64_t n, int32_t m, float lo, float inv, const float x[n], uint32_t h[m]) {
    FOR(REDUCES(h [0:m]), static)
    for (int64_t i = 0; i < n; i++) {
        int32_t b = (int32_t)((x[i] - lo) * inv);
        if (b < 0) b = 0;
        if (b >= m) b = m - 1;
        UPDATE
        h[b] += 1;
    }
}
#define SCATTER_ADD(name, type)                                                                         \
    static void name(int64_t n, int32_t m, const int32_t idx[n], const type w[n], type out[m]) {        \
        FOR(REDUCES(out [0:m]), static)                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                               \
            UPDATE                                                                                      \
            out[idx[i]] += w[i];                                                                        \
        }                                                                                               \
    }
SCATTER_ADD(k02, double)
SCATTER_ADD(k02_single, float)
SCATTER_ADD(k02_integer, int32_t)

static void k03(int64_t n, int32_t m, int32_t d, const int32_t seg[n], const float x[n][d], float *out) {
    int64_t all = (int64_t)m * d;
    (void)all;
    FOR(REDUCES(out [0:all]), static)
    for (int64_t i = 0; i < n; i++)
        for (int32_t j = 0; j < d; j++) {
            UPDATE
            out[(int64_t)seg[i] * d + j] += x[i][j];
        }
}
static void k05(int32_t nr, int32_t nc, int64_t nnz, const int64_t row[nr + 1], const int32_t col[nnz], const double val[nnz],
                const double x[nr], double y[nc]) {
    FOR(REDUCES(y [0:nc]), dynamic BATCH)
    for (int32_t r = 0; r < nr; r++)
        for (int64_t k = row[r]; k < row[r + 1]; k++) {
            UPDATE
            y[col[k]] += val[k] * x[r];
        }
}
static void k06(int32_t n, int64_t e, int32_t iters, float damp, const int64_t row[n + 1], const int32_t dst[e], float rank[n],
                float next[n]) {
    for (int32_t t = 0; t < iters; t++) {
        FOR(, static)
        for (int32_t v = 0; v < n; v++) next[v] = (1.0f - damp) / (float)n;
        FOR(REDUCES(next [0:n]), dynamic BATCH)
        for (int32_t v = 0; v < n; v++) {
            int64_t deg = row[v + 1] - row[v];
            float c = deg > 0 ? damp * rank[v] / (float)deg : 0.0f;
            for (int64_t k = row[v]; k < row[v + 1]; k++) {
                UPDATE
                next[dst[k]] += c;
            }
        }
        FOR(, static)
        for (int32_t v = 0; v < n; v++) rank[v] = next[v];
    }
}
static void k07(int32_t n, int64_t e, const int64_t row[n + 1], const int32_t adj[e], int64_t tri[n]) {
    FOR(REDUCES(tri [0:n]), dynamic BATCH)
    for (int32_t u = 0; u < n; u++)
        for (int64_t p = row[u]; p < row[u + 1]; p++) {
            int32_t v = adj[p];
            int64_t a = row[u], b = row[v];
            while (a < p && b < row[v + 1]) {
                int32_t wa = adj[a], wb = adj[b];
                if (wa == wb) {
                    UPDATE
                    tri[u] += 1;
                    UPDATE
                    tri[v] += 1;
                    UPDATE
                    tri[wa] += 1;
                }
                if (wa <= wb) a++;
                if (wb <= wa) b++;
            }
        }
}
/* The sources of one level are not its targets, so what is read is not what is updated: an expert knows, and reads through `from`. */
static void k08f(int32_t n, int64_t e, int32_t nf, int32_t lvl, const int64_t row[n + 1], const int32_t adj[e], const int32_t front[nf],
                 const int32_t depth[n], double sigma[n]) {
    const double *from = sigma;
    FOR(REDUCES(sigma [0:n]), dynamic BATCH)
    for (int32_t q = 0; q < nf; q++) {
        int32_t v = front[q];
        for (int64_t k = row[v]; k < row[v + 1]; k++)
            if (depth[adj[k]] == lvl + 1) {
                UPDATE
                sigma[adj[k]] += from[v];
            }
    }
}
static void k08b(int32_t n, int64_t e, int32_t nf, int32_t lvl, const int64_t row[n + 1], const int32_t adj[e], const int32_t front[nf],
                 const int32_t depth[n], const double sigma[n], double delta[n]) {
    const double *from = delta;
    FOR(REDUCES(delta [0:n]), dynamic BATCH)
    for (int32_t q = 0; q < nf; q++) {
        int32_t w = front[q];
        double c = (1.0 + from[w]) / sigma[w];
        for (int64_t k = row[w]; k < row[w + 1]; k++)
            if (depth[adj[k]] == lvl) {
                UPDATE
                delta[adj[k]] += sigma[adj[k]] * c;
            }
    }
}
static void k09(int32_t ne, int32_t nn, int64_t nnz, const int32_t tri[ne][3], const double xy[nn][2], const int32_t slot[ne][3][3],
                double val[nnz], double rhs[nn]) {
    FOR(REDUCES(val [0:nnz], rhs [0:nn]), static)
    for (int32_t e = 0; e < ne; e++) {
        double b[3], c[3];
        for (int32_t i = 0; i < 3; i++) {
            int32_t j = tri[e][(i + 1) % 3], k = tri[e][(i + 2) % 3];
            b[i] = xy[j][1] - xy[k][1];
            c[i] = xy[k][0] - xy[j][0];
        }
        double area = 0.5 * fabs(b[0] * c[1] - b[1] * c[0]);
        for (int32_t i = 0; i < 3; i++) {
            UPDATE
            rhs[tri[e][i]] += area / 3.0;
            for (int32_t j = 0; j < 3; j++) {
                UPDATE
                val[slot[e][i][j]] += (b[i] * b[j] + c[i] * c[j]) / (4.0 * area);
            }
        }
    }
}
static void k10(int64_t np, int32_t ny, int32_t nx, const double px[np], const double py[np], const double q[np], double *rho) {
    int64_t all = (int64_t)ny * nx;
    (void)all;
    FOR(REDUCES(rho [0:all]), static)
    for (int64_t p = 0; p < np; p++) {
        int32_t i = (int32_t)px[p], j = (int32_t)py[p];
        double fx = px[p] - i, fy = py[p] - j;
        double *low = rho + (int64_t)j * nx + i, *high = low + nx;
        UPDATE
        low[0] += q[p] * (1 - fx) * (1 - fy);
        UPDATE
        low[1] += q[p] * fx * (1 - fy);
        UPDATE
        high[0] += q[p] * (1 - fx) * fy;
        UPDATE
        high[1] += q[p] * fx * fy;
    }
}
static void k11(int64_t n, int32_t k, int32_t d, const float x[n][d], const float cen[k][d], double *sum, int64_t *cnt) {
    int64_t all = (int64_t)k * d;
    (void)all;
    FOR(REDUCES(sum [0:all], cnt [0:k]), static)
    for (int64_t i = 0; i < n; i++) {
        int32_t a = 0;
        float best = INFINITY;
        for (int32_t c = 0; c < k; c++) {
            float s = 0.0f;
            for (int32_t j = 0; j < d; j++) {
                float t = x[i][j] - cen[c][j];
                s += t * t;
            }
            if (s < best) {
                best = s;
                a = c;
            }
        }
        UPDATE
        cnt[a] += 1;
        for (int32_t j = 0; j < d; j++) {
            UPDATE
            sum[(int64_t)a * d + j] += x[i][j];
        }
    }
}
static void k12(int64_t ne, int32_t nv, const int32_t ei[ne], const int32_t ej[ne], const double u[nv], const double g[ne],
                double res[nv]) {
    FOR(REDUCES(res [0:nv]), static)
    for (int64_t e = 0; e < ne; e++) {
        double f = g[e] * (u[ei[e]] - u[ej[e]]);
        UPDATE
        res[ei[e]] -= f;
        UPDATE
        res[ej[e]] += f;
    }
}

void WAY(k01_u32)(const Slot *slots) { k01(I64(0), I32(1), F32(2), F32(3), ARRAY(4), ARRAY(5)); }
void WAY(k02_f64)(const Slot *slots) { k02(I64(0), I32(1), ARRAY(2), ARRAY(3), ARRAY(4)); }
void WAY(k02_f32)(const Slot *slots) { k02_single(I64(0), I32(1), ARRAY(2), ARRAY(3), ARRAY(4)); }
void WAY(k02_i32)(const Slot *slots) { k02_integer(I64(0), I32(1), ARRAY(2), ARRAY(3), ARRAY(4)); }
void WAY(k03_f32)(const Slot *slots) { k03(I64(0), I32(1), I32(2), ARRAY(3), ARRAY(4), ARRAY(5)); }
void WAY(k05_f64)(const Slot *slots) { k05(I32(0), I32(1), I64(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7)); }
void WAY(k06_f32)(const Slot *slots) { k06(I32(0), I64(1), I32(2), F32(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7)); }
void WAY(k07_i64)(const Slot *slots) { k07(I32(0), I64(1), ARRAY(2), ARRAY(3), ARRAY(4)); }
void WAY(k08f_f64)(const Slot *slots) {
    k08f(I32(0), I64(1), I32(2), I32(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7), ARRAY(8));
}
void WAY(k08b_f64)(const Slot *slots) {
    k08b(I32(0), I64(1), I32(2), I32(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7), ARRAY(8), ARRAY(9));
}
void WAY(k09_f64)(const Slot *slots) { k09(I32(0), I32(1), I64(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7)); }
void WAY(k10_f64)(const Slot *slots) { k10(I64(0), I32(1), I32(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6)); }
void WAY(k11_f64)(const Slot *slots) { k11(I64(0), I32(1), I32(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6)); }
void WAY(k12_f64)(const Slot *slots) { k12(I64(0), I32(1), ARRAY(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6)); }
