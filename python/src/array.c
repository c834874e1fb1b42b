/* Array: read-only memory that Python sees without a copy, numpy.asarray(array). It keeps alive
 * whoever the memory belongs to. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

typedef struct core_array {
    PyObject ob_base; /* PyObject_HEAD */
    PyObject *owner;  /* or NULL */
    core_memory memory;
    Py_ssize_t item, shape[CORE_ARRAY_DIMS], strides[CORE_ARRAY_DIMS];
} core_array;

static void deallocate(PyObject *self)
{
    core_array *array = (core_array *)(void *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(array->owner);
    free(array->memory.owned);
    PyObject_Free(self);
    Py_DECREF(type);
}

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    core_array *array = (core_array *)(void *)self;
    const core_memory *memory = &array->memory;
    Py_ssize_t bytes = array->item;
    if ((flags & PyBUF_WRITABLE) != 0) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "this array cannot be written to; copy it");
        return -1;
    }
    for (int i = 0; i < memory->ndim; i++) {
        bytes *= array->shape[i];
    }
    *view = (Py_buffer){.buf = (void *)(uintptr_t)memory->data,
                        .obj = Py_NewRef(self),
                        .len = bytes,
                        .itemsize = array->item,
                        .readonly = 1,
                        .ndim = memory->ndim,
                        .format = NULL};
    if ((flags & PyBUF_FORMAT) != 0) {
        view->format = (char *)(uintptr_t)memory->format;
    }
    view->shape = (flags & PyBUF_ND) != 0 ? array->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? array->strides : NULL;
    return 0;
}

PyObject *array_of(const core_state *state, PyObject *owner, const core_memory *memory)
{
    core_array *array = PyObject_New(core_array, state->array);
    if (array == NULL) {
        free(memory->owned);
        return NULL;
    }
    array->owner = Py_XNewRef(owner);
    array->memory = *memory;
    array->item = 8;
    Py_ssize_t step = array->item;
    for (int i = memory->ndim - 1; i >= 0; i--) {
        array->shape[i] = (Py_ssize_t)memory->dims[i];
        array->strides[i] = step;
        step *= array->shape[i];
    }
    return (PyObject *)array;
}

PyTypeObject *array_type(PyObject *module)
{
    static PyType_Slot slots[] = {
        CORE_SLOT(Py_tp_dealloc, deallocate),
        CORE_SLOT(Py_bf_getbuffer, get_buffer),
        {Py_tp_doc, (void *)"Numbers of a handle, read-only; see them by numpy.asarray."},
        {0, NULL}};
    static PyType_Spec spec = {.name = "lscm._core.Array",
                               .basicsize = sizeof(core_array),
                               .flags = CORE_TYPE_FLAGS,
                               .slots = slots};
    return (PyTypeObject *)(void *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
