#include <stdint.h>

/* Each row of a matrix in compressed rows times a factor of its own. */
void scale_rows(int64_t n, int64_t entries, const int64_t row[n + 1], const double factor[n], double value[entries]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = row[i]; k < row[i + 1]; k++)
      value[k] *= factor[i];
}
