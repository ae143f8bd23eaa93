// test run
// set npoints = 20
// set nfeatures = 3
// set nclusters = 4
// array feature = random -5 5
// array clusters = random -5 5
// array membership = zeros
// array new_centers_len = zeros
// array new_centers = zeros
#include <float.h>
static float euclid_dist_2(const float *pt1, const float *pt2, int numdims) {
  int i;
  float ans = 0.0;
  for (i = 0; i < numdims; i++)
    ans += (pt1[i] - pt2[i]) * (pt1[i] - pt2[i]);
  return (ans);
}
static int find_nearest_point(const float *pt, int nfeatures, const float *pts, int npts) {
  int index = 0, i;
  float min_dist = FLT_MAX;
  for (i = 0; i < npts; i++) {
    float dist;
    dist = euclid_dist_2(pt, pts + i * nfeatures, nfeatures);
    if (dist < min_dist) {
      min_dist = dist;
      index = i;
    }
  }
  return (index);
}
float kmeans(int npoints, int nfeatures, int nclusters, const float feature[npoints * nfeatures], float clusters[nclusters * nfeatures],
             int membership[npoints], int new_centers_len[nclusters], float new_centers[nclusters][nfeatures]) {
  int i, j, index, loop = 0;
  float delta;
  for (i = 0; i < npoints; i++) membership[i] = -1;
  do {
    delta = 0.0;
    for (i = 0; i < npoints; i++) {
      index = find_nearest_point(&feature[i * nfeatures], nfeatures, clusters, nclusters);
      if (membership[i] != index) delta += 1.0;
      membership[i] = index;
      new_centers_len[index]++;
      for (j = 0; j < nfeatures; j++)
        new_centers[index][j] += feature[i * nfeatures + j];
    }
    for (i = 0; i < nclusters; i++) {
      for (j = 0; j < nfeatures; j++) {
        if (new_centers_len[i] > 0)
          clusters[i * nfeatures + j] = new_centers[i][j] / new_centers_len[i];
        new_centers[i][j] = 0.0;
      }
      new_centers_len[i] = 0;
    }
  } while (delta > 0.5f && loop++ < 50);
  return delta + loop;
}
// ----
// clusters = 2.9739585 -3.1041667 0.9375 -3.965278 -2.902778 0.47916666 0.65 1.1291666 3.9958332 -0.8203125 -0.9270834 -2.6875
// membership = 3 3 2 1 0 2 0 2 3 3 1 3 3 3 1 2 … checksum 0238068a48b6550c
// return = 2
