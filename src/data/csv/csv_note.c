#include "data/csv/csv_note.h"

#include "data/csv/csv_survey.h"

#include <stdio.h>
#include <string.h>

void csv_note(char text[CSV_NOTE], const char *format, const char *name)
{
    size_t used = strlen(text);
    if (used > 0) {
        (void)snprintf(text + used, CSV_NOTE - used, "; ");
        used = strlen(text);
    }
    (void)snprintf(text + used, CSV_NOTE - used, format, csv_shown(name), name);
}

void csv_note_columns(char text[CSV_NOTE], const csv_columns *columns)
{
    if (columns->role[0] == CSV_ROW_NAMES) {
        csv_note(
            text,
            "the first column has no name, is taken for the names of rows, and is left out%.*s",
            "");
    }
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->role[i] == CSV_IGNORED && csv_is_words(columns, i)) {
            csv_note(text, "column '%.*s' holds text and is left out", columns->names[i]);
        }
    }
    if (columns->value < columns->count && !columns->value_said &&
        strcmp(columns->names[columns->value], CSV_VALUE_NAME) != 0) {
        csv_note(text, "column '%.*s' is taken for the values that do() set",
                 columns->names[columns->value]);
    }
}
