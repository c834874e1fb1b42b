#include "common/knowledge.h"

#include <stdlib.h>
#include <string.h>

static void keep(const char ***list, size_t *count, const char *text, struct argp_state *state)
{
    const char **longer = realloc((void *)*list, (*count + 1) * sizeof *longer);
    if (longer == NULL) {
        argp_failure(state, EXIT_FAILED, 0, "out of memory");
        return;
    }
    longer[(*count)++] = text;
    *list = longer;
}

bool known_parse(int key, const char *argument, known_texts *texts, struct argp_state *state)
{
    if (key == OPTION_FORBID) {
        keep(&texts->forbid, &texts->forbids, argument, state);
    } else if (key == OPTION_REQUIRE) {
        keep(&texts->require, &texts->requires, argument, state);
    } else if (key == OPTION_TIERS && texts->tiers != NULL) {
        argp_error(state, "--tiers '%s' and --tiers '%s': give all tiers at once, as A,B;C",
                   texts->tiers, argument);
    } else if (key == OPTION_TIERS) {
        texts->tiers = argument;
    } else {
        return false;
    }
    return true;
}

/* Cuts the text at the first of `separators` and returns what follows, NULL behind the last part;
 * spaces around a part are taken away. */
static char *cut(char **part, const char *separators)
{
    char *next = strpbrk(*part, separators);
    if (next != NULL) {
        *next++ = '\0';
    }
    *part += strspn(*part, " \t");
    for (size_t n = strlen(*part); n > 0 && strchr(" \t", (*part)[n - 1]) != NULL; n--) {
        (*part)[n - 1] = '\0';
    }
    return next;
}

/* The nodes of "a->b", cut at `arrow`, which is put back. */
static lscm_status find_ends(node_list nodes, char *edge, char *arrow, size_t ends[2],
                             lscm_error *why)
{
    char *from = edge;
    char *to = arrow + 2;
    *arrow = '\0';
    char *end = from + strlen(from);
    while (end > from && strchr(" \t", end[-1]) != NULL) {
        end--;
    }
    char kept = *end;
    *end = '\0';
    lscm_status status = find_node(nodes, from, &ends[0], why);
    *end = kept;
    *arrow = '-';
    return status == LSCM_OK ? find_node(nodes, to + strspn(to, " \t"), &ends[1], why) : status;
}

/* Names may have arrows in them: the first arrow between two nodes counts. */
static lscm_status take_edge(node_list nodes, const char *option, char *edge, uint8_t *edges,
                             lscm_error *why)
{
    char *first = strstr(edge, "->");
    size_t ends[2] = {0, 0};
    lscm_status status = LSCM_USAGE;
    if (first == NULL) {
        return cli_explain(why, LSCM_USAGE,
                           "--%s takes edges 'A->B', not '%s'; put them in quotes, for the shell "
                           "takes > for itself",
                           option, edge);
    }
    for (char *at = first; at != NULL && status != LSCM_OK; at = strstr(at + 1, "->")) {
        status = find_ends(nodes, edge, at, ends, why);
    }
    if (status != LSCM_OK) {
        return find_ends(nodes, edge, first, ends, why);
    }
    if (ends[0] == ends[1]) {
        return cli_explain(why, LSCM_USAGE, "--%s %s: no node causes itself", option, edge);
    }
    edges[ends[0] * nodes.count + ends[1]] = 1;
    return LSCM_OK;
}

static lscm_status read_edges(const char *const *texts, size_t count, const char *option,
                              node_list nodes, uint8_t **edges, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (count == 0) {
        return LSCM_OK;
    }
    *edges = calloc(nodes.count, nodes.count);
    for (size_t k = 0; k < count && *edges != NULL && status == LSCM_OK; k++) {
        char *copy = strdup(texts[k]);
        for (char *next = copy; next != NULL && status == LSCM_OK;) {
            char *edge = next;
            next = cut(&edge, ",");
            status = take_edge(nodes, option, edge, *edges, why);
        }
        if (copy == NULL) {
            status = cli_explain(why, LSCM_MEMORY, "out of memory");
        }
        free(copy);
    }
    return *edges != NULL ? status : cli_explain(why, LSCM_MEMORY, "out of memory");
}

/* One tier, "a,b". */
static lscm_status take_tier(node_list nodes, char *text, size_t tier, size_t *tiers,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (char *next = text; next != NULL && status == LSCM_OK;) {
        char *word = next;
        size_t node = 0;
        next = cut(&word, ",");
        status = find_node(nodes, word, &node, why);
        if (status == LSCM_OK && tiers[node] != SIZE_MAX) {
            status = cli_explain(why, LSCM_USAGE, "--tiers names node '%s' twice", word);
        } else if (status == LSCM_OK) {
            tiers[node] = tier;
        }
    }
    return status;
}

static lscm_status read_tiers(const char *text, node_list nodes, size_t **tiers, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *copy = strdup(text);
    *tiers = malloc(nodes.count * sizeof **tiers);
    if (copy == NULL || *tiers == NULL) {
        free(copy);
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < nodes.count; i++) {
        (*tiers)[i] = SIZE_MAX;
    }
    size_t tier = 0;
    for (char *next = copy; next != NULL && status == LSCM_OK; tier++) {
        char *part = next;
        next = cut(&part, ";");
        status = *part != '\0'
                     ? take_tier(nodes, part, tier, *tiers, why)
                     : cli_explain(why, LSCM_USAGE, "--tiers '%s': tier %zu is empty; write A,B;C",
                                   text, tier + 1);
    }
    free(copy);
    return status;
}

lscm_status known_read(const known_texts *texts, node_list nodes, known_edges *out, lscm_error *why)
{
    lscm_status status =
        read_edges(texts->forbid, texts->forbids, "forbid", nodes, &out->forbidden, why);
    if (status == LSCM_OK) {
        status = read_edges(texts->require, texts->requires, "require", nodes, &out->required, why);
    }
    if (status == LSCM_OK && texts->tiers != NULL) {
        status = read_tiers(texts->tiers, nodes, &out->tiers, why);
    }
    return status;
}

void known_free(known_texts *texts, known_edges *edges)
{
    free((void *)texts->forbid);
    free((void *)texts->require);
    free(edges->forbidden);
    free(edges->required);
    free(edges->tiers);
    *texts = (known_texts){0};
    *edges = (known_edges){0};
}
