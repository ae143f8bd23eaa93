/* integer histogram with the bin computation in the loop (byte / quantised samples) */
#include <stdint.h>

void k01_hist_bin(int64_t n, int32_t m, float lo, float inv, const float x[n], uint32_t h[m]) {
    for (int64_t i = 0; i < n; i++) {
        int32_t b = (int32_t)((x[i] - lo) * inv);
        if (b < 0) b = 0;
        if (b >= m) b = m - 1;
        h[b] += 1;
    }
}
