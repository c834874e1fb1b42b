/* The list of pictures: see pictures.h. Read whole, with a pass before that where its lines name
 * the nodes. */
#include "data/picture/pictures.h"

#include "data/csv/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char FILE_COLUMN[] = "file";

/* Is `word` one of the names in "time,camera"? */
static bool is_listed(const char *word, const char *names)
{
    bool found = false;
    for (const char *name = names != NULL ? names : ""; *name != '\0' && !found;) {
        size_t length = strcspn(name, ",");
        found = length == strlen(word) && strncmp(word, name, length) == 0;
        name += length + (name[length] == ',' ? 1 : 0);
    }
    return found;
}

bool pictures_is_name(const char *name)
{
    const char *ending = strrchr(name, '.');
    return ending != NULL && name[0] != '.' &&
           (strcasecmp(ending, ".png") == 0 || strcasecmp(ending, ".jpg") == 0 ||
            strcasecmp(ending, ".jpeg") == 0);
}

/* The name of the column of files, or NULL: the first, if it is called so, or else the first whose
 * cell in line 2 is the name of a picture. `in` is then behind the header. The caller frees it. */
static lscm_status find_files(csv_lines *in, const char *ignore, char **name, size_t *column,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t count = 0;
    char **names = NULL;
    *name = NULL;
    TRY(csv_lines_next(in, why));
    count = in->count;
    names = names_copy(in->cells, count);
    if (names == NULL) {
        status = fail_memory(why, count);
        goto done;
    }
    TRY(csv_lines_next(in, why));
    for (size_t i = 0; i < count && *name == NULL; i++) {
        bool called = i == 0 && strcmp(names[i], FILE_COLUMN) == 0;
        if ((called || (i < in->count && pictures_is_name(in->cells[i]))) &&
            !is_listed(names[i], ignore)) {
            *name = names[i];
            names[i] = NULL;
            *column = i;
        }
    }
    TRY(csv_lines_restart(in, why));
    TRY(csv_lines_next(in, why));
done:
    names_free(names, count);
    return status;
}

void pictures_list_close(pictures_list *list)
{
    names_free(list->files, list->rows);
    names_free(list->names, list->nodes);
    free(list->lines);
    free(list->targets);
    free(list->values);
    free(list->note);
    *list = (pictures_list){0};
}

/* All columns but that of the files, and those that are ignored. */
static lscm_status open_columns(csv_columns *columns, csv_lines *in, const char *files,
                                const lscm_open_options *options, lscm_error *why)
{
    const char *ignore = options->ignore != NULL ? options->ignore : "";
    size_t size = strlen(files) + strlen(ignore) + 2;
    char *without = malloc(size);
    if (without == NULL) {
        return fail_memory(why, size);
    }
    (void)snprintf(without, size, "%s,%s", files, ignore);
    lscm_open_options others = *options;
    others.ignore = without;
    lscm_status status = csv_columns_open(columns, in, &others, why);
    free(without);
    return status;
}

/* Which columns are nodes, or say what do() acted on and to what value. */
static lscm_status read_header(pictures_list *list, csv_lines *in, csv_columns *columns,
                               const lscm_open_options *options, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *files = NULL;
    TRY(find_files(in, options->ignore, &files, &list->column, why));
    if (files == NULL) {
        TRY(fail(why, LSCM_FORMAT,
                 "%s: no column names pictures; line 1 should be 'file' and then the names of the "
                 "nodes, separated by commas",
                 in->path));
    }
    TRY(open_columns(columns, in, files, options, why));
    if (columns->nodes > 0) {
        TRY(fail(why, LSCM_FORMAT,
                 "%s: a list of pictures names its nodes as they are; write '%s' for 'do:%s'",
                 in->path, csv_columns_node(columns, 0), csv_columns_node(columns, 0)));
    }
    if (columns->target < columns->count && columns->value == columns->count) {
        const char *name = columns->names[columns->target];
        char word[FLAG_WORD];
        TRY(fail(why, LSCM_USAGE,
                 "%s: column '%.*s' says what do() acted on, but none to what value; name it: "
                 "--value-column %s",
                 in->path, csv_shown(name), name,
                 columns->variables == 1 ? flag_word(columns->names[columns->column[0]], word)
                                         : "NAME"));
    }
    if (columns->target == columns->count && columns->variables == 0) {
        TRY(fail(why, LSCM_SHAPE,
                 "%s: line 1 names no nodes; give each a column of its own, with the value where "
                 "do() set it",
                 in->path));
    }
done:
    free(files);
    return status;
}

static bool is_number(const char *name, size_t number)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%zu", number);
    return strcmp(name, text) == 0;
}

/* Copies the names, unless they are 0, 1, 2, ... */
static lscm_status keep_names(pictures_list *list, const csv_columns *columns, const csv_do *did,
                              lscm_error *why)
{
    bool wide = columns->target == columns->count;
    bool numbered = true;
    for (size_t i = 0; i < list->nodes; i++) {
        numbered = wide ? numbered && is_number(columns->names[columns->column[i]], i)
                        : csv_do_node_name(did, i) == NULL;
    }
    if (numbered) {
        return LSCM_OK;
    }
    list->names = calloc(list->nodes, sizeof *list->names);
    for (size_t i = 0; list->names != NULL && i < list->nodes; i++) {
        list->names[i] =
            strdup(wide ? columns->names[columns->column[i]] : csv_do_node_name(did, i));
        if (list->names[i] == NULL) {
            return fail_memory(why, list->nodes);
        }
    }
    return list->names != NULL ? LSCM_OK : fail_memory(why, list->nodes * sizeof *list->names);
}

/* *array becomes one of `count` items of `size` bytes; false when memory is short. */
static bool enlarge(void *array, size_t count, size_t size)
{
    void *old = NULL;
    memcpy(&old, array, sizeof old);
    bool fits = count > 0 && count <= PTRDIFF_MAX / size;
    void *larger = fits ? realloc(old, count * size) : NULL;
    if (larger != NULL) {
        memcpy(array, &larger, sizeof larger);
    }
    return larger != NULL;
}

static lscm_status make_room(pictures_list *list, lscm_error *why)
{
    size_t d = list->nodes;
    size_t rows = list->capacity > 0 ? 2 * list->capacity : 1024;
    if (list->rows < list->capacity) {
        return LSCM_OK;
    }
    if (!enlarge(&list->files, rows, sizeof *list->files) ||
        !enlarge(&list->lines, rows, sizeof *list->lines) ||
        !enlarge(&list->targets, rows * d, sizeof *list->targets) ||
        !enlarge(&list->values, rows * d, sizeof *list->values)) {
        return fail_memory(why, rows * d * (sizeof *list->values + 1));
    }
    list->capacity = rows;
    return LSCM_OK;
}

/* One column for each node, with the value where do() set it. */
static lscm_status read_wide(const csv_columns *columns, csv_lines *in, uint8_t *targets,
                             double *values, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t i = 0; i < columns->variables; i++) {
        size_t column = columns->column[i];
        targets[i] = in->cells[column][0] != '\0' ? 1 : 0;
        values[i] = 0;
        if (targets[i] != 0) {
            TRY(csv_number(in, column, columns->names[column], false, &values[i], why));
        }
    }
done:
    return status;
}

static lscm_status read_row(pictures_list *list, const csv_columns *columns, const csv_do *did,
                            csv_lines *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(csv_columns_check(columns, in, why));
    TRY(make_room(list, why));
    const char *file = in->cells[list->column];
    uint8_t *targets = list->targets + list->rows * list->nodes;
    double *values = list->values + list->rows * list->nodes;
    if (columns->target == columns->count) {
        TRY(read_wide(columns, in, targets, values, why));
    } else {
        TRY(csv_do_read(did, in, targets, values, why));
    }
    file += strncmp(file, "./", 2) == 0 ? 2 : 0;
    if (*file == '\0') {
        return fail(why, LSCM_VALUE, "%s: line %zu names no picture; remove it, or fill it in",
                    in->path, in->line);
    }
    list->files[list->rows] = strdup(file);
    if (list->files[list->rows] == NULL) {
        status = fail_memory(why, strlen(file));
        goto done;
    }
    list->lines[list->rows++] = in->line;
done:
    return status;
}

/* Where a column names the nodes, all lines have to be read before they are known. */
static lscm_status learn_nodes(csv_do *did, csv_lines *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (;;) {
        TRY(csv_lines_next(in, why));
        if (in->count == 0) {
            break;
        }
        TRY(csv_columns_check(did->columns, in, why));
        TRY(csv_do_learn(did, in, why));
    }
    TRY(csv_do_learnt(did, in->path, why));
    TRY(csv_lines_restart(in, why));
    TRY(csv_lines_next(in, why));
done:
    return status;
}

/* A node that is set in every row may be a setting of the camera. */
static bool is_always_set(const pictures_list *list, size_t node)
{
    bool always = list->rows > 1;
    for (size_t row = 0; row < list->rows && always; row++) {
        always = list->targets[row * list->nodes + node] != 0;
    }
    return always;
}

static lscm_status take_note(pictures_list *list, const csv_columns *columns, lscm_error *why)
{
    bool wide = columns->target == columns->count;
    char text[CSV_NOTE] = "";
    csv_note_columns(text, columns);
    for (size_t i = 0; i < columns->variables; i++) {
        const char *name = columns->names[columns->column[i]];
        if (!wide) {
            csv_note(text, "column '%.*s' is left out", name);
        } else if (is_always_set(list, i)) {
            csv_note(
                text,
                "node '%.*s' is set in every row; if it is no node, leave it out with --ignore",
                name);
        }
    }
    list->note = text[0] != '\0' ? strdup(text) : NULL;
    return text[0] == '\0' || list->note != NULL ? LSCM_OK : fail_memory(why, sizeof text);
}

lscm_status pictures_list_read(pictures_list *list, const char *path,
                               const lscm_open_options *options, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_lines in = {0};
    csv_columns columns = {0};
    csv_do did = {0};
    *list = (pictures_list){0};
    TRY(csv_lines_open(&in, path, why));
    TRY(read_header(list, &in, &columns, options, why));
    TRY(csv_do_open(&did, &columns, options->control, why));
    if (columns.target < columns.count) {
        TRY(learn_nodes(&did, &in, why));
    }
    list->nodes = columns.target < columns.count ? csv_do_nodes(&did) : columns.variables;
    TRY(keep_names(list, &columns, &did, why));
    for (;;) {
        TRY(csv_lines_next(&in, why));
        if (in.count == 0) {
            break;
        }
        TRY(read_row(list, &columns, &did, &in, why));
    }
    if (list->rows == 0) {
        status = fail(why, LSCM_SHAPE, "%s: has a header but lists no pictures", path);
        goto done;
    }
    TRY(take_note(list, &columns, why));
done:
    csv_do_close(&did);
    csv_columns_close(&columns);
    csv_lines_close(&in);
    return status;
}

bool pictures_is_list(const char *path, const char *ignore)
{
    csv_lines in = {0};
    char *name = NULL;
    size_t column = 0;
    bool lists = csv_lines_open(&in, path, NULL) == LSCM_OK &&
                 find_files(&in, ignore, &name, &column, NULL) == LSCM_OK && name != NULL;
    free(name);
    csv_lines_close(&in);
    return lists;
}
