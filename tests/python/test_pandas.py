"""Tables of what was found, for pandas and for notebooks."""

from __future__ import annotations

import re

import numpy as np
import pytest

import lscm
from lscm._show import table

pandas = pytest.importorskip("pandas")
NAMES = ["raf", "mek", "erk", "akt"]


def test_edges(model):
    edges = model.edges_
    assert list(edges.columns) == ["parent", "child", "probability", "mean", "sd", "q05", "q95"]
    assert len(edges) == 12 and edges.probability.is_monotonic_decreasing
    for row in edges.itertuples():
        j, i = NAMES.index(row.parent), NAMES.index(row.child)
        weights = model.weights_[:, j, i]
        assert row.probability == model.edge_probabilities_[j, i]
        assert np.isclose(row.mean, weights.mean()) and np.isclose(row.sd, weights.std())
        assert np.allclose((row.q05, row.q95), np.quantile(weights, (0.05, 0.95)))


def test_edges_are_those_of_the_program(model):
    model.run_.export("edges.csv")
    theirs = pandas.read_csv("edges.csv").rename(columns={"from": "parent", "to": "child"})
    both = model.edges_.merge(theirs, on=["parent", "child"], validate="1:1")
    assert len(both) == 12
    for name in ("probability", "mean", "sd", "q05", "q95"):
        assert np.allclose(both[f"{name}_x"], both[f"{name}_y"], atol=1e-5), name


def test_draws(model):
    draws = model.to_pandas()
    assert len(draws) == 200 and draws.index.name == "draw"
    j, i = np.argwhere(model.edge_probabilities_ > 0.9)[0]
    assert np.array_equal(draws[f"{NAMES[j]}->{NAMES[i]}"], model.weights_[:, j, i])
    assert np.array_equal(draws["sigma mek"], model.sigma_[:, 1])
    assert np.array_equal(draws["intercept akt"], model.intercept_[:, 3])


def test_rows(data):
    rows = data.to_pandas()
    assert list(rows.columns) == [f"x{i}" for i in range(12)] + [f"do:{i}" for i in range(4)]
    assert np.array_equal(rows.iloc[:, :12], data.x)
    assert np.array_equal(rows.iloc[:, 12:].notna(), data.targets == 1)
    at = data.targets == 1
    assert np.array_equal(rows.iloc[:, 12:].to_numpy()[at], data.values[at])
    observed = lscm.Dataset(pandas.DataFrame({"a": [1.0, 2], "b": [3.0, 4]}), [["b"], []])
    assert observed.to_pandas()["target"].tolist() == ["b", ""]


def test_predictions(model):
    seen = model.predict(do={"erk": 1.5})
    frame = seen.to_pandas()
    assert frame.loc["erk", "do"] == frame.loc["erk", "mean"] == 1.5
    assert np.isnan(frame.loc["raf", "do"]) and (frame.q05 <= frame.q95).all()
    assert np.array_equal(frame["mean"], seen.z.mean)
    assert repr(model.predict_interventional({"erk": 1.5})) == repr(seen)


def test_bands_hardly_depend_on_the_seed(model):
    once, again = model.predict({"erk": 1.0}).z, model.predict({"erk": 1.0}, seed=1).z
    free = once.sd > 0
    for part in ("lower", "upper"):
        moved = np.abs(getattr(once, part) - getattr(again, part))[free] / once.sd[free]
        assert moved.max() < 0.15


def columns(page):
    rows = re.findall(r"<tr>(.*?)</tr>", page)
    return [re.findall(r'<t[hd] style="text-align:(\w+)[^"]*">(.*?)</t[hd]>', row) for row in rows]


def test_html_of_a_table_aligns():
    page = table(["node", "mean"], [["<raf>", "2"], ["mek", "-0.5"]]).html()
    assert columns(page) == [
        [("left", "node"), ("right", "mean")],
        [("left", "&lt;raf&gt;"), ("right", "2")],
        [("left", "mek"), ("right", "-0.5")],
    ]


def test_html_in_notebooks(model):
    seen = columns(model.predict({"erk": 1.5})._repr_html_())
    assert [row[0][1] for row in seen] == ["node", *NAMES] and seen[3][1] == ("right", "1.5")
    for page in (model.summary()._repr_html_(), model._repr_html_()):
        assert ("right", "R2 under do") in columns(page)[0] and "likely edges" in page
