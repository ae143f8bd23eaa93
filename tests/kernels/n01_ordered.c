#include <stdint.h>

void n01_ordered(int64_t n, int32_t m, const int32_t idx[n], int32_t out[m]) {       /* numba #9829 shape */
    int32_t next = 0;
    for (int64_t i = 0; i < n; i++)
        if (out[idx[i]] < 0) { out[idx[i]] = next; next += 1; }
}
