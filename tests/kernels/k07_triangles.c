/* per-vertex triangle counts on a DAG-oriented CSR (u -> smaller-ranked v, rows sorted); 3 scatters per hit */
#include <stdint.h>

void k07_triangles(int32_t n, int64_t e, const int64_t row[n + 1], const int32_t adj[e], int64_t tri[n]) {
    for (int32_t u = 0; u < n; u++)
        for (int64_t p = row[u]; p < row[u + 1]; p++) {
            int32_t v = adj[p];
            int64_t a = row[u], b = row[v];
            while (a < p && b < row[v + 1]) {
                int32_t wa = adj[a], wb = adj[b];
                if (wa == wb) { tri[u] += 1; tri[v] += 1; tri[wa] += 1; }
                if (wa <= wb) a++;
                if (wb <= wa) b++;
            }
        }
}
