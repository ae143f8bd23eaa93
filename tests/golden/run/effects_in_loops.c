// test run
// set n = 50
// array k = random -20 20
// array out = zeros
// array stack = zeros
void effects_in_loops(int n, const short k[n], long out[n], int stack[64]) {
  int top = 0, t;
  for (int i = 0; i < n; i++) {
    if ((t = k[i]) > 0 && top < 60) stack[top++] = t;
    else if (top && (t = stack[--top]) != 3) out[i] = t;
    else out[i]--;
  }
  while (top > 0) { if ((t = stack[--top]) == 7) continue; if (t == 19 && top < 2) break; out[t]++; }
  unsigned char c = 250;
  for (int i = 0; c++; i++) out[i] += c;
  int i = 0;
  for (; i++ < n - 1;) { if (k[i] == -3) continue; out[i] *= 2; }
  out[0] = i;
  for (int a = 0, b = n - 1; a < b; ++a, --b) { long s = out[a]; out[a] = out[b]; out[b] = s; }
  short s = 32767;
  out[1] = s++;
  out[2] = s;
  out[3] = --s;
  unsigned u = 0;
  out[4] = u--;
  out[5] = u;
  signed char d = 100;
  out[6] = d += 100;
  out[7] = (d <<= 3) + 1;
  out[8] = d = 300;
  float f = 16777216;
  out[9] = f++;
  out[10] = ++f;
  int m = 0;
  do { if (k[m] > 10) { m += 2; continue; } out[m]++; } while (++m < n - 2 && (k[m] != 0 || out[m]-- > 0));
  out[11] = m;
  int p = n - 1;
  while (p >= 0 && k[p--] != 5) ;
  out[12] = p;
  out[13] = m > 5 ? (m = 3, p++) : p--;
  out[14] = m + p;
}
// ----
// out = 1 32768 -32767 32767 0 4294967295 -56 65 44 16777217 16777217 50 -1 -1 3 0 … checksum d746276e19dfa9e2
// stack = 17 14 13 19 3 13 14 0 0 0 0 0 0 0 0 0 … checksum 742a9356ebe4f3e8
