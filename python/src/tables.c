/* The tables of settings and presets, for Python to make its arguments and help of, and that of the
 * words for a control. */
#include "core.h"

#include <string.h>

/* ("er", "ba", "full") of "er|ba|full"; None without. */
static PyObject *choices_of(const lscm_setting *row)
{
    if (row->kind != LSCM_CHOICE) {
        return Py_NewRef(Py_None);
    }
    PyObject *all = PyUnicode_FromString(row->choices);
    PyObject *bar = PyUnicode_FromString("|");
    PyObject *list = all != NULL && bar != NULL ? PyUnicode_Split(all, bar, -1) : NULL;
    PyObject *tuple = list != NULL ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(bar);
    Py_XDECREF(list);
    return tuple;
}

/* A number of the table as Python has it; None for bounds of what has none. */
static PyObject *number_of(const lscm_setting *row, double number)
{
    switch (row->kind) {
    case LSCM_INTEGER:
        return PyLong_FromDouble(number);
    case LSCM_REAL:
        return PyFloat_FromDouble(number);
    default:
        return Py_NewRef(Py_None);
    }
}

static PyObject *default_of(const lscm_setting *row, PyObject *choices)
{
    if (row->kind == LSCM_FLAG) {
        return PyBool_FromLong(row->initial != 0 ? 1 : 0);
    }
    if (row->kind == LSCM_CHOICE) {
        return Py_XNewRef(PyTuple_GetItem(choices, (Py_ssize_t)row->initial));
    }
    return number_of(row, row->initial);
}

static PyObject *row_dict(const lscm_setting *row)
{
    static const char *const kinds[] = {[LSCM_INTEGER] = "integer",
                                        [LSCM_REAL] = "real",
                                        [LSCM_FLAG] = "flag",
                                        [LSCM_CHOICE] = "choice"};
    PyObject *choices = choices_of(row);
    return choices != NULL
               ? Py_BuildValue("{s:s,s:s,s:N,s:N,s:N,s:N,s:s}", "name", row->name, "kind",
                               kinds[row->kind], "default", default_of(row, choices), "least",
                               number_of(row, row->least), "most", number_of(row, row->most),
                               "choices", choices, "help", row->help)
               : NULL;
}

PyObject *core_settings(PyObject *module, PyObject *args)
{
    const core_state *state = PyModule_GetState(module);
    const char *group = NULL;
    const lscm_settings_table *table = lscm_fit_table();
    size_t count = 0;
    if (PyArg_ParseTuple(args, "s:settings", &group) == 0) {
        return NULL;
    }
    if (strcmp(group, "simulation") == 0) {
        table = lscm_simulation_table();
    } else if (strcmp(group, "fit") != 0) {
        return core_refuse(state, LSCM_USAGE,
                           "there are settings of 'fit' and 'simulation', not "
                           "of '%s'",
                           group);
    }
    while (lscm_settings_row(table, count) != NULL) {
        count++;
    }
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *row = row_dict(lscm_settings_row(table, i));
        if (row == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, row) != 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

PyObject *core_presets(PyObject *module, PyObject *args)
{
    size_t count = 0;
    (void)module;
    (void)args;
    while (lscm_preset_name(count) != NULL) {
        count++;
    }
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *pair = Py_BuildValue("(ss)", lscm_preset_name(i), lscm_preset_help(i));
        if (pair == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, pair) != 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

/* What is not UTF-8, or has a zero byte in it, is no word for it. */
PyObject *core_is_control(PyObject *module, PyObject *args)
{
    PyObject *word = NULL;
    const char *control = NULL;
    Py_ssize_t length = 0;
    (void)module;
    if (PyArg_ParseTuple(args, "Uz:is_control", &word, &control) == 0) {
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(word, &length);
    if (text == NULL) {
        PyErr_Clear();
    }
    bool whole = text != NULL && strlen(text) == (size_t)length;
    return PyBool_FromLong(whole && lscm_is_control(text, control));
}
