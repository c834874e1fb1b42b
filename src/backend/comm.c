/* The processes of a job (lscm.h): here, one. */
#include "base/status.h"

#include <stdlib.h>

struct lscm_comm {
    uint64_t next;
};

lscm_status lscm_comm_open(lscm_comm **out, lscm_error *why)
{
    lscm_comm *comm = calloc(1, sizeof *comm);
    if (comm == NULL) {
        return fail_memory(why, sizeof *comm);
    }
    *out = comm;
    return LSCM_OK;
}

void lscm_comm_close(lscm_comm *comm)
{
    free(comm);
}

int lscm_comm_rank(const lscm_comm *comm)
{
    (void)comm;
    return 0;
}

int lscm_comm_size(const lscm_comm *comm)
{
    (void)comm;
    return 1;
}

lscm_status lscm_comm_next(lscm_comm *comm, uint64_t *out, lscm_error *why)
{
    (void)why;
    *out = comm->next++;
    return LSCM_OK;
}
