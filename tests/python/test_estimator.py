"""LatentSCM: its parameters, its fit, and what can be asked of it afterwards."""

from __future__ import annotations

import copy
import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import NAMES, same_bits

import lscm


def fit(data, **parameters):
    parameters = {"draws": 50, **parameters}
    return lscm.LatentSCM(**parameters).fit(data.x, data.targets, data.values)


# ---- parameters ----------------------------------------------------------------------------------


def test_parameters_are_the_settings_of_the_fit():
    table = {row["name"]: row["default"] for row in lscm.settings("fit")}
    arguments = inspect.signature(lscm.LatentSCM).parameters
    for name, default in table.items():
        assert arguments[name].default == default, name
        assert type(arguments[name].default) is type(default), name
        assert name in lscm.LatentSCM.__doc__
    others = set(arguments) - set(table)
    assert others == {"forbid", "require", "tiers", "folder", "threads", "progress"}
    first = list(arguments)[:5]
    assert first == ["method", "order", "decoder", "draws", "seed"]
    assert all(a.kind is a.KEYWORD_ONLY for a in list(arguments.values())[5:])


def test_get_and_set_params():
    model = lscm.LatentSCM("biols", seed=4, tiers=[["a"], ["b"]])
    assert model.get_params()["method"] == "biols"
    assert lscm.LatentSCM(**model.get_params()).get_params() == model.get_params()
    assert model.set_params(seed=5, steps=10) is model
    assert (model.seed, model.steps) == (5, 10)
    with pytest.raises(ValueError, match="Invalid parameter 'sed' for estimator.*'seed'"):
        model.set_params(sed=1)


def test_repr_has_what_is_not_the_default():
    assert repr(lscm.LatentSCM()) == "LatentSCM()"
    model = lscm.LatentSCM(seed=1, method="biols", tiers=[[0], [1]])
    assert repr(model) == "LatentSCM(method='biols', seed=1, tiers=[[0], [1]])"
    assert "forbid=array" in repr(lscm.LatentSCM(forbid=np.eye(2)))


def test_init_does_nothing():
    odd = object()
    model = lscm.LatentSCM(draws=odd, progress="?", folder=odd)
    assert model.draws is odd and set(vars(model)) == set(model.get_params())


@pytest.mark.parametrize(
    "parameters, sentence",
    [
        ({"method": "anchord"}, "anchored"),
        ({"draws": 1}, "draws"),
        ({"draws": "many"}, "draws"),
        ({"holdout": np.nan}, "holdout"),
        ({"seed": None}, "seed: is None"),
        ({"clip": [1]}, r"clip: is \[1\]"),
        ({"progress": 3}, "progress: is 3"),
        ({"order": [0, 1, 2]}, "order: list each of the 4 nodes once"),
        ({"order": [0, 1, 2, 4]}, "order: there is no node 4"),
        ({"order": "sorted"}, "order"),
        ({"order": None}, "order: is None; say 'learned'"),
        ({"forbid": ["0>1"]}, r"forbid: takes edges \('a', 'b'\) or 'a->b', not '0>1'"),
        ({"forbid": [(0, 9)]}, "forbid: there is no node 9"),
        ({"require": [(1, 1)]}, "require: .*no node causes itself"),
        ({"require": np.ones((2, 2))}, "require: a matrix of edges is 4 x 4"),
        ({"forbid": 3}, "forbid: list edges"),
        ({"tiers": [[0], [0]]}, "tiers: names node 0 twice"),
        ({"tiers": [[0], []]}, "tiers: tier 1 is empty"),
        ({"tiers": 3}, "tiers: list the nodes"),
        ({"require": [(0, 1), (1, 0)]}, "the required edges make a cycle"),
        ({"require": [(0, 1)], "forbid": [(0, 1)]}, "0->1 is required, but it is also forbidden"),
    ],
)
def test_wrong_parameters_are_refused_by_fit(data, parameters, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence) as caught:
        fit(data, **parameters)
    assert isinstance(caught.value, lscm.Error)


def test_numbers_of_numpy_are_numbers(data, model):
    again = fit(data, draws=np.int64(200), seed=np.uint8(3), holdout=np.float64(0.2))
    assert np.array_equal(again.weights_, model.weights_)


# ---- the fit -------------------------------------------------------------------------------------


def test_what_a_fit_leaves(data, model):
    d, draws, rows = 4, 200, data.rows
    assert model.edge_probabilities_.shape == (d, d)
    assert model.weights_.shape == (draws, d, d)
    assert model.sigma_.shape == model.intercept_.shape == model.order_.shape == (draws, d)
    assert model.latents_.shape == model.latents_sd_.shape == (rows, d)
    assert model.n_features_in_ == 12 and not hasattr(model, "feature_names_in_")
    assert model.node_names_ == tuple(NAMES)
    assert np.array_equal(model.edge_probabilities_ > 0.9, data.w != 0)
    assert np.corrcoef(model.latents_[:, 1], data.z[:, 1])[0, 1] > 0.99
    assert sorted(model.order_[0]) == [0, 1, 2, 3]


def test_arrays_are_views_that_outlive_the_model(data):
    model = fit(data)
    weights, latents = model.weights_, model.latents_
    before = weights.copy(), latents.copy()
    assert not weights.flags.writeable and not weights.flags.owndata
    assert np.shares_memory(weights, model.weights_)
    del model
    fit(data, seed=9)
    assert np.array_equal(weights, before[0]) and np.array_equal(latents, before[1])


def test_a_data_set_and_its_arrays_give_the_same(data):
    model = fit(data)
    assert same_bits(model.run_, lscm.LatentSCM(draws=50).fit(data).run_)
    data.save("data.nc")
    assert same_bits(model.run_, lscm.LatentSCM(draws=50).fit(lscm.open("data.nc")).run_)


def test_layout_and_type_do_not_matter(data):
    single = data.x.astype(np.float32)
    model = lscm.LatentSCM(draws=50).fit(single, data.targets, data.values)
    for x in (single.astype(float), np.asfortranarray(single), np.repeat(single, 2, 1)[:, ::2]):
        again = lscm.LatentSCM(draws=50).fit(x, data.targets.astype(bool), data.values)
        assert same_bits(model.run_, again.run_)


def test_threads_do_not_matter(data):
    assert same_bits(fit(data, threads=1).run_, fit(data, threads=2).run_)


def test_pictures():
    pictures = lscm.simulate(
        "paper-image", nodes=2, sets=6, per_set=15, observational=20, projection="blobs", seed=1
    )
    model = lscm.LatentSCM(draws=20, decoder="linear", holdout=0).fit(
        pictures.x, pictures.targets, pictures.values
    )
    shape = pictures.x.shape[1:]
    assert len(shape) >= 2 and model.n_features_in_ == np.prod(shape)
    assert model.run_.x_shape == shape
    assert model.predict_interventional({0: 1}, n=20).x.mean.shape == shape
    assert model.sample(n=3).x.shape == (3, *shape)
    assert model.transform(pictures.x).shape == (pictures.rows, 2)


def test_observed_variables():
    data = lscm.simulate(
        projection="identity", nodes=4, targets="cycle", sets=8, per_set=30, seed=1
    )
    model = lscm.LatentSCM(draws=50).fit(data.x, data.targets)
    assert model.summary()["decoder"] == "identity"
    assert np.array_equal(model.transform(data.x), data.x)


def test_order_given_and_listed(data):
    order = [int(i) for i in data.order]
    given = lscm.LatentSCM(draws=50, order="given").fit(data)
    listed = fit(data, order=order)
    named = lscm.LatentSCM(draws=50, order=[NAMES[i] for i in order])
    named.fit(data.x, data.targets, data.values, node_names=NAMES)
    assert np.array_equal(given.weights_, listed.weights_)
    assert np.array_equal(given.weights_, named.weights_)
    assert all(row == order for row in listed.order_.tolist())


def test_background_knowledge_holds_in_every_draw(data):
    j, i = np.argwhere(data.w != 0)[0]
    free = fit(data)
    assert free.edge_probabilities_[j, i] > 0.5
    matrix = np.zeros((4, 4), bool)
    matrix[j, i] = True
    for forbid in ([(j, i)], f"{j}->{i}", [f"{j} -> {i}"], matrix):
        assert fit(data, forbid=forbid).edge_probabilities_[j, i] == 0
    absent = np.argwhere((data.w == 0) & (data.w.T == 0) & ~np.eye(4, dtype=bool))[0]
    assert fit(data, require=[tuple(absent)]).edge_probabilities_[tuple(absent)] == 1
    later = [int(k) for k in data.order[::-1]]
    for tiers in ([[later[0]], later[1:]], f"{later[0]};{','.join(map(str, later[1:]))}"):
        model = fit(data, tiers=tiers)
        assert (model.edge_probabilities_[later[1:], later[0]] == 0).all()


def test_progress_is_reported_and_stops(data):
    seen = []
    fit(data, progress=lambda *report: seen.append(report))
    assert seen and all(isinstance(what, str) and 0 <= k <= n for what, k, n in seen)
    with pytest.raises(lscm.Stopped):
        fit(data, progress=lambda what, done, total: False)

    class Own(Exception):
        pass

    def fail(what, done, total):
        raise Own("from the callback")

    with pytest.raises(Own, match="from the callback"):
        fit(data, progress=fail)


def test_progress_as_a_bar(data, capsys, monkeypatch):
    fit(data, progress=True)
    monkeypatch.setattr("lscm._progress._tqdm_bar", lambda: None)
    fit(data, progress=True)
    assert "%" in capsys.readouterr().err


def test_one_bar_for_all_stages():
    from lscm._progress import _Bar

    bars = []

    class Drawn:
        def __init__(self, total, leave):
            self.total, self.n, self.said = total, 0, []
            bars.append(self)

        def set_description(self, what):
            self.said.append((what, self.n))

        def close(self):
            pass

    bar = _Bar(Drawn)
    for what, done, total in [("reading", 3, 9), ("reading", 9, 9), ("graphs", 0, 100),
                              ("orders", 40, 100), ("orders", 0, 100)]:
        bar(what, done, total)
    assert [b.said for b in bars] == [
        [("reading", 3), ("reading", 9)],
        [("graphs", 0), ("orders", 40)],
        [("orders", 0)],
    ]


# ---- new data ------------------------------------------------------------------------------------


def test_transform(data, model):
    z, sd = model.transform(data.x, return_sd=True)
    assert z.shape == sd.shape == (data.rows, 4) and (sd > 0).all()
    assert np.array_equal(model.transform(data.x), z)
    assert np.allclose(model.transform(data.x[5:6]), z[5:6])
    told = model.transform(data.x, data.targets, data.values)
    at = data.targets == 1
    assert np.abs(told - data.values)[at].mean() < np.abs(z - data.values)[at].mean()
    assert np.array_equal(model.transform(data), told)
    assert np.array_equal(lscm.LatentSCM(draws=200, seed=3).fit_transform(
        data.x, data.targets, data.values), z)  # fmt: skip


def test_transform_warns_of_rows_outside(data, model):
    with warnings.catch_warnings():
        warnings.simplefilter("error", lscm.OutsideWarning)
        model.transform(data.x[data.targets.any(axis=1)][: 0 + 1])
    with pytest.warns(lscm.OutsideWarning, match="2 of the 2 rows lie outside"):
        model.transform(1e3 * data.x[:2])


def test_transform_refuses_other_shapes(data, model):
    with pytest.raises(ValueError, match="X has 3 features, but LatentSCM is expecting 12"):
        model.transform(data.x[:, :3])
    bad = data.x.copy()
    bad[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"X: is NaN at row 0"):
        model.transform(bad)


def test_methods_without_an_encoder_say_so(data):
    model = fit(data, method="biols", steps=20, restarts=1)
    with pytest.raises(lscm.Error, match="no encoder"):
        model.transform(data.x)


def test_names_of_columns(data):
    pandas = pytest.importorskip("pandas")
    columns = [f"channel {i}" for i in range(12)]
    x = pandas.DataFrame(data.x, columns=columns)
    targets = pandas.DataFrame(data.targets, columns=NAMES)
    model = lscm.LatentSCM(draws=20).fit(x, targets, data.values)
    assert model.feature_names_in_.tolist() == columns and model.feature_names_in_.dtype == object
    assert model.node_names_ == tuple(NAMES)
    assert model.get_feature_names_out().tolist() == NAMES
    z = model.transform(x)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert np.array_equal(model.transform(data.x), z)
    with pytest.raises(ValueError, match="must be in the same order"):
        model.transform(x[columns[::-1]])
    with pytest.raises(ValueError, match="unseen at fit time:\n- other"):
        model.transform(x.rename(columns={"channel 3": "other"}))
    model.fit(data.x, data.targets, data.values)
    assert not hasattr(model, "feature_names_in_")
    assert model.get_feature_names_out().tolist() == ["z0", "z1", "z2", "z3"]


# ---- what can be asked ---------------------------------------------------------------------------


def test_not_fitted():
    model = lscm.LatentSCM()
    for ask in (
        lambda: model.weights_,
        lambda: model.transform(np.zeros((2, 3))),
        lambda: model.sample(),
        lambda: model.summary(),
        lambda: model.save("run"),
        lambda: model.to_networkx(),
        lambda: model.get_feature_names_out(),
        lambda: lscm.evaluate(model, "data.nc"),
    ):
        with pytest.raises(lscm.NotFitted, match="not fitted yet"):
            ask()
    assert not hasattr(model, "weights_")
    assert model._repr_html_() == "<pre>LatentSCM()</pre>"


def test_sample(model):
    rows = model.sample(do={2: 1.5}, n=100)
    assert isinstance(rows, lscm.Dataset) and rows.x.shape == (100, 12) and rows.z.shape == (100, 4)
    assert (rows.z[:, 2] == 1.5).all() and rows.targets[:, 2].all()
    assert rows.targets.sum() == 100 and rows.node_names == tuple(NAMES)
    assert np.array_equal(model.sample(do={"erk": 1.5}, n=100).x, rows.x)
    assert not np.array_equal(model.sample(do={"erk": 1.5}, n=100, seed=1).x, rows.x)
    assert np.allclose(model.run_.decode(rows.z), rows.x)


@pytest.mark.parametrize(
    "do, sentence",
    [
        ({"erkk": 1}, "do: there is no node 'erkk'; .* did you mean 'erk'"),
        ({4: 1}, "do: there is no node 4; the nodes are 0 to 3"),
        ({2: np.nan}, "do: sets node 2 to nan, which is not a number"),
        ({2: "x"}, "do: sets node 2 to 'x', which is not a number"),
        ({2: 1, "erk": 1}, "do: sets node 'erk' twice"),
        ([2], "do: say which node gets which value"),
        ({2.5: 1}, "do: 2.5 is no node"),
    ],
)
def test_do_must_make_sense(model, do, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        model.sample(do=do)
    with pytest.raises((ValueError, TypeError), match=sentence):
        model.predict_interventional(do=do)


def test_n_must_make_sense(model):
    with pytest.raises(ValueError, match="n: is 0"):
        model.sample(n=0)


def test_predict_interventional(model):
    seen = model.predict_interventional(do={"erk": 1.5}, n=500, seed=2)
    rows = model.sample(do={2: 1.5}, n=500, seed=2)
    for band, array in ((seen.z, rows.z), (seen.x, rows.x)):
        assert np.allclose(band.mean, array.mean(axis=0))
        assert np.allclose(band.sd, array.std(axis=0))
        for part, share in ((band.lower, 0.05), (band.median, 0.5), (band.upper, 0.95)):
            assert np.allclose(part, np.quantile(array, share, axis=0))
    lines = repr(seen).splitlines()
    assert lines[0].split() == ["node", "do", "mean", "sd", "5%", "50%", "95%"]
    assert lines[3].split() == ["erk", "1.5", "1.5", "0", "1.5", "1.5", "1.5"]
    assert seen.do == {"erk": 1.5}


def test_summary(model):
    summary = model.summary()
    assert summary["method"] == "anchored" and summary["warnings"] == []
    text = str(summary)
    assert text == repr(summary) and text.startswith("method anchored, decoder linear; ")
    likely = sorted(
        NAMES[j] + "->" + NAMES[i] for j, i in np.argwhere(model.edge_probabilities_ > 0.5)
    )
    assert sorted(f"{parent}->{child}" for parent, child, _ in summary.edges) == likely


def test_html_has_the_graph(model):
    page = model._repr_html_()
    assert "<svg" in page and all(name in page for name in NAMES)
    assert "LatentSCM(draws=200, seed=3)" in page and "why:" in page
    assert "<svg" in model.run_._repr_html_()


def test_html_escapes_names(data):
    model = lscm.LatentSCM(draws=20).fit(
        data.x, data.targets, data.values, node_names=["<b>", "&", "c", "d"]
    )
    assert "<b>&" not in model._repr_html_() and "&lt;b&gt;" in model._repr_html_()


def test_report(model, data):
    model.report("report.html")
    with pytest.raises(FileExistsError):
        model.report("report.html")
    page = Path("report.html")
    plain = page.read_text()
    model.report("report.html", truth=data, force=True)
    assert "<html" in plain and "mek" in plain and len(page.read_text()) > len(plain)


def test_copies(model):
    again = copy.deepcopy(model)
    assert same_bits(again.run_, model.run_) and again.get_params() == model.get_params()
    assert copy.copy(model).run_ is model.run_
