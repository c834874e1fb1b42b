/* The numbers of base/tuned.h as variables, for bench/sensitivity alone (LSCM_TUNABLE):
 *
 *     LSCM_TUNED=NAME=value,NAME=value    takes these in place of their own
 *     LSCM_TUNED_SEEN=FILE                is left a line "NAME kind value seen" for each
 *
 * seen: 1 where the program has asked for it. What is wrong ends the program at once. */
#include "base/tuned.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_REAL(name, value, from, guards) {#name, "real", value, false},
#define ROW_COUNT(name, value, from, guards) {#name, "count", value, false},

static struct {
    const char *name, *kind;
    double value;
    atomic_bool seen;
} rows[] = {TUNED_NUMBERS(ROW_REAL, ROW_COUNT)};

double tuned_number(size_t at)
{
    atomic_store_explicit(&rows[at].seen, true, memory_order_relaxed);
    return rows[at].value;
}

static void set(const char *name, const char *value)
{
    char *end = NULL;
    for (size_t k = 0; value != NULL && k < TUNED_ROWS; k++) {
        if (strcmp(rows[k].name, name) == 0) {
            rows[k].value = strtod(value, &end);
        }
    }
    if (end == NULL || end == value || *end != '\0') {
        (void)fprintf(stderr, "LSCM_TUNED: %s: no such number, or no value\n", name);
        exit(2);
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *given = getenv("LSCM_TUNED");
    char *text = strdup(given != NULL ? given : "");
    char *rest = NULL;
    for (char *one = strtok_r(text, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(one, '=');
        if (value != NULL) {
            *value++ = '\0';
        }
        set(one, value);
    }
    free(text);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("LSCM_TUNED_SEEN");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    for (size_t k = 0; file != NULL && k < TUNED_ROWS; k++) {
        (void)fprintf(file, "%s %s %.17g %d\n", rows[k].name, rows[k].kind, rows[k].value,
                      (int)rows[k].seen);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}
