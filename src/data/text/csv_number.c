/* Numbers in the cells of a table, with a decimal point or, where commas do not separate cells, a
 * decimal comma. See csv_line.h.
 */
#include "data/text/csv_line.h"
#include "data/text/flag_word.h"
#include "data/text/number.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { SHOWN = 40 };

int csv_shown(const char *text)
{
    size_t length = strnlen(text, SHOWN + 1);
    if (length > SHOWN) {
        length = SHOWN;
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) {
            length--;
        }
    }
    return (int)length;
}

/* One of the words, joined by '|', whatever the case. */
static bool is_among(const char *text, const char *words)
{
    size_t length = strlen(text);
    for (const char *word = words;; word++) {
        size_t width = strcspn(word, "|");
        if (width == length && strncasecmp(word, text, width) == 0) {
            return true;
        }
        word += width;
        if (*word == '\0') {
            return false;
        }
    }
}

/* "1,5" is 1.5 where commas do not separate cells; what speaks for that is kept. */
bool csv_parse(csv_lines *in, const char *text, double *out)
{
    const char *comma = in->separator == ',' ? NULL : strchr(text, ',');
    char copy[64];
    if (comma == NULL) {
        bool read = number_parse(text, in->c, out);
        if (read && in->separator != ',' && in->decimals.point == 0 && strchr(text, '.') != NULL) {
            in->decimals.point = in->line;
        }
        return read;
    }
    if (strlen(text) >= sizeof copy || strchr(text, '.') != NULL) {
        return false;
    }
    memcpy(copy, text, strlen(text) + 1);
    copy[comma - text] = '.';
    if (!number_parse(copy, in->c, out)) {
        return false;
    }
    const char *digits = text + strspn(text, "+-");
    bool thousands = strspn(comma + 1, "0123456789") == 3 && comma[4] == '\0' && *digits != '0' &&
                     comma > digits && comma - digits <= 3;
    in->decimals.comma = in->decimals.comma > 0 ? in->decimals.comma : in->line;
    in->decimals.clear = in->decimals.clear || !thousands;
    return true;
}

bool csv_is_number(const csv_lines *in, const char *text)
{
    csv_lines copy = *in; /* what is seen here says nothing of the file */
    double number = 0;
    return csv_parse(&copy, text, &number);
}

bool csv_is_missing(const char *text)
{
    return is_among(text, "|na|nan|-nan|n/a|null|none");
}

lscm_status csv_number(csv_lines *in, size_t cell, const char *column, bool may_ignore, double *out,
                       lscm_error *why)
{
    const char *text = in->cells[cell];
    char where[96];
    if (csv_parse(in, text, out) && isfinite(*out)) {
        return LSCM_OK;
    }
    if (column != NULL) {
        (void)snprintf(where, sizeof where, "column '%.*s'", csv_shown(column), column);
    } else {
        (void)snprintf(where, sizeof where, "cell %zu", cell + 1);
    }
    if (csv_is_missing(text)) {
        return fail(why, LSCM_VALUE,
                    "%s: line %zu, %s has no number ('%s'); remove the line%s, or fill it in",
                    in->path, in->line, where, text,
                    may_ignore ? " or leave the column out with --ignore" : "");
    }
    if (csv_parse(in, text, out) || is_among(text, "inf|-inf|+inf|infinity|-infinity")) {
        return fail(why, LSCM_VALUE, "%s: line %zu, %s holds '%.*s'; numbers must be finite",
                    in->path, in->line, where, csv_shown(text), text);
    }
    if (column == NULL || !may_ignore) {
        return fail(why, LSCM_VALUE, "%s: line %zu, %s holds '%.*s', not a number", in->path,
                    in->line, where, csv_shown(text), text);
    }
    char word[FLAG_WORD];
    return fail(
        why, LSCM_VALUE,
        "%s: line %zu, %s holds '%.*s', not a number; leave the column out with --ignore %s",
        in->path, in->line, where, csv_shown(text), text, flag_word(column, word));
}

lscm_status csv_check_decimals(const csv_lines *in, lscm_error *why)
{
    const csv_decimals *seen = &in->decimals;
    if (seen->comma > 0 && seen->point > 0) {
        return fail(why, LSCM_FORMAT,
                    "%s: line %zu writes a number with a comma and line %zu one with a point; save "
                    "the file with decimal points",
                    in->path, seen->comma, seen->point);
    }
    if (seen->comma > 0 && !seen->clear) {
        return fail(why, LSCM_FORMAT,
                    "%s: numbers such as the one with a comma in line %zu could be decimals or "
                    "thousands, and no other tells; save the file with decimal points",
                    in->path, seen->comma);
    }
    return LSCM_OK;
}

bool csv_all_numbers(const csv_lines *in)
{
    double number = 0;
    for (size_t i = 0; i < in->count; i++) {
        if (!number_parse(in->cells[i], in->c, &number)) {
            return false;
        }
    }
    return true;
}
