"""X, targets and values in every form: the same numbers come out, or a sentence that names the
argument."""

from __future__ import annotations

import numpy as np
import pytest

import lscm
from lscm._arguments import read_arguments

X = np.arange(24.0).reshape(6, 4)
MASK = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0]])
VALUES = np.where(MASK == 1, np.arange(18.0).reshape(6, 3), 0)
SETS = [[], [0], [1], [2], [0, 2], []]
SET_VALUES = [[], [3.0], [7.0], [11.0], [12.0, 14.0], []]
NAMES = ("raf", "mek", "erk")


def named_sets() -> list[list[str]]:
    return [[NAMES[i] for i in row] for row in SETS]


def expect(arguments, names=None) -> None:
    assert arguments.targets.dtype == np.uint8
    assert arguments.targets.tolist() == MASK.tolist()
    assert arguments.values.dtype == np.float64
    assert arguments.values[MASK == 1].tolist() == VALUES[MASK == 1].tolist()
    assert arguments.node_names == names
    assert all(a is None or a.flags.c_contiguous for a in arguments[:3])


# ---- what is accepted ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, int, np.uint64, np.float32, float])
def test_masks_of_every_type(dtype):
    expect(read_arguments(X, MASK.astype(dtype), VALUES))


@pytest.mark.parametrize("order", ["C", "F"])
def test_masks_that_are_not_contiguous(order):
    wide = np.zeros((6, 6), int, order=order)
    wide[:, ::2] = MASK
    expect(read_arguments(X[::1], wide[:, ::2], VALUES))
    expect(read_arguments(X, MASK[::-1][::-1], np.asfortranarray(VALUES)))
    expect(read_arguments(X, np.asfortranarray(MASK.astype(bool)), VALUES))


def test_masks_as_nested_lists():
    expect(read_arguments(X.tolist(), MASK.tolist(), VALUES.tolist()))
    expect(read_arguments(X, MASK.astype(bool).tolist(), VALUES.tolist()))
    expect(read_arguments(X, tuple(map(tuple, MASK.tolist())), VALUES))


def test_target_sets_by_number():
    expect(read_arguments(X, SETS, SET_VALUES))
    expect(read_arguments(X, tuple(map(tuple, SETS)), SET_VALUES))
    expect(read_arguments(X, [np.array(row, int) for row in SETS], SET_VALUES))
    expect(read_arguments(X, [set(row) for row in SETS], VALUES))
    expect(read_arguments(X, SETS, VALUES))
    expect(read_arguments(X, SETS, [[], 3.0, 7, np.float32(11), (12, 14), ()]))


def test_target_sets_by_name():
    expect(read_arguments(X, named_sets(), SET_VALUES), NAMES)
    expect(read_arguments(X, named_sets(), SET_VALUES, node_names=list(NAMES)), NAMES)
    expect(read_arguments(X, SETS, SET_VALUES, node_names=NAMES), NAMES)


def test_target_sets_with_their_values():
    do = [dict(zip(row, v, strict=True)) for row, v in zip(named_sets(), SET_VALUES, strict=True)]
    expect(read_arguments(X, do), NAMES)
    expect(read_arguments(X, do, node_names=NAMES), NAMES)


def test_a_node_that_is_never_a_target_keeps_its_place():
    sets = [["mek"], [], ["mek"], [], ["raf"], []]
    given = read_arguments(X, sets, [[1], [], [2], [], [3], []], node_names=NAMES)
    assert given.targets.sum(axis=0).tolist() == [1, 2, 0]


def test_observed_variables_need_no_values():
    given = read_arguments(X, [[], [3], [0, 3], [1], [], []])
    assert given.values is None and given.targets.shape == (6, 4)


@pytest.mark.parametrize("dtype", [np.float16, np.uint8, np.int16, bool])
def test_small_types_become_single_precision(dtype):
    x = X.astype(dtype)
    seen = read_arguments(x, MASK, VALUES).x
    assert seen.dtype == np.float32 and np.array_equal(seen, x)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64, np.longdouble, ">f8", object])
def test_other_types_become_double_precision(dtype):
    x = X.astype(dtype)
    seen = read_arguments(x, MASK, VALUES).x
    assert seen.dtype == np.float64 and seen.dtype.isnative and np.array_equal(seen, X)


def test_what_is_contiguous_is_not_copied():
    for dtype in (np.float64, np.float32):
        x = X.astype(dtype)
        given = read_arguments(x, MASK.astype(np.uint8), VALUES)
        assert np.shares_memory(given.x, x) and np.shares_memory(given.values, VALUES)
    mask = MASK.astype(bool)
    assert np.shares_memory(read_arguments(X, mask, VALUES).targets, mask)


def test_read_only_arrays():
    x = X.copy()
    x.flags.writeable = False
    assert np.shares_memory(read_arguments(x, MASK, VALUES).x, x)
    assert lscm.Dataset(x, MASK, VALUES).x is x


class Tensor:
    """A stranger with __array__, as tensors of torch and JAX are."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


def test_tensors():
    expect(read_arguments(Tensor(X), Tensor(MASK), Tensor(VALUES)))
    assert np.shares_memory(read_arguments(Tensor(X), MASK, VALUES).x, X)


def test_torch():
    torch = pytest.importorskip("torch")
    expect(read_arguments(torch.tensor(X), torch.tensor(MASK), torch.tensor(VALUES)))
    with pytest.raises(ValueError, match="X: cannot be read as an array"):
        read_arguments(torch.tensor(X, requires_grad=True), MASK, VALUES)


def test_jax():
    numpy = pytest.importorskip("jax.numpy")
    expect(read_arguments(numpy.asarray(X), numpy.asarray(MASK), numpy.asarray(VALUES)))


def test_data_frames_bring_names():
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame(X, columns=list("abcd"))
    targets = pandas.DataFrame(MASK, columns=NAMES)
    given = read_arguments(x, targets, pandas.DataFrame(VALUES, columns=NAMES))
    expect(given, NAMES)
    assert given.feature_names == ("a", "b", "c", "d")
    expect(read_arguments(x, targets, VALUES), NAMES)
    expect(read_arguments(x, MASK, pandas.DataFrame(VALUES, columns=NAMES)), NAMES)
    expect(read_arguments(x, targets.astype(bool), VALUES), NAMES)
    expect(read_arguments(x, pandas.DataFrame(MASK), VALUES))
    expect(read_arguments(x, targets, VALUES, node_names=["u", "v", "w"]), ("u", "v", "w"))


def test_columns_of_values_are_matched_by_name():
    pandas = pytest.importorskip("pandas")
    targets = pandas.DataFrame(MASK, columns=NAMES)
    values = pandas.DataFrame(VALUES, columns=NAMES)
    expect(read_arguments(X, targets, values[["erk", "raf", "mek"]]), NAMES)
    with pytest.raises(ValueError, match=r"values: its columns are not those of targets.*'akt'"):
        read_arguments(X, targets, values.rename(columns={"erk": "akt"}))


def test_target_sets_name_columns_of_values_or_of_x():
    pandas = pytest.importorskip("pandas")
    values = pandas.DataFrame(VALUES, columns=NAMES)
    expect(read_arguments(X, named_sets(), values), NAMES)
    expect(read_arguments(X, pandas.Series(named_sets()), values), NAMES)
    x = pandas.DataFrame(X, columns=["p", "q", "r", "s"])
    observed = read_arguments(x, [[], ["q"], ["s", "p"], [], [], []])
    assert observed.node_names == ("p", "q", "r", "s")
    assert observed.targets[2].tolist() == [1, 0, 0, 1]


def test_missing_values_are_fine_where_nothing_was_set():
    pandas = pytest.importorskip("pandas")
    values = pandas.DataFrame(np.where(MASK == 1, VALUES, np.nan), columns=NAMES)
    expect(read_arguments(X, values.notna(), values), NAMES)
    nones = [[v if t else None for v, t in zip(*row, strict=True)]
             for row in zip(VALUES, MASK, strict=True)]  # fmt: skip
    expect(read_arguments(X, MASK, np.array(nones, object)))


# ---- what is refused -----------------------------------------------------------------------------


def with_entry(value, array=X):
    changed = array.astype(object if not isinstance(value, float) else float)
    changed[1, 2] = value
    return changed


class Broken:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("the tensor is on another device")


REFUSED = {
    "X complex": (X + 1j, MASK, VALUES, "X: Complex data not supported"),
    "X text": (X.astype(str), MASK, VALUES, "X: holds text"),
    "X object": (with_entry({}), MASK, VALUES, "X: holds what is not a number: .*'dict'"),
    "X object text": (with_entry("red"), MASK, VALUES, "X: holds what is not a number: .*'red'"),
    "X dates": (X.astype("M8[s]"), MASK, VALUES, "X: holds dates"),
    "X ragged": ([[1, 2], [3]], MASK, VALUES, "X: cannot be read as an array"),
    "X broken": (Broken(), MASK, VALUES, "X: cannot be read.*on another device"),
    "X file": ("data.nc", MASK, VALUES, r"X: is a text.*lscm.open\('data.nc'\)"),
    "X masked": (np.ma.masked_equal(X, 3), MASK, VALUES, "X: has masked entries"),
    "X flat": (X.ravel(), MASK, VALUES, "X: has 1 dimension; .*Reshape your data"),
    "X 5": (X.reshape(6, 4, 1, 1, 1), MASK, VALUES, "X: has 5 dimensions"),
    "X empty": (X[:0], MASK[:0], VALUES[:0], "X: has 0 sample"),
    "X no columns": (X[:, :0], MASK, VALUES, "X: has 0 feature"),
    "targets flat": (X, MASK[:, 0], VALUES, "targets: has 1 dimension; .*list of target sets"),
    "targets names": (X, ["raf"] * 6, VALUES, "targets: has 1 dimension"),
    "targets 2": (X, MASK * 2, VALUES, r"targets: is 2 at row 1, column 0"),
    "targets half": (X, MASK * 0.5, VALUES, r"targets: is 0.5 at row 1, column 0"),
    "targets nan": (X, np.where(MASK, np.nan, 0), VALUES, "targets: is nan at row 1"),
    "targets text": (X, MASK.astype(str), VALUES, "targets: holds text"),
    "targets rows": (X, MASK[:4], VALUES, "targets: has 4 rows but X has 6"),
    "targets none": (X, None, VALUES, "targets: "),
    "targets pairs": (X, [[0, 1], [1, 0]] * 3, None, "targets: could be a mask or a list"),
    "targets word": (X, [[], "raf", [], [], [], []], None, r"targets\[1\]: is 'raf'.*\['raf'\]"),
    "targets number": (X, [[], 2, [], [], [], []], None, r"targets\[1\]: is 2;.*\[2\] for one"),
    "targets twice": (X, [[0, 0], [], [], [], [], []], SETS, r"targets\[0\]: names a node twice"),
    "targets far": (X, [[7], *SETS[1:]], VALUES, r"targets\[0\]: there is no node 7; .*0 to 2"),
    "targets negative": (X, [[-1], *SETS[1:]], VALUES, r"targets\[0\]: there is no node -1"),
    "targets bool": (X, [[True], *SETS[1:]], VALUES, r"targets\[0\]: True is no node"),
    "targets real": (X, [[0.5], *SETS[1:]], VALUES, r"targets\[0\]: 0.5 is no node"),
    "targets mixed": (X, [["raf"], [1], [], [], [], []], SETS, "targets: has names and numbers"),
    "targets nobody": (X, [[]] * 6, [[]] * 6, "targets: no row has a target"),
    "values flat": (X, MASK, VALUES[:, 0], "values: has 1 dimension"),
    "values rows": (X, MASK, VALUES[:4], "values: has 4 rows but X has 6"),
    "values columns": (X, MASK, VALUES[:, :2], "values: has 2 columns but targets has 3"),
    "values text": (X, MASK, VALUES.astype(str), "values: holds text"),
    "values complex": (X, MASK, VALUES + 0j, "values: Complex data not supported"),
    "values long": (X, SETS, SET_VALUES[:3], "values: has 3 rows but targets has 6"),
    "values of a set": (
        X,
        SETS,
        [[], [1, 2], *SET_VALUES[2:]],
        r"values\[1\]: has 2 numbers for 1",
    ),
    "values of a real set": (X, [set(s) for s in SETS], SET_VALUES, r"targets\[4\]: is a set"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    x, targets, values, sentence = REFUSED[name]
    with pytest.raises((ValueError, TypeError), match=sentence) as caught:
        lscm.LatentSCM(draws=20).fit(x, targets, values)
    assert isinstance(caught.value, lscm.Error)
    assert caught.value.status == "USAGE"


def test_sparse_matrices_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="X: is a sparse matrix"):
        read_arguments(sparse.csr_array(X), MASK, VALUES)


def test_names_of_the_wrong_kind():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="X: some names of its columns are texts"):
        read_arguments(pandas.DataFrame(X, columns=["a", 1, 2, 3]), MASK, VALUES)
    with pytest.raises(TypeError, match="node_names: list a text for each node"):
        read_arguments(X, MASK, VALUES, node_names=[1, 2, 3])
    with pytest.raises(ValueError, match="node_names: there are 2 for 3 nodes"):
        read_arguments(X, MASK, VALUES, node_names=["a", "b"])
    with pytest.raises(ValueError, match=r"targets\[1\]: there is no node 'mk'; .* mean 'mek'"):
        read_arguments(X, [[], ["mk"], [], [], [], []], [[], [1], [], [], [], []], list(NAMES))


# ---- what the library refuses, which reads every row ---------------------------------------------


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_x_must_be_finite(data, bad, dtype):
    x = data.x.astype(dtype)
    x[5, 3] = bad
    with pytest.raises(ValueError, match=r"^X: is infinite at row 5.*") as caught:
        lscm.LatentSCM(draws=20).fit(x, data.targets, data.values)
    assert isinstance(caught.value, lscm.ValueProblem) and caught.value.status == "VALUE"


def test_x_may_have_holes_where_it_is_linear(data):
    x = data.x.copy()
    x[5, 3] = np.nan
    assert lscm.LatentSCM(draws=20).fit(x, data.targets, data.values).latents_.shape == (
        len(x),
        data.nodes,
    )
    with pytest.raises(ValueError, match=r"^X: is NaN at row 5, column 3"):
        lscm.LatentSCM(draws=20, method="vae").fit(x, data.targets, data.values)


def test_values_must_be_finite_at_targets(data):
    values = data.values.copy()
    row, column = np.argwhere(data.targets == 1)[7]
    values[row, column] = np.nan
    with pytest.raises(ValueError, match=rf"^values: is NaN at row {row}.*targets. is 1"):
        lscm.LatentSCM(draws=20).fit(data.x, data.targets, values)
    values[data.targets == 0] = np.nan
    values[row, column] = 1
    lscm.LatentSCM(draws=20).fit(data.x, data.targets, values)


def test_more_nodes_than_features(data):
    with pytest.raises(ValueError, match="features"):
        lscm.LatentSCM().fit(data.x[:, :3], data.targets, data.values)


def test_one_row(data):
    with pytest.raises(ValueError, match="one sample"):
        lscm.LatentSCM().fit(data.x[:1], data.targets[:1], data.values[:1])


def test_a_data_set_brings_its_targets(data):
    with pytest.raises(TypeError, match="targets: X is a Dataset"):
        lscm.LatentSCM().fit(data, data.targets)
    with pytest.raises(ValueError, match="targets: the data set has x alone"):
        lscm.LatentSCM().fit(lscm.Dataset(data.x))


def test_missing_values_are_no_missing_file(data):
    with pytest.raises(ValueError, match="there are no 'values'") as problem:
        lscm.LatentSCM(draws=20).fit(data.x, data.targets)
    assert not isinstance(problem.value, OSError)


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["raf", "Raf"], "has nodes 'raf' and 'Raf'; write them alike"),
        (["raf", "raf "], "has nodes 'raf' and 'raf '; write them alike"),
        (["raf", "control"], "'control' sounds like no target, which is \\[\\]; list it in node_names"),
    ],
)
def test_names_of_latent_nodes_are_told_apart(words, match):
    sets = [[words[row % 2]] for row in range(6)]
    values = [[float(row)] for row in range(6)]
    with pytest.raises(ValueError, match=match):
        lscm.Dataset(np.eye(6), sets, values)
    assert lscm.Dataset(np.eye(6), sets, values, node_names=words).nodes == 2


def test_folds_that_leave_a_node_out(data, model):
    rows = [{"raf": 1.0}, {"pten": 2.0}]
    with pytest.raises(ValueError, match=r"no node 'pten'.*cv=KFold\(5, shuffle=True\)"):
        model.score(data.x[:2], rows)
