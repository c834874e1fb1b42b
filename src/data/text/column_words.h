/* What the name of a column sounds like. It is a reason to ask, or to take the only such column
 * where another one says that something was done.
 */
#ifndef LSCM_DATA_TEXT_COLUMN_WORDS_H
#define LSCM_DATA_TEXT_COLUMN_WORDS_H

#include <stdbool.h>

/* What do() acted on: "Condition", "sgRNA", "drug_name", "gene". */
bool sounds_like_targets(const char *name);
/* What do() set: "dose", "Dose (uM)", "concentration", "value". */
bool sounds_like_values(const char *name);
/* Whole numbers in it may tell groups of rows apart: "env", "regime", "batch", "label". */
bool sounds_like_groups(const char *name);
/* Whole numbers in it are names of rows, or days: "id", "cell_id", "Index", "date". */
bool sounds_like_ids(const char *name);
/* .. are so where they count: "cell", "sample", "No". */
bool sounds_like_rows(const char *name);

#endif
