/* The header of an NPY file: magic, version, length, and a Python dictionary such as
 *
 *     \x93NUMPY 1 0 118 {'descr': '<f8', 'fortran_order': False, 'shape': (2500, 100), }   \n
 *
 * read in versions 1 to 3 and written as version 1, padded to 64 bytes. Nothing is believed: the
 * shape must multiply to a size that fits, and to the bytes that are there. `where` opens every
 * sentence: "data.npz: 'x'".
 */
#ifndef LSCM_DATA_NPY_NPY_HEADER_H
#define LSCM_DATA_NPY_NPY_HEADER_H

#include "data/dataset/dataset.h"

typedef enum npy_kind { NPY_NUMBERS, NPY_UNICODE, NPY_BYTES } npy_kind;

typedef struct npy_header {
    npy_kind kind;
    array_shape shape; /* its type counts for numbers only */
    size_t item;       /* bytes of one element; text: 4 or 1 for each character */
    bool fortran;      /* the first index runs fastest */
    bool swapped;      /* the other endianness than this machine's */
    uint64_t start;    /* of the data, in bytes after the magic's first */
    uint64_t bytes;    /* of the data */
} npy_header;

enum {
    NPY_PREFIX = 12,        /* magic, version and length of any version */
    NPY_HEADER_MOST = 65536 /* longer ones hold nothing we read */
};

/* From the first NPY_PREFIX bytes: how long the whole header is. `there` is what the file has. */
lscm_status npy_header_size(const unsigned char *prefix, uint64_t there, const char *where,
                            size_t *size, lscm_error *why);
/* `text` holds the whole header, `size` bytes. */
lscm_status npy_header_parse(npy_header *out, const unsigned char *text, size_t size,
                             const char *where, lscm_error *why);
/* The file has exactly the bytes that the header speaks of. */
lscm_status npy_header_fits(const npy_header *header, uint64_t there, const char *where,
                            lscm_error *why);

enum { NPY_HEADER_OURS = 192 }; /* more than the longest header that we write */

/* Headers of our own, C order and native: an array of numbers; texts of `width` characters, as many
 * as `count`, or one without dimensions. */
npy_header npy_header_of(const array_shape *shape);
npy_header npy_header_of_texts(int ndim, size_t count, size_t width);
/* Writes the header, sets its start, and returns its size. */
size_t npy_header_format(npy_header *header, char out[NPY_HEADER_OURS]);

#endif
