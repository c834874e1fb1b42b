#include "data/csv/csv_numbers.h"

#include "data/csv/csv_question.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_LEAST = 4 }; /* fewer may count by chance */

lscm_status csv_numbers_open(csv_numbers *numbers, const csv_columns *columns, lscm_error *why)
{
    size_t d = columns->variables;
    size_t found = 0;
    *numbers = (csv_numbers){.first = calloc(d, sizeof *numbers->first),
                             .counts = calloc(d, sizeof *numbers->counts),
                             .suspect = d};
    if (numbers->first == NULL || numbers->counts == NULL) {
        return fail_memory(why, d * sizeof *numbers->first);
    }
    for (size_t i = 0; i < d && !columns->said; i++) {
        if (sounds_like_targets(columns->names[columns->column[i]])) {
            numbers->suspect = i;
            found++;
        }
    }
    numbers->suspect = found == 1 ? numbers->suspect : d;
    return LSCM_OK;
}

void csv_numbers_look(csv_numbers *numbers, const csv_columns *columns, const double *x)
{
    size_t d = columns->variables;
    for (size_t i = 0; i < d; i++) {
        numbers->first[i] = numbers->rows == 0 ? x[i] : numbers->first[i];
        numbers->counts[i] =
            numbers->rows == 0 ||
            (numbers->counts[i] && x[i] - numbers->first[i] == (double)numbers->rows);
    }
    if (numbers->suspect < d) {
        double one = x[numbers->suspect];
        numbers->varies = numbers->varies || one != numbers->first[numbers->suspect];
        if (!(one >= -1 && one <= (double)d && one == floor(one))) {
            numbers->suspect = d;
        }
    }
    numbers->rows++;
}

size_t csv_numbers_counter(const csv_numbers *numbers, const csv_columns *columns)
{
    size_t i = numbers->rows < ROWS_LEAST ? columns->variables : 0;
    while (i < columns->variables && !numbers->counts[i]) {
        i++;
    }
    return i;
}

lscm_status csv_numbers_judge(const csv_numbers *numbers, const csv_columns *columns,
                              const char *path, lscm_error *why)
{
    if (numbers->suspect < columns->variables && numbers->varies) {
        return csv_question_numbers(columns, path, columns->column[numbers->suspect], why);
    }
    for (size_t i = 0; numbers->rows >= ROWS_LEAST && i < columns->variables; i++) {
        const char *name = columns->names[columns->column[i]];
        if (numbers->counts[i] && sounds_like_rows(name)) {
            return fail(why, LSCM_VALUE,
                        "%s: column '%.*s' counts the rows and is no variable; leave it out with "
                        "--ignore %.*s",
                        path, csv_shown(name), name, csv_shown(name), name);
        }
    }
    return LSCM_OK;
}

void csv_numbers_close(csv_numbers *numbers)
{
    free(numbers->first);
    free(numbers->counts);
    *numbers = (csv_numbers){0};
}
