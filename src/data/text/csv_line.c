/* See csv_line.h. A record is found first (an even number of quotes before the line end), then cut
 * into cells in place: a cell never gets longer by removing its quotes.
 */
#include "data/text/csv_line.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SIZE = 1 << 18,
    LARGEST_RECORD = 64 << 20,
    MOST_CELLS = 1 << 22,
};

lscm_status csv_lines_open(csv_lines *in, const char *path, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *in = (csv_lines){.path = path};
    TRY(text_file_open(&in->file, path, why));
    in->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    in->size = FIRST_SIZE;
    in->buffer = malloc(in->size + 1);
    if (in->buffer == NULL || in->c == (locale_t)0) {
        return fail_memory(why, in->size);
    }
    TRY(csv_lines_restart(in, why));
done:
    return status;
}

void csv_lines_close(csv_lines *in)
{
    text_file_close(in->file);
    if (in->c != (locale_t)0) {
        freelocale(in->c);
    }
    free(in->buffer);
    free(in->cells);
    *in = (csv_lines){0};
}

/* Reads on behind the unread text, which moves to the front of a buffer that grows when full. */
static lscm_status fill(csv_lines *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t kept = in->end - in->begin;
    size_t added = 0;
    if (kept == in->size) {
        if (in->size >= LARGEST_RECORD) {
            return fail(why, LSCM_FORMAT,
                        "%s: line %zu is longer than %d MB; is it a CSV file, and are all of its "
                        "quotes closed?",
                        in->path, in->next_line, LARGEST_RECORD >> 20);
        }
        char *larger = realloc(in->buffer, 2 * in->size + 1);
        if (larger == NULL) {
            return fail_memory(why, 2 * in->size);
        }
        in->buffer = larger;
        in->size *= 2;
    }
    memmove(in->buffer, in->buffer + in->begin, kept);
    in->begin = 0;
    in->end = kept;
    TRY(text_file_read(in->file, in->buffer + kept, in->size - kept, &added, why));
    in->end = kept + added;
    in->finished = in->end < in->size;
done:
    return status;
}

lscm_status csv_lines_restart(csv_lines *in, lscm_error *why)
{
    static const char MARK[] = {'\xEF', '\xBB', '\xBF'};
    lscm_status status = LSCM_OK;
    TRY(text_file_rewind(in->file, why));
    in->begin = 0;
    in->end = 0;
    in->next_line = 1;
    in->empty = 0;
    in->separator = '\0';
    in->decimals = (csv_decimals){0};
    TRY(fill(in, why));
    if (in->end >= sizeof MARK && memcmp(in->buffer, MARK, sizeof MARK) == 0) {
        in->begin = sizeof MARK;
    }
done:
    return status;
}

static bool odd_quotes(const char *text, size_t length)
{
    bool odd = false;
    const char *end = text + length;
    for (const char *p = memchr(text, '"', length); p != NULL;
         p = memchr(p + 1, '"', (size_t)(end - p - 1))) {
        odd = !odd;
    }
    return odd;
}

/* Makes the buffer hold the whole record at `begin`: its length, its line ends included, and how
 * many lines it has (0: no record is left). */
static lscm_status find_record(csv_lines *in, size_t *length, size_t *lines, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t seen = 0;
    bool quoted = false;
    *lines = 0;
    for (;;) {
        const char *from = in->buffer + in->begin + seen;
        size_t left = in->end - in->begin - seen;
        const char *line_end = memchr(from, '\n', left);
        size_t part = line_end != NULL ? (size_t)(line_end - from) + 1 : left;
        quoted ^= odd_quotes(from, part);
        seen += part;
        *lines += line_end != NULL ? 1 : 0;
        if (line_end != NULL && !quoted) {
            break;
        }
        if (line_end == NULL && in->finished) {
            *lines += seen > 0 ? 1 : 0;
            break;
        }
        if (line_end == NULL) {
            TRY(fill(in, why));
        }
    }
    if (quoted) {
        status = fail(why, LSCM_FORMAT, "%s: line %zu opens a quote that is never closed; add \"",
                      in->path, in->next_line);
    }
    *length = seen;
done:
    return status;
}

/* Of comma, semicolon and tab the one that line 1 has most of outside quotes; a comma when equal.
 */
static char find_separator(const char *record)
{
    static const char candidates[] = ",;\t";
    size_t counts[sizeof candidates - 1] = {0};
    size_t best = 0;
    bool quoted = false;
    for (; *record != '\0'; record++) {
        const char *found = strchr(candidates, *record);
        quoted ^= *record == '"';
        if (found != NULL && !quoted) {
            counts[found - candidates]++;
        }
    }
    for (size_t i = 1; i < sizeof candidates - 1; i++) {
        best = counts[i] > counts[best] ? i : best;
    }
    return candidates[best];
}

static bool is_blank(const csv_lines *in, char c)
{
    return (c == ' ' || c == '\t') && c != in->separator;
}

/* The quoted cell whose text begins at `p`: quotes removed in place; where it ended, or NULL. */
static char *unquote(const csv_lines *in, char *p)
{
    char *out = p;
    for (; *p != '\0'; p++) {
        if (*p == '"' && p[1] != '"') {
            p++;
            break;
        }
        p += *p == '"' ? 1 : 0;
        *out++ = *p;
    }
    while (is_blank(in, *p)) {
        p++;
    }
    if (*p != in->separator && *p != '\0') {
        return NULL;
    }
    *out = '\0';
    return p;
}

/* The same for a cell without quotes; blanks at its end are removed. */
static char *bare(const csv_lines *in, char *p)
{
    char *begin = p;
    while (*p != in->separator && *p != '"' && *p != '\r' && *p != '\0') {
        p++;
    }
    if (*p != in->separator && *p != '\0') {
        return NULL;
    }
    for (char *last = p; last > begin && is_blank(in, last[-1]); last--) {
        last[-1] = '\0';
    }
    return p;
}

static lscm_status add_cell(csv_lines *in, char *cell, lscm_error *why)
{
    if (in->count == in->capacity) {
        size_t capacity = in->capacity > 0 ? 2 * in->capacity : 64;
        if (capacity > MOST_CELLS) {
            return fail(why, LSCM_FORMAT, "%s: line %zu has more than %d columns; use .npz or .nc",
                        in->path, in->line, MOST_CELLS);
        }
        char **larger = realloc(in->cells, capacity * sizeof *larger);
        if (larger == NULL) {
            return fail_memory(why, capacity * sizeof *larger);
        }
        in->cells = larger;
        in->capacity = capacity;
    }
    in->cells[in->count++] = cell;
    return LSCM_OK;
}

static lscm_status split(csv_lines *in, char *record, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    in->count = 0;
    for (char *p = record;; p++) {
        while (is_blank(in, *p)) {
            p++;
        }
        bool quoted = *p == '"';
        p += quoted ? 1 : 0;
        TRY(add_cell(in, p, why));
        p = quoted ? unquote(in, p) : bare(in, p);
        if (p == NULL) {
            return fail(why, LSCM_FORMAT,
                        "%s: line %zu, cell %zu has a quote or a carriage return in a wrong place; "
                        "put the whole cell in quotes, and double the quotes in it",
                        in->path, in->line, in->count);
        }
        if (*p == '\0') {
            break;
        }
        *p = '\0';
    }
done:
    return status;
}

lscm_status csv_lines_next(csv_lines *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t length = 0;
    size_t lines = 0;
    for (;;) {
        TRY(find_record(in, &length, &lines, why));
        char *record = in->buffer + in->begin;
        in->line = in->next_line;
        in->count = 0;
        if (lines == 0) {
            TRY(csv_check_decimals(in, why));
            break;
        }
        if (memchr(record, '\0', length) != NULL) {
            return fail(why, LSCM_FORMAT,
                        "%s: line %zu holds a zero byte; save the file as CSV in UTF-8", in->path,
                        in->line);
        }
        in->begin += length;
        in->next_line += lines;
        in->ended = record[length - 1] == '\n';
        length -= in->ended ? 1 : 0;
        length -= length > 0 && record[length - 1] == '\r' ? 1 : 0;
        record[length] = '\0';
        in->separator = in->separator != '\0' ? in->separator : find_separator(record);
        in->dangling = length > 0 && record[length - 1] == in->separator;
        TRY(split(in, record, why));
        bool empty = in->count == 1 && in->cells[0][0] == '\0';
        if (empty) {
            in->empty = in->empty > 0 ? in->empty : in->line;
        } else if (in->empty > 0) {
            return fail(why, LSCM_FORMAT, "%s: line %zu is empty; remove it", in->path, in->empty);
        } else {
            break;
        }
    }
done:
    return status;
}

char *csv_next_word(char **rest, const char *separator)
{
    while (**rest != '\0') {
        char *word = *rest + strspn(*rest, " \t");
        size_t length = strcspn(word, separator);
        *rest = word + length + (word[length] != '\0' ? 1 : 0);
        while (length > 0 && (word[length - 1] == ' ' || word[length - 1] == '\t')) {
            length--;
        }
        word[length] = '\0';
        if (length > 0) {
            return word;
        }
    }
    return NULL;
}
