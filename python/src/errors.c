/* Statuses as exceptions: each class is an Error with the status and the library's sentence, and
 * also what a Python programmer would catch: ValueError, FileNotFoundError, .. */
#include "core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const STATUS_NAMES[CORE_STATUSES] = {
#define STATUS_NAME(name, sentence) #name,
    LSCM_STATUS_TABLE(STATUS_NAME)
#undef STATUS_NAME
};

typedef struct kind {
    const char *name, *doc;
    lscm_status statuses[5]; /* ended by LSCM_OK */
} kind;

static const kind KINDS[] = {
    {"ValueProblem",
     "A setting, an argument or a number in the data is wrong.",
     {LSCM_USAGE, LSCM_SHAPE, LSCM_VALUE, LSCM_CYCLE, LSCM_FORMAT}},
    {"MissingProblem", "A file or an array is missing.", {LSCM_MISSING}},
    {"ExistsProblem", "The output exists already.", {LSCM_EXISTS}},
    {"FileProblem", "A file could not be read or written.", {LSCM_READ, LSCM_WRITE}},
    {"OutOfMemory", "There is not enough memory.", {LSCM_MEMORY}},
    {"Stopped", "Stopped on request.", {LSCM_STOPPED}},
    {"ToolProblem", "A program or a process that is needed is not there.", {LSCM_TOOL, LSCM_PEER}},
};

/* What else the class is, by the first of its statuses; NULL: nothing. */
static PyObject *familiar(lscm_status status)
{
    switch (status) {
    case LSCM_USAGE:
        return PyExc_ValueError;
    case LSCM_MISSING:
        return PyExc_FileNotFoundError;
    case LSCM_EXISTS:
        return PyExc_FileExistsError;
    case LSCM_READ:
        return PyExc_OSError;
    case LSCM_MEMORY:
        return PyExc_MemoryError;
    case LSCM_TOOL:
        return PyExc_RuntimeError;
    default:
        return NULL;
    }
}

/* Takes `type`, also where it is NULL. */
static bool add_type(PyObject *module, const char *name, PyObject *type)
{
    bool good = type != NULL && PyModule_AddObjectRef(module, name, type) == 0;
    Py_XDECREF(type);
    return good;
}

static bool open_kind(PyObject *module, core_state *state, const kind *k)
{
    char full[64];
    PyObject *base = state->error[LSCM_OK];
    PyObject *also = familiar(k->statuses[0]);
    PyObject *bases = also != NULL ? PyTuple_Pack(2, base, also) : PyTuple_Pack(1, base);
    if (bases == NULL) {
        return false;
    }
    (void)snprintf(full, sizeof full, "lscm.%s", k->name);
    PyObject *type = PyErr_NewExceptionWithDoc(full, k->doc, bases, NULL);
    Py_DECREF(bases);
    for (size_t i = 0; type != NULL && i < 5 && k->statuses[i] != LSCM_OK; i++) {
        state->error[k->statuses[i]] = Py_NewRef(type);
    }
    return add_type(module, k->name, type);
}

bool errors_open(PyObject *module, core_state *state)
{
    PyObject *attributes = Py_BuildValue("{s:s}", "status", "");
    if (attributes == NULL) {
        return false;
    }
    state->error[LSCM_OK] = PyErr_NewExceptionWithDoc(
        "lscm.Error",
        "What lscm could not do: str() is a sentence, .status its kind, such as 'SHAPE'.", NULL,
        attributes);
    Py_DECREF(attributes);
    if (!add_type(module, "Error", Py_XNewRef(state->error[LSCM_OK]))) {
        return false;
    }
    for (size_t k = 0; k < sizeof KINDS / sizeof KINDS[0]; k++) {
        if (!open_kind(module, state, &KINDS[k])) {
            return false;
        }
    }
    return true;
}

/* The sentence, with keywords instead of the options of the command line (lscm/_words.py). */
static PyObject *sentence(const lscm_error *why)
{
    /* a path in it may be in any encoding, or cut within a character */
    PyObject *text =
        PyUnicode_DecodeUTF8(why->text, (Py_ssize_t)strlen(why->text), "backslashreplace");
    if (text == NULL || strstr(why->text, "--") == NULL) {
        return text;
    }
    PyObject *words = PyImport_ImportModule("lscm._words");
    PyObject *said = words != NULL ? PyObject_CallMethod(words, "in_python", "O", text) : NULL;
    Py_XDECREF(words);
    if (said == NULL) { /* better in other words than not at all */
        PyErr_Clear();
        return text;
    }
    Py_DECREF(text);
    return said;
}

PyObject *core_raise(const core_state *state, const lscm_error *why)
{
    PyObject *text = sentence(why);
    PyObject *type = state->error[why->status];
    PyObject *error = text != NULL ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    PyObject *status = PyUnicode_FromString(STATUS_NAMES[why->status]);
    if (error != NULL && status != NULL && PyObject_SetAttrString(error, "status", status) == 0) {
        PyErr_SetObject(type, error);
    }
    Py_XDECREF(text);
    Py_XDECREF(error);
    Py_XDECREF(status);
    return NULL;
}

PyObject *core_refuse(const core_state *state, lscm_status status, const char *format, ...)
{
    lscm_error why = {.status = status};
    va_list list;
    va_start(list, format);
    (void)vsnprintf(why.text, sizeof why.text, format, list);
    va_end(list);
    return core_raise(state, &why);
}
