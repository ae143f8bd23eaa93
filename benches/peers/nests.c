/* The kernels of tests/nests, for one thread; compiled once for each way, whose name WAY is. */
#include "peers.h"
#include <string.h>

/* Several of these files are linked together. */
#define void static void
#include "../../tests/nests/atax.c"
#include "../../tests/nests/bicg.c"
#include "../../tests/nests/bodies.c"
#include "../../tests/nests/cholesky.c"
#include "../../tests/nests/common_subsequence.c"
#include "../../tests/nests/convolution_3.c"
#include "../../tests/nests/convolution_7.c"
#include "../../tests/nests/correlation.c"
#include "../../tests/nests/covariance.c"
#include "../../tests/nests/doitgen.c"
#include "../../tests/nests/fdtd_2d.c"
#include "../../tests/nests/floyd_warshall.c"
#include "../../tests/nests/gemv.c"
#include "../../tests/nests/gemv_transposed.c"
#include "../../tests/nests/gesummv.c"
#include "../../tests/nests/gram_schmidt.c"
#include "../../tests/nests/heat_3d.c"
#include "../../tests/nests/jacobi_1d.c"
#include "../../tests/nests/jacobi_2d.c"
#include "../../tests/nests/lu.c"
#include "../../tests/nests/mttkrp.c"
#include "../../tests/nests/prefix_sums.c"
#include "../../tests/nests/product_batched.c"
#include "../../tests/nests/product_ijk.c"
#include "../../tests/nests/product_ikj.c"
#include "../../tests/nests/product_jki.c"
#include "../../tests/nests/product_transposed.c"
#include "../../tests/nests/seidel_2d.c"
#include "../../tests/nests/softmax.c"
#include "../../tests/nests/syr2k.c"
#include "../../tests/nests/syrk.c"
#include "../../tests/nests/transpose.c"
#include "../../tests/nests/trmm.c"
#include "../../tests/nests/trsm.c"
#include "../../tests/nests/trsv.c"
#undef void

#define KERNELS(X) \
    X(atax, I64(0), I64(1), ARRAY(2), ARRAY(3), ARRAY(4), ARRAY(5))                                                    \
    X(bicg, I64(0), I64(1), ARRAY(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6))                                          \
    X(bodies, I64(0), F64(1), ARRAY(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7), ARRAY(8))                    \
    X(cholesky, I64(0), ARRAY(1))                                                                                      \
    X(common_subsequence, I64(0), I64(1), ARRAY(2), ARRAY(3), ARRAY(4))                                                \
    X(convolution_3, I64(0), I64(1), ARRAY(2), ARRAY(3), ARRAY(4))                                                     \
    X(convolution_7, I64(0), I64(1), ARRAY(2), ARRAY(3), ARRAY(4))                                                     \
    X(correlation, I64(0), I64(1), ARRAY(2), ARRAY(3))                                                                 \
    X(covariance, I64(0), I64(1), ARRAY(2), ARRAY(3), ARRAY(4))                                                        \
    X(doitgen, I64(0), I64(1), I64(2), ARRAY(3), ARRAY(4), ARRAY(5))                                                   \
    X(fdtd_2d, I64(0), I64(1), I64(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6))                                         \
    X(floyd_warshall, I64(0), ARRAY(1))                                                                                \
    X(gemv, I64(0), I64(1), ARRAY(2), ARRAY(3), ARRAY(4))                                                              \
    X(gemv_transposed, I64(0), I64(1), ARRAY(2), ARRAY(3), ARRAY(4))                                                   \
    X(gesummv, I64(0), I64(1), F64(2), F64(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7))                                 \
    X(gram_schmidt, I64(0), I64(1), ARRAY(2), ARRAY(3))                                                                \
    X(heat_3d, I64(0), I64(1), ARRAY(2), ARRAY(3))                                                                     \
    X(jacobi_1d, I64(0), I64(1), ARRAY(2), ARRAY(3))                                                                   \
    X(jacobi_2d, I64(0), I64(1), ARRAY(2), ARRAY(3))                                                                   \
    X(lu, I64(0), ARRAY(1))                                                                                            \
    X(mttkrp, I64(0), I64(1), I64(2), I64(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7))                                  \
    X(prefix_sums, I64(0), I64(1), ARRAY(2), ARRAY(3))                                                                 \
    X(product_batched, I64(0), ARRAY(1), ARRAY(2), ARRAY(3))                                                           \
    X(product_ijk, I64(0), I64(1), I64(2), ARRAY(3), ARRAY(4), ARRAY(5))                                               \
    X(product_ikj, I64(0), I64(1), I64(2), ARRAY(3), ARRAY(4), ARRAY(5))                                               \
    X(product_jki, I64(0), I64(1), I64(2), ARRAY(3), ARRAY(4), ARRAY(5))                                               \
    X(product_transposed, I64(0), I64(1), I64(2), ARRAY(3), ARRAY(4), ARRAY(5))                                        \
    X(seidel_2d, I64(0), I64(1), ARRAY(2))                                                                             \
    X(softmax, I64(0), I64(1), ARRAY(2), ARRAY(3))                                                                     \
    X(syr2k, I64(0), I64(1), F64(2), ARRAY(3), ARRAY(4), ARRAY(5))                                                     \
    X(syrk, I64(0), I64(1), F64(2), F64(3), ARRAY(4), ARRAY(5))                                                        \
    X(transpose, I64(0), I64(1), ARRAY(2), ARRAY(3))                                                                   \
    X(trmm, I64(0), I64(1), ARRAY(2), ARRAY(3))                                                                        \
    X(trsm, I64(0), I64(1), ARRAY(2), ARRAY(3))                                                                        \
    X(trsv, I64(0), ARRAY(1), ARRAY(2), ARRAY(3))

#define CALL(kernel, ...) \
    static void call_##kernel(const Slot *slots) { kernel(__VA_ARGS__); }
KERNELS(CALL)

Run *WAY(const char *kernel) {
#define FIND(name, ...)     if (!strcmp(kernel, #name)) return call_##name;
    KERNELS(FIND)
    return NULL;
}
