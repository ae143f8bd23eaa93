/* Makes the colours of a picture lighter, and its contrasts stronger. */
#include <stdint.h>

void tone(int32_t rows, int32_t columns, float gain, float middle, const float before[rows][columns][3], float after[rows][columns][3]) {
    for (int32_t y = 0; y < rows; y++)
        for (int32_t x = 0; x < columns; x++)
            for (int32_t c = 0; c < 3; c++)
                after[y][x][c] = (before[y][x][c] - middle) * gain + middle;
}
