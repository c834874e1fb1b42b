/* Words by number: each word once, numbered as they come. */
#ifndef LSCM_DATA_H5AD_H5AD_WORDS_H
#define LSCM_DATA_H5AD_H5AD_WORDS_H

#include "base/status.h"

typedef struct h5ad_word {
    char *text;
    size_t id;
} h5ad_word;

typedef struct h5ad_words {
    h5ad_word **list; /* (count) */
    size_t count, capacity;
    void *tree; /* of tsearch, by text */
} h5ad_words;

/* The number of a word, a new one where it was not there. */
lscm_status h5ad_words_add(h5ad_words *words, const char *text, size_t *id, lscm_error *why);
/* `count` when it is not there. */
size_t h5ad_words_find(const h5ad_words *words, const char *text);
/* Safe on zeroed ones. */
void h5ad_words_close(h5ad_words *words);

#endif
