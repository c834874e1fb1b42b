/* The seam: all that graphs, chains and samplers ask of a node given its parents. A law is a table
 * of functions; what one has gathered only the same one reads. There is one so far, linear with
 * normal noise (family.h), and another is another table: no caller knows which it has.
 *
 * What a mechanism does once its numbers are known, residual and simulation, is scm/mechanism.
 */
#ifndef LSCM_INFER_MECHANISM_LAW_H
#define LSCM_INFER_MECHANISM_LAW_H

#include "infer/mechanism/families.h"

typedef struct mechanisms mechanisms;

typedef struct mechanism_law {
    /* Sums over the rows in which each node is free; the same rows with other numbers z (rows, d),
     * where nothing is allocated. families_close ends them. */
    lscm_status (*gather)(families *out, const latent_rows *rows, const candidate_lists *lists,
                          lscm_error *why);
    lscm_status (*update)(families *f, const double *z, lscm_error *why);
    /* Takes off what noise of z adds (families_correct); lets rows count `weight` times. */
    void (*correct)(families *f, const double *psi, size_t step, double share);
    void (*weigh)(families *f, double weight);

    /* Whether all sums of a node are finite. */
    bool (*sound)(const family *f);
    /* The family of the candidates in the mask `among` only, in `out`. */
    void (*narrow)(family_room *out, const family *f, uint32_t among);

    /* Log evidence and prior of one parent set, and (2^family_free) of all that have the required
     * parents; `work` is scratch. */
    double (*score)(const family *f, const dag_prior *prior, uint32_t parents);
    void (*score_all)(const family *f, const dag_prior *prior, const family_table *work,
                      double *score);

    /* Which of its levels (what sets have of their own) has the node, given its parents: a draw by
     * a uniform number. */
    size_t (*level)(const family *f, const dag_prior *prior, uint32_t parents, double u);
    /* A draw of the numbers of one mechanism (family_draw). */
    mechanism (*draw)(const family *f, const dag_prior *prior, uint32_t parents, rng r,
                      uint64_t index, double *w, size_t d);
    /* One variance for all nodes, given parents (d) and w (d, d), is the sum that this returns over
     * chi2(dof). */
    double (*pool)(const mechanisms *m, const uint32_t *parents, const double *w, double *dof);
} mechanism_law;

extern const mechanism_law linear_gaussian;

/* What data say of the mechanisms of all nodes. */
struct mechanisms {
    const mechanism_law *law;
    size_t d;
    const family *family; /* (d), one for each node in turn */
    dag_prior prior;
};

/* As the table has them, for node i. */
static inline double mechanisms_score(const mechanisms *m, size_t i, uint32_t parents)
{
    return m->law->score(&m->family[i], &m->prior, parents);
}

static inline mechanism mechanisms_draw(const mechanisms *m, size_t i, uint32_t parents, rng r,
                                        uint64_t index, double *w)
{
    return m->law->draw(&m->family[i], &m->prior, parents, r, index, w, m->d);
}

/* Fails where a node has too many candidates for a table, or sums that are no numbers. */
lscm_status mechanisms_check(const mechanisms *m, lscm_error *why);

#endif
