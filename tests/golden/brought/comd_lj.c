// test run
// set natoms = 9
// set p.sigma = 2
// set p.epsilon = 0.5
// set p.cutoff = 4
// array r = random 0 4
// array f = zeros
// array U = zeros
typedef double real_t;
typedef struct LjPotentialSt { real_t cutoff, sigma, epsilon; } LjPotential;
static void zeroReal3(real_t a[3]) { a[0] = 0.0; a[1] = 0.0; a[2] = 0.0; }
real_t ljForce(int natoms, LjPotential p, const real_t r[natoms][3], real_t f[natoms][3], real_t U[natoms]) {
  LjPotential *pot = &p;
  real_t sigma = pot->sigma;
  real_t epsilon = pot->epsilon;
  real_t rCut = pot->cutoff;
  real_t rCut2 = rCut * rCut;
  real_t ePot = 0.0;
  for (int i = 0; i < natoms; i++) { zeroReal3(f[i]); U[i] = 0.; }
  real_t s6 = sigma * sigma * sigma * sigma * sigma * sigma;
  real_t rCut6 = s6 / (rCut2 * rCut2 * rCut2);
  real_t eShift = 1.0 * rCut6 * (rCut6 - 1.0);
  for (int iOff = 0; iOff < natoms; iOff++) {
    for (int jOff = 0; jOff < natoms; jOff++) {
      real_t dr[3];
      if (jOff == iOff) continue;
      real_t r2 = 0.0;
      for (int m = 0; m < 3; m++) {
        dr[m] = r[iOff][m] - r[jOff][m];
        r2 += dr[m] * dr[m];
      }
      if (r2 <= rCut2 && r2 > 0.0) {
        r2 = 1.0 / r2;
        real_t r6 = s6 * (r2 * r2 * r2);
        real_t eLocal = r6 * (r6 - 1.0) - eShift;
        U[iOff] += 0.5 * eLocal;
        ePot += 0.5 * eLocal;
        real_t fr = -4.0 * epsilon * r6 * r2 * (12.0 * r6 - 6.0);
        for (int m = 0; m < 3; m++) f[iOff][m] -= dr[m] * fr;
      }
    }
  }
  ePot = ePot * 4.0 * epsilon;
  return ePot;
}
// ----
// U = 39.90402256832993 80.86589817829653 289.1511341945522 313.08044986429854 208.36669707797273 779.5830682564572 111.32731367841865 -0.11483081556155028 35.6668345157767
// f = 599.8820260381056 -814.3690804257178 -431.2664921176658 -2342.1954614252036 150.96070230350284 1808.2346975807268 11828.6430542676 -1716.3747333717408 -1934.9407872161744 -7759.806054455556 10593.426425940046 -940.8199609536997 -5044.600028690737 -4917.020383133815 172.84325057095927 209.79882333550555 … checksum 74bcecf5c0c439ab
// return = 3715.6611750370826
