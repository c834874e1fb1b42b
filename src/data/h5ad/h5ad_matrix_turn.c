/* A matrix stored by columns, turned to rows in memory: two passes over the columns kept, the first
 * counts what each row has, the second puts it there.
 */
#include "data/h5ad/h5ad_matrix.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16 };        /* entries at a time */
#define TURNED_MOST (1ULL << 30) /* bytes */

typedef struct turning {
    h5ad_matrix *m;
    int64_t *indptr; /* (rows + 1): first counts, then where the next entry of a row goes */
    int64_t count;   /* entries that there is room for */
    int64_t rows[PIECE];
    double values[PIECE]; /* or floats */
} turning;

/* Of entries [from, past) in the column `place`: counts them, or puts them. */
static lscm_status turn_piece(turning *t, size_t from, size_t past, uint32_t place, bool put,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    h5ad_matrix *m = t->m;
    size_t size = dtype_size(m->type);
    TRY(h5ad_array_read(&m->indices, from, past - from, DTYPE_INT64, t->rows, why));
    if (put) {
        TRY(h5ad_array_read(&m->data, from, past - from, m->type, t->values, why));
    }
    for (size_t i = 0; i < past - from; i++) {
        TRY(h5ad_matrix_check(m, from + i, t->rows[i], m->rows, why));
        int64_t *next = &t->indptr[t->rows[i]];
        if (put && *next >= t->count) {
            return fail(why, LSCM_READ, "%s: '%s' changed while it was read", m->file->path,
                        m->name);
        }
        if (put) {
            m->turned_at[*next] = place;
            memcpy((char *)m->turned + (size_t)*next * size, (char *)t->values + i * size, size);
        }
        (*next)++;
    }
done:
    return status;
}

static lscm_status pass(turning *t, bool put, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const h5ad_matrix *m = t->m;
    for (size_t column = 0; column < m->vars; column++) {
        size_t past = (size_t)m->indptr[column + 1];
        for (size_t from = (size_t)m->indptr[column];
             from < past && m->place[column] != H5AD_DROPPED; from += PIECE) {
            size_t to = past - from < PIECE ? past : from + PIECE;
            TRY(turn_piece(t, from, to, m->place[column], put, why));
        }
    }
done:
    return status;
}

/* Counts to the place where each row begins; the number of entries. */
static int64_t to_starts(int64_t *indptr, size_t rows)
{
    int64_t before = 0;
    for (size_t i = 0; i <= rows; i++) {
        int64_t count = indptr[i];
        indptr[i] = before;
        before += count;
    }
    return before;
}

static uint64_t bytes_kept(const h5ad_matrix *m)
{
    uint64_t entries = 0;
    for (size_t i = 0; i < m->vars; i++) {
        entries += m->place[i] != H5AD_DROPPED ? (uint64_t)(m->indptr[i + 1] - m->indptr[i]) : 0;
    }
    return entries * (sizeof *m->turned_at + dtype_size(m->type));
}

lscm_status h5ad_matrix_turn(h5ad_matrix *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    uint64_t bytes = bytes_kept(m);
    if (bytes > TURNED_MOST) {
        return fail(why, LSCM_FORMAT,
                    "%s: '%s' is stored by columns (CSC) and too large to be turned in memory; "
                    "store it by rows: in Python, a.X = a.X.tocsr() and a.write_h5ad('rows.h5ad')",
                    m->file->path, m->name);
    }
    turning *t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->m = m;
        t->indptr = calloc(m->rows + 1, sizeof *t->indptr);
    }
    if (t == NULL || t->indptr == NULL) {
        status = fail_memory(why, m->rows * sizeof *t->indptr);
        goto done;
    }
    TRY(pass(t, false, why));
    t->count = to_starts(t->indptr, m->rows);
    size_t count = (size_t)t->count;
    m->turned_at = calloc(count + 1, sizeof *m->turned_at);
    m->turned = calloc(count + 1, dtype_size(m->type));
    if (m->turned_at == NULL || m->turned == NULL) {
        status = fail_memory(why, (size_t)bytes);
        goto done;
    }
    TRY(pass(t, true, why));
    /* each start has moved to the next row's */
    memmove(t->indptr + 1, t->indptr, m->rows * sizeof *t->indptr);
    t->indptr[0] = 0;
    free(m->indptr);
    m->indptr = t->indptr;
    t->indptr = NULL;
done:
    if (t != NULL) {
        free(t->indptr);
    }
    free(t);
    return status;
}
