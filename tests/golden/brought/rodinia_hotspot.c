// test run
// set row = 7
// set col = 6
// array temp = random 70 90
// array power = random 0 2
// array result = zeros
#define FLOAT float
#define STR_SIZE 256
#define MAX_PD (3.0e6)
#define PRECISION 0.001
#define SPEC_HEAT_SI 1.75e6
#define K_SI 100
#define FACTOR_CHIP 0.5
const FLOAT t_chip = 0.0005;
const FLOAT chip_height = 0.016;
const FLOAT chip_width = 0.016;
const FLOAT amb_temp = 80.0;
static void single_iteration(FLOAT *result, FLOAT *temp, const FLOAT *power, int row, int col, FLOAT Cap_1, FLOAT Rx_1, FLOAT Ry_1, FLOAT Rz_1) {
  FLOAT delta;
  int r, c;
  for (r = 0; r < row; ++r) {
    for (c = 0; c < col; ++c) {
      if ((r == 0) && (c == 0)) {
        delta = (Cap_1) * (power[0] + (temp[1] - temp[0]) * Rx_1 + (temp[col] - temp[0]) * Ry_1 + (amb_temp - temp[0]) * Rz_1);
      } else if ((r == 0) && (c == col - 1)) {
        delta = (Cap_1) * (power[c] + (temp[c - 1] - temp[c]) * Rx_1 + (temp[c + col] - temp[c]) * Ry_1 + (amb_temp - temp[c]) * Rz_1);
      } else if (r == 0 || c == 0 || r == row - 1 || c == col - 1) {
        delta = 0;
      } else {
        delta = (Cap_1 * (power[r * col + c] + (temp[(r + 1) * col + c] + temp[(r - 1) * col + c] - 2.f * temp[r * col + c]) * Ry_1 +
                 (temp[r * col + c + 1] + temp[r * col + c - 1] - 2.f * temp[r * col + c]) * Rx_1 + (amb_temp - temp[r * col + c]) * Rz_1));
      }
      result[r * col + c] = temp[r * col + c] + delta;
    }
  }
}
void hotspot(int row, int col, float result[row * col], float temp[row * col], const float power[row * col]) {
  FLOAT grid_height = chip_height / row, grid_width = chip_width / col;
  FLOAT Cap = FACTOR_CHIP * SPEC_HEAT_SI * t_chip * grid_width * grid_height;
  FLOAT Rx = grid_width / (2.0 * K_SI * t_chip * grid_height);
  FLOAT Ry = grid_height / (2.0 * K_SI * t_chip * grid_width);
  FLOAT Rz = t_chip / (K_SI * grid_height * grid_width);
  FLOAT max_slope = MAX_PD / (FACTOR_CHIP * t_chip * SPEC_HEAT_SI);
  FLOAT step = PRECISION / max_slope / 1000.0;
  for (int i = 0; i < 2; i++) {
    single_iteration(result, temp, power, row, col, step / Cap, 1 / Rx, 1 / Ry, 1 / Rz);
    single_iteration(temp, result, power, row, col, step / Cap, 1 / Rx, 1 / Ry, 1 / Rz);
  }
}
// ----
// result = 84.041664 75.104164 70.270836 74.25 76.1875 74.145836 80.166664 83.0625 72.145836 71.229164 89.020836 81.1875 71.083336 84.25 88.229164 85.270836 … checksum 59daf9564908b129
