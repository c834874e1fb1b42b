"""What a wheel that carries its libraries must do: run by the Python it was just installed for.

It loads nothing of this machine but what every Linux has, fits a small data set and writes a report, by the
package and by the program, has the licence of every library that it carries, and imports quickly. Arguments: the most milliseconds an import may take.
"""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import bz2, ctypes, lzma, zlib  # noqa: E401, F401 # with libraries of Python's own
import numpy  # noqa: F401

# Of the C library and the compiler.
EVERYWHERE = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|gcc_s|stdc\+\+|nss_.*))[-.0-9]*\.so.*")


def import_time() -> float:
    """Milliseconds, with NumPy's; of the processor, for machines that are busy."""
    code = "import time; t = time.process_time(); import lscm; print(1000 * (time.process_time() - t))"
    return min(
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
        for _ in range(5)
    )


def foreign_libraries() -> set[str]:
    """Shared libraries in this process from outside of its environment and of Python."""
    inside = sysconfig.get_path("platlib"), sysconfig.get_path("platstdlib"), sysconfig.get_path("stdlib")
    parts = [line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines()]
    loaded = {part[5] for part in parts if len(part) == 6 and ".so" in part[5]}
    return {
        name for name in loaded if not name.startswith(inside) and not EVERYWHERE.fullmatch(Path(name).name)
    }


def licences() -> int:
    """How many libraries it carries; of each its terms are there."""
    files = {str(file): file for file in importlib.metadata.files("lscm") or ()}
    carried = [Path(name).name for name in files if name.startswith("lscm.libs/lib")]
    listed = next(name for name in files if name.endswith("/licenses/libraries/README.txt"))
    terms = dict(line.split(": ") for line in files[listed].read_text().splitlines()[2:])
    for library in carried:
        text = files[listed.replace("README.txt", terms[library])].read_text()
        assert "opyright" in text or "icense" in text, f"{terms[library]} says nothing of {library}"
    return len(carried)


def main() -> None:
    before = foreign_libraries()  # what Python and NumPy loaded
    import lscm

    milliseconds = import_time()
    assert milliseconds < float(sys.argv[1]), f"import takes {milliseconds:.0f} ms"
    data = lscm.simulate("revised-linear", nodes=4, features=12, sets=12, per_set=20, observational=60, seed=1)
    model = lscm.LatentSCM(draws=200, seed=3).fit(data.x, data.targets, data.values)
    assert model.edge_probabilities_.shape == (4, 4)
    foreign = foreign_libraries() - before
    assert not foreign, f"of this machine, not of the wheel: {sorted(foreign)}"

    program = Path(sysconfig.get_path("scripts"), "lscm")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "python.html")
        model.report(str(page))
        assert "<svg" in page.read_text(), "the report has no drawing"
        for arguments in (
            ["simulate", "--preset", "revised-linear", "--nodes", "4", "--sets", "12", "--out", "data.nc"],
            ["fit", "data.nc", "--draws", "200", "--quiet"],
        ):
            subprocess.run([program, *arguments], check=True, cwd=folder)
        assert Path(folder, "data.run", "report.html").stat().st_size > 0
    print(
        f"lscm {lscm.__version__}: imports in {milliseconds:.0f} ms, fits, reports, needs nothing of this machine, has the "
        f"licences of the {licences()} libraries it carries"
    )


main()
