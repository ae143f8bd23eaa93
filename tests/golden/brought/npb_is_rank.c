// test run
// set n = 40
// set max_key = 16
// array key_array = random 0 15
// array key_buff1 = zeros
// array key_buff2 = zeros
// array rank = zeros
typedef int INT_TYPE;
#define SHIFT 2
#define NUM_BUCKETS 4
void rank_keys(INT_TYPE n, INT_TYPE max_key, const INT_TYPE key_array[n], INT_TYPE key_buff1[max_key], INT_TYPE key_buff2[n], INT_TYPE rank[n]) {
  INT_TYPE i, k, bucket_size[NUM_BUCKETS], bucket_ptrs[NUM_BUCKETS];
  INT_TYPE *key_buff_ptr, *key_buff_ptr2;
  for (i = 0; i < NUM_BUCKETS; i++)
    bucket_size[i] = 0;
  for (i = 0; i < n; i++)
    bucket_size[key_array[i] >> SHIFT]++;
  bucket_ptrs[0] = 0;
  for (i = 1; i < NUM_BUCKETS; i++)
    bucket_ptrs[i] = bucket_ptrs[i - 1] + bucket_size[i - 1];
  for (i = 0; i < n; i++) {
    k = key_array[i];
    key_buff2[bucket_ptrs[k >> SHIFT]++] = k;
  }
  key_buff_ptr2 = key_buff2;
  for (i = 0; i < max_key; i++)
    key_buff1[i] = 0;
  key_buff_ptr = key_buff1;
  for (i = 0; i < n; i++)
    key_buff_ptr[key_buff_ptr2[i]]++;
  for (i = 0; i < max_key - 1; i++)
    key_buff_ptr[i + 1] += key_buff_ptr[i];
  for (i = n - 1; i >= 0; i--)
    rank[i] = --key_buff_ptr[key_array[i]];
}
// ----
// key_buff1 = 0 4 5 5 9 11 13 18 19 22 27 31 34 35 37 40
// key_buff2 = 3 0 0 3 3 0 3 0 1 6 6 5 6 7 6 4 … checksum 72f0b442524f0be5
// rank = 5 37 22 0 23 13 14 24 27 19 25 11 1 6 28 7 … checksum cebdb1a6ef56bcce
