"""Ctrl-C stops a fit at a checkpoint; resuming gives the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest
from conftest import same_bits

import lscm

SETTINGS = {"method": "biols", "steps": 3000, "restarts": 1, "full_run": True, "draws": 40}

CHILD = """
import sys
import lscm

seen = []
def progress(what, done, total):
    if done > 0.1 * total and total >= 1000 and not seen:
        seen.append(what)
        print("under way", flush=True)

data = lscm.open("data.nc")
try:
    lscm.LatentSCM(**{settings!r}, threads=1, folder="run", progress=progress).fit(data)
except KeyboardInterrupt as stopped:
    print(getattr(stopped, "__notes__", []), flush=True)
    print(type(stopped.__cause__ or stopped.__context__).__name__, flush=True)
    sys.exit(130)
"""


def test_interrupted_and_resumed(data):
    data.save("data.nc")
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD.format(settings=SETTINGS)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.stdout.readline() == "under way\n"
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=3000)
    assert child.returncode == 130
    assert "fit(..., resume=True) continues" in said and said.endswith("Stopped\n")
    assert os.path.isfile("run/checkpoint") and not os.path.exists("run/posterior.nc")
    with pytest.raises(lscm.Error):
        lscm.open("run")
    resumed = lscm.LatentSCM(**SETTINGS, folder="run").fit(lscm.open("data.nc"), resume=True)
    whole = lscm.LatentSCM(**SETTINGS).fit(data.x, data.targets, data.values)
    assert same_bits(resumed.run_, whole.run_)
    assert same_bits(lscm.open("run"), whole.run_)


@pytest.mark.parametrize("folder", [None, "run"])
def test_a_signal_comes_through_without_a_callback(data, folder):
    endless = lscm.LatentSCM(**{**SETTINGS, "steps": 10**8}, folder=folder, threads=1)
    main = threading.main_thread()
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(main.ident, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless.fit(data.x, data.targets, data.values)
    timer.join()
    assert not hasattr(endless, "weights_")


def test_nothing_to_resume(data):
    with pytest.raises(lscm.Error):
        lscm.LatentSCM(**SETTINGS, folder="none").fit(data, resume=True)
