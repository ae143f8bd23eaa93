// test run
// set n = 9
// array a = 0 1 -1 2147483647 -2147483648 300 -77 123456 -32768
// array b = 0 4294967295 1 2147483648 2147483647 5 31 70000 200
// array out = zeros
void mixed(int n, const int a[n], const unsigned b[n], long long out[n][8]) {
  for (int i = 0; i < n; i++) {
    out[i][0] = a[i] + b[i];
    out[i][1] = a[i] < b[i];
    out[i][2] = a[i] / 3 - a[i] % 3;
    out[i][3] = (short)a[i] * (unsigned short)b[i];
    out[i][4] = -b[i];
    out[i][5] = (long)a[i] * b[i];
    out[i][6] = a[i] >> (b[i] & 31);
    out[i][7] = (unsigned char)a[i] - (signed char)b[i] ? ~a[i] : !b[i];
  }
}
// ----
// out = 0 0 0 0 0 0 0 1 0 1 -1 65535 1 4294967295 0 -2 … checksum d5185c8bad6166c4
