"""The estimator checks of scikit-learn, as far as they apply.

The checks know X and a vector y; LatentSCM wants the interventions instead. So they are run on a
LatentSCM that makes up targets of its own: row k sets variable k mod (D + 1), or none. The
variables are observed (decoder identity), since random numbers have no causes to find; all that is
asked here is about conventions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import lscm

pytest.importorskip("sklearn", "1.6")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_get_feature_names_out_error,
    check_global_output_transform_pandas,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    estimator_checks_generator,
)
from sklearn.utils.validation import check_is_fitted


class Checked(lscm.LatentSCM):
    @property
    def predict(self):
        raise AttributeError("predict(do={...}) takes an intervention, not the X of the checks")

    def fit(self, X, y=None):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        rows, columns = (*getattr(X, "shape", np.asarray(X).shape), 1, 1)[:2]
        targets = np.eye(columns + 1)[np.arange(rows) % (columns + 1), :columns]
        return super().fit(X, targets)

    def score(self, X, y=None):
        rows, columns = np.asarray(X).shape
        return super().score(X, np.eye(columns)[np.arange(rows) % columns])

    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)


EXCLUDED = {
    "check_mixin_order": "LatentSCM does not inherit from scikit-learn, which need not be there",
}


def checks():
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Checked(decoder="identity", draws=8, holdout=0.0, threads=1)
        for estimator, check in estimator_checks_generator(model):
            name = check.func.__name__ if hasattr(check, "func") else check.__name__
            mark = [pytest.mark.skip(reason=EXCLUDED[name])] if name in EXCLUDED else []
            found.append(pytest.param(estimator, check, id=name, marks=mark))
    return found


@pytest.mark.parametrize("estimator, check", checks())
@pytest.mark.filterwarnings("ignore")
def test_check(estimator, check):
    check(estimator)


MORE = [  # of scikit-learn's own estimators only
    check_dataframe_column_names_consistency,
    check_get_feature_names_out_error,
    check_global_output_transform_pandas,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
]


@pytest.mark.parametrize("check", MORE)
@pytest.mark.filterwarnings("ignore")
def test_more_checks(check):
    check("Checked", Checked(decoder="identity", draws=8, holdout=0.0, threads=1))


def test_clone(model):
    again = clone(model)
    assert again.get_params() == model.get_params() and not hasattr(again, "run_")
    order = ["a", "b"]
    assert clone(lscm.LatentSCM(order=order, tiers=[["a"], ["b"]])).order == order


def test_fitted_or_not(model):
    check_is_fitted(model)
    with pytest.raises(NotFittedError):
        check_is_fitted(lscm.LatentSCM())
    with pytest.raises(NotFittedError):
        lscm.LatentSCM().transform(np.zeros((2, 2)))


def test_pipeline(data):
    steps = make_pipeline(StandardScaler(), lscm.LatentSCM(draws=20))
    steps.fit(data.x, data.targets, latentscm__values=data.values)
    z = steps.transform(data.x)
    assert z.shape == (data.rows, 4) and np.corrcoef(z[:, 0], data.z[:, 0])[0, 1] > 0.99
