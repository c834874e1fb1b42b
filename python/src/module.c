/* The module lscm._core: its functions, types and exceptions. It keeps no state but its own, so
 * every interpreter may have one. */
#include "core.h"

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(lscm_version());
}

static PyMethodDef METHODS[] = {
    {"version", version, METH_NOARGS, "version()\n--\n\nThe version of the library."},
    {"settings", core_settings, METH_VARARGS,
     "settings(group)\n--\n\nThe settings of 'fit' or 'simulation', a dict for each."},
    {"presets", core_presets, METH_NOARGS, "presets()\n--\n\nNames and descriptions of presets."},
    {"devices", core_devices, METH_NOARGS,
     "devices()\n--\n\nWhat there is to compute on, a dict for each, and why there is no CUDA "
     "device."},
    {"is_control", core_is_control, METH_VARARGS,
     "is_control(word, control)\n--\n\nDoes a word of a column of targets mean that nothing was "
     "set? control: the words for it, with commas, or None for the usual ones."},
    {"simulate", CORE_METHOD(core_simulate), METH_VARARGS | METH_KEYWORDS,
     "simulate(preset, settings)\n--\n\nA Dataset whose rows are made as they are read."},
    {"open", CORE_METHOD(core_open), METH_VARARGS | METH_KEYWORDS,
     "open(path, *, ignore=None, truth=None, names=None, truth_only=False, x_only=False, "
     "target_column=None, value_column=None, control=None, layer=None)\n--\n\n"
     "A Dataset in a file or folder."},
    {"wrap", CORE_METHOD(core_wrap), METH_VARARGS | METH_KEYWORDS,
     "wrap(x, targets=None, values=None, *, z=None, w=None, sigma=None, node_names=None, "
     "feature_names=None)\n--\n\nA Dataset over arrays, which are not copied."},
    {"fit", CORE_METHOD(core_fit), METH_VARARGS | METH_KEYWORDS,
     "fit(data, settings, *, folder=None, order=None, force=False, resume=False, forbidden=None, "
     "required=None, tiers=None, threads=0, progress=None, names=None, ignore=None, truth=None, "
     "target_column=None, value_column=None, control=None, layer=None)\n"
     "--\n\nThe Posterior of data."},
    {"open_run", CORE_METHOD(core_open_run), METH_VARARGS | METH_KEYWORDS,
     "open_run(folder)\n--\n\nThe Posterior in a run folder."},
    {"evaluate_arrays", CORE_METHOD(core_evaluate_arrays), METH_VARARGS | METH_KEYWORDS,
     "evaluate_arrays(w, truth, *, sigma=None, edge_prob=None, z=None, threshold=0.3, threads=0)\n"
     "--\n\nScores of an estimate against the truth in a Dataset."},
    {"evaluate_file", CORE_METHOD(core_evaluate_file), METH_VARARGS | METH_KEYWORDS,
     "evaluate_file(path, truth, threshold=0.3, *, threads=0)\n--\n\nThe same for an NPZ."},
    {NULL, NULL, 0, NULL}};

static bool open_types(PyObject *module, core_state *state)
{
    state->dataset = dataset_type(module);
    state->posterior = state->dataset != NULL ? posterior_type(module) : NULL;
    state->array = state->posterior != NULL ? array_type(module) : NULL;
    return state->array != NULL && PyModule_AddType(module, state->dataset) == 0 &&
           PyModule_AddType(module, state->posterior) == 0 &&
           PyModule_AddType(module, state->array) == 0;
}

static int execute(PyObject *module)
{
    core_state *state = PyModule_GetState(module);
    return errors_open(module, state) && open_types(module, state) ? 0 : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    core_state *state = PyModule_GetState(module);
    for (size_t i = 0; i < CORE_STATUSES; i++) {
        Py_VISIT(state->error[i]);
    }
    Py_VISIT(state->dataset);
    Py_VISIT(state->posterior);
    Py_VISIT(state->array);
    return 0;
}

static int clear(PyObject *module)
{
    core_state *state = PyModule_GetState(module);
    for (size_t i = 0; i < CORE_STATUSES; i++) {
        Py_CLEAR(state->error[i]);
    }
    Py_CLEAR(state->dataset);
    Py_CLEAR(state->posterior);
    Py_CLEAR(state->array);
    return 0;
}

static void deallocate(void *module)
{
    (void)clear(module);
}

PyMODINIT_FUNC PyInit__core(void)
{
    static PyModuleDef_Slot slots[] = {CORE_SLOT(Py_mod_exec, execute), {0, NULL}};
    static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                            .m_name = "lscm._core",
                                            .m_doc = "The C library lscm, as it is.",
                                            .m_size = sizeof(core_state),
                                            .m_methods = METHODS,
                                            .m_slots = slots,
                                            .m_traverse = traverse,
                                            .m_clear = clear,
                                            .m_free = deallocate};
    return PyModuleDef_Init(&definition);
}
