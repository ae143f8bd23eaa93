/* the sums of all rectangles that begin at the corner */
#include <stdint.h>

void prefix_sums(int64_t n, int64_t m, const double a[n][m], double s[n + 1][m + 1]) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            s[i + 1][j + 1] = a[i][j] + s[i][j + 1] + s[i + 1][j] - s[i][j];
}
