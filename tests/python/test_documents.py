"""Examples work as they stand: in docstrings, in docs/python.md, and the tutorial's script."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import lscm

HERE = Path(__file__).resolve().parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
IN_REPOSITORY = (HERE / "CMakePresets.json").exists()  # else what pip unpacked: code and tests alone
needs_repository = pytest.mark.skipif(not IN_REPOSITORY, reason="documents come with the repository")
MODULES = [f"lscm.{module.name}" for module in pkgutil.iter_modules(lscm.__path__)]


@pytest.mark.parametrize("name", ["lscm", *MODULES])
def test_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
    assert failed == 0


def test_everything_public_is_documented_and_typed():
    for name in lscm.__all__:
        thing = getattr(lscm, name)
        if name.startswith("__"):
            continue
        assert thing.__doc__, name
        kinds = thing.__mro__[:-1] if isinstance(thing, type) else ()
        own = [kind for kind in kinds if kind.__module__.startswith("lscm")]
        for part, member in [pair for kind in own for pair in vars(kind).items()]:
            public = not part.startswith("_") and (callable(member) or isinstance(member, property))
            assert not public or member.__doc__ or isinstance(member, type), f"{name}.{part}"
            if public and hasattr(member, "__annotations__"):
                assert "return" in member.__annotations__, f"{name}.{part}"


def blocks(page):
    return re.findall(r"```pycon\n(.*?)```", page.read_text(), re.DOTALL)


@needs_repository
def test_docs():
    page = HERE / "docs" / "python.md"
    pytest.importorskip("networkx")
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    text = "\n".join(blocks(page))
    assert text.count(">>>") > 30
    test = doctest.DocTestParser().get_doctest(text, {}, "python.md", str(page), 0)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert result.failed == 0, "".join(said)


@needs_repository
def test_the_page_speaks_of_every_method():
    page = HERE / "docs" / "python.md"
    text = page.read_text()
    for kind in (lscm.LatentSCM, lscm.Dataset):
        public = [name for name in dir(kind) if not name.startswith("_")]
        assert [name for name in public if name not in text] == []
    errors = [name for name, kind in vars(lscm).items()
              if isinstance(kind, type) and issubclass(kind, (lscm.Error, Warning))]  # fmt: skip
    assert all(name in text for name in errors)


@needs_repository
@pytest.mark.parametrize("name", ["vectors", "pictures", "observed", "cells"])
def test_notebooks(name):
    """They are those of the script, and their code runs."""
    folder = HERE / "examples" / "python"
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    if name == "cells":
        pytest.importorskip("anndata")
    written = runpy.run_path(str(folder / "notebooks.py"))["NOTEBOOKS"][name]
    cells = json.loads((folder / f"{name}.ipynb").read_text())["cells"]
    assert ["".join(cell["source"]) for cell in cells] == [c.removeprefix(">>> ") for c in written]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in code)
    here: dict[str, object] = {}
    for cell in code:
        exec("".join(cell["source"]), here)


@needs_repository
def test_tutorial(monkeypatch):
    script = HERE / "examples" / "python" / "tutorial.py"
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setattr("sys.argv", [str(script), "figures"])
    runpy.run_path(str(script), run_name="__main__")
    for figure in ("graph", "weights", "anchors", "question", "effect"):
        assert (Path("figures") / f"{figure}.svg").stat().st_size > 1000
