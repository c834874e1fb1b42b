"""lscm._core, the binding itself: what it holds, what it gives back, what it refuses."""

import gc
import sys
import weakref

import numpy as np
import pytest

from lscm import _core as core


class Rows(np.ndarray):
    """An array that can be watched."""


def read(data, field):
    dims, _ = data.shape(field)
    out = np.empty(dims)
    data.read(field, 0, dims[0], out)
    return out


@pytest.fixture(scope="module")
def arrays():
    data = core.simulate(
        "paper-linear",
        {"nodes": 3, "features": 6, "seed": 3, "observational": 20, "sets": 4, "per_set": 10},
    )
    found = {f: read(data, f) for f in ("x", "targets", "values", "z", "w", "sigma")}
    found["targets"] = found["targets"].astype(np.uint8)
    return found


@pytest.fixture(scope="module")
def data(arrays):
    return core.wrap(**arrays)


@pytest.fixture(scope="module")
def posterior(data):
    return core.fit(data, {"draws": 8, "order": "given"})


def test_wrapped_arrays_are_held_and_not_copied(arrays):
    x = arrays["x"].copy().view(Rows)
    watch = weakref.ref(x)
    data = core.wrap(x, arrays["targets"], arrays["values"])
    x[7, 2] = 99.5
    assert read(data, "x")[7, 2] == 99.5
    with pytest.raises(ValueError, match="resize"):
        x.resize((1, 6))
    del x
    gc.collect()
    assert watch() is not None
    del data
    gc.collect()
    assert watch() is None


def test_refused_arrays_are_let_go(arrays):
    before = {name: sys.getrefcount(array) for name, array in arrays.items()}
    for spoilt in ({"w": np.ones((3, 3))}, {"values": np.zeros((2, 3))}, {"node_names": ["a"]}):
        with pytest.raises(core.ValueProblem):
            core.wrap(**{**arrays, **spoilt})
    assert {name: sys.getrefcount(array) for name, array in arrays.items()} == before


def test_arrays_outlive_their_posterior(data):
    posterior = core.fit(data, {"draws": 8, "order": "given"})
    weights = np.asarray(posterior.weights)
    kept = weights.copy()
    del posterior
    gc.collect()
    np.testing.assert_array_equal(weights, kept)
    assert not weights.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        weights[0, 0, 0] = 1


def test_arrays_have_their_shapes(posterior):
    shapes = {
        "weights": (8, 3, 3), "sigma": (8, 3), "intercept": (8, 3), "order": (8, 3),
        "log_p": (8,), "log_q": (8,), "edge_prob": (3, 3), "z": (60, 3), "z_sd": (60, 3),
    }  # fmt: skip
    for name, shape in shapes.items():
        array = getattr(posterior, name)
        assert np.asarray(array).shape == shape
        assert np.asarray(array).dtype == (np.int64 if name == "order" else np.float64)
        assert bytes(array) == np.asarray(array).tobytes()
    assert posterior.x_shape == (6,)


@pytest.mark.parametrize(
    ("spoilt", "sentence"),
    [
        ({"x": lambda x: x[:, ::2]}, "x is not an array"),
        ({"x": lambda x: x.astype(int)}, "x has elements of another type"),
        ({"x": lambda x: x.astype(">f8")}, "x has elements of another type"),
        ({"x": lambda x: x[0]}, r"x has the shape \(6,\)"),
        ({"x": lambda x: x.tolist()}, "x is not an array"),
        ({"targets": lambda t: t.astype(float)}, "targets has elements of another type"),
        ({"values": lambda v: v[:-1]}, r"values has the shape \(59, 3\) but must have \(60, 3\)"),
        ({"sigma": lambda s: s[:2]}, "sigma has 2 entries but there are 3 nodes"),
        ({"w": lambda w: w[:2]}, r"w has the shape \(2, 3\)"),
        ({"z": lambda z: z.astype(np.float32)}, "z has elements of another type"),
    ],
)
def test_what_does_not_fit_is_named(arrays, spoilt, sentence):
    given = {name: spoilt.get(name, lambda a: a)(array) for name, array in arrays.items()}
    with pytest.raises(core.ValueProblem, match=sentence):
        core.wrap(**given)


def test_arrays_out_of_step_in_memory_are_refused(arrays):
    raw = np.zeros(arrays["x"].nbytes + 1, np.uint8)
    with pytest.raises(core.ValueProblem, match="x is not aligned"):
        core.wrap(raw[1:].view(np.float64).reshape(arrays["x"].shape))


def test_answers_need_room(posterior, data, arrays):
    z = np.empty((60, 3))
    with pytest.raises(core.ValueProblem, match="sd has room for 3 numbers but there are 180"):
        posterior.transform(data, z, np.empty(3))
    z.flags.writeable = False
    with pytest.raises(core.ValueProblem, match="z is not an array that can be written"):
        posterior.transform(data, z, np.empty((60, 3)))
    with pytest.raises(core.ValueProblem, match="z has 2 columns"):
        posterior.decode(np.zeros((4, 2)), np.empty((4, 6)))


def test_kinds_of_errors_are_familiar(tmp_path, data, posterior):
    with pytest.raises(FileNotFoundError) as missing:
        core.open(tmp_path / "nothing.nc")
    assert isinstance(missing.value, core.MissingProblem)
    assert missing.value.status == "MISSING"
    assert str(missing.value) == f"{tmp_path}/nothing.nc: there is no such file"
    posterior.save(tmp_path / "run")
    with pytest.raises(FileExistsError) as exists:
        posterior.save(tmp_path / "run")
    assert exists.value.status == "EXISTS"
    with pytest.raises(ValueError, match="did you mean 'draws'") as usage:
        core.fit(data, {"drawz": 3})
    assert usage.value.status == "USAGE"
    with pytest.raises(TypeError):
        core.Dataset()


def test_callbacks_stop_and_raise():
    data = core.simulate("paper-linear", {"nodes": 10})
    long = {"method": "biols", "steps": 1000000, "full_run": True}

    def trouble(what, done, total):
        raise KeyError(what)

    with pytest.raises(core.Stopped):
        core.fit(data, long, progress=lambda *told: False)
    with pytest.raises(KeyError) as raised:
        core.fit(data, long, progress=trouble)
    assert isinstance(raised.value.__context__, core.Stopped)


def test_callbacks_may_use_the_data_themselves():
    data = core.simulate("paper-linear", {"nodes": 10})
    seen = []

    def look(what, done, total):
        seen.append(read(data, "z")[0, 0])
        return len(seen) < 3

    with pytest.raises(core.Stopped):
        core.fit(data, {"method": "biols", "steps": 1000000, "full_run": True}, progress=look)
    assert len(seen) == 3
    assert len(set(seen)) == 1


def test_names_and_truth_alone():
    truth = core.wrap(None, w=np.array([[0.0, 2.0], [0.0, 0.0]]), node_names=["a", "b"])
    assert (truth.nodes, truth.features, truth.node_names) == (2, 0, ("a", "b"))
    scores = core.evaluate_arrays(np.array([[0.0, 1.0], [0.0, 0.0]]), truth)
    assert scores["e_shd"] == 0
    assert np.isnan(scores["mcc"])


def test_many_calls_keep_no_memory(arrays):
    resource = pytest.importorskip("resource")

    def cycle():
        data = core.wrap(**arrays, node_names=["a", "b", "c"])
        for _ in range(20):
            data.check()
            data.bands("z")
            data.shape("x")
            with pytest.raises(core.ValueProblem):
                core.wrap(**{**arrays, "node_names": ["a"]})
            core.evaluate_arrays(arrays["w"], data, z=arrays["z"])

    for _ in range(10):
        cycle()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):
        cycle()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # kilobytes
