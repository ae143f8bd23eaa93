/* each row smoothed in its place, by way of a row that the caller lends */
#include <stdint.h>

void smooth_rows(int64_t n, int64_t m, double a[n][m], double row[m]) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < m; j++)
            row[j] = a[i][j];
        for (int64_t j = 1; j < m - 1; j++)
            a[i][j] = (row[j - 1] + row[j] + row[j + 1]) / 3;
    }
}
