"""Tables and labelled arrays of other packages are taken as they are: numbers and names."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import lscm
from lscm._arguments import read_arguments
from lscm._numbers import column_names, numbers
from lscm._problems import package

X = np.arange(24.0).reshape(6, 4)
MASK = np.eye(4)[[0, 1, 2, 3, 0, 1]]
GENES = ["a", "b", "c", "d"]


def same(x, names=tuple(GENES)):
    given = read_arguments(x, MASK)
    assert np.array_equal(given.x, X) and given.feature_names == given.node_names == names


class Sparse:
    def __init__(self, array):
        self.array = array

    def toarray(self):
        return self.array


@pytest.mark.parametrize("x", [X, Sparse(X)])
def test_cells_as_anndata_has_them(x):
    rows = types.SimpleNamespace(index=list("uvwxyz"))
    same(types.SimpleNamespace(X=x, obs=rows, var_names=GENES))


def test_anndata():
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    same(anndata.AnnData(X, var=pandas.DataFrame(index=GENES)))


def test_anndata_without_x():
    with pytest.raises(ValueError, match="X: the AnnData has no X"):
        numbers(types.SimpleNamespace(X=None, obs=None, var_names=[]), "X")


def test_xarray():
    xarray = pytest.importorskip("xarray")
    same(xarray.DataArray(X, dims=("cell", "gene"), coords={"gene": GENES}))
    same(xarray.DataArray(X, dims=("cell", "gene")), None)
    same(xarray.Dataset({name: ("cell", X[:, i]) for i, name in enumerate(GENES)}))
    pictures = xarray.DataArray(np.zeros((6, 2, 3)), dims=("n", "h", "w"), coords={"w": [1, 2, 3]})
    assert read_arguments(pictures, MASK, MASK).x.shape == (6, 2, 3)
    with pytest.raises(ValueError, match=r"variables \('x', 'y'\) are not columns of one table"):
        numbers(xarray.Dataset({"x": (("cell", "gene"), X), "y": ("cell", X[:, 0])}), "X")


def test_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=GENES)
    same(frame)
    with pytest.raises(TypeError, match=r"X\.collect\(\)"):
        numbers(frame.lazy(), "X")
    frame = frame.with_columns(polars.Series("kind", list("pqrstu")))
    with pytest.raises(ValueError, match="its column 'kind' holds text \\('p'\\)"):
        numbers(frame, "X")
    holes = polars.DataFrame({"a": [1, None], "b": [2, 3]})
    assert np.isnan(numbers(holes, "X")[1, 0])


def test_pyarrow():
    pyarrow = pytest.importorskip("pyarrow")
    same(pyarrow.table({name: X[:, i] for i, name in enumerate(GENES)}))


def test_a_table_with_text_names_the_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=GENES).assign(condition="ctrl")
    with pytest.raises(ValueError, match="X: its column 'condition' holds text \\('ctrl'\\)"):
        numbers(frame, "X")
    assert column_names(frame, "X") == (*GENES, "condition")


@pytest.mark.parametrize("hole", [None, float("nan"), "NA"])
def test_missing_entries_of_any_kind(hole, data):
    pandas = pytest.importorskip("pandas")
    x = data.x.astype(object)
    x[3, 5] = pandas.NA if hole == "NA" else hole
    for given in (x, pandas.DataFrame(x), x.tolist()):
        seen = lscm.Dataset(given, data.targets, data.values)
        assert np.argwhere(np.isnan(seen.x)).tolist() == [[3, 5]]
        assert seen.check()["missing"] == 1
        with pytest.raises(ValueError, match="X: is NaN at row 3, column 5"):
            lscm.LatentSCM(method="biols").fit(given, data.targets, data.values)
    targets = data.targets.astype(object)
    targets[2, 1] = x[3, 5]
    with pytest.raises(ValueError, match="targets: is nan at row 2, column 1"):
        lscm.LatentSCM().fit(data.x, targets, data.values)


# ---- Parquet and Feather -------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_files_of_arrow(ending):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    x = np.random.default_rng(1).normal(size=(50, 3))
    labels = pyarrow.array(["", "a", "b"] * 16 + ["", "a"]).dictionary_encode()
    table = pyarrow.table({**{name: x[:, i] for i, name in enumerate("abc")}, "target": labels})
    write = parquet.write_table if ending == "parquet" else feather.write_feather
    write(table, f"t.{ending}")
    data = lscm.open(f"t.{ending}")
    assert np.array_equal(data.x, x) and data.node_names == ("a", "b", "c")
    assert data.targets[:3].tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    data.save("t.npz")
    assert np.array_equal(lscm.open("t.npz").x, x)
    model = lscm.LatentSCM(draws=20, folder="run").fit(data)
    assert model.run_.config["data"] == f"t.{ending}"
    page = (Path("run") / "report.html").read_text()
    assert f"t.{ending}" in page and "lscm-" not in page
    with pytest.raises(lscm.Error, match=f"t.{ending}: there is no true graph 'w'"):
        lscm.evaluate("run")


def test_broken_files_of_arrow():
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    with open("bad.parquet", "w") as file:
        file.write("no table")
    with pytest.raises(OSError, match="bad.parquet: pyarrow cannot read it"):
        lscm.open("bad.parquet")
    with pytest.raises(FileNotFoundError):
        lscm.open("none.parquet")
    parquet.write_table(pyarrow.table({"a": [1.0], "b": [[1, 2]]}), "lists.parquet")
    with pytest.raises(lscm.Error, match="its column 'b' holds lists"):
        lscm.open("lists.parquet")
    parquet.write_table(pyarrow.table({"a": [1.0, 2], "kind": ["u", "v"]}), "text.parquet")
    with pytest.raises(ValueError, match="^text.parquet: .*ignore='kind'"):
        lscm.open("text.parquet")


def test_a_package_that_does_not_fit_is_not_called_missing(monkeypatch):
    def refuse(name, *_):
        raise ImportError("needs NumPy 9")

    monkeypatch.setattr("importlib.import_module", refuse)
    with pytest.raises(ImportError, match="pandas, which cannot be imported: needs NumPy 9"):
        package("pandas", "this")


def test_without_pyarrow_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(lscm.ToolProblem, match="needs the package pyarrow.* pip install pyarrow"):
        lscm.open("t.parquet")


def test_nothing_is_imported_unless_given():
    others = "pandas polars pyarrow anndata xarray matplotlib sklearn".split()
    code = f"import lscm, sys; print([m for m in {others} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
