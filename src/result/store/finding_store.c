#include "result/store/finding_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static size_t take_one(const json_t *one, lscm_finding *out, const char **nodes)
{
    const json_t *names = json_object_get(one, "nodes");
    *out = (lscm_finding){.check = text_at(one, "check"),
                          .verdict = text_at(one, "verdict"),
                          .figure = number_at(one, "figure"),
                          .limit = number_at(one, "limit"),
                          .node = nodes,
                          .says = text_at(one, "says"),
                          .remedy = text_at(one, "remedy")};
    for (size_t k = 0; k < json_array_size(names); k++) {
        const char *name = json_string_value(json_array_get(names, k));
        if (name != NULL) {
            nodes[out->nodes++] = name;
        }
    }
    return out->nodes;
}

lscm_status finding_store_of(finding_store **out, json_t *checks, lscm_error *why)
{
    size_t most = json_array_size(checks);
    size_t names = 0;
    for (size_t k = 0; k < most; k++) {
        names += json_array_size(json_object_get(json_array_get(checks, k), "nodes"));
    }
    finding_store *f = calloc(1, sizeof *f);
    lscm_finding *all = calloc(most + 1, sizeof *all);
    const lscm_finding **each = (const lscm_finding **)calloc(most + 1, sizeof(void *));
    const char **nodes = calloc(names + 1, sizeof *nodes);
    if (f == NULL || all == NULL || each == NULL || nodes == NULL) {
        free(f);
        free(all);
        free((void *)each);
        free((void *)nodes);
        return fail_memory(why, (most + 1) * sizeof *all);
    }
    *f = (finding_store){.all = all, .each = each, .nodes = nodes, .checks = json_incref(checks)};
    names = 0;
    for (size_t k = 0; k < most; k++) {
        const json_t *one = json_array_get(checks, k);
        if (json_is_object(one)) {
            names += take_one(one, &all[f->count], nodes + names);
            each[f->count] = &all[f->count];
            f->found += strcmp(all[f->count].verdict, "found") == 0 ? 1 : 0;
            f->count++;
        }
    }
    *out = f;
    return LSCM_OK;
}

void finding_store_free(finding_store *f)
{
    if (f != NULL) {
        free(f->all);
        free((void *)f->each);
        free((void *)f->nodes);
        json_decref(f->checks);
        free(f);
    }
}
