/* The scores against the truth, and the settings with the command that repeats the run. */
#include "result/report/report_state.h"

#include <math.h>
#include <string.h>

static bool of_weights(const char *name)
{
    static const char *const names[] = {"w_mse", "kl_z", "coverage_90", "coverage_90_edges",
                                        "auprc_weights"};
    bool found = false;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        found = found || strcmp(names[k], name) == 0;
    }
    return found;
}

void report_scores(const report *r)
{
    const struct {
        const char *name, *help;
        double value;
    } scores[] = {
#define ROW(name, help) {#name, help, r->scores.name},
        LSCM_SCORES_TABLE(ROW)
#undef ROW
    };
    if (r->true_w == NULL) {
        return;
    }
    section_open(r->out, "scores", "Scores against the truth");
    (void)fprintf(r->out,
                  "<p>On average a draw of the posterior has %s wrong edges (added, missing or "
                  "turned around), and the edge probabilities tell true edges from the others ",
                  few_digits(r->scores.e_shd).text);
    (void)fprintf(r->out,
                  "with an area under the ROC curve of %s, where 1 is perfect and 0.5 is "
                  "guessing.%s</p>\n",
                  few_digits(r->scores.auroc).text,
                  r->plain_truth ? " The true graph is known, but not its weights." : "");
    (void)fputs("<div class=\"wide\">\n<table>\n<thead><tr><th class=\"t\" "
                "scope=\"col\">score</th><th scope=\"col\">value</th><th class=\"t\" "
                "scope=\"col\">meaning</th></tr></thead>\n<tbody>\n",
                r->out);
    for (size_t k = 0; k < sizeof scores / sizeof scores[0]; k++) {
        if (!isfinite(scores[k].value) || (r->plain_truth && of_weights(scores[k].name))) {
            continue;
        }
        (void)fprintf(r->out,
                      "<tr><th class=\"t\" scope=\"row\">%s</th><td>%s</td><td class=\"t\">",
                      scores[k].name, few_digits(scores[k].value).text);
        put_text(r->out, scores[k].help);
        (void)fputs("</td></tr>\n", r->out);
    }
    (void)fputs("</tbody>\n</table>\n</div>\n", r->out);
    section_close(r->out);
}
