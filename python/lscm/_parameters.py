"""The conventions of scikit-learn for estimators, without needing it: parameters are the arguments
of __init__, kept as given under their names; the rest of scikit-learn (clone, pipelines, searches)
works with that."""

from __future__ import annotations

import importlib
import inspect
from typing import Any, Self

import numpy as np

from ._problems import hint, wrong


class Parameters:
    """get_params, set_params and repr."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        arguments = inspect.signature(cls.__init__).parameters.values()
        return {
            argument.name: argument.default for argument in arguments if argument.name != "self"
        }

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; none has parameters of its own, so `deep` says nothing."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Changes parameters; they are looked at when fit is called."""
        known = self._defaults()
        for name in params:
            if name not in known:
                raise wrong(
                    f"Invalid parameter {name!r} for estimator {self}{hint(name, known)} Valid "
                    f"parameters are: {sorted(known)!r}."
                )
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self._defaults()
        given = {name: value for name, value in self.get_params().items()
                 if not _same(value, defaults[name])}  # fmt: skip
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in given.items())})"

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn wants to know; only it asks, so it is there."""
        utils = importlib.import_module("sklearn.utils")
        return utils.Tags(
            estimator_type="transformer",
            target_tags=utils.TargetTags(required=True, two_d_labels=True, single_output=False),
            transformer_tags=utils.TransformerTags(preserves_dtype=[]),
            input_tags=utils.InputTags(three_d_array=True),
        )


def _same(value: object, default: object) -> bool:
    if value is default:
        return True
    if isinstance(value, np.ndarray) or type(value) is not type(default):
        return False
    return bool(value == default)
