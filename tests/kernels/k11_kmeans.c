/* k-means assign + accumulate: inner argmin, then row scatter and a count scatter */
#include <stdint.h>
#include <math.h>

void k11_kmeans(int64_t n, int32_t k, int32_t d, const float x[n][d], const float cen[k][d], double sum[k][d],
                int64_t cnt[k]) {
    for (int64_t i = 0; i < n; i++) {
        int32_t a = 0;
        float best = INFINITY;
        for (int32_t c = 0; c < k; c++) {
            float s = 0.0f;
            for (int32_t j = 0; j < d; j++) { float t = x[i][j] - cen[c][j]; s += t * t; }
            if (s < best) { best = s; a = c; }
        }
        cnt[a] += 1;
        for (int32_t j = 0; j < d; j++) sum[a][j] += x[i][j];
    }
}
