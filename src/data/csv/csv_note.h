/* What was understood of a table that a reader may not expect: sentences joined by "; ". */
#ifndef LSCM_DATA_CSV_CSV_NOTE_H
#define LSCM_DATA_CSV_CSV_NOTE_H

#include "data/csv/csv_columns.h"

enum { CSV_NOTE = 1024 };

/* Adds `format`, which has one "%.*s" for the name; what does not fit is cut off. */
void csv_note(char text[CSV_NOTE], const char *format, const char *name);
/* What was taken for names of rows or values without being asked, and what was left out. */
void csv_note_columns(char text[CSV_NOTE], const csv_columns *columns);

#endif
