"""score, set_output, and searches over settings."""

from __future__ import annotations

import numpy as np
import pytest

import lscm

NAMES = ["raf", "mek", "erk", "akt"]


def dicts(data, rows=slice(None)):
    return [
        {int(i): float(values[i]) for i in np.flatnonzero(mask)}
        for mask, values in zip(data.targets[rows], data.values[rows], strict=True)
    ]


def z_under_do(model, targets, values):
    """E[z | do] by hand, from the draws: mechanisms are linear."""
    w, b = model.weights_, model.intercept_
    z = np.zeros(targets.shape)
    for s in range(len(w)):
        z_s = np.zeros(targets.shape)
        for i in model.order_[s]:
            z_s[:, i] = b[s, i] + z_s @ w[s, :, i]
            z_s[:, i] = np.where(targets[:, i] == 1, values[:, i], z_s[:, i])
        z += z_s / len(w)
    return z


def test_score_is_r2_of_x_under_do(data, model):
    score = model.score(data.x, data.targets, data.values)
    x = model.run_.decode(z_under_do(model, data.targets, data.values))
    r2 = 1 - ((data.x - x) ** 2).sum(axis=0) / ((data.x - data.x.mean(axis=0)) ** 2).sum(axis=0)
    assert score == pytest.approx(r2.mean(), abs=0.02) and 0.1 < score < 1
    assert model.score(data) == score
    assert model.score(data.x, dicts(data)) == score


def test_score_tells_a_wrong_model(data, model):
    """Edges that are forbidden cannot predict."""
    edges = [(NAMES[j], NAMES[i]) for j, i in np.argwhere(data.w != 0)]
    empty = lscm.LatentSCM(draws=200, seed=3, forbid=edges + [(b, a) for a, b in edges])
    empty.fit(data.x, data.targets, data.values, node_names=NAMES)
    assert empty.score(data) < model.score(data) - 0.02


def test_score_of_observed_variables_leaves_out_what_was_set():
    data = lscm.simulate(
        projection="identity", nodes=4, targets="cycle", sets=8, per_set=30, seed=1
    )
    model = lscm.LatentSCM(draws=50).fit(data.x, data.targets)
    x = z_under_do(model, data.targets, data.x)
    r2 = []
    for i in range(4):
        free = data.targets[:, i] == 0
        left = (data.x - x)[free, i]
        r2.append(1 - (left**2).sum() / (data.x[free, i].var() * free.sum()))
    assert model.score(data.x, data.targets) == pytest.approx(np.mean(r2), abs=0.03)


def test_score_of_pictures():
    pictures = lscm.simulate(
        "paper-image", nodes=2, sets=6, per_set=15, observational=20, projection="blobs", seed=1
    )
    model = lscm.LatentSCM(draws=20, decoder="linear", holdout=0).fit(pictures)
    assert -1 < model.score(pictures.x, pictures.targets, pictures.values) < 1


def test_score_says_what_is_missing(data, model):
    with pytest.raises(ValueError, match="values: are missing.*{node: value} for each row"):
        model.score(data.x, data.targets)
    with pytest.raises(TypeError, match="targets: is missing"):
        model.score(data.x)
    with pytest.raises(lscm.NotFitted):
        lscm.LatentSCM().score(data.x, data.targets, data.values)
    with pytest.raises(ValueError, match="expecting 12"):
        model.score(data.x[:, :5], data.targets, data.values)


# ---- set_output ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output(kind, data):
    package = pytest.importorskip(kind)
    model = lscm.LatentSCM(draws=20).set_output(transform=kind)
    assert model.set_output() is model
    z = model.fit(data.x, data.targets, data.values, node_names=NAMES).transform(data.x)
    assert isinstance(z, package.DataFrame) and list(z.columns) == NAMES
    _, sd = model.transform(data.x, return_sd=True)
    assert isinstance(sd, package.DataFrame)
    plain = model.set_output(transform="default").transform(data.x)
    assert isinstance(plain, np.ndarray) and np.array_equal(z.to_numpy(), plain)


def test_tables_keep_the_names_of_rows(data):
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame(data.x, index=[f"cell {i}" for i in range(data.rows)])
    model = lscm.LatentSCM(draws=20).set_output(transform="pandas")
    z = model.fit_transform(x, data.targets, data.values)
    assert z.index[3] == "cell 3" and list(z.columns) == ["z0", "z1", "z2", "z3"]


def test_set_output_refuses_what_it_does_not_know():
    with pytest.raises(ValueError, match="transform: is 'csv'; it may be 'default', 'pandas'"):
        lscm.LatentSCM().set_output(transform="csv")


# ---- searches ------------------------------------------------------------------------------------


def test_grid_search(data):
    pytest.importorskip("sklearn", "1.2")
    from sklearn.model_selection import GridSearchCV, GroupKFold

    do = dicts(data)
    groups = [str(sorted(row)) for row in do]
    grid = {"ridge": [0.1, 1e6], "decoder": ["auto", "linear"]}
    model = lscm.LatentSCM(draws=50, holdout=0)
    search = GridSearchCV(model, grid, cv=GroupKFold(3), error_score="raise")
    search.fit(data.x, do, groups=groups, node_names=NAMES)
    assert search.best_params_["ridge"] == 0.1
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all() and search.best_estimator_.node_names_ == tuple(NAMES)
