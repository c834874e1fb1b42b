/* What would be seen if a variable were set? Of a run folder, as fit.c or `lscm fit` leaves it:
 *
 *     cc intervene.c $(pkg-config --cflags --libs lscm) && ./a.out made.run 1 2.5
 *
 * sets node 1 to 2.5 and prints every node's mean and 90% band. */
#include <lscm.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_NODES = 100, SAMPLES = 2000 };

static void print_node(const lscm_posterior *posterior, size_t node, const lscm_bands *z)
{
    const char *name = lscm_posterior_node_name(posterior, node);
    printf("node %zu (%s): mean %.2f, 90%% between %.2f and %.2f\n", node,
           name != NULL ? name : "no name", z->mean[node], z->lower[node], z->upper[node]);
}

int main(int argc, char **argv)
{
    uint8_t targets[MOST_NODES] = {0};
    double values[MOST_NODES] = {0};
    double mean[MOST_NODES];
    double lower[MOST_NODES];
    double upper[MOST_NODES];
    const lscm_bands z = {.mean = mean, .lower = lower, .upper = upper};
    lscm_error why = {0};
    lscm_posterior *posterior = NULL;
    lscm_dataset *rows = NULL;
    size_t set = argc == 4 ? strtoul(argv[2], NULL, 10) : MOST_NODES;
    if (set >= MOST_NODES) {
        fprintf(stderr, "usage: %s RUN NODE VALUE\n", argv[0]);
        return 2;
    }
    lscm_status status = lscm_posterior_open(&posterior, argv[1], &why);
    size_t nodes = status == LSCM_OK ? lscm_posterior_nodes(posterior) : 0;
    if (status == LSCM_OK && set < nodes && nodes <= MOST_NODES) {
        targets[set] = 1;
        values[set] = strtod(argv[3], NULL);
        status = lscm_posterior_sample(&rows, posterior, targets, values, SAMPLES, 1, &why);
    }
    if (rows != NULL) {
        status = lscm_dataset_bands(rows, LSCM_Z, &z, &why);
    }
    for (size_t i = 0; i < nodes && rows != NULL && status == LSCM_OK; i++) {
        print_node(posterior, i, &z);
    }
    if (rows == NULL || status != LSCM_OK) {
        fprintf(stderr, "%s\n", status != LSCM_OK ? why.text : "there is no such node");
    }
    int code = rows != NULL && status == LSCM_OK ? 0 : 1;
    lscm_dataset_free(rows);
    lscm_posterior_free(posterior);
    return code;
}
