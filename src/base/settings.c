/* Settings: a struct and the table that describes it (see lscm.h). Field offsets in the table turn
 * names and texts into fields; nothing here knows any particular setting. A choice is stored as the
 * number of its enum, which has the size of an unsigned int. */
#include "base/settings.h"
#include "base/status.h"
#include "base/suggest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t *integer_at(const lscm_setting *row, void *settings)
{
    return (int64_t *)(void *)((char *)settings + row->offset);
}

static double *real_at(const lscm_setting *row, void *settings)
{
    return (double *)(void *)((char *)settings + row->offset);
}

static unsigned *choice_at(const lscm_setting *row, void *settings)
{
    return (unsigned *)(void *)((char *)settings + row->offset);
}

static bool *flag_at(const lscm_setting *row, void *settings)
{
    return (bool *)(void *)((char *)settings + row->offset);
}

/* The field as a double, for range checks; exact, since integers stay below 2^53. */
static double number_at(const lscm_setting *row, const void *settings)
{
    const char *field = (const char *)settings + row->offset;
    switch (row->kind) {
    case LSCM_REAL:
        return *(const double *)(const void *)field;
    case LSCM_FLAG:
        return *(const bool *)(const void *)field ? 1 : 0;
    case LSCM_CHOICE:
        return *(const unsigned *)(const void *)field;
    case LSCM_INTEGER:
        break;
    }
    return (double)*(const int64_t *)(const void *)field;
}

static void store(const lscm_setting *row, void *settings, double number)
{
    switch (row->kind) {
    case LSCM_REAL:
        *real_at(row, settings) = number;
        break;
    case LSCM_FLAG:
        *flag_at(row, settings) = number != 0;
        break;
    case LSCM_CHOICE:
        *choice_at(row, settings) = (unsigned)number;
        break;
    case LSCM_INTEGER:
        *integer_at(row, settings) = (int64_t)number;
        break;
    }
}

void lscm_settings_defaults(const lscm_settings_table *table, void *settings)
{
    for (size_t i = 0; i < table->count; i++) {
        store(&table->rows[i], settings, table->rows[i].initial);
    }
}

static bool same_name(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        char left = *a == '-' ? '_' : *a;
        char right = *b == '-' ? '_' : *b;
        if (left != right) {
            return false;
        }
    }
    return *a == *b;
}

void *settings_new(const lscm_settings_table *table, const void *settings)
{
    void *out = calloc(1, table->size);
    if (out != NULL && settings != NULL) {
        memcpy(out, settings, table->size);
    } else if (out != NULL) {
        lscm_settings_defaults(table, out);
    }
    return out;
}

const lscm_setting *lscm_settings_row(const lscm_settings_table *table, size_t index)
{
    return index < table->count ? &table->rows[index] : NULL;
}

const lscm_setting *lscm_settings_find(const lscm_settings_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (same_name(table->rows[i].name, name)) {
            return &table->rows[i];
        }
    }
    return NULL;
}

static lscm_status fail_unknown(const lscm_settings_table *table, const char *name, lscm_error *why)
{
    const char *best = NULL;
    const char **names = malloc(table->count * sizeof *names);
    if (names != NULL) {
        for (size_t i = 0; i < table->count; i++) {
            names[i] = table->rows[i].name;
        }
        best = lscm_suggest(name, names, table->count);
    }
    free(names);
    if (best == NULL) {
        return fail(why, LSCM_USAGE, "there is no setting '%s'", name);
    }
    return fail(why, LSCM_USAGE, "there is no setting '%s'; did you mean '%s'?", name, best);
}

static lscm_status check_range(const lscm_setting *row, double number, lscm_error *why)
{
    /* written so that NaN fails */
    if (!(number >= row->least && number <= row->most)) {
        return fail(why, LSCM_USAGE, "'%s' is %.17g; it must lie between %.15g and %.15g",
                    row->name, number, row->least, row->most);
    }
    return LSCM_OK;
}

static lscm_status parse_number(const lscm_setting *row, const char *value, double *number,
                                lscm_error *why)
{
    char *end = NULL;
    errno = 0;
    *number = strtod(value, &end);
    if (end == value || *end != '\0' || (errno == ERANGE && fabs(*number) > 1)) {
        return fail(why, LSCM_USAGE, "'%s' takes a number, not '%s'", row->name, value);
    }
    if (row->kind == LSCM_INTEGER && *number != floor(*number)) {
        return fail(why, LSCM_USAGE, "'%s' takes a whole number, not '%s'", row->name, value);
    }
    return check_range(row, *number, why);
}

static lscm_status parse_flag(const lscm_setting *row, const char *value, double *number,
                              lscm_error *why)
{
    bool on = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    if (!on && strcmp(value, "false") != 0 && strcmp(value, "0") != 0) {
        return fail(why, LSCM_USAGE, "'%s' takes true or false, not '%s'", row->name, value);
    }
    *number = on ? 1 : 0;
    return LSCM_OK;
}

static lscm_status parse_choice(const lscm_setting *row, const char *value, double *number,
                                lscm_error *why)
{
    char best[64];
    size_t length = strlen(value);
    const char *choice = row->choices;
    for (int index = 0; *choice != '\0'; index++) {
        size_t width = strcspn(choice, "|");
        if (width == length && strncmp(choice, value, width) == 0) {
            *number = index;
            return LSCM_OK;
        }
        choice += width + (choice[width] == '|' ? 1 : 0);
    }
    if (suggest_choice(value, row->choices, best, sizeof best) != NULL) {
        return fail(why, LSCM_USAGE, "'%s' cannot be '%s'; did you mean '%s'?", row->name, value,
                    best);
    }
    return fail(why, LSCM_USAGE, "'%s' cannot be '%s'; it takes one of %s", row->name, value,
                row->choices);
}

lscm_status lscm_settings_set(const lscm_settings_table *table, void *settings, const char *name,
                              const char *value, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double number = 0;
    const lscm_setting *row = lscm_settings_find(table, name);
    if (row == NULL) {
        return fail_unknown(table, name, why);
    }
    if (row->kind == LSCM_FLAG) {
        TRY(parse_flag(row, value, &number, why));
    } else if (row->kind == LSCM_CHOICE) {
        TRY(parse_choice(row, value, &number, why));
    } else {
        TRY(parse_number(row, value, &number, why));
    }
    store(row, settings, number);
done:
    return status;
}

void lscm_settings_get(const lscm_setting *row, const void *settings, char *out, size_t size)
{
    double number = settings != NULL ? number_at(row, settings) : row->initial;
    if (row->kind == LSCM_FLAG) {
        (void)snprintf(out, size, "%s", number != 0 ? "true" : "false");
    } else if (row->kind == LSCM_CHOICE) {
        const char *choice = row->choices;
        for (int index = 0; index < (int)number && *choice != '\0'; index++) {
            choice += strcspn(choice, "|");
            choice += *choice == '|' ? 1 : 0;
        }
        (void)snprintf(out, size, "%.*s", (int)strcspn(choice, "|"), choice);
    } else if (row->kind == LSCM_INTEGER) {
        (void)snprintf(out, size, "%.0f", number);
    } else {
        /* the shortest text that reads back to the same number */
        for (int digits = 6; digits <= 17; digits++) {
            (void)snprintf(out, size, "%.*g", digits, number);
            if (strtod(out, NULL) == number) {
                break;
            }
        }
    }
}

lscm_status lscm_settings_check(const lscm_settings_table *table, const void *settings,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t i = 0; i < table->count; i++) {
        TRY(check_range(&table->rows[i], number_at(&table->rows[i], settings), why));
    }
done:
    return status;
}
