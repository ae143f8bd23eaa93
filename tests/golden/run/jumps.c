// test run
// set n = 60
// array k = random -4 40
// array out = zeros
// array trace = zeros
void jumps(int n, const int k[n], int out[n], int trace[n]) {
  for (int i = 0; i < n; i++) {
    if (i % 7 == 3) continue;
    if (k[i] < 0) {
      if (k[i] == -1) continue;
      trace[i] += 1000;
      if (k[i] == -2) break;
    } else if (k[i] > 38) {
      trace[i] += 7;
      continue;
    }
    trace[i] += i;
  }
  int at = 0, turns = 0;
  while (1) {
    turns++;
    if (k[at] > 30) { at++; continue; }
    for (int j = at; j < n; j++) {
      if (k[j] == 5) { out[at] = j; break; }
      if (k[j] == 6) continue;
      if (k[j] == 39 && turns > 40) return;
      out[at] -= 1;
    }
    if (++at >= n) break;
    do {
      if (out[at - 1] > 3) break;
      out[at - 1]++;
      if (turns % 2) continue;
      out[at - 1] += 2;
    } while (out[at - 1] < 2);
  }
  for (int i = 0; i < n; i++) {
    int v = k[i];
    switch (v & 15) {
      case 0: out[i] += 1;
      case 1: if (v > 16) break; out[i] += 2;
      case 2: out[i] += 4; break;
      case 3: continue;
      default: out[i] += 8;
      case 5: out[i] += 16; if (v == 21) continue;
      case 6: switch (v) { case 6: out[i] -= 5; break; case 22: out[i] -= 6; }
              out[i] += 32; break;
      case 7: { int t = v * 2; out[i] += t; }
      case 8: case 9: while (1) { if (out[i]++ > 3) break; }
    }
    out[i] *= 3;
  }
  for (int i = 0; i < n; i++)
    switch (k[i]) case 4: out[i] = -1;
  if (out[0] == 12345) return;
  for (int i = n - 1; ; i--) {
    if (i < 0) return;
    if (k[i] == 12) { trace[i]--; return; }
    trace[i]++;
  }
}
// ----
// out = 174 24 51 180 174 177 0 168 144 20 -1 177 15 0 174 3 … checksum a07439ed9df399a6
// trace = 0 1 2 0 0 5 6 7 8 9 0 10 13 14 15 16 … checksum 1063d296056329c2
