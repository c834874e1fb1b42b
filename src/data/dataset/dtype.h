/* The element types of arrays in files. One table: name, bytes, NumPy code, C type. */
#ifndef LSCM_DATA_DATASET_DTYPE_H
#define LSCM_DATA_DATASET_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DTYPE_TABLE(X)                                                                             \
    X(BOOL, "bool", 1, "b1")                                                                       \
    X(INT8, "int8", 1, "i1")                                                                       \
    X(INT16, "int16", 2, "i2")                                                                     \
    X(INT32, "int32", 4, "i4")                                                                     \
    X(INT64, "int64", 8, "i8")                                                                     \
    X(UINT8, "uint8", 1, "u1")                                                                     \
    X(UINT16, "uint16", 2, "u2")                                                                   \
    X(UINT32, "uint32", 4, "u4")                                                                   \
    X(UINT64, "uint64", 8, "u8")                                                                   \
    X(FLOAT16, "float16", 2, "f2")                                                                 \
    X(FLOAT32, "float32", 4, "f4")                                                                 \
    X(FLOAT64, "float64", 8, "f8")

typedef enum dtype {
#define DTYPE_ENUM(id, name, bytes, code) DTYPE_##id,
    DTYPE_TABLE(DTYPE_ENUM)
#undef DTYPE_ENUM
        DTYPE_COUNT
} dtype;

size_t dtype_size(dtype type);
const char *dtype_name(dtype type); /* "float64" */
const char *dtype_code(dtype type); /* "f8" */
/* DTYPE_COUNT when unknown. */
dtype dtype_from_name(const char *name);
dtype dtype_from_code(const char *code);
/* n native-endian elements at raw, to double. */
void dtype_to_double(dtype type, const void *raw, size_t n, double *out);
/* Reverses the bytes of n elements in place (for files of the other endianness). */
void dtype_swap(dtype type, void *raw, size_t n);
/* The index of the first element that is NaN or Inf, or n. Integers never are. */
size_t dtype_first_nonfinite(dtype type, const void *raw, size_t n);

/* IEEE half precision as bits, for files without it: exact to float, and back to the nearest
 * (ties to even); a NaN keeps its payload. */
void half_to_float(const uint16_t *half, size_t n, float *out);
void half_from_float(const float *from, size_t n, uint16_t *out);

#endif
