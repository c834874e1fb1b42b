/* Numbers as text, exact both ways and the same in every locale. */
#ifndef LSCM_DATA_TEXT_NUMBER_H
#define LSCM_DATA_TEXT_NUMBER_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

enum { NUMBER_TEXT = 32 }; /* the longest text with its end */

/* A decimal number and nothing else ("-1.5e3"; no "nan", "inf" or hex), rounded to the nearest
 * double; what is too large reads as infinity. `c` is the C locale, from newlocale. */
bool number_parse(const char *text, locale_t c, double *out);
/* The shortest text that number_parse reads back to the same (finite) double; its length. */
size_t number_text(double value, char out[NUMBER_TEXT]);

#endif
