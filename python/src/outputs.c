/* Methods of Posterior that write: files, pages, drawings. */
#include "core.h"

static core_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static const lscm_posterior *handle(PyObject *self)
{
    return ((core_posterior *)(void *)self)->posterior;
}

PyObject *posterior_save_latents(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"z", "sd", "path", "force", NULL};
    static const core_wanted z_wanted = {"z", CORE_DOUBLE, 2, 2, false};
    static const core_wanted sd_wanted = {"sd", CORE_DOUBLE, 2, 2, false};
    const core_state *state = state_of(self);
    PyObject *z_object = NULL;
    PyObject *sd_object = NULL;
    PyObject *path = NULL;
    int force = 0;
    bool good = false;
    Py_buffer z = {0};
    Py_buffer sd = {0};
    if (PyArg_ParseTupleAndKeywords(args, keywords, "OOO&|p:save_latents", words, &z_object,
                                    &sd_object, PyUnicode_FSConverter, &path, &force) == 0) {
        return NULL;
    }
    size_t dims[] = {0, lscm_posterior_nodes(handle(self))};
    if (take_buffer(state, z_object, &z_wanted, &z)) {
        dims[0] = (size_t)z.shape[0];
        PyBuffer_Release(&z);
        if (take_shaped(state, z_object, &z_wanted, dims, &z) &&
            take_shaped(state, sd_object, &sd_wanted, dims, &sd)) {
            const char *to = PyBytes_AsString(path);
            core_call call;
            call_begin(&call, NULL, 0);
            lscm_status status = lscm_posterior_save_latents(handle(self), dims[0], z.buf, sd.buf,
                                                             to, force != 0, &call.why);
            good = call_end(&call, state, status);
        }
    }
    PyBuffer_Release(&z);
    PyBuffer_Release(&sd);
    Py_DECREF(path);
    return good ? Py_NewRef(Py_None) : NULL;
}

typedef lscm_status (*write_fn)(const lscm_posterior *posterior, const char *path, bool force,
                                lscm_error *why);

/* A method (path, force); `words` names both, `format` is "O&|p:export". */
static PyObject *write_to(PyObject *self, PyObject *args, PyObject *keywords, const char *format,
                          char **words, write_fn write)
{
    PyObject *path = NULL;
    int force = 0;
    if (PyArg_ParseTupleAndKeywords(args, keywords, format, words, PyUnicode_FSConverter, &path,
                                    &force) == 0) {
        return NULL;
    }
    const char *to = PyBytes_AsString(path);
    core_call call;
    call_begin(&call, NULL, 0);
    lscm_status status = write(handle(self), to, force != 0, &call.why);
    bool good = call_end(&call, state_of(self), status);
    Py_DECREF(path);
    return good ? Py_NewRef(Py_None) : NULL;
}

PyObject *posterior_export(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"path", "force", NULL};
    return write_to(self, args, keywords, "O&|p:export", words, lscm_posterior_export);
}

PyObject *posterior_save(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"folder", "force", NULL};
    return write_to(self, args, keywords, "O&|p:save", words, lscm_posterior_save);
}

PyObject *posterior_report(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"path", "folder", "truth", "force", "threads", NULL};
    const core_state *state = state_of(self);
    PyObject *path = NULL;
    PyObject *folder = NULL;
    PyObject *truth = Py_None;
    core_dataset *data = NULL;
    int force = 0;
    int threads = 0;
    bool good = false;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "O&|$O&Opi:report", words,
                                    PyUnicode_FSConverter, &path, path_or_none, &folder, &truth,
                                    &force, &threads) == 0) {
        return NULL;
    }
    if (take_threads(state, threads) &&
        (truth == Py_None || take_dataset(state, truth, "truth", &data))) {
        const char *to = PyBytes_AsString(path);
        const lscm_report_options options = {.folder =
                                                 folder != NULL ? PyBytes_AsString(folder) : NULL,
                                             .truth = data != NULL ? data->data : NULL,
                                             .force = force != 0};
        core_call call;
        call_begin(&call, NULL, threads);
        lscm_status status = lscm_report(handle(self), to, &options, &call.why);
        good = call_end(&call, state, status);
    }
    Py_DECREF(path);
    Py_XDECREF(folder);
    return good ? Py_NewRef(Py_None) : NULL;
}

PyObject *posterior_draw(PyObject *self, PyObject *unused)
{
    char *svg = NULL;
    PyObject *text = NULL;
    core_call call;
    (void)unused;
    call_begin(&call, NULL, 0);
    lscm_status status = lscm_posterior_draw(&svg, handle(self), &call.why);
    if (call_end(&call, state_of(self), status)) {
        text = PyUnicode_FromString(svg);
    }
    lscm_text_free(svg);
    return text;
}
