// test run
// set tsteps = 2
// set n = 7
// array u = random 0 1
// array v = zeros
// array p = zeros
// array q = zeros
#define _PB_N n
#define _PB_TSTEPS tsteps
#define DATA_TYPE double
#define SCALAR_VAL(x) x
#define POLYBENCH_2D(var, dim1, dim2, ddim1, ddim2) var[dim1][dim2]
void kernel_adi(int tsteps, int n, DATA_TYPE POLYBENCH_2D(u, n, n, N, N), DATA_TYPE POLYBENCH_2D(v, n, n, N, N), DATA_TYPE POLYBENCH_2D(p, n, n, N, N), DATA_TYPE POLYBENCH_2D(q, n, n, N, N)) {
  int t, i, j;
  DATA_TYPE DX, DY, DT, B1, B2, mul1, mul2, a, b, c, d, e, f;
#pragma scop
  DX = SCALAR_VAL(1.0) / (DATA_TYPE)_PB_N;
  DY = SCALAR_VAL(1.0) / (DATA_TYPE)_PB_N;
  DT = SCALAR_VAL(1.0) / (DATA_TYPE)_PB_TSTEPS;
  B1 = SCALAR_VAL(2.0);
  B2 = SCALAR_VAL(1.0);
  mul1 = B1 * DT / (DX * DX);
  mul2 = B2 * DT / (DY * DY);
  a = -mul1 / SCALAR_VAL(2.0);
  b = SCALAR_VAL(1.0) + mul1;
  c = a;
  d = -mul2 / SCALAR_VAL(2.0);
  e = SCALAR_VAL(1.0) + mul2;
  f = d;
  for (t = 1; t <= _PB_TSTEPS; t++) {
    for (i = 1; i < _PB_N - 1; i++) {
      v[0][i] = SCALAR_VAL(1.0);
      p[i][0] = SCALAR_VAL(0.0);
      q[i][0] = v[0][i];
      for (j = 1; j < _PB_N - 1; j++) {
        p[i][j] = -c / (a * p[i][j - 1] + b);
        q[i][j] = (-d * u[j][i - 1] + (SCALAR_VAL(1.0) + SCALAR_VAL(2.0) * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) / (a * p[i][j - 1] + b);
      }
      v[_PB_N - 1][i] = SCALAR_VAL(1.0);
      for (j = _PB_N - 2; j >= 1; j--)
        v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (i = 1; i < _PB_N - 1; i++) {
      u[i][0] = SCALAR_VAL(1.0);
      p[i][0] = SCALAR_VAL(0.0);
      q[i][0] = u[i][0];
      for (j = 1; j < _PB_N - 1; j++) {
        p[i][j] = -f / (d * p[i][j - 1] + e);
        q[i][j] = (-a * v[i - 1][j] + (SCALAR_VAL(1.0) + SCALAR_VAL(2.0) * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) / (d * p[i][j - 1] + e);
      }
      u[i][_PB_N - 1] = SCALAR_VAL(1.0);
      for (j = _PB_N - 2; j >= 1; j--)
        u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
  }
#pragma endscop
}
// ----
// p = 0 0 0 0 0 0 0 0 0.4803921568627451 0.6245158065725354 0.6862867603306942 0.7166681789868717 0.7326197999974668 0 0 0.4803921568627451 … checksum a173f1b8d516206f
// q = 0 0 0 0 0 0 0 1 0.3209778179103482 0.5391466606529753 0.22619923330698236 0.3429139600047981 0.27327769873119945 0 1 0.6868874042111184 … checksum d888f2a3e535df81
// u = 0.10416666666666667 0.2708333333333333 0.2916666666666667 0.22916666666666666 0.08333333333333333 0.041666666666666664 0.20833333333333334 1 0.866874709628047 1.1363567950041893 0.9562770518632984 1.0638086886661207 1.0058974987286664 1 1 1.1682636208298298 … checksum e3debe9393909f67
// v = 0 1 1 1 1 1 0 0 0.9969771708342667 0.9293617360933364 0.9932847993581729 0.9946699662448267 0.9362205295340673 0 0 0.7873403492554563 … checksum 47c5db3d9a0e3feb
