"""What several tests share: small data, one fit of it, and an empty folder to work in."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # tests share the machine with others

import lscm

NAMES = ["raf", "mek", "erk", "akt"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("filterwarnings", "ignore::lscm.OutsideWarning")


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def data() -> lscm.Dataset:
    """4 nodes in 12 features, some noise."""
    return lscm.simulate(
        "revised-linear", nodes=4, features=12, sets=12, per_set=20, observational=60, seed=1
    )


@pytest.fixture(scope="session")
def model(data: lscm.Dataset) -> lscm.LatentSCM:
    """Fitted to arrays; not to be changed."""
    fitted = lscm.LatentSCM(draws=200, seed=3)
    return fitted.fit(data.x, data.targets, data.values, node_names=NAMES)


# Knots of the square in `bent_run`, and its second derivatives there: with natural ends,
# h/6 (u_before + 4 u + u_after) = (v_before - 2 v + v_after) / h.
KNOTS = np.linspace(-4, 4, 9)
SECOND = np.zeros(9)
SECOND[1:-1] = np.linalg.solve(np.eye(7, k=-1) + 4 * np.eye(7) + np.eye(7, k=1), 12 * np.ones(7))


@pytest.fixture
def bent_run(model: lscm.LatentSCM, tmp_path: Path) -> lscm.Run:
    """The model's run, in every draw of which mek is the square of raf, about, and nothing else has
    causes; written by HDF5, as no fit leaves one so simple."""
    h5py = pytest.importorskip("h5py")
    folder = tmp_path / "bent.run"
    model.save(folder)
    with h5py.File(folder / "posterior.nc", "r+") as file:
        draws = file["posterior/w"].shape[1]
        weights = np.zeros((1, draws, 4, 4))
        weights[..., 0, 1] = 0.1
        file["posterior/w"][...] = weights
        file["posterior/order"][...] = np.arange(4)
        file["constant_data/edge_prob"][...] = 0.95 * (weights[0, 0] != 0)
        group = file.create_group("mechanisms")
        value, second = np.zeros((4, 16, 15)), np.zeros((4, 16, 15))
        value[0, :9, 0], second[0, :9, 0] = KNOTS**2, SECOND
        group["knots"] = np.array([9, 0, 0, 0])
        group["knot"] = np.pad(KNOTS[None], ((0, 3), (0, 7)))
        group["value"], group["second"] = value, second
        first = np.repeat(np.arange(draws), 4) + np.tile([0, 0, 1, 1], draws)
        group["first"] = np.append(first, draws).astype(np.uint64)
        group["parent"] = np.tile([0, -1], (draws, 1)).astype(np.int32)
        group["coef"] = np.eye(1, 15) * np.linspace(0.9, 1.1, draws)[:, None]
    return lscm.Run.open(folder)


@pytest.fixture(scope="session")
def program() -> Callable[..., str]:
    """The program lscm, if there is one to compare with; program("info", "d.nc"): what it says."""
    path = os.environ.get("LSCM_PROGRAM")
    if not path:
        pytest.skip("LSCM_PROGRAM does not name the program lscm")

    def run(*arguments: object) -> str:
        done = subprocess.run(
            [path, *map(str, arguments)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def same_bits(a: lscm.Run, b: lscm.Run) -> bool:
    """Are all numbers of two runs the same, to the last bit?"""
    parts = (
        "weights",
        "sigma",
        "intercept",
        "order",
        "edge_probabilities",
        "latents",
        "latents_sd",
    )
    return all(
        getattr(a, part).shape == getattr(b, part).shape
        and np.array_equal(getattr(a, part), getattr(b, part), equal_nan=True)
        for part in (*parts, "log_p", "log_q")
    )
