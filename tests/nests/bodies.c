/* the accelerations of bodies that attract each other, all pairs */
#include <math.h>
#include <stdint.h>

void bodies(int64_t n, double near, const double mass[n], const double x[n], const double y[n], const double z[n], double ax[n], double ay[n], double az[n]) {
    for (int64_t i = 0; i < n; i++) {
        double fx = 0;
        double fy = 0;
        double fz = 0;
        for (int64_t j = 0; j < n; j++) {
            double dx = x[j] - x[i];
            double dy = y[j] - y[i];
            double dz = z[j] - z[i];
            double r2 = dx * dx + dy * dy + dz * dz + near;
            double w = mass[j] / (r2 * sqrt(r2));
            fx += w * dx;
            fy += w * dy;
            fz += w * dz;
        }
        ax[i] = fx;
        ay[i] = fy;
        az[i] = fz;
    }
}
