/* Finding columns by name: the names of a CSV header, sorted. */
#ifndef LSCM_DATA_TEXT_CSV_NAMES_H
#define LSCM_DATA_TEXT_CSV_NAMES_H

#include "base/status.h"

typedef struct csv_named {
    const char *name;
    size_t column;
} csv_named;

typedef struct csv_names {
    char *const *names; /* (count), the caller's */
    csv_named *sorted;  /* (count) */
    size_t count;
} csv_names;

/* Names must be UTF-8, differ and not be empty; `where` opens the sentence: "data.csv: line 1". */
lscm_status csv_names_open(csv_names *table, char *const *names, size_t count, const char *where,
                           lscm_error *why);
/* The column, or `count` when there is none of that name. */
size_t csv_names_find(const csv_names *table, const char *name);
/* "; did you mean 'x'?" or nothing, for the end of a sentence. */
const char *csv_names_hint(const csv_names *table, const char *wrong, char *out, size_t size);
/* Safe on a zeroed table. */
void csv_names_close(csv_names *table);

/* `count` names, copied; NULL when out of memory. */
char **names_copy(char *const *names, size_t count);
void names_free(char **names, size_t count);

#endif
