#include <stdint.h>

void n02_reads_partial(int64_t n, int32_t m, const int32_t a[n], const int32_t b[n], double h[m]) {
    for (int64_t i = 0; i < n; i++) h[a[i]] += h[b[i]];                              /* running value escapes */
}
