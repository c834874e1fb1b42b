/* Arguments that are not arrays: settings, names, numbers, paths. */
#include "core.h"

#include <string.h>

bool take_callback(const core_state *state, PyObject *object, PyObject **callback)
{
    *callback = object == Py_None ? NULL : object;
    if (*callback != NULL && PyCallable_Check(*callback) == 0) {
        core_refuse(state, LSCM_USAGE,
                    "progress must be a function (what, done, total), or None for none");
        return false;
    }
    return true;
}

bool take_threads(const core_state *state, int threads)
{
    enum { MOST = 4096 };
    if (threads < 0 || threads > MOST) {
        core_refuse(state, LSCM_USAGE, "threads is %d; give 1 to %d, or 0 for the default", threads,
                    MOST);
        return false;
    }
    return true;
}

bool take_count(const core_state *state, const char *name, Py_ssize_t number, size_t *out)
{
    *out = (size_t)number;
    if (number < 0) {
        core_refuse(state, LSCM_USAGE, "%s is %zd; it must not be negative", name, number);
        return false;
    }
    return true;
}

bool take_field(const core_state *state, const char *name, lscm_field *out)
{
    static const char *const names[LSCM_FIELDS] = {"x", "targets", "values", "z",
                                                   "w", "sigma",   "order"};
    for (int i = 0; i < LSCM_FIELDS; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (lscm_field)i;
            return true;
        }
    }
    core_refuse(state, LSCM_USAGE,
                "there is no field '%s'; there are x, targets, values, z, w, "
                "sigma and order",
                name);
    return false;
}

int path_or_none(PyObject *object, void *out)
{
    if (object == NULL || object == Py_None) { /* NULL: to be cleaned up */
        PyObject **bytes = out;
        Py_CLEAR(*bytes);
        return 1;
    }
    return PyUnicode_FSConverter(object, out);
}

/* ---- Settings ---- */

/* "0.1", "12", "true": what lscm_settings_set reads back. A new reference. */
static PyObject *setting_text(const core_state *state, const char *name, PyObject *value)
{
    if (PyUnicode_Check(value)) {
        return Py_NewRef(value);
    }
    if (PyBool_Check(value)) {
        return PyUnicode_FromString(value == Py_True ? "true" : "false");
    }
    if (PyFloat_Check(value)) {
        char *digits = PyOS_double_to_string(PyFloat_AsDouble(value), 'r', 0, 0, NULL);
        PyObject *text = digits != NULL ? PyUnicode_FromString(digits) : NULL;
        PyMem_Free(digits);
        return text;
    }
    if (PyIndex_Check(value)) {
        PyObject *number = PyNumber_Index(value);
        PyObject *text = number != NULL ? PyObject_Str(number) : NULL;
        Py_XDECREF(number);
        return text;
    }
    return core_refuse(state, LSCM_USAGE,
                       "'%s' takes a text or a number, not an object of another "
                       "kind",
                       name);
}

static bool take_setting(const core_state *state, PyObject *key, PyObject *value,
                         const lscm_settings_table *table, void *settings)
{
    lscm_error why = {0};
    const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
    if (name == NULL) {
        if (PyErr_Occurred() == NULL) {
            core_refuse(state, LSCM_USAGE, "settings: names must be texts");
        }
        return false;
    }
    PyObject *text = setting_text(state, name, value);
    const char *written = text != NULL ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    bool good = written != NULL;
    if (good && lscm_settings_set(table, settings, name, written, &why) != LSCM_OK) {
        core_raise(state, &why);
        good = false;
    }
    Py_XDECREF(text);
    return good;
}

bool take_settings(const core_state *state, PyObject *dict, const lscm_settings_table *table,
                   void *settings)
{
    PyObject *key = NULL;
    PyObject *value = NULL;
    Py_ssize_t at = 0;
    if (!PyDict_Check(dict)) {
        core_refuse(state, LSCM_USAGE, "settings must be a dict from names to values");
        return false;
    }
    while (PyDict_Next(dict, &at, &key, &value) != 0) {
        if (!take_setting(state, key, value, table, settings)) {
            return false;
        }
    }
    return true;
}

/* ---- Sequences ---- */

/* A tuple of `count` things, or NULL. */
static PyObject *take_tuple(const core_state *state, PyObject *object, const char *name,
                            size_t count)
{
    PyObject *tuple = PySequence_Tuple(object);
    if (tuple == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
            PyErr_Clear();
            core_refuse(state, LSCM_USAGE, "%s must be a sequence", name);
        }
        return NULL;
    }
    size_t there = (size_t)PyTuple_Size(tuple);
    if (there != count) {
        Py_DECREF(tuple);
        return core_refuse(state, LSCM_SHAPE, "%s has %zu entries; there must be %zu", name, there,
                           count);
    }
    return tuple;
}

/* One text without a zero in it. */
static const char *text_of(const core_state *state, PyObject *object, const char *name, size_t i)
{
    Py_ssize_t length = 0;
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length) : NULL;
    if (text == NULL || strlen(text) != (size_t)length) {
        PyErr_Clear();
        core_refuse(state, LSCM_USAGE, "%s: entry %zu (0-based) is not a text", name, i);
        return NULL;
    }
    return text;
}

bool take_names(const core_state *state, PyObject *object, const char *name, size_t count,
                core_names *out)
{
    *out = (core_names){0};
    if (object == Py_None) {
        return true;
    }
    out->keep = take_tuple(state, object, name, count);
    if (out->keep == NULL) {
        return false;
    }
    out->text = PyMem_Calloc(count + 1, sizeof *out->text);
    if (out->text == NULL) {
        (void)PyErr_NoMemory();
        names_release(out);
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        out->text[i] = text_of(state, PyTuple_GetItem(out->keep, (Py_ssize_t)i), name, i);
        good = out->text[i] != NULL;
    }
    if (!good) {
        names_release(out);
    }
    return good;
}

void names_release(core_names *names)
{
    PyMem_Free(names->text);
    Py_XDECREF(names->keep);
    *names = (core_names){0};
}

static bool number_of(const core_state *state, PyObject *object, const char *name, size_t i,
                      bool gaps, size_t *out)
{
    *out = SIZE_MAX;
    if (gaps && object == Py_None) {
        return true;
    }
    Py_ssize_t number =
        PyIndex_Check(object) ? PyNumber_AsSsize_t(object, PyExc_OverflowError) : -1;
    if (number < 0) {
        PyErr_Clear();
        core_refuse(state, LSCM_USAGE, "%s: entry %zu (0-based) is not a whole number from 0 on%s",
                    name, i, gaps ? ", nor None" : "");
        return false;
    }
    *out = (size_t)number;
    return true;
}

bool take_numbers(const core_state *state, PyObject *object, const char *name, size_t count,
                  bool gaps, size_t **out)
{
    *out = NULL;
    if (object == Py_None) {
        return true;
    }
    PyObject *tuple = take_tuple(state, object, name, count);
    if (tuple == NULL) {
        return false;
    }
    size_t *numbers = PyMem_Calloc(count + 1, sizeof *numbers);
    bool good = numbers != NULL;
    if (!good) {
        (void)PyErr_NoMemory();
    }
    for (size_t i = 0; i < count && good; i++) {
        good = number_of(state, PyTuple_GetItem(tuple, (Py_ssize_t)i), name, i, gaps, &numbers[i]);
    }
    Py_DECREF(tuple);
    if (!good) {
        PyMem_Free(numbers);
        return false;
    }
    *out = numbers;
    return true;
}
