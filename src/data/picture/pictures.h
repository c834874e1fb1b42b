/* A folder of PNG or JPEG pictures and interventions.csv, which says what was done for each:
 *
 *     file,raf,mek          a picture, then the nodes by name
 *     0000.png,,            no intervention
 *     0001.png,1.5,         do(raf = 1.5)
 *
 * or, where a column is called `target` or --target-column names it, its targets and their values:
 *
 *     image,drug,dose       --target-column drug; the column of files has any name
 *     0000.png,DMSO,
 *     0001.png,raf,1.5
 *
 * x is (N, H, W) or, in colour, (N, H, W, 3), float32 in [0, 1]; targets and values are the cells.
 * Rows are those of the list, in its order. Nodes named 0, 1, 2, ... have no names. What is known
 * of the truth (z, w, sigma, order) and the recipe stand in truth.npz.
 */
#ifndef LSCM_DATA_PICTURE_PICTURES_H
#define LSCM_DATA_PICTURE_PICTURES_H

#include "base/status.h"

#define PICTURES_LIST "interventions.csv"
#define PICTURES_TRUTH "truth.npz"

/* The list in memory: 9 bytes for each node of each row, and the names of the files. */
typedef struct pictures_list {
    size_t rows, nodes;
    char **files;     /* (rows) */
    size_t *lines;    /* (rows): where in the CSV each stands */
    uint8_t *targets; /* (rows, nodes) */
    double *values;   /* (rows, nodes), 0 off target */
    char **names;     /* (nodes), or NULL where they are 0, 1, 2, ... */
    size_t capacity;  /* rows that there is room for */
    size_t column;    /* of the CSV that names the files */
    char *note;       /* what was understood of its columns, or NULL */
} pictures_list;

/* `path` is that of the CSV; `options` says which of its columns are what. */
lscm_status pictures_list_read(pictures_list *list, const char *path,
                               const lscm_open_options *options, lscm_error *why);
/* Safe on a zeroed list. */
void pictures_list_close(pictures_list *list);
/* Is the first column of a CSV called `file`, or does one name a picture in line 2, and is it not
 * ignored? Then the CSV lists pictures. */
bool pictures_is_list(const char *path, const char *ignore);
/* By its ending. */
bool pictures_is_name(const char *name);

#endif
