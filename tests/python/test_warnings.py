"""What must never pass without a word: as Python warnings, and in what is printed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lscm

NAMES = ["raf", "mek", "erk"]


def chain(sets: bool, rows: int = 120, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """raf -> mek -> erk, observed; a set without do() and, where asked for, one of each node."""
    rng = np.random.default_rng(seed)
    x, targets = np.zeros((4 * rows, 3)), np.zeros((4 * rows, 3), int)
    for row in range(4 * rows):
        for i in range(3):
            free = (0.9 * x[row, i - 1] if i > 0 else 0) + 0.7 * rng.normal()
            targets[row, i] = sets and row // rows == i + 1
            x[row, i] = rng.uniform(-2, 2) if targets[row, i] else free
    return x, targets


@pytest.fixture(scope="module")
def fitted() -> lscm.LatentSCM:
    with warnings.catch_warnings():
        warnings.simplefilter("error", lscm.FitWarning)
        return lscm.LatentSCM(draws=100, threads=1).fit(*chain(True), node_names=NAMES)


def test_directions_that_only_the_prior_chose():
    with pytest.warns(lscm.FitWarning, match="no interventions in these data.*raf -- mek"):
        model = lscm.LatentSCM(draws=100, threads=1).fit(*chain(False), node_names=NAMES)
    summary = model.summary()
    assert summary.edges == []
    assert {edge[:2] for edge in summary.undirected} == {("raf", "mek"), ("mek", "erk")}
    assert all(p > 0.9 for *_, p in summary.undirected)
    assert "raf -- mek 1.00" in str(summary) and "2 edges over 1/2" in str(summary)
    assert "2 edges over 1/2" in repr(model.run_)
    assert model.run_.undirected[0, 1] and model.run_.undirected[1, 0]
    assert "raf — mek" in model.run_.draw() or "mek — raf" in model.run_.draw()


def test_networkx_has_both_ways_of_what_nothing_directs(fitted):
    pytest.importorskip("networkx")
    with pytest.warns(lscm.FitWarning):
        model = lscm.LatentSCM(draws=100, threads=1).fit(*chain(False), node_names=NAMES)
    graph = model.to_networkx()
    assert graph.has_edge("raf", "mek") and graph.has_edge("mek", "raf")
    assert not any(directed for *_, directed in graph.edges(data="directed"))
    known = fitted.to_networkx()
    assert set(known.edges) == {("raf", "mek"), ("mek", "erk")}
    assert all(directed for *_, directed in known.edges(data="directed"))


def test_knowledge_that_the_data_contradict():
    model = lscm.LatentSCM(draws=100, threads=1, tiers=[["erk"], ["mek"], ["raf"]])
    with pytest.warns(lscm.FitWarning, match="contradicts the data.*raf->mek is forbidden"):
        model.fit(*chain(True), node_names=NAMES)


def test_do_at_values_never_seen(fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.sample({"raf": 1.5, "mek": -1.0})
        fitted.predict_interventional({"raf": 1.5})
    with pytest.warns(lscm.OutsideWarning, match="set raf to 500, .*set it between -"):
        fitted.predict_interventional({"raf": 500})
    with pytest.warns(lscm.OutsideWarning) as told:
        fitted.sample({"raf": 500, "erk": -500})
    assert len(told) == 2


def test_a_graph_of_ones_is_not_weights(fitted):
    truth = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], float)
    spared = ("w_mse", "kl_z", "coverage_90", "coverage_90_edges")
    for estimate in (fitted, {"w": fitted.weights_}):
        with pytest.warns(lscm.GraphAloneWarning, match="weights=True"):
            scores = lscm.evaluate(estimate, truth)
        assert all(np.isnan(scores[name]) for name in spared) and scores["e_shd"] >= 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert lscm.evaluate(estimate, truth, weights=True)["w_mse"] > 0
            assert lscm.evaluate(estimate, 0.9 * truth)["w_mse"] >= 0
