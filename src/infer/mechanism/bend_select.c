/* Good parents of a node where mechanisms may be curved, by forward selection on its sums. */
#include "infer/mechanism/bend_parts.h"

#include <math.h>
#include <string.h>

void bend_select_lay_out(bend_select_room *room, arena *a, size_t width)
{
    room->place = arena_take(a, width, sizeof *room->place);
    room->a = arena_take(a, width, width * sizeof(double));
}

double bend_best(const bend_family *f, size_t level, bend_reach reach, uint32_t parents,
                 const dag_prior *prior, const bend_select_room *room)
{
    double best = -INFINITY;
    double least = bend_least(f, prior);
    for (size_t kind = 0; kind <= BEND_CURVES; kind++) {
        size_t n = bend_functions(f, parents, kind, room->place);
        bend_fit fit = bend_fit_of(f, level, kind, room->place, n, least, room->a);
        double own =
            bend_log_evidence(f, prior, (size_t)__builtin_popcount(parents), fit.rest, fit.log_det);
        best = fmax(best, own + bend_log_prior(f, reach, parents, kind));
    }
    return best;
}

size_t bend_select(const bend_family *f, bend_reach reach, const dag_prior *prior, size_t most,
                   const bend_select_room *room, size_t *order)
{
    uint32_t parents = 0;
    size_t better = 0;
    double score = bend_best(f, 0, reach, 0, prior, room);
    most = most < f->count ? most : f->count;
    for (size_t k = 0; k < most; k++) {
        double best = -INFINITY;
        order[k] = (size_t)__builtin_ctz(~parents);
        for (size_t c = 0; c < f->count; c++) {
            double own = (parents >> c & 1) == 0
                             ? bend_best(f, 0, reach, parents | (uint32_t)1 << c, prior, room)
                             : -INFINITY;
            order[k] = own > best ? c : order[k];
            best = fmax(best, own);
        }
        /* an edge costs what one among as many nodes does */
        better = better == k && best - log((double)f->count + 1) > score ? k + 1 : better;
        score = best;
        parents |= (uint32_t)1 << order[k];
    }
    return better;
}
