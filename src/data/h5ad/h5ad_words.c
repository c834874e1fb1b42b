#include "data/h5ad/h5ad_words.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *left, const void *right)
{
    return strcmp(((const h5ad_word *)left)->text, ((const h5ad_word *)right)->text);
}

size_t h5ad_words_find(const h5ad_words *words, const char *text)
{
    h5ad_word wanted = {(char *)(uintptr_t)text, 0};
    void *node = tfind(&wanted, (void *const *)&words->tree, by_text);
    return node != NULL ? (*(h5ad_word *const *)node)->id : words->count;
}

static bool make_room(h5ad_words *words)
{
    if (words->count < words->capacity) {
        return true;
    }
    size_t capacity = 2 * words->capacity + 64;
    h5ad_word **larger = realloc(words->list, capacity * sizeof(h5ad_word *));
    if (larger != NULL) {
        words->list = larger;
        words->capacity = capacity;
    }
    return larger != NULL;
}

lscm_status h5ad_words_add(h5ad_words *words, const char *text, size_t *id, lscm_error *why)
{
    *id = h5ad_words_find(words, text);
    if (*id < words->count) {
        return LSCM_OK;
    }
    h5ad_word *word = make_room(words) ? calloc(1, sizeof *word) : NULL;
    if (word != NULL) {
        *word = (h5ad_word){strdup(text), words->count};
    }
    if (word == NULL || word->text == NULL || tsearch(word, &words->tree, by_text) == NULL) {
        free(word != NULL ? word->text : NULL);
        free(word);
        return fail_memory(why, strlen(text));
    }
    words->list[words->count++] = word;
    return LSCM_OK;
}

void h5ad_words_close(h5ad_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        (void)tdelete(words->list[i], &words->tree, by_text);
        free(words->list[i]->text);
        free(words->list[i]);
    }
    free(words->list);
    *words = (h5ad_words){0};
}
