/* See tiles.h. The inner loops are unrolled over rows and columns by constants, so that sums stay
 * in registers; which version runs is asked of the processor. */
typedef REAL lanes
    __attribute__((vector_size(TILE_LANES * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

#if defined(__clang__)
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif
#define INLINED static inline __attribute__((always_inline))

enum { TILE_MOST = 8, TILE_WIDE = 2, TILE_SPAN = TILE_WIDE * TILE_LANES };

#define FOR_TARGET(name) name##_anywhere
#define TILE_TALL 4
#include "net/vision/tiles_kernel.h"
#undef FOR_TARGET
#undef TILE_TALL

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define TILES_CHOOSE

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define FOR_TARGET(name) name##_avx2
#define TILE_TALL 3
#include "net/vision/tiles_kernel.h" /* NOLINT(readability-duplicate-include) */
#undef FOR_TARGET
#undef TILE_TALL
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,fma")
#define FOR_TARGET(name) name##_avx512
#define TILE_TALL 8
#include "net/vision/tiles_kernel.h" /* NOLINT(readability-duplicate-include) */
#undef FOR_TARGET
#undef TILE_TALL
#pragma GCC pop_options
#endif

typedef struct versions {
    void (*product)(size_t rows, size_t out, const tile_runs *runs, const REAL *x, size_t step,
                    const REAL *weights, const REAL *bias, REAL *y, size_t pitch);
    void (*outer)(size_t rows, size_t out, const tile_runs *runs, const REAL *x, size_t step,
                  const REAL *d, size_t pitch, REAL *weights);
    void (*sums)(size_t rows, size_t out, const REAL *d, size_t pitch, REAL *sums);
} versions;

static const versions *best(void)
{
    static const versions anywhere = {product_anywhere, outer_anywhere, sums_anywhere};
#if defined(TILES_CHOOSE)
    static const versions avx2 = {product_avx2, outer_avx2, sums_avx2};
    static const versions avx512 = {product_avx512, outer_avx512, sums_avx512};
    if (__builtin_cpu_supports("avx512f")) {
        return &avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return &avx2;
    }
#endif
    return &anywhere;
}

void NAMED(tiles, product)(size_t rows, size_t out, const tile_runs *runs, const REAL *x,
                           size_t step, const REAL *weights, const REAL *bias, REAL *y,
                           size_t pitch)
{
    best()->product(rows, out, runs, x, step, weights, bias, y, pitch);
}

void NAMED(tiles, outer)(size_t rows, size_t out, const tile_runs *runs, const REAL *x, size_t step,
                         const REAL *d, size_t pitch, REAL *weights)
{
    best()->outer(rows, out, runs, x, step, d, pitch, weights);
}

void NAMED(tiles, sums)(size_t rows, size_t out, const REAL *d, size_t pitch, REAL *sums)
{
    best()->sums(rows, out, d, pitch, sums);
}
