/* wrap: a data set over arrays of Python's. The large ones (x, targets, values, z) stay where they
 * are and are held as long as the data set lives; w, sigma and names are copied. N is that of x,
 * or of the first of the others, d that of the first that has it. */
#include "core.h"

enum { GIVEN_X, GIVEN_TARGETS, GIVEN_VALUES, GIVEN_Z, GIVEN_W, GIVEN_SIGMA, GIVEN };
_Static_assert((int)GIVEN == (int)CORE_HELD, "each array has its place");

typedef struct wrapping {
    const core_state *state;
    PyObject *object[GIVEN]; /* None where not given */
    PyObject *node_names, *feature_names;
    Py_buffer *buffer; /* (GIVEN), of the data set; obj NULL where there is none */
    lscm_arrays arrays;
} wrapping;

static const core_wanted WANTED[GIVEN] = {[GIVEN_X] = {"x", CORE_DOUBLE | CORE_FLOAT, 2, 4, false},
                                          [GIVEN_TARGETS] = {"targets", CORE_MASK, 2, 2, false},
                                          [GIVEN_VALUES] = {"values", CORE_DOUBLE, 2, 2, false},
                                          [GIVEN_Z] = {"z", CORE_DOUBLE, 2, 2, false},
                                          [GIVEN_W] = {"w", CORE_DOUBLE, 2, 2, false},
                                          [GIVEN_SIGMA] = {"sigma", CORE_DOUBLE, 1, 1, false}};

static size_t size_at(const Py_buffer *buffer, int axis)
{
    return (size_t)buffer->shape[axis];
}

/* x: rows and what one of them is. */
static void take_x(wrapping *w)
{
    const Py_buffer *x = &w->buffer[GIVEN_X];
    lscm_arrays *a = &w->arrays;
    a->features = 1;
    for (int i = 1; i < x->ndim; i++) {
        a->features *= size_at(x, i);
    }
    if (x->ndim > 2) {
        a->height = size_at(x, 1);
        a->width = size_at(x, 2);
        a->channels = x->ndim > 3 ? size_at(x, 3) : 0;
    }
    if (buffer_is_single(x)) {
        a->x_single = x->buf;
    } else {
        a->x = x->buf;
    }
}

/* How many rows and nodes there are: the last word has the first array that says so. */
static void measure(wrapping *w)
{
    for (int i = GIVEN - 1; i >= 0; i--) {
        const Py_buffer *b = &w->buffer[i];
        if (b->obj != NULL && i < GIVEN_W) {
            w->arrays.rows = size_at(b, 0);
        }
        if (b->obj != NULL && i > GIVEN_X) {
            w->arrays.nodes = size_at(b, b->ndim - 1);
        }
    }
}

static bool check_shape(const wrapping *w, int which)
{
    const Py_buffer *b = &w->buffer[which];
    size_t d = w->arrays.nodes;
    size_t rows = which == GIVEN_W ? d : w->arrays.rows;
    const char *name = WANTED[which].name;
    bool good = true;
    if (which == GIVEN_SIGMA) {
        good = size_at(b, 0) == d;
        if (!good) {
            core_refuse(w->state, LSCM_SHAPE, "%s has %zu entries but there are %zu nodes", name,
                        size_at(b, 0), d);
        }
    } else if (which != GIVEN_X) {
        good = size_at(b, 0) == rows && size_at(b, 1) == d;
        if (!good) {
            core_refuse(w->state, LSCM_SHAPE,
                        "%s has the shape (%zu, %zu) but must have (%zu, %zu)", name, size_at(b, 0),
                        size_at(b, 1), rows, d);
        }
    }
    return good;
}

static bool take_all(wrapping *w)
{
    for (int i = 0; i < GIVEN; i++) {
        if (w->object[i] != Py_None &&
            !take_buffer(w->state, w->object[i], &WANTED[i], &w->buffer[i])) {
            return false;
        }
    }
    measure(w);
    for (int i = 0; i < GIVEN; i++) {
        if (w->buffer[i].obj != NULL && !check_shape(w, i)) {
            return false;
        }
    }
    if (w->buffer[GIVEN_X].obj != NULL) {
        take_x(w);
    }
    w->arrays.targets = w->buffer[GIVEN_TARGETS].buf;
    w->arrays.values = w->buffer[GIVEN_VALUES].buf;
    w->arrays.z = w->buffer[GIVEN_Z].buf;
    w->arrays.w = w->buffer[GIVEN_W].buf;
    w->arrays.sigma = w->buffer[GIVEN_SIGMA].buf;
    return true;
}

static bool wrap(wrapping *w, core_dataset *out)
{
    core_names nodes = {0};
    core_names features = {0};
    lscm_error why = {0};
    bool good =
        take_all(w) && take_names(w->state, w->node_names, "node_names", w->arrays.nodes, &nodes) &&
        take_names(w->state, w->feature_names, "feature_names", w->arrays.features, &features);
    if (good) {
        w->arrays.node_names = nodes.text;
        w->arrays.feature_names = features.text;
        if (lscm_dataset_wrap(&out->data, &w->arrays, &why) != LSCM_OK) {
            core_raise(w->state, &why);
            good = false;
        }
    }
    names_release(&nodes);
    names_release(&features);
    return good;
}

PyObject *core_wrap(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"x",     "targets",    "values",        "z", "w",
                            "sigma", "node_names", "feature_names", NULL};
    wrapping w = {.state = PyModule_GetState(module), .node_names = Py_None};
    w.feature_names = Py_None;
    for (int i = 0; i < GIVEN; i++) {
        w.object[i] = Py_None;
    }
    if (PyArg_ParseTupleAndKeywords(args, keywords, "O|OO$OOOOO:wrap", words, &w.object[GIVEN_X],
                                    &w.object[GIVEN_TARGETS], &w.object[GIVEN_VALUES],
                                    &w.object[GIVEN_Z], &w.object[GIVEN_W], &w.object[GIVEN_SIGMA],
                                    &w.node_names, &w.feature_names) == 0) {
        return NULL;
    }
    core_dataset *out = dataset_new(w.state);
    if (out == NULL) {
        return NULL;
    }
    w.buffer = out->held;
    bool good = wrap(&w, out);
    PyBuffer_Release(&w.buffer[GIVEN_W]);
    PyBuffer_Release(&w.buffer[GIVEN_SIGMA]);
    if (!good) {
        Py_CLEAR(out);
    }
    return (PyObject *)out;
}
