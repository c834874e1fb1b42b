#include "data/csv/csv_survey.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool csv_is_text(const csv_lines *in, const char *cell)
{
    static const char *const infinite[] = {"inf", "-inf", "+inf", "infinity", "-infinity"};
    bool text = !csv_is_number(in, cell) && !csv_is_missing(cell);
    for (size_t i = 0; i < sizeof infinite / sizeof infinite[0]; i++) {
        text = text && strcasecmp(cell, infinite[i]) != 0;
    }
    return text;
}

/* "5.2 mg", "<0.1", "12%", "2024-05-01", "TRUE": a variable, perhaps, that was written badly. */
static bool is_measured(const char *cell)
{
    static const char *const logical[] = {"true", "false", "t", "f", "yes", "no"};
    bool measured = false;
    for (size_t i = 0; i < sizeof logical / sizeof logical[0]; i++) {
        measured = measured || strcasecmp(cell, logical[i]) == 0;
    }
    cell += strspn(cell, "<>=~+-$. ");
    return measured || (*cell >= '0' && *cell <= '9');
}

/* Does the cell of `column`, or a part of it, name another column that may be a variable? */
static bool names_another(const csv_columns *columns, size_t column, char *cell)
{
    char *rest = cell;
    size_t named = csv_names_find(&columns->by_name, cell);
    bool found = named < columns->count && named != column;
    for (char *part = found ? NULL : next_target(&rest); part != NULL; part = next_target(&rest)) {
        named = csv_names_find(&columns->by_name, part);
        found = found || (named < columns->count && named != column);
    }
    return found;
}

static void look(const csv_columns *columns, const csv_lines *in, size_t column)
{
    csv_seen *seen = &columns->seen[column];
    char *cell = in->cells[column];
    if (!csv_is_text(in, cell)) {
        seen->what |= csv_is_number(in, cell) ? CSV_SEEN_NUMBER : 0;
        return;
    }
    if (seen->line == 0) {
        seen->line = in->line;
        (void)snprintf(seen->text, sizeof seen->text, "%.*s", csv_shown(cell), cell);
    } else if (strcmp(seen->text, cell) == 0) {
        seen->what |= CSV_SEEN_AGAIN;
    }
    seen->what |= CSV_SEEN_TEXT;
    seen->what |= is_measured(cell) ? CSV_SEEN_MEASURED : 0;
    seen->what |= lscm_is_control(cell, NULL) ? CSV_SEEN_CONTROL : 0;
    seen->what |= names_another(columns, column, cell) ? CSV_SEEN_NAME : 0; /* cuts it up */
}

lscm_status csv_survey(const csv_columns *columns, csv_lines *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t count = 0;
    size_t *open = malloc(columns->count * sizeof *open); /* (count): columns to look at */
    if (open == NULL) {
        return fail_memory(why, columns->count * sizeof *open);
    }
    for (size_t i = 0; i < columns->count && i < in->count; i++) {
        if (columns->role[i] == CSV_VARIABLE && !csv_is_number(in, in->cells[i])) {
            open[count++] = i;
        }
    }
    while (count > 0 && in->count > 0) {
        for (size_t k = 0; k < count; k++) {
            if (open[k] < in->count) { /* a short record is refused when it is read */
                look(columns, in, open[k]);
            }
        }
        TRY(csv_lines_next(in, why));
    }
done:
    free(open);
    return status;
}

bool csv_is_words(const csv_columns *columns, size_t column)
{
    return (columns->seen[column].what & CSV_SEEN_TEXT) != 0 &&
           (columns->seen[column].what & (CSV_SEEN_NUMBER | CSV_SEEN_MEASURED)) == 0;
}
