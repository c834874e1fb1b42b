/* Pages, axes and the program that draws them. */
#include "experiments/plot.h"
#include "common/program.h"

#include <math.h>
#include <unistd.h>

/* ---- which figures ---- */

/* The k-th degree among the rows, in their order; NaN past the last. */
double figure_degree(const grid *g, size_t section, size_t k)
{
    const grid_section *s = &g->sections[section];
    double found[16];
    size_t count = 0;
    for (size_t r = s->first_row; r < s->first_row + s->rows; r++) {
        size_t at = 0;
        while (at < count && found[at] != g->rows[r].degree) {
            at++;
        }
        if (at == count && count < 16) {
            found[count++] = g->rows[r].degree;
        }
    }
    return k < count ? found[k] : NAN;
}

size_t figure_count(const grid *g, size_t section)
{
    size_t count = 1;
    if (g->sections[section].of->kind == FIGURE_CURVES) {
        while (!isnan(figure_degree(g, section, count))) {
            count++;
        }
    }
    return count;
}

void figure_name(const grid *g, size_t section, size_t k, char *out, size_t size)
{
    const experiment *e = g->sections[section].of;
    if (e->kind == FIGURE_CURVES) {
        (void)snprintf(out, size, "%s-ER-%g", e->name, figure_degree(g, section, k));
    } else {
        (void)snprintf(out, size, "%s", e->name);
    }
}

/* ---- parts of scripts ---- */

void plot_page(FILE *out, const grid *g, size_t section, const char *note, int width, int height)
{
    const grid_section *s = &g->sections[section];
    (void)fprintf(out,
                  "# Draws %s as SVG: gnuplot FILE; as PDF: gnuplot -e \"kind='pdf'\" FILE\n"
                  "if (!exists('kind')) kind = 'svg'\n"
                  "if (!exists('target')) target = '%s.'.kind\n"
                  "if (kind eq 'svg') set terminal svg size %d,%d font 'sans-serif,13' background "
                  "rgb 'white'\n"
                  "if (kind eq 'png') set terminal pngcairo size %d,%d font 'sans,11'\n"
                  "if (kind eq 'pdf') set terminal pdfcairo size %g,%g font 'sans,11'\n"
                  "set encoding utf8\nset output target\n",
                  s->of->name, s->of->name, width, height, width, height, (double)width / INCH,
                  (double)height / INCH);
    (void)fprintf(out,
                  "set multiplot title \"{/:Bold %s}%s\\n%s%s  (↑ higher, ↓ lower is better)\"\n"
                  "set border 3\nset tics nomirror out scale 0.6\nunset key\n"
                  "set grid ytics lc rgb '#dddddd' lt 1 lw 0.7\n",
                  s->of->name, g->options->quick ? " (quick: few seeds, shortened methods)" : "",
                  s->of->title, note);
}

enum { SMALLEST_EXPONENT = -12 };

double plot_value(int metric, double value)
{
    axis_scale s = METRICS[metric].scale;
    double floor = pow(10, SMALLEST_EXPONENT);
    return s == SCALE_COUNT ? asinh(value) : s == SCALE_LOG && !(value > floor) ? floor : value;
}

/* asinh y: 0, 1, 2, 5, 10, .. */
static void count_axis(FILE *out, double least, double most)
{
    (void)fprintf(out, "set yrange [%g:%g]\nset ytics (\"0\" 0",
                  least < 0 ? 1.1 * asinh(least) : -0.15, 1.08 * asinh(fmax(most, 1)));
    for (int digits = 0; pow(10, digits) <= most * 2; digits++) {
        const double steps[] = {1, 2, 5};
        double ten = pow(10, digits);
        for (size_t i = 0; i < 3; i++) {
            (void)fprintf(out, ", \"%g\" %g", steps[i] * ten, asinh(steps[i] * ten));
        }
    }
    (void)fputs(")\n", out);
}

void plot_axis(FILE *out, int metric, double least, double most)
{
    (void)fprintf(out,
                  "unset logscale y\nset ytics autofreq\nset format y '%%g'\n"
                  "set title \"%s%s\" offset 0,-0.6\n",
                  METRICS[metric].title,
                  METRICS[metric].better > 0   ? " ↑"
                  : METRICS[metric].better < 0 ? " ↓"
                                               : "");
    if (METRICS[metric].scale == SCALE_COUNT) {
        count_axis(out, least, most);
    } else if (METRICS[metric].scale == SCALE_LOG) {
        double low = plot_value(metric, least);
        (void)fprintf(out, "set logscale y\nset yrange [%g:%g]\n", low / 2,
                      2 * fmax(plot_value(metric, most), low));
        (void)fputs(metric == METRIC_seconds ? "" : "set format y '10^{%T}'\n", out);
    } else {
        bool share = least >= 0 && most <= 1;
        double room = fmax(0.06 * (most - least), share ? 0.02 : 0.5);
        (void)fprintf(out, "set yrange [%g:%g]\n", least - room, most + room);
    }
}

void plot_place(FILE *out, place p)
{
    (void)fprintf(out,
                  "set lmargin at screen %g\nset rmargin at screen %g\n"
                  "set bmargin at screen %g\nset tmargin at screen %g\n",
                  p.left, p.right, p.bottom, p.top);
}

/* ---- the program ---- */

/* gnuplot -e "kind='svg'; target='aside'" NAME.gp in the folder; its exit code. */
static int draw(const char *folder, const char *script, const char *kind, const char *target)
{
    char setting[512];
    (void)snprintf(setting, sizeof setting, "kind='%s'; target='%s'", kind, target);
    return run_program(folder, (const char *const[]){"gnuplot", "-e", setting, script, NULL});
}

typedef struct page {
    const grid *g;
    size_t section, k;
} page;

static void write_script(FILE *out, const void *self)
{
    const page *p = self;
    if (p->g->sections[p->section].of->kind == FIGURE_CURVES) {
        plot_curves(out, p->g, p->section, figure_degree(p->g, p->section, p->k));
    } else {
        plot_boxes(out, p->g, p->section);
    }
}

/* Drawn aside, then put in place: a figure that was there before stays when this one fails. */
static lscm_status draw_both(const grid *g, const char *name, lscm_error *why)
{
    static const char *const kinds[] = {"svg", "pdf"};
    char script[160];
    (void)snprintf(script, sizeof script, "%s.gp", name);
    for (size_t i = 0; i < 2; i++) {
        char aside[192];
        char from[LONGEST_PATH];
        char to[LONGEST_PATH];
        (void)snprintf(aside, sizeof aside, ".%s.%ld.tmp", name, (long)getpid());
        int code = draw(g->options->folder, script, kinds[i], aside);
        lscm_status status = grid_path(g, aside, "", from, sizeof from, why);
        (void)snprintf(script, sizeof script, "%s.%s", name, kinds[i]);
        if (status == LSCM_OK) {
            status = grid_path(g, script, "", to, sizeof to, why);
        }
        (void)snprintf(script, sizeof script, "%s.gp", name);
        if (status == LSCM_OK && (code != 0 || rename(from, to) != 0)) {
            (void)unlink(from);
            status = cli_explain(why, LSCM_TOOL,
                                 code == PROGRAM_MISSING
                                     ? "figures are skipped: gnuplot is not installed (package "
                                       "gnuplot-nox); the same command draws them then"
                                     : "figures are skipped: gnuplot could not draw %s/%s",
                                 g->options->folder, script);
        }
        if (status != LSCM_OK) {
            return status;
        }
    }
    return LSCM_OK;
}

lscm_status plot_section(const grid *g, size_t section, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t k = 0; k < figure_count(g, section) && status == LSCM_OK; k++) {
        char name[128];
        char path[LONGEST_PATH];
        const page p = {g, section, k};
        figure_name(g, section, k, name, sizeof name);
        status = grid_path(g, name, ".gp", path, sizeof path, why);
        if (status == LSCM_OK) {
            status = write_whole(path, write_script, &p, why);
        }
        if (status == LSCM_OK) {
            status = draw_both(g, name, why);
        }
    }
    return status;
}
