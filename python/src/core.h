/* lscm._core from the inside: lscm.h for Python, one type per handle.
 *
 *     Dataset    lscm_dataset, and the arrays of Python's that it reads
 *     Posterior  lscm_posterior
 *     Array      memory of one of them, or of its own, through the buffer protocol
 *
 * Only the limited interface of Python 3.11 is used, so one binary serves it and all later ones,
 * and only the buffer protocol, so NumPy is not needed to build. Functions that return a PyObject *
 * return NULL, and those that return bool false, with an exception set. */
#ifndef LSCM_PYTHON_CORE_H
#define LSCM_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API                                                                             \
    0x030B0000 /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include <Python.h>

#include "lscm.h"

#include <pthread.h>
#include <time.h>

enum {
#define CORE_STATUS_COUNT(name, sentence) CORE_COUNT_##name,
    LSCM_STATUS_TABLE(CORE_STATUS_COUNT)
#undef CORE_STATUS_COUNT
        CORE_STATUSES
};

typedef struct core_state {
    PyObject *error[CORE_STATUSES]; /* the exception of each status; that of OK is their base */
    PyTypeObject *dataset, *posterior, *array;
} core_state;

/* Methods of C have other types than what Python stores them as. */
#define CORE_METHOD(function) ((PyCFunction)(void (*)(void))(function))
/* Made by our functions only. */
#define CORE_TYPE_FLAGS                                                                            \
    (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE)
#define CORE_SLOT(slot, function)                                                                  \
    {                                                                                              \
        (slot), __extension__(void *)(function)                                                    \
    }

/* ---- Failing (errors.c) ---- */

bool errors_open(PyObject *module, core_state *state);
/* The exception of `why`. Returns NULL, so that `return core_raise(..)` will do. */
PyObject *core_raise(const core_state *state, const lscm_error *why);
/* The same for a sentence of our own; it names the argument. */
PyObject *core_refuse(const core_state *state, lscm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Handles ---- */

enum { CORE_HELD = 6 }; /* x, targets, values, z, w, sigma */

typedef struct core_dataset {
    PyObject ob_base; /* PyObject_HEAD */
    lscm_dataset *data;
    PyObject *path;            /* as given, or None */
    Py_buffer held[CORE_HELD]; /* the arrays that it reads; obj NULL: none */
} core_dataset;

typedef struct core_posterior {
    PyObject ob_base; /* PyObject_HEAD */
    lscm_posterior *posterior;
} core_posterior;

PyTypeObject *dataset_type(PyObject *module);
PyTypeObject *posterior_type(PyObject *module);
PyTypeObject *array_type(PyObject *module);

/* An empty one, to be filled. */
core_dataset *dataset_new(const core_state *state);
/* A new object that owns the handle, which is freed on failure, too. */
PyObject *dataset_of(const core_state *state, lscm_dataset *data);
PyObject *posterior_of(const core_state *state, lscm_posterior *posterior);

/* The argument as a handle; false where it is something else. */
bool take_dataset(const core_state *state, PyObject *object, const char *name, core_dataset **out);
bool take_posterior(const core_state *state, PyObject *object, const char *name,
                    core_posterior **out);

/* A tuple of the names, or None where there are none. */
typedef const char *(*core_name_fn)(const void *source, size_t index);
PyObject *names_tuple(core_name_fn name, const void *source, size_t count);
/* The sizes of a shape from its dimension `first` on. */
PyObject *dims_tuple(const lscm_shape *shape, int first);

/* Memory that belongs to `owner`, or, where `owned`, to the array. format: "d" or "q". */
enum { CORE_ARRAY_DIMS = 3 };
typedef struct core_memory {
    const void *data;
    void *owned; /* by malloc */
    const char *format;
    int ndim;
    size_t dims[CORE_ARRAY_DIMS];
} core_memory;
PyObject *array_of(const core_state *state, PyObject *owner, const core_memory *memory);

/* ---- Calling the library (call.c) ----
 *
 * Between call_begin and call_end Python's lock is released and the number of threads is the one
 * asked for:
 *
 *     call_begin(&call, callback, threads);
 *     lscm_status status = lscm_fit(.., &call.progress, &call.why);
 *     if (!call_end(&call, state, status)) ...
 *
 * The progress function asks Python for signals and calls the callback (what, done, total), if
 * there is one, some twenty times a second; the callback stops the work by returning False. What it
 * raises, and KeyboardInterrupt, is raised by call_end. */
typedef struct core_call {
    PyObject *callback; /* or NULL */
    PyThreadState *saved;
    pthread_t thread;
    int threads; /* before */
    bool stopped;
    struct timespec last;
    const char *told; /* what was reported last */
    PyObject *type, *value, *trace;
    lscm_progress progress;
    lscm_error why;
} core_call;
void call_begin(core_call *call, PyObject *callback, int threads);
bool call_end(core_call *call, const core_state *state, lscm_status status);

/* ---- Arguments (arguments.c, buffers.c) ---- */

/* None is no callback. */
bool take_callback(const core_state *state, PyObject *object, PyObject **callback);
bool take_threads(const core_state *state, int threads);
/* A group of settings from a dict: name to str, int, float or bool. */
bool take_settings(const core_state *state, PyObject *dict, const lscm_settings_table *table,
                   void *settings);
/* A count or an index that must not be negative. */
bool take_count(const core_state *state, const char *name, Py_ssize_t number, size_t *out);
bool take_field(const core_state *state, const char *name, lscm_field *out);
/* "auto", "cuda:1" (devices.c). */
bool take_device(const core_state *state, const char *word, lscm_device *out);
/* For PyArg_ParseTuple's O&: None or a path into a bytes object or NULL. */
int path_or_none(PyObject *object, void *out);

/* Texts of a sequence of str: *out (count) points into *keep, which lives as long. None: neither.
 */
typedef struct core_names {
    PyObject *keep; /* tuple */
    const char **text;
} core_names;
bool take_names(const core_state *state, PyObject *object, const char *name, size_t count,
                core_names *out);
void names_release(core_names *names);

/* (count) numbers of a sequence in new memory (PyMem_Free); None for a number is SIZE_MAX where
 * `gaps`. None: NULL. */
bool take_numbers(const core_state *state, PyObject *object, const char *name, size_t count,
                  bool gaps, size_t **out);

/* A C-contiguous, aligned array. */
typedef enum core_element { CORE_DOUBLE = 1, CORE_FLOAT = 2, CORE_MASK = 4 } core_element;
typedef struct core_wanted {
    const char *name;
    int elements;    /* core_element, joined by | */
    int least, most; /* dimensions */
    bool writable;
} core_wanted;
bool take_buffer(const core_state *state, PyObject *object, const core_wanted *wanted,
                 Py_buffer *out);
/* One of a known shape: `dims` (wanted->least). */
bool take_shaped(const core_state *state, PyObject *object, const core_wanted *wanted,
                 const size_t *dims, Py_buffer *out);
/* A writable array of so many doubles, of any shape. */
bool take_room(const core_state *state, PyObject *object, const char *name, size_t count,
               Py_buffer *out);
bool buffer_is_single(const Py_buffer *buffer);

/* ---- What the module offers ---- */

PyObject *core_simulate(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_open(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_wrap(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_fit(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_open_run(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_settings(PyObject *module, PyObject *args);
PyObject *core_presets(PyObject *module, PyObject *args);
PyObject *core_devices(PyObject *module, PyObject *unused);
PyObject *core_is_control(PyObject *module, PyObject *args);
PyObject *core_evaluate_arrays(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *core_evaluate_file(PyObject *module, PyObject *args, PyObject *keywords);

/* Scores as a dict; NaN for what could not be computed. */
lscm_scores *take_scores(void); /* to be freed by lscm_scores_free */
PyObject *scores_dict(const lscm_scores *scores);

/* Methods of Posterior that answer questions (answers.c). */
PyObject *posterior_sample(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *posterior_beyond(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *posterior_decode(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *posterior_transform(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *posterior_evaluate(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *posterior_distance(PyObject *self, PyObject *args, PyObject *keywords);
/* Those about mechanisms that bend (curves.c). */
PyObject *posterior_bends(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *posterior_places(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *posterior_curve(PyObject *self, PyObject *args, PyObject *keywords);
/* Those that write (outputs.c). */
PyObject *posterior_save_latents(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *posterior_export(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *posterior_report(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *posterior_save(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *posterior_draw(PyObject *self, PyObject *unused);

/* Methods of Dataset that compute or write (dataset_use.c). */
PyObject *dataset_read(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *dataset_check(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *dataset_bands(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *dataset_save(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *dataset_save_graph(PyObject *self, PyObject *args, PyObject *keywords);

#endif
