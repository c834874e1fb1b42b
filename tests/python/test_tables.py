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


# ---- do:NAME -------------------------------------------------------------------------------------


def latent(**named):
    data = lscm.simulate(nodes=3, features=5, sets=6, per_set=20, observational=20, seed=2)
    return lscm.Dataset(data.x, data.targets, data.values, z=data.z, **named)


def same_data(a, b):
    for field in ("x", "targets", "z"):
        np.testing.assert_array_equal(getattr(a, field), getattr(b, field))
    assert (a.values is None) == (b.values is None)
    if a.values is not None:
        at = a.targets == 1
        np.testing.assert_array_equal(a.values[at], b.values[at])
    assert a.node_names == b.node_names


@pytest.mark.parametrize("names", [None, ["raf", "mek", "erk"]])
def test_do_columns_mean_what_they_mean_in_a_file(names):
    data = latent(node_names=names)
    data.save("latent.csv")
    plain = pandas.read_csv("latent.csv", float_precision="round_trip")
    text = pandas.read_csv("latent.csv", dtype=str, keep_default_na=False)
    for name in text:
        text[name] = text[name] if name.startswith("do:") else text[name].astype(float)
    for table in (plain, plain.convert_dtypes(convert_integer=False), text):
        same_data(lscm.Dataset(table), lscm.open("latent.csv"))
        same_data(lscm.Dataset(table), data)


def test_fits_of_do_columns_are_those_of_arrays():
    names = ["raf", "mek", "erk"]
    data = latent(node_names=names)
    table = data.to_pandas()
    model = lscm.LatentSCM(draws=50).fit(table)
    same = lscm.LatentSCM(draws=50).fit(data.x, data.targets, data.values, node_names=names)
    np.testing.assert_array_equal(model.weights_, same.weights_)
    assert model.feature_names_in_.tolist() == [f"x{i}" for i in range(5)]
    assert model.node_names_ == tuple(names)
    other_order = table[[*table.columns[:5], "do:erk", "do:raf", "do:mek"]]
    expected = same.transform(data.x, data.targets, data.values)
    np.testing.assert_array_equal(model.transform(table), expected)
    np.testing.assert_array_equal(model.transform(other_order), expected)
    assert model.score(other_order) == same.score(data.x, data.targets, data.values)
    with pytest.raises(ValueError, match="are not the nodes of the fit; look at 'erk'"):
        model.transform(table.drop(columns="do:erk"))
    again = lscm.LatentSCM(draws=50).fit_transform(table)
    np.testing.assert_array_equal(again, same.transform(data.x))


def test_frames_come_back():
    observed = lscm.simulate(
        projection="identity", nodes=3, targets="cycle", sets=4, per_set=5, seed=4
    )
    again = lscm.Dataset(observed.to_pandas())
    np.testing.assert_array_equal(again.x, observed.x)
    np.testing.assert_array_equal(again.targets, observed.targets)
    assert again.values is None
    data = latent()
    silent = lscm.Dataset(data.x, data.targets)
    assert set(silent.to_pandas()["do:0"]) == {None, "set"}
    back = lscm.Dataset(silent.to_pandas())
    np.testing.assert_array_equal(back.targets, data.targets)
    assert back.values is None


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"target": ["do", "do"]}, "'do:NAME' and column 'target' both say what"),
        ({"do:q": ["set", 1.0]}, "row 1 has a value that do.. set, but row 0 only says 'set'"),
        ({"do:q": [None, "high"]}, "row 1 of column 'do:q' holds 'high', not a number"),
        ({"z:q": [1.0, 2]}, "'z:q' is the truth of a node that has no column 'do:q'"),
        ({"do:q": [1.0, 2], "z:q": [1.0, 2]}, "2 columns 'do:NAME' name nodes, but only 1"),
        ({"a": None}, "none besides; which are the features"),
    ],
)
def test_do_columns_that_do_not_fit(columns, sentence):
    table = pandas.DataFrame({"a": [1.0, 2], "do:p": [np.nan, 2.0], **columns})
    table = table.drop(columns="a") if columns == {"a": None} else table
    with pytest.raises(ValueError, match=sentence):
        lscm.Dataset(table)


def test_do_columns_and_targets_are_one_too_many():
    table = pandas.DataFrame({"a": [1.0, 2], "do:p": [np.nan, 2.0]})
    with pytest.raises(ValueError, match="^targets: X has columns 'do:NAME'.* leave one out"):
        lscm.LatentSCM().fit(table, [[], [0]], [[], [1.0]])


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
def test_other_tables_have_such_columns_too(package):
    other = pytest.importorskip(package)
    make = other.from_pandas if package == "polars" else other.Table.from_pandas
    data = latent(node_names=["raf", "mek", "erk"])
    same = lscm.Dataset(make(data.to_pandas()))
    np.testing.assert_array_equal(same.targets, data.targets)
    at = data.targets == 1
    np.testing.assert_array_equal(same.values[at], data.values[at])
    data = lscm.Dataset(make(frame()), target_column="condition")
    np.testing.assert_array_equal(data.targets, expected_mask())


def test_several_targets_in_a_cell():
    table = frame().replace({"condition": {"mek;raf": "mek + raf"}})
    data = lscm.Dataset(table, target_column="condition")
    np.testing.assert_array_equal(data.targets, expected_mask())
    table = pandas.DataFrame(
        {"a": [1.0, 2, 3], "b": [1.0, 0, 2], "drug": ["NT", "p|q", "q"], "Dose_nM": ["", "1|2", "1e+01"]}
    )
    data = lscm.Dataset(table, target_column="drug")
    np.testing.assert_array_equal(data.values[data.targets == 1], [1, 2, 10])
    with pytest.raises(ValueError, match="value_column='none' if it is a variable"):
        lscm.Dataset(table.assign(drug=["NT", "a", "b"]), target_column="drug")


def test_names_that_differ_in_case_alone():
    table = pandas.DataFrame(
        {"raf": [1.0, 2, 3], "b": [1.0, 0, 2], "target": ["", "p", "P"], "value": [None, 1, 2]}
    )
    with pytest.raises(ValueError, match="row 2 has the target 'P', elsewhere 'p'; write it alike"):
        lscm.Dataset(table)
    with pytest.raises(ValueError, match="row 1 has the target 'RAF', elsewhere 'raf'"):
        lscm.Dataset(table.assign(target=["", "RAF", "q"]))
