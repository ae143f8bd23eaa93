/* the lengths of the shortest paths between all nodes */
#include <stdint.h>

void floyd_warshall(int64_t n, double d[n][n]) {
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                d[i][j] = d[i][k] + d[k][j] < d[i][j] ? d[i][k] + d[k][j] : d[i][j];
}
