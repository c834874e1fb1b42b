"""cmake/wheel_licences.py: a wheel that carries libraries has their terms, and is still a wheel."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "cmake" / "wheel_licences.py"
INSIDE = "lscm-1.dist-info"
pytestmark = pytest.mark.skipif(
    not shutil.which("dpkg-query")
    or not Path("/usr/share/doc/librandom123-dev/copyright").exists(),
    reason="the packages of Debian are not here",
)


def make(libraries):
    with zipfile.ZipFile("lscm-1.whl", "w") as wheel:
        wheel.writestr("lscm/__init__.py", "x = 1\n")
        for name in libraries:
            wheel.writestr(f"lscm.libs/{name}", b"\x7fELF")
        wheel.writestr(
            f"{INSIDE}/METADATA", "Name: lscm\nLicense-File: LICENSE\n\nWhat it is\n\nfor.\n"
        )
        wheel.writestr(f"{INSIDE}/licenses/LICENSE", "own")
        wheel.writestr(f"{INSIDE}/RECORD", "old")


def run():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "lscm-1.whl"], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def test_terms_go_into_the_wheel():
    here = sorted(Path("/usr/lib").glob("*/libz.so.1.*"))[0].name  # as Python itself uses
    carried = here.replace("libz.so", "libz-0123abcd.so")
    make([carried])
    assert run() == (0, "")
    with zipfile.ZipFile("lscm-1.whl") as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    terms = Path("/usr/share/doc/zlib1g/copyright").read_bytes()
    folder = f"{INSIDE}/licenses/libraries"
    assert files[f"{folder}/zlib1g.txt"] == terms and b"Jean-loup Gailly" in terms
    assert f"{carried}: zlib1g.txt" in files[f"{folder}/README.txt"].decode().splitlines()
    assert files[f"{INSIDE}/licenses/LICENSE"] == b"own"
    metadata = files[f"{INSIDE}/METADATA"].decode()
    head, _, body = metadata.partition("\n\n")
    assert (
        "License-File: libraries/zlib1g.txt" in head.splitlines() and body == "What it is\n\nfor.\n"
    )
    record = dict(
        line.split(",", 1) for line in files.pop(f"{INSIDE}/RECORD").decode().splitlines()
    )
    assert record.pop(f"{INSIDE}/RECORD") == ","
    assert set(record) == set(files)
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        assert record[name] == f"sha256={digest},{len(content)}"


@pytest.mark.parametrize("name", ["libnobody-0123abcd.so.1", "libnobody.so"])
def test_what_nobody_owns_is_refused(name):
    make([name])
    before = Path("lscm-1.whl").read_bytes()
    status, said = run()
    assert status == 1 and said.startswith(f"{name}: ") and "licence" in said
    assert Path("lscm-1.whl").read_bytes() == before
