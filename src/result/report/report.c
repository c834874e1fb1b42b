/* lscm_report: a run as one page of HTML. Nothing in it says when it was written, so the same run
 * gives the same page. */
#include "result/report/report_state.h"

#include "base/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "runs/first.run/" is first.run. */
static char *title_of(const char *folder)
{
    size_t length = folder != NULL ? strlen(folder) : 0;
    while (length > 1 && folder[length - 1] == '/') {
        length--;
    }
    size_t begin = length;
    while (begin > 0 && folder[begin - 1] != '/') {
        begin--;
    }
    return length > begin ? strndup(folder + begin, length - begin) : strdup("A run");
}

static void put_footer(const report *r)
{
    (void)fprintf(r->out,
                  "<footer>\n<p class=\"soft\">Nearly certain is a probability of at least 0.95, "
                  "ruled out is at most 0.05. Made by lscm %s. This page is one file: it fetches "
                  "nothing and runs no program.</p>\n</footer>\n",
                  lscm_version());
}

static lscm_status put_page(const report *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    page_open(r->out, r->title);
    report_headline(r);
    (void)fputs("<main>\n", r->out);
    TRY(report_graph(r, why));
    report_checks(r);
    report_weights(r);
    report_posteriors(r);
    TRY(report_curves(r, why));
    report_order(r);
    TRY(report_nodes(r, why));
    TRY(report_latents(r, why));
    TRY(report_pictures(r, why));
    TRY(report_training(r, why));
    report_scores(r);
    TRY(report_repeat(r, why));
    (void)fputs("</main>\n", r->out);
    put_footer(r);
    page_close(r->out);
done:
    return status;
}

lscm_status lscm_report(const lscm_posterior *posterior, const char *path,
                        const lscm_report_options *options, lscm_error *why)
{
    static const lscm_report_options usual = {0};
    lscm_status status = LSCM_OK;
    const lscm_report_options *o = options != NULL ? options : &usual;
    output place = {0};
    report r = {.p = posterior, .folder = o->folder};
    char *title = title_of(o->folder);
    r.title = title;
    r.data = o->truth != NULL && o->truth->shape[LSCM_W].present ? o->truth : NULL;
    if (title == NULL) {
        return fail_memory(why, 64);
    }
    TRY(output_begin(&place, path, false, o->force, why));
    TRY(report_gather(&r, why));
    r.out = fopen(place.temporary, "wb");
    if (r.out == NULL) {
        status = fail(why, LSCM_WRITE, "writing %s: %s", path, strerror(errno));
        goto done;
    }
    TRY(put_page(&r, why));
    bool bad = ferror(r.out) != 0;
    bad = fclose(r.out) != 0 || bad;
    r.out = NULL;
    if (bad) {
        status = fail(why, LSCM_WRITE, "writing %s: %s", path, strerror(errno));
        goto done;
    }
    TRY(output_commit(&place, why));
done:
    if (r.out != NULL) {
        (void)fclose(r.out);
    }
    output_end(&place);
    report_close(&r);
    free(title);
    return status;
}
