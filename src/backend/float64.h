/* From here on, what is written once for both precisions is in double: see backend.h. Not guarded:
 * it may come again after the other. */
#undef PRECISION
#undef REAL
#undef TYPED
#undef NAMED
#undef MATH
#undef BLAS
#define PRECISION 64
#define REAL double
#define TYPED(type) type##_f64
#define NAMED(family, verb) family##_f64_##verb
#define MATH(name) name
#define BLAS(name) cblas_d##name
