#include "data/picture/caption.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of each letter, the lowest bit on top. */
static const struct {
    char letter;
    uint8_t column[CAPTION_LETTER - 1];
} LETTERS[] = {{'0', {0x3E, 0x51, 0x49, 0x45, 0x3E}}, {'1', {0x00, 0x42, 0x7F, 0x40, 0x00}},
               {'2', {0x42, 0x61, 0x51, 0x49, 0x46}}, {'3', {0x21, 0x41, 0x49, 0x4D, 0x33}},
               {'4', {0x18, 0x14, 0x12, 0x7F, 0x10}}, {'5', {0x27, 0x45, 0x45, 0x45, 0x39}},
               {'6', {0x3C, 0x4A, 0x49, 0x49, 0x30}}, {'7', {0x01, 0x71, 0x09, 0x05, 0x03}},
               {'8', {0x36, 0x49, 0x49, 0x49, 0x36}}, {'9', {0x06, 0x49, 0x49, 0x29, 0x1E}},
               {'=', {0x14, 0x14, 0x14, 0x14, 0x14}}, {'-', {0x08, 0x08, 0x08, 0x08, 0x08}},
               {'+', {0x08, 0x08, 0x3E, 0x08, 0x08}}, {'.', {0x00, 0x60, 0x60, 0x00, 0x00}},
               {',', {0x00, 0x80, 0x60, 0x00, 0x00}}, {'(', {0x00, 0x1C, 0x22, 0x41, 0x00}},
               {')', {0x00, 0x41, 0x22, 0x1C, 0x00}}, {'d', {0x38, 0x44, 0x44, 0x48, 0x7F}},
               {'e', {0x38, 0x54, 0x54, 0x54, 0x18}}, {'o', {0x38, 0x44, 0x44, 0x44, 0x38}},
               {'r', {0x7C, 0x08, 0x04, 0x04, 0x08}}, {'w', {0x3C, 0x40, 0x30, 0x40, 0x3C}}};

/* Puts the word behind those that are there, on a line of its own where it does not fit. */
static void add_word(caption *c, const char *word, size_t letters)
{
    char *line = c->lines > 0 ? c->line[c->lines - 1] : NULL;
    size_t used = line != NULL ? strlen(line) : 0;
    if (line != NULL && used + 1 + strlen(word) <= letters) {
        (void)snprintf(line + used, CAPTION_LETTERS - used, " %s", word);
    } else if (c->lines < CAPTION_LINES) {
        (void)snprintf(c->line[c->lines++], CAPTION_LETTERS, "%.*s", (int)letters, word);
    } else {
        size_t kept = used + 2 <= letters ? used : letters - 2;
        (void)snprintf(line + kept, CAPTION_LETTERS - kept, "..");
    }
}

/* targets, values (d); values may be NULL: only who was set. */
static void describe(caption *out, size_t row, const double *targets, const double *values,
                     size_t d, size_t letters)
{
    char word[64];
    size_t left = 0;
    *out = (caption){.lines = 0};
    for (size_t i = 0; i < d; i++) {
        left += targets[i] != 0 ? 1 : 0;
    }
    bool first = true;
    (void)snprintf(word, sizeof word, "row %zu", row);
    add_word(out, word, letters);
    for (size_t i = 0; i < d; i++) {
        if (targets[i] != 0) {
            char value[32] = "";
            if (values != NULL) {
                (void)snprintf(value, sizeof value, "=%.3g", values[i]);
            }
            (void)snprintf(word, sizeof word, "%s%zu%s%s", first ? "do(" : "", i, value,
                           --left > 0 ? "," : ")");
            add_word(out, word, letters);
            first = false;
        }
    }
}

lscm_status caption_of(const lscm_dataset *data, size_t row, size_t letters, caption *out,
                       lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    double *targets = malloc((2 * d + 1) * sizeof *targets);
    bool valued = data->shape[LSCM_VALUES].present;
    if (targets == NULL) {
        return fail_memory(why, 2 * d * sizeof *targets);
    }
    TRY(lscm_dataset_read(data, LSCM_TARGETS, row, 1, targets, why));
    if (valued) {
        TRY(lscm_dataset_read(data, LSCM_VALUES, row, 1, targets + d, why));
    }
    describe(out, row, targets, valued ? targets + d : NULL, d,
             letters < CAPTION_LETTERS ? letters : CAPTION_LETTERS - 1);
done:
    free(targets);
    return status;
}

bool caption_ink(const caption *c, size_t x, size_t y)
{
    size_t line = y / CAPTION_LINE;
    size_t place = x / CAPTION_LETTER;
    size_t column = x % CAPTION_LETTER;
    size_t down = y % CAPTION_LINE;
    if (line >= c->lines || place >= strlen(c->line[line]) || column == CAPTION_LETTER - 1 ||
        down >= 8) {
        return false;
    }
    for (size_t k = 0; k < sizeof LETTERS / sizeof LETTERS[0]; k++) {
        if (LETTERS[k].letter == c->line[line][place]) {
            return (LETTERS[k].column[column] >> down & 1) != 0;
        }
    }
    return false;
}
