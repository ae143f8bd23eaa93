// Forces between pairs of bodies, on both of them.
#include <stdint.h>

void pair_forces(int64_t n, int32_t m, const int32_t one[n], const int32_t other[n], const double x[m], const double y[m],
                 const double z[m], double fx[m], double fy[m], double fz[m]) {
  for (int64_t i = 0; i < n; i++) {
    int32_t a = one[i], b = other[i];
    double dx = x[a] - x[b], dy = y[a] - y[b], dz = z[a] - z[b];
    double r = dx * dx + dy * dy + dz * dz + 0.1;
    double f = 1.0 / (r * r);
    fx[a] += f * dx;
    fy[a] += f * dy;
    fz[a] += f * dz;
    fx[b] -= f * dx;
    fy[b] -= f * dy;
    fz[b] -= f * dz;
  }
}
