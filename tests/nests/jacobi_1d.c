/* diffusion on a line, two steps at a time */
#include <stdint.h>

void jacobi_1d(int64_t steps, int64_t n, double a[n], double b[n]) {
    for (int64_t t = 0; t < steps; t++) {
        for (int64_t i = 1; i < n - 1; i++)
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
        for (int64_t i = 1; i < n - 1; i++)
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3;
    }
}
