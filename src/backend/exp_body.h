/* exp(x) and exp(x) - 1 to the last bits, without branches or libm, so that loops over them run in
 * vector registers:
 *
 *   x = n log 2 + r, |r| <= log(2)/2;  exp(x) = 2^n (1 + q),  q = r + r^2/2! + r^3/3! + ...
 *
 * to r^7 in float, r^13 in double. The argument is clamped to where 2^n is a normal number. */
#include <stdint.h>
#include <string.h>

#if PRECISION == 32
typedef uint32_t real_bits;
#define EXP_LEAST (-87.0F)
#define EXP_MOST 87.0F
#define EXP_ROUND 0x1.8p23F  /* added: rounds to a whole number, kept in the low bits */
#define EXP_HIGH 0x1.62ep-1F /* log 2 in two parts: n times the first is exact */
#define EXP_LOW 0x1.0bfbe8p-15F
#define EXP_ONE UINT32_C(0x3f800000)
#define EXP_SHIFT 23
#else
typedef uint64_t real_bits;
#define EXP_LEAST (-700.0)
#define EXP_MOST 700.0
#define EXP_ROUND 0x1.8p52
#define EXP_HIGH 0x1.62e42feep-1
#define EXP_LOW 0x1.a39ef35793c76p-33
#define EXP_ONE UINT64_C(0x3ff0000000000000)
#define EXP_SHIFT 52
#endif

/* yes ? a : b, by bits: of a conditional the compiler makes a branch, and then no vectors. With b
 * the number in question, NaN stays. */
static inline REAL real_select(bool yes, REAL a, REAL b)
{
    real_bits mask = 0 - (real_bits)yes;
    real_bits first;
    real_bits second;
    memcpy(&first, &a, sizeof first);
    memcpy(&second, &b, sizeof second);
    first = (first & mask) | (second & ~mask);
    memcpy(&a, &first, sizeof a);
    return a;
}

/* exp(x) = power (1 + q) */
static inline void exp_parts(REAL x, REAL *power, REAL *q)
{
    x = real_select(x < EXP_LEAST, EXP_LEAST, x);
    x = real_select(x > EXP_MOST, EXP_MOST, x);
    REAL shifted = x * (REAL)0x1.71547652b82fep0 + EXP_ROUND;
    REAL n = shifted - EXP_ROUND;
    REAL r = (x - n * EXP_HIGH) - n * EXP_LOW;
    real_bits bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << EXP_SHIFT) + EXP_ONE;
    memcpy(power, &bits, sizeof bits);
#if PRECISION == 32
    REAL sum = (REAL)(1.0 / 5040);
#else
    REAL sum = 1.0 / 6227020800;
    sum = sum * r + 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
#endif
    sum = sum * r + (REAL)(1.0 / 720);
    sum = sum * r + (REAL)(1.0 / 120);
    sum = sum * r + (REAL)(1.0 / 24);
    sum = sum * r + (REAL)(1.0 / 6);
    sum = sum * r + (REAL)(1.0 / 2);
    *q = r + r * r * sum;
}

static inline REAL exp_of(REAL x)
{
    REAL power;
    REAL q;
    exp_parts(x, &power, &q);
    return power + power * q;
}

static inline REAL exp_minus_1(REAL x)
{
    REAL power;
    REAL q;
    exp_parts(x, &power, &q);
    return power * q + (power - 1);
}
