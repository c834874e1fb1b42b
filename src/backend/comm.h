/* The processes of a job from the inside: messages between them. Waiting takes no core, for it may
 * last as long as a fit. A comm that is NULL, or of one process, has nobody to talk to: broadcast
 * leaves what is there.
 */
#ifndef LSCM_BACKEND_COMM_H
#define LSCM_BACKEND_COMM_H

#include "base/status.h"

/* True when mpirun, srun or the like started several processes, as their variables in the
 * environment have it, or when they do not say how many. */
bool comm_launched(void);

/* `bytes` of process 0 to all; all call it. */
lscm_status comm_broadcast(lscm_comm *comm, void *data, size_t bytes, lscm_error *why);
/* From one process to another, which calls the other function with the same size. */
lscm_status comm_send(lscm_comm *comm, int to, const void *data, size_t bytes, lscm_error *why);
lscm_status comm_receive(lscm_comm *comm, int from, void *data, size_t bytes, lscm_error *why);

#endif
