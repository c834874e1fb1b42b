/* lscm convert IN OUT */
#include "common/files.h"

#include <string.h>
#include <strings.h>

const struct argp *convert_argp(void)
{
    static const struct argp_option options[] = {
        OPEN_ALL, COMMON_FORCE, COMMON_QUIET, COMMON_THREADS, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = files_parse,
        .args_doc = "IN OUT",
        .doc =
            "Turn a data file into another format, in blocks of rows: files larger than memory are "
            "fine. "
            "Between .nc, .npz and a BIOLS folder nothing is lost.\v"
            "Formats follow the ending:\n"
            "  .nc    netCDF-4, the native format\n"
            "  .npz   NumPy arrays x, targets, values, z, w, sigma, order\n"
            "  .csv   variables and a column 'target', or x and a column do:NAME per latent node;\n"
            "  .tsv   the same with tabs; both are also read packed: .csv.gz, .tsv.gz\n"
            "  .png   a grid of pictures (out only)\n"
            "  .pngs  a folder of PNG pictures and interventions.csv\n"
            "  none   a folder of .npy files in the layout of the public BIOLS code\n\n"
            "Examples:\n"
            "  lscm convert data.npz data.nc\n"
            "  lscm convert pictures.nc grid.png\n"
            "  lscm convert photographs pictures.nc\n"
            "  lscm convert chamber.csv chamber.nc --ignore soft,env --truth dag.csv",
    };
    return &argp;
}

/* What the target format cannot hold is said, not dropped in silence. */
static void note_losses(const lscm_dataset *data, const char *out)
{
    static const struct {
        lscm_field field;
        const char *name;
    } extras[] = {{LSCM_W, "w"}, {LSCM_SIGMA, "sigma"}, {LSCM_ORDER, "order"}};
    const char *ending = strrchr(out, '.');
    const char *type = lscm_dataset_shape(data, LSCM_X).dtype;
    char left[64] = "";
    if (ending != NULL && strncasecmp(ending, ".pngs", 5) == 0 && strncmp(type, "float", 5) == 0) {
        (void)fprintf(stderr, "lscm: note: pictures hold x in steps of 1/65535\n");
    }
    if (ending == NULL || (strcasecmp(ending, ".csv") != 0 && strcasecmp(ending, ".tsv") != 0)) {
        return;
    }
    for (size_t i = 0; i < sizeof extras / sizeof extras[0]; i++) {
        if (lscm_dataset_shape(data, extras[i].field).present) {
            (void)strncat(left, left[0] == '\0' ? "" : ", ", sizeof left - strlen(left) - 1);
            (void)strncat(left, extras[i].name, sizeof left - strlen(left) - 1);
        }
    }
    if (left[0] != '\0') {
        (void)fprintf(stderr, "lscm: note: a table holds x, targets, values and z; left out: %s\n",
                      left);
    }
}

int convert_run(int argc, char **argv)
{
    file_arguments a = {.common = {.word = {&a.in, &a.out},
                                   .missing = "name the file to read and the file to write"}};
    lscm_error why = {0};
    lscm_dataset *data = NULL;
    progress_bar bar;
    cli_parse("convert", convert_argp(), argc, argv, &a);
    double begun = seconds_now();
    lscm_progress progress = progress_begin(&bar, a.common.quiet);
    lscm_status status = lscm_dataset_open(&data, a.in, &a.open, &why);
    if (status == LSCM_OK) {
        status = lscm_dataset_save(data, a.out, a.common.force, &progress, &why);
    }
    progress_end(&bar);
    if (status == LSCM_OK && !a.common.quiet) {
        size_t rows = lscm_dataset_rows(data);
        size_t nodes = lscm_dataset_nodes(data);
        size_t features = lscm_dataset_features(data);
        note_losses(data, a.out);
        (void)printf("%s: %zu row%s, %zu node%s, %zu feature%s (%.2f s)\n", a.out, rows,
                     PLURAL(rows), nodes, PLURAL(nodes), features, PLURAL(features),
                     seconds_now() - begun);
    }
    lscm_dataset_free(data);
    return status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
}
