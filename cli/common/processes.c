/* The processes that mpirun started: the first speaks, and those on one machine share its cores. */
#include "common/cli.h"

#include <stdlib.h>
#include <time.h>

static bool joined; /* processes know of one another, and end together */

/* mpirun ends the others as soon as one has failed: the first must have said why by then. */
static void let_the_first_speak(void)
{
    const struct timespec while_it_does = {.tv_sec = 1};
    if (!joined) {
        (void)nanosleep(&while_it_does, NULL);
    }
}

void only_first_speaks(void)
{
    if (lscm_launched_rank() > 0 &&
        (atexit(let_the_first_speak) != 0 || freopen("/dev/null", "w", stdout) == NULL ||
         freopen("/dev/null", "w", stderr) == NULL)) {
        exit(EXIT_FAILED);
    }
}

lscm_status processes_open(lscm_comm **out, const common_options *common, lscm_error *why)
{
    lscm_status status = lscm_comm_open(out, why);
    joined = status == LSCM_OK;
    if (status == LSCM_OK && lscm_comm_size(*out) > 1 && !common->threads &&
        getenv("OMP_NUM_THREADS") == NULL) {
        lscm_set_threads(lscm_comm_threads(*out));
    }
    return status;
}
