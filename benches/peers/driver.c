/*
 * Runs the peers on data that comes through standard input, when told to, and answers on standard output:
 *
 *   kernel NAME           forgets the arguments so far
 *   whole NUMBER          the next argument
 *   real NUMBER           the next argument
 *   input BYTES …         the next argument, followed by its bytes
 *   output BYTES …        the same; every run begins with these bytes
 *   run WAY REPEATS       answers with nanoseconds, a mean, or with `none` where there is no such way
 *   get ARGUMENT          answers with the bytes of an output after the last run
 *   bandwidth BYTES       answers with bytes a nanosecond that two threads read, and write past the caches
 *
 * Before each run all outputs are set and all inputs are read once, so each begins with the same state of the caches.
 */
#define _GNU_SOURCE
#include "peers.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MOST_SLOTS = 16, REPEATS = 7 };

/* Copies of array sections are on the stack: of this thread as of the others, which OMP_STACKSIZE is for. */
static const size_t STACK = (size_t)1 << 30;

static Slot slots[MOST_SLOTS];
static int count;

static void fail(const char *what) {
    fprintf(stderr, "peers: %s\n", what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *memory(size_t bytes) {
    void *data = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!data) fail("no memory");
    return data;
}

static void forget(void) {
    for (int at = 0; at < count; at++) {
        free(slots[at].data);
        free(slots[at].initial);
    }
    memset(slots, 0, sizeof slots);
    count = 0;
}

static Slot *next_slot(void) {
    if (count == MOST_SLOTS) fail("too many arguments");
    return &slots[count++];
}

static void take(size_t bytes, int is_output) {
    Slot *slot = next_slot();
    slot->data = memory(bytes);
    slot->bytes = bytes;
    if (fread(slot->data, 1, bytes, stdin) != bytes) fail("an array ended early");
    if (is_output) {
        slot->initial = memory(bytes);
        memcpy(slot->initial, slot->data, bytes);
    }
}

static uint64_t sum(const uint64_t *words, size_t number) {
    uint64_t all = 0;
    for (size_t at = 0; at < number; at++) all += words[at];
    return all;
}

static void begin(void) {
    static volatile uint64_t seen;
    for (int at = 0; at < count; at++)
        if (slots[at].initial) memcpy(slots[at].data, slots[at].initial, slots[at].bytes);
    for (int at = 0; at < count; at++)
        if (slots[at].data && !slots[at].initial) seen += sum(slots[at].data, slots[at].bytes / 8);
}

static void run(const char *kernel, const char *way, int repeats) {
    Run *found = find_peer(kernel, way);
    if (!found) {
        printf("none\n");
        return;
    }
    double time = 0;
    for (int repeat = 0; repeat < repeats; repeat++) {
        begin();
        double start = now();
        found(slots);
        time += now() - start;
    }
    printf("%.1f\n", time / repeats);
}

static void get(int at) {
    if (at < 0 || at >= count || !slots[at].initial) fail("no such output");
    fwrite(slots[at].data, 1, slots[at].bytes, stdout);
}

static void write_past_caches(char *data, size_t bytes) {
#ifdef __SSE2__
    const __m128i zero = _mm_setzero_si128();
#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < bytes / 16; at++) _mm_stream_si128((__m128i *)data + at, zero);
    _mm_sfence();
#else
    memset(data, 0, bytes);
#endif
}

static void bandwidth(size_t bytes) {
    static volatile uint64_t seen;
    char *data = memory(bytes);
    memset(data, 1, bytes);
    double reads = 0, writes = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double start = now();
        write_past_caches(data, bytes);
        double middle = now();
        uint64_t all = 0;
        const uint64_t *words = (const uint64_t *)data;
#pragma omp parallel for schedule(static) reduction(+ : all)
        for (size_t at = 0; at < bytes / 8; at++) all += words[at];
        seen += all;
        double end = now();
        if ((double)bytes / (middle - start) > writes) writes = (double)bytes / (middle - start);
        if ((double)bytes / (end - middle) > reads) reads = (double)bytes / (end - middle);
    }
    free(data);
    printf("%.4f %.4f\n", reads, writes);
}

static void *serve(void *unused) {
    char line[256], kernel[32] = "", word[32];
    long long whole;
    double real;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "kernel %31s", kernel) == 1) forget();
        else if (sscanf(line, "whole %lld", &whole) == 1) next_slot()->whole = whole;
        else if (sscanf(line, "real %lf", &real) == 1) next_slot()->real = real;
        else if (sscanf(line, "input %lld", &whole) == 1) take((size_t)whole, 0);
        else if (sscanf(line, "output %lld", &whole) == 1) take((size_t)whole, 1);
        else if (sscanf(line, "run %31s %lld", word, &whole) == 2) run(kernel, word, (int)whole);
        else if (sscanf(line, "get %lld", &whole) == 1) get((int)whole);
        else if (sscanf(line, "bandwidth %lld", &whole) == 1) bandwidth((size_t)whole);
        else fail("not understood");
        fflush(stdout);
    }
    return unused;
}

int main(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, STACK)) fail("no such stack");
    if (pthread_create(&thread, &attributes, serve, NULL)) fail("no thread");
    pthread_join(thread, NULL);
    return 0;
}
