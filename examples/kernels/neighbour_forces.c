// Forces on atoms from the neighbours in their lists: near[first[i]] to near[first[i + 1] - 1] are those of atom i.
#include <stdint.h>

void neighbour_forces(int64_t n, int64_t pairs, const int32_t first[n + 1], const int32_t near[pairs], const float x[n],
                      const float y[n], const float z[n], float fx[n], float fy[n], float fz[n]) {
  for (int64_t i = 0; i < n; i++) {
    float ax = 0, ay = 0, az = 0;
    for (int32_t p = first[i]; p < first[i + 1]; p++) {
      int32_t j = near[p];
      float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      float r = 1 / (dx * dx + dy * dy + dz * dz + 0.01f);
      float f = r * r * r * (r * r * r - 0.5f) * r;
      ax += f * dx;
      ay += f * dy;
      az += f * dz;
    }
    fx[i] = ax;
    fy[i] = ay;
    fz[i] = az;
  }
}
