/* The processes that mpirun started: the first speaks, and those on one machine share its cores. */
#include "cli.h"

#include <stdlib.h>

void only_first_speaks(void)
{
    if (lscm_launched_rank() > 0 &&
        (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)) {
        exit(EXIT_FAILED);
    }
}

lscm_status processes_open(lscm_comm **out, const common_options *common, lscm_error *why)
{
    lscm_status status = lscm_comm_open(out, why);
    if (status == LSCM_OK && lscm_comm_size(*out) > 1 && !common->threads &&
        getenv("OMP_NUM_THREADS") == NULL) {
        lscm_set_threads(lscm_comm_threads(*out));
    }
    return status;
}
