#include "data/text/csv_names.h"

#include "base/suggest.h"
#include "data/text/csv_line.h"
#include "data/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int by_name(const void *left, const void *right)
{
    const csv_named *a = left;
    const csv_named *b = right;
    return strcmp(a->name, b->name);
}

lscm_status csv_names_open(csv_names *table, char *const *names, size_t count, const char *where,
                           lscm_error *why)
{
    *table = (csv_names){names, calloc(count + 1, sizeof *table->sorted), count};
    if (table->sorted == NULL) {
        return fail_memory(why, count * sizeof *table->sorted);
    }
    for (size_t i = 0; i < count; i++) {
        if (names[i][0] == '\0') {
            return fail(why, LSCM_FORMAT,
                        "%s: column %zu has no name; name it, or leave it out when writing the "
                        "file (an index, perhaps)",
                        where, i + 1);
        }
        if (utf8_length(names[i], strlen(names[i])) == SIZE_MAX) {
            return fail(why, LSCM_FORMAT,
                        "%s: the name of column %zu is not UTF-8; save the file in that encoding",
                        where, i + 1);
        }
        table->sorted[i] = (csv_named){names[i], i};
    }
    qsort(table->sorted, count, sizeof *table->sorted, by_name);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(table->sorted[i - 1].name, table->sorted[i].name) == 0) {
            const char *name = table->sorted[i].name;
            return fail(why, LSCM_FORMAT, "%s: two columns are named '%.*s'; names must differ",
                        where, csv_shown(name), name);
        }
    }
    return LSCM_OK;
}

size_t csv_names_find(const csv_names *table, const char *name)
{
    csv_named wanted = {name, 0};
    const csv_named *found =
        bsearch(&wanted, table->sorted, table->count, sizeof *table->sorted, by_name);
    return found != NULL ? found->column : table->count;
}

const char *csv_names_hint(const csv_names *table, const char *wrong, char *out, size_t size)
{
    const char *near = NULL;
    for (size_t i = 0; i < table->count && near == NULL; i++) {
        near = strcasecmp(table->names[i], wrong) == 0 ? table->names[i] : NULL;
    }
    near =
        near != NULL ? near : lscm_suggest(wrong, (const char *const *)table->names, table->count);
    out[0] = '\0';
    if (near != NULL) {
        (void)snprintf(out, size, "; did you mean '%.*s'?", csv_shown(near), near);
    }
    return out;
}

void csv_names_close(csv_names *table)
{
    free(table->sorted);
    *table = (csv_names){0};
}

char **names_copy(char *const *names, size_t count)
{
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = strdup(names[i]);
        if (copy[i] == NULL) {
            names_free(copy, i);
            return NULL;
        }
    }
    return copy;
}

void names_free(char **names, size_t count)
{
    for (size_t i = 0; names != NULL && i < count; i++) {
        free(names[i]);
    }
    free(names);
}
