/* Letters of 5 x 7 pixels: columns of each, the lowest bit on top, from ' ' to '~'. */
#ifndef LSCM_DATA_PICTURE_LETTERS_H
#define LSCM_DATA_PICTURE_LETTERS_H

#include <stdbool.h>

/* Whether `letter` is one of them. */
bool letter_known(char letter);
/* Whether it has ink there: x < 5, y < 8. */
bool letter_ink(char letter, unsigned x, unsigned y);

#endif
