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

/* What runs a kernel in a way; NULL where there is no such way. Each bench has its own. */
Run *find_peer(const char *kernel, const char *way);

#define I32(at) ((int32_t)slots[at].whole)
#define I64(at) (slots[at].whole)
#define F32(at) ((float)slots[at].real)
#define F64(at) (slots[at].real)
#define ARRAY(at) (slots[at].data)
#endif
