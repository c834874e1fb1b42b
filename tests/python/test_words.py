"""Nobody who writes Python reads options of the command line: not in exceptions, warnings or
remedies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lscm
from lscm._words import in_python, spoken

SOURCES = Path(__file__).resolve().parents[2] / "src"


def sentences():
    """Every text of the library that has an option in it."""
    text = r'"(?:[^"\\\n]|\\.)*"'
    for path in sorted(SOURCES.rglob("*.c")):
        if "report" in path.parts:
            continue
        code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        for match in re.finditer(rf"{text}(?:\s*{text})*", code):
            whole = re.sub(r'"\s*"', "", match[0])[1:-1]
            if re.search(r"--[a-z%]", whole):
                yield whole


@pytest.mark.skipif(not SOURCES.is_dir(), reason="the library's sources are not there")
def test_no_sentence_of_the_library_has_options():
    found = list(sentences())
    assert len(found) > 30
    filled = [re.sub(r"--%\.?\*?s %\.?\*?s", "--width 64", one) for one in found]
    assert [in_python(one) for one in filled if re.search(r"--[a-z]", in_python(one))] == []


@pytest.mark.parametrize(
    "said, words",
    [
        ("--width 64 was not used: x is linear", "width=64 was not used: x is linear"),
        ("leave --decoder out, or take --method anchored", 'leave decoder out, or take method="anchored"'),
        ("(--forbid, --require, --tiers); leave it out", "(forbid, require, tiers); leave it out"),
        ("more --draws or --chains may help", "more draws or chains may help"),
        ("--x-noise says how noisy all are", "x_noise says how noisy all are"),
        ("--candidates 23 or interventions", "candidates=23 or interventions"),
        ("with --ignore, leave it out", "with ignore, leave it out"),
        ("leave it out with --ignore target", "leave it out with ignore='target'"),
        ("--target-column condition; or", "target_column='condition'; or"),
        ("say --control NAME if not", "say control='NAME' if not"),
        ("--force replaces it, --resume continues it", "force=True replaces it, resume=True continues it"),
        ("name it after --control if it is none), or --value-column NAME",
         "name it after control if it is none), or value_column='NAME'"),
        ("my--data.nc: is -- odd", "my--data.nc: is -- odd"),
    ],
)  # fmt: skip
def test_options_become_keywords(said, words):
    assert in_python(said) == words


def test_lists_and_dicts():
    assert spoken({"a": ["--method biols", 1, None], "b": ("--rate",)}) == {
        "a": ['method="biols"', 1, None],
        "b": ("rate",),
    }


def test_exceptions(data):
    with pytest.raises(ValueError, match="width=64 belongs to the method anchored"):
        lscm.LatentSCM(method="biols", width=64).fit(data)
    with pytest.raises(ValueError, match=r"lscm\.presets\(\) lists them"):
        lscm.simulate("nothing")
    data.save("a.npz")
    with pytest.raises(FileExistsError, match="replace it with force=True"):
        data.save("a.npz")
    with pytest.raises(lscm.Error, match='fit with method="anchored"'):
        lscm.LatentSCM(method="biols", steps=20, restarts=1, draws=8).fit(data).transform(data.x)


def test_a_column_of_text():
    Path("d.csv").write_text("a,cell type,b\n1,x,2\n2,y,3\n3,x,4\n")
    with pytest.raises(ValueError, match="ignore='cell type'"):
        lscm.open("d.csv").check()
