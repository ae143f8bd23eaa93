/* the lengths of the longest common subsequences of all beginnings of two texts */
#include <stdint.h>

void common_subsequence(int64_t n, int64_t m, const int32_t a[n], const int32_t b[m], int32_t l[n + 1][m + 1]) {
    for (int64_t i = 0; i <= n; i++)
        l[i][0] = 0;
    for (int64_t j = 0; j <= m; j++)
        l[0][j] = 0;
    for (int64_t i = 1; i <= n; i++)
        for (int64_t j = 1; j <= m; j++)
            l[i][j] = a[i - 1] == b[j - 1] ? l[i - 1][j - 1] + 1 : l[i - 1][j] > l[i][j - 1] ? l[i - 1][j] : l[i][j - 1];
}
