/* What the sections of a report are written with: HTML that is XML too, so that any XML parser can
 * check it, in UTF-8. Numbers are the same text in every locale. Writing never fails here: the
 * stream remembers, and lscm_report asks it at the end. */
#ifndef LSCM_RESULT_REPORT_REPORT_PAGE_H
#define LSCM_RESULT_REPORT_REPORT_PAGE_H

#include "base/status.h"

#include <stdio.h>

/* A short text, to be used within one expression: printf("%s", fixed(x, 2).text). */
typedef struct number {
    char text[48];
} number;

/* So many decimals; no -0. Beyond 1e15 and what is not finite: as few_digits. */
number fixed(double value, int decimals);
/* For people: three significant digits, a true minus, "1.2e−9" where it must be, "–" for NaN. */
number few_digits(double value);
/* For people: fixed, with a true minus. */
number decimals(double value, int count);
/* For people: up to four decimals, no zeros at the end. */
number round_number(double value);
/* "97 %", and never 0 or 100 where it is not. */
number percent(double share);
/* A coordinate of a drawing, in hundredths at most. */
number coordinate(double value);
/* As many decimals as tell apart what lies `range` apart: 2 to 6. */
int decimals_for(double range);
/* At most about six characters: two decimals, or one digit and a power of ten. */
number tiny(double value);
/* "none", "one", "two" .. "twelve", "13". */
number counted(size_t count);

/* Text of the user: escaped, what is not UTF-8 or no character of XML replaced by U+FFFD. */
void put_text(FILE *out, const char *text);
/* The same, cut to so many characters with an ellipsis. */
void put_short_text(FILE *out, const char *text, size_t most);
/* Characters of text, a byte that is not UTF-8 counting as one. */
size_t text_width(const char *text);

void page_open(FILE *out, const char *title);
void page_close(FILE *out);
void section_open(FILE *out, const char *id, const char *title);
void section_close(FILE *out);

/* The style sheet: its parts, NULL past the last. */
extern const char *const REPORT_STYLE[];

#endif
