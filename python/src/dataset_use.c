/* Methods of Dataset that read, compute and write. */
#include "core.h"

#include <stdlib.h>

static core_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static core_dataset *handle(PyObject *self)
{
    return (core_dataset *)(void *)self;
}

PyObject *dataset_read(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"field", "first", "count", "out", "threads", NULL};
    const core_state *state = state_of(self);
    core_dataset *d = handle(self);
    const char *name = NULL;
    Py_ssize_t from = 0;
    Py_ssize_t many = 0;
    PyObject *object = NULL;
    int threads = 0;
    lscm_field field = LSCM_X;
    size_t first = 0;
    size_t count = 0;
    size_t row = 1;
    Py_buffer out = {0};
    if (PyArg_ParseTupleAndKeywords(args, keywords, "snnO|$i:read", words, &name, &from, &many,
                                    &object, &threads) == 0 ||
        !take_field(state, name, &field) || !take_count(state, "first", from, &first) ||
        !take_count(state, "count", many, &count) || !take_threads(state, threads)) {
        return NULL;
    }
    lscm_shape shape = lscm_dataset_shape(d->data, field);
    for (int i = 1; i < shape.ndim; i++) {
        row *= shape.dims[i];
    }
    if (!shape.present) {
        return core_refuse(state, LSCM_MISSING, "the data have no '%s'", name);
    }
    if (first > shape.dims[0] || count > shape.dims[0] - first) {
        return core_refuse(state, LSCM_USAGE,
                           "%zu rows from row %zu on were asked for; '%s' has %zu", count, first,
                           name, shape.dims[0]);
    }
    if (!take_room(state, object, "out", count * row, &out)) {
        return NULL;
    }
    core_call call;
    call_begin(&call, NULL, threads);
    lscm_status status = lscm_dataset_read(d->data, field, first, count, out.buf, &call.why);
    bool good = call_end(&call, state, status);
    PyBuffer_Release(&out);
    return good ? Py_NewRef(Py_None) : NULL;
}

static PyObject *overview_dict(const lscm_overview *all, size_t nodes)
{
    PyObject *per_node = PyTuple_New((Py_ssize_t)nodes);
    for (size_t i = 0; per_node != NULL && i < nodes; i++) {
        PyObject *item = PyLong_FromSize_t(all->per_node[i]);
        if (item == NULL || PyTuple_SetItem(per_node, (Py_ssize_t)i, item) != 0) {
            Py_CLEAR(per_node);
        }
    }
    return per_node != NULL
               ? Py_BuildValue("{s:d,s:d,s:d,s:d,s:K,s:K,s:K,s:N}", "x_min", all->x_min, "x_max",
                               all->x_max, "x_mean", all->x_mean, "x_sd", all->x_sd,
                               "observational", (unsigned long long)all->observational, "sets",
                               (unsigned long long)all->sets, "missing",
                               (unsigned long long)all->missing, "per_node", per_node)
               : NULL;
}

PyObject *dataset_check(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"progress", "threads", NULL};
    const core_state *state = state_of(self);
    core_dataset *d = handle(self);
    PyObject *progress = Py_None;
    int threads = 0;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "|O$i:check", words, &progress, &threads) ==
            0 ||
        !take_callback(state, progress, &progress) || !take_threads(state, threads)) {
        return NULL;
    }
    size_t nodes = lscm_dataset_nodes(d->data);
    lscm_overview all = {.per_node = PyMem_Calloc(nodes + 1, sizeof *all.per_node)};
    if (all.per_node == NULL) {
        return PyErr_NoMemory();
    }
    core_call call;
    call_begin(&call, progress, threads);
    lscm_status status = lscm_dataset_check(d->data, &all, &call.progress, &call.why);
    PyObject *dict = call_end(&call, state, status) ? overview_dict(&all, nodes) : NULL;
    PyMem_Free(all.per_node);
    return dict;
}

enum { BANDS = 5 };

/* Takes the memory of all bands. */
static PyObject *bands_dict(const core_state *state, double *band[BANDS], size_t columns)
{
    static const char *const names[BANDS] = {"mean", "sd", "lower", "median", "upper"};
    PyObject *dict = PyDict_New();
    for (int i = 0; i < BANDS; i++) {
        const core_memory memory = {band[i], band[i], "d", 1, {columns}};
        PyObject *array = array_of(state, NULL, &memory);
        if (dict == NULL || array == NULL || PyDict_SetItemString(dict, names[i], array) != 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(array);
    }
    return dict;
}

PyObject *dataset_bands(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"field", "threads", NULL};
    const core_state *state = state_of(self);
    core_dataset *d = handle(self);
    const char *name = NULL;
    int threads = 0;
    lscm_field field = LSCM_X;
    double *band[BANDS] = {0};
    if (PyArg_ParseTupleAndKeywords(args, keywords, "s|$i:bands", words, &name, &threads) == 0 ||
        !take_field(state, name, &field) || !take_threads(state, threads)) {
        return NULL;
    }
    size_t columns = field == LSCM_X ? lscm_dataset_features(d->data) : lscm_dataset_nodes(d->data);
    bool good = true;
    for (int i = 0; i < BANDS; i++) {
        band[i] = calloc(columns + 1, sizeof *band[i]);
        good = good && band[i] != NULL;
    }
    if (good) {
        const lscm_bands bands = {band[0], band[1], band[2], band[3], band[4]};
        core_call call;
        call_begin(&call, NULL, threads);
        lscm_status status = lscm_dataset_bands(d->data, field, &bands, &call.why);
        good = call_end(&call, state, status);
    } else {
        (void)PyErr_NoMemory();
    }
    if (good) {
        return bands_dict(state, band, columns);
    }
    for (int i = 0; i < BANDS; i++) {
        free(band[i]);
    }
    return NULL;
}

PyObject *dataset_save(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"path", "force", "progress", "threads", NULL};
    const core_state *state = state_of(self);
    core_dataset *d = handle(self);
    PyObject *path = NULL;
    PyObject *progress = Py_None;
    int force = 0;
    int threads = 0;
    bool good = false;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "O&|pO$i:save", words, PyUnicode_FSConverter,
                                    &path, &force, &progress, &threads) == 0) {
        return NULL;
    }
    if (take_callback(state, progress, &progress) && take_threads(state, threads)) {
        const char *to = PyBytes_AsString(path);
        core_call call;
        call_begin(&call, progress, threads);
        lscm_status status = lscm_dataset_save(d->data, to, force != 0, &call.progress, &call.why);
        good = call_end(&call, state, status);
    }
    Py_DECREF(path);
    return good ? Py_NewRef(Py_None) : NULL;
}

PyObject *dataset_save_graph(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"path", "force", NULL};
    const core_state *state = state_of(self);
    core_dataset *d = handle(self);
    PyObject *path = NULL;
    int force = 0;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "O&|p:save_graph", words, PyUnicode_FSConverter,
                                    &path, &force) == 0) {
        return NULL;
    }
    const char *to = PyBytes_AsString(path);
    core_call call;
    call_begin(&call, NULL, 0);
    lscm_status status = lscm_dataset_save_graph(d->data, to, force != 0, &call.why);
    bool good = call_end(&call, state, status);
    Py_DECREF(path);
    return good ? Py_NewRef(Py_None) : NULL;
}
