/* Methods of Posterior about mechanisms that bend: how often, and effects as curves. */
#include "core.h"

static core_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static const lscm_posterior *handle(PyObject *self)
{
    return ((core_posterior *)(void *)self)->posterior;
}

PyObject *posterior_bends(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"parent", "child", NULL};
    const core_state *state = state_of(self);
    Py_ssize_t ends[2] = {0, 0};
    size_t parent = 0;
    size_t child = 0;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "nn:bends", words, &ends[0], &ends[1]) == 0 ||
        !take_count(state, "parent", ends[0], &parent) ||
        !take_count(state, "child", ends[1], &child)) {
        return NULL;
    }
    return PyFloat_FromDouble(lscm_posterior_bends(handle(self), parent, child));
}

PyObject *posterior_places(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"node", "out", NULL};
    static const core_wanted wanted = {"out", CORE_DOUBLE, 1, 1, true};
    const core_state *state = state_of(self);
    PyObject *object = NULL;
    Py_ssize_t number = 0;
    size_t node = 0;
    Py_buffer out = {0};
    if (PyArg_ParseTupleAndKeywords(args, keywords, "nO:places", words, &number, &object) == 0 ||
        !take_count(state, "node", number, &node)) {
        return NULL;
    }
    if (node >= lscm_posterior_nodes(handle(self))) {
        core_refuse(state, LSCM_USAGE, "node is %zu, but there are %zu nodes", node,
                    lscm_posterior_nodes(handle(self)));
        return NULL;
    }
    bool good = take_buffer(state, object, &wanted, &out);
    if (good) {
        lscm_posterior_places(handle(self), node, (size_t)out.shape[0], out.buf);
    }
    PyBuffer_Release(&out);
    return good ? Py_NewRef(Py_None) : NULL;
}

/* low, mean, high: (count) each, the caller's. */
PyObject *posterior_curve(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"parent", "child", "at", "low", "mean", "high", NULL};
    static const core_wanted wanted = {"at", CORE_DOUBLE, 1, 1, false};
    const core_state *state = state_of(self);
    Py_ssize_t ends[2] = {0, 0};
    PyObject *objects[4] = {NULL, NULL, NULL, NULL};
    Py_buffer buffers[4] = {{0}, {0}, {0}, {0}};
    size_t parent = 0;
    size_t child = 0;
    lscm_curve curve = {0};
    bool good = false;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "nnOOOO:curve", words, &ends[0], &ends[1],
                                    &objects[0], &objects[1], &objects[2], &objects[3]) == 0) {
        return NULL;
    }
    if (take_count(state, "parent", ends[0], &parent) &&
        take_count(state, "child", ends[1], &child) &&
        take_buffer(state, objects[0], &wanted, &buffers[0])) {
        curve.count = (size_t)buffers[0].shape[0];
        good = take_room(state, objects[1], words[3], curve.count, &buffers[1]) &&
               take_room(state, objects[2], words[4], curve.count, &buffers[2]) &&
               take_room(state, objects[3], words[5], curve.count, &buffers[3]);
    }
    if (good) {
        core_call call;
        curve.at = buffers[0].buf;
        curve.low = buffers[1].buf;
        curve.mean = buffers[2].buf;
        curve.high = buffers[3].buf;
        call_begin(&call, NULL, 0);
        lscm_status status = lscm_posterior_curve(&curve, handle(self), parent, child, &call.why);
        good = call_end(&call, state, status);
    }
    for (size_t k = 0; k < 4; k++) {
        PyBuffer_Release(&buffers[k]);
    }
    return good ? Py_BuildValue("(dd)", curve.seen[0], curve.seen[1]) : NULL;
}
