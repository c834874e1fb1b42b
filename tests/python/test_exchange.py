"""Runs for NetworkX, xarray and ArviZ, and kind words where those are missing."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from conftest import NAMES

import lscm


def test_networkx(model):
    networkx = pytest.importorskip("networkx")
    graph = model.to_networkx()
    assert isinstance(graph, networkx.DiGraph) and list(graph) == NAMES
    likely = {(NAMES[j], NAMES[i]) for j, i in np.argwhere(model.edge_probabilities_ > 0.5)}
    assert set(graph.edges) == likely and networkx.is_directed_acyclic_graph(graph)
    for parent, child, edge in graph.edges(data=True):
        j, i = NAMES.index(parent), NAMES.index(child)
        assert edge["probability"] == model.edge_probabilities_[j, i]
        assert edge["mean"] == pytest.approx(model.weights_[:, j, i].mean())
        assert edge["sd"] == pytest.approx(model.weights_[:, j, i].std())
        assert edge["sign"] == np.sign(edge["mean"])
    for i, name in enumerate(NAMES):
        places = [row.tolist().index(i) for row in model.order_]
        assert graph.nodes[name]["position"] == pytest.approx(np.mean(places))
        assert graph.nodes[name]["sigma"] == pytest.approx(model.sigma_[:, i].mean())
    assert model.to_networkx(threshold=-1).number_of_edges() == 16
    assert model.to_networkx(threshold=1).number_of_edges() == 0


def test_networkx_agrees_with_the_export(model):
    networkx = pytest.importorskip("networkx")
    model.run_.export("g.graphml")
    theirs = networkx.read_graphml("g.graphml")
    theirs = networkx.relabel_nodes(theirs, networkx.get_node_attributes(theirs, "name"))
    ours = model.to_networkx()
    assert set(theirs.edges) == set(ours.edges)
    for ends in ours.edges:
        for key in ("probability", "mean", "sd", "sign"):
            assert float(theirs.edges[ends][key]) == pytest.approx(ours.edges[ends][key], abs=1e-9)


def test_xarray(model):
    pytest.importorskip("xarray")
    draws = model.to_xarray()
    assert draws["w"].dims == ("chain", "draw", "parent", "child")
    assert np.array_equal(draws["w"][0], model.weights_)
    assert draws["edge_prob"].sel(parent="raf", child="mek") == model.edge_probabilities_[0, 1]
    assert np.array_equal(draws["z"], model.latents_) and draws["node"].values.tolist() == NAMES
    assert draws.attrs["threshold"] == 0


def test_xarray_has_what_the_file_has(model):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    model.save("m.run")
    ours = model.to_xarray()
    for group in ("posterior", "sample_stats", "constant_data", "latents"):
        theirs = xarray.open_dataset("m.run/posterior.nc", group=group, engine="h5netcdf")
        for name, array in theirs.data_vars.items():
            assert array.dims == ours[name].dims
            assert np.array_equal(array, ours[name], equal_nan=True), name
            for dim in array.dims:
                if dim in theirs.coords:
                    assert theirs[dim].values.tolist() == ours[dim].values.tolist()


def test_arviz(model):
    pytest.importorskip("arviz")
    data = model.to_arviz()
    assert np.array_equal(data["posterior"]["w"][0], model.weights_)
    assert data["sample_stats"]["lp"].shape == (1, 200)
    assert data["latents"]["z"].shape == model.latents_.shape


@pytest.mark.parametrize(
    "package, ask",
    [("networkx", "to_networkx"), ("xarray", "to_xarray"), ("arviz", "to_arviz")],
)
def test_missing_packages_are_named(model, monkeypatch, package, ask):
    def without(name):
        if name == package:
            raise ModuleNotFoundError(name, name=name)
        return builtins.__import__(name)

    monkeypatch.setattr("lscm._problems.importlib.import_module", without)
    with pytest.raises(
        ImportError, match=rf"{ask}\(\) needs .* {package}.*pip install {package}"
    ):
        getattr(model, ask)()
