/* Figures by gnuplot, a program: a script with its data in it, FOLDER/NAME.gp, is left beside the
 * SVG and the PDF that it draws. */
#ifndef LSCM_CLI_PLOT_H
#define LSCM_CLI_PLOT_H

#include "experiments/grid.h"

/* The figures of a section: one, or for curves one for each degree. */
size_t figure_count(const grid *g, size_t section);
/* Its file name, without ending. */
void figure_name(const grid *g, size_t section, size_t k, char *out, size_t size);
double figure_degree(const grid *g, size_t section, size_t k);

/* Writes the scripts and draws; LSCM_TOOL where gnuplot is not there or fails: scripts are left. */
lscm_status plot_section(const grid *g, size_t section, lscm_error *why);

/* ---- Parts of scripts ---- */

/* Where a panel lies on the page, in shares of it; y from below. */
typedef struct place {
    double left, right, bottom, top;
} place;
enum { INCH = 100 }; /* points of SVG to the inch of PDF */

/* A page of that many points, with a title, ready for panels. */
void plot_page(FILE *out, const grid *g, size_t section, const char *note, int width, int height);
/* What the axis of a metric shows for a value: numbers that a scale cannot show are at its end. */
double plot_value(int metric, double value);
/* Range and marks of y for values between the two. */
void plot_axis(FILE *out, int metric, double least, double most);
void plot_place(FILE *out, place p);

/* The scripts of both kinds. */
void plot_boxes(FILE *out, const grid *g, size_t section);
void plot_curves(FILE *out, const grid *g, size_t section, double degree);

#endif
