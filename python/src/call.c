#include "core.h"

static double seconds_between(struct timespec from, struct timespec to)
{
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

/* Not too often; but the end of what was reported is. */
static bool is_time(core_call *call, const char *what, uint64_t done, uint64_t total)
{
    const double least = 0.05;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    bool ends = done >= total && call->told == what;
    if (!ends && seconds_between(call->last, now) < least) {
        return false;
    }
    call->last = now;
    call->told = ends ? NULL : what;
    return true;
}

/* With Python's lock. */
static bool ask(core_call *call, const char *what, uint64_t done, uint64_t total)
{
    bool go_on = PyErr_CheckSignals() == 0;
    if (go_on && call->callback != NULL) {
        PyObject *answer = PyObject_CallFunction(
            call->callback, "sKK", what, (unsigned long long)done, (unsigned long long)total);
        go_on = answer != NULL && answer != Py_False;
        Py_XDECREF(answer);
    }
    if (PyErr_Occurred() != NULL) {
        PyErr_Fetch(&call->type, &call->value, &call->trace);
    }
    return go_on;
}

static bool report(void *self, const char *what, uint64_t done, uint64_t total)
{
    core_call *call = self;
    if (call->stopped || !pthread_equal(call->thread, pthread_self()) ||
        !is_time(call, what, done, total)) {
        return !call->stopped;
    }
    PyEval_RestoreThread(call->saved);
    call->stopped = !ask(call, what, done, total);
    call->saved = PyEval_SaveThread();
    return !call->stopped;
}

void call_begin(core_call *call, PyObject *callback, int threads)
{
    *call = (core_call){.callback = callback, .thread = pthread_self()};
    call->progress = (lscm_progress){report, call};
    (void)clock_gettime(CLOCK_MONOTONIC, &call->last);
    call->saved = PyEval_SaveThread();
    call->threads = lscm_set_threads(threads);
}

/* What the callback raised, with what the library said to it as its context. */
static void raise_pending(core_call *call, const core_state *state, lscm_status status)
{
    PyErr_NormalizeException(&call->type, &call->value, &call->trace);
    if (status != LSCM_OK && call->value != NULL) {
        PyObject *type = NULL;
        PyObject *value = NULL;
        PyObject *trace = NULL;
        core_raise(state, &call->why);
        PyErr_Fetch(&type, &value, &trace);
        PyErr_NormalizeException(&type, &value, &trace);
        PyException_SetContext(call->value, value); /* takes it */
        Py_XDECREF(type);
        Py_XDECREF(trace);
    }
    PyErr_Restore(call->type, call->value, call->trace);
}

bool call_end(core_call *call, const core_state *state, lscm_status status)
{
    (void)lscm_set_threads(call->threads);
    PyEval_RestoreThread(call->saved);
    call->why.status = status;
    if (call->type != NULL) {
        raise_pending(call, state, status);
        return false;
    }
    if (status != LSCM_OK) {
        core_raise(state, &call->why);
    }
    return status == LSCM_OK;
}
