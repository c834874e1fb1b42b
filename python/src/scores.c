/* Scores of estimates that are not ours: arrays, or a file. */
#include "core.h"

#include <math.h>

lscm_scores *take_scores(void)
{
    lscm_scores *scores = lscm_scores_new();
    if (scores == NULL) {
        (void)PyErr_NoMemory();
    }
    return scores;
}

PyObject *scores_dict(const lscm_scores *scores)
{
    const struct {
        const char *name;
        double value;
    } rows[] = {
#define SCORE(name, help) {#name, scores->name},
        LSCM_SCORES_TABLE(SCORE)
#undef SCORE
    };
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < sizeof rows / sizeof rows[0]; i++) {
        PyObject *value = PyFloat_FromDouble(rows[i].value);
        if (value == NULL || PyDict_SetItemString(dict, rows[i].name, value) != 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(value);
    }
    return dict;
}

typedef struct scoring {
    const core_state *state;
    PyObject *w_object, *sigma_object, *edge_object, *z_object, *z_sd_object;
    core_dataset *truth;
    Py_buffer w, sigma, edge_prob, z, z_sd;
    lscm_estimate estimate;
    double *memory; /* w, sigma and z of the truth */
    uint8_t *targets;
    lscm_scores *scores;
} scoring;

/* w is (draws, d, d), or (d, d) of one draw; then sigma may be (d), too. */
static bool take_estimate(scoring *s)
{
    static const core_wanted w = {"w", CORE_DOUBLE, 2, 3, false};
    static const core_wanted sigma = {"sigma", CORE_DOUBLE, 2, 2, false};
    static const core_wanted sigma_once = {"sigma", CORE_DOUBLE, 1, 1, false};
    static const core_wanted edge_prob = {"edge_prob", CORE_DOUBLE, 2, 2, false};
    static const core_wanted z = {"z", CORE_DOUBLE, 2, 2, false};
    static const core_wanted z_sd = {"z_sd", CORE_DOUBLE, 2, 2, false};
    const core_state *state = s->state;
    lscm_estimate *e = &s->estimate;
    size_t d = lscm_dataset_nodes(s->truth->data);
    if (!take_buffer(state, s->w_object, &w, &s->w)) {
        return false;
    }
    bool once = s->w.ndim == 2;
    if ((size_t)s->w.shape[s->w.ndim - 2] != d || (size_t)s->w.shape[s->w.ndim - 1] != d) {
        core_refuse(state, LSCM_SHAPE, "w is of %zd x %zd nodes but the truth has %zu",
                    s->w.shape[s->w.ndim - 2], s->w.shape[s->w.ndim - 1], d);
        return false;
    }
    e->nodes = d;
    e->draws = once ? 1 : (size_t)s->w.shape[0];
    e->rows = lscm_dataset_rows(s->truth->data);
    if ((s->sigma_object != Py_None &&
         !take_shaped(state, s->sigma_object, once ? &sigma_once : &sigma,
                      once ? (const size_t[]){d, 0} : (const size_t[]){e->draws, d}, &s->sigma)) ||
        (s->edge_object != Py_None &&
         !take_shaped(state, s->edge_object, &edge_prob, (const size_t[]){d, d}, &s->edge_prob)) ||
        (s->z_object != Py_None &&
         !take_shaped(state, s->z_object, &z, (const size_t[]){e->rows, d}, &s->z)) ||
        (s->z_sd_object != Py_None &&
         !take_shaped(state, s->z_sd_object, &z_sd, (const size_t[]){e->rows, d}, &s->z_sd))) {
        return false;
    }
    e->w = s->w.buf;
    e->sigma = s->sigma.buf;
    e->edge_prob = s->edge_prob.buf;
    e->z = s->z.buf;
    e->z_sd = s->z_sd.buf;
    return true;
}

/* Of the truth, what there is; z and targets only where there is an estimate of z. */
static lscm_status read_truth(scoring *s, lscm_truth *out, lscm_error *why)
{
    const lscm_dataset *data = s->truth->data;
    size_t d = s->estimate.nodes;
    size_t rows = s->estimate.rows;
    double *w = s->memory;
    double *sigma = w + d * d;
    double *z = sigma + d;
    lscm_status status = lscm_dataset_read(data, LSCM_W, 0, d, w, why);
    out->w = w;
    if (status == LSCM_OK && lscm_dataset_shape(data, LSCM_SIGMA).present) {
        status = lscm_dataset_read(data, LSCM_SIGMA, 0, d, sigma, why);
        out->sigma = sigma;
    }
    bool latent = s->estimate.z != NULL && lscm_dataset_shape(data, LSCM_Z).present;
    if (status == LSCM_OK && latent && lscm_dataset_shape(data, LSCM_TARGETS).present) {
        status = lscm_dataset_read(data, LSCM_TARGETS, 0, rows, z, why);
        for (size_t k = 0; k < rows * d; k++) {
            s->targets[k] = z[k] != 0 ? 1 : 0;
        }
        out->targets = s->targets;
    }
    if (status == LSCM_OK && latent) {
        status = lscm_dataset_read(data, LSCM_Z, 0, rows, z, why);
        out->z = z;
    }
    return status;
}

static PyObject *score(scoring *s, int threads)
{
    lscm_truth truth = {0};
    size_t d = s->estimate.nodes;
    size_t all = s->estimate.z != NULL ? s->estimate.rows * d : 0;
    s->memory = PyMem_Calloc(d * d + d + all + 1, sizeof *s->memory);
    s->targets = PyMem_Calloc(all + 1, 1);
    s->scores = take_scores();
    if (s->memory == NULL || s->targets == NULL || s->scores == NULL) {
        return PyErr_NoMemory();
    }
    core_call call;
    call_begin(&call, NULL, threads);
    lscm_status status = read_truth(s, &truth, &call.why);
    if (status == LSCM_OK) {
        status = lscm_evaluate(s->scores, &s->estimate, &truth, &call.why);
    }
    if (lscm_dataset_graph_alone(s->truth->data)) {
        s->scores->w_mse = s->scores->kl_z = NAN;
        s->scores->coverage_90 = s->scores->coverage_90_edges = NAN;
    }
    return call_end(&call, s->state, status) ? scores_dict(s->scores) : NULL;
}

PyObject *core_evaluate_arrays(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"w",    "truth",     "sigma",   "edge_prob", "z",
                            "z_sd", "threshold", "threads", NULL};
    scoring s = {.state = PyModule_GetState(module),
                 .sigma_object = Py_None,
                 .edge_object = Py_None,
                 .z_object = Py_None,
                 .z_sd_object = Py_None,
                 .estimate.threshold = 0.3};
    PyObject *truth = NULL;
    PyObject *dict = NULL;
    int threads = 0;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "OO|$OOOOdi:evaluate_arrays", words,
                                    &s.w_object, &truth, &s.sigma_object, &s.edge_object,
                                    &s.z_object, &s.z_sd_object, &s.estimate.threshold,
                                    &threads) == 0 ||
        !take_threads(s.state, threads) || !take_dataset(s.state, truth, "truth", &s.truth)) {
        return NULL;
    }
    if (take_estimate(&s)) {
        dict = score(&s, threads);
    }
    PyBuffer_Release(&s.w);
    PyBuffer_Release(&s.sigma);
    PyBuffer_Release(&s.edge_prob);
    PyBuffer_Release(&s.z);
    PyBuffer_Release(&s.z_sd);
    PyMem_Free(s.memory);
    PyMem_Free(s.targets);
    lscm_scores_free(s.scores);
    return dict;
}

PyObject *core_evaluate_file(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"path", "truth", "threshold", "threads", NULL};
    const core_state *state = PyModule_GetState(module);
    PyObject *path = NULL;
    PyObject *object = NULL;
    PyObject *dict = NULL;
    core_dataset *truth = NULL;
    double threshold = 0.3;
    int threads = 0;
    size_t draws = 0;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "O&O|d$i:evaluate_file", words,
                                    PyUnicode_FSConverter, &path, &object, &threshold,
                                    &threads) == 0) {
        return NULL;
    }
    lscm_scores *scores = take_scores();
    if (scores != NULL && take_threads(state, threads) &&
        take_dataset(state, object, "truth", &truth)) {
        const char *from = PyBytes_AsString(path);
        core_call call;
        call_begin(&call, NULL, threads);
        lscm_status status =
            lscm_evaluate_file(scores, &draws, from, truth->data, threshold, &call.why);
        dict = call_end(&call, state, status) ? scores_dict(scores) : NULL;
    }
    PyObject *count = dict != NULL ? PyLong_FromSize_t(draws) : NULL;
    if (dict != NULL && (count == NULL || PyDict_SetItemString(dict, "draws", count) != 0)) {
        Py_CLEAR(dict);
    }
    Py_XDECREF(count);
    lscm_scores_free(scores);
    Py_DECREF(path);
    return dict;
}
