#include "data/h5ad/h5ad_targets.h"

#include "data/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "CEBPE_ctrl" and "ctrl_CEBPE" to "CEBPE". */
static void drop_control(char *part, const char *control)
{
    char *last = strrchr(part, '_');
    while (last != NULL && last[1] != '\0' && lscm_is_control(last + 1, control)) {
        *last = '\0';
        last = strrchr(part, '_');
    }
    for (char *first = strchr(part, '_'); first != NULL; first = strchr(part, '_')) {
        *first = '\0';
        if (part[0] == '\0' || !lscm_is_control(part, control)) {
            *first = '_';
            return;
        }
        memmove(part, first + 1, strlen(first + 1) + 1);
    }
}

/* Room for one more in a list of elements of that size. */
static void *grow(void *list, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return list;
    }
    size_t larger = 2 * *room + 64;
    void *moved = realloc(list, larger * size);
    *room = moved != NULL ? larger : *room;
    return moved;
}

static lscm_status add_part(h5ad_targets *t, const char *name, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t id = H5AD_NO_TARGET;
    uint32_t *part = grow(t->part, t->parts, &t->room, sizeof *part);
    if (part == NULL) {
        return fail_memory(why, t->parts * sizeof *part);
    }
    t->part = part;
    if (name != NULL) {
        TRY(h5ad_words_add(&t->names, name, &id, why));
    }
    t->part[t->parts++] = (uint32_t)id;
done:
    return status;
}

static lscm_status take_word(h5ad_targets *t, const char *word, const h5ad_words *genes,
                             const char *control, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char copy[H5AD_WORD];
    char *rest = copy;
    if (strlen(word) >= sizeof copy) {
        return fail(why, LSCM_VALUE, "a target has a name of %zu bytes, '%.60s...'; %d at most",
                    strlen(word), word, H5AD_WORD - 1);
    }
    if (word[0] != '\0' && h5ad_words_find(genes, word) < genes->count) {
        return add_part(t, word, why);
    }
    if (lscm_is_control(word, control)) {
        return add_part(t, NULL, why);
    }
    memcpy(copy, word, strlen(word) + 1);
    for (char *part = next_target(&rest); part != NULL; part = next_target(&rest)) {
        if (h5ad_words_find(genes, part) == genes->count && !lscm_is_control(part, control)) {
            drop_control(part, control);
        }
        bool gene = part[0] != '\0' && h5ad_words_find(genes, part) < genes->count;
        TRY(add_part(t, gene || !lscm_is_control(part, control) ? part : NULL, why));
    }
done:
    return status;
}

/* used (words): 1 where a word stands in some row. */
static uint8_t *words_used(const h5ad_column *column)
{
    uint8_t *used = calloc(column->words.count + 1, 1);
    for (size_t i = 0; i < column->rows && used != NULL; i++) {
        used[column->word[i]] = 1;
    }
    return used;
}

lscm_status h5ad_targets_read(h5ad_targets *targets, const h5ad_file *file, const char *name,
                              size_t rows, const h5ad_words *genes, const char *control,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char path[H5AD_NAME];
    uint8_t *used = NULL;
    *targets = (h5ad_targets){0};
    (void)snprintf(path, sizeof path, "obs/%.400s", name);
    TRY(h5ad_column_read(&targets->column, file, path, rows, why));
    size_t words = targets->column.words.count;
    used = words_used(&targets->column);
    targets->begin = calloc(words + 1, sizeof *targets->begin);
    if (used == NULL || targets->begin == NULL) {
        status = fail_memory(why, words * sizeof *targets->begin);
        goto done;
    }
    for (size_t i = 0; i < words; i++) {
        targets->begin[i] = targets->parts;
        if (used[i] != 0) {
            TRY(take_word(targets, targets->column.words.list[i]->text, genes, control, why));
        }
    }
    targets->begin[words] = targets->parts;
done:
    free(used);
    return status;
}

void h5ad_targets_close(h5ad_targets *targets)
{
    h5ad_column_close(&targets->column);
    h5ad_words_close(&targets->names);
    free(targets->begin);
    free(targets->part);
    *targets = (h5ad_targets){0};
}

/* ---- Values */

static lscm_status add_number(h5ad_values *v, double number, lscm_error *why)
{
    double *part = grow(v->part, v->parts, &v->room, sizeof *part);
    if (part == NULL) {
        return fail_memory(why, v->parts * sizeof *part);
    }
    v->part = part;
    v->part[v->parts++] = number;
    return LSCM_OK;
}

static lscm_status take_numbers(h5ad_values *v, const char *word, locale_t c, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double number = 0;
    if (number_parse(word, c, &number)) {
        return add_number(v, number, why); /* "1e+05" */
    }
    char *copy = strdup(word);
    char *rest = copy;
    if (copy == NULL) {
        return fail_memory(why, strlen(word));
    }
    for (char *text = next_target(&rest); text != NULL; text = next_target(&rest)) {
        TRY(add_number(v, number_parse(text, c, &number) ? number : (double)NAN, why));
    }
done:
    free(copy);
    return status;
}

/* One number for all parts of the target's word, or one for each, where it has a target. */
static lscm_status check_row(const h5ad_values *v, const h5ad_file *file, const char *name,
                             const h5ad_targets *t, size_t row, lscm_error *why)
{
    size_t label = t->column.word[row];
    size_t word = v->column.word[row];
    size_t parts = t->begin[label + 1] - t->begin[label];
    size_t numbers = v->begin[word + 1] - v->begin[word];
    bool fits = numbers == 1 || numbers == parts;
    bool any = false;
    for (size_t k = 0; k < parts; k++) {
        bool target = t->part[t->begin[label] + k] != H5AD_NO_TARGET;
        any = any || target;
        fits = fits && (!target || isfinite(h5ad_value(v, row, k)));
    }
    if (any && !fits) {
        return fail(why, LSCM_VALUE,
                    "%s: row %zu (0-based) acts on '%.60s', but '%.60s' in the column '%.60s' is "
                    "not a number for that",
                    file->path, row, t->column.words.list[label]->text,
                    v->column.words.list[word]->text, name);
    }
    return LSCM_OK;
}

lscm_status h5ad_values_read(h5ad_values *values, const h5ad_file *file, const char *name,
                             const h5ad_targets *targets, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char path[H5AD_NAME];
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *values = (h5ad_values){0};
    (void)snprintf(path, sizeof path, "obs/%.400s", name);
    TRY(h5ad_column_read(&values->column, file, path, targets->column.rows, why));
    size_t words = values->column.words.count;
    values->begin = calloc(words + 1, sizeof *values->begin);
    if (c == (locale_t)0 || values->begin == NULL) {
        status = fail_memory(why, words * sizeof *values->begin);
        goto done;
    }
    for (size_t i = 0; i < words; i++) {
        values->begin[i] = values->parts;
        TRY(take_numbers(values, values->column.words.list[i]->text, c, why));
    }
    values->begin[words] = values->parts;
    for (size_t row = 0; row < targets->column.rows; row++) {
        TRY(check_row(values, file, name, targets, row, why));
    }
done:
    if (c != (locale_t)0) {
        freelocale(c);
    }
    return status;
}

double h5ad_value(const h5ad_values *values, size_t row, size_t k)
{
    size_t word = values->column.word[row];
    size_t first = values->begin[word];
    size_t numbers = values->begin[word + 1] - first;
    return numbers == 1 ? values->part[first] : k < numbers ? values->part[first + k] : (double)NAN;
}

void h5ad_values_close(h5ad_values *values)
{
    h5ad_column_close(&values->column);
    free(values->begin);
    free(values->part);
    *values = (h5ad_values){0};
}
