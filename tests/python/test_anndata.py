"""AnnData in memory means what its file means."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lscm

anndata = pytest.importorskip("anndata")
pandas = pytest.importorskip("pandas")
sparse = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.filterwarnings("ignore:X.dtype being converted:FutureWarning")

GENES = ["KLF1", "GATA1", "TAL1"]


def cells(make=np.asarray, column="guide", **more):
    rng = np.random.default_rng(1)
    x = np.round(rng.standard_normal((90, 3)), 3).astype(np.float32)
    x[:, 1] += x[:, 0]
    did = ["NT_1", "KLF1", "GATA1+ctrl", "GATA1+KLF1", "control", "TAL1"] * 15
    obs = pandas.DataFrame({column: did, **more}, index=[f"c{i}" for i in range(90)])
    return anndata.AnnData(make(x), obs=obs, var=pandas.DataFrame(index=GENES))


def same(data, file):
    assert data.node_names == file.node_names and data.feature_names == file.feature_names
    np.testing.assert_array_equal(data.x, file.x)
    np.testing.assert_array_equal(data.targets, file.targets)
    np.testing.assert_array_equal(data.values, file.values)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_it_is_read_as_its_file(make):
    given = cells(make)
    given.copy().write_h5ad("cells.h5ad")
    data = lscm.Dataset(given)
    same(data, lscm.open("cells.h5ad"))
    assert data.targets[:4].tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    assert given.obs["guide"].dtype == object  # writing it turns text into categories
    model = lscm.LatentSCM(draws=20).fit(given)
    assert np.array_equal(model.weights_, lscm.LatentSCM(draws=20).fit(data).weights_)
    assert model.run_.config["data"] == "memory" and "layer" not in model.run_.config
    assert model.feature_names_in_.tolist() == GENES


def test_double_precision_is_kept():
    given = cells()
    x = np.random.default_rng(2).standard_normal((90, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given.X = x
    np.testing.assert_array_equal(lscm.Dataset(given).x, np.asarray(given.X))


def test_columns_are_named_as_of_a_file():
    given = cells(column="did", batch="one", conc=np.resize([0.0, 1, 2, 3, 0, 4], 90))
    with pytest.raises(lscm.Error, match="^X: .*target_column") as said:
        lscm.LatentSCM().fit(given)
    assert "lscm-" not in str(said.value) and "--" not in str(said.value)
    data = lscm.Dataset(given, target_column="did", control=["NT_1", "control", "ctrl"])
    assert data.targets[:2].tolist() == [[0, 0, 0], [1, 0, 0]]
    with pytest.raises(lscm.Error, match="'ctrl', for one, is not.*: value_column='conc'; "):
        lscm.Dataset(given, target_column="did", control="water")
    with pytest.raises(lscm.Error, match="^X: .*'dit'"):
        lscm.Dataset(given, target_column="dit")
    drugs = cells(column="drug", dose=["", "1", "2", "3+1", "", "4"] * 15)
    drugs.obs["drug"] = ["DMSO", "a", "b", "b+a", "DMSO", "c"] * 15
    latent = lscm.Dataset(drugs)
    assert latent.nodes == 3 and latent.features == 3 and latent.node_names == ("a", "b", "c")
    assert latent.values[:4].tolist() == [[0, 0, 0], [1, 0, 0], [0, 2, 0], [1, 3, 0]]


def test_targets_beside_it_are_taken_as_before():
    given = cells()
    mask = np.resize(np.eye(3, dtype=int), (90, 3))
    data = lscm.Dataset(given, mask)
    np.testing.assert_array_equal(data.targets, mask)
    with pytest.raises(lscm.Error, match="^w: .*AnnData"):
        lscm.Dataset(given, w=np.zeros((3, 3)))


def test_new_cells_may_have_other_genes_besides():
    rng = np.random.default_rng(3)
    wide = anndata.AnnData(
        rng.standard_normal((90, 150)).astype(np.float32),
        obs=cells().obs,
        var=pandas.DataFrame(index=[f"g{i}" for i in range(147)] + GENES),
    )
    model = lscm.LatentSCM(draws=20).fit(wide)  # of so many genes the targets alone
    assert sorted(model.node_names_) == sorted(GENES)
    z = model.transform(wide)
    np.testing.assert_array_equal(z, wide[:, list(model.feature_names_in_)].X)
    np.testing.assert_array_equal(lscm.LatentSCM(draws=20).fit_transform(wide), z)
    assert [finding.check for finding in lscm.check(wide)]
