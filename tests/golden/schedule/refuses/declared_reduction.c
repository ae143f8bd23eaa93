// test schedule
// step tile_indirection_using_forall(i, reduction(out) = both)
static unsigned both(unsigned a, unsigned b) { return a + b + a * b; }
#pragma strew declare reduction(both : unsigned : both(a, b)) identity(0)
void f(int n, const int key[n], const unsigned x[n], unsigned out[n]) {
  for (int i = 0; i < n; i++)
    out[key[i]] += both(x[i], 1);
}
// ----
// refused misaddressed NoSuchCombiner
