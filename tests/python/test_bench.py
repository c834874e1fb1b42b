"""bench/python at its smallest size: it works and says numbers, whatever they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench" / "python"


def test_bench_python(program):
    done = subprocess.run(
        [sys.executable, str(BENCH), "--smoke", "--lscm", os.environ["LSCM_PROGRAM"]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"linear, d = 5: program \d+ ms; Python from the file \d+ ms", done.stdout)
    assert re.search(r"leaks: [-+]\d+\.\d MB since fit 1 ", done.stdout)
