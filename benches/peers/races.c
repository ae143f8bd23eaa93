/*
 * Two threads that do not care for each other's updates. The results are wrong, and the times are those of a machine that resolves
 * conflicts for nothing: a limit for whatever runs the iterations as they are on these threads, and then has conflicts to resolve.
 */
#include "peers.h"
#include <math.h>

#define TEXT(...) _Pragma(#__VA_ARGS__)
#define FOR(reduction, ...) TEXT(omp parallel for schedule(__VA_ARGS__))
#define BATCH , 1024
#define UPDATE
#define WAY(name) name##_races
#include "openmp.h"

static void k04(int64_t n, int32_t m, const int32_t seg[n], const float x[n], float best[m], int64_t arg[m]) {
    FOR(, static)
    for (int64_t i = 0; i < n; i++) {
        int32_t s = seg[i];
        if (x[i] > best[s]) {
            best[s] = x[i];
            arg[s] = i;
        }
    }
}
void k04_f32_races(const Slot *slots) { k04(I64(0), I32(1), ARRAY(2), ARRAY(3), ARRAY(4), ARRAY(5)); }
