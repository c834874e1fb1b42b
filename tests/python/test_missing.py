"""Missing entries of x: fits that fill them in say how sure they are; others say what to do."""

from __future__ import annotations

import json
from collections.abc import Callable

import lscm
import numpy as np
import pytest


def punched(x: np.ndarray, share: float, seed: int = 1) -> np.ndarray:
    holes = np.random.default_rng(seed).random(x.shape) < share
    return np.where(holes, np.nan, x)


def edges(model: lscm.LatentSCM) -> np.ndarray:
    return model.edge_probabilities_ > 0.5


@pytest.fixture(scope="module")
def observed() -> lscm.Dataset:
    return lscm.simulate(projection="identity", nodes=5, degree=1, sets=10, per_set=60, seed=11)


def test_observed_variables(observed: lscm.Dataset) -> None:
    x = np.asarray(observed.x, dtype=float)
    model = lscm.LatentSCM(draws=200).fit(punched(x, 0.2), observed.targets)
    np.testing.assert_array_equal(edges(model), observed.w != 0)
    run = model.run_
    z, sd = np.asarray(run.latents), np.asarray(run.latents_sd)
    seen = ~np.isnan(punched(x, 0.2))
    np.testing.assert_allclose(z[seen], x[seen])
    assert (sd[seen] == 0).all()
    free = ~seen & (observed.targets == 0)
    inside = np.abs(z - x)[free] <= 1.645 * sd[free]
    error = np.sqrt(0.9 * 0.1 / inside.size)
    assert abs(inside.mean() - 0.9) <= 5 * error
    # what they are worth: nearer than the mean of their column
    assert np.abs(z - x)[free].mean() < 0.5 * np.abs(x - x.mean(0))[free].mean()


def test_intervals_are_wider(observed: lscm.Dataset) -> None:
    def width(x: np.ndarray) -> float:
        w = lscm.LatentSCM(draws=400).fit(x, observed.targets).weights_
        low, high = np.quantile(w, [0.05, 0.95], axis=0)
        return float((high - low)[observed.w != 0].mean())

    x = np.asarray(observed.x, dtype=float)
    assert width(punched(x, 0.4)) > 1.1 * width(x)


@pytest.mark.parametrize("noise", [0, 0.5])
def test_linear_x(noise: float) -> None:
    data = lscm.simulate(nodes=4, features=20, sets=12, per_set=50, x_noise=noise, seed=5)
    x = punched(np.asarray(data.x, dtype=float), 0.2)
    model = lscm.LatentSCM(draws=200).fit(x, data.targets, data.values)
    np.testing.assert_array_equal(edges(model), data.w != 0)
    free = data.targets == 0
    assert np.corrcoef(np.asarray(model.run_.latents)[free], data.z[free])[0, 1] > 0.99


def test_the_same_seed_gives_the_same(observed: lscm.Dataset) -> None:
    x = punched(np.asarray(observed.x, dtype=float), 0.1)
    one, other = (lscm.LatentSCM(draws=50).fit(x, observed.targets).weights_ for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_elsewhere_a_recipe(observed: lscm.Dataset) -> None:
    data = lscm.simulate(nodes=3, features=6, sets=6, per_set=20, seed=2)
    x = punched(np.asarray(data.x, dtype=float), 0.1)
    for settings in ({"method": "biols", "steps": 10}, {"method": "vae"}, {"decoder": "mlp"}):
        with pytest.raises(ValueError, match="X: is NaN at row.*linear.*remove the rows.*impute"):
            lscm.LatentSCM(draws=20, **settings).fit(x, data.targets, data.values)
    x[:, 1] = np.nan
    with pytest.raises(ValueError, match="has no number in any row; leave it out"):
        lscm.LatentSCM(draws=20).fit(x, data.targets, data.values)
    x[0, 1] = np.inf
    with pytest.raises(ValueError, match="is infinite"):
        lscm.LatentSCM(draws=20).fit(x, data.targets, data.values)


def test_files_keep_them(program: Callable[..., str], observed: lscm.Dataset) -> None:
    x = punched(np.asarray(observed.x, dtype=float), 0.1)
    missing = int(np.isnan(x).sum())
    lscm.Dataset(x, observed.targets).save("a.npz")
    for name in ("a.csv", "a.nc"):
        program("convert", "a.npz", name)
        np.testing.assert_array_equal(np.isnan(lscm.open(name).x), np.isnan(x))
        assert f"{missing} entries of x (" in program("info", name)
    assert json.loads(program("info", "a.csv", "--json"))["missing"] == missing
    said = program("fit", "a.csv", "--draws", "50", "--out", "run")
    assert f"missing: {missing} of the entries of x" in said
    with open("run/report.html", encoding="utf-8") as file:
        assert f"{missing} of the entries of x are missing" in file.read()
    with open("run/summary.json", encoding="utf-8") as file:
        assert json.load(file)["missing"] == missing
    with open("a.csv", encoding="utf-8") as file:
        text = file.read()
    with open("b.csv", "w", encoding="utf-8") as file:  # NA, nan and empty cells mean the same
        file.write(text.replace(",,", ",NA,").replace(",,", ",nan,"))
    np.testing.assert_array_equal(lscm.open("a.csv").x, lscm.open("b.csv").x)


def test_far_from_zero(observed: lscm.Dataset) -> None:
    """What is missing is as uncertain wherever zero is."""
    x = punched(np.asarray(observed.x, dtype=float), 0.2)
    holes = np.isnan(x)
    near, far = (
        np.asarray(lscm.LatentSCM(draws=100).fit(x + by, observed.targets).latents_sd_)
        for by in (0, 1e7)
    )
    np.testing.assert_allclose(far[holes], near[holes], rtol=0.05)


def test_too_much_is_told(observed: lscm.Dataset) -> None:
    x = np.asarray(observed.x, dtype=float)

    def said(share: float) -> list[str]:
        run = lscm.LatentSCM(draws=50).fit(punched(x, share), observed.targets).run_
        return [text for text in run.summary()["warnings"] if text.startswith("x lacks much")]

    assert said(0.2) == []
    assert "of the rows): what was filled in may keep the graph" in said(0.5)[0]
