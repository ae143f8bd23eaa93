// test run
// set n = 24
// array x = random -2 9
// array out = zeros
static int kind(int v) {
  switch (v) {
  case -1: return 7;
  default:;
    int twice = v * 2;
    if (twice > 10)
      return twice;
  case 3: case 0:
    return -v;
  }
}
void switches(int n, const int x[n], long out[n]) {
  for (int i = 0; i < n; i++) {
    switch (x[i]) {
      long t;
    case 0:
      out[i] = 1;
      int u = x[i] + 4;
      out[i] += u;
      const int table[] = {3, 1, 4};
      out[i] += table[u % 3];
      break;
    case 1:
      t = 5;
      out[i] = t;
    case 2:;
      double half = x[i] / 2.0;
      if (half > 0.5) {
        out[i] += 10;
        break;
      }
      out[i] += (long)(half * 8);
    default:
      t = x[i];
      out[i] -= t * 100;
      break;
    case 7:
      switch (i % 3) {
      case 1:
        continue;
      default:;
        int v = i;
        out[i] = v;
      }
      out[i] += 1000;
    }
    out[i] = out[i] * 1000 + kind(x[i]);
  }
  switch (n)
  case 24:
    out[0] = -1;
}
// ----
// out = -1 -500005 200002 -400004 0 -300003 1006014 -599988 -300003 -799984 -799984 100007 -91001 -400004 -599988 -400004 … checksum 1358b1bcddffa73b
