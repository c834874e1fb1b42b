"""Figures: what is drawn is what was found."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import lscm
from lscm._layout import layers, layout

NAMES = ["raf", "mek", "erk", "akt"]


@pytest.fixture
def pyplot():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_layers():
    edges = np.zeros((4, 4), bool)
    edges[[3, 0, 3], [0, 1, 1]] = True
    assert layers(edges) == [1, 2, 0, 0]
    circle = np.eye(3, k=1, dtype=bool)
    circle[2, 0] = True
    assert layers(circle) == [0, 1, 2]


def test_nodes_and_ways_stand_apart():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        edges = np.triu(rng.random((12, 12)) < 0.3, 1)
        placed = layout(edges)
        assert set(placed.edges) == {(int(j), int(i)) for j, i in np.argwhere(edges)}
        gaps = np.abs(placed.nodes[:, None] - placed.nodes[None]).max(axis=2) + np.eye(12) * 9
        assert gaps.min() > 0.99
        for (j, i), way in placed.edges.items():
            assert np.array_equal(way[[0, -1]], placed.nodes[[j, i]])
            assert np.allclose(np.diff(way[:, 1]), -1)
            far = np.abs(placed.nodes[:, None] - way[None, 1:-1]).max(axis=2)
            assert far.size == 0 or far.min() > 0.7


def test_graph(model, pyplot):
    ax = model.plot_graph()
    texts = [text.get_text() for text in ax.texts]
    assert set(NAMES) <= set(texts)
    assert len(ax.patches) == (model.edge_probabilities_ > 0.5).sum()
    j, i = np.argwhere(model.edge_probabilities_ > 0.99)[0]
    assert f"{model.weights_[:, j, i].mean():+.2f}".replace("-", "−") in texts
    assert ax.get_aspect() == 1
    _, own = pyplot.subplots()
    assert model.run_.plot_graph(1, ax=own) is own
    assert not own.patches and "no edge over 1" in own.get_title()


def test_effect(model, pyplot):
    j, i = np.argwhere(model.edge_probabilities_ > 0.9)[0]
    weight, response = model.plot_effect(NAMES[j], NAMES[i])
    area = sum(bar.get_width() * bar.get_height() for bar in weight.patches)
    assert area == pytest.approx((model.weights_[:, j, i] != 0).mean())
    assert NAMES[j] in weight.get_xlabel() and NAMES[i] in weight.get_xlabel()
    value, mean = response.lines[0].get_data()
    seen = model.predict({int(j): value[-1]}, n=2000).z.mean[i]
    assert mean[-1] == pytest.approx(seen) and response.get_xlabel() == f"do({NAMES[j]})"
    _, own = pyplot.subplots(1, 2)
    assert model.plot_effect(int(j), int(i), axes=own)[0] is own[0]
    with pytest.raises(ValueError, match="there is no node 'rav'.*did you mean 'raf'"):
        model.plot_effect("rav", "mek")
    with pytest.raises(ValueError, match="the parent itself"):
        model.plot_effect("raf", 0)
    with pytest.raises(ValueError, match="axes: are 1; give two"):
        model.plot_effect("raf", "mek", axes=own[:1])


def test_curve(bent_run, pyplot):
    ax = bent_run.plot_curve("raf", "mek")
    curve = bent_run.curve("raf", "mek")
    inside = next(line for line in ax.lines if line.get_linestyle() == "-")
    assert np.allclose(inside.get_xdata(), curve.at[4:37])
    assert np.allclose(inside.get_ydata(), curve.mean[4:37])
    beyond = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert sorted(len(line.get_xdata()) for line in beyond) == [5, 5]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("raf", "effect on mek")
    assert "bends in 100% of draws" in ax.get_title()
    _, own = pyplot.subplots()
    assert bent_run.plot_curve("raf", "mek", ax=own) is own


def test_latents(model, pyplot):
    axes = model.plot_latents()
    assert axes.shape == (4, 4) and axes[3, 0].get_xlabel() == "raf"
    points = axes[2, 1].collections[0].get_offsets()
    assert np.array_equal(points, model.latents_[:, [1, 2]])
    assert model.plot_latents(["akt"]).shape == (1, 1)
    with pytest.raises(ValueError, match="nodes: there is no node 7"):
        model.plot_latents([7])


def test_without_matplotlib(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for ask in (model.plot_graph, model.plot_latents, lambda: model.plot_effect(0, 1)):
        with pytest.raises(ImportError, match="matplotlib.*; pip install matplotlib"):
            ask()
    with pytest.raises(lscm.NotFitted):
        lscm.LatentSCM().plot_graph()
