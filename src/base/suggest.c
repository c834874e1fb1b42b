/* The nearest name by restricted Damerau-Levenshtein distance: insert, delete, replace, swap of
 * neighbours, each 1. A name is offered when at most a third of it (and never all) is changed, or
 * when the word is the beginning of exactly that name. */
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 };

static size_t smallest(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a);
    size_t m = strlen(b);
    size_t row[3][LONGEST + 1]; /* rows i-2, i-1, i of the table, in turn */
    if (n > LONGEST || m > LONGEST) {
        return (size_t)LONGEST + 1;
    }
    for (size_t j = 0; j <= m; j++) {
        row[0][j] = j;
    }
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3];
        const size_t *last = row[(i + 2) % 3];
        const size_t *before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            now[j] = smallest(replace, smallest(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = smallest(now[j], before[j - 2] + 1);
            }
        }
    }
    return row[n % 3][m];
}

const char *lscm_suggest(const char *word, const char *const *candidates, size_t count)
{
    const char *best = NULL;
    size_t best_distance = 0;
    size_t length = strlen(word);
    for (size_t i = 0; i < count; i++) {
        size_t far = distance(word, candidates[i]);
        size_t longer = strlen(candidates[i]) > length ? strlen(candidates[i]) : length;
        bool near = far <= (longer + 2) / 3 && far < longer;
        bool begins = length >= 2 && strncmp(word, candidates[i], length) == 0;
        if ((near || begins) && (best == NULL || far < best_distance)) {
            best = candidates[i];
            best_distance = far;
        }
    }
    return best;
}

const char *suggest_choice(const char *word, const char *choices, char *out, size_t size)
{
    char names[16][LONGEST + 1];
    const char *candidates[16];
    size_t count = 0;
    while (*choices != '\0' && count < 16) {
        size_t length = strcspn(choices, "|");
        (void)snprintf(names[count], sizeof names[count], "%.*s", (int)length, choices);
        candidates[count] = names[count];
        count++;
        choices += length + (choices[length] == '|' ? 1 : 0);
    }
    const char *best = lscm_suggest(word, candidates, count);
    if (best == NULL) {
        return NULL;
    }
    (void)snprintf(out, size, "%s", best);
    return out;
}
