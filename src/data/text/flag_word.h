/* A name behind a flag in a sentence, so that it can be copied to a shell: quoted where it must be.
 */
#ifndef LSCM_DATA_TEXT_FLAG_WORD_H
#define LSCM_DATA_TEXT_FLAG_WORD_H

enum { FLAG_WORD = 320 };

/* `out`: "gene", or "'cell type'"; a name that does not fit is cut off. */
const char *flag_word(const char *name, char out[FLAG_WORD]);

#endif
