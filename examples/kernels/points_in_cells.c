/* How many points lie in each cell of a grid; points beside the grid count nowhere. */
#include <stdint.h>

void points_in_cells(int64_t n, int32_t rows, int32_t columns, const float x[n], const float y[n],
                     int32_t cells[rows][columns]) {
    for (int64_t i = 0; i < n; i++) {
        int32_t row = y[i] * rows, column = x[i] * columns;
        if (row >= 0 && row < rows && column >= 0 && column < columns)
            cells[row][column]++;
    }
}
