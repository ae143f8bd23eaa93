/* Calls the kernel of examples/kernels/segment_sum.c, compiled by strew into an object, beside the loop as C has it.

   strew emit examples/kernels/segment_sum.c --stage object -o segment_sum.o --library libstrew_runtime.a
   cc -O2 -I. examples/call_from_c.c segment_sum.o libstrew_runtime.a -lpthread -ldl -lm -o call_from_c
   ./call_from_c */
#include "segment_sum.h"
#include <stdio.h>
#include <stdlib.h>

static void serial(int64_t n, const int32_t *seg, const float *x, double *out) {
  for (int64_t i = 0; i < n; i++)
    out[seg[i]] += x[i];
}

int main(void) {
  enum { N = 1000000, M = 1000 };
  int32_t *seg = malloc(N * sizeof *seg);
  float *x = malloc(N * sizeof *x);
  double *sums = calloc(M, sizeof *sums), *expected = calloc(M, sizeof *expected);
  if (!seg || !x || !sums || !expected)
    return 1;
  for (int64_t i = 0; i < N; i++) {
    seg[i] = (int32_t)(i * 7919 % M);
    x[i] = (float)(i % 13) / 4;
  }
  serial(N, seg, x, expected);

  uint32_t code = strew_segment_sum(N, M, seg, x, sums);
  if (code != STREW_DONE) {
    fprintf(stderr, "the call returned %u\n", code);
    return 1;
  }
  int differ = 0;
  for (int j = 0; j < M; j++)
    differ += sums[j] != expected[j];
  printf("%d of %d sums differ from those of the serial loop\n", differ, M);

  /* A key that is out of range is a code, and nothing has changed. */
  seg[777] = M;
  code = strew_segment_sum(N, M, seg, x, sums);
  struct strew_fault fault;
  strew_last_fault(&fault);
  printf("line %u: index %lld of %s is not below %lld, in iteration %lld\n", fault.line, (long long)fault.index,
         fault.array, (long long)fault.extent, (long long)fault.iteration[0]);
  for (int j = 0; j < M; j++)
    differ += sums[j] != expected[j];

  free(seg), free(x), free(sums), free(expected);
  return differ != 0 || code != STREW_OUT_OF_RANGE;
}
