/* The processes of a job on MPI; the only file that sees it (comm_alone.c does without).
 *
 * The shared counter is process 0's. A thread of that process answers the others, so that they get
 * their numbers while it computes: one-sided access, which would need no thread, waits for the
 * owner to call MPI wherever the network has no atomics of its own. Every call of MPI is made under
 * one lock and none waits inside it, so MPI_THREAD_SERIALIZED is enough.
 *
 * MPI's own waiting keeps a core busy. Here a wait is a test and a nap; only when both sides of a
 * transfer have met, and bytes flow, is it tested without pause.
 */
#define _GNU_SOURCE
#include "backend/comm.h"

#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TAG_ASK = 1, TAG_NUMBER, TAG_READY, TAG_DATA };
enum { NAP_LEAST = 1000, NAP_MOST = 2000000, NAP_SERVER = 1000000 }; /* ns */
static const size_t PIECE = (size_t)1 << 26;                         /* bytes; MPI counts in int */

struct lscm_comm {
    int rank, size;
    int threads;
    bool near;  /* on the machine of process 0 */
    bool began; /* MPI was started here, so it is ended here */
    MPI_Comm all;
    pthread_mutex_t lock; /* around every call of MPI */
    pthread_t server;
    bool serving;
    atomic_bool stop;
    atomic_uint_fast64_t next;
};

static lscm_status fail_mpi(int code, lscm_error *why)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    (void)MPI_Error_string(code, text, &length);
    return fail(why, LSCM_PEER,
                "a process of this job cannot be reached (%s); what is finished is kept: start "
                "again",
                text);
}

static void nap(long nanoseconds)
{
    (void)nanosleep(&(struct timespec){0, nanoseconds}, NULL);
}

static void take(lscm_comm *comm)
{
    (void)pthread_mutex_lock(&comm->lock);
}

static void leave(lscm_comm *comm)
{
    (void)pthread_mutex_unlock(&comm->lock);
}

/* Until the request that was made with result `code` is done; `flows`: the other side is there. */
static lscm_status finish(lscm_comm *comm, int code, MPI_Request *request, bool flows,
                          lscm_error *why)
{
    long pause = NAP_LEAST;
    int done = 0;
    while (code == MPI_SUCCESS && done == 0) {
        take(comm);
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        leave(comm);
        if (done == 0 && flows) {
            (void)sched_yield();
        } else if (done == 0) {
            nap(pause);
            pause = 2 * pause < NAP_MOST ? 2 * pause : NAP_MOST;
        }
    }
    return code == MPI_SUCCESS ? LSCM_OK : fail_mpi(code, why);
}

/* ---- Messages ---- */

/* The checker knows MPI_Wait, not a wait by MPI_Test in a function.
 * NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */

/* All are here. */
static lscm_status meet(lscm_comm *comm, lscm_error *why)
{
    MPI_Request request = MPI_REQUEST_NULL;
    take(comm);
    int code = MPI_Ibarrier(comm->all, &request);
    leave(comm);
    return finish(comm, code, &request, false, why);
}

static lscm_status spread(lscm_comm *comm, int root, void *data, size_t bytes, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t at = 0; at < bytes; at += PIECE) {
        MPI_Request request = MPI_REQUEST_NULL;
        int count = (int)(bytes - at < PIECE ? bytes - at : PIECE);
        take(comm);
        int code = MPI_Ibcast((char *)data + at, count, MPI_BYTE, root, comm->all, &request);
        leave(comm);
        TRY(finish(comm, code, &request, true, why));
    }
done:
    return status;
}

lscm_status comm_broadcast(lscm_comm *comm, void *data, size_t bytes, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (lscm_comm_size(comm) > 1) {
        TRY(meet(comm, why));
        TRY(spread(comm, 0, data, bytes, why));
    }
done:
    return status;
}

/* Begins to send `count` bytes to another process, or to receive them from it; MPI's code. */
static int begin(lscm_comm *comm, bool sends, void *data, int count, int other, int tag,
                 MPI_Request *request)
{
    take(comm);
    int code = sends ? MPI_Isend(data, count, MPI_BYTE, other, tag, comm->all, request)
                     : MPI_Irecv(data, count, MPI_BYTE, other, tag, comm->all, request);
    leave(comm);
    return code;
}

/* The receiver says that it is ready, then the pieces flow. */
static lscm_status flow(lscm_comm *comm, bool sends, int other, char *data, size_t bytes,
                        lscm_error *why)
{
    lscm_status status = LSCM_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = begin(comm, !sends, NULL, 0, other, TAG_READY, &request);
    TRY(finish(comm, code, &request, false, why));
    for (size_t at = 0; at < bytes; at += PIECE) {
        int count = (int)(bytes - at < PIECE ? bytes - at : PIECE);
        code = begin(comm, sends, data + at, count, other, TAG_DATA, &request);
        TRY(finish(comm, code, &request, true, why));
    }
done:
    return status;
}

lscm_status comm_send(lscm_comm *comm, int to, const void *data, size_t bytes, lscm_error *why)
{
    return flow(comm, true, to, (char *)data, bytes, why); /* which only reads it */
}

lscm_status comm_receive(lscm_comm *comm, int from, void *data, size_t bytes, lscm_error *why)
{
    return flow(comm, false, from, data, bytes, why);
}

lscm_status lscm_comm_agree(lscm_comm *comm, lscm_status status, lscm_error *why)
{
    lscm_error told = {.status = status};
    MPI_Request request = MPI_REQUEST_NULL;
    if (lscm_comm_size(comm) == 1) {
        return status;
    }
    int mine = status == LSCM_OK ? comm->size : comm->rank;
    int first = comm->size;
    if (status != LSCM_OK && why != NULL && comm->near) {
        told = *why;
    } else if (status != LSCM_OK && why != NULL) {
        char host[MPI_MAX_PROCESSOR_NAME] = "";
        int length = 0;
        take(comm);
        (void)MPI_Get_processor_name(host, &length);
        leave(comm);
        (void)snprintf(told.text, sizeof told.text, "on %.99s: %.900s", host, why->text);
    }
    TRY(meet(comm, why));
    take(comm);
    int code = MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm->all, &request);
    leave(comm);
    TRY(finish(comm, code, &request, true, why));
    if (first < comm->size) {
        TRY(spread(comm, first, &told, sizeof told, why));
        if (why != NULL) {
            *why = told;
        }
        status = told.status;
    }
done:
    return status;
}

/* ---- The counter ---- */

static void *answer(void *self)
{
    lscm_comm *comm = self;
    while (!atomic_load(&comm->stop)) {
        int asked = 0;
        MPI_Status from;
        take(comm);
        if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, comm->all, &asked, &from) == MPI_SUCCESS &&
            asked != 0) {
            uint64_t number = atomic_fetch_add(&comm->next, 1);
            (void)MPI_Recv(NULL, 0, MPI_BYTE, from.MPI_SOURCE, TAG_ASK, comm->all,
                           MPI_STATUS_IGNORE);
            /* so short that MPI keeps it and returns */
            (void)MPI_Send(&number, 1, MPI_UINT64_T, from.MPI_SOURCE, TAG_NUMBER, comm->all);
        }
        leave(comm);
        if (asked == 0) {
            nap(NAP_SERVER);
        }
    }
    return NULL;
}

/* Signals go to the thread of the caller, as they did before. */
static lscm_status start_server(lscm_comm *comm, lscm_error *why)
{
    sigset_t every;
    sigset_t before;
    (void)sigfillset(&every);
    (void)pthread_sigmask(SIG_SETMASK, &every, &before);
    comm->serving = pthread_create(&comm->server, NULL, answer, comm) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return comm->serving
               ? LSCM_OK
               : fail(why, LSCM_MEMORY, "the thread that counts for all processes cannot start");
}

lscm_status lscm_comm_next(lscm_comm *comm, uint64_t *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    if (comm->rank == 0) {
        *out = atomic_fetch_add(&comm->next, 1);
        return LSCM_OK;
    }
    take(comm);
    int code = MPI_Isend(NULL, 0, MPI_BYTE, 0, TAG_ASK, comm->all, &request);
    leave(comm);
    TRY(finish(comm, code, &request, false, why));
    take(comm);
    code = MPI_Irecv(out, 1, MPI_UINT64_T, 0, TAG_NUMBER, comm->all, &request);
    leave(comm);
    TRY(finish(comm, code, &request, false, why));
done:
    return status;
}

/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

/* ---- Beginning and end ---- */

/* A core that n processes of this machine may use counts 1/n for each: right where the launcher
 * binds them to cores, and where it does not. */
static int share_of(const cpu_set_t *masks, int count, int mine)
{
    double share = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        int users = 0;
        for (int k = 0; k < count; k++) {
            users += CPU_ISSET(cpu, &masks[k]) ? 1 : 0;
        }
        share += CPU_ISSET(cpu, &masks[mine]) ? 1.0 / users : 0;
    }
    return share < 1 ? 1 : (int)(share + 1e-6);
}

/* threads and near */
static lscm_status look_around(lscm_comm *comm, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    MPI_Comm here = MPI_COMM_NULL;
    cpu_set_t mine;
    cpu_set_t *masks = NULL; /* (count) */
    int count = 1;
    int me = 0;
    int least = comm->rank;
    int code = MPI_Comm_split_type(comm->all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    if (code != MPI_SUCCESS) {
        return fail_mpi(code, why);
    }
    (void)MPI_Comm_size(here, &count);
    (void)MPI_Comm_rank(here, &me);
    masks = calloc((size_t)count, sizeof *masks);
    CPU_ZERO(&mine);
    (void)sched_getaffinity(0, sizeof mine, &mine);
    if (masks == NULL) {
        status = fail_memory(why, (size_t)count * sizeof *masks);
        goto done;
    }
    (void)MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, masks, (int)sizeof mine, MPI_BYTE, here);
    (void)MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, here);
    comm->threads = share_of(masks, count, me);
    comm->near = least == 0;
done:
    free(masks);
    (void)MPI_Comm_free(&here);
    return status;
}

static lscm_status start_mpi(lscm_comm *comm, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int begun = 0;
    int ended = 0;
    int level = MPI_THREAD_SINGLE;
    (void)MPI_Initialized(&begun);
    (void)MPI_Finalized(&ended);
    if (ended != 0 || (begun == 0 && !comm_launched())) {
        return LSCM_OK;
    }
    if (begun == 0 && MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) {
        return fail(why, LSCM_PEER, "MPI does not start; try without mpirun");
    }
    comm->began = begun == 0;
    (void)MPI_Query_thread(&level);
    (void)MPI_Comm_dup(MPI_COMM_WORLD, &comm->all);
    (void)MPI_Comm_set_errhandler(comm->all, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(comm->all, &comm->rank);
    (void)MPI_Comm_size(comm->all, &comm->size);
    if (comm->size > 1 && level < MPI_THREAD_SERIALIZED) {
        return fail(why, LSCM_TOOL,
                    "MPI was started without MPI_THREAD_SERIALIZED, which the processes of lscm "
                    "need to talk while they compute");
    }
    TRY(look_around(comm, why));
    if (comm->rank == 0 && comm->size > 1) {
        TRY(start_server(comm, why));
    }
done:
    return status;
}

lscm_status lscm_comm_open(lscm_comm **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_comm *comm = calloc(1, sizeof *comm);
    if (comm == NULL) {
        return fail_memory(why, sizeof *comm);
    }
    comm->size = 1;
    comm->threads = omp_get_num_procs();
    comm->all = MPI_COMM_NULL;
    (void)pthread_mutex_init(&comm->lock, NULL);
    TRY(start_mpi(comm, why));
    *out = comm;
    comm = NULL;
done:
    lscm_comm_close(comm);
    return status;
}

void lscm_comm_close(lscm_comm *comm)
{
    if (comm == NULL) {
        return;
    }
    if (comm->size > 1) {
        (void)meet(comm, NULL); /* nobody asks any more */
    }
    if (comm->serving) {
        atomic_store(&comm->stop, true);
        (void)pthread_join(comm->server, NULL);
    }
    if (comm->all != MPI_COMM_NULL) {
        (void)MPI_Comm_free(&comm->all);
    }
    if (comm->began) {
        (void)MPI_Finalize();
    }
    (void)pthread_mutex_destroy(&comm->lock);
    free(comm);
}

int lscm_comm_rank(const lscm_comm *comm)
{
    return comm != NULL ? comm->rank : 0;
}

int lscm_comm_size(const lscm_comm *comm)
{
    return comm != NULL ? comm->size : 1;
}

int lscm_comm_threads(const lscm_comm *comm)
{
    return comm != NULL ? comm->threads : omp_get_num_procs();
}
