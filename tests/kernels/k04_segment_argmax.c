/* segment max with argmax, lowest index wins ties, NaN ignored: two arrays, one combined reduction */
#include <stdint.h>

void k04_segment_argmax(int64_t n, int32_t m, const int32_t seg[n], const float x[n], float best[m], int64_t arg[m]) {
    for (int64_t i = 0; i < n; i++) {
        int32_t s = seg[i];
        if (x[i] > best[s]) { best[s] = x[i]; arg[s] = i; }
    }
}
