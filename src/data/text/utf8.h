/* UTF-8, our texts, to and from UCS-4, NumPy's: one number for each character. */
#ifndef LSCM_DATA_TEXT_UTF8_H
#define LSCM_DATA_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Characters in `bytes` bytes of text; SIZE_MAX when it is not UTF-8 (overlong forms, surrogates,
 * what lies beyond U+10FFFF) or has a NUL in it. */
size_t utf8_length(const char *text, size_t bytes);
/* Valid UTF-8, as many numbers as it has characters. */
void utf8_decode(const char *text, size_t bytes, uint32_t *out);
/* The bytes written to out (room for 4 * count), or SIZE_MAX when a number is no character. */
size_t utf8_encode(const uint32_t *in, size_t count, char *out);

#endif
