// test run
// set numK = 6
// set numX = 5
// array x = random -1 1
// array y = random -1 1
// array z = random -1 1
// array Qr = zeros
// array Qi = zeros
// array kVals.Kx = random -1 1
// array kVals.Ky = random -1 1
// array kVals.Kz = random -1 1
// array kVals.PhiMag = random 0 2
#include <math.h>
#define PIx2 6.2831853071795864769252867665590058f
#define MIN(X,Y) ((X) < (Y) ? (X) : (Y))
#define K_ELEMS_PER_GRID 2048
struct kValues {
  float Kx;
  float Ky;
  float Kz;
  float PhiMag;
};
inline static void
ComputeQCPU(int numK, int numX,
            struct kValues *kVals,
            const float* x, const float* y, const float* z,
            float *Qr, float *Qi) {
  float expArg;
  float cosArg;
  float sinArg;
  int indexK, indexX;
  for (indexK = 0; indexK < numK; indexK++) {
    for (indexX = 0; indexX < numX; indexX++) {
      expArg = PIx2 * (kVals[indexK].Kx * x[indexX] +
                       kVals[indexK].Ky * y[indexX] +
                       kVals[indexK].Kz * z[indexX]);
      cosArg = cosf(expArg);
      sinArg = sinf(expArg);
      float phi = kVals[indexK].PhiMag;
      Qr[indexX] += phi * cosArg;
      Qi[indexX] += phi * sinArg;
    }
  }
}
void mriq(int numK, int numX, struct kValues kVals[numK], const float x[numX], const float y[numX], const float z[numX], float Qr[numX], float Qi[numX]) {
  ComputeQCPU(numK, numX, kVals, x, y, z, Qr, Qi);
}
// ----
// Qi = -0.37552744 0.77696645 0.3897285 1.1528015 0.02831506
// Qr = -1.5820473 -0.54710186 -1.0450667 1.475148 -1.3302232
