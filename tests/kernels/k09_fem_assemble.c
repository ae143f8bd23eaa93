/* FEM: P1 triangle stiffness into CSR values through an element->slot map, and load vector */
#include <stdint.h>
#include <math.h>

void k09_fem_assemble(int32_t ne, int32_t nn, int64_t nnz, const int32_t tri[ne][3], const double xy[nn][2],
                      const int32_t slot[ne][3][3], double val[nnz], double rhs[nn]) {
    for (int32_t e = 0; e < ne; e++) {
        double b[3], c[3];
        for (int32_t i = 0; i < 3; i++) {
            int32_t j = tri[e][(i + 1) % 3], k = tri[e][(i + 2) % 3];
            b[i] = xy[j][1] - xy[k][1];
            c[i] = xy[k][0] - xy[j][0];
        }
        double area = 0.5 * fabs(b[0] * c[1] - b[1] * c[0]);
        for (int32_t i = 0; i < 3; i++) {
            rhs[tri[e][i]] += area / 3.0;
            for (int32_t j = 0; j < 3; j++)
                val[slot[e][i][j]] += (b[i] * b[j] + c[i] * c[j]) / (4.0 * area);
        }
    }
}
