#include "data/text/column_words.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* One of the words (NULL ends them) stands in `name`; `whole`: with no letter beside it. */
static bool has_word(const char *name, const char *const *words, bool whole)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        size_t length = strlen(words[i]);
        for (const char *at = name; *at != '\0'; at++) {
            if (strncasecmp(at, words[i], length) == 0 &&
                (!whole || ((at == name || !is_letter(at[-1])) && !is_letter(at[length])))) {
                return true;
            }
        }
    }
    return false;
}

bool sounds_like_targets(const char *name)
{
    static const char *const parts[] = {"target",  "condition", "interv", "treat",
                                        "perturb", "guide",     "grna",   "knock",
                                        "crispr",  "compound",  NULL};
    static const char *const words[] = {"gene", "drug", "pert", NULL};
    return has_word(name, parts, false) || has_word(name, words, true);
}

bool sounds_like_values(const char *name)
{
    static const char *const words[] = {"dose", "doses", "dosage", "conc", "concentration", NULL};
    return strcasecmp(name, "value") == 0 || strcasecmp(name, "values") == 0 ||
           has_word(name, words, true);
}

bool sounds_like_groups(const char *name)
{
    static const char *const words[] = {"env",     "environment", "regime", "experiment", "label",
                                        "cluster", "batch",       "group",  "arm",        NULL};
    return has_word(name, words, true);
}

bool sounds_like_ids(const char *name)
{
    static const char *const words[] = {"id",    "ids",     "index", "idx",       "uid",
                                        "rowid", "barcode", "date",  "timestamp", NULL};
    return has_word(name, words, true);
}

bool sounds_like_rows(const char *name)
{
    static const char *const words[] = {"row",    "rows", "cell", "sample", "unit", "no", "nr",
                                        "number", "key",  "case", "obs",    "line", "#",  NULL};
    return sounds_like_ids(name) || has_word(name, words, true);
}
