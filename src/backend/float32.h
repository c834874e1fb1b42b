/* From here on, what is written once for both precisions is in float: see backend.h. Not guarded:
 * it may come again after the other. */
#undef PRECISION
#undef REAL
#undef TYPED
#undef NAMED
#undef MATH
#undef BLAS
#define PRECISION 32
#define REAL float
#define TYPED(type) type##_f32
#define NAMED(family, verb) family##_f32_##verb
#define MATH(name) name##f
#define BLAS(name) cblas_s##name
