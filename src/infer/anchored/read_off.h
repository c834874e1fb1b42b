/* Causal variables of x that bends, read off by whatever learned to: z of all rows, what is known
 * of its errors, and from there to the posterior.
 *
 *     z, sd, blur, leak, gain -> graphs and mechanisms, within the reach of the labels -> told
 *
 * Beyond the values that label it, no network is to be believed: there only the side of a node is
 * known, and its z is drawn with the graph.
 */
#ifndef LSCM_INFER_ANCHORED_READ_OFF_H
#define LSCM_INFER_ANCHORED_READ_OFF_H

#include "infer/anchored/anchored_infer.h"
#include "scm/mechanism/mechanism.h"

typedef struct read_off {
    char *const *names;            /* (d) or NULL: of nodes */
    linear_view latents;           /* z as variables; its design's memory is another's */
    double *z, *sd;                /* (rows, d): by x alone, labels in their places */
    double *told, *told_sd;        /* (rows, d): to be stored */
    double *blur;                  /* (d, d, d) */
    bool blurred;                  /* .. is known */
    double *leak;                  /* (d, d): sd of what leaks (evidence/both_ways.h) */
    double gain;                   /* sd of the error of a scale */
    double *alike;                 /* (d + 1, d): both (evidence/alike_errors.h) */
    double *r2;                    /* (d): of values held out, NaN where there were none */
    double *size;                  /* (rows): the error goes with it; NULL: with nothing */
    double *w, *intercept, *sigma; /* the mean model .. */
    bent_mechanisms bent;   /* .. and its curves, of one draw; without terms where none bends */
    double *middle, *reach; /* (d): where values label node j well: middle_j +- reach_j */
    const uint8_t *unknown; /* (rows, d): 1 where z says nothing of a free node; NULL: nowhere */
    size_t hidden;          /* entries of these */
    size_t outside; /* entries of z, not set by do(), beyond the values that label their node */
    arena memory;
} read_off;

/* Rows of a design, which must stay. */
lscm_status read_off_open(read_off *out, const design *by, char *const *names, lscm_error *why);
void read_off_close(read_off *r);

/* Once z is there: its spread. */
void read_off_spread(read_off *r);
mechanism_model read_off_model(const read_off *r);
/* The mean model of draws, of z as it stands. */
void read_off_take_model(read_off *r, const anchored *a);
/* Where labels reach, and how many entries lie beyond. */
lscm_status read_off_find_reach(read_off *r, lscm_error *why);
/* What is asked of z, as it was read off: of some draws, with its errors or without. */
anchored_input read_off_input(const read_off *r, const anchored_input *in, size_t draws);
anchored_input read_off_with_errors(const read_off *r, const anchored_input *in);
/* The posterior where entries lie beyond reach, and told: z as read off, or, where x may say
 * nothing (in->saturated), as drawn. */
lscm_status read_off_infer_within(read_off *r, anchored *out, const anchored_input *in,
                                  lscm_error *why);

#endif
