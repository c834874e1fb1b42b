/* Arrays as arguments, through the buffer protocol: nothing is copied, and what does not fit is
 * refused by a sentence that names the argument. */
#include "core.h"

#include <stdio.h>
#include <string.h>

enum { SHAPE_TEXT = 128 };

/* "(10, 3)" */
static const char *shape_text(int ndim, const Py_ssize_t *dims, char out[SHAPE_TEXT])
{
    size_t used = 1;
    out[0] = '(';
    out[1] = '\0';
    for (int i = 0; i < ndim && used + 32 < SHAPE_TEXT; i++) {
        used +=
            (size_t)snprintf(out + used, SHAPE_TEXT - used, "%s%zd", i > 0 ? ", " : "", dims[i]);
    }
    (void)snprintf(out + used, SHAPE_TEXT - used, ndim == 1 ? ",)" : ")");
    return out;
}

static const char *elements_text(int elements)
{
    switch (elements) {
    case CORE_MASK:
        return "uint8 or bool";
    case CORE_DOUBLE | CORE_FLOAT:
        return "float64 or float32";
    default:
        return "float64";
    }
}

/* The one letter of a format in the machine's own order and sizes, or 0. */
static char letter_of(const char *format)
{
    const char *at = format != NULL ? format : "B";
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    at += *at == '@' || *at == '=' || *at == '<' ? 1 : 0;
#else
    at += *at == '@' || *at == '=' || *at == '>' || *at == '!' ? 1 : 0;
#endif
    return at[0] != '\0' && at[1] == '\0' ? at[0] : '\0';
}

static bool fits(const Py_buffer *buffer, int elements)
{
    switch (letter_of(buffer->format)) {
    case 'd':
        return (elements & CORE_DOUBLE) != 0 && buffer->itemsize == (Py_ssize_t)sizeof(double);
    case 'f':
        return (elements & CORE_FLOAT) != 0 && buffer->itemsize == (Py_ssize_t)sizeof(float);
    case 'B':
    case '?':
        return (elements & CORE_MASK) != 0 && buffer->itemsize == 1;
    default:
        return false;
    }
}

bool buffer_is_single(const Py_buffer *buffer)
{
    return letter_of(buffer->format) == 'f';
}

static bool refuse(const core_state *state, Py_buffer *buffer, const core_wanted *wanted,
                   const char *what)
{
    PyBuffer_Release(buffer);
    core_refuse(state, LSCM_USAGE, "%s %s; give a C-contiguous array of %s", wanted->name, what,
                elements_text(wanted->elements));
    return false;
}

bool take_buffer(const core_state *state, PyObject *object, const core_wanted *wanted,
                 Py_buffer *out)
{
    int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (wanted->writable ? PyBUF_WRITABLE : 0);
    char shape[SHAPE_TEXT];
    if (PyObject_GetBuffer(object, out, flags) != 0) {
        bool memory = PyErr_ExceptionMatches(PyExc_MemoryError) != 0;
        if (!memory) {
            PyErr_Clear();
            *out = (Py_buffer){0};
            (void)refuse(state, out, wanted,
                         wanted->writable ? "is not an array that can be written to so"
                                          : "is not an array that can be read as it lies");
        }
        return false;
    }
    if (!fits(out, wanted->elements)) {
        return refuse(state, out, wanted, "has elements of another type");
    }
    if (out->len > 0 && (uintptr_t)out->buf % (uintptr_t)out->itemsize != 0) {
        return refuse(state, out, wanted, "is not aligned in memory");
    }
    if (out->ndim < wanted->least || out->ndim > wanted->most) {
        (void)shape_text(out->ndim, out->shape, shape);
        PyBuffer_Release(out);
        if (wanted->least == wanted->most) {
            core_refuse(state, LSCM_SHAPE, "%s has the shape %s; it needs %d dimension%s",
                        wanted->name, shape, wanted->least, wanted->least == 1 ? "" : "s");
        } else {
            core_refuse(state, LSCM_SHAPE, "%s has the shape %s; it needs %d to %d dimensions",
                        wanted->name, shape, wanted->least, wanted->most);
        }
        return false;
    }
    return true;
}

bool take_shaped(const core_state *state, PyObject *object, const core_wanted *wanted,
                 const size_t *dims, Py_buffer *out)
{
    Py_ssize_t needed[LSCM_MAX_DIMS] = {0};
    bool same = true;
    if (!take_buffer(state, object, wanted, out)) {
        return false;
    }
    for (int i = 0; i < wanted->least; i++) {
        needed[i] = (Py_ssize_t)dims[i];
        same = same && out->shape[i] == needed[i];
    }
    if (!same) {
        char there[SHAPE_TEXT];
        char here[SHAPE_TEXT];
        (void)shape_text(out->ndim, out->shape, there);
        PyBuffer_Release(out);
        core_refuse(state, LSCM_SHAPE, "%s has the shape %s but must have %s", wanted->name, there,
                    shape_text(wanted->least, needed, here));
    }
    return same;
}

bool take_room(const core_state *state, PyObject *object, const char *name, size_t count,
               Py_buffer *out)
{
    const core_wanted wanted = {name, CORE_DOUBLE, 0, 64, true};
    if (!take_buffer(state, object, &wanted, out)) {
        return false;
    }
    size_t room = (size_t)out->len / sizeof(double);
    if (room != count) {
        PyBuffer_Release(out);
        core_refuse(state, LSCM_SHAPE, "%s has room for %zu numbers but there are %zu", name, room,
                    count);
        return false;
    }
    return true;
}
