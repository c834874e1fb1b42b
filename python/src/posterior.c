/* Posterior: the handle, its arrays without a copy, and its texts. */
#include "core.h"

_Static_assert(sizeof(size_t) == sizeof(int64_t), "orders are shown as int64");

static core_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static const lscm_posterior *handle(PyObject *self)
{
    return ((core_posterior *)(void *)self)->posterior;
}

static void deallocate(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    lscm_posterior_free(((core_posterior *)(void *)self)->posterior);
    PyObject_Free(self);
    Py_DECREF(type);
}

PyObject *posterior_of(const core_state *state, lscm_posterior *posterior)
{
    core_posterior *p = PyObject_New(core_posterior, state->posterior);
    if (p == NULL) {
        lscm_posterior_free(posterior);
        return NULL;
    }
    p->posterior = posterior;
    return (PyObject *)p;
}

bool take_posterior(const core_state *state, PyObject *object, const char *name,
                    core_posterior **out)
{
    if (!PyObject_TypeCheck(object, state->posterior)) {
        core_refuse(state, LSCM_USAGE, "%s must be a Posterior", name);
        return false;
    }
    *out = (core_posterior *)(void *)object;
    return true;
}

/* ---- Arrays ---- */

/* S draws, N rows, d nodes. */
static PyObject *per_draw(PyObject *self, const void *data, const char *format, int ndim)
{
    size_t d = lscm_posterior_nodes(handle(self));
    const core_memory memory = {
        data, NULL, format, ndim, {lscm_posterior_draws(handle(self)), d, d}};
    return array_of(state_of(self), self, &memory);
}

static PyObject *get_weights(PyObject *self, void *unused)
{
    (void)unused;
    return per_draw(self, lscm_posterior_weights(handle(self)), "d", 3);
}

static PyObject *get_sigma(PyObject *self, void *unused)
{
    (void)unused;
    return per_draw(self, lscm_posterior_sigma(handle(self)), "d", 2);
}

static PyObject *get_intercept(PyObject *self, void *unused)
{
    (void)unused;
    return per_draw(self, lscm_posterior_intercept(handle(self)), "d", 2);
}

static PyObject *get_order(PyObject *self, void *unused)
{
    (void)unused;
    return per_draw(self, lscm_posterior_order(handle(self)), "q", 2);
}

static PyObject *get_log_p(PyObject *self, void *unused)
{
    (void)unused;
    return per_draw(self, lscm_posterior_log_p(handle(self)), "d", 1);
}

static PyObject *get_log_q(PyObject *self, void *unused)
{
    (void)unused;
    return per_draw(self, lscm_posterior_log_q(handle(self)), "d", 1);
}

static PyObject *matrix(PyObject *self, const double *data, size_t rows)
{
    const core_memory memory = {data, NULL, "d", 2, {rows, lscm_posterior_nodes(handle(self))}};
    return array_of(state_of(self), self, &memory);
}

static PyObject *get_edge_prob(PyObject *self, void *unused)
{
    (void)unused;
    return matrix(self, lscm_posterior_edge_prob(handle(self)), lscm_posterior_nodes(handle(self)));
}

static PyObject *get_z(PyObject *self, void *unused)
{
    (void)unused;
    return matrix(self, lscm_posterior_z(handle(self)), lscm_posterior_rows(handle(self)));
}

static PyObject *get_z_sd(PyObject *self, void *unused)
{
    (void)unused;
    return matrix(self, lscm_posterior_z_sd(handle(self)), lscm_posterior_rows(handle(self)));
}

/* ---- Numbers and texts ---- */

static const char *node_name(const void *posterior, size_t node)
{
    return lscm_posterior_node_name(posterior, node);
}

static PyObject *get_draws(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(lscm_posterior_draws(handle(self)));
}

static PyObject *get_nodes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(lscm_posterior_nodes(handle(self)));
}

static PyObject *get_rows(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(lscm_posterior_rows(handle(self)));
}

static PyObject *get_x_shape(PyObject *self, void *unused)
{
    lscm_shape shape = lscm_posterior_x_shape(handle(self));
    (void)unused;
    return dims_tuple(&shape, 0);
}

static PyObject *get_node_names(PyObject *self, void *unused)
{
    (void)unused;
    return names_tuple(node_name, handle(self), lscm_posterior_nodes(handle(self)));
}

static PyObject *get_config(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(lscm_posterior_config(handle(self)));
}

static PyObject *get_summary(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(lscm_posterior_summary(handle(self)));
}

static PyObject *per_node(PyObject *self, const double *data)
{
    const core_memory memory = {data, NULL, "d", 1, {lscm_posterior_nodes(handle(self))}};
    return array_of(state_of(self), self, &memory);
}

static const char *warning_text(const void *diagnostics, size_t index)
{
    return ((const lscm_diagnostics *)diagnostics)->warning[index];
}

static PyObject *get_diagnostics(PyObject *self, void *unused)
{
    const lscm_diagnostics *d = lscm_posterior_diagnostics(handle(self));
    (void)unused;
    PyObject *warnings =
        d->warnings > 0 ? names_tuple(warning_text, d, d->warnings) : PyTuple_New(0);
    return Py_BuildValue(
        "{s:d,s:d,s:d,s:N,s:K,s:K,s:d,s:d,s:N,s:N,s:N,s:K,s:d,s:d,s:d,s:d}", "r_hat", d->r_hat,
        "ess", d->ess, "bound", d->bound, "warnings", warnings, "held_out_sets",
        (unsigned long long)d->held_out_sets, "held_out_rows", (unsigned long long)d->held_out_rows,
        "held_out_log_likelihood", d->held_out_log_likelihood,
        "held_out_log_likelihood_without_edges", d->held_out_log_likelihood_without_edges,
        "held_out_r2", per_node(self, d->held_out_r2), "held_out_coverage_90",
        per_node(self, d->held_out_coverage_90), "anchor_r2", per_node(self, d->anchor_r2),
        "left_out_targets", (unsigned long long)d->left_out_targets, "left_out_r2", d->left_out_r2,
        "left_out_spearman", d->left_out_spearman, "left_out_r2_others", d->left_out_r2_others,
        "left_out_r2_correlation", d->left_out_r2_correlation);
}

static PyObject *get_threshold(PyObject *self, void *unused)
{
    (void)unused;
    return PyFloat_FromDouble(lscm_posterior_threshold(handle(self)));
}

static PyObject *get_any_bends(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(lscm_posterior_any_bends(handle(self)) ? 1 : 0);
}

static PyObject *show(PyObject *self)
{
    const lscm_posterior *p = handle(self);
    return PyUnicode_FromFormat("<lscm._core.Posterior: %zu draws, %zu nodes, %zu rows>",
                                lscm_posterior_draws(p), lscm_posterior_nodes(p),
                                lscm_posterior_rows(p));
}

/* ---- The type ---- */

static PyGetSetDef GETTERS[] = {
    {"draws", get_draws, NULL, "How many draws there are.", NULL},
    {"nodes", get_nodes, NULL, "How many causal variables there are.", NULL},
    {"rows", get_rows, NULL, "How many rows were fitted.", NULL},
    {"x_shape", get_x_shape, NULL, "Sizes of one row of x.", NULL},
    {"node_names", get_node_names, NULL, "A tuple, or None.", NULL},
    {"config", get_config, NULL, "Every setting, as a JSON object.", NULL},
    {"summary", get_summary, NULL, "How the fit went, as a JSON object.", NULL},
    {"diagnostics", get_diagnostics, NULL, "How far to trust it: figures by name.", NULL},
    {"threshold", get_threshold, NULL, "A draw has an edge where |weight| exceeds it.", NULL},
    {"any_bends", get_any_bends, NULL, "Whether any mechanism bends, in any draw.", NULL},
    {"weights", get_weights, NULL, "(draws, d, d): [s, j, i] is the edge j -> i.", NULL},
    {"sigma", get_sigma, NULL, "(draws, d): sd of the noise of each node.", NULL},
    {"intercept", get_intercept, NULL, "(draws, d)", NULL},
    {"order", get_order, NULL, "(draws, d): the node at each position, causes first.", NULL},
    {"log_p", get_log_p, NULL, "(draws): log density of data and draw, or NaN.", NULL},
    {"log_q", get_log_q, NULL, "(draws): log density of the draw.", NULL},
    {"edge_prob", get_edge_prob, NULL, "(d, d): probability of each edge.", NULL},
    {"z", get_z, NULL, "(rows, d): causal variables.", NULL},
    {"z_sd", get_z_sd, NULL, "(rows, d): how uncertain they are.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef METHODS[] = {
    {"sample", CORE_METHOD(posterior_sample), METH_VARARGS | METH_KEYWORDS,
     "sample(targets, values, count, seed, *, size=None, threads=0)\n--\n\nRows under do(targets, "
     "values), a Dataset; size: (height, width) of its pictures."},
    {"beyond", CORE_METHOD(posterior_beyond), METH_VARARGS | METH_KEYWORDS,
     "beyond(targets, values)\n--\n\nA line for every node that do() would set beyond what was "
     "seen."},
    {"bends", CORE_METHOD(posterior_bends), METH_VARARGS | METH_KEYWORDS,
     "bends(parent, child)\n--\n\nShare of the draws with the edge in which the child's mechanism "
     "bends."},
    {"places", CORE_METHOD(posterior_places), METH_VARARGS | METH_KEYWORDS,
     "places(node, out)\n--\n\nWhere to look at curves of a node, into out."},
    {"curve", CORE_METHOD(posterior_curve), METH_VARARGS | METH_KEYWORDS,
     "curve(parent, child, at, low, mean, high)\n--\n\nThe effect of parent on child at these "
     "values, into low, mean and high; what the rows have of the parent."},
    {"decode", CORE_METHOD(posterior_decode), METH_VARARGS | METH_KEYWORDS,
     "decode(z, out, *, threads=0)\n--\n\nx of causal variables z, into out."},
    {"transform", CORE_METHOD(posterior_transform), METH_VARARGS | METH_KEYWORDS,
     "transform(data, z, sd, progress=None, *, device='auto', threads=0)\n--\n\nz and its sd of "
     "new rows, into z "
     "and sd; the number of rows outside what was fitted, or None where that is not known."},
    {"save_latents", CORE_METHOD(posterior_save_latents), METH_VARARGS | METH_KEYWORDS,
     "save_latents(z, sd, path, force=False)\n--\n\nWrites z and sd: .npz, .nc or .csv."},
    {"evaluate", CORE_METHOD(posterior_evaluate), METH_VARARGS | METH_KEYWORDS,
     "evaluate(data, *, threads=0)\n--\n\nScores against the truth in data; NaN where there is "
     "none."},
    {"distance", CORE_METHOD(posterior_distance), METH_VARARGS | METH_KEYWORDS,
     "distance(other)\n--\n\nHow far two posteriors are apart."},
    {"export", CORE_METHOD(posterior_export), METH_VARARGS | METH_KEYWORDS,
     "export(path, force=False)\n--\n\nWrites .npz, .csv, .dot, .graphml or .json."},
    {"report", CORE_METHOD(posterior_report), METH_VARARGS | METH_KEYWORDS,
     "report(path, *, folder=None, truth=None, force=False)\n--\n\nWrites a page of HTML."},
    {"save", CORE_METHOD(posterior_save), METH_VARARGS | METH_KEYWORDS,
     "save(folder, force=False)\n--\n\nWrites a run folder."},
    {"draw", posterior_draw, METH_NOARGS, "draw()\n--\n\nThe graph as the text of an SVG."},
    {NULL, NULL, 0, NULL}};

PyTypeObject *posterior_type(PyObject *module)
{
    static PyType_Slot slots[] = {CORE_SLOT(Py_tp_dealloc, deallocate),
                                  CORE_SLOT(Py_tp_repr, show),
                                  {Py_tp_getset, GETTERS},
                                  {Py_tp_methods, METHODS},
                                  {Py_tp_doc, (void *)"The posterior over models, a run."},
                                  {0, NULL}};
    static PyType_Spec spec = {.name = "lscm._core.Posterior",
                               .basicsize = sizeof(core_posterior),
                               .flags = CORE_TYPE_FLAGS,
                               .slots = slots};
    return (PyTypeObject *)(void *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
