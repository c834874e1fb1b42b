"""Run folders: saved, loaded, opened, pickled, exported."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import NAMES, same_bits

import lscm


def test_save_and_load(model, data):
    model.save("data.run")
    again = lscm.LatentSCM.load("data.run")
    assert same_bits(again.run_, model.run_)
    assert (again.draws, again.seed, again.method) == (200, 3, "anchored")
    assert again.n_features_in_ == 12 and again.node_names_ == tuple(NAMES)
    assert np.array_equal(again.transform(data.x), model.transform(data.x))
    assert np.array_equal(again.sample({2: 1}).x, model.sample({2: 1}).x)
    assert str(again.summary()) == str(model.summary())


def test_loaded_settings_fit_the_same_again(data):
    model = lscm.LatentSCM(
        draws=50,
        order=[int(k) for k in data.order],
        forbid=["0->1"],
        tiers=[[0, 1, 2, 3]],
        folder="r",
    )
    if data.w[0, 1] != 0:
        model.set_params(forbid=None)
    model.fit(data)
    again = lscm.LatentSCM.load("r")
    assert (
        again.order == model.order and again.tiers == model.tiers and again.forbid == model.forbid
    )
    assert same_bits(again.fit(data).run_, model.run_)


def test_open(model):
    model.save("data.run")
    run = lscm.open("data.run")
    assert isinstance(run, lscm.Run) and same_bits(run, model.run_)
    assert run.folder == "data.run" and repr(run).startswith("Run data.run: method anchored")
    assert run.config["draws"] == 200 and run.draws == 200 and run.rows == len(model.latents_)
    assert run.threshold == 0 and run.x_shape == (12,)
    with pytest.raises(ValueError, match="for data files; data.run is a run"):
        lscm.open("data.run", names=NAMES)


def test_diagnostics_are_the_summary_s(model):
    summary = model.summary()
    model.save("data.run")
    for found in (model.diagnostics_, lscm.open("data.run").diagnostics):
        assert isinstance(found, lscm.Diagnostics)
        assert (found.r_hat, found.ess) == (summary["r_hat"], summary["ess"])
        assert list(found.warnings) == summary["warnings"]
        held_out = summary["held_out"]
        assert (found.held_out_sets, found.held_out_rows) == (held_out["sets"], held_out["rows"])
        assert found.held_out_log_likelihood == held_out["log_likelihood"]
        for i, name in enumerate(NAMES):
            r2 = held_out["r2"][name]
            assert np.isnan(found.held_out_r2[i]) if r2 is None else found.held_out_r2[i] == r2
            assert found.anchor_r2[i] == summary["anchors"][name]["r2"]
        assert np.isnan(found.bound)


def test_a_run_is_not_replaced_unasked(model, data):
    model.save("data.run")
    with pytest.raises(FileExistsError, match="data.run"):
        model.save("data.run")
    model.save("data.run", force=True)
    fit = lscm.LatentSCM(draws=20, folder="data.run").fit
    with pytest.raises(lscm.ExistsProblem):
        fit(data)
    fit(data, force=True)
    assert lscm.open("data.run").draws == 20


def test_what_is_not_there():
    with pytest.raises(FileNotFoundError) as caught:
        lscm.LatentSCM.load("nothing.run")
    assert isinstance(caught.value, lscm.Error) and "nothing.run" in str(caught.value)
    with pytest.raises(FileNotFoundError, match=r"nothing.nc"):
        lscm.open("nothing.nc")


def test_a_fit_with_a_folder_is_a_run(data):
    model = lscm.LatentSCM(draws=50, folder="own.run").fit(data.x, data.targets, data.values)
    assert {"posterior.nc", "config.json", "summary.json", "report.html"} <= set(
        os.listdir("own.run")
    )
    assert same_bits(lscm.open("own.run"), model.run_)
    assert json.loads(Path("own.run/config.json").read_text())["draws"] == 50


def test_pickles(model, data):
    again = pickle.loads(pickle.dumps(model))
    assert same_bits(again.run_, model.run_)
    assert np.array_equal(again.transform(data.x), model.transform(data.x))
    assert np.array_equal(again.run_.decode(data.z), model.run_.decode(data.z))
    assert again.summary() == model.summary() and again.run_.config == model.run_.config
    assert pickle.loads(pickle.dumps(lscm.LatentSCM(seed=2))).seed == 2


@pytest.mark.parametrize("ending", ["npz", "csv", "json", "graphml", "dot", "svg", "pdf", "png"])
def test_exports(model, ending):
    path = f"graph.{ending}"
    if ending in ("svg", "pdf", "png") and shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    model.run_.export(path)
    with pytest.raises(FileExistsError):
        model.run_.export(path)
    model.run_.export(path, force=True)
    assert os.path.getsize(path) > 100 and os.listdir() == [path]


def test_export_without_graphviz(model, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(lscm.ToolProblem, match="drawing needs Graphviz"):
        model.run_.export("graph.svg")
    assert os.listdir() == [] and "<svg" in model._repr_html_()


def test_exported_arrays_are_those_of_the_run(model):
    model.run_.export("draws.npz")
    with np.load("draws.npz") as arrays:
        assert np.array_equal(arrays["w"], model.weights_)
        assert np.array_equal(arrays["sigma"], model.sigma_)
        assert np.array_equal(arrays["intercept"], model.intercept_)
        assert np.array_equal(arrays["order"], model.order_)
        assert np.array_equal(arrays["edge_prob"], model.edge_probabilities_)
        assert np.array_equal(arrays["z"], model.latents_)
        assert np.array_equal(arrays["z_sd"], model.latents_sd_)
        assert np.array_equal(arrays["log_p"], model.run_.log_p, equal_nan=True)
        assert np.array_equal(arrays["log_q"], model.run_.log_q, equal_nan=True)


def test_distance(model, data):
    same = model.run_.distance(model.run_)
    assert same["largest"] == 0 and same["correlation"] == pytest.approx(1)
    other = lscm.LatentSCM(draws=50, forbid=["raf->mek", "mek->raf"])
    other.fit(data.x, data.targets, data.values, node_names=NAMES)
    assert model.run_.distance(other.run_)["largest"] == pytest.approx(
        np.abs(model.edge_probabilities_ - other.edge_probabilities_).max()
    )
