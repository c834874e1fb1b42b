/* CLONED: the compiler makes versions of a function for wider vector units and the right one is
 * chosen when the program starts. Not under sanitizers, whose run time starts too late for that. */
#ifndef LSCM_BASE_SIMD_H
#define LSCM_BASE_SIMD_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LSCM_SANITIZED 1
#endif
#endif

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&                        \
    !defined(__SANITIZE_ADDRESS__) && !defined(LSCM_SANITIZED)
#define CLONED __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define CLONED
#endif

#endif
