// The normals of a triangle mesh, not yet scaled to length one: each triangle adds the cross product of two of its edges,
// whose length is twice its area, to its three vertices.
#include <stdint.h>

void vertex_normals(int64_t nt, int64_t nv, const int32_t tri[nt][3], const float pos[nv][3], float normal[nv][3]) {
  for (int64_t t = 0; t < nt; t++) {
    const int32_t a = tri[t][0], b = tri[t][1], c = tri[t][2];
    const float ux = pos[b][0] - pos[a][0], uy = pos[b][1] - pos[a][1], uz = pos[b][2] - pos[a][2];
    const float vx = pos[c][0] - pos[a][0], vy = pos[c][1] - pos[a][1], vz = pos[c][2] - pos[a][2];
    const float x = uy * vz - uz * vy;
    const float y = uz * vx - ux * vz;
    const float z = ux * vy - uy * vx;
    for (int k = 0; k < 3; k++) {
      normal[tri[t][k]][0] += x;
      normal[tri[t][k]][1] += y;
      normal[tri[t][k]][2] += z;
    }
  }
}
