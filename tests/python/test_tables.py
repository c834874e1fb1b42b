"""Which columns say what do() did: of files, of DataFrames, and what is asked where that is open."""

import gzip

import numpy as np
import pytest

import lscm
from lscm._arguments import read_arguments
from lscm._table import _CONTROL

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


def test_words_for_control_are_those_of_the_program():
    table = pandas.DataFrame({"a": 1.0, "b": 2.0, "target": [*_CONTROL, *map(str.upper, _CONTROL)]})
    table.to_csv("controls.csv", index=False)
    assert not lscm.open("controls.csv").targets.any()
    assert not lscm.Dataset(table).targets.any()


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
