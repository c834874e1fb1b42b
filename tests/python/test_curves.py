"""Mechanisms that bend: curves, do() and tables of a run that has them, and of one that has none."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import KNOTS, SECOND

import lscm


def square(z):
    """The natural spline through KNOTS**2, by its pieces; straight beyond."""
    at = np.clip(z, KNOTS[0], KNOTS[-1])
    left = np.clip(np.searchsorted(KNOTS, at) - 1, 0, 7)
    b = at - KNOTS[left]
    slope = 2 * KNOTS[left] + 1 - (2 * SECOND[left] + SECOND[left + 1]) / 6
    inside = (
        KNOTS[left] ** 2
        + slope * b
        + SECOND[left] * b**2 / 2
        + (SECOND[left + 1] - SECOND[left]) * b**3 / 6
    )
    ends = np.where(z < at, KNOTS[0], KNOTS[-1])
    # the slope at an end, where the second derivative is 0
    steep = 2 * abs(KNOTS[0]) - 1 + SECOND[1] / 6
    return inside + np.sign(ends) * steep * (z - at)


def test_curve(bent_run):
    curve = bent_run.curve("raf", 1)
    z = bent_run.latents[:, 0]
    assert (curve.parent, curve.child, curve.bends) == ("raf", "mek", 1)
    assert curve.probability == pytest.approx(0.95)
    assert curve.seen == (z.min(), z.max())
    assert curve.at[[4, 36]] == pytest.approx(curve.seen)
    centred = square(curve.at) - square(z).mean()
    assert curve.mean == pytest.approx(centred, abs=1e-9)
    coef = np.linspace(0.9, 1.1, bent_run.draws)
    low, high = np.quantile(np.outer(coef, centred), (0.05, 0.95), axis=0)
    assert curve.lower == pytest.approx(low, abs=1e-9)
    assert curve.upper == pytest.approx(high, abs=1e-9)
    own = bent_run.curve("raf", "mek", [0, 1.5, 100])
    assert own.at.tolist() == [0, 1.5, 100]
    assert own.mean == pytest.approx(square(own.at) - square(z).mean(), rel=1e-9)
    assert np.isnan(bent_run.curve("akt", "raf").mean).all()


def test_curves_of_likely_edges(bent_run, model):
    (only,) = bent_run.curves
    assert (only.parent, only.child) == ("raf", "mek")
    assert model.curves_ == []
    straight = model.run_.curve(*np.argwhere(model.edge_probabilities_ > 0.9)[0].tolist())
    assert straight.bends == 0
    assert np.diff(straight.mean, 2) == pytest.approx(0, abs=1e-9)


def test_do_follows_the_curve(bent_run):
    rows = bent_run.sample({"raf": 2}, 5000, seed=1)
    coef = np.linspace(0.9, 1.1, bent_run.draws)
    intercept = bent_run.intercept[:, 1]
    wanted = (intercept + coef * square(np.array(2.0)))[np.arange(5000) % bent_run.draws]
    left = rows.z[:, 1] - wanted
    sd = bent_run.sigma[:, 1].max()
    assert abs(left.mean()) < 6 * sd / np.sqrt(5000)
    with pytest.warns(lscm.OutsideWarning, match="extrapolates"):
        far = bent_run.predict_interventional({"raf": 60}, 4000)
    assert far.z.mean[1] == pytest.approx(intercept.mean() + square(np.array(60.0)), rel=0.02)


def test_what_bends_survives(bent_run, tmp_path):
    again = pickle.loads(pickle.dumps(bent_run))
    assert np.array_equal(again.curve(0, 1).upper, bent_run.curve(0, 1).upper)
    bent_run.export(tmp_path / "out.npz")
    arrays = np.load(tmp_path / "out.npz")
    assert np.array_equal(arrays["curve_mean"][0], bent_run.curve(0, 1).mean)
    assert (arrays["curve_from"].tolist(), arrays["curve_to"].tolist()) == ([0], [1])
    bent_run.report(tmp_path / "r.html")
    assert "Response curves" in (tmp_path / "r.html").read_text()


def test_edges_say_how_often_they_bend(bent_run, model):
    pytest.importorskip("pandas")
    first = bent_run.edges.iloc[0]
    assert (first.parent, first.child, first.bends) == ("raf", "mek", 1)
    assert bent_run.edges.bends.isna().sum() == 11
    assert "bends" not in model.edges_


def test_wrong_questions(bent_run):
    with pytest.raises(lscm.ValueProblem, match="the parent itself"):
        bent_run.curve("raf", "raf")
    with pytest.raises(lscm.ValueProblem, match="node"):
        bent_run.curve("raf", "nobody")
    with pytest.raises(lscm.ValueProblem, match="place 1"):
        bent_run.curve("raf", "mek", [0, np.nan])
    with pytest.raises(lscm.ValueProblem, match="shape"):
        bent_run.curve("raf", "mek", [[0, 1]])
