void turns(int64_t n, const int32_t next[n], int32_t met[n]) {
  int32_t at = 0;

  for (at = 0; next[at] > at; at++)
    met[at] = 1;

  while (at > 0)
    at = next[at];
}
