/* weighted scatter-add (np.bincount(idx, w)) */
#include <stdint.h>

void k02_scatter_add(int64_t n, int32_t m, const int32_t idx[n], const double w[n], double out[m]) {
    for (int64_t i = 0; i < n; i++)
        out[idx[i]] += w[i];
}
