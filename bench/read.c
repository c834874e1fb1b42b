/* bench_read make DIR [GB]: a data set in the BIOLS layout whose x_samples.npy has that size (1
 * GB). bench_read time DIR: reads and checks all of x in blocks of rows, against `cat
 * x_samples.npy` to /dev/null, both from the page cache, best of 5. */
#include "clock.h"
#include "data/dataset/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 5, FEATURES = 100 };

static int report(const lscm_error *why)
{
    (void)fprintf(stderr, "%s\n", why->text);
    return 1;
}

static int make(const char *folder, double gigabytes)
{
    lscm_error why;
    lscm_dataset *data = NULL;
    lscm_simulation settings;
    lscm_status status = lscm_simulation_preset(&settings, "paper-linear", NODES, &why);
    settings.sets = (int64_t)(gigabytes * 1e9 / (FEATURES * 8.0) / 1000);
    settings.per_set = 1000;
    if (status == LSCM_OK) {
        status = lscm_simulate(&data, &settings, NULL, &why);
    }
    if (status == LSCM_OK) {
        status = lscm_dataset_save(data, folder, true, NULL, &why);
    }
    lscm_dataset_free(data);
    return status == LSCM_OK ? 0 : report(&why);
}

static lscm_status read_all(const char *folder, size_t *rows, lscm_error *why)
{
    lscm_dataset *data = NULL;
    row_blocks walk = {0};
    lscm_status status = LSCM_OK;
    TRY(lscm_dataset_open(&data, folder, NULL, why));
    TRY(blocks_begin(&walk, data, LSCM_X, NULL, why));
    for (*rows = 0;; *rows += walk.count) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
    }
done:
    blocks_end(&walk);
    lscm_dataset_free(data);
    return status;
}

static int time_reading(const char *folder)
{
    lscm_error why;
    char command[4096];
    size_t rows = 0;
    double ours = 0;
    double cat = 0;
    lscm_status status = LSCM_OK;
    (void)snprintf(command, sizeof command, "cat '%s/x_samples.npy' > /dev/null", folder);
    BEST_OF(
        cat, 5, if (system(command) != 0) { return 1; });
    BEST_OF(
        ours, 5, status = read_all(folder, &rows, &why);
        if (status != LSCM_OK) { return report(&why); });
    (void)printf("read: %.2f GB in %.3f s, cat %.3f s: %.2fx (bar 1.5x)\n",
                 (double)rows * FEATURES * 8e-9, ours, cat, ours / cat);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "make") == 0) {
        return make(argv[2], argc > 3 ? atof(argv[3]) : 1);
    }
    if (argc == 3 && strcmp(argv[1], "time") == 0) {
        return time_reading(argv[2]);
    }
    (void)fprintf(stderr, "usage: bench_read make DIR [GB] | time DIR\n");
    return 2;
}
