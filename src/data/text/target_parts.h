/* Several targets in one cell, joined by ';', '+', ',' or '|': "KLF1+CEBPE". */
#ifndef LSCM_DATA_TEXT_TARGET_PARTS_H
#define LSCM_DATA_TEXT_TARGET_PARTS_H

#define TARGET_JOINTS ";+,|"

/* The next part of *rest, cut out in place, without blanks around it; NULL after the last. Within
 * brackets nothing is separated: "(+)-JQ1". An empty text has one part, which is empty. *rest is
 * NULL after the last. */
char *next_target(char **rest);

#endif
