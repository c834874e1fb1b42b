#include "data/picture/caption.h"

#include "base/node_name.h"
#include "data/picture/letters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The name of node i, or as much of it as leaves `room` letters; its number where that is less than
 * three, or where letters are missing. */
static void name_in(char *const *names, size_t i, size_t room, char *out, size_t size)
{
    char number[NODE_NAME_ROOM];
    const char *name = name_of(names, i, number, sizeof number);
    bool spelled = true;
    for (const char *at = name; *at != '\0'; at++) {
        spelled = spelled && letter_known(*at);
    }
    if (!spelled || (strlen(name) > room && room < 3)) {
        name = name_of(NULL, i, number, sizeof number);
    } else if (strlen(name) > room) {
        (void)snprintf(out, size, "%.*s.", (int)room - 1, name);
        return;
    }
    (void)snprintf(out, size, "%s", name);
}

/* targets, values (d); values may be NULL: only who was set. */
static void describe(caption *out, size_t row, char *const *names, const double *targets,
                     const double *values, size_t d, size_t letters)
{
    char word[2 * CAPTION_LETTERS];
    char name[CAPTION_LETTERS];
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
            size_t others = strlen(value) + (first ? 4 : 1);
            name_in(names, i, letters > others ? letters - others : 0, name, sizeof name);
            (void)snprintf(word, sizeof word, "%s%s%s%s", first ? "do(" : "", name, value,
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
    describe(out, row, data->node_names, targets, valued ? targets + d : NULL, d,
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
    return letter_ink(c->line[line][place], (unsigned)column, (unsigned)down);
}
