#include "infer/graph/order_chain.h"

#include <math.h>
#include <string.h>

enum { NO_SLOT = 255, LONGEST_BLOCK = 8 };
#define NONE UINT32_MAX

/* A node j that is passed when i moves: candidate `mine` of i, and i candidate `its` of j. */
struct order_event {
    uint32_t at, node;
    uint8_t mine, its;
    double with, without; /* total_j with i before it and not */
    uint32_t places;      /* for i between the event before and this one */
    double weight;
};

void order_space_lay_out(order_space *space, arena *a, size_t edges)
{
    space->first_child = arena_take(a, space->d + 1, sizeof *space->first_child);
    space->child = arena_take(a, edges, sizeof *space->child);
    space->child_slot = arena_take(a, edges, 1);
    space->log_whole = arena_take(a, space->d + 1, sizeof(double));
}

void order_space_fill(order_space *space)
{
    size_t d = space->d;
    size_t *first = space->first_child;
    memset(first, 0, (d + 1) * sizeof *first);
    for (size_t i = 0; i < d; i++) {
        for (size_t c = 0; c < space->families[i].count; c++) {
            first[space->families[i].candidate[c] + 1]++;
        }
    }
    for (size_t j = 0; j < d; j++) {
        first[j + 1] += first[j];
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t c = 0; c < space->families[i].count; c++) {
            size_t at = first[space->families[i].candidate[c]]++;
            space->child[at] = (uint32_t)i;
            space->child_slot[at] = (uint8_t)c;
        }
    }
    /* each start has run on to the next */
    memmove(first + 1, first, d * sizeof *first);
    first[0] = 0;
    for (size_t k = 1; k <= d; k++) {
        space->log_whole[k] = log((double)k);
    }
}

void order_chain_lay_out(order_chain *chain, arena *a, size_t d)
{
    uint32_t **list[] = {&chain->order, &chain->position, &chain->before,
                         &chain->mark,  &chain->touched,  &chain->mask};
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        *list[k] = arena_take(a, d, sizeof(uint32_t));
    }
    chain->total = arena_take(a, d, sizeof(double));
    chain->value = arena_take(a, d, sizeof(double));
    /* one more: the place after the last event */
    chain->event = arena_take(a, d + 1, sizeof *chain->event);
}

static size_t below(order_chain *chain, size_t bound)
{
    return (size_t)rng_below(chain->r, chain->next++, bound);
}

static uint32_t mask_before(const order_chain *chain, size_t i)
{
    const family *f = &chain->space->families[i];
    uint32_t mask = 0;
    for (size_t c = 0; c < f->count; c++) {
        mask |= (uint32_t)(chain->position[f->candidate[c]] < chain->position[i]) << c;
    }
    return mask;
}

static void sum_up(order_chain *chain)
{
    chain->score = 0;
    for (size_t i = 0; i < chain->space->d; i++) {
        chain->position[chain->order[i]] = (uint32_t)i;
        chain->mark[i] = NONE;
    }
    for (size_t i = 0; i < chain->space->d; i++) {
        chain->before[i] = mask_before(chain, i);
        chain->total[i] = chain->space->total[i][chain->before[i]];
        chain->score += chain->total[i];
    }
}

static size_t first_ranked(const uint32_t *nodes, size_t count, const uint32_t *rank)
{
    size_t best = 0;
    for (size_t k = 1; k < count; k++) {
        best = rank[nodes[k]] < rank[nodes[best]] ? k : best;
    }
    return best;
}

bool order_chain_start(order_chain *chain, bool ranked)
{
    const order_space *space = chain->space;
    size_t d = space->d;
    uint32_t *waiting = chain->mask; /* required parents not placed yet */
    uint32_t *free_nodes = chain->touched;
    size_t free_count = 0;
    size_t placed = 0;
    for (size_t i = 0; i < d; i++) {
        waiting[i] = (uint32_t)__builtin_popcount(space->families[i].required);
        if (waiting[i] == 0) {
            free_nodes[free_count++] = (uint32_t)i;
        }
    }
    while (free_count > 0) {
        size_t pick =
            ranked ? first_ranked(free_nodes, free_count, chain->mark) : below(chain, free_count);
        uint32_t j = free_nodes[pick];
        chain->order[placed++] = j;
        free_count--;
        memmove(free_nodes + pick, free_nodes + pick + 1, (free_count - pick) * sizeof *free_nodes);
        for (size_t k = space->first_child[j]; k < space->first_child[j + 1]; k++) {
            uint32_t i = space->child[k];
            if ((space->families[i].required >> space->child_slot[k] & 1) != 0 &&
                --waiting[i] == 0) {
                free_nodes[free_count++] = i;
            }
        }
    }
    if (placed < d) {
        return false;
    }
    sum_up(chain);
    return true;
}

void order_chain_adopt(order_chain *chain, const order_chain *other)
{
    memcpy(chain->order, other->order, chain->space->d * sizeof *chain->order);
    sum_up(chain);
}

/* ---- One node anew -------------------------------------------------------------------------- */

/* The nodes that matter to i, by position; returns how many. */
static size_t list_events(order_chain *chain, size_t i)
{
    const order_space *space = chain->space;
    const family *f = &space->families[i];
    order_event *event = chain->event;
    size_t count = 0;
    for (size_t c = 0; c < f->count; c++) {
        uint32_t j = (uint32_t)f->candidate[c];
        chain->mark[j] = (uint32_t)count;
        event[count++] = (order_event){.node = j, .mine = (uint8_t)c, .its = NO_SLOT};
    }
    for (size_t k = space->first_child[i]; k < space->first_child[i + 1]; k++) {
        uint32_t j = space->child[k];
        uint32_t bit = (uint32_t)1 << space->child_slot[k];
        size_t at = chain->mark[j];
        if (at == NONE) {
            at = count++;
            event[at] = (order_event){.node = j, .mine = NO_SLOT};
        }
        event[at].its = space->child_slot[k];
        event[at].with = space->total[j][chain->before[j] | bit];
        event[at].without = space->total[j][chain->before[j] & ~bit];
    }
    for (size_t c = 0; c < f->count; c++) {
        chain->mark[f->candidate[c]] = NONE;
    }
    for (size_t a = 0; a < count; a++) {
        order_event item = event[a];
        size_t b = a;
        item.at = chain->position[item.node];
        for (; b > 0 && event[b - 1].at > item.at; b--) {
            event[b] = event[b - 1];
        }
        event[b] = item;
    }
    return count;
}

/* A sum in which terms may be -infinity. */
typedef struct log_sum {
    double finite;
    size_t infinite;
} log_sum;

static inline void add(log_sum *s, double term, int sign)
{
    if (term > -INFINITY) {
        s->finite += sign * term;
    } else {
        s->infinite = sign > 0 ? s->infinite + 1 : s->infinite - 1;
    }
}

/* Weights of i before each event and after the last; returns the number of the one that is drawn.
 */
static size_t draw_gap(order_chain *chain, size_t i, size_t count, double beta)
{
    const order_space *space = chain->space;
    order_event *event = chain->event;
    uint32_t mask = 0;
    uint32_t start = 0;
    log_sum others = {0};
    double largest = -INFINITY;
    for (size_t e = 0; e < count; e++) {
        if (event[e].its != NO_SLOT) {
            add(&others, event[e].with, 1);
        }
    }
    for (size_t e = 0; e <= count; e++) {
        /* positions without i */
        uint32_t end = e < count ? event[e].at - (event[e].at > chain->position[i] ? 1 : 0)
                                 : (uint32_t)space->d - 1;
        log_sum all = others;
        add(&all, space->total[i][mask], 1);
        event[e].places = end + 1 - start;
        event[e].weight =
            all.infinite > 0 ? -INFINITY : beta * all.finite + space->log_whole[end + 1 - start];
        largest = event[e].weight > largest ? event[e].weight : largest;
        start = end + 1;
        if (e < count) {
            mask |= event[e].mine != NO_SLOT ? (uint32_t)1 << event[e].mine : 0;
            if (event[e].its != NO_SLOT) {
                add(&others, event[e].with, -1);
                add(&others, event[e].without, 1);
            }
        }
    }
    double sum = 0;
    for (size_t e = 0; e <= count; e++) {
        event[e].weight = exp(event[e].weight - largest);
        sum += event[e].weight;
    }
    double left = sum * rng_uniform(chain->r, chain->next++);
    size_t drawn = 0;
    for (; drawn < count && left >= event[drawn].weight; drawn++) {
        left -= event[drawn].weight;
    }
    /* rounding may run past the last that has weight */
    while (!(event[drawn].weight > 0)) {
        drawn--;
    }
    return drawn;
}

static void set_total(order_chain *chain, size_t j, uint32_t before)
{
    if (before != chain->before[j]) {
        double total = chain->space->total[j][before];
        chain->score += total - chain->total[j];
        chain->before[j] = before;
        chain->total[j] = total;
    }
}

static void place(order_chain *chain, size_t i, size_t to)
{
    size_t from = chain->position[i];
    uint32_t *order = chain->order;
    if (to < from) {
        memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    } else {
        memmove(order + from, order + from + 1, (to - from) * sizeof *order);
    }
    order[to] = (uint32_t)i;
    size_t low = to < from ? to : from;
    size_t high = to < from ? from : to;
    for (size_t p = low; p <= high; p++) {
        chain->position[order[p]] = (uint32_t)p;
    }
}

static void move_node(order_chain *chain, double beta)
{
    size_t i = below(chain, chain->space->d);
    size_t count = list_events(chain, i);
    size_t drawn = draw_gap(chain, i, count, beta);
    order_event *event = chain->event;
    size_t start = 0;
    uint32_t mask = 0;
    for (size_t e = 0; e < count; e++) {
        uint32_t its = event[e].its != NO_SLOT ? (uint32_t)1 << event[e].its : 0;
        uint32_t before = chain->before[event[e].node];
        if (e < drawn) {
            start += event[e].places;
            mask |= event[e].mine != NO_SLOT ? (uint32_t)1 << event[e].mine : 0;
        }
        set_total(chain, event[e].node, e < drawn ? before & ~its : before | its);
    }
    size_t within = below(chain, event[drawn].places);
    set_total(chain, i, mask);
    place(chain, i, start + within);
}

/* ---- Exchanges ------------------------------------------------------------------------------- */

static void touch(order_chain *chain, size_t *count, uint32_t i)
{
    if (chain->mark[i] == NONE) {
        chain->mark[i] = 0;
        chain->touched[(*count)++] = i;
    }
}

/* Looks up the sums of the touched nodes in the order as it is now; takes them over with the
 * Metropolis probability. */
static bool judge(order_chain *chain, size_t count, double beta)
{
    double change = 0;
    for (size_t k = 0; k < count; k++) {
        uint32_t i = chain->touched[k];
        chain->mark[i] = NONE;
        chain->mask[k] = mask_before(chain, i);
        chain->value[k] = chain->space->total[i][chain->mask[k]];
        change += chain->value[k] - chain->total[i];
    }
    bool taken = log(rng_uniform(chain->r, chain->next++)) < beta * change;
    for (size_t k = 0; taken && k < count; k++) {
        set_total(chain, chain->touched[k], chain->mask[k]);
    }
    return taken;
}

static void exchange(order_chain *chain, size_t p, size_t q)
{
    uint32_t a = chain->order[p];
    uint32_t b = chain->order[q];
    chain->order[p] = b;
    chain->order[q] = a;
    chain->position[b] = (uint32_t)p;
    chain->position[a] = (uint32_t)q;
}

static void exchange_pair(order_chain *chain, double beta)
{
    const order_space *space = chain->space;
    size_t p = below(chain, space->d);
    size_t q = below(chain, space->d - 1);
    q += q >= p ? 1 : 0;
    size_t count = 0;
    const uint32_t pair[2] = {chain->order[p], chain->order[q]};
    for (size_t s = 0; s < 2; s++) {
        touch(chain, &count, pair[s]);
        for (size_t k = space->first_child[pair[s]]; k < space->first_child[pair[s] + 1]; k++) {
            touch(chain, &count, space->child[k]);
        }
    }
    exchange(chain, p, q);
    if (!judge(chain, count, beta)) {
        exchange(chain, p, q);
    }
}

/* Positions p .. p + a - 1 and the b after them. */
static void exchange_runs(order_chain *chain, size_t p, size_t a, size_t b)
{
    uint32_t kept[LONGEST_BLOCK];
    uint32_t *order = chain->order + p;
    memcpy(kept, order, a * sizeof *kept);
    memmove(order, order + a, b * sizeof *order);
    memcpy(order + b, kept, a * sizeof *kept);
    for (size_t k = 0; k < a + b; k++) {
        chain->position[order[k]] = (uint32_t)(p + k);
    }
}

static void exchange_blocks(order_chain *chain, double beta)
{
    size_t a = 1 + below(chain, LONGEST_BLOCK);
    size_t b = 1 + below(chain, LONGEST_BLOCK);
    if (a + b > chain->space->d) {
        return;
    }
    size_t p = below(chain, chain->space->d - a - b + 1);
    size_t count = 0;
    for (size_t k = 0; k < a + b; k++) {
        touch(chain, &count, chain->order[p + k]);
    }
    exchange_runs(chain, p, a, b);
    if (!judge(chain, count, beta)) {
        exchange_runs(chain, p, b, a);
    }
}

void order_chain_move(order_chain *chain, double beta)
{
    if (chain->space->d < 2) {
        return;
    }
    size_t kind = below(chain, 6);
    if (kind == 0) {
        exchange_pair(chain, beta);
    } else if (kind == 1) {
        exchange_blocks(chain, beta);
    } else {
        move_node(chain, beta);
    }
}
