/* bench_limit FILE ROWS COLUMNS: what the machine needs at least for a linear fit, as one line of
 * JSON. `read`: all bytes of the file into memory, block by block. `dsyrk`: X'X of ROWS x COLUMNS
 * doubles, in blocks of rows that stay in memory, on all threads. Best of 3 each; the file comes
 * from the page cache where it fits. */
#include "clock.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK_ROWS = 16384, READ_BYTES = 1 << 20 };

static int read_file(const char *path, char *buffer)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return 1;
    }
    (void)setvbuf(file, NULL, _IONBF, 0);
    while (fread(buffer, 1, READ_BYTES, file) > 0) {
    }
    int bad = ferror(file);
    (void)fclose(file);
    return bad;
}

/* gram (columns, columns) += block' block over all rows */
static void multiply(size_t rows, size_t columns, const double *block, double *gram)
{
    for (size_t first = 0; first < rows; first += BLOCK_ROWS) {
        size_t n = rows - first < BLOCK_ROWS ? rows - first : BLOCK_ROWS;
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)columns, (int)n, 1, block,
                    (int)columns, first == 0 ? 0 : 1, gram, (int)columns);
    }
}

int main(int argc, char **argv)
{
    size_t rows = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    size_t columns = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    if (rows == 0 || columns == 0 || columns > 100000) {
        (void)fprintf(stderr, "usage: bench_limit FILE ROWS COLUMNS\n");
        return 2;
    }
    size_t kept = rows < BLOCK_ROWS ? rows : BLOCK_ROWS;
    double *block = malloc(kept * columns * sizeof *block);
    double *gram = malloc(columns * columns * sizeof *gram);
    char *buffer = malloc(READ_BYTES);
    int status = block == NULL || gram == NULL || buffer == NULL;
    double read = 0;
    double product = 0;
    for (size_t i = 0; status == 0 && i < kept * columns; i++) {
        block[i] = (double)(i * 2654435761U % 1000003) / 1000003 - 0.5;
    }
    if (status == 0) {
        BEST_OF(read, 3, status |= read_file(argv[1], buffer));
    }
    if (status == 0) {
        BEST_OF(product, 3, multiply(rows, columns, block, gram));
        (void)printf("{\"read\": %.6f, \"dsyrk\": %.6f}\n", read, product);
    } else {
        (void)fprintf(stderr, "%s: cannot be read\n", argv[1]);
    }
    free(block);
    free(gram);
    free(buffer);
    return status;
}
