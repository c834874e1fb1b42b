"""Arrays are read where they are, and nothing is left behind."""

from __future__ import annotations

import gc
import os
import sys
import weakref

import numpy as np
import pytest

import lscm

SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")


def resident() -> int:
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak() -> int:
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_x_is_seen_where_it_is(dtype):
    x = np.ones((50, 6), dtype)
    targets = np.eye(50, 3, dtype=np.uint8)
    values = np.ones((50, 3))
    data = lscm.Dataset(x, targets, values)
    assert data.x is x and data.targets is targets and data.values is values
    x[7, 2] = 5  # not to be done, but shows that the library reads the same memory
    assert data.read("x")[7, 2] == 5 and data.bands("x").mean[2] == pytest.approx(1.08)
    assert data.check()["x_max"] == 5


@pytest.mark.skipif(SANITIZED or not os.path.exists("/proc/self/clear_refs"), reason="no figures")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_large_x_is_not_copied(dtype):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20000, 400)).astype(dtype)
    targets = np.zeros((20000, 4), np.uint8)
    targets[np.arange(16000), np.arange(16000) % 4] = 1
    values = x[:, :4].astype(float)
    lscm.Dataset(x[:100].copy(), targets[:100], values[:100]).check()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forgets the peak
    before = resident()
    lscm.Dataset(x, targets, values).check()
    assert peak() - before < x.nbytes / 4


def test_arrays_live_as_long_as_they_are_used():
    x = np.ones((50, 6))
    watch = weakref.ref(x)
    data = lscm.Dataset(x, np.eye(50, 3, dtype=np.uint8), np.ones((50, 3)))
    del x
    assert watch() is not None and data.read("x")[0, 0] == 1
    del data
    gc.collect()
    assert watch() is None


def test_a_fit_lets_go_of_its_data(data):
    x = data.x.copy()
    before = sys.getrefcount(x)
    model = lscm.LatentSCM(draws=20).fit(x, data.targets, data.values)
    gc.collect()
    assert sys.getrefcount(x) == before and model.n_features_in_ == 12


@pytest.mark.skipif(SANITIZED, reason="freed memory is kept for a while")
def test_many_fits_leave_nothing(data):
    def work(number):
        model = lscm.LatentSCM(draws=20, seed=number, holdout=0.0, threads=1)
        model.fit(data.x, data.targets, data.values)
        model.transform(data.x)
        model.sample({0: 1}).z.sum()
        with pytest.raises(lscm.Error):
            model.fit(data.x[:, :2], data.targets, data.values)

    for number in range(10):
        work(number)
    before = resident()
    for number in range(30):
        work(number)
    assert resident() - before < 5e6
