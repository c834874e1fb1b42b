/* Who started this process, by what the launchers leave in the environment. Asking MPI itself would
 * cost a tenth of a second, also for a process that is alone.
 *
 * SLURM_NTASKS alone says nothing: a job script has it too, and what it runs without srun is one
 * process. */
#include "backend/comm.h"

#include <stdlib.h>

static int number(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? (int)strtol(text, NULL, 10) : -1;
}

static int first_of(const char *const *names, size_t count)
{
    int found = -1;
    for (size_t i = 0; i < count && found < 0; i++) {
        found = number(names[i]);
    }
    return found;
}

static int launched_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    return first_of(names, sizeof names / sizeof names[0]);
}

bool comm_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    int size = first_of(names, sizeof names / sizeof names[0]);
    return launched_rank() >= 0 && size != 1;
}

int lscm_launched_rank(void)
{
    int rank = launched_rank();
    return comm_launched() && rank > 0 ? rank : 0;
}
