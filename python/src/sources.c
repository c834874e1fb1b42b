/* Where data sets come from: the simulator and files. */
#include "core.h"

/* The preset for the nodes asked for, then what else was asked for. */
static bool take_simulation(const core_state *state, const char *preset, PyObject *dict,
                            lscm_simulation *settings)
{
    const lscm_settings_table *table = lscm_simulation_table();
    lscm_error why = {0};
    if (preset != NULL) {
        settings->nodes = 0; /* the preset's own number */
    }
    if (!take_settings(state, dict, table, settings)) {
        return false;
    }
    if (preset != NULL &&
        lscm_simulation_preset(settings, preset, settings->nodes, &why) != LSCM_OK) {
        core_raise(state, &why);
        return false;
    }
    return take_settings(state, dict, table, settings);
}

PyObject *core_simulate(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"preset", "settings", NULL};
    const core_state *state = PyModule_GetState(module);
    const char *preset = NULL;
    PyObject *dict = NULL;
    PyObject *object = NULL;
    lscm_dataset *data = NULL;
    if (PyArg_ParseTupleAndKeywords(args, keywords, "zO:simulate", words, &preset, &dict) == 0) {
        return NULL;
    }
    lscm_simulation *settings = lscm_simulation_new();
    if (settings == NULL) {
        return PyErr_NoMemory();
    }
    if (take_simulation(state, preset, dict, settings)) {
        core_call call;
        call_begin(&call, NULL, 0);
        lscm_status status = lscm_simulate(&data, settings, preset, &call.why);
        object = call_end(&call, state, status) ? dataset_of(state, data) : NULL;
    }
    lscm_simulation_free(settings);
    return object;
}

PyObject *core_open(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *words[] = {"path",   "ignore",        "truth",        "names",   "truth_only",
                            "x_only", "target_column", "value_column", "control", "layer",
                            NULL};
    const core_state *state = PyModule_GetState(module);
    lscm_open_options options = {0};
    PyObject *path = NULL;
    PyObject *truth = NULL;
    PyObject *object = NULL;
    lscm_dataset *data = NULL;
    int truth_only = 0;
    int x_only = 0;
    if (PyArg_ParseTupleAndKeywords(
            args, keywords, "O&|$zO&zppzzzz:open", words, PyUnicode_FSConverter, &path,
            &options.ignore, path_or_none, &truth, &options.names, &truth_only, &x_only,
            &options.target_column, &options.value_column, &options.control, &options.layer) == 0) {
        return NULL;
    }
    const char *from = PyBytes_AsString(path);
    options.truth = truth != NULL ? PyBytes_AsString(truth) : NULL;
    options.truth_only = truth_only != 0;
    options.x_only = x_only != 0;
    core_call call;
    call_begin(&call, NULL, 0);
    lscm_status status = lscm_dataset_open(&data, from, &options, &call.why);
    if (call_end(&call, state, status)) {
        object = dataset_of(state, data);
        PyObject *text = object != NULL ? PyUnicode_DecodeFSDefault(from) : NULL;
        if (text != NULL) {
            core_dataset *d = (core_dataset *)(void *)object;
            Py_DECREF(d->path);
            d->path = text;
        } else {
            Py_CLEAR(object);
        }
    }
    Py_DECREF(path);
    Py_XDECREF(truth);
    return object;
}
