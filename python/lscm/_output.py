"""What transform returns: arrays, or tables of pandas or polars where somebody asked for them, by
set_output or for all of scikit-learn."""

from __future__ import annotations

import sys
from typing import Any, Self

from ._frames import index_of
from ._nodes import Floats
from ._problems import package, wrong

_KINDS = ("default", "pandas", "polars")


class Output:
    """set_output, as transformers of scikit-learn have it; clone copies the attribute."""

    _sklearn_output_config: dict[str, str]

    def set_output(self, *, transform: str | None = None) -> Self:
        """What transform and fit_transform return: "default" (arrays), "pandas" or "polars"."""
        if transform is None:
            return self
        if transform not in _KINDS:
            raise wrong(f"transform: is {transform!r}; it may be {', '.join(map(repr, _KINDS))}")
        self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features: object = None) -> Any:
        """Names of the columns."""
        raise NotImplementedError

    def _as_asked(self, array: Floats, rows_of: object) -> Any:
        """A table of `array`, with the names of the rows that `rows_of` has."""
        kind = getattr(self, "_sklearn_output_config", {}).get("transform")
        if kind is None and "sklearn" in sys.modules:
            kind = sys.modules["sklearn"].get_config().get("transform_output")
        if kind is None or kind == "default":
            return array
        columns = list(self.get_feature_names_out())
        frame = package(kind, f"transform with the output {kind!r}").DataFrame
        if kind == "polars":
            return frame(array, schema=columns, orient="row")
        return frame(array, columns=columns, index=index_of(rows_of))
