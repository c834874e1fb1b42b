#include "infer/anchored/direction_advice.h"

#include "infer/check/check.h"

#include <stdio.h>

enum { MOST_TOLD = 6 };

/* Pairs with an edge of probability over 1/2, either way. */
static size_t count_likely(const anchored *a)
{
    size_t count = 0;
    for (size_t k = 0; k < a->d * a->d; k++) {
        size_t back = k % a->d * a->d + k / a->d;
        count += k < back && a->edge_prob[k] + a->edge_prob[back] > 0.5 ? 1 : 0;
    }
    return count;
}

void advise_on_directions(const json_t *pairs, const design *s, const anchored *a,
                          char *const *names, json_t *warnings)
{
    const json_t *list = json_object_get(pairs, "undirected");
    char text[1024] = "";
    size_t used = 0;
    size_t count = 0;
    for (size_t k = 0; k < json_array_size(list); k++) {
        char rooms[2][32];
        const json_t *pair = json_array_get(list, k);
        size_t i = (size_t)json_integer_value(json_array_get(pair, 0));
        size_t j = (size_t)json_integer_value(json_array_get(pair, 1));
        if (!(a->edge_prob[i * a->d + j] + a->edge_prob[j * a->d + i] > 0.5)) {
            continue;
        }
        int wrote =
            count < MOST_TOLD
                ? snprintf(text + used, sizeof text - used, "%s%s -- %s", count > 0 ? ", " : "",
                           name_of(names, i, rooms[0], 32), name_of(names, j, rooms[1], 32))
                : 0;
        bool fits = wrote > 0 && (size_t)wrote < sizeof text - used;
        used += fits ? (size_t)wrote : 0;
        text[used] = '\0'; /* names whole: a half one may not be UTF-8 */
        count++;
    }
    if (count == 0) {
        return;
    }
    (void)json_array_append_new(
        warnings,
        json_sprintf("%s: of %zu likely edges %zu %s no direction that the data know (%s%s). Only "
                     "the equivalence class of the graph is known there; sets with do() on one end "
                     "and not on the other would tell",
                     design_observational(s) ? "there are no interventions in these data"
                                             : "no intervention set tells some directions",
                     count_likely(a), count, count == 1 ? "has" : "have", text,
                     count > MOST_TOLD ? ", .." : ""));
}
