#define _GNU_SOURCE /* tdestroy */
#include "data/csv/csv_nodes.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Whatever the case: two that differ in nothing else are refused. */
static int by_name(const void *left, const void *right)
{
    const csv_named *a = left;
    const csv_named *b = right;
    return strcasecmp(a->name, b->name);
}

/* A whole number from 0, or SIZE_MAX. */
static size_t number_of(const char *word, locale_t c)
{
    double number = 0;
    bool whole =
        number_parse(word, c, &number) && number >= 0 && number < 1e9 && number == floor(number);
    return whole ? (size_t)number : SIZE_MAX;
}

static lscm_status keep_name(csv_nodes *nodes, const char *word, lscm_error *why)
{
    if (nodes->named == nodes->capacity) {
        size_t capacity = nodes->capacity > 0 ? 2 * nodes->capacity : 64;
        char **larger = realloc(nodes->names, capacity * sizeof *larger);
        if (larger == NULL) {
            return fail_memory(why, capacity * sizeof *larger);
        }
        nodes->names = larger;
        nodes->capacity = capacity;
    }
    csv_named *entry = malloc(sizeof *entry);
    char *name = strdup(word);
    if (entry == NULL || name == NULL) {
        free(entry);
        free(name);
        return fail_memory(why, sizeof *entry);
    }
    *entry = (csv_named){name, nodes->named};
    if (tsearch(entry, &nodes->tree, by_name) == NULL) {
        free(entry);
        free(name);
        return fail_memory(why, sizeof *entry);
    }
    nodes->names[nodes->named++] = name;
    return LSCM_OK;
}

lscm_status csv_nodes_add(csv_nodes *nodes, const csv_lines *in, const char *word, bool *added,
                          lscm_error *why)
{
    size_t number = number_of(word, in->c);
    csv_named wanted = {word, 0};
    csv_named *const *found = tfind(&wanted, &nodes->tree, by_name);
    *added = found == NULL;
    if (found != NULL && strcmp((*found)->name, word) != 0) {
        return fail(
            why, LSCM_VALUE, "%s: line %zu: target '%.*s' is written '%.*s' before; write it alike",
            in->path, in->line, csv_shown(word), word, csv_shown((*found)->name), (*found)->name);
    }
    if (number == SIZE_MAX) {
        nodes->words = true;
    } else if (number >= nodes->past) {
        nodes->past = number + 1;
    }
    return found != NULL ? LSCM_OK : keep_name(nodes, word, why);
}

size_t csv_nodes_count(const csv_nodes *nodes)
{
    return nodes->words ? nodes->named : nodes->past;
}

size_t csv_nodes_find(const csv_nodes *nodes, const char *word, locale_t c)
{
    size_t count = csv_nodes_count(nodes);
    if (!nodes->words) {
        size_t number = number_of(word, c);
        return number < count ? number : count;
    }
    csv_named wanted = {word, 0};
    csv_named *const *found = tfind(&wanted, &nodes->tree, by_name);
    return found != NULL ? (*found)->column : count;
}

void csv_nodes_close(csv_nodes *nodes)
{
    tdestroy(nodes->tree, free);
    names_free(nodes->names, nodes->named);
    *nodes = (csv_nodes){0};
}
