/* lscm_posterior_draw: the drawing of the report alone, an SVG that brings its own style, for
 * notebooks and slides. Several may stand on one page, so nothing in it has an id, its style names
 * its own class only, and what has no colour of its own takes that of the text around. */
#include "result/report/report_drawing.h"

#include <stdlib.h>

static const char STYLE[] =
    ".lscm-graph{max-width:100%;height:auto;font-family:system-ui,-apple-system,'Segoe UI',Roboto,"
    "'Helvetica Neue',Arial,sans-serif}"
    ".lscm-graph .node rect{fill:currentColor;fill-opacity:.06;stroke:currentColor;"
    "stroke-opacity:.6;stroke-width:1.2}"
    ".lscm-graph .node text{fill:currentColor;text-anchor:middle;font-size:13px;font-weight:600}"
    ".lscm-graph .edge path{fill:none}"
    ".lscm-graph .pos path{stroke:#1f83c4}.lscm-graph .neg path{stroke:#cc5f0a}"
    ".lscm-graph .pos polygon,.lscm-graph .pos text{fill:#1f83c4}"
    ".lscm-graph .neg polygon,.lscm-graph .neg text{fill:#cc5f0a}"
    ".lscm-graph .edge text{font-size:11.5px;text-anchor:middle}"
    ".lscm-graph .maybe path{stroke-dasharray:5 4}";

static void put_svg(const report *r, const drawing *g)
{
    number width = coordinate(drawing_width(g));
    number height = coordinate(drawing_height(g));
    (void)fprintf(r->out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lscm-graph\" role=\"img\" "
                  "width=\"%s\" height=\"%s\" viewBox=\"-%d -%d %s %s\">\n",
                  width.text, height.text, DRAWING_MARGIN, DRAWING_MARGIN, width.text, height.text);
    (void)fputs("<title>The causal graph</title>\n<desc>", r->out);
    put_drawing_about(r, g, "; and more.");
    (void)fprintf(r->out, "</desc>\n<style>%s</style>\n", STYLE);
    put_drawing_parts(r, g);
    (void)fputs("</svg>\n", r->out);
}

lscm_status lscm_posterior_draw(char **out, const lscm_posterior *posterior, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    report r = {.p = posterior};
    drawing g = {0};
    char *text = NULL;
    size_t length = 0;
    *out = NULL;
    r.out = open_memstream(&text, &length);
    if (r.out == NULL) {
        return fail_memory(why, BUFSIZ);
    }
    TRY(report_gather(&r, why));
    TRY(drawing_open(&g, &r, why));
    put_svg(&r, &g);
    bool bad = ferror(r.out) != 0;
    bad = fclose(r.out) != 0 || bad;
    r.out = NULL;
    if (bad) {
        status = fail_memory(why, length);
        goto done;
    }
    *out = text;
    text = NULL;
done:
    if (r.out != NULL) {
        (void)fclose(r.out);
    }
    free(text);
    drawing_close(&g);
    report_close(&r);
    return status;
}

void lscm_text_free(char *text)
{
    free(text);
}
