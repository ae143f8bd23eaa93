/* Spreads the weight of each point over the four corners of its cell, each by how near it is; x and y are below 1. */
#include <stdint.h>

void deposit(int64_t n, int32_t rows, int32_t columns, const float x[n], const float y[n], const float weight[n],
             float grid[rows][columns]) {
    for (int64_t i = 0; i < n; i++) {
        float across = x[i] * (columns - 1), down = y[i] * (rows - 1);
        int32_t column = across, row = down;
        float right = across - column, below = down - row;
        grid[row][column] += weight[i] * (1 - below) * (1 - right);
        grid[row][column + 1] += weight[i] * (1 - below) * right;
        grid[row + 1][column] += weight[i] * below * (1 - right);
        grid[row + 1][column + 1] += weight[i] * below * right;
    }
}
