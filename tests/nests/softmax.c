/* each row as shares of the exponentials of its elements */
#include <math.h>
#include <stdint.h>

void softmax(int64_t n, int64_t m, const double x[n][m], double y[n][m]) {
    for (int64_t i = 0; i < n; i++) {
        double most = x[i][0];
        for (int64_t j = 1; j < m; j++)
            most = x[i][j] > most ? x[i][j] : most;
        double s = 0;
        for (int64_t j = 0; j < m; j++) {
            y[i][j] = exp(x[i][j] - most);
            s += y[i][j];
        }
        for (int64_t j = 0; j < m; j++)
            y[i][j] /= s;
    }
}
