// test run
// set n = 11
// array p.at.x = random -5 5
// array p.at.y = random -5 5
// array p.at.z = random -5 5
// array p.m = random 1 5
// array k = random 0 10
// array out = zeros
typedef struct { double x, y, z; } vec3;
typedef struct { vec3 at; float m; } body;
struct pair { int key[2]; vec3 v; };
vec3 add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec3 scaled(double s, const vec3 a) {
  vec3 r = a;
  r.x *= s;
  r.y *= s;
  r.z *= s;
  return r;
}
static double dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static vec3 clamped(vec3 a, double most) {
  double size = dot(a, a);
  if (size <= most)
    return a;
  for (int i = 0; i < 3; i++)
    if (size / (i + 2) < most)
      return scaled(1.0 / (i + 2), a);
  return (vec3){0};
}
static vec3 turned(vec3 a) {
  if (a.x > a.y)
    return (vec3){.z = a.x, .x = a.y, .y = a.z};
  return (vec3){a.z, a.x, .z = a.y};
}
static struct pair paired(int i, vec3 v) {
  struct pair r = {{i, i + 1}, v};
  if (i % 3 == 0)
    r.key[i % 2] = -1;
  return r;
}
void structure_values(int n, body p[n], const int k[n], double out[n]) {
  vec3 all = {0}, last = all;
  int calls = 0;
  for (int i = 0; i < n; i++) {
    vec3 d = add(p[i].at, scaled(-1, p[k[i]].at));
    all = add(all, clamped(turned(d), 9.5));
    last = i % 2 ? d : scaled(2, p[i].at);
    p[i].at = k[i] > 5 ? (calls++, turned(last)) : all;
    out[i] = add(d, last).y + clamped(d, i).x + paired(i, d).key[k[i] % 2] + paired(calls, all).v.z;
    out[i] += (p[k[i]] = (body){last, 3}).at.x;
    out[i] += ((vec3){i, calls, 2}).y + (int){k[i]};
    last = last = turned(last);
    p[i].m = dot(last, (vec3){.y = 1}.x > 0 ? all : last);
  }
  out[0] += all.x + last.z + calls;
}
// ----
// out = -4.951388888888888 18.916666666666664 31.979166666666664 7.020833333333332 -1.5347222222222219 12.819444444444443 63.19444444444444 17.819444444444443 18.798611111111114 11.42361111111111 -23.22222222222222
// p.at.x = 0.9166666666666666 -7.458333333333333 10 2.5833333333333335 0.8194444444444441 0 0.8194444444444441 0 0.42361111111111127 0 0.42361111111111127
// p.at.y = 0.9166666666666666 -7.458333333333333 10 2.5833333333333335 0.8194444444444441 0 0.8194444444444441 0 0.42361111111111127 0 0.42361111111111127
// p.at.z = 0.9166666666666666 -7.458333333333333 10 2.5833333333333335 0.8194444444444441 0 0.8194444444444441 0 0.42361111111111127 0 0.42361111111111127
// p.m = 44.083332 3 300 3 34.171875 0 1200 0 20.020834 0 166.8802
