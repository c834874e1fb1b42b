"""Which columns say what do() did: of files, of DataFrames, and what is asked where that is open."""

import gzip
import warnings

import numpy as np
import pytest

import lscm
from lscm._arguments import read_arguments

pandas = pytest.importorskip("pandas")


def frame():
    rng = np.random.default_rng(3)
    raf = rng.normal(size=60)
    mek = 2 * raf + rng.normal(size=60)
    condition = np.resize(["DMSO", "raf", "mek;raf"], 60)
    return pandas.DataFrame({"raf": raf, "mek": mek, "condition": condition})


def expected_mask():
    return np.resize([[0, 0], [1, 0], [1, 1]], (60, 2))


def test_latent_csv_round_trip():
    data = lscm.simulate(nodes=3, features=7, sets=6, per_set=5, observational=5, seed=2)
    for path in ("latent.csv", "latent.tsv"):
        data.save(path)
        again = lscm.open(path)
        for field in ("x", "targets", "z"):
            np.testing.assert_array_equal(getattr(again, field), getattr(data, field))
        at = data.targets == 1
        np.testing.assert_array_equal(again.values[at], data.values[at])


def test_files_name_their_columns():
    frame().to_csv("cells.csv", index=False)
    with pytest.raises(ValueError, match=r"is 'condition' the .*\? target_column='condition'") as e:
        lscm.open("cells.csv")
    assert "--" not in str(e.value)
    data = lscm.open("cells.csv", target_column="condition")
    np.testing.assert_array_equal(data.targets, expected_mask())
    with pytest.raises(lscm.Error, match="'DMSO' is neither .* control='DMSO'"):
        lscm.open("cells.csv", target_column="condition", control=["NT"])
    with gzip.open("cells.csv.gz", "wt") as file:
        frame().to_csv(file, sep="\t")  # with an index
    packed = lscm.open("cells.csv.gz", target_column="condition", control=["dmso", "NT"])
    np.testing.assert_array_equal(packed.x, data.x)
    model = lscm.LatentSCM(draws=20, folder="run").fit(data)
    assert model.run_.config["target_column"] == "condition"


def test_what_was_understood_is_told():
    frame().to_csv("cells.csv")  # with an index
    options = {"target_column": "condition"}
    for read in (lscm.open, lscm.Dataset.open):
        with pytest.warns(
            lscm.ReadWarning, match="^cells.csv: the first column has no name"
        ) as said:
            data = read("cells.csv", **options)
        assert [warning.filename for warning in said] == [__file__]
        assert (
            data.note
            == "the first column has no name, is taken for the names of rows, and is left out"
        )
    frame().to_csv("plain.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lscm.open("plain.csv", **options).note is None
        assert lscm.Dataset([[1.0, 2]]).note is None
        lscm.evaluate(np.zeros((2, 2)), np.zeros((2, 2)))


def test_a_run_names_the_file_that_a_copy_is_of():
    frame().to_csv("copy.csv", index=False)
    data = lscm.open("copy.csv", target_column="condition")
    data._core.set_path("cells.parquet")
    assert data._core.path == "cells.parquet"
    assert lscm.LatentSCM(draws=20, folder="run").fit(data).run_.config["data"] == "cells.parquet"
    with pytest.raises(lscm.Error, match="^cells.parquet: there is no true graph 'w'"):
        lscm.evaluate(lscm.LatentSCM(draws=20).fit(data), data)


def test_frames_name_their_columns():
    model = lscm.LatentSCM(draws=20).fit(frame(), target_column="condition")
    assert model.feature_names_in_.tolist() == ["raf", "mek"]
    assert model.node_names_ == ("raf", "mek")
    data = lscm.Dataset(frame(), target_column="condition")
    np.testing.assert_array_equal(data.targets, expected_mask())
    usual = lscm.Dataset(frame().rename(columns={"condition": "target"}))
    np.testing.assert_array_equal(usual.targets, expected_mask())
    z = lscm.LatentSCM(draws=20).fit_transform(frame(), target_column="condition")
    np.testing.assert_array_equal(z, frame()[["raf", "mek"]])


WORDS = ["none", "Control", "NT", "NT_12", "non-targeting", "dmso-3", "WT", "a", "b;NT_2", "NT;a;b"]


@pytest.mark.parametrize("control", [None, "scramble", ["WT", "nt", "dmso"]])
def test_words_for_control_are_those_of_the_program(control):
    """Every cell means the same in a file and in a DataFrame, or is refused in both."""
    seen = []
    for word in [*WORDS, "scramble_1", "NTRK1", "WT1"]:
        table = pandas.DataFrame({"a": [1.0, 2], "b": [3.0, 4], "target": [word, "a"]})
        table.to_csv("one.csv", index=False)
        answers = []
        for read in (
            lambda: lscm.open("one.csv", control=control),
            lambda: lscm.Dataset(table, control=control),
        ):
            try:
                answers.append(read().targets[0].tolist())
            except lscm.Error:
                answers.append("refused")
        assert answers[0] == answers[1], word
        seen.append(answers[0])
    assert [0, 0] in seen and [1, 0] in seen and "refused" in seen


def test_latent_frames():
    table = pandas.DataFrame(
        {
            "a": [1.0, 2, 3, 4],
            "b": [5.0, 6, 7, 9],
            "guide": pandas.array(["NT", "p", "q;p", None], dtype="string"),
            "dose": ["", "1.5", "2;-1", None],
        }
    )
    data = lscm.Dataset(table, target_column="guide", value_column="dose")
    assert data.node_names == ("p", "q")
    np.testing.assert_array_equal(data.targets, [[0, 0], [1, 0], [1, 1], [0, 0]])
    np.testing.assert_array_equal(data.values, [[0, 0], [1.5, 0], [-1, 2], [0, 0]])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"target_column": "conditon"}, "no column 'conditon'; did you mean 'condition'"),
        ({"target_column": "condition", "control": "NT"}, r"pass control=\['DMSO'\]"),
        ({"value_column": "raf"}, "which column says what do"),
        ({"target_column": "condition", "value_column": "mek"}, "which is a column of X"),
        ({"target_column": "condition", "targets": [[]] * 60}, "targets are given, too"),
        ({}, r"'condition' holds text .*is it .*\? target_column='condition'"),
    ],
)
def test_frames_that_do_not_fit(options, sentence):
    with pytest.raises(lscm.Error, match=sentence):
        lscm.LatentSCM().fit(frame(), **options)


def test_sets_without_values_are_not_guessed():
    x = np.random.default_rng(1).normal(size=(4, 40))
    with pytest.raises(ValueError, match="name the nodes 0 to 1, but X has 40 columns .* values"):
        lscm.LatentSCM().fit(x, [[], [0], [0, 1], []])
    with pytest.raises(ValueError, match="'raf' is not the name of a column of X; if it is a lat"):
        read_arguments(x, [[], ["raf"], [], []])
    names = [f"v{i}" for i in range(40)]
    assert read_arguments(x, [[], [0], [0, 1], []], None, names).targets.shape == (4, 40)
    assert read_arguments(x[:, :2], [[], [0], [0, 1], []]).targets.shape == (4, 2)
    assert read_arguments(x, [[], [0], [1], []], [[], [1.0], [2.0], []]).targets.shape == (4, 2)
