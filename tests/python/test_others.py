"""Files of other programs, as a newcomer has them: names of columns and words for control that nobody
agreed upon. Each is opened with one flag at most, and that is taken out of the sentence that refused
the file before."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lscm

GENES = ["TP53", "MYC", "KRAS"]
DRUGS = ["rapamycin", "JQ1"]
ROWS = 40

# What the column is called, and the word for control there.
OBSERVED = [
    ("perturbation", "control"),
    ("gene", "NT"),
    ("condition", "ctrl"),
    ("sgRNA", "non-targeting"),
    ("treatment", "DMSO"),
    ("Target", "empty"),
    ("arm", "placebo"),
    ("what was done", "mock"),
    ("label", ""),
]
LATENT = [("drug", "dose"), ("treatment", "Dose (uM)"), ("Compound", "concentration")]


def _flags(sentence: str) -> list[list[str]]:
    """The flags of a sentence with their values, as somebody would copy them to a shell."""
    found = re.findall(r"(--[a-z-]+) ('(?:[^']|'\\'')*'|[^\s;]+)", sentence)
    return [[flag, shlex.split(value)[0]] for flag, value in found if value != "NAME"]


@pytest.fixture(scope="session")
def info() -> Callable[[str], str]:
    """What `lscm info` says of a file, with at most one flag that its own sentence names: the first
    that opens it."""
    program = os.environ.get("LSCM_PROGRAM")
    if not program:
        pytest.skip("LSCM_PROGRAM does not name the program lscm")

    def ask(file: str) -> str:
        command = [program, "info", file]
        first = subprocess.run(command, capture_output=True, text=True, check=False)
        said = first.stderr
        if first.returncode == 0:
            return first.stdout
        for flag in _flags(first.stderr):
            again = subprocess.run([*command, *flag], capture_output=True, text=True, check=False)
            if again.returncode == 0:
                return again.stdout
            said += again.stderr
        raise AssertionError(f"no flag opens it: {said}")

    return ask


def observed(control: object) -> tuple[np.ndarray, list[Any]]:
    """x (rows, genes) and what was done in each row: every gene in ten of forty."""
    x = np.random.default_rng(1).normal(size=(ROWS, 3))
    return x, [([control] + GENES)[row % 4] for row in range(ROWS)]


def latent(control: object) -> tuple[np.ndarray, list[Any], list[float]]:
    rng = np.random.default_rng(2)
    drugs = [([control] + DRUGS)[row % 3] for row in range(ROWS)]
    doses = [float(rng.uniform(0.1, 3)) if drug != control else np.nan for drug in drugs]
    return rng.normal(size=(ROWS, 5)), drugs, doses


def is_observed(said: str) -> bool:
    return "3 nodes, 3 features" in said and "TP53:10 MYC:10 KRAS:10" in said


def is_latent(said: str) -> bool:
    counts = {f"{name}:13" for name in DRUGS}
    return "2 nodes, 5 features" in said and counts <= set(said.split())


# ---- anndata


def cells(x: np.ndarray, genes: list[str], obs: dict[str, Any]) -> Any:
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(obs, index=[f"AAAC{row}-1" for row in range(len(x))])
    for name in table.select_dtypes("object"):
        table[name] = table[name].astype("category")
    table["n_counts"] = range(len(x))
    table["leiden"] = pandas.Categorical(["0", "1"] * (len(x) // 2))
    return anndata.AnnData(x.astype("f4"), obs=table, var=pandas.DataFrame(index=genes))


@pytest.mark.parametrize(("column", "control"), [*OBSERVED[:6], ("pert", "SCR"), ("calls", "NT")])
def test_anndata(info, column, control):
    x, words = observed(control)
    cells(x, GENES, {column: words}).write_h5ad("cells.h5ad")
    assert is_observed(info("cells.h5ad"))


@pytest.mark.parametrize(("column", "dose"), [*LATENT, ("drug", "dose_value")])
def test_anndata_with_doses(info, column, dose):
    x, drugs, doses = latent("DMSO")
    data = cells(x, [f"g{i}" for i in range(5)], {column: drugs, dose: np.nan_to_num(doses)})
    data.write_h5ad("drugs.h5ad")
    assert is_latent(info("drugs.h5ad"))


def test_anndata_objects_are_their_files():
    x, words = observed("non-targeting")
    data = cells(x, GENES, {"sgRNA": words})
    model = lscm.LatentSCM(draws=20)
    with pytest.raises(ValueError, match=r"X: no column of obs .*\? target_column='sgRNA';"):
        model.fit(data)
    model.fit(data, target_column="sgRNA")
    assert model.node_names_ == tuple(GENES)
    np.testing.assert_array_equal(model.transform(data), x.astype("f4"))
    np.testing.assert_array_equal(model.fit_transform(data, target_column="sgRNA"), x.astype("f4"))
    data.write_h5ad("cells.h5ad")
    same = lscm.LatentSCM(draws=20).fit(lscm.open("cells.h5ad", target_column="sgRNA"))
    np.testing.assert_array_equal(model.weights_, same.weights_)
    assert lscm.Dataset(data, target_column="sgRNA").targets.sum() == 30


def test_anndata_objects_that_cannot_be_written():
    x, drugs, doses = latent("DMSO")
    data = cells(x, [f"g{i}" for i in range(5)], {"drug": drugs, "dose": np.nan_to_num(doses)})
    data.obs["odd"] = [object() for _ in range(ROWS)]
    with pytest.raises(ValueError, match="X: anndata cannot write it to a file .*target_column"):
        lscm.Dataset(data)
    assert lscm.Dataset(data, target_column="drug").values is not None  # dose is found, as in files
    assert lscm.Dataset(data, target_column="drug", value_column="dose").nodes == 2


# ---- pandas, polars and R


def frame(column: str, control: object) -> Any:
    pandas = pytest.importorskip("pandas")
    x, words = observed(control)
    table = pandas.DataFrame(x, columns=GENES)
    table[column] = words
    table["batch"] = ["one", "two"] * (ROWS // 2)
    return table


def doses(column: str, dose: str) -> Any:
    pandas = pytest.importorskip("pandas")
    x, drugs, values = latent("DMSO")
    table = pandas.DataFrame(x, columns=[f"sensor {i}" for i in range(5)])
    table[column], table[dose] = drugs, values
    return table


@pytest.mark.parametrize(("column", "control"), OBSERVED)
@pytest.mark.parametrize("index", [True, False])
def test_pandas(info, column, control, index):
    frame(column, control).to_csv("table.csv", index=index)
    assert is_observed(info("table.csv"))


@pytest.mark.parametrize(("column", "dose"), LATENT)
def test_pandas_with_doses(info, column, dose):
    doses(column, dose).to_csv("table.tsv", sep="\t")
    assert is_latent(info("table.tsv"))


@pytest.mark.parametrize(("column", "control"), OBSERVED[:8])
def test_frames(column, control):
    pandas_frame = frame(column, control).drop(columns="batch")
    with pytest.raises(ValueError, match=f"is it the .* target_column='{column}'"):
        lscm.Dataset(pandas_frame)
    assert lscm.Dataset(pandas_frame, target_column=column).targets.sum() == 30


@pytest.mark.parametrize(("column", "dose"), LATENT)
def test_frames_with_doses(column, dose):
    data = lscm.Dataset(doses(column, dose), target_column=column)
    assert data.node_names == tuple(DRUGS) and data.features == 5


@pytest.mark.parametrize(("column", "control"), OBSERVED)
def test_polars(info, column, control):
    polars = pytest.importorskip("polars")
    table = polars.DataFrame(frame(column, control).to_dict("list"))
    table.write_csv("table.csv")
    assert is_observed(info("table.csv"))


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_polars_for_python(ending):
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    if ending == "feather" and int(pyarrow.__version__.split(".")[0]) < 16:
        pytest.skip("this pyarrow is older than the texts of polars")
    table = polars.DataFrame(frame("gene", "NT").to_dict("list"))
    path = f"table.{ending}"
    (table.write_parquet if ending == "parquet" else table.write_ipc)(path)
    with pytest.raises(ValueError, match="target_column='gene'"):
        lscm.open(path)
    assert lscm.open(path, target_column="gene").targets.sum() == 30


def in_r(cell: object) -> str:
    """As write.csv writes it: texts in quotes, numbers to 15 digits, NA for what is missing."""
    if cell is None or cell != cell:
        return "NA"
    return f'"{cell}"' if isinstance(cell, str) else f"{cell:.15g}"


def write_r(path: str, names: list[str], rows: list[list[Any]], separator: str = ",") -> None:
    """write.csv(d, path), or write.csv2 where cells are separated by ';'."""
    lines = [['""', *(f'"{name}"' for name in names)]]
    for number, row in enumerate(rows, 1):
        cells = [in_r(cell) for cell in row]
        if separator == ";":
            cells = [cell if '"' in cell else cell.replace(".", ",") for cell in cells]
        lines.append([f'"{number}"', *cells])
    Path(path).write_text("".join(separator.join(line) + "\n" for line in lines))


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize(("column", "control"), [*OBSERVED[:8], ("gene", None)])
def test_r(info, column, control, separator):
    x, words = observed(control)
    rows = [[*row, word, "b1"] for row, word in zip(x.tolist(), words)]
    write_r("table.csv", [*GENES, column, "batch"], rows, separator)
    assert is_observed(info("table.csv"))


@pytest.mark.parametrize(("column", "dose"), LATENT)
def test_r_with_doses(info, column, dose):
    x, drugs, values = latent(None)
    rows = [[*row, drug, value] for row, drug, value in zip(x.tolist(), drugs, values)]
    write_r("table.csv", [f"V{i}" for i in range(5)] + [column, dose], rows)
    assert is_latent(info("table.csv"))


# ---- cameras


def photographs(folder: Path) -> list[str]:
    """JPEG pictures of an odd size with a camera's notes in them."""
    image = pytest.importorskip("PIL.Image")
    folder.mkdir()
    rng = np.random.default_rng(4)
    names = [f"IMG_{4000 + row}.JPG" for row in range(12)]
    for name in names:
        picture = image.fromarray(rng.integers(0, 255, (37, 53, 3)).astype("uint8"))
        notes = picture.getexif()
        notes[271], notes[274], notes[306] = "Canon", 6, "2024:05:01 10:11:12"
        picture.save(folder / name, exif=notes)
    return names


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("photo,treatment,dose", ["{},none,", "{},left,1.5", "{},right,-2"]),
        ("iso;Condition;Dose;file name", ["100;NT;;{}", "200;left;1,5;{}", "100;right;-2;{}"]),
        ("path,left,right", ["{},,", "{},1.5,", "{},,-2"]),
        ("path,camera,left,right", ["{},A,,", "{},B,1.5,", "{},A,,-2"]),
    ],
)
@pytest.mark.parametrize("told", ["shots", "shots/log.csv"])
def test_cameras(info, header, rows, told):
    names = photographs(Path("shots"))
    lines = [rows[number % 3].format(name) for number, name in enumerate(names)]
    Path("shots/log.csv").write_text("\n".join([header, *lines, ""]))
    said = info(told)
    assert "picture folder, 12 rows, 2 nodes, 5883 features" in said
    assert "left:4 right:4" in said
