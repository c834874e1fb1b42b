"""Two fits in two threads of Python are right, and run while Python does other things."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from conftest import same_bits

import lscm

KINDS = [
    {"draws": 100},
    {"draws": 100, "seed": 4},
    {"method": "biols", "steps": 60, "restarts": 1, "draws": 40},
    {"decoder": "mlp", "width": 8, "steps": 20, "draws": 40},
]


def fit(data, settings):
    return lscm.LatentSCM(**settings).fit(data.x, data.targets, data.values).run_


def test_two_fits_at_once(data):
    alone = [fit(data, settings) for settings in KINDS]
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            for own, together in zip(alone, pool.map(lambda s: fit(data, s), KINDS), strict=True):
                assert same_bits(own, together)


def test_files_of_several_threads(data):
    data.save("data.nc")

    def work(number):
        folder = f"{number}.run"
        lscm.LatentSCM(draws=50, folder=folder, threads=1).fit(lscm.open("data.nc"))
        data.save(f"{number}.npz")
        return lscm.open(folder)

    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(work, range(6)))
    assert all(same_bits(run, runs[0]) for run in runs)
    assert np.array_equal(lscm.open("3.npz").x, data.x)


def test_one_data_set_in_several_threads(data):
    data.save("data.nc")
    shared = lscm.open("data.nc")
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda _: lscm.LatentSCM(draws=50).fit(shared).run_, range(4)))
    assert all(same_bits(run, runs[0]) for run in runs)


def test_other_threads_run_during_a_fit(data):
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    beside = threading.Thread(target=count)
    beside.start()
    before = counted[0]
    fit(data, {"method": "biols", "steps": 1500, "restarts": 1, "full_run": True, "threads": 1})
    during = counted[0] - before
    done.set()
    beside.join()
    assert during > 10  # one that had to wait would have counted once or twice
