/* unsorted segment sum of rows (GNN message aggregation, embedding gradient) */
#include <stdint.h>

void k03_segment_sum(int64_t n, int32_t m, int32_t d, const int32_t seg[n], const float x[n][d], float out[m][d]) {
    for (int64_t i = 0; i < n; i++)
        for (int32_t j = 0; j < d; j++)
            out[seg[i]][j] += x[i][j];
}
