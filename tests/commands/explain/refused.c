void recur(int n, double x[n]) {
  #pragma strew parallelize(i)
  for (int i = 1; i < n; i++)
    x[i] = 0.5 * x[i - 1];
}
