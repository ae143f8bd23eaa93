/* Small arrays: sums of products beside a histogram, filters one behind the other, and what the last of some steps have left. */
#include <stdint.h>

void n05_small_sums(int64_t n, int32_t m, const int32_t key[n], const float x[n], int32_t h[m], float s[3][3], double z[4],
                    double y[n], int32_t seen[4]) {
    float first[3] = {0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        h[key[i]] += 2;
        float v[3] = {x[i], 0.5f * x[i], x[i] * x[i]};
        for (int a = 0; a < 3; a++) {
            first[a] += v[a];
            for (int b = 0; b <= a; b++) s[a][b] += v[a] * v[b];
        }
    }
    for (int a = 0; a < 3; a++) s[0][a] -= first[a];

    double w[4];
    for (int k = 0; k < 4; k++) w[k] = z[k];
    for (int64_t i = 0; i < n; i++) {
        double v = x[i];
        for (int k = 0; k < 4; k++) {
            w[k] = 0.5 * w[k] + v;
            v = w[k];
        }
        y[i] += v;
    }
    for (int k = 0; k < 4; k++) z[k] = w[k];

    int32_t count[4] = {0};
    _Bool odd[2] = {0};
    int64_t i = 0;
    while (i < n && count[3] < 100) {
        if (x[i] < 0) { count[0]++; odd[0] = !odd[0]; }
        else if (key[i] > 3) count[1] = (int32_t)i;
        else { count[2] += key[i]; odd[1] = odd[0]; }
        count[3]++;
        i++;
    }
    for (int k = 0; k < 4; k++) seen[k] += count[k] + odd[k / 2];
}
