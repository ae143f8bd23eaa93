/* OpenMP with reductions of array sections: each thread has a private copy on its stack. */
#include "peers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(...) _Pragma(#__VA_ARGS__)
#define FOR(reduction, ...) TEXT(omp parallel for schedule(__VA_ARGS__) reduction)
#define REDUCES(...) reduction(+ : __VA_ARGS__)
#define BATCH , 1024
#define UPDATE
#define WAY(name) name##_reduction
#include "openmp.h"

/* A pair is nothing that a clause can reduce without copying the arrays into pairs: private arrays by hand, merged in turn. */
static void k04(int64_t n, int32_t m, const int32_t seg[n], const float x[n], float best[m], int64_t arg[m]) {
#pragma omp parallel
    {
        float *mine = malloc(sizeof(float) * (size_t)m);
        int64_t *at = malloc(sizeof(int64_t) * (size_t)m);
        for (int32_t s = 0; s < m; s++) mine[s] = -INFINITY;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            int32_t s = seg[i];
            if (x[i] > mine[s]) {
                mine[s] = x[i];
                at[s] = i;
            }
        }
#pragma omp for ordered schedule(static, 1)
        for (int turn = 0; turn < 2; turn++) {
#pragma omp ordered
            for (int32_t s = 0; s < m; s++)
                if (mine[s] > best[s]) {
                    best[s] = mine[s];
                    arg[s] = at[s];
                }
        }
        free(mine);
        free(at);
    }
}
void k04_f32_reduction(const Slot *slots) { k04(I64(0), I32(1), ARRAY(2), ARRAY(3), ARRAY(4), ARRAY(5)); }
