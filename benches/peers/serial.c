/* The kernels of tests/kernels as they are, for one thread. */
#include "peers.h"
#include "../../tests/kernels/k01_hist_bin.c"
#include "../../tests/kernels/k02_scatter_add.c"
#include "../../tests/kernels/k03_segment_sum.c"
#include "../../tests/kernels/k04_segment_argmax.c"
#include "../../tests/kernels/k05_spmv_t.c"
#include "../../tests/kernels/k06_pagerank_push.c"
#include "../../tests/kernels/k07_triangles.c"
#include "../../tests/kernels/k08_betweenness.c"
#include "../../tests/kernels/k09_fem_assemble.c"
#include "../../tests/kernels/k10_deposit.c"
#include "../../tests/kernels/k11_kmeans.c"
#include "../../tests/kernels/k12_edge_flux.c"

#define double float
#define k02_scatter_add k02_scatter_add_f32
#include "../../tests/kernels/k02_scatter_add.c"
#undef double
#undef k02_scatter_add
#define double int32_t
#define k02_scatter_add k02_scatter_add_i32
#include "../../tests/kernels/k02_scatter_add.c"
#undef double
#undef k02_scatter_add

void k01_u32_serial(const Slot *slots) { k01_hist_bin(I64(0), I32(1), F32(2), F32(3), ARRAY(4), ARRAY(5)); }
void k02_f64_serial(const Slot *slots) { k02_scatter_add(I64(0), I32(1), ARRAY(2), ARRAY(3), ARRAY(4)); }
void k02_f32_serial(const Slot *slots) { k02_scatter_add_f32(I64(0), I32(1), ARRAY(2), ARRAY(3), ARRAY(4)); }
void k02_i32_serial(const Slot *slots) { k02_scatter_add_i32(I64(0), I32(1), ARRAY(2), ARRAY(3), ARRAY(4)); }
void k03_f32_serial(const Slot *slots) { k03_segment_sum(I64(0), I32(1), I32(2), ARRAY(3), ARRAY(4), ARRAY(5)); }
void k04_f32_serial(const Slot *slots) { k04_segment_argmax(I64(0), I32(1), ARRAY(2), ARRAY(3), ARRAY(4), ARRAY(5)); }
void k05_f64_serial(const Slot *slots) {
    k05_spmv_t(I32(0), I32(1), I64(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7));
}
void k06_f32_serial(const Slot *slots) {
    k06_pagerank_push(I32(0), I64(1), I32(2), F32(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7));
}
void k07_i64_serial(const Slot *slots) { k07_triangles(I32(0), I64(1), ARRAY(2), ARRAY(3), ARRAY(4)); }
void k08f_f64_serial(const Slot *slots) {
    k08_bc_level_fwd(I32(0), I64(1), I32(2), I32(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7), ARRAY(8));
}
void k08b_f64_serial(const Slot *slots) {
    k08_bc_level_bwd(I32(0), I64(1), I32(2), I32(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7), ARRAY(8), ARRAY(9));
}
void k09_f64_serial(const Slot *slots) {
    k09_fem_assemble(I32(0), I32(1), I64(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6), ARRAY(7));
}
void k10_f64_serial(const Slot *slots) { k10_deposit(I64(0), I32(1), I32(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6)); }
void k11_f64_serial(const Slot *slots) { k11_kmeans(I64(0), I32(1), I32(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6)); }
void k12_f64_serial(const Slot *slots) { k12_edge_flux(I64(0), I32(1), ARRAY(2), ARRAY(3), ARRAY(4), ARRAY(5), ARRAY(6)); }
