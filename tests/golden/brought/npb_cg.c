// test run
// set n = 5
// set nz = 13
// array rowstr = 0 3 5 8 10 13
// array colidx = 0 1 4 0 1 1 2 3 2 3 0 3 4
// array a = random 1 3
// array x = random 1 2
// array z = zeros
// array p = zeros
// array q = zeros
// array r = zeros
#include <math.h>
static void spmv(int n, const int rowstr[], const int colidx[], const double a[], const double p[], double q[]) {
  for (int j = 0; j < n; j++) {
    double sum = 0.0;
    for (int k = rowstr[j]; k < rowstr[j + 1]; k++)
      sum = sum + a[k] * p[colidx[k]];
    q[j] = sum;
  }
}
static double dot(int n, const double *x, const double *y) {
  double s = 0;
  while (n--) s += *x++ * *y++;
  return s;
}
static void conj_grad(int n, int nz, const int colidx[nz], const int rowstr[n + 1], const double x[n], double z[n], const double a[nz],
                      double p[n], double q[n], double r[n], double *rnorm) {
  int cgit, cgitmax = 5;
  double d, sum, rho, rho0, alpha, beta;
  rho = 0.0;
  for (int j = 0; j < n; j++) { q[j] = 0.0; z[j] = 0.0; r[j] = x[j]; p[j] = r[j]; }
  rho = dot(n, r, r);
  for (cgit = 1; cgit <= cgitmax; cgit++) {
    spmv(n, rowstr, colidx, a, p, q);
    d = dot(n, p, q);
    alpha = rho / d;
    rho0 = rho;
    rho = 0.0;
    for (int j = 0; j < n; j++) { z[j] = z[j] + alpha * p[j]; r[j] = r[j] - alpha * q[j]; }
    rho = dot(n, r, r);
    beta = rho / rho0;
    for (int j = 0; j < n; j++) p[j] = r[j] + beta * p[j];
  }
  sum = 0.0;
  spmv(n, rowstr, colidx, a, z, r);
  for (int j = 0; j < n; j++) { d = x[j] - r[j]; sum = sum + d * d; }
  *rnorm = sqrt(sum);
}
double cg(int n, int nz, const int colidx[nz], const int rowstr[n + 1], const double x[n], double z[n], const double a[nz], double p[n], double q[n], double r[n]) {
  double rnorm;
  conj_grad(n, nz, colidx, rowstr, x, z, a, p, q, r, &rnorm);
  return rnorm;
}
// ----
// p = -0.7811833618585177 0.47376828518466874 -0.11573311178668573 -0.13322744119555052 0.5386656305465536
// q = -2.120572290407213 -3.7159075130073105 0.04795154016197989 -0.472415092970038 -0.6431336171489263
// r = 1.280385286227521 0.5132280890560922 1.02755735732278 1.4716159078678666 0.9891511297091224
// return = 0.6327856922400041
// z = 0.2818612239646946 -0.06974400965604113 0.634486366358343 0.15945692470912567 0.39569218895139574
