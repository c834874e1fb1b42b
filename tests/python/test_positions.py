"""Pictures of any size, of a run with a decoder of positions: it is made by the C test of them,
which stands beside the program."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import lscm


@pytest.fixture
def run(tmp_path: Path) -> lscm.Run:
    program = os.environ.get("LSCM_PROGRAM", "")
    maker = Path(program).parent / "tests" / "test_positions"
    if not program or not maker.is_file():
        pytest.skip("there is no program with its tests beside it")
    folder = tmp_path / "scene.run"
    subprocess.run([maker, "make", folder], check=True)
    return lscm.open(folder)


def test_pictures_of_any_size(run):
    assert run.x_shape == (20, 28, 3)
    fitted = run.sample({0: 1.5}, 3, seed=4)
    for size, shape in ((20, (20, 20)), ((20, 28), (20, 28)), ((np.int64(51), 33), (51, 33))):
        rows = run.sample({0: 1.5}, 3, seed=4, size=size)
        assert rows.x.shape == (3, *shape, 3)
        assert np.array_equal(rows.z, fitted.z)
        assert np.array_equal(rows.x, fitted.x) == (shape == (20, 28))
    assert np.array_equal(run.decode(fitted.z).astype(np.float32), fitted.x)


@pytest.mark.parametrize("size", [7, 1025, (64, 7), (-1, 64), 0])
def test_sizes_out_of_range(run, size):
    with pytest.raises(lscm.Error, match="8 to 1024|must not be negative"):
        run.sample(n=1, size=size)


@pytest.mark.parametrize("size", ["64", 6.5, (64,), (64, 64, 3), (8.5, 9), None.__class__])
def test_what_is_no_size(run, size):
    with pytest.raises(lscm.Error, match="size: is .*; it takes pixels"):
        run.sample(n=1, size=size)


def test_other_decoders_have_one_size(model):
    with pytest.raises(lscm.Error, match="only the decoder 'positions'"):
        model.sample(n=1, size=64)
