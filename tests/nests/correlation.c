/* the correlations of the columns of X, which are left with mean 0 and deviation 1 */
#include <math.h>
#include <stdint.h>

void correlation(int64_t n, int64_t m, double x[n][m], double c[m][m]) {
    for (int64_t j = 0; j < m; j++) {
        double mean = 0;
        double squares = 0;
        for (int64_t i = 0; i < n; i++)
            mean += x[i][j];
        mean /= n;
        for (int64_t i = 0; i < n; i++)
            squares += (x[i][j] - mean) * (x[i][j] - mean);
        double deviation = sqrt(squares / n);
        for (int64_t i = 0; i < n; i++)
            x[i][j] = (x[i][j] - mean) / deviation;
    }
    for (int64_t j = 0; j < m; j++)
        for (int64_t k = j; k < m; k++) {
            double s = 0;
            for (int64_t i = 0; i < n; i++)
                s += x[i][j] * x[i][k];
            c[j][k] = s / n;
            c[k][j] = s / n;
        }
}
