/* Data with a known truth, and how close a fit comes to it:
 *
 *     cc score.c $(pkg-config --cflags --libs lscm) && ./a.out
 */
#include <lscm.h>
#include <stdio.h>

/* LSCM_OK when there is memory for what was asked. */
static lscm_status simulate(lscm_dataset **out, lscm_simulation *settings, lscm_error *why)
{
    lscm_status status =
        settings != NULL ? lscm_simulation_preset(settings, "paper-linear", 5, why) : LSCM_MEMORY;
    if (status == LSCM_OK) {
        settings->graph = LSCM_GRAPH_ER;
        settings->degree = 2;
        settings->features = 30;
        settings->seed = 3;
        status = lscm_simulate(out, settings, "paper-linear", why);
    }
    return status;
}

static void print_scores(const lscm_scores *scores)
{
#define PRINT(name, help) printf("%-18s %8.3f  %s\n", #name, scores->name, help);
    LSCM_SCORES_TABLE(PRINT)
#undef PRINT
}

int main(void)
{
    lscm_error why = {0};
    lscm_dataset *data = NULL;
    lscm_posterior *posterior = NULL;
    lscm_simulation *settings = lscm_simulation_new();
    lscm_scores *scores = lscm_scores_new();
    lscm_status status = simulate(&data, settings, &why);
    if (status == LSCM_OK) {
        status = lscm_fit(&posterior, data, NULL, NULL, NULL, &why); /* all defaults, no folder */
    }
    if (status == LSCM_OK) {
        status =
            scores != NULL ? lscm_posterior_evaluate(scores, posterior, data, &why) : LSCM_MEMORY;
    }
    if (status == LSCM_OK) {
        print_scores(scores);
    } else {
        fprintf(stderr, "%s: %s\n", lscm_status_text(status), why.text);
    }
    lscm_scores_free(scores);
    lscm_posterior_free(posterior);
    lscm_dataset_free(data);
    lscm_simulation_free(settings);
    return status == LSCM_OK ? 0 : 1;
}
