/* Methods of Posterior that answer questions: what would be seen, x of z, z of x, scores. */
#include "core.h"

static core_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

static const lscm_posterior *handle(PyObject *self)
{
    return ((core_posterior *)(void *)self)->posterior;
}

/* What do() sets: (d) each; both are to be released, taken or not. */
static bool take_do(PyObject *self, PyObject *targets, PyObject *values, Py_buffer *on,
                    Py_buffer *to)
{
    static const core_wanted mask = {"targets", CORE_MASK, 1, 1, false};
    static const core_wanted set_to = {"values", CORE_DOUBLE, 1, 1, false};
    const size_t dims[] = {lscm_posterior_nodes(handle(self))};
    return take_shaped(state_of(self), targets, &mask, dims, on) &&
           take_shaped(state_of(self), values, &set_to, dims, to);
}

PyObject *posterior_sample(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"targets", "values", "count", "seed", "size", "threads", NULL};
    const core_state *state = state_of(self);
    PyObject *targets = NULL;
    PyObject *values = NULL;
    PyObject *object = NULL;
    Py_ssize_t many = 0;
    long long seed = 0;
    Py_ssize_t high = PY_SSIZE_T_MAX;
    Py_ssize_t wide = PY_SSIZE_T_MAX;
    int threads = 0;
    size_t count = 0;
    size_t size[2];
    Py_buffer on = {0};
    Py_buffer to = {0};
    if (PyArg_ParseTupleAndKeywords(args, keywords, "OOnL|$(nn)i:sample", words, &targets, &values,
                                    &many, &seed, &high, &wide, &threads) == 0) {
        return NULL;
    }
    if (take_count(state, "count", many, &count) && take_count(state, "size", high, &size[0]) &&
        take_count(state, "size", wide, &size[1]) && take_threads(state, threads) &&
        take_do(self, targets, values, &on, &to)) {
        lscm_dataset *data = NULL;
        core_call call;
        call_begin(&call, NULL, threads);
        lscm_status status =
            high < PY_SSIZE_T_MAX
                ? lscm_posterior_sample_sized(&data, handle(self), on.buf, to.buf, count, size[0],
                                              size[1], (int64_t)seed, &call.why)
                : lscm_posterior_sample(&data, handle(self), on.buf, to.buf, count, (int64_t)seed,
                                        &call.why);
        object = call_end(&call, state, status) ? dataset_of(state, data) : NULL;
    }
    PyBuffer_Release(&on);
    PyBuffer_Release(&to);
    return object;
}

PyObject *posterior_beyond(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"targets", "values", NULL};
    const core_state *state = state_of(self);
    PyObject *targets = NULL;
    PyObject *values = NULL;
    PyObject *object = NULL;
    char *text = NULL;
    Py_buffer on = {0};
    Py_buffer to = {0};
    if (PyArg_ParseTupleAndKeywords(args, keywords, "OO:beyond", words, &targets, &values) == 0) {
        return NULL;
    }
    if (take_do(self, targets, values, &on, &to)) {
        core_call call;
        call_begin(&call, NULL, 0);
        lscm_status status = lscm_posterior_beyond(&text, handle(self), on.buf, to.buf, &call.why);
        object = call_end(&call, state, status) ? PyUnicode_FromString(text) : NULL;
        lscm_text_free(text);
    }
    PyBuffer_Release(&on);
    PyBuffer_Release(&to);
    return object;
}

/* (rows, d) of any number of rows. */
static bool take_z(const core_state *state, PyObject *object, size_t d, Py_buffer *out)
{
    static const core_wanted wanted = {"z", CORE_DOUBLE, 2, 2, false};
    if (!take_buffer(state, object, &wanted, out)) {
        return false;
    }
    if ((size_t)out->shape[1] != d) {
        core_refuse(state, LSCM_SHAPE, "z has %zd columns but the run has %zu nodes", out->shape[1],
                    d);
        PyBuffer_Release(out);
        return false;
    }
    return true;
}

PyObject *posterior_decode(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"z", "out", "threads", NULL};
    const core_state *state = state_of(self);
    const lscm_posterior *p = handle(self);
    lscm_shape row = lscm_posterior_x_shape(p);
    PyObject *z_object = NULL;
    PyObject *x_object = NULL;
    int threads = 0;
    size_t features = 1;
    bool good = false;
    Py_buffer z = {0};
    Py_buffer x = {0};
    if (PyArg_ParseTupleAndKeywords(args, keywords, "OO|$i:decode", words, &z_object, &x_object,
                                    &threads) == 0) {
        return NULL;
    }
    for (int i = 0; i < row.ndim; i++) {
        features *= row.dims[i];
    }
    if (take_threads(state, threads) && take_z(state, z_object, lscm_posterior_nodes(p), &z) &&
        take_room(state, x_object, "out", (size_t)z.shape[0] * features, &x)) {
        core_call call;
        call_begin(&call, NULL, threads);
        lscm_status status = lscm_posterior_decode(p, (size_t)z.shape[0], z.buf, x.buf, &call.why);
        good = call_end(&call, state, status);
    }
    PyBuffer_Release(&z);
    PyBuffer_Release(&x);
    return good ? Py_NewRef(Py_None) : NULL;
}

PyObject *posterior_transform(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"data", "z", "sd", "progress", "device", "threads", NULL};
    const core_state *state = state_of(self);
    const lscm_posterior *p = handle(self);
    PyObject *data_object = NULL;
    PyObject *z_object = NULL;
    PyObject *sd_object = NULL;
    PyObject *progress = Py_None;
    const char *word = "auto";
    lscm_device device = LSCM_DEVICE_AUTO;
    int threads = 0;
    core_dataset *data = NULL;
    size_t outside = SIZE_MAX;
    bool good = false;
    Py_buffer z = {0};
    Py_buffer sd = {0};
    if (PyArg_ParseTupleAndKeywords(args, keywords, "OOO|O$si:transform", words, &data_object,
                                    &z_object, &sd_object, &progress, &word, &threads) == 0 ||
        !take_device(state, word, &device) || !take_dataset(state, data_object, "data", &data) ||
        !take_threads(state, threads) || !take_callback(state, progress, &progress)) {
        return NULL;
    }
    size_t room = lscm_dataset_rows(data->data) * lscm_posterior_nodes(p);
    if (take_room(state, z_object, "z", room, &z) && take_room(state, sd_object, "sd", room, &sd)) {
        core_call call;
        call_begin(&call, progress, threads);
        lscm_encoding out = {.z = z.buf, .sd = sd.buf};
        lscm_status status =
            lscm_posterior_transform_on(p, data->data, device, &out, &call.progress, &call.why);
        good = call_end(&call, state, status);
        outside = out.outside;
    }
    PyBuffer_Release(&z);
    PyBuffer_Release(&sd);
    if (!good) {
        return NULL;
    }
    return outside == SIZE_MAX ? Py_NewRef(Py_None) : PyLong_FromSize_t(outside);
}

PyObject *posterior_evaluate(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"data", "threads", NULL};
    const core_state *state = state_of(self);
    PyObject *object = NULL;
    core_dataset *data = NULL;
    int threads = 0;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "O|$i:evaluate", words, &object, &threads) ==
            0 ||
        !take_dataset(state, object, "data", &data) || !take_threads(state, threads)) {
        return NULL;
    }
    lscm_scores *scores = take_scores();
    if (scores == NULL) {
        return NULL;
    }
    core_call call;
    call_begin(&call, NULL, threads);
    lscm_status status = lscm_posterior_evaluate(scores, handle(self), data->data, &call.why);
    PyObject *dict = call_end(&call, state, status) ? scores_dict(scores) : NULL;
    lscm_scores_free(scores);
    return dict;
}

PyObject *posterior_distance(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"other", NULL};
    const core_state *state = state_of(self);
    PyObject *object = NULL;
    core_posterior *other = NULL;
    lscm_distance far;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "O:distance", words, &object) == 0 ||
        !take_posterior(state, object, "other", &other)) {
        return NULL;
    }
    core_call call;
    call_begin(&call, NULL, 0);
    lscm_status status = lscm_posterior_distance(&far, handle(self), other->posterior, &call.why);
    return call_end(&call, state, status)
               ? Py_BuildValue("{s:d,s:d,s:d,s:d}", "e_shd", far.e_shd, "e_shd_entries",
                               far.e_shd_entries, "largest", far.largest, "correlation",
                               far.correlation)
               : NULL;
}
