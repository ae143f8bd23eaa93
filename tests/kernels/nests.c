void mm_ijk(int64_t n, int64_t m, int64_t p, const double a[n][p], const double b[p][m], double c[n][m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++)
      for (int64_t k = 0; k < p; k++)
        c[i][j] += a[i][k] * b[k][j];
}
void mm_local(int64_t n, int64_t m, int64_t p, const double a[n][p], const double b[p][m], double c[n][m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) {
      double s = 0;
      for (int64_t k = 0; k < p; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}
void mm_ikj(int64_t n, int64_t m, int64_t p, const double a[n][p], const double b[p][m], double c[n][m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < p; k++)
      for (int64_t j = 0; j < m; j++)
        c[i][j] += a[i][k] * b[k][j];
}
void mm_kij(int64_t n, int64_t m, int64_t p, const double a[n][p], const double b[p][m], double c[n][m]) {
  for (int64_t k = 0; k < p; k++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < m; j++)
        c[i][j] += a[i][k] * b[k][j];
}
void gemm_polybench(int64_t n, int64_t m, int64_t p, double alpha, double beta, const double a[n][p], const double b[p][m], double c[n][m]) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < m; j++)
      c[i][j] *= beta;
    for (int64_t k = 0; k < p; k++)
      for (int64_t j = 0; j < m; j++)
        c[i][j] += alpha * a[i][k] * b[k][j];
  }
}
void gemv(int64_t n, int64_t m, const double a[n][m], const double x[m], double y[n]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++)
      y[i] += a[i][j] * x[j];
}
void gemv_t(int64_t n, int64_t m, const double a[n][m], const double x[n], double y[m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++)
      y[j] += a[i][j] * x[i];
}
void gemv_t_cols(int64_t n, int64_t m, const double a[n][m], const double x[n], double y[m]) {
  for (int64_t j = 0; j < m; j++)
    for (int64_t i = 0; i < n; i++)
      y[j] += a[i][j] * x[i];
}
void atax(int64_t n, int64_t m, const double a[n][m], const double x[m], double y[m]) {
  for (int64_t j = 0; j < m; j++) y[j] = 0;
  for (int64_t i = 0; i < n; i++) {
    double t = 0;
    for (int64_t j = 0; j < m; j++) t += a[i][j] * x[j];
    for (int64_t j = 0; j < m; j++) y[j] += a[i][j] * t;
  }
}
void syrk(int64_t n, int64_t m, double alpha, double beta, const double a[n][m], double c[n][n]) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j <= i; j++) c[i][j] *= beta;
    for (int64_t k = 0; k < m; k++)
      for (int64_t j = 0; j <= i; j++)
        c[i][j] += alpha * a[i][k] * a[j][k];
  }
}
void trmm(int64_t n, int64_t m, double alpha, const double a[n][n], double b[n][m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) {
      for (int64_t k = i + 1; k < n; k++)
        b[i][j] += a[k][i] * b[k][j];
      b[i][j] = alpha * b[i][j];
    }
}
void trsv(int64_t n, const double l[n][n], double x[n]) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++)
      x[i] -= l[i][j] * x[j];
    x[i] /= l[i][i];
  }
}
void trsm(int64_t n, int64_t m, const double l[n][n], double b[n][m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) {
      for (int64_t k = 0; k < i; k++)
        b[i][j] -= l[i][k] * b[k][j];
      b[i][j] /= l[i][i];
    }
}
void lu(int64_t n, double a[n][n]) {
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = k + 1; i < n; i++) {
      a[i][k] /= a[k][k];
      for (int64_t j = k + 1; j < n; j++)
        a[i][j] -= a[i][k] * a[k][j];
    }
}
void lu_polybench(int64_t n, double a[n][n]) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) {
      for (int64_t k = 0; k < j; k++)
        a[i][j] -= a[i][k] * a[k][j];
      a[i][j] /= a[j][j];
    }
    for (int64_t j = i; j < n; j++)
      for (int64_t k = 0; k < i; k++)
        a[i][j] -= a[i][k] * a[k][j];
  }
}
void cholesky(int64_t n, double a[n][n]) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) {
      for (int64_t k = 0; k < j; k++)
        a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
    for (int64_t k = 0; k < i; k++)
      a[i][i] -= a[i][k] * a[i][k];
    a[i][i] = sqrt(a[i][i]);
  }
}
void cholesky_right(int64_t n, double a[n][n]) {
  for (int64_t k = 0; k < n; k++) {
    a[k][k] = sqrt(a[k][k]);
    for (int64_t i = k + 1; i < n; i++)
      a[i][k] /= a[k][k];
    for (int64_t i = k + 1; i < n; i++)
      for (int64_t j = k + 1; j <= i; j++)
        a[i][j] -= a[i][k] * a[j][k];
  }
}
void jacobi1d(int64_t n, int64_t steps, double a[n], double b[n]) {
  for (int64_t t = 0; t < steps; t++) {
    for (int64_t i = 1; i < n - 1; i++) b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
    for (int64_t i = 1; i < n - 1; i++) a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
  }
}
void jacobi2d(int64_t n, int64_t steps, double a[n][n], double b[n][n]) {
  for (int64_t t = 0; t < steps; t++) {
    for (int64_t i = 1; i < n - 1; i++)
      for (int64_t j = 1; j < n - 1; j++)
        b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]);
    for (int64_t i = 1; i < n - 1; i++)
      for (int64_t j = 1; j < n - 1; j++)
        a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i + 1][j] + b[i - 1][j]);
  }
}
void heat3d(int64_t n, int64_t steps, double a[n][n][n], double b[n][n][n]) {
  for (int64_t t = 0; t < steps; t++) {
    for (int64_t i = 1; i < n - 1; i++)
      for (int64_t j = 1; j < n - 1; j++)
        for (int64_t k = 1; k < n - 1; k++)
          b[i][j][k] = 0.125 * (a[i + 1][j][k] - 2.0 * a[i][j][k] + a[i - 1][j][k])
                     + 0.125 * (a[i][j + 1][k] - 2.0 * a[i][j][k] + a[i][j - 1][k])
                     + 0.125 * (a[i][j][k + 1] - 2.0 * a[i][j][k] + a[i][j][k - 1]) + a[i][j][k];
    for (int64_t i = 1; i < n - 1; i++)
      for (int64_t j = 1; j < n - 1; j++)
        for (int64_t k = 1; k < n - 1; k++)
          a[i][j][k] = 0.125 * (b[i + 1][j][k] - 2.0 * b[i][j][k] + b[i - 1][j][k])
                     + 0.125 * (b[i][j + 1][k] - 2.0 * b[i][j][k] + b[i][j - 1][k])
                     + 0.125 * (b[i][j][k + 1] - 2.0 * b[i][j][k] + b[i][j][k - 1]) + b[i][j][k];
  }
}
void seidel2d(int64_t n, int64_t steps, double a[n][n]) {
  for (int64_t t = 0; t < steps; t++)
    for (int64_t i = 1; i < n - 1; i++)
      for (int64_t j = 1; j < n - 1; j++)
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j]
                 + a[i][j + 1] + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9.0;
}
void smooth(int64_t n, double x[n][n]) {
  for (int64_t i = 1; i < n - 1; i++)
    for (int64_t j = 1; j < n - 1; j++)
      x[i][j] = (x[i - 1][j] + x[i][j - 1] + x[i][j + 1] + x[i + 1][j]) * 0.25;
}
void fdtd2d(int64_t steps, int64_t n, int64_t m, double ex[n][m], double ey[n][m], double hz[n][m], const double f[steps]) {
  for (int64_t t = 0; t < steps; t++) {
    for (int64_t j = 0; j < m; j++) ey[0][j] = f[t];
    for (int64_t i = 1; i < n; i++)
      for (int64_t j = 0; j < m; j++)
        ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 1; j < m; j++)
        ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
    for (int64_t i = 0; i < n - 1; i++)
      for (int64_t j = 0; j < m - 1; j++)
        hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}
void floyd_warshall(int64_t n, int32_t d[n][n]) {
  for (int64_t k = 0; k < n; k++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++)
        d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];
}
void conv2d(int64_t n, int64_t m, const double x[n + 2][m + 2], const double w[3][3], double y[n][m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) {
      double s = 0;
      for (int64_t k = 0; k < 3; k++)
        for (int64_t l = 0; l < 3; l++)
          s += w[k][l] * x[i + k][j + l];
      y[i][j] = s;
    }
}
void transpose(int64_t n, int64_t m, const double a[n][m], double b[m][n]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++)
      b[j][i] = a[i][j];
}
void prefix_rows(int64_t n, int64_t m, double x[n][m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 1; j < m; j++)
      x[i][j] += x[i][j - 1];
}
void prefix_cols(int64_t n, int64_t m, double x[n][m]) {
  for (int64_t i = 1; i < n; i++)
    for (int64_t j = 0; j < m; j++)
      x[i][j] += x[i - 1][j];
}
void correlation(int64_t n, int64_t m, double x[n][m], double mean[m], double dev[m], double corr[m][m]) {
  for (int64_t j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (int64_t i = 0; i < n; i++) mean[j] += x[i][j];
    mean[j] /= n;
  }
  for (int64_t j = 0; j < m; j++) {
    dev[j] = 0.0;
    for (int64_t i = 0; i < n; i++) dev[j] += (x[i][j] - mean[j]) * (x[i][j] - mean[j]);
    dev[j] = sqrt(dev[j] / n);
    dev[j] = dev[j] <= 0.1 ? 1.0 : dev[j];
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) {
      x[i][j] -= mean[j];
      x[i][j] /= sqrt((double)n) * dev[j];
    }
  for (int64_t i = 0; i < m - 1; i++) {
    corr[i][i] = 1.0;
    for (int64_t j = i + 1; j < m; j++) {
      corr[i][j] = 0.0;
      for (int64_t k = 0; k < n; k++) corr[i][j] += x[k][i] * x[k][j];
      corr[j][i] = corr[i][j];
    }
  }
  corr[m - 1][m - 1] = 1.0;
}
void axpy(int64_t n, double alpha, const double x[n], double y[n]) {
  for (int64_t i = 0; i < n; i++) y[i] += alpha * x[i];
}
void heat_ping(int64_t n, int64_t steps, double a[2][n]) {
  for (int64_t t = 0; t < steps; t++)
    for (int64_t i = 1; i < n - 1; i++)
      a[(t + 1) % 2][i] = 0.25 * (a[t % 2][i - 1] + 2.0 * a[t % 2][i] + a[t % 2][i + 1]);
}
void colsum(int64_t n, int64_t m, const double a[n][m], double s[m]) {
  for (int64_t j = 0; j < m; j++) {
    double t = 0;
    for (int64_t i = 0; i < n; i++) t += a[i][j];
    s[j] = t;
  }
}
void ring(int64_t n, int64_t m, const double a[n][m], double b[n][m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++)
      b[i][j] = a[(i + 1) % n][j] + a[(i + n - 1) % n][j] + a[i][(j + 2) % m] + a[i][(j + m - 1) % m] - 4 * a[i][j];
}
void padded(int64_t n, int64_t m, int64_t p, const double a[n][m], const double w[3][3], double b[n][m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) {
      double s = 0;
      for (int64_t u = 0; u < 3; u++)
        for (int64_t v = 0; v < 3; v++)
          if ((u != 1 || v != 1) && i + u - p >= 0 && i + u - p < n && j + v - p >= 0 && j + v - p < m)
            s += a[i + u - p][j + v - p] * w[u][v];
      b[i][j] = s;
    }
}
