/* Dataset: the handle, and what it says of itself at once. */
#include "core.h"

#include <string.h>

static core_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static core_dataset *handle(PyObject *self)
{
    return (core_dataset *)(void *)self;
}

static void deallocate(PyObject *self)
{
    core_dataset *d = handle(self);
    PyTypeObject *type = Py_TYPE(self);
    lscm_dataset_free(d->data);
    for (size_t i = 0; i < CORE_HELD; i++) {
        PyBuffer_Release(&d->held[i]);
    }
    Py_XDECREF(d->path);
    PyObject_Free(self);
    Py_DECREF(type);
}

core_dataset *dataset_new(const core_state *state)
{
    core_dataset *d = PyObject_New(core_dataset, state->dataset);
    if (d == NULL) {
        return NULL;
    }
    d->data = NULL;
    d->path = Py_NewRef(Py_None);
    memset(d->held, 0, sizeof d->held);
    return d;
}

PyObject *dataset_of(const core_state *state, lscm_dataset *data)
{
    core_dataset *d = dataset_new(state);
    if (d == NULL) {
        lscm_dataset_free(data);
        return NULL;
    }
    d->data = data;
    return (PyObject *)d;
}

bool take_dataset(const core_state *state, PyObject *object, const char *name, core_dataset **out)
{
    if (!PyObject_TypeCheck(object, state->dataset)) {
        core_refuse(state, LSCM_USAGE, "%s must be a Dataset", name);
        return false;
    }
    *out = handle(object);
    return true;
}

/* ---- What it says of itself ---- */

PyObject *names_tuple(core_name_fn name, const void *source, size_t count)
{
    if (count == 0 || name(source, 0) == NULL) {
        return Py_NewRef(Py_None);
    }
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        const char *text = name(source, i);
        text = text != NULL ? text : "";
        PyObject *item = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
        if (item == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) != 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

PyObject *dims_tuple(const lscm_shape *shape, int first)
{
    PyObject *tuple = PyTuple_New(shape->ndim - first);
    for (int i = first; tuple != NULL && i < shape->ndim; i++) {
        PyObject *item = PyLong_FromSize_t(shape->dims[i]);
        if (item == NULL || PyTuple_SetItem(tuple, i - first, item) != 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

static const char *node_name(const void *data, size_t node)
{
    return lscm_dataset_node_name(data, node);
}

static const char *feature_name(const void *data, size_t feature)
{
    return lscm_dataset_feature_name(data, feature);
}

static PyObject *get_rows(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(lscm_dataset_rows(handle(self)->data));
}

static PyObject *get_nodes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(lscm_dataset_nodes(handle(self)->data));
}

static PyObject *get_features(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(lscm_dataset_features(handle(self)->data));
}

static PyObject *get_format(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(lscm_dataset_format(handle(self)->data));
}

static PyObject *get_path(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(handle(self)->path);
}

static PyObject *get_recipe(PyObject *self, void *unused)
{
    const char *recipe = lscm_dataset_recipe(handle(self)->data);
    (void)unused;
    return recipe != NULL ? PyUnicode_FromString(recipe) : Py_NewRef(Py_None);
}

static PyObject *get_note(PyObject *self, void *unused)
{
    const char *note = lscm_dataset_note(handle(self)->data);
    (void)unused;
    return note != NULL ? PyUnicode_FromString(note) : Py_NewRef(Py_None);
}

static PyObject *get_node_names(PyObject *self, void *unused)
{
    const lscm_dataset *data = handle(self)->data;
    (void)unused;
    return names_tuple(node_name, data, lscm_dataset_nodes(data));
}

static PyObject *get_feature_names(PyObject *self, void *unused)
{
    const lscm_dataset *data = handle(self)->data;
    (void)unused;
    return names_tuple(feature_name, data, lscm_dataset_features(data));
}

static PyObject *get_graph_alone(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(lscm_dataset_graph_alone(handle(self)->data));
}

static PyObject *set_weights(PyObject *self, PyObject *args)
{
    int weights = 0;
    if (PyArg_ParseTuple(args, "p:set_weights", &weights) == 0) {
        return NULL;
    }
    lscm_dataset_set_weights(handle(self)->data, weights != 0);
    return Py_NewRef(Py_None);
}

static PyObject *set_path(PyObject *self, PyObject *args)
{
    const core_state *state = state_of(self);
    core_dataset *d = handle(self);
    PyObject *bytes = NULL;
    PyObject *text = NULL;
    lscm_error why = {0};
    if (PyArg_ParseTuple(args, "O&:set_path", PyUnicode_FSConverter, &bytes) == 0) {
        return NULL;
    }
    const char *path = PyBytes_AsString(bytes);
    if (lscm_dataset_set_path(d->data, path, &why) != LSCM_OK) {
        core_raise(state, &why);
    } else {
        text = PyUnicode_DecodeFSDefault(path);
    }
    Py_DECREF(bytes);
    if (text == NULL) {
        return NULL;
    }
    Py_DECREF(d->path);
    d->path = text;
    return Py_NewRef(Py_None);
}

static PyObject *shape_of(PyObject *self, PyObject *args)
{
    const core_state *state = state_of(self);
    const char *name = NULL;
    lscm_field field = LSCM_X;
    if (PyArg_ParseTuple(args, "s:shape", &name) == 0 || !take_field(state, name, &field)) {
        return NULL;
    }
    lscm_shape shape = lscm_dataset_shape(handle(self)->data, field);
    if (!shape.present) {
        return Py_NewRef(Py_None);
    }
    PyObject *dims = dims_tuple(&shape, 0);
    return dims != NULL ? Py_BuildValue("(Ns)", dims, shape.dtype) : NULL;
}

static PyObject *show(PyObject *self)
{
    const lscm_dataset *data = handle(self)->data;
    return PyUnicode_FromFormat("<lscm._core.Dataset: %s, %zu rows, %zu nodes, %zu features>",
                                lscm_dataset_format(data), lscm_dataset_rows(data),
                                lscm_dataset_nodes(data), lscm_dataset_features(data));
}

/* ---- The type ---- */

static PyGetSetDef GETTERS[] = {
    {"rows", get_rows, NULL, "How many rows (samples) there are.", NULL},
    {"nodes", get_nodes, NULL, "How many causal variables there are.", NULL},
    {"features", get_features, NULL, "How many numbers a row of x has.", NULL},
    {"format", get_format, NULL, "Where it is: 'netCDF-4', 'NPZ', 'memory', ...", NULL},
    {"path", get_path, NULL, "The path that was opened, or None.", NULL},
    {"recipe", get_recipe, NULL, "How it was made, as a JSON object, or None.", NULL},
    {"note", get_note, NULL, "What was understood that is worth a look, or None.", NULL},
    {"node_names", get_node_names, NULL, "A tuple, or None.", NULL},
    {"feature_names", get_feature_names, NULL, "A tuple, or None.", NULL},
    {"graph_alone", get_graph_alone, NULL, "Whether every edge of w is 1.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef METHODS[] = {
    {"set_weights", set_weights, METH_VARARGS,
     "set_weights(weights)\n--\n\nWhether w has weights, though all are 0 or 1."},
    {"set_path", set_path, METH_VARARGS,
     "set_path(path)\n--\n\nIt is a copy of that file, which sentences and runs name."},
    {"shape", shape_of, METH_VARARGS,
     "shape(field)\n--\n\nSizes and type of a field, ((rows, 3), 'float64'), or None."},
    {"read", CORE_METHOD(dataset_read), METH_VARARGS | METH_KEYWORDS,
     "read(field, first, count, out, *, threads=0)\n--\n\nRows of a field, as float64, into out."},
    {"check", CORE_METHOD(dataset_check), METH_VARARGS | METH_KEYWORDS,
     "check(progress=None, *, threads=0)\n--\n\nOne pass over everything: is it sound, and what "
     "is in it?"},
    {"bands", CORE_METHOD(dataset_bands), METH_VARARGS | METH_KEYWORDS,
     "bands(field, *, threads=0)\n--\n\nmean, sd, lower (5%), median and upper (95%) of each "
     "column."},
    {"save", CORE_METHOD(dataset_save), METH_VARARGS | METH_KEYWORDS,
     "save(path, force=False, progress=None, *, threads=0)\n--\n\nWrites a file; the format "
     "follows its ending."},
    {"save_graph", CORE_METHOD(dataset_save_graph), METH_VARARGS | METH_KEYWORDS,
     "save_graph(path, force=False)\n--\n\nWrites the true graph: .dot, .graphml or .json."},
    {NULL, NULL, 0, NULL}};

PyTypeObject *dataset_type(PyObject *module)
{
    static PyType_Slot slots[] = {
        CORE_SLOT(Py_tp_dealloc, deallocate),
        CORE_SLOT(Py_tp_repr, show),
        {Py_tp_getset, GETTERS},
        {Py_tp_methods, METHODS},
        {Py_tp_doc, (void *)"Rows with known interventions, from wherever they are."},
        {0, NULL}};
    static PyType_Spec spec = {.name = "lscm._core.Dataset",
                               .basicsize = sizeof(core_dataset),
                               .flags = CORE_TYPE_FLAGS,
                               .slots = slots};
    return (PyTypeObject *)(void *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
