// test run
// set n = 40
// set m = 6
// array p.x = random -2 12
// array p.y = random -5 5
// array p.z = random -5 5
// array p.mass = random 1 3
// array p.cell = random 0 5
// array out.x = zeros
// array out.y = zeros
// array out.z = zeros
// array mass = zeros
typedef struct { double x, y, z; } vec;
typedef struct particle { double x, y, z; float mass; int cell; } particle;
void centre(int n, int m, const particle p[n], vec out[m], double mass[m]) {
  for (int i = 0; i < n; i++) {
    const particle q = p[i];
    mass[q.cell] += q.mass;
    out[q.cell].x += q.mass * q.x;
    out[q.cell].y += q.mass * q.y;
    out[q.cell].z += q.mass * q.z;
  }
  for (int c = 0; c < m; c++)
    if (mass[c] > 0) { out[c].x /= mass[c]; out[c].y /= mass[c]; out[c].z /= mass[c]; }
}
// ----
// mass = 7.9375 11.25000011920929 15.500000238418579 23.18749976158142 10.958333373069763 0
// out.x = 7.149989075860952 4.015509231720933 5.657594109233823 6.460223872940227 6.201362516213324 0
// out.y = 1.3415901157173897 -0.6215277950336902 0.33770163078151777 0.9418051828071325 0.7450887427308669 0
// out.z = 1.3415901157173897 -0.6215277950336902 0.33770163078151777 0.9418051828071325 0.7450887427308669 0
