#include "data/npy/permutation.h"

#include <string.h>

bool permutation_order(const double *p, size_t d, size_t *order)
{
    for (size_t k = 0; k < d; k++) {
        order[k] = d;
    }
    for (size_t node = 0; node < d; node++) {
        size_t ones = 0;
        for (size_t k = 0; k < d; k++) {
            if (p[node * d + k] == 1 && order[k] == d) {
                order[k] = node;
                ones++;
            } else if (!(p[node * d + k] == 0)) {
                return false;
            }
        }
        if (ones != 1) {
            return false;
        }
    }
    return true;
}

size_t type_counts_to(dtype type)
{
    size_t bits = 8 * dtype_size(type);
    switch (type) {
    case DTYPE_FLOAT16:
        return 1U << 11;
    case DTYPE_FLOAT32:
        return 1U << 24;
    case DTYPE_FLOAT64:
        return (size_t)1 << 53;
    case DTYPE_UINT8:
    case DTYPE_UINT16:
    case DTYPE_UINT32:
    case DTYPE_UINT64:
        return SIZE_MAX >> (8 * sizeof(size_t) - bits);
    case DTYPE_INT8:
    case DTYPE_INT16:
    case DTYPE_INT32:
    case DTYPE_INT64:
        return SIZE_MAX >> (8 * sizeof(size_t) - bits + 1);
    case DTYPE_BOOL:
    case DTYPE_COUNT:
        break;
    }
    return 0;
}

/* A whole number up to 2^11 as the bits of a half: exponent and the bits after the first 1. */
static uint16_t half(size_t value)
{
    unsigned exponent = 0;
    while (value >> exponent > 1) {
        exponent++;
    }
    unsigned rest = (unsigned)(value << 11 >> exponent >> 1) & 0x3ffU;
    return value == 0 ? 0 : (uint16_t)((exponent + 15) << 10 | rest);
}

void type_store(dtype type, void *elements, size_t at, size_t value)
{
    float single = (float)value;
    double number = (double)value;
    uint64_t wide = value;
    uint32_t middle = (uint32_t)value;
    uint16_t narrow = type == DTYPE_FLOAT16 ? half(value) : (uint16_t)value;
    uint8_t byte = (uint8_t)value;
    size_t size = dtype_size(type);
    const void *from = type == DTYPE_FLOAT64   ? (const void *)&number
                       : type == DTYPE_FLOAT32 ? (const void *)&single
                       : size == 8             ? (const void *)&wide
                       : size == 4             ? (const void *)&middle
                       : size == 2             ? (const void *)&narrow
                                               : (const void *)&byte;
    memcpy((char *)elements + at * size, from, size);
}
