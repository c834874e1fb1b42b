"""Scores of runs, estimators, arrays and files."""

from __future__ import annotations

import numpy as np
import pytest

import lscm


def test_everything_that_can_be_scored(model, data):
    scores = lscm.evaluate(model, data)
    assert scores["e_shd"] < 1 and scores["mcc"] > 0.99 and scores["auroc"] == 1
    assert scores["do_mean_error"] < 0.5 and abs(scores["do_energy"]) < 0.2
    assert lscm.evaluate(model.run_, data) == pytest.approx(scores, nan_ok=True)
    model.save("m.run")
    assert lscm.evaluate("m.run", data) == pytest.approx(scores, nan_ok=True)
    data.save("data.nc")
    assert lscm.evaluate(model, "data.nc") == pytest.approx(scores, nan_ok=True)


def test_arrays_score_as_the_run_does(model, data):
    run = lscm.evaluate(model, data)
    arrays = {
        "w": model.weights_,
        "sigma": model.sigma_,
        "edge_prob": model.edge_probabilities_,
        "z": model.latents_,
    }
    scores = lscm.evaluate(arrays, data, threshold=0)
    for name in ("e_shd", "auroc", "mcc", "w_mse", "coverage_90", "edge_ece"):
        assert scores[name] == pytest.approx(run[name], nan_ok=True), name
    assert np.isnan(scores["do_mean_error"]) and np.isnan(scores["do_energy"])  # no model to ask
    np.savez("estimate.npz", **arrays)
    file = lscm.evaluate("estimate.npz", data, threshold=0)
    assert file["draws"] == 200 and file["e_shd"] == scores["e_shd"]


def test_counted_by_hand(data):
    other = np.zeros((4, 4))
    edges = int((data.w != 0).sum())
    assert lscm.evaluate(other, data)["e_shd"] == edges
    assert lscm.evaluate(np.stack([other, data.w]), data)["e_shd"] == pytest.approx(edges / 2)
    assert lscm.evaluate(0.1 * np.sign(data.w), data)["e_shd"] == edges
    assert lscm.evaluate(0.1 * np.sign(data.w), data, threshold=0)["e_shd"] == 0
    assert np.isnan(lscm.evaluate(data.w, data)["mcc"])
    assert (
        lscm.evaluate(data.w, lscm.Dataset(data.x, data.targets, data.values, w=data.w))["tp"]
        == edges
    )


def test_a_graph_alone(model, data):
    assert lscm.evaluate(model, data.w)["e_shd"] == lscm.evaluate(model, data)["e_shd"]
    np.savetxt("dag.csv", (data.w != 0).astype(int), fmt="%d", delimiter=",")
    assert lscm.evaluate(model, "dag.csv")["e_shd"] == lscm.evaluate(model, data)["e_shd"]


def test_runs_remember_their_data(data):
    data.save("data.nc")
    model = lscm.LatentSCM(draws=50, folder="m.run").fit(lscm.open("data.nc"))
    assert lscm.evaluate(model)["e_shd"] == lscm.evaluate("m.run")["e_shd"]
    assert lscm.evaluate(model) == pytest.approx(lscm.evaluate(model, data), nan_ok=True)


@pytest.mark.parametrize(
    "estimate, truth, options, sentence",
    [
        ("model", None, {}, "truth: is missing; the data of this run .memory. are not in a file"),
        ("w", None, {}, "truth: is missing"),
        ("model", "data", {"threshold": 0.3}, "threshold: a run says itself"),
        ({"z": 1}, "data", {}, "estimate: needs w"),
        ({"w": 1, "q": 2}, "data", {}, "estimate: needs w"),
        (np.zeros((3, 3)), "data", {}, "nodes|shape"),
        (np.full((4, 4), np.nan), "data", {}, "w"),
        ("w", 3, {}, "truth: has the shape"),
    ],
)
def test_refused(model, data, estimate, truth, options, sentence):
    estimate = {"model": model, "w": data.w}.get(estimate, estimate) if isinstance(
        estimate, str) else estimate  # fmt: skip
    truth = data if isinstance(truth, str) else truth
    with pytest.raises((ValueError, TypeError), match=sentence):
        lscm.evaluate(estimate, truth, **options)
