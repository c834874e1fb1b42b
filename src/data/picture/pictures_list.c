/* interventions.csv: see pictures.h. Read in one pass, whole. */
#include "data/picture/pictures.h"

#include "data/csv/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FILE_COLUMN[] = "file";

void pictures_list_close(pictures_list *list)
{
    names_free(list->files, list->rows);
    names_free(list->names, list->nodes);
    free(list->lines);
    free(list->targets);
    free(list->values);
    *list = (pictures_list){0};
}

/* The column `file` and those that are ignored are no nodes. */
static lscm_status read_header(const csv_lines *header, const char *ignore, csv_columns *columns,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t size = sizeof FILE_COLUMN + (ignore != NULL ? strlen(ignore) : 0) + 1;
    char *without = malloc(size);
    if (without == NULL) {
        return fail_memory(why, size);
    }
    (void)snprintf(without, size, "%s,%s", FILE_COLUMN, ignore != NULL ? ignore : "");
    if (header->count == 0 || strcmp(header->cells[0], FILE_COLUMN) != 0) {
        TRY(fail(why, LSCM_FORMAT,
                 "%s: line 1 should be 'file' and then the names of the nodes, separated by commas",
                 header->path));
    }
    if (header->count == 1) {
        TRY(fail(why, LSCM_SHAPE,
                 "%s: line 1 names no nodes; give each a column of its own behind 'file', with the "
                 "value where do() set it",
                 header->path));
    }
    const lscm_open_options options = {.ignore = without, .target_column = "none"};
    TRY(csv_columns_open(columns, header, &options, why));
    if (columns->nodes > 0) {
        TRY(fail(why, LSCM_FORMAT,
                 "%s: a list of pictures names its nodes as they are; write '%s' for 'do:%s'",
                 header->path, csv_columns_node(columns, 0), csv_columns_node(columns, 0)));
    }
    size_t target = csv_names_find(&columns->by_name, CSV_TARGET_NAME);
    if (target < columns->count && columns->role[target] == CSV_VARIABLE) {
        TRY(fail(
            why, LSCM_FORMAT,
            "%s: a list of pictures has no column 'target': each node has a column of its own, "
            "with the value where do() set it; rename it if it is a node, or leave it out with "
            "--ignore target",
            header->path));
    }
done:
    free(without);
    return status;
}

static bool is_number(const char *name, size_t number)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%zu", number);
    return strcmp(name, text) == 0;
}

/* Copies the names, unless they are 0, 1, 2, ... */
static lscm_status keep_names(pictures_list *list, const csv_columns *columns, lscm_error *why)
{
    bool numbered = true;
    list->nodes = columns->variables;
    for (size_t i = 0; i < list->nodes; i++) {
        numbered = numbered && is_number(columns->names[columns->column[i]], i);
    }
    if (numbered) {
        return LSCM_OK;
    }
    list->names = calloc(list->nodes, sizeof *list->names);
    for (size_t i = 0; list->names != NULL && i < list->nodes; i++) {
        list->names[i] = strdup(columns->names[columns->column[i]]);
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

static lscm_status read_row(pictures_list *list, const csv_columns *columns, csv_lines *in,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const char *file = in->cells[0];
    TRY(csv_columns_check(columns, in, why));
    TRY(make_room(list, why));
    uint8_t *targets = list->targets + list->rows * list->nodes;
    double *values = list->values + list->rows * list->nodes;
    for (size_t i = 0; i < list->nodes; i++) {
        size_t column = columns->column[i];
        targets[i] = in->cells[column][0] != '\0' ? 1 : 0;
        values[i] = 0;
        if (targets[i] != 0) {
            TRY(csv_number(in, column, columns->names[column], false, &values[i], why));
        }
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

lscm_status pictures_list_read(pictures_list *list, const char *path, const char *ignore,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_lines in = {0};
    csv_columns columns = {0};
    *list = (pictures_list){0};
    TRY(csv_lines_open(&in, path, why));
    TRY(csv_lines_next(&in, why));
    TRY(read_header(&in, ignore, &columns, why));
    TRY(keep_names(list, &columns, why));
    for (;;) {
        TRY(csv_lines_next(&in, why));
        if (in.count == 0) {
            break;
        }
        TRY(read_row(list, &columns, &in, why));
    }
    if (list->rows == 0) {
        status = fail(why, LSCM_SHAPE, "%s: has a header but lists no pictures", path);
    }
done:
    csv_columns_close(&columns);
    csv_lines_close(&in);
    return status;
}

bool pictures_is_list(const char *path, const char *ignore)
{
    csv_lines in = {0};
    bool lists = csv_lines_open(&in, path, NULL) == LSCM_OK &&
                 csv_lines_next(&in, NULL) == LSCM_OK && in.count > 0 &&
                 strcmp(in.cells[0], FILE_COLUMN) == 0;
    const char *word = ignore != NULL ? ignore : "";
    while (lists && *word != '\0') {
        size_t length = strcspn(word, ",");
        lists = length != strlen(FILE_COLUMN) || strncmp(word, FILE_COLUMN, length) != 0;
        word += length + (word[length] == ',' ? 1 : 0);
    }
    csv_lines_close(&in);
    return lists;
}
