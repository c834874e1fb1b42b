"""Names of the columns of X: new data must have those that were fitted, in the same order. The
sentences are those of scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from ._problems import wrong


def check_feature_names(
    estimator: str, fitted: Sequence[str] | None, names: Sequence[str] | None
) -> None:
    """Refuses other names or another order; warns where only one side has names."""
    if names is None or fitted is None:
        if names is not None:
            text = f"X has feature names, but {estimator} was fitted without"
            warnings.warn(f"{text} feature names", UserWarning, stacklevel=5)
        elif fitted is not None:
            text = f"X does not have valid feature names, but {estimator} was fitted"
            warnings.warn(f"{text} with feature names", UserWarning, stacklevel=5)
        return
    if list(names) == list(fitted):
        return
    text = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
    for title, odd in (
        ("Feature names unseen at fit time", unseen),
        ("Feature names seen at fit time, yet now missing", missing),
    ):
        if odd:
            shown = [f"- {name}\n" for name in odd[:5]] + ["- ...\n"] * (len(odd) > 5)
            text += f"{title}:\n{''.join(shown)}"
    if not unseen and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    raise wrong(text)
