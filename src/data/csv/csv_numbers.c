#include "data/csv/csv_numbers.h"

#include "data/csv/csv_question.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_LEAST = 4 }; /* fewer may count by chance */

lscm_status csv_numbers_open(csv_numbers *numbers, const csv_columns *columns, lscm_error *why)
{
    size_t bytes = columns->variables * sizeof *numbers->of;
    *numbers = (csv_numbers){.of = malloc(bytes)};
    if (numbers->of == NULL) {
        return fail_memory(why, bytes);
    }
    for (size_t i = 0; i < columns->variables; i++) {
        numbers->of[i] = (csv_column_numbers){NAN, -INFINITY, true, true, true, false, false};
    }
    return LSCM_OK;
}

void csv_numbers_look(csv_numbers *numbers, const csv_columns *columns, const double *x)
{
    size_t d = columns->variables;
    for (size_t i = 0; i < d; i++) {
        csv_column_numbers *of = &numbers->of[i];
        if (isnan(x[i])) { /* missing: says nothing, but names of rows are all there */
            of->counts = false;
            continue;
        }
        of->first = isnan(of->first) ? x[i] : of->first;
        of->largest = x[i] > of->largest ? x[i] : of->largest;
        of->counts = of->counts && x[i] - of->first == (double)numbers->rows;
        of->whole = of->whole && x[i] == floor(x[i]);
        of->small = of->small && of->whole && x[i] >= -1 && x[i] <= (double)d;
        of->minus = of->minus || x[i] == -1;
        of->varies = of->varies || x[i] != of->first;
    }
    numbers->rows++;
}

size_t csv_numbers_counter(const csv_numbers *numbers, const csv_columns *columns)
{
    size_t i = numbers->rows < ROWS_LEAST ? columns->variables : 0;
    while (i < columns->variables && !numbers->of[i].counts) {
        i++;
    }
    return i;
}

/* By its name and what is in it, a variable may say what do() acted on. */
static bool could_act(const csv_numbers *numbers, const csv_columns *columns, size_t i)
{
    const char *name = columns->names[columns->column[i]];
    return numbers->of[i].small && numbers->of[i].varies &&
           (sounds_like_targets(name) || (!columns->said && sounds_like_groups(name)));
}

/* The one column of whole numbers has -1 and some that could be those of columns. */
static bool has_only_minus(const csv_numbers *numbers, const csv_columns *columns, size_t i)
{
    size_t others = 0;
    for (size_t k = 0; k < columns->variables; k++) {
        others += k != i && numbers->of[k].small ? 1 : 0;
    }
    const csv_column_numbers *of = &numbers->of[i];
    return !columns->said && of->small && of->minus && of->largest > 1 && others == 0;
}

/* The variable to be asked for, or `variables`. Where most sound like it ("gene 1", "gene 2"), none
 * does. */
static size_t find_acting(const csv_numbers *numbers, const csv_columns *columns)
{
    size_t d = columns->variables;
    size_t found = 0;
    size_t first = d;
    for (size_t i = 0; i < d; i++) {
        if (could_act(numbers, columns, i) || has_only_minus(numbers, columns, i)) {
            first = found++ == 0 ? i : first;
        }
    }
    return 2 * found <= d ? first : d;
}

lscm_status csv_numbers_judge(const csv_numbers *numbers, const csv_columns *columns,
                              const char *path, lscm_error *why)
{
    size_t acting = columns->told ? columns->variables : find_acting(numbers, columns);
    if (acting < columns->variables) {
        return csv_question_numbers(columns, path, columns->column[acting], why);
    }
    for (size_t i = 0; numbers->rows >= ROWS_LEAST && i < columns->variables; i++) {
        const char *name = columns->names[columns->column[i]];
        const csv_column_numbers *of = &numbers->of[i];
        if (of->varies &&
            ((of->counts && sounds_like_rows(name)) || (of->whole && sounds_like_ids(name)))) {
            char word[FLAG_WORD];
            return fail(why, LSCM_VALUE,
                        "%s: column '%.*s' seems to name the rows; leave it out with --ignore %s; "
                        "give it another name if it is a variable",
                        path, csv_shown(name), name, flag_word(name, word));
        }
    }
    return LSCM_OK;
}

void csv_numbers_close(csv_numbers *numbers)
{
    free(numbers->of);
    *numbers = (csv_numbers){0};
}
