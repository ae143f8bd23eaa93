#include <stdint.h>

void n04_saturating(int64_t n, int32_t m, const int32_t idx[n], uint8_t h[m]) {
    for (int64_t i = 0; i < n; i++) if (h[idx[i]] < 255) h[idx[i]] += 1;             /* commutes only as min(255,sum) */
}
