// test run
// set n = 15
// array x = random -50 50
// array out = zeros
typedef struct { double key; int value; } entry;
typedef struct { entry items[64]; int size; } heap;
static void push(heap *h, double key, int value) {
  int i = h->size++;
  while (i > 0) {
    int parent = (i - 1) / 2;
    if (h->items[parent].key <= key) break;
    h->items[i] = h->items[parent];
    i = parent;
  }
  h->items[i].key = key;
  h->items[i].value = value;
}
static entry pop(heap *h) {
  entry top = h->items[0], last = h->items[--h->size];
  int i = 0;
  for (;;) {
    int child = 2 * i + 1;
    if (child >= h->size) break;
    if (child + 1 < h->size && h->items[child + 1].key < h->items[child].key) child++;
    if (last.key <= h->items[child].key) break;
    h->items[i] = h->items[child];
    i = child;
  }
  h->items[i] = last;
  return top;
}
void heap_sort(int n, const double x[n], int out[n]) {
  heap h = {.size = 0};
  for (int i = 0; i < n; i++) push(&h, x[i], i);
  for (int i = 0; i < n; i++) out[i] = pop(&h).value;
}
// ----
// out = 14 6 11 5 2 4 13 7 8 10 0 1 12 9 3
