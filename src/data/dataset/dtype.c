/* Element types: names, sizes, conversion to double, byte order, and the search for NaN and Inf.
 *
 * A float is NaN or Inf exactly when all its exponent bits are 1, that is when
 * (bits & exponent) + lowest exponent bit carries into the sign bit. The or of that over a block
 * has no branch, so the search runs as fast as memory. Elements may be unaligned: they are copied.
 */
#include "data/dataset/dtype.h"

#include "base/simd.h"

#include <string.h>

size_t dtype_size(dtype type)
{
    static const size_t sizes[DTYPE_COUNT] = {
#define DTYPE_SIZE(id, name, bytes, code) bytes,
        DTYPE_TABLE(DTYPE_SIZE)
#undef DTYPE_SIZE
    };
    return type < DTYPE_COUNT ? sizes[type] : 0;
}

static const char *const NAMES[DTYPE_COUNT] = {
#define DTYPE_NAME(id, name, bytes, code) name,
    DTYPE_TABLE(DTYPE_NAME)
#undef DTYPE_NAME
};

static const char *const CODES[DTYPE_COUNT] = {
#define DTYPE_CODE(id, name, bytes, code) code,
    DTYPE_TABLE(DTYPE_CODE)
#undef DTYPE_CODE
};

const char *dtype_name(dtype type)
{
    return type < DTYPE_COUNT ? NAMES[type] : "unknown";
}

const char *dtype_code(dtype type)
{
    return type < DTYPE_COUNT ? CODES[type] : "unknown";
}

static dtype find(const char *const *texts, const char *text)
{
    int type = 0;
    while (type < DTYPE_COUNT && strcmp(texts[type], text) != 0) {
        type++;
    }
    return (dtype)type;
}

dtype dtype_from_name(const char *name)
{
    return find(NAMES, name);
}

dtype dtype_from_code(const char *code)
{
    return find(CODES, code);
}

static uint32_t half_widen(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000U) << 16;
    uint32_t exponent = (half >> 10) & 0x1fU;
    uint32_t fraction = half & 0x3ffU;
    if (exponent == 0x1f) {
        return sign | 0x7f800000U | fraction << 13;
    }
    if (exponent == 0) {
        float value = (float)fraction * 0x1p-24F; /* subnormal: exact in float */
        uint32_t bits = 0;
        memcpy(&bits, &value, sizeof bits);
        return sign | bits;
    }
    return sign | (exponent + 112) << 23 | fraction << 13; /* 112 = 127 - 15 */
}

static uint16_t half_narrow(uint32_t bits)
{
    uint32_t sign = (bits >> 16) & 0x8000U;
    uint32_t size = bits & 0x7fffffffU;
    if (size > 0x7f800000U) { /* NaN: never let the payload become that of Inf */
        uint32_t fraction = (size >> 13) & 0x3ffU;
        return (uint16_t)(sign | 0x7c00U | (fraction != 0 ? fraction : 0x200U));
    }
    if (size >= 0x477ff000U) { /* 65520, half-way past the largest */
        return (uint16_t)(sign | 0x7c00U);
    }
    if (size < 0x38800000U) { /* below 2^-14: halves lie 2^-24 apart, as floats do in [0.5, 1) */
        float value = 0;
        memcpy(&value, &size, sizeof value);
        value += 0.5F;
        memcpy(&size, &value, sizeof size);
        return (uint16_t)(sign | (size - 0x3f000000U));
    }
    size += 0xfffU + ((size >> 13) & 1U);
    return (uint16_t)(sign | (size - 0x38000000U) >> 13);
}

void half_to_float(const uint16_t *half, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = half_widen(half[i]);
        memcpy(&out[i], &bits, sizeof bits);
    }
}

void half_from_float(const float *from, size_t n, uint16_t *out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = 0;
        memcpy(&bits, &from[i], sizeof bits);
        out[i] = half_narrow(bits);
    }
}

static void halves_to_double(const void *raw, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t half = 0;
        float value = 0;
        memcpy(&half, (const char *)raw + i * sizeof half, sizeof half);
        uint32_t bits = half_widen(half);
        memcpy(&value, &bits, sizeof value);
        out[i] = (double)value;
    }
}

#define CONVERT(ctype)                                                                             \
    for (size_t i = 0; i < n; i++) {                                                               \
        ctype element;                                                                             \
        memcpy(&element, (const char *)raw + i * sizeof element, sizeof element);                  \
        out[i] = (double)element;                                                                  \
    }                                                                                              \
    break

void dtype_to_double(dtype type, const void *raw, size_t n, double *out)
{
    switch (type) {
    case DTYPE_BOOL:
    case DTYPE_UINT8:
        CONVERT(uint8_t);
    case DTYPE_INT8:
        CONVERT(int8_t);
    case DTYPE_INT16:
        CONVERT(int16_t);
    case DTYPE_INT32:
        CONVERT(int32_t);
    case DTYPE_INT64:
        CONVERT(int64_t);
    case DTYPE_UINT16:
        CONVERT(uint16_t);
    case DTYPE_UINT32:
        CONVERT(uint32_t);
    case DTYPE_UINT64:
        CONVERT(uint64_t);
    case DTYPE_FLOAT16:
        halves_to_double(raw, n, out);
        break;
    case DTYPE_FLOAT32:
        CONVERT(float);
    case DTYPE_FLOAT64:
        if (n > 0) {
            memcpy(out, raw, n * sizeof *out);
        }
        break;
    case DTYPE_COUNT:
        break;
    }
}

#define SWAP(ctype, swap)                                                                          \
    for (size_t i = 0; i < n; i++) {                                                               \
        ctype element;                                                                             \
        memcpy(&element, (char *)raw + i * sizeof element, sizeof element);                        \
        element = swap(element);                                                                   \
        memcpy((char *)raw + i * sizeof element, &element, sizeof element);                        \
    }                                                                                              \
    break

void dtype_swap(dtype type, void *raw, size_t n)
{
    switch (dtype_size(type)) {
    case 2:
        SWAP(uint16_t, __builtin_bswap16);
    case 4:
        SWAP(uint32_t, __builtin_bswap32);
    case 8:
        SWAP(uint64_t, __builtin_bswap64);
    default:
        break;
    }
}

enum { SEARCH_BLOCK = 1024 }; /* elements searched without a branch */

/* Bits whose top one is set when any of n elements is NaN or Inf. */
#define CARRIES(name, utype, exponent, lowest)                                                     \
    CLONED static utype name(const void *raw, size_t n)                                            \
    {                                                                                              \
        utype carries = 0;                                                                         \
        for (size_t i = 0; i < n; i++) {                                                           \
            utype bits;                                                                            \
            memcpy(&bits, (const char *)raw + i * sizeof bits, sizeof bits);                       \
            carries = (utype)(carries | (utype)((bits & (exponent)) + (lowest)));                  \
        }                                                                                          \
        return carries;                                                                            \
    }

CARRIES(carries16, uint16_t, 0x7c00U, 0x0400U)
CARRIES(carries32, uint32_t, 0x7f800000U, 0x00800000U)
CARRIES(carries64, uint64_t, 0x7ff0000000000000U, 0x0010000000000000U)

static bool any_nonfinite(dtype type, const void *raw, size_t n)
{
    switch (type) {
    case DTYPE_FLOAT16:
        return carries16(raw, n) >> 15 != 0;
    case DTYPE_FLOAT32:
        return carries32(raw, n) >> 31 != 0;
    case DTYPE_FLOAT64:
        return carries64(raw, n) >> 63 != 0;
    default:
        return false;
    }
}

size_t dtype_first_nonfinite(dtype type, const void *raw, size_t n)
{
    size_t size = dtype_size(type);
    if (type != DTYPE_FLOAT16 && type != DTYPE_FLOAT32 && type != DTYPE_FLOAT64) {
        return n;
    }
    for (size_t start = 0; start < n; start += SEARCH_BLOCK) {
        size_t count = n - start < SEARCH_BLOCK ? n - start : SEARCH_BLOCK;
        const char *block = (const char *)raw + start * size;
        if (any_nonfinite(type, block, count)) {
            size_t i = 0;
            while (!any_nonfinite(type, block + i * size, 1)) {
                i++;
            }
            return start + i;
        }
    }
    return n;
}
