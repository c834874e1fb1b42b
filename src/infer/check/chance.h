/* Chances of statistics under what they test:
 *
 *     P(F > f) of F(a, b) = I_x(b/2, a/2),  x = b/(b + a f),
 *
 * I the regularised incomplete beta function by its continued fraction (Lentz); of a normal by
 * erfc; of skewness and kurtosis together by D'Agostino's K^2, which is chi^2 with two degrees of
 * freedom.
 */
#ifndef LSCM_INFER_CHECK_CHANCE_H
#define LSCM_INFER_CHECK_CHANCE_H

#include <stddef.h>

/* P(F > f) with a and b degrees of freedom; 1 where there are none, or f is not a number. */
double chance_of_f(double f, double a, double b);
/* P(|u| > ..) of a standard normal. */
double chance_of_normal(double u);
/* That numbers so skewed and with such tails are normal: x (n); 1 below 20 of them. */
double chance_of_tails(const double *x, size_t n);

#endif
