/* What the driver hands to a peer: the arguments of a kernel in the order of its parameters. */
#ifndef PEERS_H
#define PEERS_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t whole;  /* an integer */
    double real;    /* a float */
    void *data;     /* an array, and its size */
    size_t bytes;
    void *initial;  /* what an output holds before every run; NULL for an input */
} Slot;

typedef void Run(const Slot *slots);

/* One kernel, four ways; NULL where there is no such way. */
typedef struct {
    const char *name;
    Run *serial, *reduction, *atomic, *races;
} Peer;

#define I32(at) ((int32_t)slots[at].whole)
#define I64(at) (slots[at].whole)
#define F32(at) ((float)slots[at].real)
#define ARRAY(at) (slots[at].data)

#define KERNELS(X)                                                                                                            \
    X(k01_u32) X(k02_f64) X(k02_f32) X(k02_i32) X(k03_f32) X(k05_f64) X(k06_f32) X(k07_i64) X(k08f_f64) X(k08b_f64)           \
    X(k09_f64) X(k10_f64) X(k11_f64) X(k12_f64)

#define DECLARE(name) Run name##_serial, name##_reduction, name##_atomic, name##_races;
KERNELS(DECLARE)
Run k04_f32_serial, k04_f32_reduction, k04_f32_races;
#endif
