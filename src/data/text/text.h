/* Text to numbers and names and back, exactly and in any locale: records of CSV, numbers, UTF-8,
 * tables of names. Words for no target (control.c) are lscm_is_control of lscm.h.
 */
#ifndef LSCM_DATA_TEXT_TEXT_H
#define LSCM_DATA_TEXT_TEXT_H

#include "data/text/column_words.h" /* what names of columns sound like */
#include "data/text/csv_line.h"     /* records */
#include "data/text/csv_names.h"    /* names */
#include "data/text/flag_word.h"    /* names behind flags */
#include "data/text/number.h"       /* numbers */
#include "data/text/target_parts.h" /* targets in a cell */
#include "data/text/text_file.h"    /* files, packed or not */
#include "data/text/utf8.h"         /* UTF-8 */

#endif
