/* The kernels of the scatter bench, in each way that there is. */
#include "peers.h"
#include <string.h>

#define KERNELS(X)                                                                                                            \
    X(k01_u32) X(k02_f64) X(k02_f32) X(k02_i32) X(k03_f32) X(k05_f64) X(k06_f32) X(k07_i64) X(k08f_f64) X(k08b_f64)           \
    X(k09_f64) X(k10_f64) X(k11_f64) X(k12_f64)

#define DECLARE(name) Run name##_serial, name##_reduction, name##_atomic, name##_races;
KERNELS(DECLARE)
Run k04_f32_serial, k04_f32_reduction, k04_f32_races;

Run *find_peer(const char *kernel, const char *way) {
#define FIND(name, found) \
    if (!strcmp(kernel, #name) && !strcmp(way, #found)) return name##_##found;
#define SERIAL(name) FIND(name, serial)
    KERNELS(SERIAL) SERIAL(k04_f32)
#ifdef _OPENMP
#define PARALLEL(name) FIND(name, reduction) FIND(name, races)
#define ATOMIC(name) FIND(name, atomic)
    KERNELS(PARALLEL) PARALLEL(k04_f32) KERNELS(ATOMIC)
#endif
    return NULL;
}
