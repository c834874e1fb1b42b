"""Checks before a fit."""

from __future__ import annotations

from collections.abc import Sequence

from ._check import Checks
from ._estimator import LatentSCM


def check(
    X: object,
    targets: object = None,
    values: object = None,
    *,
    node_names: Sequence[str] | None = None,
    threads: int = 0,
) -> Checks:
    """What data say against what a fit of them would assume: `lscm check DATA`.

    A quick fit, without held-out sets, networks or files. Arguments as of `LatentSCM.fit`.

    Examples
    --------
    >>> import lscm
    >>> data = lscm.simulate("revised-linear", nodes=3, sets=6, per_set=40, seed=1)
    >>> [finding.check for finding in lscm.check(data).found]
    []
    """
    model = LatentSCM(draws=200, holdout=0, encoder="kernel", device="cpu", threads=threads)
    return model.fit(X, targets, values, node_names=node_names).check()
