/* OpenMP with atomic updates of the outputs. */
#include "peers.h"
#include <math.h>

#define TEXT(...) _Pragma(#__VA_ARGS__)
#define FOR(reduction, ...) TEXT(omp parallel for schedule(__VA_ARGS__))
#define BATCH , 1024
#define UPDATE _Pragma("omp atomic")
#define WAY(name) name##_atomic
#include "openmp.h"
