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
