/* The ways of the bench of nests, and how fast a processor multiplies and adds at best. */
#include "peers.h"
#include <string.h>

#define WAYS(X) X(native) X(narrow) X(plain)

#define DECLARE(way) Run *way(const char *kernel);
WAYS(DECLARE)
/* Where clang has Polly. */
Run *polly(const char *kernel) __attribute__((weak));
#ifdef RUSTC
Run *by_rustc(const char *kernel);
#endif

typedef double Lanes __attribute__((vector_size(16)));

/* Products and sums in vectors of 128 bits, more of them at once than one waits for. */
static void peak(const Slot *slots) {
    enum { CHAINS = 12, ROUNDS = 1 << 20 };
    (void)slots;
    Lanes sums[CHAINS], factor = {0.999999, 0.999998}, addend = {1e-9, 2e-9};
    for (int at = 0; at < CHAINS; at++) sums[at] = (Lanes){at, at};
    for (int64_t round = 0; round < ROUNDS; round++)
#pragma GCC unroll 12
        for (int at = 0; at < CHAINS; at++) sums[at] = sums[at] * factor + addend;
    volatile Lanes kept;
    for (int at = 0; at < CHAINS; at++) kept = sums[at];
}

Run *find_peer(const char *kernel, const char *way) {
    if (!strcmp(way, "peak")) return peak;
#define FIND(found) \
    if (!strcmp(way, #found)) return found(kernel);
    WAYS(FIND)
    if (!strcmp(way, "polly") && polly) return polly(kernel);
#ifdef RUSTC
    if (!strcmp(way, "rustc")) return by_rustc(kernel);
#endif
    return NULL;
}
