/* The processes of a job where the library was built without MPI: this one. Takes the place of
 * comm.c. */
#include "backend/comm.h"

#include <omp.h>
#include <stdlib.h>

struct lscm_comm {
    uint64_t next;
};

lscm_status lscm_comm_open(lscm_comm **out, lscm_error *why)
{
    if (comm_launched()) {
        return fail(why, LSCM_TOOL,
                    "several processes were started together, but this lscm was built without MPI; "
                    "start it alone, or build it where MPI is installed (libopenmpi-dev)");
    }
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

int lscm_comm_threads(const lscm_comm *comm)
{
    (void)comm;
    return omp_get_num_procs();
}

lscm_status lscm_comm_next(lscm_comm *comm, uint64_t *out, lscm_error *why)
{
    (void)why;
    *out = comm->next++;
    return LSCM_OK;
}

lscm_status lscm_comm_agree(lscm_comm *comm, lscm_status status, lscm_error *why)
{
    (void)comm;
    (void)why;
    return status;
}

lscm_status comm_broadcast(lscm_comm *comm, void *data, size_t bytes, lscm_error *why)
{
    (void)comm;
    (void)data;
    (void)bytes;
    (void)why;
    return LSCM_OK;
}

lscm_status comm_send(lscm_comm *comm, int to, const void *data, size_t bytes, lscm_error *why)
{
    (void)comm;
    (void)to;
    (void)data;
    (void)bytes;
    return fail(why, LSCM_PEER, "there is no other process to send to");
}

lscm_status comm_receive(lscm_comm *comm, int from, void *data, size_t bytes, lscm_error *why)
{
    (void)comm;
    (void)from;
    (void)data;
    (void)bytes;
    return fail(why, LSCM_PEER, "there is no other process to receive from");
}
