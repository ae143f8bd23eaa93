/* CSR transpose-SpMV: y += A^T x */
#include <stdint.h>

void k05_spmv_t(int32_t nr, int32_t nc, int64_t nnz, const int64_t row[nr + 1], const int32_t col[nnz],
                const double val[nnz], const double x[nr], double y[nc]) {
    for (int32_t r = 0; r < nr; r++)
        for (int64_t k = row[r]; k < row[r + 1]; k++)
            y[col[k]] += val[k] * x[r];
}
