/* Background knowledge on the command line: --forbid a->b,c->d, --require a->b, --tiers "a,b;c". */
#ifndef LSCM_CLI_KNOWLEDGE_H
#define LSCM_CLI_KNOWLEDGE_H

#include "common/files.h"

enum { OPTION_FORBID = 0x200, OPTION_REQUIRE, OPTION_TIERS };
#define KNOWN_FORBID                                                                               \
    {                                                                                              \
        "forbid", OPTION_FORBID, "A->B,...", 0,                                                    \
            "anchored: these edges are not there; nodes by name or number; may be repeated", 3     \
    }
#define KNOWN_REQUIRE                                                                              \
    {                                                                                              \
        "require", OPTION_REQUIRE, "A->B,...", 0,                                                  \
            "anchored: these edges are there; may be repeated", 3                                  \
    }
#define KNOWN_TIERS                                                                                \
    {                                                                                              \
        "tiers", OPTION_TIERS, "A,B;C;...", 0,                                                     \
            "anchored: a node of a later tier never causes one of an earlier; nodes in no tier "   \
            "are free",                                                                            \
            3                                                                                      \
    }

/* As it stands on the command line. */
typedef struct known_texts {
    const char **forbid, **require; /* one per time the option was given; owned */
    size_t forbids, requires;
    const char *tiers;
} known_texts;

/* What it says of the nodes; NULL for what it does not speak of. */
typedef struct known_edges {
    uint8_t *forbidden, *required; /* (d, d) */
    size_t *tiers;                 /* (d), SIZE_MAX for none */
} known_edges;

/* True when `key` was one of the above. */
bool known_parse(int key, const char *argument, known_texts *texts, struct argp_state *state);
lscm_status known_read(const known_texts *texts, node_list nodes, known_edges *out,
                       lscm_error *why);
/* Safe on zeroed ones. */
void known_free(known_texts *texts, known_edges *edges);

#endif
