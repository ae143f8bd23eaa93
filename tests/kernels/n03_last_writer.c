#include <stdint.h>

void n03_last_writer(int64_t n, int32_t m, const int32_t idx[n], const double v[n], double out[m]) {
    for (int64_t i = 0; i < n; i++) out[idx[i]] = v[i];                              /* ordered, not commutative */
}
