/* Arrays in memory to a posterior over graphs: which edges, how probable, and what to doubt.
 *
 *     cc fit.c $(pkg-config --cflags --libs lscm) && ./a.out made.run
 *
 * The data are made up here: heat -> pressure -> flow, never seen themselves but through eight
 * sensors, each a mixture of all three. In 2 of 3 rows one of them was set by hand. */
#include <lscm.h>
#include <stdio.h>

enum { ROWS = 900, NODES = 3, SENSORS = 8 };

static double x[ROWS * SENSORS];
static uint8_t targets[ROWS * NODES]; /* 1 where a node was set */
static double values[ROWS * NODES];   /* what it was set to */

/* Roughly normal, and the same on every machine. */
static double noise(void)
{
    static uint32_t state = 1;
    double sum = -6;
    for (int k = 0; k < 12; k++) {
        state = 1664525 * state + 1013904223;
        sum += state / 4294967296.0;
    }
    return sum;
}

static void make_rows(void)
{
    static const double mixture[NODES][SENSORS] = {{1, .5, -1, .2, 0, .7, 2, -.3},
                                                   {0, 1, .4, -1, 1.5, .6, -.2, 1},
                                                   {.8, -.6, 1, 1, .3, -1, .1, .9}};
    for (size_t n = 0; n < ROWS; n++) {
        double z[NODES];
        for (size_t i = 0; i < NODES; i++) {
            size_t at = n * NODES + i;
            targets[at] = n % 3 > 0 && n / 3 % NODES == i ? 1 : 0;
            values[at] = targets[at] != 0 ? 4 * noise() : 0;
            z[i] = noise() + (i > 0 ? 1.5 * z[i - 1] : 0);
            z[i] = targets[at] != 0 ? values[at] : z[i];
            for (size_t s = 0; s < SENSORS; s++) {
                x[n * SENSORS + s] += z[i] * mixture[i][s];
            }
        }
    }
}

static void print_posterior(const lscm_posterior *posterior)
{
    const double *probability = lscm_posterior_edge_prob(posterior); /* (NODES, NODES) */
    const lscm_diagnostics *trust = lscm_posterior_diagnostics(posterior);
    for (size_t j = 0; j < NODES; j++) {
        for (size_t i = 0; i < NODES; i++) {
            if (probability[j * NODES + i] > 0.01) {
                printf("%s -> %s: %.2f\n", lscm_posterior_node_name(posterior, j),
                       lscm_posterior_node_name(posterior, i), probability[j * NODES + i]);
            }
        }
    }
    printf("R-hat %.2f, %.0f effective draws\n", trust->r_hat, trust->ess);
    for (size_t i = 0; i < NODES && trust->held_out_rows > 0; i++) {
        printf("%s in interventions held out: R2 %.2f\n", lscm_posterior_node_name(posterior, i),
               trust->held_out_r2[i]);
    }
    for (size_t k = 0; k < trust->warnings; k++) {
        printf("warning: %s\n", trust->warning[k]);
    }
}

int main(int argc, char **argv)
{
    const char *const names[NODES] = {"heat", "pressure", "flow"};
    const lscm_arrays arrays = {.rows = ROWS,
                                .nodes = NODES,
                                .features = SENSORS,
                                .x = x,
                                .targets = targets,
                                .values = values,
                                .node_names = names};
    const lscm_run_options run = {.folder = argc > 1 ? argv[1] : NULL};
    lscm_error why = {0};
    lscm_dataset *data = NULL;
    lscm_posterior *posterior = NULL;
    make_rows();
    lscm_fit_settings *settings = lscm_fit_settings_new();
    lscm_status status = lscm_dataset_wrap(&data, &arrays, &why);
    if (status == LSCM_OK && settings != NULL) {
        settings->method = LSCM_METHOD_ANCHORED;
        settings->draws = 500;
        settings->seed = 1;
        status = lscm_fit(&posterior, data, settings, &run, NULL, &why);
    }
    if (posterior != NULL) {
        print_posterior(posterior);
    } else {
        fprintf(stderr, "%s: %s\n", lscm_status_text(status), why.text);
    }
    int code = posterior != NULL ? 0 : 1;
    lscm_posterior_free(posterior);
    lscm_dataset_free(data);
    lscm_fit_settings_free(settings);
    return code;
}
