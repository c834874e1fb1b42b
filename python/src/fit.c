/* fit: arguments as lscm_fit takes them, and the posterior it gives. */
#include "core.h"

typedef struct fitting {
    const core_state *state;
    PyObject *data, *settings, *order, *forbidden, *required, *tiers, *progress;
    PyObject *folder, *truth; /* bytes, or NULL; owned */
    core_dataset *handle;
    size_t *order_numbers, *tier_numbers;
    Py_buffer forbids, requires;
    lscm_fit_settings *chosen;
    lscm_run_options run;
    int force, resume, threads;
} fitting;

static bool parse(fitting *f, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"data",         "settings",  "folder",   "order", "force",
                            "resume",       "forbidden", "required", "tiers", "threads",
                            "progress",     "names",     "ignore",   "truth", "target_column",
                            "value_column", "control",   "layer",    NULL};
    return PyArg_ParseTupleAndKeywords(
               args, keywords, "OO|$O&OppOOOiOzzO&zzzz:fit", words, &f->data, &f->settings,
               path_or_none, &f->folder, &f->order, &f->force, &f->resume, &f->forbidden,
               &f->required, &f->tiers, &f->threads, &f->progress, &f->run.opened.names,
               &f->run.opened.ignore, path_or_none, &f->truth, &f->run.opened.target_column,
               &f->run.opened.value_column, &f->run.opened.control, &f->run.opened.layer) != 0;
}

static bool take_edges(const fitting *f, PyObject *object, const char *name, Py_buffer *out,
                       const uint8_t **edges)
{
    size_t d = lscm_dataset_nodes(f->handle->data);
    const core_wanted wanted = {name, CORE_MASK, 2, 2, false};
    if (object == Py_None) {
        return true;
    }
    if (!take_shaped(f->state, object, &wanted, (const size_t[]){d, d}, out)) {
        return false;
    }
    *edges = out->buf;
    return true;
}

static bool take_all(fitting *f)
{
    const core_state *state = f->state;
    f->chosen = lscm_fit_settings_new();
    if (f->chosen == NULL) {
        (void)PyErr_NoMemory();
        return false;
    }
    if (!take_dataset(state, f->data, "data", &f->handle)) {
        return false;
    }
    size_t d = lscm_dataset_nodes(f->handle->data);
    bool good = take_settings(state, f->settings, lscm_fit_table(), f->chosen) &&
                take_threads(state, f->threads) &&
                take_callback(state, f->progress, &f->progress) &&
                take_numbers(state, f->order, "order", d, false, &f->order_numbers) &&
                take_numbers(state, f->tiers, "tiers", d, true, &f->tier_numbers) &&
                take_edges(f, f->forbidden, "forbidden", &f->forbids, &f->run.forbidden) &&
                take_edges(f, f->required, "required", &f->requires, &f->run.required);
    f->run.order = f->order_numbers;
    f->run.tiers = f->tier_numbers;
    f->run.folder = f->folder != NULL ? PyBytes_AsString(f->folder) : NULL;
    f->run.opened.truth = f->truth != NULL ? PyBytes_AsString(f->truth) : NULL;
    f->run.force = f->force != 0;
    f->run.resume = f->resume != 0;
    return good;
}

static void release(fitting *f)
{
    lscm_fit_settings_free(f->chosen);
    PyMem_Free(f->order_numbers);
    PyMem_Free(f->tier_numbers);
    PyBuffer_Release(&f->forbids);
    PyBuffer_Release(&f->requires);
    Py_XDECREF(f->folder);
    Py_XDECREF(f->truth);
}

PyObject *core_fit(PyObject *module, PyObject *args, PyObject *keywords)
{
    fitting f = {.state = PyModule_GetState(module),
                 .order = Py_None,
                 .forbidden = Py_None,
                 .required = Py_None,
                 .tiers = Py_None,
                 .progress = Py_None};
    PyObject *object = NULL;
    lscm_posterior *posterior = NULL;
    if (parse(&f, args, keywords) && take_all(&f)) {
        core_call call;
        call_begin(&call, f.progress, f.threads);
        lscm_status status =
            lscm_fit(&posterior, f.handle->data, f.chosen, &f.run, &call.progress, &call.why);
        if (call_end(&call, f.state, status)) {
            object = posterior_of(f.state, posterior);
        } else if (status == LSCM_OK) {
            lscm_posterior_free(posterior); /* it was done when the callback failed */
        }
    }
    release(&f);
    return object;
}

PyObject *core_open_run(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"folder", NULL};
    const core_state *state = PyModule_GetState(module);
    PyObject *folder = NULL;
    lscm_posterior *posterior = NULL;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "O&:open_run", words, PyUnicode_FSConverter,
                                    &folder) == 0) {
        return NULL;
    }
    const char *from = PyBytes_AsString(folder);
    core_call call;
    call_begin(&call, NULL, 0);
    lscm_status status = lscm_posterior_open(&posterior, from, &call.why);
    bool good = call_end(&call, state, status);
    Py_DECREF(folder);
    return good ? posterior_of(state, posterior) : NULL;
}
