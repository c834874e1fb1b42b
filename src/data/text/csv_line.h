/* The records of a CSV file (RFC 4180), one at a time: cells quoted where needed, line ends LF or
 * CRLF, a UTF-8 byte order mark ignored, empty lines ignored at the end only, packed by gzip or
 * not. Cells are separated by what line 1 has most of outside quotes: comma, semicolon or tab.
 * Where that is no comma, numbers may have one for their point, if all do and one at least cannot
 * mean thousands. Memory grows with the longest record, which may have 64 MB.
 *
 *     csv_lines in = {0};
 *     TRY(csv_lines_open(&in, path, why));
 *     for (;;) {
 *         TRY(csv_lines_next(&in, why));
 *         if (in.count == 0) { break; }
 *         ... in.cells[0 .. in.count - 1], until the next call
 *     }
 *     done: csv_lines_close(&in);
 */
#ifndef LSCM_DATA_TEXT_CSV_LINE_H
#define LSCM_DATA_TEXT_CSV_LINE_H

#include "base/status.h"
#include "data/text/text_file.h"

#include <locale.h>
#include <stdio.h>

/* How numbers of a file that is not separated by commas are written: lines from 1, 0 for none. */
typedef struct csv_decimals {
    size_t comma, point; /* the first with "1,5", with "1.5" */
    bool clear;          /* some comma cannot stand for thousands */
} csv_decimals;

typedef struct csv_lines {
    char **cells;     /* (count), each with its end; blanks around unquoted text removed */
    size_t count;     /* 0 after the last record */
    size_t line;      /* where the record begins, from 1 */
    bool ended;       /* by a line end, not by the file's */
    bool dangling;    /* its last cell is nothing at all behind a separator */
    const char *path; /* the caller's */

    char separator; /* of cells, found in line 1 */
    csv_decimals decimals;

    text_file *file;
    locale_t c;   /* in which numbers are read */
    char *buffer; /* (size + 1) */
    size_t size;
    size_t begin, end; /* of the text in the buffer that was not read yet */
    bool finished;     /* the file has no more than the buffer */
    size_t capacity;   /* of cells */
    size_t next_line;  /* the number of the line at `begin` */
    size_t empty;      /* an empty line met on the way, or 0 */
} csv_lines;

lscm_status csv_lines_open(csv_lines *in, const char *path, lscm_error *why);
lscm_status csv_lines_next(csv_lines *in, lscm_error *why);
/* Back to the first record. */
lscm_status csv_lines_restart(csv_lines *in, lscm_error *why);
/* Safe on a zeroed struct. */
void csv_lines_close(csv_lines *in);

/* The finite number in a cell, or a sentence with its line and its column's name (NULL: it has
 * none). may_ignore: the sentence offers --ignore. */
lscm_status csv_number(csv_lines *in, size_t cell, const char *column, bool may_ignore, double *out,
                       lscm_error *why);
/* A number of this file, be it infinite; what it says of decimal commas is kept. */
bool csv_parse(csv_lines *in, const char *text, double *out);
/* The same without a trace. */
bool csv_is_number(const csv_lines *in, const char *text);
/* Nothing, or a word for it: NA, nan, ... */
bool csv_is_missing(const char *text);
/* After the last record: do all of its numbers say the same way where their fractions begin?
 * csv_lines_next asks. */
lscm_status csv_check_decimals(const csv_lines *in, lscm_error *why);
/* Every cell of the record is a number. */
bool csv_all_numbers(const csv_lines *in);
/* How much of a long text a message shows (for "%.*s"); ends between UTF-8 characters. */
int csv_shown(const char *text);
/* The next word that is not empty, without the blanks around it; `rest` moves on. */
char *csv_next_word(char **rest, const char *separator);
/* A cell of a record that is being written, quoted where it must be. */
void csv_put_cell(FILE *file, const char *text);

#endif
