/* What there is to compute on, for Python. */
#include "core.h"

static PyObject *row_dict(const lscm_device_row *row)
{
    return Py_BuildValue("{s:s,s:s,s:i,s:(ii),s:n,s:n}", "device", row->word, "name", row->name,
                         "cores", row->cores, "compute_capability", row->major, row->minor,
                         "memory", (Py_ssize_t)row->memory, "memory_free",
                         (Py_ssize_t)row->memory_free);
}

PyObject *core_devices(PyObject *module, PyObject *unused)
{
    const core_state *state = PyModule_GetState(module);
    lscm_devices *devices = NULL;
    core_call call;
    (void)unused;
    call_begin(&call, NULL, 0);
    lscm_status status = lscm_devices_list(&devices, &call.why);
    if (!call_end(&call, state, status)) {
        return NULL;
    }
    PyObject *rows = PyTuple_New((Py_ssize_t)devices->count);
    for (size_t i = 0; rows != NULL && i < devices->count; i++) {
        PyObject *row = row_dict(devices->row[i]);
        if (row == NULL || PyTuple_SetItem(rows, (Py_ssize_t)i, row) != 0) {
            Py_CLEAR(rows);
        }
    }
    PyObject *pair = rows != NULL ? Py_BuildValue("(Ns)", rows, devices->without) : NULL;
    lscm_devices_free(devices);
    return pair;
}

bool take_device(const core_state *state, const char *word, lscm_device *out)
{
    lscm_error why = {0};
    lscm_fit_settings *settings = lscm_fit_settings_new();
    if (settings == NULL) {
        (void)PyErr_NoMemory();
        return false;
    }
    lscm_status status = lscm_settings_set(lscm_fit_table(), settings, "device", word, &why);
    *out = settings->device;
    lscm_fit_settings_free(settings);
    if (status != LSCM_OK) {
        (void)core_raise(state, &why);
    }
    return status == LSCM_OK;
}
